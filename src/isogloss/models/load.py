"""Opening a model: a name, a folder or a GGUF file becomes an open model, or one sentence that says why not."""

from __future__ import annotations

import difflib
import logging
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import registry
from ..errors import IsoglossError, need
from . import info as facts
from .model import Model, ModelInfo
from .next_sentence import POOLED, WEIGHTS, attach, read_head_weights, reading_of
from .processor import prepare
from .pull import PULLED, is_dequantised, pulled_folder

DEQUANTISED = "dequantised, not the original weights"
TRAINED = "its next-sentence head was trained with 'isogloss nsp train'"
OWN_CODE = "has code of its own, which was not run"
DEVICES = ("cpu", "cuda", "mps", "xpu")
DTYPES = ("float32", "bfloat16", "float16")
INCOMPLETE = (
    "'{}' has no complete safetensors weights. Download it again; or, when it only has pickled weights that you trust, "
    "say --allow-pickle."
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a model comes from: a folder, a GGUF file in a folder, or a name on the hub with a revision."""

    name: str
    source: str
    revision: str | None = None
    gguf: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def arguments(self) -> dict[str, Any]:
        """What transformers' from_pretrained needs beside the source."""
        extra = {"gguf_file": self.gguf} if self.gguf else {}
        return {"revision": self.revision or "main", "trust_remote_code": False, **extra}


def find_place(name: str) -> Place:
    """Where the model of that name is; a demonstration model must have been pulled."""
    plain, _, revision = name.partition("@")
    if plain in PULLED and not Path(plain).exists():
        folder = pulled_folder(plain)
        if not (folder / "config.json").is_file():
            accept = " --accept-licence" if PULLED[plain].terms else ""
            raise IsoglossError(f"'{plain}' is not here yet. Get it with: isogloss model pull {plain}{accept}")
        return Place(plain, str(folder), notes=_remarks_on(folder))
    path = Path(name).expanduser()
    if path.suffix == ".gguf":
        if not path.is_file():
            raise IsoglossError(f"No such file: {path}.")
        return Place(path.stem, str(path.parent), gguf=path.name, notes=(DEQUANTISED,))
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise IsoglossError(f"The folder {path} is not a model: it has no config.json.")
        return Place(path.name, str(path), notes=_remarks_on(path))
    if name.startswith((".", "/", "~")) or plain.count("/") > 1:
        raise IsoglossError(f"No such model folder: {path}.")
    return Place(name, plain, revision or None)


def _remarks_on(folder: Path) -> tuple[str, ...]:
    return (DEQUANTISED,) if is_dequantised(folder) else ()


def find_family(name: str, *, offline: bool = False) -> str:
    """The family of the model of that name, by its configuration alone; no weight is loaded."""
    transformers = need("transformers", extra="hf")
    place = find_place(name)
    with _Quiet(transformers):
        return facts.family_of(_load(place, transformers.AutoConfig, local_files_only=offline), place.name)


def open_model(
    name: str,
    *,
    device: str = "cpu",
    dtype: str = "float32",
    offline: bool = False,
    allow_pickle: bool = False,
) -> Model:
    """The model of that name, ready to answer questions."""
    torch = need("torch", extra="hf")
    transformers = need("transformers", extra="hf")
    if dtype not in DTYPES:
        raise IsoglossError(f"No dtype named '{dtype}'. Known: {', '.join(DTYPES)}.")
    _check_device(torch, device)
    place = find_place(name)
    remarks = prepare(dtype, device=device)
    with _Quiet(transformers):
        config = _load(place, transformers.AutoConfig, local_files_only=offline)
        family = facts.family_of(config, place.name)
        tokenizer = _load(place, transformers.AutoTokenizer, local_files_only=offline)
        loader = _loader(transformers, config, family=family)
        options: dict[str, Any] = {"dtype": getattr(torch, dtype), "local_files_only": offline}
        if place.gguf:
            options["quantization_config"] = transformers.GgufConfig(dequantize=True)
        else:
            options["use_safetensors"] = None if allow_pickle else True
        net, report = _load(place, loader, output_loading_info=True, **options)
        _fetch_file(place, "README.md", offline=offline)
        if reading_of(net.config):
            _fetch_file(place, WEIGHTS, offline=offline)
    missing = set(report["missing_keys"])
    _refuse_incomplete(place, net, tokenizer=tokenizer, missing=missing)
    known = _facts(place, net, tokenizer=tokenizer, family=family, missing=missing)
    model = wrap(net, tokenizer, info=replace(known, dtype=dtype, notes=(*known.notes, *remarks)), device=device)
    _attach_head(model, place)
    return model


def _attach_head(model: Model, place: Place) -> None:
    """Let the model use the next-sentence head that was trained for it, where it has one."""
    reading = reading_of(model.net.config)
    if reading is None:
        return
    folder = _folder(place)
    path = folder / WEIGHTS if folder else None
    attach(model, reading, head=read_head_weights(path, name=place.name) if reading.form == POOLED else None)


def _refuse_incomplete(place: Place, net: Any, *, tokenizer: Any, missing: set[str]) -> None:
    """transformers fills what a download lacks with random weights and empty vocabularies; we do not score those."""
    lacking = facts.missing_body(net, missing)
    if lacking:
        raise IsoglossError(
            f"'{place.name}' lacks {len(lacking)} of its weights, such as '{lacking[0]}'. Download it again."
        )
    size = net.config.get_text_config().vocab_size
    if len(tokenizer) < size / 2:
        raise IsoglossError(
            f"'{place.name}' has no tokenizer that fits: it knows {len(tokenizer)} tokens, the model {size}. "
            "Download it again."
        )


def wrap(net: Any, tokenizer: Any, *, info: ModelInfo, device: str = "cpu") -> Model:
    """An open model around a network and a tokenizer that are already in memory."""
    model = Model(info, net.eval().to(device), tokenizer, registry.get("family", info.family), device)
    model.family.prepare(model)
    return model


def describe(net: Any, tokenizer: Any, *, name: str) -> ModelInfo:
    """What is known about a network and a tokenizer in memory."""
    place = Place(name, "")
    known = _facts(place, net, tokenizer=tokenizer, family=facts.family_of(net.config, name), missing=set())
    return replace(known, dtype=str(net.dtype).removeprefix("torch."))


def _facts(place: Place, net: Any, *, tokenizer: Any, family: str, missing: set[str]) -> ModelInfo:
    folder = _folder(place)
    card = facts.card_facts(folder)
    heads, untrained = facts.heads_of(net, missing)
    return ModelInfo(
        name=place.name,
        family=family,
        model_type=net.config.model_type,
        revision=place.revision or (folder.name if folder and folder.parent.name == "snapshots" else None),
        source=place.source or None,
        languages=card.get("languages", ()),
        licence=card.get("licence"),
        vocabulary=net.config.get_text_config().vocab_size,
        parameters=sum(tensor.numel() for tensor in net.parameters()),
        max_length=facts.max_length(net),
        heads=heads,
        untrained=untrained,
        weights=facts.hash_files(folder, only=place.gguf) if folder else facts.hash_network(net),
        tokenizer=facts.hash_tokenizer(tokenizer),
        notes=_notes(place, net.config),
    )


def _notes(place: Place, config: Any) -> tuple[str, ...]:
    """What must be said with every number of the model."""
    reading = reading_of(config)
    known = f" (accuracy {reading.accuracy:.1%} on unseen articles)" if reading and reading.accuracy else ""
    own_code = (OWN_CODE,) if getattr(config, "auto_map", None) else ()
    return place.notes + own_code + ((TRAINED + known,) if reading else ())


def _folder(place: Place) -> Path | None:
    if not place.source or Path(place.source).is_dir():
        return Path(place.source) if place.source else None
    from transformers.utils.hub import cached_file

    found = cached_file(place.source, "config.json", revision=place.revision or "main", local_files_only=True)
    return Path(found).parent if found else None


def _fetch_file(place: Place, name: str, *, offline: bool) -> None:
    """Bring a hub model's card (for languages and licence) or trained head beside its weights; none is no harm."""
    if offline or not place.source or Path(place.source).is_dir():
        return
    from transformers.utils.hub import cached_file

    with suppress(OSError, ValueError):
        cached_file(place.source, name, revision=place.revision or "main")


def _loader(transformers: Any, config: Any, *, family: str) -> Any:
    if family == "masked" and config.model_type in facts.NSP_TYPES:
        return transformers.AutoModelForPreTraining
    return {
        "masked": transformers.AutoModelForMaskedLM,
        "causal": transformers.AutoModelForCausalLM,
        "seq2seq": transformers.AutoModelForSeq2SeqLM,
    }[family]


def _load(place: Place, loader: Any, **options: Any) -> Any:
    """What the loader gives; its many errors become one sentence."""
    try:
        return loader.from_pretrained(place.source, **place.arguments, **options)
    except IsoglossError:
        raise
    except Exception as error:
        raise IsoglossError(_sentence(place, error, loader=loader.__name__)) from error


def _sentence(place: Place, error: Exception, *, loader: str) -> str:
    message = str(error)
    low = message.lower()
    where = f"'{place.name}'"
    if type(error).__name__ == "SafetensorError":
        return INCOMPLETE.format(place.name)
    if "safetensors" in low and ("does not appear" in low or "no file named" in low or "not found" in low):
        return INCOMPLETE.format(place.name)
    if "ignore_mismatched_sizes" in low:
        return f"{where} has weights of other sizes than its config.json says. Download it again."
    if "not a valid json file" in low:
        return f"{where} has a broken config.json. Download it again."
    if "trust_remote_code" in low or "custom code" in low:
        return f"{where} needs code of its own, which Isogloss never runs. Choose a model that transformers knows."
    if place.revision and ("revision" in low or "not a valid git identifier" in low):
        return f"{where} has no revision '{place.revision}'. Look at the model's page for its branches and commits."
    if any(
        sign in low
        for sign in ("connect", "offline", "couldn't find", "local_files_only", "not a valid model", "cached")
    ):
        near = difflib.get_close_matches(place.name, PULLED, n=1, cutoff=0.8)
        hint = f"Did you mean '{near[0]}'?" if near else "See: isogloss model list"
        return f"{where} is neither a folder, nor a pulled model, nor on the hub as far as it can be reached from here. {hint}"
    if loader == "AutoTokenizer":
        return f"{where} has no tokenizer that can be read. Download it again."
    first = message.strip().splitlines()[0] if message.strip() else "no reason given"
    return f"{where} cannot be opened: {first[:300]}"


def _check_device(torch: Any, device: str) -> None:
    """Refuse a device that is not there by using it once; torch has many errors for that."""
    kind = device.partition(":")[0]
    if kind not in DEVICES:
        raise IsoglossError(f"No device named '{device}'. Known: cpu, cuda, cuda:0, mps.")
    try:
        torch.zeros(1, device=device).item()
    except Exception as error:
        raise IsoglossError(f"There is no '{device}' on this machine. Say --device cpu.") from error


class _Quiet:
    """While this is open, transformers and the hub's library do not talk."""

    def __init__(self, transformers: Any) -> None:
        self.logging = transformers.utils.logging
        self.hub = logging.getLogger("huggingface_hub")

    def __enter__(self) -> None:
        self.level, self.hub_level = self.logging.get_verbosity(), self.hub.level
        self.logging.set_verbosity_error()
        self.logging.disable_progress_bar()
        self.hub.setLevel(logging.ERROR)

    def __exit__(self, *error: object) -> None:
        self.logging.set_verbosity(self.level)
        self.hub.setLevel(self.hub_level)
