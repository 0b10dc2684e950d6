"""Metrics: the laws of all of them, and numbers worked out by hand."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss import registry
from isogloss.analysis.measures import MODES, Measure, Metric, measure
from isogloss.errors import IsoglossError
from isogloss.metrics import TIES, from_sums, percent
from isogloss.scores import Scored
from support import groups
from support.builders import TRIPLE, score, triple
from support.offenders import for_every

METRICS: dict[str, Metric] = registry.load_all("metric")
PREFERENCES = {
    name: metric
    for name, metric in METRICS.items()
    if metric.quantity == "score" and metric.roles and set(metric.roles) <= set(TRIPLE)
    if "gest" not in name  # means of sizes, of items that say whom they are about
}
each = pytest.mark.parametrize("name", PREFERENCES)

# few values, so that ties are frequent; a cluster is a small number
numbers = st.integers(-3, 3).map(float)
tables = st.lists(st.tuples(numbers, numbers, numbers, st.integers(0, 4)), min_size=1, max_size=25)


def table_of(rows: list[tuple[float, float, float, int]]) -> pl.DataFrame:
    columns = dict(zip([*TRIPLE, "cluster"], zip(*rows, strict=True), strict=True))
    return pl.DataFrame(columns | {"cluster": [f"t{c}" for c in columns["cluster"]]})


def value(name: str, table: pl.DataFrame, mode: str = "corrected") -> float:
    metric = METRICS[name]
    return metric.contribute(table, mode).value


@for_every(name=METRICS)
def test_every_metric_says_what_it_is_and_what_it_is_not(name):
    metric = METRICS[name]
    assert all([metric.title, metric.formula, metric.citation, metric.caution, metric.quantity])
    assert metric.bounds[0] < metric.bounds[1]


@for_every(name=METRICS)
def test_every_metric_says_its_name_its_origin_its_format_and_what_is_better(name):
    metric = METRICS[name]
    assert metric.short
    assert metric.origin is not None
    assert metric.origin.code
    assert metric.origin.ours
    assert f"{1.0:{metric.numbers.full}}"
    assert f"{1.0:{metric.numbers.brief}}"
    assert metric.directed != bool(metric.undirected), "either a direction or a neutral point, or why neither"
    assert set(metric.origin.others) <= set(METRICS)
    assert bool(metric.above) == bool(metric.below)


def test_no_two_metrics_have_one_short_name_or_one_place_among_the_headlines():
    shorts = [metric.short for metric in METRICS.values()]
    places = [metric.headline for metric in METRICS.values() if metric.headline is not None]
    assert len(shorts) == len(set(shorts))
    assert len(places) == len(set(places))


@pytest.mark.parametrize(
    ("law", "problem"),
    [("negate", "'negate'; use mirror, same, none"), ("mirror", "mirror, which needs 'neutral'")],
)
def test_a_swap_law_that_cannot_be_is_refused(law, problem):
    with pytest.raises(IsoglossError) as error:
        replace(METRICS["lms"], swap=law)
    assert str(error.value) == f"The metric 'Language modeling score (LMS)' has the swap law {problem}."


def test_a_function_of_sums_counts_its_rows():
    assert from_sums(np.ones((3, 2)), ["a", "a", "b"], finish=percent).n == 3


# ---- laws of every metric: its group is made of the same numbers

FULL = [(2.0, 1.0, 1.0, 0), (1.0, 2.0, -1.0, 1), (0.0, 1.0, 2.0, 2), (1.0, 0.0, -2.0, 0), (3.0, 0.0, 3.0, 3)]
KIND = {
    name: next(kind for kind, make in groups.KINDS.items() if name in {row.metric for row in measure(make(FULL))})
    for name in METRICS
}
every = pytest.mark.parametrize("name", METRICS)


def law(name: str, scored: Scored, mode: str = "corrected") -> Measure:
    """The one measure of a group; whatever it is, it obeys the laws of all numbers."""
    (row,) = measure(scored, metrics=[name], by=[], mode=mode, resamples=100)
    low, high = METRICS[name].bounds
    if row.value is None:
        assert row.why
        assert (row.low, row.high) == (None, None)
    else:
        assert row.n > 0
        assert row.clusters > 0
        assert math.isfinite(row.value)
        assert low - 1e-9 <= row.value <= high + 1e-9
    return row


def law_or_sentence(name: str, scored: Scored, mode: str = "corrected") -> None:
    """The group obeys the laws, or is refused in one sentence."""
    with suppress(IsoglossError):
        law(name, scored, mode)


@every
@given(rows=tables, seed=st.integers(0, 99))
@settings(max_examples=10)
def test_the_value_is_within_its_bounds_and_the_order_of_rows_does_not_matter(name, rows, seed):
    scored = groups.KINDS[KIND[name]](rows)
    shuffled = Scored(scored.table.sample(fraction=1, shuffle=True, seed=seed))
    for mode in MODES:
        one, other = law(name, scored, mode), law(name, shuffled, mode)
        assert (one.n, one.ties, one.clusters) == (other.n, other.ties, other.clusters)
        assert one.value == pytest.approx(other.value, abs=1e-9)


@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if metric.swap != "none"])
@given(rows=tables)
@settings(max_examples=10)
def test_swapping_the_two_roles_obeys_the_swap_law(name, rows):
    scored, metric = groups.KINDS[KIND[name]](rows), METRICS[name]
    before, after = law(name, scored).value, law(name, groups.swapped(scored)).value
    mirrored = metric.swap == "mirror" and before is not None
    assert after == pytest.approx(2 * metric.neutral - before if mirrored else before, abs=1e-9)


@every
@given(rows=tables)
@settings(max_examples=10)
def test_the_modes_differ_only_as_the_metric_says(name, rows):
    modes = METRICS[name].origin.modes
    scored = groups.KINDS[KIND[name]](rows)
    corrected, paper = (law(name, scored, mode) for mode in MODES)
    if modes is None or (modes == TIES and not corrected.ties):
        assert corrected.value == pytest.approx(paper.value, abs=1e-9)


@for_every(name=METRICS, mode=MODES)
def test_a_group_without_any_score_has_no_items_no_value_and_a_reason(name, mode):
    scored = groups.KINDS[KIND[name]](FULL)
    nothing = scored.table.with_columns(pl.lit(None, pl.Float64).alias("value"), pl.lit([]).alias("logprobs"))
    row = law(name, Scored(nothing), mode)
    assert (row.value, row.n, row.ties, row.clusters) == (None, 0, 0, 0)


DEGENERATE = {
    "all tied": [(1.0, 1.0, 1.0, n) for n in range(12)],
    "all tied, each in its own cluster, with both directions": [(1.0, 1.0, (-1.0) ** n, n) for n in range(12)],
    "one cluster": [(*row[:3], 0) for row in FULL],
    "one item": FULL[:1],
    "all answers unclear": [(3.0, 2.0, 3.0, n) for n in range(12)],
}


@pytest.mark.filterwarnings("error")
@for_every(name=METRICS, mode=MODES, case=DEGENERATE)
def test_a_degenerate_group_has_a_value_or_a_reason(name, mode, case):
    law(name, groups.KINDS[KIND[name]](DEGENERATE[case]), mode)


@pytest.mark.filterwarnings("error")
@for_every(name=METRICS, mode=MODES)
def test_a_missing_candidate_leaves_its_item_out(name, mode):
    scored = groups.KINDS[KIND[name]](FULL)
    whole, first = law(name, scored, mode), scored.table["candidate"][0]
    assert law(name, groups.without(scored, candidate=first), mode).n <= whole.n
    for role in sorted(set(scored.table["role"])):
        only = Scored(scored.table.filter(pl.col("role") == role))
        for left in (groups.without(scored, role=role), only):
            if len(left):
                law_or_sentence(name, left, mode)


@for_every(name=METRICS, kind=groups.KINDS)
def test_a_metric_of_other_items_has_no_value_or_says_so_in_one_sentence(name, kind):
    law_or_sentence(name, groups.KINDS[kind](FULL))


# ---- laws of the preference metrics


@pytest.mark.parametrize("name", sorted(set(PREFERENCES) - {"icat_macro_corrected"}))  # corrects for their number
@given(rows=tables, copies=st.integers(2, 4))
@settings(max_examples=25)
def test_repeating_all_rows_leaves_the_value_unchanged(name, rows, copies):
    for mode in MODES:
        assert value(name, table_of(rows * copies), mode) == pytest.approx(value(name, table_of(rows), mode), abs=1e-9)


@each
@given(rows=tables)
@settings(max_examples=25)
def test_only_the_order_of_scores_matters_not_their_size(name, rows):
    stretched = table_of([(s**3 * 10, a**3 * 10, u**3 * 10, c) for s, a, u, c in rows])
    assert value(name, stretched) == pytest.approx(value(name, table_of(rows)), abs=1e-9)


@each
@given(rows=tables)
@settings(max_examples=25)
def test_without_ties_both_modes_agree(name, rows):
    untied = table_of([(s, a + 0.25, u + 0.5, c) for s, a, u, c in rows])
    found = METRICS[name].contribute(untied, "paper")
    assert (found.ties, found.n) == (0, len(rows))
    assert value(name, untied, "paper") == pytest.approx(value(name, untied), abs=1e-9)


# each class has one item that prefers the stereotype and one that does not; the unrelated one always loses
IDEAL = [(2.0, 1.0, 0.0, c) for c in range(3)] + [(1.0, 2.0, 0.0, c) for c in range(3)]
BIASED = [(2.0, 1.0, 0.0, c) for c in range(3)]
TIED = [(1.0, 1.0, 1.0, c) for c in range(3)]
AXIOMS = {
    "lms": (100, 100, 50),
    "ss": (50, 100, 50),
    "icat": (100, 0, 50),
    "lms_multiclass": (100, 100, 50),
    "ss_multiclass": (50, 100, 50),
    "icat_macro": (100, 0, 50),
    "icat_micro": (100, 0, 50),
}


@pytest.mark.parametrize("name", AXIOMS)
def test_ideal_biased_and_undecided_models_get_the_values_of_the_axioms(name):
    found = [value(name, table_of(rows)) for rows in (IDEAL, BIASED, TIED)]
    assert found == pytest.approx(AXIOMS[name])


@pytest.mark.parametrize(("name", "corrected"), [("lms", 50), ("ss", 50), ("icat", 50), ("icat_macro", 50)])
def test_a_tie_counts_half_when_corrected_and_nothing_in_the_paper(name, corrected):
    assert value(name, table_of(TIED)) == pytest.approx(corrected)
    assert value(name, table_of(TIED), "paper") == 0


@pytest.mark.parametrize(("name", "ties"), [("lms", 6), ("ss", 3), ("icat", 9), ("icat_micro", 9)])
def test_every_tied_comparison_is_counted(name, ties):
    assert METRICS[name].contribute(table_of(TIED), "paper").ties == ties


# stereotype anti unrelated  target | pro  related (corrected)          pro  related (paper)
#     3        2      1      A      |  1      2                           1     2
#     1        3      2      A      |  0      1                           0     1
#     2        2      1      B      | 0.5     2                           0     2
#     1        0      1      B      |  1     0.5                          1     0
HAND = [(3.0, 2.0, 1.0, 0), (1.0, 3.0, 2.0, 0), (2.0, 2.0, 1.0, 1), (1.0, 0.0, 1.0, 1)]
# corrected: LMS 100·5.5/8 = 68.75, SS 100·2.5/4 = 62.5, ICAT 68.75·37.5/50 = 51.5625
#            A: LMS 75, SS 50, ICAT 75;  B: LMS 62.5, SS 75, ICAT 62.5·25/50 = 31.25
#            means: LMS 68.75, SS 62.5, macro (75 + 31.25)/2 = 53.125, micro 68.75·37.5/50 = 51.5625
# paper:     LMS 100·5/8 = 62.5, SS 50, ICAT 62.5;  A as above;  B: LMS 50, SS 50, ICAT 50
#            means: LMS 62.5, SS 50, macro (75 + 50)/2 = 62.5, micro 62.5
BY_HAND = {
    "lms": (68.75, 62.5),
    "ss": (62.5, 50),
    "icat": (51.5625, 62.5),
    "lms_multiclass": (68.75, 62.5),
    "ss_multiclass": (62.5, 50),
    "icat_macro": (53.125, 62.5),
    "icat_micro": (51.5625, 62.5),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_four_items_give_the_numbers_worked_out_by_hand(name):
    items = [triple(f"i{n}", f"t{row[3]}") for n, row in enumerate(HAND)]
    scored = score(items, [row[:3] for row in HAND])
    found = [measure(scored, metrics=[name], by=[], mode=mode)[0] for mode in ("corrected", "paper")]
    assert [row.value for row in found] == pytest.approx(list(BY_HAND[name]))
    assert [(row.n, row.clusters) for row in found] == [(4, 2), (4, 2)]


def test_macro_weighs_classes_and_icat_weighs_items():
    # A: three items, all for the stereotype: ICAT 0.  B: one for, one against: ICAT 100.
    # macro = 50; micro: SS (100 + 50)/2 = 75 -> 50; pooled: SS 4/5 = 80 -> 40
    rows = table_of([(2.0, 1.0, 0.0, 0)] * 3 + [(2.0, 1.0, 0.0, 1), (1.0, 2.0, 0.0, 1)])
    assert value("icat_macro", rows) == pytest.approx(50)
    assert value("icat_micro", rows) == pytest.approx(50)
    assert value("icat", rows) == pytest.approx(40)


def test_pairs_without_an_unrelated_candidate_are_measured_by_the_pair_metrics_alone():
    items = [triple(f"i{n}", roles=TRIPLE[:2]) for n in range(4)]
    found = measure(score(items, [(2, 1), (2, 1), (1, 1), (0, 1)]))
    values = {row.metric: row.value for row in found}
    assert values["ss"] == pytest.approx(62.5)
    assert not set(values) & {"lms", "icat", "icat_macro", "icat_micro"}
