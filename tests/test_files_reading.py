"""A table of one's own: any usual encoding, separator, column name and language code is read, and what was guessed is said."""

from __future__ import annotations

import csv
import io
import json
from contextlib import contextmanager

import openpyxl
import pytest

from isogloss.errors import IsoglossError
from isogloss.files.encodings import find_encoding, find_separator
from isogloss.files.hub import on_message
from isogloss.files.sources import read
from isogloss.studies.plan import plan_study
from support.websites import save_models

HEADER = ["id", "category", "stereotype", "anti_stereotype"]
POLISH = [["1", "gender", "Kobiety źle prowadzą.", "Mężczyźni źle prowadzą."], ["2", "age", "Łóżko, ć", "Żaba; ść"]]
TEXTS = {
    "cp1250": ("pl", "Zażółć gęślą jaźń. Mężczyźni są łagodni."),
    "iso8859_2": ("pl", "Zażółć gęślą jaźń. Mężczyźni są łagodni."),
    "cp1252": ("fr", "L’élève était âgé à Besançon."),
    "mac_roman": ("fr", "L’élève était âgé à Besançon."),
    "cp1251": ("ru", "Женщины не умеют водить."),
    "cp1253": ("el", "Οι γυναίκες δεν ξέρουν."),
    "cp1254": ("tr", "Kadınlar şoför değildir, ışık güçlü."),
    "cp1255": ("he", "נשים לא יודעות לנהוג."),
    "cp1256": ("ar", "النساء لا يعرفن القيادة."),
    "cp1257": ("lt", "Žmonės šneka apie ąžuolą ir ėjimą."),
    "cp932": ("ja", "女性は運転が下手だ。"),
    "gb18030": ("zh", "女人不会开车。"),
    "cp949": ("ko", "여자는 운전을 못한다."),
    "utf-16": ("pl", "Zażółć gęślą jaźń."),
}


def table(rows=POLISH, *, header=HEADER, separator=",") -> str:
    csv.writer(text := io.StringIO(), delimiter=separator).writerows([header, *rows])
    return text.getvalue()


def sentences(items) -> list[list[str]]:
    return [[candidate.text for candidate in item.candidates] for item in items]


@contextmanager
def listening():
    """The lines that are said meanwhile."""
    lines: list[str] = []
    token = on_message.set(lines.append)
    yield lines
    on_message.reset(token)


@pytest.mark.parametrize("codec", TEXTS)
def test_the_encoding_is_found_out_from_a_sentence_and_its_language(codec):
    language, text = TEXTS[codec]
    assert find_encoding(f"id,text\n1,{text}\n".encode(codec), language) == codec


def test_another_script_is_not_read_as_a_latin_one():
    text = "Мой сосед очень строгий человек. "
    assert find_encoding(text.encode("cp1251"), "de") == "utf-8-sig"  # its words would be 'Ìîé ñîñåä'
    assert find_encoding(text.encode("cp1251"), "ru") == "cp1251"
    assert find_encoding("Müßige Bären äßen Öl. Für die Übung große Füße.".encode("cp1252"), "de") == "cp1252"


def test_the_encoding_is_not_guessed_where_two_give_different_text_and_no_language_is_named():
    assert find_encoding("güneş".encode("cp1254"), None) == "utf-8-sig"
    assert find_encoding("szczęście źle ".encode() + b"\xe9", "pl") == "utf-8-sig"  # UTF-8 with one broken byte


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1250"])
def test_encoding_and_separator_are_found_out_and_said_in_one_line(tmp_path, separator, codec):
    path = tmp_path / "mine.csv"
    path.write_bytes(table(separator=separator).encode(codec))
    with listening() as lines:
        items = read(path, language="pl_PL")
    assert sentences(items) == [row[2:] for row in POLISH]
    assert len(lines) == (codec[:5] != "utf-8" or separator != ",")
    assert all(line.startswith("mine.csv: ") and line.endswith(".") for line in lines)


def test_a_separator_is_the_sign_that_names_the_most_columns():
    assert find_separator('id;"a;b,c";d\n', ",") == ";"
    assert find_separator("id\n", "\t") == "\t"


def test_a_workbook_is_read_and_its_sheet_is_named(tmp_path):
    book = openpyxl.Workbook()
    for row in [HEADER, *POLISH, [None] * 4]:
        book.active.append(row)
    book.create_sheet("notes")
    book.save(tmp_path / "mine.xlsx")
    with listening() as lines:
        assert sentences(read(tmp_path / "mine.xlsx", language="Polish")) == [row[2:] for row in POLISH]
    assert lines == ["mine.xlsx: the first of 2 sheets, 'Sheet'."]


@pytest.mark.parametrize("name", ["mine.csv", "mine.jsonl", "mine.json"])
def test_columns_may_have_other_names_in_every_format(tmp_path, name):
    own = [{"a": row[2], "b": row[3], "stereotype": "x"} for row in POLISH]
    path = tmp_path / name
    if name == "mine.csv":
        path.write_text(table([[*row.values()] for row in own], header=["a", "b", "stereotype"]))
    else:
        path.write_text(json.dumps(own) if name == "mine.json" else "\n".join(map(json.dumps, own)))
    with listening() as lines:
        items = read(path, language="pl", columns={"stereotype": "a", "anti_stereotype": "b"})
    assert sentences(items) == [row[2:] for row in POLISH]
    assert [item.category for item in items] == ["uncategorised"] * 2
    assert [item.id for item in items] == (["mine-2", "mine-3"] if name == "mine.csv" else ["mine-1", "mine-2"])
    assert lines == [
        "mine.csv: no column 'id', so items are numbered by line; "
        "no column 'category', so all items are uncategorised.".replace("mine.csv", name)
    ]


