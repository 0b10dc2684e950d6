"""StereoSet: a context and three candidates; its own JSON, and our layout as JSON lines, CSV, TSV or Parquet."""

import string
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from sys import intern
from typing import Any

from .. import languages
from ..errors import BadData
from ..files.layout import ORIGIN
from ..files.rows import OnBadRow, clean, read_json, read_rows, suffix
from ..files.sources import Dataset, fill_columns, row_language
from ..items import ANNOTATORS, ANTI_STEREOTYPE, BLANK, STEREOTYPE, UNRELATED, Candidate, Item, Tag

TASKS = ("intrasentence", "intersentence")
ROLES = (STEREOTYPE, ANTI_STEREOTYPE, UNRELATED)
IN_ORDER = sorted(ROLES)
WIDE = {role: role.replace("-", "_") for role in ROLES}
FEW = ("language", "dataset", "bias_type", "target", "target_original", *ORIGIN)  # columns with few different cells


@dataclass(frozen=True, slots=True)
class SharedColumns:
    """What an item shares with many others."""

    dataset: str
    language: str
    category: str
    cluster: str | None
    tags: dict[str, Tag]


Shared = dict[tuple[Any, ...], SharedColumns]


def recognise(columns: frozenset[str]) -> bool:
    """Whether a file with these columns is StereoSet's own JSON or our layout."""
    own = {"version", "data"} <= columns or set(TASKS) & columns
    ours = "context" in columns and (
        "candidates" in columns or set(WIDE.values()) <= columns or f"{STEREOTYPE}_word" in columns
    )
    return bool(own or ours)


def parse(path: Path, language: str | None, *, bad: OnBadRow) -> Iterator[Item]:
    """The items of a file; `language` is used where the rows do not name one."""
    table = suffix(path) != ".json"
    rows: Iterator[tuple[Any, Any]] = _own_json(path, bad)
    if table:
        rows = fill_columns(path, read_rows(path, bad), category="bias_type")
    shared: Shared = {}
    seen: set[tuple[str, str, str]] = set()
    for number, row in rows:
        try:
            item = _item(row, language, shared=shared)
            seen |= _new_ids(item, seen)
            yield item
        except ValueError as error:
            bad(BadData(path, number, str(error)) if table else BadData(path, None, f"{number}: {error}"))


def _new_ids(item: Item, seen: Set[tuple[str, str, str]]) -> set[tuple[str, str, str]]:
    """The ids of an item and of its candidates; one that came before in its language is an error."""
    ids = [("id", item.id, item.language)]
    ids += [("candidate id", candidate.id, item.language) for candidate in item.candidates]
    for key in ids:
        if key in seen:
            raise ValueError(f"the {key[0]} '{key[1]}' appears twice.")
    return set(ids)


def _own_json(path: Path, bad: OnBadRow) -> Iterator[tuple[str, Mapping[str, Any]]]:
    content = read_json(path)
    data = content.get("data", content) if isinstance(content, dict) else None
    if not isinstance(data, dict) or not set(TASKS) & set(data):
        raise BadData(path, None, "not StereoSet's JSON: it needs 'intrasentence' or 'intersentence' under 'data'.")
    for task in TASKS:
        rows = data.get(task, [])
        if not isinstance(rows, list):
            raise BadData(path, None, f"'{task}' must be a list of items.")
        for number, row in enumerate(rows, 1):
            label = f"{task} item {number}"
            try:
                row = clean(row)
            except (UnicodeError, RecursionError) as error:
                why = "not UTF-8" if isinstance(error, UnicodeError) else "nested too deeply"
                bad(BadData(path, None, f"{label}: {why}."))
                continue
            if isinstance(row, dict):
                yield label, {**row, "task": task}
            else:
                bad(BadData(path, None, f"{label}: must be an object with an item's fields."))


