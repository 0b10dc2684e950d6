"""A model that is open: its network, its tokenizer, its family, and what is known about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..scores import unsupported_language_note
from .questions import Answer, Question


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is known about a model without asking it anything."""

    name: str
    family: str
    model_type: str
    revision: str | None = None
    commit: str | None = None
    source: str | None = None
    languages: tuple[str, ...] = ()
    licence: str | None = None
    vocabulary: int = 0
    parameters: int = 0
    max_length: int | None = None
    heads: tuple[str, ...] = ()
    untrained: tuple[str, ...] = ()
    weights: str = ""
    tokenizer: str = ""
    dtype: str = "float32"
    notes: tuple[str, ...] = ()


def notes_on(info: ModelInfo, language: str, *, called: str | None = None) -> list[str]:
    """What must be said with the model's numbers in a language; `called` is what a study calls the model."""
    name = called or info.name
    notes = [f"{name}: {note}" for note in info.notes]
    claimed = {tag.split("-")[0] for tag in info.languages}
    if claimed and "multilingual" not in claimed and language.split("-")[0] not in claimed:
        notes.append(f"{unsupported_language_note(name, language)}, only {', '.join(info.languages)}")
    return notes


@dataclass(frozen=True, slots=True)
class Bundle:
    """Questions that share one pass: their places in the list of questions, and how many tokens the pass reads."""

    indices: tuple[int, ...]
    cost: int


class AnswerBatch(Protocol):
    """Answers the questions of a batch of bundles, by their places."""

    def __call__(
        self, model: Model, questions: Sequence[Question], *, batch: Sequence[Bundle]
    ) -> dict[int, Answer]: ...


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of model: how its questions share passes, and how a batch of bundles is answered.

    One that `pads` gets bundles of like cost together; another groups what is alike in a batch itself.
    """

    title: str
    wants: tuple[str, ...]
    prepare: Callable[[Model], None]
    bundle: Callable[[Model, Sequence[Question]], list[Bundle]]
    answer: AnswerBatch
    pads: bool = True


@dataclass(frozen=True, eq=False)
class Model:
    """An open model; `state` holds what its family found out when it was loaded."""

    info: ModelInfo
    net: Any
    tokenizer: Any
    family: Family
    device: str = "cpu"
    state: dict[str, Any] = field(default_factory=dict)
