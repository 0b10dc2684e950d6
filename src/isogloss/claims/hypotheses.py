"""Testing the simple hypotheses of a claim, and joining their p-values to that of the whole claim."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from .. import registry
from ..analysis.alignment import ITEMS, NOTHING, distance_from, mean_of
from ..analysis.differences import EQUAL, Difference, paired_test, threshold_test, unpaired_test
from ..metrics import Contribution
from ..metrics._preferences import icat, triple_sums
from ..stats.associations import FEWEST_UNITS, ranks
from ..stats.hypotheses import detectable_effect
from ..stats.resampling import FEWEST_CLUSTERS, Array, bootstrap_values, expanded_level, percentile_interval
from .evidence import ClaimPart, Evidence, short_title, start_part
from .groups import ClaimSide, Hypotheses, Hypothesis, ScoreGroup
from .language import CHANGE, EVERY, HOMOGENEOUS

PERMUTATIONS = 2_000  # of items over targets
MOST_UNEQUAL = 1.05
UNEQUAL_SIZES = "depends on the number of items per target, which differs here; use icat_macro_corrected"


def check_part(hypothesis: Hypothesis, evidence: Evidence) -> ClaimPart:
    """One simple hypothesis, tested; the same hypothesis of several claims is tested once."""
    if hypothesis not in evidence.parts:
        tests = {
            "order": _test_order,
            CHANGE: _test_order,
            HOMOGENEOUS: _test_homogeneous,
            "correlation": _test_correlation,
        }
        part = tests[hypothesis.kind](hypothesis, evidence)
        if part.why is None and part.n < evidence.least:
            part = replace(part, why=f"{part.n} items are too few (at least {evidence.least} are needed)")
        evidence.parts[hypothesis] = part
    return evidence.parts[hypothesis]


def _test_order(hypothesis: Hypothesis, evidence: Evidence) -> ClaimPart:
    part, right = start_part(hypothesis, evidence), hypothesis.right
    sides = [hypothesis.left, *([right] if isinstance(right, ClaimSide) else [])]
    aligned = evidence.align([(group, side.metric) for side in sides for group in side.groups])
    if aligned is None:
        return replace(part, why="no item has what the metric needs on every side")
    count = len(hypothesis.left.groups)
    sizes = [side.n / len(side.clusters) for side in aligned.sides if side.unbiased is not None]
    if sizes and aligned.common != ITEMS and max(sizes) > MOST_UNEQUAL * min(sizes):
        return replace(part, why=f"{short_title(hypothesis.left.metric)} {UNEQUAL_SIZES}")
    left = _value(hypothesis.left, aligned.sides[:count])
    other = _value(right, aligned.sides[count:]) if isinstance(right, ClaimSide) else None
    if left is None or (other is None and isinstance(right, ClaimSide)):
        why = "too many of the groups are near the kink of the metric, where their mean has no interval"
        return replace(part, n=aligned.sides[0].n, why=None if part.interpretable is False else why)
    counts = (left.n, len(left.clusters))
    bounds = registry.get("metric", hypothesis.left.metric).bounds
    if isinstance(right, ClaimSide) and other is not None:
        combines = {side.pieces.combine for side in (left, other) if side.pieces}
        if len(combines) > 1:
            return replace(
                part, why="the two metrics have kinks of different kinds, so their difference has no interval"
            )
        if hypothesis.left.metric != right.metric and not combines:
            # different metrics can be compared as functions of weights only
            left, other = (replace(side, totals=None, finish=None, alone=None) for side in (left, other))
        test = unpaired_test if aligned.common == NOTHING else paired_test
        result = test(left, other, bounds=bounds, settings=evidence.settings, shift=hypothesis.shift)
        if aligned.common != ITEMS:
            part = replace(part, design="unpaired" if aligned.common == NOTHING else "paired by target")
            counts = (left.n + other.n, min(len(left.clusters), len(other.clusters)))
        values = (left.value, other.value)
    else:
        values = (left.value, 0.0 if right is None or isinstance(right, ClaimSide) else float(right))
        result = threshold_test(left, values[1] + hypothesis.shift, bounds=bounds, settings=evidence.settings)
        if result.low is not None and result.high is not None:
            result = replace(result, low=result.low + hypothesis.shift, high=result.high + hypothesis.shift)
    if hypothesis.kind == CHANGE and result.why == EQUAL:  # no item changed, which is within any margin
        result = Difference(0.0, low=0.0, high=0.0)
    if result.low is None:  # a claim needs an interval; the reason is the result's
        result = replace(result, p=None)
    return _filled(part, result, values=values, counts=counts)


def _value(side: ClaimSide, groups: Sequence[Contribution]) -> Contribution | None:
    """The side as one contribution: the groups' mean, of their distances from the neutral point where that is meant.

    None where the mean has no interval.
    """
    neutral = registry.get("metric", side.metric).neutral
    return mean_of([distance_from(group, neutral) if side.distance else group for group in groups])


def _filled(part: ClaimPart, result: Difference, *, values: tuple[float, float], counts: tuple[int, int]) -> ClaimPart:
    """The part with a test's result; two one-sided p-values come from the two-sided one."""
    if math.isnan(values[0]) or math.isnan(values[1]):
        return replace(part, why="the value is a division by zero here")
    difference = values[0] - values[1]
    part = replace(part, value_a=values[0], value_b=values[1], difference=difference, n=counts[0], clusters=counts[1])
    if result.p is None:
        return replace(part, why=result.why or "there is no test for these groups")
    p, beyond = result.p, difference - part.shift
    side = part.sign * beyond
    p_true, p_false = (p / 2, 1 - p / 2) if side > 0 else (1 - p / 2, p / 2) if side < 0 else (0.5, 0.5)
    return replace(part, low=result.low, high=result.high, mde=result.mde, p_true=p_true, p_false=p_false)


