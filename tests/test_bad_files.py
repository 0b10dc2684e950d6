"""Files that lie about themselves: each is read within bounds, or refused in one sentence with what to do."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import os
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import polars as pl
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import isogloss as ig
from isogloss.annotation import sheets
from isogloss.corpora.texts import open_corpus
from isogloss.errors import IsoglossError
from isogloss.files import rows, workbooks
from isogloss.files.parquet_pages import page_sizes
from isogloss.nsp import articles
from support.builders import stereoset_rows

Command = Callable[..., tuple[int, str, str]]
HEADER = "id,category,stereotype,anti_stereotype\n"
PAIRS = HEADER + "1,gender,Her car is slow.,His car is slow.\n"


def refused(command: Command, *words: object) -> str:
    """What a command says on standard error; it is one line."""
    status, _, error = command(*words)
    assert status == 2
    assert error.count("\n") == 1
    assert error.startswith("Error: ")
    return error.removeprefix("Error: ").strip()


# ---- tables


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("x.csv", HEADER, "holds no rows, only a header."),
        ("x.tsv", "id\ttext\n\n\n", "holds no rows, only a header."),
        ("x.jsonl", "", "holds no rows."),
        ("x.jsonl", "\n\n", "holds no rows."),
        ("x.json", "[]", "holds no rows."),
        ("x.csv", "", "the first line must name the columns, each once."),
    ],
)
def test_a_file_without_rows_says_so(command, tmp_path, name, content, problem):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    label = f"{path}, line 1" if "first line" in problem else f"{path}"
    assert refused(command, "data", "check", path, "-l", "en") == f"{label}: {problem}"


def test_a_small_packed_file_may_not_unfold_to_a_large_one(command, tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "SMALL", 100_000)
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n" * 300_000))
    said = f"{path}: unpacks to more than {rows.RATIO} times its size. Unpack it yourself if that is right."
    assert refused(command, "show", path, "-l", "en") == said


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x.jsonl.gz", "x.csv.gz"])
def test_lines_are_read_one_by_one(tmp_path, name):
    path = tmp_path / name
    first = PAIRS if "csv" in name else "{}\n"
    path.write_bytes(gzip.compress(first.encode() + b"\n" * 1_000_000))
    tracemalloc.start()
    try:
        assert len(list(rows.read_rows(path))) == 1
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()


def test_a_small_parquet_file_of_many_rows_is_refused(command, tmp_path, monkeypatch):
    path = tmp_path / "x.parquet"
    pl.DataFrame({"id": ["a"]}).select(pl.col("id").repeat_by(50_000).explode()).write_parquet(path)
    monkeypatch.setattr(rows, "MOST_ROWS", 49_999)
    said = f"{path}: has 50,000 rows; at most 49,999 are read. Split it into smaller files."
    assert refused(command, "show", path, "-l", "en") == said


def test_a_parquet_file_with_one_huge_cell_is_refused_before_it_is_unpacked(command, tmp_path, monkeypatch):
    path = tmp_path / "x.parquet"
    pl.DataFrame({"id": ["a"], "text": ["x" * 40_000_000]}).write_parquet(path)
    assert path.stat().st_size < 100_000
    monkeypatch.setattr(pl, "read_parquet", lambda *_: pytest.fail("it was unpacked"))
    said = f"{path}: unpacks to more than 100 times its size. Unpack it yourself if that is right."
    assert refused(command, "show", path, "-l", "en") == said


def test_a_parquet_cell_longer_than_any_item_is_refused_with_its_row(command, tmp_path):
    path = tmp_path / "x.parquet"
    pl.DataFrame({"id": ["a", "b"], "text": ["short", "x" * 1_000_001]}).write_parquet(path)
    said = f"{path}, line 2: a cell of more than 1,000,000 letters, which no item has."
    assert refused(command, "show", path, "-l", "en") == said


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "zstd", "snappy", "gzip"])
def test_the_pages_of_a_parquet_file_have_the_size_that_its_footer_gives(version, compression):
    columns = {
        "a": [f"{number} " * 90 for number in range(9000)],
        "b": [[1, 2], [], [3]] * 3000,
        "c": [True, None, False] * 3000,
    }
    file = io.BytesIO()
    pyarrow.parquet.write_table(
        pyarrow.table(columns), file, compression=compression, data_page_version=version, row_group_size=2000
    )
    metadata = pyarrow.parquet.ParquetFile(file).metadata
    stated = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    sizes = list(page_sizes(file))
    assert 0.8 * stated < sum(sizes) <= stated  # the footer counts the headers of pages too


@given(st.binary(max_size=200), st.integers(0, 3000))
@settings(max_examples=200, deadline=None)
def test_a_damaged_parquet_structure_is_a_value_error_or_is_read(junk, place):
    file = io.BytesIO()
    pl.DataFrame({"a": ["x" * 10, "y"] * 50}).write_parquet(file)
    raw = file.getvalue()
    place %= len(raw)
    damaged = raw[:place] + junk + raw[place + len(junk) :]
    with contextlib.suppress(ValueError):
        assert all(isinstance(size, int) for size in page_sizes(io.BytesIO(damaged)))


@pytest.mark.parametrize(
    "footer", [b"\x49" + b"\x19" * 5000, b"\x49\xf1" + b"\xff" * 8 + b"\x7f", b"\x4c" + b"\x1c" * 5000], ids=len
)
def test_a_parquet_footer_that_is_deep_or_states_endless_lists_is_refused(footer):
    raw = b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    with pytest.raises(ValueError, match=r"nested too deeply|a list longer than the file"):
        list(page_sizes(io.BytesIO(raw)))


def test_a_line_of_an_article_file_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(articles, "LONGEST_LINE", 1000)
    path = tmp_path / "articles.jsonl"
    path.write_text('{"text": "' + "x" * 1000 + '"}\n', encoding="utf-8")
    with pytest.raises(IsoglossError, match=r"line 1: a line of more than 1,000 bytes, which no article has\.$"):
        list(articles.read_articles(articles.parse_sources([str(path)], language="en")[0]))


# ---- studies


@pytest.mark.parametrize("value", ["0x_", "0b_", "9" * 5000, "0x" + "f" * 9000])
def test_an_odd_number_in_a_study_is_one_sentence_with_its_line(command, tmp_path, value):
    path = tmp_path / "study.yaml"
    text = f"name: x\nmodels: [m]\ndata: [demo]\nsample: {{limit: {value}}}\n"
    path.write_text(text, encoding="utf-8")
    said = refused(command, "run", path, "--out", tmp_path / "out")
    assert said in (
        f"{path}, line 4: '{value[:20]}' is not a number that can be read.",
        f"{path}, line 4: '{value[:20]}…' is not a number that can be read.",
    )


# ---- parallel texts


def split(command: Command, path: Path, *more: object) -> str:
    return refused(command, "data", "build", "split", path, "-l", "de", "--out", path.parent / "out", *more)


@pytest.mark.parametrize("encoding", ["shift_jis", "big5", "utf-7", "klingon"])
def test_a_tmx_in_an_encoding_that_is_not_read_is_one_sentence(command, tmp_path, encoding):
    path = tmp_path / "x.en-de.tmx"
    path.write_bytes(f'<?xml version="1.0" encoding="{encoding}"?><tmx><body></body></tmx>'.encode())
    assert split(command, path) == f"{path}: its encoding is not one that is read here. Save the file as UTF-8."


@pytest.mark.parametrize("inner", ["<seg>" + "a " * 700_000 + "</seg>", "<seg x='" + "a" * 9_000_000 + "'></seg>"])
def test_a_tmx_with_an_endless_piece_is_refused(command, tmp_path, inner):
    path = tmp_path / "x.en-de.tmx.gz"
    path.write_bytes(gzip.compress(f"<tmx><body><tu><tuv xml:lang='en'>{inner}</tuv></tu></body></tmx>".encode()))
    assert split(command, path) == (
        f"{path}: a sentence or tag of more than 1,000,000 characters. Is it a TMX file of sentences?"
    )


def test_a_line_without_end_is_refused_in_files_and_zips(command, tmp_path):
    long = b"a" * 2_000_000
    said = "line 1: a line of more than 1,000,000 bytes. Put one sentence on each line."
    plain = tmp_path / "x.en-de.tsv"
    plain.write_bytes(long)
    assert split(command, plain) == f"{plain}, {said}"
    packed = tmp_path / "x.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("x.en", long)
        file.writestr("x.de", b"a\n")
    assert split(command, packed) == f"{packed / 'x.en'}, {said}"


def made_zip(path: Path, *, flag: int = 0, method: int | None = None) -> Path:
    """A zip of two aligned files whose headers were patched."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("x.en", "He is kind.\n")
        file.writestr("x.de", "Er ist nett.\n")
    raw = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = raw.find(mark)
        while start >= 0:
            flags, kind = struct.unpack_from("<HH", raw, start + offset)
            struct.pack_into("<HH", raw, start + offset, flags | flag, kind if method is None else method)
            start = raw.find(mark, start + 4)
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize("how", [{"flag": 1}, {"method": 99}, {"method": 14}, {"method": 12}, {"method": 8}], ids=str)
def test_a_zip_that_cannot_be_unpacked_is_one_sentence(command, tmp_path, how):
    path = made_zip(tmp_path / "x.zip", **how)
    said = split(command, path)
    assert said.startswith(f"{path / 'x.en'}: cannot be read (")
    assert said.endswith(").")


