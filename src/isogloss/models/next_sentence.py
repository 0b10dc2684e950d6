"""Next-sentence heads: how a pair of sentences is put to a model that has one, and how its answer is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import IsoglossError
from .model import Model
from .questions import CLASS, LOGPROB, Answer, Question
from .text import Ids, encode, shared_start

if TYPE_CHECKING:
    import torch

KEY = "next_sentence"
WEIGHTS = "nsp.safetensors"
POOLED = "pooled"
LABEL = "label"
LABELS = ("0", "1")
WIDTH = 300
PUBLISHED_NEXT = 0
TRAINED_NEXT = 1


@dataclass(frozen=True, slots=True)
class PairFormat:
    """How a trained head reads pairs; it is kept in the model's config.json and so is part of the weights' hash.

    `pooled`: a head on the mean of the hidden states. `label`: an encoder-decoder model that says "0" or "1". `separate`:
    a causal model reads the two sentences as its tokenizer pairs them, without a start token or a space between them.
    """

    form: str
    prefix: str = ""
    max_length: int = 256
    accuracy: float | None = None
    separate: bool = False


def pair_format_of(config: Any) -> PairFormat | None:
    """What a configuration says about a trained next-sentence head, if it has one."""
    stored = getattr(config, KEY, None)
    return PairFormat(**stored) if isinstance(stored, dict) else None


def set_pair_format(config: Any, pair_format: PairFormat) -> None:
    """Write down in a configuration how its model's trained head reads pairs."""
    setattr(config, KEY, asdict(pair_format))


def make_head(width: int) -> torch.nn.Module:
    """Three linear layers without activation, from a hidden state to two classes; class 1 is `is next`."""
    from torch import nn

    return nn.Sequential(nn.Linear(width, WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 2))


def read_head_weights(path: Path | None, *, name: str) -> torch.nn.Module:
    """The head in a file of weights."""
    from safetensors.torch import load_file

    if path is None or not path.is_file():
        raise IsoglossError(f"'{name}' lacks the weights of its next-sentence head, {WEIGHTS}. Copy or train it again.")
    try:
        weights = load_file(path)
        head = make_head(weights["0.weight"].shape[1])
        head.load_state_dict(weights)
    except Exception as error:
        raise IsoglossError(f"'{name}' has a broken {WEIGHTS}. Copy or train it again.") from error
    return head.eval()


def attach(model: Model, pair_format: PairFormat, *, head: torch.nn.Module | None) -> None:
    """Let an open model answer about pairs with a trained head."""
    model.state["reading"] = pair_format
    if head is not None:
        model.state["classifier"] = head.eval().to(model.device)


def pair_question(model: Model, first: str, *, second: str) -> tuple[Question, bool]:
    """The question whether `second` follows `first`, and whether the pair was cut; too long a pair loses its beginning."""
    pair_format: PairFormat | None = model.state.get("reading")
    if model.family.pairing is None:
        raise IsoglossError(f"A {model.info.family} model cannot be asked about pairs of sentences.")
    ids, segments, kept = model.family.pairing(model, first, second=second)
    limits = (model.info.max_length, pair_format.max_length if pair_format else None)
    extra = max(0, len(ids) - min((limit for limit in limits if limit is not None), default=len(ids)))
    if extra:
        ids, segments = ids[:kept] + ids[kept + extra :], segments[:kept] + segments[kept + extra :]
    if pair_format is None:
        return Question(ids, want=CLASS, segments=segments), extra > 0
    if pair_format.form == POOLED:
        return Question(ids, tuple(range(len(ids))), want=CLASS, segments=segments), extra > 0
    zero, unit, step = label_ids(model.tokenizer)
    begin = (model.net.config.decoder_start_token_id, *zero[:step])
    return Question(ids, (step, step), (zero[step], unit[step]), LOGPROB, decoder_ids=begin), extra > 0


def label_ids(tokenizer: Any) -> tuple[Ids, Ids, int]:
    """The tokens of the two labels, and the step at which they part: there the label is trained and read."""
    zero, unit = (encode(tokenizer, label) for label in LABELS)
    step = shared_start(zero, unit)
    unknown = tokenizer.unk_token_id
    if step == min(len(zero), len(unit)) or unknown in (zero[step], unit[step]):
        raise IsoglossError(
            "The tokenizer cannot tell the labels '0' and '1' apart, so no head can be trained on them."
        )
    return zero, unit, step


def next_class(model: Model) -> int:
    """The place of `is next` among the classes: 0 for published heads, 1 for trained ones."""
    return TRAINED_NEXT if "reading" in model.state else PUBLISHED_NEXT


def class_logprobs(model: Model, answer: Answer) -> Answer:
    """The log-probabilities of the two classes, from the answer to a pair's question."""
    pair_format: PairFormat | None = model.state.get("reading")
    return answer - np.logaddexp(*answer) if pair_format and pair_format.form == LABEL else answer


def read_classes(
    head: torch.nn.Module, states: torch.Tensor, *, questions: Sequence[Question], asked: Sequence[tuple[int, int]]
) -> dict[int, Answer]:
    """The classes' log-probabilities by a head on the mean of the hidden states at a question's positions.

    `asked` pairs a row of the hidden states with the place of a question.
    """
    import torch

    pairs = [(row, index) for row, index in asked if questions[index].want == CLASS]
    if not pairs:
        return {}
    means = torch.stack([states[row, list(questions[index].positions)].float().mean(0) for row, index in pairs])
    logprobs = head(means).log_softmax(-1).double().cpu().numpy()
    return {index: line for (_, index), line in zip(pairs, logprobs, strict=True)}
