"""Phrases: 138 short things that chat models say, in every language, read alone and after a yes or no."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from isogloss import languages
from isogloss.chat.prompt_words import prompt_words_of
from isogloss.chat.verdicts import read_answer
from support.offenders import for_every

PHRASES = Path(__file__).parent / "data" / "phrases"
TAGS = sorted(path.stem for path in PHRASES.glob("*.tsv"))
COMMA = {"zh": "，", "zh-Hant": "，", "ja": "、"}
STOP = {"zh": "。", "zh-Hant": "。", "ja": "。", "hi": "। ", "bn": "। "}
MEANS = {  # by the beginning of the phrase's id: what it says to each prompt
    "agree": {"agree": "yes", "disagree": "no"},
    "disagree": {"agree": "no", "disagree": "yes"},
    "stereo": {"stereotype": "yes"},
    "nostereo": {"stereotype": "no"},
    "yes": dict.fromkeys(("agree", "disagree", "stereotype"), "yes"),
    "no": dict.fromkeys(("agree", "disagree", "stereotype"), "no"),
}
NEITHER = dict.fromkeys(("agree", "disagree", "stereotype"), "")


def phrases(tag: str) -> Iterator[tuple[str, str]]:
    """The kind and the text of each phrase."""
    for line in (PHRASES / f"{tag}.tsv").read_text(encoding="utf-8").splitlines():
        name, _, texts = line.partition("\t")
        yield from ((name.rpartition("_")[0], text) for text in texts.split(" | "))


def alone(tag: str) -> Iterator[tuple[str, str, str]]:
    """Prompt, answer, and what it means: yes, no or neither."""
    for kind, text in phrases(tag):
        yield from ((prompt, text, meaning) for prompt, meaning in MEANS.get(kind, NEITHER).items())


def after_a_word(tag: str) -> Iterator[tuple[str, str, str]]:
    """Stances after yes or no, with a comma and as a sentence: to *agree* and *disagree* the stance counts."""
    yes, no = prompt_words_of(languages.describe(tag)).words
    comma, stop = COMMA.get(tag, ", "), STOP.get(tag, ". ")
    for kind, text in phrases(tag):
        lower = text[0].lower() + text[1:]
        if kind == "agree":
            yield "agree", yes + comma + lower, "yes"
            yield "disagree", yes + stop + text, "no"
            yield "disagree", no + comma + lower, "no"
        elif kind == "disagree":
            yield "agree", no + comma + lower, "no"
            yield "disagree", no + stop + text, "yes"
            yield "disagree", yes + comma + lower, "yes"
        elif kind in ("stereo", "nostereo"):
            same, other = (yes, no) if kind == "stereo" else (no, yes)
            yield "stereotype", same + comma + lower, "yes" if kind == "stereo" else "no"
            yield "stereotype", other + stop + text, ""  # contradicts itself


def meant(text: str, prompt: str, tag: str) -> str:
    verdict = read_answer(text, language=tag, prompt=prompt).verdict
    return verdict if verdict in ("yes", "no") else ""


def test_every_language_with_prompts_has_all_phrases():
    assert [tag for tag in languages.tags() if "ask" in languages.get(tag).sections] == TAGS
    names = {
        tag: [line.split("\t")[0] for line in (PHRASES / f"{tag}.tsv").read_text("utf-8").splitlines()] for tag in TAGS
    }
    assert len(names["en"]) == 138
    assert all(sorted(names[tag]) == sorted(names["en"]) for tag in TAGS)


@for_every(tag=TAGS)
def test_phrases_are_read_as_meant(tag):
    answers = list(alone(tag))
    assert len(answers) >= 500
    right = sum(meant(text, prompt, tag) == meaning for prompt, text, meaning in answers)
    assert right / len(answers) >= 0.98
    assert sum({meant(text, prompt, tag), meaning} == {"yes", "no"} for prompt, text, meaning in answers) <= 4


@for_every(tag=TAGS)
def test_a_stance_after_a_word_counts(tag):
    answers = list(after_a_word(tag))
    assert len(answers) >= 300
    right = sum(meant(text, prompt, tag) == meaning for prompt, text, meaning in answers)
    assert right / len(answers) >= 0.98
