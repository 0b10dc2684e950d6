"""The pipeline as library functions: score items, ask about items, run a study file, probe a template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..analysis.study import Study, nothing_done
from ..errors import IsoglossError
from ..items import Items
from ..methods.ask import AskSettings
from ..models.model import DEFAULT_LOADING, Loading, Model
from ..progress import Progress, shown
from ..results import as_names
from ..scores import Scored
from ..storage import as_path
from .method_choice import PlannedCell
from .plan import StudyPlan, Subset, plan_evaluation, plan_study
from .run import execute
from .training import train_heads

if TYPE_CHECKING:
    from .probe import Probe
    from .run import Cluster


def score(
    items: Items,
    *,
    model: str | Path | Model | Sequence[str | Path | Model],
    method: str = "auto",
    options: Mapping[str, str] | None = None,
    out: str | Path | None = None,
    until: str | None = None,
    loading: Loading = DEFAULT_LOADING,
    progress: Progress | None = None,
) -> Scored:
    """The items scored by one model or several, as one table; the first model that fails raises an error.

    Parameters:
        items: Items, as `isogloss.read` gives them.
        model: The name of a model, a folder, or an open model, or several of them.
        method: The method of scoring; `auto` takes the default of each model's family. `isogloss list methods` lists them.
        options: Options of the method by name: `{"length": "sum"}`.
        out: A folder to keep the scores in; parts that are finished there are not scored again.
        until: A stopping rule such as `ss±2`: each model scores as many items as the answer needs. It needs `out`.
        loading: How models are opened: device, number format, batches.
        progress: A function to call with the progress; without it, a notebook or an interactive session shows bars.

    Example:
        >>> items = ig.read("demo", language="en")
        >>> ig.score(items, model="smollm2")
        Scored(96 items, 288 rows: smollm2 · continuation, likelihood · demo · en)
        >>> ig.score(items, model=["smollm2", "other"], method="likelihood")
        Scored(96 items, 576 rows: other, smollm2 · likelihood · demo · en)
    """
    _check_items(items, "score")
    names, opened = _split_models(model)
    plan = StudyPlan(())
    if names:
        plan = plan_evaluation(names, items, method=method, options=options, loading=loading)
    plan = _add_opened(plan, opened, cell=PlannedCell("", items, method, options or {}, loading=loading))
    return _run(replace(plan, until=until), out, progress=progress)


def ask(
    items: Items,
    *,
    model: str | Path | Model | Sequence[str | Path | Model],
    settings: AskSettings | None = None,
    out: str | Path | None = None,
    until: str | None = None,
    loading: Loading = DEFAULT_LOADING,
    progress: Progress | None = None,
) -> Scored:
    """What one chat model or several answer about the items, on this machine or behind a server, as one table.

    It is `score` by the method `ask`, with the settings as its options.

    Parameters:
        items: Items, as `isogloss.read` gives them.
        model: The name of a chat model, a folder, an open model, or the address of a server, or several.
        settings: How questions are put: order of the options, samples, length of the answer.
        out: A folder to keep the answers in; questions that are answered there are not asked again.
        until: A stopping rule such as `agreement±5`: as many items are asked about as the answer needs. It needs `out`.
        loading: How models are opened; at a server `served_model` is the model's name, `key_env` the variable with the key.
        progress: A function to call with the progress; without it, a notebook or an interactive session shows bars.

    Example:
        >>> items = ig.read("demo", language="en", where="category=religion")
        >>> ig.ask(items, model="smollm2-chat", settings=ig.AskSettings(max_tokens=3))
        Scored(14 items, 84 rows: smollm2-chat · ask[max_tokens=3] · demo · en)
    """
    _check_items(items, "ask")
    options = (settings or AskSettings()).options
    return score(
        items, model=model, method="ask", options=options, out=out, until=until, loading=loading, progress=progress
    )


def run(
    study: str | Path,
    *,
    out: str | Path | None = None,
    only: str | Sequence[str] = (),
    cluster: Cluster | None = None,
    progress: Progress | None = None,
) -> Study:
    """What a study file gives: its scores, measures and claims, and the cells that failed.

    Parameters:
        study: A study file.
        out: The folder to write to; without it, `runs` and the name of the study.
        only: One pattern or several; only cells that match one are run: `smollm2/demo/en`, `*/demo`.
        cluster: The Ray cluster to run on; without it, this process scores.
        progress: A function to call with the progress; without it, a notebook or an interactive session shows bars.

    Example:
        >>> result = ig.run("study.yaml", out="runs/study")
        >>> result
        Study(192 scored items, 4 runs)
        >>> result.measures.to_polars()["metric"].unique().sort().to_list()
        ['lms', 'ss']
        >>> result.failures
        ()
    """
    if not isinstance(study, str | Path):
        raise IsoglossError("run takes one study file. Run several one after another.")
    train_heads(study)
    plan = plan_study(study, subset=Subset(as_names(only)))
    folder = as_path(out or f"runs/{plan.study.name if plan.study else 'study'}")
    with shown(progress) as telling:
        return execute(plan, out=folder, cluster=cluster, progress=telling)


def probe(
    model: str | Path | Model,
    text: str,
    *,
    language: str = "en",
    terms: str | None = None,
    folder: str | Path | None = None,
    limit: int = 2000,
    loading: Loading = DEFAULT_LOADING,
) -> Probe:
    """Which terms a model finds most probable in a template, as shares.

    Parameters:
        model: The name of a model, a folder, or an open model.
        text: A template, such as `The {gender} is a [nurse|doctor].`
        language: The language of the template, by tag or name.
        terms: The slot whose terms are compared; without it, the terms in brackets, or the first slot.
        folder: A folder with vocabularies of your own.
        limit: The largest number of sentences; more are refused.
        loading: How the model is opened.

    Example:
        >>> shares = ig.probe("smollm2", "The [nurse|doctor] is kind.")
        >>> sorted(one.term for one in shares.shares)
        ['doctor', 'nurse']
    """
    from .probe import ProbeRequest, run_probe

    if not isinstance(model, str | Path | Model) or not isinstance(text, str) or not isinstance(language, str):
        raise IsoglossError("probe takes one model, one template and one language. Probe several one after another.")
    request = ProbeRequest(text, language, terms, Path(folder) if folder is not None else None)
    return run_probe(model, request, limit=limit, loading=loading)


def _check_items(items: Items, verb: str) -> None:
    if not isinstance(items, Items):
        raise IsoglossError(f"{verb} takes items. Read them first: items = isogloss.read('demo', language='en')")


def _split_models(models: str | Path | Model | Sequence[str | Path | Model]) -> tuple[list[str], dict[str, Model]]:
    """The names of models, each once, and the open models by their names."""
    entries = [models] if isinstance(models, str) or not isinstance(models, Sequence) else list(models)
    if not entries or not all(isinstance(entry, str | Path | Model) for entry in entries):
        raise IsoglossError("A model is a name, a folder or an open model. Give one of these, or a list of them.")
    names = list(dict.fromkeys(str(entry) for entry in entries if isinstance(entry, str | Path)))
    opened: dict[str, Model] = {}
    for entry in entries:
        if isinstance(entry, Model):
            name = entry.info.name
            if opened.setdefault(name, entry) is not entry or name in names:
                raise IsoglossError(f"Two models are called '{name}'. Score them one after another.")
    return names, opened


def _add_opened(plan: StudyPlan, opened: Mapping[str, Model], *, cell: PlannedCell) -> StudyPlan:
    """The plan with a cell like this one for each open model."""
    cells = [replace(cell, checkpoint=name) for name in opened]
    return replace(plan, cells=(*plan.cells, *cells), opened=opened)


def _run(plan: StudyPlan, out: str | Path | None, *, progress: Progress | None) -> Scored:
    """The scores of a plan; a cell that fails is an error."""
    if plan.failures:
        raise nothing_done(plan.failures)
    with shown(progress) as telling:
        return execute(plan, out=as_path(out) if out else None, progress=telling, strict=True).scores
