"""`import isogloss as ig`: every public function works as its example says, and every result shows itself in one way."""

from __future__ import annotations

import doctest
import html
import inspect
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import polars as pl
import pytest
from tests.support import tiny

import isogloss as ig
from isogloss.analysis.agreements import agree
from isogloss.analysis.explanations import explain_scores
from isogloss.analysis.mixed import fit_mixed
from isogloss.analysis.study import Failure, Study
from isogloss.annotation.sheets import SheetForm, read_sheet, write_sheet
from isogloss.studies.robustness import check_robustness
from support.scores import assert_same_scores

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "library.md"
VERBS = [name for name in ig.__all__ if name.islower() and inspect.isfunction(getattr(ig, name))]
STUDY = """\
name: first
models: [smollm2, other]
data: [demo]
languages: [en]
measures: {metrics: [lms, ss], resamples: 200}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tiny models in place of real ones, a run of two of them, and a study of both."""
    folder = tmp_path_factory.mktemp("library")
    items = ig.read("demo", language="en")
    for name, kind, run in (("smollm2", "gpt2", "mine"), ("other", "bloom", "other")):
        tiny.network(kind).save_pretrained(folder / name)
        tiny.tokenizer_of(kind).save_pretrained(folder / name)
        ig.score(items, model=folder / name, out=folder / "runs" / run)
    tiny.save_talker(folder / "smollm2-chat")
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    write_answers(folder)
    return folder


def write_answers(folder: Path) -> None:
    """Answers of another tool as a file and as a run, sheets that two people filled in, and labels of the demonstration."""
    answers = "statement,answer,verdict,language\nTea is warm.,Yes.,no,en\nRain is dry.,No.,no,en\n"
    (folder / "answers.csv").write_text(answers, encoding="utf-8")
    ig.import_answers(folder / "answers.csv", out=folder / "runs" / "answers", question="agree")
    sheet = ig.sheet(folder / "runs" / "answers", folder / "empty.csv")
    lines = [row for _, row in read_sheet(sheet)]
    for name in ("filled", "other"):
        rows = [row | {"label": "yes" if row["text"].startswith("Tea") else "no"} for row in lines]
        write_sheet(folder / f"{name}.csv", rows, form=SheetForm(list(rows[0])))
    items = ig.read("demo", language="en")
    known = [f"{item.id},stereotype,{'' if n % 2 else 'no '}stereotype,en" for n, item in enumerate(items)]
    (folder / "known.csv").write_text("\n".join(["item,question,label,language", *known]) + "\n", encoding="utf-8")


@pytest.fixture
def scored(folder: Path, monkeypatch: pytest.MonkeyPatch) -> ig.Scored:
    """The scores of both runs, and the folder with them as the working directory."""
    monkeypatch.chdir(folder)
    return ig.load(["runs/mine", "runs/other"])


