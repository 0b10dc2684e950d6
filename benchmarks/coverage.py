"""How often do the 95 % intervals hold the truth, and how often do the tests find what is not there?

Simulates data whose truth is known, and gives it to the functions behind `measure` and `compare`.
`python -m benchmarks.coverage` prints the matrix and writes it into docs/statistics.md (some minutes);
`--metric NAME` prints the lines of one metric, which may be a plug-in's; `--trials N` is the number of data sets per line.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.populations import Case, contribute, draw_pair, draw_table, truth_of
from isogloss import registry
from isogloss.analysis.differences import paired_test, unpaired_test
from isogloss.analysis.intervals import IntervalSettings, find_interval
from isogloss.stats.hypotheses import adjust_bh, adjust_holm

PAGE = Path(__file__).parent.parent / "docs" / "statistics.md"
START, END = "<!-- coverage: start -->", "<!-- coverage: end -->"
ALLOWED = 1.5
MOST_FALSE = 5.5
SETTINGS = IntervalSettings(resamples=1000)


@dataclass(frozen=True)
class Pair:
    """Two sides that are compared; `before` is how often 0.1.0 found a difference that is not there."""

    a: Case
    b: Case
    paired: bool
    before: float | None = None

    @property
    def title(self) -> str:
        """Both sides in a few words."""
        design = "paired" if self.paired else "unpaired"
        return f"{design}: {self.a.title} / {self.b.title}" if self.a != self.b else f"{design}: {self.a.title}, both"


@dataclass(frozen=True)
class Result:
    """In per cent: intervals that hold the truth, intervals that could not be given, differences found (p up to 0.05)."""

    held: float
    missing: float
    width: float
    found: float | None = None
    claimed: float | None = None

    def error(self, value: float, trials: int) -> float:
        """The Monte Carlo error of a percentage."""
        share = min(max(value / 100, 0.5 / trials), 1 - 0.5 / trials)
        return 100 * float(np.sqrt(share * (1 - share) / trials))


C = Case
CASES = (
    *(C("ss", clusters=n, spread=s) for n, s in ((10, 0.3), (10, 1.0), (20, 1.0), (40, 1.0), (79, 0.0), (79, 2.0))),
    C("ss", share=0.5, before=96.1),
    C("ss", clusters=20, share=0.97, spread=1.0, before=90.9),
    C("ss", clusters=10, sizes=(3, 7), share=0.97, spread=0.0, ties=0.0, before=80.2),
    C("ss", clusters=20, sizes=(3, 7), share=0.99, spread=0.0, ties=0.0, before=60.8),
    C("ss", clusters=79, share=0.97, spread=1.0),
    C("ss", sizes="huge", before=93.7),
    C("ss", clusters=40, sizes="skewed", spread=1.0, before=93.2),
    *(C("ss", clusters=n, sizes="informative", before=x) for n, x in ((10, 84.8), (20, 86.5), (79, 89.7))),
    C("ss_multiclass", clusters=20, sizes="informative", before=94.5),
    C("ss", clusters=60, sizes=(1, 1), share=0.9, spread=0.0),
    C("ss", clusters=5),
    C("lms", before=95.5),
    C("lms", clusters=20, sizes=(3, 7), related=0.995, before=62.0),
    C("lms_multiclass", clusters=20),
    *(C("icat", share=s, before=x) for s, x in ((0.5, 67.5), (0.51, 97.4), (0.52, 97.6), (0.55, 95.2), (0.6, 94.4))),
    C("icat", share=0.5, related=0.99, before=31.3),
    C("icat", share=0.5, related=0.99, spread=1.0, before=10.5),
    C("icat", clusters=10, share=0.5, before=75.1),
    C("icat", clusters=20, share=0.53),
    C("icat", clusters=20, share=0.97, spread=1.0, before=90.8),
    C("icat_micro", share=0.5),
    C("icat_macro", share=0.5, before=95.5),
    C("icat_macro", clusters=20, sizes=(3, 7), share=0.99, spread=0.0, ties=0.0, before=61.1),
    *(C("icat_macro_corrected", share=p, spread=s) for p, s in ((0.5, 0.0), (0.5, 0.3), (0.5, 1.0), (0.6, 0.3))),
    C("icat_macro_corrected", clusters=20, share=0.5),
    C("icat_macro_corrected", clusters=79, sizes=(3, 7), share=0.6, spread=1.0),
    C("pair_score", clusters=200, sizes=(1, 1)),
    C("contrast", clusters=40, sizes=(1, 1)),
    C("contrast_variance", clusters=12, sizes=(1, 1), ties=0.0, before=83.9),
    C("contrast_variance", clusters=40, sizes=(1, 1), ties=0.0, before=91.3),
    C("contrast_variance", clusters=40, sizes=(1, 1), ties=0.0, tails="skewed", before=70.1),
    C("contrast_variance", clusters=20, sizes=(5, 5), ties=0.0, tails="skewed", before=81.0),
)
SS = C("ss", share=0.5)
FEW = C("ss", clusters=12, share=0.5)
PAIRS = (
    Pair(SS, SS, paired=True, before=5.8),
    Pair(replace(SS, spread=0.0), replace(SS, spread=1.0), paired=True, before=5.8),
    Pair(FEW, FEW, paired=True, before=4.4),
    Pair(replace(FEW, clusters=8), replace(FEW, clusters=8), paired=True, before=3.3),
    *(
        Pair(C("icat", share=1 - s), C("icat", share=s), paired=True, before=x)
        for s, x in ((0.5, 5.5), (0.52, 25.8), (0.55, 24.7), (0.6, 9.9))
    ),
    Pair(C("icat", share=0.5, related=0.99), C("icat", share=0.55, related=0.99), paired=True),
    Pair(C("icat", share=0.4), C("icat", share=0.6), paired=False, before=7.4),
    Pair(C("ss", clusters=20, sizes=(3, 7), share=0.97, spread=0.0), C("ss", clusters=20, sizes=(3, 7), share=0.97, spread=0.0), paired=True),
    Pair(replace(SS, spread=0.0), replace(FEW, spread=1.0), paired=False, before=30.6),
    Pair(replace(SS, spread=1.0), replace(FEW, spread=0.0), paired=False, before=0.1),
    Pair(SS, replace(FEW, spread=0.6), paired=False, before=13.4),
    Pair(SS, FEW, paired=False, before=5.4),
    Pair(SS, replace(SS, clusters=20, spread=1.0), paired=False, before=17.0),
    Pair(replace(SS, clusters=15, sizes=(5, 5), spread=0.5), replace(SS, clusters=60, sizes=(60, 60), spread=0.5), paired=False, before=19.6),
    Pair(replace(SS, clusters=60, sizes=(5, 5), spread=0.5), replace(SS, clusters=15, sizes=(60, 60), spread=0.5), paired=False, before=0.7),
    Pair(replace(SS, clusters=40, sizes=(60, 60), spread=0.5), replace(SS, clusters=40, sizes=(5, 5), spread=0.5), paired=False, before=7.8),
    Pair(SS, SS, paired=False, before=5.7),
    Pair(C("ss", share=0.97, spread=0.0), C("ss", clusters=20, sizes=(3, 7), share=0.97, spread=0.0), paired=False),
    Pair(C("contrast_variance", clusters=40, sizes=(1, 1), ties=0.0), C("contrast_variance", clusters=40, sizes=(1, 1), ties=0.0), paired=True),
)  # fmt: skip


def simulate(case: Case, *, trials: int) -> Result:
    """How often the metric's interval holds the truth."""
    rng, truth = np.random.default_rng([case.clusters, len(case.title)]), truth_of(case)
    bounds = registry.get("metric", case.metric).bounds
    held, widths = [], []
    for _ in range(trials):
        ends = find_interval(contribute(case, draw_table(case, rng)), SETTINGS, bounds=bounds)
        if ends.low is not None and ends.high is not None:
            held.append(ends.low - 1e-9 <= truth <= ends.high + 1e-9)
            widths.append(ends.high - ends.low)
    return _result(held, widths, trials=trials)


