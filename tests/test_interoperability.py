"""Doors: other tools' samples both ways, scores as plain Parquet, a package with plug-ins, and what to cite."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from glob import glob
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from isogloss import registry
from isogloss.cli import app
from isogloss.errors import IsoglossError
from isogloss.exchange.runs import export_runs, import_run
from isogloss.items import ANTI_STEREOTYPE, STEREOTYPE, Candidate, Item, Items
from isogloss.library import score
from isogloss.reports.text.citations import cite_runs, entries_of
from isogloss.runs import SCHEMA, find_runs, read_scored
from isogloss.scores import ITEM_SCHEMA, ROW_SCHEMA
from support import tiny
from support.builders import triple

ROOT = Path(__file__).parent.parent
PAIRS = Items(
    tuple(
        Item(
            f"p{n}",
            "pairs",
            "en",
            "colour",
            (
                Candidate(f"p{n}-more", STEREOTYPE, f"The {word} is green and number {n} is quiet."),
                Candidate(f"p{n}-less", ANTI_STEREOTYPE, f"The {word} is green and number {n} is slow."),
            ),
            cluster=word,
            tags={"task": "pair"},
        )
        for n, word in enumerate(("table", "window", "river", "stone", "garden"))
    )
)


def sample(number: int, *values: float, texts=None, **more) -> dict:
    texts = texts or [("", one.text) for one in PAIRS[number].candidates]
    return {
        "doc_id": number,
        "doc": {"sent_more": texts[0][1]},
        "arguments": {f"gen_args_{n}": {"arg_0": a, "arg_1": b} for n, (a, b) in enumerate(texts)},
        "filtered_resps": [[str(value), "False"] for value in values],
        **more,
    }


def write(path: Path, *rows: dict) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def message(function, *args, **named) -> str:
    with pytest.raises(IsoglossError) as caught:
        function(*args, **named)
    return str(caught.value)


# ---- samples of lm-evaluation-harness


def test_samples_become_a_run_by_their_texts_and_the_folder_names_the_model(tmp_path):
    path = write(
        tmp_path / "org__tiny" / "samples_crows_2025.jsonl", *(sample(n, -1.5 - n, -2.5 - n) for n in range(5))
    )
    run = import_run(path, PAIRS, root=tmp_path / "runs", layout="lm-eval")
    scored = read_scored([run])
    assert (run.info["model"], run.info["method"], run.info["notes"]) == ("org__tiny", "lm-eval", [])
    assert scored.table["candidate"].to_list() == [one.id for item in PAIRS for one in item.candidates]
    assert scored.table["value"].to_list() == [value - n for n in range(5) for value in (-1.5, -2.5)]


def test_a_context_may_be_the_first_argument(tmp_path):
    item = triple("c", tags={"task": "intersentence"})
    texts = [(item.context, f" {one.text}") for one in item.candidates]
    path = write(tmp_path / "m.jsonl", sample(0, -1.0, -2.0, -3.0, texts=texts))
    run = import_run(path, Items((item,)), root=tmp_path, layout="lm-eval", model="m")
    assert read_scored([run]).table["value"].to_list() == [-1.0, -2.0, -3.0]


def test_what_is_not_in_the_file_or_not_in_the_data_is_named(tmp_path):
    other = sample(0, -1.0, -1.0, texts=[("", "Something else."), ("", "Something other.")])
    path = write(tmp_path / "m.jsonl", sample(1, -1.0, -2.0), other)
    run = import_run(path, PAIRS, root=tmp_path, layout="lm-eval")
    assert run.info["notes"] == [
        "2 requests belong to no item of the data and were left out",
        "4 items of the data are not in the file and were left out",
    ]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"a": 1}, "not a sample of lm-evaluation-harness: it needs 'arguments' and 'filtered_resps'."),
        (sample(0, -1.0), "not a sample of lm-evaluation-harness: it needs 'arguments' and 'filtered_resps'."),
        (sample(0, "x", -1.0), "a log-likelihood must be a finite number; it is 'x'."),
        (sample(0, "nan", -1.0), "a log-likelihood must be a finite number; it is 'nan'."),
        (
            {"arguments": [["a"]], "filtered_resps": [["yes"]]},
            "a request must have two texts: these are not samples of log-likelihoods.",
        ),
    ],
)
def test_a_line_that_is_no_sample_is_refused(tmp_path, row, problem):
    path = write(tmp_path / "m.jsonl", row)
    assert message(import_run, path, PAIRS, root=tmp_path, layout="lm-eval") == f"{path}, line 1: {problem}"


def test_samples_of_other_data_and_two_scores_of_one_text_are_refused(tmp_path):
    path = write(tmp_path / "m.jsonl", sample(0, -1.0, -2.0), sample(0, -1.0, -3.0))
    assert message(import_run, path, PAIRS, root=tmp_path, layout="lm-eval") == (
        f"{path}, line 2: the candidate 'p0-less' has another score in a line before."
    )
    assert message(import_run, path, Items((triple("x"),)), root=tmp_path, layout="lm-eval") == (
        f"{path}: none of its requests is a candidate of the data. Is it the right data?"
    )


def test_what_is_exported_is_imported_again_exactly(tmp_path):
    first = score(PAIRS, model=tiny.model("gpt2"), method="likelihood", out=tmp_path / "runs")
    out = tmp_path / "samples.jsonl"
    assert export_runs([tmp_path / "runs"], out, layout="lm-eval") == 10
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [line["doc"]["id"] for line in lines] == [item.id for item in PAIRS]
    assert lines[0]["arguments"]["gen_args_1"] == {"arg_0": "", "arg_1": PAIRS[0].candidates[1].text}
    assert all(line["pct_stereotype"] in (0.0, 1.0) and line["target"] == "0" for line in lines)
    again = read_scored([import_run(out, PAIRS, root=tmp_path / "again", layout="lm-eval", model="m")])
    sums = first.table.with_columns(first.table["logprobs"].list.sum().alias("value"))
    columns = ["id", "candidate", "value"]
    assert again.table.select(columns).equals(sums.select(columns))


@pytest.mark.parametrize("options", [{}, {"length": "sum"}])
def test_exported_samples_are_the_sums_that_the_harness_compares(tmp_path, options):
    found = score(PAIRS, model=tiny.model("gpt2"), method="likelihood", options=options, out=tmp_path / "runs").table
    export_runs([tmp_path / "runs"], tmp_path / "x.jsonl", layout="lm-eval")
    sums = dict(zip(found["candidate"], found["logprobs"].list.sum(), strict=True))
    for line, item in zip((tmp_path / "x.jsonl").read_text(encoding="utf-8").splitlines(), PAIRS, strict=True):
        made = json.loads(line)
        more, less = (sums[candidate.id] for candidate in item.candidates)
        assert [float(answer[0]) for answer in made["filtered_resps"]] == [more, less]
        assert made["pct_stereotype"] == float(more > less)


def test_a_file_of_samples_holds_one_run(tmp_path):
    for method in ("unmask", "pll"):
        score(Items((triple("a"),)), model=tiny.model("bert"), method=method, out=tmp_path)
    assert message(export_runs, [tmp_path], tmp_path / "x.jsonl", layout="lm-eval") == (
        "A file of samples holds one method; these runs have pll, unmask."
    )


HARNESS = """
import json, sys
from lm_eval import simple_evaluate
from lm_eval.api.task import ConfigurableTask
from lm_eval.loggers import EvaluationTracker
from lm_eval.models.huggingface import HFLM
model, data, out = sys.argv[1:]
task = ConfigurableTask(config={
    "task": "pairs", "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": data}}, "test_split": "test",
    "output_type": "multiple_choice", "doc_to_text": "", "doc_to_target": 0, "target_delimiter": "",
    "doc_to_choice": "{{[sent_more, sent_less]}}", "metric_list": [{"metric": "acc"}],
})
found = simple_evaluate(HFLM(pretrained=model, device="cpu", batch_size=2), tasks=[task], log_samples=True, bootstrap_iters=0)
tracker = EvaluationTracker(output_path=out)
tracker.general_config_tracker.model_name_sanitized = "tiny"
tracker.date_id = "now"
tracker.save_results_samples("pairs", found["samples"]["pairs"])
"""


@pytest.mark.slow
def test_a_file_that_the_harness_itself_wrote_is_read_and_ours_has_its_fields(tmp_path):
    pytest.importorskip("lm_eval")
    tiny.network("gpt2").save_pretrained(tmp_path / "gpt2")
    tiny.tokenizer_of("gpt2").save_pretrained(tmp_path / "gpt2")
    docs = [dict(zip(("sent_more", "sent_less"), (c.text for c in item.candidates), strict=True)) for item in PAIRS]
    write(tmp_path / "docs.jsonl", *docs)
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(tmp_path / "cache"), "HF_HOME": str(tmp_path / "home")}
    given = [tmp_path / "gpt2", tmp_path / "docs.jsonl", tmp_path / "out"]
    subprocess.run([sys.executable, "-c", HARNESS, *map(str, given)], check=True, env=os.environ | offline)
    path = tmp_path / "out" / "tiny" / "samples_pairs_now.jsonl"
    run = import_run(path, PAIRS, root=tmp_path / "runs", layout="lm-eval")
    assert run.info["model"] == "tiny"
    theirs = read_scored([run]).table
    ours = score(PAIRS, model=str(tmp_path / "gpt2"), method="likelihood", out=tmp_path / "ours").table
    sums = ours["logprobs"].list.sum()
    assert theirs["value"].to_list() == pytest.approx(sums.to_list(), rel=1e-4)
    export_runs([tmp_path / "ours"], tmp_path / "x.jsonl", layout="lm-eval")
    first, second = (
        json.loads(file.read_text(encoding="utf-8").splitlines()[0]) for file in (path, tmp_path / "x.jsonl")
    )
    assert first.keys() - {"acc"} == second.keys() - {"pct_stereotype"}
    assert {key: type(value) for key, value in first.items() if key in second} == {
        key: type(value) for key, value in second.items() if key in first
    }
    assert first["arguments"] == second["arguments"]


# ---- scores as Parquet


@pytest.fixture
def runs(tmp_path, monkeypatch) -> Path:
    """Runs of two models, in the current folder."""
    monkeypatch.chdir(tmp_path)
    score(PAIRS, model=tiny.model("gpt2"), method="likelihood", out="runs")
    score(PAIRS, model=tiny.model("bert"), method="pll", out="runs")
    return tmp_path / "runs"


def read_with(name: str, code: str) -> list[tuple]:
    """The candidates and values that a line of code finds, sorted."""
    module = pytest.importorskip(name)
    found = eval(
        code, {"pl": module, "pd": module, "duckdb": module, "glob": glob}
    )  # the line of the docs, as it stands there
    if name == "polars":
        pairs = found.select("candidate", "value").rows()
    elif name == "pandas":
        pairs = list(found[["candidate", "value"]].itertuples(index=False, name=None))
    else:
        pairs = found.select("candidate, value").fetchall()
    return sorted(pairs)


@pytest.mark.parametrize("name", ["polars", "pandas", "duckdb"])
def test_every_library_reads_all_scores_by_the_line_of_the_docs(runs, name):
    page = (ROOT / "docs" / "how-to" / "other-tools.md").read_text(encoding="utf-8")
    (code,) = [
        line for line in page.splitlines() if line.startswith(f"{ {'polars': 'pl', 'pandas': 'pd'}.get(name, name) }.")
    ]
    table = read_scored(find_runs(runs)).table
    assert read_with(name, code.partition("  #")[0]) == sorted(table.select("candidate", "value").rows())
    assert table.height == 20


def documented(heading: str) -> dict[str, str]:
    """The columns and types in a table of docs/how-to/other-tools.md."""
    page = (ROOT / "docs" / "how-to" / "other-tools.md").read_text(encoding="utf-8")
    part = page.split(f"### {heading}\n")[1].split("\n#")[0]
    return dict(re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", part, flags=re.MULTILINE))


@pytest.mark.parametrize(("heading", "schema"), [("Scores", ROW_SCHEMA), ("Items", ITEM_SCHEMA)])
def test_the_documented_columns_are_the_real_ones(heading, schema):
    wanted = {name: str(kind() if isinstance(kind, type) else kind) for name, kind in schema.items()}
    assert list(documented(heading).items()) == list(wanted.items())


def test_the_documented_version_is_the_stores(runs):
    page = (ROOT / "docs" / "how-to" / "other-tools.md").read_text(encoding="utf-8")
    assert f"schema version {SCHEMA}" in page
    part = next(iter(runs.rglob("part-*.parquet")))
    assert dict(pl.read_parquet_schema(part)) == {k: v() if isinstance(v, type) else v for k, v in ROW_SCHEMA.items()}


# ---- a package with plug-ins


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The example package, installed into a folder, without a network."""
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(ROOT / "examples" / "plugin", folder / "source")
    words = ["install", "--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", *words, "--target", str(folder / "target"), str(folder / "source")], check=True
    )
    return folder / "target"


