"""The card of a trained head: data, settings, accuracy, hours, energy; as JSON and as a README."""

import json
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
import yaml

from ..files.layout import write_atomically
from ..models.next_sentence import LABEL
from .evaluation import Accuracy
from .heads import TrainableModel
from .settings import Footprint, TrainingSettings

CARD = "card.json"
LIBRARIES = ("isogloss", "torch", "transformers", "accelerate", "peft", "tokenizers")


def energy(hours: float, *, device: str, processes: int, footprint: Footprint) -> dict[str, float | str]:
    """Kilowatt-hours and grams of CO2, estimated from hours and assumed watts, and what was assumed."""
    if device.startswith("cpu"):
        count, watts, unit = torch.get_num_threads() * processes, footprint.core_watts, "processor core"
    else:
        count, watts, unit = processes, footprint.device_watts, "accelerator"
    used = hours * count * watts / 1000
    return {
        "kwh": round(used, 4),
        "co2_grams": round(used * footprint.grams, 1),
        "assumption": f"{watts:g} W for each of {count} {unit}{'s' if count > 1 else ''}, {footprint.grams:g} g of CO2 for a kWh; not measured",
    }


def write_card(
    out: Path,
    *,
    trainable: TrainableModel,
    settings: TrainingSettings,
    facts: dict[str, Any],
    accuracy: Accuracy | None,
) -> dict[str, Any]:
    """The card, written last of all: a folder with it is finished."""
    info = trainable.model.info
    hours = facts["seconds"] / 3600
    data = facts["data"]
    spent = energy(hours, device=facts["device"], processes=facts["mark"]["processes"], footprint=settings.footprint)
    card: dict[str, Any] = {
        "base": {"name": info.name, "type": info.model_type, "family": info.family, "weights": info.weights},
        "form": asdict(trainable.reading),
        "languages": data["languages"],
        "data": {
            "hash": data["hash"],
            "splits": data["splits"],
            "sources": [source["place"] for source in data["sources"]],
        },
        "settings": {name: value for name, value in asdict(settings).items() if name != "report_to"},
        "accuracy": asdict(accuracy) if accuracy else None,
        **{key: value for key, value in facts.items() if key not in ("seconds", "data")},
        "hours": round(hours, 4),
        "energy": spent,
        "versions": {name: version(name) for name in LIBRARIES},
    }
    head = {"language": list(info.languages) or data["languages"], "base_model": info.name}
    head |= {"license": info.licence} if info.licence else {}
    front = yaml.safe_dump(head, allow_unicode=True, sort_keys=False)
    write_atomically(out / "README.md", f"---\n{front}---\n{card_as_text(card)}")
    write_atomically(out / CARD, json.dumps(card, ensure_ascii=False, indent=1))
    return card


def card_as_text(card: dict[str, Any]) -> str:
    """The card for people."""
    settings, splits = card["settings"], card["data"]["splits"]
    accuracy = card["accuracy"]
    accuracy_text = str(Accuracy(**accuracy)) if accuracy else "not tested"
    tested = f" on {accuracy['n']:,} pairs of {accuracy['articles']:,} unseen articles" if accuracy else ""
    rates, lora = settings["rates"], settings["lora"]
    core = f"LoRA of rank {lora['rank']} in {lora['layers'] or 'all'} layers" if lora else "the whole network"
    core += "" if card["form"]["form"] == LABEL else " and the head"
    lines = [
        f"# {card['base']['name']} with a next-sentence head",
        "",
        f"* Accuracy: {accuracy_text}{tested}; half of the pairs are true, so the chance level is 50 %.",
        f"* Base: {card['base']['name']} ({card['base']['type']}); trained: {core}, "
        f"{card['trained_parameters']:,} parameters.",
        f"* Data: {splits['train']['pairs']:,} training pairs in {', '.join(card['languages'])} from "
        f"{sum(splits['train']['articles'].values()):,} articles; {card['examples']:,} were read in {card['steps']:,} steps.",
        f"* Steps of {settings['batch']} × {settings['accumulation']} pairs, at most {settings['max_length']} tokens; "
        f"{settings.get('optimizer', 'adamw').replace('adamw', 'AdamW').replace('adaf', 'Adaf')} with learning rates {rates['core']:g} (core) and {rates['head']:g} (head), {rates['schedule']}; seed {settings['seed']}.",
        f"* {card['hours']:.2f} hours of training on {card['device']} ({card['precision']}); about {card['energy']['kwh']:g} kWh and "
        f"{card['energy']['co2_grams']:g} g of CO2 ({card['energy']['assumption']}).",
        "* Made with `isogloss nsp train`; `isogloss eval --method nsp` reads it.",
    ]
    return "\n".join(lines) + "\n"
