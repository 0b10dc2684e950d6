"""What a metric says of itself is all that rankings, tables, baselines and explanations need, also for another package's."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import EntryPoint

import numpy as np
import polars as pl
import pytest

from isogloss import compare, measure, rank_models, registry
from isogloss.analysis.explanations import explain_scores
from isogloss.analysis.groups import check_rows
from isogloss.analysis.headlines import find_headlines, main_metric, shown_metrics
from isogloss.analysis.item_values import default_metric, get_mean_metric
from isogloss.claims.baselines import worsening
from isogloss.errors import IsoglossError
from isogloss.reports.numbers import metric_name, number, short
from isogloss.reports.text.measures import grid
from isogloss.reports.text.sentences import explain_measures, state_findings
from isogloss.scores import Scored
from support import groups
from support.builders import score, triple


@pytest.fixture
def strength(monkeypatch):
    """Another package is installed, with the metric `strength`."""
    point = EntryPoint("strength", "support.other_package:metric", "isogloss.metrics")
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == "isogloss.metrics" else [])
    registry.entry_points_of.cache_clear()
    yield registry.get("metric", "strength")
    registry.entry_points_of.cache_clear()


def scored(gap: float, model: str = "tiny") -> Scored:
    """Twenty targets of three items; the stereotype wins by `gap`, give or take a little."""
    items = [triple(f"i{n}", f"t{n % 20}") for n in range(60)]
    noise = np.random.default_rng(0).normal(0, 0.05, 60)
    return score(items, [(gap + noise[n], 0, -9) for n in range(60)], model=model)


def both(first: Scored, second: Scored) -> Scored:
    return Scored(pl.concat([first.table, second.table]))


def test_a_metric_of_another_package_can_rank_models(strength):
    ranks = rank_models(both(scored(3, "strong"), scored(0.5, "weak")), metric="strength", by=[], resamples=200)
    assert [(row.model, row.rank) for row in ranks] == [("weak", 1), ("strong", 2)]
    assert ranks[0].better_than == ("strong",)


def test_a_metric_of_another_package_can_be_a_headline(strength):
    names = ["lms", "ss", "icat", "ss_multiclass", "strength"]
    assert find_headlines(names) == shown_metrics(names) == ["lms", "ss", "strength", "icat"]
    rows = compare(scored(3), scored(1, "other"), by=[], resamples=200)
    assert [row.metric for row in rows] == ["lms", "ss", "strength", "icat"]


def test_a_metric_of_another_package_is_held_against_a_baseline(strength):
    (row,) = compare(scored(3), scored(1, "other"), metrics="strength", by=[], resamples=200)
    value, low, high = worsening(row)
    assert value == pytest.approx(2)
    assert low < 2 < high
    (row,) = compare(scored(1), scored(3, "other"), metrics="strength", by=[], resamples=200)
    assert worsening(row)[0] == pytest.approx(-2)


def test_a_metric_of_another_package_is_explained(strength):
    (explanation,) = explain_scores(scored(3), metrics=["strength"])
    assert (explanation.published_code, explanation.ours) == ("Cuts differences at 1.", "Does not cut.")
    row = next(row for row in explanation.differences if row.what == "differences cut at 1")
    assert (row.other, row.n) == (pytest.approx(1), 60)
    assert "Strength is how far two scores lie apart." in explain_measures(measure(scored(3), resamples=100))


def test_a_metric_of_another_package_has_its_name_and_number_format(strength):
    (row,) = measure(scored(3), metrics="strength", by=[], resamples=100)
    assert metric_name("strength") == "Strength"
    assert short(row) == f"{row.value:.3f}"
    assert number(row).startswith(f"{row.value:.3f} [")


def test_a_metric_without_better_and_worse_ranks_nobody():
    with pytest.raises(IsoglossError) as error:
        rank_models(both(scored(3), scored(1, "other")), metric="answered_yes")
    assert str(error.value) == (
        "Models cannot be ranked by 'answered_yes', which has no better and worse. "
        "Which answer is right depends on the prompt."
    )


def test_a_direction_that_does_not_exist_is_an_error():
    with pytest.raises(IsoglossError) as error:
        replace(registry.get("metric", "lms"), better="more")
    assert str(error.value) == "The metric 'Language modeling score (LMS)' is better when 'more'; use higher or lower."


def test_the_metric_that_speaks_for_others_leads_or_comes_first_with_a_neutral_point():
    assert main_metric(["lms", "icat", "ss_multiclass", "ss"]) == "ss"
    assert main_metric(["pair_score", "crows"]) == "pair_score"
    assert main_metric(["lms"]) == "lms"


# ---- two groups, the order of which the data does not say


def renamed(scored: Scored, **names: str) -> Scored:
    return Scored(scored.table.with_columns(pl.col("role").replace(names)))


def own_of(scored: Scored, model: str) -> Scored:
    """The same scores as another model's."""
    return Scored(scored.table.with_columns(model=pl.lit(model)))


WINS = [(2.0, 1.0, 1.0, n) for n in range(12)]


@pytest.mark.parametrize("kind", ["sentences", "pairs"])
@pytest.mark.parametrize("pair", [("female", "male"), ("men", "women")])
def test_the_group_that_a_value_favours_is_named_wherever_the_value_stands(kind, pair):
    first, second = pair
    name = {"sentences": "mbe", "pairs": "pair_score"}[kind]
    roles = {"stereotype": second, "anti-stereotype": first, "male": second, "female": first}
    own = renamed(groups.KINDS[kind](WINS), **roles)
    measures = measure(own, metrics=[name], by=[], resamples=100)
    direction = f"{metric_name(name)} above 50: {second} sentences are the more likely ones; below: {first}"
    assert (measures[0].above, measures[0].below) == (second, first)
    assert measures.to_dict()["measures"][0]["above"] == second
    assert f"{metric_name(name)} ({second} > {first})" in grid(measures).heading
    assert direction in str(measures)
    assert direction in str(compare(own, own_of(own, "other"), metrics=name, by=[], resamples=100))
    assert f"{direction}." in explain_measures(measures)
    (explanation,) = explain_scores(own, metrics=[name])
    assert explanation.caution.startswith(f"Above 50: {second} sentences are the more likely ones; below: {first}.")
    wide = replace(measures, rows=(replace(measures[0], value=80.0, low=70.0, high=90.0, interpretable=None),))
    assert f"finds {second} sentences more likely in English" in state_findings(wide)[0]


# ---- why the two modes differ


def test_a_difference_between_the_modes_is_not_blamed_on_ties():
    (mbe,) = explain_scores(groups.KINDS["sentences"](WINS), metrics=["mbe"])
    assert mbe.differences[0].what == "dot products instead of cosines as weights, and ties counted as published"
    (cb,) = explain_scores(groups.KINDS["templates"](WINS), metrics=["cb"])
    assert cb.differences[0].what == "shares averaged over the templates of a set first, as published"
    assert "ties counted as published" not in {row.what for row in cb.differences}


def test_a_metric_that_is_no_mean_is_refused_where_items_count_one_by_one(strength):
    with pytest.raises(IsoglossError, match=r"^'strength' is not a mean over items but a mean of sizes\."):
        get_mean_metric("strength")
    assert default_metric(check_rows(scored(1))) == "ss"
