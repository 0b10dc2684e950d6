"""`import isogloss as ig`: every public function works as its example says, and every result shows itself in one way."""

from __future__ import annotations

import doctest
import inspect
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.support import tiny

import isogloss as ig
from isogloss.analysis.agreements import agree
from isogloss.analysis.explanations import explain_scores
from isogloss.analysis.mixed import fit_mixed
from isogloss.studies.robustness import check_robustness

PAGE = Path(__file__).parent.parent / "docs" / "library.md"
VERBS = ["compare", "controls", "figure", "gate", "join", "load", "measure", "probe", "read", "report", "score"]
VERBS += ["rank_models", "structure", "table"]
WITHOUT_EXAMPLE = {"score"}  # its example is the first one of docs/library.md


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two tiny models in place of real ones, and a run of each."""
    folder = tmp_path_factory.mktemp("library")
    items = ig.read("demo", language="en")
    for name, kind, run in (("smollm2", "gpt2", "mine"), ("other", "bloom", "other")):
        tiny.network(kind).save_pretrained(folder / name)
        tiny.tokenizer_of(kind).save_pretrained(folder / name)
        ig.score(items, model=str(folder / name), out=folder / "runs" / run)
    return folder


@pytest.fixture
def scored(folder: Path, monkeypatch: pytest.MonkeyPatch) -> ig.Scored:
    """The scores of both runs, and the folder with them as the working directory."""
    monkeypatch.chdir(folder)
    return ig.load(["runs/mine", "runs/other"])


def results(scored: ig.Scored) -> dict[str, Any]:
    """One result of every kind."""
    mine, other = ig.load("runs/mine"), ig.load("runs/other")
    measures = ig.measure(mine, metrics="ss", by="category", resamples=100)
    return {
        "Items": ig.read("demo", language="en"),
        "Scored": scored,
        "Measures": measures,
        "Comparisons": ig.compare(mine, other, resamples=100),
        "Agreements": agree(measures, measures),
        "Controls": ig.controls("runs/mine", resamples=100),
        "Structures": ig.structure(scored, over="model"),
        "Explanations": explain_scores(mine, metrics="ss"),
        "GateResult": ig.gate(mine, ["lms > 60"], baseline=other, resamples=100),
        "MixedModel": fit_mixed(scored),
        "Rankings": ig.rank_models(scored, metric="lms", resamples=100),
        "Probe": ig.probe("smollm2", "The [nurse|doctor] is kind."),
        "Robustness": check_robustness(ig.read("demo", language="en"), model=tiny.model("gpt2"), resamples=100),
    }


def test_every_result_prints_shows_and_exports_itself(scored):
    for name, result in results(scored).items():
        assert len(repr(result)) < 120, name
        assert "\n" not in repr(result), name
        assert len(str(result).splitlines()) > 1, name
        assert result._repr_html_().startswith(("<div", "<table", "<pre")), name
        table = result.to_polars()
        assert isinstance(table, pl.DataFrame), name
        assert table.height > 0, name
        assert list(result.to_pandas().columns) == table.columns, name
        assert json.loads(result.to_json()) == json.loads(json.dumps(result.to_dict())), name


def test_the_table_of_a_nested_result_has_one_row_per_part(scored):
    found = results(scored)
    assert found["Structures"].to_polars().select("a", "b").rows() == [("other", "smollm2")]
    assert found["Probe"].to_polars()["term"].sort().to_list() == ["doctor", "nurse"]
    assert {"name", "status", "part_difference", "p_holm"} <= set(found["GateResult"].to_polars().columns)
    assert {"setting", "task", "value"} <= set(found["Robustness"].to_polars().columns)


def test_the_items_of_a_large_set_have_a_short_repr():
    assert repr(ig.read("demo", language=["en", "de"])) == "Items(192 items of demo in de, en)"


def test_only_public_names_are_listed():
    assert set(VERBS) <= {name for name in dir(ig) if not name[0].isupper()}
    assert set(dir(ig)) == {*ig.__all__, "__version__"}
    assert sorted(ig.__all__) == ig.__all__
    for name in set(ig.__all__) - {"Measures", "Comparisons", "Rankings"}:  # names of Results of one kind of row
        assert getattr(ig, name).__doc__, name


def test_one_name_may_stand_where_several_may(scored):
    assert ig.load("runs/mine", languages="en").table.equals(ig.load(["runs/mine"], languages=["English"]).table)
    both = [ig.measure(scored, metrics=names, by=names_by, resamples=100) for names, names_by in (("ss", "model"), (["ss"], ["model"]))]  # fmt: skip
    assert both[0].rows == both[1].rows
    tables = [ig.table("runs/mine", metrics=names, languages=tags, resamples=100) for names, tags in (("ss", "en"), (["ss"], ["en"]))]  # fmt: skip
    assert tables[0] == tables[1]


def test_scores_are_loaded_by_the_values_of_their_columns(scored):
    found = ig.load("runs/mine", where={"category": "gender"})
    assert len(found) == 20
    assert found.table.equals(ig.load("runs/mine", where="category=gender").table)
    with pytest.raises(
        ig.IsoglossError, match=r"^'category!=gender' does not select scores\. Write it as column=value\.$"
    ):
        ig.load("runs/mine", where=["category!=gender"])
    assert ig.load(["runs/mine", "runs/other"], where={"model": "other"}).table["model"].unique().to_list() == ["other"]


def test_predictions_are_loaded_with_their_data(scored, tmp_path):
    items = ig.read("demo", language="en")
    rows = [{"id": one.id, "score": -len(one.text)} for item in items for one in item.candidates]
    (tmp_path / "short.json").write_text(json.dumps({"intrasentence": rows}), encoding="utf-8")
    assert repr(ig.load(tmp_path / "short.json", data="demo", languages="en")) == (
        "Scored(96 items, 288 rows: short · predictions · demo · en)"
    )
    assert len(ig.load(tmp_path / "short.json", data=items)) == 96
    with pytest.raises(ig.IsoglossError, match="it needs its data"):
        ig.load(tmp_path / "short.json")


def test_a_gate_takes_a_file_a_list_or_an_object(scored, tmp_path):
    path = tmp_path / "claims.yaml"
    path.write_text("claims: [lms < 99]\nmin_n: 10\n", encoding="utf-8")
    found = [
        ig.gate("runs/mine", one, resamples=100) for one in (path, ["lms < 99"], {"claims": ["lms < 99"], "min_n": 10})
    ]
    assert found[0].verdicts == found[2].verdicts
    assert {one.status for one in found} <= {"passed", "undecided"}
    with pytest.raises(
        ig.IsoglossError, match=r"^claims: claim 'ss >= 0': 'ss >= 0' can never fail, so it claims nothing\.$"
    ):
        ig.gate("runs/mine", ["ss >= 0"])


def test_a_notebook_shows_a_figure_that_was_not_written(scored):
    found = ig.figure("forest", "runs/mine", resamples=100)
    assert found.path is None
    assert found._repr_png_().startswith(b"\x89PNG")


def test_measures_that_are_not_there_say_so():
    assert str(ig.Results(())) == "Nothing was found."


@pytest.mark.parametrize("name", VERBS)
def test_the_example_of_each_public_function_runs(name, scored):
    text = inspect.getdoc(getattr(ig, name)) or ""
    assert "Parameters:" in text or name in {"join", *WITHOUT_EXAMPLE}
    if name in WITHOUT_EXAMPLE:
        return
    test = doctest.DocTestParser().get_doctest(text, {"ig": ig}, name, None, None)
    assert test.examples, "no example"
    told: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=told.append)
    assert told == []


def test_the_examples_of_the_page_run(scored, capsys):
    blocks = re.findall(
        r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8").split("<!-- generated")[0], re.M | re.S
    )
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert blocks
    assert Path("report.html").is_file()


def test_every_parameter_of_a_public_function_is_explained():
    for name in set(VERBS) - WITHOUT_EXAMPLE - {"join"}:
        text = inspect.getdoc(getattr(ig, name)) or ""
        told = re.findall(r"^    (\w+): ", text.split("Parameters:")[1].split("Example:")[0], re.M)
        assert told == list(inspect.signature(getattr(ig, name)).parameters), name
