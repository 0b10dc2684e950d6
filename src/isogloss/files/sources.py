"""Reading: from a data set's name, a file or a folder to items, with every oddity counted."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from .. import languages, registry
from ..checks import find_changed, find_problems
from ..errors import BadData, IsoglossError, NoItems, UnknownName
from ..items import Item, Items, Key, Problem, collection_paused, limit_items
from .catalogue import ITEMS, Source, data_names, find_source
from .filters import Where, filter_items
from .hub import PREFIX, fetch_table, on_message
from .layout import OWN_PAIRS, describe_nearest
from .published import pull
from .reading import Reading, current, reading_as, remark, remarks_as_lines, state_reading
from .rows import OnBadRow, Row, check_regular, is_readable, noting_changes, raise_bad_row, read_json, read_rows, suffix

NO_LANGUAGE = "the row names no language; add a 'language' column or use `language`."
UNCATEGORISED = "uncategorised"
LANGUAGE_IN_NAME = re.compile(r"[_.-]([a-z]{2,3}(-[A-Za-z0-9]{2,8})*)$")
Files = list[tuple["Dataset | None", Path, str | None]]


class Parse(Protocol):
    """A reader: the items of a file; `language` is used where the rows name none, bad rows are handed to `bad`."""

    def __call__(self, path: Path, language: str | None, *, bad: OnBadRow) -> Iterable[Item]: ...


@dataclass(frozen=True, slots=True)
class Dataset:
    """A family of data files: what it is, and how a file of it becomes items.

    `recognise` looks at the columns of a file; `parse` yields its items and hands bad rows to `bad`;
    `columns` are those that a table of it needs, for messages; `bundled` gives the files that ship with Isogloss for a
    language, if any; `hub` is its name on the hub, where it is gated.
    """

    title: str
    summary: str
    licence: str
    citation: str
    url: str
    recognise: Callable[[frozenset[str]], bool]
    parse: Parse
    columns: tuple[str, ...] = ()
    bundled: Callable[[], dict[str, list[Path]]] | None = None
    hub: str | None = None


@collection_paused()
def read(
    source: str | Path | Sequence[str | Path],
    *,
    language: str | Sequence[str] | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    encoding: str | None = None,
    where: Where = (),
    skip_bad: bool = False,
    limit: int | None = None,
    seed: int = 0,
) -> Items:
    """The items of one or several data sets, files or folders.

    Parameters:
        source: The name of a data set, a file, a folder, or several; published data is downloaded.
        language: One language or several, by tag or name; by default, all.
        format: The reader, instead of detecting it; `isogloss list data` shows all.
        columns: Your name of each column: `{"stereotype": "sentence_a"}`.
        encoding: The encoding of the files, such as `cp1250`; by default detected.
        where: One condition or several: `original=yes`, `region=France,Germany`, `type!=saying`, or `{"region":
            ["France", "Germany"]}`.
        skip_bad: Whether to skip invalid rows and files, and count them in `problems`, instead of raising an error.
        limit: The maximum number of items per data set, language and task; clusters are drawn in turn.
        seed: The seed of that draw.

    Example:
        >>> ig.read("demo", language="English", where="category=gender")
        Items(20 items of demo in en)
    """
    if not isinstance(source, str | Path | Sequence):
        raise IsoglossError("read takes the name of a data set, a file or a folder, or a list of them.")
    sources = [source] if isinstance(source, str | Path) else list(source)
    if not sources:
        raise IsoglossError("No data was given. Use `data` with a data set's name, a file or a folder.")
    wanted = [languages.resolve(name) for name in ([language] if isinstance(language, str) else language or [])]
    parts = []
    for name in sources:
        stated = state_reading(columns or {}, reader=format, encoding=encoding)
        parts.append(_read_source(name, wanted, stated=stated, skip_bad=skip_bad))
    items = parts[0] if len(parts) == 1 else _joined(parts, ", ".join(map(str, sources)))
    return limit_items(filter_items(items, where), limit, seed=seed)


def _joined(parts: Sequence[Items], names: str) -> Items:
    """The items of several sources together; an item that two of them have is an error."""
    rows = _unique((item for part in parts for item in part), set(), source=names, bad=raise_bad_row)
    return Items(tuple(rows), tuple(problem for part in parts for problem in part.problems))


def _read_source(source: str | Path, wanted: list[str], *, stated: Reading, skip_bad: bool) -> Items:
    """The items of one source in the wanted languages, or in all."""
    problems: list[Problem] = []

    def skip(error: BadData) -> None:
        problems.append(Problem("unreadable", "error", str(source), str(error)))

    bad = skip if skip_bad or find_source(str(source)) else raise_bad_row  # published rows that are bad are known
    rows: list[Item] = []
    seen: set[Key] = set()
    with noting_changes() as changed:
        for dataset, path, preset in (files := _files(str(source), wanted)):
            tag = preset or language_in_name(path) or (wanted[0] if len(wanted) == 1 else None)
            reading = replace(stated, language=tag) if dataset is None else Reading(language=tag)
            reading = replace(reading, dataset=own_name(path)) if os.path.isfile(source) else reading
            with reading_as(reading):
                try:
                    parsed = _parse(dataset, path, several=len(wanted), bad=bad)
                    parsed = parsed if len(files) == 1 else list(parsed)  # of several, a broken one is left out whole
                except BadData as error:
                    if len(files) == 1:
                        raise
                    if bad is raise_bad_row:
                        raise BadData(path, error.line, f"{error.problem} With `skip_bad` it is left out.") from error
                    on_message.get()(f"Left out: {error}")
                    bad(error)
                    continue
                wanted_items = (item for item in parsed if not wanted or item.language in wanted)
                rows += _unique(wanted_items, seen, source=source, bad=bad)
    if not rows and problems:
        raise IsoglossError(
            f"None of the {len(problems)} rows of '{source}' can be read. The first: {problems[0].message}"
        )
    if not rows:
        raise NoItems(f"No items in '{source}'{_in(wanted)}. Look at what it holds with: isogloss show {source}")
    for line in (lines := remarks_as_lines(stated.remarks)):
        on_message.get()(line)
    problems += [Problem("read_as", "note", str(source), line) for line in lines]
    return Items(tuple(rows), (*problems, *find_problems(rows), *find_changed(rows, changed)))


def _parse(dataset: Dataset | None, path: Path, *, several: int, bad: OnBadRow) -> Iterable[Item]:
    """The items of one file; where its rows name no language and several are wanted, the whole file is bad."""

    def check(error: BadData) -> None:
        if several > 1 and error.problem.endswith(NO_LANGUAGE):
            problem = f"its rows name no language, and you named {several}. Read it by itself with one language."
            raise BadData(path, None, problem)
        bad(error)

    reading = current()
    chosen = dataset or (registry.get("dataset", reading.reader) if reading.reader else recognise(path))
    return chosen.parse(path, reading.language, bad=check)


def parse_rows(
    path: Path, make: Callable[[Mapping[str, Any]], Item], *, bad: OnBadRow, category: str | None = None
) -> Iterator[Item]:
    """The items that `make` makes of a table's rows; a row it refuses with a ValueError goes to `bad` with its line.

    Where a row of a user's own file names no data set, the file does.
    """
    dataset = current().dataset
    for line, row in fill_columns(path, read_rows(path, bad), category=category):
        try:
            yield make(row if dataset is None or row.get("dataset") else row | {"dataset": dataset})
        except ValueError as error:
            bad(BadData(path, line, str(error)))


def relabelled(reader: str, name: str) -> Parse:
    """A reader as another one, whose items are of the data set `name`."""

    def parse(path: Path, language: str | None, *, bad: OnBadRow) -> Iterator[Item]:
        for item in registry.get("dataset", reader).parse(path, language, bad=bad):
            yield replace(item, dataset=name)

    return parse


def fill_columns(path: Path, rows: Iterable[Row], *, category: str | None) -> Iterator[Row]:
    """The rows of a table; one whose first row has neither id nor bias type gets both, and that is remarked.

    An id is the file's name and the line, so that rows of two files never pass for the same item.
    """
    later = iter(rows)
    first = next(later, None)
    if first is None:
        return
    filled: dict[str, str] = {}
    if not isinstance(first[1], dict):  # a structure, which has all columns
        category = None
    elif "id" not in first[1]:
        remark(path, "no column 'id', so items are numbered by line")
        filled["id"] = f"{path.name.split('.')[0]}-"
    if category is not None and category not in first[1]:
        remark(path, f"no column '{category}', so all items are {UNCATEGORISED}")
        filled[category] = UNCATEGORISED
    if not filled:
        yield from chain([first], later)
        return
    for line, row in chain([first], later):
        yield line, {name: f"{value}{line}" if name == "id" else value for name, value in filled.items()} | row


def row_language(row: Mapping[str, Any], default: str | None) -> str:
    """The tag of the language that a row names, or the default; neither is a ValueError."""
    tag = row.get("language") or default
    if not isinstance(tag, str):
        raise ValueError(NO_LANGUAGE)
    try:
        return languages.standard_tag(tag)
    except IsoglossError as error:
        raise ValueError(str(error)) from error


def row_text(row: Mapping[str, Any], name: str) -> str:
    """The text in a row's column; none, or something that is no text, is a ValueError."""
    value = row.get(name)
    if type(value) is str and value and not value.isspace():
        return value
    if not isinstance(value, str | int) or isinstance(value, bool) or not str(value).strip():
        raise ValueError(f"'{name}' is missing or empty.")
    return str(value)