@pytest.fixture(scope="module")
def results(folder: Path) -> Iterator[dict[str, Any]]:
    """One result of every kind, with the folder of the runs as the working directory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield results_of(ig.load(["runs/mine", "runs/other"]))


def results_of(scored: ig.Scored) -> dict[str, Any]:
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
        "Study": ig.run("study.yaml", out="runs/study"),
        "VerdictCounts": ig.verdicts("runs/answers"),
        "VerdictDifferences": ig.compare_verdicts("runs/answers"),
        "CorrectedRates": ig.correct("runs/answers", ig.read_labels("filled.csv")),
        "LabelAgreements": ig.label_agreement(ig.read_labels(["filled.csv", "other.csv"])),
        "KnownDifferences": ig.bleeding("runs/mine", ig.read_labels("known.csv"), resamples=100),
        "Robustness": check_robustness(ig.read("demo", language="en"), model=tiny.model("gpt2"), resamples=100),
    }


def test_every_result_prints_shows_and_exports_itself(results):
    for name, result in results.items():
        assert len(repr(result)) < 120, name
        assert "\n" not in repr(result), name
        assert len(str(result).splitlines()) > 1, name
        assert result._repr_html_().startswith(("<div", "<table", "<pre")), name
        table = result.to_polars()
        assert isinstance(table, pl.DataFrame), name
        assert table.height > 0, name
        assert list(result.to_pandas().columns) == table.columns, name
        assert json.loads(result.to_json()) == json.loads(json.dumps(result.to_dict())), name


def test_the_table_of_a_nested_result_has_one_row_per_part(results):
    assert results["Structures"].to_polars().select("a", "b").rows() == [("other", "smollm2")]
    assert results["Probe"].to_polars()["term"].sort().to_list() == ["doctor", "nurse"]
    assert {"name", "status", "part_difference", "p_holm"} <= set(results["GateResult"].to_polars().columns)
    assert {"setting", "task", "value"} <= set(results["Robustness"].to_polars().columns)


def test_the_items_of_a_large_set_have_a_short_repr():
    assert repr(ig.read("demo", language=["en", "de"])) == "Items(192 items of demo in de, en)"


def test_only_public_names_are_listed():
    assert {"ask", "measure", "read", "run", "score"} <= set(VERBS) == {name for name in ig.__all__ if name.islower()}
    assert set(dir(ig)) == {*ig.__all__, "__version__"}
    assert sorted(ig.__all__) == ig.__all__
    for name in set(ig.__all__) - {
        "Changes",
        "Measures",
        "Comparisons",
        "Rankings",
    }:  # names of Results of one kind of row
        assert getattr(ig, name).__doc__, name


def isogloss_classes(annotation: Any) -> Iterator[type]:
    """The classes of Isogloss in a type."""
    kind = get_origin(annotation) or annotation
    if inspect.isclass(kind) and kind.__module__.startswith("isogloss."):
        yield kind
    for inner in get_args(annotation):
        yield from isogloss_classes(inner)


def test_every_class_in_the_signature_of_a_public_function_is_public():
    public = {name: getattr(ig, name) for name in ig.__all__}
    hints = [hint for name in VERBS for hint in get_type_hints(public[name], localns=public).values()]
    classes = {kind.__name__ for hint in hints for kind in isogloss_classes(hint)}
    assert {"AskSettings", "Cluster", "Model", "Progress", "WrittenFigure"} <= classes <= set(public)


def test_a_study_with_a_failed_cell_says_which_and_why(scored, tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(STUDY.replace("smollm2, other", "./nowhere, " + str(Path("other").resolve())), encoding="utf-8")
    result = ig.run(path, out=tmp_path / "runs")
    why = "No such model folder: nowhere."
    assert repr(result) == "Study(96 scored items, 2 runs, 1 failure)"
    for text in (str(result), html.unescape(result._repr_html_())):
        assert f"1 cell could not be scored:\n./nowhere demo en auto: {why}" in text
    assert [failure["why"] for failure in result.to_dict()["failures"]] == [why]
    assert result.to_polars().equals(result.measures.to_polars())


def test_a_study_that_was_not_measured_says_so():
    failure = Failure("mine", "demo", "en", "auto", "No memory.")
    result = Study(None, failures=(failure,), problems=("The report could not be written: disk full",))
    assert str(result) == (
        "Nothing was measured.\n\n1 cell could not be scored:\nmine demo en auto: No memory.\n"
        "The report could not be written: disk full"
    )
    assert repr(result) == "Study(1 failure, 1 problem)"
    assert result.to_polars().is_empty()
    assert result.to_dict() == {
        "measures": [],
        "problems": {},
        "notes": ["The report could not be written: disk full"],
        "failures": [asdict(failure)],
    }


def test_one_source_or_several_are_read():
    both = ig.read(["demo", "parallel_demo"], language="de")
    assert both.rows == (*ig.read("demo", language="de"), *ig.read("parallel_demo", language="de"))
    assert ig.read(["demo"], language="de") == ig.read("demo", language="de")


def test_one_model_or_several_score_and_answer(scored):
    items = ig.Items(ig.read("demo", language="en").rows[:3])
    alone = [ig.score(items, model=name) for name in ("smollm2", "other")]
    names = ig.score(items, model=["smollm2", Path("other"), "smollm2"])
    assert_same_scores(names.table, ig.join(*alone).table)
    mixed = ig.score(items, model=["smollm2", tiny.model("bloom")])
    assert set(mixed.table["model"]) == {"smollm2", tiny.model("bloom").info.name}
    settings = ig.AskSettings(max_tokens=2)
    asked = ig.ask(items, model=["smollm2-chat"], settings=settings)
    assert_same_scores(asked.table, ig.ask(items, model="smollm2-chat", settings=settings).table)


def test_controls_take_scores_with_their_data(scored):
    mine, items = ig.load("runs/mine"), ig.read("demo", language="en")
    assert ig.controls(mine, data=items, resamples=100) == ig.controls("runs/mine", resamples=100)
    assert ig.controls(mine, data="demo", resamples=100) == ig.controls("runs/mine", resamples=100)


NO_SCORES = "{} takes scored items: what isogloss.score gives, or isogloss.load('runs/mine')."
FOLDER = "Give one table of scores; several are joined with isogloss.join(a, b)."
NO_MODEL = "A model is a name, a folder or an open model. Give one of these, or a list of them."
ONE_PROBE = "probe takes one model, one template and one language. Probe several one after another."
REFUSED = [
    (lambda scored: ig.read([]), "No data was given. Use `data` with a data set's name, a file or a folder."),
    (lambda scored: ig.score(ig.read("demo", language="en"), model=[]), NO_MODEL),
    (lambda scored: ig.score(ig.read("demo", language="en"), model=3), NO_MODEL),
    (lambda scored: ig.score(ig.read("demo", language="en"), model=["other", "./no"]), "No such model folder: no."),
    (
        lambda scored: ig.score(
            ig.read("demo", language="en"), model=[tiny.model("gpt2"), tiny.model("gpt2").info.name]
        ),
        f"Two models are called '{tiny.model('gpt2').info.name}'. Score them one after another.",
    ),
    (
        lambda scored: ig.score(["demo"], model="other"),
        "score takes items. Read them first: items = isogloss.read('demo', language='en')",
    ),
    (lambda scored: ig.run(["study.yaml"]), "run takes one study file. Run several one after another."),
    (lambda scored: ig.probe(["other", "smollm2"], "The [nurse|doctor] is kind."), ONE_PROBE),
    (lambda scored: ig.probe("other", ["The [nurse|doctor] is kind."]), ONE_PROBE),
    (
        lambda scored: ig.controls(scored),
        "Scores do not hold the texts that controls need. Give the items too: data=items.",
    ),
    (
        lambda scored: ig.controls(scored, data=ig.read("demo", language="de")),
        "The data does not have the scored item '{id}'. Give the items that were scored.",
    ),
    (
        lambda scored: ig.load([]),
        "No runs were given. Give a folder of runs, such as 'runs/mine', or a list of folders.",
    ),
    (lambda scored: ig.structure([scored, scored], over="model"), FOLDER),
    (lambda scored: ig.gate([scored], ["lms > 60"]), FOLDER),
    (lambda scored: ig.report([scored, scored], "report.html"), FOLDER),
    (lambda scored: ig.figure(["forest"], "runs/mine"), "Give one figure by its name, not ['forest']."),
    (lambda scored: ig.join(), NO_SCORES.format("join")),
    (lambda scored: ig.join([scored, scored]), NO_SCORES.format("join")),
    (lambda scored: ig.measure("runs/mine"), NO_SCORES.format("measure")),
    (lambda scored: ig.compare(scored, "runs/other"), NO_SCORES.format("compare")),
    (lambda scored: ig.rank_models("runs/mine"), NO_SCORES.format("rank_models")),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_a_function_does_not_take_is_refused_in_one_sentence(number, scored):
    call, sentence = REFUSED[number]
    with pytest.raises(ig.IsoglossError) as refused:
        call(scored)
    assert str(refused.value) == sentence.replace("{id}", scored.table["id"][0])


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
    assert len(ig.load("runs/mine", where=["category!=gender"])) == 76
    assert len(ig.load("runs/mine", where="category=Race,gender")) == 48
    with pytest.raises(ig.IsoglossError, match=r"^'gender' does not select scores\. Write it as column=value\.$"):
        ig.load("runs/mine", where="gender")
    with pytest.raises(ig.IsoglossError, match=r"^No score has category=gender and category!=gender\."):
        ig.load("runs/mine", where={"category": "gender", "category!": "gender"})
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


def test_a_condition_is_written_the_same_for_items_and_for_scores(scored):
    for where in ("category=gender", {"category": "gender"}, {"category": ["gender"]}, ["category=gender"]):
        assert len(ig.read("demo", language="en", where=where)) == 20
        assert len(ig.load("runs/mine", where=where)) == len(ig.load(scored, where=where)) == 20
    two = {"category": ["gender", "race"]}
    assert len(ig.read("demo", language="en", where=two)) == len(ig.load("runs/mine", where=two)) == 48


def test_a_trial_takes_some_of_the_items():
    items = ig.read("demo", language=["en", "de"], limit=6, seed=2)
    assert Counter((item.language, item.tags["task"]) for item in items) == Counter(
        {(tag, task): 6 for tag in ("en", "de") for task in ("intrasentence", "intersentence")}
    )
    assert isinstance(items[:4], ig.Items)
    assert list(items[:4]) == list(items)[:4]


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
    assert "Parameters:" in text
    test = doctest.DocTestParser().get_doctest(text, {"ig": ig}, name, None, None)
    assert test.examples, "no example"
    told: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=told.append)
    assert told == []


@pytest.mark.slow
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
    for name in VERBS:
        text = inspect.getdoc(getattr(ig, name)) or ""
        told = re.findall(r"^    (\w+): ", text.split("Parameters:")[1].split("Example:")[0], re.M)
        assert told == list(inspect.signature(getattr(ig, name)).parameters), name


def test_a_source_that_cannot_be_used_says_what_to_give_instead(folder):
    with pytest.raises(ig.IsoglossError) as caught:
        ig.load({"a": 1.0})  # type: ignore[arg-type]
    assert str(caught.value) == (
        "A dictionary is not a source of scores. Write it to a JSON file and name the items that it belongs to, as in "
        "isogloss.load('scores.json', data='demo')."
    )
    with pytest.raises(ig.IsoglossError) as caught:
        ig.describe_methods(ig.load(folder / "runs" / "mine"))  # type: ignore[arg-type]
    assert str(caught.value) == "Scores do not say how they were made. Give the folder of their runs."
