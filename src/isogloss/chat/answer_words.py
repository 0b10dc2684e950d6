"""Answer words: the lists by which answers to the prompts that were asked are understood, cut into words and compiled."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from .. import languages
from .prompt_words import LISTS, PromptWords, prompt_words_of
from .text_normalisation import AnswerSentence, cut_sentences, cut_words, normalise, script_of

SCRIPTS = {"Arab": "ARABIC", "Beng": "BENGALI", "Cyrl": "CYRILLIC", "Deva": "DEVANAGARI", "Grek": "GREEK"}
SCRIPTS |= {"Hans": "CJK", "Hant": "CJK", "Hebr": "HEBREW", "Kore": "HANGUL", "Latn": "LATIN"}
MARKS = "(?:« | »|[\"'“”‘’«»„「」『』*_`])*"
# vowel signs of Indic scripts are no letters to `re`, but a word goes on with them
WORD_END = r"(?![\w\u0900-\u0963\u0966-\u0dff])"
OPTION = r"\d{1,2}|[^\W\d_\u3040-\u9fff]"  # the number or letter of an option: '1.', 'b)', 'খ)'
OTHERS, FAR = "…", 12  # in a phrase: other words, or letters where each is a word, and at most how many

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AskedPrompts:
    """The prompts that a run asked, by name, and their words for yes and no."""

    prompts: tuple[tuple[str, str], ...]
    words: tuple[str, str]


@dataclass(frozen=True, slots=True)
class WordForms:
    """Words that are read as one: each form with its first one, and stems ('stereotyp*') by their length."""

    first: Mapping[str, str]
    stems: Mapping[int, frozenset[str]]

    def unify(self, words: Iterable[str]) -> Words:
        """The words, each form as the first one."""
        return tuple(self.first.get(word) or self._stem_of(word) for word in words)

    def _stem_of(self, word: str) -> str:
        return next((word[:length] for length, stems in self.stems.items() if word[:length] in stems), word)

    def unify_sentence(self, sentence: AnswerSentence) -> AnswerSentence:
        return replace(sentence, clauses=tuple(self.unify(clause) for clause in sentence.clauses))


@dataclass(frozen=True, slots=True)
class AnswerWords:
    """A language's lists with the English ones added, tidied and cut into words, the longest first.

    `starts` are the lists by first words, `own` the words that the prompts name, `foreign` those that other languages'
    prompts name, `asked` the clauses of each prompt and `endings` what each prompt says after the statement. `options`
    finds yes and no offered together. Words of answers and of all lists are unified by `forms`.
    """

    lists: Mapping[str, tuple[Words, ...]]
    starts: Mapping[str, Mapping[str, tuple[Words, ...]]]
    asked: Mapping[str, tuple[Words, ...]]
    endings: Mapping[str, tuple[str, ...]]
    own: frozenset[Words]
    foreign: frozenset[Words]
    options: tuple[re.Pattern[str], ...]
    sides: Mapping[str, str]
    script: str | None
    forms: WordForms


def asked_prompts(info: Mapping[str, Any]) -> AskedPrompts | None:
    """The prompts that a run's `run.json` says were asked; None where it does not say so, as in runs made elsewhere."""
    fingerprint = info.get("fingerprint", {})
    fingerprint = fingerprint.get("asked", fingerprint)  # runs of 0.2 stated it at the top
    prompts, words = fingerprint.get("prompts"), fingerprint.get("words")
    if not isinstance(prompts, Mapping) or not isinstance(words, Sequence) or len(words) != 2:
        return None
    return AskedPrompts(tuple(prompts.items()), (words[0], words[1]))


