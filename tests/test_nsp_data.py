"""Pairs from articles: what becomes a pair, what does not, and what is refused."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from isogloss.cli import app
from isogloss.errors import BadData, IsoglossError
from isogloss.nsp import data as building
from isogloss.nsp.articles import Article, ArticleSource, parse_sources, read_articles, split_article
from isogloss.nsp.data import PairSettings, build_data
from isogloss.nsp.evaluation import best_threshold, overlaps, second_only, word_overlap
from isogloss.nsp.pairs import Shares
from isogloss.nsp.parts import epoch_order, open_split
from support import rule
from support.builders import write_jsonl

SPLITS = ("train", "validation", "test")
FREE = PairSettings(any_language=True, shares=Shares(0.2, 0.2))


def articles(count: int = 20, *, mark: str = "s", size: int = 5) -> list[list[str]]:
    """Articles whose every sentence is like no other: article 3's second one is 'Word s3x1 is here.'"""
    return [[f"Word {mark}{a}x{n} is here." for n in range(size + a % 3)] for a in range(count)]


def write_text(path: Path, texts: Sequence[Sequence[str]]) -> Path:
    path.write_text("\n\n".join("\n".join(lines) for lines in texts), encoding="utf-8")
    return path


def build(
    folder: Path, texts: Sequence[Sequence[str]], *, settings: PairSettings = FREE, out: str = "out"
) -> dict[str, Any]:
    source = write_text(folder / "articles.txt", texts)
    return build_data([ArticleSource(str(source), "en")], folder / out, settings=settings)


def rows_of(folder: Path, split: str) -> pl.DataFrame:
    return open_split(folder, split).head(None)


def place(sentence: str) -> tuple[str, int]:
    """The article and the number of one of our sentences."""
    article, number = sentence.split()[1].rsplit("x", 1)
    return article, int(number)


# ---- pairs


def test_every_sentence_with_a_successor_gives_one_true_and_one_false_pair(tmp_path: Path) -> None:
    build(tmp_path, articles())
    rows = pl.concat([rows_of(tmp_path / "out", split) for split in SPLITS])
    firsts = {name: sorted(rows.filter(label=name)["first"]) for name in (0, 1)}
    wanted = sorted(line for lines in articles() for line in lines[:-1])
    assert firsts == {0: wanted, 1: wanted}


def test_a_true_pair_is_a_sentence_and_its_successor_and_a_false_one_is_of_two_articles(tmp_path: Path) -> None:
    build(tmp_path, articles())
    for split in SPLITS:
        for first, second, label, article, other in (
            rows_of(tmp_path / "out", split).select("first", "second", "label", "article", "other").iter_rows()
        ):
            (a, m), (b, n) = place(first), place(second)
            assert (a == b and n == m + 1) if label else a != b
            assert (article == other) == bool(label)


def test_each_second_sentence_is_once_true_and_once_false(tmp_path: Path) -> None:
    build(tmp_path, articles())
    rows = rows_of(tmp_path / "out", "train")
    assert sorted(rows.filter(label=0)["second"]) == sorted(rows.filter(label=1)["second"])


def test_no_article_is_in_two_splits(tmp_path: Path) -> None:
    build(tmp_path, articles(40))
    found = {
        split: set(rows_of(tmp_path / "out", split)["article"]) | set(rows_of(tmp_path / "out", split)["other"])
        for split in SPLITS
    }
    assert sum(map(len, found.values())) == len(set().union(*found.values())) == 40
    assert {split: len(names) for split, names in found.items()} == {"train": 24, "validation": 8, "test": 8}


def test_the_same_seed_gives_the_same_pairs_and_another_gives_others(tmp_path: Path) -> None:
    hashes = [
        build(tmp_path, articles(), settings=PairSettings(seed, Shares(0.2, 0.2), any_language=True), out=f"out{n}")[
            "hash"
        ]
        for n, seed in enumerate((0, 0, 1))
    ]
    assert hashes[0] == hashes[1] != hashes[2]
    one, two, three = (rows_of(tmp_path / f"out{n}", "train") for n in range(3))
    assert one.equals(two)
    assert set(one["article"]) != set(three["article"])


def test_an_article_keeps_its_split_when_others_change_places(tmp_path: Path) -> None:
    build(tmp_path, articles(), out="out1")
    build(tmp_path, articles()[::-1], out="out2")
    for split in SPLITS:
        assert set(rows_of(tmp_path / "out1", split)["first"]) == set(rows_of(tmp_path / "out2", split)["first"])


