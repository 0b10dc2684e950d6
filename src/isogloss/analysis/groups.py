"""Groups: the long table of scores cut by columns, and a group's table with one row per item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from ..errors import IsoglossError, UnknownName
from ..items import ANTI_STEREOTYPE, STEREOTYPE
from ..scores import KEY, ROW_SCHEMA, Scored

IDENTITY = ("model", "dataset", "language")
CORPUS = "corpus"
SYNONYMS = {"bias_type": "category", "target_original": "target"}
SHUFFLED = "shuffled_value"  # the score of a candidate's shuffled control
NOT_GROUPS = {*ROW_SCHEMA, "role", "derived_from", "problems", "term_words", SHUFFLED} - {"dataset", "language"}

Group = dict[str, str]


def group_columns(columns: Sequence[str]) -> list[str]:
    """The columns that one can group by."""
    return [name for name in columns if name not in NOT_GROUPS]


def check_by(by: str | Sequence[str] | None, columns: Sequence[str]) -> list[str] | None:
    """The columns to group by, one or several, under their own names; an unknown one is refused."""
    if by is None:
        return None
    names = [SYNONYMS.get(name, name) for name in ([by] if isinstance(by, str) else by)]
    known = group_columns(columns)
    for name in names:
        if name not in known:
            raise UnknownName("column", name, known)
    return names


def check_rows(scored: Scored, *, variants: bool = False) -> pl.DataFrame:
    """The rows that can be measured; scores that are not numbers, and scores made twice, are refused.

    Control items (items with a `variant`) are left out unless they are asked for.
    """
    table = _with_shuffled(scored.table)
    if "variant" in table.columns and not variants:
        table = table.filter(pl.col("variant").is_null())
    if not table.height:
        raise IsoglossError("There are no scores to measure.")
    broken = table.filter(pl.col("value").is_nan() | pl.col("value").is_infinite())
    if broken.height:
        raise IsoglossError(f"{broken.height} scores are not numbers; the first belongs to item '{broken['id'][0]}'.")
    marks = [name for name in ("prompt", CORPUS) if name in table.columns]
    whose = ("model", "method", *KEY, "candidate", "against", "quantity", *marks)
    twice = table.filter(table.select(whose).is_duplicated())
    if twice.height:
        item, model, method = twice["id"][0], twice["model"][0], twice["method"][0]
        raise IsoglossError(
            f"Item '{item}' was scored twice by '{model}' with the method '{method}', "
            "as when samples of two sizes lie in one folder. Give one of the runs."
        )
    return table.with_columns(pl.coalesce("cluster", "id").alias("cluster"))


def _with_shuffled(table: pl.DataFrame) -> pl.DataFrame:
    """The rows with the score of their shuffled control beside them, where the runs have such controls."""
    if "variant" not in table.columns or "shuffled" not in set(table["variant"]):
        return table
    key = ["model", "method", "dataset", "language", "candidate", "quantity"]
    controls = table.filter((pl.col("variant") == "shuffled") & pl.col("against").is_null())
    controls = controls.with_columns(pl.col("candidate").str.strip_suffix("~shuffled"))
    values = controls.select(*key, pl.col("value").alias(SHUFFLED)).unique(key, maintain_order=True)
    return table.join(values, on=key, how="left", maintain_order="left")


def default_groups(table: pl.DataFrame, by: Sequence[str] | None) -> Iterator[tuple[Group, pl.DataFrame]]:
    """Each group's columns and rows, in the order of the data; items of several corpora are never in one group.

    Without `by`, every model, data set and language is a group for each of its tasks and, over several tasks, as a whole.
    A column that holds several values puts an item into several groups.
    """
    identity = [*IDENTITY, *(["method"] if several_methods(table) else []), *several_corpora(table)]
    if by is not None:
        yield from group_rows(table, list(dict.fromkeys([*identity, *by])), keep_null=True)
        return
    for whole, part in group_rows(table, identity, keep_null=False):
        tasks = list(group_rows(part, [*identity, "task"], keep_null=False)) if "task" in part.columns else []
        yield from tasks if tasks and "task" in tasks[0][0] else []
        if len(tasks) != 1 or "task" not in tasks[0][0]:
            yield whole, part
    if "method" in identity and "task" in table.columns:
        yield from _pooled_tasks(table)


def _pooled_tasks(table: pl.DataFrame) -> Iterator[tuple[Group, pl.DataFrame]]:
    """The groups whose tasks were scored by different methods, over all tasks, each task by its first method."""
    for whole, part in group_rows(table, [*IDENTITY, *several_corpora(table)], keep_null=False):
        tasks = part.select("method", "task").unique()
        if tasks["task"].n_unique() > 1 and not tasks["method"].is_duplicated().any():
            yield whole, first_methods(part)


def first_methods(table: pl.DataFrame, *, by: Sequence[str] = ()) -> pl.DataFrame:
    """The rows of the method that scored each model's items of a task first; all where `by` has the method."""
    if "method" in by or not several_methods(table):
        return table
    key = [name for name in (*IDENTITY, "task") if name in table.columns]
    return table.filter(pl.col("method") == pl.col("method").first().over(key))


