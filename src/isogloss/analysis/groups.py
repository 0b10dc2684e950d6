"""Groups: the long table of scores cut by columns, and a group's table with one row per item."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ..errors import IsoglossError, UnknownName
from ..items import ANTI_STEREOTYPE, CONTRAST, STEREOTYPE
from ..scores import KEY, ROW_SCHEMA, Scored

IDENTITY = ("model", "dataset", "language")
CORPUS = "corpus"
SYNONYMS = {"bias_type": "category", "target_original": "target"}
SHUFFLED = "shuffled_value"  # the score of a candidate's shuffled control
CONTROLLED = "control_value"  # the score of the same answer to the control question
CONTROL_VALUES = {"shuffled": SHUFFLED, "control": CONTROLLED}
NOT_GROUPS = {*ROW_SCHEMA, "role", "derived_from", "problems", "term_words", "correct", SHUFFLED, CONTROLLED} - {
    "dataset",
    "language",
}

Group = dict[str, str]


def group_columns(columns: Sequence[str]) -> list[str]:
    """The columns that one can group by."""
    return [name for name in columns if name not in NOT_GROUPS]


def check_by(by: str | Sequence[str] | None, columns: Sequence[str]) -> list[str] | None:
    """The columns to group by, one or several, under their own names; an unknown one is refused."""
    if by is None:
        return None
    names = [SYNONYMS.get(name, name) for name in ([by] if isinstance(by, str) else by)]
    allowed = group_columns(columns)
    for name in names:
        if name not in allowed:
            raise UnknownName("column", name, allowed)
    return names


def check_rows(scored: Scored, *, variants: bool = False) -> pl.DataFrame:
    """The rows that can be measured; scores that are not numbers, and scores made twice, are refused.

    Control items (items with a `variant`) are left out unless they are asked for.
    """
    table = _with_controls(scored.table)
    if "variant" in table.columns and not variants and table["variant"].null_count() < table.height:
        table = table.filter(pl.col("variant").is_null())
    if not table.height:
        raise IsoglossError("There are no scores to measure.")
    broken = table.filter(pl.col("value").is_nan() | pl.col("value").is_infinite())
    if broken.height:
        raise IsoglossError(f"{broken.height} scores are not numbers; the first belongs to item '{broken['id'][0]}'.")
    marks = [name for name in ("prompt", CORPUS) if name in table.columns]
    whose = ("model", "method", *KEY, "candidate", "against", "quantity", *marks)
    twice = repeated(table, whose)
    if twice.height:
        item, model, method = twice["id"][0], twice["model"][0], twice["method"][0]
        raise IsoglossError(
            f"Item '{item}' was scored twice by '{model}' with the method '{method}', "
            "as when samples of two sizes lie in one folder. Give one of the runs; isogloss show FOLDER lists them."
        )
    if not table["cluster"].null_count():
        return table
    return table.with_columns(pl.coalesce("cluster", "id").alias("cluster"))


def _with_controls(table: pl.DataFrame) -> pl.DataFrame:
    """The rows with the score of their shuffled control, or of their control question, where the runs have such controls."""
    key = ["model", "method", "dataset", "language", "candidate", "quantity"]
    for variant, column in CONTROL_VALUES.items():
        if "variant" not in table.columns or variant not in table["variant"].unique():
            continue
        controls = table.filter((pl.col("variant") == variant) & pl.col("against").is_null())
        controls = controls.with_columns(pl.col("candidate").str.replace(f"~{variant}", "", literal=True))
        values = controls.select(*key, pl.col("value").alias(column)).unique(key, maintain_order=True)
        table = table.join(values, on=key, how="left", maintain_order="left")
    return table


Numbers = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class GroupedTable:
    """A table of scores that is cut into parts; its tables with one row per item are made once for all of them.

    `members` are the rows of each part, and None where one part has them all.
    """

    table: pl.DataFrame
    members: tuple[Numbers, ...] | None
    items: dict[str, tuple[pl.DataFrame, npt.NDArray[np.int64]] | None] = field(default_factory=dict)

    def rows_of(self, parts: Sequence[int]) -> pl.DataFrame:
        """The rows of these parts, in the order of the table."""
        if self.members is None or len(parts) == len(self.members) > 1:
            return self.table
        chosen = [self.members[number] for number in parts]
        return self.table[chosen[0] if len(chosen) == 1 else np.sort(np.concatenate(chosen))]

    def items_of(self, quantity: str) -> tuple[pl.DataFrame, npt.NDArray[np.int64]] | None:
        """The table of `pivot_roles` by part and cluster, and where each part begins; None where it must be made by part."""
        if quantity not in self.items:
            part = np.zeros(self.table.height, dtype=np.uint32)
            for number, members in enumerate(self.members or ()):
                part[members] = number
            rows = _scores_of(self.table.with_columns(_part=pl.Series(part)), quantity)
            if repeated(rows, ("model", "method", *KEY, "role", "_part")).height:
                self.items[quantity] = None
            else:
                wide = _pivot(rows, order=("_part", "cluster"))
                starts = np.searchsorted(wide["_part"].to_numpy(), np.arange(len(self.members or (0,)) + 1))
                self.items[quantity] = wide.drop("_part"), starts
        return self.items[quantity]


@dataclass(frozen=True)
class Part:
    """A group of a table's rows, which are copied only when they are asked for."""

    group: Group
    whole: GroupedTable
    numbers: tuple[int, ...]

    @cached_property
    def rows(self) -> pl.DataFrame:
        """The group's rows, in the order of the table."""
        return self.whole.rows_of(self.numbers)

    @cached_property
    def roles(self) -> set[str]:
        """The roles of the group's candidates."""
        return set(self.rows["role"].unique())

    def items(self, quantity: str) -> pl.DataFrame:
        """The group's table of `pivot_roles`, sorted by cluster."""
        table = self.whole.items_of(quantity)
        if table is None:
            return pivot_roles(self.rows, quantity=quantity).sort("cluster", maintain_order=True)
        wide, starts = table
        slices = [wide.slice(starts[number], starts[number + 1] - starts[number]) for number in self.numbers]
        return slices[0] if len(slices) == 1 else pl.concat(slices).sort("cluster", maintain_order=True)