def test_a_stereoset_table_needs_neither_ids_nor_bias_types(tmp_path):
    path = tmp_path / "mine_pl.csv"
    path.write_text(
        "context,stereotype_word,anti_stereotype_word,unrelated_word\nBabcia BLANK.,czyta,biegnie,rdzewieje\n"
    )
    item = read(path)[0]
    assert (item.id, item.category, item.candidates[2].text) == ("mine_pl-2", "uncategorised", "Babcia rdzewieje.")


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"stereotype": "c"}, "{path}, line 1: there is no column 'c'. The columns are id, category, stereotype, anti_stereotype."),
        ({"encoding": "cp0"}, "No encoding named 'cp0'. Examples: utf-8, utf-16, cp1250, iso8859-2, mac-roman."),
        ({"id": "a", "cluster": "a"}, "Two columns are read from 'a'. Name each column of the file once."),
    ],
)  # fmt: skip
def test_a_wrong_statement_about_a_file_is_one_sentence(tmp_path, columns, problem):
    path = tmp_path / "mine.csv"
    path.write_text(table())
    with pytest.raises(IsoglossError) as caught:
        read(path, language="pl", columns=columns)
    assert str(caught.value) == problem.format(path=path)


def test_names_that_differ_in_case_are_suggested(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(table(header=["ID", "Type", "Stereotype", "Anti-Stereotype"]))
    with pytest.raises(
        IsoglossError, match=r"`columns={'stereotype': 'Stereotype', 'anti_stereotype': 'Anti-Stereotype'}`$"
    ):
        read(path, language="pl")


def test_an_odd_file_of_a_folder_is_named_and_left_out_on_demand(tmp_path):
    (tmp_path / "a_pl.csv").write_text(table())
    (tmp_path / "b.csv").write_text("x,y\n1,2\n")
    (tmp_path / "c.csv").write_text(table())
    with pytest.raises(
        IsoglossError, match=r"b\.csv: the columns \(x, y\) are of no layout .* With `skip_bad` it is left out\.$"
    ):
        read(tmp_path, language=["pl", "de"])
    with listening() as lines:
        assert len(read(tmp_path, language=["pl", "de"], skip_bad=True)) == 2
    assert [line.split(": ")[1].rsplit("/")[-1] for line in lines] == ["b.csv", "c.csv"]
    assert lines[1].endswith("its rows name no language, and you named 2. Read it by itself with one language.")


def test_a_published_file_without_a_language_is_named_when_several_are_wanted(real_data):
    with pytest.raises(IsoglossError, match=r"dev\.json\.gz: its rows name no language, and you named 2\."):
        read(real_data / "stereoset", language=["en", "de"])


def test_a_first_line_longer_than_a_cell_may_be_is_refused(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("a" * 200_000 + ";b\n1;2\n")
    with pytest.raises(IsoglossError, match="not a table: field larger than field limit"):
        read(path, language="en")


def test_a_study_file_states_columns_and_encoding(tmp_path):
    (tmp_path / "mine.csv").write_bytes(table(header=["id", "category", "a", "b"]).encode("iso8859-2"))
    (tmp_path / "study.yaml").write_text(
        "name: x\nmodels: [./bert]\nlanguages: [pl]\ndata:\n"
        "- source: mine.csv\n  encoding: iso8859-2\n  columns: {stereotype: a, anti_stereotype: b}\n"
    )
    save_models(tmp_path, "bert")
    (cell,) = plan_study(tmp_path / "study.yaml").cells
    assert sentences(cell.items) == [row[2:] for row in POLISH]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("pary.csv", "pary"),
        ("moje_pary_pl.csv", "moje_pary"),
        ("v1.2.csv", "v1.2"),
        ("pairs.csv", "pairs"),
        ("demo.csv", "demo.csv"),
        ("crows-pairs_pl.csv", "crows-pairs_pl.csv"),
    ],
)
def test_a_table_of_ones_own_is_a_data_set_of_its_own(tmp_path, file, name):
    (tmp_path / file).write_text(table(), encoding="utf-8")
    assert {item.dataset for item in read(tmp_path / file, language="pl")} == {name}


def test_a_row_that_names_its_data_set_keeps_it_and_others_get_the_files_name(tmp_path):
    path = tmp_path / "pary.csv"
    path.write_text(table([[*POLISH[0], "mine"], [*POLISH[1], ""]], header=[*HEADER, "dataset"]), encoding="utf-8")
    assert [item.dataset for item in read(path, language="pl")] == ["mine", "pary"]


def test_sentences_of_ones_own_are_named_by_their_file_too(tmp_path):
    path = tmp_path / "zdania.csv"
    path.write_text("id,group,text\n1,female,Ona jest tu.\n", encoding="utf-8")
    assert [item.dataset for item in read(path, language="pl")] == ["zdania"]


def test_a_header_that_cannot_be_decoded_is_an_error_of_encoding_not_of_columns(tmp_path):
    path = tmp_path / "pary.csv"
    path.write_bytes("zdanie_zwyk\u0142e,b\nx,y\n".encode("cp1250"))
    with pytest.raises(IsoglossError) as error:
        read(path, columns={"stereotype": "zdanie_zwyk\u0142e"}, encoding="utf-8")
    assert str(error.value) == (
        f"{path}, line 1: not UTF-8. Save the file as UTF-8, or name its encoding: `encoding='cp1250'`."
    )
