"""What a check is: a name, how severe it is, an explanation, and a search for the items concerned."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .. import languages
from ..items import Item
from ..languages import Language

SEVERITIES = (ERROR, WARNING, NOTE) = ("error", "warning", "note")
Search = Callable[[Sequence[Item]], Iterator[tuple[int, str]]]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that may be wrong; `search` gives the place of every item it finds, with a sentence.

    `missing` gives a reason why the check cannot be made here, or nothing.
    """

    name: str
    severity: str
    explanation: str
    search: Search
    missing: Callable[[], str | None] = lambda: None


def each(find: Callable[[Item], str | None], explanation: str, *, severity: str = WARNING) -> Check:
    """The check, named after its function, that looks at every item by itself."""

    def search(items: Sequence[Item]) -> Iterator[tuple[int, str]]:
        return ((index, message) for index, item in enumerate(items) if (message := find(item)))

    return Check(find.__name__, severity, explanation, search)


def each_text(find: Callable[[str], str | None], explanation: str, *, severity: str = WARNING) -> Check:
    """The same for a function that looks at a text: it finds an item by the first of its texts that is odd."""

    def search(items: Sequence[Item]) -> Iterator[tuple[int, str]]:
        for index, item in enumerate(items):
            for text in texts(item):
                if message := find(text):
                    yield index, message
                    break

    return Check(find.__name__, severity, explanation, search)


def each_in(find: Callable[[Item, Language], str | None], explanation: str, *, severity: str = WARNING) -> Check:
    """The same for a function that also takes what is known of the item's language."""

    def search(items: Sequence[Item]) -> Iterator[tuple[int, str]]:
        described = {tag: languages.describe(tag) for tag in {item.language for item in items}}
        messages = (find(item, described[item.language]) for item in items)
        return ((index, message) for index, message in enumerate(messages) if message)

    return Check(find.__name__, severity, explanation, search)


def texts(item: Item) -> list[str]:
    """The item's own texts: the context, and the words, or the sentences where there are no words."""
    return [item.context or "", *[candidate.word or candidate.text for candidate in item.candidates]]


def is_cloze(item: Item) -> bool:
    """Whether the item's candidates are words that fill BLANK."""
    return any(candidate.word is not None for candidate in item.candidates)


def fold(text: str, language: str) -> str:
    """The text for comparing: without capitals, with plain hyphens and apostrophes; in Turkish, I is ı and İ is i."""
    if language.split("-")[0] in ("tr", "az"):
        text = text.replace("I", "ı").replace("İ", "i")
    return text.casefold().replace("\u2011", "-").replace("\u2010", "-").replace("’", "'")
