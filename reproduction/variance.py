"""Variance components: how much of the preference for stereotypes is the model, the language, the target, the translation."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from isogloss.analysis.groups import check_rows, pivot_roles
from isogloss.errors import IsoglossError
from isogloss.items import ANTI_STEREOTYPE, STEREOTYPE
from isogloss.metrics._preferences import wins
from isogloss.results import Results
from isogloss.scores import Scored
from isogloss.stats.resampling import FEWEST_CLUSTERS, Array, expanded_level, percentile_interval

NAMES = (
    "model",
    "language",
    "model and language",
    "target",
    "item",
    "item and model",
    "target and language",
    "item and language",
    "rest",
)
"""`item and language` is what one item changes between languages for all models: translation, grammar, tokenization and culture alike."""


@dataclass(frozen=True, slots=True)
class Component:
    """A source of variation: its standard deviation in points of SS, and its share of all, with 95 % intervals.

    A share below zero is chance: the component is too small to be seen. The components of models and of languages have an
    interval only where there are ten of them: drawing targets again says nothing about other models or languages.
    """

    name: str
    deviation: float
    share: float
    low: float | None
    high: float | None
    n: int
    targets: int
    why: str | None = None


def find_components(scored: Scored, *, resamples: int = 1000, seed: int = 0) -> Results[Component]:
    """The variance components of the items' preferences (0, 50 or 100) over models and languages that are fully crossed.

    A mixed model with random effects only, fitted by the expected mean squares of a balanced design, so only items that
    every model has in every language count. Intervals are by resampling targets.
    """
    values, targets = _cube(scored)
    names, index = np.unique(targets, return_inverse=True)
    if len(names) < FEWEST_CLUSTERS:
        raise IsoglossError(f"{len(names)} targets are too few for variance components; they need {FEWEST_CLUSTERS}.")
    components = _components(values, index)
    members = [np.flatnonzero(index == number) for number in range(len(names))]
    rng, drawn = np.random.default_rng(seed), np.empty((resamples, len(NAMES)))
    for draw in range(resamples):
        chosen = [members[number] for number in rng.integers(len(names), size=len(names))]
        again = np.repeat(np.arange(len(names)), [len(one) for one in chosen])
        parts = _components(values[np.concatenate(chosen)], again)
        drawn[draw] = parts / parts.sum()
    ends = [percentile_interval(drawn[:, i], level=expanded_level(len(names))) for i in range(len(NAMES))]
    shares = components / components.sum()
    counts = dict(zip(NAMES[:2], values.shape[1:], strict=True))
    rows = []
    for i, name in enumerate(NAMES):
        few = counts.get(name, FEWEST_CLUSTERS) < FEWEST_CLUSTERS
        why = f"{counts[name]} {name}s; an interval needs {FEWEST_CLUSTERS}" if few else None
        low, high = (None, None) if few else ends[i]
        deviation = float(np.sqrt(max(0.0, components[i])))
        rows.append(Component(name, deviation, float(shares[i]), low, high, len(values), len(names), why))
    return Results(tuple(rows), notes=scored.notes)


def _cube(scored: Scored) -> tuple[Array, npt.NDArray[np.str_]]:
    """The preference of each item by model and language [items, models, languages], and the items' targets."""
    rows = pivot_roles(check_rows(scored)).drop_nulls([STEREOTYPE, ANTI_STEREOTYPE])
    rows = rows.with_columns(won=pl.Series(100 * wins(rows[STEREOTYPE], rows[ANTI_STEREOTYPE], mode="corrected")[0]))
    models, tags = (sorted(map(str, rows[name].unique())) for name in ("model", "language"))
    wide = rows.with_columns(cell=pl.concat_str("model", pl.lit("\t"), "language"))
    wide = wide.pivot(on="cell", index="id", values="won", maintain_order=True).drop_nulls()
    cells = [f"{model}\t{tag}" for model in models for tag in tags]
    if min(len(models), len(tags)) < 2 or not set(cells) <= set(wide.columns) or not wide.height:
        raise IsoglossError(
            "Variance components need two models and two languages, and items that every model has in all of them."
        )
    clusters = rows.unique("id", maintain_order=True).select("id", "cluster")
    targets = wide.join(clusters, on="id", how="left", maintain_order="left")["cluster"].to_numpy().astype(str)
    return wide.select(cells).to_numpy().reshape(wide.height, len(models), len(tags)), targets


def _components(y: Array, target: npt.NDArray[np.int64]) -> Array:
    """The components in the order of NAMES, by equating mean squares with their expectations."""
    i, m, n = y.shape
    grand, item, model, tag = y.mean(), y.mean((1, 2)), y.mean((0, 2)), y.mean((0, 1))
    item_model, item_tag, model_tag = y.mean(2), y.mean(1), y.mean(0)
    im = item_model - item[:, None] - model[None, :] + grand
    il = item_tag - item[:, None] - tag[None, :] + grand
    ml = model_tag - model[:, None] - tag[None, :] + grand
    rest = y - item_model[:, :, None] - item_tag[:, None, :] - model_tag[None]
    rest = rest + item[:, None, None] + model[None, :, None] + tag[None, None, :] - grand
    error = np.sum(rest**2) / ((i - 1) * (m - 1) * (n - 1))
    squares = {
        "i": m * n * np.sum((item - grand) ** 2) / (i - 1),
        "m": i * n * np.sum((model - grand) ** 2) / (m - 1),
        "l": i * m * np.sum((tag - grand) ** 2) / (n - 1),
        "im": n * np.sum(im**2) / ((i - 1) * (m - 1)),
        "il": m * np.sum(il**2) / ((i - 1) * (n - 1)),
        "ml": i * np.sum(ml**2) / ((m - 1) * (n - 1)),
    }
    items_all = (squares["i"] - squares["im"] - squares["il"] + error) / (m * n)
    translation = (squares["il"] - error) / m
    targets = _between(item[:, None], target)
    target_tag = _between(il, target) * n / (n - 1)
    return np.array(
        [
            (squares["m"] - squares["im"] - squares["ml"] + error) / (i * n),
            (squares["l"] - squares["il"] - squares["ml"] + error) / (i * m),
            (squares["ml"] - error) / i,
            targets,
            items_all - targets,
            (squares["im"] - error) / n,
            target_tag,
            translation - target_tag,
            error,
        ]
    )


def _between(values: Array, target: npt.NDArray[np.int64]) -> float:
    """The variance between targets of columns of items' values, by one-way analysis of variance; mean over columns."""
    sizes = np.bincount(target).astype(np.float64)
    sizes_used = sizes[sizes > 0]
    count, total = len(sizes_used), sizes_used.sum()
    typical = (total - (sizes_used**2).sum() / total) / (count - 1)
    parts = []
    for column in values.T:
        means = np.bincount(target, weights=column)[sizes > 0] / sizes_used
        within = np.sum(column**2) - np.sum(sizes_used * means**2)
        between = np.sum(sizes_used * (means - column.mean()) ** 2) / (count - 1)
        parts.append((between - within / (total - count)) / typical)
    return float(np.mean(parts))