def _test_homogeneous(hypothesis: Hypothesis, evidence: Evidence) -> ClaimPart:
    """Macro ICAT against a model with the same preferences for every target: items change targets within their task.

    The interval is that of what is left when chance is taken off: the observed value minus 95 % of the permuted ones.
    """
    part = start_part(hypothesis, evidence)
    rows = evidence.rows(hypothesis.left.groups[0])
    metric = registry.get("metric", hypothesis.left.metric)
    if not set(metric.roles) <= rows.roles:
        return replace(part, why="no item has what the metric needs")
    wide = rows.items(metric.quantity).drop_nulls(list(metric.roles))
    sums = triple_sums(wide, evidence.mode)[0]
    clusters = wide["cluster"].to_numpy()
    starts = np.concatenate([[0], np.flatnonzero(clusters[1:] != clusters[:-1]) + 1])
    tasks = wide["task"].to_numpy() if "task" in wide.columns else np.zeros(wide.height)
    strata = [np.flatnonzero(tasks == name) for name in dict.fromkeys(tasks.tolist())]
    rng = np.random.default_rng(evidence.settings.seed)
    chance = np.empty(min(evidence.settings.resamples, PERMUTATIONS))
    for draw in range(len(chance)):
        order = np.arange(wide.height)
        for members in strata:
            order[members] = rng.permutation(members)
        chance[draw] = _macro(sums[order], starts)
    value, middle, spread = _macro(sums, starts), float(chance.mean()), float(chance.std(ddof=1))
    below, above = (_share(chance, value, sign=sign) for sign in (-1, 1))
    low, high = np.percentile(chance, [2.5, 97.5])
    return replace(
        part,
        value_a=value,
        value_b=middle,
        difference=value - middle,
        low=value - float(high),
        high=value - float(low),
        p_true=below if part.sign < 0 else above,
        p_false=above if part.sign < 0 else below,
        n=wide.height,
        clusters=len(starts),
        mde=detectable_effect(spread, len(chance)),
        design="permutation of targets",
    )


def _macro(sums: Array, starts: npt.NDArray[np.int64]) -> float:
    """Macro ICAT of items that lie target by target; `starts` are the first items of the targets."""
    totals = np.add.reduceat(sums, starts, axis=0)
    return float(icat(100 * totals[:, 0] / totals[:, 2], 100 * totals[:, 1] / totals[:, 2]).mean())


def _share(chance: Array, value: float, *, sign: int) -> float:
    """How often chance is at least as far to this side; below what permutations can show, by the normal distribution."""
    share = (1 + int(np.sum(sign * (chance - value) >= 0))) / (len(chance) + 1)
    if share > 2 / len(chance):
        return float(share)
    return min(float(share), NormalDist().cdf(-sign * (value - float(chance.mean())) / float(chance.std(ddof=1))))


