"""What a method asks and a family answers: token ids in, numbers out; or a prompt in, words out."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

LOGPROB = "logprob"
ARGMAX = "argmax"
CLASS = "class"
VECTOR = "vector"
ATTENTION = "attention"
DISTRIBUTION = "distribution"
TEXT = "text"

NAN = (
    "The model gives NaN instead of probabilities. Its weights may be broken or its number format too small: "
    "try `dtype='float32'`, or pull the model again."
)

Answer = npt.NDArray[np.float64]
# what a method returns about an item: rows of scores, or records of what a model said
Asking = Generator[list[Any], list[Any], list[Any]]


@dataclass(frozen=True, slots=True)
class Question:
    """Token ids as the model reads them, and one want.

    `logprob`: the log-probability of each of `targets` at each of `positions`, one number per position.
    `argmax`: the most probable token at each position. `class`: the log-probabilities of the next-sentence classes.
    `vector`: the mean of the last layer's hidden states over the positions. `attention`: how much attention each of the
    positions received, averaged over layers, heads and all the text's tokens.
    `distribution`: the log-probabilities of the whole vocabulary at the one position.
    Positions count in `decoder_ids` where there are any (encoder-decoder models), in `ids` otherwise.
    A position is where the model is asked: a causal model's token t is asked for at position t - 1.
    """

    ids: tuple[int, ...]
    positions: tuple[int, ...] = ()
    targets: tuple[int, ...] = ()
    want: str = LOGPROB
    decoder_ids: tuple[int, ...] = ()
    segments: tuple[int, ...] = ()
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question in words, as a user's message: how long and how freely it is answered.

    `options` are words whose log-probabilities as the answer are wanted too, where the model gives them.
    `template` is `auto` for the model's chat template, `plain` for the bare prompt. Equal prompts get equal answers, so
    samples of one message differ in their `seed`.
    """

    text: str
    options: tuple[str, ...] = ()
    max_tokens: int = 10
    temperature: float = 0.0
    seed: int = 0
    template: str = "auto"
    want: str = TEXT


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model says to a prompt, word for word; `opening` is the text of its first tokens, where they are known.

    `logprobs` are the natural log-probabilities of the prompt's options as the answer, where the model gives them.
    """

    text: str
    opening: str | None = None
    finish: str | None = None
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    logprobs: tuple[float, ...] | None = None


Keep = Callable[[Mapping[Any, Any]], None]  # is handed the answers by their questions, as soon as they are there


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that a model is asked for token by token: what it follows, and how it starts and ends.

    `template`: `plain`, or `chat` for the text as the answer to the context in the model's chat template.
    `start`: `auto` after the model's start token, `none` without one, `first` as published, only the first token after it.
    """

    text: str
    context: str = ""
    language: str = ""
    start: str = "auto"
    closed: bool = False
    template: str = "plain"


@dataclass(frozen=True, slots=True)
class Span:
    """The questions about a text's tokens, in order, none when there is nothing to ask; and whether text was cut for them.

    `unasked` are tokens at the beginning that cannot be asked for, since the model has no start token.
    """

    questions: tuple[Question, ...]
    truncated: bool
    unasked: tuple[int, ...] = ()

    @property
    def targets(self) -> tuple[int, ...]:
        return tuple(target for question in self.questions for target in question.targets)
