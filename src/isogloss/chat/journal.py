"""The journal: every answer is on the disk before the next thing happens, so that a killed process loses none."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..errors import CannotWrite
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
    path = folder / NAME
    lines = "".join(map(answer_line, answers)).encode()
    try:
        with path.open("ab") as file:
            file.write((b"\n" if _is_torn(path) else b"") + lines)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise CannotWrite(path, error) from error


def remove_journal(folder: Path) -> None:
    """Remove a journal whose answers all are in parts."""
    (folder / NAME).unlink(missing_ok=True)


def _is_torn(path: Path) -> bool:
    """Whether the file ends within a line."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(-1, os.SEEK_END)
        return bool(size) and file.read(1) != b"\n"