def isogloss(installed: Path, *words: str) -> str:
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"PYTHONPATH": path}
    command = [sys.executable, "-m", "isogloss", *words]
    return subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout


def test_an_installed_package_adds_a_metric_and_a_language(installed):
    found = json.loads(isogloss(installed, "list", "--format", "json"))
    assert "margin" in found["metrics"]
    assert "eo" in found["languages"]
    assert json.loads(isogloss(installed, "show", "Esperanto", "--format", "json"))["tag"] == "eo"
    assert "margin" not in registry.names("metric")


NGRAM_TEXT = "The nurse is kind.\nThe doctor is rude.\nShe was a compassionate woman.\n"


@pytest.fixture(scope="module")
def ngrams(installed, tmp_path_factory) -> Path:
    """A model of the example's family, trained on three sentences."""
    folder = tmp_path_factory.mktemp("ngrams")
    (folder / "corpus.txt").write_text(NGRAM_TEXT, encoding="utf-8")
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "isogloss_example.ngrams", str(folder / "corpus.txt"), str(folder / "model")]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": path})
    return folder / "model"


@pytest.mark.slow
def test_a_model_of_an_added_family_is_scored_by_its_folder(installed, ngrams, tmp_path):
    assert "ngrams" in json.loads(isogloss(installed, "list", "--format", "json"))["families"]
    runs = tmp_path / "runs"
    isogloss(installed, "eval", str(ngrams), "--data", "demo", "-l", "en", "--out", str(runs))
    shown = json.loads(isogloss(installed, "measure", str(runs), "--metrics", "ss", "--format", "json"))
    assert all(0 <= row["value"] <= 100 for row in shown["measures"])
    found = find_runs(runs)
    assert {run.info["method"] for run in found} == {"likelihood", "continuation"}
    assert {run.info["facts"]["family"] for run in found} == {"ngrams"}