# ---- sheets


TEXTS = ("bell \x07", "nul \x00", "tab \x0b", '=HYPERLINK("http://x")', "+1", "-1", "@x", "'=1", "plain 'quoted'")


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
def test_a_sheet_holds_every_text_and_no_formula(tmp_path, kind):
    written = [{"id": f"-{n}", "text": text, "verdict": ""} for n, text in enumerate(TEXTS)]
    path = sheets.write_sheet(tmp_path / f"s.{kind}", written, form=sheets.SheetForm(["id", "text", "verdict"]))
    found = [row for _, row in sheets.read_sheet(path)]
    kept = ["bell \u2407", "nul \u2400", "tab \u240b", *TEXTS[3:]]
    assert [(row["id"], row["text"]) for row in found] == [(f"-{n}", text) for n, text in enumerate(kept)]
    if kind == "csv":
        with path.open(encoding="utf-8-sig", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]


def test_a_review_sheet_of_odd_characters_is_written_from_the_command_line(command, tmp_path):
    made = [row | {"context": row["context"] + " \x07"} for row in stereoset_rows()]
    source = tmp_path / "x_en.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf-8")
    texts = sorted({text for row in made for text in (row["context"], row["target"])})
    texts += [text for row in made for one in row["candidates"] for text in (one["sentence"], one.get("word", ""))]
    done = tmp_path / "done.csv"
    with done.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "translation"), *((text, text) for text in dict.fromkeys(texts) if text)])
    words = ("data", "translate", source, "--to", "es", "--translator", "file", "--option", f"path={done}")
    status, _, error = command(*words, "--out", tmp_path / "es")
    assert status == 0, error
    status, _, error = command("data", "review", tmp_path / "es", "--items", "all", "--out", tmp_path / "s.xlsx")
    assert status == 0, error
    assert any("\u2407" in row["context"] for _, row in sheets.read_sheet(tmp_path / "s.xlsx"))


