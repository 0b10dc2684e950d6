"""LMS against the distance of SS from 50: the models that no other beats in both, and who is first for which weight."""

from collections.abc import Sequence
from typing import Any

from ...analysis.tradeoffs import WEIGHTS, Tradeoff, find_tradeoffs
from . import FigureRequest, Plot, open_scored
from ._marks import GREY, WEAK, WEAK_NAME, add_legend, legend_height, marks, style_of
from ._style import Canvas, language_label, new_figure


def find(request: FigureRequest) -> list[Tradeoff]:
    """The trade-offs of each data set and language with several models."""
    return find_tradeoffs(open_scored(request), mode=request.mode, settings=request.drawing)


def draw(tradeoffs: Sequence[Tradeoff], canvas: Canvas) -> Any:
    """For each data set and language: left the plane with its front, right the share of first places by the weight of LMS."""
    panels = list(dict.fromkeys((tradeoff.dataset, tradeoff.language) for tradeoff in tradeoffs))
    names = list(dict.fromkeys(tradeoff.model for tradeoff in tradeoffs))
    labels = [*names, WEAK_NAME] if any(tradeoff.interpretable is False for tradeoff in tradeoffs) else names
    figure = new_figure(canvas, len(panels) * canvas.width * 0.5 + legend_height(canvas, labels))
    axes_of = figure.subplots(len(panels), 2, squeeze=False)
    several = len({dataset for dataset, _ in panels}) > 1
    for (plane, lines), (dataset, language) in zip(axes_of, panels, strict=True):
        rows = [tradeoff for tradeoff in tradeoffs if (tradeoff.dataset, tradeoff.language) == (dataset, language)]
        _draw_plane(plane, rows, names=names)
        for row in rows:
            lines.plot(WEIGHTS, row.first, color=_style(row, names)[0], linewidth=1.2)
        lines.set_xlabel("weight of LMS")
        lines.set_ylabel("first place")
        lines.set_ylim(0, 1.02)
        title = f"{dataset} · {language_label(language, canvas)}" if several else language_label(language, canvas)
        plane.set_title(title, loc="left", fontweight="bold")
    add_legend(figure, marks(labels), labels=labels, canvas=canvas)
    return figure


def _style(tradeoff: Tradeoff, names: Sequence[str]) -> tuple[str, str]:
    """The colour and marker of a model; grey where it cannot be interpreted."""
    colour, marker = style_of(names.index(tradeoff.model))
    return (WEAK if tradeoff.interpretable is False else colour), marker


def _draw_plane(axes: Any, rows: Sequence[Tradeoff], *, names: Sequence[str]) -> None:
    """Each model as a point, larger the more often it is on the front; the front as a line."""
    front = sorted(
        (tradeoff.lms, 100 - 2 * abs(tradeoff.ss - 50))
        for tradeoff in rows
        if tradeoff.on_front and tradeoff.interpretable is not False
    )
    axes.plot([y for _, y in front], [x for x, _ in front], color=GREY, linewidth=0.8, zorder=0)
    for row in rows:
        colour, marker = _style(row, names)
        size = 12 + 30 * row.front_share
        axes.scatter(100 - 2 * abs(row.ss - 50), row.lms, s=size, color=colour, marker=marker, zorder=2)
    axes.set_xlabel("100 - 2·|SS - 50|")
    axes.margins(0.15)
    axes.set_ylabel("LMS")


figure = Plot(
    title="Pareto front of LMS and SS, and first places by weight",
    needs="runs of several models with LMS and SS: isogloss eval MODEL MODEL --data stereoset --out RUNS",
    caption="Left: a grey line joins the models that no other beats in LMS and in the nearness of SS to 50 (100 means no preference); grey points and lines are models that are not interpretable, which are not on it; a point is larger the more often its model is on the front over resamples of the clusters, which all models share. Right: in which share of the resamples the mean of both, weighted, puts a model first; the rest of the weight is that of the nearness of SS to 50.",
    find=find,
    draw=draw,
)
