"""Answers of other tools, one by one: what was asked about which statement, by whom and how, and what came back."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import languages
from ..chat.prompt_words import PROMPTS
from ..chat.records import ORDERS
from ..errors import BadData, IsoglossError, UnknownName
from ..files.reading import reading_as, state_reading
from ..files.sources import language_in_name
from ..items import Items, group_by
from .answer_files import FIELDS, find_layout

FACTORS = ("system_prompt", "temperature")  # conditions of asking: each value is a run
ABOUT = ("id", "dataset", "category", "cluster")  # what a row may say about its statement
TAKEN = (*FACTORS, "role", "text", "word", "value", "quantity", "method", "variant", "context")
BEFORE = re.compile(r"[.:?!。：？！\n][\"'”’»」]*\s+|\n")
AFTER = re.compile(r"(?<=[.?!。？！\"'”’»」])\s+|\n")
LONGEST_NAME = 40  # letters of a system prompt's name in tables
STATEMENT = "{statement}"

State = dict[str, Any]
Frames = Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class AnswerImport:
    """How a file of answers is read: what was asked, the model and the language where the rows say none, and its columns.

    `question` is stereotype, agree or disagree. With `data`, answers are about its candidates, which are known by their texts.
    """

    question: str | None = None
    model: str | None = None
    language: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    encoding: str | None = None
    data: Items | None = None


@dataclass(frozen=True, slots=True)
class ForeignAnswer:
    """One answer of a file, what it is about, who gave it under which conditions, and the verdict that came with it."""

    text: str
    statement: str
    question: str
    model: str
    language: str
    order: str
    sample: int | None
    verdict: str | None
    conditions: tuple[tuple[str, str], ...]
    facts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """The answers of a file, the prompts without their statements by language and question, and caveats.

    `system_prompts` has the texts behind each name of a system prompt.
    """

    answers: tuple[ForeignAnswer, ...]
    frames: Frames
    system_prompts: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...]


def read_answer_file(path: Path, settings: AnswerImport) -> AnswerFile:
    """The answers of a file in any layout; a row that does not say what it must is refused with its line."""
    reading = state_reading(settings.columns, encoding=settings.encoding)
    layout = find_layout(path, reading)
    question = settings.question or layout.question
    if question is not None and question not in PROMPTS:
        raise UnknownName("question", question, PROMPTS)
    with reading_as(reading):
        rows = list(layout.parse(path))
    known = dict.fromkeys(name for _, row in rows for name in row)
    extras = [name for name in settings.columns if name not in FIELDS]
    _check_columns(path, known, extras=extras)
    asked = [(line, row) for line, row in rows if row.get("answer") is not None]
    if not asked:
        raise BadData(path, None, "no row has an answer.")
    several = {str(row.get("model")) for _, row in asked if row.get("model")}
    if settings.model and len(several) > 1:
        raise IsoglossError(f"{path.name} has answers of {', '.join(sorted(several))}: one name does not fit them all.")
    states = [_stated(path, line, row=row, question=question, settings=settings) for line, row in asked]
    frames = _find_frames(states)
    names = _name_prompts(state.get("system_prompt") for state in states)
    varying = _varying(states, extras)
    facts = [name for name in (*ABOUT, *extras) if name not in varying]
    answers = [_answer(state, names=names, frames=frames, varying=varying, facts=facts) for state in states]
    texts: dict[str, set[str]] = {}
    for state in states:
        text = str(state.get("system_text") or state.get("system_prompt") or "")
        texts.setdefault(names[str(state.get("system_prompt") or "")], set()).add(text)
    unused = [name for name in known if name not in (*FIELDS, *extras, "system_text")]
    notes = _notes(frames, unused=unused, lost=len(rows) - len(asked))
    return AnswerFile(tuple(answers), frames, {name: tuple(sorted(seen)) for name, seen in texts.items()}, tuple(notes))


def _notes(frames: Frames, *, unused: Sequence[str], lost: int) -> Iterator[str]:
    if lost:
        yield f"{lost} {'row has' if lost == 1 else 'rows have'} no answer and count{'s' * (lost == 1)} as not asked"
    for (tag, question), frame in frames.items():
        head, _, tail = frame.partition(STATEMENT)
        begins = f"begins with '…{head.strip()[-60:]}'" if head.strip() else ""
        ends = f"ends with '…{tail.strip()[-60:]}'" if tail.strip() else ""
        if begins or ends:
            around = " and ".join(filter(None, (begins, ends)))
            yield f"the prompt {question} in {tag} {around}; the rest is the statement"
    if unused:
        yield f"columns that were not used: {', '.join(unused)} (map one, as {unused[0]}={unused[0]}, to group by it)"


def _check_columns(path: Path, known: Mapping[str, Any], *, extras: Sequence[str]) -> None:
    if "answer" not in known or not {"statement", "prompt"} & known.keys():
        missing = "answer" if "answer" not in known else "statement' or 'prompt"
        raise BadData(
            path,
            1,
            f"answers need the column '{missing}'. The columns are {', '.join(known)}. If yours have other names, use "
            f"`columns={{'answer': 'YOURS', 'prompt': 'YOURS'}}`. Known: {', '.join(FIELDS)}.",
        )
    taken = [name for name in extras if name in TAKEN]
    if taken:
        raise IsoglossError(f"An additional column cannot be named '{taken[0]}', which is a column already.")


def _stated(path: Path, line: int, *, row: Mapping[str, Any], question: str | None, settings: AnswerImport) -> State:
    """The row with a line, a question, a model and a language; what is missing or wrong is named."""
    state: State = {name: value for name, value in row.items() if value not in (None, "")}
    prompt = str(state.get("prompt", ""))
    asks = str(state.get("question") or (prompt if prompt in PROMPTS else question or ""))
    if asks not in PROMPTS:
        what = f"the question is '{asks}'" if asks else "the row does not say what was asked"
        raise BadData(
            path, line, f"{what}. Name it for the whole file with `question`, as one of {', '.join(PROMPTS)}."
        )
    tag = settings.language or state.get("language") or language_in_name(path)
    if not tag:
        raise BadData(path, line, "the row names no language. Name it for the whole file.")
    if "statement" not in state and (not prompt or prompt in PROMPTS):
        raise BadData(path, line, "the row has neither a statement nor the text of a prompt.")
    order = str(state.get("order", ORDERS[0]))
    if order not in ORDERS:
        raise BadData(path, line, f"the order is '{order}'; it must be {' or '.join(ORDERS)}.")
    sample = _whole_number(path, line, value=state.get("sample"))
    model = settings.model or str(state.get("model") or path.name.split(".")[0])
    return state | {
        "answer": str(row["answer"]), "question": asks, "language": languages.standard_tag(str(tag)),
        "order": order, "sample": sample, "model": model,
    }  # fmt: skip


def _whole_number(path: Path, line: int, *, value: Any) -> int | None:
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if number < 0 or number != int(number):
        raise BadData(path, line, f"the sample is '{value}'; it must be a whole number from 0.")
    return int(number)


def _find_frames(states: Sequence[State]) -> dict[tuple[str, str], str]:
    """What the prompts of a language and question say around the statement, with {statement} in its place.

    Where the rows name no statement, it is what remains without the sentences that all prompts begin and end with.
    """
    frames = {}
    for key, members in group_by(states, lambda state: (state["language"], state["question"])).items():
        prompts = sorted({str(s["prompt"]) for s in members if "statement" not in s})
        if prompts:
            frames[key] = _frame(prompts)
            continue
        within = {
            str(s["prompt"]).replace(str(s["statement"]), STATEMENT, 1)
            for s in members
            if str(s["statement"]) in str(s.get("prompt", ""))
        }
        if len(within) == 1:
            frames[key] = within.pop()
    return frames


def _frame(prompts: Sequence[str]) -> str:
    if len(prompts) == 1:
        return STATEMENT
    start = _common_start(prompts)
    ends = [match.end() for match in BEFORE.finditer(start)]
    head = start[: ends[-1]] if ends else ""
    rests = [prompt[len(head) :][::-1] for prompt in prompts]
    tail = _common_start(rests)[::-1]
    first = AFTER.search(tail)
    return head + STATEMENT + (tail[first.start() :] if first else "")


def _common_start(texts: Sequence[str]) -> str:
    """What all texts begin with: what the first and the last of them in order share."""
    first, last = min(texts), max(texts)
    length = next((index for index, letter in enumerate(first) if letter != last[index : index + 1]), len(first))
    return first[:length]


def _name_prompts(prompts: Iterable[Any]) -> dict[str, str]:
    """A short name for each system prompt: its beginning, with a number where two begin alike."""
    names: dict[str, str] = {}
    for prompt in dict.fromkeys(str(prompt or "") for prompt in prompts):
        plain = " ".join(re.sub(r"[\[\],=]+", " ", prompt).split())
        short = plain if len(plain) <= LONGEST_NAME else plain[: LONGEST_NAME - 1].rstrip() + "…"
        count = sum(name.split(" #")[0] == short for name in names.values())
        names[prompt] = (f"{short} #{count + 1}" if count else short) or "none"
    return names


def _varying(states: Sequence[Mapping[str, Any]], extras: Sequence[str]) -> list[str]:
    """The columns of the user's own that differ between answers about one statement: conditions, not facts about it."""
    values: dict[tuple[str, str], set[str]] = {}
    for state in states:
        about = str(state.get("id") or state.get("statement") or state.get("prompt"))
        for name in extras:
            values.setdefault((name, about), set()).add(str(state.get(name, "")))
    return [name for name in extras if any(len(seen) > 1 for (own, _), seen in values.items() if own == name)]


def _answer(
    state: State, *, names: Mapping[str, str], frames: Frames, varying: Sequence[str], facts: Sequence[str]
) -> ForeignAnswer:
    statement = str(state.get("statement", "")).strip()
    if not statement:
        head, _, tail = frames[state["language"], state["question"]].partition(STATEMENT)
        statement = str(state["prompt"])[len(head) :].removesuffix(tail).strip()
    conditions = {"system_prompt": names[str(state.get("system_prompt") or "")]} if set(names) != {""} else {}
    if "temperature" in state:
        conditions["temperature"] = f"{state['temperature']}".removesuffix(".0")
    conditions |= {name: str(state.get(name, "none")) for name in varying}
    return ForeignAnswer(
        state["answer"],
        statement,
        state["question"],
        state["model"],
        state["language"],
        state["order"],
        state["sample"],
        None if state.get("verdict") is None else str(state["verdict"]),
        tuple(conditions.items()),
        {name: str(state[name]) for name in facts if name in state},
    )
