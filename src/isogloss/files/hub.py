"""The Hugging Face hub: whether it may be asked, what its errors mean, and data sets that are kept as Parquet files."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from ..errors import IsoglossError, require
from ..languages import home

PREFIX = "hf:"
OFFLINE = "HF_HUB_OFFLINE"
BUSY = (429, 500, 502, 503, 504)
NOT_REACHED = {
    "ConnectError",
    "ConnectTimeout",
    "ConnectionRefusedError",
    "gaierror",
    "ProxyError",
    "NewConnectionError",
}
NOT_ANSWERED = {"TimeoutException", "TimeoutError", "Timeout"}
BROKEN = {
    "NetworkError",
    "ProtocolError",
    "RemoteProtocolError",
    "ConnectionError",
    "ClientError",
    "ChunkedEncodingError",
}
NOT_A_HUB = {"JSONDecodeError", "FileMetadataError"}

on_message: ContextVar[Callable[[str], None]] = ContextVar("on_message", default=lambda line: None)
"""Receives one line now and then while something is downloaded; silent unless the command line sets it."""

_cache_first: ContextVar[bool] = ContextVar("cache_first", default=False)


@contextmanager
def prefer_cache(wanted: bool) -> Iterator[None]:
    """While this is open, what is cached is used without asking the hub, and the hub has little time to answer."""
    token = _cache_first.set(wanted)
    try:
        yield
    finally:
        _cache_first.reset(token)


def is_cache_preferred() -> bool:
    """Whether a cached copy will do, as for a forecast."""
    return _cache_first.get()


def is_offline() -> bool:
    """Whether the user forbids every request to the hub."""
    return any(
        os.environ.get(name, "").upper() in ("1", "ON", "YES", "TRUE") for name in (OFFLINE, "TRANSFORMERS_OFFLINE")
    )


@contextmanager
def offline_mode(wanted: bool) -> Iterator[None]:
    """While this is open no request is made, here and in child processes, if that is wanted."""
    before = os.environ.get(OFFLINE)
    if wanted:
        os.environ[OFFLINE] = "1"
    try:
        yield
    finally:
        if wanted:
            os.environ.pop(OFFLINE)
            os.environ.update({} if before is None else {OFFLINE: before})


def address() -> str:
    """The hub's address."""
    return os.environ.get("HF_ENDPOINT") or "https://huggingface.co"


def is_unreachable(error: BaseException) -> bool:
    """Whether the hub gave no answer of its own, so that a cached copy may be used instead."""
    kinds, status = _kinds(error)
    return status in BUSY or bool(kinds & (NOT_REACHED | NOT_ANSWERED | BROKEN | NOT_A_HUB))


def explain(error: BaseException, name: str, *, page: str) -> str | None:
    """The sentence for an error of the hub's libraries about a model or data set; none when it is of another kind.

    The libraries wrap their errors, so the whole chain of causes counts; types are compared by name because several
    libraries define them.
    """
    kinds, status = _kinds(error)
    if "GatedRepoError" in kinds:
        return gated_access_hint(name, page=page)
    if status == 401 and "RepositoryNotFoundError" not in kinds:
        return (
            f"The hub refuses your token, so it does not give '{name}'. Set HF_TOKEN to a valid token, "
            "or unset it if the repository is public."
        )
    if "RevisionNotFoundError" in kinds:
        return f"'{name}' has no such revision. Look at {page} for its branches, tags and commits."
    if kinds & {"RepositoryNotFoundError", "DatasetNotFoundError", "HFValidationError"} or status == 404:
        return (
            f"The hub has no '{name}', or it is private. Check the name; "
            "for a private one set HF_TOKEN to a token of your account."
        )
    if status in BUSY:
        return f"The hub is busy (HTTP status {status}) and does not give '{name}'. Try again later."
    if kinds & NOT_REACHED:
        return f"The hub cannot be reached ({address()}), and '{name}' is not in the cache. Check the network."
    if kinds & NOT_ANSWERED:
        return f"The hub ({address()}) does not answer, and '{name}' is not in the cache. Try again later."
    if kinds & BROKEN or "Consistency check failed" in str(error):
        return f"The connection broke while '{name}' was downloaded. Run the command again; complete files are kept."
    if kinds & NOT_A_HUB:
        return f"What answers at {address()} is not the hub. Is there a login page or a proxy in the network?"
    return None


def _kinds(error: BaseException) -> tuple[set[str], int | None]:
    """The names of all types in an error's chain of causes, and the HTTP status if one of them has a response."""
    kinds: set[str] = set()
    status = None
    current: BaseException | None = error
    seen: set[int] = set()
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        kinds |= {kind.__name__ for kind in type(current).__mro__}
        status = status or getattr(getattr(current, "response", None), "status_code", None)
        current = current.__cause__ or current.__context__
    return kinds, status


def gated_access_hint(name: str, *, page: str | None = None) -> str:
    """What a user does to read a gated model or data set."""
    return (
        f"'{name}' is gated: accept its terms at {page or data_page(name)}, "
        "and set HF_TOKEN to a token of your account."
    )


def data_page(name: str) -> str:
    """The page of a data set."""
    return f"https://huggingface.co/datasets/{name}"


def fetch_table(source: str) -> Path:
    """A data set (hf:NAME or hf:NAME:CONFIG) as a Parquet file in the user's own folder; a stored one is not fetched again."""
    name, _, config = source.removeprefix(PREFIX).partition(":")
    path = home() / "data" / f"{'--'.join(name.split('/'))}{config and '--' + config}.parquet"
    if path.exists():
        return path
    with reading(source):
        datasets = require("datasets", extra="corpora")
        splits = datasets.load_dataset(name, config or None)
        table = datasets.concatenate_datasets(list(splits.values()))
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".tmp")
        table.to_parquet(str(draft))
        draft.replace(path)
    return path


def stream_rows(source: str) -> Iterator[dict[str, Any]]:
    """The rows of a data set's training split (NAME or NAME:CONFIG), streamed."""
    name, _, config = source.removeprefix(PREFIX).partition(":")
    with reading(source):
        datasets = require("datasets", extra="corpora")
        yield from datasets.load_dataset(name, config or None, split="train", streaming=True)


@contextmanager
def reading(source: str) -> Iterator[None]:
    """While a data set of the hub is read, each of the libraries' errors becomes one sentence."""
    name = source.removeprefix(PREFIX).partition(":")[0]
    if is_offline():
        raise IsoglossError(f"The data set '{name}' is not stored here, and offline nothing is downloaded.")
    try:
        yield
    except IsoglossError:
        raise
    except Exception as error:
        raise IsoglossError(_data_sentence(error, source, name=name)) from error


def _data_sentence(error: Exception, source: str, *, name: str) -> str:
    message = str(error).strip()
    if "gated dataset" in message:
        return gated_access_hint(name)
    if "Config name is missing" in message:
        names = message.partition("[")[2].partition("]")[0].replace("'", "")
        return f"The data set '{name}' has several configurations. Give one of them as hf:{name}:NAME. Known: {names}."
    sentence = explain(error, name, page=data_page(name))
    reason = message.split("\n")[0][:160].rstrip(".") or type(error).__name__
    return sentence or f"The data set '{source.removeprefix(PREFIX)}' cannot be read from the hub: {reason}."
