"""Expansion: a template and a lexicon become sentences, each with what fills its slots."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from ..errors import IsoglossError
from ..items import BLANK
from .contractions import Piece, join
from .features import AGREE
from .forms import Form, MissingForm, find_form, pick
from .government import TemplateStep, check_government
from .grammar import BadTemplate, Slot, SourcePosition, Template, Text, Written
from .lexicon import Lexicon, category_of
from .resolution import ResolvedTemplate, fillers, resolve_template
from .vocabulary import Term

LIMIT = 100_000
DOTTED = ("tr", "az")  # languages whose capital i has a dot
CLOSING = ".,;:!?)]»…،؛؟。，！？"

Only = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class ExpandedSentence:
    """A sentence, the term in each slot, and the text that stands for it there."""

    text: str
    fillers: Mapping[str, str]
    words: Mapping[str, str] = field(default_factory=dict)


def expand(
    template: Template,
    lexicon: Lexicon,
    *,
    only: Only | None = None,
    limit: int = LIMIT,
    position: SourcePosition | None = None,
) -> list[ExpandedSentence]:
    """All sentences of a template; two that are equal, or more than the limit, are refused."""
    plans = resolve_template(template, lexicon, position=position)
    chosen = [chosen_terms(plan, only or {}) for plan in plans]
    count = sum(count_fillings(terms) for terms in chosen)
    if count > limit:
        raise IsoglossError(
            f"The template '{template}' has {count:,} sentences, more than {limit:,}. "
            f"Use --limit {count} to have them all, or use fewer terms."
        )
    sentences = [
        realise(plan, lexicon, filling=filling)
        for plan, terms in zip(plans, chosen, strict=True)
        for filling in fillings(terms)
    ]
    refuse_equal(sentences, position or SourcePosition())
    return sentences


def chosen_terms(resolved: ResolvedTemplate, only: Only) -> dict[str, list[Term]]:
    """The terms for each of a plan's slots, each followed by its variants; an empty choice or an unknown id is refused."""
    chosen = {}
    for key in resolved.keys:
        terms = {term.id: term for term in fillers(resolved, key)}
        wanted = only.get(key, only.get(category_of(key)))
        unknown = sorted(set(wanted or ()) - _all_ids(resolved, key))
        if unknown:
            raise IsoglossError(f"'only' names '{unknown[0]}', which the category '{category_of(key)}' does not have.")
        kept = [terms[name] for name in (wanted if wanted is not None else terms) if name in terms]
        chosen[key] = [word for term in kept for word in (term, *term.variants)]
        if not chosen[key]:
            raise BadTemplate(
                resolved.position, 1, f"no term of '{category_of(key)}' has the features that its slot asks for."
            )
    return chosen


def _all_ids(resolved: ResolvedTemplate, key: str) -> set[str]:
    return {
        name for step in resolved.steps if step.key == key and step.meaning for name in step.meaning.vocabulary.terms
    }


def count_fillings(terms: Mapping[str, Sequence[Term]]) -> int:
    """How many ways there are to fill the slots, before those with a term twice in a category are left out."""
    if len({category_of(key) for key in terms}) == len(terms):
        return math.prod(map(len, terms.values()))
    return sum(1 for _ in fillings(terms)) if math.prod(map(len, terms.values())) < 10**6 else _distinct(terms)


def _distinct(terms: Mapping[str, Sequence[Term]]) -> int:
    """The count where a category has several slots with the same terms: n · (n - 1) · …"""
    seen: dict[str, int] = {}
    total = 1
    for key, list_ in terms.items():
        total *= max(0, len(list_) - seen.get(category_of(key), 0))
        seen[category_of(key)] = seen.get(category_of(key), 0) + 1
    return total


def fillings(terms: Mapping[str, Sequence[Term]]) -> Iterator[dict[str, Term]]:
    """Every way to fill the slots; slots of one category never get the same term."""
    for combination in product(*terms.values()):
        filling = dict(zip(terms, combination, strict=True))
        used = [(category_of(key), term.id) for key, term in filling.items()]
        if len(set(used)) == len(used):
            yield filling


def realise(
    resolved: ResolvedTemplate, lexicon: Lexicon, *, filling: Mapping[str, Term], blank: str | None = None
) -> ExpandedSentence:
    """The sentence of a plan for one filling; the slot `blank` shows BLANK instead of its term."""
    forms = find_forms(resolved, filling)
    pieces = []
    for number, step in enumerate(resolved.steps):
        text = BLANK if blank is not None and step.key == blank else forms[number].text
        pieces.append(Piece(text, None if isinstance(step.element, Text) else step.key or "word"))
    joined = join(tidy(pieces), lexicon.rules)
    if lexicon.capitals:
        joined = capital(joined, lexicon.language)
    words = {key: next((p.text for p in joined if p.slot == key), "") for key in resolved.keys}
    return ExpandedSentence("".join(p.text for p in joined), {key: term.id for key, term in filling.items()}, words)


