"""Gates: limits with the interval in mind, and files that cannot be understood."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from isogloss import runs
from isogloss.analysis.gates import Gate, Limit, check_gate, overall, read_gate
from isogloss.cli import main
from isogloss.errors import IsoglossError
from isogloss.items import Items
from isogloss.reports.text.sentences import explain_verdict
from isogloss.scores import Scored, item_table
from support.builders import score, triple


def scored(share: int, *, n: int = 100, clusters: int = 20) -> Scored:
    """`share` of every hundred items prefer the stereotype, by chance spread over the clusters."""
    lots = np.random.default_rng(0).permutation(n) * 100 // n
    items = [triple(f"i{k}", f"t{k % clusters}", category=["race", "gender"][k % 2]) for k in range(n)]
    return score(items, [(2, 1, 0) if lots[k] < share else (1, 2, 0) for k in range(n)])


def status(share: int, limit: Limit, *, strict: bool = False) -> tuple[str, str]:
    """The status of the one verdict, and that of the gate."""
    found = check_gate(scored(share), Gate((limit,)), resamples=300)
    return found[0].status, overall(found, strict=strict)


@pytest.mark.parametrize(
    ("share", "expected", "strictly"),
    [(90, "failed", "failed"), (62, "undecided", "failed"), (58, "undecided", "failed"), (30, "passed", "passed")],
)
def test_only_a_whole_interval_passes_or_fails(share, expected, strictly):
    limit = Limit("ss", None, 60)
    assert status(share, limit) == (expected, expected)
    assert status(share, limit, strict=True) == (expected, strictly)


def test_a_lower_limit_works_the_other_way_round():
    assert status(10, Limit("ss", 40, None))[0] == "failed"
    assert status(90, Limit("ss", 40, None))[0] == "passed"


def test_limits_may_speak_of_some_groups_only():
    found = check_gate(
        scored(90), Gate((Limit("ss", None, 60, {"category": "race", "language": "en"}),)), resamples=100
    )
    assert [(one.measure.group["category"], one.measure.n) for one in found] == [("race", 50)]


@pytest.mark.parametrize("share", [50, 90])
def test_without_an_interval_nothing_is_decided(share):
    few = scored(share, n=40, clusters=4)
    verdict = check_gate(few, Gate((Limit("ss", None, 60),)))[0]
    assert explain_verdict(verdict) == (
        f"undecided  tiny, en: SS {share}.0, n = 40; limit at most 60: no interval (4 clusters; an interval needs 10)"
    )


def test_a_limit_that_speaks_of_nothing_is_an_error():
    with pytest.raises(IsoglossError) as caught:
        check_gate(scored(50), Gate((Limit("ss", None, 60, {"language": "de"}),)))
    assert str(caught.value) == "The limit on 'ss' applies to language de, which these runs do not have."


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "limits.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_becomes_a_gate(tmp_path):
    text = "strict: true\nmode: paper\nlimits:\n- {metric: ss, within: 5}\n- {metric: lms, min: 70, where: {bias_type: race}}\n"
    found = read_gate(write(tmp_path, text))
    assert found == Gate((Limit("ss", 45, 55), Limit("lms", 70, None, {"category": "race"})), "paper", True)


NEEDS = "a gate needs 'limits', a list of objects with 'metric' and 'min', 'max' or 'within'."
BAD = {
    "limits: [": (1, "not YAML."),
    "": (None, NEEDS),
    "limits: 3": (None, NEEDS),
    "limits: [{metric: ss, max: 5}]\nstrikt: true": (
        None,
        "No key named 'strikt'. Did you mean 'strict'? Known: limits, min_n, mode, strict.",
    ),
    "limits: [{metric: ss, maxx: 5}]": (
        None,
        "No key named 'maxx'. Did you mean 'max'? Known: max, metric, min, where, within.",
    ),
    "limits: [5]": (None, "limit 1 must be an object with 'metric' and 'min', 'max' or 'within'."),
    "limits: [{metric: ss}]": (None, "limit 1 needs 'min', 'max', or 'within' alone."),
    "limits: [{metric: ss, within: 5, max: 5}]": (None, "limit 1 needs 'min', 'max', or 'within' alone."),
    "limits: [{metric: ss, max: five}]": (None, "limit 1: 'max' must be a number."),
    "limits: [{metric: ss, min: 6, max: 5}]": (None, "limit 1 cannot be kept: its 'min' is above its 'max'."),
    "limits: [{metric: ss, max: 6, where: de}]": (
        None,
        "limit 1: 'where' must map columns to values, such as language: de.",
    ),
    "limits: [{metric: lms, within: 6}]": (
        None,
        "limit 1: 'lms' has no neutral point, so 'within' means nothing. Use 'min' or 'max'.",
    ),
    "limits: [{metric: ss, max: 6}]\nmode: papr": (
        None,
        "No mode named 'papr'. Did you mean 'paper'? Known: corrected, paper.",
    ),
    "limits: [{metric: ss, max: 6}]\nmin_n: 0": (None, "'min_n' must be a whole number of items, 1 or more."),
    "limits: [{metric: ss, max: 6}]\nstrict: 3": (None, "'strict' must be true or false."),
}


@pytest.mark.parametrize("text", BAD)
def test_what_is_not_understood_is_refused_by_name(tmp_path, text):
    path = write(tmp_path, text)
    with pytest.raises(IsoglossError) as caught:
        read_gate(path)
    line, problem = BAD[text]
    assert str(caught.value) == f"{path}{f', line {line}' if line else ''}: {problem}"


def test_an_unknown_metric_is_named_with_the_known_ones(tmp_path):
    with pytest.raises(IsoglossError) as caught:
        read_gate(write(tmp_path, "limits: [{metric: icatt, min: 1}]"))
    assert "limit 1: No metric named 'icatt'. Did you mean 'icat'? Known: " in str(caught.value)


def stored(folder: Path, share: int) -> Path:
    """A finished run on disk."""
    found = scored(share)
    items = Items(tuple(triple(f"i{k}", f"t{k % 20}", category=["race", "gender"][k % 2]) for k in range(100)))
    names = ["dataset", "id", "language", "candidate", "against", "quantity", "value", "tokens", "unknown"]
    rows = found.table.select([*names, "truncated", "pieces", "logprobs", "vector", "why"])
    info = {"model": "tiny", "dataset": "stereoset", "language": "en", "method": "likelihood", "parts": 1}
    run = runs.open_run(folder, info=info | {"fingerprint": {"share": share}}, items=item_table(items))
    runs.write_part(run, 0, rows=rows)
    runs.finish_run(run)
    return folder


@pytest.mark.parametrize(("share", "code"), [(90, 1), (30, 0)])
def test_the_command_exits_with_one_when_a_limit_is_violated(tmp_path, monkeypatch, capsys, share, code):
    path = write(tmp_path, "limits: [{metric: ss, max: 60}]")
    words = ["isogloss", "gate", str(stored(tmp_path / "runs", share)), "--limits", str(path), "--resamples", "200"]
    for extra in ([], ["--format", "json"]):
        monkeypatch.setattr(sys, "argv", [*words, *extra])
        with pytest.raises(SystemExit) as left:
            main()
        assert (left.value.code or 0) == code
        shown = capsys.readouterr().out
        assert json.loads(shown)["passed"] is (code == 0) if extra else shown.startswith(["passed", "failed"][code])
