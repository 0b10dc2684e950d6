"""Training a next-sentence head: steps that can be stopped anywhere and go on with the same losses."""

import json
import math
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..errors import BadData, IsoglossError, require
from ..models.load import open_model
from ..models.processor import prepare
from ..sealing import lock_folder
from . import checkpoints as saved
from .evaluation import Accuracy, mean_by_article
from .heads import TrainableModel, compute_loss, make_trainable, save_model
from .logs import Log, device_use, draw_curves, open_log
from .parts import Batch, BatchSchedule, PairSplit, group_by_length, open_split, read_steps
from .settings import WEIGHT_DECAY, TrainingSettings, check_settings, fill_settings, fixed_settings, rates_at
from .training_card import CARD, write_card

VALIDATION_BATCH = 32


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
    """A training under way; `identity` says what it must have in common with its checkpoints.

    `scorer` and `optimizer` are what accelerate wrapped; the scorer without that is `trainable.scorer`.
    """

    trainable: TrainableModel
    settings: TrainingSettings
    schedule: BatchSchedule
    accelerator: Any
    scorer: Any
    optimizer: Any
    out: Path
    identity: dict[str, Any]
    state: saved.State
    on_status: OnStatus

    @property
    def steps(self) -> int:
        """How many steps there are in all."""
        return self.schedule.per_epoch * self.settings.epochs


def train_head(
    model: str, data: Path, *, out: Path, settings: TrainingSettings, on_status: OnStatus = lambda status: None
) -> dict[str, Any]:
    """The card of the model that was trained and saved in `out`; a training that was stopped there goes on."""
    check_settings(settings)
    for library in ("tensorboard", "matplotlib"):  # missed now, not after hours
        require(library, extra="nsp")
    run = _prepare(model, open_split(data, "train"), out=out, settings=settings, on_status=on_status)
    card = _finished(run)
    if card is not None:
        return card
    with _locked(run):
        return _train(run)


@contextmanager
def _locked(run: TrainingRun) -> Iterator[None]:
    """While this is open no other command trains in the folder; its processes share the lock of the first."""
    with saved.writing(run.out):
        (run.out / saved.FOLDER).mkdir(parents=True, exist_ok=True)
    lock = lock_folder(run.out, readable=False) if run.accelerator.is_main_process else None
    with lock or nullcontext():
        yield
    if lock is not None:
        (run.out / ".lock").unlink(missing_ok=True)


def _train(run: TrainingRun) -> dict[str, Any]:
    """Train from the last checkpoint on to the end."""
    run, log, card = _resume(run), None, {}
    out = run.out
    if run.accelerator.is_main_process:
        with saved.writing(out):
            examples = run.state.step * run.schedule.per_step
            log = open_log(out, run.state.lines, examples=examples, device=str(run.accelerator.device))
    _run_steps(run, log)
    if log is not None:
        log.board.close()
        card = _finish(run)
    run.accelerator.wait_for_everyone()
    return card


def _prepare(
    model: str, split: PairSplit, *, out: Path, settings: TrainingSettings, on_status: OnStatus
) -> TrainingRun:
    """Everything that is needed for the first step; the base model is opened, nothing is written yet."""
    if settings.patience is not None and not split.card["splits"]["validation"]["pairs"]:
        raise IsoglossError("'patience' needs validation pairs, and these data have none.")
    accelerator = _accelerator(settings)
    opened = open_model(model)
    settings = fill_settings(settings, opened.info.model_type)
    trainable = make_trainable(opened, settings)
    rates = settings.rates
    head = list(trainable.scorer.head.parameters()) if trainable.scorer.head is not None else []
    own = {id(parameter) for parameter in head}
    core = [weight for weight in trainable.scorer.parameters() if weight.requires_grad and id(weight) not in own]
    groups: list[dict[str, Any]] = [{"params": core, "lr": rates.core}, {"params": head, "lr": rates.head}]
    kind = torch.optim.Adafactor if settings.optimizer == "adafactor" else torch.optim.AdamW
    optimizer = kind([group for group in groups if group["params"]], weight_decay=WEIGHT_DECAY)
    scorer, optimizer = accelerator.prepare(trainable.scorer, optimizer)
    processes = accelerator.num_processes, accelerator.process_index
    schedule = BatchSchedule(split, settings.seed, settings.batch, settings.accumulation, *processes, settings.pairs)
    identity = {
        "model": [opened.info.weights, opened.info.tokenizer],
        "data": split.card["hash"],
        "processes": accelerator.num_processes,
        "settings": json.loads(json.dumps(fixed_settings(settings))),
        "name": opened.info.name,
    }
    callback = on_status if accelerator.is_main_process else lambda status: None
    return TrainingRun(
        trainable, settings, schedule, accelerator, scorer, optimizer, out, identity, saved.State(), callback
    )


