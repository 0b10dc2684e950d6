"""GEST's annotations: what the first annotator says about each sentence, and what the second decides on some of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...datasets.gest import TRAITS
from ...errors import BadData
from ...files.rows import read_rows
from ..labels import LabelLayout, LabelTable, make_labels, place_tag

SCALES = {  # the first annotator's questions, each with the columns of which one has a cross
    "gender": ("strong_female", "female", "neutral", "male", "strong_male"),
    "match": ("strong_agree", "agree", "neutral", "disagree", "strong_disagree"),
}
VERDICT, TRAIT = "verdict", "trait"  # the second annotator's questions
PEOPLE = ("first_annotator", "second_annotator")


def recognise(columns: frozenset[str]) -> bool:
    """Whether a file has the columns of GEST's annotations."""
    return columns >= {"sentence", "stereotype", "final_verdict", *PEOPLE, "gender_neutral", "match_neutral"}


def parse(path: Path, language: str | None) -> LabelTable:
    """The first annotator's labels of every sentence, and the second's verdict and trait where there are any.

    The two never answer the same question, so that these labels say nothing about agreement. Annotators are numbered
    instead of named. The target is the stereotype for which the sentence was written.
    """
    rows = list(read_rows(path))
    people = sorted({str(row[column]) for _, row in rows for column in PEOPLE})
    labels, tag = [], place_tag(language or "en")
    for number, (line, row) in enumerate(rows):
        first, second = (f"annotator {people.index(str(row[column])) + 1}" for column in PEOPLE)
        fact = {"item": str(number), "language": tag, "category": "gender", "text": row["sentence"]}
        fact["target"] = _trait(path, line, text=str(row["stereotype"]).split(":")[0])
        for question in SCALES:
            label = _crossed(path, line, row=row, question=question)
            labels.append({**fact, "question": question, "annotator": first, "label": label})
        if row["final_verdict"]:
            labels.append({**fact, "question": VERDICT, "annotator": second, "label": row["final_verdict"]})
        if row["final_stereotype"]:
            trait = _trait(path, line, text=str(row["final_stereotype"]))
            labels.append({**fact, "question": TRAIT, "annotator": second, "label": trait})
    return make_labels(labels)


def _crossed(path: Path, line: int, *, row: Mapping[str, Any], question: str) -> str:
    crossed = [name for name in SCALES[question] if row.get(f"{question}_{name}")]
    if len(crossed) != 1:
        raise BadData(path, line, f"{len(crossed)} columns of '{question}' have a cross; one must have it.")
    return crossed[0].replace("_", " ")


def _trait(path: Path, line: int, *, text: str) -> str:
    number = text.rpartition("#")[2]
    if not number.isdecimal() or not 1 <= int(number) <= len(TRAITS):
        raise BadData(path, line, f"'{text}' has no number of a stereotype from #1 to #{len(TRAITS)}.")
    return TRAITS[int(number) - 1]


label_layout = LabelLayout(recognise, parse)
