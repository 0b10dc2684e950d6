"""Memory of a model before it is loaded: exact by its files, and one sentence when it cannot fit."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

import isogloss as ig
from isogloss.errors import IsoglossError
from isogloss.files.hub import on_message
from isogloss.items import Items
from isogloss.models import memory
from isogloss.models.load import open_model
from isogloss.models.model import Loading
from isogloss.studies.dry_run import forecast_memory
from isogloss.studies.plan import plan_evaluation
from support import tiny
from support.builders import triple


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A network, and the folder in which it lies in several files."""
    folder = tmp_path_factory.mktemp("tiny")
    net = tiny.network("llama")
    net.save_pretrained(folder, max_shard_size="20KB")
    tiny.tokenizer_of("llama").save_pretrained(folder)
    return net, folder


@pytest.mark.parametrize(("dtype", "size"), [("float32", 4), ("bfloat16", 2)])
def test_the_forecast_is_what_the_weights_take(saved, dtype, size):
    net, folder = saved
    assert len(list(folder.glob("*.safetensors"))) > 1
    assert memory.forecast_bytes(folder, dtype) == size * sum(weight.numel() for weight in net.parameters())


def test_an_index_without_its_files_is_enough(saved, tmp_path):
    net, folder = saved
    for name in ("config.json", "model.safetensors.index.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    stored = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))["dtype"]
    assert stored == "float32"
    assert memory.forecast_bytes(tmp_path, "float16") == 2 * sum(weight.numel() for weight in net.parameters())


def test_a_model_that_cannot_fit_is_refused_in_one_sentence_before_it_is_loaded(saved, monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda device: 1000)
    monkeypatch.setattr(memory, "forecast_bytes", lambda folder, dtype: 140 * 10**9)
    with pytest.raises(IsoglossError) as caught:
        open_model(str(saved[1]))
    assert str(caught.value) == (
        f"'{saved[1].name}' needs 140.0 GB for its weights in float32, and 0.0 GB are free on cpu. "
        "Use `dtype='bfloat16'`, another `device`, or a server (see docs/how-to/models.md)."
    )
    plan = plan_evaluation([str(saved[1])], Items((triple("a"),)))
    (line,) = forecast_memory(plan)
    assert line.endswith("0.0 GB are free on cpu, which is not enough")


def test_auto_says_in_one_line_what_it_chose(saved):
    lines: list[str] = []
    token = on_message.set(lines.append)
    try:
        model = open_model(str(saved[1]), Loading(device="auto"))
    finally:
        on_message.reset(token)
    assert len(lines) == 1
    assert lines[0].startswith(f"device auto: {model.device}")


def test_a_device_map_gives_the_same_scores_and_says_where_the_layers_are(saved):
    # one device only: what several do is accelerate's, and could not be tried
    lines: list[str] = []
    token = on_message.set(lines.append)
    try:
        spread = open_model(str(saved[1]), Loading(device_map="auto"))
    finally:
        on_message.reset(token)
    items = Items((triple("a"), triple("b")))
    assert (spread.device, lines) == ("cpu", [f"device map of {saved[1].name}: 1 modules on cpu"])
    plain = ig.score(items, model=str(saved[1]), method="likelihood").table
    assert ig.score(items, model=spread, method="likelihood").table["value"].equals(plain["value"])


def test_layers_that_would_be_read_from_disk_are_refused():
    net = SimpleNamespace(hf_device_map={"embed": 0, "layers.0": 0, "layers.1": "disk"})
    with pytest.raises(IsoglossError) as caught:
        memory.first_device("m", net)
    assert str(caught.value) == (
        "'m' does not fit into the memory of all devices: 1 of its modules would be read from disk for every batch. "
        "Use a smaller number format, or a server (see docs/how-to/models.md)."
    )


def test_an_unknown_device_map_is_named(saved):
    with pytest.raises(IsoglossError, match=r"No device map named 'all'\. Known: auto, balanced, sequential"):
        open_model(str(saved[1]), Loading(device_map="all"))
