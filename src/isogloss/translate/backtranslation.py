"""Back-translation: the new texts are translated back, and chrF says how near they come to the source."""

from collections.abc import Mapping
from dataclasses import dataclass

from .. import registry
from ..errors import IsoglossError, require
from .changes import CONTEXT, fields_of
from .project import WORK, Project
from .texts import TranslationSession, refuse_unpaid, translate_texts
from .translators import LanguagePair, check_options

LOWEST = 10


@dataclass(frozen=True, slots=True)
class Back:
    """chrF of all contexts and sentences, how many there were, and the items that came back least like the source."""

    translator: str
    chrf: float
    texts: int
    lowest: tuple[tuple[str, float, str, str], ...]


def translate_back(project: Project, translator: str, *, options: Mapping[str, str], paid: bool = False) -> Back:
    """How near the translation comes to its source when it is translated back; a low value asks for a look, no more."""
    if not project.sources or not project.info.get("from"):
        raise IsoglossError(f"{project.folder} has no source to compare with. Only what was translated here has one.")
    chrf = require("sacrebleu.metrics", extra="translate").CHRF()
    chosen = registry.get("translator", translator)
    check_options(chosen, options)
    pair = LanguagePair(str(project.info["to"]), str(project.info["from"]))
    state = TranslationSession(chosen.open(pair, options), pair, project.folder / WORK / "cache.jsonl")
    rows = [
        (item.id, new, fields_of(project.sources[item.id])[name])
        for item in project.items
        for name, new in fields_of(item).items()
        if name == CONTEXT or name in {candidate.id for candidate in item.candidates if candidate.word is None}
    ]
    texts = list(dict.fromkeys(new for _, new, _ in rows))
    if not paid:
        refuse_unpaid(texts, state)
    known = translate_texts(texts, state)
    pairs = [(item, known[new] or "", old) for item, new, old in rows]
    total = chrf.corpus_score([back for _, back, _ in pairs], [[old for _, _, old in pairs]]).score
    single = [(item, chrf.sentence_score(back, [old]).score, old, back) for item, back, old in pairs]
    lowest = tuple(sorted(single, key=lambda row: row[1])[:LOWEST])
    return Back(state.opened.name, float(total), len(pairs), lowest)
