"""Parallel texts in every layout, read line by line; what is broken says so in one sentence."""

from __future__ import annotations

import gzip
import json
import sys
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import isogloss as ig
from isogloss.corpora.texts import Corpus, open_corpora, open_corpus
from isogloss.corpora.wordlists import read_lists
from isogloss.errors import IsoglossError

ENGLISH = ["She is a nurse.", "He is a doctor.", "It rains."]
GERMAN = ["Sie ist Krankenschwester.", "Er ist Arzt.", "Es regnet."]
TMX = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en"/><body>
<tu><tuv xml:lang="en-GB"><seg>She is
a <bpt i="1">&lt;b&gt;</bpt>nurse<ept i="1">&lt;/b&gt;</ept>.</seg></tuv><tuv xml:lang="de"><seg>Sie ist Krankenschwester.</seg></tuv></tu>
<tu><tuv lang="EN"><seg>Alone.</seg></tuv></tu>
<tu><tuv lang="EN"><seg>He is a doctor.</seg></tuv><tuv lang="DE"><seg>Er ist Arzt.</seg></tuv></tu>
</body></tmx>"""
BOMB = (
    '<?xml version="1.0"?><!DOCTYPE tmx [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    '<tmx><body><tu><tuv lang="en"><seg>&b;</seg></tuv></tu></body></tmx>'
)


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def texts(corpus: Corpus) -> list[tuple[str, str]]:
    return [(pair.english, pair.text) for pair in corpus.read()]


def message(source: str | Path, **more: object) -> str:
    with pytest.raises(IsoglossError) as caught:
        list(open_corpus(source, **more).read())  # type: ignore[arg-type]
    return str(caught.value)


BOTH = list(zip(ENGLISH, GERMAN, strict=True))


def test_two_aligned_files_are_a_corpus(tmp_path: Path) -> None:
    corpus = open_corpus(write(tmp_path / "c.en", ENGLISH), target=write(tmp_path / "c.de", GERMAN))
    assert (corpus.language, texts(corpus)) == ("de", BOTH)
    assert texts(corpus) == BOTH  # it can be read again


def test_gzipped_files_and_byte_order_marks_are_read(tmp_path: Path) -> None:
    for name, lines in (("c.en.gz", ENGLISH), ("c.de.gz", GERMAN)):
        (tmp_path / name).write_bytes(gzip.compress(("\ufeff" + "\r\n".join(lines)).encode()))
    corpus = open_corpus(tmp_path / "c.en.gz", target=tmp_path / "c.de.gz")
    assert texts(corpus) == BOTH


@pytest.mark.parametrize(("name", "header"), [("x.tsv", ["en\tde"]), ("en-de.tsv", []), ("de_en.tsv", [])])
def test_a_tsv_with_or_without_a_header(tmp_path: Path, name: str, header: list[str]) -> None:
    rows = [f'{english}\t{german} "so' for english, german in BOTH]
    corpus = open_corpus(write(tmp_path / name, [*header, *rows]))
    assert corpus.language == "de"
    assert texts(corpus) == [(english, f'{german} "so') for english, german in BOTH]


def test_tmx_units_without_a_translation_and_codes_within_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "de-en.tmx"
    path.write_text(TMX, encoding="utf-8")
    assert texts(open_corpus(path)) == BOTH[:2]
    assert texts(open_corpus(path, language="German")) == BOTH[:2]


def test_an_opus_zip_holds_two_files_or_a_tmx(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "opus.zip", "w") as file:
        file.writestr("README", "about")
        file.writestr("T.de-en.en", "\n".join(ENGLISH))
        file.writestr("T.de-en.de", "\n".join(GERMAN))
    assert texts(open_corpus(tmp_path / "opus.zip")) == BOTH
    with zipfile.ZipFile(tmp_path / "memory.zip", "w") as file:
        file.writestr("de-en.tmx", TMX)
    assert texts(open_corpus(tmp_path / "memory.zip")) == BOTH[:2]


def test_english_alone_is_a_corpus(tmp_path: Path) -> None:
    corpus = open_corpus(write(tmp_path / "news.txt", ENGLISH))
    assert (corpus.language, texts(corpus)) == ("en", [(line, line) for line in ENGLISH])


def test_a_data_set_of_the_hub_is_streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str, config: str, *, split: str, streaming: bool) -> Iterator[dict[str, dict[str, str]]]:
        assert (name, config, split, streaming) == ("ted", "de-en", "train", True)
        return iter([{"translation": {"en": e, "de": d}} for e, d in BOTH])

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load))  # type: ignore[arg-type]
    assert texts(open_corpus("hf:ted:de-en", language="de")) == BOTH
    assert message("hf:ted:de-en", language="ja") == "ted:de-en, line 1: the row has no 'en' and 'ja' text."


@pytest.mark.slow
def test_a_large_corpus_takes_no_more_memory_than_a_small_one(tmp_path: Path) -> None:
    path = tmp_path / "en-de.tsv"
    with path.open("w", encoding="utf-8") as file:
        for number in range(200_000):
            file.write(f"She is number {number} of a long line of people.\tSie ist Nummer {number} in der Reihe.\n")
    tracemalloc.start()
    count = sum(1 for _ in open_corpus(path).read())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 200_000
    assert peak < 2_000_000 < path.stat().st_size


def test_files_that_are_not_aligned_are_refused(tmp_path: Path) -> None:
    english, german = write(tmp_path / "c.en", ENGLISH), write(tmp_path / "c.de", GERMAN[:2])
    assert message(english, target=german) == (
        f"{german}: ends after 2 lines, but {english} goes on; the two are not aligned."
    )
    path = write(tmp_path / "en-de.tsv", ["a\tb", "a"])
    assert message(path) == f"{path}, line 2: 1 cells instead of 2; the two sides are not aligned."


def test_a_tmx_that_declares_entities_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "en-de.tmx"
    path.write_text(BOMB, encoding="utf-8")
    assert message(path) == (f"{path}: it declares the entity 'a', which could grow without end. Remove its entities.")
    path.write_text(TMX[:-20], encoding="utf-8")
    assert message(path) == f"{path}, line 7: not TMX: unclosed token."


def test_what_cannot_be_read_says_so(tmp_path: Path) -> None:
    missing = tmp_path / "no.tsv"
    assert message(missing) == f"No such file: {missing}."
    text = write(tmp_path / "news.txt", ENGLISH)
    assert message(text, language="de") == (
        f"{text} is one text, which is read as English. Give its translation with `target='FILE'`, or a TSV, TMX or zip."
    )
    assert message(text, target=text) == "The language of 'news.txt' is not in its name. Use `language='TAG'`."
    table = write(tmp_path / "x.tsv", ["en\tde", "a\tb"])
    assert message(table, language="ja") == f"{table} has no column 'ja'; it has: en, de."
    (tmp_path / "mac.txt").write_bytes("She is a fiancée.\n".encode("mac_roman"))
    assert message(tmp_path / "mac.txt") == (
        f"{tmp_path / 'mac.txt'}, line 1: not UTF-8. Save the file as UTF-8 and read it again."
    )
    (tmp_path / "broken.zip").write_bytes(b"PK no")
    assert message(tmp_path / "broken.zip") == f"{tmp_path / 'broken.zip'}: cannot be read (File is not a zip file)."
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as file:
        file.writestr("a.en", "x")
    assert message(tmp_path / "other.zip", language="de") == (
        f"{tmp_path / 'other.zip'} holds no aligned files that end in .en and .de; it holds: a.en."
    )
    with pytest.raises(IsoglossError, match=r"^`target` goes with one corpus, its English side\.$"):
        open_corpora(["a", "b"], target="c")


def test_sentences_with_a_gender_column_and_their_own_numbers_are_read(tmp_path):
    path = tmp_path / "news_pt.jsonl"
    rows = [
        {"i": 0, "gender": group, "language": "pt", "corpus": "News", "text_detokenised": "Um texto."}
        for group in ("female", "male")
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    items = ig.read(path)
    assert [(one.id, one.candidates[0].role, one.tags["corpus"]) for one in items] == [
        ("female-0", "female", "News"),
        ("male-0", "male", "News"),
    ]


def test_word_lists_of_other_attributes_ship():
    for name in ("age", "religion", "origin"):
        first, second = read_lists([name])
        assert first.group != second.group
    with pytest.raises(IsoglossError, match="No word list named 'shoes'"):
        read_lists(["shoes"])
