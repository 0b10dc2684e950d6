"""A folder that `nsp train` wrote is a model like any other: its head scores next sentences, its body the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from isogloss.cli import app
from isogloss.errors import IsoglossError
from isogloss.items import Candidate, Item, Items
from isogloss.library import score
from isogloss.models.load import open_model
from isogloss.models.model import Loading
from isogloss.nsp.evaluation import pair_scores
from isogloss.nsp.heads import import_head, make_batch, make_trainable
from isogloss.nsp.parts import open_split
from isogloss.nsp.settings import Rates, TrainingSettings
from isogloss.nsp.train import train_head
from isogloss.studies.scoring_plan import fitting_methods
from support import rule

SETTINGS = TrainingSettings(
    batch=64, accumulation=1, pairs=640, max_length=40, rates=Rates(3e-3, 1e-3, "cosine"), validation_pairs=64, test_pairs=64
)  # fmt: skip


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a trained model of every kind, and the pairs."""
    folder = tmp_path_factory.mktemp("trained")
    pairs = rule.build(folder, count=60)
    for kind in rule.KINDS:
        rule.save(kind, folder / f"base-{kind}")
        train_head(str(folder / f"base-{kind}"), pairs, out=folder / kind, settings=SETTINGS)
    return folder


def follow(name: str, context: str, *texts: str) -> Item:
    roles = ("stereotype", "anti-stereotype", "unrelated")
    candidates = tuple(Candidate(f"{name}-{role}", role, text) for role, text in zip(roles, texts, strict=True))
    return Item(name, "stereoset", "en", "gender", candidates, context, name, {"task": "intersentence"})


def fill(name: str, context: str, *words: str) -> Item:
    roles = ("stereotype", "anti-stereotype", "unrelated")
    candidates = tuple(
        Candidate(f"{name}-{role}", role, context.replace("BLANK", word), word)
        for role, word in zip(roles, words, strict=True)
    )
    return Item(name, "stereoset", "en", "gender", candidates, context, name, {"task": "intrasentence"})


def inter() -> Iterator[Item]:
    """Items of very different lengths, one of them too long."""
    long = "W0 a1 c2. " * 14
    yield follow("short", "a1.", "b1.", "b2 d2.", "W1.")
    yield follow("plain", "W0 a1 c2.", "W1 b1 d2.", "W1 b0 d3.", "W1 a0 c0.")
    yield follow("middle", "W0 a1 c2. W2 b1 d2. W0 a1 c2.", "W1 b1 d2. W1 a1 c2.", "W1 b0 d3.", "W1 a0.")
    yield follow("long", long.strip(), "W1 b1 d2.", "W1 b0 d3.", "W1 a0 c0. W1 a0 c0.")


ITEMS = Items((*inter(), fill("blank", "W0 BLANK c2.", "a1", "a2", "w3")))
INTRA = {"gpt2": "likelihood", "llama": "likelihood", "roberta": "unmask", "t5": "unmask", "mt5": "unmask"}


@pytest.mark.parametrize("kind", rule.KINDS)
def test_auto_takes_the_trained_head_for_next_sentences_and_the_body_for_the_rest(kind: str, trained: Path) -> None:
    scored = score(ITEMS, model=str(trained / kind))
    chosen = sorted(scored.table.select("task", "method").unique().rows())
    assert chosen == [("intersentence", "nsp"), ("intrasentence", INTRA[kind])]
    assert any("its next-sentence head was trained with 'isogloss nsp train'" in note for note in scored.notes)
    base = score(Items((ITEMS.rows[-1],)), model=str(trained / f"base-{kind}"))
    assert base.table["method"].unique().to_list() == [INTRA[kind]]


@pytest.mark.parametrize("kind", rule.KINDS)
def test_scores_equal_a_plain_pass_of_what_was_trained(kind: str, trained: Path) -> None:
    model = open_model(str(trained / kind))
    rows = open_split(trained / "pairs", "test").head(40)
    found, cut = pair_scores(model, rows)
    assert cut == 0
    made = make_trainable(open_model(str(trained / f"base-{kind}")), SETTINGS)
    made.scorer.net.load_state_dict(model.net.state_dict())
    if made.scorer.head is not None:
        made.scorer.head.load_state_dict(model.state["classifier"].state_dict())
    made.scorer.eval()
    for value, (first, second) in zip(found, rows.select("first", "second").iter_rows(), strict=True):
        question = made.encode(first, second)
        with torch.no_grad():
            logits = made.scorer(make_batch(made, ([question], [0]))[0])[0]
        two = logits[0, list(question.targets)] if made.scorer.head is None else logits
        assert value == pytest.approx(float(two.softmax(-1)[1]), abs=1e-5)


