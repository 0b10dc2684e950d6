"""A model that is open: its network, its tokenizer, its family, and what is known about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ..scores import unsupported_language_note
from .questions import Answer, Keep, Passage, Prompt, Question, Span
from .text import Ids

ADDRESS = ("http://", "https://")  # how the name of a model begins that is the address of a server

# What methods use of a family, beside what its questions may want.
FILL = "fill"  # pieces of a word in a blank
HIDE = "hide"  # tokens at their positions, when they or others are masked
IN_PLACE = "in place"  # tokens at their positions, with the whole text in view
CONTINUE = "continue"  # tokens after those before them
EXPECT = "expect"  # all possible fillers of a blank
PAIR = "pair"  # whether one sentence follows another


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
    identity: Mapping[str, str] = field(default_factory=dict)  # what stands for the weights where they cannot be seen


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Where a model comes from: a folder, a GGUF file in a folder, a name on the hub with a revision, or a server.

    `folder` and `commit` of a hub model are known once it was fetched; `family` is set where the name alone decides it.
    """

    name: str
    source: str
    revision: str | None = None
    gguf: str | None = None
    notes: tuple[str, ...] = ()
    folder: Path | None = None
    commit: str | None = None
    family: str | None = None


@dataclass(frozen=True, slots=True)
class Loading:
    """How models are opened and batched.

    `token_budget` is the number of tokens per batch, including padding, `part_size` the number of candidates scored
    between two writes, and `order` the unit of the random order: cluster or item. `device_map` (`auto`, `balanced`
    or `sequential`) puts the layers of a model on several devices and overrides `device`.

    For a server, `served_model` is the model's name there, `key_env` the environment variable with the key,
    `concurrency` the number of open requests, `timeout` the seconds for each, `tokenizer` the name or folder of the
    tokenizer, and `repeat` the number of items that are requested twice. `max_requests` and `max_cost` are limits;
    `prices` are those of a million prompt tokens and answer tokens.
    """

    device: str = "cpu"
    device_map: str | None = None
    dtype: str = "float32"
    token_budget: int | None = None
    offline: bool = False
    allow_pickle: bool = False
    part_size: int | None = None
    order: str = "cluster"
    served_model: str = ""
    key_env: str | None = None
    concurrency: int = 4
    timeout: float = 60.0
    tries: int = 6
    tokenizer: str | None = None
    repeat: int = 100
    max_requests: int | None = None
    max_cost: float | None = None
    prices: tuple[float, float] = (0.0, 0.0)


DEFAULT_LOADING = Loading()


def notes_on(info: ModelInfo, language: str, *, called: str | None = None) -> list[str]:
    """The caveats of the model's numbers in a language; `called` is what a study calls the model."""
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


class AnswerEach(Protocol):
    """Answers questions and prompts that cost money or minutes, and hands over each answer as soon as it is there."""

    def __call__(
        self, model: Model, questions: Sequence[Question | Prompt], *, keep: Keep, token_budget: int | None = None
    ) -> None: ...


class OpenSource(Protocol):
    """Gives an open model, by a name that its family claims."""

    def __call__(self, source: ModelSource, loading: Loading) -> Model: ...


class LoadFolder(Protocol):
    """Gives the network and the tokenizer in a folder."""

    def __call__(self, folder: Path, *, device: str, dtype: str) -> tuple[Any, Any]: ...


class AskAfter(Protocol):
    """Gives the question for tokens after those of a prompt."""

    def __call__(self, model: Model, ids: Ids, *, tokens: Ids) -> Question: ...


class Expect(Protocol):
    """Gives the question for all possible fillers of a text's blank; none when the text cannot be asked about."""

    def __call__(self, model: Model, text: str, *, language: str) -> Question | None: ...


class ReadPair(Protocol):
    """Gives the tokens of two sentences, their segments if any, and how many tokens at the front must stay."""

    def __call__(self, model: Model, first: str, *, second: str) -> tuple[Ids, Ids, int]: ...


