"""The documentation is fresh, complete, and says nothing that does not work."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
import yaml

import isogloss
from isogloss import registry
from isogloss.cli import app
from support.offenders import for_every

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
each_page = for_every(page=PAGES)


def load_script(name: str = "generate") -> ModuleType:
    """docs/generate.py, or another script of docs/, as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def blocks(page: Path, kind: str) -> list[str]:
    """The code blocks of a page that are of one kind."""
    return [text for found, text in BLOCK.findall(page.read_text(encoding="utf-8")) if found == kind]


def shown_commands(page: Path) -> list[list[str]]:
    """Every command line that a page tells the reader to type, as words."""
    text = page.read_text(encoding="utf-8")
    lines = [line[2:] for block in blocks(page, "console") for line in block.splitlines() if line.startswith("$ ")]
    lines += re.findall(r"(?<!`)`((?:isogloss|make) [^`]+)`(?!`)", text)
    return [shlex.split(part, comments=True) for line in lines for part in line.split("&&")]


@functools.cache
def commands() -> Any:
    """The tree of all commands."""
    return typer.main.get_command(app)


def resolve(words: list[str]) -> tuple[Any, list[str]]:
    """The command that the words name, and the words after it; an unknown command fails."""
    command, rest = commands(), words[1:]
    while rest and hasattr(command, "commands") and not rest[0].startswith("-") and rest[0] != "…":
        assert rest[0] in command.commands, f"no such command: {shlex.join(words)}"
        command, rest = command.commands[rest[0]], rest[1:]
    return command, rest


@pytest.mark.slow
def test_the_generated_parts_are_fresh():
    done = subprocess.run([sys.executable, DOCS / "generate.py", "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_stale_page_is_noticed():
    page = (DOCS / "reference" / "languages.md").read_text(encoding="utf-8").replace("(`de`)", "(`xx`)")
    assert load_script().fresh(page) != page


def test_every_generated_part_is_used_once_and_known():
    used = [
        name for page in PAGES for name in re.findall(r"<!-- generated: (.*?) -->", page.read_text(encoding="utf-8"))
    ]
    assert sorted(used) == sorted(load_script().PARTS)


def test_every_command_is_documented():
    text = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    missing = [path for path in load_script().command_names() if f"## {' '.join(['isogloss', *path])}\n" not in text]
    assert missing == []


def test_every_public_name_is_documented():
    text = (DOCS / "reference" / "library.md").read_text(encoding="utf-8")
    assert [name for name in isogloss.__all__ if f"## {name}\n" not in text] == []


@each_page
def test_relative_links_lead_somewhere(page):
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    assert [link for link in links if link and not (page.parent / link).exists()] == []


@each_page
def test_the_commands_that_a_page_shows_exist(page):
    if page.name == "CHANGELOG.md":
        return  # it names commands of earlier versions
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for words in shown_commands(page):
        if words[:1] == ["make"]:
            assert words[1] in targets, words
        elif words[:1] == ["isogloss"]:
            command, rest = resolve(words)
            known = {name for option in command.params for name in [*option.opts, *option.secondary_opts]}
            assert [word for word in rest if re.match(r"--?[a-z]", word) and word not in known | {"--help"}] == [], (
                words
            )


@each_page
def test_the_python_that_a_page_shows_compiles_and_uses_public_names(page):
    for block in blocks(page, "python"):
        if page.name != "library.md" or re.search("^(import|from) ", block, re.MULTILINE):  # others are signatures
            compile(block, page.name, "exec")
        names = re.findall(r"\big\.(\w+)", block)
        assert [name for name in names if name not in isogloss.__all__] == []


@each_page
def test_the_python_that_a_page_shows_imports_what_there_is(page):
    for block in blocks(page, "python"):
        for module, names in re.findall(r"^\s*from (isogloss[\w.]*) import ([\w, ]+)$", block, re.MULTILINE):
            for name in names.replace(" ", "").split(","):
                there = hasattr(importlib.import_module(module), name)
                assert there or importlib.util.find_spec(f"{module}.{name}"), f"{module} has no {name}"


@each_page
def test_a_page_names_no_machine(page):
    assert re.findall(r"(?<![\w.~-])/(?:work|home|root|tmp|usr|Users)/\S*", page.read_text(encoding="utf-8")) == []


def test_the_tests_that_the_reliability_page_names_exist():
    named = set(re.findall(r"`(test_\w+)`", (DOCS / "dev" / "reliability.md").read_text(encoding="utf-8")))
    files = sorted((ROOT / "tests").glob("test_*.py"))
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    assert named - {path.stem for path in files} - set(re.findall(r"^def (test_\w+)", text, re.MULTILINE)) == set()


def test_the_readme_names_the_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "$ make demo" in text
    assert "$ make test" in text


@pytest.mark.slow
def test_the_example_plugins_work(tmp_path):
    """A package made of the page's examples is found, and its data set, method, family and metric work together."""
    files = load_script().examples("adding.md")
    package = tmp_path / "my_plugins"
    package.mkdir()
    (package / "__init__.py").touch()
    for name, text in files.items():
        (package if name.endswith(".py") else tmp_path).joinpath(name).write_text(text, encoding="utf-8")
    points = tomllib.loads(files["pyproject.toml"])["project"]["entry-points"]
    lines = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in each.items()) for group, each in points.items()
    ]
    info = tmp_path / "my_plugins-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-plugins\nVersion: 0.1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "my_plugins.try_it"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "sentence_pairs" in done.stdout
    assert "tie rate" in done.stdout


