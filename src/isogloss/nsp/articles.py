"""Articles, read one at a time from files or the hub, and the check that they are in the language they claim."""

import gzip
import json
import re
import unicodedata
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from .. import languages
from ..errors import BadData, IsoglossError, require
from ..files.hub import stream_rows
from ..files.parquet_pages import page_sizes

HUB = "hf:"
PLAIN = (".txt", ".text")
SUFFIXES = (*PLAIN, ".jsonl", ".parquet")
ROWS_AT_ONCE = 500
LONGEST_LINE = 50_000_000  # bytes; the longest article of Wikipedia has some millions
LONGEST_PAGE = 500_000_000  # bytes of a Parquet page, which writers end after about a million
FIELDS = ("text", "id", "language")
ENDS = re.compile(r"[.!?…。！？।؟۔։።:;]")
BREAK = re.compile(r"\n\s*\n")
FIRST = 100  # articles that are all looked at before the text is judged for the first time
THEN = 50  # afterwards one in THEN is looked at
MOST = 500
LETTERS = 600
SHORTEST = 40
WRONG = 0.5
MIXED = 0.1
_resolve, _describe = cache(languages.resolve), cache(languages.describe)  # of the language of every article


@dataclass(frozen=True, slots=True)
class Article:
    """A text with its language and a name that no other article has."""

    id: str
    text: str
    language: str


@dataclass(frozen=True, slots=True)
class ArticleSource:
    """Where articles come from, and their language unless the rows name it themselves."""

    location: str
    language: str | None = None

    @property
    def paths(self) -> list[Path]:
        """The source's files; none for the hub."""
        path = Path(self.location)
        if self.location.startswith(HUB):
            return []
        if path.is_dir():
            return sorted(file for file in path.rglob("*") if _suffix(file) in SUFFIXES)
        return [path]


def parse_sources(texts: Sequence[str], *, language: str | None = None) -> list[ArticleSource]:
    """Sources written as LOCATION or LANGUAGE=LOCATION; every location is checked before anything is read."""
    default = languages.resolve(language) if language else None
    sources = []
    for text in texts:
        tag, sign, location = text.partition("=")
        named = sign and not Path(text).exists()
        sources.append(ArticleSource(location, languages.resolve(tag)) if named else ArticleSource(text, default))
    for source in sources:
        path = Path(source.location)
        if source.location.startswith(HUB):
            continue
        if not path.exists():
            raise IsoglossError(f"No such file or folder: {path}.")
        if not source.paths:
            raise IsoglossError(f"The folder {path} has no articles: none of its files ends in {', '.join(SUFFIXES)}.")
        if path.is_file() and _suffix(path) not in SUFFIXES:
            raise BadData(path, None, f"unknown format. Use one of {', '.join(SUFFIXES)}, gzipped or not.")
    return sources


