"""Files of template sets as items: those that ship, by language, and your own, read with the vocabularies beside them."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..errors import BadData
from ..files.rows import OnBadRow, suffix
from ..items import Item
from .lexicon import FOLDER, Lexicon, bundled_languages, read_lexicon
from .published import read_published
from .sets import TemplateSet, read_sets

Make = Callable[[Sequence[TemplateSet], Lexicon], Iterator[Item]]


def bundled_sets() -> dict[str, list[Path]]:
    """The file of sets of each language that has one here."""
    files = {tag: FOLDER / tag / "sets.toml" for tag in bundled_languages()}
    return {tag: [path] for tag, path in files.items() if path.exists()}


def parse_sets(path: Path, language: str | None, *, make: Make, bad: OnBadRow) -> Iterator[Item]:
    """What `make` makes of a file of sets; its folder holds the vocabularies and is named by the language.

    A JSON file is one in the layout of the published templates, in all its languages.
    """
    try:
        if suffix(path) == ".json":
            for template_set, lexicon in read_published(path):
                yield from make([template_set], lexicon)
            return
        yield from make(read_sets(path), read_lexicon(language or path.parent.name, path.parent))
    except BadData as error:
        bad(error)
