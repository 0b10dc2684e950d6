"""What an answer says by repeating the statement: 'No, bakers do not get up early' disagrees with 'Bakers get up early'."""

from collections.abc import Sequence

from .answer_words import AnswerWords, Words, answer_phrase, find_phrase
from .meaning_rules import read_meaning
from .prompt_words import DISAGREE_PROMPT
from .readings import NO, STANCE_AGAINST_WORD, YES, AnswerReading
from .sentence_rules import is_question
from .text_normalisation import AnswerSentence, cut_sentences, normalise, script_of

STEM = 4  # letters that two forms of a word share
SYLLABLES = 2  # the same of Hangul, where each is a syllable: 조용하다, 조용하지
DENIED, AFFIRMED = 0.6, 1.0  # of the statement's words that a denial, or an affirmation, must hold
DENIED_LETTERS, AFFIRMED_LETTERS = 0.5, 0.8  # the same of letters, where each is a word: a copula may differ
CONTRACTION = "n't"  # 'aren't', 'didn't': negations of a statement; beside 'I agree' they deny something else
FEWEST = 2  # words; a statement of one word is found in too many answers
LONGEST = 2  # times as many words as the statement has; a longer answer says more than the statement


def compare_with_statement(
    reading: AnswerReading, sentences: Sequence[AnswerSentence], *, lexicon: AnswerWords, statement: str
) -> AnswerReading:
    """The reading of an answer to *disagree* by its first word, unless it then says or denies the statement itself.

    'Yes, bakers get up early' agrees with the statement, and 'No, bakers do not get up early' disagrees with it.
    """
    follows = _after_word(sentences, lexicon)
    if follows is None:
        return reading
    others = [clause for clause in follows.clauses if answer_phrase(clause, lexicon) != clause]
    if read_meaning(others, lexicon, prompt=DISAGREE_PROMPT) is not None:
        return reading
    stated = lexicon.forms.unify(word for sentence in cut_sentences(normalise(statement)) for word in sentence.words)
    if len(stated) < FEWEST:
        return reading
    for words in (follows.words, *follows.clauses):  # a clause that says it again may have others beside it
        denied = _is_denied(words, lexicon) != _is_denied(stated, lexicon)
        # a negation may be a part of a verb, so what affirms the statement must have its very words
        shares = (DENIED_LETTERS, AFFIRMED_LETTERS) if _has_letters(stated) else (DENIED, AFFIRMED)
        needed = shares[0] if denied else shares[1]
        if len(words) <= LONGEST * len(stated) + FEWEST and _held(words, stated, whole=not denied) >= needed:
            verdict = YES if denied else NO
            return reading if verdict == reading.verdict else AnswerReading(verdict, STANCE_AGAINST_WORD)
    return reading


def _after_word(sentences: Sequence[AnswerSentence], lexicon: AnswerWords) -> AnswerSentence | None:
    """What follows the first word: the rest of its sentence, or the sentence after it; nothing where that asks or was cut."""
    first = sentences[0]
    phrase = answer_phrase(first.clauses[0], lexicon)
    clauses = tuple(filter(None, (first.clauses[0][len(phrase) :], *first.clauses[1:])))
    follows = AnswerSentence(clauses, first.question, first.cut) if clauses else (*sentences[1:2], None)[0]
    if not phrase or follows is None or is_question(follows, lexicon, prompt=DISAGREE_PROMPT):
        return None
    return None if follows.cut and lexicon.lists["late_negations"] else follows


def _held(words: Words, stated: Words, *, whole: bool) -> float:
    """The share of the statement's words that are among the words, as they are or in any form."""
    stem = SYLLABLES if script_of(stated[0][0]) == "HANGUL" else STEM
    length = None if whole or _has_letters(stated) else stem
    stems = {word[:length] for word in stated}
    return len(stems & {word[:length] for word in words}) / len(stems)


def _has_letters(words: Words) -> bool:
    return script_of(words[0][0]) in ("CJK", "HIRAGANA", "KATAKANA")


def _is_denied(words: Words, lexicon: AnswerWords) -> bool:
    """Whether the words hold an odd number of negations."""
    held: set[int] = set()
    count = 0
    for negation in lexicon.lists["negations"]:  # the longest first, so that 'do not' is not counted as 'not' again
        rest = tuple("" if index in held else word for index, word in enumerate(words))
        positions = find_phrase(rest, negation, gap=0)
        held.update(positions)
        count += bool(positions)
    count += any(word.endswith(CONTRACTION) for index, word in enumerate(words) if index not in held)
    return count % 2 == 1
