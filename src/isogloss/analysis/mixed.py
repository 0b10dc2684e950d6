"""A mixed model: what language, bias type and facts about models have to do with preferring stereotypes."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from ..errors import BadData, IsoglossError, list_known, require
from ..files.yaml_values import read_yaml
from ..items import ANTI_STEREOTYPE, STEREOTYPE
from ..metrics import number_clusters
from ..metrics._preferences import wins
from ..results import METHODS
from ..scores import Scored
from ..stats.estimates import Scatter
from ..stats.resampling import FEWEST_CLUSTERS, Array, cluster_sums, student_quantile
from .groups import check_rows, pivot_roles

Facts = Mapping[str, Mapping[str, str | float]]
FACT = "fact "  # the columns of facts begin with it
FEWEST_MODELS = 10
"""The models that each group of a fact needs: with fewer, one unusual model decides, and no p holds."""


@dataclass(frozen=True, slots=True)
class Effect:
    """By how many points of SS a level lies above its reference, other things equal; without an interval, the notes say why."""

    name: str
    estimate: float
    low: float | None
    high: float | None
    p: float | None


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


FEW = (
    "{count} models show poorly how much models differ, so the p of languages, bias types and tasks may be too small: with three "
    "models and 79 targets, 9 % of differences that do not exist were significant in a simulation, instead of 5 %"
)


def fit_mixed(scored: Scored, *, facts: Facts | None = None) -> MixedModel:
    """A linear mixed model of each item's preference (0, 50 or 100), with a random intercept per target.

    Fixed effects are language, bias type and task, and the facts of the models, or the models themselves without any.
    Intervals of languages, bias types and tasks include the scatter of models, those of facts are over models.
    """
    models = require("statsmodels.regression.mixed_linear_model", extra="stats")
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
            f"The effects of {', '.join(name.removeprefix(FACT) for name in names)} cannot be separated with these runs. "
            "Give fewer facts, or more models."
        )
    shares = wins(rows[STEREOTYPE], rows[ANTI_STEREOTYPE], mode="corrected")[0]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Powell needs no gradient: near a random effect of zero the gradient methods stop at a flat, useless place.
        fitted = models.MixedLM(shares, design, groups=rows["cluster"].to_numpy()).fit(reml=True, method=["powell"])
    spread = float(np.asarray(fitted.cov_re)[0][0])
    estimates = np.asarray(fitted.fe_params)
    scores = _scores(design, shares - design @ estimates, targets=rows["cluster"], ratio=spread / float(fitted.scale))
    scatters: list[Scatter | None]
    scatters = [_scatter_of(scores[:, k], rows, with_models=_is_over_models(name)) for k, name in enumerate(columns)]
    means = _fact_scatters(rows, shares, design=design, estimates=estimates, names=names)
    few = sorted(name for name, scatter in means.items() if scatter is None)
    scatters = [means.get(name, scatter) for name, scatter in zip(columns, scatters, strict=True)]
    effects = [
        _effect(name, estimate, scatter=scatter)
        for name, estimate, scatter in zip(columns, 100 * estimates, scatters, strict=True)
    ]
    notes = [f"no interval for {', '.join(few)}: a fact needs {FEWEST_MODELS} models in each group"] if few else []
    count = rows["model"].n_unique()
    if 1 < count < FEWEST_MODELS and any(_is_over_models(name) for name in columns[1:] if name not in means):
        notes.append(FEW.format(count=count))
    notes += [*(str(warning.message).split(". ")[0] for warning in caught), *scored.notes]
    deviations = 100 * float(np.sqrt(spread)), 100 * float(np.sqrt(fitted.scale))
    return MixedModel(tuple(effects), *deviations, len(shares), targets, tuple(dict.fromkeys(notes)))


def _effect(name: str, estimate: float, *, scatter: Scatter | None) -> Effect:
    """The effect with Student's interval and p, in points of SS."""
    from scipy.special import stdtr

    if scatter is None:
        return Effect(name, float(estimate), None, None, None)
    half = student_quantile(0.975, scatter.freedom) * scatter.error
    p = 2 * float(stdtr(scatter.freedom, -abs(estimate) / scatter.error)) if scatter.error > 0 else 1.0
    return Effect(name, float(estimate), float(estimate - half), float(estimate + half), p)


def _scores(design: Array, residuals: Array, *, targets: pl.Series, ratio: float) -> Array:
    """What each row adds to the error of each effect, in points of SS, given random intercepts of the targets.

    `ratio` is the targets' variance by that of the residuals.
    """
    index = number_clusters(targets)[0]
    count = np.bincount(index)
    shrink = ratio / (1 + ratio * count)
    weighted = design - (shrink[:, None] * cluster_sums(design, index))[index]
    return np.asarray(100 * (weighted * residuals[:, None]) @ np.linalg.inv(design.T @ weighted))


