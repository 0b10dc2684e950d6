"""KoBBQ's templates as test samples: every combination of the words that fill a template, in the columns of a sample."""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from ..files.sources import row_text

TEXTS = ("Ambiguous_context", "Disambiguating_context", "Biased_question", "Counter-biased_question")
ANSWERS = ("Biased_question_answer", "Counter-biased_question_answer")  # who is right in the disambiguated context
TEMPLATE_COLUMNS = frozenset({"Category", "ID", "version", *TEXTS, *ANSWERS})
GAP = re.compile(
    r"\[([NWX]\d): *([^\]]*)\]"
)  # [N1: grandson, granddaughter]; a gap has its forms in every text in one order
CONFIRMS = ("b", "d")  # the versions whose disambiguated context confirms the stereotype
UNKNOWN = "알 수 없음"


def expand_template(row: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """The samples of a template: both contexts and both questions for each combination of the words in its gaps.

    Where the texts list different numbers of words for a gap, the shortest list counts.
    """
    texts = {name: row_text(row, name) for name in (*TEXTS, *ANSWERS)}
    sizes: dict[str, int] = {}
    for text in texts.values():
        for gap, words in GAP.findall(text):
            sizes[gap] = min(sizes.get(gap, len(words.split(","))), len(words.split(",")))
    gaps = sorted(sizes)
    version = row_text(row, "version").strip()
    name = f"{row_text(row, 'Category').strip().lower()}-{int(row_text(row, 'ID')):03}{version}"
    for number, chosen in enumerate(product(*(range(sizes[gap]) for gap in gaps)), 1):
        picks = dict(zip(gaps, chosen, strict=True))
        ambiguous, more, *questions, first, second = (fill_gaps(texts[key], picks) for key in (*TEXTS, *ANSWERS))
        right = {"bsd": first, "cnt": second}
        biased = right if version in CONFIRMS else {"bsd": second, "cnt": first}
        for condition, context in (("amb", ambiguous), ("dis", f"{ambiguous} {more}")):
            for polarity, question in zip(right, questions, strict=True):
                yield {
                    "sample_id": f"{name}-{number:03}-{condition}-{polarity}",
                    "context": context,
                    "question": question,
                    "choices": repr([first, second, UNKNOWN]),
                    "biased_answer": biased[polarity],
                    "answer": UNKNOWN if condition == "amb" else right[polarity],
                }


def fill_gaps(text: str, picks: Mapping[str, int]) -> str:
    """The text with the chosen word in each gap, and single spaces."""
    return " ".join(GAP.sub(lambda gap: gap[2].split(",")[picks[gap[1]]].strip(), text).split())
