"""Planned sizes: the power that a plan promises, languages, costs, and what is no pilot."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import isogloss as ig
from isogloss.analysis.study import load_study
from isogloss.errors import IsoglossError
from isogloss.stats.resampling import student_quantile
from isogloss.studies.sizes import find_cost
from support import tiny
from support.builders import score, triple


def draw(rng: np.random.Generator, clusters: int, *, mean: float = 0.5) -> np.ndarray:
    """Wins of five items for each cluster, alike within it."""
    return rng.binomial(1, rng.beta(6 * mean, 6 * (1 - mean), size=clusters)[:, None], size=(clusters, 5))


def pilot(clusters: int, *, language: str = "en", model: str = "pilot", seed: int = 0) -> ig.Scored:
    wins = draw(np.random.default_rng(seed), clusters).ravel()
    items = [triple(f"{language}{k}", f"t{k // 5}", language=language) for k in range(len(wins))]
    return score(items, [(2.0, 1.0, 0.0) if win else (1.0, 2.0, 0.0) for win in wins], model=model)


def is_significant(wins: np.ndarray) -> bool:
    """Whether the mean of the clusters' means differs from 50 by Student's test, written out."""
    means = 100 * wins.mean(1)
    error = means.std(ddof=1) / math.sqrt(len(means))
    return abs(means.mean() - 50) > student_quantile(0.975, len(means) - 1) * error


def test_the_planned_number_of_clusters_has_the_promised_power():
    planned = ig.plan(pilot(4000), difference=5, design="fixed")[0]
    rng = np.random.default_rng(1)
    seen = np.mean([is_significant(draw(rng, planned.clusters, mean=0.55)) for _ in range(600)])
    assert seen == pytest.approx(0.8, abs=0.05)
    assert planned.items == math.ceil(5 * planned.clusters)


def test_each_language_has_a_plan_and_all_together_need_fewer_clusters():
    both = ig.join(pilot(60), pilot(60, language="de", seed=1))
    plans = ig.plan(both, difference=6, design="fixed")
    assert [row.group for row in plans] == [{"language": "de"}, {"language": "en"}, {}]
    assert plans[2].clusters < min(plans[0].clusters, plans[1].clusters)
    assert [row.enough for row in plans] == [row.clusters <= 60 for row in plans]


def test_a_language_with_too_few_clusters_is_noted_and_the_others_are_planned():
    plans = ig.plan(ig.join(pilot(60), pilot(4, language="de")), difference=5)
    assert [row.group for row in plans] == [{"language": "en"}, {}]
    assert "de: The pilot has 4 clusters; a plan needs 10." in plans.notes


def test_half_the_difference_needs_about_four_times_the_items():
    large, small = (ig.plan(pilot(300), difference=d)[0].items for d in (6, 3))
    assert small == pytest.approx(4 * large, rel=0.05)


def test_what_is_no_pilot_is_refused_in_one_sentence():
    two = ig.join(pilot(30, model="a"), pilot(30, model="b"))
    with pytest.raises(
        IsoglossError, match=r"^A pilot has one model, not several \(a, b\)\. Choose one with `where='model=NAME'`\.$"
    ):
        ig.plan(two, difference=5)
    with pytest.raises(IsoglossError, match=r"^The design 'paired' takes two pilots\.$"):
        ig.plan(pilot(30), difference=5, design="paired")
    with pytest.raises(IsoglossError, match=r"^No design named 'pared'"):
        ig.plan(pilot(30), difference=5, design="pared")
    with pytest.raises(IsoglossError, match="'icat' is not a mean over items"):
        ig.plan(pilot(30), difference=5, metric="icat")


def test_a_run_gives_tokens_time_and_cost_per_item(tmp_path: Path, command) -> None:  # type: ignore[no-untyped-def]
    out = tmp_path / "runs"
    ig.score(ig.read("demo", language="en"), model=tiny.model("gpt2"), out=out)
    study = load_study(out)
    cost = find_cost(study, "en")
    letters = sum(len(row["text"]) + len(row["context"] or "") for row in study.items.iter_rows(named=True))
    assert cost is not None
    assert cost.prompt == pytest.approx(letters / 3 / study.items["id"].n_unique())
    code, text, problem = command("plan", str(out), "-d", "5", "--prices", "2,4", "--format", "json")
    assert code == 0, problem
    row = json.loads(text)["plans"][0]
    assert row["tokens"] == pytest.approx(cost.prompt * row["items"], abs=1)
    assert row["cost"] == pytest.approx(2e-6 * row["tokens"], rel=1e-3)
    assert row["seconds"] > 0
    code, text, _ = command("plan", str(out), "-d", "5")
    assert text.startswith("To see a difference of 5 in SS with power 0.8 (two-sided, 5 %):")
