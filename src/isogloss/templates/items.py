"""Making items of sets of templates: one item per wording and concept, one candidate per term."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..errors import IsoglossError
from ..items import BLANK, Candidate, Item, Tag
from .expansion import LIMIT, ExpandedSentence, chosen_terms, count_fillings, fillings, realise, refuse_equal
from .grammar import BadTemplate, Template
from .lexicon import Lexicon, category_of
from .resolution import ResolvedTemplate, resolve_template
from .rules import Rules
from .sets import TemplateSet, TemplateWording
from .vocabulary import Term

DATASET = "templates"
NEGATED = "negated"
PLAIN = "none"
TERM_WORDS = "term_words"  # on a template's first item: each term's id and the word that was scored, as id=word

Filling = Mapping[str, Term]


@dataclass(frozen=True, slots=True)
class TemplateFrame:
    """A template that is being made into items: its set, its name, and whether it denies."""

    set: TemplateSet
    wording: TemplateWording
    name: str
    template: Template
    variant: str | None = None


def make_items(sets: Sequence[TemplateSet], lexicon: Lexicon, *, limit: int = LIMIT) -> Iterator[Item]:
    """The items of sets, negated counterparts beside their sources; more than `limit` sentences in a set are refused."""
    for template_set in sets:
        frames, ours = list(make_frames(template_set)), set_lexicon(template_set, lexicon)
        _refuse_many(template_set, frames, lexicon=ours, limit=limit)
        for frame in frames:
            yield from _frame_items(frame, ours)


def make_blanks(sets: Sequence[TemplateSet], lexicon: Lexicon) -> Iterator[Item]:
    """One item per wording in which BLANK stands for the concept.

    Words that agree with the concept keep the form that they have for the first concept.
    """
    for template_set in sets:
        for frame in make_frames(template_set):
            if template_set.concepts is not None and frame.variant is None:
                plan = resolve_template(frame.template, lexicon, position=frame.wording.position)[0]
                yield _blank_item(frame, plan, lexicon=set_lexicon(template_set, lexicon))


def set_lexicon(template_set: TemplateSet, lexicon: Lexicon) -> Lexicon:
    """The lexicon without the automatic steps that a set switches off."""
    rules = lexicon.rules if template_set.contractions else Rules()
    return replace(lexicon, rules=rules, capitals=lexicon.capitals and template_set.capitals)


def make_frames(template_set: TemplateSet) -> Iterator[TemplateFrame]:
    """The templates of a set, each followed by its negated counterpart."""
    for wording in template_set.wordings:
        name = f"{template_set.id}-{wording.id}"
        yield TemplateFrame(template_set, wording, name, wording.template)
        if wording.negated is not None:
            yield TemplateFrame(template_set, wording, name, wording.negated, NEGATED)


def count_sentences(frame: TemplateFrame, lexicon: Lexicon) -> int:
    """How many sentences a template gives."""
    plans = resolve_template(frame.template, lexicon, position=frame.wording.position)
    return sum(count_fillings(chosen_terms(plan, frame.set.only)) for plan in plans)


def _refuse_many(template_set: TemplateSet, frames: Sequence[TemplateFrame], *, lexicon: Lexicon, limit: int) -> None:
    count = sum(count_sentences(frame, lexicon) for frame in frames)
    if count > limit:
        raise IsoglossError(
            f"The set '{template_set.id}' ({lexicon.language}) has {count:,} sentences, more than {limit:,}. "
            f"Use --limit {count} to have them all, or name fewer terms under 'only'."
        )


def _frame_items(frame: TemplateFrame, lexicon: Lexicon) -> Iterator[Item]:
    plans = resolve_template(frame.template, lexicon, position=frame.wording.position)
    for number, plan in enumerate(plans, 1):
        _check_slots(frame, plan)
        groups: dict[tuple[str, ...], list[tuple[Filling, ExpandedSentence]]] = {}
        for filling in fillings(chosen_terms(plan, frame.set.only)):
            sentence = realise(plan, lexicon, filling=filling)
            concept = tuple(term.id for key, term in filling.items() if category_of(key) != frame.set.terms)
            groups.setdefault(concept, []).append((filling, sentence))
        if frame.set.unique:
            refuse_equal([sentence for group in groups.values() for _, sentence in group], frame.wording.position)
        named = replace(frame, name=f"{frame.name}.{number}") if len(plans) > 1 else frame
        for index, (concept, group) in enumerate(groups.items()):
            context = _context(frame, plan, lexicon=lexicon, group=group)
            item = _item(named, concept, group=group, context=context, language=lexicon.language)
            yield item if index else replace(item, tags={**item.tags, TERM_WORDS: _term_words(frame, group)})


def _term_words(frame: TemplateFrame, group: Sequence[tuple[Filling, ExpandedSentence]]) -> tuple[str, ...]:
    """The word of each term as it stands in the sentences; the first of its variants."""
    words: dict[str, str] = {}
    for filling, sentence in group:
        for key, term in filling.items():
            if category_of(key) == frame.set.terms:
                words.setdefault(term.id, sentence.words[key])
    return tuple(f"{name}={word}" for name, word in words.items())


def _check_slots(frame: TemplateFrame, resolved: ResolvedTemplate) -> None:
    categories = {category_of(key) for key in resolved.keys}
    wanted = {frame.set.terms, *([frame.set.concepts] if frame.set.concepts else [])}
    missing = sorted(wanted - categories)
    if missing:
        raise BadTemplate(
            resolved.position,
            1,
            f"the set '{frame.set.id}' measures '{missing[0]}', but this template has no such slot.",
        )


def _item(
    frame: TemplateFrame,
    concept: tuple[str, ...],
    *,
    group: Sequence[tuple[Filling, ExpandedSentence]],
    context: str | None,
    language: str,
) -> Item:
    source = "-".join([frame.name, *concept])
    name = source if frame.variant is None else f"{source}-{frame.variant}"
    terms = frame.set.terms
    candidates: list[Candidate] = []
    for filling, sentence in group:
        role = "+".join(term.id for key, term in filling.items() if category_of(key) == terms)
        word = sentence.words[terms] if context is not None else None
        candidates.append(Candidate(f"{name}-{role}", role, sentence.text, word))
    return Item(
        name,
        DATASET,
        language,
        frame.set.category,
        number_variants(candidates),
        context=context,
        cluster=frame.name,
        tags=_tags(frame, concept, filling=group[0][0], sentence=group[0][1]),
        derived_from=source if frame.variant is not None else None,
        variant=frame.variant,
    )


def number_variants(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates with ids of their own: a second variant of a term is numbered 2, and so on."""
    counts: Counter[str] = Counter()
    named = []
    for candidate in candidates:
        counts[candidate.id] += 1
        named.append(
            replace(candidate, id=f"{candidate.id}.{counts[candidate.id]}") if counts[candidate.id] > 1 else candidate
        )
    return tuple(named)


