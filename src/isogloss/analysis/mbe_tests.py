"""Is an MBE value more than chance? McNemar as published, permutation of the sentences' labels, and a shuffled pairing."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from ..metrics._pairs import group_order
from ..results import Results
from ..scores import Scored
from ..stats.hypotheses import shuffle_test
from ..stats.pairwise import count_wins, rank, studentised_share, unit
from ..stats.resampling import Array
from .groups import check_rows, default_parts
from .measures import Measure

DEPENDENT = "McNemar's p takes all n × m pairs for independent, which they are not, and is far too small; go by the permutation's"


@dataclass(frozen=True, slots=True)
class MbeTest:
    """MBE of a group with its tests; more than 50 means that `preferred` sentences are found more likely."""

    group: Mapping[str, str]
    value: float
    low: float | None
    high: float | None
    preferred: str
    sentences: Mapping[str, int]
    ties: int
    shuffled: float
    p_permutation: float
    p_mcnemar: float
    mode: str


def check_mbe(
    scored: Scored,
    measures: Iterable[Measure],
    *,
    by: Sequence[str] | None = None,
    permutations: int = 2_000,
    seed: int = 0,
) -> Results[MbeTest]:
    """The tests of every MBE among the measures of these scores, which were grouped by these columns."""
    measured = [measure for measure in measures if measure.metric == "mbe" and measure.value is not None]
    parts = default_parts(check_rows(scored), by) if measured else ()
    groups = {frozenset(part.group.items()): part for part in parts}
    mbe = []
    for measure in measured:
        part = groups.get(frozenset(measure.group.items()))
        if part is None or measure.value is None:
            continue
        rows = part.rows.filter(pl.col("quantity") == "score").drop_nulls("value")
        other, preferred = group_order(rows)
        first = rows.filter(pl.col("role") == preferred)["value"].to_numpy()
        second = rows.filter(pl.col("role") != preferred)["value"].to_numpy()
        mbe.append(
            MbeTest(
                *(measure.group, measure.value, measure.low, measure.high),
                preferred=preferred,
                sentences={other: len(second), preferred: len(first)},
                ties=measure.ties,
                shuffled=shuffled_score(first, second, ties=0.5 if measure.mode == "corrected" else 0.0, seed=seed),
                p_permutation=permutation_p(rows, mode=measure.mode, permutations=permutations, seed=seed),
                p_mcnemar=mcnemar(first, second, seed=seed),
                mode=measure.mode,
            )
        )
    return Results(tuple(mbe), notes=(DEPENDENT,))


def permutation_p(rows: pl.DataFrame, *, mode: str, permutations: int, seed: int) -> float:
    """The two-sided p of an MBE of 50: labels are permuted, and values compared in units of their standard errors.

    For lists of the same distribution it is exact; without the standard errors, lists whose scores vary differently would
    be told apart although the value is 50 (Neubert and Brunner 2007).
    """
    male, scores = (rows["role"] == group_order(rows)[1]).to_numpy(), rows["value"].to_numpy()
    order = np.argsort(~male, kind="stable")  # the preferred group first, as the test wants it
    vectors = np.stack(rows["vector"].to_numpy()).astype(np.float64)[order]  # type: ignore[call-overload]
    corrected = mode == "corrected"
    ranked = rank(scores[order], unit(vectors) if corrected else vectors, ties=0.5 if corrected else 0.0)

    def statistic(first: Array) -> Array:
        return studentised_share(ranked, first, second=1 - first)

    return shuffle_test(statistic, (int(male.sum()), int((~male).sum())), resamples=permutations, seed=seed)


def shuffled_score(first: Array, second: Array, *, ties: float = 0.5, seed: int = 0) -> float:
    """Shf: the sentences of the two lists paired at random, and the share of pairs that the first list wins."""
    rng = np.random.default_rng(seed)
    size = min(len(first), len(second))
    a, b = rng.permutation(first)[:size], rng.permutation(second)[:size]
    return float(100 * np.mean((a > b) + ties * (a == b)))


def mcnemar(first: Array, second: Array, *, seed: int = 0) -> float:
    """The p of McNemar's test of all pairs' preferences against random ones, whose discordant counts are drawn.

    Of the k pairs that the first list wins a fair coin disagrees with Binomial(k, 1/2), and likewise for the others.
    """
    wins, _ = count_wins(first, second)
    rng = np.random.default_rng(seed)
    for_first = int(rng.binomial(wins, 0.5))
    for_second = int(rng.binomial(len(first) * len(second) - wins, 0.5))
    total = for_first + for_second
    if not total:
        return 1.0
    chi2 = max(0, abs(for_first - for_second) - 1) ** 2 / total
    return math.erfc(math.sqrt(chi2 / 2))
