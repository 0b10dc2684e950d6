"""Runs loaded together from folders: their scores and items, and what of them could not be read."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from .errors import IsoglossError
from .runs import Run, collecting, each_scored, read_run, run_folders
from .scores import Scored, join_scored
from .storage import as_path


@dataclass(frozen=True)
class LoadedRuns:
    """Scores, the runs that they come from with the texts of their items, and what could not be read."""

    scored: Scored
    runs: tuple[Run, ...] = ()
    items: pl.DataFrame = field(default_factory=pl.DataFrame)
    problems: tuple[str, ...] = ()


def load_runs(paths: Sequence[str | Path]) -> LoadedRuns:
    """All runs in folders and below them; a run or a part that is broken is named and does not hide the rest."""
    folders = [as_path(path) for path in paths]
    problems: list[str] = []
    runs: list[Run] = []
    if missing := [path for path in folders if not path.exists()]:
        raise IsoglossError(f"No such run: {missing[0]}.")
    for folder in dict.fromkeys(folder.resolve() for path in folders for folder in run_folders(path)):
        with collecting(problems):
            runs.append(read_run(folder))
    named = ", ".join(map(str, paths))
    if not runs and not problems:
        raise IsoglossError(f"No runs in {named}. Make one with: isogloss eval MODEL --data demo")
    loaded = list(each_scored(runs, problems))
    if not loaded:
        first = f" The first: {problems[0]}" if problems else ""
        raise IsoglossError(
            f"None of the runs in {named} has scores that can be read, so there is nothing to report.{first}"
        )
    readable, scored, items = zip(*loaded, strict=True)
    return LoadedRuns(join_scored(list(scored)), readable, pl.concat(items, how="diagonal_relaxed"), tuple(problems))
