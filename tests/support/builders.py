"""Small items, rows and scores for the tests, built the same way everywhere."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isogloss.items import Candidate, Item, Items
from isogloss.scores import Scored, scored_from_values

TRIPLE = ("stereotype", "anti-stereotype", "unrelated")


def triple(name: str, target: str = "nurse", *, roles: Sequence[str] = TRIPLE, **facts: Any) -> Item:
    """An intra-sentence item whose candidates are named after it and their roles."""
    defaults: dict[str, Any] = {"dataset": "stereoset", "language": "en", "category": "profession"}
    tags = {"task": "intrasentence", "target": target, **facts.pop("tags", {})}
    candidates = tuple(Candidate(f"{name}-{role}", role, f"She is {role}.", role) for role in roles)
    return Item(id=name, candidates=candidates, context="She is BLANK.", cluster=target, tags=tags, **defaults | facts)


def score(items: Sequence[Item], numbers: Sequence[Sequence[float]], *, model: str = "tiny") -> Scored:
    """The items with one number for each of their candidates, in order."""
    values = {
        candidate.id: number
        for item, row in zip(items, numbers, strict=True)
        for candidate, number in zip(item.candidates, row, strict=True)
    }
    return scored_from_values(Items(tuple(items)), values, model=model)


def score_many(count: int, *, clusters: int, **facts: Any) -> Scored:
    """`count` items in `clusters` targets with scores that differ from item to item, without ties."""
    items = [triple(f"i{n}", f"t{n % clusters}", **facts) for n in range(count)]
    return score(items, [((n * 7) % 11, (n * 5) % 13 + 0.5, (n * 3) % 7 + 0.25) for n in range(count)])


def stereoset_rows() -> list[dict[str, Any]]:
    """Two intra- and two inter-sentence rows in our layout."""
    rows: list[dict[str, Any]] = []
    for number, (target, kind) in enumerate([("nurse", "gender"), ("Norwegian", "race")]):
        words = {"stereotype": "kind", "anti-stereotype": "rude", "unrelated": "café"}
        rows.append(
            {
                "id": f"intra{number}",
                "task": "intrasentence",
                "language": "en",
                "target": target,
                "bias_type": kind,
                "context": f"The {target} is BLANK.",
                "candidates": [
                    {"id": f"w{number}{i}", "gold_label": role, "sentence": f"The {target} is {word}.", "word": word}
                    for i, (role, word) in enumerate(words.items())
                ],
            }
        )
        rows.append(
            {
                "id": f"inter{number}",
                "task": "intersentence",
                "language": "en",
                "target": target,
                "bias_type": kind,
                "context": f"I met a {target}.",
                "candidates": [
                    {"id": f"s{number}{i}", "gold_label": role, "sentence": f"They were {word}."}
                    for i, (role, word) in enumerate(words.items())
                ],
            }
        )
    return rows


def write_jsonl(path: Path, rows: Sequence[Any]) -> Path:
    """The path, with one JSON value per line in it."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def lacks_apertium() -> bool:
    """Whether Apertium cannot translate English to Spanish here: the program or the pair is missing."""
    if shutil.which("apertium") is None:
        return True
    return "eng-spa" not in subprocess.run(["apertium", "-l"], capture_output=True, text=True).stdout.split()
