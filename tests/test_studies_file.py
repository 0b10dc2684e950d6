"""Studies: one file in, all its cells scored, the rest named; checked before a weight is loaded, and always resumable."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import transformers
import yaml

from isogloss import registry, runs
from isogloss.files.catalogue import data_names
from isogloss.methods import aul, families_of
from isogloss.models import engine, load
from isogloss.studies import file
from isogloss.studies import run as run_module
from isogloss.studies.file import read_study
from isogloss.studies.plan import Subset, plan_study
from support import tiny
from support.builders import stereoset_rows, write_jsonl

SHIPPED = Path(__file__).parent.parent / "studies"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three tiny models and a data folder in two languages."""
    root = tmp_path_factory.mktemp("study")
    transformers.utils.logging.disable_progress_bar()
    for name, seed in (("bert", 0), ("gpt2", 0), ("bert2", 1)):
        kind = name.rstrip("2") if name != "gpt2" else name
        tiny.network(kind, seed=seed).save_pretrained(root / name)
        tiny.tokenizer_of(kind).save_pretrained(root / name)
    (root / "data").mkdir()
    for language in ("en", "de"):
        rows = [
            {**row, "id": f"{row['id']}-{n}", "language": language, "target": f"target {n}"}
            | {"candidates": [{**one, "id": f"{one['id']}-{n}"} for one in row["candidates"]]}
            for n in range(3)
            for row in stereoset_rows()
        ]
        write_jsonl(root / "data" / f"items_{language}.jsonl", rows)
    return root


@pytest.fixture
def run(command: Run) -> Run:
    """The command line, under the name that these tests give it."""
    return command


def write(folder: Path, **parts: Any) -> Path:
    """A study file in the folder."""
    path = folder / f"study-{random.getrandbits(40):x}.yaml"
    default = {"name": "tiny", "models": ["bert"], "data": ["data"], "measures": {"metrics": ["ss"], "resamples": 100}}
    path.write_text(yaml.safe_dump({**default, **parts}), encoding="utf-8")
    return path


def scored(out: Path) -> pl.DataFrame:
    return runs.read_scored(runs.find_runs(out)).table


def shape(out: Path) -> list[tuple[str, ...]]:
    return sorted((run.info["model"], run.info["language"], run.info["method"]) for run in runs.find_runs(out))


def times(out: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in out.rglob("part-*.parquet")}


# ---- the file

BAD = {
    "name: x\nmodls: [a]\ndata: [demo]\n": "line 2: no key named 'modls'. Did you mean 'models'? Known: models, methods, notes, claims, labels and 12 more.",
    "name: x\nmodels:\n  - chekpoint: a\ndata: [demo]\n": "line 3: models 1: no key named 'chekpoint'. Did you mean "
    "'checkpoint'? Known: checkpoint, checkpoints, repeat, timeout, max_cost and 11 more.",
    "name: x\nmodels: [a]\ndata: [demo]\nmeasures:\n  metrcs: [ss]\n": "line 5: measures: no key named 'metrcs'. "
    "Did you mean 'metrics'? Known: by, interval, metrics, mode, resamples, seed.",
    "name: x\nmodels: [a]\ndata: [demo]\nsample: {limit: many}\n": "line 4: sample, limit: input should be a valid "
    "integer, unable to parse string as an integer.",
    "name: x\nmodels: [a]\ndata: [demo]\nmeasures: {mode: papr}\n": "line 4: measures, mode: input should be "
    "'corrected' or 'paper'.",
    "name: x\nmodels: a\ndata: [demo]\n": "line 2: models: write a list, one entry per line after a hyphen.",
    "name: x\nmodels: []\ndata: [demo]\n": "line 2: models: at least one entry is needed.",
    "name: x\nmodels: [a]\n": "line 1: the key 'data' is missing.",
    "name: x/y\nmodels: [a]\ndata: [demo]\n": "line 1: name: use letters, digits, dots, hyphens and underscores only.",
    "name: x\nmodels: [a]\ndata: [demo]\nname: y\n": "line 4: the key 'name' is there twice.",
    "name: &a x\nmodels: [*a]\ndata: [demo]\n": "line 2: aliases (*name) are not read; write it out.",
    "name: [x\n": "line 2: not YAML: expected ',' or ']', but got '<stream end>'.",
    "- a\n": "a study file needs keys such as name, models and data. See docs/how-to/studies.md.",
    "name: x\nmodels: [{label: A, checkpoint: a, checkpoints: {en: b}}]\ndata: [demo]\n": "line 2: models 1: a model "
    "needs either 'checkpoint' or 'checkpoints'.",
    "name: x\nmodels: [{checkpoints: {en: b}}]\ndata: [demo]\n": "line 2: models 1: a model with several checkpoints "
    "needs a 'label'.",
    "name: x\nmodels: [a, a]\ndata: [demo]\n": "line 2: models 2: the label 'a' is there twice.",
    "name: x\nmodels: [abc]\ndata: [{source: demo, models: [abd]}]\n": "line 3: data 1, models: no model is labeled "
    "'abd'. Did you mean 'abc'?",
    "name: x\nmodels: [a]\ndata: [demo]\nmethods:\n  - {pll: {}, aul: {}}\n": "line 5: methods 1: one method per entry, "
    "as in '- continuation: {case: e}'.",
}


