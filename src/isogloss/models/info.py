"""What kind of model is this? Its family from its configuration, its facts from its card and its weights."""

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .. import registry
from ..errors import IsoglossError
from .next_sentence import pair_format_of

MASKED_LM, CAUSAL_LM, SEQ2SEQ_LM = "AutoModelForMaskedLM", "AutoModelForCausalLM", "AutoModelForSeq2SeqLM"
LIBRARIES = ("torch", "transformers", "tokenizers")  # what the scores of a model on this machine depend on
CARD = "README.md"
CARD_LETTERS, FIELD_LETTERS = 1_000_000, 5_000
SAFE = ("model.safetensors", "model.safetensors.index.json")
PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")
CHANGED = "The weights of '{}' in {} changed while they were in use. Run the same command again."
MOST_LAYERS = 2_000  # the deepest published Transformer has 1,000
NOT_CUTTING = ("_file", "_path", "_dir", "chat_template", "verbose")  # ends of names that say where, not how
NOT_SCORES = ("_name_or_path", "transformers_version", "dtype", "torch_dtype")


def family_of(config: Mapping[str, Any], name: str) -> str:
    """The family that recognises a configuration; those of other packages are asked first."""
    families, built_in = registry.names("family"), registry.built_in("family")
    for family in sorted(families, key=lambda family: family in built_in):
        if registry.get("family", family).matches(config):
            return family
    scoring = [family for family in families if registry.get("family", family).bundle is not None]
    raise IsoglossError(
        f"'{name}' is a '{config.get('model_type')}' model, which belongs to no family that Isogloss can score: "
        f"{', '.join(scoring)}."
    )


def auto_class(config: Mapping[str, Any]) -> str | None:
    """The class of transformers that loads a language model with this configuration; none for what is not one."""
    from transformers.models.auto import modeling_auto as auto

    kind = config.get("model_type")
    if config.get("is_encoder_decoder") and kind in auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES:
        return SEQ2SEQ_LM
    masked = kind in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    architectures = config.get("architectures")
    named = isinstance(architectures, list | tuple) and "CausalLM" in " ".join(map(str, architectures))
    decoder = named or bool(config.get("is_decoder"))
    if kind in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and (decoder or not masked):
        return CAUSAL_LM
    return MASKED_LM if masked else None


def family_without_transformers(config: Mapping[str, Any]) -> str | None:
    """The family that recognises a configuration by itself: one of another package, or one that loads its own models."""
    built_in = registry.built_in("family")
    own = [name for name, family in registry.load_present("family").items() if name not in built_in or family.load]
    return next((name for name in own if registry.get("family", name).matches(config)), None)


def check_layers(config: Mapping[str, Any], name: str) -> None:
    """Refuse a configuration with more layers than any model has, before transformers builds them one by one."""
    for key, value in config.items():
        if isinstance(value, Mapping):
            check_layers(value, name)
        elif "layer" in key and isinstance(value, int) and value > MOST_LAYERS:
            raise IsoglossError(f"'{name}' has {value:,} layers by its config.json ('{key}'). Download it again.")


def card_facts(folder: Path | None) -> dict[str, Any]:
    """Languages and license from the front matter of the model's README.md, where there is one that can be read."""
    if folder is None or not (folder / CARD).is_file():
        return {}
    with (folder / CARD).open(encoding="utf-8", errors="replace") as file:
        match = re.match(r"---\n(.*?)\n---", file.read(CARD_LETTERS), re.DOTALL)
    front = match[1] if match else ""
    licences = _card_words(front, "licen[sc]e")
    return {"languages": _card_words(front, "language"), "licence": ", ".join(licences) or None}


def _card_words(front: str, key: str) -> tuple[str, ...]:
    """The text or the flat list of texts under a key of a card; anything else, as a hostile card may have, is nothing."""
    match = re.search(rf"^{key}:(.*(?:\n[ \t-].*)*)", front, re.MULTILINE)
    block = match[1] if match else ""
    if len(block) > FIELD_LETTERS or sum(map(block.count, "[{")) > 1 or re.search(r"- *-", block):
        return ()
    try:
        value = yaml.load(block, yaml.BaseLoader)  # every scalar is text: 'no' is Norwegian
    except yaml.YAMLError:
        return ()
    words = value if isinstance(value, list) else [value]
    return tuple(word for word in words if isinstance(word, str) and word)


def weights_entry(folder: Path, has: Callable[[str], bool], *, pickle: bool) -> str | None:
    """The file that transformers opens first for a model's weights, an index or the weights themselves; none without any.

    `has` tells whether the model has a file; the configuration in `folder` may name the file of the weights.
    """
    named = read_config(folder).get("transformers_weights")
    choices = (named,) if isinstance(named, str) else SAFE + (PICKLED if pickle else ())
    return next(filter(has, choices), None)


def stored_weights(folder: Path, *, pickle: bool) -> list[str]:
    """The files in a folder that will be loaded as the model's weights; none when one of them is missing."""
    entry = weights_entry(folder, lambda name: (folder / name).is_file(), pickle=pickle)
    files = shards_of(folder, entry) if entry else []
    return files if all((folder / file).is_file() for file in files) else []


