"""Expansion: a template and a lexicon become sentences, each with what fills its slots."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from ..errors import IsoglossError
from ..items import BLANK
from .contractions import Piece, join
from .features import AGREE
from .forms import Form, MissingForm, find_form, may_stand, pick
from .government import check_government
from .grammar import BadTemplate, Slot, SourcePosition, Template, Text, Written
from .lexicon import Lexicon, category_of
from .resolution import ResolvedTemplate, resolve_template
from .vocabulary import Term

LIMIT = 100_000
DOTTED = ("tr", "az")  # languages whose capital i has a dot
CLOSING = ".,;:!?)]»…،؛؟。，！？"

Only = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class ExpandedSentence:
    """A sentence, the term in each slot, and its text there."""

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
            f"Use `limit={count}` to have them all, or use fewer terms."
        )
    sentences = [
        realise(plan, lexicon, filling=filling)
        for plan, terms in zip(plans, chosen, strict=True)
        for filling in fillings(terms)
    ]
    refuse_equal(sentences, position or SourcePosition())
    return sentences


def chosen_terms(resolved: ResolvedTemplate, only: Only) -> dict[str, list[Term]]:
    """The terms for each of a plan's slots, each followed by its variants; an empty choice or an unknown id is refused.

    A term may fill a slot if what it has by nature contradicts none of the positions of the slot.
    """
    chosen = {}
    for key in resolved.keys:
        steps = [step for step in resolved.steps if step.key == key]
        wanted = only.get(key, only.get(category_of(key)))
        vocabulary_terms = {name for step in steps for name in step.vocabulary.terms}
        if unknown := sorted(set(wanted or ()) - vocabulary_terms):
            raise IsoglossError(f"'only' names '{unknown[0]}', which the category '{category_of(key)}' does not have.")
        terms = {
            name: term
            for name, term in steps[0].vocabulary.terms.items()
            if all(may_stand(term, dict(step.features)) for step in steps)
        }
        kept = [terms[name] for name in (wanted if wanted is not None else terms) if name in terms]
        chosen[key] = [word for term in kept for word in (term, *term.variants)]
        if not chosen[key]:
            raise BadTemplate(
                resolved.position, 1, f"no term of '{category_of(key)}' has the features that its slot asks for."
            )
    return chosen


def count_fillings(terms: Mapping[str, Sequence[Term]]) -> int:
    """How many ways there are to fill the slots; where they are very many, variants count as terms of their own."""
    combinations = math.prod(map(len, terms.values()))
    if len({category_of(key) for key in terms}) == len(terms):
        return combinations
    if combinations < 10**6:
        return sum(1 for _ in fillings(terms))
    count, seen = 1, Counter[str]()
    for key, words in terms.items():  # slots of a category have the same terms: n · (n - 1) · …
        count *= max(0, len(words) - seen[category_of(key)])
        seen[category_of(key)] += 1
    return count


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
    forms: dict[int, Form] = {}
    pieces = []
    for number, step in enumerate(resolved.steps):
        form = _form(resolved, number, filling=filling, forms=forms)
        text = BLANK if blank is not None and step.key == blank else form.text
        pieces.append(Piece(text, None if isinstance(step.element, Text) else step.key or "word"))
    joined = join(tidy(pieces), lexicon.rules)
    if lexicon.capitals:
        joined = capital(joined, lexicon.language)
    words = {key: next((p.text for p in joined if p.slot == key), "") for key in resolved.keys}
    return ExpandedSentence("".join(p.text for p in joined), {key: term.id for key, term in filling.items()}, words)


def _form(resolved: ResolvedTemplate, number: int, *, filling: Mapping[str, Term], forms: dict[int, Form]) -> Form:
    """The form of a step, which is added to `forms`; what it agrees with is found first."""
    if number in forms:
        return forms[number]
    step, position = resolved.steps[number], resolved.position
    taken: dict[str, str] = {}
    if step.follows is not None:
        other = _form(resolved, step.follows, filling=filling, forms=forms)
        taken = {name: value for name, value in other.features if name in AGREE}
    if isinstance(step.element, Text):
        form = Form(step.element.text, ())
    elif isinstance(step.element, Written):
        text = pick(step.element.forms, taken)
        if text is None:
            taken_text = " ".join(f"{name}={value}" for name, value in taken.items()) or "no features"
            raise BadTemplate(
                position, step.element.column, f"no form, or more than one, of this word fits {taken_text}."
            )
        form = Form(text, tuple(taken.items()))
    else:
        term = step.vocabulary.terms[step.word] if step.word is not None else filling[step.key or ""]
        distinguished = resolved.rules.inflection if step.key is not None and isinstance(step.element, Slot) else ()
        asked = {**taken, **dict(step.features)}
        try:
            form = find_form(step.vocabulary, term, asked=asked, distinguished=distinguished, same=resolved.rules.same)
        except MissingForm as error:
            where = f"{position.path}, line {position.line}, column {getattr(step.element, 'column', 1)}"
            raise IsoglossError(f"{error} The slot is in {where}.") from error
        check_government(step, form, position=position)
    forms[number] = form
    return form


def tidy(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces without empty ones, doubled spaces, spaces at the ends, and spaces left before a period."""
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
