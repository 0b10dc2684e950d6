"""A model that learns which sentence is next: a network with a head, padding, adapters, and what of it is trained."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ..errors import IsoglossError, require
from ..models.load import open_model
from ..models.model import Model
from ..models.next_sentence import (
    LABEL,
    POOLED,
    WEIGHTS,
    PairFormat,
    attach,
    label_ids,
    make_head,
    pair_question,
    set_pair_format,
)
from ..models.questions import CLASS, Question
from .parts import Batch
from .settings import PREFIXES, Lora, TrainingSettings

PAD = "<|pad|>"
SAMPLE = ("The first sentence.", "The second sentence.")
ADAPTER = "adapter"


class Scorer(nn.Module):  # type: ignore[misc]
    """A network and, for models that have no label to say, a head on the mean of its hidden states."""

    def __init__(self, net: Any, body: Any, *, head: nn.Module | None, cached: bool) -> None:
        super().__init__()
        self.net, self.head = net, head
        self.bodies = (body,)  # in a tuple, since the body is a part of the network and must not count twice
        self.options = {"use_cache": False} if cached else {}

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """The logits: of the two classes, or of the vocabulary at each of the label's steps."""
        if self.head is None:
            logits: Tensor = self.net(**inputs, use_cache=False).logits
            return logits
        states = self.bodies[0](**inputs, **self.options).last_hidden_state
        mask = inputs["attention_mask"][:, :, None].to(states.dtype)
        mean = (states * mask).sum(1) / mask.sum(1)
        return self.head(mean.to(self.head[0].weight.dtype))

    def state_dict(self, **_: Any) -> dict[str, Tensor]:
        """What is trained, each tensor once: checkpoints hold neither frozen nor tied weights."""
        return {name: weight.detach().contiguous() for name, weight in trained_parameters(self).items()}

    def load_state_dict(self, state_dict: Mapping[str, Tensor], strict: bool = True, **_: Any) -> Any:
        """Take over what is trained."""
        expected = set(trained_parameters(self))
        if set(state_dict) != expected:
            raise IsoglossError("The checkpoint holds other weights than this model trains. Remove it.")
        keys = super().load_state_dict(state_dict, strict=False)
        keys.missing_keys[:] = []  # the weights that are not trained, which are those of the base model
        return keys


