"""What the measures of templates share: the probability of every term's sentence, item by item, and the terms' shares."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl

from ..errors import IsoglossError
from ..items import group_by
from ..stats.resampling import Array
from . import Contribution, Metric, Origin, from_values
from ._pairs import ITEM, is_task

unevenness_metric = partial(Metric, bounds=(0, float("inf")), neutral=0, swap="same")
fraction_metric = partial(Metric, bounds=(0, 1), swap="same")


@dataclass(frozen=True, slots=True)
class TermItem:
    """An item: its template (cluster), its set and concept, its terms, and the log-probability of each one's sentence."""

    id: str
    cluster: str
    cell: tuple[str, str]
    terms: tuple[str, ...]
    logs: Array

    @property
    def shares(self) -> Array:
        """The terms' sentence probabilities, normalized to one."""
        spread = np.exp(self.logs - self.logs.max())
        return np.asarray(spread / spread.sum())


def read_term_items(rows: pl.DataFrame) -> list[TermItem]:
    """The items of a table of scores, each with the log-probabilities of its terms' sentences.

    They are sums over the tokens, whatever the method's value is; an item that lacks a score for a term is left out.
    """
    if rows.height and int(rows["logprobs"].list.len().fill_null(0).max() or 0) == 0:  # type: ignore[arg-type]
        raise IsoglossError(
            "Terms are compared by the probability of whole sentences: score the templates with pll or likelihood."
        )
    table = rows.with_columns(total=pl.col("logprobs").list.sum())
    return term_items(table.filter(~(pl.col("logprobs").list.len() == 0).any().over("id")), "total")


def term_items(rows: pl.DataFrame, column: str) -> list[TermItem]:
    """The items of two rows or more: terms in order, and the log of the mean probability over each one's variants."""
    top = pl.col(column).max()
    named = {name: pl.col(name).first() if name in rows.columns else pl.lit("") for name in ("set", "concept")}
    terms = rows.group_by([*ITEM, "role"], maintain_order=True).agg(
        pl.len(), pl.col("cluster").first(), logs=(pl.col(column) - top).exp().mean().log() + top, **named
    )
    items = terms.group_by(ITEM, maintain_order=True).agg(
        pl.col("len").sum(), pl.col("cluster", "set", "concept").first(), pl.col("role", "logs").sort_by("role")
    )
    fields = items.filter(pl.col("len") > 1).select("id", "cluster", "set", "concept", "role", "logs")
    return [
        TermItem(str(name), str(cluster), (str(group), str(concept)), tuple(roles), np.array(logs))
        for name, cluster, group, concept, roles, logs in fields.iter_rows()
    ]


def is_templates(rows: pl.DataFrame) -> bool:
    """Whether the rows are templates that were scored by whole sentences."""
    lengths = rows.filter(pl.col("quantity") == "score")["logprobs"].list.len().fill_null(0)
    return is_task(rows, "template") and bool((lengths > 0).any())


def mean_over_items(values: Iterable[float], frames: Iterable[TermItem]) -> Contribution:
    """The mean of one number per item, drawn by templates."""
    used = list(frames)
    contribution = from_values(np.array(list(values)), [item.cluster for item in used])
    return replace(contribution, items=tuple(item.id for item in used))


def common_terms(group: Sequence[TermItem], values: Callable[[TermItem], Array]) -> Array:
    """One row per item: its values of the terms that all the items have."""
    terms = [term for term in group[0].terms if all(term in item.terms for item in group)]
    return np.array([values(item)[[item.terms.index(term) for term in terms]] for item in group])


def mean_over_templates(
    rows: pl.DataFrame, mode: str, *, of_item: Callable[[TermItem], float], of_shares: Callable[[Array], Array]
) -> Contribution:
    """The mean over items of a number of each one's terms.

    As published, the mean over (set, concept) of a number of the terms' shares [r, terms], averaged over templates.
    """
    items = read_term_items(rows)
    if mode == "corrected":
        return mean_over_items(map(of_item, items), items)
    templates = {name: index for index, name in enumerate(dict.fromkeys(item.cluster for item in items))}
    cells = [
        ([templates[item.cluster] for item in group], common_terms(group, lambda item: item.shares))
        for group in group_by(items, lambda item: item.cell).values()
    ]

    def evaluate(weights: Array) -> Array:
        values = []
        with np.errstate(invalid="ignore", divide="ignore"):
            for columns, shares in cells:
                chosen = weights[:, columns]
                values.append(of_shares(chosen @ shares / chosen.sum(1, keepdims=True)))
        return mean_present(values, len(weights))

    return Contribution(tuple(templates), evaluate, len(items))


def mean_present(values: Sequence[Array], size: int) -> Array:
    """The mean of several values for each of `size` weights, those that are not numbers left out."""
    table = np.reshape(values, (len(values), size))
    there = ~np.isnan(table)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(there, table, 0).sum(0) / there.sum(0))


def mean_over_wordings(rows: pl.DataFrame, number: Callable[[Array], float]) -> Contribution:
    """The mean over (set, concept) of a number of the table of wordings by terms; sets are drawn together.

    The table has the centred log-probabilities of the terms that all wordings have; cells of one wording are left out.
    """
    values, sets = [], []
    for (name, _), group in group_by(read_term_items(rows), lambda item: item.cell).items():
        logs = common_terms(group, lambda item: item.logs)
        if min(logs.shape) > 1:
            values.append(number(logs - logs.mean(1, keepdims=True)))
            sets.append(name)
    return from_values(np.array(values), sets)


def has_wordings(rows: pl.DataFrame) -> bool:
    """Whether the rows are templates of which a set has several wordings."""
    return is_templates(rows) and "set" in rows.columns and rows["cluster"].n_unique() > rows["set"].n_unique()


wording_metric = partial(
    fraction_metric,
    citation="after BehnamGhader and Milios (2022), sections 5 and 6",
    fits=has_wordings,
    better="lower",
    origin=Origin(code="There is none: the metric is ours.", ours="As defined; both modes are the same."),
)
