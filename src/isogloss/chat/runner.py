"""Asking: what is not answered yet is asked, written down at once, and sealed into the parts of a run."""

import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .. import languages, runs
from ..errors import IsoglossError
from ..items import Item, Items, group_by, items_hash
from ..progress import Progress, silent
from ..scores import item_table, skipped_rows
from ..sealing import append_lines
from ..storage import RemotePath, StoragePath
from .prompt_words import prompt_words_of
from .records import ANSWERS, Answer, AnswerKey, answer_line, answer_table, read_line
from .requests import AskSettings, Backend, PromptRequest, check_ask_settings, make_requests

JOURNAL = "journal.jsonl"  # every answer is on the disk before the next thing happens, so a killed process loses none
PART_ITEMS = 64
VERSION = 1
LATER = ("thinking", "shots", "prompts")  # settings that older fingerprints lack


@dataclass(frozen=True)
class AskCell:
    """The items of one data set in one language that are asked about, with their requests; `labels` as in a study."""

    items: Items
    requests: tuple[PromptRequest, ...]
    labels: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def parts(self) -> list[list[PromptRequest]]:
        """The requests about PART_ITEMS items each; a part is written as one."""
        part_of = {item.key: index // PART_ITEMS for index, item in enumerate(self.items)}
        parts: list[list[PromptRequest]] = [[] for _ in range(0, len(self.items), PART_ITEMS)]
        for request in self.requests:
            parts[part_of[request.item.key]].append(request)
        return parts

    @cached_property
    def asked(self) -> dict[AnswerKey, PromptRequest]:
        """For each request the one that is put for it: the first of the same words and sample.

        A statement that is in several items, once for each of its contrasts, is asked about once.
        """
        firsts: dict[tuple[str, int], PromptRequest] = {}
        return {request.key: firsts.setdefault((request.text, request.sample), request) for request in self.requests}

    @property
    def asks(self) -> int:
        """How many requests are put."""
        return len({request.key for request in self.asked.values()})


def plan_ask_cells(items: Items, settings: AskSettings, *, labels: Mapping[str, str] | None = None) -> list[AskCell]:
    """The cells of some items, everything checked before a model is asked."""
    groups = group_by(check_askable(items, settings), lambda item: (item.dataset, item.language))
    cells = []
    for (_, language), rows in groups.items():
        ids = {item.id for item in rows}
        own = [problem for problem in items.problems if problem.language in (language, None)]
        odd = tuple(problem for problem in own if problem.item in ids or problem.check == "unreadable")
        cells.append(AskCell(Items(tuple(rows), odd), tuple(make_requests(rows, settings)), labels or {}))
    return cells


def check_askable(items: Items, settings: AskSettings) -> list[Item]:
    """The items that can be asked about; without any, or in a language without prompts, it is an error."""
    check_ask_settings(settings)
    askable = [item for item in items if any(candidate.role == settings.role for candidate in item.candidates)]
    if not askable:
        raise IsoglossError(
            f"None of the items has a candidate with the role '{settings.role}'. Use --option role=ROLE."
        )
    for tag in dict.fromkeys(item.language for item in askable):
        prompt_words_of(languages.describe(tag), settings.prompts)
    return askable


def ask_cell(cell: AskCell, backend: Backend, *, out: StoragePath, progress: Progress = silent) -> runs.Run:
    """The cell's run, with everything that was missing asked; what was answered before is never asked again."""
    if isinstance(out, RemotePath):
        raise IsoglossError(f"Answers are written down at once, which {out} cannot do. Choose a folder with --out.")
    run = runs.open_run(out, info=run_info(cell, backend), items=item_table(cell.items))
    journal = Path(str(run.folder)) / JOURNAL
    first, asked = cell.items[0], cell.asked
    label = f"{run.info['model']} {first.dataset} {first.language} ask"
    with runs.locked(run):
        started = time.time()
        missing = runs.missing_parts(run)
        known = _read_journal(journal)
        wanted = {asked[request.key].key: asked[request.key] for number in missing for request in cell.parts[number]}
        todo = [request for key, request in wanted.items() if key not in known]
        whole = len({request.key for request in asked.values()})  # a statement of several items is asked about once

        def write_complete_parts() -> None:
            for number in [*missing]:
                answers = _answers_to(cell.parts[number], asked, known=known)
                if answers is not None:
                    runs.write_part(run, number, rows=answer_table(answers))
                    missing.remove(number)
            progress(label, 1 - sum(prompt.key not in known for prompt in todo) / whole, items=len(cell.items))

        def keep(answers: Sequence[Answer]) -> None:
            append_lines(journal, "".join(map(answer_line, answers)))
            known.update({answer.key: answer for answer in answers})
            write_complete_parts()

        write_complete_parts()
        if todo:
            backend.answer(todo, keep)
        if run.info["status"] != "finished" or todo:
            tokens = _count_tokens(run)
            run = runs.finish_run(run, seconds=round(time.time() - started, 3), asked=len(todo), tokens=tokens)
        journal.unlink(missing_ok=True)
    return replace(run, info={**run.info, "asked": len(todo)})


def _answers_to(
    requests: Sequence[PromptRequest], asked: Mapping[AnswerKey, PromptRequest], *, known: Mapping[AnswerKey, Answer]
) -> list[Answer] | None:
    """The answers to some requests, each under its request's key; none while one of them is missing."""
    answers = []
    for request in requests:
        answer = known.get(asked[request.key].key)
        if answer is None:
            return None
        if answer.key != request.key:  # given to another request, so it took no tokens again
            name, candidate = request.item.id, request.candidate
            answer = replace(answer, id=name, candidate=candidate, prompt_tokens=0, answer_tokens=0)
        answers.append(answer)
    return answers


def token_totals(runs: Sequence[runs.Run], *, price_in: float = 0.0, price_out: float = 0.0) -> dict[str, float]:
    """The tokens of all runs, and what they cost at these prices for a million."""
    names = ("prompt", "answer", "uncounted_answers")
    total: dict[str, float] = {name: sum(run.info.get("tokens", {}).get(name, 0) for run in runs) for name in names}
    return total | {"cost": (total["prompt"] * price_in + total["answer"] * price_out) / 1e6}


def _count_tokens(run: runs.Run) -> dict[str, int]:
    """How many tokens all answers of a run took, as far as the back end counted them."""
    parts = [runs.read_part(run, number) for number in runs.written_parts(run)]
    counts = {
        name: sum(sum(part[f"{name}_tokens"].drop_nulls().to_list()) for part in parts) for name in ("prompt", "answer")
    }
    uncounted = sum(int(part["prompt_tokens"].null_count()) for part in parts)
    return counts | {"uncounted_answers": uncounted}


def run_info(cell: AskCell, backend: Backend) -> dict[str, Any]:
    """What `run.json` says about a cell; its fingerprint holds everything that an answer depends on.

    The method's name says what differs from the default, as in `ask[order=yes-no]`.
    """
    first = cell.items[0]
    changed = ",".join(f"{key}={value}" for key, value in backend.plan.options.items())
    words = prompt_words_of(languages.describe(first.language), backend.plan.prompts)
    return {
        "holds": ANSWERS,
        "model": cell.labels.get("model", backend.name),
        "dataset": first.dataset,
        "language": first.language,
        "method": f"ask[{changed}]" if changed else "ask",
        "items": len(cell.items),
        "requests": cell.asks,
        "parts": len(cell.parts),
        "notes": backend.notes(first.language),
        "labels": {name: value for name, value in cell.labels.items() if name != "model"},
        "skipped": skipped_rows(cell.items),
        "facts": {"checkpoint": backend.name, **backend.facts},
        "versions": {"isogloss": version("isogloss")},
        "python": platform.python_version(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "fingerprint": {
            "schema": runs.FINGERPRINT,
            "version": VERSION,
            "data": items_hash(cell.items.rows),
            "backend": dict(backend.identity),
            "plan": {key: value for key, value in asdict(backend.plan).items() if value or key not in LATER},
            "prompts": dict(words.prompts),
            "words": list(words.words),
            "part": PART_ITEMS,
        },
    }


def _read_journal(path: Path) -> dict[AnswerKey, Answer]:
    """The answers that were written down, by their keys; a line that was torn is passed over."""
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n") if path.exists() else []
    return {answer.key: answer for answer in map(read_line, lines) if answer is not None}