def _item(row: Mapping[str, Any], language: str | None, *, shared: Shared) -> Item:
    item_id = _text(row, "id")
    context = _text(row, "context")
    task = row.get("task") or (TASKS[0] if BLANK in context else TASKS[1])
    if task not in TASKS:
        raise ValueError(f"task is '{task}'; use 'intrasentence' or 'intersentence'.")
    if task == TASKS[0] and BLANK not in context:
        raise ValueError("the context has no BLANK.")
    common = _common((task, *map(row.get, FEW)), language, shared=shared)
    candidates = _candidates(row, item_id, context=context if task == TASKS[0] else None, language=common.language)
    tags = common.tags
    if annotations := _annotations(row):
        tags = {**tags, **annotations}
    return Item(item_id, common.dataset, common.language, common.category, candidates, context, common.cluster, tags)


def _common(cells: tuple[Any, ...], language: str | None, *, shared: Shared) -> SharedColumns:
    """What many items have in common, made once for each combination of their task and their cells in FEW."""
    try:
        if (shared_fields := shared.get(cells)) is not None:
            return shared_fields
    except TypeError:  # a cell that is no text, which is refused below
        pass
    task, row = cells[0], dict(zip(FEW, cells[1:], strict=True))
    tag = row_language(row, language)
    target = _optional(row, "target")
    cluster = _optional(row, "target_original") or target
    tags: dict[str, Tag] = {"task": task}
    tags |= {name: value for name, value in (("target", cluster), ("target_term", target)) if value}
    tags |= {name: value for name in ORIGIN if (value := _optional(row, name))}
    common = SharedColumns(_optional(row, "dataset") or "stereoset", tag, _text(row, "bias_type"), cluster, tags)
    if all(cell is None or isinstance(cell, str) for cell in cells):
        shared[cells] = common
    return common


def _annotations(row: Mapping[str, Any]) -> dict[str, Tag]:
    """What annotators said, where the file has it: who they are, their labels of each role, and whether they all agree.

    They agree when all labels of the stereotype are equal, and all of the anti-stereotype.
    """
    tags: dict[str, Tag] = {}
    cells = row.get("candidates") or row.get("sentences")
    for cell in cells if isinstance(cells, list) else ():
        labels = cell.get("labels") if isinstance(cell, dict) else None
        if not isinstance(labels, list) or not all(isinstance(label, dict) and "label" in label for label in labels):
            return {}
        tags[f"{ANNOTATORS}_{WIDE.get(cell.get('gold_label'), 'unknown')}"] = tuple(
            str(label["label"]) for label in labels
        )
        tags[ANNOTATORS] = tuple(intern(str(label.get("human_id", ""))) for label in labels)
    asked = [tags.get(f"{ANNOTATORS}_{WIDE[role]}", ()) for role in ROLES[:2]]
    if all(asked):
        tags[f"{ANNOTATORS}_agree"] = "yes" if all(len(set(labels)) == 1 for labels in asked) else "no"
    return tags


def _candidates(row: Mapping[str, Any], item_id: str, *, context: str | None, language: str) -> tuple[Candidate, ...]:
    cells = row.get("candidates") or row.get("sentences") or _wide_cells(row, item_id)
    if not isinstance(cells, list) or not set(map(type, cells)) <= {dict}:
        raise ValueError("'candidates' must be a list of objects.")
    candidates = tuple([_candidate(cell, context, language=language) for cell in cells])
    roles = sorted([candidate.role for candidate in candidates])
    if roles != IN_ORDER:
        raise ValueError(f"an item needs each of {', '.join(ROLES)} once; found: {', '.join(roles) or 'none'}.")
    first, second, third = candidates
    if first.id == second.id or first.id == third.id or second.id == third.id:
        raise ValueError("two candidates have the same id.")
    return candidates


