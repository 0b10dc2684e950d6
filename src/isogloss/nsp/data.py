"""Building the data: articles in, shuffled pairs in parts out, with a card of counts; text never stays in memory."""

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..errors import IsoglossError
from ..settings import read_fields
from .articles import ArticleSource, LanguageSample, read_articles, split_article
from .pairs import FEWEST, SPLITS, Index, SentenceStore, Shares, balance, draw_pairs, sentences_before, split_articles

FORMATS = ("parquet", "jsonl")
ROWS = 50_000
CARD = "data.json"
SCHEMA = 1
DEFAULT_SHARES = Shares()
OnMessage = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class PairSettings:
    """How pairs are made of articles; `limit` is the most sentences of each language and split that become pairs, and
    `max_letters` the most letters in a sentence of a pair; no more than `articles` articles of a source are read."""

    seed: int = 0
    shares: Shares = DEFAULT_SHARES
    limit: int | None = None
    max_letters: int | None = None
    format: str = "parquet"
    any_language: bool = False
    articles: int | None = None


def read_pair_settings(texts: Mapping[str, str], settings: PairSettings) -> PairSettings:
    """The settings with those changed that texts name, such as test=0.1 or format=jsonl."""
    shares = {name: text for name, text in texts.items() if name in ("validation", "test")}
    others = {name: text for name, text in texts.items() if name not in shares}
    changed = read_fields(
        PairSettings, others, what="nsp data", names=("max_letters", "format", "any_language", "articles")
    )
    return replace(settings, shares=replace(settings.shares, **read_fields(Shares, shares, what="nsp data")), **changed)


def build_data(
    sources: Sequence[ArticleSource], out: Path, *, settings: PairSettings, on_message: OnMessage = lambda *_: None
) -> dict[str, Any]:
    """The card of the data that was written to `out`: train, validation and test by article, in parts."""
    if settings.format not in FORMATS:
        raise IsoglossError(f"No format named '{settings.format}'. Known: {', '.join(FORMATS)}.")
    shares = settings.shares.validation, settings.shares.test
    if not 0 <= sum(shares) < 1 or min(shares) < 0:
        raise IsoglossError(
            "The shares of validation and test must be between 0 and 1, and leave something to train on."
        )
    if out.exists():
        raise IsoglossError(f"{out} exists already. Choose another folder with `out`, or remove it.")
    work = out.with_name(f"{out.name}.partial")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        with (work / "sentences").open("w+b") as file:
            store = SentenceStore(file)
            counts = _fill_store(store, sources, settings=settings, on_message=on_message)
            card = _write_splits(store, work, settings=settings, on_message=on_message)
        (work / "sentences").unlink()
        card |= {"schema": SCHEMA, "articles": dict(counts), "sources": _describe_sources(sources)}
        card["plan"] = asdict(settings)
        (work / CARD).write_text(json.dumps(card, ensure_ascii=False, indent=1), encoding="utf-8")
        work.rename(out)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return card


def _fill_store(
    store: SentenceStore, sources: Sequence[ArticleSource], *, settings: PairSettings, on_message: OnMessage
) -> Counter[str]:
    """How many articles were read, kept, and left out for which reason."""
    sample = LanguageSample()
    counts = Counter(dict.fromkeys(("read", "empty", "one sentence", "repeated", "kept"), 0))
    for source in sources:
        for article in islice(read_articles(source), settings.articles):
            counts["read"] += 1
            if not article.text.strip():
                counts["empty"] += 1
                continue
            if not settings.any_language:
                sample.add(article)
            sentences = split_article(article)
            if len(sentences) < 2:
                counts["one sentence"] += 1
            elif store.put(article.id, sentences, language=article.language, seed=settings.seed):
                counts["kept"] += 1
            else:
                counts["repeated"] += 1
            on_message("sentences", len(store.sizes))
    store.finish()
    locations = ", ".join(source.location for source in sources)
    if counts["read"] == counts["empty"]:
        raise IsoglossError(f"There is no text in {locations}. Give articles with a blank line between them.")
    if not counts["kept"]:
        raise IsoglossError(
            f"All {counts['one sentence']} articles in {locations} have one sentence only, so none has a next one. "
            "In plain text, a blank line begins a new article: take out those between the sentences of one."
        )
    sample.check()
    return counts


