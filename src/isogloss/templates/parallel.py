"""Languages side by side: what each wording and each term of an id says in every language, with its English gloss."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from ..errors import UnknownName
from .bundled import bundled_sets
from .checks import REFERENCE, expand_sets
from .expansion import ExpandedSentence
from .items import TemplateFrame, make_frames
from .lexicon import FOLDER, Lexicon, bundled_languages, read_lexicon
from .sets import TemplateSet, read_sets

GLOSSES = FOLDER / "glosses.toml"
Key = tuple[str, str, str]  # set, wording, variant
Terms = tuple[tuple[str, str], ...]  # what fills each slot


@dataclass(frozen=True, slots=True)
class ParallelRow:
    """One id, such as a wording or a term: what it means in English, and its text by language."""

    id: str
    gloss: str
    texts: Mapping[str, str]


def key_of(frame: TemplateFrame) -> Key:
    """What identifies a template in every language."""
    return frame.set.id, frame.wording.id, frame.variant or ""


@cache
def gloss_frames() -> Mapping[Key, TemplateFrame]:
    """The English template of every wording id: English's own, or one that only says what the wording means."""
    sets = [*read_sets(GLOSSES), *read_sets(bundled_sets()[REFERENCE][0])]
    return {key_of(frame): frame for template_set in sets for frame in make_frames(template_set)}


def english_sentences(frames: Iterable[TemplateFrame]) -> dict[tuple[Key, tuple[tuple[str, str], ...]], str]:
    """What sentences of these templates say in English, by template and terms."""
    lexicon, glosses = read_lexicon(REFERENCE), gloss_frames()
    wanted = {key_of(frame): glosses[key_of(frame)].set for frame in frames if key_of(frame) in glosses}
    sets = {id(template_set): template_set for template_set in wanted.values()}
    return {
        (key_of(frame), _terms_of(sentence)): sentence.text
        for frame, sentence in expand_sets(list(sets.values()), lexicon, limit=10**6)
        if key_of(frame) in wanted
    }


def _terms_of(sentence: ExpandedSentence) -> Terms:
    return tuple(sorted(sentence.fillers.items()))


def english_of(
    frame: TemplateFrame, sentence: ExpandedSentence, *, glosses: Mapping[tuple[Key, tuple[tuple[str, str], ...]], str]
) -> str:
    """What a sentence says in English; empty for sets and terms that English does not have."""
    return glosses.get((key_of(frame), _terms_of(sentence)), "")


def parallel_rows(name: str, languages: Sequence[str] = ()) -> list[ParallelRow]:
    """The wordings of a set, or the terms of a vocabulary, in these languages; in all that ship without any."""
    tags = list(languages) or bundled_languages()
    sets = {tag: {entry.id: entry for entry in read_sets(bundled_sets()[tag][0])} for tag in tags}
    if any(name in entries for entries in sets.values()):
        return _wording_rows(name, {tag: entries[name] for tag, entries in sets.items() if name in entries})
    lexicons = {tag: read_lexicon(tag) for tag in tags}
    if any(name in lexicon.vocabularies for lexicon in lexicons.values()):
        return _term_rows(name, lexicons)
    names = {entry for entries in sets.values() for entry in entries}
    raise UnknownName("set or vocabulary", name, names | {key for one in lexicons.values() for key in one.vocabularies})


def _wording_rows(name: str, sets: Mapping[str, TemplateSet]) -> list[ParallelRow]:
    """Each wording with one sentence per language, of the same terms wherever a language has them."""
    glosses = {key: frame for key, frame in gloss_frames().items() if key[0] == name}
    sentences: dict[Key, dict[str, dict[Terms, str]]] = {key: {} for key in glosses}
    for tag, template_set in sets.items():
        for frame, sentence in expand_sets([template_set], read_lexicon(tag)):
            by_terms = sentences.setdefault(key_of(frame), {}).setdefault(tag, {})
            by_terms.setdefault(_terms_of(sentence), sentence.text)
    return [
        ParallelRow(" ".join(filter(None, key[1:])), str(glosses[key].template) if key in glosses else "", texts)
        for key, texts in ((key, _same_terms(by_tag)) for key, by_tag in sorted(sentences.items()))
        if texts
    ]


def _same_terms(sentences: Mapping[str, Mapping[Terms, str]]) -> dict[str, str]:
    """The sentence of each language with the first terms that most languages have; else its own first sentence."""
    counts = Counter(terms for by_terms in sentences.values() for terms in by_terms)
    usual = max(counts, key=lambda terms: counts[terms], default=())
    return {tag: by_terms.get(usual) or next(iter(by_terms.values())) for tag, by_terms in sentences.items()}


def _term_rows(name: str, lexicons: Mapping[str, Lexicon]) -> list[ParallelRow]:
    """Each term of a vocabulary with its dictionary form in every language that has it."""
    glosses: dict[str, str] = {}
    texts: dict[str, dict[str, str]] = {}
    for tag, lexicon in lexicons.items():
        vocabulary = lexicon.vocabularies.get(name)
        for term in vocabulary.terms.values() if vocabulary else ():
            glosses.setdefault(term.id, term.gloss)
            texts.setdefault(term.id, {})[tag] = term.lemma
    return [ParallelRow(term, glosses[term], by_tag) for term, by_tag in texts.items()]


def parallel_as_text(rows: Sequence[ParallelRow]) -> str:
    """Each id with its gloss, and under it one line per language."""
    lines = []
    for row in rows:
        lines.append(f"{row.id}: {row.gloss or 'no English gloss'}")
        lines += [f"  {tag:8} {text}" for tag, text in row.texts.items()]
    return "\n".join(lines)
