"""Training a next-sentence head with transformers.Trainer: it can be stopped anywhere and resumes with the same losses."""

import json
import pickle
import shutil
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadData, IsoglossError, require
from ..models.load import open_model
from ..studies.training import HeadTraining, path_beside
from .articles import parse_sources
from .checkpoints import (
    FOLDER,
    REMOVE,
    WEIGHTS,
    find_checkpoint,
    locked,
    read_finished,
    remove_incomplete,
    step_of,
    sync,
    verify_checkpoint,
    writing,
)
from .data import PairSettings, build_data, read_pair_settings
from .evaluation import Accuracy, mean_by_article
from .heads import make_trainable, save_model, trained_parameters
from .logs import draw_curves
from .parts import BatchSchedule, PairSplit, open_split
from .settings import TrainingSettings, check_settings, fill_settings, fixed_settings, read_training_settings
from .trainer import (
    HeadTrainer,
    OnStatus,
    TrainingRun,
    best_step,
    is_out_of_patience,
    log_lines,
    make_arguments,
    make_trainer,
    read_examples,
)
from .training_card import write_card


def train_head(
    model: str, data: Path, *, out: Path, settings: TrainingSettings, on_status: OnStatus = lambda status: None
) -> dict[str, Any]:
    """The card of the model that was trained and saved in `out`; a training that was stopped there resumes."""
    check_settings(settings)
    require("matplotlib", extra="nsp")  # missed now, not after hours
    for tracker in settings.report_to:
        require(tracker, extra="wandb" if tracker == "wandb" else "nsp")
    split = open_split(data, "train")
    if settings.patience is not None and not split.card["splits"]["validation"]["pairs"]:
        raise IsoglossError("'patience' needs validation pairs, and these data have none.")
    arguments = make_arguments(settings, out)
    run = _prepare(model, split, out=out, settings=settings, processes=arguments.world_size)
    main = arguments.process_index == 0
    card = read_finished(out, run.identity)
    if card is not None:
        if main:
            shutil.rmtree(out / FOLDER, ignore_errors=True)  # of one that was killed at the very end
        return card
    with locked(out) if main else nullcontext():
        return _train(replace(run, on_status=on_status) if main else run, arguments)


def _prepare(model: str, split: PairSplit, *, out: Path, settings: TrainingSettings, processes: int) -> TrainingRun:
    """Everything that is needed for the first step; the base model is opened, nothing is written yet."""
    schedule = BatchSchedule(split, settings.seed, settings.batch, settings.accumulation, processes, settings.pairs)
    steps = schedule.per_epoch * settings.epochs
    opened = open_model(model)
    settings = fill_settings(settings, opened.info.model_type)
    identity = {
        "model": [opened.info.weights, opened.info.tokenizer],
        "data": split.card["hash"],
        "processes": processes,
        "settings": json.loads(json.dumps(fixed_settings(settings))),
        "name": opened.info.name,
    }
    trainable = make_trainable(opened, settings)
    return TrainingRun(trainable, settings, schedule, steps, out, identity, lambda status: None)


def _train(run: TrainingRun, arguments: Any) -> dict[str, Any]:
    """Make the steps that are left, and save the model."""
    checkpoint = find_checkpoint(run.out, run.identity)
    with writing(run.out):
        if arguments.process_index == 0:
            remove_incomplete(run.out)
        trainer = make_trainer(run, arguments, step=step_of(checkpoint) if checkpoint else 0)
        if checkpoint is not None:
            trainer.state = trainer.state.load_from_json(str(checkpoint / "trainer_state.json"))
        if not is_out_of_patience(trainer.state.log_history, run.settings.patience):
            try:
                trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
            except pickle.UnpicklingError as error:  # of torch.load, which refuses everything but weights
                raise BadData(
                    checkpoint or run.out, None, f"the checkpoint cannot be read as weights. {REMOVE}"
                ) from error
        if run.settings.patience is not None:
            _load_best(run, best_step(trainer.state.log_history))
        accuracy = _test(run, trainer)
        card = _save(run, trainer, accuracy=accuracy) if arguments.process_index == 0 else {}
    trainer.accelerator.wait_for_everyone()
    return card


def _load_best(run: TrainingRun, step: int) -> None:
    """Take over the weights of the checkpoint with the best validation."""
    from safetensors.torch import load_file

    path = run.out / FOLDER / f"checkpoint-{step}"
    verify_checkpoint(path)
    run.trainable.scorer.load_state_dict(load_file(path / WEIGHTS))


def _test(run: TrainingRun, trainer: HeadTrainer) -> Accuracy | None:
    """The accuracy on unseen articles, where the data have some for it."""
    if not run.schedule.split.card["splits"]["test"]["pairs"]:
        return None
    examples, articles = read_examples(run, "test", most=run.settings.test_pairs)
    trainer.compute_metrics = None  # which is for the articles of validation
    accuracy = mean_by_article(trainer.predict(examples).predictions.astype(np.float64), articles)
    run.report(trainer.state.global_step, f"test: {accuracy}")
    return accuracy


def _save(run: TrainingRun, trainer: HeadTrainer, *, accuracy: Accuracy | None) -> dict[str, Any]:
    """Save the model, its curves and, when all of that is on the disk, its card."""
    state, per_step = trainer.state, run.schedule.per_step
    lines = log_lines(state.log_history)
    validations = [
        {"step": line["step"], "examples": line["step"] * per_step, "accuracy": line["eval_accuracy"]}
        for line in state.log_history
        if "eval_accuracy" in line
    ]
    facts = {
        "steps": state.global_step,
        "planned_steps": run.steps,
        "saved_step": state.global_step if run.settings.patience is None else best_step(state.log_history),
        "examples": state.global_step * per_step,
        "seconds": lines[-1]["seconds"],
        "device": str(trainer.args.device),
        "precision": trainer.accelerator.mixed_precision,
        "validations": validations,
        "trained_parameters": sum(weight.numel() for weight in trained_parameters(run.trainable.scorer).values()),
        "mark": run.identity,
        "data": run.schedule.split.card,
    }
    save_model(run.trainable, run.out, accuracy=accuracy.value if accuracy else None)
    draw_curves(lines, validations, out=run.out)
    for path in run.out.rglob("*"):
        sync(path)
    card = write_card(run.out, trainable=run.trainable, settings=run.settings, facts=facts, accuracy=accuracy)
    shutil.rmtree(run.out / FOLDER)
    return card


def train_planned_head(head: HeadTraining, base: Path) -> Path:
    """The folder of a head that a study file in `base` names, trained unless it is finished."""
    data, out = base / head.data, base / head.out
    settings = read_training_settings(head.options, TrainingSettings(epochs=head.epochs, pairs=head.pairs))
    if not data.exists():
        if not head.articles:
            raise IsoglossError(f"No such folder: {data}. Make it with isogloss nsp data, or name 'articles'.")
        parts = [source.rpartition("=") for source in head.articles]  # perhaps after a language and =
        sources = [tag + sign + path_beside(base, place) for tag, sign, place in parts]
        pair_settings = read_pair_settings(head.data_options, PairSettings(limit=head.limit))
        build_data(parse_sources(sources, language=head.language), data, settings=pair_settings)
    train_head(path_beside(base, head.model), data, out=out, settings=settings)
    return out
