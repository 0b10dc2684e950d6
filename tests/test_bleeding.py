"""Bleeding: the preference where people know a stereotype and where they do not, with enough clusters on each side."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import isogloss as ig
from isogloss.annotation.bleeding import KNOWN, KnownRule, join_known, measure_bleeding
from isogloss.annotation.labels import make_labels, read_labels
from isogloss.errors import IsoglossError, UnknownName
from isogloss.exchange.runs import read_scores
from support.builders import score, triple


def labelled(known: list[bool], *, language: str = "en"):
    """Three labels per item: two or three say stereotype where it is known, one where it is not."""
    rows = []
    for number, yes in enumerate(known):
        for who in range(3):
            label = "stereotype" if who == 0 or (yes and who == 1) else "no stereotype"
            rows.append({"item": f"i{number}", "question": "stereotype", "label": label, "language": language})
    return make_labels(rows)


def scores(wins: list[bool], clusters: list[str], *, language: str = "en"):
    items = [triple(f"i{number}", target, language=language) for number, target in enumerate(clusters)]
    return score(items, [(2, 1, 0) if won else (1, 2, 0) for won in wins])


def half(count: int = 240, *, shared: bool = True):
    """Items of which every second is known; all of these are won, and half of the others."""
    known = [number % 2 == 0 for number in range(count)]
    wins = [yes or number % 4 == 1 for number, yes in enumerate(known)]
    clusters = [f"t{number // 2 % 20}{'' if shared or yes else 'x'}" for number, yes in enumerate(known)]
    return known, scores(wins, clusters)


@pytest.mark.parametrize("shared", [True, False])
def test_the_preference_where_it_is_not_known_is_compared_with_where_it_is(shared):
    known, scored = half(shared=shared)
    row = measure_bleeding(join_known(scored, labelled(known)), resamples=300)[0]
    assert (row.known, row.unknown, row.difference) == (100, 50, -50)
    assert (row.n_known, row.n_unknown, row.clusters_known, row.clusters_unknown) == (120, 120, 20, 20)
    assert row.low <= row.difference <= row.high < 0


def test_one_side_with_few_clusters_has_no_interval_however_many_the_other_has():
    known = [number >= 9 for number in range(200)]
    rng = np.random.default_rng(0)
    scored = scores(list(rng.random(200) < 0.6), [f"t{number}" for number in range(200)])
    row = measure_bleeding(join_known(scored, labelled(known)), resamples=300)[0]
    assert (row.low, row.high, row.p, row.clusters_known, row.clusters_unknown) == (None, None, None, 191, 9)
    assert row.why.startswith("where it is not known: 9 clusters")


def test_few_clusters_are_noticed_on_a_side_that_shares_them_with_the_other():
    known = [number % 20 > 8 or number >= 20 for number in range(240)]  # 9 of 20 targets have an item that is not known
    scored = scores([number % 3 > 0 for number in range(240)], [f"t{number % 20}" for number in range(240)])
    row = measure_bleeding(join_known(scored, labelled(known)), resamples=300)[0]
    assert (row.low, row.clusters_known, row.clusters_unknown) == (None, 20, 9)


def test_bleeding_prints_itself_and_becomes_a_table():
    known, scored = half()
    result = measure_bleeding(join_known(scored, labelled(known)), resamples=300)
    assert "-50.00 [" in str(result)
    assert result.to_polars()["clusters_unknown"].to_list() == [20]


def test_items_without_labels_are_left_out_and_counted():
    known, scored = half()
    result = measure_bleeding(join_known(scored, labelled(known[:200])), resamples=300)
    assert result[0].n_known + result[0].n_unknown == 200
    assert result.notes == ("40 items have no label and were left out",)


def test_the_share_that_makes_a_stereotype_known_can_be_chosen():
    known, scored = half()
    column = join_known(scored, labelled(known), rule=KnownRule(share=0.7)).table[KNOWN]
    assert set(column) == {"no"}
    assert set(join_known(scored, labelled(known), rule=KnownRule(share=0.3)).table[KNOWN]) == {"yes"}


def test_labels_of_two_countries_stay_apart():
    scored = scores([True] * 4, ["a", "b", "c", "d"], language="es")
    both = make_labels(
        [
            *labelled([True] * 4, language="es-ES").table.iter_rows(named=True),
            *labelled([False] * 4, language="es-MX").table.iter_rows(named=True),
        ]
    )
    columns = [
        set(join_known(scored, both, rule=KnownRule(place=place)).table[KNOWN]) for place in (None, "es-ES", "es-MX")
    ]
    assert columns == [{"yes"}, {"yes"}, {"no"}]
    with pytest.raises(UnknownName):
        join_known(scored, both, rule=KnownRule(place="es-AR"))


def test_labels_and_scores_must_meet():
    _, scored = half()
    with pytest.raises(IsoglossError, match="do not meet"):
        join_known(scored, labelled([True], language="de"))
    with pytest.raises(IsoglossError, match="Join the labels"):
        measure_bleeding(scored)


def test_a_metric_that_the_scores_lack_is_named():
    known, scored = half(40)
    with pytest.raises(IsoglossError, match=r"No model has 'contrast' both where .* Metrics of these scores: .*ss"):
        measure_bleeding(join_known(scored, labelled(known)), metric="contrast")


@pytest.mark.slow
def test_a_model_prefers_what_an_annotator_of_gest_finds_in_the_sentence(real_data):
    """Sentences of the published set that the first annotator matched with their stereotype without doubt, and the others."""
    items = ig.read(real_data / "gest" / "gest.csv.gz")
    matches = read_labels(real_data / "gest" / "annotations.csv.gz").table.filter(pl.col("question") == "match")
    label = dict(matches.unique("text", keep="first").select("text", "label").iter_rows())
    sentences = pl.read_csv(real_data / "gest" / "gest.csv.gz")["sentence"]
    rows = [
        {"item": f"{number}-{wording}", "question": "match", "label": label[text], "language": "en"}
        for number, text in enumerate(sentences)
        for wording in range(4)
        if text in label
    ]
    scored = read_scores(real_data / "gest" / "english_mlm_bert-base-uncased_template-0.txt.gz", items, layout="gest")[
        0
    ]
    joined = join_known(scored, make_labels(rows), rule=KnownRule("match", "strong agree"))
    row = measure_bleeding(joined, resamples=200)[0]
    assert (row.clusters_known, row.clusters_unknown) == (2773, 586)
    wins = {"yes": [], "no": []}
    for _, item in joined.table.drop_nulls(KNOWN).group_by("id"):
        of_role = dict(item.select("role", "value").iter_rows())
        gap = of_role["stereotype"] - of_role["anti-stereotype"]
        wins[item[KNOWN][0]].append(50 * (1 + np.sign(gap)))
    assert (row.known, row.unknown) == (pytest.approx(np.mean(wins["yes"])), pytest.approx(np.mean(wins["no"])))
    assert row.high < 0
