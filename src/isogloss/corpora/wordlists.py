"""Word lists of two groups, and which group an English sentence mentions: whole words, case-aware."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..errors import BadData, IsoglossError, UnknownName
from ..word_lists import load_toml

WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
KIN = re.compile(r"^(?:ex|half|step|great|grand)-|-in-law$|-to-be$", re.IGNORECASE)
BOTH = "both"
NEITHER = "neither"


@dataclass(frozen=True, slots=True)
class WordList:
    """A group's words: `any_case` are compared without capitals, `as_written` with their case.

    `longest` is how many words the longest entry has.
    """

    group: str
    any_case: frozenset[str]
    as_written: frozenset[str]
    longest: int


def make_list(group: str, entries: Iterable[str]) -> WordList:
    """A list from its entries; one with a capital letter is matched with its case."""
    words = {" ".join(entry.split()) for entry in entries} - {""}
    if not words:
        raise IsoglossError(f"The list '{group}' is empty. Give one word or name per line.")
    small = frozenset(entry for entry in words if entry == entry.lower())
    return WordList(group, small, frozenset(words - small), max(entry.count(" ") + 1 for entry in words))


@cache
def gender_lists(*, names: bool = True, generic: bool = True) -> tuple[WordList, WordList]:
    """The lists that ship, female first; without names, or without words that are often said of anybody, if so asked."""
    words, given_names = load_toml("en_words.toml"), load_toml("en_names.toml")
    written = {word.lower(): word for word in words["capitalised_only"]}
    left_out = set() if generic else set(words["generic_male"])
    lists = []
    for column, group in ((1, "female"), (0, "male")):
        entries = [written.get(pair[column], pair[column]) for pair in words["pairs"] if pair[column] not in left_out]
        lists.append(make_list(group, [*entries, *(given_names[group] if names else [])]))
    return lists[0], lists[1]


def read_lists(sources: Sequence[str]) -> tuple[WordList, WordList]:
    """Two lists given as GROUP=FILE, or the name of two that ship.

    A file has one word, name or phrase per line; # begins a remark. The same name or word on both sides is refused.
    """
    if len(sources) == 1 and "=" not in sources[0]:
        lists = load_toml("other_lists.toml")
        if sources[0] not in lists:
            raise UnknownName("word list", sources[0], lists)
        first, second = (make_list(group, words) for group, words in lists[sources[0]].items())
    elif len(sources) == 2:
        first, second = map(_read_list, sources)
    else:
        raise IsoglossError(
            f"Two lists are needed, as in `list='female=her.txt'` and `list='male=his.txt'`; {len(sources)} given."
        )
    if first.group == second.group:
        raise IsoglossError(f"Both lists are named '{first.group}'. Give them two names.")
    shared = sorted((first.any_case & second.any_case) | (first.as_written & second.as_written))
    if shared:
        raise IsoglossError(
            f"'{shared[0]}' is in both lists, '{first.group}' and '{second.group}'. Remove it from one."
        )
    return first, second


def _read_list(text: str) -> WordList:
    group, sign, name = text.partition("=")
    if not sign or not group.strip() or not name.strip():
        raise IsoglossError(f"'{text}' is not a list. Write it as GROUP=FILE, such as young=young.txt.")
    try:
        lines = Path(name).read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise IsoglossError(f"No such file: {name}.") from error
    except UnicodeDecodeError as error:
        raise BadData(name, None, "not UTF-8. Save the file as UTF-8 and read it again.") from error
    return make_list(group.strip(), [line.split("#")[0] for line in lines])


def find_group(text: str, lists: tuple[WordList, WordList]) -> str:
    """The one list that has a word of the sentence, or `both`, or `neither`."""
    words = WORD.findall(text)
    # "she's" and "sister's" are group as they are without what follows the apostrophe, "mother-in-law" without its end
    plain = [KIN.sub("", word.replace("’", "'").split("'")[0]) for word in words]
    longest = max(word_list.longest for word_list in lists)
    seen = {*words, *plain}
    for size in range(2, longest + 1):
        seen |= {" ".join(row[k : k + size]) for row in (words, plain) for k in range(len(row) - size + 1)}
    small = {entry.lower() for entry in seen}
    group = [
        word_list.group
        for word_list in lists
        if not (word_list.as_written.isdisjoint(seen) and word_list.any_case.isdisjoint(small))
    ]
    return group[0] if len(group) == 1 else BOTH if group else NEITHER
