"""BBQ's published answers: a file of its items in which every column NAME_pred_FORMAT holds what a model answered."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import BadData
from ..files.rows import read_rows
from ..items import Item, Items, group_by
from ..scores import Row, Scored, item_table, join_scored, make_scored, row_table, skipped_rows

CHOICE = "choice"
METHOD = "bbq-answers"
COLUMN = re.compile(r"(?P<model>.+)_pred_(?P<format>.+)")
WITHOUT_CONTEXT = "qonly"  # the model saw the question only, so no context was disambiguated for it
DISAMBIGUATED = "disambiguated"
NOT_AN_OPTION = "not an option"
Key = tuple[str, ...]


def read_answers(path: Path, items: Items, *, model: str | None = None) -> Scored:
    """The answers as scored items: 1 for the option that was picked, 0 for the others and where none was.

    Each format of the prompt is a model of its own, named MODEL_FORMAT. A row belongs to the item with the same context,
    question and answers in the same order.
    """
    rows = [row for _, row in read_rows(path)]
    columns = [match for name in (rows[0] if rows else ()) if (match := COLUMN.fullmatch(name))]
    if not columns:
        raise BadData(path, None, "has no answers: their columns are named like unifiedqa-t5-11b_pred_race.")
    pairs = _matched(rows, items)
    if not pairs:
        raise BadData(path, None, "none of its rows is an item of the data. Is it the right data?")
    parts = []
    for column in columns:
        name = f"{model or column['model']}_{column['format']}"
        parts.append(_scored(pairs, items, column=column, model=name))
    left = len(rows) - len(pairs)
    note = (f"{left} rows of {path.name} belong to no item of the data and were left out",) if left else ()
    scored = join_scored(parts)
    return replace(scored, skipped=skipped_rows(items), notes=(*scored.notes, *note))


def _matched(rows: Iterable[Mapping[str, Any]], items: Items) -> list[tuple[Mapping[str, Any], Item]]:
    """Each row with its item; of items that are the same in all texts, each gets one row in turn."""
    waiting = {key: iter(same) for key, same in group_by(items, _key_of_item).items()}
    pairs = []
    for row in rows:
        texts = (row.get(name) for name in ("context", "question", "ans0", "ans1", "ans2"))
        item = next(waiting.get(tuple(str(text).strip() for text in texts), iter(())), None)
        if item is not None:
            pairs.append((row, item))
    return pairs


def _key_of_item(item: Item) -> Key:
    texts = (item.context, item.question, *(candidate.text for candidate in item.candidates))
    return tuple(str(text).strip() for text in texts)


def _scored(
    pairs: Sequence[tuple[Mapping[str, Any], Item]], items: Items, *, column: re.Match[str], model: str
) -> Scored:
    """The answers in one column, with a note on those that pick no option."""
    if column["format"] == WITHOUT_CONTEXT:
        pairs = [(row, item) for row, item in pairs if item.tags.get("condition") != DISAMBIGUATED]
    rows, outcomes = [], Counter[str]()
    for row, item in pairs:
        picked = read_option(str(row.get(column[0]) or ""), [candidate.text for candidate in item.candidates])
        outcome = NOT_AN_OPTION if picked is None else item.candidates[picked].role
        outcomes[outcome] += 1
        for number, candidate in enumerate(item.candidates):
            rows.append(Row(item, candidate.id, float(number == picked), quantity=CHOICE, pieces=(outcome,)))
    table = item_table(replace(items, rows=tuple(item for _, item in pairs)))
    scored = make_scored(table, row_table(rows), labels={"model": model, "method": METHOD})
    counts = ", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items()))
    return replace(scored, notes=(f"{len(pairs)} answers of {model}: {counts}",))


def read_option(answer: str, options: Sequence[str]) -> int | None:
    """The option that an answer is, without capitals and the last full stop, or that it is the beginning of.

    The models cut some options off ("... a custom-tailored pantsu").
    """
    text, plain = _plain(answer), [_plain(option) for option in options]
    if not text:
        return None
    exact = [number for number, option in enumerate(plain) if option == text]
    cut = [number for number, option in enumerate(plain) if option.startswith(text)]
    return next((places[0] for places in (exact, cut) if len(places) == 1), None)


def _plain(text: str) -> str:
    return text.replace("}", "").strip().removesuffix(".").casefold().strip()
