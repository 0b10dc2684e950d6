"""The templates with BLANK for the concept: one item per wording, for distributions over the vocabulary."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..errors import BadData
from ..items import Item
from ..rows import Bad
from ..sources import Dataset
from ..templates.lexicon import FOLDER, bundled_languages, read_lexicon
from ..templates.making import make_blanks
from ..templates.sets import read_sets


def bundled() -> dict[str, list[Path]]:
    """The files of sets by language; a language whose concepts other words agree with has none."""
    return {tag: [FOLDER / tag / "sets.toml"] for tag in bundled_languages() if (FOLDER / tag / "sets.toml").exists()}


def parse(path: Path, language: str | None, *, bad: Bad) -> Iterator[Item]:
    """The items of a file of sets; its folder holds the vocabularies and is named by the language."""
    try:
        yield from make_blanks(read_sets(path), read_lexicon(language or path.parent.name, path.parent))
    except BadData as error:
        bad(error)


dataset = Dataset(
    title="Templates with a blank for the concept",
    summary="The sets of 'templates' with BLANK where the profession or adjective stands, for the method 'distribution'.",
    licence="CC BY 4.0",
    citation="Isogloss templates; after the design of BehnamGhader and Milios (2022), in wording of their own.",
    url="docs/templates.md",
    recognise=lambda columns: False,
    parse=parse,
    bundled=bundled,
)
