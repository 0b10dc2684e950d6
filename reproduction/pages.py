"""The pages: docs/results/reproducing.md, findings.md and audit.md, and their records in docs/dev, made of the words in reproduction/text and of tables from runs."""

import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from isogloss.errors import IsoglossError
from isogloss.scores import Scored

from . import audit, findings, published, questions, tables
from .tables import CASED, UNCASED, Sources

DOCS = Path(__file__).parent.parent / "docs"
TEXT = Path(__file__).parent / "text"
MARKER = re.compile(r"<!-- reproduce: (.*?) -->")
Block = Callable[[Sources], str]


def write_pages(
    sources: Sources, say: Callable[[str], None], *, stages: Sequence[str], everything: bool = True
) -> None:
    """Write the pages from what is scored so far.

    What belongs to another stage is kept, and so is a table of which nothing is scored; unless everything is asked for,
    what published scores show is kept too.
    """
    for name, blocks in PAGES.items():
        path = DOCS / name
        before = read_blocks(path.read_text(encoding="utf-8")) if path.is_file() else {}
        contents = {}
        for block, make in blocks.items():
            content = tables.NOTHING
            if _is_due(block, sources, stages=stages, new=everything or block not in before):
                say(f"{path.name}: {block} …")
                content = make(sources)
            contents[block] = before.get(block, content) if content == tables.NOTHING else content
        path.write_text(fill_in((TEXT / path.name).read_text(encoding="utf-8"), contents), encoding="utf-8")


def _is_due(block: str, sources: Sources, *, stages: Sequence[str], new: bool) -> bool:
    """Whether a block is made now: it belongs to a stage, and what it is made of is there."""
    if block not in PUBLISHED:
        return next((stage for stage, blocks in STAGES.items() if block in blocks), "published") in stages
    return new and "published" in stages and published.is_here(sources.data)


def fill_in(text: str, contents: Mapping[str, str]) -> str:
    """The words with the content of every block behind its marker."""
    missing = set(MARKER.findall(text)) ^ set(contents)
    if missing:
        raise ValueError(f"only the words or only the tables have: {', '.join(sorted(missing))}")
    return MARKER.sub(lambda found: f"{found[0]}\n\n{contents[found[1]].strip()}\n\n<!-- end -->", text)


def read_blocks(page: str) -> dict[str, str]:
    """The contents of a page's blocks."""
    return dict(re.findall(r"<!-- reproduce: (.*?) -->\n\n(.*?)\n\n<!-- end -->", page, re.DOTALL))


def _map(sources: Sources) -> str:
    caption = findings.draw_map(sources, DOCS / "assets" / "findings-map.svg")
    return f"![The isogloss map of multilingual BERT](../assets/findings-map.svg)\n\n{caption}"


def _english(sources: Sources) -> str:
    """What the command shows for the English scores of bert-base-cased."""
    files = [str(sources.data / "stereoset" / f"{task}_en.jsonl.gz") for task in findings.TASKS]
    scores = str(sources.data / tables.SCORES.format(CASED, "en"))
    command = [
        sys.executable,
        "-m",
        "isogloss",
        "measure",
        scores,
        "--mode",
        "paper",
        "--language",
        "en",
        "--metrics",
        "lms,ss,icat",
    ]
    done = subprocess.run([*command, "--data", files[0], "--data", files[1]], capture_output=True, text=True)
    if done.returncode:
        raise IsoglossError(f"The English scores could not be measured: {done.stderr.strip()}")
    return f"```text\n{done.stdout.partition(chr(10) * 2 + 'bert-base')[0].strip()}\n```"


def _published(make: Callable[[published.Published], str]) -> Block:
    return lambda sources: make(published.open_published(sources.data))


def _small(make: Callable[[Scored], str]) -> Block:
    def block(sources: Sources) -> str:
        scored = findings.load_small(sources)
        return make(scored) if scored else tables.NOTHING

    return block


REPRODUCING: dict[str, Block] = {
    "english": _english,
    "intra": lambda sources: tables.triple_table(sources, "intrasentence"),
    "inter": lambda sources: tables.triple_table(sources, "intersentence"),
}
RECORD: dict[str, Block] = {
    "intra candidates": tables.intra_table,
    "shift": tables.shift_table,
    "inter candidates": tables.inter_table,
    "crows": tables.crows_table,
    "sentence methods": tables.sentence_methods_table,
    "templates": tables.templates_table,
    "divergences": tables.divergence_table,
    "top terms": tables.top_table,
    "negation": tables.negation_table,
    "mbe": tables.mbe_table,
}
PUBLISHED: dict[str, Block] = {
    "annotator words": _published(published.annotator_words),
    "annotators": _published(published.annotator_table),
    "unanimous": _published(published.unanimous_summary),
    "unanimous models": _published(published.unanimous_table),
    "alike": _published(published.likeness_table),
    "components": _published(published.component_table),
    "remaining": _published(published.remaining_table),
    "ranks": _published(published.rank_table),
}
SMALL: dict[str, Block] = {
    "small": _small(findings.small_table),
    "small differences": _small(findings.small_difference_table),
    "small summary": _small(findings.small_summary),
}
QUESTIONS: dict[str, Block] = {
    "mbbq": questions.question_table,
    "mbbq controls": questions.control_table,
    "mbbq languages": questions.language_table,
    "unifiedqa": questions.unifiedqa_table,
}
AUDIT: dict[str, Block] = {
    "audit values": audit.values,
    "audit claims": audit.claims,
    "audit differences": audit.differences,
    "audit card": audit.card,
    "audit summary": audit.summary,
}
ALL_FINDINGS: dict[str, Block] = {
    "summary": findings.summary,
    "languages": findings.language_table,
    "differences": findings.difference_table,
    "map": _map,
    **SMALL,
    **QUESTIONS,
    "preferences": findings.preference_table,
    "agreement crows": lambda sources: findings.agreement_table(sources, UNCASED, dataset="crows_pairs"),
    "agreement stereoset": lambda sources: findings.agreement_table(sources, CASED, dataset="stereoset"),
    **PUBLISHED,
}
STAGES = {"small": SMALL, "questions": QUESTIONS, "audit": AUDIT}  # every other block is made of the stage "published"
LONG = (  # tables of the record of findings: every pair of languages, models or methods
    "differences",
    "small",
    "small differences",
    "preferences",
    "agreement crows",
    "agreement stereoset",
    "mbbq",
    "mbbq languages",
    "mbbq controls",
    "unifiedqa",
    "annotators",
    "unanimous models",
    "ranks",
    "remaining",
)
PAGES: dict[str, dict[str, Block]] = {
    "results/reproducing.md": REPRODUCING,
    "results/findings.md": {name: make for name, make in ALL_FINDINGS.items() if name not in LONG},
    "results/audit.md": AUDIT,
    "dev/reproduction-record.md": RECORD,
    "dev/findings-record.md": {name: ALL_FINDINGS[name] for name in LONG},
}
