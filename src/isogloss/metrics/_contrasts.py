"""What the metrics of contrasts share: which statements the headline is about, and each pair's difference."""

from dataclasses import replace

import polars as pl

from . import Contribution, from_values
from ._pairs import two_sides

IMPLICIT = "implicit"
STATEMENT = "statement"
QUANTITY = "contrast"
GENDER = "gender"


def of_statements(rows: pl.DataFrame, *, implicit: bool) -> pl.DataFrame:
    """The rows of implicitly biased statements, or of all others; a row that names no kind of statement is implicit."""
    if STATEMENT not in rows.columns:
        return rows if implicit else rows.clear()
    headline = pl.col(STATEMENT).fill_null(IMPLICIT) == IMPLICIT
    return rows.filter(headline if implicit else ~headline)


def has_statements(rows: pl.DataFrame, *, implicit: bool) -> bool:
    """Whether a group has such statements that were contrasted."""
    return bool(of_statements(rows.filter(pl.col("quantity") == QUANTITY), implicit=implicit).height)


def of_gender(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows whose bias type is gender, also together with another, as in gender+age."""
    return rows.filter(pl.col("category").str.split("+").list.contains(GENDER))


def differences(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per pair: its cluster and the stereotype's value minus the contrast's."""
    return two_sides(rows).select("id", "cluster", difference=pl.col("won") - pl.col("lost"))


def mean_of(pairs: pl.DataFrame) -> Contribution:
    """The mean of the pairs' differences under any weights on their clusters; differences of zero are ties."""
    values = pairs["difference"].to_numpy()
    contribution = from_values(values, pairs["cluster"], ties=int((values == 0).sum()))
    return replace(contribution, alone=None, items=tuple(pairs["id"]))  # a difference is no share