def find_forms(resolved: ResolvedTemplate, filling: Mapping[str, Term]) -> dict[int, Form]:
    """The form of each step of a plan for one filling."""
    forms: dict[int, Form] = {}
    for number in range(len(resolved.steps)):
        _form(resolved, number, filling=filling, forms=forms)
    return forms


def _form(resolved: ResolvedTemplate, number: int, *, filling: Mapping[str, Term], forms: dict[int, Form]) -> Form:
    """The form of a step; what it agrees with is found first."""
    if number not in forms:
        step = resolved.steps[number]
        taken: dict[str, str] = {}
        if step.follows is not None:
            other = _form(resolved, step.follows, filling=filling, forms=forms)
            taken = {name: value for name, value in other.features if name in AGREE}
        forms[number] = _step_form(resolved, step, filling=filling, taken=taken)
    return forms[number]


def _step_form(
    resolved: ResolvedTemplate, step: TemplateStep, *, filling: Mapping[str, Term], taken: Mapping[str, str]
) -> Form:
    if isinstance(step.element, Text):
        return Form(step.element.text, ())
    if isinstance(step.element, Written):
        text = pick(step.element.forms, taken)
        if text is None:
            shown = " ".join(f"{name}={value}" for name, value in taken.items()) or "no features"
            raise BadTemplate(
                resolved.position, step.element.column, f"no form, or more than one, of this word fits {shown}."
            )
        return Form(text, tuple(taken.items()))
    if step.meaning is None:
        raise BadTemplate(resolved.position, 1, "an element means nothing.")
    vocabulary = step.meaning.vocabulary
    term = vocabulary.terms[step.meaning.word] if step.meaning.word is not None else filling[step.key or ""]
    rules = resolved.rules
    distinguished = rules.inflection if step.key is not None and isinstance(step.element, Slot) else ()
    asked = {**taken, **dict(step.meaning.features)}
    try:
        form = find_form(vocabulary, term, asked=asked, distinguished=distinguished, same=rules.same)
    except MissingForm as error:
        where = f"{resolved.position.path}, line {resolved.position.line}"
        raise IsoglossError(f"{error} The slot is in {where}, column {getattr(step.element, 'column', 1)}.") from error
    check_government(step, form, position=resolved.position)
    return form


def tidy(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces without empty ones, doubled spaces, spaces at the ends, and spaces left before a full stop."""
    tidied: list[Piece] = []
    gap = False
    for piece in pieces:
        text = re.sub(" {2,}", " ", piece.text) if "  " in piece.text else piece.text
        if not text:
            gap = True
            continue
        last = tidied[-1].text if tidied else " "
        if last.endswith(" ") and text.startswith(" "):
            text = text.lstrip(" ")
        elif gap and tidied and last.endswith(" ") and text[0] in CLOSING:
            tidied[-1] = Piece(last.rstrip(" "), tidied[-1].slot)
        gap = False
        if text:
            tidied.append(Piece(text, piece.slot))
    if tidied:
        tidied[-1] = Piece(tidied[-1].text.rstrip(" "), tidied[-1].slot)
    return [piece for piece in tidied if piece.text]


def capital(pieces: Sequence[Piece], language: str) -> list[Piece]:
    """The pieces with a capital at the beginning of the sentence, where the first word comes from a slot."""
    capitalised = list(pieces)
    for number, piece in enumerate(capitalised):
        match = re.search(r"[^\W\d_]", piece.text)
        if match is None:
            continue
        if piece.slot is not None:
            letter = "İ" if match[0] == "i" and language.split("-")[0] in DOTTED else match[0].title()
            capitalised[number] = Piece(piece.text[: match.start()] + letter + piece.text[match.end() :], piece.slot)
        break
    return capitalised


def refuse_equal(sentences: Sequence[ExpandedSentence], position: SourcePosition) -> None:
    """Refuse sentences that are equal although their slots are filled differently."""
    seen: dict[str, ExpandedSentence] = {}
    for sentence in sentences:
        other = seen.setdefault(sentence.text, sentence)
        if other is not sentence:
            first, second = (", ".join(x.fillers.values()) or "nothing" for x in (other, sentence))
            raise BadTemplate(position, 1, f"'{first}' and '{second}' give the same sentence: '{sentence.text}'.")
