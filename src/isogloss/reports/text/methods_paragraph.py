"""The methods paragraph of a paper: what was measured on what, how, with which intervals, and what to cite."""

from collections.abc import Iterable, Sequence

import polars as pl

from ... import __version__, registry
from ...analysis.competence import LEAST_COMPETENCE
from ...analysis.headlines import find_headlines
from ...chat.records import ANSWERS
from ...errors import IsoglossError
from ...files.catalogue import find_source
from ...metrics import Metric
from ...runs import Run, read_items
from ...stats import RESAMPLES
from ..numbers import listed, plain_name, with_article
from .citations import OURS, cite_runs, entries_of

SHUFFLED = "shuffled"  # the variant of a control item
TIES = "Candidates whose scores are equal count one half."
INTERVALS = (
    "Intervals are 95 % confidence intervals over clusters, which are the target terms or the items that belong together: "
    "Student's with the jackknife's error, on the logit scale for values between bounds; those of values without an "
    "upper bound use {resamples:,} resamples. They are about other clusters with the same wordings, not about other wordings."
)
REAL = "how often a sentence scores higher than a copy of it with its words shuffled"


def describe_methods(runs: Sequence[Run], *, resamples: int = RESAMPLES) -> str:
    """A paragraph about the runs for a paper, then the BibTeX of all that it cites."""
    if not runs:
        raise IsoglossError("There are no runs to describe.")
    models, data = (listed(list(dict.fromkeys(words(runs)))) for words in (_models, _data))
    answered = [run for run in runs if run.info.get("holds") == ANSWERS.name]
    scored = [run for run in runs if run not in answered]
    cited = cite_runs(runs)
    names = [citation.name for citation in cited if citation.kind == "metric"]
    chosen = find_headlines(names) or names[:3]
    plugins = [registry.get("metric", name) for name in chosen]
    metrics = [f"{metric.title} = {metric.formula} ({metric.citation.rstrip('.')})" for metric in plugins]
    sentences = [
        f"We measured {models} on {data} with Isogloss {__version__}.",
        *([f"Candidates were scored by {_methods(scored)}."] if scored else []),
        *([f"Answers were collected by {_methods(answered)}."] if answered else []),
        *([f"We report {listed(metrics)}."] if metrics else []),
        INTERVALS.format(resamples=resamples),
        *([TIES] if scored else []),
        *_limits(runs, plugins, fitting=names),
    ]
    citations = [citation for citation in cited if citation.kind != "metric" or citation.name in chosen]
    sources = [find_source(str(run.info["dataset"])) for run in runs]
    entries = [entry for citation in citations for entry in citation.entries]
    entries += [entry for source in sources if source for entry in entries_of(source.citation)]
    return "\n\n".join([" ".join(sentences), *dict.fromkeys(entries), OURS])


def _limits(runs: Sequence[Run], plugins: Sequence[Metric], *, fitting: Sequence[str]) -> Iterable[str]:
    """How competence was measured, if it was, and what a score near its neutral point does not mean."""
    limits = [registry.get("metric", name).limit for name in fitting]
    measured = [
        f"the {limit.name} lies at or above {limit.least:.3g}" for limit in limits if limit and not limit.shortfall
    ]
    if not measured and any(SHUFFLED in _variants(run) for run in runs):
        measured = [f"{REAL} lies at or above {LEAST_COMPETENCE:g}"]
    directed = [plugin for plugin in plugins if plugin.neutral is not None and plugin.better is None]
    if measured:
        yield f"Scores of stereotypes are interpreted only where the confidence interval of {' and that of '.join(measured)}, a convention."
    elif directed:
        yield "Whether the models can do the task was not measured."
    for plugin in directed[:1]:
        value = f"{with_article(plugin.short or plugin.title)} near {plugin.neutral:g}"
        yield f"{value[0].upper()}{value[1:]} means that no preference was found on these items; it does not mean that a model is unbiased."


def _variants(run: Run) -> set[str]:
    """The kinds of control items that a run has."""
    items = read_items(run)
    return set(items["variant"].drop_nulls()) if "variant" in items.columns else set()


def _own_items(run: Run) -> pl.DataFrame:
    """The items of a run without its control items."""
    items = read_items(run)
    return items.filter(pl.col("variant").is_null()) if "variant" in items.columns else items


def _models(runs: Sequence[Run]) -> Iterable[str]:
    for run in runs:
        commit = str(run.info.get("facts", {}).get("commit") or "")[:12]
        weights = str(run.info["fingerprint"].get("weights", ""))[:12]
        version = f" (commit {commit})" if commit else f" (weights {weights})" if weights else ""
        yield f"{run.info['model']}{version}"


def _data(runs: Sequence[Run]) -> Iterable[str]:
    tags: dict[str, dict[str, set[str]]] = {}
    for run in runs:
        ids = tags.setdefault(str(run.info["dataset"]), {}).setdefault(str(run.info["language"]), set())
        ids |= set(_own_items(run)["id"])
    unknown = registry.get("dataset", "pairs").licence  # of a table whose authors are not known
    for name, counts in tags.items():
        facts = find_source(name) or (registry.get("dataset", name) if name in registry.names("dataset") else None)
        cite = f"the data set '{name}'"
        if facts and facts.licence != unknown:
            cite = f"{facts.title} ({facts.citation.rstrip('.')}; license {facts.licence})"
        yield f"{cite} in {listed([f'{plain_name(tag)} ({len(ids):,} items)' for tag, ids in counts.items()])}"


def _methods(runs: Sequence[Run]) -> str:
    return listed(list(dict.fromkeys(_describe_method(run) for run in runs)))


def _describe_method(run: Run) -> str:
    """The method with its options, but those that are empty, and what to cite."""
    name = str(run.info["fingerprint"].get("method", run.info["method"]))
    plugin = registry.get("method", name) if name in registry.names("method") else None
    options = ", ".join(f"{key}={value}" for key, value in (run.info.get("options") or {}).items() if value != "")
    cite = f" ({plugin.citation.rstrip('.')})" if plugin else ""
    return f"'{name}'{f' with {options}' if options else ''}{cite}"
