"""The pictures of the documentation: the command that makes them knows each, and each has the size that it makes."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest
from PIL import Image

DOCS = Path(__file__).parent.parent / "docs"
sys.path.insert(0, str(DOCS))
from make_pictures import ASSETS, FIGURES, MOST, REPORTS, difference, find_stale  # noqa: E402

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


def test_a_picture_that_needs_no_model_is_fresh(tmp_path):
    assert find_stale(["figure-preservation"], tmp_path) == []


@pytest.mark.slow
def test_pictures_of_published_scores_are_fresh(real_data, tmp_path, monkeypatch):
    monkeypatch.setenv("ISOGLOSS_REAL_DATA", str(real_data))
    names = [f"figure-{name}" for name, (source, _) in FIGURES.items() if source in ("published", "english", "gest")]
    assert find_stale(names, tmp_path) == []


def test_a_picture_that_changed_is_noticed(tmp_path):
    changed = Image.open(ASSETS / "figure-preservation.png").convert("RGB")
    changed.paste((210, 112, 10), (20, 20, 120, 60))
    changed.save(tmp_path / "changed.png")
    assert difference(ASSETS / "figure-preservation.png", ASSETS / "figure-preservation.png") == 0
    assert difference(ASSETS / "figure-preservation.png", tmp_path / "changed.png") > MOST
