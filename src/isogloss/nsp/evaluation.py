"""The test of a head: how often it is right on unseen articles, beside baselines that do not read the pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ..errors import IsoglossError
from ..models.engine import TOKEN_BUDGET, answer_all
from ..models.load import Loading, open_model
from ..models.model import Model
from ..models.next_sentence import class_logprobs, next_class, pair_question
from ..progress import Progress, silent
from .accuracy import Accuracy, mean_by_article, second_only, word_overlap
from .parts import open_split

PORTION = 2000


@dataclass(frozen=True, slots=True)
class HeadTest:
    """Accuracies on unseen articles: the head's, the baselines', and how far the head is above word overlap."""

    model: str
    head: Accuracy
    baselines: Mapping[str, Accuracy]
    margin: Accuracy
    by_language: Mapping[str, Accuracy]
    truncated: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many pairs are tested, and how many the baselines learn from; all when there is no number."""

    test: int | None = None
    train: int | None = 100_000


DEFAULT_SIZES = Sizes()


def evaluate_head(
    name: str | Model,
    data: Path,
    *,
    sizes: Sizes = DEFAULT_SIZES,
    device: str = "cpu",
    progress: Progress = silent,
) -> HeadTest:
    """The test of a model's head on the test split of a folder of pairs."""
    rows, train = open_split(data, "test").head(sizes.test), open_split(data, "train").head(sizes.train)
    model = open_model(name, Loading(device)) if isinstance(name, str) else name
    if "nsp" not in model.info.heads or "nsp" in model.info.untrained:
        raise IsoglossError(f"'{model.info.name}' has no trained next-sentence head. Train one: isogloss nsp train")
    scores, truncated = pair_scores(model, rows, progress=progress)
    labels, articles = rows["label"].to_numpy(), rows["article"].to_list()
    right = ((scores > 0.5) == labels).astype(np.float64)
    said = {"second sentence only": second_only(train, rows), "word overlap": word_overlap(train, rows)}
    others = {key: (found == labels).astype(np.float64) for key, found in said.items()}
    return HeadTest(
        model.info.name,
        mean_by_article(right, articles),
        {key: mean_by_article(found, articles) for key, found in others.items()},
        mean_by_article(right - others["word overlap"], articles),
        _by_language(right, rows),
        truncated,
    )


def _by_language(right: npt.NDArray[np.float64], rows: pl.DataFrame) -> dict[str, Accuracy]:
    found = {}
    for tag in sorted(rows["language"].unique()):
        own = (rows["language"] == tag).to_numpy()
        found[tag] = mean_by_article(right[own], rows.filter(own)["article"].to_list())
    return found


def pair_scores(
    model: Model, rows: pl.DataFrame, *, progress: Progress = silent
) -> tuple[npt.NDArray[np.float64], int]:
    """The probability of `is next` for each pair, as `eval` computes it, and how many pairs were cut."""
    found, cut = np.empty(rows.height), 0
    for start in range(0, rows.height, PORTION):
        part = rows[start : start + PORTION].select("first", "second").rows()
        asked = [pair_question(model, first, second=second) for first, second in part]
        answers = answer_all(model, [question for question, _ in asked], token_budget=TOKEN_BUDGET)
        classes = [class_logprobs(model, answer)[next_class(model)] for answer in answers]
        found[start : start + len(part)] = np.exp(classes)
        cut += sum(truncated for _, truncated in asked)
        progress(f"{model.info.name} test pairs", (start + len(part)) / rows.height)
    return found, cut


def head_test_as_rows(result: HeadTest) -> dict[str, Any]:
    """The trial for machines."""
    return asdict(result)


def head_test_as_text(result: HeadTest) -> str:
    """The trial for people."""
    rows = {result.model: result.head, **result.baselines, "margin over word overlap": result.margin}
    if len(result.by_language) > 1:
        rows |= {f"{result.model} in {tag}": found for tag, found in result.by_language.items()}
    width = max(map(len, rows))
    lines = [f"{result.head.n:,} pairs of {result.head.articles:,} unseen articles; 95 % intervals over articles"]
    lines += [f"{label:{width}}  {found}" for label, found in rows.items()]
    if result.truncated:
        lines.append(f"{result.truncated:,} pairs were too long and lost their beginning")
    return "\n".join(lines)
