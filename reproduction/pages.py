"""The pages: tables put between the markers of docs/reproducing.md and docs/findings.md."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from . import findings, tables
from .tables import CASED, UNCASED, Sources

DOCS = Path(__file__).parent.parent / "docs"


def write_pages(sources: Sources, say: Callable[[str], None]) -> None:
    """Fill in every table of both pages from what is scored so far."""
    for name, blocks in (("reproducing", REPRODUCING), ("findings", FINDINGS)):
        path = DOCS / f"{name}.md"
        for block, make in blocks.items():
            say(f"{path.name}: {block} …")
            text = replace_block(path.read_text(encoding="utf-8"), block, make(sources))
            path.write_text(text, encoding="utf-8")


def replace_block(text: str, name: str, content: str) -> str:
    """The page with new content between the markers of a block; a page without them is an error."""
    begin, end = f"<!-- reproduce: {name} -->", "<!-- end -->"
    pattern = re.compile(re.escape(begin) + r"\n.*?" + re.escape(end), re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"the page has no block '{name}'")
    return pattern.sub(lambda _: f"{begin}\n\n{content.strip()}\n\n{end}", text, count=1)


def _map(sources: Sources) -> str:
    caption = findings.draw_map(sources, DOCS / "assets" / "findings-map.svg")
    return f"![The isogloss map of multilingual BERT](assets/findings-map.svg)\n\n{caption}"


REPRODUCING: dict[str, Callable[[Sources], str]] = {
    "intra candidates": tables.intra_table,
    "shift": tables.shift_table,
    "intra": lambda sources: tables.triple_table(sources, "intrasentence"),
    "inter candidates": tables.inter_table,
    "inter": lambda sources: tables.triple_table(sources, "intersentence"),
    "crows": tables.crows_table,
    "sentence methods": tables.sentence_methods_table,
    "templates": tables.templates_table,
    "divergences": tables.divergence_table,
    "top terms": tables.top_table,
    "negation": tables.negation_table,
    "mbe": tables.mbe_table,
}
FINDINGS: dict[str, Callable[[Sources], str]] = {
    "languages": findings.language_table,
    "differences": findings.difference_table,
    "map": _map,
    "small": findings.small_table,
    "small differences": findings.small_difference_table,
    "preferences": findings.preference_table,
    "agreement crows": lambda sources: findings.agreement_table(
        findings.method_gaps(sources, UNCASED, dataset="crows_pairs")
    ),
    "agreement stereoset": lambda sources: findings.agreement_table(
        findings.method_gaps(sources, CASED, dataset="stereoset")
    ),
}
