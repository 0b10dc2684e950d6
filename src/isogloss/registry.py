"""Plug-ins by name: a file in the package of its kind, or an entry point of another package; listed without importing them."""

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from .errors import IsoglossError, UnknownName, short_message

PLUGIN_PACKAGES = {
    "dataset": "datasets",
    "metric": "metrics",
    "method": "methods",
    "family": "models.families",
    "translator": "translate.translators",
    "figure": "reports.figures",
    "panel": "reports.page.panels",
    "label_layout": "annotation.label_layouts",
    "command": "commands",  # these only as entry points, also our own
    "executor": "executors",
    "converter": "converters",  # published files to rows of a reader
    "source_check": "source_checks",  # checks that a kind of folder brings
    "trainer": "trainers",  # heads that a study trains
}


def chosen(kind: str, wanted: str | Iterable[str] | None) -> dict[str, Any]:
    """The plug-ins with these names, one or several, under their own names; an unknown one is refused."""
    wanted_names = [wanted] if isinstance(wanted, str) else wanted or ()
    return {name.replace("-", "_"): get(kind, name) for name in wanted_names}


def names(kind: str) -> list[str]:
    """The names of all plug-ins of a kind, sorted."""
    return sorted({*built_in(kind), *entry_points_of(kind)})


def get(kind: str, name: str) -> Any:
    """The plug-in of that name; hyphens and underscores are the same.

    A plug-in file defines one object named as its kind (`metric`, `dataset`, ...); an entry point names any object.
    """
    if not isinstance(name, str):
        raise IsoglossError(f"Give one {kind} by its name, not {name!r}.")
    wanted = name.replace("-", "_")
    points = entry_points_of(kind)
    if wanted in built_in(kind):
        module = importlib.import_module(f"isogloss.{PLUGIN_PACKAGES[kind]}.{wanted}")
        return getattr(module, kind)
    if wanted in points:
        return load_point(kind, points[wanted])
    raise UnknownName(kind, name, names(kind))


def load_all(kind: str) -> dict[str, Any]:
    """All plug-ins of a kind by name."""
    return {name: get(kind, name) for name in names(kind)}


def load_present(kind: str) -> dict[str, Any]:
    """All plug-ins of a kind by name, but for those whose library, such as torch, is not installed."""
    plugins = {}
    for name in names(kind):
        try:
            plugins[name] = get(kind, name)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("isogloss"):
                raise
    return plugins


def load_point(kind: str, point: EntryPoint) -> Any:
    """What another package brings, or a sentence that blames it by name."""
    try:
        return point.load()
    except Exception as error:
        raise IsoglossError(
            f"The {kind} '{point.name}' of another package ({point.value}) cannot be imported: {short_message(error)}. "
            "Fix or uninstall that package."
        ) from error


@cache
def built_in(kind: str) -> frozenset[str]:
    """The names of the plug-ins of a kind that are files of Isogloss itself."""
    package = PLUGIN_PACKAGES[kind]
    folder = Path(__file__).parent.joinpath(*package.split("."))
    modules = (module.name for module in pkgutil.iter_modules([str(folder)]) if not module.name.startswith("_"))
    return frozenset(modules)


@cache
def entry_points_of(kind: str) -> dict[str, EntryPoint]:
    """The entry points of satellites and other packages that bring a plug-in of a kind, by name; built-in names are refused."""
    points = {
        point.name.replace("-", "_"): point
        for point in entry_points(group=f"isogloss.{PLUGIN_PACKAGES[kind].rpartition('.')[2]}")
        if _is_there(point)
    }
    twice = sorted(set(points) & built_in(kind))
    if twice:
        raise IsoglossError(
            f"Another package brings a {kind} named '{twice[0]}', which Isogloss has already. Rename or uninstall it."
        )
    return points


def _is_there(point: EntryPoint) -> bool:
    """Whether the module of an entry point exists: a satellite of our own may be left out; others must say that they lack it."""
    if point.module.partition(".")[0] != "isogloss":
        return True
    return Path(__file__).parents[1].joinpath(*point.module.split(".")).with_suffix(".py").is_file()