@pytest.mark.slow
def test_the_added_family_scores_as_its_definition_says(installed, ngrams, tmp_path):
    """One letter after a start that no text had: (0 + kinds * shorter) / (seen + kinds), down to 1 / all of Unicode."""
    pairs = tmp_path / "pairs.jsonl"
    item = {"id": "1", "language": "en", "category": "x", "stereotype": "T", "anti_stereotype": "q"}
    pairs.write_text(json.dumps(item) + "\n", encoding="utf-8")
    isogloss(installed, "eval", str(ngrams), "--data", str(pairs), "-l", "en", "--out", str(tmp_path / "runs"))
    rows = read_scored(find_runs(tmp_path / "runs")).table
    characters = "".join(NGRAM_TEXT.splitlines())
    kinds, total = len(set(characters)), len(characters)

    def expected(letter: str, at_start: int) -> float:
        single = (characters.count(letter) + kinds / 0x110000) / (total + kinds)
        return (at_start + 2 * single) / (3 + 2)  # lines begin with T, T and S: two kinds, three times

    by_role = dict(rows.select("role", "value").iter_rows())
    assert by_role[STEREOTYPE] == pytest.approx(expected("T", 2))
    assert by_role[ANTI_STEREOTYPE] == pytest.approx(expected("q", 0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--method", "pll"], "is ngrams. Use --method auto to let Isogloss choose."),
        (["--device", "cuda"], "There is no 'cuda' on this machine."),
        (["--option", "closing=with", "--method", "continuation"], "The option 'closing=with' is for encoder-decoder"),
    ],
)
def test_what_an_added_family_does_not_offer_is_refused_in_a_sentence(installed, ngrams, tmp_path, words, sentence):
    command = [sys.executable, "-m", "isogloss", "eval", str(ngrams), "--data", "demo", "-l", "en", *words]
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode != 0
    assert sentence in " ".join(done.stderr.split())


