"""The pictures of the documentation: the command that makes them knows each, and each has the size that it makes."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
sys.path.insert(0, str(DOCS))
from make_pictures import ASSETS, FIGURES, REPORTS  # noqa: E402

from isogloss import registry  # noqa: E402

LARGEST = 600_000  # bytes: a page with pictures opens on a slow line


def size_of(path: Path) -> tuple[int, int]:
    """Width and height in the header of a PNG file."""
    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    return width, height


def test_each_figure_and_report_has_a_picture_and_no_picture_is_left_over():
    names = {*(f"figure-{name}" for name in FIGURES), *REPORTS, "serve"}
    assert {path.stem for path in ASSETS.glob("*.png")} == names
    assert set(FIGURES) == set(registry.names("figure"))


def test_screenshots_have_the_size_of_their_browser_window():
    for name, (_, settings) in REPORTS.items():
        assert size_of(ASSETS / f"{name}.png") == tuple(settings["viewport"].values())
    assert size_of(ASSETS / "serve.png") == (1200, 800)


def test_pictures_are_readable_and_small():
    for path in ASSETS.glob("*.png"):
        width, height = size_of(path)
        assert 250 <= width <= 3000, path
        assert 100 <= height <= 4000, path
        assert path.stat().st_size <= LARGEST, path
