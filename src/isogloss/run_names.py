"""What a run is called: the hash of everything that its scores depend on, and its folder's name."""

import hashlib
import json
import re
from typing import Any


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
