"""Robustness of a model's scores: the same items under all methods, dtypes and batch sizes; does the sign stay the same?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import polars as pl

from .. import registry
from ..analysis.groups import check_rows, item_gaps
from ..analysis.measures import measure
from ..analysis.robustness import RobustnessReport, SettingResult
from ..errors import IsoglossError
from ..items import Item, Items, group_by
from ..models.load import open_model
from ..models.model import DEFAULT_LOADING, Loading, Model
from ..progress import Progress, silent
from ..results import Results
from ..scores import Scored
from ..stats import RESAMPLES
from ..stats.associations import kappa, spearman
from ..stats.resampling import Array
from .run import score_items
from .scoring_plan import method_or_error

DTYPES = ("float16", "bfloat16")
BUDGETS = (128, 65_536)
NOISE = 95

Key = tuple[str, str, str]  # data set, language, task


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to score: the method with its options, a dtype, a batch size; `kind` says what differs from the first."""

    name: str
    kind: str
    method: str
    options: tuple[tuple[str, str], ...]
    dtype: str = "float32"
    token_budget: int | None = None


def check_robustness(
    items: Items,
    *,
    model: str | Model,
    loading: Loading = DEFAULT_LOADING,
    resamples: int = RESAMPLES,
    progress: Progress = silent,
) -> Results[RobustnessReport]:
    """A report for each data set, language and task; dtypes are tried only for a model that is given by name."""
    first = open_model(model, replace(loading, dtype="float32")) if isinstance(model, str) else model
    groups = group_by(items, lambda item: (item.dataset, item.language, str(item.tags.get("task") or "-")))
    dtypes = DTYPES if isinstance(model, str) else ()
    plans = {key: list(_settings(rows, first, dtypes=dtypes)) for key, rows in groups.items()}
    if not any(plans.values()):
        raise IsoglossError(f"No method can score these items with '{first.info.name}'.")
    tables: dict[Key, dict[Setting, pl.DataFrame | str]] = {key: {} for key, plan in plans.items() if plan}
    for dtype in ("float32", *dtypes):
        opened: Model | str = first
        if dtype != "float32":
            try:
                opened = open_model(str(model), replace(loading, dtype=dtype))
            except (IsoglossError, RuntimeError) as error:
                opened = str(error)
        for key, table in tables.items():
            for setting in (plan for plan in plans[key] if plan.dtype == dtype):
                table[setting] = _try(setting, groups[key], model=opened, loading=loading, progress=progress)
    return Results(
        tuple(_report(first.info.name, key, tables=table, resamples=resamples) for key, table in tables.items())
    )


def _settings(rows: Sequence[Item], model: Model, *, dtypes: Sequence[str]) -> Iterator[Setting]:
    """The default first, then one thing changed at a time; nothing when no method can score the items."""
    from ..methods import label

    usual = method_or_error(rows[0], model.info.family, heads=model.info.heads)
    default: Setting | None = None
    for name in dict.fromkeys([*([usual] if isinstance(usual, str) else []), *registry.names("method")]):
        for options in _options(name, rows, model=model):
            title = label(name, registry.get("method", name), options=options)
            setting = Setting(title, "method" if default else "default", name, tuple(options.items()))
            default = default or setting
            yield setting
    if default is not None:
        for budget in BUDGETS:
            yield replace(default, name=f"{budget} tokens per batch", kind="batch", token_budget=budget)
        for dtype in dtypes:
            yield replace(default, name=dtype, kind="dtype", dtype=dtype)


def _options(name: str, rows: Sequence[Item], *, model: Model) -> Iterator[dict[str, str]]:
    """The method's options at their defaults, then each other value alone, as far as the model and most items allow."""
    from ..methods import check_model

    method = registry.get("method", name)
    if method.alone:  # answers in words are no scores
        return
    if 2 * sum(method.suits(item) for item in rows) < len(rows):
        return
    defaults = {key: values[0] for key, values in method.options.items()}
    others = [{**defaults, key: value} for key, values in method.options.items() for value in values[1:]]
    for options in (defaults, *others):
        try:
            check_model(name, method, model=model, options=options)
        except IsoglossError:
            continue
        yield options


