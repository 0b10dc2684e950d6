"""LMS against the distance of SS from 50: the models that no other beats in both, and which model is first for each weight."""

from collections.abc import Sequence
from typing import Any

from ...analysis.tradeoffs import WEIGHTS, Tradeoff, find_tradeoffs
from ...items import group_by
from . import FigureRequest, Plot, open_study
from ._marks import GREY, WEAK, WEAK_NAME, add_legend, legend_height, marks, style_of
from ._style import Canvas, language_label, new_figure


def find(request: FigureRequest) -> list[Tradeoff]:
    """The trade-offs of each data set and language with several models."""
    return find_tradeoffs(open_study(request).scores, mode=request.mode, settings=request.settings)


def draw(tradeoffs: Sequence[Tradeoff], canvas: Canvas) -> Any:
    """For each data set and language: left the plane with its front, right the share of first places by the weight of LMS."""
    panels = group_by(tradeoffs, lambda tradeoff: (tradeoff.dataset, tradeoff.language))
    names = list(dict.fromkeys(tradeoff.model for tradeoff in tradeoffs))
    sure = {tradeoff.model for tradeoff in tradeoffs if tradeoff.interpretable is not False}
    labels = [*names, WEAK_NAME] if any(tradeoff.interpretable is False for tradeoff in tradeoffs) else names
    figure = new_figure(canvas, len(panels) * canvas.width * 0.5 + legend_height(canvas, labels))
    axes_of = figure.subplots(len(panels), 2, squeeze=False)
    several = len({dataset for dataset, _ in panels}) > 1
    for (plane, lines), ((dataset, language), rows) in zip(axes_of, panels.items(), strict=True):
        points = [(row, 100 - 2 * abs(row.ss - 50)) for row in rows]
        front = sorted((row.lms, near) for row, near in points if row.on_front and row.interpretable is not False)
        plane.plot([x for _, x in front], [y for y, _ in front], color=GREY, linewidth=0.8, zorder=0)
        for row, near in points:
            colour, marker = style_of(names.index(row.model))
            colour = WEAK if row.interpretable is False else colour
            size = 12 + 30 * row.front_share  # the larger, the more often the model is on the front
            plane.scatter(near, row.lms, s=size, color=colour, marker=marker, zorder=2)
            lines.plot(WEIGHTS, row.first, color=colour, linewidth=1.2)
        plane.set_xlabel("100 - 2·|SS - 50|")
        plane.margins(0.15)
        plane.set_ylabel("LMS")
        lines.set_xlabel("weight of LMS")
        lines.set_ylabel("first place")
        lines.set_ylim(0, 1.02)
        title = f"{dataset} · {language_label(language, canvas)}" if several else language_label(language, canvas)
        plane.set_title(title, loc="left", fontweight="bold")
    handles = marks(labels, weak=[name for name in names if name not in sure])
    add_legend(figure, handles, labels=labels, canvas=canvas)
    return figure


figure = Plot(
    title="Pareto front of LMS and SS, and first places by weight",
    needs="runs of several models with LMS and SS: isogloss eval MODEL MODEL --data stereoset --out RUNS",
    caption="Left: a gray line joins the models that no other beats in LMS and in the nearness of SS to 50 (100 means no preference); gray points and lines are models that are not interpretable, which are not on it; a point is larger the more often its model is on the front over resamples of the clusters, which all models share. Right: in which share of the resamples the mean of both, weighted, puts a model first; the rest of the weight is that of the nearness of SS to 50.",
    find=find,
    draw=draw,
)
