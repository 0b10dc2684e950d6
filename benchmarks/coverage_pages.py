"""The pages about coverage: what was found in docs/dev/calibration.md, every line of the simulation in docs/dev/coverage.md."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from benchmarks import coverage
from benchmarks.coverage import ALLOWED, MOST_FALSE, Result, Store
from benchmarks.coverage_cases import (
    ALL_PAIRS,
    BEFORE,
    CASES,
    CLUSTERS,
    GRID,
    GRID_METRICS,
    LABELS,
    LIKENESS,
    PAIR_CLUSTERS,
    PAIRS,
    POWER,
    THRESHOLDS,
    Pair,
)
from benchmarks.populations import Case

DOCS = Path(__file__).parent.parent / "docs"
FINDINGS, MATRIX = DOCS / "dev" / "calibration.md", DOCS / "dev" / "coverage.md"
START, END = "<!-- coverage: start -->", "<!-- coverage: end -->"
ENOUGH = 1000
Line = tuple[str, float | None, Result | None]


def write(store: Store) -> None:
    """Both pages, after what is missing was simulated and what is doubtful was repeated."""
    for repeating in (False, True):
        store.repeating = repeating
        findings(store), matrix(store)
    for page in (FINDINGS, MATRIX):
        page.write_text(fill(page, store), encoding="utf-8")


def fill(page: Path, store: Store) -> str:
    """The page with the results between its marks."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    lines = findings(store) if page == FINDINGS else matrix(store)
    return "\n".join([before + START, "", *lines, "", END + rest.partition(END)[2]])


# ---- the findings


def findings(store: Store) -> list[str]:
    """How many lines meet the goal, which do not, and the cases that are known from 0.1.0."""
    cases = [(f"{case.metric}, {case.title}", value, store.of_case(case)) for case, value in BEFORE]
    pairs = [(f"{pair.a.metric}, {pair.title}", pair.before, store.of_pair(pair)) for pair in PAIRS if pair.before]
    labels = [(case.title, value, store.of_labels(case)) for case, value in LABELS]
    lines = ["Coverage of intervals:", "", *_before(cases, "coverage, %", lambda result: result.held)]
    lines += ["", "Differences found where there are none (p ≤ 0.05):", ""]
    lines += _before(pairs, "found, %", lambda result: result.found)
    lines += ["", "The permutation test of MBE for lists whose MBE is 50:", ""]
    lines += _before(labels, "found, %", lambda result: result.found)
    return [*summary(store), "", *lines, "", *power(store), "", *families(store)]


def _before(rows: Sequence[Line], title: str, value: Callable[[Result], float | None]) -> list[str]:
    lines = [f"| data | 0.1.0 | {title} |", "| --- | --- | --- |"]
    there = [(data, before, result) for data, before, result in rows if result is not None]
    return lines + [
        f"| {data} | {_plain(before)} | {_share(result, value(result))} |" for data, before, result in there
    ]


def summary(store: Store) -> list[str]:
    """How many results are inside the goal, and which are not."""
    results = list(_results(store))
    covered = [(key, result, result.held) for key, result in results if result.held is not None]
    tested = [(key, result, result.found) for key, result in results if result.found is not None]
    narrow = [line for line in covered if line[2] < 95 - ALLOWED]
    wide = [line for line in covered if line[2] > 95 + ALLOWED]
    often = [line for line in tested if line[2] > MOST_FALSE]
    counts = [row["trials"] for row in store.known.values()]
    lines = [
        f"{min(counts)} to {max(counts)} simulated data sets per line; ± is the Monte Carlo error. Coverage is within 95 ± {ALLOWED} % in "
        f"{len(covered) - len(narrow) - len(wide)} of {len(covered)} cases with an interval, lower in {len(narrow)} and higher in {len(wide)}; "
        f"false positives are at most {MOST_FALSE} % in {len(tested) - len(often)} of {len(tested)} comparisons. "
        f"{len(results) - len(covered)} cases have too few clusters for an interval."
    ]
    doubtful = []
    for title, rows in (("Covered too rarely", narrow), ("Found too often", often)):
        sure = [line for line in rows if line[1].trials >= ENOUGH or not line[1].is_doubtful]
        named = [f"* {key}: {_share(result, value)} %" for key, result, value in sorted(sure, key=lambda row: row[0])]
        lines += ["", f"{title}:", "", *named] if named else []
        doubtful.append(len(rows) - len(sure))
    if any(doubtful):
        lines += [
            "",
            f"Lines of fewer than {ENOUGH} data sets that are outside by no more than three Monte Carlo errors are not listed: coverage "
            f"{doubtful[0]}, false positives {doubtful[1]}.",
        ]
    means = [f"{np.mean([line[2] for line in part]):.1f} %" for part in (covered, tested)]
    lines += ["", f"The mean coverage of all lines is {means[0]}, the mean share of false positives {means[1]}."]  # fmt: skip
    kinds = Counter(re.split("[:, ]", key)[0] for key, _, _ in wide).most_common()
    most = ", ".join(f"{kind} {count}" for kind, count in kinds[:5])
    rest = sum(count for _, count in kinds[5:])
    return [*lines, "", f"Wider than needed: {most or 'none'}{f', others {rest}' if rest else ''}."]


