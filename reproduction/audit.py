"""The audit of two small models: what its commands print, and its summary on two pages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from isogloss.errors import IsoglossError

from .tables import NOTHING, Sources

ASSETS = Path(__file__).parent.parent / "docs" / "assets"
RUNS = "audit"  # the folder of the study among the runs
PLAIN = {"TERMINAL_WIDTH": "120", "COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb"}


def values(sources: Sources) -> str:
    return _printed(sources, "measure", "runs/audit", "--metrics", "lms,ss,icat")


def claims(sources: Sources) -> str:
    return _printed(sources, "gate", "runs/audit", "--claims", "studies/claims/audit.yaml")


def differences(sources: Sources) -> str:
    return _printed(sources, "compare", "runs/audit", "--a", "language=en", "--b", "language=de", "--metrics", "ss")


def card(sources: Sources) -> str:
    return _printed(
        sources,
        "table",
        "runs/audit/SmolLM2",
        "--language",
        "en",
        "--format",
        "model-index",
        "--metrics",
        "lms,ss",
        kind="yaml",
    )


def summary(sources: Sources) -> str:
    """The summary as a file of the documentation, and the link to it."""
    printed = _printed(sources, "report", "runs/audit", "--add", "runs/audit/claims.json", "-o", "audit.pdf")
    if printed == NOTHING:
        return NOTHING
    shutil.copyfile(_workplace(sources.runs / RUNS) / "audit.pdf", ASSETS / "audit.pdf")
    return "[The summary of this audit](../assets/audit.pdf) (PDF, two pages)."


def _printed(sources: Sources, *words: str, kind: str = "text") -> str:
    """What a command prints about the audit, as a block of text."""
    folder = sources.runs / RUNS
    if not folder.is_dir():
        return NOTHING
    place = _workplace(folder)
    command = [sys.executable, "-m", "isogloss", *words]
    done = subprocess.run(command, cwd=place, env=os.environ | PLAIN, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 3):  # a gate whose claims fail or are undecided
        raise IsoglossError(f"isogloss {' '.join(words)} failed: {done.stderr.strip()}")
    return f"```{kind}\n" + "\n".join(line.rstrip() for line in done.stdout.strip().splitlines()) + "\n```"


def _workplace(folder: Path) -> Path:
    """A folder in which the runs and the studies have the names that the page gives them."""
    place = folder.parent / "work" / "audit"
    (place / "runs").mkdir(parents=True, exist_ok=True)
    links = {
        place / "runs" / RUNS: folder,
        place / "studies": ASSETS.parents[1] / "studies",
    }
    for link, target in links.items():
        if not link.exists():
            link.symlink_to(target)
    return place
