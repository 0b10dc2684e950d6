"""Reading: from a data set's name, a file or a folder to items, with every oddity counted."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .. import languages, registry
from ..checks import find_changed, find_problems
from ..errors import BadData, IsoglossError, NoItems, UnknownName
from ..items import Item, Items, Problem
from .catalogue import ITEMS, Source, find_source, sources
from .filters import Where, filter_items
from .hub import PREFIX, fetch_table
from .published import pull
from .rows import OnBadRow, is_readable, noting_changes, raise_bad_row, read_json, read_rows, suffix


class Parse(Protocol):
    """A reader: the items of a file; `language` is used where the rows name none, bad rows are handed to `bad`."""

    def __call__(self, path: Path, language: str | None, *, bad: OnBadRow) -> Iterable[Item]: ...


@dataclass(frozen=True, slots=True)
class Dataset:
    """A family of data files: what it is, and how a file of it becomes items.

    `recognise` looks at the columns of a file; `parse` yields its items and hands bad rows to `bad`;
    `bundled` gives the files that ship with Isogloss for a language, if any; `hub` is its name on the hub, where it is gated.
    """

    title: str
    summary: str
    licence: str
    citation: str
    url: str
    recognise: Callable[[frozenset[str]], bool]
    parse: Parse
    bundled: Callable[[], dict[str, list[Path]]] | None = None
    hub: str | None = None


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Items have no cycles, and looking for some among millions of new objects again and again takes a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_collection_paused()
def read(
    source: str | Path,
    *,
    language: str | Sequence[str] | None = None,
    format: str | None = None,
    where: Where = (),
    skip_bad: bool = False,
) -> Items:
    """The items of a data set, a file, or the files of a folder, in one or several languages.

    Parameters:
        source: The name of a data set, a file, or a folder; published data is downloaded when it is first read.
        language: One language or several, by tag or name; without it, all.
        format: The reader to use where it should not be guessed; `isogloss list data` lists them.
        where: One condition or several: `original=yes`, `region=France,Germany`, `type!=saying`.
        skip_bad: Whether bad rows are left out and counted in `problems`, instead of raising an error.

    Example:
        >>> ig.read("demo", language="English", where="category=gender")
        Items(20 items of demo in en)
    """
    wanted = [languages.resolve(name) for name in ([language] if isinstance(language, str) else language or [])]
    problems: list[Problem] = []

    def skip(error: BadData) -> None:
        problems.append(Problem("unreadable", "error", str(source), str(error)))

    bad = skip if skip_bad or find_source(str(source)) else raise_bad_row  # published rows that are bad are known
    rows: list[Item] = []
    with noting_changes() as changed:
        for dataset, path, known in _files(str(source), wanted, format=format):
            default = known or language_in_name(path) or (wanted[0] if len(wanted) == 1 else None)
            rows += dataset.parse(path, default, bad=bad)
    rows = [item for item in rows if not wanted or item.language in wanted]
    rows = _unique(rows, str(source), bad=bad)
    if not rows and problems:
        raise IsoglossError(
            f"None of the {len(problems)} rows of '{source}' can be read. The first: {problems[0].message}"
        )
    if not rows:
        raise NoItems(f"No items in '{source}'{_in(wanted)}. Look at what it holds with: isogloss show {source}")
    return filter_items(Items(tuple(rows), (*problems, *find_problems(rows), *find_changed(rows, changed))), where)


def read_many(
    sources: Sequence[str | Path],
    *,
    language: str | Sequence[str] | None = None,
    format: str | None = None,
    where: Where = (),
    skip_bad: bool = False,
) -> Items:
    """The items of several sources together, as far as they meet the conditions; an item that two of them hold is an error."""
    if not sources:
        raise IsoglossError("No data was given. Use --data with a data set's name, a file or a folder.")
    found = [read(source, language=language, format=format, skip_bad=skip_bad) for source in sources]
    rows = _unique([item for part in found for item in part], ", ".join(map(str, sources)), bad=raise_bad_row)
    items = Items(tuple(rows), tuple(problem for part in found for problem in part.problems))
    return filter_items(items, where)


def parse_rows(path: Path, make: Callable[[Mapping[str, Any]], Item], *, bad: OnBadRow) -> Iterator[Item]:
    """The items that `make` makes of a table's rows; a row it refuses with a ValueError goes to `bad` with its line."""
    for line, row in read_rows(path, bad):
        try:
            yield make(row)
        except ValueError as error:
            bad(BadData(path, line, str(error)))


def row_language(row: Mapping[str, Any], default: str | None) -> str:
    """The tag of the language that a row names, or the default; neither is a ValueError."""
    tag = row.get("language") or default
    if not isinstance(tag, str):
        raise ValueError("the row names no language; add a 'language' column or use --language.")
    try:
        return languages.standard_tag(tag)
    except IsoglossError as error:
        raise ValueError(str(error)) from error


