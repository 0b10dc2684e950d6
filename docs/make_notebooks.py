"""Run the notebooks and store their outputs: python docs/make_notebooks.py [--check] [NAMES].

The cells run in order in an empty folder, with SmolLM2 (isogloss model pull smollm2). An output is what Jupyter would show: printed
text, the HTML or picture of the last expression, or its text. The metadata holds a hash of the code, so that a test sees when
a cell was changed and not run again. With --check nothing is written, and the exit status is 1 if an output differs; pictures are
not compared, because they depend on the fonts of the machine.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import hashlib
import io
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "notebooks"
PICTURE = "image/png"


def hash_code(notebook: dict[str, Any]) -> str:
    """A hash of the code of all cells."""
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return hashlib.sha256("\n\n".join(code).encode()).hexdigest()[:16]


def run_notebook(notebook: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The notebook with the outputs of its cells, which run in this folder."""
    names: dict[str, Any] = {}
    cells, count = [], 0
    with contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                count += 1
                outputs = run_cell("".join(cell["source"]), names, count=count)
                cell = cell | {"execution_count": count, "outputs": outputs}
            cells.append(cell)
    metadata = notebook["metadata"] | {"isogloss": {"code": hash_code(notebook)}}
    return notebook | {"cells": cells, "metadata": metadata}


def run_cell(code: str, names: dict[str, Any], *, count: int) -> list[dict[str, Any]]:
    """What a cell prints and what its last expression shows."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        exec(compile(tree, "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None  # type: ignore[attr-defined]
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append(
            {"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)}
        )
    if value is not None and not code.rstrip().endswith(";"):  # as in Jupyter, a semicolon hides the value
        outputs.append({"data": show(value), "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return outputs


def show(value: Any) -> dict[str, Any]:
    """A value by media type, as Jupyter stores it."""
    data: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_().splitlines(keepends=True)
    if hasattr(value, "_repr_png_"):
        data[PICTURE] = base64.b64encode(value._repr_png_()).decode()
    return data


def without_pictures(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook without what depends on the machine's fonts."""
    kept = json.loads(json.dumps(notebook))
    for cell in kept["cells"]:
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop(PICTURE, None)
    return dict(kept)


def main(words: list[str]) -> int:
    """Run the notebooks, or those that are named."""
    names = [word for word in words if word != "--check"]
    os.environ |= {"TERMINAL_WIDTH": "100", "COLUMNS": "100"}
    stale = []
    for path in sorted(FOLDER.glob("*.ipynb")):
        if names and path.stem not in names:
            continue
        old = json.loads(path.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            new = run_notebook(old, Path(folder))
        if without_pictures(new) != without_pictures(old):
            stale.append(path.name)
        if "--check" not in words:
            path.write_text(json.dumps(new, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if stale:
        print(("Stale: " if "--check" in words else "Written: ") + ", ".join(stale))
    return int(bool(stale) and "--check" in words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