@pytest.mark.parametrize("kind", rule.KINDS)
def test_scores_do_not_depend_on_batch_order_or_padding(kind: str, trained: Path) -> None:
    model = open_model(str(trained / kind))
    items = Items(tuple(inter()))

    def values(chosen: Items, budget: int) -> dict[str, float]:
        table = score(chosen, model=model, method="nsp", loading=Loading(token_budget=budget)).table
        return dict(table.select("candidate", "value").iter_rows())

    wanted = {key: value for item in items for key, value in values(Items((item,)), 1).items()}
    for chosen, budget in ((items, 4096), (Items(items.rows[::-1]), 60)):
        found = values(chosen, budget)
        assert found.keys() == wanted.keys()
        for key, value in found.items():
            assert value == pytest.approx(wanted[key], abs=1e-5)
    assert len(set(np.round(list(wanted.values()), 6))) > 6


@pytest.mark.parametrize("kind", ["gpt2", "t5"])
def test_a_context_that_is_too_long_is_cut_and_said(kind: str, trained: Path) -> None:
    table = score(Items(tuple(inter())), model=str(trained / kind), method="nsp").table
    cut = table.filter(table["truncated"])["candidate"].to_list()
    assert sorted(cut) == sorted(candidate.id for candidate in ITEMS.rows[3].candidates)


@pytest.mark.parametrize("kind", rule.KINDS)
def test_a_model_without_a_head_is_refused_and_one_with_it_is_listed(kind: str, trained: Path) -> None:
    base, own = open_model(str(trained / f"base-{kind}")), open_model(str(trained / kind))
    assert "nsp" not in fitting_methods(base)
    assert "nsp" in fitting_methods(own)
    assert {*fitting_methods(base), "nsp"} == set(fitting_methods(own))
    with pytest.raises(IsoglossError) as caught:
        score(Items(tuple(inter())), model=base, method="nsp")
    assert str(caught.value) == (
        f"'base-{kind}' has no next-sentence head, so it cannot be scored with 'nsp'. Train one: isogloss nsp train"
    )