def _tags(
    frame: TemplateFrame, concept: tuple[str, ...], *, filling: Filling, sentence: ExpandedSentence
) -> dict[str, Tag]:
    """The item's further columns; group and region are those of its concept."""
    tags: dict[str, Tag] = {
        "task": "template",
        "set": frame.set.id,
        "wording": frame.wording.id,
        "concept": "+".join(concept) or PLAIN,
        "terms": frame.set.terms,
    }
    about = filling.get(frame.set.concepts or "")
    if about is not None:
        tags |= {key: value for key, value in (("group", about.group), ("region", about.region)) if value}
        tags["concept_word"] = sentence.words.get(frame.set.concepts or "", "")
    if frame.set.periphrasis_of is not None:
        tags["periphrasis_of"] = frame.set.periphrasis_of
    return tags


def _context(
    frame: TemplateFrame,
    resolved: ResolvedTemplate,
    *,
    lexicon: Lexicon,
    group: Sequence[tuple[Filling, ExpandedSentence]],
) -> str | None:
    """The sentence with BLANK for the term, where it is the same for all terms; nothing where other words change."""
    terms = frame.set.terms
    if sum(step.key == terms for step in resolved.steps) != 1 or any(
        (step.follows is not None and resolved.steps[step.follows].key == terms) for step in resolved.steps
    ):
        return None
    text = realise(resolved, lexicon, filling=group[0][0], blank=terms).text
    same = all(sentence.text == text.replace(BLANK, sentence.words[terms]) for _, sentence in group)
    return text if same and text.count(BLANK) == 1 else None


def _blank_item(frame: TemplateFrame, resolved: ResolvedTemplate, *, lexicon: Lexicon) -> Item:
    concepts = frame.set.concepts or ""
    _check_slots(frame, resolved)
    chosen = chosen_terms(resolved, frame.set.only)
    chosen[concepts] = chosen[concepts][:1]
    candidates = []
    for filling in fillings(chosen):
        role = "+".join(term.id for key, term in filling.items() if category_of(key) == frame.set.terms)
        sentence = realise(resolved, lexicon, filling=filling, blank=concepts)
        candidates.append(Candidate(f"{frame.name}-blank-{role}", role, sentence.text))
    tags: dict[str, Tag] = {"task": "template-blank", "set": frame.set.id, "wording": frame.wording.id}
    return Item(
        frame.name,
        "template_blanks",
        lexicon.language,
        frame.set.category,
        number_variants(candidates),
        cluster=frame.name,
        tags=tags,
    )
