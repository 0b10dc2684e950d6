"""How often do our 95 % intervals hold the truth? Simulates data whose truth is known, and draws docs/assets/coverage.svg.

Run `python -m benchmarks.coverage` (some minutes); the slow tests run the same cases.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from isogloss.analysis.comparisons import Comparison, _paired_test
from isogloss.analysis.intervals import Drawing, find_interval
from isogloss.metrics.contributions import Contribution, from_sums
from isogloss.metrics.preferences import icat
from isogloss.stats.resampling import Array

FIGURE = Path(__file__).parent.parent / "docs" / "assets" / "coverage.svg"
ALLOWED = 1.5


@dataclass(frozen=True)
class Case:
    """Clusters of items whose preferences scatter from cluster to cluster around `centre` (a logit)."""

    title: str
    clusters: int
    size: int
    metric: str = "ss"
    interval: str = "auto"
    scatter: float = 0.5
    centre: float = 0.3


CASES = {
    "overall": Case("SS, all of StereoSet: 79 targets, 53 items each", 79, 53),
    "intra": Case("SS, one task: 79 targets, 27 items each", 79, 27),
    "strong": Case("SS, one task, targets that differ much", 79, 27, scatter=1.0),
    "race": Case("SS, one bias type: 36 targets, 54 items each", 36, 54),
    "gender": Case("SS, gender: 10 targets, 50 items each", 10, 50),
    "lms": Case("LMS, one task", 79, 27, metric="lms"),
    "icat": Case("ICAT, one task", 79, 27, metric="icat"),
    "bca": Case("SS, one task, BCa", 79, 27, interval="bca"),
    "crows": Case("SS, 1508 independent pairs (Wilson)", 1508, 1, scatter=0.0),
    "small": Case("SS, 60 independent pairs near 90 (Wilson)", 60, 1, scatter=0.0, centre=2.2),
    "paired": Case("difference of two languages, one task", 79, 27, metric="paired"),
}


def logistic(values: Array) -> Array:
    """Logits as shares."""
    return 1 / (1 + np.exp(-values))


@cache
def mean_share(centre: float, scatter: float) -> float:
    """The mean of logistic(normal) by quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    return float(np.sum(weights * logistic(centre + scatter * nodes)) / np.sum(weights))


def share(sums: Array) -> Array:
    """100 · wins / n."""
    return 100 * sums[..., 0] / sums[..., 1]


def icat_of(sums: Array) -> Array:
    """ICAT of sums of related wins, stereotype wins and items."""
    return icat(100 * sums[..., 0] / sums[..., 2], 100 * sums[..., 1] / sums[..., 2])


def one_sample(case: Case, rng: np.random.Generator) -> Contribution:
    """A data set drawn anew: new clusters, new items."""
    sizes = np.maximum(1, rng.poisson(case.size, case.clusters)) if case.size > 1 else np.ones(case.clusters, dtype=int)
    names = [f"c{k}" for k in range(case.clusters)]
    won = rng.binomial(sizes, logistic(rng.normal(case.centre, case.scatter, case.clusters)))
    if case.metric == "ss":
        sums, finish = np.column_stack([won, sizes]), share
    else:
        chance = logistic(rng.normal(1.2, case.scatter, case.clusters))
        related = rng.binomial(2 * sizes, chance) / 2
        sums, finish = np.column_stack([related, sizes]), share
        if case.metric == "icat":
            sums, finish = np.column_stack([related, won, sizes]), icat_of
    return from_sums(sums.astype(float), names, finish=finish, n=int(sizes.sum()))


def truth_of(case: Case) -> float:
    """The value that ever more clusters would give."""
    preferred = 100 * mean_share(case.centre, case.scatter)
    related = 100 * mean_share(1.2, case.scatter)
    if case.metric == "icat":
        return float(icat(np.array(related), np.array(preferred)))
    return {"ss": preferred, "lms": related, "paired": 0.0}[case.metric]


def held(case: Case, seed: int, *, resamples: int) -> tuple[bool, bool]:
    """Whether the interval of one simulated data set holds the truth, and whether a test finds what is not there."""
    rng = np.random.default_rng([seed, case.clusters, case.size])
    if case.metric == "paired":
        return _held_difference(case, rng, seed=seed, resamples=resamples)
    ends = find_interval(one_sample(case, rng), Drawing(case.interval, resamples, seed), bounds=(0, 100))
    assert ends.low is not None
    assert ends.high is not None
    return ends.low <= truth_of(case) <= ends.high, False


