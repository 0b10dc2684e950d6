"""Write what commands print into the documentation: python docs/make_outputs.py [--check] [FOLDER].

A comment <!-- output: COMMAND --> before a block of text says which command printed it; <!-- output, 9 lines: COMMAND -->
shows its beginning, and <!-- error: COMMAND --> what a command prints that fails. The commands run in FOLDER (by default
runs/outputs), where their runs are kept, so that a second call only measures. They need SmolLM2: isogloss model pull smollm2.
With --check nothing is written, and the exit status is 1 if a page is stale.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
MARKED = re.compile(
    r"(?P<head><!-- (?P<kind>output|error)(?:, (?P<lines>\d+) lines)?: (?P<command>.+?) -->\n+```\w+\n).*?(?P<end>\n```)",
    re.DOTALL,
)
FOUR = re.compile(r"-?\d+\.\d{4}(?!\d)")
PLAIN = {"TERMINAL_WIDTH": "120", "COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb"}


def prepare(folder: Path) -> None:
    """The files that the commands find in their folder: studies, and a table from a Polish spreadsheet."""
    folder.mkdir(parents=True, exist_ok=True)
    page = (ROOT / "docs" / "how-to" / "own-data.md").read_text(encoding="utf-8")
    pairs = page.partition("<!-- example: pairs.csv -->")[2].split("```")[1].removeprefix("text\n")
    (folder / "pairs.csv").write_text(pairs, encoding="cp1250")
    shutil.copytree(ROOT / "studies", folder / "studies", dirs_exist_ok=True)


@cache
def output(command: str, folder: Path, *, fails: bool = False) -> str:
    """What a command prints, without blanks at line ends; of one that fails, its error."""
    words = [sys.executable, "-m", "isogloss", *shlex.split(command)]
    done = subprocess.run(words, cwd=folder, env=os.environ | PLAIN, capture_output=True, text=True, check=False)
    if bool(done.returncode) != fails:
        raise SystemExit(f"isogloss {command} ended with status {done.returncode}:\n{done.stderr}")
    shown = done.stderr if fails else done.stdout
    return "\n".join(line.rstrip() for line in shown.splitlines()).strip("\n")


def needs_model(command: str) -> bool:
    """Whether a command scores, or looks at what another one scored."""
    return command.split()[0] in ("eval", "ask", "run") or "runs/" in command


def fresh(text: str, folder: Path, *, models: bool = True) -> str:
    """A page with what its commands print now; without `models`, only those that need no model."""

    def replace(match: re.Match[str]) -> str:
        if needs_model(match["command"]) and not models:
            return match[0]
        lines = output(match["command"], folder, fails=match["kind"] == "error").splitlines()
        kept = lines[: int(match["lines"])] if match["lines"] else lines
        return match["head"] + "\n".join(kept).strip("\n") + match["end"]

    return MARKED.sub(replace, text)


def is_same(new: str, old: str) -> bool:
    """Whether two pages are equal, but for the last of four decimals, which processors compute differently."""
    if FOUR.sub("", new) != FOUR.sub("", old):
        return False
    numbers = zip(FOUR.findall(new), FOUR.findall(old), strict=True)
    return all(abs(float(one) - float(other)) < 2.5e-4 for one, other in numbers)


def main() -> int:
    """Write the pages, or only name those that are stale."""
    words = [word for word in sys.argv[1:] if word != "--check"]
    folder = Path(words[0] if words else "runs/outputs").resolve()
    prepare(folder)
    stale = []
    pages = sorted((ROOT / "docs").rglob("*.md"), key=lambda page: (page.parent.name != "start", page))
    for page in [ROOT / "README.md", *pages]:
        old = page.read_text(encoding="utf-8")
        new = fresh(old, folder)
        if not is_same(new, old):
            stale.append(str(page.relative_to(ROOT)))
            if "--check" not in sys.argv:
                page.write_text(new, encoding="utf-8")
    if stale:
        print(("Stale: " if "--check" in sys.argv else "Written: ") + ", ".join(stale))
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
