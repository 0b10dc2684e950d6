"""The notebooks of the documentation run from the first cell to the last, here with a tiny model; their outputs are of their code."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

import isogloss as ig
from support import tiny

DOCS = Path(__file__).parent.parent / "docs"
BOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
MACHINE = re.compile(r"/(?:home|root|tmp|Users|work)/|[A-Z]:\\\\")

sys.path.insert(0, str(DOCS))
from make_notebooks import hash_code, run_notebook  # noqa: E402


def cells_of(path: Path) -> list[dict]:
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    tiny.save_talker(tmp_path / "smollm2")
    run_notebook(json.loads(path.read_text(encoding="utf-8")), tmp_path)
    scores = ig.load([str(folder) for folder in (tmp_path / "runs").iterdir()])
    assert set(scores.table["model"]) == {"smollm2"}


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_the_outputs_of_a_notebook_are_of_its_code_and_name_no_machine(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    if not any(cell["outputs"] for cell in cells_of(path)):
        pytest.skip("not run yet: python docs/make_notebooks.py")
    assert notebook["metadata"]["isogloss"]["code"] == hash_code(notebook)  # else: python docs/make_notebooks.py
    assert not MACHINE.search(json.dumps([cell["outputs"] for cell in cells_of(path)]))
