"""The methods paragraph of a paper: what was measured on what, how, with which intervals, and what to cite."""

from collections.abc import Iterable, Sequence

from ... import __version__, registry
from ...analysis.headlines import find_headlines
from ...errors import IsoglossError
from ...files.catalogue import find_source
from ...runs import Run
from ...stats import RESAMPLES
from ..numbers import listed, plain_name
from .citations import OURS, cite_runs, entries_of

CAUTION = (
    "Candidates whose scores are equal count one half. Scores of stereotypes are interpreted only where the confidence "
    "interval of the LMS lies at or above 60, a convention. An SS near 50 means that no preference was found on these items; it does "
    "not mean that a model is unbiased."
)


def describe_methods(runs: Sequence[Run], *, resamples: int = RESAMPLES) -> str:
    """A paragraph about the runs for a paper, then the BibTeX of all that it cites."""
    if not runs:
        raise IsoglossError("There are no runs to describe.")
    models, data, methods = (listed(list(dict.fromkeys(words(runs)))) for words in (_models, _data, _methods))
    cited = cite_runs(runs)
    names = [citation.name for citation in cited if citation.kind == "metric"]
    plugins = [registry.get("metric", name) for name in find_headlines(names) or names[:3]]
    metrics = [f"{metric.title} = {metric.formula} ({metric.citation.rstrip('.')})" for metric in plugins]
    sentences = [
        f"We measured {models} on {data} with Isogloss {__version__}.",
        f"Candidates were scored by {methods}.",
        *([f"We report {listed(metrics)}."] if metrics else []),
        "Intervals are 95 % confidence intervals over clusters, which are the target terms or the items that belong together: "
        "Student's with the jackknife's error, on the logit scale for values between bounds; those of values without an "
        f"upper bound use {resamples:,} resamples. They are about other clusters with the same wordings, not about other wordings.",
        CAUTION,
    ]
    citations = [citation for citation in cited if citation.kind != "metric" or citation.name in find_headlines(names)]
    sources = [find_source(str(run.info["dataset"])) for run in runs]
    entries = [entry for citation in citations for entry in citation.entries]
    entries += [entry for source in sources if source for entry in entries_of(source.citation)]
    return "\n\n".join([" ".join(sentences), *dict.fromkeys(entries), OURS])


def _models(runs: Sequence[Run]) -> Iterable[str]:
    for run in runs:
        commit = str(run.info.get("facts", {}).get("commit") or "")[:12]
        weights = str(run.info["fingerprint"].get("weights", ""))[:12]
        version = f" (commit {commit})" if commit else f" (weights {weights})" if weights else ""
        yield f"{run.info['model']}{version}"


def _data(runs: Sequence[Run]) -> Iterable[str]:
    tags: dict[str, dict[str, int]] = {}
    for run in runs:
        tags_of_data = tags.setdefault(str(run.info["dataset"]), {})
        language = str(run.info["language"])
        tags_of_data[language] = max(tags_of_data.get(language, 0), int(run.info["items"]))
    for name, counts in tags.items():
        facts = find_source(name) or (registry.get("dataset", name) if name in registry.names("dataset") else None)
        cite = f"{facts.title} ({facts.citation.rstrip('.')}; license {facts.licence})" if facts else name
        yield f"{cite} in {listed([f'{plain_name(tag)} ({count:,} items)' for tag, count in counts.items()])}"


def _methods(runs: Sequence[Run]) -> Iterable[str]:
    for run in runs:
        name = str(run.info["fingerprint"].get("method", run.info["method"]))
        plugin = registry.get("method", name) if name in registry.names("method") else None
        options = ", ".join(f"{key}={value}" for key, value in (run.info.get("options") or {}).items())
        cite = f" ({plugin.citation.rstrip('.')})" if plugin else ""
        yield f"'{name}'{f' with {options}' if options else ''}{cite}"
