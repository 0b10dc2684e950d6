"""Claims about a change: what a baseline makes of `change(ss) within 2`."""

from __future__ import annotations

import json

import numpy as np
import pytest

import isogloss as ig
from isogloss.claims.files import make_claims
from isogloss.claims.language import parse_claim
from isogloss.errors import IsoglossError
from support.builders import score, triple

CLUSTERS, EACH = 40, 15
HEADLINES = ("lms", "ss", "icat")


def run_of(model: str, *, flips: float = 0.0, drift: float = 0.0, category: str = "", seed: int = 0) -> ig.Scored:
    """One model; of its items, `flips` turn either way and `drift` to the stereotype, in one category or in all."""
    draws = np.random.default_rng(0).random(CLUSTERS * EACH) < 0.6
    rng = np.random.default_rng(seed + 1)
    items, rows = [], []
    for k, base in enumerate(draws):
        kind = "gender" if k % 2 else "race"
        moved = category in ("", kind)
        prefers = bool(base) != (moved and rng.random() < flips)
        prefers = prefers or (moved and rng.random() < drift)
        items.append(triple(f"i{k}", f"t{k % CLUSTERS:02}", category=kind))
        rows.append((2.0, 1.0, 0.0) if prefers else (1.0, 2.0, 0.0))
    return score(items, rows, model=model)


def gate(after: ig.Scored, before: ig.Scored | None, *says: str) -> ig.GateResult:
    return ig.gate(after, {"claims": list(says), "adjust": "none"}, baseline=before, resamples=300)


def test_a_change_within_the_margin_is_supported_one_beyond_it_contradicted_and_a_noisy_one_undecided():
    before = run_of("old")
    after = {"same": run_of("new"), "moved": run_of("new", drift=0.5), "noisy": run_of("new", flips=0.2)}
    statuses = {name: gate(scored, before, "change(ss) within 2").verdicts[0].status for name, scored in after.items()}
    assert statuses == {"same": "supported", "moved": "contradicted", "noisy": "undecided"}
    assert gate(after["moved"], before, "change(ss) within 2").status == "failed"


def test_the_interval_of_a_change_is_that_of_the_paired_comparison():
    before, after = run_of("old"), run_of("new", flips=0.1, drift=0.1)
    part = gate(after, before, "change(ss) within 12").verdicts[0].part
    row = ig.compare(after, before, metrics="ss", resamples=300)[0]
    assert (part.difference, part.low, part.high) == pytest.approx((row.difference, row.low, row.high))
    assert (part.a, part.b) == ("SS of new, en", "SS of the baseline, en")
    assert gate(after, before, f"change(ss) within {row.high + 0.1:.2f}").passed
    assert not gate(after, before, f"change(ss) within {row.high - 0.1:.2f}").passed


def test_a_scope_finds_the_one_group_that_changed():
    before, after = run_of("old"), run_of("new", drift=0.6, category="gender")
    found = gate(after, before, "change(ss(race)) within 2", "for every category: change(ss) within 2").verdicts
    assert [one.status for one in found] == ["supported", "contradicted"]
    assert found[1].part.a == "SS of new, en, gender"


def test_with_several_models_each_is_compared_with_itself():
    before = ig.join(run_of("one"), run_of("two", drift=0.5))
    result = gate(ig.join(run_of("one"), run_of("two", drift=0.5)), before, "change(ss) within 1")
    assert result.passed
    assert result.verdicts[0].parts == 4


def test_without_a_baseline_the_claim_is_not_testable_and_the_gate_does_not_pass():
    result = gate(run_of("new"), None, "change(ss) within 2")
    assert result.verdicts[0].reason == "it needs the scores of a baseline"
    assert result.status == "undecided"


def test_a_file_that_only_limits_changes_gets_no_verdict_on_what_is_worse():
    before, after = run_of("old"), run_of("new")
    assert len(gate(after, before, "change(ss) within 2").verdicts) == 1
    assert len(gate(after, before, "change(ss) within 2", "lms > 50").verdicts) == 2 + len(HEADLINES)


def test_a_change_that_no_data_could_exceed_is_refused():
    with pytest.raises(IsoglossError, match=r"^'change\(ss\) within 100' can never fail, so it claims nothing\.$"):
        parse_claim("change(ss) within 100")
    with pytest.raises(IsoglossError, match="cannot be understood"):
        make_claims({"claims": ["change(ss) > 2"]})


def test_the_verdict_is_written_as_json_like_every_other():
    result = gate(run_of("new"), run_of("old"), "change(ss) within 2")
    assert json.loads(result.to_json())["verdicts"][0]["status"] == "supported"