@cache
def answer_words_of(tag: str, asked: AskedPrompts | None = None) -> AnswerWords:
    """The words by which answers to prompts in a language are understood; without `asked`, to our own prompts."""
    language = languages.describe(tag)
    words, english = prompt_words_of(language), prompt_words_of(languages.get("en"))
    prompts = dict(asked.prompts) if asked else dict(words.prompts)
    named = asked.words if asked else words.words
    raw = {name: [*words.answers[name], *english.answers[name]] for name in LISTS}
    for name, word in zip(("yes", "no"), named, strict=True):
        raw[name].insert(0, word)
    forms = _word_forms(raw["forms"])
    lists = {name: _phrases(raw[name], forms) for name in LISTS if name != "forms"}
    known = {phrase for phrases in lists.values() for phrase in phrases}
    clauses = {
        name: tuple(forms.unify(clause) for sentence in cut_sentences(normalise(text)) for clause in sentence.clauses)
        for name, text in prompts.items()
    }
    return AnswerWords(
        lists,
        {name: _by_first_word(phrases) for name, phrases in lists.items()},
        clauses,
        {name: _endings(text, named) for name, text in prompts.items()},
        frozenset(_phrases(named, forms)) | _named_in(prompts.values(), lists, forms=forms),
        _named_words() - known,
        _option_patterns(raw),
        {normalise(word): name for name in ("yes", "no") for word in raw[name]},
        SCRIPTS.get(language.script),
        forms,
    )


def _word_forms(rows: Iterable[str]) -> WordForms:
    """The rows of `forms`: words that are read as the first of their row, and stems, which end with a star."""
    cut = [normalise(row).split() for row in rows]
    stems = {stem[:-1] for row in cut for stem in row if stem.endswith("*")}
    lengths = sorted({len(stem) for stem in stems}, reverse=True)
    first = {word: row[0].removesuffix("*") for row in cut for word in row if not word.endswith("*")}
    return WordForms(first, {length: frozenset(stem for stem in stems if len(stem) == length) for length in lengths})


def _endings(prompt: str, words: tuple[str, str]) -> tuple[str, ...]:
    """What a prompt says after the statement, in both orders of the words; a prompt repeated in an answer ends so."""
    ending = prompt.rpartition("{statement}")[2]
    orders = (words, words[::-1])
    filled = (ending.replace("{first}", first).replace("{second}", second) for first, second in orders)
    return tuple(dict.fromkeys(text for text in (normalise(text).strip() for text in filled) if text))


def _named_in(prompts: Iterable[str], lists: Mapping[str, tuple[Words, ...]], *, forms: WordForms) -> frozenset[Words]:
    """The words for yes and no that prompts without slots name after the statement: those on both sides of an 'or'."""
    named: set[Words] = set()
    for prompt in prompts:
        ending = forms.unify(cut_words(normalise(prompt.rpartition("{statement}")[2]).replace("/", " / ")))
        sides = [{p for p in lists[side] if len(p) == 1 and find_phrase(ending, p, gap=0)} for side in ("yes", "no")]
        if all(sides) and "{first}" not in prompt:
            named |= sides[0] | sides[1]
    return frozenset(named)


@cache
def _named_words() -> frozenset[Words]:
    """The words for yes and no that the prompts of all languages name."""
    asking = [language for language in map(languages.get, languages.tags()) if "ask" in language.sections]
    words: list[PromptWords] = [prompt_words_of(language) for language in asking]
    return frozenset(phrase for prompt_words in words for phrase in _phrases(prompt_words.words, _word_forms(())))


def _option_patterns(raw: Mapping[str, Sequence[str]]) -> tuple[re.Pattern[str], ...]:
    """Patterns of two answer words that are offered together: with a slash or 'or', numbered, on lines, or after a heading.

    Whether the two are yes and no, and not twice the same, is for the caller to check.
    """
    word = _alternation([*raw["yes"], *raw["no"]])
    either = _alternation(raw["alternatives"])
    first, second = (rf"{MARKS}(?P<{name}>{word}){MARKS}" for name in ("first", "second"))
    one, two = (rf"(?:[-•]|\(?(?P<{name}>{OPTION})[.):])\s*" for name in ("number_of_first", "number_of_second"))
    return tuple(
        re.compile(pattern, re.MULTILINE)
        for pattern in (
            rf"(?:{word},\s*)?[(\[]*(?:{one})?{first}[)\]]*\s*(?:[/|・]|[,、]?\s*{either}[,、]?)\s*[(\[]*(?:{two})?{second}[)\]]*",
            rf"\b(?P<preposition>\w+)\s+{first}\s+{either}\s+(?P=preposition)\s+{second}",
            rf"{one}{first}[,;.]?\s*{two}{second}",
            rf"^[ \t]*(?:{one})?{first}[.,]?[ \t]*\n\s*(?:{two})?{second}[.]?[ \t]*$",
            rf"^(?P<heading>[^\n:]*):\s*{first}\s*[,;،、]\s*{second}(?:[.。](?=\s)|[.。]?[ \t]*$)",
        )
    )


