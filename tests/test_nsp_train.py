"""Training next-sentence heads: they learn, go on after a kill with the same losses, and save what they say."""

from __future__ import annotations

import errno
import json
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from accelerate.data_loader import BatchSamplerShard
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.data import BatchSampler, SequentialSampler

from isogloss.errors import BadData, IsoglossError
from isogloss.models.load import open_model
from isogloss.models.questions import Question
from isogloss.nsp import train
from isogloss.nsp.checkpoints import complete_checkpoint, locked
from isogloss.nsp.evaluation import evaluate_head, head_test_as_text, mean_by_article, pair_scores
from isogloss.nsp.heads import TrainableModel, compute_loss, make_batch, make_trainable, save_model
from isogloss.nsp.logs import zoom
from isogloss.nsp.parts import BatchSchedule, TrainingPairs, epoch_order, open_split
from isogloss.nsp.settings import (
    Footprint,
    Lora,
    Rates,
    TrainingSettings,
    check_settings,
    fill_settings,
    rates_at,
    read_lora,
    warmup_steps,
)
from isogloss.nsp.train import train_head
from isogloss.nsp.trainer import TrainingStatus
from isogloss.nsp.training_card import energy
from isogloss.stats.resampling import smooth
from isogloss.studies.plan import plan_study
from isogloss.studies.training import train_heads
from support import rule

FAST = TrainingSettings(
    batch=64, accumulation=1, rates=Rates(3e-3, 1e-3, "cosine"), checkpoint_percent=50, max_length=64
)
SLOWLY = replace(FAST, rates=Rates(1e-3, 3e-4, "cosine"), epochs=2)  # layers that are normalised last need patience
SHORT = replace(FAST, pairs=640, validation_pairs=100, test_pairs=100, log_every=64)
LEARN = {kind: SLOWLY if kind == "roberta" else FAST for kind in rule.KINDS}


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pairs of the rule."""
    return rule.build(tmp_path_factory.mktemp("rule"))


@pytest.fixture(scope="session")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an untrained tiny model of every kind."""
    folder = tmp_path_factory.mktemp("bases")
    for kind in rule.KINDS:
        rule.save(kind, folder / kind)
    return folder


# ---- learning


@pytest.mark.parametrize(
    "kind", ["llama", *(pytest.param(kind, marks=pytest.mark.slow) for kind in rule.KINDS if kind != "llama")]
)
def test_a_tiny_model_learns_a_rule_that_needs_both_sentences(
    kind: str, pairs: Path, bases: Path, tmp_path: Path
) -> None:
    card = train_head(str(bases / kind), pairs, out=tmp_path / "out", settings=LEARN[kind])
    trial = evaluate_head(str(tmp_path / "out"), pairs)
    assert trial.head.value >= 0.95, head_test_as_text(trial)
    assert trial.head.value == pytest.approx(card["accuracy"]["value"], abs=0.005)
    assert max(found.value for found in trial.baselines.values()) <= 0.55
    assert trial.margin.low is not None
    assert trial.margin.low > 0.4
    assert trial.head.articles == card["data"]["splits"]["test"]["articles"]["en"]


@pytest.mark.slow
def test_adapters_learn_the_rule_too_and_only_they_and_the_head_are_trained(
    pairs: Path, bases: Path, tmp_path: Path
) -> None:
    settings = replace(FAST, lora=Lora(rank=16, alpha=32, dropout=0.0), rates=Rates(1e-2, 1e-3, "cosine"), epochs=2)
    card = train_head(str(bases / "llama"), pairs, out=tmp_path / "out", settings=settings)
    assert card["accuracy"]["value"] >= 0.9
    before, after = (load_file(path / "model.safetensors") for path in (bases / "llama", tmp_path / "out"))
    assert torch.equal(before["model.layers.0.input_layernorm.weight"], after["model.layers.0.input_layernorm.weight"])
    assert not torch.equal(
        before["model.layers.0.self_attn.q_proj.weight"], after["model.layers.0.self_attn.q_proj.weight"]
    )
    assert (tmp_path / "out" / "adapter" / "adapter_model.safetensors").is_file()


# ---- going on after a kill


def command(base: Path, pairs: Path, out: Path) -> list[str]:
    options = (
        "batch=32 accumulation=2 max_length=64 core_rate=3e-3 validation_pairs=64 test_pairs=64 checkpoint_percent=8"
    )
    words = [sys.executable, "-m", "isogloss", "nsp", "train", str(base), "--data", str(pairs), "--out", str(out)]
    return [*words, *(f"--option={one}" for one in options.split()), "--pairs", "3840", "--device", "cpu"]


