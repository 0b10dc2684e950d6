"""Controls beside the score: would control items without a stereotype, random labels, or a preference for short words give the same?"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from .. import registry
from ..errors import BadData, IsoglossError
from ..files.rows import read_bytes
from ..items import ANTI_STEREOTYPE, STEREOTYPE
from ..metrics import Metric
from ..results import Results
from ..scores import KEY, Scored
from ..stats import RESAMPLES
from ..stats.associations import kappa
from ..stats.hypotheses import swap_test
from ..stats.resampling import Array, percentile_interval
from .comparisons import compare
from .groups import IDENTITY, check_rows, group_rows, several_methods
from .intervals import IntervalSettings
from .measures import contribution, measure_with

METRIC = "ss"
QUESTION_METRICS = ("bias_a", "bias_d")


@dataclass(frozen=True, slots=True)
class Control:
    """The value of the score or of one of its controls, with the score's difference from it and their agreement (kappa).

    `kind` is score, items (those without a stereotype of the target), labels or baseline.
    """

    group: Mapping[str, str]
    name: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    p: float | None = None
    kappa: float | None = None
    why: str | None = None
    kind: str = "score"


def check_controls(
    scored: Scored,
    items: pl.DataFrame,
    *,
    frequencies: Mapping[str, int] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Results[Control]:
    """SS of each model and language, beside that of its control items, of random labels, and of models that only like short,
    few-token or frequent words. `items` are the runs' items with their texts; without `frequencies` they are counted there.

    Of questions with answers, the two biases beside those of their control questions.
    """
    table = check_rows(scored, variants=True)
    if "biased" in table.columns and table["biased"].null_count() == 0:
        return _question_controls(table, settings=IntervalSettings(resamples=resamples, seed=seed), notes=scored.notes)
    if not {STEREOTYPE, ANTI_STEREOTYPE} <= set(table["role"]):
        raise IsoglossError("Controls are about stereotypes and anti-stereotypes, and these items have no such roles.")
    if (unknown := table.join(items, on=KEY, how="anti", nulls_equal=True)).height:
        raise IsoglossError(
            f"The data does not have the scored item '{unknown['id'][0]}'. Give the items that were scored."
        )
    settings = IntervalSettings(resamples=resamples, seed=seed)
    identity = [*IDENTITY, "method"] if several_methods(table) else list(IDENTITY)
    rows: list[Control] = []
    for group, part in group_rows(table, identity, keep_null=True):
        real = part.filter(pl.col("variant").is_null())
        if not real.height:
            continue
        score = _score(real, Control(group, "score", None, None, None, 0), settings=settings)
        rows += [score, *_control_items(real, part, score=score, settings=settings)]
        rows.append(permuted_labels(Scored(real), group=group, resamples=resamples, seed=seed))
        texts = items.join(real.select(KEY).unique(), on=KEY, how="semi", nulls_equal=True)
        for name, values in _baselines(real, texts, frequencies=frequencies).items():
            value = pl.col("candidate").replace_strict(values, default=None, return_dtype=pl.Float64)
            preferred = real.with_columns(value=value)
            row = _score(preferred, replace(score, name=name, kind="baseline"), settings=settings)
            rows.append(replace(row, kappa=_agreement(real, preferred)))
    return Results(tuple(rows), notes=scored.notes)


def _question_controls(table: pl.DataFrame, *, settings: IntervalSettings, notes: tuple[str, ...]) -> Results[Control]:
    """The biases of each model and language, and how far they lie above those of the control questions, pair by pair."""
    rows: list[Control] = []
    for group, part in group_rows(
        table, [*IDENTITY, "method"] if several_methods(table) else list(IDENTITY), keep_null=True
    ):
        real = part.filter(pl.col("variant").is_null()) if "variant" in part.columns else part
        for metric in QUESTION_METRICS if real.height else ():
            score = _score(real, Control(group, metric, None, None, None, 0), settings=settings, metric=metric)
            rows.append(score)
            if real.height < part.height:
                rows += _control_items(real, part, score=score, settings=settings, metric=metric)
    return Results(tuple(rows), notes=notes)


def _score(table: pl.DataFrame, control: Control, *, settings: IntervalSettings, metric: str = METRIC) -> Control:
    """The control with the score of a table."""
    row = measure_with(settings, Scored(table), metrics=[metric], by=[])[0]
    return replace(control, value=row.value, low=row.low, high=row.high, n=row.n, why=row.why)


def _control_items(
    real: pl.DataFrame, part: pl.DataFrame, *, score: Control, settings: IntervalSettings, metric: str = METRIC
) -> Iterator[Control]:
    """The score of each kind of control items, and how far the score of their items lies above it, pair by pair."""
    for variant in sorted(set(part["variant"].drop_nulls())):
        name = f"{variant} items" if metric == METRIC else f"{metric} of {variant} items"
        controls = part.filter(pl.col("variant") == variant)
        controls = controls.with_columns(id=pl.col("derived_from"), variant=pl.lit(None, dtype=pl.String))
        row = _score(controls, replace(score, name=name, kind="items"), settings=settings, metric=metric)
        moved = Scored(controls.with_columns(method=pl.lit(name)))
        resamples, seed = settings.resamples, settings.seed
        comparison = compare(Scored(real), moved, metrics=[metric], by=[], resamples=resamples, seed=seed)[0]
        yield replace(
            row,
            difference=comparison.difference,
            difference_low=comparison.low,
            difference_high=comparison.high,
            p=comparison.p,
            kappa=_agreement(real, controls) if metric == METRIC else None,
            why=comparison.why,
        )


def permuted_labels(scored: Scored, *, group: Mapping[str, str], resamples: int = RESAMPLES, seed: int = 0) -> Control:
    """Where the score would lie if, cluster by cluster, chance decided which candidate is called the stereotype."""
    metric: Metric = registry.get("metric", METRIC)
    neutral = metric.neutral or 0.0
    swap = {STEREOTYPE: ANTI_STEREOTYPE, ANTI_STEREOTYPE: STEREOTYPE}
    table = check_rows(scored)
    marked = [
        side.with_columns((pl.lit(mark) + pl.col(name)).alias(name) for name in ("id", "cluster"))
        for mark, side in (("o/", table), ("s/", table.with_columns(pl.col("role").replace(swap))))
    ]
    both_labels = contribution(metric, pl.concat(marked), mode="corrected")
    blank = Control(group, "permuted labels", None, None, None, 0, kind="labels")
    if both_labels is None:
        return replace(blank, why="no item of the group has all the roles")
    index_of = {name: i for i, name in enumerate(both_labels.clusters)}
    names = [name[2:] for name in both_labels.clusters if name.startswith("o/")]
    kept, swapped = (np.array([index_of[mark + name] for name in names]) for mark in ("o/", "s/"))

    def distance(signs: Array) -> Array:
        weights = np.zeros((len(signs), len(both_labels.clusters)))
        weights[:, kept], weights[:, swapped] = signs > 0, signs < 0
        return both_labels.evaluate(weights) - neutral

    p, _ = swap_test(distance, len(names), resamples=resamples, seed=seed)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(resamples, len(names)))
    low, high = percentile_interval(distance(signs) + neutral, level=0.95)
    observed = float(distance(np.ones((1, len(names))))[0])
    return replace(blank, value=neutral, low=low, high=high, n=both_labels.n // 2, difference=observed, p=p)


def _baselines(
    rows: pl.DataFrame, texts: pl.DataFrame, *, frequencies: Mapping[str, int] | None
) -> dict[str, dict[str, float]]:
    """What models without any knowledge of the world would score, by candidate."""
    words = {row["candidate"]: row["word"] or row["text"] for row in texts.iter_rows(named=True)}
    counts = Counter(word for text in texts["text"] for word in _words(text)) if frequencies is None else frequencies
    baselines = {
        "shorter words": {name: -float(len(text)) for name, text in words.items()},
        "more frequent words": {name: _mean_log(text, counts) for name, text in words.items()},
    }
    if rows["tokens"].null_count() == 0:
        tokens = rows.select("candidate", "tokens").iter_rows()
        baselines["fewer tokens"] = {name: -float(count) for name, count in tokens}
    return baselines


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _mean_log(text: str, counts: Mapping[str, int]) -> float:
    """The mean logarithm of the words' frequencies; an unknown word counts as half a word."""
    words = _words(text)
    return sum(math.log(counts.get(word, 0) or 0.5) for word in words) / len(words) if words else math.log(0.5)


