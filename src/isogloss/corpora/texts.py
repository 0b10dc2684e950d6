"""Parallel texts, read line by line in constant memory: Moses, TSV, TMX, OPUS zips, Hugging Face, or English alone."""

import gzip
import itertools
import lzma
import math
import re
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from .. import languages
from ..errors import BadData, IsoglossError
from ..files.hub import stream_rows
from ..files.rows import RATIO, SMALL
from .tmx import read_units

ENGLISH = "en"
HUB = "hf:"
LONGEST_LINE = 1_000_000
BOMB = f"unpacks to more than {RATIO} times its size. Unpack it yourself if that is right."
OPUS_NAMES = {"jp": "ja", "zh_cn": "zh", "zhs": "zh", "zh_tw": "zh-Hant", "zht": "zh-Hant", "pt_br": "pt-BR"}


@dataclass(frozen=True, slots=True)
class SentencePair:
    """An English sentence and its translation, with the line it stands on; in English-only text both are the same."""

    line: int
    english: str
    text: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """A parallel text: its name, the language of its other side, and its pairs, which can be read again and again."""

    name: str
    language: str
    read: Callable[[], Iterator[SentencePair]]


def open_corpus(source: str | Path, *, target: str | Path | None = None, language: str | None = None) -> Corpus:
    """The corpus in a file (TSV, TMX, OPUS zip, English text), in two aligned files, or on the hub (hf:NAME/CONFIG).

    `language` is the other side's; where the file names it, it may be left out.
    """
    tag = languages.resolve(language) if language else None
    if str(source).startswith(HUB):
        return _from_hub(str(source).removeprefix(HUB), _needed(tag, str(source)))
    path = Path(source)
    for file in (path, Path(target) if target else path):
        if not file.is_file():
            raise IsoglossError(f"No such file: {file}.")
    kind = Path(path.name.lower().removesuffix(".gz")).suffix
    if target is not None:
        other = Path(target)
        wanted = _needed(tag or _ending(other.name), other.name)
        return _moses(path.name, wanted, sides=((path, ""), (other, "")))
    if kind == ".tsv":
        return _tsv(path, tag)
    if kind == ".tmx":
        wanted = _needed(tag or _other_language(path.name), path.name)
        return Corpus(path.name, wanted, lambda: _tmx(path, wanted))
    if kind == ".zip":
        return _zip(path, tag)
    if tag not in (None, ENGLISH):
        raise IsoglossError(
            f"{path} is one text, which is read as English. Give its translation with `target='FILE'`, or a TSV, TMX or zip."
        )
    return Corpus(
        path.name, ENGLISH, lambda: (SentencePair(row, line.strip(), line.strip()) for row, line in _lines(path))
    )


def open_corpora(
    sources: Sequence[str], *, target: str | Path | None = None, language: str | None = None
) -> list[Corpus]:
    """Several corpora; two aligned files are given one pair at a time."""
    if target is not None and len(sources) != 1:
        raise IsoglossError("`target` goes with one corpus, its English side.")
    return [open_corpus(source, target=target, language=language) for source in sources]


def _needed(tag: str | None, name: str) -> str:
    if tag is None:
        raise IsoglossError(f"The language of '{name}' is not in its name. Use `language='TAG'`.")
    return tag


def _ending(name: str) -> str | None:
    """The language that a file of two aligned ones ends with, as in corpus.en-ja.ja."""
    last = name.removesuffix(".gz").rsplit(".", 1)[-1]
    last = OPUS_NAMES.get(last, last)
    return languages.resolve(last) if last in languages.tags() else None


def _other_language(name: str) -> str | None:
    """The language beside English in a name such as TED2020.en-ja.tmx or en-ja.tsv."""
    for first, second in re.findall(r"(?<![a-zA-Z])([a-z]{2,3})[-_]([a-z]{2,3})(?![a-zA-Z])", name):
        for expected, other in ((first, second), (second, first)):
            if expected == ENGLISH and other in languages.tags():
                return str(other)
    return None


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """A file that breaks while it is read says so in one sentence."""
    try:
        yield
    except (OSError, EOFError, RuntimeError, ValueError, lzma.LZMAError, zlib.error, zipfile.BadZipFile) as error:
        raise BadData(path, None, f"cannot be read ({error}).") from error


def _open(path: Path, member: str) -> IO[bytes]:
    """The file, or with `member` the one of that name in a zip."""
    if member:
        return zipfile.ZipFile(path).open(member)
    return gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb")  # type: ignore[return-value]


