"""Extras: what other commands found about the same models, as files that a report takes in beside the runs.

A file is known by what is in it. JSON: what `gate`, `change`, `robustness`, `controls` and `agreement` print with `--format json`.
CSV or Parquet: a table of shares (model, language, set, concept, term, share) or of answers (model, language, prompt,
verdict, share), with shares between 0 and 1; both may have the columns low and high.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from ...analysis.agreements import Agreement
from ...analysis.changes import Changes, GroupChange
from ...analysis.controls import Control
from ...analysis.robustness import RobustnessReport, SettingResult
from ...claims.evidence import ClaimPart
from ...claims.verdicts import ClaimVerdict
from ...errors import BadData
from ...files.rows import read_json
from ...stats.associations import Correlation

SHARES = ("model", "language", "set", "concept", "term", "share")
ANSWERS = ("model", "language", "prompt", "verdict", "share")
TABLES = {"shares": SHARES, "answers": ANSWERS}


@dataclass(frozen=True)
class Extras:
    """What was brought along; a table that is not there is None. `title` is the heading of the page, if there is one."""

    shares: pl.DataFrame | None = None
    answers: pl.DataFrame | None = None
    cards: tuple[RobustnessReport, ...] = ()
    agreements: tuple[Agreement, ...] = ()
    controls: tuple[Control, ...] = ()
    claims: tuple[ClaimVerdict, ...] = ()
    changes: tuple[Changes, ...] = ()
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    beside: tuple[str, ...] = ()
    title: str = ""


def read_extras(paths: Iterable[Path], *, facts: Mapping[str, Mapping[str, Any]] | None = None) -> Extras:
    """Everything in the files, by kind; a file of an unknown kind is refused."""
    extras: dict[str, list[Any]] = {}
    for path in map(Path, paths):
        kind, values = _read_json(path) if path.suffix == ".json" else _read_table(path)
        extras.setdefault(kind, []).extend(values)
    joined: dict[str, Any] = {
        kind: pl.concat(values, how="diagonal_relaxed") if kind in TABLES else tuple(values)
        for kind, values in extras.items()
    }
    return Extras(**joined, facts=facts or {})


def _read_table(path: Path) -> tuple[str, list[pl.DataFrame]]:
    """The kind of a table, and its columns that are known, with shares that are shares."""
    readers: dict[str, Any] = {".csv": pl.read_csv, ".parquet": pl.read_parquet}
    if path.suffix not in readers:
        raise BadData(path, None, "a report takes in .json, .csv and .parquet files.")
    try:
        table = pl.DataFrame(readers[path.suffix](path))
    except (OSError, pl.exceptions.PolarsError) as error:
        raise BadData(path, None, f"cannot be read as a table ({str(error).splitlines()[0]}).") from error
    kind = next((kind for kind, columns in TABLES.items() if set(columns) <= set(table.columns)), None)
    if kind is None:
        wanted = "; or ".join(", ".join(columns) for columns in TABLES.values())
        raise BadData(path, None, f"a table for a report has the columns {wanted}.")
    columns = TABLES[kind]
    kept = [*columns, *(name for name in ("low", "high") if name in table.columns)]
    try:
        rows = table.select(kept).with_columns(pl.col("share").cast(pl.Float64), pl.col(columns[:-1]).cast(pl.String))
    except pl.exceptions.PolarsError as error:
        raise BadData(path, None, "the column 'share' must hold numbers.") from error
    if not rows["share"].is_between(0, 1).all():
        raise BadData(path, None, "the column 'share' must hold numbers from 0 to 1.")
    return kind, [rows]


def _read_json(path: Path) -> tuple[str, list[Any]]:
    """The kind of what a command printed, and its entries."""
    content = read_json(path)
    makers: dict[str, Callable[[Mapping[str, Any]], Any]] = {
        "cards": _card,
        "agreements": _agreement,
        "controls": lambda entry: Control(**entry),
        "verdicts": _verdict,
        "changes": lambda entry: GroupChange(**entry),
    }
    kind = next((name for name in makers if isinstance(content, dict) and name in content), None)
    if kind is None:
        raise BadData(
            path,
            None,
            "a JSON file for a report is what gate, change, robustness, controls or agreement print with --format json.",
        )
    try:
        entries = [makers[kind](entry) for entry in content[kind]]
        if kind == "changes":  # a table for each file: its first row is the whole, and its notes name the two runs
            return kind, [Changes(tuple(entries), notes=tuple(content["notes"]))] if entries else []
        return "claims" if kind == "verdicts" else kind, entries
    except (TypeError, KeyError, ValueError) as error:
        raise BadData(path, None, f"'{kind}' is not what this Isogloss writes. Make the file again.") from error


def _card(entry: Mapping[str, Any]) -> RobustnessReport:
    trials = tuple(SettingResult(**trial) for trial in entry["trials"])
    pairs = tuple(tuple(pair) for pair in entry["agreement"])
    return RobustnessReport(**{**entry, "trials": trials, "agreement": pairs, "below": tuple(entry["below"])})


def _verdict(entry: Mapping[str, Any]) -> ClaimVerdict:
    """A claim's verdict without the properties that JSON shows beside its fields."""
    fields = {name: value for name, value in entry.items() if name not in ("outcome", "details")}
    part = fields.get("part")
    if part is not None:
        fields["part"] = ClaimPart(**{name: value for name, value in part.items() if name != "tested"})
    return ClaimVerdict(**fields)


def _agreement(entry: Mapping[str, Any]) -> Agreement:
    correlations = {name: Correlation(**entry[name]) for name in ("spearman", "pearson")}
    return Agreement(**{**entry, **correlations, "groups": tuple(entry["groups"])})
