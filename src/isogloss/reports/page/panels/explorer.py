"""The item explorer: sentences to search, filter and sort by gap, kept out of sight until the reader agrees."""

import base64
import gzip
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import polars as pl

from ....analysis.groups import check_rows, group_rows, item_gaps, several_methods
from ....chat.answer_rows import STATEMENT
from ....errors import IsoglossError
from ....items import ANTI_STEREOTYPE, STEREOTYPE, UNRELATED
from ...numbers import english_first, language_name
from ..conversations import answer_lists
from ..data import PageData
from . import Panel

PER_RUN, MOST = 90_000, 1_200_000  # bytes of packed sentences; beyond them only the most telling items are kept
ROLES = (STEREOTYPE, ANTI_STEREOTYPE, UNRELATED)
CONTRAST = "contrast"
KEY = ["dataset", "id", "language"]


def draw(page_data: PageData) -> dict[str, Any] | None:
    """The explorer over the items that have a gap, the most telling first, and those that chat models were asked about."""
    if not page_data.items.height:
        return None
    gaps, answers = _gaps(page_data), answer_lists(page_data.runs)
    who = [] if gaps is None else gaps["who"].unique(maintain_order=True).to_list()
    who = list(dict.fromkeys([*who, *(model for of_item in answers.values() for model in of_item)]))
    records = [] if gaps is None else _records(page_data.items, gaps, who=who)
    records = [*records, *_answered(page_data.items, answers, who=who)]
    tags = english_first(row["l"] for row in records)
    shared = {"who": who, "roles": ROLES, "names": {tag: language_name(tag) for tag in tags}}
    packed, rows = _pack(shared, records, limit=min(MOST, PER_RUN * max(1, len(page_data.runs))))
    if not rows:
        return None
    return {
        "packed": packed,
        "shared": shared,
        "kinds": sorted({row["c"] for row in rows if row["c"]}),
        "sets": list(dict.fromkeys(row["d"] for row in rows)),
        "verdicts": sorted({answer[1] for row in rows for cell in row.get("a", ()) for answer in cell or ()}),
        "tags": tags,
        "gaps": gaps is not None,
        "kept": len(rows),
        "total": len(records),
    }


def _gaps(data: PageData) -> pl.DataFrame | None:
    """Each item's gap for each model (and method, where a model has several); nothing without stereotypes."""
    table = check_rows(data.scored)
    several = several_methods(table)
    parts = []
    for _, part in group_rows(table, ["dataset", "model", "method"], keep_null=True):
        with suppress(IsoglossError):  # items of another kind have no gap
            parts.append(item_gaps(part).select(*KEY, "model", "method", "gap"))
    if not parts:
        return None
    who = pl.concat_str(["model", "method"], separator=" · ") if several else pl.col("model")
    return pl.concat(parts).with_columns(who.alias("who"))


def _records(items: pl.DataFrame, gaps: pl.DataFrame, *, who: list[str]) -> list[dict[str, Any]]:
    """Items as small objects: in turn the one with the largest and the one with the smallest gap of each model and language."""
    cell = ["who", "language", "method"]
    ranks = [pl.col("gap").rank("ordinal", descending=largest).over(cell) for largest in (True, False)]
    turns = gaps.with_columns(pl.min_horizontal(ranks).alias("turn"))
    wide = turns.group_by(KEY, maintain_order=True).agg(pl.col("turn").min(), "who", "gap").sort("turn", *KEY)
    named = [name for name in ("category", "target", "task", "context") if name in items.columns]
    texts = items.group_by(KEY).agg(pl.col(named).first(), "role", "text")
    records: list[dict[str, Any]] = []
    for row in wide.join(texts, on=KEY, maintain_order="left").iter_rows(named=True):
        gap_of = dict(zip(row["who"], row["gap"], strict=True))
        gaps_of = [float(f"{gap_of[name]:.4g}") if name in gap_of else None for name in who]
        records.append(describe_item(row) | {"g": gaps_of})
    return records


def _answered(
    items: pl.DataFrame, answers: Mapping[tuple[str, ...], Mapping[str, Any]], *, who: list[str]
) -> Iterator[dict[str, Any]]:
    """Statements as small objects, with the answers of each model about them."""
    for row in items.iter_rows(named=True) if answers else ():
        of_statement = answers.get(tuple(row[name] for name in STATEMENT))
        if of_statement:
            alone = describe_item({**row, "role": [row["role"]], "text": [row["text"]]})  # the contrast was not shown
            yield alone | {"g": [None] * len(who), "a": [of_statement.get(name) for name in who]}


def describe_item(row: Mapping[str, Any]) -> dict[str, Any]:
    """What an item is about, and its sentences by role; `n` says that the second one is a contrast."""
    texts = dict(zip(row["role"], row["text"], strict=True))
    contrast = CONTRAST in texts and ANTI_STEREOTYPE not in texts
    texts |= {ANTI_STEREOTYPE: texts[CONTRAST]} if contrast else {}
    about = {"i": row["id"], "d": row["dataset"], "l": row["language"], "c": row["category"]}
    about |= {"t": row.get("target"), "k": row.get("task"), "x": row["context"]}
    return about | {"s": [texts.get(role) for role in ROLES]} | ({"n": 1} if contrast else {})


def _pack(shared: dict[str, Any], records: list[dict[str, Any]], *, limit: int) -> tuple[str, list[dict[str, Any]]]:
    """As many records as fit into the limit, compressed: the text, and the records that are in it."""
    count = len(records)
    while True:
        text = json.dumps({**shared, "items": records[:count]}, ensure_ascii=False, separators=(",", ":"))
        packed = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
        if len(packed) <= limit or not count:
            return packed, records[:count]
        count = min(count - 1, int(0.97 * count * limit / len(packed)))  # nearly in proportion


panel = Panel("Item explorer", order=120, draw=draw)
