"""Reading from names, files and folders, in one or several languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from isogloss.errors import IsoglossError, list_known
from isogloss.files.catalogue import data_names
from isogloss.files.sources import language_in_name, read
from support.builders import stereoset_rows, write_jsonl


def message(source, **options) -> str:
    with pytest.raises(IsoglossError) as caught:
        read(source, **options)
    return str(caught.value)


@pytest.fixture
def folder(tmp_path):
    """A folder with the same rows in English and German, and a file that is no data."""
    for tag in ("en", "de"):
        write_jsonl(tmp_path / f"set_{tag}.jsonl", [row | {"language": tag} for row in stereoset_rows()])
    (tmp_path / "README.md").write_text("nothing to read")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("intrasentence_de.jsonl.gz", "de"),
        ("x_pt-BR.csv", "pt-BR"),
        ("x.zh-Hant.parquet", "zh-Hant"),
        ("dev.json", None),
        ("model_xx.json", None),
    ],
)
def test_the_language_may_stand_at_the_end_of_a_file_name(name, tag):
    assert language_in_name(Path(name)) == tag


def test_a_folder_is_read_whole_or_in_some_languages(folder):
    assert {item.language for item in read(folder)} == {"en", "de"}
    assert {item.language for item in read(folder, language="German")} == {"de"}
    assert len(read(folder, language=["en", "de"])) == 8


def test_rows_without_a_language_take_it_from_the_file_name_or_the_option(tmp_path):
    rows = [{key: value for key, value in row.items() if key != "language"} for row in stereoset_rows()]
    assert read(write_jsonl(tmp_path / "x_tr.jsonl", rows))[0].language == "tr"
    assert read(write_jsonl(tmp_path / "x.jsonl", rows), language="Turkish")[0].language == "tr"


def test_rows_of_other_languages_are_left_out(tmp_path):
    rows = stereoset_rows()
    rows[0]["language"] = "fr"
    assert [item.id for item in read(write_jsonl(tmp_path / "x.jsonl", rows), language="fr")] == ["intra0"]


def test_a_language_that_the_file_lacks_is_named(folder):
    path = folder / "set_de.jsonl"
    assert message(path, language="fr") == (
        f"No items in '{path}' in fr. Look at what it holds with: isogloss show {path}"
    )
    assert message(folder, language="fr") == f"No data files in fr in the folder {folder}."


def test_a_missing_file_is_named():
    assert message("no/such.jsonl") == "No such file: no/such.jsonl."
    assert message("x" * 5000 + ".csv") == f"No such file: {'x' * 5000}.csv."


def test_an_unknown_name_lists_the_data_sets():
    known = list_known("sterioset", data_names())
    assert message("sterioset") == (f"No data set or file named 'sterioset'. Did you mean 'stereoset'? Known: {known}.")


def test_a_layout_that_is_no_data_says_to_give_a_file():
    assert message("pairs") == (
        "'pairs' is a layout for your files. Give the path of a file; docs/reference/data-formats.md describes it."
    )


def test_an_unknown_layout_names_the_columns_it_saw(tmp_path):
    path = write_jsonl(tmp_path / "x.jsonl", [{"b": 1, "a": 2}])
    assert message(path) == (
        f"{path}: the columns (a, b) are of no layout that Isogloss knows. The nearest is 'pairs', which needs "
        "stereotype, anti_stereotype. If yours have other names, use `columns={'stereotype': 'YOURS', 'anti_stereotype': 'YOURS'}`"
    )


def test_a_file_of_bad_rows_only_is_named_by_the_first_of_them(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"nonsense\n")
    assert message(path) == f"{path}, line 1: not JSON: Expecting value."


def test_the_format_can_be_said_instead_of_guessed(tmp_path):
    path = write_jsonl(tmp_path / "x.jsonl", stereoset_rows())
    assert read(path, format="stereoset") == read(path)
    assert message(path, format="sterioset").startswith("No dataset named 'sterioset'. Did you mean 'stereoset'?")


def test_an_item_in_two_files_of_a_folder_is_an_error_that_can_be_skipped(folder):
    write_jsonl(folder / "again_en.jsonl", stereoset_rows()[:1])
    assert message(folder, language="en") == f"{folder}: the id 'intra0' (en) appears twice."
    assert [p.check for p in read(folder, language="en", skip_bad=True).problems] == ["unreadable"]


def test_a_file_without_a_language_in_its_name_is_named_when_ids_repeat(folder):
    write_jsonl(folder / "again.jsonl", [{**row, "language": None} for row in stereoset_rows()[:1]])
    assert message(folder, language="de") == (
        f"{folder}: the id 'intra0' (de) appears twice. again.jsonl has no language in its name; "
        "if it is in another one, use `data` for each file."
    )


def test_several_sources_are_read_together_and_may_not_overlap(folder):
    paths = [folder / "set_en.jsonl", folder / "set_de.jsonl"]
    assert len(read(paths)) == 8
    with pytest.raises(IsoglossError) as caught:
        read([paths[0], paths[0]])
    assert str(caught.value) == f"{paths[0]}, {paths[0]}: the id 'intra0' (en) appears twice."


def test_no_source_at_all_says_what_to_give():
    with pytest.raises(IsoglossError) as caught:
        read([])
    assert str(caught.value) == "No data was given. Use `data` with a data set's name, a file or a folder."
