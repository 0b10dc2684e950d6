"""A mixed model: what language, bias type and facts about models have to do with preferring stereotypes."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from ..errors import BadData, IsoglossError, require
from ..files.yaml_values import read_yaml
from ..items import ANTI_STEREOTYPE, STEREOTYPE
from ..metrics import number_clusters
from ..metrics._preferences import wins
from ..results import METHODS
from ..scores import Scored
from ..stats.resampling import FEWEST_CLUSTERS, Array, cluster_sums, student_quantile
from .groups import check_rows, pivot_roles

Facts = Mapping[str, Mapping[str, str | float]]


@dataclass(frozen=True, slots=True)
class Effect:
    """By how many points of SS a level lies above its reference, other things equal."""

    name: str
    estimate: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True, repr=False)
class MixedModel:
    """A fitted linear mixed model: fixed effects, and how much targets and items scatter (standard deviations)."""

    effects: tuple[Effect, ...]
    target_deviation: float
    residual_deviation: float
    n: int
    targets: int
    notes: tuple[str, ...] = ()

    __repr__, __str__, _repr_html_, to_polars, to_pandas, to_dict, to_json = METHODS


def read_facts(path: Path) -> dict[str, dict[str, str | float]]:
    """Facts about models from a YAML file: a model's name, then names and values."""
    return check_facts(read_yaml(path)[0], path)


def check_facts(content: object, path: str | Path) -> dict[str, dict[str, str | float]]:
    """Facts about models that are already read; errors name `path`."""
    if not isinstance(content, dict) or not all(isinstance(facts, dict) and facts for facts in content.values()):
        raise BadData(path, None, "must map each model's name to its facts, such as size: 8.1 or multilingual: true.")
    return {
        str(model): {
            str(k): v if isinstance(v, int | float) and not isinstance(v, bool) else str(v) for k, v in facts.items()
        }
        for model, facts in content.items()
    }


def fit_mixed(scored: Scored, *, facts: Facts | None = None) -> MixedModel:
    """A linear mixed model of each item's preference (0, 50 or 100), with a random intercept per target.

    Fixed effects are language, bias type and task, and the facts of the models, or the models themselves without any.
    """
    models = require("statsmodels.regression.mixed_linear_model", extra="stats")
    from scipy.special import stdtr

    rows = pivot_roles(check_rows(scored))
    if not {STEREOTYPE, ANTI_STEREOTYPE} <= set(rows.columns):
        raise IsoglossError(
            "The mixed model is about stereotypes and anti-stereotypes, and these items have no such roles."
        )
    rows = rows.drop_nulls([STEREOTYPE, ANTI_STEREOTYPE])
    rows, names = _with_facts(rows, facts or {})
    design, columns = _design(rows, names)
    targets = rows["cluster"].n_unique()
    if targets < FEWEST_CLUSTERS:
        raise IsoglossError(f"{targets} targets are too few for a mixed model; it needs {FEWEST_CLUSTERS}.")
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise IsoglossError(
            f"The effects of {', '.join(name.removeprefix('fact ') for name in names)} cannot be told apart with these runs. "
            "Give fewer facts, or more models."
        )
    shares = wins(rows[STEREOTYPE], rows[ANTI_STEREOTYPE], mode="corrected")[0]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Powell needs no gradient: near a random effect of zero the gradient methods stop at a flat, useless place.
        fitted = models.MixedLM(shares, design, groups=rows["cluster"].to_numpy()).fit(reml=True, method=["powell"])
    spread = float(np.asarray(fitted.cov_re)[0][0])
    estimates = np.asarray(fitted.fe_params)
    index = number_clusters(rows["cluster"])[0]
    errors = _robust_errors(design, shares - design @ estimates, index=index, ratio=spread / float(fitted.scale))
    effects, freedom = [], targets - 1
    for name, estimate, error in zip(columns, (100 * estimates).tolist(), (100 * errors).tolist(), strict=True):
        half = student_quantile(0.975, freedom) * error
        p = 2 * float(stdtr(freedom, -abs(estimate) / error)) if error > 0 else 1.0
        effects.append(Effect(name, estimate, estimate - half, estimate + half, p))
    notes = tuple(dict.fromkeys([*(str(warning.message).split(". ")[0] for warning in caught), *scored.notes]))
    deviations = 100 * float(np.sqrt(spread)), 100 * float(np.sqrt(fitted.scale))
    return MixedModel(tuple(effects), *deviations, len(shares), targets, notes)


def _robust_errors(design: Array, residuals: Array, *, index: npt.NDArray[np.int64], ratio: float) -> Array:
    """The standard errors of the fixed effects by the scatter of whole targets (Liang and Zeger 1986).

    They hold where an item repeats over languages and models, and where targets differ by language, which the random
    intercepts of the targets do not know. `ratio` is the targets' variance by that of the residuals.
    """
    count = np.bincount(index)
    shrink = ratio / (1 + ratio * count)
    weighted = design - (shrink[:, None] * cluster_sums(design, index))[index]
    inverse = np.linalg.inv(design.T @ weighted)
    scores = cluster_sums(weighted * residuals[:, None], index) @ inverse
    return np.asarray(np.sqrt(len(count) / (len(count) - 1) * np.sum(scores**2, axis=0)))


def _with_facts(rows: pl.DataFrame, facts: Facts) -> tuple[pl.DataFrame, list[str]]:
    """The rows with the facts of their models, and the names of all columns that have more than one value."""
    names: list[str] = [name for name in ("language", "category", "task") if name in rows.columns]
    if facts:
        missing = sorted(set(rows["model"]) - set(facts))
        if missing:
            raise IsoglossError(
                f"There are no facts about the model '{missing[0]}'. Known: {', '.join(sorted(facts))}."
            )
        known = sorted({name for model in set(rows["model"]) for name in facts[model]})
        for name in known:
            values = [facts[model].get(name) for model in rows["model"]]
            if any(value is None for value in values):
                raise IsoglossError(f"The fact '{name}' is not given for every model.")
            if not all(isinstance(value, int | float) for value in values):
                values = list(map(str, values))
            rows = rows.with_columns(pl.Series(f"fact {name}", values, strict=False))
        names += [f"fact {name}" for name in known]
    else:
        names.append("model")
    return rows, [name for name in names if rows[name].drop_nulls().n_unique() > 1]


def _design(rows: pl.DataFrame, names: Sequence[str]) -> tuple[Array, list[str]]:
    """An intercept, one column per level but the first of each factor, and centred numbers."""
    columns, labels = [np.ones(rows.height)], ["(intercept)"]
    for name in names:
        shown = name.removeprefix("fact ")
        if rows.schema[name].is_numeric():
            values = rows[name].cast(pl.Float64).to_numpy()
            columns.append(values - values.mean())
            labels.append(shown)
            continue
        levels = sorted(map(str, rows[name].fill_null("none").unique()))
        for level in levels[1:]:
            columns.append((rows[name].fill_null("none") == level).to_numpy().astype(np.float64))
            labels.append(f"{shown} {level} (not {levels[0]})")
    return np.column_stack(columns), labels
