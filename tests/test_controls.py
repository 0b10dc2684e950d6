"""Controls: control items, permuted labels, and models that know nothing but length and frequency."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest

from isogloss import measure
from isogloss.analysis.control_items import make_control_items
from isogloss.analysis.controls import check_controls, permuted_labels, read_frequencies
from isogloss.errors import IsoglossError
from isogloss.files.sources import read
from isogloss.items import Candidate, Item, Items
from isogloss.reports.text.analyses import controls_as_text
from isogloss.scores import Scored, item_table, join_scored
from support.builders import score, triple

DEMO = read("demo", language=["en", "de"])


def test_every_control_item_points_to_its_item_and_keeps_its_columns():
    by_id = {item.key: item for item in DEMO}
    controls = make_control_items(DEMO)
    assert Counter(control.variant for control in controls) == {"neutral": len(DEMO), "shuffled": len(DEMO)}
    assert len({control.key for control in controls}) == len(controls)
    for control in controls:
        source = by_id[control.dataset, control.derived_from, control.language]
        assert (control.cluster, control.category, control.tags) == (source.cluster, source.category, source.tags)
        assert [c.role for c in control.candidates] == [c.role for c in source.candidates]
        assert [c.word for c in control.candidates] == [c.word for c in source.candidates]


def test_a_neutral_control_has_the_context_of_an_item_about_something_else():
    contexts = {(item.language, item.tags["task"], item.context): item for item in DEMO}
    for control in make_control_items(DEMO, kinds=["neutral"]):
        donor = contexts[control.language, control.tags["task"], control.context]
        assert donor.category != control.category
        for candidate in control.candidates:
            assert candidate.word is None or candidate.text == control.context.replace("BLANK", candidate.word)


def test_a_shuffled_control_has_the_same_words_in_another_order():
    by_id = {item.key: item for item in DEMO}
    for control in make_control_items(DEMO, kinds=["shuffled"]):
        source = by_id[control.dataset, control.derived_from, control.language]
        assert control.context != source.context
        assert sorted(control.context.split()) == sorted(source.context.split())


def test_parallel_languages_get_parallel_controls():
    donors = {}
    contexts = {(item.language, item.context): item.id for item in DEMO}
    for control in make_control_items(DEMO, kinds=["neutral"]):
        donors.setdefault(control.derived_from, set()).add(contexts[control.language, control.context])
    assert all(len(found) == 1 for found in donors.values())


def test_the_seed_decides():
    assert make_control_items(DEMO, seed=1) == make_control_items(DEMO, seed=1) != make_control_items(DEMO, seed=2)


def pair(name: str, left: str, right: str) -> Item:
    candidates = (Candidate(f"{name}-a", "stereotype", left), Candidate(f"{name}-b", "anti-stereotype", right))
    return Item(name, "pairs", "en", "gender", candidates)


def test_pairs_without_a_context_are_disordered_alike():
    control = make_control_items(Items((pair("p", "the old man is a nurse", "the old woman is a nurse"),)))[0]
    left, right = (candidate.text.split() for candidate in control.candidates)
    assert left != ["the", "old", "man", "is", "a", "nurse"]
    assert left.index("man") == right.index("woman")


def test_text_without_spaces_is_disordered_by_letters():
    item = replace(triple("zh"), context="护士很BLANK。", language="zh")
    control = make_control_items(Items((item,)), kinds=["shuffled"])[0]
    assert "BLANK" in control.context
    assert sorted(control.context.replace("BLANK", "")) == sorted("护士很。")


def test_controls_of_controls_are_not_made_and_what_cannot_be_made_is_refused():
    controls = make_control_items(DEMO, kinds=["neutral"])
    assert len(make_control_items(DEMO + controls, kinds=["neutral"])) == len(controls)
    with pytest.raises(IsoglossError) as caught:
        make_control_items(Items((pair("p", "a", "b"),)))
    assert str(caught.value) == (
        "No control item can be made of these items: they have no context, and their sentences have one word."
    )
    with pytest.raises(IsoglossError) as caught:
        make_control_items(DEMO, kinds=["neutrl"])
    assert (
        str(caught.value) == "No kind of control item named 'neutrl'. Did you mean 'neutral'? Known: neutral, shuffled."
    )


def test_permuted_labels_are_those_of_all_ways_to_swap_clusters():
    wins = [1, 1, 1, 0, 1, 1, 0, 1, 1, 1]  # two items in each of five clusters
    items = [triple(f"i{k}", f"t{k // 2}") for k in range(10)]
    found = permuted_labels(score(items, [(2, 1, 0) if w else (1, 2, 0) for w in wins]), group={})
    sums = np.array([wins[2 * c] + wins[2 * c + 1] - 1 for c in range(5)])
    values = [abs(np.dot(signs, sums)) for signs in product((1, -1), repeat=5)]
    assert found.p == pytest.approx(np.mean(np.array(values) >= abs(sums.sum())))
    assert (found.value, found.difference, found.n) == (50, pytest.approx(30), 10)
    assert found.low < 50 < found.high


def scored_with_controls() -> tuple[Scored, pl.DataFrame]:
    """On the real items the stereotype always wins; on the control items chance decides."""
    real = Items(tuple(item for item in DEMO if item.language == "en"))
    controls = make_control_items(real)
    rng = np.random.default_rng(0)
    order = {"stereotype": 2, "anti-stereotype": 1, "unrelated": 0}
    wins = [[order[candidate.role] for candidate in item.candidates] for item in real]
    parts = [score(list(real), wins), score(list(controls), rng.random((len(controls), 3)).tolist())]
    return join_scored(parts), item_table(real + controls)


def test_the_score_stands_beside_its_controls():
    scored, items = scored_with_controls()
    controls = check_controls(scored, items, resamples=300)
    found = {one.name: one for one in controls}
    assert list(found) == [
        *("score", "neutral items", "shuffled items", "permuted labels", "shorter words", "more frequent words")
    ]
    assert found["score"].value == 100
    assert 30 < found["neutral items"].value < 70
    assert found["neutral items"].difference == pytest.approx(100 - found["neutral items"].value)
    assert found["neutral items"].p < 0.01
    assert json.loads(controls.to_json())["controls"][0]["value"] == 100
    text = controls_as_text(list(found.values()))
    assert "tiny, en: the score differs from that of its neutral items" in text
    assert measure(scored, metrics=["ss"], by=[])[0].n == 96


def words(stereo: str, anti: str, name: str) -> Item:
    return replace(
        triple(name, name),
        candidates=(
            Candidate(f"{name}-s", "stereotype", f"She is {stereo}.", stereo),
            Candidate(f"{name}-a", "anti-stereotype", f"She is {anti}.", anti),
            Candidate(f"{name}-u", "unrelated", "She is banana.", "banana"),
        ),
    )


def test_length_and_frequency_baselines_by_hand():
    # shorter: kind < friendly, rude = nice (a tie), loud < hearty -> (1 + 0.5 + 1) / 3;  frequency from the list below
    items = [words("kind", "friendly", "x"), words("rude", "nice", "y"), words("loud", "hearty", "z")]
    scored = score(items, [(2, 1, 0), (2, 1, 0), (1, 2, 0)])
    counts = {"kind": 5, "friendly": 9, "rude": 7, "nice": 1, "loud": 3}
    rows = check_controls(scored, item_table(Items(tuple(items))), frequencies=counts)
    found = {one.name: one for one in rows}
    assert found["shorter words"].value == pytest.approx(100 * 2.5 / 3)
    assert found["more frequent words"].value == pytest.approx(100 * 2 / 3)
    assert found["more frequent words"].kappa == pytest.approx(-0.5)


def test_tokens_are_a_baseline_where_the_model_counted_them():
    items = [words("kind", "friendly", "x"), words("rude", "nice", "y")]
    scored = score(items, [(2, 1, 0), (2, 1, 0)])
    tokens = Scored(scored.table.with_columns(tokens=pl.Series([1, 2, 1, 3, 1, 1])))
    found = {one.name: one for one in check_controls(tokens, item_table(Items(tuple(items))))}
    assert found["fewer tokens"].value == pytest.approx(50)


def test_items_of_other_roles_are_refused():
    items = [triple("a", roles=["female", "male"])]
    with pytest.raises(IsoglossError) as caught:
        check_controls(score(items, [(1, 2)]), item_table(Items(tuple(items))))
    assert str(caught.value) == (
        "Controls are about stereotypes and anti-stereotypes, and these items have no such roles."
    )


def test_word_lists_are_read_and_bad_lines_named(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("House\t12\nhome, 3\n\ntree 4\n", encoding="utf-8")
    assert read_frequencies(path) == {"house": 12, "home": 3, "tree": 4}
    for text, message in (
        ("house\n", f"{path}, line 1: a line must be a word and a whole number, such as: house 1204"),
        ("\n", f"{path}: the word list is empty."),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(IsoglossError) as caught:
            read_frequencies(path)
        assert str(caught.value) == message
