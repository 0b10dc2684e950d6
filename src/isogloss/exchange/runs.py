"""Score files of other tools become runs, and runs become their files."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl

from ..errors import IsoglossError, UnknownName
from ..files.sources import language_in_name
from ..items import Items, items_hash
from ..languages import resolve
from ..run_names import fingerprint
from ..runs import Run, find_runs, finish_run, open_run, read_items, read_scored, write_part
from ..scores import ROW_SCHEMA, Scored, item_table, scored_from_values
from ..storage import StoragePath
from .bbq import METHOD as BBQ_METHOD
from .bbq import SAMPLES_METHOD, read_answers, read_bbq_samples
from .gest import read_differences, split_name
from .inspect import read_choices
from .lm_eval import model_of_samples, read_samples, write_samples
from .predictions import model_of_file, read_predictions, write_predictions

METHODS = {
    "stereoset-predictions": "predictions",
    "lm-eval": "lm-eval",
    "inspect": "inspect",
    "gest": "gest",
    "bbq": BBQ_METHOD,
    "lm-eval-bbq": SAMPLES_METHOD,
}  # by layout
LAYOUTS = tuple(METHODS)
CHOICE_READERS: dict[str, Callable[..., Scored]] = {  # layouts of picked options, whose readings are worth a note
    "inspect": read_choices,
    "bbq": read_answers,
    "lm-eval-bbq": read_bbq_samples,
}


def read_scores(
    path: Path, items: Items, *, layout: str = LAYOUTS[0], model: str | None = None
) -> tuple[Scored, dict[str, float], Items]:
    """The file's scores on the items of one language, all values of the file, and the items that it is about.

    The model is named after the file unless it is given.
    """
    if layout not in LAYOUTS:
        raise UnknownName("layout", layout, LAYOUTS)
    if layout in CHOICE_READERS:
        scored = CHOICE_READERS[layout](path, items, model=model)
        scores = scored.table.filter(pl.col("quantity") == "score")
        numbers = (scores if scores.height else scored.table).select("candidate", "value")
        return scored, dict(numbers.iter_rows()), items
    notes: list[str] = []
    if layout == "lm-eval":
        name = model or model_of_samples(path)
        values, items, notes = read_samples(path, items)
    elif layout == "gest":
        name = model or split_name(path)[1]
        values, items, notes = read_differences(path, items)
    else:
        languages, named = sorted({item.language for item in items}), language_in_name(path)
        if len(languages) > 1:
            raise IsoglossError(
                f"A prediction file holds one language; the data has {', '.join(languages)}. Use `language`."
            )
        if named is not None and named.split("-")[0] != languages[0].split("-")[0]:
            raise IsoglossError(
                f"{path.name} is named after '{named}', but the data is in '{languages[0]}'. Rename the file if it is right."
            )
        name, values = model or model_of_file(path), read_predictions(path)
    scored = scored_from_values(items, values, model=name, method=METHODS[layout])
    return replace(scored, notes=(*notes, *scored.notes)), values, items


def import_run(
    path: Path, items: Items, *, root: StoragePath, layout: str = LAYOUTS[0], model: str | None = None
) -> Run:
    """A run of the items that the file has scores for; of a file with several models, the first one's."""
    return import_runs(path, items, root=root, layout=layout, model=model)[0]


def import_runs(
    path: Path, items: Items, *, root: StoragePath, layout: str = LAYOUTS[0], model: str | None = None
) -> list[Run]:
    """A run for each model in the file, of the items that it has scores for."""
    for kind, several in (("language", {i.language for i in items}), ("data set", {i.dataset for i in items})):
        if len(several) > 1:
            raise IsoglossError(f"A run holds one {kind}; the data has {', '.join(sorted(several))}. Give one of them.")
    scored, values, items = read_scores(path, items, layout=layout, model=model)
    names = scored.table["model"].unique(maintain_order=True).to_list()
    if len(names) == 1:
        return [_write_run(scored, items, values=values, root=root)]
    runs = []
    for name in names:
        table = scored.table.filter(pl.col("model") == name)
        others = {other for other in names if other != name}
        notes = tuple(note for note in scored.notes if not any(f" {other}:" in note for other in others))
        part = replace(scored, table=table, notes=notes)
        values = dict(table.select("candidate", "value").iter_rows())
        runs.append(_write_run(part, items, values=values, root=root))
    return runs


def _write_run(scored: Scored, items: Items, *, values: dict[str, float], root: StoragePath) -> Run:
    """The run of one model's scores."""
    name, method = str(scored.table["model"][0]), str(scored.table["method"][0])
    ids = set(scored.table["id"])
    kept = tuple(item for item in items if item.id in ids)
    info = {
        "model": name,
        "dataset": kept[0].dataset,
        "language": kept[0].language,
        "method": method,
        "parts": 1,
        "items": len(kept),
        "skipped": dict(scored.skipped),
        "notes": list(scored.notes),
        "fingerprint": {
            "scores": fingerprint(values),
            "data": items_hash(kept),
            "model": name,
            "method": method,
        },
    }
    run = open_run(root, info=info, items=item_table(Items(kept, items.problems)))
    write_part(run, 0, rows=scored.table.select(ROW_SCHEMA.keys()))
    return finish_run(run)


def export_runs(paths: list[Path], out: Path, *, layout: str = LAYOUTS[0]) -> int:
    """Write the runs' scores to a file in that layout; gives the number of scores."""
    if layout not in LAYOUTS[:2]:
        raise UnknownName("layout to write", layout, (*LAYOUTS[:2], "every-eval-ever"))
    runs = find_runs(*paths)
    scored = read_scored(runs)
    if layout == "lm-eval":
        texts = pl.concat([read_items(run) for run in runs], how="diagonal_relaxed").unique(maintain_order=True)
        return write_samples(scored.table, texts, path=out)
    return write_predictions(scored, out)


def read_chosen(path: Path, data: Items | None, *, where: dict[str, str]) -> Scored:
    """The scores of a file of predictions; the language in `where`, or in the file's name, chooses from the data."""
    if data is None:
        raise IsoglossError(
            f"{path} is a file of predictions, so it needs its data. Use `data` with a file or a folder."
        )
    known = {item.language for item in data}
    tag = language_in_name(path) if len(known) > 1 else None
    if "language" in where:
        tag = resolve(where["language"])
        if tag not in known:
            raise UnknownName("language of the data", where["language"], known)
        where["language"] = tag
    notes = _other_languages(data, tag) if tag in known else []
    if tag in known:
        data = Items(tuple(item for item in data if item.language == tag), data.problems)
    scored = read_scores(path, data)[0]
    return replace(scored, notes=(*scored.notes, *notes))


def _other_languages(data: Items, tag: str | None) -> list[str]:
    """A note on each task that the data has in other languages only, so that none of its items are used."""
    tags: dict[str, dict[str, int]] = {}
    for item in data:
        counts = tags.setdefault(str(item.tags.get("task") or item.dataset), {})
        counts[item.language] = counts.get(item.language, 0) + 1
    return [
        f"the {sum(counts.values())} {task} items of the data are in {', '.join(sorted(counts))}, not in {tag}, and were left out"
        for task, counts in tags.items()
        if tag not in counts
    ]
