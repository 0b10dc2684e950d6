"""SeeGULL Multilingual: how many of three annotators of a country call an association a stereotype there.

The published files have only associations that at least one annotator called a stereotype. Agreement within them is
therefore lower than among all associations that people were asked about, and may be below chance.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ...datasets.seegull import TAG, name_pairs, split_pair
from ...errors import BadData
from ...files.rows import read_rows
from ..labels import LabelLayout, LabelTable, labels_from_counts, place_tag

QUESTION = "stereotype"
STEREOTYPE = "stereotype"
LABELS = {"stereotype": STEREOTYPE, "non_stereotype": "no stereotype", "unsure": "unsure"}  # by the file's column


def recognise(columns: frozenset[str]) -> bool:
    """Whether a file has SeeGULL's columns."""
    return columns >= {"identity", "attribute", *LABELS}


def parse(path: Path, language: str | None) -> LabelTable:
    """Labels of each pair of identity and attribute; the identity is the target and the cluster.

    The language is in the file's name (stereotypes_es-MX.csv), unless it is given.
    """
    match = TAG.search(path.name)
    if language is None and match is None:
        raise BadData(path, None, "the name says no language; give it, with the country: es-MX.")
    tag = place_tag(language or (match[1] if match else ""))
    rows = list(read_rows(path))
    names = name_pairs([split_pair(row) for _, row in rows])
    counts = []
    for name, (line, row) in zip(names, rows, strict=True):
        counts += [{**count, "item": name} for count in _counts(path, line, row=row)]
    facts = {"language": tag, "category": "nationality", "question": QUESTION}
    return labels_from_counts(pl.DataFrame(counts).with_columns(**{name: pl.lit(text) for name, text in facts.items()}))


def _counts(path: Path, line: int, *, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    identity, _ = split_pair(row)
    fact = {"target": identity, "cluster": identity}
    counts = []
    for column, label in LABELS.items():
        number = str(row[column]).removesuffix(".0")
        if not number.isdecimal():
            raise BadData(path, line, f"'{column}' is '{row[column]}'; it must be a number of annotators.")
        counts.append({**fact, "label": label, "count": int(number)})
    return counts


label_layout = LabelLayout(recognise, parse)
