"""The weights: from the hub where it answers, from packages otherwise; and the copies with a recovered next-sentence head."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from safetensors.torch import load_file, save_file

from isogloss.models.packaged import RECOVERED, pulled_folder

HEADS = Path(__file__).parent / "heads"


def attach_recovered_head(name: str, folder: Path, say: Callable[[str], None] = print) -> Path:
    """A copy of a pulled model with the next-sentence head that was recovered for it from published scores."""
    target = folder / f"{name}-recovered-head"
    if (target / "README.md").is_file():
        return target
    source = pulled_folder(name)
    say(f"Adding the recovered next-sentence head to a copy of {name} …")
    target.mkdir(parents=True, exist_ok=True)
    for file in source.iterdir():
        if file.suffix != ".safetensors" and file.name not in ("config.json", "README.md"):
            shutil.copy(file, target / file.name)
    weights = load_file(source / "model.safetensors") | load_file(HEADS / f"{name}.safetensors")
    save_file(weights, target / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    config["architectures"] = ["BertForPreTraining"]
    (target / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    card = (source / "README.md").read_text(encoding="utf-8").rstrip()
    (target / "README.md").write_text(f"{card}\n\n{RECOVERED}.\n", encoding="utf-8")
    return target
