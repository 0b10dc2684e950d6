"""Verdicts: what an answer says to its prompt and by which rule; computed when measuring and never stored."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import polars as pl

from .. import languages
from .answer_words import (
    OPTION,
    AnswerWords,
    AskedPrompts,
    Words,
    answer_phrase,
    answer_words_of,
    find_phrase,
    phrases_within,
    stance_phrase,
    start_phrase,
)
from .closing_rules import CLOSING, concedes, is_stance_alone, read_closing, read_concession, read_objection
from .final_answer import extract_answer
from .meaning_rules import has_concession, read_meaning, takes_a_side
from .prompt_words import DISAGREE_PROMPT
from .readings import (
    EMPTY,
    NO,
    OFF_TOPIC,
    OTHER_LANGUAGE,
    RESTATED,
    STANCE_AGAINST_WORD,
    YES,
    AnswerReading,
)
from .sentence_rules import ENGLISH, PLAIN, is_hypothetical, is_question, read_sentence
from .statement_rules import compare_with_statement
from .text_normalisation import AnswerSentence, cut_sentences, cut_words, normalise, script_of

MENTION = re.compile(r"^[\s*]*[\"'“”‘’«「『]\s*\w{1,5}\s*[\"'“”‘’»」』][ \t]+\w")
CHOICE = re.compile(rf"(?:^|\n)(?P<heading>[^\n]*?)\(?\b(?P<number>{OPTION})[.):]*\s*$")
UNFINISHED_LINE = re.compile(r"\n[^\n]*[,،]\s*$")
CONCLUSION = 2  # words of a clause that ends with the answer: 'therefore no'
TICKED = re.compile(r"[(\[]\s*[x✓✔]\s*[)\]]\s*(?P<option>[^\n(\[]+)")
EMPTY_BOX = re.compile(r"[(\[]\s*[)\]]")
SHORTEST = 8  # letters; a shorter answer cannot say the statement again
FIRST_WORDS, FIRST_LETTERS = 10, 24  # as many tokens as the paper reads


def read_answers(answers: pl.DataFrame, asked: AskedPrompts | None = None) -> pl.DataFrame:
    """The answers with the columns `verdict` and `rule`, and `opening_verdict`, read from the first ten tokens alone.

    `asked` are the prompts that were asked, if not our own. A text that is null was not asked for and has no verdict.
    Where the answers have a column `statement`, an answer that says the statement again is compared with it.
    """
    if "statement" not in answers.columns:
        answers = answers.with_columns(statement=pl.lit(None, dtype=pl.String))
    verdicts: list[tuple[str | None, str | None, str | None]] = []
    columns = ("text", "opening", "language", "prompt", "statement")
    for text, opening, language, prompt, statement in answers.select(columns).iter_rows():
        if text is None:
            verdicts.append((None, None, None))
            continue
        answer = extract_answer(text)
        about = statement or "" if prompt == DISAGREE_PROMPT and answer[SHORTEST:] else ""  # else it decides nothing
        reading = interpret_answer(answer, language=language, prompt=prompt, asked=asked, statement=about)
        if opening is None or answer != text.strip():
            opening = first_words(answer, spaced=languages.describe(language).spaces)
        cut = reading
        if opening != answer:
            cut = interpret_answer(opening, language=language, prompt=prompt, asked=asked, statement=about)
        verdicts.append((reading.verdict, reading.rule, cut.verdict))
    names = ["verdict", "rule", "opening_verdict"]
    verdicts_table = pl.DataFrame(verdicts, schema=dict.fromkeys(names, pl.String), orient="row")
    return answers.drop("statement").hstack(verdicts_table)


def read_answer(
    text: str, *, language: str, prompt: str, asked: AskedPrompts | None = None, statement: str = ""
) -> AnswerReading:
    """What a whole answer says; where it holds a thought, a box or JSON, its final answer is read."""
    return interpret_answer(extract_answer(text), language=language, prompt=prompt, asked=asked, statement=statement)


def first_words(text: str, *, spaced: bool) -> str:
    """About ten tokens of a text whose tokens are not known: ten words, or two dozen letters of an unspaced script."""
    if not spaced:
        return text.strip()[:FIRST_LETTERS]
    return "".join(re.findall(r"\S+\s*", text)[:FIRST_WORDS])


@lru_cache(maxsize=100_000)
def interpret_answer(
    text: str, *, language: str, prompt: str, asked: AskedPrompts | None = None, statement: str = ""
) -> AnswerReading:
    """What the text of an answer to that prompt says, and by which rule."""
    reading = _interpret(text, language=language, prompt=prompt, asked=asked)
    if not statement or reading.rule != "word" or prompt != DISAGREE_PROMPT:
        return reading
    lexicon = answer_words_of(language, asked)
    tidied = _without_options(_without_prompt(normalise(text), lexicon, prompt=prompt), lexicon)
    bare = [_without_openers(sentence, lexicon) for sentence in _spoken_sentences(cut_sentences(tidied), lexicon)]
    spoken = [sentence for sentence in bare if sentence.clauses]
    return compare_with_statement(reading, spoken, lexicon=lexicon, statement=statement) if spoken else reading


def _interpret(text: str, *, language: str, prompt: str, asked: AskedPrompts | None) -> AnswerReading:
    """What the text says on its own, without the statement."""
    lexicon = answer_words_of(language, asked)
    whole = normalise(text)
    tidied = _without_options(_without_prompt(whole, lexicon, prompt=prompt), lexicon)
    restated = tidied != whole
    sentences = cut_sentences(tidied)
    if not sentences:
        return AnswerReading(RESTATED, "options") if restated else AnswerReading(EMPTY, "empty")
    if _is_foreign_script(tidied, lexicon):
        return AnswerReading(OTHER_LANGUAGE, "script")
    sentences = _spoken_sentences(sentences, lexicon)
    if not sentences:
        return AnswerReading(OFF_TOPIC, "nothing")
    bare = [_without_openers(sentence, lexicon) for sentence in sentences]
    bare = [sentence for sentence in bare if sentence.clauses]
    first = _read_first(bare, lexicon, prompt=prompt) if bare and not MENTION.match(text) else None
    concession = read_concession(sentences, lexicon, prompt=prompt) if len(sentences) > 1 else None
    if first is not None and first.verdict != OFF_TOPIC and first.rule not in ("stance", "refusal", "later"):
        return concession if concession and concedes(first, bare[0], lexicon=lexicon, prompt=prompt) else first
    # a line that ends with a comma goes on: 'Ja,' on the last line of a text that was cut is no answer alone
    complete = sentences[:-1] if UNFINISHED_LINE.search(tidied) else sentences
    later = _read_last(complete, lexicon, prompt=prompt)
    closing = read_closing(sentences, lexicon, prompt=prompt)
    if later is not None and (first is None or first.verdict == OFF_TOPIC or later.rule == "label"):
        return closing or later  # 'Of course, they can. Hence, I disagree.'
    last = closing or concession
    stated = first is not None and first.rule == "stance" and len(sentences[0].words) <= CLOSING
    if last is not None and not (stated and takes_a_side(bare[0].words, lexicon)):
        return last
    if closing is not None and is_stance_alone(sentences[-1].clauses[-1], lexicon):
        return closing
    if concession is not None and has_concession(sentences[0].clauses[0], lexicon):
        return concession
    if (
        first is not None
        and first.rule == "refusal"
        and (objection := read_objection(bare[1:], lexicon, prompt=prompt))
    ):
        return objection
    if first is None and (after := _read_after(bare[1:], lexicon, prompt=prompt)):
        return AnswerReading(after, "after")
    if _repeats_prompt(first, bare, asked=lexicon.asked.get(prompt, ()), restated=restated):
        return AnswerReading(RESTATED, "options")
    if first is not None:
        return first
    if not bare or MENTION.match(text):
        return AnswerReading(OFF_TOPIC, "condition" if bare else "nothing")
    if _is_third_language(bare[0], tidied, lexicon=lexicon):
        return AnswerReading(OTHER_LANGUAGE, "language")
    return AnswerReading(OFF_TOPIC, "nothing")


def _repeats_prompt(
    first: AnswerReading | None, bare: Sequence[AnswerSentence], *, asked: Sequence[Words], restated: bool
) -> bool:
    """Whether an answer is the options alone, or with a part of the question before them."""
    if not restated or first is None or first.verdict == OFF_TOPIC:
        return restated
    part = bare[0].clauses[0]
    return first.rule == "stance" and len(bare) == 1 and any(find_phrase(clause, part, gap=0) for clause in asked)


def _read_first(bare: Sequence[AnswerSentence], lexicon: AnswerWords, *, prompt: str) -> AnswerReading | None:
    """What the first sentence says that is no question; after a question, only one that answers the prompt's."""
    if is_hypothetical(bare[0], lexicon):
        return AnswerReading(OFF_TOPIC, "condition")
    question = None
    for number, sentence in enumerate(bare):
        following = bare[number + 1] if number + 1 < len(bare) else None
        if question and not _answers_prompt(sentence, bare[number - 1], lexicon=lexicon, prompt=prompt):
            return question
        reading = read_sentence(sentence, lexicon, prompt=prompt, following=following)
        if reading is None or reading.rule != "question":
            return reading or question
        question = reading
    return question