def _results(store: Store) -> Iterator[tuple[str, Result]]:
    for key, row in store.known.items():
        if isinstance(row["values"], dict):
            yield key, Result(**row["values"])
        elif isinstance(row["values"][0], dict):
            yield from zip((f"{key}, kappa", f"{key}, rho"), (Result(**part) for part in row["values"]), strict=True)


def power(store: Store) -> list[str]:
    """How often a difference as large as the printed MDE is found."""
    lines = ["A true difference in SS as large as the printed MDE is found (80 % is meant):", ""]
    lines += ["| data | mean MDE | 0.1.0 | found, % |", "| --- | --- | --- | --- |"]
    for case, before in POWER:
        row = store.get(f"power {case.title}", lambda trials, c=case: coverage.simulate_power(c, trials=trials))  # type: ignore[misc]
        if row:
            lines.append(f"| {case.title} | {row[0]:.1f} | {before} | {row[1]:.1f} |")
    return lines


def families(store: Store) -> list[str]:
    """Twenty comparisons at once, without and with true differences."""
    none, some = (
        store.get(f"family with {true} true", lambda trials, t=true: coverage.simulate_family(true=t, trials=trials))
        for true in (0, 5)
    )  # type: ignore[misc]
    if not none or not some:
        return []
    return [
        f"Twenty paired comparisons at once: without any true difference one or more is found in {none[0]:.1f} % "
        f"(Holm) and {none[1]:.1f} % (BH); with five true ones of 15 points, a false one is among the findings in {some[0]:.1f} % (Holm), "
        f"and {some[1]:.1f} % of the findings are false (BH)."
    ]  # fmt: skip


# ---- the matrix


def matrix(store: Store) -> list[str]:
    """Every line: cases that are known from 0.1.0, the other metrics, the grid, kappa, comparisons."""
    lines = ["## Intervals", "", *case_table([*BEFORE, *((case, None) for case in CASES)], store)]
    for metric in GRID_METRICS:
        lines += ["", f"Coverage of {metric} in per cent by the number of clusters:", "", *grid(metric, store)]
    lines += ["", "Kappa and rank correlation of two languages:", "", *likeness_table(store)]
    lines += ["", "## Comparisons", "", *pair_table(PAIRS, store)]
    for paired in (True, False):
        design = "paired" if paired else "unpaired"
        lines += [
            "",
            f"SS, {design}, both sides alike: p ≤ 0.05 in per cent (and coverage) by the number of clusters:",
            "",
        ]
        lines += pair_grid(store, paired=paired)
    lines += ["", "The other metrics, both sides alike:", "", *pair_table(ALL_PAIRS, store)]
    return [*lines, "", "## Values against a number", "", *threshold_table(store)]


def matrix_of(metric: str, store: Store) -> list[str]:
    """The lines of one metric; one that has none of its own, such as a plug-in's, gets those of the grid."""
    cases = [row for row in (*BEFORE, *((case, None) for case in CASES)) if row[0].metric == metric]
    chosen = cases or [(replace(case, metric=metric, clusters=n), None) for case in GRID for n in (10, 20, 79)]
    pairs = [pair for pair in (*PAIRS, *ALL_PAIRS) if pair.a.metric == metric]
    if not cases:
        sides = [Case(metric, clusters=count) for count in PAIR_CLUSTERS]
        pairs = [Pair(side, side, paired=paired) for side in sides for paired in (True, False)]
    return [*case_table(chosen, store), *(["", *pair_table(pairs, store)] if pairs else [])]


