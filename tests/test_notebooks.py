"""The notebooks of the documentation run from the first cell to the last, here with a tiny model in place of a real one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import isogloss as ig
from support import tiny

BOOKS = sorted((Path(__file__).parent.parent / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    tiny.network("gpt2").save_pretrained(tmp_path / "smollm2")
    tiny.tokenizer_of("gpt2").save_pretrained(tmp_path / "smollm2")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["execution_count"], cell["outputs"]) == (None, [])  # kept light
            exec(compile("".join(cell["source"]), path.name, "exec"), names)
    scores = ig.load([str(folder) for folder in (tmp_path / "runs").iterdir()])
    assert set(scores.table["model"]) == {"smollm2"}
