"""How large the code is, and how many functions five commands lead a reader through: `python -m benchmarks.code`.

Each walk runs a command on a tiny model in a process of its own and notes every function of the package that runs.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import isogloss
from isogloss import registry

ROOT = Path(isogloss.__file__).parent
OPTIMISED = 1  # the flag of code that is a function, not the body of a class
STUDY = "name: walk\nmodels: [{model}]\ndata: [demo]\nlanguages: [en]\n"


def commands(folder: Path) -> dict[str, list[str]]:
    """The five commands, in the order in which they can run."""
    demo = ["--data", "demo", "-l", "en"]
    return {
        "eval": ["eval", f"{folder}/model", *demo, "--out", f"{folder}/runs"],
        "measure": ["measure", f"{folder}/predictions.json", *demo],
        "report": ["report", f"{folder}/runs", "-o", f"{folder}/report.html"],
        "run": ["run", f"{folder}/study.yaml", "--out", f"{folder}/study"],
        "ask": [
            "ask",
            f"{folder}/chat",
            "--data",
            "shades_demo",
            "-l",
            "en",
            "--limit",
            "4",
            "--out",
            f"{folder}/asked",
        ],
    }


def prepare(folder: Path) -> None:
    """What the commands need: two tiny models, a file of predictions and a study."""
    from tests.support import tiny

    tiny.network("gpt2").save_pretrained(folder / "model")
    tiny.tokenizer_of("gpt2").save_pretrained(folder / "model")
    tiny.save_talker(folder / "chat")
    rows: dict[str, list[dict[str, Any]]] = {}
    for item in isogloss.read("demo", language="en"):
        own = [{"id": candidate.id, "score": float(len(candidate.text))} for candidate in item.candidates]
        rows.setdefault(str(item.tags["task"]), []).extend(own)
    (folder / "predictions.json").write_text(json.dumps(rows), encoding="utf-8")
    (folder / "study.yaml").write_text(STUDY.format(model=folder / "model"), encoding="utf-8")


def walk(arguments: list[str]) -> dict[str, int]:
    """The functions and modules of ours that a command runs, and its deepest stack of them."""
    from isogloss.cli import main

    seen: set[tuple[str, str]] = set()
    deepest = 0

    def is_ours(frame: FrameType) -> bool:
        code = frame.f_code
        return code.co_filename.startswith(str(ROOT)) and bool(code.co_flags & OPTIMISED) and code.co_name[0] != "<"

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal deepest
        if event != "call" or not is_ours(frame):
            return
        seen.add((frame.f_code.co_filename, frame.f_code.co_qualname))
        depth, outer = 1, frame.f_back
        while outer is not None:
            depth, outer = depth + is_ours(outer), outer.f_back
        deepest = max(deepest, depth)

    sys.argv = ["isogloss", *arguments]
    threading.setprofile(note)
    sys.setprofile(note)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()
    sys.setprofile(None)
    return {"functions": len(seen), "modules": len({path for path, _ in seen}), "deepest stack": deepest}


def short_modules(sizes: Mapping[Path, int]) -> list[Path]:
    """The modules under 40 lines that are neither plug-ins nor `__init__` or `__main__`."""
    plugins = {
        ROOT.joinpath(*package.split("."), f"{name}.py")
        for kind, package in registry.PLUGIN_PACKAGES.items()
        for name in registry.built_in(kind)
    }
    points = (point for kind in registry.PLUGIN_PACKAGES for point in registry.entry_points_of(kind).values())
    plugins |= {ROOT.parent.joinpath(*point.module.split(".")).with_suffix(".py") for point in points}
    return [path for path, size in sizes.items() if size < 40 and path.stem[:2] != "__" and path not in plugins]


def counts() -> dict[str, float]:
    """Files, lines, functions, short modules, class names that two modules define, commands and options."""
    import typer.main

    from isogloss.cli import app

    files = sorted(ROOT.rglob("*.py"))
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    lengths = [node.end_lineno - node.lineno + 1 for node in nodes if isinstance(node, ast.FunctionDef)]  # type: ignore[operator]
    classes = Counter(node.name for tree in trees.values() for node in tree.body if isinstance(node, ast.ClassDef))
    leaves, pending = [], [typer.main.get_command(app)]
    while pending:
        command: Any = pending.pop()
        pending += (inner := list(getattr(command, "commands", {}).values()))
        leaves += [] if inner else [command]
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    return {
        "files": len(files),
        "lines": sum(sizes.values()),
        "functions": len(lengths),
        "median lines of a function": statistics.median(lengths),
        "longest file": max(sizes.values()),
        "modules under 40 lines, plug-ins and __init__ apart": len(short_modules(sizes)),
        "class names defined twice": sum(number > 1 for number in classes.values()),
        "commands": len(leaves),
        "options": sum(param.param_type_name == "option" for leaf in leaves for param in leaf.params),
    }


def main() -> None:
    """Print the counts, then one line for each walk."""
    if len(sys.argv) > 1:
        print(json.dumps(walk(sys.argv[1:])))
        return
    print(", ".join(f"{name} {number:g}" for name, number in counts().items()))
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))
        for command, arguments in commands(Path(name)).items():
            call = [sys.executable, "-m", "benchmarks.code", *arguments]
            done = subprocess.run(
                call, check=True, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
            )
            print(command, done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