def case_table(rows: Sequence[tuple[Case, float | None]], store: Store) -> list[str]:
    """One line per case."""
    lines = ["| metric | data | coverage, % | median width | no interval, % | data sets |"]
    lines += ["| --- | --- | --- | --- | --- | --- |"]
    for case, _ in rows:
        result = store.of_case(case)
        if result is not None:
            width = "-" if result.width is None else f"{result.width:.3g}"
            cells = (
                case.metric,
                case.title,
                _share(result, result.held),
                width,
                f"{result.missing:.0f}",
                f"{result.trials}",
            )
            lines.append(f"| {' | '.join(cells)} |")
    return list(dict.fromkeys(lines))  # fmt: skip


def grid(metric: str, store: Store) -> list[str]:
    """One line per kind of data, one column per number of clusters."""
    lines = [f"| data | {' | '.join(map(str, CLUSTERS))} |", "| --- |" + " --- |" * len(CLUSTERS)]
    for case in GRID:
        cells = [store.of_case(replace(case, metric=metric, clusters=count)) for count in CLUSTERS]
        shares = ["" if result is None else _plain(result.held) or "-" for result in cells]
        if any(shares):
            lines.append(f"| {case.data} | {' | '.join(shares)} |")
    return lines


def pair_grid(store: Store, *, paired: bool) -> list[str]:
    """One line per kind of data, one column per number of clusters."""
    lines = [f"| data | {' | '.join(map(str, PAIR_CLUSTERS))} |", "| --- |" + " --- |" * len(PAIR_CLUSTERS)]
    for case in GRID:
        sides = [replace(case, clusters=count) for count in PAIR_CLUSTERS]
        results = [store.of_pair(Pair(side, side, paired=paired)) for side in sides]
        shares = [
            "" if result is None else f"{_plain(result.found)} ({_plain(result.held) or '-'})" for result in results
        ]
        if any(shares):
            lines.append(f"| {case.data} | {' | '.join(shares)} |")
    return lines  # fmt: skip


def pair_table(pairs: Sequence[Pair], store: Store) -> list[str]:
    """One line per pair of sides; where their true values differ, what is found is no error."""
    lines = [
        "| metric | sides | p ≤ 0.05, % | claimed, % | coverage, % | data sets |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for pair in pairs:
        result = store.of_pair(pair)
        if result is not None:
            shares = _share(result, result.found), _plain(result.claimed), _share(result, result.held)
            lines.append(f"| {' | '.join((pair.a.metric, pair.title, *shares, str(result.trials)))} |")
    return lines  # fmt: skip


def threshold_table(store: Store) -> list[str]:
    """One line per value that is compared with the truth."""
    lines = ["| metric | data | p ≤ 0.05, % | coverage, % | data sets |", "| --- | --- | --- | --- | --- |"]
    for case in THRESHOLDS:
        result = store.of_threshold(case)
        if result is not None:
            shares = _share(result, result.found), _share(result, result.held)
            lines.append(f"| {' | '.join((case.metric, case.title, *shares, str(result.trials)))} |")
    return lines


def likeness_table(store: Store) -> list[str]:
    """One line per case of two languages."""
    lines = ["| clusters | items each | spread | kappa, coverage % | rank correlation, coverage % |"]
    lines += ["| --- | --- | --- | --- | --- |"]
    for case in LIKENESS:
        rows = store.get(
            f"likeness {case}",
            lambda trials, c=case: [asdict(result) for result in coverage.simulate_likeness(c, trials=trials)],
        )  # type: ignore[misc]
        shares = [_share(Result(**row), row["held"]) for row in rows or ()]
        if shares:
            lines.append(f"| {' | '.join(map(str, (*case, *shares)))} |")
    return lines


def _share(result: Result, value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} ± {result.error(value):.1f}"


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
