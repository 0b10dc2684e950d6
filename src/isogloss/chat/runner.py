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
    def parts(self) -> list[tuple[Item, ...]]:
        return [tuple(self.items.rows[start : start + PART_ITEMS]) for start in range(0, len(self.items), PART_ITEMS)]

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
    for rows in groups.values():
        ids = {item.id for item in rows}
        odd = tuple(problem for problem in items.problems if problem.item in ids or problem.check == "unreadable")
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
    run = open_ask_run(cell, backend, out=out)
    folder = Path(str(run.folder))
    first = cell.items[0]
    label = f"{run.info['model']} {first.dataset} {first.language} ask"
    with runs.locked(run):
        started = time.time()
        missing = runs.missing_parts(run)
        known = read_journal(folder)
        parts, asked = _requests_by_part(cell), cell.asked
        wanted = {asked[request.key].key: asked[request.key] for number in missing for request in parts[number]}
        todo = [request for key, request in wanted.items() if key not in known]

        def keep(answers: Sequence[Answer]) -> None:
            append_journal(folder, answers)
            known.update({answer.key: answer for answer in answers})
            _write_complete_parts(run, parts, known=known, missing=missing, asked=asked)
            progress(label, 1 - sum(prompt.key not in known for prompt in todo) / len(asked), items=len(cell.items))

        _write_complete_parts(run, parts, known=known, missing=missing, asked=asked)
        progress(label, 1 - len(todo) / len(asked), items=len(cell.items))
        if todo:
            backend.answer(todo, keep)
        if run.info["status"] != "finished" or todo:
            tokens = _count_tokens(run)
            run = runs.finish_run(run, seconds=round(time.time() - started, 3), asked=len(todo), tokens=tokens)
        remove_journal(folder)
    return replace(run, info={**run.info, "asked": len(todo)})


def open_ask_run(cell: AskCell, backend: Backend, *, out: StoragePath) -> runs.Run:
    """The cell's run on disk, made when it is not there yet."""
    return runs.open_run(out, info=run_info(cell, backend), items=item_table(cell.items))


def _requests_by_part(cell: AskCell) -> list[list[PromptRequest]]:
    part_of = {item.key: number for number, part in enumerate(cell.parts) for item in part}
    parts: list[list[PromptRequest]] = [[] for _ in cell.parts]
    for request in cell.requests:
        parts[part_of[request.item.key]].append(request)
    return parts


def _write_complete_parts(
    run: runs.Run,
    parts: Sequence[Sequence[PromptRequest]],
    *,
    known: dict[AnswerKey, Answer],
    missing: list[int],
    asked: Mapping[AnswerKey, PromptRequest],
) -> None:
    """Write the parts whose requests all are answered."""
    for number in [*missing]:
        if all(asked[request.key].key in known for request in parts[number]):
            answers = (_answer_to(request, known[asked[request.key].key]) for request in parts[number])
            runs.write_part(run, number, rows=answer_table(answers))
            missing.remove(number)


def _answer_to(request: PromptRequest, answer: Answer) -> Answer:
    """The answer under the request's own key; one that was given to another request took no tokens again."""
    if answer.key == request.key:
        return answer
    return replace(answer, id=request.item.id, candidate=request.candidate, prompt_tokens=0, answer_tokens=0)


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


def label_of(settings: AskSettings) -> str:
    """The name of the method in tables: `ask`, with what differs from the default, as in `ask[order=yes-no]`."""
    changed = [f"{key}={value}" for key, value in settings.options.items()]
    return f"ask[{','.join(changed)}]" if changed else "ask"


def run_info(cell: AskCell, backend: Backend) -> dict[str, Any]:
    """What `run.json` says about a cell; its fingerprint holds everything that an answer depends on."""
    first = cell.items[0]
    words = prompt_words_of(languages.describe(first.language), backend.plan.prompts)
    return {
        "holds": ANSWERS,
        "model": cell.labels.get("model", backend.name),
        "dataset": first.dataset,
        "language": first.language,
        "method": label_of(backend.plan),
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


# ---- the journal: every answer is on the disk before the next thing happens, so that a killed process loses none

JOURNAL = "journal.jsonl"


def read_journal(folder: Path) -> dict[AnswerKey, Answer]:
    """The answers that were written down, by their keys; a line that was torn is passed over."""
    path = folder / JOURNAL
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    return {answer.key: answer for answer in map(read_line, lines) if answer is not None}


def append_journal(folder: Path, answers: Sequence[Answer]) -> None:
    """Write answers down and wait until the disk has them."""
    append_lines(folder / JOURNAL, "".join(map(answer_line, answers)))


def remove_journal(folder: Path) -> None:
    """Remove a journal whose answers all are in parts."""
    (folder / JOURNAL).unlink(missing_ok=True)
