"""The pipeline as library functions: score items, ask about items, run a study file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..chat.endpoint import Endpoint
from ..chat.requests import AskSettings
from ..errors import IsoglossError
from ..items import Items
from ..models.load import DEFAULT_LOADING, Loading
from ..progress import Progress, shown
from ..scores import Scored
from ..storage import as_path
from .cells import nothing_done
from .method_choice import PlannedCell
from .plan import StudyPlan, Subset, plan_asking, plan_evaluation, plan_study
from .run import StudyResult, finish_plan, run_plan
from .training import train_heads

if TYPE_CHECKING:
    from ..models.model import Model
    from .connection import Cluster


def score(
    items: Items,
    *,
    model: str | Model,
    method: str = "auto",
    options: Mapping[str, str] | None = None,
    out: str | Path | None = None,
    loading: Loading = DEFAULT_LOADING,
    progress: Progress | None = None,
) -> Scored:
    """The items scored by a model, kept in `out` when it is given (then finished parts are never scored again)."""
    _check_items(items, "score")
    if isinstance(model, str):
        plan = plan_evaluation([model], items, method=method, options=options, loading=loading)
    else:
        name = model.info.name
        plan = StudyPlan((PlannedCell(name, items, method, options or {}),), loading, opened={name: model})
    return _run(plan, out, progress=progress)


def ask(
    items: Items,
    *,
    model: str | Model,
    endpoint: str | Endpoint | None = None,
    key_env: str | None = None,
    settings: AskSettings | None = None,
    out: str | Path | None = None,
    loading: Loading = DEFAULT_LOADING,
    progress: Progress | None = None,
) -> Scored:
    """What a chat model answers about the items, on this machine or behind an endpoint, kept in `out` when it is given.

    `endpoint` is an OpenAI-compatible address; `key_env` names the environment variable that holds its key.
    """
    _check_items(items, "ask")
    if key_env and not isinstance(endpoint, str):
        raise IsoglossError("key_env goes with the address of an endpoint.")
    if isinstance(model, str):
        there = Endpoint(endpoint, model, key_env) if isinstance(endpoint, str) else endpoint
        plan = plan_asking([model], items, settings=settings, endpoint=there, loading=loading)
    else:
        name = model.info.name
        cell = PlannedCell(name, items, "ask", (settings or AskSettings()).options)
        plan = StudyPlan((cell,), loading, opened={name: model})
    return _run(plan, out, progress=progress)


def run(
    study: str | Path,
    *,
    out: str | Path | None = None,
    only: str | Sequence[str] = (),
    cluster: Cluster | None = None,
    progress: Progress | None = None,
) -> StudyResult:
    """A study file, run into `out` (by default runs/NAME) and measured; the result names the cells that failed."""
    train_heads(study)
    plan = plan_study(study, subset=Subset((only,) if isinstance(only, str) else tuple(only)))
    folder = as_path(out or f"runs/{plan.study.name if plan.study else 'study'}")
    with shown(progress) as telling:
        result = run_plan(plan, out=folder, cluster=cluster, progress=telling)
    return finish_plan(plan, result, out=folder)


def _check_items(items: Items, verb: str) -> None:
    if not isinstance(items, Items):
        raise IsoglossError(f"{verb} takes items. Read them first: items = isogloss.read('demo', language='en')")


def _run(plan: StudyPlan, out: str | Path | None, *, progress: Progress | None) -> Scored:
    """The scores of a plan; a cell that fails is an error."""
    with shown(progress) as telling:
        scored = run_plan(plan, out=as_path(out) if out else None, progress=telling, strict=True).scored
    if scored is None:
        raise nothing_done(())
    return scored
