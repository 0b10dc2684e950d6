"""Bars in a terminal: labels, shares, and a line of blocks for each."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

BLOCKS = " ▏▎▍▌▋▊▉█"


def bars_as_text(rows: Sequence[tuple[str, float, str]], *, width: int = 40) -> str:
    """One line per row: its label, a bar as long as its share of the whole, the share in per cent, a remark."""
    wide = max((columns(label) for label, _, _ in rows), default=0)
    lines = []
    for label, share, remark in rows:
        pad = " " * (wide - columns(label))
        lines.append(f"{label}{pad}  {_bar(share, width)}  {100 * share:5.1f} %  {remark}".rstrip())
    return "\n".join(lines)


def _bar(share: float, width: int) -> str:
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (BLOCKS[rest] if rest else "")).ljust(width)


def columns(text: str) -> int:
    """How many columns a terminal gives a text."""
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(unicodedata.category(sign) in ("Mn", "Me", "Cf") for sign in text)
