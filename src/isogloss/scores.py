"""Scored items: a long table with one row per item, candidate and quantity, and the item's own columns beside it."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

import polars as pl

from . import results
from .errors import IsoglossError
from .items import Item, Items, group_by

KEY = ["dataset", "id", "language"]
DISPLAYED = ("model", "language", "id", "role", "quantity", "value")  # of up to 26 columns, as many as a screen shows
ROW_SCHEMA: dict[str, Any] = {
    "dataset": pl.String,
    "id": pl.String,
    "language": pl.String,
    "candidate": pl.String,
    "against": pl.String,
    "quantity": pl.String,
    "value": pl.Float64,
    "tokens": pl.Int64,
    "unknown": pl.Int64,
    "truncated": pl.Boolean,
    "pieces": pl.List(pl.String),
    "logprobs": pl.List(pl.Float64),
    "vector": pl.List(pl.Float32),
    "why": pl.String,
}
ITEM_SCHEMA = {
    "dataset": pl.String,
    "id": pl.String,
    "language": pl.String,
    "category": pl.String,
    "cluster": pl.String,
    "derived_from": pl.String,
    "variant": pl.String,
    "problems": pl.List(pl.String),
    "context": pl.String,
    "candidate": pl.String,
    "role": pl.String,
    "text": pl.String,
    "word": pl.String,
}
QUESTION_SCHEMA: dict[str, Any] = {"question": pl.String, "correct": pl.Boolean}  # columns where an item has a question
TEXTS = ("text", "word", "context", "question")
UNSUPPORTED_LANGUAGE = "does not claim to know"

Builds = Mapping[tuple[str, str], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Row:
    """One number that a method found for a candidate (or for a candidate against another).

    Without a value, `why` says why; `vector` is for methods that make sentence vectors.
    """

    item: Item
    candidate: str
    value: float | None
    tokens: int | None = None
    quantity: str = "score"
    against: str | None = None
    unknown: int = 0
    truncated: bool = False
    pieces: tuple[str, ...] = ()
    logprobs: tuple[float, ...] = ()
    vector: tuple[float, ...] = ()
    why: str | None = None


@dataclass(frozen=True)
class Scored:
    """Scores with the columns of their items.

    `skipped` counts unreadable rows by data set, `notes` are remarks that apply to every value, and `builds`
    identifies the version of each model by hashes.
    """

    table: pl.DataFrame
    skipped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    builds: Builds = field(default_factory=dict)

    def __len__(self) -> int:
        return self.table.select(KEY).n_unique()

    def __repr__(self) -> str:
        names = ("model", "method", "dataset", "language")
        listed = [", ".join(map(str, self.table[name].unique().sort())) for name in names if name in self.table.columns]
        return f"Scored({len(self)} items, {self.table.height} rows: {' · '.join(listed)})"

    def __str__(self) -> str:
        columns = [name for name in DISPLAYED if name in self.table.columns]
        return "\n".join([repr(self), str(self.table.select(columns)), *(f"· {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        return results.as_preformatted(str(self))

    def to_polars(self) -> pl.DataFrame:
        """The long table: one row per item, candidate and quantity."""
        return self.table

    def to_dict(self) -> dict[str, Any]:
        """The rows of the table, the notes, and the numbers of rows that could not be read."""
        return {"scores": self.table.to_dicts(), "notes": list(self.notes), "skipped": dict(self.skipped)}

    to_pandas = results.pandas_of
    to_json = results.json_of


def check_scored(scored: object, verb: str) -> Scored:
    """The scores, also those of a study; anything else is refused, with what the function `verb` takes."""
    scored = getattr(scored, "scores", scored)
    if not isinstance(scored, Scored):
        raise IsoglossError(f"{verb} takes scored items: what isogloss.score gives, or isogloss.load('runs/mine').")
    return scored


def unsupported_language_note(model: str, language: str) -> str:
    """How a note begins that says it; tables mark such a language."""
    return f"{model} {UNSUPPORTED_LANGUAGE} '{language}'"


def row_table(rows: Iterable[Row]) -> pl.DataFrame:
    """The narrow table of a method's rows: keys and numbers only."""
    values_of = attrgetter(*(name for name in ROW_SCHEMA if name not in KEY))
    return pl.DataFrame([(*row.item.key, *values_of(row)) for row in rows], schema=ROW_SCHEMA, orient="row")


@dataclass(frozen=True, slots=True)
class Holding:
    """What the parts of a run hold: its name in `run.json`, its columns, and how they are made of what a method returns."""

    name: str
    schema: Mapping[str, Any]
    table: Callable[[Iterable[Any]], pl.DataFrame]


