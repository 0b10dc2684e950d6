"""Doors to other tools: their score files become runs, and runs become their files."""

from __future__ import annotations

from pathlib import Path

from . import store
from .errors import IsoglossError, UnknownName
from .items import Items, items_hash, problem_counts
from .predictions import read_predictions, write_predictions
from .scores import KEY, item_table, scored_from_values

LAYOUTS = ("stereoset-predictions",)


def import_run(
    path: Path, items: Items, *, root: Path, layout: str = LAYOUTS[0], model: str | None = None
) -> list[store.Run]:
    """A run for each data set and task whose items the file has scores for."""
    if layout not in LAYOUTS:
        raise UnknownName("layout", layout, LAYOUTS)
    if len({item.language for item in items}) > 1:
        raise IsoglossError("A prediction file holds one language, but the data has several. Say --language.")
    name = model or path.name.removesuffix(".gz").removesuffix(".json")
    scored = scored_from_values(items, read_predictions(path), model=name)
    kept = tuple(item for item in items if item.id in set(scored.table["id"]))
    info = {
        "model": name,
        "dataset": kept[0].dataset,
        "language": kept[0].language,
        "method": "predictions",
        "parts": 1,
        "problems": problem_counts(items.problems),
        "notes": list(scored.notes),
        "fingerprint": {"file": path.name, "data": items_hash(kept), "model": name, "method": "predictions"},
    }
    run = store.open_run(root, info=info, items=item_table(kept))
    columns = [*KEY, "candidate", "against", "quantity", "value", "tokens", "unknown", "truncated"]
    store.write_part(run, 0, scored.table.select(columns))
    return [store.finish_run(run)]


def export_runs(paths: list[Path], out: Path, *, layout: str = LAYOUTS[0]) -> int:
    """Write the runs' scores to a file in that layout; gives the number of scores."""
    if layout not in LAYOUTS:
        raise UnknownName("layout", layout, LAYOUTS)
    return write_predictions(store.read_scored([run for path in paths for run in store.find_runs(path)]), out)