class Refuse(Protocol):
    """Gives a sentence when a model cannot be asked in a way that its family offers, or not with these options."""

    def __call__(self, model: Model, *, asked: str, options: Mapping[str, str]) -> str | None: ...


class RefuseFiles(Protocol):
    """Gives a sentence when the files of a model show that it cannot answer prompts, before weights are loaded."""

    def __call__(self, folder: Path, *, name: str, options: Mapping[str, str]) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Filling:
    """How a blank is filled: the token that marks it, and what becomes of a question about such tokens."""

    mask: Callable[[Model], str]
    question: Callable[[Model, Question], Question] = lambda model, question: question


@dataclass(frozen=True, slots=True)
class Generating:
    """How a family answers with `net.generate`: the tokens of a plain prompt, the question for tokens after a prompt,
    and whether what is generated begins with the prompt."""

    prompt: Callable[[Model, str], Ids]
    after: AskAfter
    echoes: bool


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of model: how it is recognized and opened, how its questions share passes and are answered, how it is asked.

    `claims` recognises a name, such as an address, and `open` opens it. Of a folder, `matches` is given what config.json says;
    it is loaded by the class of transformers that `loader` names, or by the family's own `load`.
    Questions share passes by `bundle` and are answered in batches by `answer`; prompts, and all questions of a family
    without batches, are answered one by one by `answer_each`. `prompting` is what answers in words depend on beside the weights,
    and `libraries` are the packages whose versions belong to a run.
    One that `pads` gets bundles of like cost together; another groups what is alike in a batch itself.
    One that `chats` can read text in a chat template.
    `identify` is what answers to a way to ask depend on beside the identity that was known before anything was asked.
    Where answers may depend on what else is asked, `ask_again` gives the model as it is asked a second time, and for how many items.
    Methods use what a family `offers`: `wants`, and the ways to ask that are given here.
    """

    title: str
    wants: tuple[str, ...]
    matches: Callable[[Mapping[str, Any]], bool] = lambda config: False
    bundle: Callable[[Model, Sequence[Question]], list[Bundle]] | None = None
    answer: AnswerBatch | None = None
    answer_each: AnswerEach | None = None
    claims: Callable[[str, Loading], ModelSource | None] = lambda name, loading: None
    open: OpenSource | None = None
    libraries: tuple[str, ...] = ()
    prompting: Callable[[Model, str], Mapping[str, Any]] = lambda model, template: {}
    loader: Callable[[Mapping[str, Any]], str] | None = None
    load: LoadFolder | None = None
    prepare: Callable[[Model], None] = lambda model: None
    pads: bool = True
    in_place: bool = False
    filling: Filling | None = None
    continuing: Callable[[Model, Passage], Span] | None = None
    expecting: Expect | None = None
    pairing: ReadPair | None = None
    generating: Generating | None = None
    chats: bool = False
    refuse: Refuse = lambda model, *, asked, options: None
    refuse_files: RefuseFiles = lambda folder, *, name, options: None
    identify: Callable[[Model, str], Mapping[str, str]] = lambda model, asked: {}
    ask_again: Callable[[Model], tuple[Model, int] | None] = lambda model: None

    @property
    def offers(self) -> tuple[str, ...]:
        """What methods may use, the most specific way first."""
        ways = {
            FILL: self.filling,
            HIDE: self.in_place,
            IN_PLACE: self.in_place,
            CONTINUE: self.continuing,
            EXPECT: self.expecting,
            PAIR: self.pairing,
        }
        return (*(name for name, way in ways.items() if way), *self.wants)


@dataclass(frozen=True, eq=False)
class Model:
    """An open model; `state` contains what its family determined when it was loaded."""

    info: ModelInfo
    net: Any
    tokenizer: Any
    family: Family
    device: str = "cpu"
    state: dict[str, Any] = field(default_factory=dict)
