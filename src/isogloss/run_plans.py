"""What a folder of runs should hold: written down when it is planned, so that what is missing can be named."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .atomic_files import append_lines
from .errors import IsoglossError
from .storage import RemotePath, StoragePath

PLAN = "plan.jsonl"
NAMED = 3  # cells that a note names
KEYS = ("model", "dataset", "language", "method")
Cell = tuple[str, str, str, str]  # by KEYS; without a method before the model is open, which decides it


def record_cells(out: StoragePath | None, cells: Iterable[Cell]) -> None:
    """Write down that these cells are to be in a folder; behind an address, which cannot be added to, nothing is."""
    if out is None or isinstance(out, RemotePath):
        return
    recorded = set(read_cells(out))
    new = [cell for cell in dict.fromkeys(cells) if cell not in recorded]
    if not new:
        return
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise IsoglossError(f"Cannot make the folder {out} ({error.strerror}). Choose another with `out`.") from error
    lines = (dict(zip(KEYS, cell, strict=True)) for cell in new)
    append_lines(Path(out) / PLAN, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def read_cells(folder: StoragePath) -> list[Cell]:
    """The cells that were planned for a folder; a line that was torn is passed over."""
    if isinstance(folder, RemotePath) or not (Path(folder) / PLAN).is_file():
        return []
    cells: list[Cell] = []
    for line in (Path(folder) / PLAN).read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry = json.loads(line)
            model, dataset, language, method = (str(entry[key]) for key in KEYS)
            cells.append((model, dataset, language, method))
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    return list(dict.fromkeys(cells))


def plan_order(folder: StoragePath) -> Callable[[Any], int]:
    """The place of a run's model and data set in a folder's plan; those that are not in it come last."""
    pairs = list(dict.fromkeys((model, dataset) for model, dataset, _, _ in read_cells(folder)))
    places = {pair: place for place, pair in enumerate(pairs)}
    return lambda run: places.get((run.info["model"], run.info["dataset"]), len(places))


def find_missing(folder: StoragePath, infos: Sequence[Mapping[str, Any]]) -> list[str]:
    """Notes about the planned cells of which a folder has no run, and about runs whose description is lost."""
    there = {tuple(str(info[key]) for key in KEYS) for info in infos}
    there |= {(*key[:3], "") for key in there}
    missing = [" ".join(filter(None, cell)) for cell in read_cells(folder) if cell not in there]
    lost = [] if isinstance(folder, RemotePath) else _without_description(Path(folder))
    notes = []
    if lost:
        have = "run has lost its" if len(lost) == 1 else "runs have lost their"
        notes = [f"{len(lost)} {have} run.json in {folder}: {', '.join(lost[:NAMED])}"]
    if not missing:
        return notes
    more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
    were = "cell was" if len(missing) == 1 else "cells were"
    return [
        *notes,
        f"{len(missing)} {were} planned for {folder} and {'is' if len(missing) == 1 else 'are'} not there: "
        f"{', '.join(missing[:NAMED])}{more}; run the same command again, or delete the lines in {PLAN}",
    ]


def _without_description(folder: Path) -> list[str]:
    """The names of run folders that have items and no run.json."""
    items = sorted(folder.rglob("items.parquet"))
    return [path.parent.name for path in items if not (path.parent / "run.json").exists()]
