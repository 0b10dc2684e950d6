"""The robustness card of a model as text for a terminal."""

from __future__ import annotations

from ..analysis.trials import Card, Trial
from .drawing import Grid, as_text

SAID = {
    "same": "The sign survives: all settings lie on the same side of 50.",
    "different": "The sign does not survive: some settings lie above 50 and others below, each beyond its interval.",
    "unclear": "Whether the sign survives cannot be said: at least one setting cannot be told from 50.",
}


def card_as_text(card: Card) -> str:
    """All trials, what they say about the sign, and which methods rank the items alike."""
    title = f"{card.model} · {card.dataset} · {card.language} · {card.task}"
    rows = [
        [
            one.setting,
            one.kind,
            _value(one),
            "-" if one.flips is None else f"{one.flips} ({100 * one.flips / max(one.n, 1):.1f} %)",
            "-" if one.rank is None else f"{one.rank:.2f}",
            "-" if one.noise is None else f"{one.noise:.2g}",
            "-" if one.below is None else str(one.below),
            str(one.n),
        ]
        for one in card.trials
    ]
    whys = tuple(dict.fromkeys(f"{one.setting}: {one.why}" for one in card.trials if one.why))
    heading = ["setting", "changes", "SS", "items that flip", "rank", "noise", "below noise", "n"]
    lines = [as_text(Grid(heading, rows, 2, whys), title=title), "", SAID[card.sign]]
    if card.below:
        lines.append(
            f"{len(card.below)} items lie below the noise floor, such as '{card.below[0]}': "
            "their preference may be an accident of arithmetic."
        )
    pairs = [
        [f"{a} - {b}", "-" if rho is None else f"{rho:.2f}", "-" if kappa is None else f"{kappa:.2f}"]
        for a, b, rho, kappa in card.agreement
    ]
    if pairs:
        lines += ["", as_text(Grid(["methods", "rank correlation", "kappa"], pairs, 1))]
    return "\n".join(lines)


def _value(one: Trial) -> str:
    if one.value is None:
        return "-"
    return (
        f"{one.value:.2f}"
        if one.low is None or one.high is None
        else f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}]"
    )
