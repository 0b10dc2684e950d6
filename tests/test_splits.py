"""Sentences of two groups by English word lists: whole words, capitals, both sides dropped, as many of each."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from isogloss import read
from isogloss.corpora.splits import counts_as_text, split_corpus, split_counts, write_split
from isogloss.corpora.texts import Corpus, SentencePair, open_corpus
from isogloss.corpora.wordlists import find_group, gender_lists, make_list, read_lists
from isogloss.errors import IsoglossError

DEMO = Path(__file__).parent.parent / "src" / "isogloss" / "data" / "parallel_demo"


def corpus(*lines: str) -> Corpus:
    return Corpus("c", "de", lambda: (SentencePair(n, line, f"Satz {n}") for n, line in enumerate(lines, 1)))


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("She sings.", "female"),
        ("SHE SINGS.", "female"),
        ("My sister’s car is red.", "female"),
        ("she'll come", "female"),
        ("The theatre is here.", "neither"),  # he within a word
        ("I miss it.", "neither"),
        ("I met Miss Marple.", "female"),
        ("He and she sing.", "both"),
        ("Emma sings.", "female"),
        ("emma sings.", "neither"),
        ("Peter told his sister.", "both"),
        ("man-made lakes", "neither"),
        ("My mother-in-law sings.", "female"),
        ("", "neither"),
    ],
)
def test_an_english_sentence_belongs_to_the_group_whose_words_it_has(text: str, group: str) -> None:
    assert find_group(text, gender_lists()) == group


def test_names_and_generic_words_can_be_left_out() -> None:
    assert find_group("Emma sings.", gender_lists(names=False)) == "neither"
    assert find_group("The actor sings.", gender_lists()) == "male"
    assert find_group("The actor sings.", gender_lists(generic=False)) == "neither"


def test_lists_of_other_groups_may_have_phrases() -> None:
    lists = make_list("old", ["old", "Senior Citizen"]), make_list("young", ["young", "school child"])
    assert find_group("A School child!", lists) == "young"
    assert find_group("A senior citizen", lists) == "neither"
    assert find_group("The Senior Citizen", lists) == "old"
    assert find_group("schoolchild child school", lists) == "neither"


def test_both_groups_are_cut_to_the_smaller_by_a_seed() -> None:
    many = corpus(*["She sings."] * 3, *["He sings."] * 10, "They sing.", "He and she.", "")
    first = split_corpus(many, gender_lists(), seed=1)
    assert Counter(item.candidates[0].role for item in first.items) == {"female": 3, "male": 3}
    assert first.counts == {"female": 3, "male": 10, "neither": 1, "both": 1, "empty": 1}
    assert first == split_corpus(many, gender_lists(), seed=1)
    draws = {tuple(item.id for item in split_corpus(many, gender_lists(), seed=seed).items) for seed in range(8)}
    assert len(draws) > 3
    assert split_corpus(many, gender_lists(), most=2).kept == 2


def test_sampling_with_a_bound_equals_sampling_all(tmp_path: Path) -> None:
    many = corpus(*["She sings."] * 40, *["He sings."] * 40)
    some = split_corpus(many, gender_lists(), most=7, seed=3)
    everything = split_corpus(many, gender_lists(), seed=3)
    assert {item.id for item in some.items} < {item.id for item in everything.items}


def test_a_written_split_is_read_again(tmp_path: Path) -> None:
    found = split_corpus(open_corpus(DEMO / "en-ja.tsv"), gender_lists())
    items = read(write_split([found], tmp_path / "ja.jsonl"))
    assert [(i.id, i.language, i.candidates, i.tags) for i in items] == [
        (i.id, i.language, i.candidates, i.tags) for i in found.items
    ]
    assert counts_as_text([found]) == ("ja  en-ja.tsv: 63 female, 63 male, 4 neither, 4 both; kept 63 of each group")
    assert split_counts([found])[0]["kept_per_group"] == 63


@pytest.mark.parametrize("language", ["de", "ja", "ar", "es", "pt", "ru", "id", "zh"])
def test_the_demonstration_sets_have_as_many_of_each(language: str) -> None:
    items = read("parallel_demo", language=language)
    assert Counter(item.candidates[0].role for item in items) == {"female": 63, "male": 63}


def message(call: object) -> str:
    with pytest.raises(IsoglossError) as caught:
        call()  # type: ignore[operator]
    return str(caught.value)


def test_a_corpus_of_one_group_is_refused() -> None:
    assert message(lambda: split_corpus(corpus("He sings.", "He and she."), gender_lists())) == (
        "None of the 2 sentences of 'c' has words of 'female' only, so there are not two groups to compare. "
        "Give other lists or another corpus."
    )
    assert message(lambda: split_corpus(corpus("It rains."), gender_lists())) == (
        "None of the 1 sentences of 'c' has words of 'female' and 'male' only, so there are not two groups to compare. "
        "Give other lists or another corpus."
    )
    assert message(lambda: split_corpus(corpus(), gender_lists())) == "'c' has no sentences."


def test_lists_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    for name, text in (("a.txt", "old\nold # again\n"), ("b.txt", "young\nold"), ("empty.txt", "# nothing\n\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    a, b, empty = (tmp_path / name for name in ("a.txt", "b.txt", "empty.txt"))
    assert message(lambda: read_lists([f"old={a}"])) == (
        "Two lists are needed, as in `list='female=her.txt'` and `list='male=his.txt'`; 1 given."
    )
    assert message(lambda: read_lists([f"old={a}", f"young={b}"])) == (
        "'old' is in both lists, 'old' and 'young'. Remove it from one."
    )
    assert message(lambda: read_lists([f"old={a}", f"young={empty}"])) == (
        "The list 'young' is empty. Give one word or name per line."
    )
    assert message(lambda: read_lists([f"x={a}", f"x={b}"])) == "Both lists are named 'x'. Give them two names."
    assert (
        message(lambda: read_lists(["x", "y"])) == "'x' is not a list. Write it as GROUP=FILE, such as young=young.txt."
    )
    assert message(lambda: read_lists(["x=no.txt", "y=no.txt"])) == "No such file: no.txt."