SCORES = Holding("scores", ROW_SCHEMA, row_table)


def item_table(items: Items) -> pl.DataFrame:
    """One row per item and candidate with all the item's columns; tags become columns of their own.

    The column `problems` names the checks that found something odd about the item.
    """
    names = sorted({name for item in items for name in item.tags})
    taken = sorted(set(names) & {*ITEM_SCHEMA, *QUESTION_SCHEMA, *ROW_SCHEMA, "model", "method"})
    if taken:
        raise IsoglossError(f"A tag may not be named '{taken[0]}', which is a column already.")
    lists = {name for item in items for name, value in item.tags.items() if isinstance(value, tuple)}
    schema: dict[str, Any] = {
        **ITEM_SCHEMA,
        **{name: pl.List(pl.String) if name in lists else pl.String for name in names},
    }
    odd: dict[tuple[str | None, str], list[str]] = {}
    for problem in items.problems:
        odd.setdefault((problem.language, problem.item), []).append(problem.check)
    facts_of, texts_of = (
        attrgetter("category", "cluster", "derived_from", "variant"),
        attrgetter("id", "role", "text", "word"),
    )
    data = []
    for item in items:
        before = (*item.key, *facts_of(item), odd.get((item.language, item.id), []), item.context)
        tags = [_cell(item.tags.get(name), name in lists) for name in names]
        data += [(*before, *texts_of(candidate), *tags) for candidate in item.candidates]
    return pl.DataFrame(data, schema=schema, orient="row").with_columns(_question_columns(items))


def _question_columns(items: Items) -> list[pl.Series]:
    """The question and whether an answer is correct, candidate by candidate; nothing for items without either."""
    pairs = [(item.question, candidate.correct) for item in items for candidate in item.candidates]
    if not any(question is not None or correct is not None for question, correct in pairs):
        return []
    columns = zip(QUESTION_SCHEMA.items(), zip(*pairs, strict=True), strict=True)
    return [pl.Series(name, values, dtype=kind) for (name, kind), values in columns]


def _cell(value: str | tuple[str, ...] | None, is_list: bool) -> str | list[str] | None:
    if value is None or isinstance(value, str):
        return [value] if is_list and value is not None else value
    return list(value) or None


def make_scored(items: pl.DataFrame, rows: pl.DataFrame, *, labels: Mapping[str, str]) -> Scored:
    """Rows joined with their items' columns, and columns for what they share: model, method, facts of the model."""
    facts, key = items.drop(*TEXTS, strict=False), [*KEY, "candidate"]
    if same_candidates(rows, items):
        joined = rows.with_columns(facts)  # the keys are those of the items, so that they are in memory once
    else:
        joined = rows.join(facts, on=key, how="left", maintain_order="left")
    return Scored(joined.with_columns(pl.lit(value).alias(name) for name, value in labels.items()))


def same_candidates(rows: pl.DataFrame, items: pl.DataFrame) -> bool:
    """Whether two tables have the same candidates of the same items in the same order, one row each."""
    return rows.height == items.height and all(rows[name].equals(items[name]) for name in ("candidate", *KEY))