def _is_over_models(name: str) -> bool:
    """Whether an effect is meant for models in general, as that of a language is; that of a model is about this one."""
    return not name.startswith("model ")


def _scatter_of(scores: Array, rows: pl.DataFrame, *, with_models: bool) -> Scatter:
    """The error of an effect by the scatter of whole targets (Liang and Zeger 1986) and, with several models, of whole models.

    Targets hold what an item repeats over languages and models; models hold that each differs between languages in its
    own way. The squared errors are added, less that of targets within models, which both contain (Cameron et al. 2011);
    the degrees of freedom are Satterthwaite's.
    """
    targets = _squared_error(scores, rows["cluster"])
    count, models = rows["cluster"].n_unique(), rows["model"].n_unique()
    if not with_models or models < 2:
        return Scatter(float(np.sqrt(targets)), count - 1)
    both = rows.select(pl.concat_str("model", "cluster", separator="\t")).to_series()
    model_error = max(0.0, _squared_error(scores, rows["model"]) - _squared_error(scores, both))
    parts = targets**2 / (count - 1) + model_error**2 / (models - 1)
    return Scatter(
        float(np.sqrt(targets + model_error)), (targets + model_error) ** 2 / parts if parts > 0 else count - 1
    )


def _squared_error(scores: Array, groups: pl.Series) -> float:
    sums = cluster_sums(scores[:, None], number_clusters(groups)[0])
    return len(sums) / (len(sums) - 1) * float(np.sum(sums**2))


def _fact_scatters(
    rows: pl.DataFrame, shares: Array, *, design: Array, estimates: Array, names: Sequence[str]
) -> dict[str, Scatter | None]:
    """The error of each fact's effect by the scatter of the models' means; none where a group has too few models.

    A fact is the same for all items of a model, so models are the units: the means, less what the other effects explain,
    are regressed on the facts, with as many degrees of freedom as there are models beyond the coefficients.
    """
    facts = [name for name in names if name.startswith(FACT)]
    index, models = number_clusters(rows["model"])
    first = rows.unique("model", keep="first", maintain_order=True)
    table, labels = _design(first, facts)
    width = design.shape[1] - (len(labels) - 1)  # the facts' columns are the last
    rest = shares - design[:, 1:width] @ estimates[1:width]
    means = 100 * np.bincount(index, weights=rest) / np.bincount(index)
    freedom = len(models) - len(labels)
    if not facts or freedom < 1:
        return dict.fromkeys(labels[1:])
    inverse = np.linalg.inv(table.T @ table)
    residuals = means - table @ (inverse @ table.T @ means)
    errors = np.sqrt(np.diag(inverse) * float(residuals @ residuals) / freedom)
    scatters: dict[str, Scatter | None] = {}
    for name in facts:
        numeric = first.schema[name].is_numeric()
        fewest = first.height if numeric else min(first[name].value_counts()["count"])
        for label in _design(first, [name])[1][1:]:
            error = float(errors[labels.index(label)])
            scatters[label] = Scatter(error, freedom) if fewest >= FEWEST_MODELS else None
    return scatters


def _with_facts(rows: pl.DataFrame, facts: Facts) -> tuple[pl.DataFrame, list[str]]:
    """The rows with the facts of their models, and the names of all columns that have more than one value."""
    names: list[str] = [name for name in ("language", "category", "task") if name in rows.columns]
    if facts:
        missing = sorted(set(rows["model"]) - set(facts))
        if missing:
            raise IsoglossError(
                f"There are no facts about the model '{missing[0]}'. Known: {list_known(missing[0], sorted(facts))}."
            )
        fact_names = sorted({name for model in set(rows["model"]) for name in facts[model]})
        for name in fact_names:
            values = [facts[model].get(name) for model in rows["model"]]
            if any(value is None for value in values):
                raise IsoglossError(f"The fact '{name}' is not given for every model.")
            if not all(isinstance(value, int | float) for value in values):
                values = list(map(str, values))
            rows = rows.with_columns(pl.Series(f"{FACT}{name}", values, strict=False))
        names += [f"{FACT}{name}" for name in fact_names]
    else:
        names.append("model")
    return rows, [name for name in names if rows[name].drop_nulls().n_unique() > 1]


def _design(rows: pl.DataFrame, names: Sequence[str]) -> tuple[Array, list[str]]:
    """An intercept, one column per level but the first of each factor, and centred numbers."""
    columns, labels = [np.ones(rows.height)], ["(intercept)"]
    for name in names:
        fact = name.removeprefix(FACT)
        if rows.schema[name].is_numeric():
            values = rows[name].cast(pl.Float64).to_numpy()
            columns.append(values - values.mean())
            labels.append(fact)
            continue
        levels = sorted(map(str, rows[name].fill_null("none").unique()))
        for level in levels[1:]:
            columns.append((rows[name].fill_null("none") == level).to_numpy().astype(np.float64))
            labels.append(f"{fact} {level} (not {levels[0]})")
    return np.column_stack(columns), labels