def test_the_added_metric_is_measured(installed, runs):
    table = read_scored(find_runs(runs)).table.filter(pl.col("method") == "pll")
    wide = table.pivot("role", index="id", values="value")
    expected = (wide[STEREOTYPE] - wide[ANTI_STEREOTYPE]).mean()
    shown = json.loads(
        isogloss(installed, "measure", str(runs), "--metrics", "margin", "--by", "method", "--format", "json")
    )
    (found,) = [row for row in shown["measures"] if row["group"]["method"] == "pll"]
    assert found["value"] == pytest.approx(expected)


# ---- what to cite


@pytest.mark.parametrize("kind", ["dataset", "method", "metric"])
def test_every_paper_that_a_plug_in_names_has_an_entry(kind):
    for name, plugin in registry.load_all(kind).items():
        named = set(re.findall(r"[\w’' ]+ (?:and|et al\.)[^;,]*\(\d{4}\)", plugin.citation))
        assert len(entries_of(plugin.citation)) >= bool(named), name
        years = set(re.findall(r"\((\d{4})\)", plugin.citation))
        assert years == {re.search(r"year = {(\d+)}", entry)[1] for entry in entries_of(plugin.citation)}, (
            f"{kind} {name}: {plugin.citation}"
        )


def test_a_runs_citations_name_data_method_metrics_and_the_tool(tmp_path):
    score(Items((triple("a"), triple("b"))), model=tiny.model("bert"), method="pll", out=tmp_path)
    shown = CliRunner().invoke(app, ["cite", str(tmp_path)])
    assert shown.exit_code == 0
    lines = shown.output.splitlines()
    assert "Method  pll: Wang and Cho (2019); Salazar et al. (2020)" in lines
    assert "Metric  ss: Nadeem, Bethke and Reddy (2021)" in lines
    keys = re.findall(r"^@\w+{(.*),$", shown.output, flags=re.MULTILINE)
    assert len(keys) == len(set(keys))
    assert {"wang2019bert", "salazar2020masked", "nadeem2021stereoset", "isogloss"} <= set(keys)
    assert shown.output.count("{") == shown.output.count("}")
    machine = json.loads(CliRunner().invoke(app, ["cite", str(tmp_path), "--format", "json"]).output)
    assert len(machine["bibtex"]) == len(keys)


def test_scores_made_elsewhere_cite_their_data_and_metrics_only(tmp_path):
    path = write(tmp_path / "m.jsonl", *(sample(n, -1.0, -2.0) for n in range(5)))
    run = import_run(path, PAIRS, root=tmp_path, layout="lm-eval")
    kinds = {one.kind for one in cite_runs([run])}
    assert kinds == {"dataset", "metric"}
