"""The cache of translations: JSON lines that are only ever added to, so that work goes on where it stopped."""

import json
from collections.abc import Mapping
from pathlib import Path

from ..sealing import append_lines, make_folder
from .translators import LanguagePair, Opened


def read_cache(path: Path, opened: Opened, *, pair: LanguagePair) -> dict[str, str]:
    """What this translator gave for these languages, by the text that was sent; a torn last line is passed over."""
    if not path.exists():
        return {}
    known = {}
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            row = json.loads(line)
            if (row["translator"], row["from"], row["to"]) == (opened.name, pair.source, pair.target):
                known[str(row["text"])] = str(row["translation"])
        except (ValueError, KeyError, TypeError):
            continue
    return known


def append_cache(path: Path, found: Mapping[str, str], *, opened: Opened, pair: LanguagePair) -> None:
    """Add translations to the cache, in one write."""
    head = {"translator": opened.name, "from": pair.source, "to": pair.target}
    rows = (head | {"text": text, "translation": translation} for text, translation in found.items())
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    make_folder(path.parent)
    append_lines(path, lines)