def _read_last(sentences: Sequence[AnswerSentence], lexicon: AnswerWords, *, prompt: str) -> AnswerReading | None:
    """The last yes or no that is a sentence or line alone, stands after 'the answer is', or ends a sentence as a clause."""
    for number in range(len(sentences) - 1, -1, -1):
        sentence = sentences[number]
        bare = None if is_hypothetical(sentence, lexicon) else _after_label(sentence, lexicon, later=number > 0)
        if bare is None or is_question(bare, lexicon, prompt=prompt):
            continue
        if number and not _answers_prompt(bare, sentences[number - 1], lexicon=lexicon, prompt=prompt):
            continue
        following = sentences[number + 1] if number + 1 < len(sentences) else None
        reading = read_sentence(bare, lexicon, prompt=prompt, following=following)
        if reading is not None and reading.verdict in (YES, NO):
            rule = reading.rule if reading.rule == STANCE_AGAINST_WORD else ""
            return AnswerReading(reading.verdict, rule or ("label" if bare != sentence else "later"))
    return None


def _read_after(sentences: Sequence[AnswerSentence], lexicon: AnswerWords, *, prompt: str) -> str | None:
    """What the sentences after a greeting or a comment say, where they all say the same: 'Good question! I disagree with it.'"""
    meanings = {
        read_meaning(sentence.clauses, lexicon, prompt=prompt)
        for sentence in sentences
        if not is_hypothetical(sentence, lexicon) and not is_question(sentence, lexicon, prompt=prompt)
    } - {None}
    return next(iter(meanings)) if len(meanings) == 1 and meanings <= {YES, NO} else None


