"""Results in the format Every Eval Ever 0.3.0: one file with the measures of a run's model, one with a line per item."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import polars as pl

from .. import registry
from ..analysis.intervals import IntervalSettings
from ..analysis.measures import Measure
from ..analysis.study import Measuring, check_readable, load_study
from ..errors import IsoglossError
from ..files.catalogue import find_source
from ..files.layout import write_atomically
from ..items import ANTI_STEREOTYPE, STEREOTYPE, UNRELATED
from ..runs import Run
from ..scores import KEY, Scored
from ..stats import RESAMPLES

VERSION = "0.3.0"
LEVEL = 0.95


def export_results(paths: Sequence[Path], out: Path, *, resamples: int = RESAMPLES) -> int:
    """Write the measures of one model, data set and language to `out`, and its items beside it; gives the number of items."""
    study = check_readable(load_study([str(path) for path in paths]))
    runs = study.runs
    for name in ("model", "dataset", "language"):
        several = sorted({str(run.info[name]) for run in runs})
        if len(several) != 1:
            raise IsoglossError(
                f"Such a file holds one {name}; these runs have {', '.join(several)}. Give some of them."
            )
    rows = [
        row for row in study.measure(Measuring(settings=IntervalSettings(resamples=resamples))) if row.value is not None
    ]
    record = _record(runs, rows, resamples=resamples)
    samples = list(_instances(study.scores, study.items.unique(maintain_order=True), record=record))
    beside = out.with_name(out.name.removesuffix(".json") + "_samples.jsonl")
    lines = "".join(json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples)
    digest = hashlib.sha256(lines.encode())
    model = record["model_info"]
    parts = (runs[0].info["dataset"], model.get("developer", "unknown"), model["id"].split("/")[-1])
    folder = "/".join(re.sub(r"[^\w.-]+", "_", part) for part in parts)
    record["detailed_evaluation_results"] = {
        "format": "jsonl",
        "file_path": f"data/{folder}/{UUID(bytes=digest.digest()[:16], version=4)}_samples.jsonl",
        "hash_algorithm": "sha256",
        "checksum": digest.hexdigest(),
        "total_rows": len(samples),
    }
    write_atomically(beside, lines)
    write_atomically(out, json.dumps(record, ensure_ascii=False, indent=1) + "\n")
    return len(samples)


def _record(runs: Sequence[Run], rows: Sequence[Measure], *, resamples: int) -> dict[str, Any]:
    info = runs[0].info
    started = min(str(run.info.get("started", "")) for run in runs)
    when = datetime.fromisoformat(started) if started else datetime.now(UTC)
    stamp = str(when.timestamp())
    model = _model(info)
    return {
        "schema_version": VERSION,
        "evaluation_id": f"{info['dataset']}/{model['id']}/{stamp}",
        "evaluation_timestamp": stamp,
        "retrieved_timestamp": stamp,
        "source_metadata": {
            "source_name": "Isogloss",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "isogloss", "version": str(info.get("versions", {}).get("isogloss", "unknown"))},
        "model_info": model,
        "evaluation_results": [_result(row, runs, resamples=resamples) for row in rows],
    }


def _words(facts: Mapping[str, Any]) -> dict[str, str]:
    """Facts as the format wants them: only what is known, all of it text."""
    plain = {key: value for key, value in facts.items() if value not in (None, "", [], {})}
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in plain.items()}


def _model(info: Mapping[str, Any]) -> dict[str, Any]:
    facts, marks = info.get("facts", {}), info["fingerprint"]
    name = str(facts.get("source") or info["model"])
    here = "weights" in marks
    details = {key: facts.get(key) for key in ("revision", "commit", "family", "parameters")} | {
        "dtype": marks.get("dtype"),
        "weights_sha256": marks.get("weights"),
        "tokenizer_sha256": marks.get("tokenizer"),
        "deployment_type": "self_deployed" if here else "unknown",
        "model_availability": "open_weights" if here else "unknown",
    }
    developer = {"developer": name.split("/")[0]} if name.count("/") == 1 else {}
    return {"name": str(info["model"]), "id": name, **developer, "additional_details": _words(details)}


def _result(row: Measure, runs: Sequence[Run], *, resamples: int) -> dict[str, Any]:
    metric = registry.get("metric", row.metric)
    group = {key: value for key, value in row.group.items() if key != "model"}
    low, high = (bound if abs(bound) < float("inf") else ("-" * (bound < 0) + "Infinity") for bound in metric.bounds)
    uncertainty: dict[str, Any] = {"num_samples": row.n}
    if row.low is not None and row.high is not None:
        interval = {"lower": row.low, "upper": row.high, "confidence_level": LEVEL}
        uncertainty["confidence_interval"] = {**interval, "method": f"{row.interval}, over clusters"}
        if row.interval in ("bootstrap", "bca", "logarithm"):
            uncertainty["num_bootstrap_samples"] = resamples
    known = {"neutral": metric.neutral, "mode": row.mode, "citation": metric.citation, "caution": metric.caution}
    details = {
        "n": row.n,
        "ties": row.ties,
        "clusters": row.clusters,
        "methods": sorted({str(run.info["method"]) for run in runs}),
        "fingerprints": sorted(run.folder.name for run in runs),
        "interpretable": {True: "yes", False: "no", None: "not known"}[row.interpretable],
        "doubt": row.doubt,
        "no_interval_because": row.why,
    }
    return {
        "evaluation_result_id": ".".join([*group.values(), row.metric]),
        "evaluation_name": f"{' '.join(group.values())}: {row.metric}",
        "source_data": _data(group, runs),
        "metric_config": {
            "evaluation_description": f"{metric.formula}. What it does not mean: {metric.caution}",
            "metric_id": f"isogloss.{row.metric}",
            "metric_name": metric.title,
            "metric_kind": row.metric,
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": low,
            "max_score": high,
            "additional_details": _words(known),
        },
        "score_details": {"score": row.value, "details": _words(details), "uncertainty": uncertainty},
    }


def _data(group: Mapping[str, str], runs: Sequence[Run]) -> dict[str, Any]:
    dataset, language = group["dataset"], group["language"]
    marks = sorted({str(run.info["fingerprint"].get("data", "")) for run in runs} - {""})
    source = find_source(dataset)
    files = [file.address for file in source.files if file.language == language] if source else []
    content = source.contents.get(language, (0, ""))[1] if source else ""
    facts = {"items_sha256": marks, "language": language, "published_content_sha256": content}
    facts |= {"licence": source.licence, "citation": source.citation} if source else {}
    kind: dict[str, Any] = {"source_type": "url", "url": files} if files else {"source_type": "other"}
    return {"dataset_name": dataset, **kind, "additional_details": _words(facts)}


def _instances(scored: Scored, texts: pl.DataFrame, *, record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One line for each item and method: what the model preferred, and by which scores."""
    table = scored.table.filter(pl.col("against").is_null() & pl.col("value").is_not_null())
    wanted = texts.select(*KEY, "candidate", "context", "text")
    joined = table.join(wanted, on=[*KEY, "candidate"], how="left", maintain_order="left")
    for part in joined.partition_by([*KEY, "method", "quantity"], maintain_order=True):
        yield _instance(part.to_dicts(), record)


