"""What every result can do: print itself, show itself in a notebook, and become a table or JSON."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from .errors import UnknownName

if TYPE_CHECKING:
    import polars as pl

    from .reports.text.views import View

Row = TypeVar("Row")


def find_view(result: Any) -> View:
    """How a result is shown, by the class of its rows, or its own where it has none."""
    from .reports.text.views import view_of  # the one look upwards of the core: every result can print itself

    rows = getattr(result, "rows", (result,))
    return view_of(rows[0] if rows else None)


def text_of(result: Any) -> str:
    """The result as a terminal shows it, and below it the notes that it does not contain yet."""
    from .reports.text.table import as_text

    view = find_view(result)
    if view.text is not None:
        text = "\n\n".join(map(view.text, result.rows if view.each else [result]))
    elif view.grid is not None:
        text = as_text(view.grid(result))
    else:
        return "Nothing was found."
    if view.whole:
        return text
    return "\n".join([text, *(f"· {note}" for note in result.notes if note not in text)])


def html_of(result: Any) -> str:
    """The result as a notebook shows it."""
    from .reports.text.table import as_html

    grid = find_view(result).grid
    return as_preformatted(text_of(result)) if grid is None else as_html(grid(result))


def as_preformatted(text: str) -> str:
    """A text as HTML that keeps its lines and columns."""
    return f"<pre>{html.escape(text)}</pre>"


def repr_of(result: Any) -> str:
    """The result in one short line."""
    key = find_view(result).key
    rows = result.rows if hasattr(result, "rows") else getattr(result, key)
    counts = [(len(rows), key), *([(len(result.notes), "notes")] if result.notes else [])]
    parts = [f"{count} {name.removesuffix('s') if count == 1 else name}" for count, name in counts]
    return f"{type(result).__name__}({', '.join(parts)})"


def dict_of(result: Any) -> dict[str, Any]:
    """The result as the documented JSON object: plain dictionaries, lists, texts and numbers."""
    if not hasattr(result, "rows"):
        return dict(_plain(result))
    key = find_view(result).key
    problems = {"problems": dict(result.problems)} if key == "measures" else {}
    return {key: _plain(result.rows), **problems, "notes": list(result.notes)}


def _plain(value: Any) -> Any:
    """Data classes become dictionaries of their fields and public properties."""
    if is_dataclass(value):
        properties = [
            name for name, member in vars(type(value)).items() if isinstance(member, property) and name[0] != "_"
        ]
        return {name: _plain(getattr(value, name)) for name in [*(entry.name for entry in fields(value)), *properties]}
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, tuple | list) else value


def json_of(result: Any) -> str:
    """The text that `--format json` prints."""
    return json.dumps(result.to_dict(), ensure_ascii=False, indent=1)


def polars_of(result: Any) -> pl.DataFrame:
    """A table with one row per measure, comparison, pair or term; the columns of the group come first."""
    import polars as pl

    detail = find_view(result).detail
    rows: list[Flat] = []
    for row in getattr(result, "rows", (result,)):
        outer = _flat(row)
        inner = [_flat(detailed) for detailed in getattr(row, detail)] if detail else [({}, {})]
        rows += [(outer[0] | group, outer[1] | values) for group, values in inner]
    groups = list(dict.fromkeys(name for group, _ in rows for name in group))
    names = list(dict.fromkeys([*groups, *(name for _, values in rows for name in values)]))
    data = [{name: {**values, **group}.get(name) for name in names} for group, values in rows]
    return pl.DataFrame(data, infer_schema_length=None)


Flat = tuple[dict[str, Any], dict[str, Any]]


def _flat(row: Any) -> Flat:
    """The columns of the row's group, and all others; a column of side a is called name_a."""
    group: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for entry in fields(row):
        value = getattr(row, entry.name)
        if entry.name == "group":
            group |= value
        elif isinstance(value, Mapping):
            values |= {f"{name}_{entry.name}": inner for name, inner in value.items()}
        elif is_dataclass(value):
            inner = _flat(value)
            group |= inner[0]
            values |= {f"{entry.name}_{name}": cell for name, cell in inner[1].items()}
        elif not isinstance(value, tuple) or all(isinstance(text, str) for text in value):
            values[entry.name] = list(value) if isinstance(value, tuple) else value
    return group, values


def pandas_of(result: Any) -> Any:
    """The table of `to_polars` as a pandas data frame."""
    from .errors import require

    return require("pandas", extra="pandas").DataFrame(result.to_polars().to_dict(as_series=False))


def _value_in(row: Any, column: str) -> Any:
    """What a row has in a column of `to_polars`."""
    group, values = _flat(row)
    if column not in (both := values | group):
        raise UnknownName("column", column, both)
    return both[column]


METHODS = (repr_of, text_of, html_of, polars_of, pandas_of, dict_of, json_of)  # of every class of results


@dataclass(frozen=True, repr=False)  # no slots: a generic alias such as Measures marks what it makes
class Results(Generic[Row]):
    """A sequence of rows that prints itself, is displayed in a notebook, and converts to a table.

    `notes` are remarks about the models and the data; `problems` counts the items that checks of the data flagged.
    """

    rows: tuple[Row, ...]
    problems: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> Results[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | Results[Row]:
        """One row, or some of them as results."""
        return replace(self, rows=self.rows[index]) if isinstance(index, slice) else self.rows[index]

    def filter(self, **columns: Any) -> Results[Row]:
        """The rows with these values in the columns of `to_polars`; a list is one of several: `filter(language="en", metric=["ss", "lms"])`."""
        rows = self.rows
        for name, wanted in columns.items():
            values = [_value_in(row, name) for row in rows]
            several = wanted if isinstance(wanted, list | tuple | set) else [wanted]
            for value in several:
                if value not in values:
                    raise UnknownName(name, str(value), map(str, values))
            rows = tuple(row for row, value in zip(rows, values, strict=True) if value in several)
        return replace(self, rows=rows)

    __repr__, __str__, _repr_html_, to_polars, to_pandas, to_dict, to_json = METHODS


def as_names(names: str | Iterable[str] | None) -> tuple[str, ...]:
    """One name or several, as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names or ())
