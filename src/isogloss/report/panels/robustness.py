"""Robustness: the same items under all methods, dtypes and batch sizes; does the sign survive?"""

from __future__ import annotations

from ...analysis.trials import Card, Trial
from ..cards import SAID
from ..findings import Findings
from ..fragments import Panel, language_name, panel


def draw(found: Findings) -> Panel | None:
    """One table for each card that was brought along."""
    tables = [_table(card) for card in found.extras.cards]
    return panel("robustness", "Robustness", tables=tables) if tables else None


def _table(card: Card) -> dict[str, object]:
    name = f"{card.model}, {language_name(card.language)}, {card.dataset}, {card.task}"
    return {"name": name, "rows": [_row(one) for one in card.trials], "said": SAID[card.sign]}


def _row(one: Trial) -> list[str]:
    ends = "" if one.low is None or one.high is None else f" [{one.low:.2f}, {one.high:.2f}]"
    return [
        one.setting,
        one.kind,
        f"- ({one.why})" if one.value is None else f"{one.value:.2f}{ends}",
        "-" if one.flips is None else f"{one.flips} ({100 * one.flips / max(one.n, 1):.1f} %)",
        "-" if one.rank is None else f"{one.rank:.2f}",
        str(one.n),
    ]
