"""SeeGULL as associations: a sentence for each pair, another identity without the attribute, annotators' counts as a column."""

from __future__ import annotations

import pytest

import isogloss as ig
from isogloss.annotation.bleeding import join_known
from isogloss.annotation.labels import read_labels
from isogloss.errors import BadData
from support.builders import score

HEADER = "identity,attribute,non_stereotype,stereotype,unsure,mean_offensive_score,translated_identity,translated_attribute_list\n"
LINES = 'Xs,shy,1,2,0,4,X,shy\n"Ys,",loud,2,1,0,1,Y,loud\nZs,shy,0,3,0,1,Z,shy\n'


def write(tmp_path, tag: str = "es-MX"):
    path = tmp_path / f"stereotypes_{tag}.csv"
    path.write_text(HEADER + LINES, encoding="utf-8")
    return path


def test_a_pair_becomes_a_sentence_and_one_with_an_identity_that_lacks_the_attribute(tmp_path):
    items = ig.read(write(tmp_path))
    assert [item.id for item in items] == ["Xs: shy", "Ys: loud", "Zs: shy"]
    first = items[0]
    assert (first.language, first.cluster, first.tags["annotators_known"]) == ("es-MX", "Xs", "2")
    assert "Xs" in first.candidates[0].text
    assert "Ys" in first.candidates[1].text
    assert first.candidates[0].text.replace("Xs", "Ys") == first.candidates[1].text


def test_items_and_labels_of_a_country_have_the_same_names(tmp_path):
    path = write(tmp_path)
    items = ig.read(path)
    scored = join_known(score(list(items), [(1, 0)] * 3), read_labels(path))
    assert dict(scored.table.select("id", "known_stereotype").iter_rows()) == {
        "Xs: shy": "yes", "Ys: loud": "no", "Zs: shy": "yes",
    }  # fmt: skip


def test_a_language_without_sentences_is_named(tmp_path):
    with pytest.raises(BadData, match="no sentences for the language 'sw-KE'"):
        ig.read(write(tmp_path, "sw-KE"))


@pytest.mark.parametrize(
    ("tag", "language"),
    [("es-ES", "es"), ("es-MX", "es-MX"), ("pt-PT", "pt-PT"), ("pt-BR", "pt-BR"), ("bn-IN", "bn-IN"), ("bn-BD", "bn")],
)
def test_countries_of_one_language_stay_apart(real_data, tag, language):
    items = ig.read(real_data / "seegull" / f"stereotypes_{tag}.csv.gz")
    assert {item.language for item in items} == {language}
    assert {item.tags["annotators_known"] for item in items} == {"1", "2", "3"}