def row_text(row: Mapping[str, Any], name: str) -> str:
    """The text in a row's column; none, or something that is no text, is a ValueError."""
    value = row.get(name)
    if not isinstance(value, str | int) or isinstance(value, bool) or not str(value).strip():
        raise ValueError(f"'{name}' is missing or empty.")
    return str(value)


def language_in_name(path: Path) -> str | None:
    """The language that a file's name ends with, as in `intrasentence_pt-BR.jsonl.gz`."""
    match = re.search(r"[_.-]([a-z]{2,3}(-[A-Za-z0-9]{2,8})*)$", path.name.removesuffix(".gz").rsplit(".", 1)[0])
    return languages.resolve(match[1]) if match and match[1] in languages.tags() else None


def _files(source: str, wanted: list[str], *, format: str | None) -> list[tuple[Dataset, Path, str | None]]:
    """The files of a source, each with what reads it and with its language where that is known without looking into it."""
    path = Path(source)
    if not os.path.exists(source):  # unlike Path.exists, no error for a name that is too long
        return _bundled(source, wanted)
    paths = [path]
    if path.is_dir():
        paths = sorted(inner for inner in path.iterdir() if inner.is_file() and is_readable(inner))
        paths = [inner for inner in paths if not wanted or language_in_name(inner) in (*wanted, None)]
        if not paths:
            raise NoItems(f"No data files{_in(wanted)} in the folder {path}.")
    return [(registry.get("dataset", format) if format else recognise(inner), inner, None) for inner in paths]


def data_names() -> list[str]:
    """The names of all data that can be read by name."""
    return sorted({*registry.names("dataset"), *sources()})


def _published(source: Source, wanted: list[str]) -> list[tuple[Dataset, Path, str | None]]:
    """The files of published data, fetched if they are not here."""
    if source.hub:
        path = fetch_table(source.hub)
        return [(recognise(path), path, None)]
    if source.kind != ITEMS:
        raise IsoglossError(
            f"'{source.name}' holds {source.kind}, not items. Get it with: isogloss data pull {source.name}"
        )
    dataset = registry.get("dataset", source.reader)
    return [(dataset, path, tag) for tag, paths in pull(source, wanted).items() for path in paths]


def _bundled(source: str, wanted: list[str]) -> list[tuple[Dataset, Path, str | None]]:
    known = find_source(source)
    if known is not None:
        return _published(known, wanted)
    if source.replace("-", "_") not in registry.names("dataset"):
        if source.startswith(PREFIX) or source in {one.hub for one in registry.load_all("dataset").values()}:
            path = fetch_table(source)
            return [(recognise(path), path, None)]
        if "/" in source or is_readable(Path(source)):
            raise IsoglossError(f"No such file: {source}.")
        raise UnknownName("data set or file", source, data_names())
    dataset = registry.get("dataset", source)
    if dataset.bundled is None:
        raise IsoglossError(
            f"'{source}' is a layout for files of your own. Give the path of a file; docs/data-formats.md describes it."
        )
    files = dataset.bundled()
    unknown = [tag for tag in wanted if tag not in files]
    if unknown:
        raise UnknownName(f"language of '{source}'", unknown[0], files)
    return list(dict.fromkeys((dataset, path, None) for tag in wanted or files for path in files[tag]))


def recognise(path: Path) -> Dataset:
    """The data set family whose columns the file has; a TOML file holds sets of templates."""
    if suffix(path) == ".toml":
        return registry.get("dataset", "templates")  # type: ignore[no-any-return]
    if suffix(path) == ".json":
        content = read_json(path)
        columns = frozenset(content) if isinstance(content, dict) else frozenset()
        if content == []:
            raise BadData(path, None, "holds no rows.")
        if isinstance(content, list) and content and isinstance(content[0], dict):
            columns = frozenset(content[0])
    else:
        broken: list[BadData] = []
        first = next(read_rows(path, broken.append), None)
        if first is None and broken:
            raise broken[0]
        if first is None:
            header = ", only a header" if suffix(path) in (".csv", ".tsv") else ""
            raise BadData(path, None, f"holds no rows{header}.")
        columns = frozenset(first[1])
    for dataset in registry.load_all("dataset").values():
        if dataset.recognise(columns):
            return dataset  # type: ignore[no-any-return]
    seen = ", ".join(sorted(map(str, columns))[:12]) or "none"
    raise BadData(path, None, f"not a layout that Isogloss knows (columns: {seen}). See docs/data-formats.md.")


def _unique(rows: list[Item], source: str, *, bad: OnBadRow) -> list[Item]:
    seen: dict[tuple[str, str], set[str]] = {}
    kept = []
    for item in rows:
        ids = seen.setdefault((item.dataset, item.language), set())
        if item.id in ids:
            bad(BadData(source, None, f"the id '{item.id}' ({item.language}) appears twice."))
            continue
        ids.add(item.id)
        kept.append(item)
    return kept


def _in(wanted: list[str]) -> str:
    return f" in {', '.join(wanted)}" if wanted else ""
