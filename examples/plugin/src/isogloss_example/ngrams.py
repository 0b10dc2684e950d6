"""Character n-grams: a language model without a network, in a folder with a config.json and the counts of a text."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isogloss.errors import IsoglossError
from isogloss.models.continuations import left_to_right
from isogloss.models.model import Bundle, Family, Model
from isogloss.models.questions import LOGPROB, Answer, Question

MODEL_TYPE, COUNTS = "character-ngrams", "counts.json"
START = 0
CHARACTERS = 0x110000  # of Unicode: what the shortest context falls back on


class Characters:
    """A tokenizer whose tokens are characters; the character 0 begins a text."""

    bos_token_id, eos_token_id, unk_token_id = START, None, None

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [*([START] if add_special_tokens else []), *map(ord, text)]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(map(chr, ids))


@dataclass(frozen=True)
class Ngrams:
    """How often each character followed each context of at most `order - 1` characters."""

    order: int
    counts: dict[str, dict[str, int]]

    def probability(self, context: str, character: str) -> float:
        """Witten and Bell's estimate: a context that was seen often counts more than the next shorter one."""
        shorter = self.probability(context[1:], character) if context else 1 / CHARACTERS
        seen = self.counts.get(context, {})
        return (seen.get(character, 0) + len(seen) * shorter) / (sum(seen.values()) + len(seen)) if seen else shorter


def train(text: str, folder: Path, *, order: int = 3) -> None:
    """Write the model of a text, one sentence per line, into a folder."""
    counts: dict[str, Counter[str]] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        full = chr(START) + line
        for place in range(1, len(full)):
            for length in range(min(order, place + 1)):
                counts.setdefault(full[place - length : place], Counter())[full[place]] += 1
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"model_type": MODEL_TYPE, "order": order}), encoding="utf-8")
    (folder / COUNTS).write_text(json.dumps(counts), encoding="utf-8")


def load(folder: Path, *, device: str, dtype: str) -> tuple[Ngrams, Characters]:
    """The model in a folder."""
    if device != "cpu":
        raise IsoglossError(f"Character n-grams are counted on the CPU, not on '{device}'. Leave --device out.")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return Ngrams(config["order"], json.loads((folder / COUNTS).read_text(encoding="utf-8"))), Characters()


def bundle(model: Model, questions: Sequence[Question]) -> list[Bundle]:
    """Every question by itself: there is no pass to share."""
    return [Bundle((index,), len(question.ids)) for index, question in enumerate(questions)]


def answer(model: Model, questions: Sequence[Question], *, batch: Sequence[Bundle]) -> dict[int, Answer]:
    """The log-probability of each target after the characters up to its position."""
    return {index: _logprobs(model.net, questions[index]) for one in batch for index in one.indices}


def _logprobs(ngrams: Ngrams, question: Question) -> Answer:
    text = "".join(map(chr, question.ids))
    contexts = [text[max(0, position + 2 - ngrams.order) : position + 1] for position in question.positions]
    pairs = zip(contexts, map(chr, question.targets), strict=True)
    return np.array([math.log(ngrams.probability(*pair)) for pair in pairs])


family = Family(
    title="Character n-grams",
    wants=(LOGPROB,),
    matches=lambda config: config.get("model_type") == MODEL_TYPE,
    load=load,
    bundle=bundle,
    answer=answer,
    continuing=left_to_right,
)

if __name__ == "__main__":
    train(Path(sys.argv[1]).read_text(encoding="utf-8"), Path(sys.argv[2]))
