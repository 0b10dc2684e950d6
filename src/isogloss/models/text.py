"""Text as a model's tokenizer sees it: words as they stand in a sentence, masks, starts and pairs."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from ..errors import naming_panics

Ids = tuple[int, ...]
Made = TypeVar("Made")
AFTER_GAP = ("(",)
AFTER_WORD = ("a", "x", "1")
MOST_CACHED = 10_000
_CACHE: WeakKeyDictionary[Any, dict[tuple[str, str | int | Ids], Any]] = WeakKeyDictionary()


def cached(tokenizer: Any, key: tuple[str, str | int | Ids], *, make: Callable[[], Made]) -> Made:
    """What a tokenizer said before, or says now: the candidates of an item share context and words with each other."""
    known = _CACHE.setdefault(tokenizer, {})
    if key not in known:
        if len(known) >= MOST_CACHED:
            known.clear()
        with naming_panics():
            known[key] = make()
    return known[key]  # type: ignore[no-any-return]


def encode(tokenizer: Any, text: str) -> Ids:
    """The tokens of a text without any special tokens."""
    if not text:
        return ()
    return cached(tokenizer, ("bare", text), make=lambda: tuple(tokenizer.encode(text, add_special_tokens=False)))


def encode_full(tokenizer: Any, text: str) -> Ids:
    """The tokens of a text with the special tokens that the tokenizer puts around it."""
    return cached(tokenizer, ("full", text), make=lambda: tuple(tokenizer.encode(text)))


def token_id(tokenizer: Any, token: str) -> int:
    """The number of a token that the tokenizer knows by name."""
    return cached(tokenizer, ("id", token), make=lambda: int(tokenizer.convert_tokens_to_ids(token)))


def special_tokens(tokenizer: Any) -> tuple[Ids, Ids]:
    """The special tokens before and after a single text."""

    def find() -> tuple[Ids, Ids]:
        bare, full = encode(tokenizer, "a"), tuple(tokenizer.encode("a"))
        for start in range(len(full) - len(bare) + 1):
            if full[start : start + len(bare)] == bare:
                return full[:start], full[start + len(bare) :]
        return (), ()

    return cached(tokenizer, ("frame", ""), make=find)


def cut(tokenizer: Any, parts: Sequence[str]) -> list[Ids]:
    """The tokens of each part of a text as they stand in the whole text; every second part is a word.

    The space before a word belongs to the word. Where a part would merge with what is before it, as it may in an
    unspaced script, a word is cut as after a bracket and what follows a word as after a single letter.
    """
    tokens: list[Ids] = []
    left = ""
    for index, part in enumerate(parts):
        word, last = index % 2 == 1, index == len(parts) - 1
        text = part if word or last else part.rstrip(" ")
        tokens.append(_added(tokenizer, text, left=left, anchors=AFTER_GAP if word else AFTER_WORD))
        left += part
    return tokens


def _added(tokenizer: Any, text: str, *, left: str, anchors: Sequence[str]) -> Ids:
    """The tokens that `text` adds to those of `left`, or of the first anchor that stays what it is before `text`."""
    if not text:
        return ()
    stem = left.rstrip(" ")
    for anchor in (stem, *anchors):
        before, both = encode(tokenizer, anchor), encode(tokenizer, anchor + left[len(stem) :] + text)
        known_end = not before or before[-1] != tokenizer.unk_token_id  # an unknown token may hold more than its anchor
        if known_end and len(both) > len(before) and both[: len(before)] == before:
            return both[len(before) :]
    return encode(tokenizer, text)


def shared_start(first: Sequence[object], second: Sequence[object]) -> int:
    """How many tokens two texts have in common at their beginning."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(first), len(second)))


def decode(tokenizer: Any, ids: Ids) -> tuple[str, ...]:
    """Each token as text one can read, or where it is only a part of a letter its name in the vocabulary."""

    def read(token: int) -> str:
        text = str(tokenizer.decode([token]))
        return str(tokenizer.convert_ids_to_tokens(token)) if "\ufffd" in text else text

    return tuple(cached(tokenizer, ("token", token), make=partial(read, token)) for token in ids)


def count_unknown(tokenizer: Any, ids: Ids) -> int:
    """How many of the tokens are the unknown token."""
    unknown = tokenizer.unk_token_id
    return 0 if unknown is None or unknown in (tokenizer.bos_token_id, tokenizer.eos_token_id) else ids.count(unknown)
