"""Looking into runs: which there are, and one item's candidates token by token."""

from pathlib import Path
from typing import Any

import polars as pl

from .. import runs
from ..chat.records import ANSWERS
from ..chat.verdicts import read_answers
from ..errors import IsoglossError


def list_runs(path: Path) -> list[dict[str, Any]]:
    """What each run in a folder holds, and whether it is finished."""
    keys = ("model", "dataset", "language", "method", "items", "parts", "status")
    return [
        {key: run.info.get(key) for key in keys}
        | {"revision": run.info.get("facts", {}).get("revision"), "folder": str(run.folder)}
        for run in runs.find_runs(path)
    ]


def inspect_item(path: Path, item: str) -> list[dict[str, Any]]:
    """Every candidate of one item in every run of a folder: its text, score, tokens and their log-probabilities."""
    candidates: list[dict[str, Any]] = []
    for run in runs.find_runs(path):
        texts = runs.read_items(run).filter(pl.col("id") == item)
        if not texts.height:
            continue
        rows = [_readable(runs.read_part(run, n).filter(pl.col("id") == item)) for n in runs.written_parts(run)]
        names = ["dataset", "id", "language", "candidate"]
        joined = texts.join(pl.concat(rows), on=names, how="left", maintain_order="left") if rows else texts
        keys = (
            "role",
            "context",
            "text",
            "word",
            "quantity",
            "value",
            "tokens",
            "unknown",
            "truncated",
            "pieces",
            "logprobs",
        )
        for row in joined.iter_rows(named=True):
            head = {key: run.info[key] for key in ("model", "language", "method")}
            if run.info.get("holds") == ANSWERS:
                head |= {key: row.get(key) for key in ("prompt", "order", "sample", "answer", "verdict")}
            candidates.append(head | {key: row.get(key) for key in keys})
    if not candidates:
        raise IsoglossError(f"No run in {path} has an item '{item}'.")
    return candidates


def _readable(rows: pl.DataFrame) -> pl.DataFrame:
    """A part's rows; answers with their verdicts, and their text under a name of its own."""
    return read_answers(rows).rename({"text": "answer"}) if "prompt" in rows.columns else rows
