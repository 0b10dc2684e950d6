"""Labels beside points: each is put where it covers the least of other labels, points and lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...analysis.measures import Measure
from . import value_of
from ._marks import draw_point, style_of
from ._style import SMALL

# Offsets in points of a label from its mark; the first that covers nothing is taken.
AROUND = (
    *((3, 3), (3, -8), (-3, 3), (-3, -8), (7, 7), (-7, 7), (7, -12), (-7, -12)),
    *((12, 3), (-12, 3), (12, -8), (-12, -8)),
)
REACH = 4.0  # pixels around a point that its mark covers
POINT = 72  # in an inch
ON_MARK, ON_LINE, OUTSIDE, FARTHER = 60.0, 25.0, 400.0, 2.0
Segment = tuple[float, float, float, float]
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Labels:
    """Annotations of a panel, one for each point, and the lines drawn there, in the panel's own numbers."""

    axes: Any
    texts: Sequence[Any]
    points: Sequence[tuple[float, float]]
    lines: Sequence[Segment] = ()


def label_points(axes: Any, points: Sequence[tuple[Measure, Measure, str, int]]) -> Labels:
    """Draw points of two measures with both intervals, each with a label that is still to be placed, in its n-th style."""
    texts, positions, lines = [], [], []
    for a, b, label, number in points:
        x, y = value_of(a), value_of(b)
        colour = draw_point(axes, (x, y), style=style_of(number), across=a, along=b)
        texts.append(axes.annotate(label, (x, y), (3, 3), textcoords="offset points", fontsize=SMALL, color=colour))
        positions.append((x, y))
        lines += [(a.low, y, a.high, y)] if a.low is not None and a.high is not None else []
        lines += [(x, b.low, x, b.high)] if b.low is not None and b.high is not None else []
    return Labels(axes, texts, positions, lines)


def spread_labels(figure: Any, panels: Sequence[Labels]) -> None:
    """Move all labels of a figure, once all else is in its place."""
    figure.draw_without_rendering()
    for panel in panels:
        _spread(panel, scale=figure.dpi / POINT)


def _spread(panel: Labels, *, scale: float) -> None:
    transform = panel.axes.transData.transform
    marks = [(float(x), float(y)) for x, y in transform(np.array(panel.points).reshape(-1, 2))]
    lines = [_ordered(line) for line in transform(np.array(panel.lines).reshape(-1, 2)).reshape(-1, 4)]
    sizes = [text.get_window_extent().size for text in panel.texts]
    frame = panel.axes.get_window_extent()
    whole: Box = (frame.x0, frame.y0, frame.x1, frame.y1)
    boxes: dict[int, Box] = {}
    for number, text in [*enumerate(panel.texts), *enumerate(panel.texts)]:  # the second time all others are there
        others = [box for index, box in boxes.items() if index != number]
        rest = [mark for index, mark in enumerate(marks) if index != number]
        tried = [_box(marks[number], offset, size=sizes[number], scale=scale) for offset in AROUND]
        costs = [
            FARTHER * rank
            + sum(_overlap(box, other) for other in others)
            + ON_MARK * sum(_overlap(box, _around(mark)) > 0 for mark in rest)
            + ON_LINE * sum(_overlap(box, line) > 0 for line in lines)
            + (0 if _inside(box, whole) else OUTSIDE)
            for rank, box in enumerate(tried)
        ]
        best = int(np.argmin(costs))
        boxes[number] = tried[best]
        text.set_position(AROUND[best])
        text.set_ha("left" if AROUND[best][0] > 0 else "right")


def _box(mark: tuple[float, float], offset: tuple[float, float], *, size: Any, scale: float) -> Box:
    """Where a label lies when it is moved so far from its mark."""
    left = mark[0] + offset[0] * scale - (0 if offset[0] > 0 else size[0])
    bottom = mark[1] + offset[1] * scale
    return left, bottom, left + size[0], bottom + size[1]


def _ordered(line: Any) -> Box:
    """A level or upright line as a thin box."""
    x0, y0, x1, y1 = (float(end) for end in line)
    return min(x0, x1) - 0.5, min(y0, y1) - 0.5, max(x0, x1) + 0.5, max(y0, y1) + 0.5


def _around(mark: tuple[float, float]) -> Box:
    return mark[0] - REACH, mark[1] - REACH, mark[0] + REACH, mark[1] + REACH


def _overlap(one: Box, other: Box) -> float:
    """The area that two boxes share."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    along = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, across) * max(0.0, along)


def _inside(box: Box, frame: Box) -> bool:
    return frame[0] <= box[0] and box[2] <= frame[2] and frame[1] <= box[1] and box[3] <= frame[3]
