"""Labels by people: what is written is read back, published layouts are read in full, and agreement equals its definition."""

from __future__ import annotations

import json
from collections import Counter
from importlib.metadata import EntryPoint
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from isogloss import registry
from isogloss.analysis.intervals import IntervalSettings
from isogloss.annotation.agreement import measure_agreement
from isogloss.annotation.labels import (
    count_labels,
    join_labels,
    labels_from_counts,
    make_labels,
    read_labels,
    share_of_label,
    write_labels,
)
from isogloss.errors import BadData, IsoglossError, UnknownName

SEEGULL = "identity,attribute,non_stereotype,stereotype,unsure,mean_offensive_score,translated_identity,translated_attribute_list\n"
FEW = IntervalSettings(resamples=200)
GEST = (
    "sentence,stereotype,gender_strong_female,gender_female,gender_neutral,gender_male,gender_strong_male,match_strong_agree,"
    "match_agree,match_neutral,match_disagree,match_strong_disagree,final_verdict,final_stereotype,comment,fix,"
    "first_annotator,second_annotator,creator\n"
)


def label(item: str, annotator: str | None, value: str, **others: str) -> dict[str, str | None]:
    return {"item": item, "question": "known", "annotator": annotator, "label": value, **others}


def test_a_layout_of_another_package_is_recognised(tmp_path, monkeypatch):
    point = EntryPoint("survey", "support.other_package:label_layout", "isogloss.label_layouts")
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == point.group else [])
    registry.entry_points_of.cache_clear()
    (tmp_path / "survey.csv").write_text("nr,oui_non\n1,oui\n2,non\n", encoding="utf-8")
    assert read_labels(tmp_path / "survey.csv").table["label"].to_list() == ["oui", "non"]
    registry.entry_points_of.cache_clear()