def test_the_example_language_works(tmp_path, monkeypatch):
    from isogloss import languages

    (tmp_path / "languages").mkdir()
    (tmp_path / "languages" / "ig.toml").write_text(load_script().examples("adding.md")["ig.toml"], encoding="utf-8")
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path))
    assert languages.get("Asụsụ Igbo").tag == "ig"


def test_the_example_layouts_can_be_read(tmp_path):
    page = DOCS / "reference" / "data-formats.md"
    own = tmp_path / "dev.json"
    own.write_text(next(block for block in blocks(page, "json") if "sentences" in block), encoding="utf-8")
    wide = tmp_path / "wide_en.csv"
    wide.write_text(next(block for block in blocks(page, "text") if block.startswith("id,")), encoding="utf-8")
    first, second = isogloss.read(own, language="en")[0], isogloss.read(wide)[0]
    assert [c.text for c in first.candidates] == [c.text for c in second.candidates]
    assert first.cluster == second.cluster == "grandmother"


def test_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert project["version"] == isogloss.__version__ == str(citation["version"])
    assert citation["license"] == project["license"]
    assert f"## {project['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_citation_has_what_its_format_needs():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["authors"] == [{"name": "The Isogloss authors"}]
    assert {"message", "title"} <= citation.keys()
    assert all({"type", "title", "authors"} <= reference.keys() for reference in citation["references"])


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path / "site"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "start" / "tutorial.html").is_file()


def test_every_figure_has_a_picture():
    text = (DOCS / "how-to" / "figures.md").read_text(encoding="utf-8")
    pictures = [f"../assets/figure-{name}.png" for name in registry.names("figure")]
    assert [path for path in pictures if path not in text or not (DOCS / "how-to" / path).is_file()] == []


CODE = re.compile(r"(^```.*?^```|<!--.*?-->|`[^`\n]*`|\]\([^)]*\)|\"[^\"\n]*\")", re.DOTALL | re.MULTILINE)
UNWANTED = re.compile(  # British spellings, and phrases that a native technical writer does not use
    r"\b(mend\w*|at hand|of one's own|files? of claims|with next sentences|(?:cannot|can) be told|told apart|"
    r"behaviour\w*|colour\w*|favour\w*|grey|labelled|judgement\w*|"
    r"\w*(?:token|recogn|general|normal|quant|summar|memor|initial)is(?:e|ed|es|ing|ation)\b)",
    re.IGNORECASE,
)


def test_the_pages_are_written_in_american_technical_english():
    """Prose only: code, quotations, addresses and what scripts write are left out."""
    found = []
    for page in PAGES:
        if "dev" in page.parts or page.name in ("CHANGELOG.md", "bibliography.md", "cli.md", "library.md"):
            continue
        text = re.sub(
            r"<!-- (?:generated|reproduce).*?<!-- end -->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL
        )
        found += [(page.name, match[0]) for part in CODE.split(text)[::2] for match in UNWANTED.finditer(part)]
    assert found == []


def test_no_output_is_pasted():
    """Each block of text in a page is made by a command, or shows a format or layout."""
    marks = ("<!-- output", "<!-- error", "<!-- example", "<!-- generated", "<!-- reproduce")
    formats = {"architecture.md", "cli.md", "data-formats.md", "other-tools.md", "template-language.md", "templates.md"}
    pasted = [
        (page.name, text[: match.start()].count("\n") + 1)
        for page in PAGES
        if page.name not in formats
        for text in [page.read_text(encoding="utf-8")]
        for match in re.finditer("^```text$", text, re.MULTILINE)
        if not text[: match.start()].rstrip().splitlines()[-1].startswith(marks)
    ]
    assert pasted == []


def test_outputs_and_errors_that_need_no_model_are_fresh(tmp_path):
    outputs = load_script("make_outputs")
    outputs.prepare(tmp_path)
    texts = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
    commands = [match["command"] for text in texts.values() for match in outputs.MARKED.finditer(text)]
    assert any(not outputs.needs_model(command) for command in commands)
    assert {name: outputs.fresh(text, tmp_path, models=False) for name, text in texts.items()} == texts


@pytest.mark.slow
def test_the_outputs_of_a_real_model_are_fresh(tmp_path):
    """Scores the demonstration sets with SmolLM2, so this takes minutes."""
    if not (Path.home() / ".isogloss" / "models" / "smollm2").is_dir():
        pytest.skip("SmolLM2 is not here: isogloss model pull smollm2")
    known = {name: value for name, value in os.environ.items() if name != "ISOGLOSS_HOME"}
    command = [sys.executable, DOCS / "make_outputs.py", "--check", tmp_path]
    done = subprocess.run(command, env=known, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_sentences_for_reading_come_from_every_wording_and_depend_on_the_seed():
    draw = load_script("sample_sentences").draw_sentences
    rows = draw("nl", seed=1)
    assert (len(rows), len(set(rows)), len({name for name, _ in rows})) == (100, 100, 50)
    assert rows == draw("nl", seed=1)
    assert rows != draw("nl", seed=2)


@pytest.mark.parametrize(
    ("new", "same"), [("p -11.9120 q", True), ("p -11.9117 q", True), ("p -11.9110 q", False), ("p -11.92 q", False)]
)
def test_outputs_may_differ_in_the_last_of_four_decimals(new, same):
    assert load_script("make_outputs").is_same(new, "p -11.9119 q") is same