def _result(held: Sequence[bool], widths: Sequence[float], *, trials: int) -> Result:
    there = len(held)
    return Result(
        100 * float(np.mean(held)) if there else float("nan"),
        100 * (trials - there) / trials,
        float(np.mean(widths)) if there else float("nan"),
    )


def simulate_pair(pair: Pair, *, trials: int) -> Result:
    """How often the interval holds the true difference, and how often there is a p up to 0.05."""
    rng, truth = np.random.default_rng([pair.a.clusters, pair.b.clusters]), truth_of(pair.a) - truth_of(pair.b)
    bounds, test = registry.get("metric", pair.a.metric).bounds, paired_test if pair.paired else unpaired_test
    found, claimed, held, widths = [], [], [], []
    for _ in range(trials):
        a, b = draw_pair(pair.a, pair.b, rng, paired=pair.paired)
        one = test(a, b, bounds=bounds, settings=SETTINGS)
        found.append(one.p is not None and one.p <= 0.05)
        if one.low is not None and one.high is not None:
            held.append(one.low - 1e-9 <= truth <= one.high + 1e-9)
            widths.append(one.high - one.low)
            claimed.append(found[-1] and not one.low <= 0 <= one.high)
    result = _result(held, widths, trials=trials)
    return replace(result, found=100 * float(np.mean(found)), claimed=100 * float(np.sum(claimed)) / trials)