def _lines(path: Path, member: str = "") -> Iterator[tuple[int, str]]:
    """Each line with its number, as UTF-8 in NFC."""
    whole = path / member
    packed, unpacked = path.name.lower().endswith(".gz"), 0
    with _reading(whole), _open(path, member) as file:
        most = max(SMALL, RATIO * path.stat().st_size) if packed else math.inf
        lines = iter(partial(file.readline, LONGEST_LINE + 1), b"")
        for number, line in enumerate(lines, 1):
            unpacked += len(line)
            if unpacked > most:
                raise BadData(whole, None, BOMB)
            if len(line) > LONGEST_LINE:
                problem = f"a line of more than {LONGEST_LINE:,} bytes. Put one sentence on each line."
                raise BadData(whole, number, problem)
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise BadData(whole, number, "not UTF-8. Save the file as UTF-8 and read it again.") from error
            yield number, unicodedata.normalize("NFC", text.rstrip("\r\n"))


def _moses(name: str, language: str, *, sides: tuple[tuple[Path, str], tuple[Path, str]]) -> Corpus:
    """Two aligned texts, each a file, or a zip with the name of a file in it."""

    def read() -> Iterator[SentencePair]:
        both = itertools.zip_longest(_lines(*sides[0]), _lines(*sides[1]))
        for number, (english, other) in enumerate(both, 1):
            if english is None or other is None:
                paths = [path / member for path, member in sides]
                longer, shorter = paths if other is None else paths[::-1]
                problem = f"ends after {number - 1} lines, but {longer} goes on; the two are not aligned."
                raise BadData(shorter, None, problem)
            yield SentencePair(number, english[1].strip(), other[1].strip())

    return Corpus(name, language, read)


def _tsv(path: Path, tag: str | None) -> Corpus:
    """Two columns, with or without a header of language tags; quotes have no meaning in it."""
    first = next(_lines(path), (0, ""))[1].split("\t")
    header = ENGLISH in first and all(cell in languages.tags() for cell in first)
    columns = first if header else [ENGLISH, tag or _other_language(path.name) or ""]
    others = [cell for cell in columns if cell != ENGLISH]
    wanted = _needed(tag or (others[0] if len(others) == 1 and others[0] else None), path.name)
    if wanted not in columns:
        raise IsoglossError(f"{path} has no column '{wanted}'; it has: {', '.join(columns)}.")
    indices = columns.index(ENGLISH), columns.index(wanted)

    def read() -> Iterator[SentencePair]:
        for number, line in _lines(path):
            cells = line.split("\t")
            if (header and number == 1) or not line.strip():
                continue
            if len(cells) != len(columns):
                problem = f"{len(cells)} cells instead of {len(columns)}; the two sides are not aligned."
                raise BadData(path, number, problem)
            yield SentencePair(number, cells[indices[0]].strip(), cells[indices[1]].strip())

    return Corpus(path.name, wanted, read)


def _tmx(path: Path, language: str, *, member: str = "") -> Iterator[SentencePair]:
    with _reading(path), _open(path, member) as file:
        for number, unit in enumerate(read_units(path, file), 1):
            short = {name.split("-")[0]: text for name, text in unit.items()}
            english = unit.get(ENGLISH) or short.get(ENGLISH)
            other = unit.get(language) or short.get(language.split("-")[0])
            if english and other:
                yield SentencePair(number, unicodedata.normalize("NFC", english), unicodedata.normalize("NFC", other))


def _zip(path: Path, tag: str | None) -> Corpus:
    """An OPUS download: two aligned files, or a TMX, in a zip; nothing is unpacked to disk."""
    with _reading(path):
        members = [member for member in zipfile.ZipFile(path).infolist() if not member.is_dir()]
    if any(member.file_size > max(SMALL, RATIO * member.compress_size) for member in members):
        raise BadData(path, None, BOMB)
    names = [member.filename for member in members]

    units = [name for name in names if name.lower().endswith(".tmx")]
    sides = {ending: name for name in names if (ending := _ending(name)) is not None}
    others = [ending for ending in sides if ending != ENGLISH]
    if units:
        wanted = _needed(tag or _other_language(units[0]) or _other_language(path.name), path.name)
        return Corpus(path.name, wanted, lambda: _tmx(path, wanted, member=units[0]))
    wanted = _needed(tag or (others[0] if len(others) == 1 else None), path.name)
    if ENGLISH not in sides or wanted not in sides:
        raise IsoglossError(
            f"{path} holds no aligned files that end in .en and .{wanted}; it holds: {', '.join(names)}."
        )
    return _moses(path.name, wanted, sides=((path, sides[ENGLISH]), (path, sides[wanted])))


def _from_hub(name: str, language: str) -> Corpus:
    """A data set of the hub with a `translation` column, streamed: hf:NAME or hf:NAME:CONFIG."""

    def read() -> Iterator[SentencePair]:
        for number, row in enumerate(stream_rows(name), 1):
            both = row.get("translation", row)
            if ENGLISH not in both or language not in both:
                raise BadData(name, number, f"the row has no '{ENGLISH}' and '{language}' text.")
            english, other = (unicodedata.normalize("NFC", str(both[tag]).strip()) for tag in (ENGLISH, language))
            yield SentencePair(number, english, other)

    return Corpus(name, language, read)
