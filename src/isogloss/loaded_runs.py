"""Runs loaded together from folders: their scores and items, and what of them could not be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from .errors import IsoglossError
from .runs import Run, read_items, read_part, read_run, run_folders, scored_run, written_parts
from .scores import Scored, join_scored
from .storage import StoragePath, as_path


@dataclass(frozen=True)
class LoadedRuns:
    """Scores, the runs that they come from with the texts of their items, and what could not be read."""

    scored: Scored
    runs: tuple[Run, ...] = ()
    items: pl.DataFrame = field(default_factory=pl.DataFrame)
    problems: tuple[str, ...] = ()


def load_runs(paths: Sequence[str | Path]) -> LoadedRuns:
    """All runs in folders and below them; a run or a part that is broken is named and does not hide the rest."""
    problems: list[str] = []
    found: list[tuple[Run, Scored, pl.DataFrame]] = []
    for folder in _folders([as_path(path) for path in paths]):
        with _collected(problems):
            run = read_run(folder)
            parts, there = [], written_parts(run)
            for number in there:
                with _collected(problems):
                    parts.append(read_part(run, number))
            if len(there) < run.parts:
                problems.append(f"{folder.name}: {run.parts - len(there)} of {run.parts} parts are not there yet.")
            items = read_items(run)
            if parts:
                whole = len(parts) == run.parts
                found.append((run, scored_run(run, items, rows=pl.concat(parts), whole=whole), items))
    if not found:
        first = f" The first: {problems[0]}" if problems else ""
        names = ", ".join(map(str, paths))
        raise IsoglossError(
            f"None of the runs in {names} has scores that can be read, so there is nothing to report.{first}"
        )
    runs, scored, tables = zip(*found, strict=True)
    return LoadedRuns(join_scored(list(scored)), runs, pl.concat(tables, how="diagonal_relaxed"), tuple(problems))


def _folders(paths: Sequence[StoragePath]) -> list[StoragePath]:
    """The folders of all runs below the paths, each once."""
    for path in paths:
        if not path.exists():
            raise IsoglossError(f"No such run: {path}.")
    folders = list(dict.fromkeys(folder.resolve() for path in paths for folder in run_folders(path)))
    if not folders:
        named = ", ".join(map(str, paths))
        raise IsoglossError(f"No runs in {named}. Make one with: isogloss eval MODEL --data demo")
    return folders


@contextmanager
def _collected(problems: list[str]) -> Iterator[None]:
    """Add an error to the problems instead of raising it."""
    try:
        yield
    except IsoglossError as error:
        problems.append(str(error))
