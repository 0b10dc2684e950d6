"""Data sets: the laws of all of them, StereoSet in all its layouts, and every way a row can be bad."""

from __future__ import annotations

import gzip
import json
import string
import unicodedata
from copy import deepcopy
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import isogloss
from isogloss import registry
from isogloss.datasets.stereoset import word_in
from isogloss.errors import IsoglossError
from isogloss.files.rows import NOT_UTF_8
from isogloss.files.sources import Dataset
from isogloss.items import problem_counts
from support.builders import TRIPLE, stereoset_rows, write_jsonl
from support.offenders import for_every

DATASETS: dict[str, Dataset] = registry.load_all("dataset")
LARGE = (
    "templates",
    "template_blanks",
)  # thousands of sentences in each language: one language is read in the fast tests
BUNDLED = [
    pytest.param(name, tag, marks=[pytest.mark.slow] if name in LARGE and tag != "tr" else [])
    for name, one in DATASETS.items()
    if one.bundled
    for tag in one.bundled()
]


@for_every(name=DATASETS)
def test_every_data_set_says_what_it_is_and_whose(name):
    one = DATASETS[name]
    assert all(text.strip() for text in (one.title, one.summary, one.licence, one.citation, one.url))


@pytest.mark.parametrize(("name", "tag"), BUNDLED)
def test_bundled_items_have_unique_keys_a_language_roles_and_texts_in_nfc(name, tag):
    items = isogloss.read(name, language=tag)
    assert len({item.key for item in items}) == len(items) > 0
    assert {item.dataset for item in items} == {name}
    assert {item.language for item in items} == {tag}
    assert not [p for p in items.problems if p.severity == "error"]
    for item in items:
        assert len({candidate.id for candidate in item.candidates}) == len(item.candidates) > 0
        for candidate in item.candidates:
            assert candidate.role.strip()
            assert candidate.text.strip()
            assert unicodedata.is_normalized("NFC", candidate.text)


# ---- StereoSet's layouts


def own_json(rows: list[dict[str, Any]]) -> dict[str, Any]:
    tasks = {"intrasentence": [], "intersentence": []}
    for row in deepcopy(rows):
        row["sentences"] = row.pop("candidates")
        tasks[row.pop("task")].append(row)
    return {"version": "1.0", "data": tasks}


