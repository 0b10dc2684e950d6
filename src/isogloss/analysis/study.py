"""A study: scores, the runs that hold them and what failed; all that is computed from them is computed once, when asked for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from .. import languages, results
from ..errors import IsoglossError, NoSuchRun
from ..items import group_by
from ..runs import Run, collecting, each_scored, in_languages, note_missing, read_items, read_run, run_folders
from ..scores import Scored, join_scored
from ..storage import StoragePath, as_path
from .intervals import IntervalSettings
from .measures import MODES, Measures, keep_metrics, measure_with
from .sides import select

if TYPE_CHECKING:
    from ..claims.verdicts import GateResult

Value = TypeVar("Value")
FOLDERS = str | Path | Sequence[str | Path]
OPTIONAL = ("method", "corpus")  # columns of a group that depend on what else is in the table


@dataclass(frozen=True, slots=True)
class Failure:
    """A cell that failed, and why."""

    model: str
    data: str
    language: str
    method: str
    why: str


@dataclass(frozen=True, slots=True)
class Measuring:
    """What is measured: metrics (without them, all that fit), groups, mode and intervals."""

    metrics: tuple[str, ...] | None = None
    by: tuple[str, ...] | None = None
    mode: str = MODES[0]
    settings: IntervalSettings = field(default_factory=IntervalSettings)


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """Scores of models on data, with the runs that contain them, the cells that failed, and problems as sentences.

    `claims` has the verdicts where claims were tested, `texts` the tables of items in memory, and `empty` the runs
    without a finished part.
    """

    scored: Scored | None
    runs: tuple[Run, ...] = ()
    failures: tuple[Failure, ...] = ()
    problems: tuple[str, ...] = ()
    claims: GateResult | None = None
    measuring: Measuring = field(default_factory=Measuring)
    texts: tuple[pl.DataFrame, ...] = ()
    empty: tuple[Run, ...] = ()
    parent: Study | None = None
    memory: dict[Hashable, Any] = field(default_factory=dict)

    # ---- what is computed once

    def once(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """What `compute` returns, computed once for each key."""
        if key not in self.memory:
            self.memory[key] = compute()
        value: Value = self.memory[key]
        return value

    @property
    def scores(self) -> Scored:
        """The scores, or an error that says why there are none."""
        if self.scored is None:
            raise nothing_done(self.failures)
        return self.scored

    @property
    def items(self) -> pl.DataFrame:
        """The items of the runs with their texts, one row per item and candidate."""
        tables = self.texts or (() if not self.runs else self.once("items", lambda: tuple(map(read_items, self.runs))))
        return pl.concat(tables, how="diagonal_relaxed") if tables else pl.DataFrame()

    @property
    def measures(self) -> Measures | None:
        """The measures that `measuring` asks for, if there are any."""
        try:
            return self.measure(self.measuring) if self.scored is not None else None
        except IsoglossError:
            return None

    def measure(self, wanted: Measuring) -> Measures:
        """The measures of some metrics and groups."""
        key = ("measures", wanted.by, wanted.mode, wanted.settings)
        earlier = self.memory.get(key) or self._inherited(key)
        if earlier is not None and (chosen := _chosen(earlier, wanted.metrics)) is not None:
            return chosen
        metrics, by = (None if names is None else list(names) for names in (wanted.metrics, wanted.by))
        measured = measure_with(wanted.settings, self.scores, metrics=metrics, by=by, mode=wanted.mode)
        if earlier is None or wanted.metrics is None:
            self.memory[key] = (wanted.metrics is None, measured)
        return measured

    def _inherited(self, key: Hashable) -> tuple[bool, Measures] | None:
        """What the study that this one is a part of has measured, as far as it is about this one's data and languages."""
        measured = self.parent.memory.get(key) if self.parent is not None else None
        if measured is None or any(name in row.group for row in measured[1] for name in OPTIONAL):
            return None
        keys = set(self.scores.table.select("model", "dataset", "language").unique().iter_rows())
        rows = tuple(
            row for row in measured[1] if tuple(row.group[name] for name in ("model", "dataset", "language")) in keys
        )
        return measured[0], replace(measured[1], rows=rows)

    def narrow(self, tags: Sequence[str] = (), where: Mapping[str, str] | None = None) -> Study:
        """The part of the study in these languages and with these values of columns."""
        wanted = {languages.resolve(tag) for tag in tags}
        table = self.scores.table
        if not where and (not wanted or wanted >= set(table["language"].unique())):
            return self
        return self.once(("part", frozenset(wanted), frozenset((where or {}).items())), lambda: self._part(tags, where))

    def _part(self, tags: Sequence[str], where: Mapping[str, str] | None) -> Study:
        scored, wanted = self.scores, {languages.resolve(tag) for tag in tags}
        kept = tuple(in_languages(self.runs, tags)) if self.runs else ()
        if wanted:
            rows = scored.table.filter(pl.col("language").is_in(list(wanted)))
            if not rows.height:
                tags_there = ", ".join(sorted(scored.table["language"].unique()))
                raise IsoglossError(f"None of the scores is in {', '.join(sorted(wanted))}; they are in {tags_there}.")
            scored = replace(scored, table=rows)
        texts = tuple(table for run, table in zip(self.runs, self.texts, strict=False) if run in kept)
        inherits = set(where or ()) <= {"model", "dataset", "language"}
        return Study(
            select(scored, where or {}),
            kept,
            measuring=self.measuring,
            texts=texts,
            parent=self if inherits else None,
        )

    # ---- how it is shown

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks about the models and the data."""
        noted = self.measures or self.scored
        return noted.notes if noted is not None else ()

    def __repr__(self) -> str:
        scored = self.scored.table if self.scored is not None else None
        items = 0 if scored is None else scored.select("model", "dataset", "language", "id").n_unique()
        counts = {"scored item": items, "run": len(self.runs), "failure": len(self.failures)}
        counts["problem"] = len(self.problems)
        parts = [f"{count:,} {name}{'' if count == 1 else 's'}" for name, count in counts.items() if count]
        return f"Study({', '.join(parts) or 'no scores'})"

    def __str__(self) -> str:
        unmeasured = ["Nothing was measured.", *(f"· {note}" for note in self.notes)]
        measured = unmeasured if self.measures is None else [str(self.measures)]
        return "\n".join([*measured, *self._remarks()])

    def _repr_html_(self) -> str:
        if self.measures is None:
            return results.as_preformatted(str(self))
        remarks = self._remarks()
        return self.measures._repr_html_() + (results.as_preformatted("\n".join(remarks)) if remarks else "")

    def _remarks(self) -> list[str]:
        """The verdicts on the claims, the cells that failed, and the problems, as text."""
        claims = [f"\n{self.claims}"] if self.claims is not None else []
        return [*claims, *([f"\n{state_failures(self.failures)}"] if self.failures else []), *self.problems]

    def to_polars(self) -> pl.DataFrame:
        """The measures, one row each; no row where nothing was measured."""
        measures = self.measures
        return (measures if measures is not None else Measures(())).to_polars()

    def to_dict(self) -> dict[str, Any]:
        """The measures, the problems of the data, the notes, the verdicts if there are claims, and the failed cells."""
        measures = self.measures
        measured = {"measures": [], "problems": {}} if measures is None else measures.to_dict()
        claims = {"claims": self.claims.to_dict()} if self.claims is not None else {}
        return {
            **measured,
            "notes": [*self.notes, *self.problems],
            **claims,
            "failures": list(map(asdict, self.failures)),
        }

    to_pandas = results.pandas_of
    to_json = results.json_of


def _chosen(known: tuple[bool, Measures], metrics: tuple[str, ...] | None) -> Measures | None:
    """The metrics among what was measured; nothing where a group lacks one of them, which then must be measured."""
    whole, measures = known
    if metrics is None:
        return measures if whole else None
    groups = group_by(measures, lambda row: tuple(row.group.items())).values()
    if not groups or any(not set(metrics) <= {row.metric for row in rows} for rows in groups):
        return None
    kept = keep_metrics(measures, metrics)
    order = {name: index for index, name in enumerate(metrics)}
    rows = [row for group in group_by(kept, lambda row: tuple(row.group.items())).values()
            for row in sorted(group, key=lambda row: order[row.metric])]  # fmt: skip
    return replace(kept, rows=tuple(rows))


# ---- loading


def load_study(
    source: FOLDERS, *, tags: Sequence[str] = (), where: Mapping[str, str] | None = None, texts: bool = False
) -> Study:
    """All runs in folders and below them as one study; what cannot be read is named as a problem and does not hide the rest.

    Only runs in these languages are read, and with these values of model, data set and language, so that the notes of
    other runs do not come along; `Study.narrow` chooses by other columns. With `texts`, the texts of the items are read
    at once.
    """
    paths = [source] if isinstance(source, str | Path) else list(source)
    folders: list[StoragePath] = [as_path(path) for path in paths]
    problems: list[str] = []
    below: dict[StoragePath, list[Run]] = {}
    for path in folders:
        if not path.exists():
            raise NoSuchRun(path)
        below[path] = []
        for folder in run_folders(path):
            with collecting(problems):
                below[path].append(read_run(folder))
        if not below[path] and not problems:
            raise IsoglossError(f"No runs in {path}. Make one with: isogloss eval MODEL --data demo")
    unique = note_missing(below)
    facts = {name: value for name, value in (where or {}).items() if name in ("model", "dataset", "language")}
    chosen = [run for run in unique if all(run.info[name] == value for name, value in facts.items())] or unique
    loaded = list(each_scored(in_languages(chosen, tags) if chosen else [], problems, texts=texts))
    if not loaded and len(problems) == 1:
        raise IsoglossError(problems[0])
    if not loaded:
        first = f" The first problem: {problems[0]}" if problems else " Run the same command again to resume."
        raise IsoglossError(f"None of the runs in {', '.join(map(str, paths))} has scores that can be read.{first}")
    readable, scored, items = zip(*loaded, strict=True)
    loaded_folders = {run.folder for run in readable}
    return Study(
        join_scored(list(scored)),
        readable,
        problems=tuple(dict.fromkeys(problems)),
        texts=items if texts else (),
        empty=tuple(run for run in chosen if run.folder not in loaded_folders),
    )


def check_readable(study: Study) -> Study:
    """The study, where all of its runs could be read; else an error, for outputs that cannot name what is missing."""
    if study.problems:
        raise IsoglossError(study.problems[0])
    return study


# ---- failures


def nothing_done(failures: Iterable[Failure]) -> IsoglossError:
    """The error that says why no cell could be run."""
    return IsoglossError(" ".join(dict.fromkeys(failure.why for failure in failures)) or "There is nothing to do.")


def state_failures(failures: Sequence[Failure], what: str = "could not be scored") -> str:
    """How many cells failed, and below it which and why."""
    cells = "1 cell" if len(failures) == 1 else f"{len(failures)} cells"
    return f"{cells} {what}:\n{failures_as_text(failures)}"


def failures_as_text(failures: Iterable[Failure]) -> str:
    """What failed, one line for each reason of each model."""
    groups = group_by(failures, lambda failure: (failure.model, failure.why))
    lines = []
    for (model, why), group in groups.items():
        cells = [" ".join(filter(None, (failure.data, failure.language, failure.method))) for failure in group]
        listed = ", ".join(dict.fromkeys(cells[:3])) + (f" and {len(cells) - 3} more" if len(cells) > 3 else "")
        lines.append(": ".join(filter(None, (" ".join(filter(None, (model, listed))), why))))
    return "\n".join(lines)
