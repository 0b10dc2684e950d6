"""Opening a model: a name, a folder, a GGUF file or an address becomes an open model, or one sentence that says why not."""

import logging
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import registry
from ..errors import IsoglossError, naming_panics, require, short_message
from . import hub
from . import info as facts
from .memory import check_map, check_memory, find_device, first_device
from .model import DEFAULT_LOADING, Loading, Model, ModelInfo, ModelSource
from .next_sentence import POOLED, WEIGHTS, attach, pair_format_of, read_head_weights
from .packaged import CARD_NOTES, DEQUANTISED_FROM, PULLED, card_notes, find_pulled
from .processor import prepare
from .tokenizer_patterns import check_patterns

DEQUANTISED = CARD_NOTES[DEQUANTISED_FROM]
TRAINED = "its next-sentence head was trained with 'isogloss nsp train'"
OWN_CODE = "has its own code, which was not run"
DEVICES = ("cpu", "cuda", "mps", "xpu")
DTYPES = ("float32", "bfloat16", "float16")
INCOMPLETE = (
    "'{}' has no complete safetensors weights. Download it again; or, when it only has pickled weights that you trust, "
    "use `allow_pickle`."
)


def find_source(name: str, loading: Loading = DEFAULT_LOADING) -> ModelSource:
    """Where the model of that name is, by the family that claims the name; a demonstration model must have been pulled."""
    for family in registry.load_present("family").values():
        if source := family.claims(name, loading):
            return source  # type: ignore[no-any-return]
    plain, _, revision = name.partition("@")
    if not revision and "/" not in plain and not Path(plain).exists():
        if folder := find_pulled(plain):
            return ModelSource(plain, str(folder), notes=card_notes(folder), folder=folder)
        if plain in PULLED:
            accept = " --accept-license" if PULLED[plain].terms else ""
            raise IsoglossError(f"'{plain}' is not downloaded yet. Get it with: isogloss model pull {plain}{accept}")
    path = Path(name).expanduser()
    if path.suffix == ".gguf":
        if not path.is_file():
            raise IsoglossError(f"No such file: {path}.")
        return ModelSource(path.stem, str(path.parent), gguf=path.name, notes=(DEQUANTISED,), folder=path.parent)
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise IsoglossError(f"The folder {path} is not a model: it has no config.json.")
        return ModelSource(path.name, str(path), notes=card_notes(path), folder=path)
    if name.startswith((".", "/", "~")) or plain.count("/") > 1:
        raise IsoglossError(f"No such model folder: {path}.")
    return ModelSource(name, plain, revision or None)


def fetch_source(name: str, loading: Loading = DEFAULT_LOADING, *, weights: bool = True) -> ModelSource:
    """Where the model of that name is on this disk; a hub model is downloaded, with its weights if they are needed."""
    source = find_source(name, loading)
    if source.folder is None and source.family is None:
        pickle, offline = loading.allow_pickle, loading.offline
        with _quiet(require("transformers", extra="hf")):
            folder = hub.fetch_snapshot(source.source, source.revision, weights=weights, pickle=pickle, offline=offline)
        source = replace(source, folder=folder, commit=folder.name)
    return source


def find_family(name: str, loading: Loading = DEFAULT_LOADING) -> str:
    """The family of the model of that name, by the name or its configuration alone; no weight is loaded."""
    return _recognise(fetch_source(name, replace(loading, allow_pickle=False), weights=False))[0]


def _recognise(source: ModelSource) -> tuple[str, Any]:
    """A model's family, and its configuration in transformers unless the family opens models by itself."""
    if source.family is not None:
        return source.family, None
    if not source.gguf:
        facts.check_layers(facts.read_config(_folder(source)), source.name)
    family = None if source.gguf else facts.family_without_transformers(facts.read_config(_folder(source)))
    if family is not None and registry.get("family", family).load is not None:
        return family, None
    transformers = require("transformers", extra="hf")
    with _quiet(transformers):
        config = _load(source, transformers.AutoConfig)
    return family or facts.family_of(config.to_dict(), source.name), config


def open_counter(name: str) -> Callable[[str], int]:
    """A function that counts a text's tokens, special tokens apart, with the tokenizer of that model; no weight is loaded."""
    tokenizer, _ = open_tokenizer(name)
    return lambda text: len(tokenizer.encode(" " + text, add_special_tokens=False))


