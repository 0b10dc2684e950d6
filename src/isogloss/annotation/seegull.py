"""SeeGULL Multilingual: how many of three annotators of a country call an association a stereotype there.

The published files have only associations that at least one annotator called a stereotype. Agreement within them is
therefore lower than among all associations that people were asked about, and may be below chance.
"""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ..errors import BadData
from ..files.rows import read_rows
from .labels import LabelTable, labels_from_counts, place_tag

QUESTION = "stereotype"
STEREOTYPE = "stereotype"
LABELS = {"stereotype": STEREOTYPE, "non_stereotype": "no stereotype", "unsure": "unsure"}  # by the file's column
TAG = re.compile(r"stereotypes_([a-z]{2,3}-[A-Z]{2})\b")  # in the name of the file
COMMAS = " ,،"  # some identities end in a comma


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
    names: Counter[str] = Counter()
    counts = []
    for line, row in read_rows(path):
        rows = _counts(path, line, row=row)
        name = rows[0]["item"]
        names[name] += 1  # some pairs differ in a comma only; each was labelled on its own
        item = name if names[name] == 1 else f"{name} ({names[name]})"
        counts += [{**count, "item": item} for count in rows]
    facts = {"language": tag, "category": "nationality", "question": QUESTION}
    return labels_from_counts(pl.DataFrame(counts).with_columns(**{name: pl.lit(text) for name, text in facts.items()}))


def _counts(path: Path, line: int, *, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    identity, attribute = (str(row[name]).strip(COMMAS) for name in ("identity", "attribute"))
    fact = {"item": f"{identity}: {attribute}", "target": identity, "cluster": identity}
    counts = []
    for column, label in LABELS.items():
        number = str(row[column]).removesuffix(".0")
        if not number.isdecimal():
            raise BadData(path, line, f"'{column}' is '{row[column]}'; it must be a number of annotators.")
        counts.append({**fact, "label": label, "count": int(number)})
    return counts
