"""Naming terms: the gloss and the region of a term beside its id, from the vocabularies."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from ..errors import IsoglossError
from ..templates.lexicon import read_lexicon
from ..templates.vocabulary import Term
from .measures import Measure, Measures


def name_terms(measures: Measures) -> Measures:
    """The measures with a column `region` where a vocabulary knows the region of the term."""
    return replace(measures, rows=tuple(map(_named, measures)))


def _named(row: Measure) -> Measure:
    term = known_terms(row.group.get("language", "")).get(row.group.get("term", ""))
    region = term.region if term is not None else None
    return replace(row, group={**row.group, "region": region}) if region else row


@cache
def known_terms(language: str) -> dict[str, Term]:
    """The terms of all bundled vocabularies of a language by id; none for a language without any."""
    try:
        lexicon = read_lexicon(language)
    except IsoglossError:
        return {}
    return {name: term for one in lexicon.vocabularies.values() for name, term in one.terms.items()}
