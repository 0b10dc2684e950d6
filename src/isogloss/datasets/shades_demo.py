"""A demonstration set in the layout of SHADES: own stereotypes and contrasts in 23 languages, not validated."""

from functools import cache
from pathlib import Path

from ..files.rows import raise_bad_row
from ..files.sources import Dataset, relabelled

FILE = Path(__file__).parent.parent / "data" / "shades_demo" / "shades_demo.csv"


@cache
def bundled() -> dict[str, list[Path]]:
    """The one file, by each of its languages."""
    if not FILE.exists():
        return {}
    return {tag: [FILE] for tag in sorted({item.language for item in dataset.parse(FILE, None, bad=raise_bad_row)})}


dataset = Dataset(
    title="Demonstration set in the layout of SHADES",
    summary="Our own stereotypes with contrasts, parallel in 23 languages; for trying things out, not for conclusions.",
    licence="CC BY 4.0",
    citation="Isogloss demonstration sets; written for demonstration, not validated by native speakers.",
    url="docs/how-to/shades.md",
    recognise=lambda columns: False,
    parse=relabelled("shades", "shades_demo"),
    bundled=bundled,
)
