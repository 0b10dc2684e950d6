"""Gathering: what a report is made of, read so that one broken run, or one broken part, does not hide the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from ...errors import IsoglossError
from ...runs import Run, read_items, read_part, read_run, run_folders, scored_run, written_parts
from ...scores import Scored, join_scored
from ...storage import StoragePath, as_path

Source = Scored | str | Path | Sequence[str | Path]


@dataclass(frozen=True)
class Gathered:
    """Scores, the runs they come from with their items' texts, and what could not be read."""

    scored: Scored
    runs: tuple[Run, ...] = ()
    items: pl.DataFrame = field(default_factory=pl.DataFrame)
    troubles: tuple[str, ...] = ()


def gather(source: Source) -> Gathered:
    """What can be read of the source: scores as they are, or all runs in one or several folders."""
    if isinstance(source, Scored):
        return Gathered(source)
    paths = [source] if isinstance(source, str | Path) else list(source)
    troubles: list[str] = []
    runs = list(_runs([_path(path) for path in paths], troubles))
    found = {run.folder: part for run in runs if (part := _read(run, troubles)) is not None}
    if not found:
        first = f" The first: {troubles[0]}" if troubles else ""
        raise IsoglossError(
            f"None of the runs in {', '.join(map(str, paths))} has scores that can be read, so there is nothing to report.{first}"
        )
    items = [items for _, items in found.values()]
    return Gathered(
        join_scored([scored for scored, _ in found.values()]),
        tuple(run for run in runs if run.folder in found),
        pl.concat(items, how="diagonal_relaxed"),
        tuple(troubles),
    )


def _path(path: str | Path) -> StoragePath:
    folder = as_path(path)
    if not folder.exists():
        raise IsoglossError(f"No such run: {folder}.")
    return folder


def _runs(paths: Sequence[StoragePath], troubles: list[str]) -> Iterator[Run]:
    """Every run below the places, each once; one that cannot be opened is told as a trouble."""
    folders = dict.fromkeys(folder.resolve() for path in paths for folder in run_folders(path))
    if not folders:
        named = ", ".join(map(str, paths))
        raise IsoglossError(f"No runs in {named}. Make one with: isogloss eval MODEL --data demo")
    for folder in folders:
        try:
            yield read_run(folder)
        except IsoglossError as error:
            troubles.append(str(error))


def _read(run: Run, troubles: list[str]) -> tuple[Scored, pl.DataFrame] | None:
    """The scores and items of a run, from all parts that are whole."""
    parts = []
    there = written_parts(run)
    for number in there:
        try:
            parts.append(read_part(run, number))
        except IsoglossError as error:
            troubles.append(str(error))
    if len(there) < run.parts:
        troubles.append(f"{run.folder.name}: {run.parts - len(there)} of {run.parts} parts are not there yet.")
    try:
        items = read_items(run)
    except IsoglossError as error:
        troubles.append(str(error))
        return None
    if not parts:
        return None
    try:
        return scored_run(run, items, rows=pl.concat(parts), whole=len(parts) == run.parts), items
    except IsoglossError as error:
        troubles.append(str(error))
        return None
