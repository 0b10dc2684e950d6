"""Counting tokens: a folder's tokenizer counts for `data check`, and what cannot be opened is one sentence."""

from __future__ import annotations

import json

import pytest

from isogloss.cli import main
from isogloss.errors import IsoglossError
from isogloss.models.load import open_counter
from support.tiny import wordpiece


@pytest.fixture
def folder(tmp_path):
    """A folder with a tokenizer and no weights."""
    wordpiece().save_pretrained(tmp_path / "model")
    (tmp_path / "model" / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    return tmp_path / "model"


def test_tokens_are_counted_without_special_ones(folder):
    count = open_counter(str(folder))
    assert count("nurse") == len(wordpiece().encode("nurse", add_special_tokens=False))


def test_data_check_compares_tokens_when_a_tokenizer_is_given(folder, monkeypatch, capsys):
    monkeypatch.setattr(
        "sys.argv", ["isogloss", "data", "check", "demo", "-l", "en", "--tokenizer", str(folder), "--format", "json"]
    )
    with pytest.raises(SystemExit):
        main()
    found = {one["check"]: one for one in json.loads(capsys.readouterr().out)["checks"]}
    assert found["token_gap"]["severity"] == "note"
    assert found["token_gap"]["count"] > 0


def test_a_folder_without_a_tokenizer_is_one_sentence(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    with pytest.raises(IsoglossError) as caught:
        open_counter(str(tmp_path))
    assert str(caught.value) == (f"'{tmp_path}' has no tokenizer that can be read. Download it again.")
