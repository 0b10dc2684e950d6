"""Do two measures agree over models and languages? Their values against each other, with intervals both ways."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from ...analysis.agreements import FEWEST, Agreement, agree
from ...analysis.measures import Measure, Measures
from ...errors import IsoglossError
from ...items import group_by
from ..chart_data import without_task
from ..numbers import format_value, metric_name
from . import FigureRequest, Plot, measured, open_scored
from ._label_placement import Labels, label_points, spread_labels
from ._marks import add_legend, draw_neutral, legend_height, marks
from ._style import SMALL, Canvas, language_label, new_panels


@dataclass(frozen=True)
class Pairing:
    """Two measures of the same models and languages, point by point, and how they agree."""

    names: tuple[str, str]
    points: tuple[tuple[Measure, Measure], ...]
    agreement: Agreement


def find(request: FigureRequest) -> list[Pairing]:
    """Each two of the order's metrics, or, of several data sets, their headline metrics, over what both have."""
    scored = open_scored(request)
    try:
        rows = without_task(measured(request, scored, metrics=("ss", "crows", "mbe")))
    except IsoglossError:
        if request.metrics:
            raise
        return []  # none of the figure's own metrics fits the data
    sides = group_by(rows, lambda row: (row.metric, row.group["dataset"]))
    pairings = []
    for one, two in combinations(sides, 2):
        try:
            pairings.append(_pair(sides[one], sides[two]))
        except IsoglossError:  # fewer than three models or languages have both
            continue
    return pairings


def _pair(a: Sequence[Measure], b: Sequence[Measure]) -> Pairing:
    agreement = agree(Measures(tuple(_bare(a)), {}), Measures(tuple(_bare(b)), {}))[0]
    points = tuple((_of(a, group), _of(b, group)) for group in agreement.groups)
    several = {row.group["dataset"] for row in (*a, *b)}
    names = [
        metric_name(side[0].metric) + (f" ({side[0].group['dataset']})" if len(several) > 1 else "") for side in (a, b)
    ]
    return Pairing((names[0], names[1]), points, agreement)


def _bare(rows: Sequence[Measure]) -> list[Measure]:
    """The rows without what belongs to one side only: the data set, the method and the task."""
    return [replace(row, group=_key(row.group)) for row in rows]


def _key(group: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in group.items() if name in ("model", "language")}


def _of(rows: Sequence[Measure], group: Mapping[str, str]) -> Measure:
    return next(row for row in rows if dict(group).items() <= _key(row.group).items())


def draw(pairings: Sequence[Pairing], canvas: Canvas) -> Any:
    """A scatter for each two measures; letters beside a point are its language, with one language its model."""
    models = list(dict.fromkeys(a.group["model"] for pairing in pairings for a, _ in pairing.points))
    named = models if len({a.group["language"] for pairing in pairings for a, _ in pairing.points}) > 1 else []
    space = legend_height(canvas, named)
    figure, axes_of, _ = new_panels(canvas, len(pairings), height=lambda down, width: down * min(width, 3.4) + space)
    panels = []
    for axes, pairing in zip(axes_of, pairings, strict=True):
        labels = [language_label(a.group["language"], canvas) if named else a.group["model"] for a, _ in pairing.points]
        panels.append(_draw_pairing(axes, pairing, models=models, labels=labels))
    add_legend(figure, marks(named), labels=named, canvas=canvas)
    spread_labels(figure, panels)
    return figure


def _draw_pairing(axes: Any, pairing: Pairing, *, models: list[str], labels: list[str]) -> Labels:
    """The points with their intervals, the neutral lines and the correlations; its labels are still to be placed."""
    points = [
        (a, b, label, models.index(a.group["model"])) for (a, b), label in zip(pairing.points, labels, strict=True)
    ]
    labelled = label_points(axes, points)
    draw_neutral(axes.axvline, pairing.agreement.metric)
    draw_neutral(axes.axhline, pairing.agreement.other)
    axes.set_xlabel(pairing.names[0])
    axes.set_ylabel(pairing.names[1])
    axes.set_title(_said(pairing.agreement), fontsize=SMALL)
    axes.margins(0.08)
    return labelled


def _said(agreement: Agreement) -> str:
    ways = {"Spearman": agreement.spearman, "Pearson": agreement.pearson}
    parts = [
        f"{name} {format_value(correlation.value, (correlation.low, correlation.high), missing='–')}"
        for name, correlation in ways.items()
    ]
    return ", ".join([f"n = {agreement.n}", *parts]).replace("-", "−")


figure = Plot(
    title="Do two measures agree?",
    needs=f"two metrics of at least {FEWEST} models or languages, such as --metrics ss,icat, or runs of two data sets: isogloss eval MODEL --data crows_pairs --out RUNS and isogloss measure",
    caption="Bars are 95 % intervals over clusters of items; dashed lines are neutral.",
    find=find,
    draw=draw,
)