def open_tokenizer(name: str, loading: Loading = DEFAULT_LOADING, *, download: bool = True) -> tuple[Any, int | None]:
    """The tokenizer of the model of that name, and the start token by the model's configuration; no weight is loaded.

    Without `download`, the model must be on this disk.
    """
    transformers = require("transformers", extra="hf")
    offline = loading.offline or not download
    source = fetch_source(name, replace(loading, offline=offline, served_model=""), weights=False)
    with _quiet(transformers):
        tokenizer = _load(source, transformers.AutoTokenizer)
    if len(tokenizer) <= len(tokenizer.all_special_tokens):  # transformers makes an empty one where files are missing
        raise IsoglossError(f"'{name}' has no tokenizer that can be read. Download it again.")
    config = {} if source.gguf else facts.read_config(_folder(source))
    start = config.get("text_config", config).get("bos_token_id")
    return tokenizer, start if isinstance(start, int) else None


def refuse_unopened(name: str, loading: Loading, *, options: Mapping[str, str]) -> str | None:
    """A sentence when a model's files show that it cannot answer prompts; no weight is loaded."""
    if find_source(name, loading).family is not None:
        return None
    source = fetch_source(name, replace(loading, allow_pickle=False), weights=False)
    family = registry.get("family", _recognise(source)[0])
    return None if source.gguf else family.refuse_files(_folder(source), name=source.name, options=options)


def open_model(name: str, loading: Loading = DEFAULT_LOADING) -> Model:
    """The model of that name, ready to answer questions."""
    source = find_source(name, loading)
    if source.family is not None:
        return _open_claimed(source, loading)
    dtype, allow_pickle = loading.dtype, loading.allow_pickle
    device = "cpu" if loading.device_map else find_device(loading.device)
    if loading.device_map:
        check_map(loading.device_map)
    if dtype not in DTYPES:
        raise IsoglossError(f"No dtype named '{dtype}'. Known: {', '.join(DTYPES)}.")
    _check_device(device)
    remarks = prepare(dtype, device=device)
    source = fetch_source(name, loading)
    family, config = _recognise(source)
    if not source.gguf and not loading.device_map:
        check_memory(source.name, _folder(source), device=device, dtype=dtype)
    if config is None:
        return _open_own(source, family, device=device, dtype=dtype)
    torch, transformers = require("torch", extra="hf"), require("transformers", extra="hf")
    with _quiet(transformers):
        tokenizer = _load(source, transformers.AutoTokenizer)
        files = _weight_files(source, config, pickle=allow_pickle)
        states = facts.file_states(_folder(source), files)
        options: dict[str, Any] = {"use_safetensors": None if allow_pickle else True}
        if source.gguf:
            options = {"quantization_config": transformers.GgufConfig(dequantize=True)}
        if loading.device_map:
            options["device_map"] = loading.device_map
        loader, dtype_of_torch = _loader(family, config), getattr(torch, dtype)
        net, report = _load(source, loader, output_loading_info=True, dtype=dtype_of_torch, **options)
    missing = set(report["missing_keys"])
    _refuse_incomplete(source, net, tokenizer=tokenizer, missing=missing)
    _refuse_left_out_layers(source, net, unexpected=report["unexpected_keys"])
    known = _facts(source, net, tokenizer=tokenizer, missing=missing)
    hashed = facts.hash_weights(_folder(source), states, name=source.name, config=not source.gguf)
    known = replace(known, weights=hashed.sha256, dtype=dtype, notes=(*known.notes, *remarks))
    device = first_device(source.name, net) if loading.device_map else device
    model = wrap(net, tokenizer, info=known, device=device)
    model.state["files"] = hashed
    pair_format = pair_format_of(net.config)
    if pair_format is not None:
        pooled, path = pair_format.form == POOLED, _folder(source) / WEIGHTS
        attach(model, pair_format, head=read_head_weights(path, name=source.name) if pooled else None)
    return model


def _open_claimed(source: ModelSource, loading: Loading) -> Model:
    """A model that the family which claims its name opens by itself."""
    family = registry.get("family", str(source.family))
    if family.open is None:
        raise IsoglossError(f"The family '{source.family}' claims the name '{source.name}', but cannot open it.")
    model: Model = family.open(source, loading)
    return model


