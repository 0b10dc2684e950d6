"""Citations: the papers behind a run's data, method and metrics, as text and as BibTeX."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ... import __version__, registry
from ...analysis.measures import fitting_metrics
from ...errors import IsoglossError
from ...runs import Run, read_scored, written_parts

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


def cite_runs(runs: Sequence[Run]) -> list[Citation]:
    """What to cite for runs: their data sets, their methods, and the metrics that fit their scores."""
    named: dict[str, dict[str, None]] = {"dataset": {}, "method": {}, "metric": {}}
    for run in runs:
        named["dataset"][str(run.info["dataset"])] = None
        named["method"][str(run.info["fingerprint"].get("method", run.info["method"]))] = None
        if written_parts(run):
            with suppress(IsoglossError):  # no metric is for these items
                named["metric"] |= dict.fromkeys(fitting_metrics(read_scored([run]).table))
    citations = []
    for kind, name in ((kind, name) for kind, names in named.items() for name in names):
        with suppress(IsoglossError):  # data of the user's own, or scores that were made elsewhere
            text = registry.get(kind, name).citation
            citations.append(Citation(kind, name, text, tuple(entries_of(text))))
    return citations


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
