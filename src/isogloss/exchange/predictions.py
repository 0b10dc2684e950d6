"""StereoSet's prediction layout: a JSON object with a list of {id, score} per task, read and written."""

import gzip
import json
import math
from pathlib import Path
from typing import Any

from ..atomic_files import write_file
from ..errors import BadData, IsoglossError
from ..files.rows import clean, read_json
from ..scores import Scored

TASKS = ("intrasentence", "intersentence")


def read_predictions(path: Path) -> dict[str, float]:
    """The score of each candidate id in a prediction file."""
    content = read_json(path)
    if not isinstance(content, dict) or not set(content) & set(TASKS):
        raise BadData(path, None, "not a prediction file: it needs 'intrasentence' or 'intersentence'.")
    values: dict[str, float] = {}
    for task in TASKS:
        rows = content.get(task, [])
        if not isinstance(rows, list):
            raise BadData(path, None, f"'{task}' must be a list of objects with 'id' and 'score'.")
        for number, row in enumerate(rows, 1):
            name, score = _row(row, path, label=f"{task} prediction {number}")
            if name in values:
                raise BadData(path, None, f"{task} prediction {number}: the id '{name}' appears twice.")
            values[name] = score
    return values


def model_of_file(path: Path) -> str:
    """The model's name when only the file's is known."""
    return path.name.removesuffix(".gz").removesuffix(".json")


def _row(row: Any, path: Path, *, label: str) -> tuple[str, float]:
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        raise BadData(path, None, f"{label}: must be an object with 'id' and 'score'.")
    score = row.get("score")
    if isinstance(score, bool) or not isinstance(score, int | float) or not -math.inf < score < math.inf:
        seen = f"a {type(score).__name__}" if isinstance(score, list | dict) else repr(score)[:40]
        raise BadData(path, None, f"{label}: the score must be a finite number; it is {seen}.")
    try:
        return clean(row["id"]), float(score)
    except (UnicodeError, OverflowError) as error:
        raise BadData(path, None, f"{label}: the id or the score cannot be read.") from error


def write_predictions(scored: Scored, path: Path) -> int:
    """Write the scores of one model and language in StereoSet's prediction layout; gives their number."""
    table = scored.table.filter(scored.table["quantity"] == "score")
    for column in ("model", "language"):
        several = sorted(table[column].unique())
        if len(several) > 1:
            raise IsoglossError(f"A prediction file holds one {column}; these runs have {', '.join(several)}.")
    if table["candidate"].is_duplicated().any():
        raise IsoglossError("A candidate was scored by more than one method. Give the runs of one method.")
    if "task" not in table.columns or not table["task"].is_in(TASKS).all():
        raise IsoglossError(f"This layout holds {' and '.join(TASKS)} items; these runs have others.")
    if not table["value"].is_finite().fill_null(False).all():
        raise IsoglossError("Some candidates have no score, or one that is not a number; this layout cannot say so.")
    content = {
        task: [{"id": name, "score": value} for name, value in part.select("candidate", "value").iter_rows()]
        for task in TASKS
        if (part := table.filter(table["task"] == task)).height
    }
    raw = json.dumps(content, indent=1).encode()
    write_file(path, gzip.compress(raw, mtime=0) if path.name.endswith(".gz") else raw)
    return table.height
