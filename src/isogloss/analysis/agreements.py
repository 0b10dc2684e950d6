"""Do two ways to measure agree over models or languages: rank, line, direction, and how far they lie apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .. import registry
from ..errors import IsoglossError
from ..results import Results
from ..scores import Scored
from ..stats.associations import Correlation, pearson, spearman
from .groups import check_rows
from .intervals import FEWEST_RESAMPLES
from .item_values import default_metric
from .measures import Measure, Measures, measure

FEWEST = 3


@dataclass(frozen=True, slots=True)
class Agreement:
    """How two measures go together over the groups that both have; `direction` is the share on the same side of neutral."""

    metric: str
    other: str
    groups: tuple[Mapping[str, str], ...]
    spearman: Correlation
    pearson: Correlation
    direction: float | None
    mean_difference: float
    mean_absolute_difference: float
    n: int


def agree(a: Measures, b: Measures) -> Results[Agreement]:
    """The agreement of each metric of `a` with the same metric of `b`, or, where each has one metric, of the two.

    Groups belong together when all columns are equal but those that have one value on each side.
    """
    names = [list(dict.fromkeys(row.metric for row in side)) for side in (a, b)]
    pairs = [(names[0][0], names[1][0])] if len(names[0]) == len(names[1]) == 1 else []
    pairs = pairs or [(name, name) for name in names[0] if name in names[1]]
    if not pairs:
        raise IsoglossError(f"The two sides share no metric: {', '.join(names[0])} and {', '.join(names[1])}.")
    rows = [_agree_one([r for r in a if r.metric == one], [r for r in b if r.metric == two]) for one, two in pairs]
    return Results(tuple(rows), notes=tuple(dict.fromkeys([*a.notes, *b.notes])))


def agree_scored(
    a: Scored,
    b: Scored,
    *,
    metrics: str | Sequence[str] | None = None,
    against: str | None = None,
    by: str | Sequence[str] | None = None,
) -> Results[Agreement]:
    """The agreement of two sets of scores; `against` is the second one's metric where it is another.

    Without metrics, each side has the first headline with a neutral value, such as SS.
    """
    chosen = (metrics, against or metrics)
    first, second = (
        measure(side, metrics=names or default_metric(check_rows(side)), by=by or [], resamples=FEWEST_RESAMPLES)
        for side, names in zip((a, b), chosen, strict=True)
    )
    return agree(first, second)


def _agree_one(a: Sequence[Measure], b: Sequence[Measure]) -> Agreement:
    sides = [[row.group for row in side] for side in (a, b)]
    apart = set()  # the columns that have one value on each side, and not the same
    for name in {name for side in sides for group in side for name in group}:
        left_values, right_values = ({group.get(name) for group in side} for side in sides)
        if len(left_values) == len(right_values) == 1 and left_values != right_values:
            apart.add(name)
    right = {_key(row.group, apart): row for row in b if row.value is not None}
    pairs = [
        (row, right[_key(row.group, apart)]) for row in a if row.value is not None and _key(row.group, apart) in right
    ]
    if len(pairs) < FEWEST:
        raise IsoglossError(
            f"Agreement needs at least {FEWEST} models or languages that both sides have; here there "
            f"{'is' if len(pairs) == 1 else 'are'} {len(pairs)}. Give more runs."
        )
    x = np.array([row.value for row, _ in pairs], dtype=np.float64)
    y = np.array([row.value for _, row in pairs], dtype=np.float64)
    neutral = [registry.get("metric", side[0].metric).neutral for side in (a, b)]
    same = None
    if None not in neutral:
        same = float(np.mean(np.sign(x - neutral[0]) == np.sign(y - neutral[1])))
    groups = tuple(dict(_key(row.group, apart)) for row, _ in pairs)
    gaps = float((x - y).mean()), float(np.abs(x - y).mean())
    return Agreement(a[0].metric, b[0].metric, groups, spearman(x, y), pearson(x, y), same, *gaps, len(pairs))


def _key(group: Mapping[str, str], apart: set[str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, value) for name, value in group.items() if name not in apart))