def _accelerator(settings: TrainingSettings) -> Any:
    accelerate = require("accelerate", extra="nsp")
    precision = settings.precision
    cuda = settings.device != "cpu" and torch.cuda.is_available()
    if precision == "auto":
        precision = ("bf16" if torch.cuda.is_bf16_supported() else "fp16") if cuda else "no"
    if precision == "fp16" and not cuda:
        raise IsoglossError("This device has no fp16 training. Use precision=bf16 or precision=no.")
    if precision == "bf16" and not cuda:
        prepare("bfloat16")
    states = require("accelerate.state", extra="nsp")
    cpu = settings.device == "cpu"
    if states.PartialState(cpu=cpu).num_processes == 1:  # else the first training's device and precision stay for ever
        states.AcceleratorState._reset_state(reset_partial_state=True)
    accelerator = accelerate.Accelerator(
        cpu=cpu, mixed_precision=precision, gradient_accumulation_steps=settings.accumulation
    )
    if accelerator.distributed_type.value in ("FSDP", "DEEPSPEED", "MEGATRON_LM"):
        raise IsoglossError(
            f"{accelerator.distributed_type.value} cuts the weights into pieces, which our checkpoints cannot hold. "
            "Use accelerate's plain data parallelism, with --lora for large models."
        )
    return accelerator


def _finished(run: TrainingRun) -> dict[str, Any] | None:
    """The card of a training that is finished already."""
    path = run.out / CARD
    if not path.is_file():
        if run.out.is_file():
            raise IsoglossError(f"{run.out} is a file. Choose a folder with --out.")
        if run.out.exists() and any(run.out.iterdir()) and not (run.out / saved.FOLDER).exists():
            raise IsoglossError(f"{run.out} is not empty and holds no training. Choose another folder with --out.")
        return None
    try:
        card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadData(path, None, "a broken card. Remove it and give the same command again.") from error
    saved.refuse_other(run.out, before=card.get("mark", {}), wanted=run.identity)
    if run.accelerator.is_main_process:
        shutil.rmtree(run.out / saved.FOLDER, ignore_errors=True)  # of one that was killed at the very end
    return card


def _resume(run: TrainingRun) -> TrainingRun:
    """The training as its last checkpoint left it, if there is one."""
    (run.out / saved.FOLDER).mkdir(parents=True, exist_ok=True)
    checkpoint = saved.find_checkpoint(run.out, run.identity)
    if checkpoint is None:
        return run
    path, state = checkpoint
    run = replace(run, state=state)
    saved.load_checkpoint(path, run.trainable.scorer, optimizer=run.optimizer)
    if run.accelerator.scaler is not None and state.scaler:
        run.accelerator.scaler.load_state_dict(state.scaler)
    _report(run, f"resumes after step {state.step}")
    return run


def _report(run: TrainingRun, message: str) -> None:
    run.on_status(TrainingStatus(run.state.step, run.steps, math.nan, math.nan, message))


def _run_steps(run: TrainingRun, log: Log | None) -> None:
    """All the steps that are still to do."""
    if _is_out_of_patience(run):
        return
    state, share = run.state, run.settings.checkpoint_percent / 100
    numbers = range(1, math.ceil(1 / share - 1e-9) + 1)
    stops = {min(run.steps, max(1, round(run.steps * share * number))) for number in numbers} | {run.steps}
    started = time.perf_counter() - state.seconds
    for batches in read_steps(run.schedule, run.trainable.encode, start=state.step, steps=run.steps):
        sums = _step(run, batches)
        state.step += 1
        state.loss, state.right, state.count = (
            old + new for old, new in zip((state.loss, state.right, state.count), sums, strict=True)
        )
        run.on_status(TrainingStatus(state.step, run.steps, sums[0] / sums[2], sums[1] / sums[2]))
        state.seconds = time.perf_counter() - started
        if state.count >= run.settings.log_every or state.step == run.steps:
            _put_line(run, log)
        if state.step in stops:
            _checkpoint(run, log)
            if _is_out_of_patience(run):
                return


def _step(run: TrainingRun, batches: list[Batch]) -> tuple[float, float, float]:
    """One step of the optimizer; the sum of losses, how many pairs were told right, and how many there were.

    Chance (dropout) is seeded by the step, so it need not be saved.
    """
    accelerator, device = run.accelerator, run.accelerator.device
    chance = np.random.SeedSequence([run.settings.seed, run.state.step, accelerator.process_index])
    torch.manual_seed(int(chance.generate_state(1)[0]))
    core, head = rates_at(run.state.step, run.steps, rates=run.settings.rates)
    for group, rate in zip(run.optimizer.param_groups, (core, head), strict=False):
        group["lr"] = rate
    run.scorer.train()
    sums = torch.zeros(3, dtype=torch.float64)
    for batch in batches:
        with accelerator.accumulate(run.scorer):
            loss, right = compute_loss(run.trainable, batch, scorer=run.scorer, device=device)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(run.scorer.parameters(), run.settings.clip)
            run.optimizer.step()
            run.optimizer.zero_grad()
        sums += torch.tensor([loss.item() * len(right), float(right.sum()), len(right)], dtype=torch.float64)
    total = accelerator.reduce(sums.to(torch.float32).to(device)) if run.schedule.processes > 1 else sums
    if not bool(total.isfinite().all()):
        raise IsoglossError(
            f"The loss is no number any more at step {run.state.step}. Use smaller learning rates, or precision=no."
        )
    loss_sum, right_sum, count = total.tolist()
    return loss_sum, right_sum, count