def _held_difference(case: Case, rng: np.random.Generator, *, seed: int, resamples: int) -> tuple[bool, bool]:
    """Two sides with equal shares but their own scatter around what the targets have in common."""
    sizes = np.maximum(1, rng.poisson(case.size, case.clusters))
    common = rng.normal(case.centre, case.scatter, case.clusters)
    wins = [rng.binomial(sizes, logistic(common + rng.normal(0, 0.4, case.clusters))) for _ in "ab"]
    sums = np.column_stack([np.concatenate(wins), np.tile(sizes, 2)]).astype(float)
    names = [f"{side}/c{k}" for side in "ab" for k in range(case.clusters)]
    found = from_sums(sums, names, finish=share, n=2 * int(sizes.sum()))
    empty = Comparison(
        *({}, {}, "ss", {}), *[None] * 9, n=0, clusters=0, mde=None, n_needed=None, mode="corrected", design="paired"
    )
    places = (np.arange(case.clusters), np.arange(case.clusters, 2 * case.clusters))
    row = _paired_test(empty, found, places=places, drawing=Drawing(resamples=resamples, seed=seed))
    assert row.low is not None
    assert row.high is not None
    assert row.p is not None
    return row.low <= 0 <= row.high, row.p <= 0.05


def simulate(case: Case, *, trials: int, resamples: int = 1000) -> tuple[float, float]:
    """Coverage and false positives, in per cent."""
    found = np.array([held(case, seed, resamples=resamples) for seed in range(trials)], dtype=float)
    return 100 * float(found[:, 0].mean()), 100 * float(found[:, 1].mean())


def draw(results: dict[str, float], trials: int) -> str:
    """The figure: one line per case, with the band that is allowed and the Monte Carlo error."""
    left, width, step, top = 380, 360, 26, 50
    height = top + step * len(results) + 46
    scale: Callable[[float], float] = lambda value: left + (value - 90) * width / 10  # noqa: E731
    error = 196 * (0.95 * 0.05 / trials) ** 0.5
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 70}" height="{height}" font-family="sans-serif" font-size="13">',
        f'<rect width="100%" height="100%" fill="white"/><text x="10" y="24" font-size="15">How often a 95 % interval holds the truth ({trials} simulated data sets per line)</text>',
        f'<rect x="{scale(95 - ALLOWED):.1f}" y="{top - 8}" width="{2 * ALLOWED * width / 10:.1f}" height="{step * len(results) + 8}" fill="#e8eef7"/>',
        f'<line x1="{scale(95):.1f}" x2="{scale(95):.1f}" y1="{top - 8}" y2="{top + step * len(results)}" stroke="#4a6fa5" stroke-dasharray="4 3"/>',
    ]
    for number, (name, value) in enumerate(results.items()):
        y = top + step * number + 10
        lines.append(f'<text x="{left - 12}" y="{y + 4}" text-anchor="end">{CASES[name].title}</text>')
        lines.append(
            f'<line x1="{scale(value - error):.1f}" x2="{scale(value + error):.1f}" y1="{y}" y2="{y}" stroke="#333"/>'
        )
        lines.append(f'<circle cx="{scale(value):.1f}" cy="{y}" r="4" fill="#1f3b6f"/>')
        lines.append(f'<text x="{left + width + 10}" y="{y + 4}">{value:.1f} %</text>')
    bottom = top + step * len(results) + 20
    lines += [
        f'<text x="{scale(v):.1f}" y="{bottom}" text-anchor="middle" fill="#555">{v} %</text>'
        for v in (90, 92, 94, 96, 98, 100)
    ]
    return "\n".join([*lines, "</svg>", ""])


def main() -> None:
    """Simulate all cases, print them, and write the figure."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    results = {}
    for name, case in CASES.items():
        results[name], wrong = simulate(case, trials=trials)
        extra = f"; {wrong:.2f} % false positives" if case.metric == "paired" else ""
        print(f"{case.title}: {results[name]:.2f} %{extra}", flush=True)
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    FIGURE.write_text(draw(results, trials), encoding="utf-8")


if __name__ == "__main__":
    main()
