"""Contractions: what happens where words meet (contraction, elision, a and an), as a language's rules.toml says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import BadData
from .vocabulary import read_toml

APOSTROPHES = "'’ʼ"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: these words, or these letters, become others, perhaps only before words that sound in some way."""

    find: str
    becomes: str
    before: str | None = None
    words: bool = True


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a language in their order, how words may begin, and which words sound otherwise."""

    joins: tuple[Rule, ...] = ()
    sounds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exceptions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a sentence; `slot` names where it comes from, nothing when it was written in the template."""

    text: str
    slot: str | None = None


def read_rules(path: Path) -> Rules:
    """The rules in a file; none if there is no such file."""
    if not path.exists():
        return Rules()
    content = read_toml(path)
    try:
        unknown = sorted(set(content) - {"join", "sounds", "exceptions"})
        if unknown:
            raise ValueError(f"rules have no field '{unknown[0]}'. Known: exceptions, join, sounds.")
        sounds, exceptions = _lists(content.get("sounds", {})), _lists(content.get("exceptions", {}))
        joins = tuple(_rule(one, {*sounds, *exceptions}) for one in content.get("join", []))
    except ValueError as error:
        raise BadData(path, None, str(error)) from error
    return Rules(joins, sounds, exceptions)


def _lists(table: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(table, dict) or not all(isinstance(one, list) for one in table.values()):
        raise ValueError("'sounds' and 'exceptions' are tables of lists: vowel = [\"a\", \"e\"].")
    return {name: tuple(str(word).casefold() for word in words) for name, words in table.items()}


def _rule(fields: Mapping[str, Any], sounds: set[str]) -> Rule:
    unknown = sorted(set(fields) - {"words", "letters", "becomes", "before"})
    if unknown:
        raise ValueError(f"a join has no field '{unknown[0]}'. Known: becomes, before, letters, words.")
    find, becomes, before = fields.get("words", fields.get("letters")), fields.get("becomes"), fields.get("before")
    if not isinstance(find, str) or not find or not isinstance(becomes, str):
        raise ValueError("a join needs 'words' (or 'letters') and 'becomes'.")
    if before is not None and before not in sounds:
        raise ValueError(
            f"a join is 'before' a sound that is not defined: '{before}'. Known: {', '.join(sorted(sounds))}."
        )
    return Rule(find, becomes, before, "words" in fields)


def join(pieces: Sequence[Piece], rules: Rules) -> list[Piece]:
    """The pieces after the rules, each rule in turn on the whole sentence, where it touches a slot."""
    found = list(pieces)
    for rule in rules.joins:
        if _pattern(rule).search("".join(piece.text for piece in found)) is None:
            continue
        position = 0
        while (hit := _next(found, rule, rules=rules, start=position)) is not None:
            start, end, touched = hit
            if touched:
                old = "".join(piece.text for piece in found)[start:end]
                new = _match_case(old, rule.becomes)
                found = _replace(found, (start, end), new=new)
                position = start + len(new)
            else:
                position = end
    return found


def _next(pieces: Sequence[Piece], rule: Rule, *, rules: Rules, start: int) -> tuple[int, int, bool] | None:
    """Where the rule fits next: start, end, and whether that touches a slot's text."""
    text = "".join(piece.text for piece in pieces)
    for match in _pattern(rule).finditer(text, start):
        after = text[match.end() :]
        if rule.before is not None and not sounds_like(after, rule.before, rules=rules):
            continue
        end = match.end()
        if rule.before is not None and rule.becomes[-1:] in APOSTROPHES:
            end += len(after) - len(after.lstrip(" "))
        reach = match.end() + (len(after) - len(after.lstrip(" ")) + 1 if rule.before is not None else 0)
        return match.start(), end, _touches(pieces, (match.start(), reach), across=not rule.words)
    return None


@cache
def _pattern(rule: Rule) -> re.Pattern[str]:
    if not rule.words:
        return re.compile(re.escape(rule.find))
    body = r" +".join(map(re.escape, rule.find.split()))
    end = "" if rule.find[-1:] in APOSTROPHES else r"(?![\w'’ʼ])"
    return re.compile(rf"(?<![\w'’ʼ]){body}{end}", re.IGNORECASE)


def sounds_like(text: str, sound: str, *, rules: Rules) -> bool:
    """Whether the text's first word has that sound: by its exceptions, else by its longest known beginning."""
    if not text.startswith(" "):
        return False
    match = re.match(r"[\w'’ʼ\u200c-]+", text.lstrip(" "))
    if match is None:
        return False
    word = match[0].casefold()
    for name, words in rules.exceptions.items():
        if word in words:
            return name == sound
    starts = [(len(start), name) for name, list_ in rules.sounds.items() for start in list_ if word.startswith(start)]
    return bool(starts) and max(starts)[1] == sound


def _touches(pieces: Sequence[Piece], span: tuple[int, int], *, across: bool) -> bool:
    """Whether the span holds text of a slot; with `across`, whether it holds text of two pieces."""
    held, cursor = [], 0
    for piece in pieces:
        stop = cursor + len(piece.text)
        if cursor < span[1] and stop > span[0]:
            held.append(piece)
        cursor = stop
    return any(piece.slot for piece in held) and (not across or len(held) > 1)


def _replace(pieces: Sequence[Piece], span: tuple[int, int], *, new: str) -> list[Piece]:
    """The pieces with the span's text replaced; the new text belongs to the span's last slot."""
    found, cursor, owner = [], 0, None
    for piece in pieces:
        stop = cursor + len(piece.text)
        if cursor < span[1] and stop > span[0]:
            owner = piece.slot or owner
        cursor = stop
    cursor = 0
    placed = False
    for piece in pieces:
        stop = cursor + len(piece.text)
        head, tail = piece.text[: max(0, span[0] - cursor)], piece.text[max(0, span[1] - cursor) :]
        if stop <= span[0] or cursor >= span[1]:
            found.append(piece)
        else:
            found.append(Piece(head, piece.slot))
            if not placed:
                found.append(Piece(new, owner))
                placed = True
            found.append(Piece(tail, piece.slot))
        cursor = stop
    return [piece for piece in found if piece.text]


def _match_case(old: str, new: str) -> str:
    """The new text with a capital where the old one had one."""
    return new[:1].title() + new[1:] if old[:1].isupper() else new