def _suffix(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def read_articles(source: ArticleSource) -> Iterator[Article]:
    """The articles of a source, one after the other, in constant memory."""
    if source.location.startswith(HUB):  # hf:NAME or hf:NAME:CONFIG, with a column `text`; streamed
        name = source.location.removeprefix(HUB).partition(":")[0]
        yield from _from_rows(name, stream_rows(source.location), language=source.language)
    for path in source.paths:
        read = {".jsonl": _read_lines, ".parquet": _read_parquet}.get(_suffix(path), _read_text)
        yield from _from_rows(path, read(path), language=source.language)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Each line with its number, as UTF-8 in NFC."""
    number = 1
    try:
        with gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
                if len(line) > LONGEST_LINE:
                    raise BadData(path, number, f"a line of more than {LONGEST_LINE:,} bytes, which no article has.")
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                yield number, unicodedata.normalize("NFC", text.rstrip("\r\n"))
    except UnicodeDecodeError as error:
        raise BadData(path, number, "not UTF-8. Save the file as UTF-8 and read it again.") from error
    except (OSError, EOFError, zlib.error) as error:
        raise BadData(path, None, f"cannot be read ({error}).") from error


def _read_text(path: Path) -> Iterator[Mapping[str, Any]]:
    """Articles with a blank line between them; an article is named by its first line's number."""
    kept: list[str] = []
    start = 0
    for number, line in chain(_lines(path), [(0, "")]):
        if line.strip():
            start = start if kept else number
            kept.append(line.strip())
        elif kept:
            yield {"id": f"{path.name}:{start}", "text": "\n".join(kept)}
            kept = []


def _read_lines(path: Path) -> Iterator[Mapping[str, Any]]:
    for number, line in _lines(path):
        if not line.strip():
            yield {}
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadData(path, number, f"not JSON: {getattr(error, 'msg', error)}.") from error
        if not isinstance(row, dict):
            raise BadData(path, number, "a line must be a JSON object with the field 'text'.")
        yield row


def _read_parquet(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        with path.open("rb") as file:
            if any(size > LONGEST_PAGE for size in page_sizes(file)):
                raise BadData(path, None, f"has a page that unpacks to more than {LONGEST_PAGE:,} bytes.")
        lazy = pl.scan_parquet(path)
        names = lazy.collect_schema().names()
        lazy = lazy.select([name for name in FIELDS if name in names])
        height = int(pl.scan_parquet(path).select(pl.len()).collect().item())
        for start in range(0, height, ROWS_AT_ONCE):
            yield from lazy.slice(start, ROWS_AT_ONCE).collect().iter_rows(named=True)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise BadData(path, None, "not a Parquet file, or a broken one.") from error


def _from_rows(location: Path | str, rows: Iterable[Mapping[str, Any]], *, language: str | None) -> Iterator[Article]:
    """Rows as articles; empty rows of a file of lines count for the numbers only."""
    name = location.name if isinstance(location, Path) else location
    for number, row in enumerate(rows, 1):
        if not row:
            continue
        if not isinstance(row.get("text"), str):
            raise BadData(location, number, f"an article needs the field 'text'; this row has: {', '.join(row)}.")
        tag = row.get("language") or language
        if tag is None:
            raise IsoglossError(f"The language of {location} is not known. Use `language='TAG'`, or TAG={location}.")
        text = unicodedata.normalize("NFC", row["text"])
        yield Article(str(row.get("id") or f"{name}:{number}"), text, _resolve(str(tag)))


def split_article(article: Article) -> list[str]:
    """The article's sentences, each on one line.

    Blank lines end a paragraph. A paragraph without any sentence mark is a heading and left out, unless all are so
    (some scripts have none); a sentence without a letter is left out.
    """
    segment = require("sentencex", extra="nsp").segment
    separator = " " if _describe(article.language).spaces else ""
    tag = article.language.split("-")[0]
    parts = [part for part in BREAK.split(article.text.strip()) if part.strip()]
    sentences = []
    for paragraph in [part for part in parts if ENDS.search(part)] or parts:
        text = separator.join(line.strip() for line in paragraph.splitlines())
        sentences += [" ".join(sentence.split()) for sentence in segment(tag, text)]
    return [sentence for sentence in sentences if any(map(str.isalpha, sentence))]


@dataclass(slots=True)
class LanguageSample:
    """What languages the sampled articles were found to be in, for each language that they were said to be in."""

    seen: Counter[str] = field(default_factory=Counter)
    guesses: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, article: Article) -> None:
        """Look at an article, if it is in the sample; a text that is plainly in another language is refused."""
        tag = article.language
        self.seen[tag] += 1
        counts = self.guesses.setdefault(tag, Counter())
        if self.seen[tag] > FIRST and (self.seen[tag] % THEN or counts.total() >= MOST):
            return
        text = article.text[:LETTERS]
        if len(text) >= SHORTEST:
            counts[str(require("py3langid", extra="nsp").classify(text)[0])] += 1
        if self.seen[tag] == FIRST:
            _other_language(tag, counts)

    def check(self) -> None:
        """Refuse a language whose articles are mostly in another; warn where some are."""
        for tag, counts in self.guesses.items():
            other, share = _other_language(tag, counts)
            if share > MIXED:
                warnings.warn(
                    f"{share:.0%} of the sampled articles that should be in '{tag}' look like '{other}' or others.",
                    stacklevel=2,
                )


def _other_language(tag: str, counts: Counter[str]) -> tuple[str, float]:
    """The most frequent other language and the share of all others; refused where it is most of a text."""
    plain = tag.split("-")[0]
    others = Counter({other: count for other, count in counts.items() if other != plain})
    other, share = (others.most_common(1)[0][0], others.total() / counts.total()) if others else ("", 0.0)
    # the verdict of an identifier that does not know the language at all says nothing
    if share > WRONG and plain in {str(code) for code, _ in require("py3langid", extra="nsp").rank("a")}:
        name = languages.describe(other).name
        called = f"{name} ('{other}')" if name != other else f"'{other}'"
        raise IsoglossError(
            f"The text is said to be in '{tag}', but {share:.0%} of {counts.total()} sampled articles are not; "
            f"most of those look like {called}. Use `language='{other}'`, or `options={{'any_language': 'yes'}}` to take it as it is."
        )
    return other, share
