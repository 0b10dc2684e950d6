"""The tables of docs/dev/calibration.md that repeat the rows of an outside calibration of 0.2.0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmarks.held_out import HIGH, LOW, _error

PAGE = Path(__file__).parent.parent / "docs" / "dev" / "calibration.md"
START, END = "<!-- outside: start -->", "<!-- outside: end -->"
NOW, BEFORE = "now", "0.2.0"
VALUES = {  # coverage in per cent as that calibration printed it, of 0.2.0 on its own populations
    "real targets": "95.3 (92.8 to 97.5)",
    "levels": "95.3 (90.6 to 99.3)",
    "lms": "95.8 (93.7 to 99.3)",
    "ties": "95.0 (93.3 to 96.5)",
    "sizes": "94.8 (89.3 to 97.6)",
    "mixtures": "93.3 (81.6 to 98.1), with the next row",
    "mixture 97/40": "81.6 to 90.8 (12 and 20 targets)",
    "few items": "97.5 (95.0 to 99.8)",
    "these wordings": "95.1 (94.3 to 96.4)",
    "new wordings": "77.9 (48.2 to 94.4)",
    "agreement": "94.4 to 96.3",
    "pair score": "94.8 to 99.9",
    "mean, t4": "93.4 to 95.7, with the next two rows",
    "mean, mixture": "",
    "mean, clustered": "",
    "mean, exponential": "91.0 to 94.3",
    "mean, sizes 1.3": "92.2",
    "cb": "93.7 to 98.0",
    "cb, five times as wide": "61.2 to 98.5",
    "cb, random concepts": "34 to 79",
}
PAIRS = {  # p at most 0.05 in per cent
    "paired, ordinary": "2.0 to 8.8",
    "paired, sizes 0.5, r 0.3 on one side": "4.6 to 5.2",
    "paired, sizes 0.8, r 0.4 on one side": "6.3 to 6.5",
    "paired, sizes 1.2, r 0.6 on one side": "12.4 to 13.5",
    "paired, sizes 1, r .5 and -.5": "15.1 to 21.6",
    "unpaired": "2.9 to 5.5",
}
HEAD = "outside calibration of 0.2.0, %"


def write(known: Mapping[str, Any]) -> None:
    """Write both tables between the marks of the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    lines = [*values_table(known), "", *pairs_table(known)]
    PAGE.write_text("\n".join([before + START, "", *lines, "", END + rest.partition(END)[2]]), encoding="utf-8")


def values_table(known: Mapping[str, Any]) -> list[str]:
    """Coverage by kind of population."""
    lines = [
        f"| population | {HEAD} | 0.2.0 on our data sets, % | now, mean (least to most), % | cells | too low | too high | width, now / 0.2.0 |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for group, reported in VALUES.items():
        cells = dict(cells_of(known, NOW, group))
        if not cells:
            continue
        old = dict(cells_of(known, BEFORE, group))
        held = [cell["held"] for cell in cells.values()]
        errors = [_error(cell["held"], cell["trials"]) for cell in cells.values()]
        low = sum(value + 2 * error < LOW for value, error in zip(held, errors, strict=True))
        high = sum(value - 2 * error > HIGH for value, error in zip(held, errors, strict=True))
        own = [spread(held), len(cells), low, high, width(cells, old)]
        before = spread([cell["held"] for cell in old.values()]) if old else "-"
        lines.append(f"| {group} | {reported or ''} | {before} | {' | '.join(map(str, own))} |")
    return lines


def pairs_table(known: Mapping[str, Any]) -> list[str]:
    """False positives and coverage of comparisons without a difference."""
    lines = [
        f"| comparison | p ≤ 0.05, {HEAD} | 0.2.0 on our data sets, % | now, mean (least to most), % | coverage now, % | cells | width, now / 0.2.0 |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for group, reported in PAIRS.items():
        cells, old = (dict(cells_of(known, rule, group)) for rule in (NOW, BEFORE))
        if not cells:
            continue
        before = spread([cell["found"] for cell in old.values()]) if old else "-"
        found, held = (spread([cell[name] for cell in cells.values()]) for name in ("found", "held"))
        lines.append(f"| {group} | {reported} | {before} | {found} | {held} | {len(cells)} | {width(cells, old)} |")
    return lines


def cells_of(known: Mapping[str, Any], rule: str, group: str) -> Iterator[tuple[tuple[str, str], dict[str, float]]]:
    """The cells with an interval of a group of rows, by row and metric."""
    for key, row in known.get(rule, {}).items():
        values = row["values"]
        for metric, cell in ({"": values} if "found" in values else values).items():
            if row["group"] == group and "held" in cell:
                yield (key, metric), {**cell, "trials": row["trials"]}


def spread(values: list[float]) -> str:
    """The mean with the least and the most."""
    return f"{fmean(values):.1f} ({min(values):.1f} to {max(values):.1f})" if len(values) > 1 else f"{values[0]:.1f}"


def width(cells: Mapping[Any, Mapping[str, float]], old: Mapping[Any, Mapping[str, float]]) -> str:
    """The median of the ratios of the widths, over the cells that both rules have."""
    ratios = [cells[key]["width"] / old[key]["width"] for key in cells if key in old]
    return f"{median(ratios):.2f}" if ratios else "-"