def wide(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for row in deepcopy(rows):
        for cell in row.pop("candidates"):
            name = cell["gold_label"].replace("-", "_")
            row |= {name: cell["sentence"], f"{name}_id": cell["id"], f"{name}_word": cell.get("word")}
        found.append(row)
    return found


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    """The rows in the layout that the file's name asks for."""
    plain = path.with_name(path.name.removesuffix(".gz"))
    kind = plain.suffix
    if kind == ".json":
        plain.write_text(json.dumps(own_json(rows)), encoding="utf-8")
    elif kind == ".jsonl":
        write_jsonl(plain, rows)
    elif kind == ".parquet" and "nested" in path.name:
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(plain)
    elif kind == ".parquet":
        pl.DataFrame(wide(rows)).write_parquet(plain)
    else:
        pl.DataFrame(wide(rows)).write_csv(plain, separator="\t" if kind == ".tsv" else ",")
    if plain != path:
        path.write_bytes(gzip.compress(plain.read_bytes()))
    return path


LAYOUTS = ["x.json", "x.jsonl", "x.csv", "x.tsv", "x.parquet", "nested.parquet", "x.json.gz", "x.jsonl.gz", "x.csv.gz"]


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_gives_the_same_items(name, tmp_path):
    rows = sorted(stereoset_rows(), key=lambda row: row["task"], reverse=True)
    reference = isogloss.read(write_jsonl(tmp_path / "reference.jsonl", rows))
    found = isogloss.read(write(tmp_path / name, rows))
    assert found == reference
    assert len(found) == 4


def test_an_item_has_its_columns(tmp_path):
    item = isogloss.read(write_jsonl(tmp_path / "x.jsonl", stereoset_rows()))[0]
    assert (item.id, item.dataset, item.language, item.category, item.cluster) == (
        "intra0",
        "stereoset",
        "en",
        "gender",
        "nurse",
    )
    assert item.tags == {"task": "intrasentence", "target": "nurse", "target_term": "nurse"}
    assert [(c.role, c.word) for c in item.candidates] == list(zip(TRIPLE, ["kind", "rude", "café"], strict=True))


def test_the_english_target_is_the_cluster_in_every_language(tmp_path):
    row = stereoset_rows()[0] | {"language": "de", "target": "Krankenschwester", "target_original": "nurse"}
    item = isogloss.read(write_jsonl(tmp_path / "x.jsonl", [row]))[0]
    assert (item.cluster, item.tags["target"], item.tags["target_term"]) == ("nurse", "nurse", "Krankenschwester")


@pytest.mark.parametrize(
    ("context", "sentence", "word"),
    [
        ("The nurse is BLANK.", "the nurse is kind.", "kind"),
        ("BLANK nurses help", "Kind nurses help", "Kind"),
        ("A BLANK, kind nurse", "A well-read, kind nurse", "wellread"),
        ("BLANK or BLANK?", "kind or rude?", "rude"),
    ],
)
def test_the_word_is_taken_from_the_sentence_where_it_is_not_given(tmp_path, context, sentence, word):
    row = stereoset_rows()[0] | {"context": context}
    row["candidates"] = [
        {k: v for k, v in c.items() if k != "word"} | {"sentence": sentence} for c in row["candidates"]
    ]
    item = isogloss.read(write_jsonl(tmp_path / "x.jsonl", [row]))[0]
    assert {candidate.word for candidate in item.candidates} == {word}
    assert {candidate.text for candidate in item.candidates} == {sentence}


@pytest.mark.parametrize(
    ("context", "sentence", "word"),
    [
        ("O BLANK carregador levou a mala.", "O carregador forte levou a mala.", None),  # the word stands elsewhere
        ("Houve uma BLANK no salão.", "Houve uma discussão da moda no salão.", "discussão da moda"),
        ("Houve uma BLANK no salão.", "Houve uma festa ontem.", None),
        ("Ela é BLANK.", "Ela, é calma!", "calma"),  # punctuation and capitals around it do not count
        ("Ela é BLANK, BLANK e boa.", "Ela é calma, doce e boa.", "doce"),  # several BLANKs: the published rule
    ],
)
def test_a_word_that_the_context_does_not_frame_is_not_taken(context, sentence, word):
    assert word_in(context, sentence, language="pt") == word


def test_the_sentence_is_filled_where_only_the_word_is_given(tmp_path):
    row = stereoset_rows()[0]
    row["candidates"] = [{k: v for k, v in c.items() if k != "sentence"} for c in row["candidates"]]
    item = isogloss.read(write_jsonl(tmp_path / "x.jsonl", [row]))[0]
    assert item.candidates[0].text == "The nurse is kind."


def test_text_is_normalised_when_it_is_read(tmp_path):
    row = stereoset_rows()[1]
    row["candidates"][0]["sentence"] = "Cafe\u0301."
    assert isogloss.read(write_jsonl(tmp_path / "x.jsonl", [row]))[0].candidates[0].text == "Caf\u00e9."


# ---- bad rows: what is changed in the second row, and what is said about it


def changed(path: list[str | int], value: Any) -> list[dict[str, Any]]:
    """The rows, one place of the second intra-sentence row changed."""
    rows: list[Any] = [row for row in stereoset_rows() if row["task"] == "intrasentence"]
    parent: Any = rows[1]
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = value
    return rows


BAD: dict[str, tuple[list[str | int], Any, str]] = {
    "id": (["id"], None, "'id' is missing or empty."),
    "bool": (["id"], True, "'id' must be text."),
    "twice": (["id"], "intra0", "the id 'intra0' appears twice."),
    "context": (["context"], "  ", "'context' is missing or empty."),
    "blank": (["context"], "The Norwegian is.", "the context has no BLANK."),
    "task": (["task"], "intra", "task is 'intra'; use 'intrasentence' or 'intersentence'."),
    "bias": (["bias_type"], None, "'bias_type' is missing or empty."),
    "number": (["target"], 1.5, "'target' must be text."),
    "tag": (["language"], "x!", "'x!' is not a language tag. Use BCP 47, such as 'de', 'pt-BR' or 'zh-Hant'."),
    "language": (["language"], None, "the row names no language; add a 'language' column or use `language`."),
    "roles": (
        ["candidates", 0, "gold_label"],
        "unrelated",
        "an item needs each of stereotype, anti-stereotype, unrelated once; "
        "found: anti-stereotype, unrelated, unrelated.",
    ),
    "none": (
        ["candidates"],
        [],
        "an item needs each of stereotype, anti-stereotype, unrelated once; found: none.",
    ),
    "list": (["candidates"], "kind", "'candidates' must be a list of objects."),
    "same": (["candidates", 0, "id"], "w11", "two candidates have the same id."),
    "other": (["candidates", 0, "id"], "w01", "the candidate id 'w01' appears twice."),
    "sentence": (
        ["candidates", 0],
        {"id": "w10", "gold_label": "stereotype"},
        "a candidate has no word for BLANK, and its sentence is not the context with a word.",
    ),
    "word": (
        ["candidates", 0],
        {"id": "w10", "gold_label": "stereotype", "sentence": "Short."},
        "a candidate has no word for BLANK, and its sentence is not the context with a word.",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_row_is_named_by_file_and_line(name, tmp_path):
    steps, value, problem = BAD[name]
    path = write_jsonl(tmp_path / "rows.jsonl", changed(steps, value))
    with pytest.raises(IsoglossError) as caught:
        isogloss.read(path)
    assert str(caught.value) == f"{path}, line 2: {problem}"


@pytest.mark.parametrize("name", BAD)
def test_a_bad_row_can_be_skipped_and_is_counted(name, tmp_path):
    steps, value, _ = BAD[name]
    items = isogloss.read(write_jsonl(tmp_path / "rows.jsonl", changed(steps, value)), skip_bad=True)
    assert [item.id for item in items] == ["intra0"]
    assert problem_counts(items.problems) == {"unreadable": 1}
    assert items.problems[0].message.startswith(f"{tmp_path / 'rows.jsonl'}, line 2: ")


def test_an_inter_sentence_candidate_needs_a_sentence(tmp_path):
    row = stereoset_rows()[1]
    row["candidates"][2] = {"id": "s02", "gold_label": "unrelated", "word": "fish"}
    path = write_jsonl(tmp_path / "x.jsonl", [row])
    with pytest.raises(IsoglossError) as caught:
        isogloss.read(path)
    assert str(caught.value) == f"{path}, line 1: a candidate has no sentence."


@pytest.mark.parametrize(("name", "place"), [("x.csv", "line 3"), ("x.tsv", "line 3"), ("x.parquet", "line 2")])
def test_a_bad_row_of_a_table_is_named_by_its_line(name, place, tmp_path):
    path = write(tmp_path / name, changed(["context"], "No gap."))
    with pytest.raises(IsoglossError) as caught:
        isogloss.read(path)
    assert str(caught.value) == f"{path}, {place}: the context has no BLANK."


def test_a_bad_item_of_stereosets_own_json_is_named_by_its_number(tmp_path):
    path = write(tmp_path / "dev.json", changed(["context"], "No gap."))
    with pytest.raises(IsoglossError) as caught:
        isogloss.read(path)
    assert str(caught.value) == f"{path}: intrasentence item 2: the context has no BLANK."


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"data": {"rows": []}}, "not StereoSet's JSON: it needs 'intrasentence' or 'intersentence' under 'data'."),
        ({"intrasentence": {}}, "'intrasentence' must be a list of items."),
        ({"intrasentence": ["x"]}, "intrasentence item 1: must be an object with an item's fields."),
        ({"intrasentence": [{"id": "\ud800"}]}, "intrasentence item 1: not UTF-8."),
    ],
)
def test_json_of_another_shape_is_refused(content, problem, tmp_path):
    path = tmp_path / "dev.json"
    path.write_text(json.dumps(content))
    with pytest.raises(IsoglossError) as caught:
        isogloss.read(path, format="stereoset")
    assert str(caught.value) == f"{path}: {problem}"


