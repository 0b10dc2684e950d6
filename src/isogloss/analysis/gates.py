"""Gates: limits that a model must meet, with a third answer where the data cannot decide."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from .. import registry
from ..errors import BadData, IsoglossError, UnknownName
from ..files.rows import read_bytes
from ..results import METHODS
from ..scores import KEY, Scored
from ..stats import RESAMPLES
from .comparisons import Comparison, compare
from .groups import IDENTITY, SYNONYMS
from .measures import MODES, Measure, measure

KEYS = ("limits", "min_n", "mode", "strict")
LIMIT_KEYS = ("metric", "min", "max", "within", "where")
FEWEST_ITEMS = 30
MARGIN = 2.0
EQUAL = "the two sides never differ"  # how a comparison says that there is nothing to test
PASSED, FAILED, UNDECIDED = "passed", "failed", "undecided"
HIGHER = ("lms", "icat", "lms_multiclass", "icat_macro", "icat_micro")  # more is better; others have a neutral point


@dataclass(frozen=True, slots=True)
class Limit:
    """What a metric may be, at least and at most, in the groups whose columns have the values of `where`."""

    metric: str
    low: float | None
    high: float | None
    where: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gate:
    """Limits; a group of fewer than `min_n` items is undecided, and `strict` counts what is undecided as failed."""

    limits: tuple[Limit, ...]
    mode: str = "corrected"
    strict: bool = False
    min_n: int = FEWEST_ITEMS


@dataclass(frozen=True, slots=True)
class Verdict:
    """A limit and a measure: passed or failed where the whole interval says so, otherwise undecided, and why.

    With `baseline`, the measure is how much worse the metric is than in the baseline.
    """

    limit: Limit
    measure: Measure
    status: str
    reason: str
    baseline: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class GateResult:
    """The verdicts of a gate: `status` is passed, failed or undecided; with `strict`, undecided counts as failed."""

    verdicts: tuple[Verdict, ...]
    strict: bool = False
    notes: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        return overall(self.verdicts, strict=self.strict)

    @property
    def passed(self) -> bool:
        return self.status == PASSED

    __repr__, __str__, _repr_html_, to_polars, to_pandas, to_dict, to_json = METHODS


def read_gate(path: str | Path) -> Gate:
    """The gate of a YAML file; whatever is not understood is refused."""
    try:
        content = yaml.safe_load(read_bytes(Path(path)).decode("utf-8"))
    except (yaml.YAMLError, UnicodeError) as error:
        mark = getattr(error, "problem_mark", None)
        raise BadData(path, mark.line + 1 if mark else None, "not YAML.") from error
    return make_gate(content, path)


def make_gate(content: Any, path: str | Path = "limits") -> Gate:
    """The gate that the content of a YAML file describes; errors name `path`."""
    if not isinstance(content, dict) or not isinstance(content.get("limits"), list) or not content["limits"]:
        raise BadData(
            path, None, "a gate needs 'limits', a list of objects with 'metric' and 'min', 'max' or 'within'."
        )
    _check_keys(path, content, known=KEYS)
    mode, strict = content.get("mode", "corrected"), content.get("strict", False)
    if mode not in MODES:
        raise BadData(path, None, str(UnknownName("mode", str(mode), MODES)))
    if not isinstance(strict, bool):
        raise BadData(path, None, "'strict' must be true or false.")
    min_n = content.get("min_n", FEWEST_ITEMS)
    if isinstance(min_n, bool) or not isinstance(min_n, int) or min_n < 1:
        raise BadData(path, None, "'min_n' must be a whole number of items, 1 or more.")
    limits = tuple(_limit(path, row, number=number) for number, row in enumerate(content["limits"], 1))
    return Gate(limits, mode, strict, min_n)


def _check_keys(path: str | Path, row: Mapping[Any, Any], *, known: Sequence[str]) -> None:
    for key in row:
        if key not in known:
            raise BadData(path, None, str(UnknownName("key", str(key), known)))


def _limit(path: str | Path, row: Any, *, number: int) -> Limit:
    label = f"limit {number}"
    if not isinstance(row, dict) or not isinstance(row.get("metric"), str):
        raise BadData(path, None, f"{label} must be an object with 'metric' and 'min', 'max' or 'within'.")
    _check_keys(path, row, known=LIMIT_KEYS)
    try:
        metric = registry.get("metric", row["metric"])
    except UnknownName as error:
        raise BadData(path, None, f"{label}: {error}") from error
    numbers = {key: row[key] for key in ("min", "max", "within") if key in row}
    if not numbers or ("within" in numbers and len(numbers) > 1):
        raise BadData(path, None, f"{label} needs 'min', 'max', or 'within' alone.")
    for key, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise BadData(path, None, f"{label}: '{key}' must be a number.")
    low, high = numbers.get("min"), numbers.get("max")
    if "within" in numbers:
        if metric.neutral is None:
            raise BadData(
                path,
                None,
                f"{label}: '{row['metric']}' has no neutral point, so 'within' means nothing. Use 'min' or 'max'.",
            )
        low, high = metric.neutral - numbers["within"], metric.neutral + numbers["within"]
    if low is not None and high is not None and low > high:
        raise BadData(path, None, f"{label} cannot be kept: its 'min' is above its 'max'.")
    where = row.get("where", {})
    if not isinstance(where, dict):
        raise BadData(path, None, f"{label}: 'where' must map columns to values, such as language: de.")
    return Limit(
        row["metric"].replace("-", "_"), low, high, {SYNONYMS.get(str(k), str(k)): str(v) for k, v in where.items()}
    )


def check_gate(scored: Scored, gate: Gate, *, resamples: int = RESAMPLES, seed: int = 0) -> list[Verdict]:
    """Each limit against each measure that it applies to, also one without a value; a limit that applies to none is an error."""
    verdicts = []
    for limit in gate.limits:
        by = [name for name in limit.where if name not in IDENTITY]
        found = measure(scored, metrics=[limit.metric], by=by, mode=gate.mode, resamples=resamples, seed=seed)
        rows = [row for row in found if all(row.group.get(name) == value for name, value in limit.where.items())]
        if not rows:
            label = ", ".join(f"{name} {value}" for name, value in limit.where.items())
            raise IsoglossError(f"The limit on '{limit.metric}' applies to {label}, which these runs do not have.")
        verdicts += [_judge(limit, row, min_n=gate.min_n) for row in rows]
    return verdicts


def check_baseline(
    scored: Scored, baseline: Scored, *, gate: Gate, margin: float = MARGIN, resamples: int = RESAMPLES
) -> list[Verdict]:
    """Whether each metric of the gate (LMS, SS and ICAT without one) is at most `margin` points worse than in the baseline.

    Worse is farther from the neutral point, or lower for a metric of which more is better. Items are compared in pairs
    where the two share them.
    """
    metrics = list(dict.fromkeys(limit.metric for limit in gate.limits)) or None
    design = "paired" if _share_items(scored, baseline) else "unpaired"
    found = compare(scored, baseline, metrics=metrics, by=[], mode=gate.mode, design=design, resamples=resamples)
    limits = {row.metric: Limit(row.metric, None, margin) for row in found}
    return [_judge(limits[row.metric], worsening(row), min_n=gate.min_n, baseline=True) for row in found]


def _share_items(a: Scored, b: Scored) -> bool:
    """Whether at least half of the items of the smaller side are on both."""
    items = [side.table.select(KEY).unique() for side in (a, b)]
    both = items[0].join(items[1], on=KEY, how="semi", nulls_equal=True).height
    return 2 * both >= min(one.height for one in items)


def worsening(row: Comparison) -> Measure:
    """How much worse side a is than side b, as a measure whose interval follows from that of the difference.

    Where the sides lie on both sides of the neutral point, the interval is the widest that the difference allows.
    """
    group = {**row.group, **{name: value for name, value in row.a.items() if name != "side"}}
    nothing = Measure(row.metric, group, None, None, None, row.n, 0, row.clusters, row.mode, row.why)
    neutral = registry.get("metric", row.metric).neutral
    if row.difference is None or row.value_a is None or row.value_b is None:
        return nothing
    if neutral is None and row.metric not in HIGHER:
        return replace(nothing, why="the metric has no better and worse")
    low, high = (row.low, row.high) if row.low is not None and row.high is not None else (math.nan, math.nan)
    before, now = (row.value_b - (neutral or 0.0), row.value_a - (neutral or 0.0))
    value = before - now if neutral is None else abs(now) - abs(before)
    if neutral is not None and before * now < 0:
        widest = max(abs(low), abs(high))
        low, high = -widest, widest
    elif neutral is None or before + now < 0:
        low, high = -high, -low
    made = replace(nothing, value=value, interpretable=row.interpretable, doubt=row.doubt)
    return made if math.isnan(low) else replace(made, low=low, high=high)


def _judge(limit: Limit, row: Measure, *, min_n: int, baseline: bool = False) -> Verdict:
    doubt = _doubt(row, min_n)
    if baseline and row.interpretable is not False and (row.why or "").startswith(EQUAL):
        return Verdict(limit, replace(row, low=None, high=None), PASSED, EQUAL, baseline)
    if doubt or row.low is None or row.high is None:
        return Verdict(limit, row, UNDECIDED, doubt, baseline)
    floor = limit.low if limit.low is not None else -math.inf
    ceiling = limit.high if limit.high is not None else math.inf
    if row.low > ceiling or row.high < floor:
        return Verdict(limit, row, FAILED, "the whole interval violates the limit", baseline)
    if floor <= row.low and row.high <= ceiling:
        return Verdict(limit, row, PASSED, "the whole interval meets the limit", baseline)
    return Verdict(limit, row, UNDECIDED, "the interval includes the limit", baseline)


def _doubt(row: Measure, min_n: int) -> str:
    """Why a measure cannot be judged, or nothing."""
    if row.value is None:
        return f"no value ({row.why})"
    if row.interpretable is False:
        return f"not interpretable ({row.doubt})"
    if row.n < min_n:
        return f"{row.n} items are too few; the gate needs {min_n}"
    return f"no interval ({row.why})" if row.low is None or row.high is None else ""


def overall(verdicts: Sequence[Verdict], *, strict: bool = False) -> str:
    """The status of a gate: failed when one verdict is, else undecided when one is; strict, that is failed too."""
    statuses = {one.status for one in verdicts}
    if FAILED in statuses or (strict and UNDECIDED in statuses):
        return FAILED
    return UNDECIDED if UNDECIDED in statuses else PASSED