def test_one_far_cell_of_a_sheet_costs_nothing(tmp_path):
    path = sheets.write_sheet(
        tmp_path / "s.xlsx", [{"id": "1", "verdict": "good"}], form=sheets.SheetForm(["id", "verdict"])
    )
    book = openpyxl.load_workbook(path)
    book.worksheets[0]["XFD900"] = "far"
    book.save(path)
    assert [row for _, row in sheets.read_sheet(path)] == [{"id": "1", "verdict": "good"}]


def test_a_sheet_of_too_many_rows_or_bytes_is_refused(tmp_path, monkeypatch):
    path = sheets.write_sheet(
        tmp_path / "s.xlsx", [{"id": "1", "verdict": ""}], form=sheets.SheetForm(["id", "verdict"])
    )
    book = openpyxl.load_workbook(path)
    book.worksheets[0]["A250000"] = "far"
    book.save(path)
    with pytest.raises(
        rows.BadData, match=r"s\.xlsx: a sheet of more than 200,000 rows\. Split it into smaller ones\.$"
    ):
        list(sheets.read_sheet(path))
    monkeypatch.setattr(workbooks, "MOST_BYTES", 1000)
    with pytest.raises(
        rows.BadData, match=r"s\.xlsx: unpacks to more than 1,000 bytes\. Split it into smaller ones\.$"
    ):
        list(sheets.read_sheet(path))


def test_a_line_of_megabytes_and_a_pipe_are_refused_at_once(tmp_path):
    path = tmp_path / "long_en.jsonl"
    path.write_text('{"id": "' + "x" * 1_100_000 + '"}\n', encoding="utf-8")
    with pytest.raises(IsoglossError) as caught:
        ig.read(path)
    assert str(caught.value) == f"{path}, line 1: a line of more than 1,000,000 letters, which no item has."
    os.mkfifo(tmp_path / "pipe_en.parquet")
    with pytest.raises(IsoglossError, match="a pipe or a device is not read"):
        ig.read(tmp_path / "pipe_en.parquet")


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["zip", "txt.gz"])
def test_a_corpus_that_unpacks_to_far_more_than_its_size_is_refused(tmp_path, ending):
    path, lines = tmp_path / f"bomb.en-de.{ending}", b"\n" * 40_000_000
    if ending == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("bomb.en-de.en", lines)
            archive.writestr("bomb.en-de.de", "a")
    else:
        path.write_bytes(gzip.compress(lines))
    with pytest.raises(IsoglossError, match="unpacks to more than 100 times its size"):
        for _ in open_corpus(path, language=None if ending == "zip" else "en").read():
            pass
