"""What is ours about a training: its arguments, optimizer and losses for transformers.Trainer, and what happens at each step."""

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import PartialState
from accelerate.utils import reduce
from torch import Tensor
from transformers import Trainer, TrainerCallback, TrainingArguments
from transformers.integrations import TensorBoardCallback
from transformers.trainer_callback import PrinterCallback

from ..errors import IsoglossError, require
from ..models.processor import prepare
from .checkpoints import FOLDER, KEPT, complete_checkpoint
from .evaluation import Accuracy, mean_by_article
from .heads import TrainableModel, compare_labels, make_batch
from .logs import device_use, write_lines
from .parts import BatchSchedule, Example, TrainingPairs, encode_rows, open_split
from .settings import WEIGHT_DECAY, TrainingSettings, rate_share, rates_at

VALIDATION_BATCH = 32
TENSORBOARD = "tensorboard"
SHARDED = {"ACCELERATE_USE_FSDP": "FSDP", "ACCELERATE_USE_DEEPSPEED": "DeepSpeed"}  # set by `accelerate launch`


@dataclass(frozen=True, slots=True)
class TrainingStatus:
    """How far a training is; a message where there is something to say."""

    step: int
    steps: int
    loss: float
    accuracy: float
    message: str = ""


OnStatus = Callable[[TrainingStatus], None]


@dataclass(frozen=True, eq=False)
class TrainingRun:
    """A training and its folder; `identity` says what it must have in common with its checkpoints."""

    trainable: TrainableModel
    settings: TrainingSettings
    schedule: BatchSchedule
    steps: int
    out: Path
    identity: dict[str, Any]
    on_status: OnStatus

    def report(self, step: int, message: str) -> None:
        """Say something that is not about the loss."""
        self.on_status(TrainingStatus(step, self.steps, math.nan, math.nan, message))


@dataclass(slots=True)
class Tally:
    """Loss, correct pairs and pairs: of each batch of the step under way, and summed since the last line of the log."""

    batches: list[tuple[Tensor, Tensor, int]] = field(default_factory=list)
    sums: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    started: float = 0.0


def make_arguments(settings: TrainingSettings, out: Path) -> TrainingArguments:
    """The settings as Trainer takes them; the steps of logs and checkpoints are set when their number is known."""
    sharded = [name for variable, name in SHARDED.items() if os.environ.get(variable, "false").lower() in ("true", "1")]
    if sharded:
        raise IsoglossError(
            f"{sharded[0]} cuts the weights into pieces, which our checkpoints cannot hold. "
            "Use accelerate's plain data parallelism, with `lora` for large models."
        )
    on_processor = settings.device == "cpu" or not torch.accelerator.is_available()
    precision = _choose_precision(settings)
    arguments = TrainingArguments(
        output_dir=str(out / FOLDER),
        run_name=out.name,
        report_to=[name for name in settings.report_to if name != TENSORBOARD] or "none",  # which has a folder of ours
        use_cpu=on_processor,
        dataloader_pin_memory=not on_processor,
        bf16=precision == "bf16",
        fp16=precision == "fp16",
        seed=settings.seed % 2**32,  # as numpy demands; the seeds of steps and of the order are our own
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch,
        per_device_eval_batch_size=VALIDATION_BATCH,
        gradient_accumulation_steps=settings.accumulation,
        max_grad_norm=settings.clip,
        train_sampling_strategy="sequential",  # TrainingPairs has its own random order
        remove_unused_columns=False,
        label_names=["labels"],
        logging_nan_inf_filter=False,
        save_strategy="steps",
        save_total_limit=KEPT if settings.patience is None else KEPT + 1,  # with patience, the best one counts too
        metric_for_best_model=None if settings.patience is None else "accuracy",
        greater_is_better=True,
        ddp_find_unused_parameters=False,
        disable_tqdm=True,
    )
    if arguments.n_gpu > 1:
        arguments._n_gpu = 1  # else each of them gets a batch, and a step reads more pairs than the settings say
    return arguments


def _choose_precision(settings: TrainingSettings) -> str:
    cuda = settings.device != "cpu" and torch.cuda.is_available()
    precision = settings.precision
    if precision == "auto":
        precision = ("bf16" if torch.cuda.is_bf16_supported() else "fp16") if cuda else "no"
    if precision == "fp16" and not cuda:
        raise IsoglossError("This device has no fp16 training. Use precision=bf16 or precision=no.")
    if precision == "bf16" and not cuda:
        prepare("bfloat16")
    return precision


