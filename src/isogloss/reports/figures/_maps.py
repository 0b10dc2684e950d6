"""Maps by matplotlib: the borders of all countries in an equal-area projection, filled by color."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ...analysis.regions import world
from ...errors import require
from ...stats.resampling import Array
from ._svg import explain

BARE, LINE = "#ececec", "#9a9a9a"
SOUTH, NORTH = -58.0, 84.0
TURN = np.array([360.0, 0.0])
EDGE = 2.72  # half the width of the world in this projection
TERMS = (1.340264, -0.081106, 0.000893, 0.003796)  # Šavrič, Patterson and Jenny (2019), Equal Earth


def equal_earth(points: Array) -> Array:
    """Longitudes and latitudes in degrees as places on the Equal Earth map."""
    longitude, latitude = np.radians(points).T
    theta = np.arcsin(np.sqrt(3) / 2 * np.sin(latitude))
    a1, a2, a3, a4 = TERMS
    slope = 9 * a4 * theta**8 + 7 * a3 * theta**6 + 3 * a2 * theta**2 + a1
    x = 2 * np.sqrt(3) * longitude * np.cos(theta) / (3 * slope)
    y = a4 * theta**9 + a3 * theta**7 + a2 * theta**3 + a1 * theta
    return np.column_stack([x, y])


LOW, HIGH = equal_earth(np.array([[0.0, SOUTH], [0.0, NORTH]]))[:, 1]


def map_height(width: float) -> float:
    """The height of a map of that width."""
    return float(width * (HIGH - LOW) / (2 * EDGE))


def draw_world(
    axes: Any, colours: Mapping[str, str], *, hatched: Collection[str] = (), tips: Mapping[str, str] | None = None
) -> None:
    """All countries in one pale patch, and on it those with data; the label of a country's patch is its code."""
    patches: Any = require("matplotlib.patches", extra="report")
    up = np.linspace(-90, 90, 60)
    sides = [np.column_stack([np.full(60, edge), turn]) for edge, turn in ((-180, up), (180, up[::-1]))]
    sphere = patches.PathPatch(_path([np.vstack(sides)]), transform=axes.transData)
    land = _countries()
    paths: Any = require("matplotlib.path", extra="report")
    outlines = {"": paths.Path.make_compound_path(*land.values())}
    outlines |= {code: path for code, path in land.items() if code in colours or code in hatched}
    for code, path in outlines.items():
        patch = patches.PathPatch(path, in_layout=False, label=code)
        hatch = "//////" if code in hatched else None
        patch.set(facecolor=colours.get(code, BARE), edgecolor=LINE, linewidth=0.25, hatch=hatch)
        if tips and code in tips:
            explain(patch, tips[code])
        axes.add_artist(patch)
        patch.set_clip_path(sphere)
    axes.set_xlim(-EDGE, EDGE)
    axes.set_ylim(LOW, HIGH)
    axes.set_aspect("equal")
    axes.set_axis_off()


def add_scale(figure: Any, paint: Any, *, panels: Any, label: str) -> None:
    """The scale of the colors, below the maps."""
    bar = figure.colorbar(paint, ax=panels, orientation="horizontal", shrink=0.55, aspect=30, pad=0.02)
    bar.set_label(label)
    bar.outline.set_linewidth(0.4)


@cache
def _countries() -> dict[str, Any]:
    """The path of each country by its code, its lakes and islands among its outlines."""
    paths = {}
    for feature in world()["features"]:
        coordinates = feature["geometry"]["coordinates"]
        shapes = [coordinates] if feature["geometry"]["type"] == "Polygon" else coordinates
        paths[feature["id"]] = _path([part for shape in shapes for ring in shape for part in _unrolled(ring)])
    return paths


def _unrolled(ring: Sequence[Sequence[float]]) -> Iterator[Array]:
    """The outline without a jump from 180 to -180 degrees; one that crosses this line is there twice, at both edges."""
    points = np.array(ring, dtype=np.float64)[:, :2]
    points[:, 0] = np.unwrap(points[:, 0], period=360)
    yield points
    if points[:, 0].max() > 180:
        yield points - TURN
    if points[:, 0].min() < -180:
        yield points + TURN


def _path(outlines: Sequence[Array]) -> Any:
    """One path for all outlines."""
    paths: Any = require("matplotlib.path", extra="report")
    return paths.Path.make_compound_path(*(paths.Path(equal_earth(points), closed=True) for points in outlines))
