"""Two sides of a comparison: what tells them apart, which items they share, and what must be left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from ..errors import IsoglossError, UnknownName
from ..scores import KEY, ROW_SCHEMA, Scored, several_checkpoints
from .groups import CONTROLLED, SHUFFLED, SYNONYMS, check_rows, group_columns, several_methods

DESIGNS = ("paired", "unpaired")
WHO = ("model", "language", "method")
OFFER = "use `design='unpaired'` to compare them as independent samples."


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides' rows with a column `side`; what each is, what both are, and the columns that are compared one by one."""

    table: pl.DataFrame
    a: Mapping[str, str]
    b: Mapping[str, str]
    shared: Mapping[str, str]
    matched: tuple[str, ...]
    notes: tuple[str, ...] = ()


def select(scored: Scored, where: Mapping[str, str]) -> Scored:
    """The scores whose columns have these values, written as for items: `race,gender` is one of two, `type!` none of them.

    Case does not matter. A column or value that is not there is refused, and so is a choice that leaves nothing.
    """
    table = scored.table
    for name, value in where.items():
        column, negated = SYNONYMS.get(name.rstrip("! "), name.rstrip("! ")), name.endswith("!")
        if column not in group_columns(table.columns):
            raise UnknownName("column", column, group_columns(table.columns))
        several = isinstance(table.schema[column], pl.List)
        there = (table[column].explode() if several else table[column]).cast(pl.String).drop_nulls().unique()
        by_folded = {text.casefold(): text for text in there}
        wanted = [value] if value.casefold() in by_folded else [part.strip() for part in value.split(",")]
        for part in wanted:
            if part.casefold() not in by_folded:
                raise UnknownName(column, part, by_folded.values())
        values = [by_folded[part.casefold()] for part in wanted]
        here = (
            pl.col(column).list.eval(pl.element().is_in(values)).list.any()
            if several
            else pl.col(column).cast(pl.String).is_in(values)
        )
        table = table.filter(here.fill_null(False) != negated)
    if where and not table.height:
        raise IsoglossError(
            f"No score has {' and '.join(f'{name}={value}' for name, value in where.items())}. Leave a condition out."
        )
    return replace(scored, table=table)


def match_sides(a: Scored, b: Scored, *, design: str = "paired", names: tuple[str, str] = ("A", "B")) -> Sides:
    """Both sides in one table; paired, only the items that both have, with the first side's columns.

    `names` is what the sides are called where no column tells them apart.
    """
    if design not in DESIGNS:
        raise UnknownName("design", design, DESIGNS)
    tables = [check_rows(a), check_rows(b)]
    labels: tuple[dict[str, str], dict[str, str]] = ({}, {})
    shared: dict[str, str] = {}
    matched: list[str] = []
    notes: list[str] = []
    for name in WHO:
        values = [sorted(map(str, table[name].unique())) for table in tables]
        if name == "method" and not any(several_methods(table) for table in tables):
            values = [[" + ".join(names)] for names in values]
        if max(map(len, values)) > 1:
            matched.append(name)
            notes += _one_sided(name, values)
        elif values[0] == values[1]:
            shared[name] = values[0][0]
        else:
            labels[0][name], labels[1][name] = values[0][0], values[1][0]
    if not labels[0]:
        column, values_of_sides = _told_apart(tables) or ("side", names)
        labels[0][column], labels[1][column] = values_of_sides
    for name in matched:
        common = set(tables[0][name]) & set(tables[1][name])
        tables = [table.filter(pl.col(name).is_in(list(common))) for table in tables]
    if design == "paired":
        tables, lost = _pair(tables, [*KEY[:2], *matched])
        notes += [f"{lost} items are on one side only and were left out"] if lost else []
    both = [table.with_columns(side=pl.lit(side)) for side, table in zip("ab", tables, strict=True)]
    checkpoints = several_checkpoints({**a.builds, **b.builds})
    remarks = tuple(dict.fromkeys([*a.notes, *b.notes, *checkpoints, *notes]))
    return Sides(pl.concat(both, how="diagonal_relaxed"), labels[0], labels[1], shared, tuple(matched), remarks)


def _told_apart(tables: Sequence[pl.DataFrame]) -> tuple[str, tuple[str, str]] | None:
    """The first column that has one value on each side and not the same, such as the bias type of two halves of a data set."""
    for name in group_columns(tables[0].columns):
        if name in tables[1].columns and tables[0].schema[name] == tables[1].schema[name] == pl.String:
            one, other = (table[name].unique().to_list() for table in tables)
            if len(one) == len(other) == 1 and None not in (*one, *other) and one != other:
                return name, (one[0], other[0])
    return None


def _one_sided(name: str, values: Sequence[Sequence[str]]) -> list[str]:
    """A note on the values that one side lacks; without a common one, there is nothing to compare."""
    lost = sorted(set(values[0]) ^ set(values[1]))
    if len(lost) == len({*values[0], *values[1]}):
        raise IsoglossError(
            f"One side has the {name}s {', '.join(values[0])}, the other {', '.join(values[1])}, so it is not clear "
            f"which belong together. Choose one for each side, such as `a='{name}={values[0][0]}'` and `b='{name}={values[1][0]}'`."
        )
    return [f"on one side only, and left out: {name} {', '.join(lost)}"] if lost else []


def _pair(tables: Sequence[pl.DataFrame], key: list[str]) -> tuple[list[pl.DataFrame], int]:
    """The rows of items that both sides have, and how many only one has.

    The second side takes the first one's columns, so that groups are equal.
    """
    items = [table.unique(key, maintain_order=True) for table in tables]
    both = items[0].join(items[1], on=key, how="inner", nulls_equal=True)
    fewest = min(item.height for item in items)
    if 2 * both.height < fewest:
        raise IsoglossError(
            f"Only {both.height} of {fewest} items are on both sides, so they cannot be compared item by item; {OFFER}"
        )
    odd = (
        both.filter(pl.col("category") != pl.col("category_right"))
        if "category_right" in both.columns
        else both.clear()
    )
    if 2 * odd.height > both.height:
        row = odd.row(0, named=True)
        raise IsoglossError(
            f"Item '{row['id']}' is about '{row['category']}' on one side and '{row['category_right']}' on the other, "
            f"so equal ids are not equal items here; {OFFER}"
        )
    reserved = {*ROW_SCHEMA, *WHO, *key, SHUFFLED, CONTROLLED, "role", "family", "prompt"}
    columns = [name for name in tables[0].columns if name not in reserved]
    facts = both.select(*key, *columns)
    first = tables[0].join(facts.select(key), on=key, how="semi", nulls_equal=True)
    second = tables[1].drop([name for name in columns if name in tables[1].columns])
    second = second.join(facts, on=key, how="inner", nulls_equal=True, maintain_order="left")
    return [first, second], sum(side.height - both.height for side in items)
