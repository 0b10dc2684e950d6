"""The data of the experiments: pairs of StereoSet, parallel text of pairs, templates, native names, pronouns kept."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from isogloss import read
from isogloss.corpora.pairs import (
    align_pairs,
    make_pairs,
    native_names,
    occupation_pairs,
    parallel_rows,
    write_pairs,
    write_parallel,
)
from isogloss.corpora.pronoun_preservation import (
    count_all,
    count_preserved,
    has_pronoun,
    preservation_as_text,
)
from isogloss.corpora.splits import split_corpus
from isogloss.corpora.texts import Corpus, SentencePair, open_corpus
from isogloss.corpora.wordlists import gender_lists
from isogloss.errors import IsoglossError
from isogloss.items import Candidate, Item, Items
from isogloss.word_lists import languages_with_names, load_toml
from support.builders import stereoset_rows, triple, write_jsonl


def pair(name: str, language: str, *texts: str, category: str = "gender") -> Item:
    roles = ("stereotype", "anti-stereotype")
    found = tuple(Candidate(f"{name}-{role}", role, text) for role, text in zip(roles, texts, strict=True))
    return Item(name, "crows_pairs", language, category, found, cluster=name, tags={"task": "pair"})


def items(*rows: Item) -> Items:
    return Items(rows)


def corpus(language: str, *rows: tuple[str, str]) -> Corpus:
    return Corpus("c", language, lambda: (SentencePair(n, *row) for n, row in enumerate(rows, 1)))


def message(call: object) -> str:
    with pytest.raises(IsoglossError) as caught:
        call()  # type: ignore[operator]
    return str(caught.value)


def test_stereoset_items_become_pairs_of_whole_sentences(tmp_path: Path) -> None:
    source = read(write_jsonl(tmp_path / "s.jsonl", stereoset_rows()))
    found = make_pairs(source)
    assert {item.id: [one.text for one in item.candidates] for item in found} == {
        "intra0": ["The nurse is kind.", "The nurse is rude."],
        "inter0": ["I met a nurse. They were kind.", "I met a nurse. They were rude."],
    }
    assert len(make_pairs(source, category=None)) == 4
    again = read(write_pairs(found, tmp_path / "pairs.jsonl"))
    assert [(i.key, i.candidates[0].text, i.cluster, i.tags) for i in again] == [
        (i.key, i.candidates[0].text, i.cluster, i.tags) for i in found
    ]
    assert message(lambda: make_pairs(items(triple("a")))) == (
        "None of the 1 items is a pair of the category 'gender'."
    )


def test_pairs_without_ids_take_those_of_the_english_ones_by_order() -> None:
    english = items(pair("3", "en", "a", "b"), pair("4", "en", "x", "y", category="age"), pair("9", "en", "c", "d"))
    other = items(pair("gender-0", "ja", "A", "B"), pair("gender-1", "ja", "C", "C"))
    assert [item.id for item in align_pairs(english, other)] == ["3", "9"]
    assert parallel_rows(english, other) == [("a", "A"), ("b", "B"), ("c", "C"), ("d", "C")]
    assert message(lambda: align_pairs(english, items(other[0]))) == (
        "The two files are not parallel: 2 English pairs of 'gender', but 1 in ja."
    )


def test_english_alone_is_written_as_text(tmp_path: Path) -> None:
    english = items(pair("3", "en", "She sings.", "He sings."))
    path = write_parallel(parallel_rows(english, english), tmp_path / "en.txt", language="en")
    found = split_corpus(open_corpus(path), gender_lists())
    assert [one.candidates[0].text for one in found.items] == ["She sings.", "He sings."]


@pytest.mark.parametrize("language", ["ja", "ru"])
def test_the_template_baseline_has_two_templates_five_pairs_and_all_occupations(language: str) -> None:
    found = occupation_pairs(language)
    jobs = load_toml("occupations.toml")["occupation"]
    assert len(found) == 2 * 5 * len(jobs)
    assert len(jobs) >= 150
    assert Counter(item.tags["template"] for item in found) == {"1": 5 * len(jobs), "2": 5 * len(jobs)}
    assert all("{" not in one.text and one.text for item in found for one in item.candidates)
    assert len({item.id for item in found}) == len(found)


def test_the_template_baseline_inflects() -> None:
    texts = {item.id: {one.role: one.text for one in item.candidates} for item in occupation_pairs("ru")}
    assert texts["nurse-2-1"] == {"female": "Она работает медсестрой.", "male": "Он работает медбратом."}
    assert texts["doctor-1-3"] == {"female": "Моя мать теперь врач.", "male": "Мой отец теперь врач."}
    assert message(lambda: occupation_pairs("th")).startswith(
        "No language of the occupation templates named 'th'. Known: "
    )


def test_foreign_names_become_native_ones_the_same_in_both_sentences() -> None:
    source = items(
        pair("1", "ja", "ジョンは医者です。", "メアリーは医者です。"), pair("2", "ja", "ジョンソンと彼", "トムとトム")
    )
    found, changed = native_names(source, seed=3)
    native = load_toml("native_names.toml")["ja"]
    first, second = (one.text.removesuffix("は医者です。") for one in found[0].candidates)
    assert first in native["male"]
    assert second in native["female"]
    assert found[1].candidates[0].text == "ジョンソンと彼"  # a longer name is another name
    left, right = found[1].candidates[1].text.split("と")
    assert left == right != "トム"
    assert changed == 2
    assert native_names(source, seed=3) == (found, 2)


def test_names_are_replaced_in_latin_script_too_but_not_words_that_look_like_names() -> None:
    found, changed = native_names(items(pair("1", "es", "Ella vio a John.", "Ella vio a Mary.")))
    native = load_toml("native_names.toml")["es"]
    texts = [candidate.text for candidate in found[0].candidates]
    assert [text.startswith("Ella vio a ") for text in texts] == [True, True]
    assert texts[0].removeprefix("Ella vio a ").rstrip(".") in native["male"]
    assert texts[1].removeprefix("Ella vio a ").rstrip(".") in native["female"]
    assert changed == 1


@pytest.mark.parametrize(
    ("language", "text"),
    [("ja", "マイクの音が小さい。"), ("ja", "ジムに行く。"), ("ru", "Пол был мокрый."), ("ru", "Том второй.")],
)
def test_common_nouns_are_no_names(language: str, text: str) -> None:
    assert native_names(items(pair("1", language, text, text)))[1] == 0


def test_a_language_without_native_names_is_named() -> None:
    assert message(lambda: native_names(items(pair("1", "ko", "a", "b")))) == (
        "No language with native names named 'ko'. Known: ro, de, es, fi, fr and 10 more."
    )


def test_every_list_of_names_is_used() -> None:
    names = load_toml("native_names.toml")
    assert set(names) == set(languages_with_names())
    assert set(load_toml("transliterated_names.toml")) <= set(names)


def test_pronouns_that_are_kept_are_counted_by_gender() -> None:
    found = count_preserved(
        corpus(
            "ja",
            ("He sings.", "彼は歌う。"),
            ("He’s here.", "彼女はここ。"),  # 彼 is part of 彼女 and does not count
            ("He left.", "帰った。"),
            ("She sings.", "彼女は歌う。"),
            ("He and she.", "彼と彼女。"),
            ("They sing.", "彼らは歌う。"),
        )
    )
    assert [(one.pronoun, one.kept, one.n) for one in found] == [("he", 1, 3), ("she", 1, 1)]
    assert found[1].share == 100
    assert preservation_as_text(found).splitlines()[0] == "ja  c: 'he' kept in 1 of 3 sentences (33.3 %)"
    assert count_all([corpus("de", ("It.", "Es."))])[0].share is None
    assert message(lambda: count_preserved(corpus("xx", ("He.", "?")))).startswith(
        "No language with pronouns named 'xx'."
    )


def test_a_language_with_one_pronoun_keeps_it_for_both() -> None:
    forms = load_toml("pronouns.toml")
    assert has_pronoun("Dia bernyanyi.", "he", forms=forms["id"])
    assert has_pronoun("Dia bernyanyi.", "she", forms=forms["id"])
    assert not has_pronoun("Er singt.", "she", forms=forms["de"])


@pytest.mark.parametrize(("name", "language"), [("japanese", "ja"), ("russian", "ru")])
def test_the_real_pairs_are_a_parallel_text(real_data: Path, tmp_path: Path, name: str, language: str) -> None:
    folder = real_data / "crows_pairs"
    english = make_pairs(read(folder / "crows_pairs_anonymized.csv"))
    other = read(folder / f"mbe_{name}.json")
    assert [item.id for item in align_pairs(english, other)] == [item.id for item in english]
    rows = parallel_rows(english, other)
    path = write_parallel(rows, tmp_path / f"en-{language}.tsv", language=language)
    text = open_corpus(path)
    assert text.language == language
    found = split_corpus(text, gender_lists())
    assert found.kept > 150
    assert found.counts["female"] + found.counts["male"] > 0.7 * len(rows)
    kept = {one.pronoun: one.share for one in count_preserved(text)}
    assert all(share is not None and 20 < share <= 100 for share in kept.values()), kept
