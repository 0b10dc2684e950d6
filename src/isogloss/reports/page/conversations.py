"""Conversations: what chat models were asked and answered, word for word, and what it took."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import polars as pl

from ...chat.answer_rows import STATEMENT
from ...chat.answer_words import asked_prompts
from ...chat.records import ANSWERS
from ...chat.verdicts import read_answers
from ...errors import IsoglossError
from ...items import group_by
from ...runs import Run, read_part, written_parts
from ..numbers import language_name

SERVER = "server"


def has_answers(run: Run) -> bool:
    """Whether a run holds the answers of a chat model."""
    return str(run.info.get("holds")) == ANSWERS.name


def answer_lists(runs: Iterable[Run]) -> dict[tuple[str, ...], dict[str, list[list[str]]]]:
    """For each statement and model its answers: the prompt with the order of its words, the verdict, and the text."""
    lists: dict[tuple[str, ...], dict[str, list[list[str]]]] = {}
    for run in filter(has_answers, runs):
        with suppress(IsoglossError):  # the loader has named what is broken
            parts = [read_part(run, number) for number in written_parts(run)]
            answers = pl.concat(parts).filter(pl.col("text").is_not_null()) if parts else pl.DataFrame()
            for row in read_answers(answers, asked_prompts(run.info)).iter_rows(named=True) if parts else ():
                cells = [f"{row['prompt']}, {row['order']}", str(row["verdict"]).replace("_", " "), row["text"]]
                of_statement = lists.setdefault(tuple(row[name] for name in STATEMENT), {})
                of_statement.setdefault(str(run.info["model"]), []).append(cells)
    return lists


def describe_conversations(runs: Iterable[Run]) -> list[dict[str, Any]]:
    """For each model that was asked: where it was, its prompts by language, and requests, tokens and cost."""
    asked = group_by(filter(has_answers, runs), lambda run: str(run.info["model"]))
    return [
        {
            "model": model,
            "where": ", ".join(dict.fromkeys(_where(run.info.get("facts", {})) for run in answers)),
            "took": took(answers),
            "prompts": list(_prompts(answers)),
        }
        for model, answers in asked.items()
    ]


def took(runs: Iterable[Run]) -> str:
    """Requests, tokens and, where the prices were given, the cost of some runs."""
    infos = [run.info for run in runs]
    tokens = {name: sum(info.get("tokens", {}).get(name, 0) for info in infos) for name in ("prompt", "answer")}
    text = f"{sum(info.get('requests', 0) for info in infos):,} requests, {tokens['prompt']:,} prompt and {tokens['answer']:,} answer tokens"
    if not all("prices" in info for info in infos):
        return text
    return f"{text}, cost {sum(map(_cost, infos)):.4g} at the prices of the run"


def _cost(info: Mapping[str, Any]) -> float:
    for_prompt, for_answer = info["prices"]
    tokens = info.get("tokens", {})
    return float(tokens.get("prompt", 0) * for_prompt + tokens.get("answer", 0) * for_answer) / 1e6


def _where(facts: Mapping[str, Any]) -> str:
    """The address of a server, or the device of a model that was opened here."""
    if facts.get("family") == SERVER:
        return f"endpoint {facts.get('source')}"
    return f"opened on {facts.get('device', 'this machine')}"


def _prompts(runs: Iterable[Run]) -> Iterator[tuple[str, str, str]]:
    """Language, name and wording of each prompt; the first question first."""
    for run in runs:
        asked = asked_prompts(run.info)
        prompts = dict(asked.prompts) if asked else {}
        for name in sorted(prompts, key=lambda name: (name != "stereotype", name)):
            yield language_name(run.info["language"]), name, prompts[name]
