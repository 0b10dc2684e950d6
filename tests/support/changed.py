"""The files of tests for what changed since the last commit, one per line: `python -m tests.support.changed [COMMIT]`.

A file of tests is named after a module or a package, as a rule of `tests/test_layers.py` says, so a changed module leads to
its tests.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

SOURCE = ("src", "isogloss")


def tests_of(paths: Iterable[str], there: Iterable[str]) -> list[str]:
    """Of the tests that are there, those that changed and those of the modules that changed, or of their packages."""
    wanted = set()
    for path in map(Path, paths):
        if path.parts[:1] == ("tests",):
            wanted.add(path.name)
        elif path.parts[:2] == SOURCE and path.suffix == ".py":
            names = [part.strip("_") for part in path.with_suffix("").parts[2:] if part != "__init__"]
            wanted |= {f"test_{'_'.join(names[-size:])}.py" for size in (1, 2)}
            wanted |= {f"test_{name}.py" for name in names}
    return sorted(wanted & set(there))


def main() -> None:
    """Print the files, those that git does not track yet among them."""
    since = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    commands = (["git", "diff", "--name-only", since], ["git", "ls-files", "--others", "--exclude-standard"])
    paths = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for command in commands]
    folder = Path(__file__).parent.parent
    print(
        "\n".join(
            f"tests/{name}" for name in tests_of("".join(paths).split(), [p.name for p in folder.glob("test_*.py")])
        )
    )


if __name__ == "__main__":
    main()