def _candidate(cell: Mapping[str, Any], context: str | None, *, language: str) -> Candidate:
    get: Callable[[str], Any] = cell.get
    name, role, sentence, word = get("id"), get("gold_label"), get("sentence"), get("word")
    texts = type(name) is type(role) is type(sentence) is type(word) is str
    if not (texts and name.strip() and role.strip() and sentence.strip() and word.strip()):
        word, sentence = _optional(cell, "word"), _optional(cell, "sentence")
        if context is not None and (word is None or sentence is None):
            if sentence is None and word is not None:
                sentence = context.replace(BLANK, word)
            elif word is None and sentence is not None:
                word = word_in(context, sentence, language=language)
            if not word:
                raise ValueError("a candidate has no word for BLANK, and its sentence is not the context with a word.")
        if sentence is None:
            raise ValueError("a candidate has no sentence.")
        name, role = _text(cell, "id"), _text(cell, "gold_label")
    return Candidate(name, intern(role), sentence, intern(word) if context and word else None)


def word_in(context: str, sentence: str, *, language: str) -> str | None:
    """What fills BLANK in the sentence, punctuation taken off; nothing where the text around BLANK does not frame it.

    With spaces between words, it is found by the published rule: both are split at single spaces, and the last piece with BLANK
    gives the place. Where several words fill BLANK, it is all of them, and so it is without spaces between words. In a context with
    several BLANKs, which frames nothing, the published rule decides alone.
    """
    if languages.describe(language).spaces:
        framed = _framed_words(context.split(), sentence.split())
        index = [i for i, piece in enumerate(context.split(" ")) if BLANK in piece][-1]
        word = "".join(sentence.split(" ")[index : index + 1]).translate(str.maketrans("", "", string.punctuation))
        if context.count(BLANK) == 1 and (len(framed) != 1 or _bare(framed[0]) != _bare(word)):
            word = " ".join(framed)
    else:
        left, _, right = context.partition(BLANK)
        fits = BLANK not in right and sentence.startswith(left) and sentence.endswith(right)
        word = sentence[len(left) : len(sentence) - len(right)] if fits else ""
    while word and unicodedata.category(word[-1]).startswith("P"):
        word = word[:-1]
    while word and unicodedata.category(word[0]).startswith("P"):
        word = word[1:]
    return word or None


def _framed_words(context: Sequence[str], sentence: Sequence[str]) -> Sequence[str]:
    """The words of the sentence between those before and after BLANK; none where these are not all there.

    Capitals and punctuation do not count.
    """
    index = [i for i, piece in enumerate(context) if BLANK in piece][-1]
    before, after = ([_bare(piece) for piece in part] for part in (context[:index], context[index + 1 :]))
    words, end = [_bare(piece) for piece in sentence], len(sentence) - len(after)
    framed = end > index and words[:index] == before and words[end:] == after
    return sentence[index:end] if framed else ()


def _bare(text: str) -> str:
    return "".join(letter for letter in text if not unicodedata.category(letter).startswith("P")).casefold()


def _wide_cells(row: Mapping[str, Any], item_id: str) -> list[dict[str, Any]]:
    cells = []
    for role, column in WIDE.items():
        sentence, word = row.get(column) or None, row.get(f"{column}_word") or None
        if sentence or word:
            name = row.get(f"{column}_id") or f"{item_id}-{role}"
            cells.append({"id": name, "gold_label": role, "sentence": sentence, "word": word})
    return cells


def _text(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    if type(value) is str and value and not value.isspace():
        return value
    value = _optional(row, column)
    if value is None:
        raise ValueError(f"'{column}' is missing or empty.")
    return value


def _optional(row: Mapping[str, Any], column: str) -> str | None:
    value = row.get(column)
    if type(value) is str and value and not value.isspace():
        return value
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(f"'{column}' must be text.")
    return str(value)


dataset = Dataset(
    title="StereoSet",
    summary="Intra- and inter-sentence items with a stereotype, an anti-stereotype and an unrelated candidate; any language.",
    licence="CC BY-SA 4.0",
    citation="Nadeem, Bethke and Reddy (2021), StereoSet; translations: Öztürk et al. (2023).",
    url="https://github.com/moinnadeem/StereoSet",
    recognise=recognise,
    parse=parse,
    columns=("context", *WIDE.values()),
)