def _make_optimizer(run: TrainingRun) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    """The published groups, core and head with a learning rate each, and the schedule that both follow."""
    scorer, rates = run.trainable.scorer, run.settings.rates
    head = list(scorer.head.parameters()) if scorer.head is not None else []
    in_head = {id(weight) for weight in head}
    core = [weight for weight in scorer.parameters() if weight.requires_grad and id(weight) not in in_head]
    groups: list[dict[str, Any]] = [{"params": core, "lr": rates.core}, {"params": head, "lr": rates.head}]
    kind = torch.optim.Adafactor if run.settings.optimizer == "adafactor" else torch.optim.AdamW
    optimizer = kind([group for group in groups if group["params"]], weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate_share(step, run.steps, rates=rates))
    return optimizer, schedule


class HeadTrainer(Trainer):  # type: ignore[misc]
    """A Trainer that counts the pairs that are labeled correctly, and logs them with both learning rates."""

    def __init__(
        self, run: TrainingRun, tally: Tally, *, args: TrainingArguments, callbacks: Sequence[TrainerCallback]
    ) -> None:
        validation, compute_metrics = None, None
        if run.schedule.split.card["splits"]["validation"]["pairs"]:
            validation, articles = read_examples(run, "validation", most=run.settings.validation_pairs)
            compute_metrics = partial(_accuracy_metrics, articles=articles)
            args.eval_strategy, args.eval_steps = args.save_strategy, args.save_steps
        super().__init__(
            model=run.trainable.scorer,
            args=args,
            data_collator=partial(_collate, run.trainable),
            train_dataset=TrainingPairs(run.schedule, run.trainable.encode),
            eval_dataset=validation,
            compute_metrics=compute_metrics,
            callbacks=list(callbacks),
            optimizers=_make_optimizer(run),
        )
        self.remove_callback(PrinterCallback)
        self.run, self.tally = run, tally

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The mean loss of a batch, and where it is wanted which of its pairs are labeled correctly."""
        logits = model(inputs["inputs"])
        loss, right = compare_labels(self.run.trainable, logits, targets=inputs["labels"])
        if model.training:
            self.tally.batches.append((loss.detach(), right.sum(), len(right)))
        return (loss, {"right": right.float()}) if return_outputs else loss

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Log for all trackers; a line about training gets what our log has."""
        if "loss" in logs:
            step, (loss, right, count) = self.state.global_step, self.tally.sums
            core, head = rates_at(step - 1, self.run.steps, rates=self.run.settings.rates)
            logs |= {"loss": loss / count, "accuracy": right / count, "core_rate": core, "head_rate": head}
            logs |= {"examples": step * self.run.schedule.per_step}
            logs |= {"seconds": round(time.perf_counter() - self.tally.started, 1)}
            logs |= device_use(str(self.args.device))
            self.tally.sums = [0.0, 0.0, 0.0]
        super().log(logs, start_time)


def _collate(trainable: TrainableModel, examples: Sequence[Example]) -> dict[str, Any]:
    inputs, labels = make_batch(trainable, tuple(zip(*examples, strict=True)))  # type: ignore[arg-type]
    return {"inputs": inputs, "labels": labels}


def _accuracy_metrics(prediction: Any, articles: Sequence[str]) -> dict[str, float]:
    accuracy = mean_by_article(prediction.predictions.astype(np.float64), articles)
    ends = {} if accuracy.low is None or accuracy.high is None else {"low": accuracy.low, "high": accuracy.high}
    return {"accuracy": accuracy.value, **ends}


def read_examples(run: TrainingRun, name: str, *, most: int) -> tuple[list[Example], list[str]]:
    """The first pairs of a split as the model reads them, the shortest first, and the article of each."""
    rows = open_split(run.schedule.split.folder, name).head(most)
    examples = encode_rows(rows, run.trainable.encode)
    order = sorted(range(len(examples)), key=lambda index: len(examples[index][0].ids))
    articles = rows["article"].to_list()
    return [examples[index] for index in order], [articles[index] for index in order]


