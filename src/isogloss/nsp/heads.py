"""A model that learns which sentence is next: a network with a head, padding, adapters, and what of it is trained."""

import re
from collections.abc import Sequence
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
    pair_format = PairFormat(
        form, PREFIXES.get(model.info.model_type, "") if form == LABEL else "", settings.max_length
    )
    if form == LABEL:
        label_ids(model.tokenizer)
    add_padding(model)
    head = make_head(net.config.get_text_config().hidden_size) if form == POOLED else None
    attach(model, pair_format, head=head)
    for parameter in net.parameters():
        parameter.requires_grad_(True)
    adapters = _add_adapters(model, settings.lora) if settings.lora else None
    if settings.gradient_checkpointing:
        net.gradient_checkpointing_enable({"use_reentrant": False})
    scorer = Scorer(net, model.state.get("body"), head=head, cached=model.family.continuing is not None)
    trainable = TrainableModel(model, scorer, pair_format, adapters)
    _freeze_unused(trainable)
    return trainable


def add_padding(model: Model) -> None:
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
    """Adapters in all linear layers of the body's last layers; the network is changed in place."""
    peft = require("peft", extra="nsp")
    names = _linear_layers(model, lora.layers)
    config = peft.LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=names,
        fan_in_fan_out=type(model.net.get_submodule(names[0])).__name__ == "Conv1D",
    )
    return peft.get_peft_model(model.net, config)


def _linear_layers(model: Model, last: int | None) -> list[str]:
    """The names of the linear layers inside numbered layers, of the last ones only when a number is given."""
    layers: dict[str, int] = {}
    for name, module in model.net.named_modules():
        numbers = [int(part) for part in name.split(".") if part.isdigit()]
        if numbers and type(module).__name__ in ("Linear", "Conv1D"):
            layers[name] = numbers[0]
    if not layers:
        raise IsoglossError(f"'{model.info.name}' has no linear layers that LoRA could adapt. Train it without --lora.")
    top = max(layers.values()) + 1
    return [name for name, number in layers.items() if last is None or number >= top - last]


def _freeze_unused(trainable: TrainableModel) -> None:
    """What gets no gradient (another head, a pooler) is left alone, so that several processes agree on the rest."""
    batch = ([trainable.encode(*SAMPLE)], [1])
    loss, _ = compute_loss(
        trainable.scorer, make_inputs(trainable, batch[0]), targets=make_targets(trainable, batch[1])
    )
    loss.backward()
    for parameter in trainable.scorer.parameters():
        parameter.requires_grad_(parameter.grad is not None)
        parameter.grad = None


def make_inputs(trainable: TrainableModel, questions: Sequence[Question]) -> dict[str, Tensor]:
    """Pairs as one padded batch; the mask says what is padding."""
    longest = max(len(question.ids) for question in questions)
    pad = trainable.model.tokenizer.pad_token_id

    def rows(lists: Sequence[Sequence[int]], fill: int) -> Tensor:
        return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in lists])

    inputs = {"input_ids": rows([question.ids for question in questions], pad)}
    inputs["attention_mask"] = rows([[1] * len(question.ids) for question in questions], 0)
    if any(question.segments for question in questions):
        inputs["token_type_ids"] = rows([question.segments for question in questions], 0)
    if trainable.reading.form == LABEL:
        steps = max(len(label) for label in label_ids(trainable.model.tokenizer)[:2])
        start = trainable.model.net.config.decoder_start_token_id
        inputs["decoder_input_ids"] = torch.full((len(questions), steps), start)
    return inputs


@dataclass(frozen=True, slots=True)
class Targets:
    """What should come out: classes, or the label's tokens step by step (-100 where there is none); read at `step`."""

    classes: Tensor
    tokens: Tensor | None = None
    step: int = 0


def make_targets(trainable: TrainableModel, labels: Sequence[int]) -> Targets:
    """The targets of a batch; a label's tokens are both what is trained and, at the step where they part, what is read."""
    classes = torch.tensor(labels)
    if trainable.reading.form == POOLED:
        return Targets(classes)
    *texts, step = label_ids(trainable.model.tokenizer)
    longest = max(map(len, texts))
    padded = torch.tensor([[*text, *[-100] * (longest - len(text))] for text in texts])
    return Targets(classes, padded[classes], step)


def compute_loss(scorer: nn.Module, inputs: dict[str, Any], *, targets: Targets) -> tuple[Tensor, Tensor]:
    """The mean loss of a batch, and which of its pairs were told right (a label must be the most probable of all)."""
    if targets.tokens is None:
        logits = scorer(inputs).float()
        return nn.functional.cross_entropy(logits, targets.classes), logits.argmax(-1) == targets.classes
    tokens = targets.tokens
    before = inputs["decoder_input_ids"].clone()
    before[:, 1:] = tokens[:, :-1].clamp(min=0)
    logits = scorer(inputs | {"decoder_input_ids": before}).float()
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten(), ignore_index=-100)
    return loss, logits[:, targets.step].argmax(-1) == tokens[:, targets.step]


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
        raise IsoglossError(f"{out} exists already. Choose another folder with --out.")
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
        known = parts[CORE].get(name)
        if known is not None and name.endswith(EMBEDDINGS) and len(known) < len(tensor):  # ours has a row for padding
            parts[CORE][name] = torch.cat([known, known.mean(0, keepdim=True).expand(len(tensor) - len(known), -1)])
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
