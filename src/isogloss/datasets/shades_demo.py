"""A demonstration set in the layout of SHADES: own stereotypes and contrasts in sixteen languages, not validated."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

from .. import registry
from ..files.rows import OnBadRow, raise_bad_row
from ..files.sources import Dataset
from ..items import Item

FILE = Path(__file__).parent.parent / "data" / "shades_demo" / "shades_demo.csv"


@cache
def bundled() -> dict[str, list[Path]]:
    """The one file, by each of its languages."""
    if not FILE.exists():
        return {}
    return {tag: [FILE] for tag in sorted({item.language for item in parse(FILE, None, bad=raise_bad_row)})}


def parse(path: Path, language: str | None, *, bad: OnBadRow) -> Iterator[Item]:
    """The items of the file."""
    for item in registry.get("dataset", "shades").parse(path, language, bad=bad):
        yield replace(item, dataset="shades_demo")


dataset = Dataset(
    title="Demonstration set in the layout of SHADES",
    summary="Own stereotypes with contrasts, parallel in 16 languages; for trying things out, not for conclusions.",
    licence="CC BY 4.0",
    citation="Isogloss demonstration sets; written for demonstration, not validated by native speakers.",
    url="docs/shades.md",
    recognise=lambda columns: False,
    parse=parse,
    bundled=bundled,
)
