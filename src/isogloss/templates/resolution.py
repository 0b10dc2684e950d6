"""Plans: a template's elements with what each names and agrees with; unknown names and circles are found here."""

import difflib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

from ..errors import list_known
from .features import Features, show_features
from .forms import use_of
from .government import TemplateStep, apply_government
from .grammar import BadTemplate, Element, Slot, SourcePosition, Template, TermChoice, Wordings, Written
from .lexicon import Lexicon, category_of, names_of
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
    position = position or SourcePosition()
    count = count_wordings(template.elements)
    if count > MOST_WORDINGS:
        problem = f"the wordings in round brackets make {count:,} templates; at most {MOST_WORDINGS:,} are taken."
        raise BadTemplate(position, 1, problem)
    return [_resolve(row, lexicon, position=position) for row in unfold(template.elements)]


def count_wordings(elements: Sequence[Element]) -> int:
    """How many templates the alternative wordings in a template make; none of them is made."""
    wordings = (element.alternatives for element in elements if isinstance(element, Wordings))
    return math.prod(sum(map(count_wordings, alternatives)) for alternatives in wordings)


def unfold(elements: Sequence[Element]) -> Iterator[tuple[Element, ...]]:
    """The rows of elements of all alternative wordings."""
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
            category = CHOICE if choices == 1 else f"{CHOICE}{choices}"
            terms = {text: Term(text, text, text, {MAIN: (FormCell((), text),)}) for text in element.terms}
            vocabulary = Vocabulary(category, lexicon.language, Path("the template"), terms)
            steps.append(TemplateStep(element, vocabulary, key=category))
        else:
            steps.append(TemplateStep(element))
    linked = [_linked(steps, number, position=position) for number in range(len(steps))]
    _refuse_circles(linked, position)
    governed = apply_government(linked, lexicon.rules.government, position=position)
    return ResolvedTemplate(tuple(governed), position, lexicon.rules)


def _slot_step(slot: Slot, lexicon: Lexicon, *, position: SourcePosition) -> TemplateStep:
    """The step of a slot, whose name is a category, an alias of one, or a word; an unknown name is refused."""
    for name in dict.fromkeys((slot.name, category_of(slot.name))):
        if name in lexicon.vocabularies:
            vocabulary, features = lexicon.vocabularies[name], slot.features
        elif aliased := [listed for listed in lexicon.vocabularies.values() if name in listed.aliases]:
            vocabulary = aliased[0]
            features = (("Use", vocabulary.aliases[name].capitalize()), *slot.features)
        elif lexicon.words is not None and name in lexicon.words.terms:
            return TemplateStep(slot, lexicon.words, slot.features, word=name)
        else:
            continue
        _refuse_foreign_values(slot, features, lexicon=lexicon, position=position)
        number = slot.name.removeprefix(category_of(slot.name))
        return TemplateStep(slot, vocabulary, features, key=vocabulary.category + number)
    names = sorted(name for name, _ in names_of(lexicon))
    near = difflib.get_close_matches(slot.name, names, n=1, cutoff=0.7)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    problem = f"there is no category or word '{slot.name}'.{hint} Known: {list_known(slot.name, names)}."
    raise BadTemplate(position, slot.column, problem)


def _refuse_foreign_values(slot: Slot, features: Features, *, lexicon: Lexicon, position: SourcePosition) -> None:
    """Refuse a value that the language does not have, such as a German locative."""
    if use_of(dict(features)) not in (MAIN, "adj"):
        return
    for name, value in features:
        values_listed = lexicon.rules.inflection.get(name, (value,))
        if value not in values_listed:
            shown_value, *values = (show_features([(name, text)]) for text in (value, *values_listed))
            problem = f"the language '{lexicon.language}' has no {name} '{shown_value}'; it has {', '.join(values)}."
            raise BadTemplate(position, slot.column, problem)


def _linked(steps: Sequence[TemplateStep], number: int, *, position: SourcePosition) -> TemplateStep:
    """A step with the nearest step that it agrees with; of two as near ones, the following."""
    step = steps[number]
    element = step.element
    if not isinstance(element, Slot | Written) or element.agrees is None:
        return step
    names = [(other.key, getattr(other.element, "name", None)) for other in steps]
    near = [
        (abs(other - number), other < number, other)
        for other, pair in enumerate(names)
        if other != number and element.agrees in pair
    ]
    if not near:
        names_listed = ", ".join(sorted({name for pair in names for name in pair if name}))
        problem = f"nothing is named '{element.agrees}', to agree with. The template has: {names_listed}."
        raise BadTemplate(position, element.column, problem)
    return replace(step, follows=min(near)[2])


def _refuse_circles(steps: Sequence[TemplateStep], position: SourcePosition) -> None:
    for start in range(len(steps)):
        way, now = [start], steps[start].follows
        while now is not None and now not in way:
            way.append(now)
            now = steps[now].follows
        if now == start:
            names = " ~ ".join(str(getattr(steps[index].element, "name", "[…]")) for index in [*way, start])
            column = getattr(steps[start].element, "column", 1)
            raise BadTemplate(position, column, f"agreement goes in a circle: {names}.")
