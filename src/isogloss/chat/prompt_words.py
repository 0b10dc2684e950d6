"""The prompts of a language, which ask about a statement, and the words by which an answer is understood."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BadData, IsoglossError

if TYPE_CHECKING:
    from ..languages import Language

PROMPTS = ("stereotype", "agree", "disagree")
STEREOTYPE_PROMPT, DISAGREE_PROMPT = PROMPTS[0], PROMPTS[2]
WORDS = ("yes", "no")
LISTS = (
    "yes", "no", "agree", "disagree", "stereotype", "facts", "negations", "refusals", "opinions", "joiners", "both",
    "alternatives", "openers", "contrasts", "concessions", "corrections", "conditions", "questions", "late_negations",
    "neither", "doubts", "that", "subjects", "definitions", "copulas", "late_contrasts", "idioms", "forms",
)  # fmt: skip
OPTIONAL = (
    "facts",
    "opinions",
    "both",
    "alternatives",
    "contrasts",
    "concessions",
    "corrections",
    "questions",
    "late_negations",
    "neither",
    "doubts",
    "that",
    "subjects",
    "definitions",
    "copulas",
    "late_contrasts",
    "idioms",
    "forms",
)
SLOTS = ("{statement}", "{first}", "{second}")


@dataclass(frozen=True, slots=True)
class PromptWords:
    """A language's three prompts by name, and its lists of answer words by name."""

    prompts: Mapping[str, str]
    answers: Mapping[str, tuple[str, ...]]

    @property
    def words(self) -> tuple[str, str]:
        """The words that stand for yes and for no in the prompts."""
        return self.answers["yes"][0], self.answers["no"][0]


def prompt_words_of(language: Language, prompts: str = "") -> PromptWords:
    """How a language asks, with the prompts of a file instead of its own; a language without prompts is refused."""
    section = language.sections.get("ask")
    if section is None:
        where = language.path if language.path.name else f"a file for it (isogloss language new {language.tag})"
        raise IsoglossError(f"{language.name} has no prompts. Add [ask.prompts] and [ask.answers] to {where}.")
    answers = {name: tuple(section["answers"].get(name, ())) for name in LISTS}
    if not prompts:
        return PromptWords(section["prompts"], answers)
    table = read_prompts(Path(prompts), language.tag)
    named = {name: (table[name], *answers[name]) for name in WORDS if name in table}
    return PromptWords({name: table[name] for name in PROMPTS}, answers | named)


def read_prompts(path: Path, tag: str) -> Mapping[str, str]:
    """The three prompts of a language in a TOML file with a table for each language; {first} and {second} may be missing.

    `yes` and `no` are the words that the prompts name, if they are not ours.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8")).get(tag)
    except (OSError, ValueError, RecursionError) as error:
        raise BadData(path, None, f"cannot be read as a TOML file of prompts: {error}.") from error
    if not isinstance(table, dict) or set(table) not in (set(PROMPTS), {*PROMPTS, *WORDS}):
        raise BadData(path, None, f"needs a table [{tag}] with the prompts {', '.join(PROMPTS)}.")
    for name, text in table.items():
        if name in WORDS and not (isinstance(text, str) and text.strip()):
            raise BadData(path, None, f"the word {tag}.{name} must be text.")
        if name in PROMPTS and (not isinstance(text, str) or text.count("{statement}") != 1):
            raise BadData(path, None, f"the prompt {tag}.{name} must hold {{statement}} once.")
    return table


def find_prompt_problems(section: Any) -> list[str]:
    """What an `ask` section lacks: its tables, prompts, slots of prompts and lists of words that are missing or wrong."""
    tables = {name: section.get(name) if isinstance(section, dict) else None for name in ("prompts", "answers")}
    sections = {name: table for name, table in tables.items() if isinstance(table, dict)}
    problems = [f"the table [ask.{name}] is missing." for name in tables if name not in sections]
    problems += [
        f"ask.{name} has no '{unknown}'; it has {', '.join(known)}."
        for name, known in (("prompts", PROMPTS), ("answers", LISTS))
        for unknown in sorted(set(sections.get(name, ())) - set(known))
    ]
    prompts, answers = sections.get("prompts"), sections.get("answers")
    wrong = [f"ask.prompts.{name}" for name in PROMPTS if prompts is not None and not _is_prompt(prompts.get(name))]
    if wrong:
        plural = "prompts" if len(wrong) > 1 else "prompt"
        problems.append(f"the {plural} {', '.join(wrong)} must hold {', '.join(SLOTS)}, each once.")
    needed = [name for name in LISTS if answers is not None and (name not in OPTIONAL or name in answers)]
    if wrong := [f"ask.answers.{name}" for name in needed if not _is_list((answers or {}).get(name))]:
        problems.append(
            f"{', '.join(wrong)} must be {'lists' if len(wrong) > 1 else 'a list'} of words, and not empty."
        )
    return problems


def _is_prompt(prompt: Any) -> bool:
    return isinstance(prompt, str) and all(prompt.count(slot) == 1 for slot in SLOTS)


def _is_list(words: Any) -> bool:
    return isinstance(words, list) and bool(words) and all(isinstance(word, str) and word.strip() for word in words)
