"""Two thousand broken files: a reader gives items or a one-line error, never anything else."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss import languages, runs
from isogloss.analysis.measures import measure
from isogloss.checks import check_items
from isogloss.errors import IsoglossError
from isogloss.exchange.predictions import read_predictions
from isogloss.files.overview import describe_items, overview_as_text
from isogloss.files.rows import read_rows
from isogloss.files.sources import read
from isogloss.items import Items
from isogloss.scores import ROW_SCHEMA, item_table
from support.builders import score_many, stereoset_rows, triple

EXAMPLES = 80  # for each of the 25 readers and ways to break a file below: 2,000 in all

# ---- valid files


def wide() -> list[dict[str, Any]]:
    rows = []
    for row in stereoset_rows():
        cells = {cell["gold_label"].replace("-", "_"): cell["sentence"] for cell in row["candidates"]}
        rows.append({key: value for key, value in row.items() if key != "candidates"} | cells)
    return rows


def own() -> dict[str, Any]:
    tasks: dict[str, list[Any]] = {"intrasentence": [], "intersentence": []}
    for row in stereoset_rows():
        tasks[row["task"]].append(row | {"sentences": row["candidates"]})
    return {"version": "1", "data": tasks}


def predictions() -> dict[str, Any]:
    names = [cell["id"] for row in stereoset_rows() for cell in row["candidates"]]
    return {"intrasentence": [{"id": name, "score": n / 7} for n, name in enumerate(names)], "intersentence": []}


def run_info() -> dict[str, Any]:
    facts = {"model": "m", "dataset": "demo", "language": "en", "method": "pll", "parts": 1, "status": "finished"}
    return {"schema": 1, **facts, "fingerprint": {"weights": "x"}, "skipped": {"a": 1}, "notes": ["b"]}


def as_lines(rows: Any) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in (rows if isinstance(rows, list) else [rows])).encode()


def as_json(value: Any) -> bytes:
    return json.dumps(value, indent=1).encode()


def as_csv(rows: Any) -> bytes:
    return pl.DataFrame(rows).write_csv().encode()


def as_tsv(rows: Any) -> bytes:
    return pl.DataFrame(rows).write_csv(separator="\t").encode()


def as_parquet(rows: Any) -> bytes:
    pl.DataFrame(rows, strict=False, infer_schema_length=None).write_parquet(buffer := io.BytesIO())
    return buffer.getvalue()


LANGUAGE = b"""tag = "xx"
name = "Test"
autonym = "test"
direction = "ltr"
script = "Latn"
spaces = true
[prompts.choose]
text = "a"
list = [1, 2.5, 1979-05-27]
"""

# ---- ways to break them

CHUNKS = [
    b"",
    b"\x00",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\\ud800",
    b'"',
    b"'",
    b"{",
    b"}",
    b"[",
    b",",
    b"\t",
    b"\n",
    b"\r",
]
CHUNKS += [b"NaN", b"1e999", b"-Infinity", b"9" * 5000, b"[" * 3000, b'{"a":' * 1500, b"null", b"true", b"\xef\xbb\xbf"]
CHUNKS += ["\u2028".encode(), "e\u0301".encode(), "\U0001f600".encode(), b"a" * 140_000, b"=", b"[[", b"#"]
NEST: Any = "x"
for _ in range(400):
    NEST = [NEST]
VALUES = [None, True, 0, -1, 10**400, 1e308, 0.5, "", " ", "\x00", "\ud800", "e\u0301", "\n", "a" * 5000]
VALUES += [[], {}, [[]], [None], {"": None}, {"id": 1}, NEST, "intrasentence", "BLANK", "xx-yy-zz"]
odd_values = st.sampled_from(VALUES).map(lambda value: json.loads(json.dumps(value)))  # a new one each time


@st.composite
def broken_bytes(draw: st.DrawFn, raw: bytes) -> bytes:
    """The bytes with one to four places flipped, cut, doubled or overwritten with something nasty."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(raw)))
        end = min(len(raw), start + draw(st.sampled_from([0, 0, 1, 1, 2, 8, 64, 10**6])))
        kind = draw(st.sampled_from(["flip", "flip", "chunk", "chunk", "cut", "double"]))
        middle = draw(st.sampled_from(CHUNKS)) if kind == "chunk" else b""
        if kind == "flip":
            middle = bytes(byte ^ draw(st.integers(1, 255)) for byte in raw[start : min(end, start + 4)])
        elif kind == "double":
            middle = raw[start:end] * 2
        raw = raw[:start] + middle + raw[end:]
    return raw


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value inside a JSON value, six steps deep at most."""
    inner: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    inner = inner if len(path) < 6 else ()
    return [path, *(way for key, child in inner for way in places(child, (*path, key)))]


@st.composite
def broken_values(draw: st.DrawFn, value: Any) -> Any:
    """The value with one to three places taken out or replaced by something of another kind."""
    value = deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        way = draw(st.sampled_from([way for way in places(value) if way] or [()]))
        if not way:
            return draw(odd_values)
        parent = value
        for step in way[:-1]:
            parent = parent[step]
        if draw(st.booleans()) or not isinstance(parent, dict):
            parent[way[-1]] = draw(odd_values)
        else:
            del parent[way[-1]]
    return value


# ---- readers; each also does what comes after reading


def read_table(path: Path) -> None:
    list(read_rows(path))
    list(read_rows(path, lambda error: None))


def read_stereoset(path: Path) -> None:
    for skip in (True, False):
        items = read(path, language="en", skip_bad=skip)
        json.dumps([check_items(items), overview_as_text(describe_items(items))]).encode()
        assert all(c.text.strip() for item in items for c in item.candidates)


def read_language(path: Path) -> None:
    languages.clear_cache()
    try:
        languages.read_language(path)
    finally:
        languages.clear_cache()


def read_stored(path: Path) -> None:
    measure(runs.read_scored([runs.read_run(path.parent)]), resamples=100).to_json()


READERS: dict[str, tuple[str, Any, Callable[[Any], bytes], Callable[[Path], Any]]] = {
    "rows-jsonl": ("x.jsonl", wide(), as_lines, read_table),
    "rows-csv": ("x.csv", wide(), as_csv, read_table),
    "rows-tsv": ("x.tsv", wide(), as_tsv, read_table),
    "rows-parquet": ("x.parquet", stereoset_rows(), as_parquet, read_table),
    "stereoset-json": ("x.json", own(), as_json, read_stereoset),
    "stereoset-jsonl": ("x.jsonl", stereoset_rows(), as_lines, read_stereoset),
    "stereoset-wide": ("x.jsonl", wide(), as_lines, read_stereoset),
    "stereoset-csv": ("x.csv", wide(), as_csv, read_stereoset),
    "stereoset-parquet": ("x.parquet", wide(), as_parquet, read_stereoset),
    "predictions": ("x.json", predictions(), as_json, read_predictions),
    "run": ("run.json", run_info(), as_json, read_stored),
}
STRUCTURED = [name for name, entry in READERS.items() if entry[2] in (as_lines, as_json)] + ["stereoset-parquet"]
PACKED = ["rows-jsonl", "stereoset-json", "stereoset-csv", "predictions"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a whole run in it, where the broken files are put."""
    items = [triple(f"i{n}", f"t{n}") for n in range(3)]
    run = runs.open_run(tmp_path_factory.mktemp("fuzz"), info=run_info(), items=item_table(Items(tuple(items))))
    runs.write_part(run, 0, rows=score_many(3, clusters=3).table.select(ROW_SCHEMA.keys()))
    return run.folder


