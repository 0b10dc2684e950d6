"""From a file of sets to numbers: items are scored by auto, kept, and measured by every command."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from isogloss.cli import app
from isogloss.errors import IsoglossError
from support import tiny

SETS = """
[[set]]
id = "plain"
category = "gender"
terms = "gender"
concepts = "adjective"
wordings = [
  { text = "The {gender} is {adjective}.", negated = "The {gender} is not {adjective}." },
  "A {adjective} {gender} was here.",
]

[[set]]
id = "other"
category = "gender"
terms = "gender"
concepts = "adjective"
periphrasis_of = "plain"
wordings = ["The one who is a {gender} is {adjective}.", "A {adjective} one, a {gender}, was here."]
"""
ADJECTIVE = """
category = "adjective"
language = "en"
[terms]
kind = { gloss = "kind", lemma = "kind", group = "good" }
rude = { gloss = "rude", lemma = "rude", group = "bad" }
"""


@pytest.fixture(scope="module", params=["bert", "gpt2"])
def runs(request, tmp_path_factory):
    """Scores of both kinds of items by a tiny model, made on the command line."""
    folder = tmp_path_factory.mktemp(request.param)
    tiny.network(request.param).save_pretrained(folder / "net")
    tiny.tokenizer_of(request.param).save_pretrained(folder / "net")
    (folder / "en").mkdir()
    (folder / "en" / "sets.toml").write_text(SETS, encoding="utf-8")
    (folder / "en" / "adjective.toml").write_text(ADJECTIVE, encoding="utf-8")
    shown = call("eval", folder / "net", "--data", folder / "en" / "sets.toml", "-l", "en", "--out", folder / "runs")
    assert shown.exit_code == 0, shown.exception
    return folder / "runs"


def call(*words: object):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_eval_chooses_the_method_and_measure_has_every_metric_of_templates(runs):
    shown = call("measure", runs, "--format", "json", "--by", "category")
    rows = {row["metric"]: row for row in json.loads(shown.stdout)["measures"]}
    wordings = {"periphrasis", "wording_variance", "wording_flips"}
    assert set(rows) == {"cb", "cb_relative", "top_share", *wordings}
    assert {row["n"] for name, row in rows.items() if name not in wordings} == {8}
    assert rows["periphrasis"]["n"] == 4
    assert {row["clusters"] for name, row in rows.items() if name not in wordings} == {4}


def test_shares_and_negation_are_shown(runs):
    rows = json.loads(call("shares", runs, "--of", "terms", "--format", "json", "--by", "set").stdout)["measures"]
    by_set = {name: [row for row in rows if row["group"]["set"] == name] for name in ("plain", "other")}
    for found in by_set.values():
        assert sum(row["value"] for row in found) == pytest.approx(1)
    text = call("shares", runs, "--of", "terms", "--by", "set")
    assert (text.exit_code, "share" in text.stdout, "\nset" in text.stdout) == (0, True, True), text.exception
    none = call("shares", runs, "--of", "pairs")
    assert isinstance(none.exception, IsoglossError)
    assert str(none.exception).startswith("There are no distributions over the vocabulary among these scores.")
    found = json.loads(call("shares", runs, "--of", "negation", "--format", "json").stdout)["measures"]
    assert [(row["metric"], row["group"]["set"], row["n"]) for row in found] == [("negation", "plain", 2)]
    assert -1 <= found[0]["value"] <= 1


def test_blanks_are_scored_by_distribution_and_name_their_largest_pair(tmp_path):
    tiny.network("bert").save_pretrained(tmp_path / "net")
    tiny.tokenizer_of("bert").save_pretrained(tmp_path / "net")
    shown = call(
        "eval", tmp_path / "net", "--data", "template_blanks", "-l", "en", "--limit", "11", "--out", tmp_path / "runs"
    )
    assert shown.exit_code == 0, shown.exception
    rows = json.loads(call("measure", tmp_path / "runs", "--format", "json", "--mode", "paper").stdout)["measures"]
    assert [(row["metric"], row["n"]) for row in rows] == [
        ("distribution_difference", 10)
    ]  # "Men" and "Women" are both unknown to it
    pairs = json.loads(call("shares", tmp_path / "runs", "--of", "pairs", "--format", "json").stdout)
    assert all(pair["nats"] > 0 and pair["first"] != pair["second"] for pair in pairs)