def _write_splits(
    store: SentenceStore, folder: Path, *, settings: PairSettings, on_message: OnMessage
) -> dict[str, Any]:
    """Write the pairs of each split; what comes out is the card's part about them."""
    articles = split_articles(store, settings.shares)
    card: dict[str, Any] = {"splits": {}, "languages": list(store.tags)}
    digest = hashlib.sha256()
    for index, split in enumerate(SPLITS):
        before = {
            tag: sentences_before(store, articles[tag, split], longest=settings.max_letters)
            for tag in store.tags
            if (tag, split) in articles
        }
        _refuse_one_article(store, before, split=split, give="a larger max_letters")
        rng = np.random.default_rng([settings.seed, index])
        taken = balance(before, limit=settings.limit, rng=rng) if before else {}
        _refuse_one_article(store, taken, split=split, give="a larger `limit`")
        drawn = [draw_pairs(store, sentences, rng=rng) for sentences in taken.values()]
        pairs = np.concatenate([np.empty((3, 0), dtype=np.int64), *drawn], axis=1)
        pairs = pairs[:, rng.permutation(pairs.shape[1])]
        first, second, label = pairs
        digest.update(first.tobytes() + second.tobytes())
        parts = _write_parts(store, pairs, folder=folder / split, kind=settings.format, on_message=on_message)
        card["splits"][split] = {
            "pairs": len(label),
            "positive": int(label.sum()),
            "parts": parts,
            "articles": {tag: _count_articles(store, sentences) for tag, sentences in taken.items()},
            "sentences": {tag: len(sentences) for tag, sentences in taken.items()},
        }
    digest.update(store.draws.tobytes())
    return card | {"sentences": len(store.sizes), "hash": digest.hexdigest()}


def _refuse_one_article(store: SentenceStore, sentences: Mapping[str, Index], *, split: str, give: str) -> None:
    for tag, before in sentences.items():
        if _count_articles(store, before) < FEWEST:
            raise IsoglossError(
                f"Too few sentences in '{tag}' are left for {split}: they must come from two articles at least. "
                f"Give {give}, or more articles."
            )


def _describe_sources(sources: Sequence[ArticleSource]) -> list[dict[str, str | None]]:
    """The sources as `data.json` holds them; `place` is the key of all versions."""
    return [{"place": source.location, "language": source.language} for source in sources]


def _count_articles(store: SentenceStore, sentences: Index) -> int:
    return len(np.unique(store.articles_of(sentences)))


def _write_parts(store: SentenceStore, pairs: Index, *, folder: Path, kind: str, on_message: OnMessage) -> int:
    """How many parts were written; each holds the same number of rows, the last one fewer."""
    folder.mkdir()
    starts = range(0, pairs.shape[1], ROWS)
    for number, start in enumerate(starts):
        table = _table(store, pairs, rows=slice(start, start + ROWS))
        path = folder / f"part-{number:05d}.{kind}"
        if kind == "parquet":
            table.write_parquet(path)
        else:
            table.write_ndjson(path)
        on_message(f"{folder.name} pairs", start + table.height)
    return len(starts)


def _table(store: SentenceStore, pairs: Index, *, rows: slice) -> pl.DataFrame:
    first, second, label = pairs[:, rows]
    articles, others = store.articles_of(first), store.articles_of(second)
    return pl.DataFrame(
        {
            "first": [store.read(sentence) for sentence in first.tolist()],
            "second": [store.read(sentence) for sentence in second.tolist()],
            "label": pl.Series(label, dtype=pl.Int8),
            "language": [store.tags[store.languages[article]] for article in articles.tolist()],
            "article": [store.names[article] for article in articles.tolist()],
            "other": [store.names[article] for article in others.tolist()],
        }
    )


def counts_as_text(card: dict[str, Any]) -> str:
    """How many articles were read and kept, and how many pairs each split got."""
    counts = card["articles"]
    left = ", ".join(f"{counts[name]:,} {name}" for name in ("one sentence", "repeated", "empty") if counts[name])
    lines = [
        f"{counts['read']:,} articles read, {counts['kept']:,} kept" + (f" (left out: {left})" if left else ""),
        f"{card['sentences']:,} sentences in {', '.join(card['languages'])}",
    ]
    for split, facts in card["splits"].items():
        articles = ", ".join(f"{tag} {count:,}" for tag, count in facts["articles"].items())
        lines.append(
            f"{split:10} {facts['pairs']:>10,} pairs, {facts['positive']:,} of them true, articles: {articles or 'none'}"
        )
    return "\n".join(lines)
