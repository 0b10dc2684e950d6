"""A study is read and measured once, whatever is made of it, and a part of it gives the same numbers as on its own."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import transformers
import yaml

import isogloss as ig
from isogloss import runs
from isogloss.analysis import measures, study
from isogloss.analysis.intervals import IntervalSettings
from isogloss.analysis.study import Measuring, Study, load_study
from isogloss.storage import as_path
from isogloss.studies.plan import plan_study
from isogloss.studies.run import execute
from support import tiny
from support.builders import score_many

CLAIMS = {"claims": ["lms > 10"]}
FIGURES = [{"figure": "plane"}, {"figure": "heatmap"}, {"figure": "forest"}]
TABLE = {"title": "All", "rows": ["model"], "columns": ["language"], "metrics": ["ss"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of two models in two languages with a report, claims, a table and three figures."""
    root = tmp_path_factory.mktemp("study")
    transformers.utils.logging.disable_progress_bar()
    for name in ("bert", "gpt2"):
        tiny.network(name).save_pretrained(root / name)
        tiny.tokenizer_of(name).save_pretrained(root / name)
    (root / "claims.yaml").write_text(yaml.safe_dump(CLAIMS), encoding="utf-8")
    content = {
        "name": "both",
        "models": [str(root / "bert"), str(root / "gpt2")],
        "data": ["demo"],
        "languages": ["en", "de"],
        "sample": {"limit": 12},
        "report": "report.html",
        "claims": "claims.yaml",
        "tables": [TABLE],
        "figures": FIGURES,
    }
    (root / "study.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    return root


def count_reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts how often each run.json, part and table of items is read, and how often scores are measured."""
    counts: Counter[str] = Counter()

    def counting(module: Any, name: str, label: Any) -> None:
        original = getattr(module, name)

        def counted(*positional: Any, **named: Any) -> Any:
            counts[label(*positional)] += 1
            return original(*positional, **named)

        monkeypatch.setattr(module, name, counted)

    for module in (runs, study):
        counting(module, "read_run", lambda path, *_: f"run {path}")
    counting(runs, "read_part", lambda run, number, *_: f"part {run.folder} {number}")
    counting(measures, "measure", lambda *_: "measure")
    monkeypatch.setattr(study, "measure_with", measures.measure_with)
    return counts


def test_a_study_with_all_outputs_reads_nothing_again_and_measures_each_grouping_once(folder, tmp_path, monkeypatch):
    counts = count_reads(monkeypatch)
    result = execute(plan_study(folder / "study.yaml"), out=as_path(tmp_path / "out"))
    assert not result.problems
    assert not result.failures
    assert (tmp_path / "out" / "report.html").is_file()
    assert len(list((tmp_path / "out" / "figures").iterdir())) == len(FIGURES)
    assert not [name for name in counts if name.startswith(("run ", "part "))]  # all of it is in memory
    # as a whole, by category, by target (each item a cluster of its own), and for the table that the file lists
    assert counts["measure"] == 4


@pytest.mark.slow
def test_a_finished_study_is_read_once(folder, tmp_path, monkeypatch):
    out = as_path(tmp_path / "out")
    execute(plan_study(folder / "study.yaml"), out=out)
    counts = count_reads(monkeypatch)
    ig.report(load_study(out, texts=True), tmp_path / "page.html")
    reads = {name: count for name, count in counts.items() if name.startswith(("run ", "part "))}
    assert len(reads) >= 8
    assert set(reads.values()) == {1}


def test_what_was_measured_with_others_is_what_it_is_alone():
    scored = score_many(120, clusters=12)
    whole, alone = Study(scored), Study(scored)
    whole.measure(Measuring())
    settings = IntervalSettings()
    for wanted in (Measuring(("ss",)), Measuring(("icat", "ss")), Measuring(None, ("category",), settings=settings)):
        assert whole.measure(wanted).rows == alone.measure(wanted).rows
        alone.memory.clear()


@pytest.mark.slow
def test_a_language_of_a_study_has_the_measures_that_it_has_alone(folder, tmp_path):
    result = execute(plan_study(folder / "study.yaml"), out=as_path(tmp_path / "out"))
    whole = result.measure(result.measuring)
    part = result.narrow(["German"])
    fresh = Study(part.scores)
    rows = part.measure(part.measuring).rows
    assert rows == fresh.measure(part.measuring).rows
    assert rows == tuple(row for row in whole if row.group["language"] == "de")
    assert {run.info["language"] for run in part.runs} == {"de"}


def test_the_same_part_is_made_once():
    whole = Study(score_many(60, clusters=12))
    assert whole.narrow(where={"category": "profession"}) is whole.narrow(where={"category": "profession"})
    assert whole.narrow() is whole


@pytest.mark.slow
def test_tables_figures_and_reports_take_scores_and_studies(folder, tmp_path):
    result = ig.run(folder / "study.yaml", out=tmp_path / "out")
    assert isinstance(result, ig.Study)
    texts = {ig.table(source, metrics="ss") for source in (result, result.scored, tmp_path / "out")}
    assert len({text.split("|")[1] for text in texts}) == 1
    for number, source in enumerate((result, result.scored)):
        assert ig.figure("forest", source, out=tmp_path / f"{number}.png").path.is_file()
        assert ig.report(source, tmp_path / f"{number}.html").is_file()
    assert ig.measure(result).rows == ig.measure(result.scored).rows
    assert ig.gate(result, ["lms > 10"]).status == ig.gate(tmp_path / "out", ["lms > 10"]).status


def test_a_run_that_cannot_be_read_is_named_and_the_others_are_measured(folder, tmp_path, command):
    execute(plan_study(folder / "study.yaml"), out=as_path(tmp_path / "out"))
    broken = sorted((tmp_path / "out").rglob("run.json"))[0]
    broken.write_text("{", encoding="utf-8")
    loaded = load_study(tmp_path / "out")
    assert len(loaded.runs) == len(list((tmp_path / "out").rglob("run.json"))) - 1
    assert str(broken) in loaded.problems[0]
    code, shown, error = command("measure", tmp_path / "out", "--format", "json")
    assert code == 1
    assert str(broken) in error
    assert json.loads(shown)["measures"]
