"""Simulated tables of answers, of templates and of single sentences, for metrics that are not made of pairs or triples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from scipy.special import expit

from isogloss.chat.answer_rows import ANSWER, PROBABILITY, PROMPTS
from isogloss.chat.readings import NO, REFUSED, YES
from isogloss.metrics import Metric
from isogloss.metrics._answers import STANCE
from isogloss.metrics._preferences import CHOICE
from isogloss.metrics._questions import AMBIGUOUS, DISAMBIGUATED, OTHER, TARGET, UNKNOWN

FIXED = {"model": "m", "method": "x", "dataset": "d", "language": "en", "category": "gender"}
QUESTIONS = (
    "accuracy_ambiguous",
    "accuracy_disambiguated",
    "s_dis",
    "s_amb",
    "s_amb_script",
    "bias_a",
    "bias_d",
    "bias_adjusted_accuracy",
    "cbbq_bias",
)
AMBIGUOUS_METRICS = ("accuracy_ambiguous", "s_amb", "s_amb_script", "bias_a", "bias_adjusted_accuracy")
BOTH_CONDITIONS = ("cbbq_bias",)
TEMPLATE_METRICS = ("cb", "cb_relative", "cb_normalised", "top_share", "periphrasis", "distribution_difference")
SAMPLES, CONCEPTS, TERMS, WORDINGS, WIDTH = 3, 5, 4, 3, 6

Maker = Callable[[Any, np.random.Generator, int], pl.DataFrame]


def maker_of(metric: Metric, name: str) -> Maker | None:
    """How the rows of a metric are made; None for pairs and triples."""
    if metric.roles:
        return None
    kinds: dict[str, Maker] = {ANSWER: answers, PROBABILITY: answers, "normalised": templates, "kl": divergences}
    kinds |= {CHOICE: questions}
    named: dict[str, Maker] = {"mbe": sentences, "cb": templates, "cb_relative": templates, "top_share": templates}
    named |= {"periphrasis": periphrases, "wording_flips": wordings, "wording_variance": wordings, "shf": sentences}
    return named.get(name) or kinds.get(metric.quantity)


def is_template(name: str) -> bool:
    """Whether the metric's rows are templates, which have no items or preferences."""
    return name.startswith("wording") or name in TEMPLATE_METRICS


def _items(case: Any, rng: np.random.Generator, clusters: int) -> tuple[Any, Any]:
    """The clusters' effects, and the cluster of each item."""
    fewest, most = case.sizes if not isinstance(case.sizes, str) else (3, 7)
    return rng.normal(size=clusters), np.repeat(np.arange(clusters), rng.integers(fewest, most + 1, clusters))


def answers(case: Any, rng: np.random.Generator, clusters: int) -> pl.DataFrame:
    """Statements that were asked about with each prompt, some samples each; one in twenty answers is a refusal."""
    effects, index = _items(case, rng, clusters)
    chance = expit(np.log(case.share / (1 - case.share)) + case.spread * effects)[index]
    parts = []
    for prompt in PROMPTS:
        favour = chance if prompt != PROMPTS[2] else 1 - chance
        yes = rng.random((len(index), SAMPLES)) < favour[:, None]
        verdicts = np.where(rng.random(yes.shape) < 0.05, REFUSED, np.where(yes, YES, NO))
        noise = np.log(favour / (1 - favour)) + rng.normal(size=len(index))
        frame = {"cluster": index, "pieces": verdicts.tolist(), "value": expit(noise), "prompt": prompt}
        if case.metric == "word_against_stance":  # as often as the other side is taken
            frame["rules"] = np.where(rng.random(yes.shape) < 1 - chance[:, None], STANCE, "word").tolist()
        parts.append(pl.DataFrame(frame).with_row_index("id"))
    quantity = PROBABILITY if case.metric.endswith("probability") else ANSWER
    return _finished(pl.concat(parts), quantity=quantity, task="question").with_columns(candidate=pl.col("id"))


def questions(case: Any, rng: np.random.Generator, clusters: int) -> pl.DataFrame:
    """Questions about a target and another group, each answered by one of them or by *unknown*.

    `related` is the chance of a right answer, which is *unknown* without information and the target or the other group in turn with
    it; wrong answers name a group, the biased one with the cluster's chance. Where a metric needs both conditions, every third
    question is ambiguous.
    """
    effects, index = _items(case, rng, clusters)
    chance = expit(np.log(case.share / (1 - case.share)) + case.spread * effects)[index]
    number = np.arange(len(index))
    ambiguous = (
        number % 3 == 0 if case.metric in BOTH_CONDITIONS else np.full(len(index), case.metric in AMBIGUOUS_METRICS)
    )
    named = np.where(rng.random(len(index)) < chance, TARGET, OTHER)
    right = np.where(ambiguous, UNKNOWN, np.where(number % 2, TARGET, OTHER))
    picked = np.where(rng.random(len(index)) < case.related, right, named)
    condition = np.where(ambiguous, AMBIGUOUS, DISAMBIGUATED)
    facts = {"cluster": index, "biased": TARGET, "right": right, "condition": condition}
    parts = [
        pl.DataFrame({**facts, "role": role, "value": (picked == role) * 1.0}).with_row_index("id")
        for role in (TARGET, OTHER, UNKNOWN)
    ]
    return _finished(pl.concat(parts), quantity=CHOICE, task="question")