def read_frequencies(path: Path) -> dict[str, int]:
    """A word list: on each line a word and how often it occurs, with a tab, a comma or a space between."""
    frequencies: dict[str, int] = {}
    for number, line in enumerate(read_bytes(path).decode("utf-8", "replace").splitlines(), 1):
        if not line.strip():
            continue
        match = re.fullmatch(r"\s*(\S+?)[\t, ]+(\d+)\s*", line)
        if match is None:
            raise BadData(path, number, "a line must be a word and a whole number, such as: house 1204")
        frequencies[match[1].lower()] = int(match[2])
    if not frequencies:
        raise BadData(path, None, "the word list is empty.")
    return frequencies


def _agreement(a: pl.DataFrame, b: pl.DataFrame) -> float | None:
    """Cohen's kappa of two sets of preferences on the same items."""
    sides: list[dict[str, str]] = []
    for table in (a, b):
        pairs = table.filter(pl.col("role").is_in([STEREOTYPE, ANTI_STEREOTYPE]))
        wide = pairs.pivot(on="role", index="id", values="value", aggregate_function="first").drop_nulls()
        signs = wide.select("id", (pl.col(STEREOTYPE) - pl.col(ANTI_STEREOTYPE)).sign()).iter_rows()
        sides.append({item: str(sign) for item, sign in signs})
    both = [item for item in sides[0] if item in sides[1]]
    return kappa([sides[0][i] for i in both], [sides[1][i] for i in both]) if both else None
