"""Making items of sets of templates: one item per wording and concept, one candidate per term."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..errors import IsoglossError
from ..items import BLANK, Candidate, Item, Tag
from .expansion import LIMIT, ExpandedSentence, chosen_terms, count_fillings, fillings, realise, refuse_equal
from .grammar import BadTemplate, Template
from .lexicon import Lexicon, category_of
from .resolution import ResolvedTemplate, resolve_template
from .sets import TemplateSet, TemplateWording
from .vocabulary import Term

DATASET = "templates"
NEGATED = "negated"
PLAIN = "none"
TERM_WORDS = "term_words"  # on a template's first item: each term's id and the word that was scored, as id=word

FilledSentence = tuple[Mapping[str, Term], ExpandedSentence]


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
        count = sum(count_sentences(frame, ours) for frame in frames)
        if count > limit:
            raise IsoglossError(
                f"The set '{template_set.id}' ({lexicon.language}) has {count:,} sentences, more than {limit:,}. "
                f"Use `limit={count}` to have them all, or name fewer terms under 'only'."
            )
        for frame in frames:
            yield from _frame_items(frame, ours)


def make_blanks(sets: Sequence[TemplateSet], lexicon: Lexicon) -> Iterator[Item]:
    """One item per wording in which BLANK stands for the concept.

    Words that agree with the concept keep the form that they have for the first concept.
    """
    for template_set in sets:
        concepts, ours = template_set.concepts, set_lexicon(template_set, lexicon)
        for frame in make_frames(template_set):
            if concepts is None or frame.variant is not None:
                continue
            plan = resolve_template(frame.template, ours, position=frame.wording.position)[0]
            _check_slots(frame, plan)
            chosen = chosen_terms(plan, template_set.only)
            chosen[concepts] = chosen[concepts][:1]
            sentences = [realise(plan, ours, filling=filling, blank=concepts) for filling in fillings(chosen)]
            yield Item(
                frame.name,
                "template_blanks",
                lexicon.language,
                template_set.category,
                _candidates(f"{frame.name}-blank", sentences, terms=template_set.terms),
                cluster=frame.name,
                tags={"task": "template-blank", "set": template_set.id, "wording": frame.wording.id},
            )


def set_lexicon(template_set: TemplateSet, lexicon: Lexicon) -> Lexicon:
    """The lexicon without the automatic steps that a set switches off."""
    rules = lexicon.rules if template_set.contractions else replace(lexicon.rules, joins=())
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


def _frame_items(frame: TemplateFrame, lexicon: Lexicon) -> Iterator[Item]:
    plans = resolve_template(frame.template, lexicon, position=frame.wording.position)
    for number, plan in enumerate(plans, 1):
        _check_slots(frame, plan)
        groups: dict[tuple[str, ...], list[FilledSentence]] = {}
        for filling in fillings(chosen_terms(plan, frame.set.only)):
            sentence = realise(plan, lexicon, filling=filling)
            concept = tuple(term.id for key, term in filling.items() if category_of(key) != frame.set.terms)
            groups.setdefault(concept, []).append((filling, sentence))
        if frame.set.unique:
            refuse_equal([sentence for group in groups.values() for _, sentence in group], frame.wording.position)
        named = replace(frame, name=f"{frame.name}.{number}") if len(plans) > 1 else frame
        for index, (concept, group) in enumerate(groups.items()):
            item = _item(named, concept, group=group, plan=plan, lexicon=lexicon)
            yield item if index else replace(item, tags={**item.tags, TERM_WORDS: _term_words(frame, group)})


def _term_words(frame: TemplateFrame, group: Sequence[FilledSentence]) -> tuple[str, ...]:
    """The word of each term in the sentences; the first of its variants."""
    words: dict[str, str] = {}
    for _, sentence in group:
        for key, term in sentence.fillers.items():
            if category_of(key) == frame.set.terms:
                words.setdefault(term, sentence.words[key])
    return tuple(f"{name}={word}" for name, word in words.items())


def _check_slots(frame: TemplateFrame, resolved: ResolvedTemplate) -> None:
    wanted = {frame.set.terms, frame.set.concepts or frame.set.terms}
    missing = sorted(wanted - {category_of(key) for key in resolved.keys})
    if missing:
        problem = f"the set '{frame.set.id}' measures '{missing[0]}', but this template has no such slot."
        raise BadTemplate(resolved.position, 1, problem)


def _item(
    frame: TemplateFrame,
    concept: tuple[str, ...],
    *,
    group: Sequence[FilledSentence],
    plan: ResolvedTemplate,
    lexicon: Lexicon,
) -> Item:
    """The item of a concept; the tags `group` and `region` are those of the concept."""
    source = "-".join([frame.name, *concept])
    name = source if frame.variant is None else f"{source}-{frame.variant}"
    terms, concepts = frame.set.terms, frame.set.concepts or ""
    context = _context(plan, lexicon, terms=terms, group=group)
    tags: dict[str, Tag] = {
        "task": "template",
        "set": frame.set.id,
        "wording": frame.wording.id,
        "concept": "+".join(concept) or PLAIN,
        "terms": terms,
    }
    filling, sentence = group[0]
    if concepts in filling:
        about = filling[concepts]
        tags |= {key: value for key, value in (("group", about.group), ("region", about.region)) if value}
        tags["concept_word"] = sentence.words.get(concepts, "")
    if frame.set.periphrasis_of is not None:
        tags["periphrasis_of"] = frame.set.periphrasis_of
    return Item(
        name,
        DATASET,
        lexicon.language,
        frame.set.category,
        _candidates(name, [sentence for _, sentence in group], terms=terms, words=context is not None),
        context=context,
        cluster=frame.name,
        tags=tags,
        derived_from=source if frame.variant is not None else None,
        variant=frame.variant,
    )


def _candidates(
    name: str, sentences: Iterable[ExpandedSentence], *, terms: str, words: bool = False
) -> tuple[Candidate, ...]:
    """A candidate for each sentence, with its word if there is a BLANK; further variants of a term are numbered."""
    counts: Counter[str] = Counter()
    candidates = []
    for sentence in sentences:
        role = "+".join(term for key, term in sentence.fillers.items() if category_of(key) == terms)
        counts[role] += 1
        number = f".{counts[role]}" if counts[role] > 1 else ""
        word = sentence.words[terms] if words else None
        candidates.append(Candidate(f"{name}-{role}{number}", role, sentence.text, word))
    return tuple(candidates)


def _context(
    resolved: ResolvedTemplate, lexicon: Lexicon, *, terms: str, group: Sequence[FilledSentence]
) -> str | None:
    """The sentence with BLANK for the term, where it is the same for all terms; nothing where other words change."""
    steps = resolved.steps
    agreeing = any(step.follows is not None and steps[step.follows].key == terms for step in steps)
    if agreeing or sum(step.key == terms for step in steps) != 1:
        return None
    text = realise(resolved, lexicon, filling=group[0][0], blank=terms).text
    same = all(sentence.text == text.replace(BLANK, sentence.words[terms]) for _, sentence in group)
    return text if same and text.count(BLANK) == 1 else None
