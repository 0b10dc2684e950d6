"""Labels by people as one long table: item, candidate, question, annotator, label, and what is known about the item."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import langcodes
import polars as pl

from .. import languages, registry
from ..errors import BadData, IsoglossError, UnknownName
from ..files.layout import write_atomically
from ..files.rows import read_rows

COLUMNS = ("item", "candidate", "question", "annotator", "label")
CONTEXT = ("language", "category", "target", "cluster", "text")  # facts about the item, repeated in each of its rows
NEEDED = ("item", "question", "label")
UNIT = ("language", "item", "candidate", "question")  # what one annotator labels once
SCHEMA = dict.fromkeys((*COLUMNS, *CONTEXT), pl.String())


@dataclass(frozen=True, slots=True)
class LabelTable:
    """One row per label by a person.

    `candidate` is empty if the question is about the whole item, `annotator` if only counts were published.
    `language` has a region if people of one country were asked: es-MX.
    """

    table: pl.DataFrame

    def __len__(self) -> int:
        return self.table.height


@dataclass(frozen=True, slots=True)
class LabelLayout:
    """A layout of files with labels: whether columns are its own, and how a file is read."""

    recognise: Callable[[frozenset[str]], bool]
    parse: Callable[[Path, str | None], LabelTable]


def make_labels(rows: Iterable[Mapping[str, Any]] | pl.DataFrame) -> LabelTable:
    """A table of labels; columns that are not there are empty. An annotator may label a unit once."""
    table = rows if isinstance(rows, pl.DataFrame) else pl.DataFrame(list(rows), schema=SCHEMA)
    missing = [name for name in NEEDED if name not in table.columns]
    if missing:
        raise IsoglossError(f"Labels need the column{'s' * (len(missing) > 1)} {', '.join(missing)}.")
    columns = [pl.col(name) if name in table.columns else pl.lit(None).alias(name) for name in SCHEMA]
    texts = [column.cast(pl.String).replace("", None) for column in columns]
    table = table.select(texts)
    for name in NEEDED:
        if table[name].null_count():
            row = table.with_row_index(offset=1).filter(pl.col(name).is_null())["index"][0]
            raise IsoglossError(f"Label {row} has no '{name}'.")
    _check_once(table)
    return LabelTable(table)


def _check_once(table: pl.DataFrame) -> None:
    named = table.filter(pl.col("annotator").is_not_null())
    repeated = named.filter(pl.struct(*UNIT, "annotator").is_duplicated())
    if repeated.height:
        row = repeated.row(0, named=True)
        raise IsoglossError(
            f"Annotator '{row['annotator']}' labels item '{row['item']}' more than once for '{row['question']}'. "
            "Keep one of the labels."
        )


def place_tag(name: str) -> str:
    """The BCP 47 tag of a language with its region where one is named: es-ES stays apart from es, which is any Spanish."""
    plain = languages.resolve(name)
    return str(langcodes.standardize_tag(name)) if "-" in name else plain


def labels_from_counts(counts: pl.DataFrame) -> LabelTable:
    """Labels from a table with a column `count`: how many people gave `label`. Who they are stays empty."""
    if "count" not in counts.columns:
        raise IsoglossError("Counts of labels need the column count.")
    numbers = counts["count"].cast(pl.Int64, strict=False)
    if numbers.null_count() or (numbers < 0).any():
        raise IsoglossError("A count of labels must be a whole number from 0.")
    repeated = counts.with_columns(count=pl.int_ranges(0, numbers)).filter(numbers > 0)
    return make_labels(repeated.explode("count").drop("count"))


def count_labels(labels: LabelTable, *, context: Sequence[str] = ()) -> pl.DataFrame:
    """How many people gave each label to each unit, in a column `count`; the order is that of the labels."""
    unknown = [name for name in context if name not in CONTEXT]
    if unknown:
        raise UnknownName("column", unknown[0], CONTEXT)
    names = list(dict.fromkeys([*UNIT, *context, "label"]))
    return labels.table.group_by(names, maintain_order=True).len("count")


def share_of_label(labels: LabelTable, *, question: str, label: str, offered: Collection[str] = ()) -> pl.DataFrame:
    """For each unit of a question: the `share` of its labels that are this one, and how many `labels` it has.

    A label that nobody gave is unknown, unless it is `offered`.
    """
    asked = labels.table.filter(pl.col("question") == question)
    if not asked.height:
        raise UnknownName("question", question, labels.table["question"].unique().to_list())
    if label not in asked["label"] and label not in offered:
        raise UnknownName("label", label, asked["label"].unique().to_list())
    unit = [name for name in UNIT if name != "question"]
    return asked.group_by(unit, maintain_order=True).agg(
        share=(pl.col("label") == label).mean(), labels=pl.len().cast(pl.Int64)
    )


def join_labels(several: Iterable[LabelTable]) -> LabelTable:
    """Several tables as one, such as the sheets of several people; nothing is left out."""
    return make_labels(pl.concat([labels.table for labels in several], how="vertical"))


def write_labels(labels: LabelTable, path: Path) -> Path:
    """The table as CSV, without the columns of context that are empty; `read_labels` reads it back."""
    kept = [name for name in CONTEXT if labels.table[name].null_count() < labels.table.height]
    return write_atomically(path, labels.table.select(*COLUMNS, *kept).write_csv())


def read_labels(path: Path | str, *, layout: str | None = None, language: str | None = None) -> LabelTable:
    """The labels of a CSV, TSV, XLSX, JSON, JSON lines or Parquet file; the layout is recognized unless it is named."""
    file, layouts = Path(path), registry.load_all("label_layout")
    if layout is not None and layout not in layouts:
        raise UnknownName("layout", layout, layouts)
    columns = frozenset(name for _, row in islice(read_rows(file), 1) for name in row)
    fitting = [name for name, known in layouts.items() if known.recognise(columns) and layout in (None, name)]
    if not fitting:
        named = f"the layout '{layout}'" if layout else f"any of the layouts {', '.join(layouts)}"
        raise BadData(file, 1, f"the columns {', '.join(sorted(columns)) or '(none)'} do not fit {named}.")
    labels: LabelTable = layouts[fitting[0]].parse(file, language)
    return labels
