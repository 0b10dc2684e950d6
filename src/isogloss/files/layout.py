"""Items as rows of our layout, and files of them: one per task and language, written in one step."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..atomic_files import make_folder, write_file
from ..errors import IsoglossError
from ..items import ANTI_STEREOTYPE, STEREOTYPE, UNRELATED, Item, group_by
from ..storage import StoragePath

AnyPath = TypeVar("AnyPath", bound=StoragePath)
if TYPE_CHECKING:
    from .sources import Dataset

OWN_PAIRS = "pairs"  # the layout of users' own files, which no published data has
DIRECTIONS = ("stereoantistereo", "direction")  # columns that say which sentence is the stereotype, letters only
ROLES = (STEREOTYPE, ANTI_STEREOTYPE, UNRELATED)
LISTS = ("entity", "region", "origin_language", "valid_language")  # columns with several values
CONTRAST_TAGS = ("type", "statement", "original", "valid", "contrast_template", *LISTS)
PAIR_TAGS = ("task", "direction", "template", "occupation", "target", "groups", *CONTRAST_TAGS)
ORIGIN = ("provenance", "translator", "reviewers")


def row_of(item: Item, *, origin: Sequence[str] = ()) -> dict[str, Any]:
    """The item as a row of our JSON lines; `origin` names the columns about its making that every row has."""
    roles = sorted(candidate.role for candidate in item.candidates)
    if item.context is None and len(set(roles)) == len(roles) == 2:
        row = _pair(item)
    elif item.context and roles == sorted(ROLES):
        row = _triple(item)
    else:
        raise IsoglossError(
            f"The item '{item.id}' cannot be written: our layouts hold a context with each of {', '.join(ROLES)}, "
            "or a pair of sentences. See docs/reference/data-formats.md."
        )
    return row | {name: item.tags.get(name) for name in origin}


def _triple(item: Item) -> dict[str, Any]:
    original = item.tags.get("target")
    return {
        "id": item.id,
        "task": item.tags.get("task"),
        "language": item.language,
        "dataset": item.dataset,
        "target": item.tags.get("target_term") or original,
        "target_original": original,
        "bias_type": item.category,
        "context": item.context,
        "candidates": [
            {"id": candidate.id, "gold_label": candidate.role, "sentence": candidate.text, "word": candidate.word}
            for candidate in item.candidates
        ],
    }


def _pair(item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "language": item.language,
        "dataset": item.dataset,
        "category": item.category,
        "cluster": item.cluster,
        "candidates": [{"role": candidate.role, "text": candidate.text} for candidate in item.candidates],
        **{name: item.tags.get(name) for name in PAIR_TAGS if name in item.tags},
    }


def write_items(folder: Path, items: Iterable[Item]) -> list[Path]:
    """The files that now hold the items: `intrasentence_es.jsonl`, `intersentence_es.jsonl`, ..."""
    files = group_by(items, lambda item: f"{item.tags.get('task') or 'items'}_{item.language}.jsonl")
    paths = []
    for name, rows in files.items():
        origin = [column for column in ORIGIN if any(column in item.tags for item in rows)]
        paths.append(write_json_lines(folder / name, [row_of(item, origin=origin) for item in rows]))
    return paths


def write_json_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """The path, with one JSON object per line in it."""
    return write_atomically(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def write_atomically(path: AnyPath, text: str) -> AnyPath:
    """The path with the text in it: all of it, or what was there before."""
    if isinstance(path, Path):
        make_folder(path.parent)
    write_file(path, text.encode())
    return path


def describe_nearest(columns: frozenset[str], known: Mapping[str, "Dataset"]) -> str:
    """What is missing to the layout that shares most of its columns with the file; of equal ones, pairs are usual."""

    def plain(name: str) -> str:
        return "".join(filter(str.isalnum, name.casefold()))

    theirs = {plain(name): name for name in sorted(columns)}
    shares = {
        name: sum(plain(heading) in theirs for heading in data.columns) / len(data.columns)
        for name, data in known.items()
        if data.columns
    }
    name = max(shares, key=lambda name: (shares[name], -len(known[name].columns), name == OWN_PAIRS))
    direction = next((theirs[key] for key in DIRECTIONS if key in theirs), None)
    name = OWN_PAIRS if direction and name == "crows_pairs" else name  # which needs no bias type
    missing = [column for column in known[name].columns if column not in columns]
    hint = {heading: theirs.get(plain(heading), "YOURS") for heading in missing}
    hint |= {"direction": direction} if direction and name == OWN_PAIRS else {}
    return (
        f"the columns ({', '.join(sorted(columns)[:12]) or 'none'}) are of no layout that Isogloss knows. The nearest is '{name}', "
        f"which needs {', '.join(known[name].columns)}. If yours have other names, use `columns={hint}`"
    )
