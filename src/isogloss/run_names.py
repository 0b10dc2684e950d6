"""What a run is called: the hash of everything that its scores depend on, its folder's name, and what must be stated about it."""

import hashlib
import json
import re
from typing import Any

FACTS = {"model": str, "dataset": str, "language": str, "method": str, "parts": int, "fingerprint": dict}
MOST_PARTS = 100_000


def fingerprint(facts: dict[str, Any]) -> str:
    """The SHA-256 of everything that a score depends on."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def slug(name: str) -> str:
    """A name as a folder's name: ASCII letters, digits, dot, hyphen, underscore; with a short hash when that changes it."""
    plain = plain_slug(name)[:80]
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def plain_slug(name: str) -> str:
    """The folder's name without a hash, which two names may share; 0.1.0 had no other."""
    return re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII).strip("._")[:200] or "model"


def wrong_fact(info: dict[str, Any]) -> str | None:
    """The first fact of a `run.json` that is missing or not of its kind."""
    for name, kind in FACTS.items():
        if type(info.get(name)) is not kind:
            return name
    notes, skipped = info.get("notes", []), info.get("skipped", {})
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        return "notes"
    if not isinstance(skipped, dict) or not all(type(count) is int for count in skipped.values()):
        return "skipped"
    for name in ("labels", "facts"):
        if not isinstance(info.get(name, {}), dict):
            return name
    return None if 0 < info["parts"] <= MOST_PARTS else "parts"
