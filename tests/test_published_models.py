"""Published scores, item by item, with the published models: needs the Hugging Face hub (ISOGLOSS_HUB=1) and the real data."""

from __future__ import annotations

import os

import numpy as np
import pytest

import isogloss as ig
from isogloss.exchange.predictions import read_predictions

pytestmark = [
    pytest.mark.hub,
    pytest.mark.skipif(os.environ.get("ISOGLOSS_HUB") != "1", reason="set ISOGLOSS_HUB=1 to load models from the hub"),
]


def published(real_data, name):
    return read_predictions(real_data / "predictions" / f"{name}.json.gz")


def gaps(scored, values):
    """Per candidate: the difference between our log score and the published one."""
    ours = dict(scored.table.select("candidate", "value").iter_rows())
    return np.array([np.log(ours[name]) - np.log(values[name]) for name in ours])


def test_gpt2_gives_the_published_sentence_scores(real_data):
    items = ig.read(real_data / "stereoset" / "intrasentence_en.jsonl.gz")
    found = gaps(
        ig.score(items, model="openai-community/gpt2", options={"start": "first"}),
        published(real_data, "gpt2_GPT2LM_GPT2LM_d_en"),
    )
    assert np.abs(found).max() < 1e-3


def test_gpt2_gives_the_published_continuation_scores(real_data):
    items = ig.read(real_data / "stereoset" / "intersentence_en.jsonl.gz")
    found = gaps(
        ig.score(items, model="openai-community/gpt2", options={"start": "first"}),
        published(real_data, "gpt2_GPT2LM_GPT2LM_d_en"),
    )
    assert np.quantile(np.abs(found), 0.99) < 1e-3


def test_bert_gives_the_published_word_scores_but_for_words_that_are_cut_differently(real_data):
    items = ig.read(real_data / "stereoset" / "intrasentence_en.jsonl.gz")
    values = published(real_data, "bert-base-cased_BertLM_BertNextSentence_en")
    found = gaps(ig.score(items, model="google-bert/bert-base-cased"), values)
    assert np.quantile(np.abs(found), 0.95) < 1e-3


def test_bert_gives_the_published_next_sentence_scores(real_data):
    items = ig.read(real_data / "stereoset" / "intersentence_en.jsonl.gz")
    values = published(real_data, "bert-base-cased_BertLM_BertNextSentence_en")
    found = gaps(ig.score(items, model="google-bert/bert-base-cased"), values)
    assert np.quantile(np.abs(found), 0.99) < 1e-3
