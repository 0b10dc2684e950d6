"""Write what commands print into the documentation: python docs/make_outputs.py [--check] [FOLDER].

A comment <!-- output: COMMAND --> before a block of text says which command printed it. The commands run in FOLDER (by
default runs/outputs), where their runs are kept, so that a second call only measures. They need SmolLM2: isogloss model pull
smollm2. With --check nothing is written, and the exit status is 1 if a page is stale.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
MARKED = re.compile(r"(<!-- output: (.+?) -->\n+```(\w+)\n).*?(\n```)", re.DOTALL)
PLAIN = {"TERMINAL_WIDTH": "120", "COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb"}


@cache
def output(command: str, folder: Path) -> str:
    """What a command prints on standard output, without blanks at line ends."""
    words = [sys.executable, "-m", "isogloss", *shlex.split(command)]
    done = subprocess.run(words, cwd=folder, env=os.environ | PLAIN, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"isogloss {command} failed:\n{done.stderr}")
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n")


def main() -> int:
    """Write the pages, or only name those that are stale."""
    words = [word for word in sys.argv[1:] if word != "--check"]
    folder = Path(words[0] if words else "runs/outputs").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    stale = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        old = page.read_text(encoding="utf-8")
        new = MARKED.sub(lambda found: found[1] + output(found[2], folder) + found[4], old)
        if new != old:
            stale.append(str(page.relative_to(ROOT)))
            if "--check" not in sys.argv:
                page.write_text(new, encoding="utf-8")
    if stale:
        print(("Stale: " if "--check" in sys.argv else "Written: ") + ", ".join(stale))
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
