"""Isogloss works without each of its satellites, and says in one sentence what is missing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import isogloss

ROOT = Path(isogloss.__file__).parent
SATELLITES = {
    "web": ("serve", "No such command 'serve'"),
    "nsp": ("nsp", "No such command 'nsp'"),
    "translate": ("data translate demo --to de --out x", "No such command 'translate'"),
    "corpora": ("data build pairs demo --out x.csv", "No such command 'build'"),
    "ray_cluster": ("eval ngrams --data demo -l en --backend ray", "No backend named 'ray'"),
}
IMPORT_ALL = """
import importlib, pkgutil, isogloss
for module in pkgutil.walk_packages(isogloss.__path__, "isogloss."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
USE = """
from pathlib import Path
import isogloss as ig
from support import tiny
items = ig.read("demo", language="en")
scored = ig.score(items, model=tiny.model("bert"), out="runs")
assert ig.measure(scored).rows
assert ig.gate("runs", ["lms > 1"]).status == "passed"
ig.report("runs", "report.html", resamples=100)
ig.figure("forest", "runs", out="forest.png", resamples=100)
print(ig.table("runs", metrics="ss"))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SATELLITES))
def test_the_rest_works_without_a_satellite(name, tmp_path):
    copy = tmp_path / "src" / "isogloss"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(copy / name)

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        path = f"{tmp_path / 'src'}:{Path(__file__).parent}"
        environment = {"PYTHONPATH": path, "HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"}
        return subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600
        )

    done = call("-c", IMPORT_ALL)
    assert done.returncode == 0, done.stderr
    done = call("-c", USE)
    assert done.returncode == 0, done.stderr
    assert call("-m", "isogloss", "--help").returncode == 0
    assert call("-m", "isogloss", "list").returncode == 0
    command, sentence = SATELLITES[name]
    missing = call("-m", "isogloss", *command.split())
    assert missing.returncode == 2
    assert missing.stderr.startswith("Error: ")
    assert sentence in missing.stderr
    assert "Traceback" not in missing.stderr