def _instance(rows: Sequence[Mapping[str, Any]], record: Mapping[str, Any]) -> dict[str, Any]:
    first = rows[0]
    values = {str(row["role"]): float(row["value"]) for row in rows}
    best = max(rows, key=lambda row: row["value"])
    stereo, anti = values.get(STEREOTYPE, 0.0), values.get(ANTI_STEREOTYPE, 0.0)
    columns = ("language", "task", "category", "cluster", "method")
    facts = {name: str(first[name]) for name in columns if first.get(name)}
    facts |= {f"score_{role}": repr(value) for role, value in values.items()}
    raw = str(first["context"] or "")
    return {
        "schema_version": VERSION,
        "evaluation_id": record["evaluation_id"],
        "model_id": record["model_info"]["id"],
        "evaluation_name": " ".join(str(first[name]) for name in ("dataset", "language", "task") if first.get(name)),
        "sample_id": str(first["id"]),
        "sample_hash": hashlib.sha256(raw.encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": raw, "reference": [], "choices": [str(row["text"]) for row in rows]},
        "output": {"raw": [str(best["text"])]},
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": str(best["role"]),
                "extraction_method": f"highest {first['quantity']} by {first['method']}",
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": (stereo > anti) + 0.5 * (stereo == anti), "is_correct": best["role"] != UNRELATED},
        "metadata": _words(facts),
    }