def language_in_name(path: Path) -> str | None:
    """The language that a file's name ends with, as in `intrasentence_pt-BR.jsonl.gz`."""
    match = LANGUAGE_IN_NAME.search(_stem(path))
    return languages.resolve(match[1]) if match and match[1] in languages.tags() else None


def own_name(path: Path) -> str:
    """The data set of a user's own file: its name without ending and language, or all of it where data has that name."""
    stem = _stem(path)
    name = LANGUAGE_IN_NAME.sub("", stem) if language_in_name(path) else stem
    taken = name.replace("-", "_") in data_names() and name != OWN_PAIRS
    return path.name if taken or not name else name


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").rsplit(".", 1)[0]


def _files(source: str, wanted: list[str]) -> Files:
    """The files of a source, each with its reader and its language where these are known without looking into it."""
    path = Path(source)
    if not os.path.exists(source):  # unlike Path.exists, no error for a name that is too long
        return _bundled(source, wanted)
    paths = [check_regular(path)]
    if path.is_dir():
        paths = sorted(inner for inner in path.iterdir() if inner.is_file() and is_readable(inner))
        paths = [inner for inner in paths if not wanted or language_in_name(inner) in (*wanted, None)]
        if not paths:
            raise NoItems(f"No data files{_in(wanted)} in the folder {path}.")
    return [(None, inner, None) for inner in paths]


