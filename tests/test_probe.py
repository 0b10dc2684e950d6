"""Probing: shares of a template's terms, from masked and causal models, as bars and as JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from isogloss import registry
from isogloss.cli import app
from isogloss.errors import IsoglossError
from isogloss.models.engine import run_all
from isogloss.reports.text.table import bars_as_text
from isogloss.studies.probe import ProbeRequest, probe_items, run_probe
from support import tiny

NURSE = ProbeRequest("The [nurse|doctor] is kind.")


@pytest.mark.parametrize(("name", "method", "options"), [("bert", "pll", {"length": "sum"}), ("gpt2", "likelihood", {"start": "auto", "length": "mean", "template": "plain"})])  # fmt: skip
def test_shares_are_those_of_the_sentences_probabilities(name, method, options):
    model = tiny.model(name)
    found = run_probe(model, NURSE)
    rows = run_all(model, [registry.get("method", method).ask(probe_items(NURSE)[0], model, options=options)])[0]
    logs = np.array([sum(row.logprobs) for row in rows])
    wanted = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    assert {one.term: one.share for one in found.shares} == pytest.approx(
        dict(zip(("nurse", "doctor"), wanted, strict=True))
    )
    assert (found.method, found.sentences, found.concepts) == (method, 2, 1)
    assert found.shares[0].share >= found.shares[1].share


def test_a_category_is_averaged_over_the_concepts_of_the_other_slot():
    found = run_probe(tiny.model("gpt2"), ProbeRequest("The {gender} is [kind|rude]."))
    assert {one.term for one in found.shares} == {"kind", "rude"}  # what stands in brackets is compared
    assert found.concepts == 2
    other = run_probe(tiny.model("gpt2"), ProbeRequest("The {gender} is [kind|rude].", terms="gender"))
    assert {one.term for one in other.shares} == {"man", "woman"}
    for one in other.shares:
        assert one.share == pytest.approx(np.mean(list(one.by_concept.values())))
    assert sum(one.share for one in other.shares) == pytest.approx(1)


def test_words_agree_in_other_languages_too():
    texts = {
        c.role: c.text
        for item in probe_items(ProbeRequest("{ο~gender} {gender:pl nom}.", "el"))
        for c in item.candidates
    }
    assert texts == {"man": "Οι άντρες.", "woman": "Οι γυναίκες."}
    assert [c.text for c in probe_items(ProbeRequest("他是[医生|护士]。", "zh"))[0].candidates] == [
        "他是医生。",
        "他是护士。",
    ]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (ProbeRequest("Nothing here."), "The template has no slot. Write one, such as {gender}, or terms in brackets: [nurse|doctor]."),
        (ProbeRequest("A {profession}", terms="gender"), "No slot named 'gender'. Known: profession."),
    ],
)  # fmt: skip
def test_a_template_without_such_a_slot_is_refused(question, message):
    with pytest.raises(IsoglossError) as caught:
        probe_items(question)
    assert str(caught.value) == message


def test_too_many_sentences_are_refused():
    with pytest.raises(IsoglossError, match="Use `limit="):
        probe_items(ProbeRequest("{nationality_1:pl} met {nationality_2:pl}."))
    with pytest.raises(IsoglossError, match="No language named 'Elbonian'"):
        probe_items(ProbeRequest("x [a|b]", "Elbonian"))


def test_bars_are_as_long_as_the_shares():
    shown = bars_as_text([("man", 0.75, "x"), ("护士", 0.25, "")], width=8)
    assert shown.splitlines() == ["man   ██████     75.0 %  x", "护士  ██         25.0 %"]


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "tiny-gpt2"
    tiny.network("gpt2").save_pretrained(path)
    tiny.tokenizer_of("gpt2").save_pretrained(path)
    return path


def test_the_command_prints_bars_or_json(folder):
    call = ["probe", str(folder), NURSE.template, "--offline"]
    shown = CliRunner().invoke(app, call)
    assert shown.exit_code == 0
    assert "· en · likelihood · 2 sentences" in shown.output
    assert "The nurse is kind." in shown.output
    found = json.loads(CliRunner().invoke(app, [*call, "--format", "json"]).stdout)
    assert {one["term"] for one in found["shares"]} == {"nurse", "doctor"}
    assert sum(one["share"] for one in found["shares"]) == pytest.approx(1)
