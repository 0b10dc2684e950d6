"""Labels beside points: each is put where it covers the least of other labels, points and lines."""

from collections.abc import Sequence
from typing import Any

import numpy as np

# Offsets of a label from its mark; the first that covers nothing is taken.
AROUND = (
    *((3, 3), (3, -8), (-3, 3), (-3, -8), (7, 7), (-7, 7), (7, -12), (-7, -12)),
    *((12, 3), (-12, 3), (12, -8), (-12, -8)),
)
REACH = 4.0  # pixels around a point that its mark covers
ON_MARK, ON_LINE, OUTSIDE, FARTHER = 60.0, 25.0, 400.0, 2.0
Position = tuple[float, float]
Box = tuple[float, float, float, float]  # left, bottom, right, top


def place_labels(
    marks: Sequence[Position], sizes: Sequence[Position], *, lines: Sequence[Box], frame: Box, scale: float = 1.0
) -> list[tuple[int, int]]:
    """For each mark the offset of its label, of a width and height; a negative one ends left of it. All are in pixels.

    `lines` are level or upright, `scale` is how many pixels a unit of an offset has.
    """
    count = len(marks)
    boxes = np.zeros((count, 4))  # a label that is not placed yet has no area
    chosen = [AROUND[0]] * count
    ends = np.reshape(lines, (-1, 2, 2)).astype(float)
    thin = np.hstack([ends.min(1) - 0.5, ends.max(1) + 0.5])
    centres = np.reshape(marks, (-1, 2))
    around = np.hstack([centres - REACH, centres + REACH])
    left, bottom, right, top = frame
    for number in [*range(count), *range(count)]:  # the second time all others are there
        rest = np.arange(count) != number
        tried = [_box(marks[number], offset, size=sizes[number], scale=scale) for offset in AROUND]
        box = np.array(tried)
        costs = (
            FARTHER * np.arange(len(tried))
            + _overlaps(box, boxes[rest]).sum(1)
            + ON_MARK * (_overlaps(box, around[rest]) > 0).sum(1)
            + ON_LINE * (_overlaps(box, thin) > 0).sum(1)
            + OUTSIDE * ((box[:, :2] < (left, bottom)).any(1) | (box[:, 2:] > (right, top)).any(1))
        )
        best = int(costs.argmin())
        boxes[number], chosen[number] = tried[best], AROUND[best]
    return chosen


def _box(mark: Position, offset: Position, *, size: Position, scale: float) -> Box:
    """Where a label lies when it is moved so far from its mark."""
    left = mark[0] + offset[0] * scale - (0 if offset[0] > 0 else size[0])
    bottom = mark[1] + offset[1] * scale
    return left, bottom, left + size[0], bottom + size[1]


def _overlaps(boxes: Any, others: Any) -> Any:
    """The area that each of some boxes shares with each of others."""
    sides = np.minimum(boxes[:, None, 2:], others[None, :, 2:]) - np.maximum(boxes[:, None, :2], others[None, :, :2])
    return np.maximum(sides, 0).prod(2)