def shards_of(folder: Path, entry: str) -> list[str]:
    """The files that hold a model's weights, sorted: those that an index names, in sub-folders too, or the one itself."""
    if not entry.endswith(".index.json"):
        return [entry]
    try:
        return sorted(set(json.loads((folder / entry).read_text(encoding="utf-8"))["weight_map"].values()))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise IsoglossError(f"The model's {entry} cannot be read. Download it again.") from error


def read_config(folder: Path) -> dict[str, Any]:
    """What a model's config.json says."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return config if isinstance(config, dict) else {}


def hash_files(folder: Path, names: Sequence[str], *, config: bool = True) -> str:
    """The SHA-256 of weight files by name, and of what config.json says."""
    digest = hashlib.sha256(_plain_config(read_config(folder)) if config else b"")
    for name in sorted(names):
        digest.update(name.encode())
        with (folder / name).open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def file_states(folder: Path, names: Iterable[str]) -> dict[str, tuple[int, int, int]]:
    """The size, the time of the last change and the inode of files: equal as long as nobody writes to them."""
    facts = {name: (folder / name).stat() for name in names}
    return {name: (fact.st_size, fact.st_mtime_ns, fact.st_ino) for name, fact in facts.items()}


@dataclass(frozen=True)
class WeightFiles:
    """The files of an open model, which are part of its memory while it is used, and their states and hash."""

    folder: Path
    states: dict[str, tuple[int, int, int]]
    sha256: str
    with_config: bool

    def check(self, name: str) -> None:
        """Raise an error if the files of the model called `name` have another content than when it was opened."""
        try:
            same = file_states(self.folder, self.states) == self.states
            same = same or hash_files(self.folder, list(self.states), config=self.with_config) == self.sha256
        except OSError:
            same = False
        if not same:
            raise IsoglossError(CHANGED.format(name, self.folder))


def hash_weights(folder: Path, states: dict[str, tuple[int, int, int]], *, name: str, config: bool) -> WeightFiles:
    """The hash of weights that were just loaded; `states` are those of the files before they were."""
    files = WeightFiles(folder, states, hash_files(folder, list(states), config=config), config)
    if file_states(folder, states) != states:  # what was loaded may not be what was hashed
        raise IsoglossError(CHANGED.format(name, folder))
    return files


def hash_network(net: Any) -> str:
    """The SHA-256 of a network's configuration and weights, for a model that is not on disk."""
    digest = hashlib.sha256(_plain_config(net.config.to_dict()))
    for name, tensor in sorted(net.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().view(-1).float().numpy().tobytes())
    return digest.hexdigest()


def _plain_config(config: dict[str, Any]) -> bytes:
    """A configuration without what says nothing about the scores."""
    kept = {key: value for key, value in config.items() if key not in NOT_SCORES}
    return json.dumps(kept, sort_keys=True, default=str).encode()


def hash_tokenizer(tokenizer: Any) -> str:
    """The SHA-256 of how a tokenizer cuts text."""
    backend: Any = getattr(tokenizer, "backend_tokenizer", None) or getattr(tokenizer, "_tokenizer", None)
    text = backend.to_str() if hasattr(backend, "to_str") else _python_tokenizer(tokenizer)
    special = repr(sorted((str(key), str(value)) for key, value in tokenizer.special_tokens_map.items()))
    return hashlib.sha256((text + special).encode()).hexdigest()


def _python_tokenizer(tokenizer: Any) -> str:
    """What a tokenizer written in Python depends on: its vocabulary, the other files that it saves, and its settings."""
    with tempfile.TemporaryDirectory() as folder:
        with suppress(NotImplementedError):
            tokenizer.save_vocabulary(folder)
        files = [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in Path(folder).iterdir()]
    settings = {
        name: value
        for name, value in vars(tokenizer).items()
        if isinstance(value, str | int | float) and not name.startswith("_") and not name.endswith(NOT_CUTTING)
    }
    return repr((sorted(tokenizer.get_vocab().items()), sorted(files), sorted(settings.items())))


def left_out_layers(net: Any, unexpected: Iterable[str]) -> list[str]:
    """Weights of a file that are like those of a network but for a number: layers that its configuration leaves out.

    Other weights that are not used, such as those of a head for another task, are common and harmless.
    """
    prefix = f"{net.base_model_prefix}."

    def pattern(key: str) -> str:
        return re.sub(r"\d+", "#", key.removeprefix(prefix))

    used = {pattern(key) for key in net.state_dict()}
    return sorted(key for key in unexpected if "#" in pattern(key) and pattern(key) in used)


def max_length(net: Any) -> int | None:
    """How many tokens the model can read at once, or nothing when its positions are relative."""
    config = net.config.get_text_config()
    limit = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
    if config.model_type in ("t5", "mt5", "umt5") or not isinstance(limit, int) or limit <= 0:
        return None
    for name, module in net.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            return int(limit - module.padding_idx - 1)
    return limit


def heads_of(net: Any, missing: set[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The heads that the model has, and those among them whose weights are not in the checkpoint."""
    trained = pair_format_of(net.config) is not None
    heads = ["lm", "nsp"] if trained or hasattr(getattr(net, "cls", None), "seq_relationship") else ["lm"]
    of_pairs = {key for key in missing if "seq_relationship" in key or "pooler" in key}
    lacking = {"lm": bool(missing - of_pairs), "nsp": bool(of_pairs) and not trained}
    return tuple(heads), tuple(head for head in heads if lacking[head])
