"""Labels beside points: each is put where it covers the least of other labels and points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

AROUND = (
    (3, 3),
    (3, -8),
    (-3, 3),
    (-3, -8),
    (7, 7),
    (-7, 7),
    (7, -12),
    (-7, -12),
    (12, 3),
    (-12, 3),
    (12, -8),
    (-12, -8),
)
REACH = 4.0  # pixels around a point that its mark covers
Segment = tuple[float, float, float, float]


def spread_labels(
    axes: Any, texts: Sequence[Any], *, points: Sequence[tuple[float, float]], lines: Sequence[Segment] = ()
) -> None:
    """Move annotations, one for each point, so that they cover as little as can be of each other, the points and the lines."""
    axes.figure.draw_without_rendering()
    marks = axes.transData.transform(np.array(points).reshape(-1, 2))
    drawn = axes.transData.transform(np.array(lines).reshape(-1, 2)).reshape(-1, 4)
    frame = axes.get_window_extent()
    boxes: dict[int, Any] = {}
    for number, text in [*enumerate(texts), *enumerate(texts)]:  # the second time all others are there
        costs = []
        for rank, offset in enumerate(AROUND):
            box = _put(text, offset)
            cost = sum(_overlap(box, other) for place, other in boxes.items() if place != number)
            cost += sum(_covers(box, mark) for place, mark in enumerate(marks) if place != number)
            cost += sum(_crosses(box, line) for line in drawn)
            costs.append(cost + 2 * rank + (0 if _inside(box, frame) else 400))
        boxes[number] = _put(text, AROUND[int(np.argmin(costs))])


def _put(text: Any, offset: tuple[float, float]) -> Any:
    """The box of the text when it is moved so far from its point."""
    text.set_position(offset)
    text.set_ha("left" if offset[0] > 0 else "right")
    return text.get_window_extent()


def _overlap(one: Any, other: Any) -> float:
    """The area that two boxes share."""
    across = min(one.x1, other.x1) - max(one.x0, other.x0)
    along = min(one.y1, other.y1) - max(one.y0, other.y0)
    return float(max(0.0, across) * max(0.0, along))


def _covers(box: Any, mark: Any) -> float:
    x, y = mark
    near = box.x0 - REACH < x < box.x1 + REACH and box.y0 - REACH < y < box.y1 + REACH
    return 60.0 if near else 0.0


def _crosses(box: Any, line: Any) -> float:
    """A cost when a level or upright line runs through the box."""
    x0, y0, x1, y1 = line
    through = min(x0, x1) < box.x1 and max(x0, x1) > box.x0 and min(y0, y1) < box.y1 and max(y0, y1) > box.y0
    return 25.0 if through else 0.0


def _inside(box: Any, frame: Any) -> bool:
    return bool(frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1)
