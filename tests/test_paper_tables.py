"""Tables for papers: the layout to the byte, ranks with intervals, and a block that the hub's own classes read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import yaml
from huggingface_hub import ModelCard
from huggingface_hub.repocard_data import model_index_to_eval_results
from typer.testing import CliRunner

from isogloss.analysis.intervals import IntervalSettings
from isogloss.analysis.measures import Measure, Measures, measure
from isogloss.analysis.rankings import Rank
from isogloss.cli import app
from isogloss.errors import IsoglossError
from isogloss.reports.chart_data import MONOLINGUAL, MULTILINGUAL, OTHER
from isogloss.reports.figures import FigureRequest
from isogloss.reports.paper.layouts import group_key, metric_grid
from isogloss.reports.paper.model_card import index_as_yaml, model_index
from isogloss.reports.paper.tables import (
    ModelFacts,
    paper_tables,
    papers_as_latex,
    papers_as_markdown,
    papers_as_rows,
)
from isogloss.runs import find_runs, read_scored
from support.reports import neutral_items, write_run

GOLDEN = Path(__file__).parent / "golden" / "tables"
KINDS = {
    "bert_base": MONOLINGUAL,
    "german-bert": MONOLINGUAL,
    "gpt2": MONOLINGUAL,
    "mbert": MULTILINGUAL,
    "mgpt": MULTILINGUAL,
}
NAMES = {"bert_base": "BERT & co_1", "german-bert": "BERT & co_1"}
ORDER = {"bert_base": (1, 1, 2), "gpt2": (2, 1, 2), "mbert": (3, 3, 4), "mgpt": (4, 3, 4)}


def rank(model, metric, place, low, high):
    """A rank in English, intrasentence; the first two may be the best and the others the worst."""
    group = {"dataset": "toy", "language": "en", "task": "intra"}
    ends = {"may_be_best": place < 3, "may_be_worst": place > 2, "better_than": (), "worse_than": ()}
    facts = {"value": 0.0, "first": None, "last": None, "n": 40, "clusters": 12, "mode": "corrected", **ends}
    return Rank(model=model, metric=metric, group=group, rank=place, low=low, high=high, **facts)


RANKS = {
    (metric, group_key(model, {"dataset": "toy", "language": "en", "task": "intra"})): rank(model, metric, *places)
    for metric in ("lms", "ss", "icat")
    for model, places in ORDER.items()
}
MODELS = ModelFacts(KINDS, NAMES, ranks=RANKS)


def tables_of(measures, models=MODELS, *, resamples=10_000, **options):
    return paper_tables(
        measures, models, request=FigureRequest((), settings=IntervalSettings(resamples=resamples)), **options
    )


#         model          language  task   LMS    SS     ICAT
CELLS = (
    ("bert_base", "en", "intra", 85.0, 60.0, 68.0),
    ("gpt2", "en", "intra", 84.0, 41.0, 68.0),
    ("german-bert", "de", "intra", 75.5, 52.0, 72.48),
    ("mbert", "en", "intra", 80.0, 55.0, 72.0),
    ("mbert", "de", "intra", 70.0, 53.0, 65.8),
    ("mgpt", "en", "intra", 80.001, 45.0, 72.009),
    ("mgpt", "de", "intra", 71.0, 48.5, 68.87),
    ("mbert", "en", "inter", 90.0, 50.0, 90.0),
    ("mbert", "en", "", 84.0, 52.5, 79.8),
)


def row(metric, group, value, **facts):
    ends = {"low": value - 2.5, "high": min(100.0, value + 2.5)}
    return Measure(metric, group, value, **{**ends, "n": 40, "ties": 1, "clusters": 12, "mode": "corrected", **facts})


@pytest.fixture(scope="module")
def measures():
    """Some models in English and German; the last has no interval in the other task."""
    rows = []
    for model, language, task, *values in CELLS:
        group = {"model": model, "dataset": "toy", "language": language} | ({"task": task} if task else {})
        more = {"low": None, "high": None, "n": 9, "clusters": 3, "why": "3 clusters"} if task == "inter" else {}
        rows += [row(metric, group, value, **more) for metric, value in zip(("lms", "ss", "icat"), values, strict=True)]
    return Measures(tuple(rows), {"equal_words": 2})


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    for model in ("one", "two"):
        for number, language in enumerate(("en", "fa")):
            facts = {"family": "causal", "languages": ["en", "fa"] if model == "two" else ["en"]}
            write_run(root, neutral_items(language), model=model, wins=20 - 6 * number, facts=facts)
    return root


@pytest.mark.parametrize(("write", "ending"), [(papers_as_latex, "tex"), (papers_as_markdown, "md")])
@pytest.mark.parametrize("intervals", [False, True])
def test_tables_are_equal_to_the_byte(measures, write, ending, intervals):
    text = write(tables_of(measures, intervals=intervals))
    name = f"{'intervals' if intervals else 'plain'}.{ending}"
    assert text == (GOLDEN / name).read_text(encoding="utf-8")


def test_a_table_begins_with_a_capital_and_has_the_metrics_and_notes_of_its_data():
    rows = [row("recognition", {"model": "m", "dataset": name, "language": "en"}, 40.0) for name in ("a", "b")]
    empty = replace(
        rows[0], metric="ss", value=None, low=None, high=None, n=0, why="no item of the group has all roles"
    )
    measured = Measures(
        (*rows, empty, replace(rows[1], metric="ss")), {}, ("m: dequantized", "the intervals are Wilson's")
    )
    first, second = papers_as_latex(tables_of(measured)).split("\n\n")
    assert r"\caption{Recognition on a: n =" in first
    assert "SS" not in first
    assert r"\caption{Recognition and SS on b: n =" in second
    assert r"\par{\footnotesize\raggedright The intervals are Wilson's.\par}" in first
    assert "\n% m: dequantized\n" in first


def test_rows_are_equal_to_the_byte(measures):
    assert papers_as_rows(tables_of(measures)).write_csv() == (GOLDEN / "rows.csv").read_text(encoding="utf-8")


def test_cells_show_the_interval_of_a_rank_and_notes_name_who_may_be_first(measures):
    table = tables_of(measures)[0]
    assert "| 85.00 (1-2) | 75.50 |" in papers_as_markdown([table])
    assert "(1 is best; by SS, nearest 50)" in table.caption
    assert table.table.notes[0] == "LMS: in English, the best is BERT & co_1 or gpt2 and the worst is mbert or mgpt"


def test_two_models_in_one_cell_are_refused(measures):
    with pytest.raises(IsoglossError) as caught:
        tables_of(measures, ModelFacts(KINDS, {**NAMES, "gpt2": "BERT & co_1"}))
    assert str(caught.value) == (
        "Two models would stand in the row 'BERT & co_1' under 'en': bert_base and gpt2. "
        "Give them different labels in the facts."
    )


def test_one_task_can_be_chosen_and_an_unknown_one_is_refused(measures):
    assert [table.task for table in tables_of(measures, ModelFacts(KINDS, NAMES), task="inter")] == ["inter"]
    with pytest.raises(IsoglossError) as caught:
        tables_of(measures, ModelFacts(KINDS, NAMES), task="outer")
    assert str(caught.value) == "There is no table for the task 'outer'. Known: intra, inter, all."


def test_models_of_no_known_kind_stand_last_and_without_ranks_none_is_told():
    rows = tuple(
        row(metric, {"model": model, "dataset": "toy", "language": "en"}, value)
        for model, value in (("x", 40.0), ("y", 60.0))
        for metric in ("answered_yes", "answered_no")
    )
    (table,) = tables_of(Measures(rows, {}), ModelFacts({"y": MULTILINGUAL}))
    assert list(metric_grid(table.table, table.request, order=table.order).blocks.values()) == [MULTILINGUAL, OTHER]
    assert "rank" not in table.caption


def test_the_caption_says_n_mode_and_what_an_interval_is(measures):
    caption = tables_of(measures, ModelFacts(KINDS, NAMES), intervals=True, resamples=500)[0].caption
    for part in (
        "n = 40 items",
        "mode corrected (ties count one half)",
        "95 % intervals over 12 clusters of items",
        "the jackknife's error",
    ):
        assert part in caption


def test_latex_is_balanced_and_escaped(measures):
    text = papers_as_latex(tables_of(measures))
    assert r"BERT \& co\_1" in text
    assert text.count("{") == text.count("}")
    assert text.count(r"\begin{") == text.count(r"\end{")
    body = [line for line in text.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
    assert {line.replace(r"\&", "").count("&") for line in body[:4]} == {6}


# ---- model cards


def test_the_block_is_read_by_the_hubs_own_classes(runs, tmp_path):
    one = find_runs(runs / "one")
    measures = measure(read_scored(one), metrics=["lms", "ss"], resamples=100)
    text = index_as_yaml(model_index(measures, one))
    assert yaml.safe_load(text) == model_index(measures, one)
    card = ModelCard(f"---\n{text}---\n# A model\n")
    assert len(card.data.eval_results) == len(measures) == 4
    name, results = model_index_to_eval_results(yaml.safe_load(text)["model-index"])
    assert name == "one"
    for result, known in zip(results, measures, strict=True):
        assert (result.task_type, result.dataset_type) == ("text-generation", "neutral")
        assert result.dataset_config == known.group["language"]
        assert result.metric_value == round(known.value, 4)
        assert result.metric_args["n"] == known.n
        assert (result.metric_args.get("low") is None) == (known.low is None)
    assert card.data.to_dict()["model-index"] == yaml.safe_load(text)["model-index"]


def test_a_card_speaks_of_one_model(runs):
    found = find_runs(runs)
    with pytest.raises(IsoglossError) as caught:
        model_index(measure(read_scored(found), metrics="ss", resamples=100), found)
    assert str(caught.value) == (
        "A model card describes one model; these runs are of one, two. Give the runs of one of them."
    )


# ---- the command


def run_command(*arguments):
    return CliRunner().invoke(app, ["table", *map(str, arguments), "--resamples", "100"])


def test_the_command_prints_a_table_in_blocks(runs):
    shown = run_command(runs).stdout
    assert "| *monolingual* |" in shown
    assert "LMS: in English and Persian, no model is shown to be better than another" in shown
    assert "| model | LMS en | LMS fa | SS en | SS fa | ICAT en | ICAT fa |" in shown


def test_the_command_writes_parquet_with_full_precision(runs, tmp_path):
    done = run_command(runs, "--format", "parquet", "--out", tmp_path / "t.parquet", "--language", "en")
    assert done.stdout == f"Wrote {tmp_path / 't.parquet'}.\n"
    table = pl.read_parquet(tmp_path / "t.parquet")
    assert set(table["language"]) == {"en"}
    assert table.filter(pl.col("metric") == "ss")["value"].to_list() == pytest.approx([100 * 20 / 24] * 2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--format", "word"), "No format of tables named 'word'. Known: csv, latex, markdown, model-index, parquet."),
        (("--format", "parquet"), "Parquet is not text and cannot be printed. Name a file with `out`."),
        (("--format", "model-index", "--task", "x"), "There is nothing for the task 'x'. Known: intrasentence."),
        (("--out", "/no/such/folder/x.md"), "Cannot write /no/such/folder/x.md (No such file or directory). "),
    ],
)
def test_mistakes_are_told_in_one_sentence(runs, arguments, said):
    assert str(run_command(runs, *arguments).exception).startswith(said)


def test_the_caption_says_what_macro_icat_would_be_without_preferences():
    groups = [{"model": model, "dataset": "toy", "language": "en"} for model in ("x", "y")]
    rows = tuple(
        replace(row("icat_macro", group, 60.0), unbiased=70.0 + number, homogeneous=66.0)
        for number, group in enumerate(groups)
    )
    (table,) = tables_of(Measures(rows, {}), ModelFacts())
    assert (
        "a model without any preference would get 70.0 to 71.0, and one with the same SS for every target 66.0."
        in table.caption
    )
