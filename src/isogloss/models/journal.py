"""The journal of dear answers: each is on the disk before the next thing happens, so that a killed process loses none."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from ..atomic_files import append_lines
from ..chat.records import MOST_TOKENS
from .questions import Prompt, Question, Reply

COUNTS = ("prompt_tokens", "answer_tokens")


@dataclass(frozen=True)
class Journal:
    """Answers by the digest of their question, in memory and, with a path, in a file of one JSON object a line."""

    path: Path | None = None
    answers: dict[str, Any] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)  # digests of the answers that this process received

    def find(self, question: Question | Prompt) -> Any:
        """The answer to a question, if it is there."""
        return self.answers.get(digest(question))

    def keep(self, answers: Mapping[Any, Any]) -> None:
        """Write answers down, and remember them."""
        entries = {digest(question): answer for question, answer in answers.items()}
        if self.path is not None:
            append_lines(self.path, "".join(_line(key, answer) for key, answer in entries.items()))
        self.answers.update(entries)
        self.kept.update(entries)

    def count_tokens(self) -> dict[str, int]:
        """The tokens of all answers in words, as far as they were counted, and how many were not."""
        replies = [answer for answer in self.answers.values() if isinstance(answer, Reply)]
        sums = {name.removesuffix("_tokens"): sum(getattr(reply, name) or 0 for reply in replies) for name in COUNTS}
        return sums | {"uncounted_answers": sum(reply.prompt_tokens is None for reply in replies)}


def open_journal(path: Path | None) -> Journal:
    """The journal in a file, with what was written down before; a line that was torn is passed over."""
    there = path is not None and path.exists()
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n") if path is not None and there else []
    return Journal(path, dict(_read_lines(lines)))


def digest(question: Question | Prompt) -> str:
    """The SHA-256 of everything that an answer depends on, but for the model."""
    text = json.dumps([type(question).__name__, asdict(question)], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _line(key: str, answer: Any) -> str:
    """An answer as a line of JSON; what is not UTF-8 in it becomes a question mark."""
    value = {"reply": asdict(answer)} if isinstance(answer, Reply) else {"values": np.asarray(answer).tolist()}
    return json.dumps({"key": key} | value, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n"


def _read_lines(lines: Iterable[str]) -> Iterable[tuple[str, Any]]:
    for line in lines:
        try:
            entry = json.loads(line)
            key = entry["key"]
            answer = _read_reply(entry["reply"]) if "reply" in entry else np.asarray(entry["values"], dtype=np.float64)
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
        if isinstance(key, str) and answer is not None:
            yield key, answer


def _read_reply(values: Mapping[str, Any]) -> Reply | None:
    """The reply that a line holds; none when its values are of other types."""
    kinds = {"text": str, "opening": str, "finish": str, "prompt_tokens": int, "answer_tokens": int, "logprobs": list}
    sound = set(values) == {field.name for field in fields(Reply)} and values["text"] is not None
    sound = sound and all(value is None or type(value) is kinds[name] for name, value in values.items())
    sound = sound and all(0 <= (values[name] or 0) <= MOST_TOKENS for name in COUNTS)
    for text in (values[name] for name in ("text", "opening", "finish")) if sound else ():
        (text or "").encode()  # half a surrogate pair is a ValueError
    logs = values.get("logprobs")
    if not sound or not all(type(log) in (int, float) and log == log for log in logs or ()):
        return None
    return Reply(**{**values, "logprobs": None if logs is None else tuple(logs)})
