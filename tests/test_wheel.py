"""The wheel: built from the sdist, installed alone with its core dependencies, and used without torch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from support.builders import stereoset_rows, write_jsonl

PROJECT = Path(__file__).parent.parent
CLEAN = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # else the source would be found

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (PROJECT / "pyproject.toml").exists(), reason="needs the project's source"),
]


def command(*arguments: object, **options: object) -> str:
    """What a command prints; a failure shows what it said."""
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, **{"env": CLEAN, **options})
    assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of the sdist of this source, which is a copy of what git knows and what is new."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    listed = command(
        "git", "ls-files", "-co", "--exclude-standard", "-z", "src", "*.toml", "*.md", "LICENSE", cwd=PROJECT
    )
    for name in filter(None, listed.split("\0")):
        if (PROJECT / name).exists():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((PROJECT / name).read_bytes())
    command(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, source)
    assert len(list(out.glob("*.tar.gz"))) == 1
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def clean(wheel, tmp_path_factory):
    """The commands of a clean environment with nothing but the wheel and its core dependencies."""
    folder = tmp_path_factory.mktemp("venv")
    command(sys.executable, "-m", "venv", folder)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command(*pip, "-c", PROJECT / "constraints.txt", wheel)
    return folder / "bin"


def test_the_wheel_holds_its_data_types_and_licence(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    wanted = {"isogloss/py.typed", "isogloss/data/languages/zh-Hant.toml", "isogloss/data/demo/intrasentence_en.jsonl"}
    assert wanted <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if name.startswith("tests/")]


def test_the_clean_environment_has_no_torch_and_lists_everything(clean):
    installed = {
        one["name"].lower() for one in json.loads(command(clean / "python", "-m", "pip", "list", "--format=json"))
    }
    assert "isogloss" in installed
    assert not installed & {"torch", "transformers", "pytest"}
    shown = command(clean / "isogloss", "list", "--format", "json")
    assert {"demo", "stereoset"} <= set(json.loads(shown)["data"])


def test_scores_are_measured_in_the_clean_environment(clean, tmp_path):
    rows = stereoset_rows()
    data = write_jsonl(tmp_path / "x_en.jsonl", rows)
    scores = {"intrasentence": [], "intersentence": []}
    for row in rows:
        scores[row["task"]] += [{"id": c["id"], "score": 1 / (i + 1)} for i, c in enumerate(row["candidates"])]
    (tmp_path / "tiny.json").write_text(json.dumps(scores))
    shown = command(clean / "isogloss", "measure", tmp_path / "tiny.json", "--data", data, "--format", "json")
    assert [one["value"] for one in json.loads(shown)["measures"] if one["metric"] == "ss"] == [100, 100, 100]
    assert "480 items" in command(clean / "isogloss", "show", "demo")


def test_a_workbook_needs_an_extra_and_says_which(clean, tmp_path):
    (tmp_path / "mine.xlsx").write_bytes(b"")
    done = subprocess.run(
        [clean / "isogloss", "show", tmp_path / "mine.xlsx"], capture_output=True, text=True, env=CLEAN
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert 'pip install ".[xlsx]" in your copy of Isogloss' in done.stderr


def test_the_commands_are_completed_by_the_shell(clean):
    # The shell is named here: found from the parent process, it would be that of whoever runs the tests.
    shown = command(clean / "isogloss", env=CLEAN | {"_ISOGLOSS_COMPLETE": "source_bash"})
    assert "_ISOGLOSS_COMPLETE=complete_bash" in shown
    assert "complete -o default -F _isogloss_completion isogloss" in shown


def test_a_model_needs_an_extra_and_says_which(clean, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}')
    done = subprocess.run(
        [clean / "isogloss", "eval", tmp_path, "--data", "demo"], capture_output=True, text=True, env=CLEAN
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert 'pip install ".[hf]" in your copy of Isogloss' in done.stderr