def trained_parameters(scorer: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that are trained, by name."""
    return {name: parameter for name, parameter in scorer.named_parameters() if parameter.requires_grad}


@dataclass(frozen=True, eq=False)
class TrainableModel:
    """A model in training: what reads pairs for it, what scores them, and its adapters if it has any."""

    model: Model
    scorer: Scorer
    reading: PairFormat
    adapters: Any = None

    def encode(self, first: str, second: str) -> Question:
        """A pair as the model reads it."""
        return pair_question(self.model, first, second=second)[0]


def make_trainable(model: Model, settings: TrainingSettings) -> TrainableModel:
    """The model with a new head, seeded; only what gets a gradient will be trained."""
    torch.manual_seed(settings.seed)
    net = model.net
    model = replace(model, state=dict(model.state))
    form = POOLED if CLASS in model.family.wants else LABEL
    prefix = PREFIXES.get(model.info.model_type, "") if form == LABEL else ""
    pair_format = PairFormat(form, prefix, settings.max_length)
    if form == LABEL:
        label_ids(model.tokenizer)  # refuses a tokenizer that has none
    _add_padding(model)
    head = make_head(net.config.get_text_config().hidden_size) if form == POOLED else None
    attach(model, pair_format, head=head)
    for parameter in net.parameters():
        parameter.requires_grad_(True)
    adapters = _add_adapters(model, settings.lora) if settings.lora else None
    if settings.gradient_checkpointing:
        net.gradient_checkpointing_enable({"use_reentrant": False})
    scorer = Scorer(net, model.state.get("body"), head=head, cached=model.family.continuing is not None)
    trainable = TrainableModel(model, scorer, pair_format, adapters)
    compute_loss(trainable, ([trainable.encode(*SAMPLE)], [1]))[0].backward()
    for (
        parameter
    ) in scorer.parameters():  # several processes must agree on what has a gradient: no other head, no pooler
        parameter.requires_grad_(parameter.grad is not None)
        parameter.grad = None
    return trainable


def _add_padding(model: Model) -> None:
    """Give the tokenizer a padding token if it has none; a new row of a matrix is the mean of the others."""
    tokenizer, net = model.tokenizer, model.net
    if tokenizer.pad_token_id is None:
        tokenizer.add_special_tokens({"pad_token": PAD})
        old = net.get_input_embeddings().weight.shape[0]
        if len(tokenizer) > old:
            net.resize_token_embeddings(len(tokenizer), mean_resizing=False)
            for layer in {net.get_input_embeddings(), net.get_output_embeddings()} - {None}:
                with torch.no_grad():
                    layer.weight[old:] = layer.weight[:old].mean(0)
        net.config.get_text_config().pad_token_id = tokenizer.pad_token_id


def _add_adapters(model: Model, lora: Lora) -> Any:
    """Adapters in the linear layers inside numbered layers, or in the last ones; the network is changed in place."""
    peft = require("peft", extra="nsp")
    layers: dict[str, int] = {}
    for name, module in model.net.named_modules():
        numbers = [int(part) for part in name.split(".") if part.isdigit()]
        if numbers and type(module).__name__ in ("Linear", "Conv1D"):
            layers[name] = numbers[0]
    if not layers:
        raise IsoglossError(f"'{model.info.name}' has no linear layers that LoRA could adapt. Train it without `lora`.")
    lowest = max(layers.values()) + 1 - lora.layers if lora.layers is not None else 0
    names = [name for name, number in layers.items() if number >= lowest]
    config = peft.LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=names,
        fan_in_fan_out=type(model.net.get_submodule(names[0])).__name__ == "Conv1D",
    )
    return peft.get_peft_model(model.net, config)


def make_batch(trainable: TrainableModel, batch: Batch, *, device: Any = "cpu") -> tuple[dict[str, Tensor], Tensor]:
    """Pairs as padded inputs with a mask, and what should come out: classes, or a label's tokens (-100 is padding)."""
    questions, labels = batch
    tokenizer = trainable.model.tokenizer
    longest = max(len(question.ids) for question in questions)

    def rows(lists: Sequence[Sequence[int]], fill: int) -> Tensor:
        return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in lists])

    inputs = {"input_ids": rows([question.ids for question in questions], tokenizer.pad_token_id)}
    inputs["attention_mask"] = rows([[1] * len(question.ids) for question in questions], 0)
    if any(question.segments for question in questions):
        inputs["token_type_ids"] = rows([question.segments for question in questions], 0)
    targets = torch.tensor(labels)
    if trainable.reading.form == LABEL:
        *texts, _ = label_ids(tokenizer)
        steps = max(map(len, texts))
        targets = torch.tensor([[*text, *[-100] * (steps - len(text))] for text in texts])[targets]
        before = torch.full_like(targets, trainable.model.net.config.decoder_start_token_id)
        before[:, 1:] = targets[:, :-1].clamp(min=0)
        inputs["decoder_input_ids"] = before
    return {name: tensor.to(device) for name, tensor in inputs.items()}, targets.to(device)


def compute_loss(trainable: TrainableModel, batch: Batch, *, device: Any = "cpu") -> tuple[Tensor, Tensor]:
    """The mean loss of a batch, and which of its pairs are labeled correctly."""
    inputs, targets = make_batch(trainable, batch, device=device)
    return compare_labels(trainable, trainable.scorer(inputs), targets=targets)


def compare_labels(trainable: TrainableModel, logits: Tensor, *, targets: Tensor) -> tuple[Tensor, Tensor]:
    """The mean loss, and which labels are correct; a label in words must be the most probable of all tokens.

    A label in words is read at the step where the two labels part.
    """
    logits = logits.float()
    loss = nn.functional.cross_entropy(logits.flatten(0, -2), targets.flatten(), ignore_index=-100)
    right = logits.argmax(-1) == targets
    return loss, right if targets.ndim == 1 else right[:, label_ids(trainable.model.tokenizer)[2]]


