"""Shares of terms: which terms a model favours per set or concept, with intervals over templates, and whether a negation turns them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from ..errors import IsoglossError
from ..metrics import Contribution
from ..metrics._templates import TermItem, is_templates, mean_over_items, read_term_items
from ..scores import Scored
from ..templates.lexicon import read_lexicon
from ..templates.vocabulary import Term
from .groups import check_by, check_rows, default_groups
from .intervals import IntervalSettings, check_interval_settings, find_interval
from .measures import Measure, Measures, problem_counts

NEGATED = "negated"
SHARE = "share"
NEGATION = "negation"
PLAIN = IntervalSettings()
EMPTY: dict[str, Any] = {
    "value": None,
    "low": None,
    "high": None,
    "n": 0,
    "ties": 0,
    "clusters": 0,
    "mode": "corrected",
}


def measure_shares(
    scored: Scored, *, by: str | Sequence[str] = "set", top: int | None = None, settings: IntervalSettings = PLAIN
) -> Measures:
    """The mean share of each term in each group, largest first; the group's column `term` names it.

    A share is the probability of a term's sentence among those of all terms of its template and concept.
    """
    check_interval_settings(settings)
    table = _template_rows(check_rows(scored))
    rows = [
        _measure(found, Measure(SHARE, {**group, "term": term}, **EMPTY), settings=settings, bounds=(0, 1))
        for group, part in default_groups(table, check_by(by, table.columns))
        for term, found in _by_term(read_term_items(part))[:top]
    ]
    notes = ("a share is relative to the other terms: frequent and short terms have large ones for every concept",)
    return Measures(tuple(rows), problem_counts(table, scored), (*scored.notes, *notes))


def measure_negation(
    scored: Scored, *, by: str | Sequence[str] = "set", settings: IntervalSettings = PLAIN
) -> Measures:
    """How far the negated counterpart turns the shares, for each group: -1 turned around, 0 unrelated, 1 as if it were not negated.

    It is the mean over templates and concepts of the correlation, over terms, of log-probabilities in both sentences.
    """
    check_interval_settings(settings)
    whole = check_rows(scored, variants=True)
    table = _template_rows(whole.filter(pl.col("variant").is_null() | (pl.col("variant") == NEGATED)))
    if "variant" not in table.columns or NEGATED not in set(table["variant"]):
        raise IsoglossError(
            "There are no negated counterparts among these scores. Write 'negated' in the wordings of a set."
        )
    rows = []
    for group, part in default_groups(table, check_by(by, table.columns)):
        pairs = list(_negated_pairs(part))
        found = mean_over_items([_turn(one, two) for one, two in pairs], [one for one, _ in pairs])
        if found.n:
            rows.append(_measure(found, Measure(NEGATION, group, **EMPTY), settings=settings, bounds=(-1, 1)))
    if not rows:
        raise IsoglossError(
            "No negated counterpart has its source among these scores. Score them together, without --limit."
        )
    return Measures(tuple(rows), problem_counts(table, scored), scored.notes)


def _template_rows(table: pl.DataFrame) -> pl.DataFrame:
    rows = table.filter(pl.col("quantity") == "score").drop_nulls("value")
    if not rows.height or not is_templates(rows):
        raise IsoglossError("Shares are measured on templates: score the data set 'templates' with pll or likelihood.")
    return rows


def _measure(
    contribution: Contribution, nothing: Measure, *, settings: IntervalSettings, bounds: tuple[float, float]
) -> Measure:
    """`nothing` with the value, its interval and its counts."""
    ends = find_interval(contribution, settings, bounds=bounds)
    return replace(
        nothing,
        value=contribution.value,
        low=ends.low,
        high=ends.high,
        n=contribution.n,
        clusters=len(contribution.clusters),
        why=ends.why,
    )


def _by_term(frames: Sequence[TermItem]) -> list[tuple[str, Contribution]]:
    """Each term with its mean share over the items that have it, the largest first."""
    values: dict[str, list[tuple[float, TermItem]]] = {}
    for one in frames:
        for term, share in zip(one.terms, one.shares, strict=True):
            values.setdefault(term, []).append((float(share), one))
    found = [
        (term, mean_over_items([share for share, _ in list_], [one for _, one in list_]))
        for term, list_ in values.items()
    ]
    return sorted(found, key=lambda pair: (-pair[1].value, pair[0]))


def _negated_pairs(rows: pl.DataFrame) -> Iterator[tuple[TermItem, TermItem]]:
    """Each item that has a negated counterpart, with it."""
    source = dict(rows.filter(pl.col("variant") == NEGATED).select("id", "derived_from").iter_rows())
    frames = {one.id: one for one in read_term_items(rows)}
    for control, name in source.items():
        one, two = frames.get(name), frames.get(control)
        if one is not None and two is not None and one.terms == two.terms:
            yield one, two


def _turn(one: TermItem, two: TermItem) -> float:
    """The correlation of two rows of log-probabilities; none where one of them is flat."""
    first, second = one.logs - one.logs.mean(), two.logs - two.logs.mean()
    size = float(np.sqrt((first @ first) * (second @ second)))
    return float(first @ second) / size if size > 0 else 0.0


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
