"""Looking into runs: which there are, one item's candidates token by token, and the expressions preferred most and least."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from .. import registry, runs
from ..chat.answer_words import asked_prompts
from ..chat.records import ANSWERS
from ..chat.verdicts import read_answers
from ..errors import IsoglossError
from ..items import STEREOTYPE
from ..metrics._pairs import QUANTITY, two_sides
from ..scores import KEY, add_statements

WHO = ["model", "dataset", "language", "method"]
SHOWN = ("role", "context", "text", "word", "quantity", "value", "tokens", "unknown", "truncated", "pieces", "logprobs")


def list_runs(path: Path) -> list[dict[str, Any]]:
    """What each run in a folder holds, and whether it is finished."""
    keys = ("model", "dataset", "language", "method", "items", "parts", "status")
    rows = []
    for run in runs.find_runs(path):
        row = {key: run.info.get(key) for key in keys}
        row |= {"revision": run.info.get("facts", {}).get("revision"), "folder": str(run.folder)}
        missing = run.parts - len(runs.written_parts(run))
        if missing and row["status"] == "finished":
            row["status"] = f"{missing} of {run.parts} parts missing"
        rows.append(row)
    return rows


def inspect_item(path: Path, item: str) -> list[dict[str, Any]]:
    """Every candidate of one item in every run of a folder: its text, score, tokens and their log-probabilities."""
    candidates: list[dict[str, Any]] = []
    for run in runs.find_runs(path):
        texts = runs.read_items(run).filter(pl.col("id") == item)
        if not texts.height:
            continue
        rows = [runs.read_part(run, n).filter(pl.col("id") == item) for n in runs.written_parts(run)]
        # an answer gets its verdict, and its text a name of its own
        asked = asked_prompts(run.info)
        rows = [
            read_answers(add_statements(part, texts), asked).rename({"text": "answer"})
            if "prompt" in part.columns
            else part
            for part in rows
        ]
        if not run.holds_scores and run.info.get("holds") != ANSWERS.name:
            rows = [registry.get("method", run.method).read(part, run.info) for part in rows]
        key = [*KEY, "candidate"]
        joined = texts.join(pl.concat(rows), on=key, how="left", maintain_order="left") if rows else texts
        for row in joined.iter_rows(named=True):
            head = {key: run.info[key] for key in ("model", "language", "method")}
            if run.info.get("holds") == ANSWERS.name:
                head |= {key: row.get(key) for key in ("prompt", "order", "sample", "answer", "verdict", "rule")}
            candidates.append(head | {key: row.get(key) for key in SHOWN})
    if not candidates:
        raise IsoglossError(f"No run in {path} has an item '{item}'.")
    return candidates


def find_extremes(chosen: Sequence[runs.Run], count: int) -> list[dict[str, Any]]:
    """For each model, data set, language and method the `count` most and least preferred stereotypes with their texts.

    A stereotype's bias is the mean over its contrasts; a language with fewer than twice `count` stereotypes names none twice.
    """
    rows = _biases(chosen)
    extremes: list[dict[str, Any]] = []
    for _, part in rows.group_by(WHO, maintain_order=True):
        ordered = part.sort("bias", "text", descending=[True, False])
        most = ordered.head(min(count, (ordered.height + 1) // 2))
        least = ordered.tail(min(count, ordered.height // 2)).reverse()
        for end, table in (("most", most), ("least", least)):
            extremes += [{"end": end, **row} for row in table.iter_rows(named=True)]
    return extremes


def _biases(chosen: Sequence[runs.Run]) -> pl.DataFrame:
    """One row per stereotype: its text and statement, its bias, and over how many contrasts."""
    scored = runs.read_scored(list(chosen)).table
    rows = scored.filter((pl.col("quantity") == QUANTITY) & pl.col("value").is_not_null())
    if not rows.height:
        raise IsoglossError(
            "These runs hold no contrasts, so no expression can be most or least stereotyped. Score with `method='contrast'`."
        )
    stereotypes = [runs.read_items(run).filter(pl.col("role") == STEREOTYPE) for run in chosen]
    texts = pl.concat([table.select(*KEY, "text", "^statement$") for table in stereotypes], how="diagonal_relaxed")
    if "statement" not in texts.columns:
        texts = texts.with_columns(statement=pl.lit(None, dtype=pl.String))
    texts = texts.unique(KEY, maintain_order=True)
    pairs = two_sides(rows.with_columns(pl.coalesce("cluster", "id").alias("cluster")))
    pairs = pairs.with_columns(bias=pl.col("won") - pl.col("lost")).join(texts, on=KEY, maintain_order="left")
    return pairs.group_by(*WHO, "text", maintain_order=True).agg(
        pl.col("statement").first(), pl.col("bias").mean(), contrasts=pl.len(), id=pl.col("id").first()
    )