def survives(reader: Callable[[Path], Any], path: Path, raw: bytes) -> None:
    """Read the bytes; only our own error may come out, and it is one line."""
    path.write_bytes(raw)
    try:
        reader(path)
    except IsoglossError as error:
        lines = str(error).splitlines()
    else:
        lines = [""]
    assert len(lines) == 1


@pytest.mark.parametrize("name", READERS)
@given(data=st.data())
@settings(max_examples=EXAMPLES)
def test_a_file_with_broken_bytes_is_read_or_refused(name, folder, data):
    file, value, encode, reader = READERS[name]
    survives(reader, folder / file, data.draw(broken_bytes(encode(value))))


@pytest.mark.parametrize("name", STRUCTURED)
@given(data=st.data())
@settings(max_examples=EXAMPLES)
def test_a_file_with_values_of_another_kind_is_read_or_refused(name, folder, data):
    file, value, encode, reader = READERS[name]
    broken = data.draw(broken_values(value))
    if encode is as_parquet and "[[[[" in json.dumps(broken):
        return  # polars needs seconds to write it
    try:
        raw = encode(broken)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        return  # no such Parquet file can be written
    survives(reader, folder / file, raw)


@pytest.mark.parametrize("name", PACKED)
@given(data=st.data())
@settings(max_examples=EXAMPLES)
def test_a_packed_file_is_read_or_refused(name, folder, data):
    file, value, encode, reader = READERS[name]
    if data.draw(st.booleans()):
        raw = gzip.compress(data.draw(broken_bytes(encode(value))))
    else:
        raw = data.draw(broken_bytes(gzip.compress(encode(value))))
    survives(reader, folder / f"{file}.gz", raw)


@given(data=st.data())
@settings(max_examples=EXAMPLES)
def test_a_broken_language_file_is_read_or_refused(folder, data):
    survives(read_language, folder / "xx.toml", data.draw(broken_bytes(LANGUAGE)))


@pytest.mark.parametrize("file", ["part-00000.parquet", "items.parquet"])
@given(data=st.data())
@settings(max_examples=EXAMPLES)
def test_a_broken_part_is_read_or_refused(file, folder, data):
    (folder / "run.json").write_bytes(as_json(run_info()))
    whole = (folder / file).read_bytes()
    try:
        survives(read_stored, folder / file, data.draw(broken_bytes(whole)))
    finally:
        (folder / file).write_bytes(whole)
