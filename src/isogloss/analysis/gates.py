"""Gates: limits that a model must keep, checked with the interval in mind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml

from .. import registry
from ..errors import BadData, IsoglossError, UnknownName
from ..files.rows import read_bytes
from ..scores import Scored
from .groups import IDENTITY, SYNONYMS
from .measures import MODES, Measure, measure

KEYS = ("limits", "mode", "strict")
LIMIT_KEYS = ("metric", "min", "max", "within", "where")


@dataclass(frozen=True, slots=True)
class Limit:
    """What a metric may be, at least and at most, in the groups whose columns have the values of `where`."""

    metric: str
    low: float | None
    high: float | None
    where: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gate:
    """Limits to be kept; `strict` asks that the whole interval keeps them, otherwise no part of it need do more than reach them."""

    limits: tuple[Limit, ...]
    mode: str = "corrected"
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """A limit and a measure: `kept` (the whole interval), `broken` (the whole interval), or `unclear` in between."""

    limit: Limit
    measure: Measure
    status: str
    passed: bool


def read_gate(path: Path) -> Gate:
    """The gate of a YAML file; whatever is not understood is refused."""
    try:
        content = yaml.safe_load(read_bytes(path).decode("utf-8"))
    except (yaml.YAMLError, UnicodeError) as error:
        mark = getattr(error, "problem_mark", None)
        raise BadData(path, mark.line + 1 if mark else None, "not YAML.") from error
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
    limits = tuple(_limit(path, row, number=number) for number, row in enumerate(content["limits"], 1))
    return Gate(limits, mode, strict)


def _check_keys(path: Path, row: Mapping[Any, Any], *, known: Sequence[str]) -> None:
    for key in row:
        if key not in known:
            raise BadData(path, None, str(UnknownName("key", str(key), known)))


def _limit(path: Path, row: Any, *, number: int) -> Limit:
    place = f"limit {number}"
    if not isinstance(row, dict) or not isinstance(row.get("metric"), str):
        raise BadData(path, None, f"{place} must be an object with 'metric' and 'min', 'max' or 'within'.")
    _check_keys(path, row, known=LIMIT_KEYS)
    try:
        metric = registry.get("metric", row["metric"])
    except UnknownName as error:
        raise BadData(path, None, f"{place}: {error}") from error
    numbers = {key: row[key] for key in ("min", "max", "within") if key in row}
    if not numbers or ("within" in numbers and len(numbers) > 1):
        raise BadData(path, None, f"{place} needs 'min', 'max', or 'within' alone.")
    for key, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadData(path, None, f"{place}: '{key}' must be a number.")
    low, high = numbers.get("min"), numbers.get("max")
    if "within" in numbers:
        if metric.neutral is None:
            raise BadData(
                path,
                None,
                f"{place}: '{row['metric']}' has no neutral point, so 'within' means nothing. Use 'min' or 'max'.",
            )
        low, high = metric.neutral - numbers["within"], metric.neutral + numbers["within"]
    if low is not None and high is not None and low > high:
        raise BadData(path, None, f"{place} cannot be kept: its 'min' is above its 'max'.")
    where = row.get("where", {})
    if not isinstance(where, dict):
        raise BadData(path, None, f"{place}: 'where' must map columns to values, such as language: de.")
    return Limit(
        row["metric"].replace("-", "_"), low, high, {SYNONYMS.get(str(k), str(k)): str(v) for k, v in where.items()}
    )


def check_gate(scored: Scored, gate: Gate, *, resamples: int = 10_000, seed: int = 0) -> list[Verdict]:
    """Each limit against each measure it speaks of; a limit that speaks of none is an error, not a pass."""
    verdicts = []
    for limit in gate.limits:
        by = [name for name in limit.where if name not in IDENTITY]
        found = measure(scored, metrics=[limit.metric], by=by, mode=gate.mode, resamples=resamples, seed=seed)
        rows = [row for row in found if all(row.group.get(name) == value for name, value in limit.where.items())]
        rows = [row for row in rows if row.value is not None]
        if not rows:
            place = ", ".join(f"{name} {value}" for name, value in limit.where.items()) or "any group"
            raise IsoglossError(f"The limit on '{limit.metric}' speaks of {place}, which these runs do not have.")
        verdicts += [_judge(limit, row, strict=gate.strict) for row in rows]
    return verdicts


def _judge(limit: Limit, row: Measure, *, strict: bool) -> Verdict:
    """The verdict on one measure; without an interval the value alone decides."""
    value = row.value or 0.0
    low, high = (value, value) if row.low is None or row.high is None else (row.low, row.high)
    floor = limit.low if limit.low is not None else -float("inf")
    ceiling = limit.high if limit.high is not None else float("inf")
    if low > ceiling or high < floor:
        return Verdict(limit, row, "broken", False)
    if floor <= low and high <= ceiling:
        return Verdict(limit, row, "kept", True)
    return Verdict(limit, row, "unclear", not strict)


def verdicts_as_json(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The verdicts as the documented JSON object."""
    rows = [asdict(one) | {"measure": asdict(one.measure) | {"group": dict(one.measure.group)}} for one in verdicts]
    return {"passed": all(one.passed for one in verdicts), "verdicts": rows}
