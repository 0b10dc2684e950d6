"""Normalises the text of answers: one form for letters that look or mean the same; splits sentences into words."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

ARABIC = str.maketrans({"ـ": None, "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي"})
DEVANAGARI = str.maketrans({"\u0901": "\u0902", "\u093c": None})  # हाँ and हां; ग़लत and गलत
MARKS = re.compile("[\u064b-\u0655\u0670\u06d6-\u06ed]")
SENTENCE = re.compile(r"([.!?。！？؟।॥\n]+|(?<=[\u0370-\u03ff\u1f00-\u1fff]);)")  # ';' asks in Greek
CLAUSE = re.compile(r"[,;:،؛，、；：…—–()\[\]/|]+|\s-+\s")
QUOTES = "\"'“”‘’«»„‚‹›「」『』`*_~#>"
QUOTED = re.compile("(?<=\\w)[\"“”](?=\\w)|(?<=[가-힣])['‘](?=[가-힣])")  # before an ending: 'Evet"tir', "예'입니다"
IDEOGRAPH = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")  # and kana
NUMBERING = re.compile(r"^\s*(?:[-•]|\d{1,2}[.)]|\(?[a-z]\))\s*")


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence in clauses of words; `question` when it ends with a question mark, `cut` when the text ends within it.

    `opened` when words such as 'therefore' were cut from its beginning, so that its first word is no longer the first.
    """

    clauses: tuple[tuple[str, ...], ...]
    question: bool
    cut: bool = False
    opened: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(word for clause in self.clauses for word in clause)


def normalise(text: str) -> str:
    """The text in small letters, full-width letters narrow, Arabic without vowel signs, Hindi spelled one way, without emoji."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace("i\u0307", "i")  # Turkish İ
    text = MARKS.sub("", text.translate(ARABIC)).translate(DEVANAGARI)
    return unicodedata.normalize("NFC", "".join(map(_kept_letter, text)))


@cache
def _kept_letter(letter: str) -> str:
    """A letter, a space for a symbol such as an emoji, or nothing for what cannot be seen."""
    category = unicodedata.category(letter)
    if letter == "\ufffd" or (category in ("Cf", "Cc", "Cs", "Co") and not letter.isspace()):
        return ""
    return " " if category in ("So", "Sk") else letter


def cut_sentences(tidied: str) -> list[AnswerSentence]:
    """The sentences that have words."""
    pieces = SENTENCE.split(NUMBERING.sub("", tidied))
    sentences = []
    for text, end in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        clauses = tuple(filter(None, (tuple(cut_words(clause)) for clause in CLAUSE.split(text))))
        if clauses:
            sentences.append(AnswerSentence(clauses, any(mark in end for mark in "?؟;"), not end))
    return sentences


def cut_words(clause: str) -> list[str]:
    """The words of a clause without quotes; each Chinese character and each kana is a word."""
    spaced = IDEOGRAPH.sub(r" \g<0> ", QUOTED.sub("", clause).replace("¿", " ").replace("¡", " "))
    bare = (word.strip(QUOTES + "-") for word in spaced.split())
    return [word for word in bare if any(letter.isalnum() for letter in word)]


@cache
def script_of(letter: str) -> str:
    """The script of a letter, as the first word of its Unicode name: LATIN, CYRILLIC, DEVANAGARI, CJK, ..."""
    return unicodedata.name(letter, "UNKNOWN").split()[0]