def make_part(rows: pl.DataFrame) -> Part:
    """Rows as a group of their own."""
    return Part({}, GroupedTable(rows, None), (0,))


def default_parts(table: pl.DataFrame, by: Sequence[str] | None) -> Iterator[Part]:
    """Each group with its rows, in the order of the data; items of several corpora are never in one group.

    Without `by`, every model, data set and language is a group for each of its tasks and, over several tasks, as a whole,
    also where the tasks were scored by different methods; then each task counts by its first method. A column that holds several values puts an item into several groups.
    """
    identity = [*IDENTITY, *(["method"] if several_methods(table) else []), *several_corpora(table)]
    if by is not None:
        columns = list(dict.fromkeys([*identity, *by]))
        whole, keys = _cut(table, columns)
        yield from (Part(_named(columns, values, keep_null=True), whole, (i,)) for i, values in enumerate(keys))
        return
    whole, keys = _cut(table, [*identity, *(["task"] if "task" in table.columns else [])])
    parts: dict[tuple[Any, ...], dict[Any, int]] = {}
    for number, values in enumerate(keys):
        parts.setdefault(values[: len(identity)], {})[(*values[len(identity) :], None)[0]] = number
    for values, tasks in parts.items():
        group = _named(identity, values, keep_null=False)
        if next(iter(tasks)) is not None:
            named = ((_named(["task"], (task,), keep_null=False), number) for task, number in tasks.items())
            yield from (Part({**group, **labels}, whole, (number,)) for labels, number in named)
        if len(tasks) != 1 or next(iter(tasks)) is None:
            yield Part(group, whole, tuple(tasks.values()))
    if "method" not in identity or "task" not in table.columns:
        return
    for group, rows in group_rows(table, [*IDENTITY, *several_corpora(table)], keep_null=False):
        methods = rows.select("method", "task").unique()
        if methods["task"].n_unique() > 1 and not methods["method"].is_duplicated().any():
            yield Part(group, GroupedTable(first_methods(rows), None), (0,))


def first_methods(table: pl.DataFrame, *, by: Sequence[str] = ()) -> pl.DataFrame:
    """The rows of the method that scored each model's items of a task first; all where `by` has the method."""
    if "method" in by or not several_methods(table):
        return table
    key = [name for name in (*IDENTITY, "task") if name in table.columns]
    return table.filter(pl.col("method") == pl.col("method").first().over(key))


def group_rows(table: pl.DataFrame, columns: list[str], *, keep_null: bool) -> Iterator[tuple[Group, pl.DataFrame]]:
    """The rows of each combination of the columns' values; a list of values puts a row into several groups."""
    whole, keys = _cut(table, columns)
    for number, values in enumerate(keys):
        yield _named(columns, values, keep_null=keep_null), whole.rows_of((number,))


def _cut(table: pl.DataFrame, columns: Sequence[str]) -> tuple[GroupedTable, list[tuple[Any, ...]]]:
    """The table with the number of each row's part, and the columns' values in each part."""
    for name in columns:
        if table.schema[name] == pl.List(pl.String):
            table = table.explode(name)
    names = varying(table, columns)
    if not names:
        return GroupedTable(table, None), table.select(columns).head(1).rows()
    rows = table.select(names).with_row_index("_row").group_by(names, maintain_order=True).agg("_row")["_row"]
    return GroupedTable(table, tuple(row.to_numpy() for row in rows)), table.select(columns)[rows.list.first()].rows()


def _named(columns: Sequence[str], values: Sequence[Any], *, keep_null: bool) -> Group:
    named = zip(columns, values, strict=True)
    return {n: "none" if v is None else str(v) for n, v in named if v is not None or keep_null}


def varying(rows: pl.DataFrame, columns: Sequence[str]) -> list[str]:
    """Those of the columns that do not have the same value in all rows."""
    if not rows.height:
        return []
    same = rows.select(pl.col(name).eq_missing(pl.col(name).first()).all() for name in dict.fromkeys(columns)).row(0)
    return [name for name, single in zip(dict.fromkeys(columns), same, strict=True) if not single]