def test_another_head_is_another_model(trained: Path, tmp_path: Path) -> None:
    import json
    import shutil

    copy = shutil.copytree(trained / "llama", tmp_path / "llama")
    config = json.loads((copy / "config.json").read_text(encoding="utf-8"))
    config["next_sentence"]["max_length"] = 12
    (copy / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert open_model(str(copy)).info.weights != open_model(str(trained / "llama")).info.weights


def test_a_head_that_is_lost_or_broken_is_said(trained: Path, tmp_path: Path) -> None:
    import shutil

    copy = shutil.copytree(trained / "gpt2", tmp_path / "gpt2")
    (copy / "nsp.safetensors").write_bytes(b"nonsense")
    with pytest.raises(IsoglossError) as caught:
        open_model(str(copy))
    assert str(caught.value) == "'gpt2' has a broken nsp.safetensors. Copy or train it again."
    (copy / "nsp.safetensors").unlink()
    with pytest.raises(IsoglossError) as caught:
        open_model(str(copy))
    assert str(caught.value) == (
        "'gpt2' lacks the weights of its next-sentence head, nsp.safetensors. Copy or train it again."
    )


def test_the_commands_test_and_eval_read_the_folder(trained: Path, tmp_path: Path) -> None:
    words = ["nsp", "test", str(trained / "llama"), "--data", str(trained / "pairs"), "--limit", "60"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    labels = [line.split("  ")[0] for line in result.stdout.splitlines()[1:5]]
    assert labels == ["llama", "second sentence only", "word overlap", "margin over word overlap"]
    result = CliRunner().invoke(app, ["nsp", "test", str(trained / "base-llama"), "--data", str(trained / "pairs")])
    assert str(result.exception) == "'base-llama' has no trained next-sentence head. Train one: isogloss nsp train"
    words = [
        "eval",
        str(trained / "t5"),
        "--data",
        "demo",
        "-l",
        "en",
        "--method",
        "auto",
        "--out",
        str(tmp_path / "run"),
    ]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert len(list((tmp_path / "run").rglob("*nsp*"))) == 1


def test_a_trained_head_takes_the_place_of_a_published_one(trained: Path, tmp_path: Path) -> None:
    from support import tiny

    net, tokenizer = tiny.network("bert"), tiny.wordpiece()
    net.save_pretrained(tmp_path / "bert")
    tokenizer.save_pretrained(tmp_path / "bert")
    train_head(str(tmp_path / "bert"), trained / "pairs", out=tmp_path / "out", settings=replace(SETTINGS, pairs=64))
    model = open_model(str(tmp_path / "out"))
    assert (model.info.heads, model.info.untrained) == (("lm", "nsp"), ())
    assert "classifier" in model.state
    assert len(set(score(Items(tuple(inter())), model=model, method="nsp").table["value"])) > 3


def test_a_head_that_is_always_right_has_an_interval_with_a_width():
    from isogloss.nsp.evaluation import mean_by_article

    found = mean_by_article(np.ones(60), [f"article {number % 20}" for number in range(60)])
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low is not None
    assert 0.7 < found.low < 1


# ---- heads that others trained


class PublishedModel(torch.nn.Module):
    """A network and a head under the names of the published code (Nadeem et al.: `ModelNSP`)."""

    def __init__(self, core: torch.nn.Module) -> None:
        super().__init__()
        self.core_model = core
        width = core.config.n_embd
        layers = (torch.nn.Linear(width, 300), torch.nn.Linear(300, 300), torch.nn.Linear(300, 2))
        self.nsp_head = torch.nn.Sequential(*layers)


def published_checkpoint(base: Path, path: Path) -> tuple[torch.nn.Module, torch.nn.Module]:
    """A checkpoint as the published code saves it, with other weights than the base; and what was saved.

    The code runs torch 1.4 and transformers 2.7: a state dictionary of a parallel model, in a file that is no zip, with a
    row for the padding token that it adds, and with the attention masks that GPT-2 stored then.
    """
    torch.manual_seed(5)
    core = open_model(str(base)).net.transformer
    core.resize_token_embeddings(len(core.wte.weight) + 1, mean_resizing=False)
    for block in core.h:
        block.attn.register_buffer("bias", torch.ones(1, 1, 8, 8).tril())
    with torch.no_grad():
        core.wte.weight.add_(0.1)
    model = PublishedModel(core)
    torch.save(torch.nn.DataParallel(model).state_dict(), path, _use_new_zipfile_serialization=False)
    return core.eval(), model.nsp_head.eval()


def test_a_published_checkpoint_scores_as_its_own_code_does(tmp_path):
    rule.save("gpt2", tmp_path / "base")
    core, head = published_checkpoint(tmp_path / "base", tmp_path / "GPT2Model.pth")
    command = [
        "nsp",
        "train",
        str(tmp_path / "base"),
        "--data",
        str(tmp_path / "GPT2Model.pth"),
        "--out",
        str(tmp_path / "head"),
    ]
    assert CliRunner().invoke(app, command).exit_code == 0
    model = open_model(str(tmp_path / "head"))
    items = Items((follow("x", "W0 a1 c2.", "W0 a1.", "W0 c2.", "W0."),))
    values = score(items, model=str(tmp_path / "head"), method="nsp").table["value"]
    assert torch.equal(model.net.transformer.wte.weight, core.wte.weight)
    for value, second in zip(values, ("W0 a1.", "W0 c2.", "W0."), strict=True):
        ids = [*model.tokenizer("W0 a1 c2.").input_ids, *model.tokenizer(second).input_ids]  # nothing before or between
        with torch.no_grad():
            classes = head(core(torch.tensor([ids])).last_hidden_state.mean(1)).softmax(-1)
        assert value == pytest.approx(float(classes[0, 1]), abs=1e-6)
    assert "exists already" in str(CliRunner().invoke(app, command).exception)


class Trap:
    def __reduce__(self):
        return (print, ("run",))


def test_a_checkpoint_that_would_run_code_is_refused(tmp_path):
    torch.save({"core_model.x": Trap()}, tmp_path / "bad.pth")
    with pytest.raises(IsoglossError, match="cannot be read as weights alone, without running what is in it"):
        import_head("x", tmp_path / "bad.pth", out=tmp_path / "out")