def people(*, items: int = 60, seed: int = 0, agreeing: float = 0.7):
    """Three annotators per item who mostly give the item's label; every fifth item has one label only."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(items):
        usual = rng.choice(["yes", "no", "unsure"], p=[0.5, 0.35, 0.15])
        for who in range(1 if item % 5 == 0 else 3):
            given = usual if rng.random() < agreeing else rng.choice(["yes", "no", "unsure"])
            facts = {"language": "es-MX" if item % 2 else "es-ES", "cluster": str(item // 2)}
            rows.append(label(str(item), f"a{who}", str(given), **facts))
    return make_labels(rows)


# ---- the table


@pytest.mark.parametrize("name", ["labels.csv", "labels.csv.gz"])
def test_what_is_written_is_read_back(tmp_path, name):
    first = make_labels(
        [
            label("a, 'b'", "p1", 'says "no"', language="es-MX", text="Zwei\nZeilen"),
            label("a, 'b'", None, "sí", candidate="c1"),
            label("a, 'b'", None, "sí", candidate="c1"),
        ]
    )
    path = write_labels(first, tmp_path / "labels.csv")
    if name.endswith(".gz"):
        import gzip

        (tmp_path / name).write_bytes(gzip.compress(path.read_bytes()))
    assert_frame_equal(read_labels(tmp_path / name).table, first.table)


def test_counts_become_labels_and_labels_counts():
    counts = pl.DataFrame({"item": ["a", "a", "b"], "question": "q", "label": ["x", "y", "x"], "count": [2, 0, 3]})
    labels = labels_from_counts(counts)
    assert labels.table["label"].to_list() == ["x"] * 5
    assert count_labels(labels).select("item", "label", "count").rows() == [("a", "x", 2), ("b", "x", 3)]


@pytest.mark.parametrize("count", [-1, None, "many"])
def test_a_count_must_be_a_whole_number(count):
    table = pl.DataFrame({"item": ["a"], "question": "q", "label": "x", "count": [count]})
    with pytest.raises(IsoglossError, match="whole number"):
        labels_from_counts(table)


def test_an_annotator_labels_a_unit_once_and_unnamed_ones_often():
    with pytest.raises(IsoglossError, match="Annotator 'p1' labels item 'a' more than once for 'known'"):
        make_labels([label("a", "p1", "yes"), label("a", "p1", "no")])
    assert len(make_labels([label("a", None, "yes"), label("a", None, "yes")])) == 2


def test_sheets_of_two_people_are_joined_and_nothing_is_lost():
    sheets = [make_labels([label("a", who, "yes"), label("b", who, "no")]) for who in ("p1", "p2")]
    assert len(join_labels(sheets)) == 4


def test_the_share_of_a_label_is_that_of_each_unit():
    labels = make_labels([label("a", "1", "yes"), label("a", "2", "no"), label("b", "1", "yes")])
    shares = share_of_label(labels, question="known", label="yes")
    assert shares.select("item", "share", "labels").rows() == [("a", 0.5, 2), ("b", 1.0, 1)]
    with pytest.raises(UnknownName):
        share_of_label(labels, question="known", label="maybe")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,question\na,q\n", "do not fit"),
        ("item,question,label\na,q,\n", "Label 1 has no 'label'"),
        ("", "columns"),
    ],
)
def test_a_file_without_labels_says_what_is_missing(tmp_path, text, message):
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    with pytest.raises(BadData, match=message):
        read_labels(tmp_path / "x.csv")


def test_a_layout_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(UnknownName):
        read_labels(tmp_path / "x.csv", layout="nothing")


# ---- published layouts


def test_seegull_has_counts_of_three_annotators_in_one_country(tmp_path):
    path = tmp_path / "stereotypes_es-ES.csv"
    path.write_text(SEEGULL + "Xs,shy,1,2,0,4,X,shy\nXs,loud,0,2,1,1,X,loud\n", encoding="utf-8")
    labels = read_labels(path)
    assert Counter(labels.table["label"]) == {"stereotype": 4, "no stereotype": 1, "unsure": 1}
    assert labels.table.select("language", "cluster").unique().rows() == [("es-ES", "Xs")]


def test_pairs_of_seegull_that_differ_in_a_comma_stay_apart(tmp_path):
    path = tmp_path / "stereotypes_ar-AE.csv"
    path.write_text(SEEGULL + 'Xs,shy,1,2,0,4,X,shy\n"Xs ،",shy,0,3,0,4,X,shy\n', encoding="utf-8")
    assert read_labels(path).table["item"].unique(maintain_order=True).to_list() == ["Xs: shy", "Xs: shy (2)"]


def test_seegull_needs_a_language_and_whole_counts(tmp_path):
    (tmp_path / "x.csv").write_text(SEEGULL + "Xs,shy,1,2,0,4,X,shy\n", encoding="utf-8")
    with pytest.raises(BadData, match="says no language"):
        read_labels(tmp_path / "x.csv")
    assert len(read_labels(tmp_path / "x.csv", language="pt-BR")) == 3
    (tmp_path / "x.csv").write_text(SEEGULL + "Xs,shy,1,two,0,4,X,shy\n", encoding="utf-8")
    with pytest.raises(BadData, match=r"line 2.*'stereotype' is 'two'"):
        read_labels(tmp_path / "x.csv", language="pt-BR")


def test_kobbq_asks_about_each_group_and_about_none(tmp_path):
    one = {"category": "Age", "stereotype": "slow", "survey_stats": {"old": 90, "young": 4, "no_stereo": 6}}
    other = {**one, "survey_stats": {"old": 70, "middle": 60, "no_stereo": 20}}
    (tmp_path / "survey.json").write_text(json.dumps([one, one, other]), encoding="utf-8")
    counts = count_labels(read_labels(tmp_path / "survey.json"))
    rows = {(row["item"], row["candidate"], row["label"]): row["count"] for row in counts.iter_rows(named=True)}
    assert rows["Age: slow", "old", "named"] == 90
    assert rows["Age: slow", "old", "not named"] == 10
    assert rows["Age: slow", None, "no stereotype"] == 6
    assert rows["Age: slow (2)", "middle", "named"] == 60
    assert len(rows) == 12


def test_gest_has_two_questions_for_the_first_and_a_verdict_of_the_second_annotator(tmp_path):
    lines = (
        'I lead.,Stereotyp #13: x,,,,,x,x,,,,,,,,,ZZ,AA,I\n"I cry, so.",Stereotyp #1: x,,x,,,,,,,x,,no,#3,,,AA,YY,I\n'
    )
    (tmp_path / "annotations.csv").write_text(GEST + lines, encoding="utf-8")
    table = read_labels(tmp_path / "annotations.csv").table
    assert table.select("item", "target", "question", "annotator", "label").rows() == [
        ("0", "leaders", "gender", "annotator 3", "strong male"),
        ("0", "leaders", "match", "annotator 3", "strong agree"),
        ("1", "emotional", "gender", "annotator 1", "female"),
        ("1", "emotional", "match", "annotator 1", "disagree"),
        ("1", "emotional", "verdict", "annotator 2", "no"),
        ("1", "emotional", "trait", "annotator 2", "empathetic"),
    ]


def test_a_sentence_of_gest_with_two_crosses_is_bad(tmp_path):
    (tmp_path / "annotations.csv").write_text(
        GEST + "I lead.,Stereotyp #13: x,x,,,,x,x,,,,,,,,,Z,A,I\n", encoding="utf-8"
    )
    with pytest.raises(BadData, match=r"line 2.*2 columns of 'gender'"):
        read_labels(tmp_path / "annotations.csv")


ROWS = {"ar-AE": 943, "bn-BD": 1276, "bn-IN": 929, "de-DE": 1037, "es-ES": 1344, "es-MX": 1745, "fr-FR": 1238}
ROWS |= {"hi-IN": 763, "ja-JP": 882, "pt-BR": 2082, "pt-PT": 1520, "tr-TR": 1021}


@pytest.mark.parametrize("tag", ROWS)
def test_seegull_as_published_is_read_in_full(real_data, tag):
    labels = read_labels(real_data / "seegull" / f"stereotypes_{tag}.csv.gz")
    assert labels.table["language"].unique().to_list() == [tag]
    assert (labels.table["item"].n_unique(), len(labels)) == (ROWS[tag], 3 * ROWS[tag])


def test_the_survey_of_kobbq_as_published_is_read_in_full(real_data):
    table = read_labels(real_data / "kobbq" / "KoBBQ_survey_result.json.gz").table
    assert table["item"].n_unique() == 267  # of 268 entries one is there twice
    assert Counter(table["question"]) == {"stereotype": 26_700, "group": 195_200}


def test_the_annotations_of_gest_as_published_are_read_in_full(real_data):
    table = read_labels(real_data / "gest" / "annotations.csv.gz").table
    assert Counter(table["question"]) == {"gender": 4001, "match": 4001, "verdict": 582, "trait": 130}
    with pytest.raises(IsoglossError, match="two annotators"):
        measure_agreement(read_labels(real_data / "gest" / "annotations.csv.gz"))


# ---- agreement


def slow_alpha(units: list[list[str]]) -> float:
    """Krippendorff's alpha over all ordered pairs of labels."""
    units = [unit for unit in units if len(unit) > 1]
    labels = [name for unit in units for name in unit]
    observed = sum(sum(a != b for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units) / len(labels)
    expected = sum(a != b for a, b in permutations(labels, 2)) / (len(labels) * (len(labels) - 1))
    return 1 - observed / expected


def slow_ac1(units: list[list[str]]) -> float:
    """Gwet's AC1 from the shares of labels per unit."""
    units = [unit for unit in units if len(unit) > 1]
    names = sorted({name for unit in units for name in unit})
    observed = np.mean([np.mean([a == b for a, b in permutations(unit, 2)]) for unit in units])
    shares = [np.mean([unit.count(name) / len(unit) for unit in units]) for name in names]
    chance = sum(share * (1 - share) for share in shares) / (len(names) - 1)
    return float((observed - chance) / (1 - chance))


@pytest.mark.parametrize("seed", range(3))
def test_alpha_and_ac1_of_each_language_equal_their_definitions(seed):
    labels = people(seed=seed)
    for row in measure_agreement(labels, by=["language"], settings=FEW):
        part = labels.table.filter(pl.col("language") == row.group["language"])
        units = [list(unit["label"]) for _, unit in part.group_by("item", maintain_order=True)]
        assert row.alpha == pytest.approx(slow_alpha(units))
        assert row.ac1 == pytest.approx(slow_ac1(units))
        assert row.n == sum(len(unit) > 1 for unit in units) == 24
        assert row.unanimous == pytest.approx(np.mean([len(set(unit)) == 1 for unit in units if len(unit) > 1]))
        assert row.alpha_low < row.alpha < row.alpha_high


def test_a_label_that_is_left_out_counts_as_missing():
    labels = people(seed=4)
    sure = make_labels(labels.table.filter(pl.col("label") != "unsure"))
    assert measure_agreement(labels, left_out=["unsure"]).rows == measure_agreement(sure).rows


def test_few_clusters_of_items_have_no_interval_of_agreement():
    row = measure_agreement(people(items=12)).rows[0]
    assert (row.alpha_low, row.ac1_high) == (None, None)


def test_items_that_were_left_out_by_their_labels_are_noticed():
    whole = people(items=2000, agreeing=0.3)
    named = pl.col("label").eq("yes").any().over("item")
    chosen = measure_agreement(make_labels(whole.table.filter(named)))
    assert "no item has only the label 'no'" in chosen.notes[0]
    assert measure_agreement(whole).notes == ()
    assert chosen.rows[0].alpha < measure_agreement(whole).rows[0].alpha


def test_a_question_that_no_two_people_answered_is_noted():
    rows = [*people().table.iter_rows(named=True), {**label("0", "a0", "x"), "question": "other"}]
    assert measure_agreement(make_labels(rows)).notes == ("no item has two labels for: other",)


def test_seegull_as_published_has_only_what_somebody_called_a_stereotype(real_data):
    result = measure_agreement(read_labels(real_data / "seegull" / "stereotypes_es-MX.csv.gz"))
    assert "no item has only the label 'no stereotype'" in result.notes[0]
    assert result.rows[0].alpha == pytest.approx(-0.215, abs=0.001)


def test_agreement_prints_itself_and_becomes_a_table():
    result = measure_agreement(people(), by=["language"], settings=FEW)
    assert "es-MX" in str(result)
    assert f"{result.rows[0].alpha:.3f} [" in str(result)
    assert result.to_polars()["language"].to_list() == ["es-ES", "es-MX"]
