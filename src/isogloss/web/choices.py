"""Choices: which models may be opened here, and which data may be evaluated."""

import os
from dataclasses import dataclass
from pathlib import Path

from .. import registry
from ..errors import IsoglossError, list_known
from ..files.catalogue import ITEMS, sources
from ..files.published import stored_files
from ..models.model import ADDRESS
from .settings import ServerSettings


@dataclass(frozen=True, slots=True)
class DataChoice:
    """Data that can be chosen: what it is called in a form, a title, and the languages that it is known to have."""

    name: str
    title: str
    languages: tuple[str, ...] = ()


def allowed_models(settings: ServerSettings) -> list[str]:
    """The models that a form offers: those that were allowed when the server was started, or all that are here."""
    if settings.models:
        return list(settings.models)
    from ..models.packaged import pulled_names

    home = os.environ.get("HF_HOME", Path.home() / ".cache" / "huggingface")
    cache = Path(os.environ.get("HF_HUB_CACHE", Path(home) / "hub"))
    cached = {path.parents[2].name for path in cache.glob("models--*/snapshots/*/config.json")}
    return [*pulled_names(), *sorted(name.removeprefix("models--").replace("--", "/") for name in cached)]


def check_model(name: str, settings: ServerSettings) -> str:
    """The model's name, when it may be opened."""
    if not name:
        raise IsoglossError("Choose a model.")
    allowed = allowed_models(settings)
    if name not in allowed and (
        not settings.any_model or name.startswith(ADDRESS)
    ):  # no address that a visitor chooses
        raise IsoglossError(
            f"The model '{name[:100]}' may not be opened here. Known: {list_known(name, allowed)}. "
            "More can be allowed when the server is started: --allow-models NAME."
        )
    return name


def split_served(name: str) -> tuple[str, str]:
    """The address and the name of a model behind a server, from 'ADDRESS=NAME'; any other name, and nothing."""
    address, _, served = name.partition("=")
    return (address, served) if served and name.startswith(ADDRESS) else (name, "")


def offered_data() -> list[DataChoice]:
    """The data sets that ship, and published ones as far as they were pulled, with their languages."""
    offered = []
    for name, dataset in registry.load_all("dataset").items():
        files = dataset.bundled() if dataset.bundled else {}
        if files:
            offered.append(DataChoice(name, dataset.title, tuple(sorted(files))))
    for name, source in sources().items():
        stored = tuple(tag for tag in sorted(source.languages) if stored_files(source, tag))
        if stored and source.kind == ITEMS:
            offered.append(DataChoice(name, source.title, stored))
    return offered
