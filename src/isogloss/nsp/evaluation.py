"""The test of a head: how often it is right on unseen articles, beside baselines that do not read the pair."""

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from ..analysis.intervals import IntervalSettings, find_interval
from ..errors import IsoglossError
from ..metrics import from_values
from ..models.engine import TOKEN_BUDGET, answer_all
from ..models.load import open_model
from ..models.model import Loading, Model
from ..models.next_sentence import class_logprobs, next_class, pair_question
from ..progress import Progress, silent
from .parts import open_split

TRAINING_PAIRS = 100_000  # that the baselines learn from
PORTION = 2000
RESAMPLES = 2000
BUCKETS = 2**18
WORD = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]|[^\W\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]+")
Labels = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A share with both ends of its 95 % interval; without ends, there are too few articles for them."""

    value: float
    low: float | None
    high: float | None
    n: int
    articles: int

    def __str__(self) -> str:
        ends = (
            f" [{100 * self.low:.1f}, {100 * self.high:.1f}]" if self.low is not None and self.high is not None else ""
        )
        return f"{100 * self.value:.1f} %{ends}"


def mean_by_article(
    right: Numbers, articles: Sequence[str], *, bounds: tuple[float, float] = (0, 1), seed: int = 0
) -> Accuracy:
    """The mean of a number per pair (such as right or wrong), with an interval over articles."""
    order = np.argsort(np.asarray(articles), kind="stable")
    mean = from_values(np.asarray(right)[order], [articles[index] for index in order])
    interval = find_interval(mean, IntervalSettings("bootstrap", RESAMPLES, seed), bounds=bounds)
    return Accuracy(float(right.mean()), interval.low, interval.high, len(right), len(mean.clusters))


def _words(text: str) -> list[str]:
    """The words of a text in lower case; letters where a script has no spaces."""
    return WORD.findall(text.lower())


def _buckets(text: str) -> npt.NDArray[np.int64]:
    return np.unique([zlib.crc32(word.encode()) % BUCKETS for word in _words(text)] or [0])


def second_only(train: pl.DataFrame, test: pl.DataFrame) -> Labels:
    """What naive Bayes says about the test pairs from the words of the second sentence alone."""
    labels = train["label"].to_numpy()
    counts = np.ones((2, BUCKETS))
    for text, label in zip(train["second"], labels, strict=True):
        counts[label, _buckets(text)] += 1
    sizes = np.array([np.sum(labels == 0), np.sum(labels == 1)]) + 2.0
    weights = np.log(counts[1] / sizes[1]) - np.log(counts[0] / sizes[0])
    prior = np.log(sizes[1] / sizes[0])
    scores = np.array([prior + weights[_buckets(text)].sum() for text in test["second"]])
    return (scores > 0).astype(np.int64)


def overlaps(rows: pl.DataFrame) -> Numbers:
    """For each pair, the share of the words of both sentences that they have in common."""

    def overlap(first: str, second: str) -> float:
        words, other = set(_words(first)), set(_words(second))
        return len(words & other) / max(1, len(words | other))

    return np.array([overlap(first, second) for first, second in rows.select("first", "second").iter_rows()])


def best_threshold(scores: Numbers, labels: Sequence[int] | Labels) -> float:
    """The score from which on to say yes so that most labels are met."""
    order = np.argsort(scores, kind="stable")
    ranked, truth = scores[order], np.asarray(labels)[order]
    below = np.concatenate([[0], np.cumsum(truth == 0)])  # told no, and rightly
    above = np.concatenate([np.cumsum((truth == 1)[::-1])[::-1], [0]])  # told yes, and rightly
    possible = np.concatenate([[True], ranked[1:] != ranked[:-1], [True]])
    best = int(np.argmax(np.where(possible, below + above, -1)))
    return float(ranked[best]) if best < len(ranked) else float(np.inf)


def word_overlap(train: pl.DataFrame, test: pl.DataFrame) -> Labels:
    """What the overlap of words says about the test pairs, with the threshold that is best for the training pairs."""
    threshold = best_threshold(overlaps(train), train["label"].to_numpy())
    return (overlaps(test) >= threshold).astype(np.int64)


@dataclass(frozen=True, slots=True)
class HeadTest:
    """Accuracies on unseen articles: the head's, the baselines', and how far the head is above word overlap."""

    model: str
    head: Accuracy
    baselines: Mapping[str, Accuracy]
    margin: Accuracy
    by_language: Mapping[str, Accuracy]
    truncated: int


def evaluate_head(
    name: str, data: Path, *, limit: int | None = None, device: str = "cpu", progress: Progress = silent
) -> HeadTest:
    """The test of a model's head on the test split of a folder of pairs, or on at most `limit` of them."""
    rows, train = open_split(data, "test").head(limit), open_split(data, "train").head(TRAINING_PAIRS)
    model = open_model(name, Loading(device))
    if "nsp" not in model.info.heads or "nsp" in model.info.untrained:
        raise IsoglossError(f"'{model.info.name}' has no trained next-sentence head. Train one: isogloss nsp train")
    scores, truncated = pair_scores(model, rows, progress=progress)
    labels, articles = rows["label"].to_numpy(), rows["article"].to_list()
    right = ((scores > 0.5) == labels).astype(np.float64)
    predictions = {"second sentence only": second_only(train, rows), "word overlap": word_overlap(train, rows)}
    others = {key: (outcome == labels).astype(np.float64) for key, outcome in predictions.items()}
    languages = {tag: (rows["language"] == tag).to_numpy() for tag in sorted(rows["language"].unique())}
    by_language = {
        tag: mean_by_article(right[rows_of_language], rows.filter(rows_of_language)["article"].to_list())
        for tag, rows_of_language in languages.items()
    }
    return HeadTest(
        model.info.name,
        mean_by_article(right, articles),
        {key: mean_by_article(outcome, articles) for key, outcome in others.items()},
        mean_by_article(right - others["word overlap"], articles, bounds=(-1, 1)),
        by_language,
        truncated,
    )


def pair_scores(
    model: Model, rows: pl.DataFrame, *, progress: Progress = silent
) -> tuple[npt.NDArray[np.float64], int]:
    """The probability of `is next` for each pair, as `eval` computes it, and how many pairs were cut."""
    scores, cut = np.empty(rows.height), 0
    for start in range(0, rows.height, PORTION):
        part = rows[start : start + PORTION].select("first", "second").rows()
        asked = [pair_question(model, first, second=second) for first, second in part]
        answers = answer_all(model, [question for question, _ in asked], token_budget=TOKEN_BUDGET)
        classes = [class_logprobs(model, answer)[next_class(model)] for answer in answers]
        scores[start : start + len(part)] = np.exp(classes)
        cut += sum(truncated for _, truncated in asked)
        progress(f"{model.info.name} test pairs", (start + len(part)) / rows.height)
    return scores, cut


def head_test_as_text(result: HeadTest) -> str:
    """The test for people."""
    rows = {result.model: result.head, **result.baselines, "margin over word overlap": result.margin}
    if len(result.by_language) > 1:
        rows |= {f"{result.model} in {tag}": accuracy for tag, accuracy in result.by_language.items()}
    width = max(map(len, rows))
    lines = [f"{result.head.n:,} pairs of {result.head.articles:,} unseen articles; 95 % intervals over articles"]
    lines += [f"{label:{width}}  {accuracy}" for label, accuracy in rows.items()]
    if result.truncated:
        lines.append(f"{result.truncated:,} pairs were too long and lost their beginning")
    return "\n".join(lines)
