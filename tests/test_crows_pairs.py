"""CrowS-Pairs in its layouts, our own pairs, and what is reported of broken files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from isogloss import read, registry
from isogloss.errors import IsoglossError
from isogloss.files.reading import Reading, reading_as, remarks_as_lines
from support.builders import write_jsonl

HEADER = ",sent_more,sent_less,stereo_antistereo,bias_type,annotations,anon_writer,anon_annotators\n"
ROWS = '0,"The nurse, she, is kind.","The nurse, he, is kind.",stereo,gender,[],a0,[]\n1,Same.,Same.,antistereo,race-color,[],a1,[]\n'


def message(path: Path, **more: str) -> str:
    with pytest.raises(IsoglossError) as caught:
        read(path, **more)  # type: ignore[arg-type]
    return str(caught.value)


def write(path: Path, text: str, *, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def test_the_original_layout(tmp_path: Path) -> None:
    items = read(write(tmp_path / "crows_pairs_anonymized.csv", HEADER + ROWS))
    first = items[0]
    assert (first.id, first.dataset, first.language, first.category) == ("0", "crows_pairs", "en", "gender")
    assert {one.role: one.text for one in first.candidates} == {
        "stereotype": "The nurse, she, is kind.",
        "anti-stereotype": "The nurse, he, is kind.",
    }
    assert dict(first.tags) == {"task": "pair", "direction": "stereo", "writer": "a0"}
    assert items[1].tags["direction"] == "antistereo"


def test_equal_sentences_are_kept_and_reported(tmp_path: Path) -> None:
    items = read(write(tmp_path / "crows.csv", HEADER + ROWS))
    assert [(p.check, p.item, p.message) for p in items.problems] == [
        ("equal_words", "1", "stereotype and anti-stereotype are both 'Same.'")
    ]


def test_the_japanese_layout_has_no_ids_and_a_language_in_words(tmp_path: Path) -> None:
    rows = [
        {
            "direction": "stereo",
            "bias_type": "gender",
            "stereotype": "彼女。",
            "anti-stereotype": "彼。",
            "bias_score": 4,
        }
    ]
    path = tmp_path / "mbe_japanese.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    items = read(path)
    assert [(item.id, item.language, item.tags["direction"]) for item in items] == [("gender-0", "ja", "stereo")]


def test_columns_may_name_several_languages(tmp_path: Path) -> None:
    text = (
        "id,sent_more_de,sent_less_de,sent_more_fr,sent_less_fr,stereo_antistereo,bias_type\n7,a,b,c,d,stereo,gender\n"
    )
    items = read(write(tmp_path / "many.csv", text))
    assert [(i.id, i.language, i.candidates[0].text) for i in items] == [("7", "de", "a"), ("7", "fr", "c")]


def test_empty_cells_unknown_directions_and_missing_languages_are_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "id,sent_more,sent_less,stereo_antistereo,bias_type\n1,a,,stereo,gender\n")
    assert message(path, language="fr") == f"{path}, line 2: 'sent_less' is missing or empty."
    write(path, "id,sent_more,sent_less,stereo_antistereo,bias_type\n1,a,b,both,gender\n2,a,b,stereo,age\n")
    assert message(path, language="fr") == f"{path}, line 2: the direction is 'both'; use 'stereo' or 'antistereo'."
    assert len(read(path, language="fr", skip_bad=True)) == 1
    write(path, "id,sent_more,sent_less,stereo_antistereo,bias_type\n1,a,b,stereo,gender\n")
    assert message(path) == (f"{path}, line 2: the row names no language; add a 'language' column or use `language`.")
    path = write(
        tmp_path / "x_japanese.json", '[{"stereotype": "a", "anti-stereotype": "b", "direction": "stereo"}, 3]'
    )
    assert message(path) == f"{path}: 'bias_type' is missing or empty."


@pytest.mark.parametrize(("codec", "name", "seen"), [("mac_roman", "MacRoman", "√©"), ("cp1252", "Windows-1252", "Ã©")])
def test_text_that_was_read_in_another_encoding_is_reported(tmp_path: Path, codec: str, name: str, seen: str) -> None:
    wrong = "Une fille fâchée.".encode().decode(codec)
    assert seen in wrong
    text = f"id,sent_more,sent_less,stereo_antistereo,bias_type\n1,{wrong},b,stereo,gender\n"
    path = write(tmp_path / "x_fr.csv", text)
    assert message(path) == (
        f"{path}, line 2: '{wrong}' is UTF-8 that was read as {name}. Convert the file again from its source."
    )


def test_our_own_pairs_flat_and_with_candidates(tmp_path: Path) -> None:
    flat = write(tmp_path / "p_de.csv", "id,category,stereotype,anti_stereotype,direction\n1,age,a,b,stereo\n")
    item = read(flat)[0]
    assert (item.dataset, item.language, dict(item.tags)) == ("p", "de", {"task": "pair", "direction": "stereo"})
    rows = [
        {
            "id": "1",
            "category": "age",
            "language": "ja",
            "candidates": [{"role": r, "text": r} for r in ("old", "young")],
        }
    ]
    assert [one.role for one in read(write_jsonl(tmp_path / "p.jsonl", rows))[0].candidates] == ["old", "young"]


def test_rows_with_the_same_target_are_remarked_where_no_column_says_cluster(tmp_path: Path) -> None:
    table = tmp_path / "mine_en.csv"
    text = "id,category,target,stereotype,anti_stereotype{}\n1,age,nurse,a,b{}\n2,age,nurse,c,d{}\n"
    for cells, count in ((("", "", ""), 1), ((",cluster", ",n", ",n"), 0)):
        table.write_text(text.format(*cells), encoding="utf-8")
        reading = Reading()
        with reading_as(reading):
            list(registry.get("dataset", "pairs").parse(table, "en", bad=pytest.fail))
        remarks = "\n".join(remarks_as_lines(reading.remarks))
        assert (
            remarks.count("no column 'cluster', so every row is its own cluster, also rows with the same target")
            == count
        )


def test_broken_pairs_are_reported(tmp_path: Path) -> None:
    path = write_jsonl(
        tmp_path / "p_de.jsonl", [{"id": "1", "category": "age", "candidates": [{"role": "a", "text": "x"}]}]
    )
    assert message(path) == f"{path}, line 1: 'candidates' must be a list of two objects with 'role' and 'text'."
    same = [{"role": "a", "text": "x"}, {"role": "a", "text": "y"}]
    write_jsonl(path, [{"id": "1", "category": "age", "candidates": same}])
    assert message(path) == f"{path}, line 1: both sentences have the role 'a'."
    path = write_jsonl(
        tmp_path / "o_de.jsonl", [{"id": "1", "category": "age", "stereotype": "x", "anti_stereotype": ""}]
    )
    assert message(path) == f"{path}, line 1: 'anti_stereotype' is missing or empty."
    path = write_jsonl(tmp_path / "s_de.jsonl", [{"id": "1", "group": "a", "text": " "}])
    assert message(path) == f"{path}, line 1: 'text' is missing or empty."


def test_all_four_real_files(real_data: Path) -> None:
    folder = real_data / "crows_pairs"
    english = read(folder / "crows_pairs_anonymized.csv")
    assert (len(english), english[0].language) == (1508, "en")
    assert Counter(item.tags["direction"] for item in english) == {"stereo": 1290, "antistereo": 218}
    assert Counter(item.category for item in english)["gender"] == 262
    french_file = folder / "crows_pairs_french.csv"
    assert message(french_file) == f"{french_file}, line 129: 'sent_less' is missing or empty."
    french = read(french_file, skip_bad=True)
    assert (len(french), Counter(p.check for p in french.problems)) == (1462, {"unreadable": 1, "equal_words": 1})
    assert {item.id for item in french} < {item.id for item in english}
    for name, language in (("japanese", "ja"), ("russian", "ru")):
        items = read(folder / f"mbe_{name}.json")
        assert (len(items), {item.language for item in items}) == (262, {language})
        same = [item.tags["direction"] for item in english if item.category == "gender"]
        assert [item.tags["direction"] for item in items] == same