def test_broken_encoding_is_named_by_its_line_and_can_be_skipped(tmp_path):
    path = write_jsonl(tmp_path / "x.jsonl", stereoset_rows())
    path.write_bytes(path.read_bytes().replace("café".encode(), "café".encode("latin-1"), 1) + "é\n".encode())
    with pytest.raises(IsoglossError) as caught:
        isogloss.read(path)
    assert str(caught.value) == f"{path}, line 1: {NOT_UTF_8}"
    assert len(isogloss.read(path, skip_bad=True)) == 3


def test_odd_rows_are_kept_and_counted(tmp_path):
    rows = [deepcopy(stereoset_rows()[0]) for _ in range(4)]
    for number, row in enumerate(rows):
        row["id"] = f"r{number}"
        row["candidates"] = [c | {"id": f"{c['id']}-{number}"} for c in row["candidates"]]
    rows[1]["context"] = "The BLANK nurse is BLANK."
    rows[2]["candidates"][1] |= {"word": "kind", "sentence": "The nurse is kind."}
    rows[3]["candidates"][0]["sentence"] = "the nurse is kind"
    items = isogloss.read(write_jsonl(tmp_path / "x.jsonl", rows))
    assert len(items) == 4
    assert [(p.check, p.severity, p.item) for p in items.problems] == [
        ("several_blanks", "warning", "r1"),
        ("sentence_differs", "warning", "r1"),
        ("equal_words", "warning", "r2"),
        ("sentence_differs", "warning", "r3"),
    ]


