"""lm-evaluation-harness's log of samples (`--log_samples`): JSON lines with one question each, read and written."""

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from ..errors import BadData, IsoglossError
from ..files.layout import write_atomically
from ..files.rows import read_log
from ..items import ANTI_STEREOTYPE, BLANK, STEREOTYPE, Items

METRIC = "pct_stereotype"
SUMMED = re.compile(r"(likelihood|continuation)(\[(?!.*case=).*\])?")  # scores made of a text's log-likelihood
Text = tuple[str, str]


def read_samples(path: Path, items: Items) -> tuple[dict[str, float], Items, list[str]]:
    """The log-likelihood of each candidate that the file asks about, the items it covers, and caveats.

    A candidate is known by its id where Isogloss wrote the file, else by its text: the two arguments of a request
    together, or the second alone after the item's context.
    """
    known: dict[Text, list[str]] = {}  # the ids of the candidates with a text, with and without their context
    for item in items:
        for candidate in item.candidates:
            text = _plain(candidate.text)
            for key in {("", text), (_plain(item.context or ""), text)}:
                known.setdefault(key, []).append(candidate.id)
    values: dict[str, float] = {}
    foreign = 0
    for line, row in read_log(path):
        for texts, value, own in _requests(row, path, line=line):
            names = [own] if own else known.get(texts) or known.get(("", " ".join(filter(None, texts)))) or []
            foreign += not names
            for name in names:
                if values.setdefault(name, value) != value:
                    raise BadData(path, line, f"the candidate '{name}' has another score in a line before.")
    covered = tuple(item for item in items if any(candidate.id in values for candidate in item.candidates))
    if not covered:
        raise BadData(path, None, "none of its requests is a candidate of the data. Is it the right data?")
    notes = [f"{foreign} requests belong to no item of the data and were left out"] if foreign else []
    if len(covered) < len(items):
        notes.append(f"{len(items) - len(covered)} items of the data are not in the file and were left out")
    return values, replace(items, rows=covered), notes


def _requests(row: Mapping[str, Any], path: Path, *, line: int) -> Iterator[tuple[Text, float, str | None]]:
    """Each request of a sample: its two texts, its log-likelihood, and the candidate's id where the sample has it."""
    arguments, answers, doc = row.get("arguments"), row.get("filtered_resps"), row.get("doc")
    if not isinstance(arguments, dict | list) or not isinstance(answers, list) or len(arguments) != len(answers):
        raise BadData(path, line, "not a sample of lm-evaluation-harness: it needs 'arguments' and 'filtered_resps'.")
    own = doc.get("isogloss") if isinstance(doc, dict) else None
    names = own if isinstance(own, list) and len(own) == len(answers) else [None] * len(answers)
    pairs = list(arguments.values()) if isinstance(arguments, dict) else arguments
    for pair, answer, name in zip(pairs, answers, names, strict=True):
        texts = list(pair.values()) if isinstance(pair, dict) else pair
        if not isinstance(texts, list) or len(texts) != 2 or not all(isinstance(text, str) for text in texts):
            raise BadData(path, line, "a request must have two texts: these are not samples of log-likelihoods.")
        first = answer[0] if isinstance(answer, list) and answer else answer
        try:
            value = float(first)
        except (TypeError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            raise BadData(path, line, f"a log-likelihood must be a finite number; it is {str(first)[:40]!r}.")
        yield (_plain(texts[0]), _plain(texts[1])), value, name


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


def model_of_samples(path: Path) -> str:
    """The model's name when only the file's place is known: the harness names the folder after it."""
    return path.resolve().parent.name if path.name.startswith("samples_") else path.name.split(".")[0]


def write_samples(table: pl.DataFrame, texts: pl.DataFrame, *, path: Path) -> int:
    """Write one sample for each item of one model, data set, language and method; gives the number of scores.

    Where the score comes from the log-likelihood of a text, as in `likelihood`, the sum is written, as the harness does.
    """
    rows = table.filter(pl.col("quantity") == "score")
    for column in ("model", "dataset", "language", "method"):
        several = sorted(rows[column].unique())
        if len(several) > 1:
            raise IsoglossError(f"A file of samples holds one {column}; these runs have {', '.join(several)}.")
    if not rows["value"].is_finite().fill_null(False).all():
        raise IsoglossError("Some candidates have no score, or one that is not a number; this layout cannot say so.")
    if rows.height and SUMMED.fullmatch(rows["method"][0]):
        rows = rows.with_columns(pl.col("logprobs").list.sum().alias("value"))
    names = ["dataset", "id", "language", "candidate"]
    joined = rows.join(texts.select(*names, "context", "text"), on=names, how="left", maintain_order="left")
    parts = joined.partition_by("id", maintain_order=True, include_key=True)
    samples = [_sample(number, part.to_dicts()) for number, part in enumerate(parts)]
    write_atomically(path, "".join(json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples))
    return joined.height


def _sample(number: int, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    first = rows[0]
    roles = [row["role"] for row in rows]
    target = str(roles.index(STEREOTYPE)) if STEREOTYPE in roles else ""
    doc = {key: first[key] for key in ("id", "dataset", "language", "category", "context")} | {
        "candidates": [row["text"] for row in rows],
        "roles": roles,
        "isogloss": [row["candidate"] for row in rows],
    }
    values = {row["role"]: row["value"] for row in rows}
    both = {STEREOTYPE, ANTI_STEREOTYPE} <= values.keys()
    metrics = {METRIC: float(values[STEREOTYPE] > values[ANTI_STEREOTYPE])} if both else {}
    prompt = first["context"] if first["context"] and BLANK not in first["context"] else ""
    return {
        "doc_id": number,
        "doc": doc,
        "target": target,
        "arguments": {f"gen_args_{n}": {"arg_0": prompt, "arg_1": row["text"]} for n, row in enumerate(rows)},
        "resps": [[[repr(row["value"]), "False"]] for row in rows],
        "filtered_resps": [[repr(row["value"]), "False"] for row in rows],
        "filter": "none",
        "metrics": list(metrics),
        "doc_hash": _hash(json.dumps(doc, indent=2, ensure_ascii=False)),
        "prompt_hash": _hash(prompt),
        "target_hash": _hash(target),
        **metrics,
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