def test_one_article_that_holds_most_sentences_still_gets_false_pairs(tmp_path: Path) -> None:
    texts = [[f"Word big{n} is here." for n in range(60)], *articles(3, size=2)]
    build(tmp_path, texts, settings=PairSettings(any_language=True, shares=Shares(0, 0)))
    rows = rows_of(tmp_path / "out", "train")
    assert rows["label"].mean() == 0.5
    assert rows.filter(pl.col("label") == 0).filter(pl.col("article") == pl.col("other")).height == 0


def test_long_sentences_are_left_out_of_pairs(tmp_path: Path) -> None:
    texts = [
        [*lines[:2], "This is a sentence which is far longer than all of the others.", *lines[2:]]
        for lines in articles()
    ]
    card = build(tmp_path, texts, settings=PairSettings(any_language=True, shares=Shares(0.2, 0.2), max_letters=25))
    rows = pl.concat([rows_of(tmp_path / "out", split) for split in SPLITS])
    assert max(len(text) for text in [*rows["first"], *rows["second"]]) <= 25
    assert card["splits"]["train"]["pairs"] > 0


def test_parts_are_read_in_any_order_and_an_epoch_reads_every_pair_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("isogloss.nsp.data", "isogloss.nsp.parts"):
        monkeypatch.setattr(f"{module}.ROWS", 16)
    build(tmp_path, articles(30))
    split = open_split(tmp_path / "out", "train")
    assert split.parts == -(-split.count // 16) > 3
    first, second = (epoch_order(split, seed=3, epoch=epoch) for epoch in (0, 1))
    assert sorted(first) == sorted(second) == list(range(split.count))
    assert list(first) != list(second)
    whole = split.head(None)
    indices = np.array([40, 1, 17, 2])
    assert split.read(indices)["first"].to_list() == whole["first"].gather(indices).to_list()


# ---- languages


def test_languages_are_mixed_in_equal_shares(tmp_path: Path) -> None:
    one = write_text(tmp_path / "one.txt", articles(30, mark="e"))
    two = write_text(tmp_path / "two.txt", articles(12, mark="d"))
    card = build_data(parse_sources([f"en={one}", f"German={two}"]), tmp_path / "out", settings=FREE)
    rows = rows_of(tmp_path / "out", "train")
    counts = Counter(rows["language"])
    assert counts["en"] == counts["de"] > 0
    assert rows["language"][: len(rows) // 3].n_unique() == 2
    for first, second, label in rows.select("first", "second", "label").iter_rows():
        assert label or first.split()[1][0] == second.split()[1][0]
    assert card["languages"] == ["en", "de"]


ENGLISH = "The people of the town have always lived near the river and they go to the market every day. It is old."
GERMAN = "Die Leute aus der Stadt haben immer am Fluss gewohnt und gehen jeden Tag auf den Markt. Er ist sehr alt."


def numbered(text: str, count: int) -> list[list[str]]:
    return [[f"{text} Number {number}."] for number in range(count)]


def test_text_in_another_language_is_refused_and_named(tmp_path: Path) -> None:
    source = write_text(tmp_path / "a.txt", numbered(GERMAN, 12))
    with pytest.raises(IsoglossError) as caught:
        build_data([ArticleSource(str(source), "en")], tmp_path / "out", settings=PairSettings())
    assert str(caught.value) == (
        "The text is said to be in 'en', but 100% of 12 sampled articles are not; most of those look like German ('de'). "
        "Use `language='de'`, or `options={'any_language': 'yes'}` to take it as it is."
    )
    assert list(tmp_path.iterdir()) == [source]


def test_text_that_is_partly_in_another_language_is_warned_about(tmp_path: Path) -> None:
    source = write_text(tmp_path / "a.txt", [*numbered(ENGLISH, 15), *numbered(GERMAN, 5)])
    with pytest.warns(
        UserWarning, match=r"25% of the sampled articles that should be in 'en' look like 'de' or others."
    ):
        build_data([ArticleSource(str(source), "en")], tmp_path / "out", settings=PairSettings())


def test_sentences_are_split_by_the_rules_of_their_language() -> None:
    assert split_article(
        Article("a", "Dr. Smith went\nhome. He slept!\n\nSee also\n\n* * *\n\nIt was 3.5 km.", "en")
    ) == [
        "Dr. Smith went home.",
        "He slept!",
        "It was 3.5 km.",
    ]
    assert split_article(Article("a", "护士很善良。医生很\n粗鲁。", "zh")) == ["护士很善良。", "医生很粗鲁。"]
    assert split_article(Article("a", "नर्स दयालु है। डॉक्टर अशिष्ट है।", "hi")) == ["नर्स दयालु है।", "डॉक्टर अशिष्ट है।"]


# ---- sources


def test_all_formats_give_the_same_articles(tmp_path: Path) -> None:
    texts = articles(6)
    rows = [{"text": " ".join(lines), "id": f"n{n}"} for n, lines in enumerate(texts)]
    write_text(tmp_path / "a.txt", texts)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress((tmp_path / "a.txt").read_bytes()))
    write_jsonl(tmp_path / "c.jsonl", rows)
    pl.DataFrame(rows).write_parquet(tmp_path / "d.parquet")
    found = [
        [" ".join(one.text.split()) for one in read_articles(ArticleSource(str(tmp_path / name), "en"))]
        for name in ("a.txt", "b.txt.gz", "c.jsonl", "d.parquet")
    ]
    assert found[0] == [row["text"] for row in rows]
    assert found[0] == found[1] == found[2] == found[3]
    named = [one.id for one in read_articles(ArticleSource(str(tmp_path / "d.parquet"), "en"))]
    assert named == [f"n{n}" for n in range(6)]
    assert len(list(read_articles(ArticleSource(str(tmp_path), "en")))) == 24


def test_a_data_set_of_the_hub_is_streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    asked: list[Any] = []

    def load(*place: Any, **options: Any) -> list[dict[str, str]]:
        asked.append((place, options))
        return [{"id": "7", "text": "One. Two.", "title": "t"}]

    monkeypatch.setattr(datasets, "load_dataset", load)
    assert list(read_articles(ArticleSource("hf:wiki/pedia:2023.en", "en"))) == [Article("7", "One. Two.", "en")]
    assert asked == [(("wiki/pedia", "2023.en"), {"split": "train", "streaming": True})]


def test_a_row_names_its_own_language(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"text": "Eins.", "language": "German"}, {"text": "One."}])
    assert [one.language for one in read_articles(ArticleSource(str(path), "en"))] == ["de", "en"]
    with pytest.raises(IsoglossError, match=r"The language of .* is not known. Use `language='TAG'`"):
        list(read_articles(ArticleSource(str(path))))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"body": "One."}', "line 1: an article needs the field 'text'; this row has: body."),
        ("[1]", "line 1: a line must be a JSON object with the field 'text'."),
        ("{", "line 1: not JSON: Expecting property name enclosed in double quotes."),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(content + "\n", encoding="utf-8")
    with pytest.raises(BadData) as caught:
        list(read_articles(ArticleSource(str(path), "en")))
    assert str(caught.value) == f"{path}, {problem}"