def _open_own(source: ModelSource, name: str, *, device: str, dtype: str) -> Model:
    """A model that its family loads by itself; every file in its folder counts as weights."""
    folder, family = _folder(source), registry.get("family", name)
    config = facts.read_config(folder)
    try:
        net, tokenizer = family.load(folder, device=device, dtype=dtype)
    except IsoglossError:
        raise
    except Exception as error:
        raise IsoglossError(
            f"'{source.name}' cannot be opened by the family '{name}': {short_message(error)}"
        ) from error
    files = [path.name for path in folder.iterdir() if path.is_file() and path.name != facts.CARD]
    weights = facts.hash_files(folder, files)
    info = replace(
        _source_facts(source, name, model_type=str(config.get("model_type", name))),
        vocabulary=int(config.get("vocab_size", 0)),
        max_length=config.get("max_position_embeddings"),
        heads=("lm",),
        weights=weights,
        tokenizer=weights,
        dtype=dtype,
    )
    model = Model(info, net, tokenizer, family, device)
    family.prepare(model)
    return model


def has_weights(name: str, loading: Loading = DEFAULT_LOADING) -> bool:
    """Whether the weights of the model of that name are on this disk; one that a family claims has none."""
    source = find_source(name, loading)
    if source.family is not None:
        return False
    cached = None if source.folder else hub.find_cached(source.source, source.revision)
    return bool(source.folder or (cached and facts.stored_weights(cached, pickle=True)))


def open_outline(name: str, loading: Loading = DEFAULT_LOADING) -> Model:
    """The model of that name without its weights: it can be asked nothing, but its questions can be made and counted.

    No key is needed for that.
    """
    source = fetch_source(name, replace(loading, allow_pickle=False), weights=False)
    family, config = _recognise(source)
    if config is None:
        return replace(open_model(name, replace(loading, key_env=None)), device="meta")
    torch, transformers = require("torch", extra="hf"), require("transformers", extra="hf")
    with _quiet(transformers), torch.device("meta"):
        tokenizer = _load(source, transformers.AutoTokenizer)
        net = _loader(family, config).from_config(config)
    known = _facts(source, net, tokenizer=tokenizer, missing=set())
    model = Model(known, net, tokenizer, registry.get("family", family), "meta", {"packed": True, "window": math.inf})
    pair_format = pair_format_of(config)
    if pair_format:
        attach(model, pair_format, head=None)
    return model


def _weight_files(source: ModelSource, config: Any, *, pickle: bool) -> list[str]:
    """The files that make up the model's weights, its trained next-sentence head included; none is refused."""
    if source.gguf:
        return [source.gguf]
    if (_folder(source) / "adapter_config.json").is_file():
        raise IsoglossError(f"'{source.name}' comes with an adapter. Merge the adapter into the weights first.")
    files = facts.stored_weights(_folder(source), pickle=pickle)
    if not files:
        raise IsoglossError(INCOMPLETE.format(source.name))
    head = (_folder(source) / WEIGHTS).is_file() and pair_format_of(config) is not None
    return [*files, WEIGHTS] if head else files


def _refuse_incomplete(source: ModelSource, net: Any, *, tokenizer: Any, missing: set[str]) -> None:
    """transformers fills what a download lacks with random weights and empty vocabularies; we do not score those."""
    inside = (f"{net.base_model_prefix}.", "encoder.", "decoder.", "shared.")  # all but heads and poolers
    lacking = sorted(key for key in missing if key.startswith(inside) and "pooler" not in key)
    if lacking:
        raise IsoglossError(
            f"'{source.name}' lacks {len(lacking)} of its weights, such as '{lacking[0]}'. Download it again."
        )
    size = net.config.get_text_config().vocab_size
    rows = net.get_input_embeddings().weight.shape[0]
    special = {number for number, token in tokenizer.added_tokens_decoder.items() if token.special}
    of_text = set(tokenizer.get_vocab().values()) - special  # special tokens may lie beyond a model's embedding
    if len(tokenizer) < size / 2 or max(of_text, default=-1) >= rows:
        raise IsoglossError(
            f"'{source.name}' has no tokenizer that fits: it knows {len(tokenizer)} tokens, the model {size}. "
            "Download it again."
        )


def _refuse_left_out_layers(source: ModelSource, net: Any, *, unexpected: Iterable[str]) -> None:
    """transformers ignores layers that a configuration leaves out; we do not score a part of a model."""
    layers = facts.left_out_layers(net, unexpected)
    if layers:
        raise IsoglossError(
            f"'{source.name}' has {len(layers)} weights of layers that its config.json leaves out, such as "
            f"'{layers[0]}'. Correct config.json, or download the model again."
        )


def wrap(net: Any, tokenizer: Any, *, info: ModelInfo, device: str = "cpu") -> Model:
    """An open model around a network and a tokenizer that are already in memory; one on several devices stays there."""
    placed = net.eval() if hasattr(net, "hf_device_map") else net.eval().to(device)
    model = Model(info, placed, tokenizer, registry.get("family", info.family), device)
    model.family.prepare(model)
    return model