def _test_correlation(hypothesis: Hypothesis, evidence: Evidence) -> ClaimPart:
    """Spearman's correlation of two lists of values over models or languages, against `shift`.

    Both sources of chance count: other targets (clusters are drawn again) and other models (Bonett and Wright's
    interval); the wider end and the larger p-value are kept.
    """
    part = replace(start_part(hypothesis, evidence), design="over groups")
    right = hypothesis.right
    if not isinstance(right, ClaimSide):
        return replace(part, why="a correlation needs two lists of values")
    pairs = _matched(hypothesis.left, right)
    part = replace(part, a=f"rank correlation over {len(pairs)} groups", b=f"{hypothesis.shift:g}")
    if len(pairs) < FEWEST_UNITS:
        return replace(part, why=f"{len(pairs)} groups are too few for a correlation; it needs {FEWEST_UNITS}")
    sides = [side for a, b in pairs for side in ((a, hypothesis.left.metric), (b, right.metric))]
    aligned = evidence.align(sides)
    if aligned is None or aligned.common == NOTHING or len(aligned.sides[0].clusters) < FEWEST_CLUSTERS:
        return replace(part, why="the groups have too few targets in common")
    clusters, settings = len(aligned.sides[0].clusters), evidence.settings
    seen = np.array([side.value for side in aligned.sides])
    if np.ptp(seen[0::2]) == 0 or np.ptp(seen[1::2]) == 0:
        return replace(part, why="one of the two lists never changes")
    value = _rank_correlation(seen[0::2], seen[1::2])
    most = 1 - 1 / len(pairs) ** 2  # a perfect correlation of few groups is not a perfect one
    error = math.sqrt((1 + value**2 / 2) / (len(pairs) - 3))
    middle = math.atanh(min(most, max(-most, value)))
    own = [math.tanh(middle + sign * NormalDist().inv_cdf(0.975) * error) for sign in (-1, 1)]
    resampled = [
        bootstrap_values(side.evaluate, clusters, resamples=settings.resamples, seed=settings.seed)
        for side in aligned.sides
    ]
    drawn = np.array([_rank_correlation(row[0::2], row[1::2]) for row in np.column_stack(resampled)])
    ends = percentile_interval(drawn, level=expanded_level(clusters))
    p_true, p_false = _correlation_p(middle, drawn, part=part, error=error)
    return replace(
        part,
        value_a=value,
        value_b=part.shift,
        shift=0.0,
        difference=value - part.shift,
        low=min(ends[0], own[0]) - part.shift,
        high=max(ends[1], own[1]) - part.shift,
        p_true=p_true,
        p_false=p_false,
        n=aligned.sides[0].n,
        clusters=clusters,
    )


def _matched(left: ClaimSide, right: ClaimSide) -> list[tuple[ScoreGroup, ScoreGroup]]:
    """The groups of both sides that agree in every name that changes within the left side."""
    varies = [name for name in ("model", "language") if len({dict(group.names).get(name) for group in left.groups}) > 1]

    def key(group: ScoreGroup) -> tuple[str | None, ...]:
        return tuple(dict(group.names).get(name) for name in varies)

    others = {key(group): group for group in right.groups}
    return [(group, others[key(group)]) for group in left.groups if key(group) in others]


def _rank_correlation(x: Array, y: Array) -> float:
    a, b = ranks(x) - (len(x) + 1) / 2, ranks(y) - (len(y) + 1) / 2
    size = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / size if size > 0 else 0.0


def _correlation_p(middle: float, drawn: Array, *, part: ClaimPart, error: float) -> tuple[float, float]:
    """The one-sided p-values for the claim and its opposite, each the larger of that over targets and over models."""
    z = (middle - math.atanh(part.shift)) / error
    tails = []
    for sign in (1, -1):
        targets = (1 + int(np.sum(sign * (drawn - part.shift) <= 0))) / (len(drawn) + 1)
        tails.append(max(targets, 1 - NormalDist().cdf(sign * z)))
    return (tails[0], tails[1]) if part.sign > 0 else (tails[1], tails[0])


# ---- from parts to the whole


@dataclass(frozen=True, slots=True)
class Joined:
    """The p-values of a claim and of its opposite, and the part that decides."""

    p_true: float
    p_false: float
    for_claim: ClaimPart
    against_claim: ClaimPart


def join_parts(tree: Hypotheses | Hypothesis, evidence: Evidence) -> Joined:
    """The p-values of a claim: where every part must hold, the largest (intersection-union test), and where one is
    enough, the smallest times the number of parts (Bonferroni). For the opposite it is the other way round.

    A part that cannot be interpreted or tested can neither support nor contradict.
    """
    if isinstance(tree, Hypothesis):
        part = check_part(tree, evidence)
        return Joined(part.p_true if part.tested else 1.0, part.p_false if part.tested else 1.0, part, part)
    parts = [join_parts(branch, evidence) for branch in tree.parts]
    if tree.quantifier == EVERY:
        hardest, refuted = max(parts, key=lambda part: part.p_true), min(parts, key=lambda part: part.p_false)
        p_false = min(1.0, len(parts) * refuted.p_false)
        return Joined(hardest.p_true, p_false, hardest.for_claim, refuted.against_claim)
    easiest, last = min(parts, key=lambda part: part.p_true), max(parts, key=lambda part: part.p_false)
    return Joined(min(1.0, len(parts) * easiest.p_true), last.p_false, easiest.for_claim, last.against_claim)
