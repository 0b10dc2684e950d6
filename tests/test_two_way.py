"""Intervals over two kinds of clusters, against a plain calculation and a simulation with known truth."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import isogloss as ig
from isogloss.errors import IsoglossError
from support.builders import score, triple

TARGETS, TEMPLATES = 24, 12


def crossed(rng: np.random.Generator, *, effect: float) -> ig.Scored:
    """Every target in every template; templates move the preference of all their items."""
    targets, templates = 0.3 * rng.normal(size=TARGETS), effect * rng.normal(size=TEMPLATES)
    items, rows = [], []
    for number in range(TARGETS * TEMPLATES):
        target, template = divmod(number, TEMPLATES)
        items.append(triple(f"i{number}", f"t{target:02}"))
        won = rng.random() < 1 / (1 + np.exp(-targets[target] - templates[template]))
        rows.append((2.0, 1.0, 0.0) if won else (1.0, 2.0, 0.0))
    scored = score(items, rows)
    template = pl.col("id").str.strip_prefix("i").cast(pl.Int64) % TEMPLATES
    return ig.Scored(scored.table.with_columns(template=template.cast(pl.String)))


def jackknife(wins: np.ndarray, clusters: np.ndarray) -> float:
    """The squared error of a mean by leaving out each cluster in turn, around the mean itself."""
    names = np.unique(clusters)
    without = np.array([wins[clusters != name].mean() for name in names])
    return (len(names) - 1) / len(names) * float(np.sum((without - wins.mean()) ** 2))


def test_the_error_is_that_over_targets_plus_that_over_templates_minus_that_over_both():
    scored = crossed(np.random.default_rng(3), effect=0.8)
    one, two = (ig.measure(scored, metrics="ss", by="language", over=over)[0] for over in (None, "template"))
    table = scored.table.filter(pl.col("role") == "stereotype")
    wins = (table["value"] == 2.0).to_numpy() * 100.0
    target, template = table["cluster"].to_numpy(), table["template"].to_numpy()
    both = np.array([f"{a} {b}" for a, b in zip(target, template, strict=True)])
    error = np.sqrt(jackknife(wins, target) + jackknife(wins, template) - jackknife(wins, both))
    width = [np.log(end / (100 - end)) for end in (two.low, two.high)]
    share = wins.mean() / 100
    quantile = (width[1] - width[0]) / 2 * (100 * share * (1 - share)) / error
    assert one.value == two.value == pytest.approx(wins.mean())
    assert 2.0 < quantile < 2.6  # Student's, with at most eleven degrees of freedom
    assert two.high - two.low > one.high - one.low


@pytest.mark.slow
def test_new_templates_are_covered_only_by_the_interval_over_both():
    rng, held = np.random.default_rng(5), {None: 0, "template": 0}
    for _ in range(60):
        scored = crossed(rng, effect=0.8)
        for over in held:
            row = ig.measure(scored, metrics="ss", by="language", over=over)[0]
            held[over] += row.low <= 50.0 <= row.high  # by symmetry
    assert held[None] < 45
    assert held["template"] >= 53


def test_a_metric_of_the_clusters_has_no_interval_over_two_kinds_of_them():
    scored = crossed(np.random.default_rng(1), effect=0.5)
    row = ig.measure(scored, metrics="icat_macro", by="language", over="template")[0]
    assert (row.low, row.why) == (
        None,
        "its value depends on the clusters, so it has no interval over two kinds of them",
    )


def test_a_column_that_is_not_filled_is_refused():
    with pytest.raises(IsoglossError) as caught:
        ig.measure(crossed(np.random.default_rng(1), effect=0.5), over="wording")
    assert str(caught.value) == "Intervals cannot be over 'wording': not every score has a value in that column."
