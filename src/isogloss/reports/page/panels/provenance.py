"""Provenance: from which runs, versions and hashes the numbers come, and how to cite all of it."""

from contextlib import suppress
from typing import Any

from .... import registry
from ....errors import IsoglossError
from ....run_names import fingerprint
from ....runs import Run
from ...chart_data import distinct
from ...numbers import metric_name
from ...text.citations import OURS
from ...text.methods_paragraph import INTERVALS, TIES
from ..data import PageData
from . import Panel

SHOWN = 12  # digits of a hash


def draw(data: PageData) -> dict[str, Any]:
    """Runs with their hashes, versions, notes, how the intervals were made, and citations."""
    versions: dict[str, set[str]] = {}  # every version of every library that scored something
    for run in data.runs:
        python = {"python": run.info["python"]} if "python" in run.info else {}
        for name, version in [*run.info.get("versions", {}).items(), *python.items()]:
            versions.setdefault(str(name), set()).add(str(version))
    return {
        "runs": [describe_run(run) for run in data.runs],
        "versions": [f"{name} {', '.join(sorted(numbers))}" for name, numbers in sorted(versions.items())],
        "intervals": INTERVALS.format(resamples=data.settings.resamples),
        "settings": data.settings,
        "ties": TIES,
        "citations": citations(data),
    }


def describe_run(run: Run) -> dict[str, Any]:
    """What identifies a run."""
    facts = run.info["fingerprint"]
    return {
        "model": run.info["model"],
        "dataset": run.info["dataset"],
        "language": run.info["language"],
        "method": run.info["method"],
        "count": run.info.get("items", "-"),
        "status": run.info.get("status", "-"),
        "started": run.info.get("started", "-"),
        "run": fingerprint(facts)[:SHOWN],
        "data": str(facts.get("data", "-"))[:SHOWN],
        "weights": str(facts.get("weights") or facts.get("scores") or "-")[:SHOWN],
    }


def citations(data: PageData) -> list[dict[str, str]]:
    """What to cite: the data sets, the methods and the metrics of this report."""
    methods = dict.fromkeys(str(run.info["fingerprint"].get("method")) for run in data.runs)
    metrics = dict.fromkeys(row.metric for row in data.overall)
    named = [
        *(("data set", name, name) for name in distinct(data.overall, "dataset")),
        *(("method", name, name) for name in methods),
        *(("metric", name, metric_name(name)) for name in metrics),
    ]
    works: dict[tuple[str, str], list[str]] = {}
    for kind, name, title in named:
        with suppress(IsoglossError):  # the user's own data, or scores that were made elsewhere
            plugin = registry.get(kind.replace(" ", ""), name)
            if plugin.citation == OURS:
                continue
            works.setdefault((plugin.citation, getattr(plugin, "licence", "")), []).append(f"{kind} {title}")
    return [{"what": ", ".join(what), "text": text, "licence": licence} for (text, licence), what in works.items()]


panel = Panel("Provenance and how to cite", order=160, draw=draw)
