"""Kinds of models: monolingual above multilingual, by given facts, by a study's labels, or by the languages that a model knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..runs import Run

Facts = Mapping[str, Mapping[str, Any]]
MONOLINGUAL, MULTILINGUAL, OTHER = "monolingual", "multilingual", "other"
KINDS = (MONOLINGUAL, MULTILINGUAL, OTHER)
FACT = "multilingual"
LABEL = "label"
TRUE = ("true", "yes", "1")


def model_kinds(runs: Iterable[Run], facts: Facts | None = None) -> dict[str, str]:
    """The kind of each model of the runs; given facts win over a study's labels, labels over what the model says."""
    kinds: dict[str, str] = {}
    for run in runs:
        model = run.info["model"]
        kind = _kind_of(run)
        if kind != OTHER or model not in kinds:
            kinds[model] = kind
    for model, known in (facts or {}).items():
        if FACT in known:
            kinds[model] = _by_fact(known[FACT])
    return kinds


def row_names(facts: Facts | None = None) -> dict[str, str]:
    """The name under which each model stands in a table, where the facts give it a label."""
    return {model: str(known[LABEL]) for model, known in (facts or {}).items() if LABEL in known}


def _kind_of(run: Run) -> str:
    labels = run.info.get("labels", {})
    if FACT in labels:
        return _by_fact(labels[FACT])
    known = run.info.get("facts", {}).get("languages") or []
    if not known:
        return OTHER
    return MULTILINGUAL if len(known) > 1 or FACT in known else MONOLINGUAL


def _by_fact(value: Any) -> str:
    return MULTILINGUAL if str(value).lower() in TRUE else MONOLINGUAL
