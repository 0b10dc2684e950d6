"""The words of a language that put a question with answers, or a choice between sentences, to a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import IsoglossError

if TYPE_CHECKING:
    from ..languages import Language

SECTION = "questions"
SLOTS: Mapping[str, tuple[str, ...]] = {  # the texts of the section, and what each must hold
    "prompt": ("{context}", "{question}", "{options}"),
    "question": ("{context}", "{question}"),
    "blank": ("{context}",),
    "follow": ("{context}",),
    "likely": (),
    "closing": ("{labels}",),
}
FORMS = ("question", "blank", "follow", "likely")
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """How a language asks; `unknown` are its wordings of the answer that the context does not say, the usual one first.

    `prompt` is for models that continue a text: one line each for the context, the question, the options and the answer.
    The other texts are for chat models: a form for each kind of item, and `closing`, which says how to answer.
    """

    texts: Mapping[str, str]
    unknown: tuple[str, ...]

    def continued(self, *, context: str | None, question: str, options: tuple[str, ...]) -> str:
        """The text that an answer continues; without a context or options it lacks their lines."""
        values = {"context": context, "question": question, "options": "".join(f"\n- {text}" for text in options)}
        lines = self.texts["prompt"].split("\n")
        return "\n".join(fill(line, values) for line in lines if all(values[name] for name in _slots(line)))

    def asked(self, form: str, *, context: str, question: str, options: Mapping[str, str]) -> str:
        """The message that asks a chat model for one of the options, which are given by their labels."""
        listed = "\n".join(f"{label}) {text}" for label, text in options.items())
        shown = fill(self.texts[form], {"context": context, "question": question})
        return "\n\n".join([shown, listed, fill(self.texts["closing"], {"labels": ", ".join(options)})])


def question_words_of(language: Language) -> QuestionWords:
    """How a language asks questions with answers; without its section this is an error that says where to add it."""
    section = language.sections.get(SECTION)
    if section is None:
        where = language.path if language.path.name else f"a file for it (isogloss language new {language.tag})"
        raise IsoglossError(f"{language.name} has no prompts for questions. Add [{SECTION}] to {where}.")
    return QuestionWords({name: section[name] for name in SLOTS}, tuple(section[UNKNOWN]))


def fill(text: str, values: Mapping[str, str | None]) -> str:
    """The text with its slots filled; braces within the values stay as they are."""
    for name in _slots(text):
        before, _, after = text.partition(f"{{{name}}}")
        rest = {key: value for key, value in values.items() if key != name}
        return fill(before, rest) + str(values[name]) + fill(after, rest)
    return text


def _slots(text: str) -> list[str]:
    return [slot[1:-1] for slot in ("{context}", "{question}", "{options}", "{labels}") if slot in text]


def find_question_problems(section: Any) -> list[str]:
    """What a section of questions lacks: all texts and slots that are missing, and unknown names."""
    if not isinstance(section, dict):
        return [f"[{SECTION}] must be a table."]
    problems = [
        f"{SECTION} has no '{name}'; it has {', '.join([*SLOTS, UNKNOWN])}."
        for name in sorted(set(section) - {*SLOTS, UNKNOWN})
    ]
    for name, slots in SLOTS.items():
        text = section.get(name)
        if not isinstance(text, str) or not text.strip() or any(text.count(slot) != 1 for slot in slots):
            held = f" that holds {', '.join(slots)}, each once" if slots else ""
            problems.append(f"{SECTION}.{name} must be a text{held}.")
    wordings = section.get(UNKNOWN)
    if not isinstance(wordings, list) or not wordings or not all(isinstance(w, str) and w.strip() for w in wordings):
        problems.append(f"{SECTION}.{UNKNOWN} must be a list of texts, and not empty.")
    return problems