def test_what_is_not_there_is_said_before_anything_is_read(tmp_path: Path) -> None:
    for location, message in (
        (tmp_path / "none.txt", f"No such file or folder: {tmp_path / 'none.txt'}."),
        (tmp_path, f"The folder {tmp_path} has no articles: none of its files ends in .txt, .text, .jsonl, .parquet."),
    ):
        with pytest.raises(IsoglossError) as caught:
            parse_sources([str(location)], language="en")
        assert str(caught.value) == message


# ---- what cannot become pairs


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "There is no text in {}. Give articles with a blank line between them."),
        (
            [["Only one."], ["And one."]],
            "All 2 articles in {} have one sentence only, so none has a next one. "
            "In plain text, a blank line begins a new article: take out those between the sentences of one.",
        ),
        (
            [["Only one."], ["Here are two.", "The second."]],
            "There is a single article in 'en' with two sentences or more. A negative is a sentence of a different "
            "article: give more articles, with a blank line between them.",
        ),
        (
            articles(5),
            "There are only 5 articles in 'en' with two sentences or more; train, validation, test need 2 each. "
            "Give more articles, or use `options={{'validation': '0', 'test': '0'}}`.",
        ),
    ],
)
def test_too_little_text_is_refused(tmp_path: Path, texts: list[list[str]], message: str) -> None:
    with pytest.raises(IsoglossError) as caught:
        build(tmp_path, texts)
    assert str(caught.value) == message.format(tmp_path / "articles.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["articles.txt"]


def test_articles_of_one_sentence_and_repeated_ones_are_counted(tmp_path: Path) -> None:
    card = build(tmp_path, [*articles(10), ["Alone."], articles(10)[3]])
    assert card["articles"] == {"read": 12, "empty": 0, "one sentence": 1, "repeated": 1, "kept": 10}


def test_a_limit_that_leaves_one_article_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IsoglossError) as caught:
        build(tmp_path, articles(), settings=replace(FREE, limit=1))
    assert str(caught.value) == (
        "Too few sentences in 'en' are left for train: they must come from two articles at least. "
        "Give a larger `limit`, or more articles."
    )


