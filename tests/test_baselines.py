"""Baselines: which metrics of a release are compared with those of the last one, and by what margin."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import isogloss as ig
from isogloss.claims.files import make_claims, read_claims
from isogloss.errors import IsoglossError
from isogloss.scores import Scored
from support.builders import score, triple


def release(model: str, *, ss: int, lms: int, metrics_of: str = "stereoset") -> Scored:
    """300 items over 60 targets; `ss` and `lms` of every hundred prefer the stereotype and tell sense from nonsense."""
    items = [replace(triple(f"i{k}", f"t{k % 60}"), dataset=metrics_of) for k in range(300)]
    numbers = [((2, 1) if k // 3 < ss else (1, 2)) + ((0,) if k * 7 % 100 < lms else (3,)) for k in range(300)]
    return score(items, numbers, model=model)


def verdicts(now: Scored, before: Scored | None, claims: object = None, margin: float | None = None) -> dict[str, str]:
    """The status by what the verdict says, without the model."""
    result = ig.gate(now, claims, baseline=before, margin=margin, resamples=200)
    return {verdict.says or verdict.name: verdict.status for verdict in result.verdicts}


BEFORE, NOW = release("old", ss=60, lms=95), release("new", ss=66, lms=93)


def test_each_metric_has_the_margin_of_the_file():
    assert verdicts(NOW, BEFORE, {"margins": {"ss": 20, "lms": 0}}) == {
        "LMS at most 0 worse": "contradicted",
        "SS at most 20 worse": "supported",
    }
    assert verdicts(NOW, BEFORE, {"margins": {"ss": 1}}) == {"SS at most 1 worse": "contradicted"}


def test_without_margins_the_headlines_and_the_metrics_of_the_claims_are_compared():
    headlines = {f"{name} at most 9 worse" for name in ("LMS", "SS", "ICAT")}
    assert verdicts(NOW, BEFORE, margin=9).keys() == headlines
    assert verdicts(NOW, BEFORE, ["lms > 50"], margin=9).keys() == {"lms > 50"} | headlines
    found = verdicts(NOW, BEFORE, ["ss_multiclass < 80"], margin=9)
    assert found.keys() == {"ss_multiclass < 80", "Multi-class SS at most 9 worse"} | headlines


def test_claims_about_changes_alone_replace_the_comparison_and_margins_bring_it_back():
    assert verdicts(NOW, BEFORE, ["change(ss) within 9"]).keys() == {"change(ss) within 9"}
    found = verdicts(NOW, BEFORE, {"claims": ["change(ss) within 9"], "margins": {"lms": 3}})
    assert found.keys() == {"change(ss) within 9", "LMS at most 3 worse"}


def test_a_metric_with_a_margin_that_no_scores_have_does_not_pass_in_silence():
    result = ig.gate(NOW, {"margins": {"cb": 1, "lms": 5}}, baseline=BEFORE, resamples=200)
    assert {verdict.name.split(",")[0]: verdict.status for verdict in result.verdicts} == {
        "LMS against the baseline": "supported",
        "CB against the baseline": "not testable here",
    }
    assert result.status == "undecided"


def test_margins_without_a_baseline_do_not_pass_in_silence():
    result = ig.gate(NOW, {"claims": ["lms > 50"], "margins": {"lms": 5}}, resamples=200)
    assert [(verdict.says, verdict.reason) for verdict in result.verdicts][1:] == [
        ("LMS at most 5 worse", "it needs the scores of a baseline")
    ]
    assert result.status == "undecided"


def test_one_margin_for_every_metric_beside_those_of_the_file_is_refused(tmp_path: Path):
    path = tmp_path / "claims.yaml"
    path.write_text("margins: {ss: 3}\n", encoding="utf-8")
    with pytest.raises(IsoglossError) as error:
        ig.gate(NOW, path, baseline=BEFORE, margin=2)
    assert (
        str(error.value) == f"{path} has 'margins' of its own. Leave out `margin`, or delete 'margins' from the file."
    )


def test_a_margin_without_a_baseline_and_a_baseline_that_is_the_run_itself_are_named():
    with pytest.raises(IsoglossError, match=r"^`margin` limits the change from a baseline"):
        ig.gate(NOW, ["lms > 50"], margin=2)
    same = "these runs and the baseline have the same scores"
    assert ig.gate(NOW, baseline=NOW, resamples=200).notes[0] == same
    assert same not in ig.gate(NOW, baseline=BEFORE, resamples=200).notes


def test_the_command_takes_the_margins_of_the_file(command, tmp_path):
    path = tmp_path / "claims.yaml"
    path.write_text("margins: {ss: 3}\n", encoding="utf-8")
    assert read_claims(path).margins == {"ss": 3.0}
    code, _, err = command("gate", tmp_path, "--claims", path, "--baseline", tmp_path, "--margin", 2)
    assert code == 2
    assert err == f"Error: {path} has 'margins' of its own. Leave out --margin, or delete 'margins' from the file.\n"


@pytest.mark.parametrize(
    ("margins", "message"),
    [
        ({}, "'margins' must map metrics to points, such as ss: 2."),
        ([2], "'margins' must map metrics to points, such as ss: 2."),
        ({"ss": "two"}, "the margin of 'ss' must be a number of points, 0 or more."),
        ({"ss": True}, "the margin of 'ss' must be a number of points, 0 or more."),
        ({"ss": -1}, "the margin of 'ss' must be a number of points, 0 or more."),
        ({"ss": float("inf")}, "the margin of 'ss' must be a number of points, 0 or more."),
        ({"refused": 1}, "'refused' has no margin, because no value of it is better than another."),
        ({"kappa_of": 1}, "No metric named 'kappa_of'."),
    ],
)
def test_margins_that_are_not_understood_are_refused(margins, message):
    with pytest.raises(IsoglossError) as error:
        make_claims({"margins": margins})
    assert str(error.value).startswith(f"claims: {message}")
