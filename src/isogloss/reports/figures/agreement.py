"""Do two measures agree over models and languages? Their values against each other, with intervals both ways."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from ... import registry
from ...analysis.agreements import FEWEST, Agreement, agree
from ...analysis.headlines import neutral_headlines
from ...analysis.measures import Measure, Measures
from ...errors import IsoglossError
from ...items import group_by
from ..chart_data import without_task
from ..numbers import format_value, metric_name
from . import FigureRequest, Plot, measured, open_study
from ._label_placement import label_points, spread_labels
from ._marks import add_legend, draw_neutral, legend_height, marks
from ._style import SMALL, Canvas, language_label, new_panels


@dataclass(frozen=True)
class Pairing:
    """Two measures of the same models and languages, point by point, and how they agree."""

    names: tuple[str, str]
    points: tuple[tuple[Measure, Measure], ...]
    agreement: Agreement


def find(request: FigureRequest) -> list[Pairing]:
    """Each two of the request's metrics, or, of several data sets, their headlines with a neutral value, over what both have."""
    study = open_study(request)
    try:
        rows = without_task(measured(request, study, metrics=neutral_headlines(registry.names("metric"))))
    except IsoglossError:
        if request.metrics:
            raise
        return []  # none of the figure's own metrics fits the data
    sides = group_by(rows, lambda row: (row.metric, row.group["dataset"]))
    pairings = []
    for one, two in combinations(sides, 2):
        with suppress(IsoglossError):  # fewer than three models or languages have both
            pairings.append(_pair(sides[one], sides[two]))
    return pairings


def _pair(a: Sequence[Measure], b: Sequence[Measure]) -> Pairing:
    """The points that both have, by model and language: the data set, the method and the task belong to one side only."""
    several = a[0].group["dataset"] != b[0].group["dataset"]
    names, sides = [], []
    for rows in (a, b):
        names.append(metric_name(rows[0].metric) + (f" ({rows[0].group['dataset']})" if several else ""))
        keys = [{name: row.group[name] for name in ("model", "language") if name in row.group} for row in rows]
        sides.append(tuple(replace(row, group=key) for row, key in zip(rows, keys, strict=True)))
    agreement = agree(Measures(sides[0]), Measures(sides[1]))[0]
    points = []
    for group in agreement.groups:
        one, two = (next(row for row in rows if dict(group).items() <= row.group.items()) for rows in sides)
        points.append((one, two))
    return Pairing((names[0], names[1]), tuple(points), agreement)


def draw(pairings: Sequence[Pairing], canvas: Canvas) -> Any:
    """A scatter for each two measures; letters beside a point are its language, with one language its model."""
    models = list(dict.fromkeys(a.group["model"] for pairing in pairings for a, _ in pairing.points))
    named = models if len({a.group["language"] for pairing in pairings for a, _ in pairing.points}) > 1 else []
    space = legend_height(canvas, named)
    figure, axes_of, _ = new_panels(canvas, len(pairings), height=lambda down, width: down * min(width, 3.4) + space)
    panels = []
    for axes, pairing in zip(axes_of, pairings, strict=True):
        points = []
        for a, b in pairing.points:
            label = language_label(a.group["language"], canvas) if named else a.group["model"]
            points.append((a, b, label, models.index(a.group["model"])))
        panels.append(label_points(axes, points))
        agreement = pairing.agreement
        draw_neutral(axes.axvline, agreement.metric)
        draw_neutral(axes.axhline, agreement.other)
        axes.set_xlabel(pairing.names[0])
        axes.set_ylabel(pairing.names[1])
        title = [f"n = {agreement.n}"]
        for name, way in (("Spearman", agreement.spearman), ("Pearson", agreement.pearson)):
            title.append(f"{name} {format_value(way.value, (way.low, way.high), missing='–')}")
        axes.set_title(", ".join(title).replace("-", "−"), fontsize=SMALL)
        axes.margins(0.08)
    add_legend(figure, marks(named), labels=named, canvas=canvas)
    spread_labels(figure, panels)
    return figure


figure = Plot(
    title="Do two measures agree?",
    needs=f"two metrics of at least {FEWEST} models or languages, such as `metrics='ss,icat'`, or runs of two data sets: isogloss eval MODEL --data crows_pairs --out RUNS and isogloss measure",
    caption="Bars are 95 % intervals over clusters of items; dashed lines are neutral.",
    find=find,
    draw=draw,
)
