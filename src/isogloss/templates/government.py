"""Government: the features that a preposition, determiner or numeral demands of the slot after it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .features import DEFAULTS, Features, make_features, show_features
from .forms import Form, fits
from .grammar import BadTemplate, Element, Slot, SourcePosition, Text
from .vocabulary import Vocabulary

Table = Mapping[str, tuple[Features, ...]]
NO_TERMS = Vocabulary("", "", Path(), {})


@dataclass(frozen=True, slots=True)
class Governor:
    """The word that governs a slot, and the sets of features of which the slot must have one."""

    word: str
    demands: tuple[Features, ...]


@dataclass(frozen=True, slots=True)
class TemplateStep:
    """One element: what it means, which filler it takes (`key`), the step it agrees with, and what governs it.

    A slot means a vocabulary with features, and a fixed word in addition the id of the term.
    """

    element: Element
    vocabulary: Vocabulary = NO_TERMS
    features: Features = ()
    word: str | None = None
    key: str | None = None
    follows: int | None = None
    governors: tuple[Governor, ...] = ()


def apply_government(steps: Sequence[TemplateStep], table: Table, *, position: SourcePosition) -> list[TemplateStep]:
    """The steps with the features that the words before them demand, where the template does not give them."""
    governed = list(steps)
    for index, step in enumerate(steps):
        if governor := _governor(step, table):
            for other in range(index + 1, _head(steps, index) + 1):
                governed[other] = _governed(governed[other], governor, position=position)
    return governed


def _governor(step: TemplateStep, table: Table) -> Governor | None:
    """A word of words.toml that governs, or the longest governing phrase at the end of a text."""
    if step.word is not None:
        demand = step.vocabulary.terms[step.word].governs
        return Governor(step.word, (demand,)) if demand else None
    if not isinstance(step.element, Text) or not step.element.text.endswith(" "):
        return None
    words = step.element.text.casefold().split()[-3:]
    phrases = [" ".join(words[start:]) for start in range(len(words))]
    if words and words[-1].isdecimal():  # a number in digits, by its longest ending in the table: *12 before *2
        phrases += ["*" + words[-1][start:] for start in range(len(words[-1]))]
    phrase = next((phrase for phrase in phrases if phrase in table), None)
    return None if phrase is None else Governor(words[-1] if "*" in phrase else phrase, table[phrase])


def _head(steps: Sequence[TemplateStep], index: int) -> int:
    """The slot that a governing word at `index` is about: the next, or what that agrees with further on; or `index`."""
    for number in range(index + 1, len(steps)):
        step = steps[number]
        if isinstance(step.element, Text):
            if step.element.text.strip():
                break
            continue
        while step.follows is not None and step.follows > number:
            number, step = step.follows, steps[step.follows]
        return number if step.key is not None else index
    return index


def _governed(step: TemplateStep, governor: Governor, *, position: SourcePosition) -> TemplateStep:
    features = dict(step.features)
    if not isinstance(step.element, Slot) or features.get("Use", "Adj") != "Adj":
        return step
    left = [set(demand) for demand in governor.demands if fits(demand, features)]
    if not left:
        demand_text = f"the slot asks for '{show_features(features.items())}'"
        raise BadTemplate(position, step.element.column, _clash(governor, demand_text))
    common = dict(set.intersection(*left))
    return replace(step, features=make_features({**common, **features}), governors=(*step.governors, governor))


def check_government(step: TemplateStep, form: Form, *, position: SourcePosition) -> None:
    """Refuse a form that has none of the sets of features that its governor demands."""
    if not isinstance(step.element, Slot) or step.key is None:
        return
    features = {**DEFAULTS, **dict(form.features)}
    for governor in step.governors:
        if not any(fits(demand, features) for demand in governor.demands):
            form_text = f"'{form.text}' is '{show_features(form.features) or 'plain'}'"
            raise BadTemplate(position, step.element.column, _clash(governor, form_text))


def _clash(governor: Governor, shown: str) -> str:
    wanted = " or ".join(f"'{show_features(demand)}'" for demand in governor.demands)
    return f"'{governor.word}' demands {wanted}, but {shown}. Give the features in the slot, or change the word."
