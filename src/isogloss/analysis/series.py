"""A series of runs over the same items, by training step, size or precision: its trend, its band, and where it steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from ..errors import IsoglossError
from ..metrics import number_clusters as numbered
from ..results import Results
from ..scores import KEY, Scored, check_scored
from ..stats import RESAMPLES
from ..stats.hypotheses import LEVEL
from ..stats.resampling import FEWEST_CLUSTERS, Array
from ..stats.scans import Scan, scan_clusters
from .groups import check_rows
from .intervals import IntervalSettings, check_interval_settings
from .item_values import UNIT, default_metric, values_by_item, wide_values, with_unit
from .measures import check_mode

FEWEST_STEPS = 3


@dataclass(frozen=True, slots=True)
class SeriesStep:
    """One run of a series: its value, and its difference from the first run with a band that is valid for all runs at once.

    `churn` is the percentage of items that differ from the run before. `jump` is the mean of this run and all later
    ones minus that of all earlier ones, with its adjusted p; `is_step` marks the significant step that describes
    the series best.
    """

    group: Mapping[str, str]
    metric: str
    value: float
    n: int
    clusters: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    churn: float | None = None
    jump: float | None = None
    jump_p: float | None = None
    is_step: bool = False


Series = Results[SeriesStep]


def trace(
    runs: Sequence[Scored],
    *,
    metric: str | None = None,
    mode: str = "corrected",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Series:
    """The value of each run of a series on the items that all runs have, the trend, and the step at which the values change.

    Parameters:
        runs: The scores of each run, in order.
        metric: A mean over items; by default SS, or the CrowS-Pairs score of pairs.
        mode: `corrected` or `paper`.
        resamples: How many times the signs of clusters are drawn.
        seed: Their seed.

    Example:
        >>> len(ig.trace([ig.load("runs/mine"), ig.load("runs/other"), ig.load("runs/mine")], resamples=200))
        3
    """
    check_mode(mode)
    settings = check_interval_settings(IntervalSettings(resamples=resamples, seed=seed))
    if len(runs) < FEWEST_STEPS:
        raise IsoglossError(f"A series needs {FEWEST_STEPS} runs or more; there are {len(runs)}.")
    tables = [check_rows(check_scored(run, "change")) for run in runs]
    labels = [_label(table) for table in tables]
    name = metric or default_metric(tables[0])
    sides = {str(n): values_by_item(with_unit(table, KEY), name, mode=mode) for n, table in enumerate(tables)}
    wide = wide_values(sides)
    clusters = with_unit(tables[0], KEY).select(UNIT, "cluster").unique(UNIT, keep="first")
    wide = wide.join(clusters, on=UNIT, how="left", maintain_order="left")
    index, names = numbered(wide["cluster"])
    if len(names) < FEWEST_CLUSTERS:
        raise IsoglossError(f"The runs share items of {len(names)} clusters; a series needs {FEWEST_CLUSTERS}.")
    values = wide.select(list(sides)).to_numpy()
    contrasts = _contrasts(len(runs))
    moves = np.column_stack([np.bincount(index, weights=values @ weights) for weights in contrasts]).astype(np.float64)
    sizes = np.repeat(np.bincount(index)[:, None], len(contrasts), axis=1).astype(np.float64)
    scan = scan_clusters(moves, sizes, resamples=settings.resamples, seed=settings.seed)
    rows = _rows(labels, values, name=name, clusters=len(names))
    return Series(_with_tests(rows, scan), notes=(_trend_note(scan, len(runs)), *_notes(runs, wide)))


def _label(table: pl.DataFrame) -> dict[str, str]:
    models = sorted(map(str, table["model"].unique()))
    if len(models) > 1:
        raise IsoglossError(f"Each run of a series has one model; here are {', '.join(models)}.")
    return {"model": models[0]}


def _contrasts(count: int) -> list[Array]:
    """Each run minus the first; from each place on, the mean after minus the mean before; and the slope."""
    unit = np.eye(count)
    against = [unit[n] - unit[0] for n in range(1, count)]
    splits = [np.concatenate([np.full(n, -1 / n), np.full(count - n, 1 / (count - n))]) for n in range(1, count)]
    places = np.arange(count) - (count - 1) / 2
    return [*against, *splits, places / (places**2).sum()]


def _rows(labels: Sequence[dict[str, str]], values: Array, *, name: str, clusters: int) -> list[SeriesStep]:
    moved = [None, *(100 * float((values[:, n] != values[:, n - 1]).mean()) for n in range(1, values.shape[1]))]
    means = values.mean(0)
    return [
        SeriesStep(label, name, float(mean), len(values), clusters, churn=churn)
        for label, mean, churn in zip(labels, means, moved, strict=True)
    ]


def _with_tests(rows: Sequence[SeriesStep], scan: Scan) -> tuple[SeriesStep, ...]:
    """The rows with the differences from the first run, and the jumps, which follow them in the scan."""
    count = len(rows)
    after = np.arange(count - 1, 0, -1)
    weights = np.sqrt(after * (count - after) / count)  # as the least squares of one step weigh its place
    best = count - 1 + int(np.argmax(np.abs(scan.values[count - 1 : 2 * count - 2]) * weights))
    done = [rows[0]]
    for n in range(1, count):
        against, split = n - 1, count - 1 + n - 1
        reach = float(scan.reach[against] * scan.errors[against])
        value = float(scan.values[against])
        done.append(
            replace(
                rows[n],
                difference=value,
                low=value - reach,
                high=value + reach,
                p=float(scan.p[against]),
                jump=float(scan.values[split]),
                jump_p=float(scan.p[split]),
                is_step=bool(split == best and scan.p[split] <= LEVEL),
            )
        )
    return tuple(done)


def _trend_note(scan: Scan, count: int) -> str:
    slope, error, reach, p = (float(column[-1]) for column in (scan.values, scan.errors, scan.reach, scan.p))
    return (
        f"linear trend over {count} runs: {slope:+.2f} per run, {slope - reach * error:+.2f} to {slope + reach * error:+.2f} "
        f"(p = {p:.3g}, adjusted for all differences, places and the trend)"
    )


def _notes(runs: Sequence[Scored], wide: pl.DataFrame) -> list[str]:
    lost = max(len(run) for run in runs) - wide.height
    shared = [f"{lost} items that not all runs have were left out"] if lost else []
    return list(dict.fromkeys([*shared, *(note for run in runs for note in run.notes)]))