def describe(net: Any, tokenizer: Any, *, name: str) -> ModelInfo:
    """What is known about a network and a tokenizer in memory."""
    known = _facts(ModelSource(name, ""), net, tokenizer=tokenizer, missing=set())
    return replace(known, weights=facts.hash_network(net), dtype=str(net.dtype).removeprefix("torch."))


def _facts(source: ModelSource, net: Any, *, tokenizer: Any, missing: set[str]) -> ModelInfo:
    """What is known about a model, but for the hash of its weights."""
    heads, untrained = facts.heads_of(net, missing)
    family = facts.family_of(net.config.to_dict(), source.name)
    notes, pair_format = source.notes, pair_format_of(net.config)
    if getattr(net.config, "auto_map", None):
        notes += (OWN_CODE,)
    if pair_format:
        accuracy = f" (accuracy {pair_format.accuracy:.1%} on unseen articles)" if pair_format.accuracy else ""
        notes += (TRAINED + accuracy,)
    return replace(
        _source_facts(source, family, model_type=net.config.model_type),
        vocabulary=net.config.get_text_config().vocab_size,
        parameters=sum(tensor.numel() for tensor in net.parameters()),
        max_length=facts.max_length(net),
        heads=heads,
        untrained=untrained,
        tokenizer=facts.hash_tokenizer(tokenizer),
        notes=notes,
    )


def _source_facts(source: ModelSource, family: str, *, model_type: str) -> ModelInfo:
    """What is known about a model by where it comes from."""
    return ModelInfo(
        source.name,
        family,
        model_type,
        revision=source.revision,
        commit=source.commit,
        source=source.source or None,
        notes=source.notes,
        **facts.card_facts(source.folder),
    )


def _folder(source: ModelSource) -> Path:
    if source.folder is None:
        raise IsoglossError(f"'{source.name}' has no folder.")
    return source.folder


def _loader(family: str, config: Any) -> Any:
    """The class of transformers that loads a model of the family."""
    return getattr(require("transformers", extra="hf"), registry.get("family", family).loader(config.to_dict()))


def _load(source: ModelSource, loader: Any, **options: Any) -> Any:
    """What the loader gives; its many errors become one sentence."""
    try:
        if loader.__name__ == "AutoTokenizer":
            check_patterns(source.folder, source.name)
        extra = {"gguf_file": source.gguf} if source.gguf else {}
        safe = {"trust_remote_code": False, "local_files_only": True}
        with naming_panics():
            return loader.from_pretrained(str(source.folder), **safe, **extra, **options)
    except IsoglossError:
        raise
    except Exception as error:
        raise IsoglossError(_load_error_message(source, error, loader=loader.__name__)) from error


def _load_error_message(source: ModelSource, error: Exception, *, loader: str) -> str:
    message = str(error).strip()
    low = message.lower()
    where = f"'{source.name}'"
    absent = "safetensors" in low and any(words in low for words in ("does not appear", "no file named", "not found"))
    if absent or type(error).__name__ == "SafetensorError":
        return INCOMPLETE.format(source.name)
    if "ignore_mismatched_sizes" in low:
        return f"{where} has weights of other sizes than its config.json says. Download it again."
    if "not a valid json file" in low:
        return f"{where} has a broken config.json. Download it again."
    if "trust_remote_code" in low or "custom code" in low:
        return f"{where} needs its own code, which Isogloss never runs. Choose a model that transformers supports."
    if loader == "AutoTokenizer":
        return f"{where} has no tokenizer that can be read. Download it again."
    first = message.splitlines()[0] if message else "no reason given"
    return f"{where} cannot be opened: {first[:300]}"


def _check_device(device: str) -> None:
    """Refuse a device that is not there by using it once; torch has many errors for that."""
    kind = device.partition(":")[0]
    if kind not in DEVICES:
        raise IsoglossError(f"No device named '{device}'. Known: auto, cpu, cuda, cuda:0, mps.")
    if device == "cpu":
        return
    try:
        require("torch", extra="hf").zeros(1, device=device).item()
    except Exception as error:
        raise IsoglossError(f"There is no '{device}' on this machine. Use `device='cpu'`.") from error


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """While this is open, transformers and the hub's library do not talk."""
    own, library = transformers.utils.logging, logging.getLogger("huggingface_hub")
    before = own.get_verbosity(), library.level
    own.set_verbosity_error()
    own.disable_progress_bar()
    library.setLevel(logging.ERROR)
    try:
        yield
    finally:
        own.set_verbosity(before[0])
        library.setLevel(before[1])
