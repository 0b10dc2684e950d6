"""Settings written as texts."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from isogloss.errors import IsoglossError
from isogloss.nsp.data import PairSettings, Shares, read_pair_settings
from isogloss.nsp.settings import Rates, TrainingSettings, check_settings, read_training_settings
from isogloss.settings import read_fields


@dataclass
class Example:
    name: str = ""
    count: int | None = None
    share: float = 0.5
    fast: bool = False
    rest: list[str] = field(default_factory=list)


def test_texts_become_values_of_the_fields_types():
    texts = {"name": "x", "count": "3", "share": "1e-3", "fast": "Yes"}
    assert read_fields(Example, texts, what="it") == {"name": "x", "count": 3, "share": 0.001, "fast": True}


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ({"count": "many"}, "count=many: 'count' of 'it' must be a whole number of at least 1."),
        ({"count": "0"}, "count=0: 'count' of 'it' must be a whole number of at least 1."),
        ({"share": "nan"}, "share=nan: 'share' of 'it' must be a number of at least 1."),
        ({"fast": "maybe"}, "fast=maybe: 'fast' of 'it' must be yes or no."),
        ({"cuont": "1"}, "No option of 'it' named 'cuont'. Did you mean 'count'? Known: count, fast, name, share."),
        ({"rest": "a"}, "No option of 'it' named 'rest'. Known: count, fast, name, share."),
    ],
)
def test_what_is_no_setting_is_refused_in_one_sentence(texts, sentence):
    with pytest.raises(IsoglossError) as error:
        read_fields(Example, texts, what="it", least=1)
    assert str(error.value) == sentence


def test_settings_of_a_training_and_its_rates_are_read_together():
    texts = {"batch": "16", "core_rate": "1e-5", "schedule": "constant", "gradient_checkpointing": "yes"}
    settings = read_training_settings(texts, TrainingSettings(seed=3))
    rates = Rates(core=1e-5, schedule="constant")
    assert settings == TrainingSettings(seed=3, batch=16, gradient_checkpointing=True, rates=rates)


@pytest.mark.parametrize("name", ["batch", "accumulation", "cycles", "test_pairs", "patience"])
def test_a_count_of_a_training_is_at_least_one(name):
    with pytest.raises(IsoglossError, match=f"'{name}' must be at least 1."):
        check_settings(read_training_settings({name: "0"}, TrainingSettings()))


def test_settings_of_pairs_and_their_shares_are_read_together():
    settings = read_pair_settings({"test": "0.1", "max_letters": "100", "any_language": "yes"}, PairSettings(seed=2))
    assert settings == PairSettings(2, Shares(0.05, 0.1), max_letters=100, any_language=True)
