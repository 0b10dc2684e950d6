"""The results of a model as the `model-index` block of a Hugging Face model card."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import yaml

from ... import registry
from ...analysis.measures import Measure, Measures
from ...errors import IsoglossError
from ...items import group_by
from ...runs import Run
from ..numbers import DAGGER, metric_name, number, plain_name

TASKS = {  # the hub's names
    "masked": ("fill-mask", "Fill-mask"),
    "causal": ("text-generation", "Text generation"),
    "seq2seq": ("text2text-generation", "Text-to-text generation"),
}
UNKNOWN = ("other", "Stereotype measurement")
Info = Mapping[str, Any]


def model_index(measures: Measures, runs: Iterable[Run]) -> dict[str, Any]:
    """The block: one result for each data set, language and task, its metrics with their intervals."""
    models = list(dict.fromkeys(row.group["model"] for row in measures))
    if len(models) != 1:
        raise IsoglossError(
            f"A model card describes one model; these runs are of {', '.join(models)}. Give the runs of one of them."
        )
    facts = group_by((run.info for run in runs), lambda info: (info["dataset"], info["language"]))
    rows = [row for row in measures if row.value is not None]
    groups = [list(group) for _, group in groupby(rows, key=lambda row: dict(row.group))]
    return {"model-index": [{"name": models[0], "results": [_result(group, facts) for group in groups]}]}


def _result(rows: Sequence[Measure], facts: Mapping[tuple[str, str], Sequence[Info]]) -> dict[str, Any]:
    group = rows[0].group
    infos = facts.get((group["dataset"], group["language"]), [])
    families = {str(info.get("facts", {}).get("family")) for info in infos}
    kind, name = TASKS.get(families.pop(), UNKNOWN) if len(families) == 1 else UNKNOWN
    is_plugin = group["dataset"] in registry.names("dataset")
    title = registry.get("dataset", group["dataset"]).title if is_plugin else group["dataset"]
    methods = sorted({str(info["method"]) for info in infos})
    rest = {name: value for name, value in group.items() if name not in ("model", "dataset")}
    hashes = sorted({str(info["fingerprint"]["data"]) for info in infos if "data" in info["fingerprint"]})
    return {
        "task": {"type": kind, "name": name},
        "dataset": {
            "type": group["dataset"],
            "name": f"{title} ({plain_name(group['language'])}, {group.get('task', 'all tasks')})",
            "config": group["language"],
            "args": {"methods": methods, **rest, **({"items_sha256": hashes} if hashes else {})},
        },
        "metrics": [_metric(row) for row in rows],
    }


def _metric(row: Measure) -> dict[str, Any]:
    interval = f"95 % interval {number(row).partition(' ')[2]}" if row.low is not None else "no interval"
    weak = f", {DAGGER} not interpretable" if row.interpretable is False else ""
    details: dict[str, Any] = {}
    if row.low is not None and row.high is not None:
        details |= {"low": round(row.low, 4), "high": round(row.high, 4)}
    details |= {"n": row.n, "ties": row.ties, "clusters": row.clusters, "mode": row.mode}
    details |= {"why": row.why} if row.why else {}
    details |= {"interpretable": row.interpretable, **({"doubt": row.doubt} if row.doubt else {})}
    name = f"{metric_name(row.metric)} ({interval}, n = {row.n}{weak})"
    return {"type": row.metric, "name": name, "value": round(row.value or 0.0, 4), "args": details}


def index_as_yaml(index: Mapping[str, Any]) -> str:
    """The block as YAML, to stand between the dashed lines at the head of a README.md."""
    return str(yaml.safe_dump(dict(index), sort_keys=False, allow_unicode=True, width=120))
