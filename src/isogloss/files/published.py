"""Published data on this disk: fetched once from its address or a mirror, checked by content, and read from then on."""

import gzip
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .. import languages, registry
from ..errors import BadData, IsoglossError, UnknownName
from .catalogue import ITEMS, Source, SourceFile, content_hash, find_source, sources
from .downloads import NotReached, download
from .hub import fetch_table, is_offline, on_message
from .layout import write_atomically, write_json_lines
from .pickled_table import read_pickled_table
from .rows import is_readable

MIRROR = "ISOGLOSS_MIRROR"
RECEIPT = "receipt.json"
PICKLED, OPUS = "pickled table", "OPUS archive"
FIELDS = ("id", "bias_type", "target", "target_original", "context")
Pair = tuple[Path, SourceFile]


def pull(source: Source, wanted: Sequence[str] = ()) -> dict[str, list[Path]]:
    """The stored files of a source by language, fetched if they are not here; what has another content is never read."""
    unknown = [tag for tag in wanted if tag not in source.languages]
    if unknown:
        raise IsoglossError(str(UnknownName(f"language of '{source.name}'", unknown[0], source.languages)))
    return {tag: stored_files(source, tag) or _fetch(source, tag) for tag in wanted or source.languages}


def pull_data(name: str, wanted: Sequence[str] = ()) -> list[str]:
    """Fetch published data by name, in some languages or in all; a line for each says what is stored where."""
    source = find_source(name)
    if source is None:
        raise UnknownName("published data", name, sources())
    if source.hub:
        return [f"{source.name}: {fetch_table(source.hub)}"]
    lines = []
    for tag, paths in pull(source, [languages.resolve(language) for language in wanted]).items():
        number, content = source.contents.get(tag, (0, ""))
        what = f"{number:,} items with the published content" if content else f"{len(paths)} files"
        lines.append(f"{source.name} ({tag}): {what}, in {source.folder(tag)}")
    return lines


def stored_files(source: Source, language: str) -> list[Path]:
    """The files of a language that were checked before and have not changed since; none if they are not here."""
    entry = _receipt(source, language).get("files", {})
    paths = [source.folder(language) / name for name in entry]
    return paths if all(path.is_file() and _is_same(path, entry[path.name]) for path in paths) else []


def _is_same(path: Path, noted: Any) -> bool:
    """Whether a file is as its receipt says: by size and SHA-256, or by size and time in a receipt before 0.3."""
    if isinstance(noted, dict):
        return bool(noted.get("size") == path.stat().st_size and noted.get("sha256") == _stored_sha256(path))
    return bool(noted == [path.stat().st_size, path.stat().st_mtime_ns])


