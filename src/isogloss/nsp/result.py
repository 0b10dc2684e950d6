"""The trained model as a folder: weights, tokenizer, head, and in its config.json how the head reads pairs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..models.next_sentence import WEIGHTS, set_reading
from .heads import Trainee

ADAPTER = "adapter"


def save_model(trainee: Trainee, out: Path, *, accuracy: float | None) -> None:
    """Save everything as safetensors; adapters are kept in a folder of their own and merged into the weights."""
    from safetensors.torch import save_file

    net = trainee.model.net
    scorer = trainee.scorer.to("cpu").eval()
    if trainee.adapters is not None:
        trainee.adapters.save_pretrained(str(out / ADAPTER), save_embedding_layers=False)
        net = trainee.adapters.merge_and_unload()
    if getattr(net, "is_gradient_checkpointing", False):
        net.gradient_checkpointing_disable()
    set_reading(net.config, replace(trainee.reading, accuracy=accuracy))
    net.save_pretrained(str(out))
    trainee.model.tokenizer.save_pretrained(str(out))
    if scorer.head is not None:
        weights = {name: one.detach().contiguous() for name, one in scorer.head.state_dict().items()}
        save_file(weights, out / WEIGHTS)