def _put_line(run: TrainingRun, log: Log | None) -> None:
    """One line of the log from the sums since the last one."""
    state = run.state
    core, head = rates_at(state.step - 1, run.steps, rates=run.settings.rates)
    line = {
        "step": state.step,
        "examples": state.step * run.schedule.per_step,
        "loss": state.loss / state.count,
        "accuracy": state.right / state.count,
        "core_rate": core,
        "head_rate": head,
        "seconds": round(state.seconds, 1),
        **device_use(str(run.accelerator.device)),
    }
    state.lines.append(line)
    state.loss = state.right = state.count = 0.0
    if log is not None:
        with saved.writing(run.out):
            log.put(line)
        message = f"{line['examples']:,} pairs: loss {line['loss']:.4f}, accuracy {line['accuracy']:.3f}"
        run.on_status(TrainingStatus(state.step, run.steps, line["loss"], line["accuracy"], message))


def _checkpoint(run: TrainingRun, log: Log | None) -> None:
    """Validate, and write a checkpoint."""
    state, accelerator = run.state, run.accelerator
    examples = state.step * run.schedule.per_step
    if run.schedule.split.card["splits"]["validation"]["pairs"]:
        split = open_split(run.schedule.split.folder, "validation")
        accuracy = check_split(run.trainable, split, most=run.settings.validation_pairs, device=accelerator.device)
        best = max((validation["accuracy"] for validation in state.validations), default=-1.0)
        state.best_step = state.step if accuracy.value > best else state.best_step
        state.validations.append({"step": state.step, "examples": examples, "accuracy": accuracy.value})
        if log is not None:
            log.board.add_scalar("validation_accuracy", accuracy.value, examples)
            _report(run, f"validation after {examples:,} pairs: {accuracy}")
    if accelerator.scaler is not None:
        state.scaler = accelerator.scaler.state_dict()
    if accelerator.is_main_process:
        with saved.writing(run.out):
            saved.write_checkpoint(
                run.out, state, scorer=run.trainable.scorer, optimizer=run.optimizer, identity=run.identity
            )
    accelerator.wait_for_everyone()


def _is_out_of_patience(run: TrainingRun) -> bool:
    """Whether validation has not improved for as many checkpoints as `patience` allows."""
    patience, tried = run.settings.patience, run.state.validations
    return patience is not None and sum(validation["step"] > run.state.best_step for validation in tried) >= patience


def check_split(trainable: TrainableModel, split: PairSplit, *, most: int | None, device: Any = "cpu") -> Accuracy:
    """How often the model is right on the first pairs of a split."""
    rows = split.head(most)
    questions = [trainable.encode(first, second) for first, second in rows.select("first", "second").iter_rows()]
    indices = group_by_length(questions, list(range(len(questions))), size=VALIDATION_BATCH)
    labels, right = rows["label"].to_numpy(), np.zeros(len(questions))
    trainable.scorer.eval()
    with torch.no_grad():
        for group, where in indices:
            outcome = compute_loss(trainable, (group, labels[where].tolist()), device=device)[1]
            right[where] = outcome.cpu().numpy()
    return mean_by_article(right, rows["article"].to_list())


def _finish(run: TrainingRun) -> dict[str, Any]:
    """Save the model, its curves and, when all of that is on the disk, its card; with patience, the best weights."""
    state = run.state
    chosen = state.best_step if run.settings.patience is not None and state.best_step else state.step
    if chosen != state.step:
        saved.load_checkpoint(run.out / saved.FOLDER / f"step-{chosen:08d}", run.trainable.scorer)
    accuracy = None
    if run.schedule.split.card["splits"]["test"]["pairs"]:
        split = open_split(run.schedule.split.folder, "test")
        accuracy = check_split(run.trainable, split, most=run.settings.test_pairs, device=run.accelerator.device)
        _report(run, f"test: {accuracy}")
    facts = {
        "steps": state.step,
        "planned_steps": run.steps,
        "saved_step": chosen,
        "examples": state.step * run.schedule.per_step,
        "seconds": state.seconds,
        "device": str(run.accelerator.device),
        "precision": run.accelerator.mixed_precision,
        "validations": state.validations,
        "trained_parameters": sum(weight.numel() for weight in saved.trained_parameters(run.trainable.scorer).values()),
        "mark": run.identity,
        "data": run.schedule.split.card,
    }
    with saved.writing(run.out):
        save_model(run.trainable, run.out, accuracy=accuracy.value if accuracy else None)
        draw_curves(state.lines, state.validations, out=run.out)
        for path in run.out.rglob("*"):
            saved.sync(path)
        card = write_card(run.out, trainable=run.trainable, settings=run.settings, facts=facts, accuracy=accuracy)
    shutil.rmtree(run.out / saved.FOLDER)
    return card