@pytest.mark.slow
def test_a_training_that_was_killed_goes_on_with_the_same_losses(pairs: Path, tmp_path: Path) -> None:
    base = tmp_path / "base"
    net = rule.network("gpt2")
    net.config.resid_pdrop = net.config.attn_pdrop = 0.1  # chance must come again too
    net.save_pretrained(base)
    rule.tokenizer_of("gpt2").save_pretrained(base)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    whole = subprocess.Popen(command(base, pairs, tmp_path / "whole"), env=environment, stderr=subprocess.DEVNULL)
    killed = subprocess.Popen(command(base, pairs, tmp_path / "killed"), env=environment, stderr=subprocess.DEVNULL)
    while not list((tmp_path / "killed" / "checkpoints").glob("*/complete.json")) and killed.poll() is None:
        time.sleep(0.05)
    time.sleep(0.1)
    killed.send_signal(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    assert not (tmp_path / "killed" / "card.json").exists()
    again = subprocess.run(
        command(base, pairs, tmp_path / "killed"), env=environment, check=True, capture_output=True, text=True
    )
    assert "resumes after step" in again.stderr
    assert whole.wait() == 0
    assert rule.read_log(tmp_path / "killed") == rule.read_log(tmp_path / "whole")
    first, second = (load_file(tmp_path / name / "model.safetensors") for name in ("killed", "whole"))
    assert all(torch.equal(first[name], second[name]) for name in second)
    assert not (tmp_path / "killed" / "checkpoints").exists()


def test_a_folder_that_cannot_be_made_is_one_sentence_before_training(pairs, bases, tmp_path, request):
    (tmp_path / "file").write_text("", encoding="utf-8")
    call = request.getfixturevalue("command")
    status, _, error = call("nsp", "train", bases / "gpt2", "--data", pairs, "--out", tmp_path / "file" / "head")
    assert status == 2
    assert error.splitlines()[-1].startswith("Error: Cannot ")
    assert "(Not a directory)" in error
    assert "Traceback" not in error


class Stopped(Exception):
    """A stop in the middle of a training."""


def stop_at(step: int) -> Any:
    def heard(status: TrainingStatus) -> None:
        if status.step >= step and not status.message:
            raise Stopped

    return heard


@pytest.mark.slow
def test_a_training_that_stopped_between_checkpoints_goes_on_with_the_same_losses(
    pairs: Path, bases: Path, tmp_path: Path
) -> None:
    settings = replace(SHORT, accumulation=2, batch=32, log_every=100, checkpoint_percent=30, precision="bf16")
    adapted = replace(settings, lora=Lora(rank=4, dropout=0.2, layers=1), precision="no", epochs=2, pairs=320)
    for name, kind, how in (("t5", "t5", settings), ("llama", "llama", settings), ("lora", "llama", adapted)):
        with pytest.raises(Stopped):
            train_head(str(bases / kind), pairs, out=tmp_path / name, settings=how, on_status=stop_at(8))
        kept = sorted(path.name for path in (tmp_path / name / "checkpoints").glob("checkpoint-*"))
        assert kept == ["checkpoint-3", "checkpoint-6"]
        train_head(str(bases / kind), pairs, out=tmp_path / name, settings=how)
        train_head(str(bases / kind), pairs, out=tmp_path / f"{name}-whole", settings=how)
        assert rule.read_log(tmp_path / name) == rule.read_log(tmp_path / f"{name}-whole")
        first, second = (load_file(tmp_path / one / "model.safetensors") for one in (name, f"{name}-whole"))
        assert all(torch.equal(first[key], second[key]) for key in second)


def test_a_checkpoint_of_another_model_data_or_setting_is_refused(pairs: Path, bases: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(Stopped):
        train_head(str(bases / "gpt2"), pairs, out=out, settings=SHORT, on_status=stop_at(7))
    other = rule.save("gpt2", tmp_path / "other", seed=5)
    (tmp_path / "more").mkdir()
    more = rule.build(tmp_path / "more", count=50)
    for model, data, settings, message in (
        (other, pairs, SHORT, f"{out} holds the training of another model. Choose another folder with `out`, or remove it."),
        (bases / "gpt2", more, SHORT, f"{out} holds the training of other data. Choose another folder with `out`, or remove it."),
        (
            bases / "gpt2",
            pairs,
            replace(SHORT, seed=1),
            f"{out} holds a training with other settings (seed). Give the same, choose another folder with `out`, or remove it.",
        ),
    ):  # fmt: skip
        with pytest.raises(IsoglossError) as caught:
            train_head(str(model), data, out=out, settings=settings)
        assert str(caught.value) == message
    card = train_head(str(bases / "gpt2"), pairs, out=out, settings=SHORT)
    assert train_head(str(bases / "gpt2"), pairs, out=out, settings=SHORT) == card
    with pytest.raises(IsoglossError, match="another model"):
        train_head(str(other), pairs, out=out, settings=SHORT)


@pytest.mark.slow
def test_a_training_that_was_stopped_while_it_was_saved_is_saved_again(
    pairs: Path, bases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(train, "write_card", full)
        with pytest.raises(IsoglossError) as caught:
            train_head(str(bases / "llama"), pairs, out=out, settings=SHORT)
    assert str(caught.value) == (
        f"Cannot write {out} (No space left on device). Is the folder writable, and the disk not full?"
    )
    assert list((out / "checkpoints").iterdir())
    (out / "card.json").write_text("", encoding="utf-8")
    with pytest.raises(BadData) as broken:
        train_head(str(bases / "llama"), pairs, out=out, settings=SHORT)
    card = out / "card.json"
    assert str(broken.value) == f"{card}: a broken card. Remove it and give the same command again."
    card.unlink()
    train_head(str(bases / "llama"), pairs, out=out, settings=SHORT)
    train_head(str(bases / "llama"), pairs, out=tmp_path / "whole", settings=SHORT)
    assert rule.read_log(out) == rule.read_log(tmp_path / "whole")
    assert not (out / "checkpoints").exists()
    first, second = (load_file(one / "model.safetensors") for one in (out, tmp_path / "whole"))
    assert all(torch.equal(first[name], second[name]) for name in second)


@pytest.fixture(scope="module")
def stopped_once(pairs: Path, bases: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a training that was stopped after the first of its two checkpoints."""
    out = tmp_path_factory.mktemp("stopped") / "out"
    with pytest.raises(Stopped):
        train_head(str(bases / "llama"), pairs, out=out, settings=SHORT, on_status=stop_at(7))
    return out


@pytest.fixture
def stopped(stopped_once: Path, tmp_path: Path) -> Path:
    """A copy of that folder, to be damaged."""
    return shutil.copytree(stopped_once, tmp_path / "out")


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.pt", "scheduler.pt", "trainer_state.json"])
def test_a_checkpoint_with_one_flipped_bit_is_refused(name: str, stopped: Path, pairs: Path, bases: Path) -> None:
    file = stopped / "checkpoints" / "checkpoint-5" / name
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(BadData) as caught:
        train_head(str(bases / "llama"), pairs, out=stopped, settings=SHORT)
    assert str(caught.value) == (
        f"{file.parent}: the checkpoint is damaged: {name} has changed since it was written. "
        "Remove this folder, and the training resumes from the checkpoint before it."
    )


def test_a_checkpoint_that_lost_a_file_or_its_record_is_refused(stopped: Path, pairs: Path, bases: Path) -> None:
    path = stopped / "checkpoints" / "checkpoint-5"
    for name, fault in (("optimizer.pt", "is missing"), ("complete.json", "cannot be read")):
        (path / name).unlink()
        if name == "complete.json":
            (path / name).write_text("{", encoding="utf-8")
        with pytest.raises(BadData, match=f"the checkpoint is damaged: {name} {fault}. Remove this folder"):
            train_head(str(bases / "llama"), pairs, out=stopped, settings=SHORT)


class Touch:
    """What a pickle that runs code looks like: it makes a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


def test_code_in_a_checkpoint_is_never_run(stopped: Path, pairs: Path, bases: Path, tmp_path: Path) -> None:
    path = stopped / "checkpoints" / "checkpoint-5"
    assert sorted(file.name for file in path.iterdir()) == [
        "complete.json", "model.safetensors", "optimizer.pt", "scheduler.pt", "trainer_state.json",
    ]  # fmt: skip
    torch.save(Touch(tmp_path / "ran"), path / "optimizer.pt")
    torch.load(path / "optimizer.pt", weights_only=False)
    assert (tmp_path / "ran").exists()
    (tmp_path / "ran").unlink()
    complete_checkpoint(path, json.loads((path / "complete.json").read_text(encoding="utf-8"))["mark"])
    with pytest.raises(BadData, match="the checkpoint cannot be read as weights"):
        train_head(str(bases / "llama"), pairs, out=stopped, settings=SHORT)
    assert not (tmp_path / "ran").exists()


def test_a_second_training_into_the_same_folder_is_refused(pairs: Path, bases: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with locked(out), pytest.raises(IsoglossError) as caught:
        train_head(str(bases / "llama"), pairs, out=out, settings=SHORT)
    assert str(caught.value) == f"Another process is working on {out / 'checkpoints'}. Wait for it, or stop it."


def test_a_folder_that_cannot_be_written_is_one_sentence(
    pairs: Path, bases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: Any, **__: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)  # a read-only folder is writable for root
    with pytest.raises(IsoglossError) as caught:
        train_head(str(bases / "llama"), pairs, out=tmp_path / "out", settings=SHORT)
    assert str(caught.value) == (
        f"Cannot write {tmp_path / 'out'} (Read-only file system). Is the folder writable, and the disk not full?"
    )


def test_a_checkpoint_that_does_not_fit_on_the_disk_is_one_sentence(pairs: Path, bases: Path, tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (900_000, before[1]))  # the weights fit, those of the optimizer do not
    try:
        with pytest.raises(IsoglossError) as caught:
            train_head(str(bases / "llama"), pairs, out=tmp_path / "out", settings=SHORT)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert str(caught.value).startswith(f"Cannot write {tmp_path / 'out'} (")
    train_head(str(bases / "llama"), pairs, out=tmp_path / "out", settings=SHORT)


def test_an_unfinished_training_of_an_older_version_is_refused(pairs: Path, bases: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "checkpoints" / "step-00000005").mkdir(parents=True)
    with pytest.raises(IsoglossError) as caught:
        train_head(str(bases / "llama"), pairs, out=out, settings=SHORT)
    assert str(caught.value) == (
        f"{out} holds an unfinished training of Isogloss 0.2 or earlier, which this version cannot resume. "
        "Choose another folder with `out`, or remove it."
    )


WRONG = {
    "A constant schedule has no cycles. Leave out cycles, or use schedule=cosine.": {"rates": Rates(schedule="constant", cycles=2)},
    "A learning rate is negative. Give 0 or more.": {"rates": Rates(head=-1.0)},
    "No tracker named 'mlflow'. Known: tensorboard, wandb.": {"report_to": ("tensorboard", "mlflow")},
    "No device named 'cuda:1' for training. Known: auto, cpu.": {"device": "cuda:1"},
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_settings_that_cannot_work_are_refused(message: str) -> None:
    with pytest.raises(IsoglossError) as caught:
        check_settings(replace(SHORT, **WRONG[message]))
    assert str(caught.value) == message


def test_adapters_are_a_rank_and_perhaps_a_number_of_layers() -> None:
    assert read_lora(None) is None
    assert read_lora("4") == Lora(rank=4, alpha=8, layers=None)
    assert read_lora("4,2") == Lora(rank=4, alpha=8, layers=2)
    for wrong in ("0", "x", "4,x", "4,0"):
        with pytest.raises(IsoglossError) as caught:
            read_lora(wrong)
        assert str(caught.value) == (
            f"`lora` takes a rank, or a rank and a number of layers such as 16,6, not '{wrong}'."
        )


@pytest.mark.slow
def test_a_checkpoint_that_was_not_completed_does_not_count(stopped: Path, pairs: Path, bases: Path) -> None:
    half = stopped / "checkpoints" / "checkpoint-7"
    half.mkdir()
    (half / "model.safetensors").write_bytes(b"half")
    messages: list[str] = []
    train_head(
        str(bases / "llama"),
        pairs,
        out=stopped,
        settings=SHORT,
        on_status=lambda status: messages.append(status.message),
    )
    assert "resumes after step 5" in messages
    assert rule.read_card(stopped)["steps"] == 10


def test_patience_stops_early_and_saves_the_best(pairs: Path, bases: Path, tmp_path: Path) -> None:
    settings = replace(SHORT, patience=1, checkpoint_percent=10, rates=Rates(0.0, 0.0, "constant"))
    card = train_head(str(bases / "llama"), pairs, out=tmp_path / "out", settings=settings)
    assert (card["steps"], card["saved_step"], card["planned_steps"]) == (2, 1, 10)


@pytest.mark.slow
def test_a_training_that_ran_out_of_patience_makes_no_step_when_it_resumes(
    pairs: Path, bases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(SHORT, patience=1, checkpoint_percent=10, rates=Rates(0.0, 0.0, "constant"))
    with monkeypatch.context() as patch:
        patch.setattr(train, "save_model", lambda *_, **__: (_ for _ in ()).throw(Stopped))
        with pytest.raises(Stopped):
            train_head(str(bases / "llama"), pairs, out=tmp_path / "out", settings=settings)
    steps: list[int] = []
    card = train_head(
        str(bases / "llama"), pairs, out=tmp_path / "out", settings=settings,
        on_status=lambda status: None if status.message else steps.append(status.step),
    )  # fmt: skip
    assert (steps, card["steps"], card["saved_step"]) == ([], 2, 1)


# ---- what is computed


def trainee(kind: str, bases: Path, **options: Any) -> TrainableModel:
    return make_trainable(open_model(str(bases / kind)), fill_settings(replace(FAST, **options), kind))


TEXTS = [("W0 a1 c2.", "W1 b1 d2."), ("W3 b4 d0.", "W2 a1 c1. W0 a3 c3."), ("W1 a0 c0.", "W1 b0 d0.")]


@pytest.mark.parametrize("kind", ["gpt2", "llama", "roberta"])
def test_the_head_equals_a_plain_forward_pass(kind: str, bases: Path) -> None:
    made = trainee(kind, bases)
    made.scorer.eval()
    questions = [made.encode(*pair) for pair in TEXTS]
    logits = made.scorer(make_batch(made, (questions, [0] * len(questions)))[0])
    layers = list(made.scorer.head)  # type: ignore[arg-type]
    assert [(layer.in_features, layer.out_features) for layer in layers] == [(64, 300), (300, 300), (300, 2)]
    for question, found in zip(questions, logits, strict=True):
        state = made.model.net.base_model(input_ids=torch.tensor([question.ids])).last_hidden_state[0].mean(0)
        for layer in layers:
            state = layer.weight @ state + layer.bias
        assert found.tolist() == pytest.approx(state.tolist(), abs=1e-5)


@pytest.mark.parametrize(("kind", "prefix"), [("t5", "binary classification : "), ("mt5", "")])
def test_an_encoder_decoder_is_trained_and_read_at_the_first_step_of_its_label(
    kind: str, prefix: str, bases: Path
) -> None:
    made = trainee(kind, bases)
    tokenizer, net = made.model.tokenizer, made.model.net
    question = made.encode(*TEXTS[0])
    first, second = TEXTS[0]
    wanted = [*tokenizer.encode(prefix + first), *tokenizer.encode(second)]
    assert list(question.ids) == wanted
    made.scorer.eval()
    loss, right = compute_loss(made, ([question], [1]))
    plain = net(
        input_ids=torch.tensor([wanted]), labels=torch.tensor([tokenizer.encode("1", add_special_tokens=False)])
    )
    assert loss.item() == pytest.approx(plain.loss.item(), abs=1e-5)
    assert question.decoder_ids == (net.config.decoder_start_token_id,)
    assert question.positions == (0, 0)
    assert list(question.targets) == tokenizer.convert_tokens_to_ids(["0", "1"])
    greedy = net.generate(torch.tensor([wanted]), max_new_tokens=1, do_sample=False)[0, 1]
    assert bool(right) == (int(greedy) == question.targets[1])


def test_labels_of_several_tokens_are_read_where_they_part() -> None:
    from isogloss.models.next_sentence import label_ids

    class Pieces:
        unk_token_id = 9

        def encode(self, text: str, add_special_tokens: bool) -> list[int]:
            return {"0": [3, 6], "1": [3, 7]}[text]

    assert label_ids(Pieces()) == ((3, 6), (3, 7), 1)
    Pieces.unk_token_id = 6
    with pytest.raises(IsoglossError, match="cannot tell the labels '0' and '1' apart"):
        label_ids(Pieces())


@pytest.mark.parametrize(("kind", "added"), [("gpt2", 1), ("llama", 1), ("roberta", 0), ("t5", 0)])
def test_a_padding_token_is_added_only_where_there_is_none(kind: str, added: int, bases: Path) -> None:
    before = rule.network(kind).get_input_embeddings().weight
    made = trainee(kind, bases)
    after = made.model.net.get_input_embeddings().weight
    assert len(after) == len(before) + added
    assert made.model.tokenizer.pad_token_id is not None
    assert torch.equal(after[: len(before)], before)
    if added:
        assert torch.allclose(after[-1], before.mean(0))


def test_a_pair_that_is_too_long_loses_its_beginning(bases: Path) -> None:
    for kind, kept in (("llama", 1), ("roberta", 1), ("t5", 3)):
        whole, cut = trainee(kind, bases), trainee(kind, bases, max_length=9)
        long = ("W0 a1 c2. W0 a1 c2. W0 a1 c2.", "W1 b1 d2.")
        ids = whole.encode(*long).ids
        assert cut.encode(*long).ids == ids[:kept] + ids[kept - 9 :]


def test_rates_follow_the_published_schedule() -> None:
    steps, rates = 250, Rates(5e-6, 1e-3, "cosine", 3)
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.AdamW([weight], lr=1e-3)
    wanted = transformers.get_cosine_with_hard_restarts_schedule_with_warmup(
        optimizer, warmup_steps(steps + 1), steps + 1, num_cycles=3
    )
    for step in range(steps):
        optimizer.step()
        wanted.step()
        core, head = rates_at(step, steps, rates=rates)
        assert head == pytest.approx(wanted.get_last_lr()[0], abs=1e-12)
        assert core == pytest.approx(head * 5e-3)
    assert [warmup_steps(n) for n in (1, 99, 100, 250)] == [1, 1, 2, 3]


def test_every_family_has_its_own_defaults() -> None:
    cases = {
        ("gpt2", None): (5e-6, "cosine"),
        ("t5", None): (5e-6, "cosine"),
        ("mt5", None): (1e-4, "constant"),
        ("llama", Lora()): (2e-4, "cosine"),
    }
    for (kind, lora), (core, schedule) in cases.items():
        rates = fill_settings(TrainingSettings(lora=lora), kind).rates
        assert (rates.core, rates.head, rates.schedule) == (core, 1e-3, schedule)


def reference_batches(schedule: BatchSchedule, epoch: int) -> list[list[str]]:
    """The first sentences of an epoch's batches, by definition: 32 steps at a time are sorted by length and dealt."""
    chosen = epoch_order(schedule.split, seed=schedule.seed, epoch=epoch)[: schedule.per_epoch * schedule.per_step]
    batches = []
    for window, start in enumerate(range(0, len(chosen), 32 * schedule.per_step)):
        rows = schedule.split.read(chosen[start : start + 32 * schedule.per_step])
        texts = sorted(rows["first"] + " " + rows["second"], key=lambda text: len(text.replace(".", " .").split()))
        cut = [texts[first : first + schedule.batch] for first in range(0, len(texts), schedule.batch)]
        batches += [cut[index] for index in np.random.default_rng([schedule.seed, epoch, window]).permutation(len(cut))]
    return batches


def test_the_order_depends_on_seed_and_epoch_alone_and_processes_take_turns(pairs: Path) -> None:
    schedule = BatchSchedule(open_split(pairs, "train"), 3, 8, 4, most=40 * 32)
    data = TrainingPairs(schedule, lambda *texts: Question(ids=tuple(" ".join(texts).replace(".", " .").split())))  # type: ignore[arg-type]
    for epoch in (1, 0):
        data.set_epoch(epoch)
        sampler = BatchSampler(SequentialSampler(data), 8, drop_last=False)
        parts = [[[data[index] for index in batch] for batch in BatchSamplerShard(sampler, 2, one)] for one in (0, 1)]
        order = [batch for both in zip(*parts, strict=True) for batch in both]
        words = [[" ".join(question.ids).replace(" .", ".") for question, _ in batch] for batch in order]  # type: ignore[misc]
        assert words == reference_batches(schedule, epoch)
    assert data[1279] == order[-1][-1]  # read alone, as after a resume
    widths = [len({len(question.ids) for question, _ in batch}) for batch in order]
    assert np.mean(np.array(widths) == 1) > 0.9  # pairs of like length share a batch


def plain_losses(base: Path, pairs: Path, settings: TrainingSettings) -> list[float]:
    """The loss of each step by a plain loop: two rates, a cosine, accumulated gradients that are clipped, AdamW."""
    made = make_trainable(open_model(str(base)), settings)
    schedule = BatchSchedule(
        open_split(pairs, "train"), settings.seed, settings.batch, settings.accumulation, most=settings.pairs
    )
    data, steps, losses = TrainingPairs(schedule, made.encode), schedule.per_epoch * settings.epochs, []
    head = list(made.scorer.head.parameters()) if made.scorer.head is not None else []
    core = [one for one in made.scorer.parameters() if one.requires_grad and all(one is not other for other in head)]
    groups = [{"params": group} for group in (core, head) if group]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    for step in range(steps):
        for group, rate in zip(optimizer.param_groups, rates_at(step, steps, rates=settings.rates), strict=False):
            group["lr"] = rate
        data.set_epoch(step // schedule.per_epoch)
        first, parts = step % schedule.per_epoch * schedule.per_step, []
        for start in range(first, first + schedule.per_step, settings.batch):
            questions, labels = zip(*(data[index] for index in range(start, start + settings.batch)), strict=True)
            parts.append(compute_loss(made, (questions, labels))[0])
            (parts[-1] / settings.accumulation).backward()
        torch.nn.utils.clip_grad_norm_(core + head, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(np.mean([part.item() for part in parts])))
    return losses


@pytest.mark.parametrize("kind", ["llama", "t5"])
def test_every_step_has_the_loss_of_a_plain_loop(kind: str, pairs: Path, bases: Path, tmp_path: Path) -> None:
    rates = Rates(3e-3, 1e-3, "cosine", cycles=2)
    settings = replace(SHORT, batch=16, accumulation=2, pairs=160, epochs=2, log_every=1, rates=rates, device="cpu")
    train_head(str(bases / kind), pairs, out=tmp_path / "out", settings=settings)
    losses = [line["loss"] for line in rule.read_log(tmp_path / "out")]
    assert len(losses) == 10
    assert losses == pytest.approx(plain_losses(bases / kind, pairs, settings), rel=1e-5)


def test_too_few_pairs_for_a_step_are_refused(pairs: Path, bases: Path, tmp_path: Path) -> None:
    with pytest.raises(IsoglossError) as caught:
        train_head(str(bases / "llama"), pairs, out=tmp_path / "out", settings=replace(SHORT, pairs=10))
    assert str(caught.value) == (
        "10 training pairs do not fill one step of 64. Give more data, a smaller batch or accumulation."
    )


@pytest.mark.parametrize("kind", rule.KINDS)
def test_merged_adapters_score_as_they_did_in_training(kind: str, pairs: Path, bases: Path, tmp_path: Path) -> None:
    made = trainee(kind, bases, lora=Lora(rank=4, layers=1))
    with torch.no_grad():
        for name, one in made.scorer.named_parameters():
            if "lora_B" in name:
                one.normal_(std=0.2)
    made.scorer.eval()
    rows = open_split(pairs, "test").head(20)
    asked = [made.encode(*pair) for pair in rows.select("first", "second").iter_rows()]
    with torch.no_grad():
        logits = made.scorer(make_batch(made, (asked, [0] * len(asked)))[0])
    if made.scorer.head is None:
        logits = logits[:, asked[0].positions[0], list(asked[0].targets)]
    wanted = logits.softmax(-1)[:, 1].tolist()
    save_model(made, tmp_path / "out", accuracy=None)
    found, _ = pair_scores(open_model(str(tmp_path / "out")), rows)
    assert found.tolist() == pytest.approx(wanted, abs=1e-5)
    assert len(set(wanted)) > 5


@pytest.mark.slow
def test_less_memory_makes_the_same_steps(pairs: Path, bases: Path, tmp_path: Path) -> None:
    for name in ("plain", "less"):
        settings = replace(SHORT, gradient_checkpointing=name == "less")
        train_head(str(bases / "llama"), pairs, out=tmp_path / name, settings=settings)
    plain, less = ([line["loss"] for line in rule.read_log(tmp_path / name)] for name in ("plain", "less"))
    assert less == pytest.approx(plain, rel=1e-4)


@pytest.mark.slow
def test_two_processes_make_the_steps_of_one(pairs: Path, bases: Path, tmp_path: Path) -> None:
    words = command(bases / "llama", pairs, tmp_path / "alone")[1:]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, *words], env=environment, check=True, capture_output=True)
    both = [word.replace("alone", "both") for word in words]
    both[both.index("--option=accumulation=2")] = "--option=accumulation=1"
    start = [
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
    ]  # what accelerate launch does for several devices
    shown = subprocess.run([sys.executable, *start, *both], env=environment, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr[-2000:]
    alone, there = (rule.read_log(tmp_path / name) for name in ("alone", "both"))
    assert [line["examples"] for line in there] == [line["examples"] for line in alone]
    assert [line["loss"] for line in there] == pytest.approx([line["loss"] for line in alone], rel=1e-4)
    assert json.loads((tmp_path / "both" / "card.json").read_text(encoding="utf-8"))["mark"]["processes"] == 2


# ---- what is left behind


def test_log_curves_and_card_are_written(pairs: Path, bases: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    settings = replace(SHORT, gradient_checkpointing=True, footprint=Footprint(20, 300, 100))
    card = train_head(str(bases / "gpt2"), pairs, out=out, settings=settings)
    lines = rule.read_log(out)
    assert [line["examples"] for line in lines] == [64 * n for n in range(1, 11)]
    assert lines[0]["core_rate"] == pytest.approx(3 * lines[0]["head_rate"])
    board = EventAccumulator(str(out / "tensorboard")).Reload()
    assert [event.step for event in board.Scalars("train/loss")] == list(range(1, 11))
    assert [event.value for event in board.Scalars("train/accuracy")] == pytest.approx(
        [line["accuracy"] for line in lines]
    )
    assert [event.step for event in board.Scalars("eval/accuracy")] == [5, 10]
    names = {path.name for path in (out / "curves").iterdir()}
    assert names == {f"{one}.png" for one in ("loss", "loss-zoomed", "loss-smoothed", "accuracy", "accuracy-zoomed", "accuracy-smoothed", "core_rate", "head_rate")}  # fmt: skip
    assert card == json.loads((out / "card.json").read_text(encoding="utf-8"))
    assert card["data"]["hash"] == open_split(pairs, "train").card["hash"]
    assert card["accuracy"]["n"] == 100
    assert "## " not in (out / "README.md").read_text(encoding="utf-8")
    assert "20 W for each of" in (out / "README.md").read_text(encoding="utf-8")
    assert not list(out.rglob("*.bin")) + list(out.rglob("*.pt")) + list(out.rglob("*.pkl"))


def test_energy_is_hours_times_watts() -> None:
    found = energy(2.0, device="cuda:0", processes=3, footprint=Footprint(10, 250, 400))
    assert (found["kwh"], found["co2_grams"]) == (1.5, 600.0)
    assert found["assumption"] == "250 W for each of 3 accelerators, 400 g of CO2 for a kWh; not measured"


def test_curves_are_smoothed_and_zoomed() -> None:
    assert smooth(np.array([1.0, 1.0, 1.0])).tolist() == pytest.approx([1, 1, 1])
    #  0.5 · 0.5 + 0.5 · 2 = 1.25, of a weight of 0.75
    assert smooth(np.array([1.0, 2.0]), weight=0.5).tolist() == pytest.approx([1.0, 1.25 / 0.75])
    low, high = zoom(np.array([100.0, *[1.0] * 10, *[2.0] * 9]))
    assert 0.9 < low < 1 < 2 < high < 2.1


def test_the_interval_of_an_accuracy_is_over_articles() -> None:
    right = np.repeat([1.0, 0.0] * 10, 50)
    names = [f"a{n}" for n in range(20) for _ in range(50)]
    found = mean_by_article(right, names)
    alone = mean_by_article(right, [str(n) for n in range(1000)])
    assert (found.value, found.n, found.articles) == (0.5, 1000, 20)
    assert found.low is not None
    assert alone.low is not None
    assert found.low < 0.32 < 0.46 < alone.low
    assert mean_by_article(right[:100], names[:100]).low is None
    assert not math.isnan(found.value)


@pytest.mark.slow
def test_adafactor_trains_and_goes_on_where_it_stopped(pairs: Path, bases: Path, tmp_path: Path) -> None:
    settings = replace(SHORT, optimizer="adafactor", pairs=256)
    with pytest.raises(Stopped):
        train_head(str(bases / "llama"), pairs, out=tmp_path / "parts", settings=settings, on_status=stop_at(3))
    for name in ("parts", "whole"):
        card = train_head(str(bases / "llama"), pairs, out=tmp_path / name, settings=settings)
        assert card["settings"]["optimizer"] == "adafactor"
    assert rule.read_log(tmp_path / "parts") == rule.read_log(tmp_path / "whole")
    with pytest.raises(IsoglossError, match="No optimizer named 'sgd'"):
        check_settings(replace(settings, optimizer="sgd"))


def test_a_study_trains_its_head_once_before_it_scores(pairs: Path, bases: Path, tmp_path: Path) -> None:
    study = {
        "name": "x",
        "models": [{"label": "head", "checkpoint": "heads/llama"}],
        "data": [{"source": "demo", "where": {"task": "intersentence"}}],
        "training": [
            {"model": str(bases / "llama"), "out": "heads/llama", "data": str(pairs), "pairs": 256}
            | {
                "options": {
                    "batch": "64",
                    "accumulation": "1",
                    "max_length": "64",
                    "validation_pairs": "50",
                    "test_pairs": "50",
                }
            }
        ],
    }
    path = tmp_path / "study.yaml"
    path.write_text(json.dumps(study), encoding="utf-8")
    (folder,) = train_heads(path)
    written = (folder / "card.json").stat().st_mtime_ns
    assert train_heads(path) == [folder]
    assert (folder / "card.json").stat().st_mtime_ns == written
    assert plan_study(path).cells[0].checkpoint == str(folder)
