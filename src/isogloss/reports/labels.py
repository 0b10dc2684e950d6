"""Labels beside points: each is put where it covers the least of other labels, points and lines."""

from collections.abc import Sequence

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
    boxes: dict[int, Box] = {}
    chosen: dict[int, tuple[int, int]] = {}
    thin = [(min(x0, x1) - 0.5, min(y0, y1) - 0.5, max(x0, x1) + 0.5, max(y0, y1) + 0.5) for x0, y0, x1, y1 in lines]
    around = [(x - REACH, y - REACH, x + REACH, y + REACH) for x, y in marks]
    left, bottom, right, top = frame
    for number in [*range(len(marks)), *range(len(marks))]:  # the second time all others are there
        others = [box for index, box in boxes.items() if index != number]
        rest = [*around[:number], *around[number + 1 :]]
        tried = [_box(marks[number], offset, size=sizes[number], scale=scale) for offset in AROUND]
        costs = [
            FARTHER * rank
            + sum(_overlap(box, other) for other in others)
            + ON_MARK * sum(_overlap(box, mark) > 0 for mark in rest)
            + ON_LINE * sum(_overlap(box, line) > 0 for line in thin)
            + (0 if left <= box[0] and box[2] <= right and bottom <= box[1] and box[3] <= top else OUTSIDE)
            for rank, box in enumerate(tried)
        ]
        best = costs.index(min(costs))
        boxes[number], chosen[number] = tried[best], AROUND[best]
    return [chosen[number] for number in range(len(marks))]


def _box(mark: Position, offset: Position, *, size: Position, scale: float) -> Box:
    """Where a label lies when it is moved so far from its mark."""
    left = mark[0] + offset[0] * scale - (0 if offset[0] > 0 else size[0])
    bottom = mark[1] + offset[1] * scale
    return left, bottom, left + size[0], bottom + size[1]


def _overlap(one: Box, other: Box) -> float:
    """The area that two boxes share."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    along = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, across) * max(0.0, along)
