"""The counts of built data, for people."""

from __future__ import annotations

from typing import Any


def counts_as_text(card: dict[str, Any]) -> str:
    """How many articles were read and kept, and how many pairs each split got."""
    counts = card["articles"]
    left = ", ".join(f"{counts[name]:,} {name}" for name in ("one sentence", "repeated", "empty") if counts[name])
    lines = [
        f"{counts['read']:,} articles read, {counts['kept']:,} kept" + (f" (left out: {left})" if left else ""),
        f"{card['sentences']:,} sentences in {', '.join(card['languages'])}",
    ]
    for split, facts in card["splits"].items():
        articles = ", ".join(f"{tag} {count:,}" for tag, count in facts["articles"].items())
        lines.append(
            f"{split:10} {facts['pairs']:>10,} pairs, {facts['positive']:,} of them true, articles: {articles or 'none'}"
        )
    return "\n".join(lines)
