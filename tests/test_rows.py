"""Rows: the same table in every format gives the same rows, and a broken one is named by file and line."""

from __future__ import annotations

import gzip
import io
import json
from contextlib import suppress

import polars as pl
import pytest

from isogloss.errors import BadData, IsoglossError
from isogloss.files import rows
from isogloss.files.rows import clean, is_readable, read_json, read_rows, suffix

TABLE = [{"id": "1", "text": "naïve, “quoted”"}, {"id": "2", "text": 'tab\tand "quote"'}]


def encode(kind: str) -> bytes:
    table = pl.DataFrame(TABLE)
    if kind == ".jsonl":
        return "".join(json.dumps(row) + "\n" for row in TABLE).encode()
    if kind == ".parquet":
        table.write_parquet(buffer := io.BytesIO())
        return buffer.getvalue()
    return table.write_csv(separator="\t" if kind == ".tsv" else ",").encode()


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("kind", [".jsonl", ".csv", ".tsv", ".parquet"])
def test_every_format_gives_the_same_rows(kind, packed, tmp_path):
    path = tmp_path / f"x{kind}{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(encode(kind)) if packed else encode(kind))
    assert [row for _, row in read_rows(path)] == TABLE


def test_a_line_number_is_that_of_the_file(tmp_path):
    (tmp_path / "x.csv").write_text('id,text\n1,"two\nlines"\n2,b\n')
    (tmp_path / "x.jsonl").write_text('\n{"id": 1}\n\n{"id": 2}\n')
    assert [line for line, _ in read_rows(tmp_path / "x.csv")] == [3, 4]
    assert [line for line, _ in read_rows(tmp_path / "x.jsonl")] == [2, 4]


def test_text_is_normalised_to_nfc_and_a_byte_order_mark_is_dropped(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("\ufeffid,te\u0301xt\n1,cafe\u0301\n".encode())
    assert [row for _, row in read_rows(path)] == [{"id": "1", "t\u00e9xt": "caf\u00e9"}]
    assert clean({"a": ["e\u0301", 1, None]}) == {"a": ["\u00e9", 1, None]}


@pytest.mark.parametrize(
    ("name", "content", "line", "problem"),
    [
        ("x.jsonl", b'{"id": 1}\n{"id": \n', 2, "not JSON: Expecting value."),
        ("x.jsonl", b'{"id": NaN}', 1, "not JSON: 'NaN' is not a number."),
        ("x.jsonl", b"[1]", 1, "a line must be a JSON object with an item's fields."),
        ("x.jsonl", b'{"id": ' + b"[" * 600 + b"]" * 600 + b"}", 1, "nested too deeply."),
        ("x.jsonl", b'{"id": "\xff\x81\xfe"}', 1, rows.NOT_UTF_8),
        ("x.jsonl", b'{"id": "\\ud800"}', 1, rows.NOT_UTF_8),
        ("x.csv", b"id,text\n1,\xc3\xa9\xc3\xa9\n2,caf\xe9\n", 3, rows.NOT_UTF_8),
        ("x.csv", b"id,text\n1\n", 2, "1 cells, but the header names 2 columns."),
        ("x.csv", b"id,id\n1,2\n", 1, "the first line must name the columns, each once."),
        ("x.csv", b"", 1, "the first line must name the columns, each once."),
        ("x.csv", b'id\n"a', 2, "not a table: unexpected end of data."),
        ("x.parquet", b"PAR1 no PAR1", None, "not a Parquet file, or a broken one."),
        (
            "x.txt",
            b"",
            None,
            "unknown format '.txt'. Use one of .jsonl, .json, .csv, .tsv, .parquet, .arrow, .xlsx, gzipped or not.",
        ),
        ("x.jsonl.gz", b"no", None, "cannot be read (Not a gzipped file (b'no'))."),
    ],
)
def test_a_broken_file_is_named_with_line_and_problem(tmp_path, name, content, line, problem):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadData) as caught:
        list(read_rows(path))
    label = f"{path}, line {line}" if line else f"{path}"
    assert str(caught.value) == f"{label}: {problem}"


def test_a_broken_row_can_be_skipped(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"id": "1"}\nnonsense\n{"id": "\xc3\xa9\xc3\xa9\xe9"}\n{"id": "2"}\n')
    errors: list[BadData] = []
    assert [row["id"] for _, row in read_rows(path, errors.append)] == ["1", "2"]
    assert [error.line for error in errors] == [2, 3]


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(IsoglossError) as caught:
        read_json(tmp_path / "none.json")
    assert str(caught.value) == f"No such file: {tmp_path / 'none.json'}."
    with pytest.raises(IsoglossError) as caught:
        read_json(tmp_path)
    assert str(caught.value) == f"{tmp_path} is a folder, not a file."


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "MOST_BYTES", 1000)
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n" * 2000))
    with pytest.raises(BadData) as caught:
        list(read_rows(path))
    assert str(caught.value) == f"{path}: unpacks to more than 1,000 bytes. Split it into smaller files."


def test_broken_json_is_named_by_its_line(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{\n"a": 1,\n}')
    with pytest.raises(BadData) as caught:
        read_json(path)
    assert str(caught.value).startswith(f"{path}, line 3: not JSON: ")


def test_a_broken_parquet_file_prints_nothing_of_its_own(tmp_path, capfd):
    raw = bytearray(encode(".parquet"))
    for index in range(4, len(raw)):
        (tmp_path / "x.parquet").write_bytes(raw[:index] + b"\xff" + raw[index + 1 :])
        with suppress(BadData):
            list(read_rows(tmp_path / "x.parquet"))
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(("name", "kind"), [("a.JSONL.GZ", ".jsonl"), ("b.csv", ".csv"), ("c.gz", "")])
def test_the_format_is_known_by_the_name(name, kind, tmp_path):
    assert suffix(tmp_path / name) == kind
    assert is_readable(tmp_path / name) is bool(kind)