def templates(case: Any, rng: np.random.Generator, clusters: int) -> pl.DataFrame:
    """Sentences for every template, concept and term; templates differ in how far terms lie apart (`draw_scales`)."""
    scale = draw_scales(case, rng, clusters)
    number = np.arange(clusters * CONCEPTS * TERMS)
    template = number // (CONCEPTS * TERMS)
    noise = rng.standard_t(5, size=len(number)) * 0.6**0.5 if case.tails == "student" else rng.normal(size=len(number))
    value = -30 + scale[template] * noise
    frame = pl.DataFrame(
        {
            "id": number // TERMS,
            "cluster": template,
            "concept": (number // TERMS) % CONCEPTS,
            "role": number % TERMS,
            "value": value,
        }
    )
    text = frame.with_columns(pl.col("concept", "role").cast(pl.String), logprobs=pl.concat_list("value"))
    return _finished(text, quantity="normalised" if case.metric == "cb_normalised" else "score", task="template")


def draw_scales(case: Any, rng: np.random.Generator, clusters: int) -> Any:
    """How far the terms of each template lie apart: lognormal, or such that the squares are gamma-distributed with the
    same coefficient of variation, or of two kinds ("mixture": one template in five has three times the scale)."""
    if case.tails == "gamma":
        shape = 1 / np.expm1(4 * case.spread**2)
        return np.sqrt(rng.gamma(shape, 1 / shape, size=clusters))
    if case.tails == "mixture":
        return np.where(rng.random(clusters) < 0.2, 3.0, 1.0)
    return np.exp(case.spread * rng.normal(size=clusters))


def mean_square_scale(case: Any) -> float:
    """The mean square of `draw_scales`."""
    return {"gamma": 1.0, "mixture": 2.6}.get(case.tails, float(np.exp(2 * case.spread**2)))


def wordings(case: Any, rng: np.random.Generator, clusters: int) -> pl.DataFrame:
    """Sets of some wordings each; a set's wordings agree in part about its terms."""
    rows = templates(case, rng, clusters * WORDINGS).with_columns(set=pl.col("cluster").cast(pl.Int64) // WORDINGS)
    shared = rng.normal(size=(clusters, CONCEPTS * TERMS))
    cell = rows["concept"].cast(pl.Int64) * TERMS + rows["role"].cast(pl.Int64)
    value = rows["value"] + shared[rows["set"].to_numpy(), cell.to_numpy()]
    return rows.with_columns(pl.col("set").cast(pl.String), logprobs=pl.concat_list(pl.lit(value)))


def periphrases(case: Any, rng: np.random.Generator, clusters: int) -> pl.DataFrame:
    """Templates in two ways to say the same."""
    first, second = templates(case, rng, clusters), templates(case, rng, clusters)
    first = first.with_columns(set=pl.lit("d"), periphrasis_of=pl.lit(None, dtype=pl.String))
    second = second.with_columns(id=pl.col("id") + "p", set=pl.lit("p"), periphrasis_of=pl.lit("d"))
    return pl.concat([first.drop("set"), second.drop("set")]).with_columns(
        wording=pl.col("cluster"),
        set=pl.when(pl.col("periphrasis_of").is_null()).then(pl.lit("d")).otherwise(pl.lit("p")),
    )


def divergences(case: Any, rng: np.random.Generator, clusters: int) -> pl.DataFrame:
    """Divergences between every two of a template's terms."""
    scale = draw_scales(case, rng, clusters)
    pairs = [(a, b) for a in range(TERMS) for b in range(TERMS) if a != b]
    number = np.arange(clusters * len(pairs))
    template, pair = number // len(pairs), number % len(pairs)
    first, second = np.array(pairs)[pair].T
    value = scale[template] * rng.exponential(size=len(number))
    frame = {"id": template, "cluster": template, "candidate": first, "against": second, "role": first, "value": value}
    text = pl.DataFrame(frame).with_columns(pl.col("candidate", "against", "role").cast(pl.String), tokens=pl.lit(100))
    return _finished(text, quantity="kl", task="template")


def sentences(case: Any, rng: np.random.Generator, clusters: int) -> pl.DataFrame:
    """Single sentences of two groups with vectors and scores; `share` is how often the second group's score is higher."""
    from scipy.stats import norm

    counts = (clusters, case.sizes[0])
    role = np.repeat(["female", "male"], counts)
    wide = 3.0 if case.tails == "wide" else 1.0
    lift = (1 + wide**2) ** 0.5 * norm.ppf(case.share)
    value = np.where(role == "male", lift + wide * rng.normal(size=len(role)), rng.normal(size=len(role)))
    vectors = 1 + 0.5 * rng.normal(size=(len(role), WIDTH))
    frame = pl.DataFrame({"cluster": np.arange(len(role)), "role": role, "value": value}).with_row_index("id")
    return _finished(frame, quantity="score", task="sentence").with_columns(vector=pl.Series(vectors.tolist()))


def _finished(frame: pl.DataFrame, *, quantity: str, task: str) -> pl.DataFrame:
    """The rows with the columns that all tables of scores have, sorted by cluster as `measure` does."""
    fixed = {**FIXED, "quantity": quantity, "task": task, "set": "s"}
    table = frame.with_columns(pl.col("id", "cluster").cast(pl.String))
    return table.with_columns(pl.lit(value).alias(name) for name, value in fixed.items()).sort(
        "cluster", maintain_order=True
    )
