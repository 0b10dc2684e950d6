"""The commands about certainty, as a user types them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from isogloss.cli import main
from isogloss.items import Items
from isogloss.runs import finish_run, open_run, write_part
from isogloss.scores import ROW_SCHEMA, item_table
from support import tiny
from support.builders import score, triple


@pytest.fixture
def call(monkeypatch, capsys):
    """Run the command line: exit code, standard output, standard error."""

    def run(*words) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["isogloss", *map(str, words)])
        with pytest.raises(SystemExit) as left:
            main()
        shown = capsys.readouterr()
        return int(left.value.code or 0), shown.out, shown.err

    return run


def write_run(folder: Path, wins: str, *, model: str = "m", language: str = "en", prefix: str = "i") -> None:
    """A finished run; each letter of `wins` is an item, `s` where the stereotype is preferred."""
    items = [triple(f"{prefix}{k}", f"t{k % 12}", language=language) for k in range(len(wins))]
    scored = score(items, [(2, 1, 0) if letter == "s" else (1, 2, 0) for letter in wins], model=model)
    info = {"model": model, "dataset": "stereoset", "language": language, "method": "likelihood", "parts": 1}
    run = open_run(folder, info=info | {"fingerprint": {"wins": wins}}, items=item_table(Items(tuple(items))))
    write_part(run, 0, rows=scored.table.select(list(ROW_SCHEMA)))
    finish_run(run)


FEW, MANY = "sa" * 30 + "sas" * 4, "ssa" * 24


@pytest.fixture
def runs(tmp_path) -> Path:
    """Two models in two languages."""
    for model in ("x", "y"):
        for language in ("en", "de"):
            write_run(tmp_path / model, MANY if model == "x" else FEW, model=model, language=language)
    return tmp_path


def test_two_folders_are_compared_language_by_language(call, runs):
    code, out, _ = call("compare", runs / "x", runs / "y", "--metrics", "ss", "--format", "json", "--resamples", 200)
    rows = json.loads(out)["comparisons"]
    assert (code, [row["group"]["language"] for row in rows]) == (0, ["de", "en"])
    assert (rows[0]["a"], rows[0]["b"], rows[0]["n"]) == ({"model": "x"}, {"model": "y"}, 72)


def test_a_side_that_is_no_condition_is_refused_with_an_example(call, runs):
    code, _, error = call("compare", runs, "--a", "smollm2", "--b", "language=de")
    assert (code, error) == (
        2,
        "Error: 'smollm2' does not select scores. Write it as column=value, such as model=smollm2 or language=en.\n",
    )


@pytest.mark.parametrize(("form", "start"), [("csv", "language,"), ("latex", "\\noindent"), ("markdown", "| ")])
def test_languages_of_one_folder_are_compared_in_every_form(call, runs, form, start):
    words = ["compare", runs / "x", "--a", "language=en", "--b", "language=de", "--resamples", 100, "--format", form]
    code, out, _ = call(*words)
    assert (code, "a is en; b is de" in out) == (0, True)
    assert out.startswith(start) or form == "csv"


def test_prediction_files_are_compared_with_their_data(call, tmp_path):
    rows, content = [], {}
    for k in range(20):
        ids = {"stereotype": f"{k}s", "anti-stereotype": f"{k}a", "unrelated": f"{k}u"}
        cells = [{"id": i, "gold_label": r, "sentence": f"A {r}.", "word": r} for r, i in ids.items()]
        rows.append({"id": str(k), "task": "intrasentence", "language": "en", "target": f"t{k}", "bias_type": "race"})
        rows[-1] |= {"context": "A BLANK.", "candidates": cells}
        content |= {f"{k}s": 0.3, f"{k}a": 0.2, f"{k}u": 0.1}
    data = tmp_path / "items_en.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for name, factor in (("one", 1), ("two", -1)):
        scores = [{"id": i, "score": v * factor} for i, v in content.items()]
        (tmp_path / f"{name}.json").write_text(json.dumps({"intrasentence": scores}), encoding="utf-8")
    paths = [tmp_path / "one.json", tmp_path / "two.json"]
    code, out, _ = call("compare", *paths, "--data", data, "--metrics", "ss", "--format", "json", "--resamples", 100)
    assert (code, json.loads(out)["comparisons"][0]["difference"]) == (0, 100)
    assert call("compare", *paths)[::2] == (
        2,
        f"Error: {paths[0]} is a file of predictions, so it needs its data. Use --data with a file or a folder.\n",
    )
    assert call("compare", *paths, "--data", data, "--a", "language=de")[::2] == (
        2,
        "Error: No language of the data named 'de'. Known: en.\n",
    )


def test_agreement_is_over_models_or_languages(call, tmp_path):
    for model, wins in (("x", MANY), ("y", FEW), ("z", "s" * 72), ("w", "a" * 72)):
        for language in ("en", "de"):
            write_run(tmp_path / "all", wins, model=model, language=language)
    words = ["agreement", tmp_path / "all", "--a", "language=en", "--b", "language=de"]
    code, out, _ = call(*words, "--format", "json")
    assert (code, json.loads(out)["agreements"][0]["n"]) == (0, 4)
    assert "same side" in call(*words, "--against", "icat")[1]


MISTAKES = {
    "one": (["compare", "{x}"], "Give two runs to compare, or one folder and what to choose in it, such as --a language=en and --b language=de."),
    "a": (["compare", "{x}", "--a", "language=fr", "--b", "language=de"], "No language named 'fr'. Known: de, en."),
    "no run": (["compare", "{x}", "no/such"], "No such run: no/such. Make one with: isogloss eval MODEL --data demo --out no/such"),
    "no claims": (["gate", "{x}", "--claims", "no.yaml"], "No such file: no.yaml."),
    "structure": (["structure", "{x}", "--over", "model"], "Structure needs two models or more, and these runs have one only (x). Give runs of other models, or use --over language."),
    "interval": (["measure", "{x}", "--interval", "wilsn"], "No interval named 'wilsn'. Did you mean 'wilson'? Known: auto, bca, bootstrap, wilson."),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line(call, runs, name):
    words, message = MISTAKES[name]
    paths = {"x": str(runs / "x"), "y": str(runs / "y")}
    assert call(*(word.format(**paths) for word in words)) == (2, "", f"Error: {message}\n")


def test_runs_that_are_not_parallel_are_refused_and_can_be_compared_unpaired(call, runs):
    write_run(runs / "other", MANY, model="o", prefix="z")
    words = ["compare", runs / "x", runs / "other", "--a", "language=en", "--metrics", "ss", "--resamples", 100]
    assert call(*words) == (
        2,
        "",
        "Error: Only 0 of 72 items are on both sides, so they cannot be compared item by item; "
        "use --unpaired to compare them as independent samples.\n",
    )
    code, out, _ = call(*words, "--unpaired")
    assert (code, "compared as independent samples: n counts the items of both sides" in out) == (0, True)


@pytest.mark.slow
def test_structure_controls_and_explain_print_text_and_json(call, runs):
    words = {
        "structures": ["structure"],
        "controls": ["controls"],
        "explanations": ["explain"],
    }
    for key, command in words.items():
        code, out, err = call(*command, runs / "x", "--format", "json")
        assert (code, err, list(json.loads(out))) == (0, "", [key, "notes"])
        assert call(*command, runs / "x")[0] == 0
    assert "effect" in call("mixed", runs)[1]
    assert json.loads(call("mixed", runs, "--format", "json")[1])["targets"] == 12


def test_intervals_can_be_chosen(call, runs):
    found = {
        kind: json.loads(call("measure", runs / "y", "--metrics", "ss", "--format", "json", "--interval", kind)[1])
        for kind in ("bootstrap", "bca", "wilson")
    }
    assert found["bootstrap"]["notes"] == []
    assert found["bca"]["notes"] == ["the intervals are bias-corrected and accelerated (BCa)"]
    assert found["wilson"]["measures"][0]["low"] is None


def test_eval_with_controls_makes_control_items_that_measure_leaves_out(call, tmp_path):
    tiny.network("gpt2").save_pretrained(tmp_path / "net")
    tiny.tokenizer_of("gpt2").save_pretrained(tmp_path / "net")
    out = tmp_path / "runs"
    words = ["eval", tmp_path / "net", "--data", "demo", "-l", "en", "--limit", 12, "--out", out, "--format", "json"]
    code, shown, _ = call(*words, "--controls", "--metrics", "ss")
    assert (code, [row["n"] for row in json.loads(shown)["measures"]]) == (0, [12, 12, 24])
    names = [
        one["name"] for one in json.loads(call("controls", out, "--format", "json", "--resamples", 100)[1])["controls"]
    ]
    assert {"score", "neutral items", "shuffled items", "permuted labels", "fewer tokens"} <= set(names)
    assert [
        row["n"] for row in json.loads(call("measure", out, "--metrics", "ss", "--format", "json")[1])["measures"]
    ] == [
        12,
        12,
        24,
    ]


@pytest.mark.slow
def test_robustness_prints_a_card(call, tmp_path):
    tiny.network("gpt2").save_pretrained(tmp_path)
    tiny.tokenizer_of("gpt2").save_pretrained(tmp_path)
    words = ["robustness", tmp_path, "--data", "demo", "-l", "en", "--limit", 6]
    code, out, _ = call(*words)
    assert (code, "bfloat16" in out, "tokens per batch" in out) == (0, True, True)