def _try(
    setting: Setting, rows: Sequence[Item], *, model: Model | str, loading: Loading, progress: Progress
) -> pl.DataFrame | str:
    """The scores under a setting, or why there are none: a model that could not be opened is its reason."""
    if isinstance(model, str):
        return model
    how = replace(loading, dtype=setting.dtype, token_budget=setting.token_budget or loading.token_budget)
    try:
        items, options = Items(tuple(rows)), dict(setting.options)
        scored = score_items(items, model, method=setting.method, options=options, loading=how, progress=progress)
        table = check_rows(scored)
        item_gaps(table)
        return table
    except (IsoglossError, RuntimeError) as error:
        return str(error)


def _report(name: str, key: Key, *, tables: Mapping[Setting, pl.DataFrame | str], resamples: int) -> RobustnessReport:
    gaps: dict[Setting, dict[str, float]] = {
        setting: dict(item_gaps(table).select("id", "gap").iter_rows())
        for setting, table in tables.items()
        if not isinstance(table, str)
    }
    default = next(iter(tables))
    if default not in gaps:
        raise IsoglossError(f"The {key[2]} items in {key[1]} cannot be scored at all: {tables[default]}")
    base = gaps[default]
    trials = [
        _setting_result(setting, table, gaps=(base, gaps.get(setting, {})), resamples=resamples)
        for setting, table in tables.items()
    ]
    methods = [setting for setting in gaps if setting.kind in ("default", "method")]
    agreement = []
    for a, b in combinations(methods, 2):
        x, y = _common_gaps(gaps[a], gaps[b])
        signs = ([str(sign) for sign in np.sign(side)] for side in (x, y))
        agreement.append((a.name, b.name, spearman(x, y).value, kappa(*signs)))
    worst = max((trial.noise or 0.0 for trial in trials), default=0.0)
    below = tuple(item for item, gap in base.items() if abs(gap) < worst)
    sign = sign_of([trial for trial in trials if trial.value is not None])
    return RobustnessReport(name, *key, tuple(trials), sign, tuple(agreement), below)


def _setting_result(
    setting: Setting,
    table: pl.DataFrame | str,
    *,
    gaps: tuple[Mapping[str, float], Mapping[str, float]],
    resamples: int,
) -> SettingResult:
    if isinstance(table, str):
        return SettingResult(setting.name, setting.kind, None, None, None, 0, why=table)
    row = measure(Scored(table), metrics=["ss"], by=[], resamples=resamples)[0]
    trial = SettingResult(setting.name, setting.kind, row.value, row.low, row.high, row.n, why=row.why)
    x, y = _common_gaps(*gaps)
    if setting.kind == "default" or not len(x):
        return trial
    trial = replace(trial, flips=int(np.sum(np.sign(x) != np.sign(y))), rank=spearman(x, y).value)
    if setting.kind == "method":
        return trial
    noise = float(np.percentile(np.abs(x - y), NOISE))
    return replace(trial, noise=noise, below=int(np.sum(np.abs(x) < noise)))


def _common_gaps(a: Mapping[str, float], b: Mapping[str, float]) -> tuple[Array, Array]:
    both = [item for item in a if item in b]
    return np.array([a[item] for item in both]), np.array([b[item] for item in both])


def sign_of(trials: Sequence[SettingResult]) -> str:
    """Whether all settings lie on the same side of 50; unclear when an interval holds 50, or is missing."""
    sides = set()
    for trial in trials:
        low, high = trial.low, trial.high
        sides.add("?" if low is None or high is None or low <= 50 <= high else "+" if low > 50 else "-")
    if {"+", "-"} <= sides:
        return "different"
    return "same" if len(sides) == 1 and "?" not in sides else "unclear"