def _answers_prompt(sentence: AnswerSentence, before: AnswerSentence, *, lexicon: AnswerWords, prompt: str) -> bool:
    """Whether a sentence may answer the prompt: a bare word after another question answers that one.

    'Do you agree? No.' answers ours; 'Does soup make people happy? Yes.' does not.
    """
    if not is_question(before, lexicon, prompt=prompt):
        return True
    if answer_phrase(sentence.clauses[0], lexicon) != sentence.clauses[0]:
        return read_meaning(sentence.clauses, lexicon, prompt=prompt) is not None
    return not before.clauses or read_meaning(before.clauses, lexicon, prompt=prompt) is not None


def _after_label(sentence: AnswerSentence, lexicon: AnswerWords, *, later: bool) -> AnswerSentence | None:
    """The part of a sentence that begins with a bare answer; None when there is no such part.

    A last clause of two words may end with it, as in 'therefore no', if something stands before the clause.
    """
    bare = _without_openers(sentence, lexicon)
    if not bare.clauses or answer_phrase(bare.clauses[0], lexicon) == bare.clauses[0]:
        return bare if bare.clauses else None
    last = sentence.clauses[-1]
    word, joined = (
        last[-1:],
        start_phrase(last, lexicon.starts["joiners"]) or start_phrase(last, lexicon.starts["contrasts"]),
    )
    if (
        not joined
        and (later or len(sentence.clauses) > 1)
        and len(last) <= CONCLUSION
        and script_of(word[0][0]) != "CJK"  # '不是' does not end with the word 是
        and (word in lexicon.own or word in PLAIN)
        and not takes_a_side(last, lexicon)
    ):
        return AnswerSentence((word,), sentence.question)
    endings = (_after_opener(clause, lexicon) for clause in reversed(sentence.clauses))
    answer = next(filter(None, endings), ())
    return AnswerSentence((answer,), sentence.question) if answer else None


def _after_opener(clause: Words, lexicon: AnswerWords) -> Words:
    """The bare answer that ends a clause after 'my answer is'; empty where there is none."""
    for opener in phrases_within(clause, lexicon.starts["openers"]):
        positions = find_phrase(clause, opener, gap=0)
        rest = clause[positions[-1] + 1 :] if positions else ()
        while adverb := start_phrase(rest, lexicon.starts["openers"]):  # 'la réponse est donc oui'
            rest = rest[len(adverb) :]
        if len(stance_phrase(rest, lexicon)) > len(answer_phrase(rest, lexicon)):  # 'यह मोटे तौर पर सही है'
            continue
        while rest and rest[-1:] in lexicon.lists["copulas"]:  # 'मेरा जवाब नहीं है'
            rest = rest[:-1]
        if rest and answer_phrase(rest, lexicon) == rest:
            return rest
    return ()


