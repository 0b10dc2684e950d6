"""Filters: the items whose columns have the wanted values, for every data set alike."""

import difflib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..errors import IsoglossError, UnknownName
from ..items import Item, Items, part_of

COLUMNS = ("id", "dataset", "language", "category", "cluster")
SYNONYMS = {"bias_type": "category"}
MOST_SHOWN = 40
Where = str | Sequence[str] | Mapping[str, str | Sequence[str]]


@dataclass(frozen=True, slots=True)
class Condition:
    """A column and the values of which an item must have one (or, turned round, none)."""

    column: str
    values: tuple[str, ...]
    negated: bool

    def __str__(self) -> str:
        return f"{self.column}{'!=' if self.negated else '='}{','.join(self.values)}"


def filter_items(items: Items, where: Where) -> Items:
    """The items that meet every condition, written as column=value, column=one,other or column!=value.

    A mapping names columns with a value or a list of values; a column there may end in an exclamation mark.
    Case does not matter. An item with several values in a column needs one of them. Unknown columns and values are
    refused with a near name; so is a filter that leaves nothing.
    """
    if not where:
        return items
    if isinstance(where, Mapping):
        conditions = [_named(name, values, items=items) for name, values in where.items()]
    else:
        conditions = [_parse(text, items) for text in ([where] if isinstance(where, str) else where)]
    rows = tuple(item for item in items if all(meets(item, one) for one in conditions))
    if not rows:
        alone = ", ".join(
            f"{condition} alone leaves {sum(meets(item, condition) for item in items)}" for condition in conditions
        )
        wanted = " and ".join(map(str, conditions))
        raise IsoglossError(f"None of the {len(items)} items has {wanted}; {alone}. Leave a condition out.")
    return part_of(items, rows)


def meets(item: Item, condition: Condition) -> bool:
    """Whether an item has one of the condition's values, or none of them when it is turned round."""
    wanted = {value.casefold() for value in condition.values}
    here = any(value.casefold() in wanted for value in values_of(item, condition.column))
    return here != condition.negated


def values_of(item: Item, column: str) -> tuple[str, ...]:
    """The values that an item has in a column; none where it is empty."""
    value = getattr(item, column) if column in COLUMNS else item.tags.get(column)
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def _parse(text: str, items: Items) -> Condition:
    """The condition that a text says."""
    name, sign, rest = text.partition("=")
    if not sign or not name.strip("! ") or not rest.strip():
        raise IsoglossError(f"'{text}' is not a filter. Write it as column=value, such as original=yes.")
    return _named(name, rest, items=items)


def _named(name: str, values: str | Sequence[str], *, items: Items) -> Condition:
    """The condition on a column; in a text, a comma separates values, unless the whole is one."""
    if not isinstance(values, str):
        return _condition(name, values, items=items)
    try:
        return _condition(name, [values.strip()], items=items)
    except UnknownName:
        return _condition(name, [part.strip() for part in values.split(",") if part.strip()], items=items)


def _condition(name: str, wanted: Sequence[str], *, items: Items) -> Condition:
    """The condition on a column, which and whose values must be ones that the items have."""
    name, wanted = unicodedata.normalize("NFC", name), [unicodedata.normalize("NFC", value) for value in wanted]
    column = name.rstrip("! ").strip()
    column = SYNONYMS.get(column, column)
    columns = [*COLUMNS, *{tag for item in items for tag in item.tags}]
    if column not in columns:
        raise UnknownName("column", column, columns)
    there = {value.casefold(): value for item in items for value in values_of(item, column)}
    for value in wanted:
        if value.casefold() not in there:
            raise UnknownName(f"value of '{column}'", value, _shown(value, list(there.values())))
    return Condition(column, tuple(there[value.casefold()] for value in wanted), name.rstrip().endswith("!"))


def _shown(value: str, known: list[str]) -> list[str]:
    """The known values, or of very many those that are most like the wanted one."""
    return known if len(known) <= MOST_SHOWN else difflib.get_close_matches(value, known, n=5, cutoff=0.5)


def add_columns(items: Items, columns: Mapping[str, str]) -> Items:
    """The items with further columns that are the same for all; one that is a column of every item is refused."""
    taken = sorted(set(columns) & {*COLUMNS, "context", "problems", "model", "method"})
    if taken:
        raise IsoglossError(f"a fact of the data may not be named '{taken[0]}', which is a column already.")
    return replace(items, rows=tuple(replace(item, tags={**item.tags, **columns}) for item in items))
