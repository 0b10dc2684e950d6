"""The one way from rows to a table: each row goes to a line and a column, and no two of them to the same cell."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from ..errors import IsoglossError

Row = TypeVar("Row")
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pivot(Generic[Row]):
    """Lines and columns in the order in which they came, and the row of each cell."""

    lines: tuple[Key, ...]
    columns: tuple[Key, ...]
    cells: Mapping[tuple[Key, Key], Row]

    def get(self, line: Key, column: Key) -> Row | None:
        """The row of a cell, if there is one."""
        return self.cells.get((line, column))


def pivot(
    rows: Iterable[Row],
    *,
    line: Callable[[Row], Key],
    column: Callable[[Row], Key],
    clash: Callable[[Row, Row], str] | None = None,
) -> Pivot[Row]:
    """The rows by lines and columns; `clash` says in one sentence what is wrong with two rows of one cell."""
    cells: dict[tuple[Key, Key], Row] = {}
    for row in rows:
        key = line(row), column(row)
        if clash and key in cells:
            raise IsoglossError(clash(cells[key], row))
        cells.setdefault(key, row)
    return Pivot(tuple(dict.fromkeys(key for key, _ in cells)), tuple(dict.fromkeys(key for _, key in cells)), cells)