# ---- what is cut first


def _without_prompt(tidied: str, lexicon: AnswerWords, *, prompt: str) -> str:
    """The text after the prompt, where the answer repeats it."""
    for ending in lexicon.endings.get(prompt, ()):
        _, repeated, after = tidied.rpartition(ending)
        if repeated:
            return after
    return tidied


def _without_options(tidied: str, lexicon: AnswerWords) -> str:
    """The text without 'Yes / No', '1. Yes 2. No' and the like; a number chosen afterwards becomes its word."""
    numbered: dict[str, str] = {}

    def cut(match: re.Match[str]) -> str:
        groups = match.groupdict()
        heading = lexicon.forms.unify(cut_words(groups.get("heading") or ""))
        sides = {lexicon.sides[match["first"]], lexicon.sides[match["second"]]}
        if len(sides) < 2 or heading in lexicon.lists["openers"]:  # 'Answer: yes, no' offers nothing
            return match[0]
        numbered.update({groups.get(f"number_of_{name}") or "": groups[name] for name in ("first", "second")})
        return "\n"

    ticked = TICKED.findall(tidied) if EMPTY_BOX.search(tidied) else ()
    if len(ticked) == 1:  # '( ) Yes (x) No'
        return str(ticked[0])
    for pattern in lexicon.options:
        tidied = pattern.sub(cut, tidied)
    return _name_choice(tidied, numbered, lexicon=lexicon)


def _name_choice(tidied: str, numbered: Mapping[str, str], *, lexicon: AnswerWords) -> str:
    """The text with the option's word instead of its number, where its last line is 'Answer: 2' or the number alone."""
    choice = CHOICE.search(tidied) if numbered else None
    if choice is None or choice["number"] not in numbered:
        return tidied
    heading = lexicon.forms.unify(cut_words(choice["heading"].replace(":", " ")))
    if heading and heading not in lexicon.lists["openers"]:
        return tidied
    return tidied[: choice.start("number")] + numbered[choice["number"]]


def _spoken_sentences(sentences: Sequence[AnswerSentence], lexicon: AnswerWords) -> list[AnswerSentence]:
    """The sentences with unified words, and without idioms that answer nothing: 'right now', 'not sure', 'some agree'."""
    sentences = [lexicon.forms.unify_sentence(sentence) for sentence in sentences]
    cut = (
        replace(sentence, clauses=tuple(filter(None, (_cut_idioms(clause, lexicon) for clause in sentence.clauses))))
        for sentence in sentences
    )
    return [sentence for sentence in cut if sentence.clauses]


def _cut_idioms(clause: Words, lexicon: AnswerWords) -> Words:
    for idiom in phrases_within(clause, lexicon.starts["idioms"]):
        positions = find_phrase(clause, idiom, gap=0)
        clause = clause[: positions[0]] + clause[positions[-1] + 1 :] if positions else clause
    return clause


def _without_openers(first: AnswerSentence, lexicon: AnswerWords) -> AnswerSentence:
    """The sentence without what may stand before an answer: 'the answer is', 'well'."""
    clauses = list(first.clauses)
    while clauses:
        opener = start_phrase(clauses[0], lexicon.starts["openers"])
        starts = (answer_phrase(clauses[0], lexicon), stance_phrase(clauses[0], lexicon))
        if not opener or max(map(len, starts)) > len(opener):  # 'I think so too' is more than 'I think'
            break
        clauses[0] = clauses[0][len(opener) :]
        clauses = clauses if clauses[0] else clauses[1:]
    if tuple(clauses) == first.clauses:
        return first
    return replace(first, clauses=tuple(clauses), opened=True)


# ---- other languages


def _is_foreign_script(tidied: str, lexicon: AnswerWords) -> bool:
    """Whether half of the letters or more are neither of the language's script nor Latin."""
    letters = [] if tidied.isascii() else [letter for letter in tidied if letter.isalpha()]
    if lexicon.script is None or not letters:
        return False
    foreign = sum(script_of(letter) not in (lexicon.script, "LATIN") for letter in letters)
    return 2 * foreign >= len(letters)


def _is_third_language(first: AnswerSentence, tidied: str, *, lexicon: AnswerWords) -> bool:
    """Whether the answer is another language's yes or no, or Latin letters without an English word in another script."""
    if first.clauses[0] in lexicon.foreign:
        return True
    letters = [letter for letter in tidied if letter.isalpha()]
    latin = 2 * sum(script_of(letter) == "LATIN" for letter in letters) > len(letters)
    return latin and lexicon.script not in (None, "LATIN") and not ENGLISH & set(cut_words(tidied))
