"""Plug-ins by name: a file in its room, or an entry point of another package; listed without importing them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from .errors import IsoglossError, UnknownName, in_one_line

ROOMS = {
    "dataset": "datasets",
    "metric": "metrics",
    "method": "methods",
    "family": "models",
    "translator": "translate",
    "figure": "report.figures",
}
NOT_PLUGINS = {
    "models": {
        "bert_archive",
        "processor",
        "tensor_bundle",
        "attention",
        "engine",
        "head",
        "hub",
        "info",
        "lastlayer",
        "load",
        "model",
        "next_sentence",
        "passes",
        "pull",
        "questions",
        "spans",
        "text",
    },
    "methods": {"alignment", "method", "sentence"},
    "metrics": {"answering", "contrasts", "contributions", "divergences", "pairscores", "preferences", "terms"},
    "translate": {
        "backtranslation",
        "cache",
        "cards",
        "changes",
        "charts",
        "project",
        "repairs",
        "review",
        "sheets",
        "steps",
        "texts",
        "tokens",
        "translator",
    },
}


def chosen(kind: str, wanted: str | Iterable[str] | None) -> dict[str, Any]:
    """The plug-ins with these names, one or several, under their own names; an unknown one is refused."""
    given = [wanted] if isinstance(wanted, str) else wanted or ()
    return {name.replace("-", "_"): get(kind, name) for name in given}


def names(kind: str) -> list[str]:
    """The names of all plug-ins of a kind, sorted."""
    return sorted({*_files(kind), *_points(kind)})


def get(kind: str, name: str) -> Any:
    """The plug-in of that name; hyphens and underscores are the same.

    A plug-in file defines one object named as its kind (`metric`, `dataset`, ...); an entry point names any object.
    """
    wanted = name.replace("-", "_")
    points = _points(kind)
    if wanted in _files(kind):
        module = importlib.import_module(f"isogloss.{ROOMS[kind]}.{wanted}")
        return getattr(module, kind)
    if wanted in points:
        return load_point(kind, points[wanted])
    raise UnknownName(kind, name, names(kind))


def everything(kind: str) -> dict[str, Any]:
    """All plug-ins of a kind by name."""
    return {name: get(kind, name) for name in names(kind)}


def load_point(kind: str, point: EntryPoint) -> Any:
    """What another package brings, or a sentence that blames it by name."""
    try:
        return point.load()
    except Exception as error:
        raise IsoglossError(
            f"The {kind} '{point.name}' of another package ({point.value}) cannot be imported: {in_one_line(error)}. "
            "Mend or uninstall that package."
        ) from error


@cache
def _files(kind: str) -> frozenset[str]:
    room = ROOMS[kind]
    folder = Path(__file__).parent.joinpath(*room.split("."))
    found = (module.name for module in pkgutil.iter_modules([str(folder)]) if not module.name.startswith("_"))
    return frozenset(name for name in found if name not in NOT_PLUGINS.get(room, set()))


@cache
def _points(kind: str) -> dict[str, EntryPoint]:
    points = {point.name.replace("-", "_"): point for point in entry_points(group=f"isogloss.{ROOMS[kind]}")}
    twice = sorted(set(points) & _files(kind))
    if twice:
        raise IsoglossError(
            f"Another package brings a {kind} named '{twice[0]}', which Isogloss has already. Rename or uninstall it."
        )
    return points
