"""Answers of chat models from anywhere become runs: word for word as they came; the verdicts are read when measuring."""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from .. import languages
from ..atomic_files import read_table, write_table
from ..chat.prompt_words import prompt_words_of
from ..chat.readings import NO, YES
from ..chat.records import ANSWERS, Answer, answer_table
from ..chat.verdicts import read_answer
from ..errors import BadData
from ..files.sources import own_name
from ..items import STEREOTYPE, Candidate, Item, Items, group_by, items_hash
from ..languages import join_sentences
from ..run_names import fingerprint
from ..runs import Run, finish_run, open_run, write_part
from ..scores import item_table
from ..storage import StoragePath
from .foreign_answers import ABOUT, STATEMENT, AnswerFile, AnswerImport, ForeignAnswer, read_answer_file

METHOD = "ask"
VERDICTS_FILE = "verdicts.parquet"
ANSWER_KEY = ("id", "candidate", "prompt", "order", "sample")
QUOTED = re.compile(r"[\"“„«「]([^\"”“»」]+)[\"”“»」]")


@dataclass(frozen=True, slots=True)
class PlacedAnswer:
    """An answer with the item and the candidate that it is about."""

    answer: ForeignAnswer
    item: Item
    candidate: str


def import_answers(path: Path, settings: AnswerImport, *, root: StoragePath) -> list[Run]:
    """A run for each model, language and condition in a file of answers; the verdicts of the file are kept with it."""
    file = read_answer_file(path, settings)
    for tag in {answer.language for answer in file.answers}:
        prompt_words_of(languages.describe(tag))  # a language whose answers cannot be read is refused before writing
    placed, notes = _place(path, file, data=settings.data)
    groups = group_by(placed, lambda p: (p.answer.model, p.item.dataset, p.answer.language, p.answer.conditions))
    file = replace(file, notes=(*file.notes, *notes))
    return [_write_run(path, members, file=file, root=root) for members in groups.values()]


# ---- items


def _place(path: Path, file: AnswerFile, *, data: Items | None) -> tuple[list[PlacedAnswer], list[str]]:
    """Each answer with its item: one of the data that has the statement, or one made of the statement."""
    if data is None:
        items_by_key: dict[tuple[str, str, str], Item] = {}
        placed = []
        for answer in file.answers:
            item = _make_item(answer, dataset=answer.facts.get("dataset") or own_name(path))
            item = items_by_key.setdefault(item.key, item)
            if item.candidates[0].text != answer.statement:
                raise BadData(path, None, f"the id '{item.id}' has two statements. Give each its own.")
            placed.append(PlacedAnswer(answer, item, item.candidates[0].id))
        return placed, []
    known: dict[tuple[str, str], tuple[Item, str]] = {}
    for item in data:
        for candidate in item.candidates:
            texts = {candidate.text, join_sentences(item.context or "", candidate.text, tag=item.language)}
            known |= {(item.language, text.strip()): (item, candidate.id) for text in texts}
    placed = [
        PlacedAnswer(answer, *known[answer.language, answer.statement])
        for answer in file.answers
        if (answer.language, answer.statement) in known
    ]
    if not placed:
        raise BadData(path, None, "none of its statements is a sentence of the data. Is it the right data?")
    left = len(file.answers) - len(placed)
    return placed, [f"{left} answers are about no sentence of the data and were left out"] if left else []


def _make_item(answer: ForeignAnswer, *, dataset: str) -> Item:
    """An item with the statement as its one candidate; its id follows from the statement where the file gives none."""
    name = answer.facts.get("id") or hashlib.sha256(answer.statement.encode()).hexdigest()[:12]
    tags = {key: value for key, value in answer.facts.items() if key not in ABOUT}
    return Item(
        name,
        dataset,
        answer.language,
        answer.facts.get("category"),
        (Candidate(f"{name}-statement", STEREOTYPE, answer.statement),),
        cluster=answer.facts.get("cluster") or name,
        tags={"task": "sentence", **tags},
    )


# ---- runs


