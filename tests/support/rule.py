"""Articles that follow a rule which needs both sentences of a pair, and tiny models that can learn it.

An article has a colour and a shape, five of each. Its sentences name them with one pair of words and with another in
turn, so neighbours share no word but a filler that means nothing. A false pair looks true once in 50 times: nobody can
be right more often than 99 %.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from isogloss.nsp.articles import ArticleSource
from isogloss.nsp.data import PairSettings, build_data

COLOURS = [(f"a{n}", f"b{n}") for n in range(5)]
SHAPES = [(f"c{n}", f"d{n}") for n in range(5)]
FILLERS = [f"w{n}" for n in range(4)]
PREFIX = ["binary", "classification", ":"]
KINDS = ("gpt2", "llama", "roberta", "t5", "mt5")
SPECIAL = {
    "gpt2": {"bos_token": "<e>", "eos_token": "<e>", "unk_token": "<e>"},
    "llama": {"bos_token": "<s>", "eos_token": "<e>", "unk_token": "<u>"},
    "roberta": {
        "bos_token": "<s>",
        "eos_token": "<e>",
        "cls_token": "<s>",
        "sep_token": "<e>",
        "unk_token": "<u>",
        "pad_token": "<p>",
        "mask_token": "<m>",
    },
    "t5": {"pad_token": "<p>", "eos_token": "<e>", "unk_token": "<u>"},
}
SPECIAL["mt5"] = SPECIAL["t5"]
WIDTH = 64


def write_articles(path: Path, *, count: int = 400, seed: int = 0) -> Path:
    """A plain text of so many articles that follow the rule."""
    rng = np.random.default_rng(seed)
    articles = []
    for _ in range(count):
        topic, start = (COLOURS[rng.integers(5)], SHAPES[rng.integers(5)]), int(rng.integers(2))
        lines = []
        for index in range(int(rng.integers(14, 26))):
            words = [one[(start + index) % 2] for one in topic]
            lines.append(" ".join([rng.choice(FILLERS).capitalize(), *words]) + ".")
        articles.append("\n".join(lines))
    path.write_text("\n\n".join(articles) + "\n", encoding="utf-8")
    return path


def build(folder: Path, *, count: int = 400, format: str = "parquet") -> Path:
    """The pairs of such articles, a tenth of the articles for validation and for the test."""
    from isogloss.nsp.pairs import Shares

    text = write_articles(folder / "rule.txt", count=count)
    settings = PairSettings(shares=Shares(0.1, 0.1), any_language=True, format=format)
    build_data([ArticleSource(str(text), "en")], folder / "pairs", settings=settings)
    return folder / "pairs"


@cache
def tokenizer_of(kind: str) -> PreTrainedTokenizerFast:
    """A tokenizer of whole words with the special tokens of the kind."""
    words = [word for pair in COLOURS + SHAPES for word in pair] + FILLERS
    named = SPECIAL[kind]
    listed = [*dict.fromkeys(named.values()), "<extra_id_0>", *PREFIX, ".", "0", "1"]
    listed += [form for word in words for form in (word, word.capitalize())]
    vocabulary = {word: number for number, word in enumerate(listed)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=named["unk_token"]))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    frame = {
        "llama": ("<s> $A", None),
        "roberta": ("<s> $A <e>", "<s> $A <e> <e> $B <e>"),
        "t5": ("$A <e>", None),
        "mt5": ("$A <e>", None),
    }.get(kind)
    if frame:
        special = [(token, vocabulary[token]) for token in dict.fromkeys(named.values())]
        tokenizer.post_processor = processors.TemplateProcessing(single=frame[0], pair=frame[1], special_tokens=special)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named)


def network(kind: str, *, seed: int = 0) -> Any:
    """A new tiny network of the kind, untrained."""
    tokenizer = tokenizer_of(kind)
    common = {
        "vocab_size": len(tokenizer),
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    wide = {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
    t5 = {"d_model": WIDTH, "d_kv": 16, "d_ff": 128, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0, "dropout_rate": 0.0}  # fmt: skip
    plain = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    name, options = {
        "gpt2": ("GPT2LMHeadModel", {"n_embd": WIDTH, "n_layer": 2, "n_head": 4, "n_positions": 64, "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}),
        "llama": ("LlamaForCausalLM", {**wide, "num_key_value_heads": 2, "max_position_embeddings": 64}),
        "roberta": ("RobertaForMaskedLM", {**wide, **plain, "max_position_embeddings": 66, "type_vocab_size": 1}),
        "t5": ("T5ForConditionalGeneration", t5),
        "mt5": ("MT5ForConditionalGeneration", {**t5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}),
    }[kind]  # fmt: skip
    model_class = getattr(transformers, name)
    torch.manual_seed(seed)
    net = model_class(model_class.config_class(**common, **options))
    with torch.no_grad():  # weights that are large enough for so small a network to move
        for parameter_name, parameter in net.named_parameters():
            if parameter.ndim == 2:
                is_embedding = any(part in parameter_name for part in ("emb", "wte", "wpe", "shared"))
                size = parameter.shape[0 if ".c_" in parameter_name else 1]
                parameter.normal_(std=1.0 if is_embedding else (0.5 if "t5" in kind else 1.0) / size**0.5)
    return net


def save(kind: str, folder: Path, *, seed: int = 0) -> Path:
    """A folder with such a network and its tokenizer."""
    network(kind, seed=seed).save_pretrained(folder)
    tokenizer_of(kind).save_pretrained(folder)
    return folder


def read_log(folder: Path) -> list[dict[str, float]]:
    """The lines of a training's log without how long they took."""
    import csv

    with (folder / "log.csv").open(encoding="utf-8", newline="") as file:
        return [{key: float(value) for key, value in row.items() if key != "seconds"} for row in csv.DictReader(file)]


def read_card(folder: Path) -> dict[str, Any]:
    """The card of a trained model."""
    found: dict[str, Any] = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    return found
