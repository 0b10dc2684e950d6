"""What moved, by group: the change of each group between two runs, with its simultaneous interval and its flips."""

from typing import Any

from ...analysis.changes import CHANGED, EQUIVALENT, NOT_INTERPRETABLE, UNDECIDED, Changes, GroupChange, change
from ...analysis.study import check_readable, load_study
from ...errors import IsoglossError
from ..numbers import metric_name
from . import FigureRequest, Plot
from ._marks import GREY, add_legend, legend_height, style_of
from ._style import Canvas, new_figure

ROW = 0.17  # inches per group
COLOURS = {CHANGED: style_of(1)[0], EQUIVALENT: style_of(0)[0], UNDECIDED: GREY, NOT_INTERPRETABLE: "#cccccc"}


def find(request: FigureRequest) -> Changes | list[Any]:
    """The changes between the first and the second of two folders of runs."""
    if len(request.sources) != 2:
        raise IsoglossError("The figure 'change' takes two folders of runs: BEFORE and AFTER.")
    before, after = (check_readable(load_study(source, tags=request.languages)).scores for source in request.sources)
    settings = request.settings
    metric = request.metrics[0] if request.metrics else None
    return change(before, after, metric=metric, mode=request.mode, resamples=settings.resamples, seed=settings.seed)


def _label(row: GroupChange) -> str:
    """The group's value, after its column where the value is only a number."""
    texts = [value if not value.isdecimal() else f"{name} {value}" for name, value in row.group.items()]
    return ", ".join(texts) or "all items"


def draw(changes: Changes, canvas: Canvas) -> Any:
    """Groups one below the other: a mark and its interval in the color of the verdict, flips each way at the right."""
    from matplotlib.lines import Line2D

    measured = [row for row in changes if row.difference is not None]
    states = [state for state in COLOURS if any(row.state == state for row in measured)]
    labels = [f"{state} within {measured[0].margin:g}" if state == EQUIVALENT else state for state in states]
    figure = new_figure(canvas, 0.6 + ROW * len(measured) + legend_height(canvas, labels))
    axes = figure.add_subplot()
    axes.axvspan(-measured[0].margin, measured[0].margin, color=GREY, alpha=0.15, linewidth=0)
    axes.axvline(0, color=GREY, linewidth=0.6)
    for y, row in enumerate(measured):
        colour = COLOURS[row.state]
        if row.low is not None and row.high is not None:
            axes.plot([row.low, row.high], [y, y], color=colour, linewidth=1)
        hollow = row.low is None
        axes.plot(row.difference, y, "o", markersize=3.5, color=colour, markerfacecolor="white" if hollow else colour)
        if row.churn is not None:
            flips = f"+{row.turned_to} −{row.turned_away}"
            axes.annotate(
                flips,
                (1, y),
                xycoords=("axes fraction", "data"),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                fontsize=6,
            )
    axes.set_yticks(range(len(measured)), [_label(row) for row in measured])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(measured) - 0.5, -0.5)
    axes.set_xlabel(f"change of {metric_name(measured[0].metric)}")
    handles = [Line2D([], [], marker="o", markersize=3.5, linewidth=1, color=COLOURS[state]) for state in states]
    add_legend(figure, handles, labels=labels, canvas=canvas)
    return figure


figure = Plot(
    title="What moved, by group",
    needs="two runs over the same items: isogloss figure change BEFORE AFTER",
    caption="Bars are 95 % intervals that hold for all groups at once; the gray band is the margin within which a change counts as none. A hollow mark has too few clusters for an interval. At the right, how many items turned to the stereotype and away from it.",
    find=find,
    draw=draw,
)