def group_rows(table: pl.DataFrame, columns: list[str], *, keep_null: bool) -> Iterator[tuple[Group, pl.DataFrame]]:
    """The rows of each combination of the columns' values; a list of values puts a row into several groups."""
    for name in columns:
        if table.schema[name] == pl.List(pl.String):
            table = table.explode(name)
    for values, part in table.group_by(columns, maintain_order=True):
        named = zip(columns, values, strict=True)
        yield {n: "none" if v is None else str(v) for n, v in named if v is not None or keep_null}, part


def several_methods(table: pl.DataFrame) -> bool:
    """Whether a model scored some item by more than one method."""
    items = table.select("model", *KEY, "method").unique()
    return bool(items.select("model", *KEY).is_duplicated().any())


def several_corpora(table: pl.DataFrame) -> list[str]:
    """The column `corpus` where items come from several corpora, which are never pooled unasked."""
    return [CORPUS] if CORPUS in table.columns and table[CORPUS].drop_nulls().n_unique() > 1 else []


def pivot_roles(
    rows: pl.DataFrame, *, quantity: str = "score", known: dict[str, pl.DataFrame] | None = None
) -> pl.DataFrame:
    """One row per item, method and model, with the score of each role in a column of the role's name.

    An item with several candidates of one role has no such row: that is refused, never decided in silence.
    `known` has the tables that were made of the same rows before, by quantity.
    """
    if known is not None:
        if quantity not in known:
            known[quantity] = pivot_roles(rows, quantity=quantity)
        return known[quantity]
    table = rows.filter((pl.col("quantity") == quantity) & pl.col("against").is_null())
    index = [name for name in table.columns if name not in NOT_GROUPS or name == "id"]
    twice = table.filter(table.select("model", "method", *KEY, "role").is_duplicated())
    if twice.height:
        raise IsoglossError(
            f"Item '{twice['id'][0]}' has several candidates with the role '{twice['role'][0]}', so this metric cannot "
            "choose between them. Choose a metric for pairs, or one candidate per role."
        )
    schema = table.schema
    plain = [name for name in index if not isinstance(schema[name], pl.List)]
    return table.pivot(on="role", index=plain, values="value", aggregate_function="first", maintain_order=True)


def item_gaps(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per item, model and method with all its columns and a column `gap`; items without both scores are left out.

    Where all scores are positive, as probabilities are, the gap is that of their logarithms.
    """
    wide = pivot_roles(rows)
    if not {STEREOTYPE, ANTI_STEREOTYPE} <= set(wide.columns):
        raise IsoglossError("This is about stereotypes and anti-stereotypes, and these items have no such roles.")
    wide = wide.drop_nulls([STEREOTYPE, ANTI_STEREOTYPE])
    positive = wide.select((pl.col(STEREOTYPE) > 0).all() & (pl.col(ANTI_STEREOTYPE) > 0).all()).item()
    left, right = (pl.col(role).log() if positive else pl.col(role) for role in (STEREOTYPE, ANTI_STEREOTYPE))
    return wide.with_columns(gap=left - right)