def _stored_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _receipt(source: Source, language: str) -> dict[str, Any]:
    """What was noted when the files of a language were checked."""
    try:
        content = json.loads((source.folder(language) / RECEIPT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _fetch(source: Source, language: str) -> list[Path]:
    """Bring a language's files into the source's folder: from what a user put there, the mirror, or their addresses."""
    files = [file for file in source.files if file.language == language]
    mirror = os.environ.get(MIRROR, "")
    placed = _named(source.folder(language), files)
    if placed:
        return _accept(source, language, pairs=placed, origin="by hand")
    if mirror and "://" not in mirror:
        return _from_folder(source, language, folder=Path(mirror).expanduser())
    if is_offline():
        problem = f"'{source.name}' ({language}) is not stored here, and offline nothing is downloaded."
        raise IsoglossError(f"{problem} {_by_hand(source, files)}")
    arrived = _download(source, files, mirror=mirror)
    return _accept(source, language, pairs=arrived, origin=mirror or files[0].address)


def _named(folder: Path, files: Sequence[SourceFile]) -> list[Pair]:
    """The files under their own names in a folder, packed or not; none unless all are there."""
    names = [(folder / file.name, folder / f"{file.name}.gz") for file in files]
    paths = [next(filter(Path.is_file, both), None) for both in names]
    return [(path, file) for path, file in zip(paths, files, strict=True) if path] if all(paths) else []


def _download(source: Source, files: Sequence[SourceFile], *, mirror: str) -> list[Pair]:
    language, size = files[0].language, source.size(files[0].language)
    about = f"{language}, {size / 1e6:,.1f} MB" if size else language
    on_message.get()(
        f"Downloading {source.title} ({about}; license: {source.licence}). {source.warning} Please cite: {source.citation}"
    )
    arrived = []
    for file in files:
        address = f"{mirror.rstrip('/')}/{source.name}/{language}/{file.name}" if mirror else file.address
        try:
            arrived.append((download(address, source.folder(language) / file.name, size=file.size or None), file))
        except NotReached as error:
            raise IsoglossError(f"{str(error).rstrip('.')}. {_by_hand(source, files)}") from error
    return arrived


def _by_hand(source: Source, files: Sequence[SourceFile]) -> str:
    """What a user does where the network does not help."""
    moves = [f"{file.address} to {source.folder(file.language) / file.name}" for file in files[:4]]
    return f"Copy {' and '.join(moves)}, or set {MIRROR} to a folder or an address that has the data."


def _from_folder(source: Source, language: str, *, folder: Path) -> list[Path]:
    """The files copied from a mirror folder: under their own names, or in any layout with the known content."""
    files = [file for file in source.files if file.language == language]
    inner_file = source.folder(language)
    inner_file.mkdir(parents=True, exist_ok=True)
    places = (folder / source.name / language, folder / source.name, folder)
    named = next(filter(None, (_named(place, files) for place in places)), None) or _same_bytes(folder, files)
    if named:
        stored = [inner_file / (file.name + (".gz" if path.suffix == ".gz" else "")) for path, file in named]
        copies = [(Path(shutil.copyfile(pair[0], copy)), pair[1]) for pair, copy in zip(named, stored, strict=True)]
        return _accept(source, language, pairs=copies, origin=str(folder))
    for paths in _groups(folder, source, language=language):
        if _read(source, paths, language=language) == source.contents.get(language):
            copied = [Path(shutil.copyfile(path, inner_file / path.name)) for path in paths]
            return _check(source, language, paths=copied, origin=str(folder))
    names = " and ".join(file.name for file in files[:4])
    raise IsoglossError(
        f"{MIRROR} ({folder}) has no '{source.name}' in '{language}' with the known content. "
        f"Put {names} into {folder / source.name / language}."
    )


def _same_bytes(folder: Path, files: Sequence[SourceFile]) -> list[Pair]:
    """The files under any name in a mirror folder, by their SHA-256; none unless all are there, or one has no hash."""
    if not all(file.sha256 for file in files):
        return []
    endings = {file.name.rpartition(".")[2] for file in files}
    paths = [path for path in folder.rglob("*") if path.name.removesuffix(".gz").rpartition(".")[2] in endings]
    hashes = {_sha256(path): path for path in paths if path.is_file()}
    same_bytes = [(hashes[file.sha256], file) for file in files if file.sha256 in hashes]
    return same_bytes if len(same_bytes) == len(files) else []


def _groups(folder: Path, source: Source, *, language: str) -> Iterator[list[Path]]:
    """Files of a mirror folder that may be a copy: each by itself, and those together that name the language."""
    from .sources import language_in_name

    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and is_readable(path)]
    paths = [path for path in paths if source.reader in str(path.relative_to(folder))]
    together = [path for path in paths if language_in_name(path) == language]
    yield together[::-1]  # intrasentence before intersentence, as in the published files
    yield from ([path] for path in paths)


def _accept(source: Source, language: str, *, pairs: Sequence[Pair], origin: str) -> list[Path]:
    """Convert the files of a language and check them: their bytes are the published ones, or what is read from them is."""
    wrong = [path for path, file in pairs if file.sha256 and _sha256(path) != file.sha256]
    if wrong and (language not in source.contents or any(file.layout for _, file in pairs)):
        raise _set_aside(source, wrong, reason=f"{wrong[0].name} has another SHA-256 than the published file")
    exact = not wrong and all(file.sha256 for _, file in pairs)
    return _check(source, language, paths=_convert(source, pairs), origin=origin, exact=exact)


def _convert(source: Source, pairs: Sequence[Pair]) -> list[Path]:
    """The files in a layout that a reader knows; one that is broken is set aside, or each later pull would meet it."""
    paths = []
    for path, file in pairs:
        try:
            stored = _convert_file(path, file)
        except IsoglossError as error:
            raise _set_aside(source, [path], reason=str(error).rstrip(".")) from error
        paths.append(stored)
        if stored != path:
            path.unlink()
    return paths


def _convert_file(path: Path, file: SourceFile) -> Path:
    if file.layout == PICKLED:
        task = path.name.split("_")[1]
        stored = path.with_name(f"{task}_{file.language}.jsonl")
        return write_json_lines(stored, _stereoset_rows(path, task=task, language=file.language))
    if file.layout == OPUS:
        converted: Path = registry.get("converter", "opus")(path, file.language)
        return converted
    return path


def _sha256(path: Path) -> str:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _stereoset_rows(path: Path, *, task: str, language: str) -> Iterator[dict[str, Any]]:
    """The rows of a published translation of StereoSet, with the annotators' labels of the English candidates."""
    for row in read_pickled_table(path):
        names = [name for name in ("id", "sentence", "gold_label", "labels", "word") if f"c1_{name}" in row]
        candidates = [{name: row[f"c{number}_{name}"] for name in names} for number in (1, 2, 3)]
        yield {key: row[key] for key in FIELDS} | {"task": task, "language": language, "candidates": candidates}


def _read(source: Source, paths: Sequence[Path], *, language: str) -> tuple[int, str]:
    """How many items of a language are in files, and the hash of their content; rows that cannot be read do not count."""
    ignored: list[BadData] = []
    parse = registry.get("dataset", source.reader).parse
    try:
        items = [item for path in paths for item in parse(path, language, bad=ignored.append)]
    except IsoglossError:
        return 0, ""
    items = [item for item in items if item.language == language]
    return len(items), content_hash(items)


def _check(source: Source, language: str, *, paths: Sequence[Path], origin: str, exact: bool = False) -> list[Path]:
    """Note in the receipt what is read from the files; another content is set aside, unless the bytes are `exact`."""
    expected = source.contents.get(language, (0, None))[1]
    before = expected if source.is_pinned(language) else _receipt(source, language).get("content")
    count, content = 0, ""
    if source.kind == ITEMS:
        count, content = _read(source, paths, language=language)
        if not count:
            raise _set_aside(source, paths, reason=f"no item of '{source.name}' can be read from it")
        if before and content != before and not exact:
            reason = f"the content of its {count} items has the hash {content[:12]} instead of {before[:12]}"
            raise _set_aside(source, paths, reason=reason)
        if content != expected and not exact:
            on_message.get()(f"'{source.name}' ({language}) was not checked: the catalogue does not know this content.")
    files = {path.name: {"size": path.stat().st_size, "sha256": _stored_sha256(path)} for path in paths}
    entry = {"files": files, "items": count, "content": content, "from": origin}
    write_atomically(source.folder(language) / RECEIPT, json.dumps(entry, ensure_ascii=False, indent=1))
    return list(paths)


def _set_aside(source: Source, paths: Iterable[Path], *, reason: str) -> IsoglossError:
    """Rename files that are not what they should be, so that they are never read; the error that says so."""
    names = []
    for path in paths:
        names.append(str(path.rename(path.with_name(path.name + ".rejected"))))
    return IsoglossError(
        f"This is not the published '{source.name}': {reason}. It is not read, and was set aside as {', '.join(names)}. "
        f"Run the command again; if the address was changed by a network, set {MIRROR}."
    )