def add_statements(rows: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Answers to prompts with the statements that they are about; other rows as they are."""
    if "prompt" not in rows.columns or "text" not in items.columns:
        return rows
    key = [*KEY, "candidate"]
    return rows.join(items.select(*key, statement="text"), on=key, how="left", maintain_order="left")


def scored_from_values(items: Items, values: dict[str, float], *, model: str, method: str = "predictions") -> Scored:
    """Scores that were made elsewhere, by candidate id, as scored items.

    A task without any score is left out and named in the notes; a task with some scores missing is refused.
    """
    kept, notes = _covered(items, values)
    candidates = {candidate.id for item in items for candidate in item.candidates}
    extra = len(values.keys() - candidates)
    if extra:
        notes.append(f"{extra} scores belong to no item of the data and were left out")
    rows = row_table(Row(item, candidate.id, values[candidate.id]) for item in kept for candidate in item.candidates)
    table = item_table(replace(items, rows=tuple(kept)))
    scored = make_scored(table, rows, labels={"model": model, "method": method})
    return replace(scored, skipped=skipped_rows(items), notes=tuple(notes))


def skipped_rows(items: Items) -> dict[str, int]:
    """How many rows could not be read, by file."""
    return dict(Counter(problem.item for problem in items.problems if problem.check == "unreadable"))


def _covered(items: Items, values: dict[str, float]) -> tuple[list[Item], list[str]]:
    by_task = group_by(items, lambda item: item.tags.get("task"))
    kept: list[Item] = []
    notes: list[str] = []
    for task, group in by_task.items():
        missing = [c.id for item in group for c in item.candidates if c.id not in values]
        if len(missing) == sum(len(item.candidates) for item in group):
            notes.append(f"no scores for the {len(group)} {task or ''} items, which were left out".replace("  ", " "))
        elif missing:
            raise IsoglossError(
                f"{len(missing)} candidates of the data have no score; the first is '{missing[0]}'. "
                "Are the predictions and the data of the same language and version?"
            )
        else:
            kept += group
    if not kept:
        raise IsoglossError("None of the scores belongs to an item of the data. Is it the right data file?")
    return kept, notes


def notes_of(info: Mapping[str, Any]) -> tuple[str, ...]:
    """The caveats of a run's scores: its notes, and how far they moved where some were asked for twice."""
    notes, repeated = tuple(info.get("notes", ())), info.get("repeatability")
    if not repeated:
        return notes
    if not repeated["items"]:
        return (*notes, f"{info['model']}: no item was asked for twice: {repeated['why']}")
    return (
        *notes,
        f"{info['model']}: {repeated['items']} items were asked for twice; {repeated['flips']} of "
        f"{repeated['comparisons']} comparisons flipped, and no log-probability moved by more than "
        f"{repeated['largest_move']:g}",
    )


def find_builds(info: Mapping[str, Any], *, where: str = "") -> Builds:
    """The version of the model that a run's facts name, if they do, under its checkpoint and under its language.

    A model may have another checkpoint in each language; of each it has one version.
    """
    facts, whole = info.get("facts", {}), info["fingerprint"]
    identity = whole.get("backend", whole)
    if not isinstance(identity, Mapping):
        return {}
    model = str(info["model"])
    checkpoint = facts.get("checkpoint") or model
    keys = [(model, f"checkpoint {checkpoint}"), (model, f"language {info['language']}")]
    builds: dict[tuple[str, str], tuple[str, str]] = {}
    if identity.get("weights"):
        hashes = {name: str(identity.get(name)) for name in ("weights", "tokenizer", "dtype")}
        named = [f"revision {facts['revision']}"] if facts.get("revision") else []
        named += [f"weights {hashes['weights'][:8]}", f"tokenizer {hashes['tokenizer'][:8]}", hashes["dtype"]]
        builds |= dict.fromkeys(keys, (" ".join(hashes.values()), f"{where}({', '.join(named)})"))
    if asked := _asked_identity(
        whole
    ):  # answers in words also depend on how the model was addressed, and in which words
        named = [f"{name} {_short_hash(value)}" for name, value in asked.items()]
        key = (model, f"{info['method']} in {info['language']}")
        builds[key] = (json.dumps(asked, sort_keys=True), f"{where}({', '.join(named)})")
    return builds


def _asked_identity(fingerprint: Mapping[str, Any]) -> dict[str, Any]:
    """What answers in words depend on beside the weights, as a run of this version or an older one states it."""
    backend = fingerprint.get("backend")
    stated = {**(backend if isinstance(backend, Mapping) else {}), **fingerprint.get("asked", {}), **fingerprint}
    return {name: stated[name] for name in ("chat", "generation", "prompts", "words") if name in stated}


def _short_hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:8]


def several_checkpoints(builds: Builds) -> list[str]:
    """A note for each model that is another one in some language, which a difference between languages would hide."""
    of_languages: dict[str, dict[str, str]] = {}
    for (model, where), (build, _) in builds.items():
        kind, _, tag = where.partition(" ")
        if kind == "language":
            of_languages.setdefault(model, {})[tag] = build
    return [
        f"'{model}' has other weights in {', '.join(sorted(tags))}: a difference between these languages is also one "
        "between models"
        for model, tags in of_languages.items()
        if len(set(tags.values())) > 1
    ]


def join_scored(parts: Sequence[Scored]) -> Scored:
    """Several scored sets as one table; columns that a set lacks are null. Two versions of a model are refused."""
    builds: dict[tuple[str, str], tuple[str, str]] = {}
    for key, build in (pair for part in parts for pair in part.builds.items()):
        first = builds.setdefault(key, build)
        if first[0] != build[0]:
            raise IsoglossError(
                f"'{key[0]}' names two versions of a model: {first[1]} and {build[1]}. Give the runs of one of them, "
                "compare the two with: isogloss compare RUN RUN, or label each in a study."
            )
    skipped = {name: count for part in parts for name, count in part.skipped.items()}
    notes = tuple(dict.fromkeys([*(note for part in parts for note in part.notes), *several_checkpoints(builds)]))
    tables = [part.table for part in parts]
    table = tables[0] if len(tables) == 1 else pl.concat(tables, how="diagonal_relaxed")
    return Scored(table, skipped, notes, builds)
