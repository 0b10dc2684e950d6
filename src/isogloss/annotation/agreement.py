"""How far people agree on labels: Krippendorff's alpha and Gwet's AC1 per question, language or category."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from ..analysis.annotators import ITEMS, OVER, PEOPLE, GivenLabels, LabelAgreement, draw_agreement, find_agreement
from ..analysis.intervals import IntervalSettings
from ..errors import IsoglossError, UnknownName
from ..results import Results
from ..stats import RESAMPLES
from ..stats.resampling import FEWEST_CLUSTERS
from .labels import CONTEXT, UNIT, LabelTable, count_labels

EXPECTED = 10.0  # unanimous units by chance alone; that none of them is there is then no accident
GROUPS = ("question", *CONTEXT)
TOO_FEW = "{group}: no interval over annotators, which needs ten of them, and to know who gave each label"


def measure_agreement(
    labels: LabelTable,
    *,
    by: Sequence[str] = (),
    left_out: Sequence[str] = (),
    over: str = ITEMS,
    settings: IntervalSettings | None = None,
) -> Results[LabelAgreement]:
    """The agreement on each question, in each group of `by`; labels are nominal.

    Intervals are `over` clusters of items, annotators, or both: what is drawn again. Annotators can be drawn where each
    label says who gave it, and at least ten people did.

    Labels `left_out`, such as "unsure", count as missing. Units with fewer than two labels say nothing about agreement
    and are not counted. A label of a question must mean the same for all items.
    """
    unknown = [name for name in by if name not in GROUPS]
    if unknown:
        raise UnknownName("column", unknown[0], GROUPS)
    if over not in OVER:
        raise UnknownName("unit of resampling", over, OVER)
    settings = settings or IntervalSettings(resamples=RESAMPLES)
    kept = LabelTable(labels.table.filter(~pl.col("label").is_in(list(left_out))))
    counts = _compared(count_labels(kept, context=CONTEXT))
    if not counts.height:
        raise IsoglossError("No unit has labels of two annotators, so there is no agreement to measure.")
    names = list(dict.fromkeys(["question", *by]))
    parts = sorted(counts.group_by(names, maintain_order=True), key=lambda part: tuple(map(str, part[0])))
    rows, why = [], list[str]()
    for key, part in parts:
        row = _agreement(part, dict(zip(names, map(str, key), strict=True)), settings=settings)
        if over != ITEMS:
            row = _redrawn(
                row,
                kept.table.join(part.select(UNIT).unique(), on=UNIT, nulls_equal=True),
                over=over,
                settings=settings,
            )
            why += [] if row.alpha_low is not None else [TOO_FEW.format(group=" ".join(row.group.values()))]
        rows.append(row)
    return Results(tuple(rows), notes=(*_single(kept, counts), *_left_out_by_label(counts), *why))


def _redrawn(row: LabelAgreement, labels: pl.DataFrame, *, over: str, settings: IntervalSettings) -> LabelAgreement:
    """The row with intervals over annotators, or over annotators and clusters; none where too few are known."""
    people, clusters = labels["annotator"], labels.select(pl.coalesce("cluster", "item")).to_series()
    few = people.n_unique() < FEWEST_CLUSTERS or (over != PEOPLE and clusters.n_unique() < FEWEST_CLUSTERS)
    if people.null_count() or few:
        return replace(row, alpha_low=None, alpha_high=None, ac1_low=None, ac1_high=None)
    units = labels.select(*UNIT, pl.coalesce("cluster", "item").alias("cluster")).unique(UNIT, maintain_order=True)
    numbered = labels.drop("cluster").join(units.with_row_index("_unit"), on=UNIT, nulls_equal=True)
    names = sorted(numbered["label"].unique())
    label = numbered["label"].replace_strict({name: number for number, name in enumerate(names)}).to_numpy()
    entries = GivenLabels(
        numbered["_unit"].to_numpy().astype(np.int64),
        label,
        numbered["annotator"].to_list(),
        units["cluster"].to_list(),
    )
    (low, high), (ac1_low, ac1_high) = draw_agreement(entries, over=over, settings=settings)
    return replace(row, alpha_low=low, alpha_high=high, ac1_low=ac1_low, ac1_high=ac1_high)


def _compared(counts: pl.DataFrame) -> pl.DataFrame:
    return counts.filter(pl.col("count").sum().over(UNIT) > 1)


def _single(labels: LabelTable, counts: pl.DataFrame) -> tuple[str, ...]:
    """A note on questions that no two people answered."""
    lost = sorted(set(labels.table["question"]) - set(counts["question"]))
    return (f"no item has two labels for: {', '.join(lost)}",) if lost else ()


def _left_out_by_label(counts: pl.DataFrame) -> list[str]:
    """A note on each label that no unit has alone, though chance would give some: such units seem to have been left out.

    Published sets often keep only what somebody called a stereotype; agreement is then too low, even below chance.
    """
    notes = []
    sizes = counts.with_columns(size=pl.col("count").sum().over(UNIT))
    for (question, label), part in sizes.group_by("question", "label", maintain_order=True):
        asked = sizes.filter(pl.col("question") == question)
        share = int(part["count"].sum()) / int(asked["count"].sum())
        expected = float((share ** asked.unique(UNIT)["size"]).sum())
        if expected >= EXPECTED and not (part["count"] == part["size"]).any():
            notes.append(
                f"{question}: no item has only the label '{label}', though chance alone would give {expected:.0f}. Such "
                "items seem to have been left out of the data, so the agreement is underestimated"
            )
    return notes


def _agreement(counts: pl.DataFrame, group: dict[str, str], *, settings: IntervalSettings) -> LabelAgreement:
    names = sorted(counts["label"].unique())
    facts = counts.with_columns(cluster=pl.coalesce("cluster", "item"))
    wide = facts.pivot("label", index=[*UNIT, "cluster"], values="count", aggregate_function="sum").fill_null(0)
    table = wide.select(names).to_numpy().astype(np.float64)
    clusters = wide["cluster"].to_list()
    alpha, ac1 = find_agreement(table, clusters, settings=settings)
    unanimous = float(np.mean(table.max(axis=1) == table.sum(axis=1)))
    return LabelAgreement(group, *alpha, *ac1, unanimous, len(table), len(set(clusters)))