@dataclass(eq=False)
class StepCallback(TrainerCallback):  # type: ignore[misc]
    """Seeds each step, reports it, writes the log, stops without improvement, and completes checkpoints."""

    run: TrainingRun
    tally: Tally

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Continue the log and the clock where the checkpoint left them."""
        lines = log_lines(state.log_history)
        self.tally.started = time.perf_counter() - (lines[-1]["seconds"] if lines else 0.0)
        if state.is_world_process_zero:
            write_lines(self.run.out, lines, mode="w")
        if state.global_step:
            self.run.report(state.global_step, f"resumes after step {state.global_step}")

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Seed dropout by the step and the process, so that a resumed training draws the same."""
        chance = np.random.SeedSequence([self.run.settings.seed, state.global_step, args.process_index])
        torch.manual_seed(int(chance.generate_state(1)[0]))

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Add up the step over all processes; a line of the log ends at each checkpoint, so no sum must be saved."""
        batches, self.tally.batches = self.tally.batches, []
        sums = [sum(loss.item() * n for loss, _, n in batches), float(sum(right for _, right, _ in batches))]
        sums.append(float(sum(n for _, _, n in batches)))
        if args.world_size > 1:
            sums = reduce(torch.tensor(sums, device=args.device), "sum").tolist()
        if not all(map(math.isfinite, sums)):
            raise IsoglossError(
                f"The loss became NaN at step {state.global_step}. Use smaller learning rates, or precision=no."
            )
        self.tally.sums = [old + new for old, new in zip(self.tally.sums, sums, strict=True)]
        self.run.on_status(TrainingStatus(state.global_step, self.run.steps, sums[0] / sums[2], sums[1] / sums[2]))
        control.should_log |= control.should_save

    def on_log(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Write a line of the log."""
        line = state.log_history[-1]
        if "loss" in line and state.is_world_process_zero:
            write_lines(self.run.out, [line], mode="a")
            message = f"{line['examples']:,} pairs: loss {line['loss']:.4f}, accuracy {line['accuracy']:.3f}"
            self.run.on_status(TrainingStatus(line["step"], self.run.steps, line["loss"], line["accuracy"], message))

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Report the accuracy of validation, and stop when it has not improved for long enough."""
        accuracy = validation_accuracy(state.log_history[-1])
        examples = state.global_step * self.run.schedule.per_step
        self.run.report(state.global_step, f"validation after {examples:,} pairs: {accuracy}")
        control.should_training_stop |= is_out_of_patience(state.log_history, self.run.settings.patience)

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Complete the checkpoint when every process has written its part."""
        PartialState().wait_for_everyone()
        if state.is_world_process_zero:
            complete_checkpoint(Path(args.output_dir) / f"checkpoint-{state.global_step}", self.run.identity)


def log_lines(history: Sequence[dict[str, float]]) -> list[dict[str, float]]:
    """The lines about training in what Trainer remembers."""
    return [line for line in history if "loss" in line]


def validation_accuracy(line: dict[str, float]) -> Accuracy:
    """The accuracy of a validation in what Trainer remembers."""
    return Accuracy(line["eval_accuracy"], line.get("eval_low"), line.get("eval_high"), 0, 0)


def best_step(history: Sequence[dict[str, float]]) -> int:
    """The step with the best validation, the first of equals."""
    return int(
        max((line for line in history if "eval_accuracy" in line), key=lambda line: line["eval_accuracy"])["step"]
    )


def is_out_of_patience(history: Sequence[dict[str, float]], patience: int | None) -> bool:
    """Whether validation has not improved for as many checkpoints as `patience` allows."""
    steps = [line["step"] for line in history if "eval_accuracy" in line]
    return patience is not None and bool(steps) and sum(step > best_step(history) for step in steps) >= patience


def make_trainer(run: TrainingRun, args: TrainingArguments, *, step: int) -> HeadTrainer:
    """The trainer of a run that resumes after `step`; from here on its folder is written."""
    args.logging_steps = math.ceil(run.settings.log_every / run.schedule.per_step)
    args.save_steps = max(1, math.ceil(run.steps * run.settings.checkpoint_percent / 100 - 1e-9))
    tally, callbacks = Tally(), []
    if TENSORBOARD in run.settings.report_to and args.process_index == 0:
        boards = require("torch.utils.tensorboard", extra="nsp")
        purged = step + 1 if step else None  # steps after the checkpoint are logged again
        callbacks.append(TensorBoardCallback(boards.SummaryWriter(str(run.out / TENSORBOARD), purge_step=purged)))
    return HeadTrainer(run, tally, args=args, callbacks=[*callbacks, StepCallback(run, tally)])
