"""Checkpoints: when one of Trainer's folders is complete, whether it is intact, and to which training it belongs."""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..atomic_files import lock_folder, write_file
from ..errors import BadData, CannotWrite, IsoglossError
from .training_card import CARD

FOLDER = "checkpoints"
NAME = "checkpoint-*"  # as Trainer names them, with the step
COMPLETE = "complete.json"
WEIGHTS = "model.safetensors"
KEPT = 2
REMOVE = "Remove this folder, and the training resumes from the checkpoint before it."
# A checkpoint holds no pickled code that is ever run. Trainer reads optimizer.pt, scheduler.pt and scaler.pt with
# torch.load(weights_only=True), which builds tensors and plain values only, and the rest as safetensors and JSON. It
# pickles its arguments, which nothing reads, and random states, which every step sets from its own seed: both are removed.
UNREAD = ("training_args.bin", "rng_state*.pth")

FULL = ("PytorchStreamWriter", "inline_container.cc", "iostream error")  # torch.save has no class for a full disk


def complete_checkpoint(path: Path, identity: dict[str, Any]) -> None:
    """Record the hash of every file of a checkpoint and the training it belongs to; until then it does not count."""
    for pattern in (COMPLETE, *UNREAD):
        for file in path.glob(pattern):
            file.unlink()
    hashes = {}
    for file in sorted(path.iterdir()):
        sync(file)
        hashes[file.name] = _sha256(file)
    write_file(path / COMPLETE, json.dumps({"mark": identity, "sha256": hashes}, ensure_ascii=False).encode())
    sync(path)


def find_checkpoint(out: Path, identity: dict[str, Any]) -> Path | None:
    """The last complete checkpoint in the folder, if there is one, after a check of every byte of it."""
    complete = [path.parent for path in (out / FOLDER).glob(f"{NAME}/{COMPLETE}")]
    path = max(complete, key=step_of, default=None)
    if path is not None:
        refuse_other(out, before=_read_record(path)["mark"], wanted=identity)
        verify_checkpoint(path)
    return path


def remove_incomplete(out: Path) -> None:
    """Remove the checkpoints that a killed process did not complete."""
    for path in (out / FOLDER).glob(NAME):
        if not (path / COMPLETE).exists():
            shutil.rmtree(path)


def verify_checkpoint(path: Path) -> None:
    """Refuse a checkpoint of which a file is missing or has changed since it was written."""
    for name, digest in _read_record(path)["sha256"].items():
        file = path / name
        if not file.is_file():
            raise BadData(path, None, f"the checkpoint is damaged: {name} is missing. {REMOVE}")
        if _sha256(file) != digest:
            raise BadData(path, None, f"the checkpoint is damaged: {name} has changed since it was written. {REMOVE}")


def step_of(path: Path) -> int:
    """The step at which a checkpoint was written, from its name."""
    return int(path.name.rpartition("-")[2])


def _read_record(path: Path) -> dict[str, Any]:
    try:
        record = json.loads((path / COMPLETE).read_text(encoding="utf-8"))
        return {"mark": dict(record["mark"]), "sha256": dict(record["sha256"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadData(path, None, f"the checkpoint is damaged: {COMPLETE} cannot be read. {REMOVE}") from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Says in a sentence that a folder cannot be written."""
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, SafetensorError) as error:
        raise CannotWrite(out, error) from error
    except RuntimeError as error:
        if not any(words in str(error) for words in FULL):
            raise
        raise CannotWrite(out, OSError(0, "a file could not be written")) from error


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Holds the folder of a training, so that no second process trains into it."""
    refuse_foreign(out)
    with writing(out):
        (out / FOLDER).mkdir(parents=True, exist_ok=True)
    lock = lock_folder(out / FOLDER, readable=False)
    try:
        yield
    finally:
        if lock is not None:
            lock.close()


def refuse_foreign(out: Path) -> None:
    """Refuse a folder that is a file, holds something else, or holds a training that cannot be resumed."""
    if out.is_file():
        raise IsoglossError(f"{out} is a file. Choose a folder with `out`.")
    if next((out / FOLDER).glob("step-*"), None) is not None:
        raise IsoglossError(
            f"{out} holds an unfinished training of Isogloss 0.2 or earlier, which this version cannot resume. "
            "Choose another folder with `out`, or remove it."
        )
    if out.exists() and any(out.iterdir()) and not (out / FOLDER).exists():
        raise IsoglossError(f"{out} is not empty and holds no training. Choose another folder with `out`.")


def read_finished(out: Path, identity: dict[str, Any]) -> dict[str, Any] | None:
    """The card of a training that is finished already; one of another training is refused."""
    path = out / CARD
    if not path.is_file():
        return None
    try:
        card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadData(path, None, "a broken card. Remove it and give the same command again.") from error
    refuse_other(out, before=card.get("mark", {}), wanted=identity)
    return card


def refuse_other(out: Path, *, before: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Refuse what was made by another training, and say in what it differs."""
    for key, part in (("model", "another model"), ("data", "other data"), ("processes", "another number of processes")):
        if before.get(key) != wanted[key]:
            raise IsoglossError(f"{out} holds the training of {part}. Choose another folder with `out`, or remove it.")
    ours = before.get("settings", {})
    if differ := [name for name, value in wanted["settings"].items() if ours.get(name) != value]:
        raise IsoglossError(
            f"{out} holds a training with other settings ({', '.join(differ)}). "
            "Give the same, choose another folder with `out`, or remove it."
        )
