"""What every result can do: print itself, show itself in a notebook, and become a table or JSON."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import polars as pl

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Kind:
    """How a result of one kind is shown: its key in JSON, and the functions that make its text and its table.

    A function takes the whole result, unless `each` is set: then it takes one row. Without a function for the text, the
    table is the text. `detail` is the field whose rows are the rows of the table. A `whole` text has the result's notes.
    """

    key: str
    text: str = ""
    grid: str = ""
    each: bool = False
    detail: str | None = None
    whole: bool = False


KINDS = {  # by the class of a row, or of the result itself where it has no rows of its own
    "Measure": Kind("measures", "reports.text.measures.measures_as_text", "reports.text.measures.grid", whole=True),
    "Comparison": Kind(
        "comparisons", "reports.text.comparisons.comparisons_as_text", "reports.text.comparisons.grid", whole=True
    ),
    "GroupChange": Kind("changes", "reports.text.change.changes_as_text", "reports.text.change.grid", whole=True),
    "SeriesStep": Kind("steps", "reports.text.change.series_as_text", "reports.text.change.series_grid", whole=True),
    "Agreement": Kind("agreements", grid="reports.text.comparisons.agreement_grid"),
    "LabelAgreement": Kind("agreements", grid="reports.text.annotators.agreement_grid"),
    "KnownDifference": Kind("differences", grid="reports.text.annotators.known_grid"),
    "Control": Kind("controls", "reports.text.analyses.controls_as_text"),
    "Explanation": Kind("explanations", "reports.text.analyses.explanations_as_text", detail="differences"),
    "MbeTest": Kind("mbe", "reports.text.analyses.mbe_as_text"),
    "RobustnessReport": Kind("cards", "reports.text.analyses.robustness_as_text", each=True, detail="trials"),
    "Structure": Kind("structures", "reports.text.analyses.structure_as_text", each=True, detail="likeness"),
    "Rank": Kind("ranks", grid="reports.text.claims.rank_grid"),
    "GateResult": Kind("verdicts", "reports.text.claims.gate_as_text", detail="verdicts", whole=True),
    "MixedModel": Kind("effects", "reports.text.analyses.mixed_as_text", detail="effects"),
    "Probe": Kind("shares", "studies.probe.probe_as_text", detail="shares"),
}


def kind_of(result: Any) -> Kind:
    """How a result is shown; a result without any row has no kind, and says so."""
    name = type(result).__name__
    if name in KINDS:
        return KINDS[name]
    return KINDS[type(result.rows[0]).__name__] if result.rows else Kind("rows")


def _call(path: str, value: Any) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(f".{module}", __package__), name)(value)


def text_of(result: Any) -> str:
    """The result as a terminal shows it, and below it the notes that it does not contain yet."""
    kind = kind_of(result)
    if not kind.text and not kind.grid:
        return "Nothing was found."
    if not kind.text:
        text: str = _call("reports.text.table.as_text", _call(kind.grid, result))
    else:
        text = "\n\n".join(_call(kind.text, row) for row in (result.rows if kind.each else [result]))
    if kind.whole:
        return text
    return "\n".join([text, *(f"· {note}" for note in result.notes if note not in text)])


def html_of(result: Any) -> str:
    """The result as a notebook shows it."""
    path = kind_of(result).grid
    if not path:
        return as_preformatted(text_of(result))
    return str(_call("reports.text.table.as_html", _call(path, result)))


def as_preformatted(text: str) -> str:
    """A text as HTML that keeps its lines and columns."""
    return f"<pre>{html.escape(text)}</pre>"


def repr_of(result: Any) -> str:
    """The result in one short line."""
    kind = kind_of(result)
    rows = result.rows if hasattr(result, "rows") else getattr(result, kind.key)
    counts = [(len(rows), kind.key), *([(len(result.notes), "notes")] if result.notes else [])]
    shown = [f"{count} {name.removesuffix('s') if count == 1 else name}" for count, name in counts]
    return f"{type(result).__name__}({', '.join(shown)})"


def dict_of(result: Any) -> dict[str, Any]:
    """The result as the documented JSON object: plain dictionaries, lists, texts and numbers."""
    if not hasattr(result, "rows"):
        return dict(_plain(result))
    key = kind_of(result).key
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

    detail = kind_of(result).detail
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


METHODS = (repr_of, text_of, html_of, polars_of, pandas_of, dict_of, json_of)  # of every class of results


@dataclass(frozen=True, repr=False)  # no slots: a generic alias such as Measures marks what it makes
class Results(Generic[Row]):
    """Rows that were found together: a sequence that prints itself, shows itself in a notebook, and becomes a table.

    `notes` says what must be known about the models and the data; `problems` counts what was odd in the data.
    """

    rows: tuple[Row, ...]
    problems: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Row:
        return self.rows[index]

    __repr__, __str__, _repr_html_, to_polars, to_pandas, to_dict, to_json = METHODS


def as_names(names: str | Iterable[str] | None) -> tuple[str, ...]:
    """One name or several, as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names or ())
