"""A data statement: what was labeled, by whom, and how far they agree, as text for people who use the labels."""

from collections.abc import Iterator

import polars as pl

from ..errors import IsoglossError
from .agreement import measure_agreement
from .label_sheets import hide_names
from .labels import UNIT, LabelTable

UNKNOWN = "not stated"


def write_statement(labels: LabelTable, *, annotators: pl.DataFrame | None = None) -> str:
    """The statement as Markdown: labels, languages and places, annotators without names, agreement, and limits."""
    people = hide_names(labels).annotators if annotators is None else annotators
    return "\n".join([*_labels(labels.table), *_people(labels.table, people), *_agreement(labels), *LIMITS])


LIMITS = (
    "",
    "## Limits",
    "",
    "Labels say what some people of a place know as a stereotype, or read in an answer. They do not say that it is true, "
    "that all people there think so, or how it was for people who were not asked.",
    "",
)


def _labels(table: pl.DataFrame) -> Iterator[str]:
    yield from ("# Data statement", "", "## Labels", "")
    for (question,), part in table.group_by("question", maintain_order=True):
        counts = ", ".join(f"{label} {count:,}" for label, count in part["label"].value_counts(sort=True).iter_rows())
        units = part.select(UNIT).n_unique()
        yield f"* **{question}**: {part.height:,} labels of {units:,} units, {part.height / units:.1f} each: {counts}."
    yield from ("", "## Languages and places", "")
    for (tag,), part in table.group_by("language", maintain_order=True):
        yield f"* {tag or UNKNOWN}: {part.select('item').n_unique():,} items, {part.height:,} labels"


def _people(table: pl.DataFrame, people: pl.DataFrame) -> Iterator[str]:
    unnamed = int(table["annotator"].null_count())
    yield from ("", "## Annotators", "")
    if unnamed:
        yield f"{unnamed:,} labels were published as counts; who gave them is not known."
    if people.height:
        yield f"{people.height} annotators, whose names are not published:"
        yield from ("", "| annotator | languages | labels | background |", "|---|---|---|---|")
        for row in people.iter_rows(named=True):
            background = row["background"] or UNKNOWN
            yield f"| {row['annotator']} | {row['languages'] or UNKNOWN} | {row['labels']:,} | {background} |"


def _agreement(labels: LabelTable) -> Iterator[str]:
    yield from ("", "## Agreement", "")
    try:
        agreements = measure_agreement(labels, by=["language"])
    except IsoglossError as error:
        yield str(error)
        return
    yield from ("| question | language | alpha | AC1 | all agree | units |", "|---|---|---|---|---|---|")
    for row in agreements:
        values = [
            f"{value:.3f}" + ("" if low is None else f" [{low:.3f}, {high:.3f}]")
            for value, low, high in ((row.alpha, row.alpha_low, row.alpha_high), (row.ac1, row.ac1_low, row.ac1_high))
        ]
        tag = row.group["language"]
        yield f"| {row.group['question']} | {tag} | {' | '.join(values)} | {100 * row.unanimous:.1f} % | {row.n:,} |"
    yield from ("", *(f"* {note}" for note in agreements.notes))
