"""The journal: every answer is on the disk before the next thing happens, so that a killed process loses none."""

from collections.abc import Sequence
from pathlib import Path

from ..sealing import append_lines
from .records import Answer, AnswerKey, answer_line, read_line

NAME = "journal.jsonl"


def read_journal(folder: Path) -> dict[AnswerKey, Answer]:
    """The answers that were written down, by their keys; a line that was torn is passed over."""
    path = folder / NAME
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    return {answer.key: answer for answer in map(read_line, lines) if answer is not None}


def append_journal(folder: Path, answers: Sequence[Answer]) -> None:
    """Write answers down and wait until the disk has them."""
    append_lines(folder / NAME, "".join(map(answer_line, answers)))


def remove_journal(folder: Path) -> None:
    """Remove a journal whose answers all are in parts."""
    (folder / NAME).unlink(missing_ok=True)