def _write_run(path: Path, members: Sequence[PlacedAnswer], *, file: AnswerFile, root: StoragePath) -> Run:
    """The run of one model's answers in one language under one condition."""
    first = members[0]
    items = Items(tuple({member.item.key: member.item for member in members}.values()))
    answers = _number(path, members)
    table = answer_table(answers)
    conditions = dict(first.answer.conditions)
    shown = ",".join(f"{name}={value}" for name, value in conditions.items())
    name = conditions.get("system_prompt", "none")
    stated = {
        "conditions": conditions,
        "system_prompts": list(file.system_prompts.get(name, ())),
        **_asked(first.answer, file),
    }
    info: dict[str, Any] = {
        "model": first.answer.model,
        "dataset": first.item.dataset,
        "language": first.answer.language,
        "method": f"{METHOD}[{shown}]" if shown else METHOD,
        "holds": ANSWERS.name,
        "parts": 1,
        "items": len(items),
        "skipped": {},
        "labels": conditions,
        "notes": [f"answers of {path.name}, read here", *file.notes],
        "fingerprint": {
            "answers": hashlib.sha256(table.write_json().encode()).hexdigest(),
            "data": items_hash(items),
            "model": first.answer.model,
            "method": METHOD,
            **stated,
        },
    }
    run = open_run(root, info=info, items=item_table(items))
    write_part(run, 0, rows=table)
    verdicts = [member.answer.verdict for member in members]
    if any(verdict is not None for verdict in verdicts):
        kept = table.select(*ANSWER_KEY).with_columns(published=pl.Series(verdicts, dtype=pl.String))
        write_table(run.folder / VERDICTS_FILE, kept, owner=_owner(run))
    return finish_run(run, requests=len(answers))


def _number(path: Path, members: Sequence[PlacedAnswer]) -> list[Answer]:
    """The answers as records; without a number a sample gets the next one of its question."""
    counts: Counter[tuple[Any, ...]] = Counter()
    answers, seen = [], set()
    for member in members:
        answer = member.answer
        asked = (*member.item.key, member.candidate, answer.question, answer.order)
        sample = counts[asked] if answer.sample is None else answer.sample
        counts[asked] += 1
        record = Answer(*asked, sample, text=answer.text)
        if record.key in seen:
            raise BadData(
                path, None, f"sample {sample} of the same question is there twice: '{answer.statement[:80]}'."
            )
        seen.add(record.key)
        answers.append(record)
    return answers


def _asked(answer: ForeignAnswer, file: AnswerFile) -> dict[str, Any]:
    """The prompts for the reader of answers, so that a repeated prompt is not taken for an answer.

    Prompts that name whole sentences as answers ("include 'I disagree.'") are stated for the record only: the reader would
    take such an answer for a repeated prompt.
    """
    frames = {question: text for (tag, question), text in file.frames.items() if tag == answer.language}
    usable = {name: text for name, text in frames.items() if STATEMENT in text and text.strip() != STATEMENT}
    if not usable:
        return {}
    if any(_names_answer(text, question=name, language=answer.language) for name, text in usable.items()):
        return {"stated_prompts": frames}
    words = prompt_words_of(languages.describe(answer.language)).words
    return {"asked": {"prompts": frames, "words": list(words)}}


def _names_answer(frame: str, *, question: str, language: str) -> bool:
    """Whether a quoted part of a prompt would be read as a yes or no in a sentence."""
    quoted = QUOTED.findall(frame)
    read = (read_answer(text, language=language, prompt=question) for text in quoted if " " in text.strip())
    return any(reading.verdict in (YES, NO) for reading in read)


def _owner(run: Run) -> str:
    return f"run {fingerprint(run.info['fingerprint'])} verdicts"


def read_published(run: Run) -> pl.DataFrame | None:
    """The verdicts that came with a run's answers, by id, candidate, prompt, order and sample; None where none came."""
    path = run.folder / VERDICTS_FILE
    if not path.exists():
        return None
    return read_table(path, "the table of verdicts", owners=(_owner(run),), advice="Import the answers again.")
