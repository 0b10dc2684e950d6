"""Shares of terms: which terms a model favors per set or concept, with intervals over templates, and whether a negation turns them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl

from ..errors import IsoglossError
from ..metrics import Contribution
from ..metrics._templates import TermItem, is_templates, mean_over_items, read_term_items
from ..scores import Scored
from ..templates.items import TERM_WORDS
from ..templates.lexicon import read_lexicon
from ..templates.vocabulary import Term
from .groups import check_by, check_rows, default_parts
from .intervals import IntervalSettings, check_interval_settings, find_interval
from .measures import Measure, Measures, problem_counts
from .regions import countries_of, people_region, world_region

NEGATED = "negated"
SHARE = "share"
ELSEWHERE = "elsewhere"
NEGATION = "negation"
PLAIN = IntervalSettings()


def measure_shares(
    scored: Scored,
    *,
    by: str | Sequence[str] = "set",
    top: int | None = None,
    settings: IntervalSettings = PLAIN,
    regions: bool = False,
) -> Measures:
    """The mean share of each term in each group, largest first; the group's columns `term` and `word` name it.

    A share is the probability of a term's sentence among those of all terms of its template and concept.
    With `regions`, shares are summed over the terms of a part of the world, and the column is `region`.
    """
    check_interval_settings(settings)
    table = _template_rows(check_rows(scored))
    words = _scored_words(table)
    rows = []
    for part in default_parts(table, check_by(by, table.columns)):
        group, language = part.group, str(part.rows["language"][0])
        items = read_term_items(part.rows)
        items = [_sum_regions(item, language) for item in items] if regions else items
        if "concept" in group and "concept_word" in table.columns:
            group = {**group, "concept_word": str(part.rows["concept_word"][0] or "")}
        for term, shares in _by_term(items)[:top]:
            word = words.get((language, group.get("set"), term))
            named = {"region": term} if regions else {"term": term, **({"word": word} if word else {})}
            rows.append(_measure(shares, Measure(SHARE, {**group, **named}), settings=settings, bounds=(0, 1)))
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
    for part in default_parts(table, check_by(by, table.columns)):
        pairs = list(_negated_pairs(part.rows))
        turns = mean_over_items([_turn(one, two) for one, two in pairs], [one for one, _ in pairs])
        if turns.n:
            rows.append(_measure(turns, Measure(NEGATION, part.group), settings=settings, bounds=(-1, 1)))
    if not rows:
        raise IsoglossError(
            "No negated counterpart has its source among these scores. Score them together, without `limit`."
        )
    return Measures(tuple(rows), problem_counts(table, scored), scored.notes)


def _template_rows(table: pl.DataFrame) -> pl.DataFrame:
    rows = table.filter(pl.col("quantity") == "score").drop_nulls("value")
    if not rows.height or not is_templates(rows):
        raise IsoglossError("Shares are measured on templates: score the data set 'templates' with pll or likelihood.")
    return rows


def _measure(
    contribution: Contribution, blank: Measure, *, settings: IntervalSettings, bounds: tuple[float, float]
) -> Measure:
    """`blank` with the value, its interval and its counts."""
    ends = find_interval(contribution, settings, bounds=bounds)
    counted = replace(blank, value=contribution.value, n=contribution.n, clusters=len(contribution.clusters))
    return replace(counted, low=ends.low, high=ends.high, why=ends.why)


def _by_term(frames: Sequence[TermItem]) -> list[tuple[str, Contribution]]:
    """Each term with its mean share over the items that have it, the largest first."""
    shares: dict[str, list[float]] = {}
    items: dict[str, list[TermItem]] = {}
    for frame in frames:
        for term, share in zip(frame.terms, frame.shares, strict=True):
            shares.setdefault(term, []).append(float(share))
            items.setdefault(term, []).append(frame)
    means = [(term, mean_over_items(shares[term], items[term])) for term in shares]
    return sorted(means, key=lambda pair: (-pair[1].value, pair[0]))


def _scored_words(table: pl.DataFrame) -> dict[tuple[str, str | None, str], str]:
    """The word that stands for a term in a language's sentences, by set and over all sets; not the one with a capital."""
    if TERM_WORDS not in table.columns:
        return {}
    rows = table.select("language", "set", TERM_WORDS).drop_nulls(TERM_WORDS).explode(TERM_WORDS).unique()
    words: dict[tuple[str, str | None, str], str] = {}
    for language, name, entry in sorted(rows.iter_rows(), reverse=True):
        term, _, word = entry.partition("=")
        for key in ((language, name, term), (language, None, term)):
            words[key] = word if word == word.casefold() else words.get(key, word)
    return words


def _sum_regions(item: TermItem, language: str) -> TermItem:
    """The item with parts of the world for terms; those without a region are elsewhere."""
    sums: dict[str, float] = {}
    for term, share in zip(item.terms, item.shares, strict=True):
        code = term_region(language, term)
        region = (world_region(code) if code else None) or ELSEWHERE
        sums[region] = sums.get(region, 0.0) + float(share)
    with np.errstate(divide="ignore"):
        return replace(item, terms=tuple(sums), logs=np.log(np.array(list(sums.values()))))


def _negated_pairs(rows: pl.DataFrame) -> Iterator[tuple[TermItem, TermItem]]:
    """Each item that has a negated counterpart, with it."""
    negated = dict(rows.filter(pl.col("variant") == NEGATED).select("id", "derived_from").iter_rows())
    frames = {item.id: item for item in read_term_items(rows)}
    for control, source in negated.items():
        one, two = frames.get(source), frames.get(control)
        if one is not None and two is not None and one.terms == two.terms:
            yield one, two


def _turn(one: TermItem, two: TermItem) -> float:
    """The correlation of two rows of log-probabilities; none where one of them is flat."""
    first, second = one.logs - one.logs.mean(), two.logs - two.logs.mean()
    size = float(np.sqrt((first @ first) * (second @ second)))
    return float(first @ second) / size if size > 0 else 0.0


def name_terms(measures: Measures) -> Measures:
    """The measures with a column `region` where a vocabulary knows the region of the term."""
    regions = [term_region(row.group.get("language", ""), row.group.get("term", "")) for row in measures]
    named = zip(measures, regions, strict=True)
    rows = (replace(row, group={**row.group, "region": region}) if region else row for row, region in named)
    return replace(measures, rows=tuple(rows))


def term_region(language: str, name: str) -> str | None:
    """The code of a term's country or UN region: of the vocabularies' term with this id, or with this English word."""
    term = known_terms(language).get(name)
    if term is not None:
        return term.region
    word = name.partition("-")[0].removesuffix("_people")
    countries = countries_of(word)
    return _english_regions().get(word) or people_region(word) or (countries[0] if countries else None)


@cache
def _english_regions() -> dict[str, str]:
    """The region of every English word that the vocabularies have for a group of people or a country."""
    return {
        re.sub(r"\W+", "_", cell.text.casefold()): term.region
        for term in known_terms("en").values()
        if term.region
        for cells in term.uses.values()
        for cell in cells
    }


@cache
def known_terms(language: str) -> dict[str, Term]:
    """The terms of all bundled vocabularies of a language by id; none for a language without any."""
    try:
        lexicon = read_lexicon(language)
    except IsoglossError:
        return {}
    return {name: term for vocabulary in lexicon.vocabularies.values() for name, term in vocabulary.terms.items()}
