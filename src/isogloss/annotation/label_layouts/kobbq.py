"""KoBBQ's survey: which groups a hundred people in Korea connect with each stereotype, if any."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ...errors import BadData
from ...files.reading import remark
from ...files.rows import read_rows
from ..labels import LabelLayout, LabelTable, labels_from_counts, place_tag

STEREOTYPE, GROUP = "stereotype", "group"  # the questions
NONE = "no_stereo"
RESPONDENTS = 100  # per stereotype; where several groups may be named, the counts add up to more


def recognise(columns: frozenset[str]) -> bool:
    """Whether a file has the survey's fields."""
    return columns >= {"category", "stereotype", "survey_stats"}


def parse(path: Path, language: str | None) -> LabelTable:
    """Two questions: whether there is a stereotype at all, and for each group (a candidate) whether it is named.

    Groups differ between stereotypes, and often several may be named, so that each group has a yes or no of its own.
    An entry that is in the file twice is read once; another survey about the same stereotype has '(2)' in its name.
    """
    counts: list[dict[str, Any]] = []
    entries: set[str] = set()
    names: Counter[str] = Counter()
    for line, row in read_rows(path):
        if repr(row) in entries:
            remark(path, f"entry {line} is the same as one before it and is read once")
            continue
        entries.add(repr(row))
        name = f"{row['category']}: {row['stereotype']}"
        names[name] += 1
        item = name if names[name] == 1 else f"{name} ({names[name]})"
        fact = {"item": item, "category": row["category"], "cluster": name, "text": row["stereotype"]}
        counts += [{**fact, **count} for count in _counts(path, line, stats=row["survey_stats"])]
    return labels_from_counts(pl.DataFrame(counts).with_columns(language=pl.lit(place_tag(language or "ko-KR"))))


def _counts(path: Path, line: int, *, stats: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for group, number in stats.items():
        if not isinstance(number, int) or not 0 <= number <= RESPONDENTS:
            raise BadData(path, line, f"'{group}' is {number!r}; it must be a number of people up to {RESPONDENTS}.")
        question, yes, no = (
            (STEREOTYPE, "no stereotype", "stereotype") if group == NONE else (GROUP, "named", "not named")
        )
        candidate = None if group == NONE else group
        for label, count in ((yes, number), (no, RESPONDENTS - number)):
            yield {"candidate": candidate, "question": question, "label": label, "count": count}


label_layout = LabelLayout(recognise, parse)
