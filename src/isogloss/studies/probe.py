"""Probing: one template, one model, and the terms' shares at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import IsoglossError, UnknownName
from ..items import Item, Items
from ..metrics._templates import TermItem, read_term_items
from ..models.model import DEFAULT_LOADING, Loading, Model
from ..reports.text.table import bars_as_text
from ..reports.text.views import View, view_of
from ..results import METHODS
from ..templates.grammar import SourcePosition, parse_template
from ..templates.items import make_items
from ..templates.lexicon import category_of, read_lexicon
from ..templates.resolution import CHOICE, resolve_template
from ..templates.sets import TemplateSet, TemplateWording
from .run import score_items

LIMIT = 2000


@dataclass(frozen=True, slots=True)
class Share:
    """A term, its mean share over the template's concepts, and one of its sentences."""

    term: str
    share: float
    sentence: str
    by_concept: dict[str, float]


@dataclass(frozen=True, slots=True, repr=False)
class Probe:
    """The shares of terms in a template, largest first, with the number of sentences and the method."""

    model: str
    template: str
    language: str
    method: str
    shares: tuple[Share, ...]
    concepts: int
    sentences: int
    notes: tuple[str, ...] = ()

    __repr__, __str__, _repr_html_, to_polars, to_pandas, to_dict, to_json = METHODS


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """What is asked: a template in a language, the slot whose terms are compared, a folder of vocabularies of your own."""

    template: str
    language: str = "en"
    terms: str | None = None
    folder: Path | None = None


def run_probe(
    model: str | Path | Model, request: ProbeRequest, *, limit: int = LIMIT, loading: Loading = DEFAULT_LOADING
) -> Probe:
    """The shares of a template's terms; without `terms`, of its terms in brackets, or of its first slot."""
    items = probe_items(request, limit=limit)
    scored = score_items(items, model, loading=loading)
    frames = read_term_items(scored.table.drop_nulls("value"))
    if not frames:
        raise IsoglossError("None of the template's sentences could be scored.")
    return Probe(
        str(scored.table["model"][0]),
        request.template,
        items[0].language,
        str(scored.table["method"][0]),
        tuple(_shares(frames, items.rows)),
        len(frames),
        sum(len(item.candidates) for item in items),
    )


def probe_items(request: ProbeRequest, *, limit: int = LIMIT) -> Items:
    """The template's sentences as items: one for each concept, one candidate per term."""
    template = parse_template(request.template)
    lexicon = read_lexicon(request.language, request.folder)
    keys = [category_of(key) for plan in resolve_template(template, lexicon) for key in plan.keys]
    names = list(dict.fromkeys(keys))
    if not names:
        raise IsoglossError(
            "The template has no slot. Write one, such as {gender}, or terms in brackets: [nurse|doctor]."
        )
    if request.terms is not None and request.terms not in names:
        raise UnknownName("slot", request.terms, names)
    terms = request.terms or (CHOICE if CHOICE in names else names[0])
    concepts = next((name for name in names if name != terms), None)
    template_set = TemplateSet("probe", "probe", terms, (TemplateWording("w1", template, SourcePosition()),), concepts)
    return Items(tuple(make_items([template_set], lexicon, limit=limit)))


def _shares(frames: Sequence[TermItem], items: Sequence[Item]) -> list[Share]:
    texts = {candidate.role: candidate.text for item in reversed(items) for candidate in item.candidates}
    values: dict[str, dict[str, float]] = {}
    for frame in frames:
        for term, share in zip(frame.terms, frame.shares, strict=True):
            values.setdefault(term, {})[frame.id if frame.cell[1] == "none" else frame.cell[1]] = float(share)
    shares = [Share(term, float(np.mean(list(by.values()))), texts[term], by) for term, by in values.items()]
    return sorted(shares, key=lambda share: (-share.share, share.term))


def probe_as_text(probe: Probe, *, top: int = 20) -> str:
    """The terms with the largest shares as bars, and what the shares are."""
    terms = [(share.term, share.share, share.sentence) for share in probe.shares[:top]]
    left = len(probe.shares) - top
    more = f"; {left} more terms" if left > 0 else ""
    over = f", mean over {probe.concepts} concepts" if probe.concepts > 1 else ""
    title = f"{probe.model} · {probe.language} · {probe.method} · {probe.sentences} sentences"
    remark = f"shares of whole-sentence probability{over}{more}"
    caution = "longer and rarer words have smaller shares, whatever they are about"
    return "\n".join([title, "", bars_as_text(terms), "", remark, caution])


@view_of.register
def _view(_: Probe) -> View:
    return View("shares", probe_as_text, detail="shares")
