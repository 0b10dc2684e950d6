"""What is measured: each workload has items, a model, our way, and the plain ways to compare with."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import isogloss as ig
from benchmarks import models, plain
from isogloss.items import Item, Items, sample_items
from isogloss.models.load import open_model
from isogloss.models.model import Model
from isogloss.models.packaged import pulled_folder

Plain = Callable[[Model, Sequence[Item], int], list[float]]


@dataclass(frozen=True)
class Workload:
    """One row of the table; targets are the ratios to plain batch 1 and plain batch 32 that we want to reach."""

    name: str
    make: Callable[[Sequence[str]], Model]
    task: str
    method: str
    plain: Plain
    targets: tuple[float, float]
    items: int
    language: str = "en"
    trained: str | None = None  # a pulled model with its own vocabulary, instead of random weights

    def is_here(self) -> bool:
        """Whether the workload can be measured: a trained model needs its weights and the real text."""
        needs = self.trained is None or (pulled_folder(self.trained) / "config.json").is_file()
        return needs and (self.language == "en" or bool(os.environ.get("ISOGLOSS_REAL_DATA")))


def big_vocabulary(text: Sequence[str]) -> Model:
    """BERT-base with mBERT's vocabulary."""
    return models.masked(text, vocabulary=119_547)


def trained(name: str, language: str, *, targets: tuple[float, float]) -> Workload:
    """The intrasentence items of a language with a trained model."""
    title = f"StereoSet intra, {name}, {language}"
    make = partial(lambda checkpoint, _: open_model(checkpoint), name)
    return Workload(title, make, "intrasentence", "unmask", plain.unmask, targets, 160, language, name)


WORKLOADS = [
    Workload("StereoSet intra, BERT-base", models.masked, "intrasentence", "unmask", plain.unmask, (15, 6), 128),
    Workload("StereoSet intra, mBERT (120k)", big_vocabulary, "intrasentence", "unmask", plain.unmask, (18, 5.5), 96),
    Workload("StereoSet intra, GPT-2", models.causal, "intrasentence", "likelihood", plain.likelihood, (13, 5), 128),
    Workload(
        "StereoSet inter (d), GPT-2", models.causal, "intersentence", "continuation", plain.continuation, (6, 3.7), 64
    ),
    Workload(
        "StereoSet intra, mT5-small (250k)",
        models.seq2seq,
        "intrasentence",
        "unmask",
        plain.unmask_seq2seq,
        (15, 2.5),
        128,
    ),
    Workload(
        "StereoSet inter, mT5-small (250k)",
        models.seq2seq,
        "intersentence",
        "continuation",
        plain.continuation_seq2seq,
        (6, 2.5),
        48,
    ),
    trained("bert-base-cased", "en", targets=(15, 6)),
    trained("bert-base-multilingual-cased", "de", targets=(18, 5.5)),
]


def read_items(language: str = "en") -> Items:
    """Real StereoSet text where ISOGLOSS_REAL_DATA names it, the demonstration set otherwise."""
    real = os.environ.get("ISOGLOSS_REAL_DATA")
    if not real:
        return ig.read("demo", language=language)
    folder = Path(real) / "stereoset"
    files = [folder / f"{task}_{language}.jsonl.gz" for task in ("intrasentence", "intersentence")]
    return ig.read(files[0]) + ig.read(files[1])


def choose(items: Items, task: str, count: int) -> Items:
    """So many items of a task; texts that two ways read differently (several blanks, other letters in English) are left out."""
    rows = tuple(
        item
        for item in items
        if item.tags["task"] == task
        and (item.context or "").count("BLANK") < 2
        and (item.language != "en" or (item.context or "").isascii())
    )
    return sample_items(Items(rows), limit=count, seed=1)