# ---- the published files


@pytest.mark.parametrize(
    ("tag", "counts", "odd"),
    [
        ("en", (2106, 2123), {"several_blanks": 2, "equal_words": 0}),
        ("de", (2103, 2123), {"several_blanks": 2, "equal_words": 0}),
        ("es", (2106, 2123), {"several_blanks": 2, "equal_words": 3}),
        ("fr", (2106, 2123), {"several_blanks": 2, "equal_words": 0}),
        ("tr", (2106, 2123), {"several_blanks": 2, "equal_words": 12}),
    ],
)
def test_the_published_files_are_read_whole(real_data, tag, counts, odd):
    intra, inter = (
        isogloss.read(real_data / "stereoset" / f"{task}_{tag}.jsonl.gz") for task in ("intrasentence", "intersentence")
    )
    found = problem_counts(intra.problems)
    assert (len(intra), len(inter)) == counts
    assert {name: found.get(name, 0) for name in odd} == odd
    assert len({item.cluster for item in intra}) == len({item.cluster for item in inter}) == 79


def test_stereosets_own_json_gives_the_items_of_our_layout(real_data):
    own = isogloss.read(real_data / "stereoset" / "dev.json.gz", language="en")
    ours = [
        item
        for task in ("intrasentence", "intersentence")
        for item in isogloss.read(real_data / "stereoset" / f"{task}_en.jsonl.gz")
    ]
    assert [(item.key, item.context, item.cluster) for item in own] == [(i.key, i.context, i.cluster) for i in ours]
    assert [[(c.id, c.role, c.text, c.word) for c in item.candidates] for item in own] == [
        [(c.id, c.role, c.text, c.word) for c in item.candidates] for item in ours
    ]


@pytest.mark.slow
@pytest.mark.parametrize("tag", ["en", "de", "es", "fr", "tr"])
def test_words_are_found_in_sentences_that_the_context_frames_and_in_no_others(real_data, tag):
    moved = longer = dropped = 0
    for item in isogloss.read(real_data / "stereoset" / f"intrasentence_{tag}.jsonl.gz"):
        pieces = (item.context or "").split()
        places = [place for place, piece in enumerate(pieces) if piece.strip(".,!?") == "BLANK"]
        for candidate in item.candidates:
            words = candidate.text.split()
            if len(places) != 1 or len(words) != len(pieces) or len((candidate.word or "").split()) != 1:
                continue
            place = places[0]
            word = candidate.word.translate(str.maketrans("", "", string.punctuation))  # as the published rule says
            assert word_in(item.context, candidate.text, language=tag) == word
            filled = [*words[:place], "so", "to", "say", *words[place:]]
            longer += word_in(item.context, " ".join(filled), language=tag) == f"so to say {candidate.word}"
            if place and words[0].casefold() != words[1].casefold():
                dropped += word_in(item.context, " ".join(words[1:]), language=tag) is not None
            if place + 1 < len(words) and words[place].casefold() != words[place + 1].casefold():
                swapped = [*words[:place], words[place + 1], words[place], *words[place + 2 :]]
                found = word_in(item.context, " ".join(swapped), language=tag)
                moved += found is not None and found != word
    assert longer > 4_000
    assert (moved, dropped) == (0, 0)