def save_model(trainable: TrainableModel, out: Path, *, accuracy: float | None) -> None:
    """Save everything as safetensors; adapters are kept in a folder of their own and merged into the weights."""
    from safetensors.torch import save_file

    net = trainable.model.net
    scorer = trainable.scorer.to("cpu").eval()
    if trainable.adapters is not None:
        trainable.adapters.save_pretrained(str(out / ADAPTER), save_embedding_layers=False)
        net = trainable.adapters.merge_and_unload()
    if getattr(net, "is_gradient_checkpointing", False):
        net.gradient_checkpointing_disable()
    set_pair_format(net.config, replace(trainable.reading, accuracy=accuracy))
    net.save_pretrained(str(out))
    trainable.model.tokenizer.save_pretrained(str(out))
    if scorer.head is not None:
        weights = {name: tensor.detach().contiguous() for name, tensor in scorer.head.state_dict().items()}
        save_file(weights, out / WEIGHTS)


CORE, OWN, PARALLEL = "core_model.", "nsp_head.", "module."  # names in published checkpoints
EMBEDDINGS = ("wte.weight", "shared.weight", "embed_tokens.weight", "lm_head.weight")
UNSAVED = re.compile(r"\.(masked_)?bias$")  # masks that older versions of GPT-2 stored beside the weights


def import_head(model: str, weights: Path, *, out: Path) -> None:
    """Save the model with a network and head that others fine-tuned, in the layout of Nadeem et al. and Öztürk et al.

    The file is a state dictionary; nothing in it is run. Causal models get pairs as that code gives them.
    """
    if out.exists():
        raise IsoglossError(f"{out} exists already. Choose another folder with `out`.")
    tensors = {name.removeprefix(PARALLEL): tensor for name, tensor in _read_tensors(weights).items()}
    parts = {
        prefix: {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
        for prefix in (CORE, OWN)
    }
    if not parts[CORE]:
        raise IsoglossError(f"{weights} holds no network under the name '{CORE[:-1]}', so it is no such checkpoint.")
    trainable = make_trainable(open_model(model), TrainingSettings())
    scorer = trainable.scorer
    core = scorer.net if scorer.head is None else scorer.bodies[0]
    rows = max((len(tensor) for name, tensor in parts[CORE].items() if name.endswith(EMBEDDINGS)), default=0)
    if rows > len(core.get_input_embeddings().weight):
        scorer.net.resize_token_embeddings(rows, mean_resizing=False)
    for name, tensor in core.state_dict().items():
        core_weights = parts[CORE].get(name)
        if (
            core_weights is not None and name.endswith(EMBEDDINGS) and len(core_weights) < len(tensor)
        ):  # ours has a row for padding
            parts[CORE][name] = torch.cat(
                [core_weights, core_weights.mean(0, keepdim=True).expand(len(tensor) - len(core_weights), -1)]
            )
    try:
        lost = core.load_state_dict(parts[CORE], strict=False)
        if scorer.head is not None:
            scorer.head.load_state_dict(parts[OWN])
        wrong = [*lost.missing_keys, *(name for name in lost.unexpected_keys if not UNSAVED.search(name))]
    except RuntimeError as error:
        raise IsoglossError(
            f"The weights of {weights} have other sizes than '{model}'. Name its base model."
        ) from error
    if wrong:
        raise IsoglossError(
            f"The weights of {weights} are not those of '{model}': '{wrong[0]}' differs. Name its base model."
        )
    out.mkdir(parents=True)
    save_model(replace(trainable, reading=replace(trainable.reading, separate=True)), out, accuracy=None)


def _read_tensors(path: Path) -> dict[str, Tensor]:
    from safetensors.torch import load_file

    try:
        tensors = load_file(path) if path.suffix == ".safetensors" else torch.load(path, "cpu", weights_only=True)
    except Exception as error:
        raise IsoglossError(f"{path} cannot be read as weights alone, without running what is in it.") from error
    if not isinstance(tensors, dict) or not all(isinstance(tensor, Tensor) for tensor in tensors.values()):
        raise IsoglossError(f"{path} is not a state dictionary of weights.")
    return tensors