def simulate_family(*, size: int = 20, trials: int) -> tuple[float, float]:
    """How often any of twenty comparisons without a difference is found after Holm's, and after BH's, correction."""
    case, rng = C("ss", clusters=15, sizes=(10, 10), share=0.5), np.random.default_rng(20)
    any_holm = any_bh = 0
    for _ in range(trials):
        sides = [draw_pair(case, case, rng, paired=True) for _ in range(size)]
        p = [paired_test(a, b, bounds=(0, 100), settings=SETTINGS).p or 1.0 for a, b in sides]
        any_holm += min(adjust_holm(p)) <= 0.05
        any_bh += min(adjust_bh(p)) <= 0.05
    return 100 * any_holm / trials, 100 * any_bh / trials


def matrix(metric: str | None = None, *, trials: int) -> list[str]:
    """The lines of the page: intervals, tests, and families of tests."""
    cases = [case for case in CASES if metric in (None, case.metric)] or [
        replace(case, metric=str(metric), before=None) for case in CASES if case.metric == "ss" and case.clusters >= 10
    ]
    lines = [
        "| metric | data | coverage, % | 0.1.0 | mean width | no interval, % |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for case in cases:
        one = simulate(case, trials=trials)
        lines.append(
            f"| {case.metric} | {case.title} | {_share(one, one.held, trials)} | {_before(case.before)} | {_width(one.width)} | {one.missing:.0f} |"
        )
        print(lines[-1], flush=True)
    pairs = [pair for pair in PAIRS if metric in (None, pair.a.metric)]
    lines += (
        [
            "",
            "| metric | sides | p ≤ 0.05, % | 0.1.0 | coverage, % | no interval, % |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        if pairs
        else []
    )
    for pair in pairs:
        one = simulate_pair(pair, trials=trials)
        lines.append(
            f"| {pair.a.metric} | {pair.title} | {_share(one, one.found or 0.0, trials)} | {_before(pair.before)} | {_share(one, one.held, trials)} | {one.missing:.0f} |"
        )
        print(lines[-1], flush=True)
    if metric is None:
        holm, bh = simulate_family(trials=trials // 4)
        lines += [
            "",
            f"Twenty paired comparisons without any difference: one or more found in {holm:.1f} % (Holm), {bh:.1f} % (BH).",
        ]
        print(lines[-1])
    return lines  # fmt: skip


def _share(one: Result, value: float, trials: int) -> str:
    return "-" if np.isnan(value) else f"{value:.1f} ± {one.error(value, trials):.1f}"


def _width(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3g}"


def _before(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def main() -> None:
    """Print the matrix; of all metrics, write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metric", help="this metric's lines only; nothing is written")
    parser.add_argument("--trials", type=int, default=1000, help="simulated data sets per line")
    options = parser.parse_args()
    lines = matrix(options.metric, trials=options.trials)
    if options.metric is None:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
        after = rest.partition(END)[2]
        said = f"{options.trials} simulated data sets per line; ± is the Monte Carlo error."
        PAGE.write_text("\n".join([before + START, "", said, "", *lines, "", END + after]), encoding="utf-8")


if __name__ == "__main__":
    main()
