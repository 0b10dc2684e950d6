"""The cache of translations: JSON lines that are only ever added to, so that work goes on where it stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from ..errors import CannotWrite
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
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write((b"\n" if _is_torn(path) else b"") + lines.encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise CannotWrite(path, error) from error


def _is_torn(path: Path) -> bool:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(-1, os.SEEK_END)
        return bool(size) and file.read(1) != b"\n"