def _alternation(words: Sequence[str]) -> str:
    """A pattern of any of the words, the longest first; a word of a script with spaces does not match within another."""
    tidied = sorted({normalise(word) for word in words}, key=lambda word: (-len(word), word))
    spaced = [re.escape(word) for word in tidied if script_of(word[0]) not in ("CJK", "HIRAGANA", "KATAKANA")]
    others = [re.escape(word) for word in tidied if script_of(word[0]) in ("CJK", "HIRAGANA", "KATAKANA")]
    whole = [rf"(?<!\w)(?:{'|'.join(spaced)}){WORD_END}"] if spaced else []
    return f"(?:{'|'.join([*whole, *others])})"


def _phrases(words: Iterable[str], forms: WordForms) -> tuple[Words, ...]:
    """The words tidied and cut, the longest first; '…' in a phrase stands for other words between its parts."""
    parts = (re.split(f"({OTHERS})", text) for text in words)
    cut = {forms.unify(word for part in text for word in _cut_part(part)) for text in parts} - {()}
    return tuple(sorted(cut, key=lambda phrase: (-len(phrase), phrase)))


def _cut_part(part: str) -> list[str]:
    return [OTHERS] if part == OTHERS else cut_words(normalise(part))


def _by_first_word(phrases: Sequence[Words]) -> dict[str, tuple[Words, ...]]:
    """The phrases by their first words, the longest first."""
    return {first: tuple(phrase for phrase in phrases if phrase[0] == first) for first in {p[0] for p in phrases}}


def start_phrase(words: Words, phrases: Mapping[str, Sequence[Words]]) -> Words:
    """The longest of the phrases, given by their first words, that the words start with; empty when there is none."""
    for phrase in phrases.get(words[0], ()) if words else ():
        if words[: len(phrase)] == phrase:
            return phrase
    return ()


def answer_phrase(words: Words, lexicon: AnswerWords) -> Words:
    """The longest phrase for yes or no that the words start with."""
    return max(start_phrase(words, lexicon.starts["yes"]), start_phrase(words, lexicon.starts["no"]), key=len)


def stance_phrase(words: Words, lexicon: AnswerWords) -> Words:
    """The longest phrase of agreement or disagreement that the words start with."""
    return max(start_phrase(words, lexicon.starts["agree"]), start_phrase(words, lexicon.starts["disagree"]), key=len)


def phrases_within(words: Words, phrases: Mapping[str, Sequence[Words]]) -> Iterator[Words]:
    """The phrases, given by their first words, all of whose words are among the words; the others cannot be there."""
    present = {*words, OTHERS}
    return (p for word in dict.fromkeys(words) for p in phrases.get(word, ()) if present.issuperset(p))


def find_phrase(words: Words, phrase: Words, *, gap: int) -> tuple[int, ...]:
    """Where a phrase's words stand, in order and at most N words apart, as close as they do; empty when they do not."""
    if phrase[0] not in words:
        return ()
    if len(phrase) == 1:
        return (words.index(phrase[0]),)
    places: list[tuple[int, ...]] = []
    for start in (index for index, word in enumerate(words) if word == phrase[0]):
        positions, reach = [start], gap
        for wanted in phrase[1:]:
            if wanted == OTHERS:
                reach = FAR
                continue
            near = words[positions[-1] + 1 : positions[-1] + 2 + reach]
            if wanted not in near:
                break
            positions.append(positions[-1] + 1 + near.index(wanted))
            reach = gap
        else:
            places.append(tuple(positions))
    return min(places, key=lambda positions: positions[-1] - positions[0], default=())
