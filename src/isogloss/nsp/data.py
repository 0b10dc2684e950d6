"""Building the data: articles in, shuffled pairs in parts out, with a card of counts; text never stays in memory."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..errors import IsoglossError
from .articles import Source, read_articles
from .pairs import FEWEST, SPLITS, Pairs, Shares, balance, draw_pairs, sentences_before, split_articles
from .sentences import split_article
from .shelf import Index, Shelf, begin_shelf
from .tongues import Tongues

FORMATS = ("parquet", "jsonl")
ROWS = 50_000
CARD = "data.json"
SCHEMA = 1
EVEN = Shares()
Said = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """How pairs are made of articles; `limit` is the most sentences of each language and split that become pairs, and
    `longest` the most letters in a sentence of a pair."""

    seed: int = 0
    shares: Shares = EVEN
    limit: int | None = None
    longest: int | None = None
    format: str = "parquet"
    any_language: bool = False


def unheard(label: str, count: int) -> None:
    """Progress that nobody looks at."""


def build_data(sources: Sequence[Source], out: Path, *, plan: Plan, progress: Said = unheard) -> dict[str, Any]:
    """The card of the data that was written to `out`: train, validation and test by article, in parts."""
    _check(plan, out)
    work = out.with_name(f"{out.name}.partial")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        shelf, counts = _fill_shelf(sources, work / "sentences", plan=plan, progress=progress)
        card = _write_splits(shelf, work, plan=plan, progress=progress)
        shelf.close()
        (work / "sentences").unlink()
        card |= {"schema": SCHEMA, "articles": dict(counts), "sources": [asdict(source) for source in sources]}
        card["plan"] = asdict(plan)
        (work / CARD).write_text(json.dumps(card, ensure_ascii=False, indent=1), encoding="utf-8")
        work.rename(out)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return card


def _check(plan: Plan, out: Path) -> None:
    if plan.format not in FORMATS:
        raise IsoglossError(f"No format named '{plan.format}'. Known: {', '.join(FORMATS)}.")
    if not 0 <= plan.shares.validation + plan.shares.test < 1 or min(plan.shares.validation, plan.shares.test) < 0:
        raise IsoglossError(
            "The shares of validation and test must be between 0 and 1, and leave something to train on."
        )
    if out.exists():
        raise IsoglossError(f"{out} exists already. Choose another folder with --out, or remove it.")


def _fill_shelf(sources: Sequence[Source], path: Path, *, plan: Plan, progress: Said) -> tuple[Shelf, Counter[str]]:
    writer, tongues = begin_shelf(path), Tongues()
    counts = Counter(dict.fromkeys(("read", "empty", "one sentence", "repeated", "kept"), 0))
    for source in sources:
        for article in read_articles(source):
            counts["read"] += 1
            if not article.text.strip():
                counts["empty"] += 1
                continue
            if not plan.any_language:
                tongues.look(article)
            sentences = split_article(article)
            if len(sentences) < 2:
                counts["one sentence"] += 1
            elif writer.put(article.id, sentences, language=article.language, seed=plan.seed):
                counts["kept"] += 1
            else:
                counts["repeated"] += 1
            progress("sentences", len(writer.ends) - 1)
    shelf = writer.close()
    _refuse_nothing(counts, sources)
    tongues.judge()
    return shelf, counts


def _refuse_nothing(counts: Counter[str], sources: Sequence[Source]) -> None:
    places = ", ".join(source.place for source in sources)
    if counts["read"] == counts["empty"]:
        raise IsoglossError(f"There is no text in {places}. Give articles with a blank line between them.")
    if not counts["kept"]:
        raise IsoglossError(
            f"All {counts['one sentence']} articles in {places} have one sentence only, so none has a next one. "
            "In plain text, a blank line begins a new article: take out those between the sentences of one."
        )


def _write_splits(shelf: Shelf, folder: Path, *, plan: Plan, progress: Said) -> dict[str, Any]:
    """Write the pairs of each split; what comes out is the card's part about them."""
    articles = split_articles(shelf, plan.shares)
    card: dict[str, Any] = {"splits": {}, "languages": list(shelf.tags)}
    digest = hashlib.sha256()
    for place, split in enumerate(SPLITS):
        before = {
            tag: sentences_before(shelf, articles[tag, split], longest=plan.longest)
            for tag in shelf.tags
            if (tag, split) in articles
        }
        _refuse_one_article(shelf, before, split=split, give="a larger --max-letters")
        rng = np.random.default_rng([plan.seed, place])
        taken = balance(before, limit=plan.limit, rng=rng) if before else {}
        _refuse_one_article(shelf, taken, split=split, give="a larger --limit")
        drawn = [draw_pairs(shelf, found, rng=rng) for found in taken.values()]
        pairs = _mix(drawn, rng)
        digest.update(pairs.first.tobytes() + pairs.second.tobytes())
        parts = _write_parts(shelf, pairs, folder=folder / split, kind=plan.format, progress=progress)
        card["splits"][split] = {
            "pairs": len(pairs.label),
            "positive": int(pairs.label.sum()),
            "parts": parts,
            "articles": {tag: _count_articles(shelf, found) for tag, found in taken.items()},
            "sentences": {tag: len(found) for tag, found in taken.items()},
        }
    digest.update(shelf.draws.tobytes())
    return card | {"sentences": len(shelf.ends) - 1, "hash": digest.hexdigest()}


def _refuse_one_article(shelf: Shelf, sentences: Mapping[str, Index], *, split: str, give: str) -> None:
    for tag, found in sentences.items():
        if _count_articles(shelf, found) < FEWEST:
            raise IsoglossError(
                f"Too few sentences in '{tag}' are left for {split}: they must come from two articles at least. "
                f"Give {give}, or more articles."
            )


def _count_articles(shelf: Shelf, sentences: Index) -> int:
    return len(np.unique(shelf.articles_of(sentences)))


def _mix(drawn: Sequence[Pairs], rng: np.random.Generator) -> Pairs:
    """The pairs of all languages in one random order."""
    columns = [[getattr(pairs, name) for pairs in drawn] for name in ("first", "second", "label")]
    joint = [np.concatenate(column) if column else np.empty(0, dtype=np.int64) for column in columns]
    order = rng.permutation(len(joint[0]))
    return Pairs(joint[0][order], joint[1][order], joint[2][order])


def _write_parts(shelf: Shelf, pairs: Pairs, *, folder: Path, kind: str, progress: Said) -> int:
    """How many parts were written; each holds so many rows, the last one fewer."""
    folder.mkdir()
    starts = range(0, len(pairs.label), ROWS)
    for number, start in enumerate(starts):
        table = _table(shelf, pairs, rows=slice(start, start + ROWS))
        path = folder / f"part-{number:05d}.{kind}"
        if kind == "parquet":
            table.write_parquet(path)
        else:
            table.write_ndjson(path)
        progress(f"{folder.name} pairs", start + table.height)
    return len(starts)


def _table(shelf: Shelf, pairs: Pairs, *, rows: slice) -> pl.DataFrame:
    first, second = pairs.first[rows], pairs.second[rows]
    articles, others = shelf.articles_of(first), shelf.articles_of(second)
    return pl.DataFrame(
        {
            "first": [shelf.read(sentence) for sentence in first.tolist()],
            "second": [shelf.read(sentence) for sentence in second.tolist()],
            "label": pl.Series(pairs.label[rows], dtype=pl.Int8),
            "language": [shelf.tags[shelf.languages[article]] for article in articles.tolist()],
            "article": [shelf.names[article] for article in articles.tolist()],
            "other": [shelf.names[article] for article in others.tolist()],
        }
    )
