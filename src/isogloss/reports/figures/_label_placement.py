"""Labelled points of a figure, whose labels are put where they cover the least."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...analysis.measures import Measure
from ..labels import place_labels
from . import value_of
from ._marks import draw_point, style_of
from ._style import SMALL

POINT = 72  # in an inch
Segment = tuple[float, float, float, float]


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
    scale = figure.dpi / POINT
    for panel in panels:
        transform = panel.axes.transData.transform
        marks = transform(np.array(panel.points).reshape(-1, 2)).tolist()
        lines = transform(np.array(panel.lines).reshape(-1, 2)).reshape(-1, 4).tolist()
        sizes = [text.get_window_extent().size for text in panel.texts]
        frame = panel.axes.get_window_extent().extents
        offsets = place_labels(marks, sizes, lines=lines, frame=frame, scale=scale)
        for text, offset in zip(panel.texts, offsets, strict=True):
            text.set_position(offset)
            text.set_ha("left" if offset[0] > 0 else "right")
