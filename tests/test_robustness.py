"""Robustness: every setting that fits, flips, noise, and what the sign does."""

from __future__ import annotations

import json

import numpy as np
import pytest

from isogloss.analysis.control_items import make_control_items
from isogloss.analysis.robustness import RobustnessReport, SettingResult
from isogloss.errors import IsoglossError
from isogloss.files.sources import read
from isogloss.items import Items
from isogloss.library import score
from isogloss.reports.text.analyses import robustness_as_text
from isogloss.results import Results
from isogloss.studies.robustness import check_robustness, sign_of
from support import tiny
from support.examples import INTER, INTRA

DEMO = Items(tuple(item for item in read("demo", language="en") if item.tags["task"] == "intrasentence"))


@pytest.fixture(scope="module")
def card() -> RobustnessReport:
    """The card of a tiny causal model."""
    return check_robustness(DEMO, model=tiny.model("gpt2"), resamples=100)[0]


def test_the_default_comes_first_and_all_other_settings_change_one_thing(card):
    kinds = [one.kind for one in card.trials]
    names = [one.setting for one in card.trials]
    assert kinds[0] == "default"
    assert names[0] == "likelihood"
    assert "likelihood[start=none]" in names
    assert kinds.count("batch") == 2
    assert "dtype" not in kinds
    assert len(set(names)) == len(names)


def test_batch_sizes_do_not_flip_items_and_their_noise_is_that_of_float32(card):
    for one in card.trials:
        if one.kind == "batch":
            assert one.flips == 0
            assert one.noise < 1e-4
            assert one.rank > 0.999999


def test_methods_are_compared_by_rank_and_preference(card):
    row = next(one for one in card.agreement if one[:2] == ("likelihood", "likelihood[start=none]"))
    assert -1 <= row[2] <= 1
    assert -1 <= row[3] <= 1
    start = next(one for one in card.trials if one.setting == "likelihood[start=none]")
    assert 0 < start.flips < start.n == len(DEMO)
    assert start.noise is None


@pytest.mark.slow
def test_a_model_in_a_folder_is_also_tried_in_other_dtypes(tmp_path):
    tiny.network("gpt2").save_pretrained(tmp_path)
    tiny.tokenizer_of("gpt2").save_pretrained(tmp_path)
    found = check_robustness(Items(DEMO.rows[:12]), model=str(tmp_path), resamples=100)[0]
    rows = {one.setting: one for one in found.trials}
    assert rows["bfloat16"].noise > rows["128 tokens per batch"].noise
    assert rows["bfloat16"].below == len(found.below) or rows["float16"].below == len(found.below)


def test_tasks_and_languages_have_their_own_cards():
    items = Items(
        (*(item for item in INTRA if item.language == "en"), *(item for item in INTER if item.language == "en"))
    )
    cards = check_robustness(items, model=tiny.model("bert"), resamples=100)
    assert [(card.language, card.task) for card in cards] == [("en", "intrasentence"), ("en", "intersentence")]
    assert [card.trials[0].setting for card in cards] == ["unmask", "nsp"]


def test_items_that_no_method_can_score_are_refused(monkeypatch):
    model = tiny.model("roberta")
    monkeypatch.setattr("isogloss.registry.names", lambda kind: ["nsp"])
    items = Items(tuple(item for item in INTER if item.language == "en"))
    with pytest.raises(IsoglossError) as caught:
        check_robustness(items, model=model)
    assert str(caught.value) == "No method can score these items with 'tiny-roberta'."


def trial(low: float | None, high: float | None) -> SettingResult:
    return SettingResult("x", "method", 50.0, low, high, 10)


@pytest.mark.parametrize(
    ("ends", "sign"),
    [
        ([(51, 60), (55, 70)], "same"),
        ([(51, 60), (30, 45)], "different"),
        ([(51, 60), (45, 55)], "unclear"),
        ([(51, 60), (None, None)], "unclear"),
    ],
)
def test_the_sign_is_claimed_only_beyond_the_intervals(ends, sign):
    assert sign_of([trial(*pair) for pair in ends]) == sign


def test_a_card_can_be_shown_and_written(card):
    assert json.loads(Results((card,)).to_json())["cards"][0]["sign"] == card.sign
    text = robustness_as_text(card)
    assert text.startswith("tiny-gpt2 · demo · en · intrasentence")
    assert "likelihood - likelihood[start=none]" in text


def test_control_items_can_be_scored_like_items():
    controls = make_control_items(DEMO, kinds=["shuffled"])
    table = score(controls, model=tiny.model("gpt2")).table
    assert np.isfinite(table["value"].to_numpy()).all()
    assert set(table["variant"]) == {"shuffled"}
