"""Runs on disk: one folder per model, data, language and method; parts are written once, by rename, with a checksum."""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from .errors import BadData, IsoglossError
from .scores import Scored, join_scored, make_scored

SCHEMA = 1
CHECKSUM = "isogloss.sha256"


@dataclass(frozen=True, slots=True)
class Run:
    """A run's folder and what its `run.json` says."""

    folder: Path
    info: dict[str, Any]

    @property
    def parts(self) -> int:
        return int(self.info["parts"])


def fingerprint(facts: dict[str, Any]) -> str:
    """The SHA-256 of everything that a score depends on."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def slug(name: str) -> str:
    """A name as a folder's name: letters, digits, dot, hyphen and underscore only."""
    return re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII).strip("._") or "model"


def open_run(root: Path, *, info: dict[str, Any], items: pl.DataFrame) -> Run:
    """The run with this fingerprint, made when it is not there yet; what it holds already is kept."""
    facts = info["fingerprint"]
    mark = fingerprint(facts)[:8]
    name = "-".join(slug(str(info[key])) for key in ("dataset", "language", "method"))
    folder = root / slug(info["model"]) / f"{name}-{mark}"
    if (folder / "run.json").exists():
        run = read_run(folder)
        if run.info["fingerprint"] != facts:
            raise IsoglossError(f"{folder} holds a run with another fingerprint. Move it away and run again.")
        return run
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / "items.parquet", lambda path: items.write_parquet(path))
        run = Run(folder, {"schema": SCHEMA, **info, "status": "started"})
        write_info(run)
    except OSError as error:
        raise IsoglossError(
            f"Cannot write to {folder} ({error.strerror}). Choose another folder with --out."
        ) from error
    return run


def write_info(run: Run) -> None:
    """Write the run's `run.json`, in one step."""
    text = json.dumps(run.info, indent=1, ensure_ascii=False, sort_keys=True)
    _write(run.folder / "run.json", lambda path: path.write_text(text, encoding="utf-8"))


def finish_run(run: Run, **facts: Any) -> Run:
    """The run, marked as finished, with further facts in its `run.json`."""
    done = replace(run, info={**run.info, **facts, "status": "finished"})
    write_info(done)
    return done


def part_path(run: Run, number: int) -> Path:
    """Where a part is kept."""
    return run.folder / f"part-{number:05d}.parquet"


def write_part(run: Run, number: int, rows: pl.DataFrame) -> None:
    """Write a part, in one step, with the checksum of its content."""
    _write(part_path(run, number), lambda path: rows.write_parquet(path, metadata={CHECKSUM: _checksum(rows)}))


def read_part(run: Run, number: int) -> pl.DataFrame:
    """A part's rows; a truncated or altered part raises BadData."""
    path = part_path(run, number)
    try:
        rows = pl.read_parquet(path, glob=False)
        known = pl.read_parquet_metadata(path).get(CHECKSUM)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise BadData(path, None, "the part is broken. Delete it and run the same command again.") from error
    if known != _checksum(rows):
        raise BadData(path, None, "the part was altered. Delete it and run the same command again.")
    return rows


def missing_parts(run: Run) -> list[int]:
    """The numbers of the parts that are not there yet; a broken part is set aside and counts as missing."""
    missing = []
    for number in range(run.parts):
        path = part_path(run, number)
        if path.exists():
            try:
                read_part(run, number)
                continue
            except BadData as error:
                warnings.warn(f"{error} It was set aside as {path.name}.broken and is scored again.", stacklevel=2)
                path.rename(path.with_name(path.name + ".broken"))
        missing.append(number)
    return missing


def read_run(folder: Path) -> Run:
    """The run in a folder; a run of another schema version is refused."""
    path = folder / "run.json"
    try:
        info = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise IsoglossError(f"{folder} is not a run: it has no run.json.") from error
    except (ValueError, OSError) as error:
        raise BadData(path, None, "the file is broken. Delete the run's folder and run again.") from error
    if not isinstance(info, dict) or info.get("schema") != SCHEMA:
        seen = info.get("schema") if isinstance(info, dict) else None
        raise BadData(path, None, f"schema version {seen}; this Isogloss reads version {SCHEMA}.")
    return Run(folder, info)


def find_runs(path: Path) -> list[Run]:
    """All runs in a folder and below it."""
    if not path.exists():
        raise IsoglossError(f"No such run: {path}.")
    found = [read_run(file.parent) for file in sorted(path.rglob("run.json"))]
    if not found:
        raise IsoglossError(f"No runs in {path}. Make one with: isogloss eval MODEL --data demo")
    return found


def read_items(run: Run) -> pl.DataFrame:
    """The items of a run: one row per item and candidate, with texts and tags."""
    try:
        return pl.read_parquet(run.folder / "items.parquet", glob=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BadData(
            run.folder / "items.parquet", None, "the run's items are missing or broken. Run again."
        ) from error


def read_scored(runs: list[Run]) -> Scored:
    """What all these runs scored, as one table; an unfinished run is named in the notes."""
    return join_scored(list(_each_scored(runs)))


def _each_scored(runs: list[Run]) -> Iterator[Scored]:
    for run in runs:
        there = [number for number in range(run.parts) if part_path(run, number).exists()]
        notes = tuple(run.info.get("notes", ()))
        if len(there) < run.parts:
            notes += (f"{run.folder.name}: {run.parts - len(there)} of {run.parts} parts are missing",)
        if not there:
            continue
        rows = pl.concat([read_part(run, number) for number in there])
        scored = make_scored(read_items(run), rows, model=run.info["model"], method=run.info["method"])
        yield replace(scored, problems=run.info.get("problems", {}), notes=notes)


def _write(path: Path, write: Any) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(temporary)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _checksum(rows: pl.DataFrame) -> str:
    """A hash of the values, independent of how Parquet packs them."""
    digest = hashlib.sha256(json.dumps([(n, str(t)) for n, t in rows.schema.items()]).encode())
    for series in rows:
        if isinstance(series.dtype, pl.List):
            digest.update(series.list.len().fill_null(-1).cast(pl.Int64).to_numpy().tobytes())
            series = series.explode()
        digest.update(series.is_null().to_numpy().tobytes())
        if series.dtype.is_numeric():
            digest.update(np.ascontiguousarray(series.fill_null(0).to_numpy()).tobytes())
        else:
            digest.update("\x00".join(series.cast(pl.String).fill_null("")).encode())
    return digest.hexdigest()
