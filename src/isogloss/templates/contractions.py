"""Contractions: what happens where words meet (contraction, elision, suffixes in harmony), as the rules say."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise

from ..errors import IsoglossError
from .rules import LAST, Rule, Rules, Suffix

APOSTROPHES = "'’ʼ"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a sentence; `slot` names where it comes from, nothing when it was written in the template."""

    text: str
    slot: str | None = None


def join(pieces: Sequence[Piece], rules: Rules) -> list[Piece]:
    """The pieces after the rules, each rule in turn on the whole sentence, where it touches a slot."""
    joined = _add_suffixes(pieces, rules) if rules.suffixes else list(pieces)
    for rule in rules.joins:
        position: int | None = 0
        while position is not None:
            joined, position = _apply_rule(joined, rule, rules=rules, start=position)
    return joined


def _add_suffixes(pieces: Sequence[Piece], rules: Rules) -> list[Piece]:
    """The pieces with each suffix that is written after a slot in the form that goes with the word before it."""
    suffixes: list[Piece] = []
    for piece in pieces:
        before, text = suffixes[-1] if suffixes else Piece(""), piece.text
        while piece.slot is None and before.slot:
            fitting = [suffix for suffix in rules.suffixes if text.startswith(suffix.written)]
            if not fitting:
                break
            suffix = max(fitting, key=lambda suffix: len(suffix.written))
            mark = "'" if _takes_apostrophe(suffix, before.text) else ""
            before = Piece(before.text + mark + _suffix_form(suffix, before.text, rules=rules), before.slot)
            text = text[len(suffix.written) :]
        if before.slot:
            suffixes[-1] = before
        suffixes += [Piece(text, piece.slot)] if text else []
    return suffixes


def _takes_apostrophe(suffix: Suffix, word: str) -> bool:
    """Whether a suffix is set off from a name: from its last word, if that has a capital and no apostrophe yet."""
    last = word.split()[-1] if word.split() else ""
    is_name = last[:1].isupper() and not any(sign in last for sign in APOSTROPHES)
    return suffix.apostrophe and is_name and not last.endswith(suffix.unless)


def _suffix_form(suffix: Suffix, word: str, *, rules: Rules) -> str:
    """The form of a suffix for the ending of a word: the first of which all classes hold, most classes first."""
    letters = [letter for letter in _phonemes(word) if letter.isalpha()]
    classes: set[str] = set()
    listed = [name for name, words in rules.exceptions.items() if _is_listed(word.casefold(), words)]
    for group, table in rules.endings.items():
        if listed and (group != LAST or len(rules.endings) == 1):
            classes |= set(listed[0].split())
            continue
        sounds = letters[-1:] if group == LAST else [letter for letter in letters if letter in table][-1:]
        classes |= {name for letter in sounds if letter in table for name in table[letter].split()}
    for needed, text in suffix.forms:
        if needed <= classes:
            return text
    raise IsoglossError(f"No form of the suffix '{suffix.written}' goes with '{word}'. Add its ending to rules.toml.")


VOWELS, FINALS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ", "ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"


def _phonemes(word: str) -> str:
    """The letters of a word in lower case; a Hangul syllable becomes its vowel and its final consonant."""
    phonemes = []
    for letter in unicodedata.normalize("NFC", word.replace("I", "ı") if "ı" in word else word).casefold():
        index = ord(letter) - 0xAC00
        if 0 <= index < 11172:
            phonemes.append(VOWELS[index // 28 % 21] + (FINALS[index % 28 - 1] if index % 28 else ""))
        else:
            phonemes.append(letter)
    return "".join(phonemes)


def _apply_rule(pieces: list[Piece], rule: Rule, *, rules: Rules, start: int) -> tuple[list[Piece], int | None]:
    """The pieces after the rule was applied where it fits next, and where to go on; None when it fits nowhere.

    The rule applies where a slot has a part in it, and a rule about letters only across two pieces. The new text has a
    capital where the old one had one.
    """
    text = "".join(piece.text for piece in pieces)
    for match in _pattern(rule).finditer(text, start):
        end = reach = match.end()
        if any(0 <= text.find(name, match.start()) < end for name in rule.unless):
            continue
        if rule.before is not None:
            after = text[end:]
            if not sounds_like(after, rule.before, rules=rules):
                continue
            spaces = len(after) - len(after.lstrip(" "))
            reach += spaces + 1
            end += spaces if rule.becomes[-1:] in APOSTROPHES else 0
        touched = [pieces[index].slot for index, _ in _pieces_in(pieces, (match.start(), reach))]
        if not any(touched) or (len(touched) == 1 and not rule.words):
            return pieces, end
        new = rule.becomes[:1].title() + rule.becomes[1:] if match[0][:1].isupper() else rule.becomes
        return _replace(pieces, (match.start(), end), new=new), match.start() + len(new)
    return pieces, None


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
        if _is_listed(word, words):
            return name == sound
    starts = [(len(start), name) for name, list_ in rules.sounds.items() for start in list_ if word.startswith(start)]
    return bool(starts) and max(starts)[1] == sound


def _is_listed(word: str, words: Sequence[str]) -> bool:
    return any(word == entry or (entry.endswith("*") and word.startswith(entry[:-1])) for entry in words)


def _pieces_in(pieces: Sequence[Piece], span: tuple[int, int]) -> list[tuple[int, int]]:
    """The pieces that have text in a span: their index, and where they begin in the sentence."""
    starts = [0, *accumulate(len(piece.text) for piece in pieces)]
    return [(index, start) for index, (start, end) in enumerate(pairwise(starts)) if start < span[1] and end > span[0]]


def _replace(pieces: Sequence[Piece], span: tuple[int, int], *, new: str) -> list[Piece]:
    """The pieces with the span's text replaced; the new text belongs to the span's last slot."""
    touched = _pieces_in(pieces, span)
    (first, first_start), (last, last_start) = touched[0], touched[-1]
    owner = next((pieces[index].slot for index, _ in reversed(touched) if pieces[index].slot), None)
    head = Piece(pieces[first].text[: span[0] - first_start], pieces[first].slot)
    tail = Piece(pieces[last].text[span[1] - last_start :], pieces[last].slot)
    return [piece for piece in (*pieces[:first], head, Piece(new, owner), tail, *pieces[last + 1 :]) if piece.text]