def test_large_shares_leave_two_articles_to_train_on(tmp_path: Path) -> None:
    card = build(tmp_path, articles(6), settings=replace(FREE, shares=Shares(0.45, 0.45)))
    assert [card["splits"][split]["articles"] for split in ("train", "validation", "test")] == [{"en": 2}] * 3


def test_articles_that_share_an_id_stay_apart(tmp_path: Path) -> None:
    sources = []
    for tag in ("en", "de"):
        rows = [{"id": number, "text": " ".join(lines)} for number, lines in enumerate(articles(20, mark=tag))]
        sources.append(ArticleSource(str(write_jsonl(tmp_path / f"{tag}.jsonl", rows)), tag))
    card = build_data(sources, tmp_path / "out", settings=FREE)
    for split, found in card["splits"].items():
        assert rows_of(tmp_path / "out", split)["article"].n_unique() == sum(found["articles"].values())


def test_a_stream_that_breaks_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")

    def rows() -> Iterator[dict[str, str]]:
        yield {"text": "One. Two."}
        raise ConnectionError("reset by peer")

    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: rows())
    with pytest.raises(IsoglossError) as caught:
        list(read_articles(ArticleSource("hf:wiki/pedia", "en")))
    assert str(caught.value) == (
        "The connection broke while 'wiki/pedia' was downloaded. Run the command again; complete files are kept."
    )


def test_a_folder_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    build(tmp_path, articles())
    with pytest.raises(IsoglossError, match=r"exists already. Choose another folder with `out`, or remove it."):
        build(tmp_path, articles())


def test_pairs_are_written_in_parts_so_that_memory_does_not_hold_their_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "ROWS", 50)
    build(tmp_path, articles(40))
    heights = [pl.read_parquet(path).height for path in sorted(tmp_path.glob("out/train/*.parquet"))]
    assert len(heights) > 4
    assert set(heights[:-1]) == {50}


# ---- the command, and the baselines


def test_the_command_writes_json_lines_too_and_says_its_counts(tmp_path: Path) -> None:
    source = write_text(tmp_path / "a.txt", articles(20))
    words = ["nsp", "data", f"en={source}", "--out", str(tmp_path / "out"), "--option", "format=jsonl"]
    result = CliRunner().invoke(
        app, [*words, *("--option", "any_language=yes", "--option", "test=0.2", "--option", "validation=0.2")]
    )
    assert result.exit_code == 0, result.output
    card = json.loads((tmp_path / "out" / "data.json").read_text(encoding="utf-8"))
    assert result.stdout.splitlines()[:2] == ["20 articles read, 20 kept", f"{card['sentences']} sentences in en"]
    assert rows_of(tmp_path / "out", "train").height == card["splits"]["train"]["pairs"]


def test_the_best_threshold_is_found() -> None:
    #  scores 0 .1 .2 .3 with labels 0 1 0 1: from .1 on, three of four are right; so are they from .3 on
    assert best_threshold(np.array([0.0, 0.1, 0.2, 0.3]), [0, 1, 0, 1]) == 0.1
    assert best_threshold(np.array([0.1, 0.2]), [0, 0]) == np.inf


def test_baselines_find_what_there_is_to_find() -> None:
    rows = pl.DataFrame({"first": ["red car"] * 40, "second": ["red bus", "blue sky"] * 20, "label": [1, 0] * 20})
    assert second_only(rows, rows).tolist() == rows["label"].to_list()
    assert word_overlap(rows, rows).tolist() == rows["label"].to_list()
    assert overlaps(rows[:2]).tolist() == [1 / 3, 0.0]


def test_the_rule_cannot_be_told_from_one_sentence_or_from_shared_words(tmp_path: Path) -> None:
    pairs = rule.build(tmp_path, count=200)
    train, test = rows_of(pairs, "train"), rows_of(pairs, "test")
    labels = test["label"].to_numpy()
    assert np.mean(second_only(train, test) == labels) <= 0.55
    assert np.mean(word_overlap(train, test) == labels) <= 0.55


def test_reading_stops_after_so_many_articles_of_a_source(tmp_path: Path) -> None:
    settings = PairSettings(any_language=True, shares=Shares(0.2, 0.2), articles=15)
    assert build(tmp_path, articles(20), settings=settings)["articles"]["read"] == 15
