"""BBQ's published answers (a file of its items with columns NAME_pred_FORMAT), and lm-evaluation-harness's samples of its BBQ task."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..chat.question_words import SECTION, question_words_of
from ..errors import BadData
from ..files.rows import read_log, read_rows
from ..items import Item, Items, group_by
from ..languages import describe
from ..scores import Row, Scored, item_table, join_scored, make_scored, row_table, skipped_rows

CHOICE = "choice"
METHOD = "bbq-answers"
COLUMN = re.compile(r"(?P<model>.+)_pred_(?P<format>.+)")
WITHOUT_CONTEXT = "qonly"  # the model saw the question only, so no context was disambiguated for it
DISAMBIGUATED = "disambiguated"
UNKNOWN = "unknown"
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
    """The option that an answer is, without capitals and the last period, or that it is the beginning of.

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


# ---- samples of lm-evaluation-harness


SAMPLES_METHOD = "lm-eval-bbq"


@dataclass(frozen=True, slots=True)
class LoggedQuestion:
    """One question of a log: the log-likelihood of each answer in its own wording, the best of *unknown*, and the logged accuracy."""

    item: Item
    values: tuple[float, ...]
    best_unknown: float
    wordings: int
    logged: float | None

    def picked(self, *, best: bool) -> int:
        """The answer with the highest value; `best` takes the best wording of *unknown*, as the harness does."""
        roles = [candidate.role for candidate in self.item.candidates]
        values = [
            self.best_unknown if best and role == UNKNOWN else v for role, v in zip(roles, self.values, strict=True)
        ]
        return values.index(max(values))

    def right(self, *, best: bool) -> bool:
        return bool(self.item.candidates[self.picked(best=best)].correct)


def read_bbq_samples(path: Path, items: Items, *, model: str | None = None) -> Scored:
    """The harness's BBQ samples as scores and choices, with *unknown* in the item's own wording.

    The harness asks for ten wordings of *unknown* and takes the best. Which requests are *unknown* is read from their texts
    here, never from their places; the notes say how far the logged accuracy and the best of all wordings are from this.
    """
    logged = [(line, row, _doc(row, path, line=line)) for line, row in read_log(path)]
    rows_of = {id(doc): (line, row) for line, row, doc in logged}
    pairs = _matched([doc for _, _, doc in logged], items)
    samples = [_sample(rows_of[id(doc)][1], item, path=path, line=rows_of[id(doc)][0]) for doc, item in pairs]
    if not samples:
        raise BadData(path, None, "none of its samples is an item of the data. Is it the right data?")
    rows = []
    for sample in samples:
        picked = sample.picked(best=False)
        outcome = (sample.item.candidates[picked].role,)
        for number, candidate in enumerate(sample.item.candidates):
            rows.append(Row(sample.item, candidate.id, sample.values[number]))
            rows.append(Row(sample.item, candidate.id, float(number == picked), quantity=CHOICE, pieces=outcome))
    table = item_table(replace(items, rows=tuple(sample.item for sample in samples)))
    labels = {"model": model or path.resolve().parent.name, "method": SAMPLES_METHOD}
    scored = make_scored(table, row_table(rows), labels=labels)
    return replace(scored, skipped=skipped_rows(items), notes=tuple(_sample_notes(samples)))


def _doc(row: Mapping[str, Any], path: Path, *, line: int) -> Mapping[str, Any]:
    doc = row.get("doc")
    if not isinstance(doc, dict) or not isinstance(row.get("filtered_resps"), list) or "arguments" not in row:
        raise BadData(
            path, line, "not a sample of lm-evaluation-harness: it needs 'doc', 'arguments' and 'filtered_resps'."
        )
    return doc


def _sample(row: Mapping[str, Any], item: Item, *, path: Path, line: int) -> LoggedQuestion:
    """The item's answers and the wordings of *unknown* among the requests, by their texts."""
    arguments, logged = row["arguments"], row.get("acc")
    try:
        pairs = list(arguments.values()) if isinstance(arguments, dict) else arguments
        asked = [list(pair.values()) if isinstance(pair, dict) else pair for pair in pairs]
        values = {str(t[1]).strip(): float(answer[0]) for t, answer in zip(asked, row["filtered_resps"], strict=True)}
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        raise BadData(path, line, "a request must have two texts and a log-likelihood.") from error
    texts = [candidate.text.strip() for candidate in item.candidates]
    missing = [text for text in texts if text not in values]
    if missing:
        raise BadData(path, line, f"the requests lack the answer '{missing[0]}'.")
    unknown = [value for text, value in values.items() if _is_unknown(text, item)]
    return LoggedQuestion(
        item,
        tuple(values[text] for text in texts),
        max(unknown),
        len(unknown),
        float(logged) if isinstance(logged, int | float) else None,
    )


def _is_unknown(text: str, item: Item) -> bool:
    """Whether a request is a wording of *unknown*: the item's own, or one of its language's."""
    language = describe(item.language)
    wordings = question_words_of(language).unknown if SECTION in language.sections else ()
    return text in wordings or any(c.role == UNKNOWN and c.text.strip() == text for c in item.candidates)


def _sample_notes(samples: Sequence[LoggedQuestion]) -> Iterator[str]:
    """The accuracy by condition: as logged, with the best of all wordings of *unknown*, and with the item's own."""
    for condition, group in group_by(samples, lambda sample: str(sample.item.tags.get("condition"))).items():
        own, best = (100 * sum(sample.right(best=best) for sample in group) / len(group) for best in (False, True))
        logged = [(sample.logged, sample.right(best=True)) for sample in group if sample.logged is not None]
        wrong = sum((value > 0) is not right for value, right in logged)
        rate = 100 * sum(value for value, _ in logged) / max(1, len(logged))
        shown = f"logged {rate:.1f} (wrong on {wrong}), " if logged else ""
        most = max(sample.wordings for sample in group)
        yield (
            f"accuracy on {len(group)} {condition} questions: {shown}read again with the best of {most} wordings of unknown "
            f"{best:.1f}, with the question's own wording {own:.1f}"
        )