def repeated(rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """The rows whose values in these columns another row has too."""
    names = varying(rows, columns)
    if not names:
        return rows if rows.height > 1 else rows.clear()
    if rows.select(names).hash_rows().n_unique() == rows.height:  # a tenth of the memory that the next line needs
        return rows.clear()
    return rows.filter(rows.select(names).is_duplicated())


def several_corpora(table: pl.DataFrame) -> list[str]:
    """The column `corpus` where items come from several corpora, which are never pooled unasked."""
    return [CORPUS] if CORPUS in table.columns and table[CORPUS].drop_nulls().n_unique() > 1 else []


def several_methods(table: pl.DataFrame) -> bool:
    """Whether a model scored some item by more than one method."""
    if not varying(table, ["method"]):
        return False
    items = table.select("model", *KEY, "method").unique()
    return bool(items.select("model", *KEY).is_duplicated().any())


def pivot_roles(rows: pl.DataFrame, *, quantity: str = "score") -> pl.DataFrame:
    """One row per item, method and model, with the score of each role in a column of the role's name.

    An item with several candidates of one role has no such row: that is refused, never decided silently.
    """
    table = _scores_of(rows, quantity)
    twice = repeated(table, ("model", "method", *KEY, "role"))
    if twice.height:
        raise IsoglossError(
            f"Item '{twice['id'][0]}' has several candidates with the role '{twice['role'][0]}', so this metric cannot "
            "choose between them. Choose a metric for pairs, or one candidate per role."
        )
    return _pivot(table)


def _scores_of(rows: pl.DataFrame, quantity: str) -> pl.DataFrame:
    """The rows of a quantity that belong to one candidate, not to one against another."""
    if not varying(rows, ["quantity"]) and rows["against"].null_count() == rows.height:
        return rows if rows.height and rows["quantity"][0] == quantity else rows.clear()
    return rows.filter((pl.col("quantity") == quantity) & pl.col("against").is_null())


def _pivot(table: pl.DataFrame, *, order: Sequence[str] = ()) -> pl.DataFrame:
    """One row per item with the score of each role; columns that never change are added at the end, which is cheap.

    Rows that come item by item with the same roles, as they mostly do, need no search.
    """
    single = [name for name, kind in table.schema.items() if not isinstance(kind, pl.List)]
    plain = [name for name in single if name not in NOT_GROUPS or name == "id"]
    names = list(dict.fromkeys(["id", *varying(table, plain)]))
    long, count = table.select(*names, "role", "value"), max(1, table["role"].n_unique())
    wide = _roles_in_turn(long, count)
    if wide is None:
        wide = long.pivot(on="role", index=names, values="value", aggregate_function="first", maintain_order=True)
    by = [name for name in order if name in names]
    wide = wide.sort(by, maintain_order=True) if by else wide
    values = table.select(name for name in plain if name not in names).head(1)
    fixed = [pl.lit(value.max(), dtype=value.dtype).alias(value.name) for value in values]
    return wide.with_columns(fixed)


def _roles_in_turn(long: pl.DataFrame, count: int) -> pl.DataFrame | None:
    """Every `count` rows, which are one item's, as one row; None where roles do not come in turn or rows differ otherwise."""
    if not long.height or long["role"].null_count() or long.height % count:
        return None
    names = [name for name in long.columns if name not in ("role", "value")]
    wide = long.select(names).gather_every(count)
    for offset in range(count):
        roles = long["role"].gather_every(count, offset)
        same = (long[name].gather_every(count, offset).equals(wide[name]) for name in names if offset)
        if roles.n_unique() > 1 or not all(same):
            return None
        wide = wide.with_columns(long["value"].gather_every(count, offset).rename(roles[0]))
    return wide


def complete_rows(table: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """The rows without nulls in these columns; a table that has none, as most do, is not searched."""
    return table.drop_nulls(columns) if any(table[name].null_count() for name in columns) else table


def item_gaps(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per item, model and method with all its columns and a column `gap`; items without both scores are left out.

    Where all scores are positive, as probabilities are, the gap is that of their logarithms.
    """
    if CONTRAST in set(rows["quantity"].unique()):  # one sentence against another, kept as such
        mine = rows.filter(pl.col("quantity") == CONTRAST)
        rows = mine.with_columns(quantity=pl.lit("score"), against=pl.lit(None, pl.String))
    wide = pivot_roles(rows)
    other = CONTRAST if CONTRAST in wide.columns else ANTI_STEREOTYPE
    if not {STEREOTYPE, other} <= set(wide.columns):
        raise IsoglossError("This is about stereotypes and anti-stereotypes, and these items have no such roles.")
    wide = complete_rows(wide, [STEREOTYPE, other])
    positive = wide.select((pl.col(STEREOTYPE) > 0).all() & (pl.col(other) > 0).all()).item()
    left, right = (pl.col(role).log() if positive else pl.col(role) for role in (STEREOTYPE, other))
    return wide.with_columns(gap=left - right)