def offered(source: str, wanted: Sequence[str]) -> Sequence[str]:
    """Those of some languages that published data has; all of them if it has none, or if the source is of another kind."""
    source_of_name = find_source(source)
    return [tag for tag in wanted if source_of_name and tag in source_of_name.languages] or wanted


def _published(source: Source, wanted: list[str]) -> Files:
    """The files of published data, fetched if they are not here."""
    if source.hub:
        return [(None, fetch_table(source.hub), None)]
    if source.kind != ITEMS:
        raise IsoglossError(
            f"'{source.name}' holds {source.kind}, not items. Get it with: isogloss data pull {source.name}"
        )
    dataset = registry.get("dataset", source.reader)
    return [(dataset, path, tag) for tag, paths in pull(source, wanted).items() for path in paths]


def _bundled(source: str, wanted: list[str]) -> Files:
    known = find_source(source)
    if known is not None:
        return _published(known, wanted)
    if source.replace("-", "_") not in registry.names("dataset"):
        if source.startswith(PREFIX) or source in {reader.hub for reader in registry.load_all("dataset").values()}:
            return [(None, fetch_table(source), None)]
        if "/" in source or is_readable(Path(source)):
            raise IsoglossError(f"No such file: {source}.")
        raise UnknownName("data set or file", source, data_names())
    dataset = registry.get("dataset", source)
    if dataset.bundled is None:
        raise IsoglossError(
            f"'{source}' is a layout for your files. Give the path of a file; docs/reference/data-formats.md describes it."
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
    columns = _columns(path)
    datasets = registry.load_all("dataset")
    for dataset in datasets.values():
        if dataset.recognise(columns):
            return dataset  # type: ignore[no-any-return]
    raise BadData(path, None, describe_nearest(columns, datasets))


def _columns(path: Path) -> frozenset[str]:
    if suffix(path) == ".json":
        content = read_json(path)
        if isinstance(content, dict):
            return frozenset(content)
        if content != [] and not (isinstance(content, list) and isinstance(content[0], dict)):
            raise BadData(path, None, "must hold an object, or a list of objects.")
    broken: list[BadData] = []
    first = next(read_rows(path, broken.append), None)
    if first is None and broken:
        raise BadData(path, broken[0].line, broken[0].problem)
    if first is None:
        header = ", only a header" if suffix(path) in (".csv", ".tsv", ".xlsx") else ""
        raise BadData(path, None, f"holds no rows{header}.")
    return frozenset(map(str, first[1]))


def _unique(items: Iterable[Item], seen: set[Key], *, source: str | Path, bad: OnBadRow) -> Iterator[Item]:
    """The items whose key has not been seen before."""
    for item in items:
        if item.key in seen:
            problem = f"the id '{item.id}' ({item.language}) appears twice.{_unnamed(str(source))}"
            bad(BadData(source, None, problem))
            continue
        seen.add(item.key)
        yield item


def _unnamed(source: str) -> str:
    """What to do about a file of a folder whose name has no language, and which may be in another than the rest."""
    paths = sorted(Path(source).iterdir()) if os.path.isdir(source) else []
    names = [path.name for path in paths if is_readable(path) and language_in_name(path) is None]
    hint = (
        f" {names[0]} has no language in its name; if it is in another one, use `data` for each file." if names else ""
    )
    return hint if len(names) < len(paths) else ""


def _in(wanted: list[str]) -> str:
    return f" in {', '.join(wanted)}" if wanted else ""
