"""Models of the Hugging Face hub as folders: one commit, only the files that are needed, in the cache of the hub's library."""

import difflib
import math
import re
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import IsoglossError, require, short_message
from ..files.hub import address, explain, is_cache_preferred, is_offline, is_unreachable, on_message
from .info import CARD, shards_of, stored_weights, weights_entry
from .next_sentence import WEIGHTS as HEAD
from .packaged import PULLED

COMMIT = re.compile(r"[0-9a-f]{40}")
TEXT = (".json", ".txt", ".jinja", ".model", ".spm", ".codes", ".vocab", ".tiktoken", ".tokenizer")
NOT_NEEDED = ("trainer_state.json", ".index.json")
TEMPLATES = "additional_chat_templates/"
IMPATIENT = 3.0  # seconds that a forecast waits for the hub
SILENCE = 60.0  # seconds for which a hub that did not answer is not asked again
EVERY = 5.0  # seconds between two lines about a download

silent_hubs: dict[str, tuple[float, Exception]] = {}


@dataclass(frozen=True, slots=True)
class Listing:
    """What the hub says about a revision: its commit, and its files with their sizes."""

    commit: str
    sizes: dict[str, int]


def fetch_snapshot(name: str, revision: str | None, *, weights: bool, pickle: bool, offline: bool = False) -> Path:
    """The model's folder, named by its commit, at the commit that the revision (by default the branch main) has now; every file is of that commit.

    Without `weights`, only configuration, tokenizer and card are fetched. Offline, or when the hub does not answer, it is
    the commit that the cache knows.
    """
    cached = find_cached(name, revision)
    if cached and weights and not stored_weights(cached, pickle=True):
        cached = None
    if offline or is_offline():
        if cached is None:
            where = "neither a folder, nor a pulled model, nor in the hub's cache"
            message = f"'{name}' is {where}, and offline nothing is downloaded."
            raise IsoglossError(_advise(message, name, otherwise=" See: isogloss list models"))
        return cached
    if cached and is_cache_preferred():
        return cached
    listing = None
    try:
        listing = _list_files(name, revision)
        folder = _download(name, listing, weights=weights, pickle=pickle)
    except IsoglossError:
        raise
    except Exception as error:
        if listing is not None or cached is None or not is_unreachable(error):
            raise IsoglossError(_explain_failure(error, name, revision=revision)) from error
        warnings.warn(
            f"The hub ({address()}) cannot be reached; '{name}' is read from the cache, commit {cached.name[:12]}.",
            stacklevel=2,
        )
        return cached
    if weights or cached is None:
        _write_reference(folder, revision or "main", commit=listing.commit)
    return folder


def find_cached(name: str, revision: str | None) -> Path | None:
    """The model's folder at that revision in the cache of the hub's library; nothing without a configuration."""
    hub = require("huggingface_hub", extra="hf")
    try:
        path = hub.try_to_load_from_cache(name, "config.json", revision=revision or "main")
    except ValueError:  # not a name that the hub could have
        return None
    return Path(path).parent if isinstance(path, str) else None


def _list_files(name: str, revision: str | None) -> Listing:
    """Ask the hub once, with a time-out, for the commit and the files of a revision."""
    hub = require("huggingface_hub", extra="hf")
    from huggingface_hub import constants

    since, known = silent_hubs.get(constants.ENDPOINT, (-SILENCE, None))
    if known and time.monotonic() - since < SILENCE:
        raise known
    try:
        timeout = min(float(constants.HF_HUB_ETAG_TIMEOUT), IMPATIENT if is_cache_preferred() else math.inf)
        files = hub.HfApi().model_info(name, revision=revision, files_metadata=True, timeout=timeout)
    except Exception as error:
        if is_unreachable(error) and getattr(error, "response", None) is None:
            silent_hubs[constants.ENDPOINT] = time.monotonic(), error
        raise
    return Listing(str(files.sha), {file.rfilename: file.size or 0 for file in files.siblings or []})


def _download(name: str, listing: Listing, *, weights: bool, pickle: bool) -> Path:
    """Bring the needed files of a commit into the cache, weights last; files that are there cost no request.

    Needed are configuration, tokenizer, chat templates, card, and the small head that 'isogloss nsp train' adds.
    """
    from huggingface_hub import hf_hub_download

    def get(file: str) -> Path:
        return Path(hf_hub_download(name, file, revision=listing.commit))

    if "config.json" not in listing.sizes:
        raise IsoglossError(f"'{name}' is not a model that can be opened: it has no config.json.")
    folder = get("config.json").parent
    for file in listing.sizes:
        plain = "/" not in file and file.endswith(TEXT) and not file.endswith(NOT_NEEDED)
        if plain or file in (CARD, HEAD) or (file.startswith(TEMPLATES) and file.endswith(".jinja")):
            get(file)
    entry = weights_entry(folder, listing.sizes.__contains__, pickle=pickle) if weights else None
    if entry is not None:
        if entry.endswith(".json"):
            get(entry)
        files = [file for file in shards_of(folder, entry) if not (folder / file).is_file()]
        with _reported(name, folder.parents[1] / "blobs", total=sum(listing.sizes.get(file, 0) for file in files)):
            for file in files:
                get(file)
    return folder


@contextmanager
def _reported(name: str, folder: Path, *, total: int) -> Iterator[None]:
    """While files are downloaded into a folder, report now and then how much has arrived."""
    say, ended, before = on_message.get(), threading.Event(), _size(folder)

    def watch() -> None:
        while not ended.wait(EVERY):
            say(f"'{name}': {(_size(folder) - before) / 1e6:,.0f} of {total / 1e6:,.0f} MB")

    if total:
        say(f"Downloading '{name}' ({total / 1e6:,.1f} MB)")
        threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _size(folder: Path) -> int:
    """The bytes in a folder of files, some of which may vanish or grow meanwhile."""
    with suppress(OSError):
        return sum(file.stat().st_size for file in folder.iterdir())
    return 0


def _write_reference(folder: Path, revision: str, *, commit: str) -> None:
    """Let a branch or tag in the cache name a commit once all its files are there, as the hub's library does earlier."""
    path = folder.parents[1] / "refs" / revision
    if COMMIT.fullmatch(revision) or ".." in revision:
        return
    if path.is_file() and path.read_text(encoding="utf-8") == commit:
        return
    with suppress(OSError):  # a cache that cannot be written is still of use
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(commit, encoding="utf-8")


def _explain_failure(error: Exception, name: str, *, revision: str | None) -> str:
    if type(error).__name__ == "RevisionNotFoundError":
        return f"'{name}' has no revision '{revision}'. Look at the model's page for its branches, tags and commits."
    message = explain(error, name, page=f"https://huggingface.co/{name}")
    return _advise(message or f"The hub does not give '{name}': {short_message(error)}.", name)


def _advise(message: str, name: str, *, otherwise: str = "") -> str:
    """The message with a pulled model that may have been meant."""
    near = difflib.get_close_matches(name, PULLED, n=1, cutoff=0.8)
    return f"Did you mean '{near[0]}'? {message}" if near else message + otherwise
