"""What kind of model is this? Its family from its configuration, its facts from its card and its weights."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import yaml

from ..errors import IsoglossError
from .next_sentence import reading_of

NSP_TYPES = ("bert", "ernie", "fnet", "megatron-bert", "mobilebert")
WEIGHTS = (".safetensors", ".gguf", ".bin")
NOT_SCORES = ("_name_or_path", "transformers_version", "dtype", "torch_dtype")


def family_of(config: Any, name: str) -> str:
    """masked, causal or seq2seq, by what transformers can load the configuration as."""
    from transformers.models.auto import modeling_auto as auto

    kind = config.model_type
    if config.is_encoder_decoder and kind in auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES:
        return "seq2seq"
    masked = kind in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    causal = kind in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    architectures = " ".join(config.architectures or ())
    if causal and (not masked or "CausalLM" in architectures or getattr(config, "is_decoder", False)):
        return "causal"
    if masked:
        return "masked"
    raise IsoglossError(
        f"'{name}' is a '{kind}' model, which is neither masked, causal nor encoder-decoder. "
        "Isogloss scores language models of these three families."
    )


def card_facts(folder: Path | None) -> dict[str, Any]:
    """Languages and licence from the front matter of the model's README.md, where there is one."""
    card = folder / "README.md" if folder else None
    if card is None or not card.is_file():
        return {}
    match = re.match(r"---\n(.*?)\n---", card.read_text(encoding="utf-8", errors="replace"), re.DOTALL)
    try:
        facts = yaml.safe_load(match[1]) if match else {}
    except yaml.YAMLError:
        return {}
    facts = facts if isinstance(facts, dict) else {}
    languages = facts.get("language") or []
    languages = [languages] if isinstance(languages, str) else languages
    return {"languages": tuple(map(str, languages)), "licence": facts.get("license") or facts.get("licence")}


def hash_files(folder: Path, only: str | None = None) -> str:
    """The SHA-256 of the weight files in a folder (or of one of them), by name, and of what its config.json says."""
    config = folder / "config.json"
    digest = hashlib.sha256(b"" if only else _plain_config(json.loads(config.read_text(encoding="utf-8"))))
    found = [folder / only] if only else sorted(path for path in folder.iterdir() if path.suffix in WEIGHTS)
    for path in found:
        digest.update(path.name.encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


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
    text = backend.to_str() if hasattr(backend, "to_str") else repr(sorted(tokenizer.get_vocab().items()))
    special = repr(sorted((str(key), str(value)) for key, value in tokenizer.special_tokens_map.items()))
    return hashlib.sha256((text + special).encode()).hexdigest()


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


def missing_body(net: Any, missing: set[str]) -> list[str]:
    """The weights that a checkpoint lacks and that no head can do without: all but those of heads and poolers."""
    inside = (f"{net.base_model_prefix}.", "encoder.", "decoder.", "shared.")
    return sorted(key for key in missing if key.startswith(inside) and "pooler" not in key)


def heads_of(net: Any, missing: set[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The heads that the model has, and those among them whose weights are not in the checkpoint."""
    trained = reading_of(net.config) is not None
    heads = ["lm", "nsp"] if trained or hasattr(getattr(net, "cls", None), "seq_relationship") else ["lm"]
    untrained = set()
    for key in missing:
        if "seq_relationship" in key or "pooler" in key:
            untrained |= set() if trained else {"nsp"}
        else:
            untrained.add("lm")
    return tuple(heads), tuple(sorted(untrained & set(heads)))