@pytest.mark.parametrize("text", BAD)
def test_a_mistake_in_the_file_is_one_sentence_with_its_line(text: str, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(text, encoding="utf-8")
    code, shown, error = run("run", path)
    comma = ", " if BAD[text].startswith("line") else ": "
    assert (code, shown, error) == (2, "", f"Error: {path}{comma}{BAD[text]}\n")


NAMES = {
    "methods": (["pll", "pl"], "No method named 'pl'."),
    "measures": ({"metrics": ["sss"]}, "No metric named 'sss'."),
    "languages": (["elbonian"], "No language named 'elbonian'."),
    "data": (["demmo"], "No data set or file named 'demmo'. Did you mean 'demo'?"),
    "models": (
        [{"label": "B", "checkpoint": "bert", "facts": {"task": "x"}}],
        "a fact may not be named 'task', which is",
    ),
}


@pytest.mark.parametrize("key", NAMES)
def test_a_wrong_name_is_found_before_a_weight_is_loaded(
    key: str, folder: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "open_model", None)
    value, sentence = NAMES[key]
    path = write(folder, **{key: value})
    code, _, error = run("run", path, "--out", tmp_path / "runs")
    assert code == 2
    assert error.startswith(f"Error: {path}: {sentence}")
    assert not (tmp_path / "runs").exists()


def test_options_groups_and_patterns_are_checked_too(folder: Path, run: Run) -> None:
    for parts, sentence in (
        ({"methods": [{"unmask": {"varant": "log"}}]}, "No option of 'unmask' named 'varant'. Did you mean 'variant'?"),
        ({"measures": {"by": ["sise"]}}, "No column named 'sise'."),
        ({"data": [{"source": "data", "where": {"task": "none"}}]}, "No value of 'task' named 'none'."),
    ):
        path = write(folder, **parts)
        code, _, error = run("run", path)
        assert code == 2
        assert error.startswith(f"Error: {path}: {sentence}")
    code, _, error = run("run", write(folder), "--only", "bert/data/fr")
    assert (code, error) == (
        2,
        "Error: No cell of the study fits --only bert/data/fr. It has bert/data/de, bert/data/en.\n",
    )


def test_words_stay_words(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    facts = "{a: yes, b: no, c: true, d: 1.5, e: 2020-01-01}"
    path.write_text(
        f"name: x\nmodels: [{{checkpoint: m, facts: {facts}}}]\ndata: demo_set\nlanguages: [no]\n".replace(
            "demo_set", "[demo]"
        ),
        encoding="utf-8",
    )
    study = read_study(path)
    assert study.languages == ("no",)
    assert study.models[0].facts == {"a": "yes", "b": "no", "c": "yes", "d": "1.5", "e": "2020-01-01"}


def test_the_schema_for_editors_is_fresh(run: Run) -> None:
    code, shown, _ = run("run", "--schema")
    assert code == 0
    assert json.loads((SHIPPED / "schema.json").read_text(encoding="utf-8")) == json.loads(shown) == file.schema()


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_studies_are_valid(path: Path) -> None:
    study = read_study(path)
    assert study.name in (path.stem, f"{path.stem}_study")  # runs/demo is what `make demo` writes
    assert path.read_text(encoding="utf-8").startswith("# yaml-language-server: $schema=schema.json\n")
    assert study.title
    for method in (*study.methods, *(one for data in study.data for one in data.methods)):
        if method.name in registry.names("method"):
            known = registry.get("method", method.name).options
            assert all(value in known[option] for option, value in method.options.items())
    for data in study.data:
        assert "/" in data.source or data.source in data_names()
    for metric in study.measures.metrics or ():
        assert metric in registry.names("metric")


def test_the_example_of_the_documentation_is_valid(tmp_path: Path) -> None:
    page = (SHIPPED.parent / "docs" / "how-to" / "studies.md").read_text(encoding="utf-8")
    path = tmp_path / "study.yaml"
    path.write_text(page.partition("```yaml\n")[2].partition("```")[0], encoding="utf-8")
    plan = read_study(path)
    assert [model.label for model in plan.models] == [None, "BERT"]


def test_the_demo_study_runs_with_any_causal_model(folder: Path, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "demo.yaml"
    text = (SHIPPED / "demo.yaml").read_text(encoding="utf-8")
    path.write_text(
        text.replace("checkpoint: smollm2", f"checkpoint: {folder / 'gpt2'}").replace("report:", "# report:"),
        encoding="utf-8",
    )
    code, shown, error = run("run", path, "--out", tmp_path / "runs", "--limit", 2)
    assert code == 0, error
    assert "SmolLM2" in shown
    study = read_study(path)
    assert {run.info["language"] for run in runs.find_runs(tmp_path / "runs")} == set(study.languages)
    assert {(run.info["labels"]["multilingual"]) for run in runs.find_runs(tmp_path / "runs")} == {"no"}


# ---- cells


def test_a_study_scores_measures_and_keeps_everything(folder: Path, tmp_path: Path, run: Run) -> None:
    path = write(folder, models=["bert", "gpt2"])
    out = tmp_path / "runs"
    code, shown, error = run("run", path, "--out", out, "--format", "json")
    assert code == 0, error
    assert shape(out) == sorted(
        (model, language, method)
        for model, methods in (("bert", ("nsp", "unmask")), ("gpt2", ("continuation", "likelihood")))
        for method in methods
        for language in ("de", "en")
    )
    found = json.loads(shown)
    assert found["failures"] == []
    kept = json.loads((out / "measures.json").read_text(encoding="utf-8"))
    assert kept == {key: value for key, value in found.items() if key != "failures"}
    assert pl.read_csv(out / "measures.csv").height == len(kept["measures"]) == 2 * 2 * 3
    copy = (out / "study.yaml").read_text(encoding="utf-8")
    assert copy.endswith(path.read_text(encoding="utf-8"))
    weights = {run.info["fingerprint"]["weights"][:12] for run in runs.find_runs(out)}
    assert len(weights) == 2
    assert all(f"weights {one}." in copy for one in weights)
    assert read_study(out / "study.yaml") == read_study(path)


def test_a_label_with_a_checkpoint_per_language_is_one_model(folder: Path, tmp_path: Path, run: Run) -> None:
    german = {"checkpoint": "bert2", "facts": {"user_generated": True}}
    models = [
        {
            "label": "BERT",
            "checkpoints": {"en": "bert", "German": german},
            "facts": {"multilingual": False, "size": "S"},
        },
        {"label": "GPT", "checkpoint": "gpt2", "languages": "en", "facts": {"multilingual": True}},
    ]
    out = tmp_path / "runs"
    path = write(folder, models=models, data=[{"source": "data", "where": {"task": "intrasentence"}}])
    assert run("run", path, "--out", out)[0] == 0
    table = scored(out)
    facts = table.select("model", "language", "checkpoint", "multilingual", "user_generated", "size").unique()
    assert sorted(facts.rows(), key=str) == [
        ("BERT", "de", "bert2", "no", "yes", "S"),
        ("BERT", "en", "bert", "no", None, "S"),
        ("GPT", "en", "gpt2", "yes", None, None),
    ]
    assert [path.name for path in sorted(out.iterdir()) if path.is_dir()] == ["BERT", "GPT"]
    code, shown, _ = run(
        "measure", out, "--by", "multilingual", "--metrics", "ss", "--resamples", 100, "--format", "json"
    )
    groups = [row["group"] for row in json.loads(shown)["measures"]]
    assert (code, {(one["model"], one["multilingual"]) for one in groups}) == (0, {("BERT", "no"), ("GPT", "yes")})
    assert (
        run(
            "compare",
            out,
            "--a",
            "multilingual=no",
            "--a",
            "language=en",
            "--b",
            "multilingual=yes",
            "--resamples",
            100,
        )[0]
        == 0
    )


def test_failed_cells_are_named_and_the_rest_is_done(folder: Path, tmp_path: Path, run: Run) -> None:
    path = write(
        folder,
        models=["bert", "./nowhere"],
        languages=["en", "fr"],
        methods=["auto", "likelihood"],
    )
    out = tmp_path / "runs"
    code, shown, error = run("run", path, "--out", out)
    assert code == 1
    assert "bert" in shown
    assert shape(out) == [("bert", "en", "nsp"), ("bert", "en", "unmask")]
    families = " and ".join(families_of(registry.get("method", "likelihood")))
    assert (
        "7 cells could not be scored:\n"
        "bert data fr auto, data fr likelihood: 'data' has no items in 'fr'.\n"
        "./nowhere data fr auto, data fr likelihood: 'data' has no items in 'fr'.\n"
        f"bert stereoset en likelihood: The method 'likelihood' is for {families} models; 'bert' is masked. "
        "Use --method auto to let Isogloss choose.\n"
        "./nowhere stereoset en auto, stereoset en likelihood: No such model folder: nowhere.\n"
    ) in error
    code, shown, _ = run("run", path, "--out", out, "--format", "json")
    assert code == 1
    assert len(json.loads(shown)["failures"]) == 7


def test_when_nothing_can_be_scored_there_is_no_table(folder: Path, tmp_path: Path, run: Run) -> None:
    code, shown, error = run("run", write(folder, models=["./nowhere"]), "--out", tmp_path / "runs")
    assert (code, shown) == (1, "")
    assert "2 cells could not be scored:\n./nowhere" in error


def test_a_cell_that_breaks_does_not_take_its_neighbours_along(
    folder: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = aul.method

    def ask(item, model, *, options):
        if item.id.startswith("intra1"):
            raise RuntimeError("the sky fell")
        return own.ask(item, model, options=options)

    monkeypatch.setattr(aul, "method", replace(own, ask=ask))
    data = [{"source": "data", "where": {"task": "intrasentence"}, "languages": ["en"]}]
    code, _, error = run("run", write(folder, data=data, methods=["pll", "aul"]), "--out", tmp_path / "runs")
    assert code == 1
    assert "1 cell could not be scored:\nbert stereoset en aul: RuntimeError: the sky fell\n" in error
    done = {run.info["method"]: run.info["status"] for run in runs.find_runs(tmp_path / "runs")}
    assert done == {"pll": "finished", "aul": "started"}


def test_a_run_goes_on_and_scores_nothing_twice(folder: Path, tmp_path: Path, run: Run) -> None:
    out = tmp_path / "runs"
    assert run("run", write(folder), "--out", out)[0] == 0
    before = times(out)
    gone = next(path for path in sorted(before) if "unmask" in path.parent.name)
    content = gone.read_bytes()
    gone.unlink()
    assert run("run", write(folder, methods=["auto", "pll"]), "--out", out, "--only", "bert")[0] == 0
    after = times(out)
    assert {path for path in before if after[path] != before[path]} == {gone}
    now, then = (pl.read_parquet(source)["value"].to_list() for source in (gone, content))
    assert now == pytest.approx(then, rel=1e-5, abs=1e-6)


def test_eval_is_a_study_of_one_cell(folder: Path, tmp_path: Path, run: Run) -> None:
    out = tmp_path / "runs"
    data = folder / "data" / "items_en.jsonl"
    assert run("eval", folder / "bert", "--data", data, "--out", out, "--metrics", "ss")[0] == 0
    before, values = times(out), scored(out).select("id", "candidate", "value")
    assert run("run", write(folder, data=[str(data)]), "--out", out)[0] == 0
    assert times(out) == before
    assert scored(out).select("id", "candidate", "value").equals(values)


def test_only_and_limit_choose_cells_and_items(folder: Path, tmp_path: Path, run: Run) -> None:
    out = tmp_path / "runs"
    path = write(folder, models=["bert", "gpt2"])
    assert run("run", path, "--out", out, "--only", "gpt2/*/de", "--limit", 2, "--seed", 5)[0] == 0
    assert shape(out) == [("gpt2", "de", "continuation"), ("gpt2", "de", "likelihood")]
    assert {run.info["items"] for run in runs.find_runs(out)} == {2}
    assert (out / "study.yaml").exists()
    assert not (out / "measures.csv").exists()
    plan = plan_study(path, subset=Subset(only=("*/data/en", "bert"), limit=1))
    kept = [(one.labels["model"], one.items[0].language, len(one.items)) for one in plan.cells]
    assert sorted(kept) == [("bert", "de", 2), ("bert", "en", 2), ("gpt2", "en", 2)]


def test_a_checkpoint_is_opened_once_for_the_whole_study(
    folder: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    own = load.open_model

    def counted(name: str, loading: load.Loading) -> Any:
        opened.append(Path(name).name)
        return own(name, loading)

    monkeypatch.setattr(load, "open_model", counted)
    models = [
        {"label": "A", "checkpoint": "bert"},
        {"label": "B", "checkpoints": {"en": "bert", "de": "bert2"}},
        {"label": "C", "checkpoint": "gpt2"},
    ]
    assert run("run", write(folder, models=models), "--out", tmp_path / "runs", "--limit", 1)[0] == 0
    assert opened == ["bert", "bert2", "gpt2"]
    assert {run.info["model"] for run in runs.find_runs(tmp_path / "runs")} == {"A", "B", "C"}


def test_a_cell_asked_twice_is_scored_once(folder: Path, tmp_path: Path, run: Run) -> None:
    again = {"source": "data", "name": "again", "where": {"task": "intersentence"}, "methods": ["continuation"]}
    path = write(folder, models=["gpt2"], data=["data", again], languages=["en"])
    code, _, error = run("run", path, "--out", tmp_path / "runs")
    assert code == 0, error
    assert shape(tmp_path / "runs") == [("gpt2", "en", "continuation"), ("gpt2", "en", "likelihood")]


def test_two_folders_of_one_name_need_labels(folder: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "bert").symlink_to(folder / "bert2")
    code, _, error = run("run", write(folder, models=["bert", str(tmp_path / "bert")]))
    assert (code, error) == (2, "Error: Two models of the study are called 'bert'. Give each its own 'label'.\n")


# ---- before and after


@pytest.mark.parametrize("models", [["bert"], ["gpt2"]])
def test_a_dry_run_counts_what_is_really_asked(
    models: list[str], folder: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    methods = ["auto", "pll"] if models == ["bert"] else ["auto"]
    inter = {
        "source": "data",
        "name": "inter",
        "where": {"task": "intersentence"},
        "methods": [{"continuation": {"case": "e"}}],
    }
    intra = {"source": "data", "name": "intra", "where": {"task": "intrasentence"}, "methods": methods}
    path = write(
        folder, models=models, data=[intra] if models == ["bert"] else [intra, "data", inter], loading={"part_size": 9}
    )
    out = tmp_path / "runs"
    code, shown, error = run("run", path, "--out", out, "--dry-run", "--format", "json")
    assert code == 0, error
    forecast = json.loads(shown)["cells"]
    assert all(row["seconds"] > 0 for row in forecast)
    assert not out.exists()
    asked: list[int] = []
    read: list[int] = []
    every, batched = engine.answer_all, engine.answer_batch

    def answer_all(model, questions, **rest):
        asked.append(len(questions))
        return every(model, questions, **rest)

    def answer(model, questions, *, batch):
        read.append(sum(bundle.cost for bundle in batch))
        return batched(model, questions, batch=batch)

    monkeypatch.setattr(engine, "answer_all", answer_all)
    monkeypatch.setattr(engine, "answer_batch", answer)
    assert run("run", path, "--out", out)[0] == 0
    assert sum(row["questions"] for row in forecast) == sum(asked)
    assert sum(row["read"] for row in forecast) == sum(read)
    assert sum(row["items"] for row in forecast) == sum(run.info["items"] for run in runs.find_runs(out))
    assert len(forecast) == len(runs.find_runs(out))
    again = json.loads(run("run", path, "--out", out, "--dry-run", "--no-trial", "--format", "json")[1])["cells"]
    assert [(row["done"], row["questions"], row["seconds"]) for row in again] == [(row["parts"], 0, 0) for row in again]


def test_a_dry_run_shows_a_table_and_what_will_fail(folder: Path, tmp_path: Path, run: Run) -> None:
    path = write(folder, languages=["en", "fr"])
    code, shown, error = run("run", path, "--out", tmp_path / "runs", "--dry-run", "--no-trial")
    assert code == 1
    assert shown.splitlines()[2].split() == [
        "method",
        "items",
        "parts",
        "questions",
        "unique",
        "tokens",
        "read",
        "time",
    ]
    assert "2 cells, 12 items, " in shown
    assert "1 cell will fail:\nbert data fr auto: 'data' has no items in 'fr'.\n" in error


def test_a_dry_run_names_data_that_no_metric_of_the_study_fits(folder: Path, tmp_path: Path, run: Run) -> None:
    data, measures = ["demo", "shades_demo"], {"metrics": ["ss", "icat"]}
    path = write(folder, data=data, languages=["en"], measures=measures)
    _, _, error = run("run", path, "--out", tmp_path / "runs", "--dry-run", "--no-trial")
    assert error.count("fits its items") == 1
    assert (
        "shades_demo: none of the metrics of the study (SS, ICAT) fits its items, so it would be scored and not measured\n"
        in error
    )


def test_who_stops_a_study_is_told_how_to_go_on(
    folder: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: Any, **named: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module, "execute", interrupted)
    out = tmp_path / "runs"
    code, _, error = run("run", write(folder), "--out", out)
    assert (code, error) == (130, "Stopped. What is finished is kept; the same command resumes.\n")


def test_a_report_is_written_beside_the_measures(folder: Path, tmp_path: Path, run: Run) -> None:
    pytest.importorskip("matplotlib")
    code, _, error = run("run", write(folder, report="page.html"), "--out", tmp_path / "runs")
    assert code == 0, error
    assert "<html" in (tmp_path / "runs" / "page.html").read_text(encoding="utf-8")


def test_scores_that_no_metric_fits_are_kept_and_it_is_said(folder: Path, tmp_path: Path, run: Run) -> None:
    path = write(folder, measures={"metrics": ["ss"], "by": ["target"], "interval": "wilson"})
    code, _, error = run("run", path, "--out", tmp_path / "runs", "--only", "bert/data/en")
    assert code in (0, 1)
    assert (code == 1) == ("The scores could not be measured: " in error)
    assert len(runs.find_runs(tmp_path / "runs")) == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Which study? Give its file: isogloss run study.yaml"),
        (("nowhere.yaml",), "No such file: nowhere.yaml."),
        (("x.yaml", "--backend", "moon"), "No backend named 'moon'. Known: here, ray."),
        (("x.yaml", "--workers", "2"), "--workers requires --backend ray."),
    ],
)
def test_a_wrong_command_is_told_in_one_line(arguments: tuple[str, ...], sentence: str, run: Run) -> None:
    assert run("run", *arguments) == (2, "", f"Error: {sentence}\n")


@pytest.mark.xdist_group("ray")
@pytest.mark.slow
def test_a_study_on_ray_gives_what_it_gives_here(folder: Path, tmp_path: Path, run: Run) -> None:
    pytest.importorskip("ray")
    path = write(folder, methods=["auto", "likelihood"])
    here, there = tmp_path / "here", tmp_path / "ray"
    code, _, told = run("run", path, "--out", here)
    assert code == 1
    code, shown, error = run("run", path, "--out", there, "--backend", "ray", "--workers", "1")
    failed = "2 cells could not be scored:"
    assert (code, "bert" in shown) == (1, True)
    assert error.partition(failed)[1:] == told.partition(failed)[1:]
    keys = ["language", "method", "id", "candidate"]
    tables = [scored(out).sort(keys) for out in (here, there)]
    assert tables[0].select(keys).equals(tables[1].select(keys))
    assert tables[0]["value"].to_list() == pytest.approx(tables[1]["value"].to_list(), rel=1e-5)
    assert (there / "measures.json").read_text(encoding="utf-8") == (here / "measures.json").read_text(encoding="utf-8")


@pytest.mark.xdist_group("ray")
@pytest.mark.slow
def test_eval_on_ray_gives_what_it_gives_here(folder: Path, tmp_path: Path, run: Run) -> None:
    pytest.importorskip("ray")
    what = ("eval", folder / "bert", "--data", folder / "data", "--language", "en", "--format", "json")
    code, here, error = run(*what, "--out", tmp_path / "here")
    assert code == 0, error
    ray = ("--backend", "ray", "--workers", "1")
    code, there, error = run(*what, "--out", tmp_path / "ray", *ray)
    assert (code, there) == (0, here), error
    code, there, error = run(*what, "--method", "likelihood", "--out", tmp_path / "none", *ray)
    assert (code, there) == (2, "")
    assert error.startswith("Error: ")


def test_a_source_of_several_blocks_is_read_once(folder: Path, tmp_path: Path, run: Run) -> None:
    data = tmp_path / "data"
    shutil.copytree(folder / "data", data)
    write_jsonl(
        data / "odd.jsonl",
        [{key: value for key, value in row.items() if key != "language"} for row in stereoset_rows()],
    )
    blocks = [{"source": str(data), "name": name, "skip_bad": True} for name in ("one", "two")]
    code, _, error = run("run", write(folder, data=blocks, languages=["en", "de"]), "--dry-run")
    assert (code, error.count("Left out: ")) == (0, 1)


# ---- kill -9

SCRIPT = """
import sys
from isogloss.cli import main
sys.argv = ["isogloss", "run", *sys.argv[1:]]
main()
"""


def kill_at(path: Path, out: Path, *, parts: int, wait: float) -> None:
    """Start the study and kill it some time after it has so many parts (those that lie ready count)."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(path), "--out", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while process.poll() is None and len(list(out.rglob("part-*"))) < parts and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(wait)
    assert process.poll() in (None, 0), "the study did not start"
    process.kill()
    process.wait()


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))])
def test_a_study_killed_at_any_moment_gives_the_same_values(
    seed: int, folder: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = [{"source": "data", "where": {"task": "intrasentence"}}]
    path = write(folder, data=data, methods=["pll", "aul", "aula"], loading={"part_size": 3})
    out, other = tmp_path / "runs", tmp_path / "undisturbed"
    rng = random.Random(seed)
    kill_at(path, out, parts=rng.randrange(1, 30), wait=rng.random() * 0.02)
    kept = times(out)
    assert run("run", path, "--out", out)[0] == 0
    assert run("run", path, "--out", other)[0] == 0
    assert {name: stamp for name, stamp in times(out).items() if name in kept} == kept
    assert not list(out.rglob("*.ready"))
    for one, two in zip(runs.find_runs(out), runs.find_runs(other), strict=True):
        for number in range(one.parts):
            assert runs.part_path(one, number).read_bytes() == runs.part_path(two, number).read_bytes()
