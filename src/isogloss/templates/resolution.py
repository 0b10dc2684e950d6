"""Plans: a template's elements with what each names and agrees with; unknown names and circles are found here."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

from .features import show_features
from .forms import may_stand, use_of
from .government import TemplateStep, apply_government
from .grammar import BadTemplate, Element, Slot, SourcePosition, Template, TermChoice, Wordings, Written
from .lexicon import Lexicon, Meaning, category_of, find_meaning, names_of, unknown_slot
from .rules import Rules
from .vocabulary import MAIN, FormCell, Term, Vocabulary

CHOICE = "choice"
MOST_WORDINGS = 10_000


@dataclass(frozen=True, slots=True)
class ResolvedTemplate:
    """A template without alternatives, ready to be filled."""

    steps: tuple[TemplateStep, ...]
    position: SourcePosition
    rules: Rules = field(default_factory=Rules)

    @property
    def keys(self) -> list[str]:
        """The slots that must be filled, in the order of the sentence."""
        return list(dict.fromkeys(step.key for step in self.steps if step.key is not None))


def resolve_template(
    template: Template, lexicon: Lexicon, *, position: SourcePosition | None = None
) -> list[ResolvedTemplate]:
    """One plan for each combination of alternative wordings; very many are refused before any is made."""
    count = count_wordings(template.elements)
    if count > MOST_WORDINGS:
        raise BadTemplate(
            position or SourcePosition(),
            1,
            f"the wordings in round brackets make {count:,} templates; at most {MOST_WORDINGS:,} are taken.",
        )
    return [_resolve(row, lexicon, position=position or SourcePosition()) for row in unfold(template.elements)]


def count_wordings(elements: Sequence[Element]) -> int:
    """How many templates the alternative wordings in a template make; none of them is made."""
    options = (
        sum(count_wordings(inner) for inner in element.alternatives) if isinstance(element, Wordings) else 1
        for element in elements
    )
    return math.prod(options)


def unfold(elements: Sequence[Element]) -> Iterator[tuple[Element, ...]]:
    """The rows of elements that alternative wordings stand for."""
    options = [
        [row for inner in part.alternatives for row in unfold(inner)] if isinstance(part, Wordings) else [(part,)]
        for part in elements
    ]
    for combination in product(*options):
        yield tuple(element for row in combination for element in row)


def _resolve(row: Sequence[Element], lexicon: Lexicon, *, position: SourcePosition) -> ResolvedTemplate:
    steps: list[TemplateStep] = []
    choices = 0
    for element in row:
        if isinstance(element, Slot):
            steps.append(_slot_step(element, lexicon, position=position))
        elif isinstance(element, TermChoice):
            choices += 1
            steps.append(_choice_step(element, lexicon, number=choices))
        else:
            steps.append(TemplateStep(element))
    linked = [_linked(steps, number, position=position) for number in range(len(steps))]
    _refuse_circles(linked, position)
    governed = apply_government(linked, lexicon.rules.government, position=position)
    return ResolvedTemplate(tuple(governed), position, lexicon.rules)


def _slot_step(slot: Slot, lexicon: Lexicon, *, position: SourcePosition) -> TemplateStep:
    meaning = find_meaning(lexicon, slot)
    if meaning is None:
        raise BadTemplate(position, slot.column, unknown_slot(slot.name, names_of(lexicon)))
    if meaning.word is not None:
        return TemplateStep(slot, meaning)
    _refuse_foreign_values(slot, meaning, lexicon=lexicon, position=position)
    number = slot.name.removeprefix(category_of(slot.name))
    return TemplateStep(slot, meaning, key=meaning.vocabulary.category + number)


def _refuse_foreign_values(slot: Slot, meaning: Meaning, *, lexicon: Lexicon, position: SourcePosition) -> None:
    """Refuse a value that the language does not have, such as a German locative."""
    if use_of(dict(meaning.features)) not in (MAIN, "adj"):
        return
    for name, value in meaning.features:
        known = lexicon.rules.inflection.get(name, (value,))
        if value not in known:
            values = ", ".join(show_features([(name, value_name)]) for value_name in known)
            raise BadTemplate(
                position,
                slot.column,
                f"the language '{lexicon.language}' has no {name} '{show_features([(name, value)])}'; it has {values}.",
            )


def _choice_step(choice: TermChoice, lexicon: Lexicon, *, number: int) -> TemplateStep:
    category = CHOICE if number == 1 else f"{CHOICE}{number}"
    terms = {text: Term(text, text, text, {MAIN: (FormCell((), text),)}) for text in choice.terms}
    return TemplateStep(
        choice, Meaning(Vocabulary(category, lexicon.language, Path("the template"), terms), ()), key=category
    )


def _linked(steps: Sequence[TemplateStep], number: int, *, position: SourcePosition) -> TemplateStep:
    """A step with the nearest step that it agrees with; of two as near ones, the following."""
    step = steps[number]
    element = step.element
    if not isinstance(element, Slot | Written) or element.agrees is None:
        return step
    near = [
        (abs(other - number), other < number, other)
        for other, candidate in enumerate(steps)
        if other != number and element.agrees in (candidate.key, getattr(candidate.element, "name", None))
    ]
    if not near:
        known = sorted(
            {name for candidate in steps for name in (candidate.key, getattr(candidate.element, "name", None)) if name}
        )
        raise BadTemplate(
            position, element.column, f"nothing is named '{element.agrees}', to agree with. {_there(known)}"
        )
    return replace(step, follows=min(near)[2])


def _there(known: Sequence[str]) -> str:
    return f"The template has: {', '.join(known)}."


def _refuse_circles(steps: Sequence[TemplateStep], position: SourcePosition) -> None:
    for start in range(len(steps)):
        way, now = [start], steps[start].follows
        while now is not None and now not in way:
            way.append(now)
            now = steps[now].follows
        if now == start:
            names = " ~ ".join(str(getattr(steps[index].element, "name", "[…]")) for index in [*way, start])
            raise BadTemplate(
                position, getattr(steps[start].element, "column", 1), f"agreement goes in a circle: {names}."
            )


def fillers(resolved: ResolvedTemplate, key: str) -> list[Term]:
    """The terms that may fill a slot wherever it stands in the template."""
    steps = [step for step in resolved.steps if step.key == key and step.meaning is not None]
    terms = steps[0].meaning.vocabulary.terms.values() if steps and steps[0].meaning else ()
    return [
        term for term in terms if all(may_stand(term, dict(step.meaning.features)) for step in steps if step.meaning)
    ]
