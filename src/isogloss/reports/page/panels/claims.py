"""Claims: each sentence that was tested with its verdict, and in plain words what the scores say about it."""

from collections import Counter
from typing import Any

from ...text.claims import MEANINGS, ORDER, describe_adjustment, explain_claim, robustness_line
from ..data import PageData
from . import Panel

HEADING = ["Verdict", "Claim", "In words", "Robustness"]


def draw(data: PageData) -> dict[str, Any] | None:
    """All claims of the added files, what their verdicts mean, and how many have each."""
    claims = data.extras.claims
    if not claims:
        return None
    counts = Counter(checked.status for checked in claims)
    rows = [
        [claim.status, claim.sentence or claim.name, explain_claim(claim), robustness_line(claim) or "-"]
        for claim in claims
    ]
    meanings = [f"{counts[name]} {name}: {MEANINGS[name]}." for name in ORDER if counts[name]]
    return {"rows": rows, "heading": HEADING, "meanings": meanings, "adjustment": describe_adjustment(claims)}


panel = Panel("Claims", order=5, draw=draw)
