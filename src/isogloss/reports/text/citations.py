"""Citations: the papers behind a run's data, method and metrics, as text and as BibTeX."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ... import __version__, registry, runs
from ...analysis.measures import fitting_metrics
from ...errors import IsoglossError

BIBLIOGRAPHY = Path(__file__).parent.parent.parent / "data" / "citations.bib"
OURS = f"""@software{{isogloss,
  author = {{{{The Isogloss authors}}}},
  title = {{Isogloss: measuring stereotypes in language models across languages}},
  version = {{{__version__}}}
}}"""


@dataclass(frozen=True, slots=True)
class Citation:
    """What one plug-in asks to be cited, and the BibTeX of the papers that it names."""

    kind: str
    name: str
    text: str
    entries: tuple[str, ...] = ()


def cite_runs(runs: Sequence[runs.Run]) -> list[Citation]:
    """What to cite for runs: their data sets, their methods, and the metrics that fit their scores."""
    citations: dict[tuple[str, str], Citation] = {}
    for kind, name in (pair for run in runs for pair in _plugins(run)):
        try:
            known = registry.get(kind, name)
        except IsoglossError:  # data of the user's own, or scores that were made elsewhere
            continue
        citations[kind, name] = Citation(kind, name, known.citation, tuple(entries_of(known.citation)))
    order = ["dataset", "method", "metric"]
    return sorted(citations.values(), key=lambda citation: order.index(citation.kind))


def _plugins(run: runs.Run) -> Iterator[tuple[str, str]]:
    yield "dataset", str(run.info["dataset"])
    yield "method", str(run.info["fingerprint"].get("method", run.info["method"]))
    if runs.written_parts(run):
        try:
            yield from (("metric", name) for name in fitting_metrics(runs.read_scored([run]).table))
        except IsoglossError:  # no metric is for these items
            return


def entries_of(text: str) -> list[str]:
    """The BibTeX entries of the papers that a citation names by authors and year."""
    return [entry for words, entry in _bibliography().items() if any(word in text for word in words.split("; "))]


@cache
def _bibliography() -> dict[str, str]:
    """Entries by the words under which they are cited."""
    text = BIBLIOGRAPHY.read_text(encoding="utf-8")
    entries = {}
    for match in re.finditer(r"^@.*?^}", text, flags=re.MULTILINE | re.DOTALL):
        words = re.search(r",\n  cited = {(.*)}\n", match[0])
        if words is None:
            raise IsoglossError(f"{BIBLIOGRAPHY} has an entry without 'cited'.")
        entries[words[1]] = match[0].replace(words[0], "\n")
    return entries


def citations_as_text(citations: Sequence[Citation]) -> str:
    """A line for each plug-in, then the BibTeX of all papers, each once, and of Isogloss."""
    titles = {"dataset": "Data", "method": "Method", "metric": "Metric"}
    lines = [f"{titles[citation.kind]:7} {citation.name}: {citation.text}" for citation in citations]
    entries = dict.fromkeys(entry for citation in citations for entry in citation.entries)
    return "\n".join([*lines, f"{'Tool':7} Isogloss {__version__}", "", "\n\n".join([*entries, OURS])])


def citations_as_json(citations: Sequence[Citation]) -> dict[str, Any]:
    """The same for machines."""
    cited = [{"kind": citation.kind, "name": citation.name, "citation": citation.text} for citation in citations]
    entries = dict.fromkeys(entry for citation in citations for entry in citation.entries)
    return {"cited": cited, "bibtex": [*entries, OURS]}
