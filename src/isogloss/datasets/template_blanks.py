"""The templates with BLANK for the concept: one item per wording, for distributions over the vocabulary."""

from collections.abc import Iterator
from pathlib import Path

from ..files.rows import OnBadRow
from ..files.sources import Dataset
from ..items import Item
from ..templates.bundled import bundled_sets, parse_sets
from ..templates.items import make_blanks


def parse(path: Path, language: str | None, *, bad: OnBadRow) -> Iterator[Item]:
    """The items of a file of sets."""
    return parse_sets(path, language, make=make_blanks, bad=bad)


dataset = Dataset(
    title="Templates with a blank for the concept",
    summary="The sets of 'templates' with BLANK where the profession or adjective stands, for the method 'distribution'.",
    licence="CC BY 4.0",
    citation="Isogloss templates; after the design of BehnamGhader and Milios (2022), in wording of their own.",
    url="docs/templates.md",
    recognise=lambda columns: False,
    parse=parse,
    bundled=bundled_sets,
)
