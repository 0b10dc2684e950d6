"""Errors: one line that says what happened, where, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from isogloss.errors import BadData, IsoglossError, MissingExtra, UnknownName, require


def test_bad_data_names_file_and_line():
    assert str(BadData(Path("a/b.csv"), 212, "no role.")) == "a/b.csv, line 212: no role."
    assert str(BadData("a/b.csv", None, "no role.")) == "a/b.csv: no role."


def test_an_unknown_name_lists_the_known_ones_sorted():
    assert str(UnknownName("list", "x", ["b", "a"])) == "No list named 'x'. Known: a, b."
    assert str(UnknownName("list", "x", [])) == "No list named 'x'. Known: none."


def test_of_a_long_list_the_five_nearest_names_are_shown():
    names = ["alpha", "beta", "gamma", "delta", "lms", "ss", "icat", "icat_macro", "macro"]
    assert str(UnknownName("metric", "icat-mac", names)) == (
        "No metric named 'icat-mac'. Known: icat_macro, icat, gamma, macro, alpha and 4 more."
    )


def test_a_near_name_is_suggested_only_when_it_is_very_near():
    assert "Did you mean 'toy_pairs'?" in str(UnknownName("dataset", "toy_pair", ["toy_pairs", "toy_triples"]))
    assert "Did you mean 'ss'?" in str(UnknownName("metric", "SS", ["lms", "ss"]))
    assert "Did you mean" not in str(UnknownName("language", "de", ["el", "fr"]))


@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "a\u2028b"])
def test_a_message_is_one_line_whatever_it_quotes(text):
    assert str(IsoglossError(text)) == "a b"


def test_a_missing_library_names_its_extra():
    with pytest.raises(MissingExtra) as caught:
        require("no_such_library", extra="hf")
    assert str(caught.value) == (
        "This needs the library 'no_such_library', which is not installed: pip install \".[hf]\" in your copy of Isogloss"
    )


def test_a_library_that_is_there_is_imported():
    assert require("json", extra="hf").dumps([1]) == "[1]"
