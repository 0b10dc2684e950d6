"""Checkpoints: weights and optimizer as safetensors, the rest as JSON; written beside, then renamed, never pickled."""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ..errors import BadData, CannotWrite, IsoglossError

FOLDER = "checkpoints"
STATE = "state.json"
WEIGHTS = "trained.safetensors"
OPTIMIZER = "optimizer.safetensors"
KEPT = 2
BROKEN = "a broken checkpoint. Remove it, and the one before is taken."


@dataclass(slots=True)
class State:
    """How far a training is: the next step, sums since the last line of the log, and what validation gave so far."""

    step: int = 0
    loss: float = 0.0
    right: float = 0.0
    count: float = 0.0
    seconds: float = 0.0
    lines: list[dict[str, float]] = field(default_factory=list)
    validations: list[dict[str, float]] = field(default_factory=list)
    best_step: int = 0
    scaler: dict[str, Any] = field(default_factory=dict)


def trained_parameters(scorer: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that are trained, by name."""
    return {name: parameter for name, parameter in scorer.named_parameters() if parameter.requires_grad}


def write_checkpoint(
    out: Path, state: State, *, scorer: nn.Module, optimizer: torch.optim.Optimizer, identity: dict[str, Any]
) -> None:
    """Write a checkpoint in one step; older ones are removed, but not the best."""
    from safetensors.torch import save_file

    folder = out / FOLDER
    for path in folder.glob(".partial-*"):  # what a killed process left would fill the disk
        shutil.rmtree(path, ignore_errors=True)
    work = folder / f".partial-{os.getpid()}"
    work.mkdir(parents=True)
    named = trained_parameters(scorer)
    save_file({name: tensor.detach().cpu().contiguous() for name, tensor in named.items()}, work / WEIGHTS)
    slots = {
        f"{name}|{slot}": value.detach().cpu().contiguous()
        for name, tensor in named.items()
        for slot, value in optimizer.state.get(tensor, {}).items()
    }
    save_file(slots, work / OPTIMIZER)
    facts = {"mark": identity, "state": asdict(state), "sha256": _sha256(work, asdict(state))}
    (work / STATE).write_text(json.dumps(facts, ensure_ascii=False), encoding="utf-8")
    for path in work.iterdir():
        sync(path)
    target = folder / f"step-{state.step:08d}"
    shutil.rmtree(target, ignore_errors=True)
    work.rename(target)
    sync(folder)
    for path in sorted(folder.glob("step-*"))[:-KEPT]:
        if path.name != f"step-{state.best_step:08d}":
            shutil.rmtree(path)


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


def find_checkpoint(out: Path, identity: dict[str, Any]) -> tuple[Path, State] | None:
    """The last checkpoint in the folder, if there is one; one of another training is refused."""
    path = max((out / FOLDER).glob("step-*"), default=None)
    if path is None:
        return None
    try:
        facts = json.loads((path / STATE).read_text(encoding="utf-8"))
        state = State(**facts["state"])
        if facts.get("sha256", "") not in ("", _sha256(path, facts["state"])):  # those before 0.3 have none
            raise ValueError("damaged")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadData(path, None, BROKEN) from error
    refuse_other(out, before=facts["mark"], wanted=identity)
    return path, state


def _sha256(folder: Path, state: dict[str, Any]) -> str:
    """The SHA-256 of a checkpoint: of its state, its weights and its optimizer."""
    digest = hashlib.sha256(json.dumps(state, sort_keys=True).encode())
    for name in (WEIGHTS, OPTIMIZER):
        with (folder / name).open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def refuse_other(out: Path, *, before: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Refuse what was made by another training, and say in what it differs."""
    for key, part in (("model", "another model"), ("data", "other data"), ("processes", "another number of processes")):
        if before.get(key) != wanted[key]:
            raise IsoglossError(f"{out} holds the training of {part}. Choose another folder with --out, or remove it.")
    ours = before.get("settings", {})
    if differ := [name for name, value in wanted["settings"].items() if ours.get(name) != value]:
        raise IsoglossError(
            f"{out} holds a training with other settings ({', '.join(differ)}). "
            "Give the same, choose another folder with --out, or remove it."
        )


def _load(path: Path, name: str) -> dict[str, torch.Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        tensors: dict[str, torch.Tensor] = load_file(path / name)
    except (OSError, SafetensorError) as error:
        raise BadData(path, None, BROKEN) from error
    return tensors


def load_checkpoint(path: Path, scorer: nn.Module, *, optimizer: torch.optim.Optimizer | None = None) -> None:
    """Take over the weights of a checkpoint, and the memory of its optimizer where there is one."""
    saved, named = _load(path, WEIGHTS), trained_parameters(scorer)
    if set(saved) != set(named):
        raise BadData(path, None, "the checkpoint holds other weights than this model has. Remove it.")
    with torch.no_grad():
        for name, parameter in named.items():
            parameter.copy_(saved[name])
    if optimizer is not None:
        for key, value in _load(path, OPTIMIZER).items():
            name, _, slot = key.rpartition("|")
            memory = optimizer.state[named[name]]
            memory[slot] = value if slot == "step" else value.to(named[name].device)
