"""Files of chat answers, row by row: tables, DecodingTrust's results, and the logs of Inspect and lm-evaluation-harness."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import BadData
from ..files.reading import Reading, reading_as
from ..files.rows import Row, read_log, read_rows
from .inspect import answer_of, read_members, text_of
from .lm_eval import model_of_samples

# what a row may say, and other usual names of the column
FIELDS: Mapping[str, tuple[str, ...]] = {
    "answer": ("response", "completion", "output", "generation"),
    "statement": ("sentence",),
    "prompt": ("user_prompt", "input"),
    "question": (),
    "model": ("model_name",),
    "language": ("lang",),
    "sample": ("epoch",),
    "order": (),
    "system_prompt": ("system",),
    "temperature": (),
    "verdict": ("label", "published_verdict"),
    "id": ("item_id",),
    "dataset": (),
    "category": ("bias_type", "topic"),
    "cluster": (),
}
GENERATED = re.compile(r"gen_(\d+)")
DECODINGTRUST = re.compile(r"_(?P<system>benign|untargeted|targeted)_(?P<topic>[a-z_]+)\.csv")
AGREEABILITY = {1: "agree", -1: "disagree", 0: "neither"}
END = "</s>"  # Llama's end of a text; what follows fills up the batch


@dataclass(frozen=True, slots=True)
class AnswerLayout:
    """A layout of files with answers: whether a file is of it, and how its rows get our names of columns.

    `question` is what its prompts ask, where the layout knows it.
    """

    recognise: Callable[[Path, frozenset[str]], bool]
    parse: Callable[[Path], Iterator[Row]]
    question: str | None = None


def parse_table(path: Path) -> Iterator[Row]:
    """The rows of a table; a column with another usual name gets ours where the file has no column of our name."""
    for line, row in read_rows(path):
        renamed = dict(row)
        for name, others in FIELDS.items():
            theirs = next((other for other in others if other in renamed), None)
            if name not in renamed and theirs is not None:
                renamed[name] = renamed.pop(theirs)
        yield line, renamed


def parse_decodingtrust(path: Path) -> Iterator[Row]:
    """One row per sample: each of the columns gen_0, gen_1, … is a dictionary, as text, of an answer and its verdict.

    The file's name says which kind of system prompt was used; the prompt itself may name the group of the statement.
    """
    named = DECODINGTRUST.search(path.name)
    facts = {"dataset": "decodingtrust", "language": "en"}
    if named:
        facts |= {"category": named["topic"]}
    for line, row in read_rows(path):
        shared = facts | {"model": row["model"], "prompt": row["user_prompt"], "system_text": row["system_prompt"]}
        shared["system_prompt"] = named["system"] if named else row["system_prompt"]
        for name, cell in row.items():
            sample = GENERATED.fullmatch(name)
            if sample and cell:
                yield line, {**shared, "sample": int(sample[1]), **_generated(path, line, cell=str(cell))}


def _generated(path: Path, line: int, *, cell: str) -> dict[str, str]:
    try:
        value = ast.literal_eval(cell)
        text, number = str(value["output"]), value["agreeability_num"]
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError) as error:
        raise BadData(path, line, "an answer must be a dictionary with 'output' and 'agreeability_num'.") from error
    verdict = AGREEABILITY.get(number, str(number))
    return {"answer": text.partition(END)[0].strip(), "verdict": verdict}


def parse_inspect(path: Path) -> Iterator[Row]:
    """One row per sample and epoch of a log of Inspect: the last message of the user, and what the model wrote."""
    header, samples = read_members(path)
    config = header.get("plan", {}).get("config", {}) | header["eval"].get("model_generate_config", {})
    shared = {"model": str(header["eval"].get("model", path.stem))}
    if config.get("temperature") is not None:
        shared["temperature"] = str(config["temperature"])
    for number, sample in enumerate(samples, 1):
        try:
            messages = {message["role"]: text_of(message["content"]) for message in sample["messages"]}
            row: dict[str, Any] = {**shared, "prompt": messages.get("user") or text_of(sample["input"])}
            row |= {"answer": answer_of(sample), "sample": int(sample.get("epoch", 1)) - 1, "id": str(sample["id"])}
            row |= {"system_prompt": messages["system"]} if "system" in messages else {}
            metadata = sample.get("metadata") or {}
            row |= {name: metadata[name] for name in FIELDS if isinstance(metadata.get(name), str)}
        except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
            raise BadData(path, number, f"a sample of the log has no {error}.") from error
        scores = [score.get("value") for score in (sample.get("scores") or {}).values() if isinstance(score, dict)]
        verdict = next((value for value in scores if isinstance(value, str)), None)
        yield number, row | ({"verdict": verdict} if verdict is not None else {})


def parse_lm_eval(path: Path) -> Iterator[Row]:
    """One row per generated text in a log of samples; the fields of the document are columns where they have our names."""
    for line, row in read_log(path):
        doc, arguments, answers = row["doc"], row["arguments"], row["resps"]
        try:
            first = next(iter(arguments.values())) if isinstance(arguments, dict) else arguments[0]
            texts = list(first.values()) if isinstance(first, dict) else first
            options = texts[1] if len(texts) > 1 and isinstance(texts[1], dict) else {}
            shared = {name: doc[name] for name in FIELDS if isinstance(doc, dict) and isinstance(doc.get(name), str)}
            shared |= {"prompt": str(texts[0]), "model": model_of_samples(path)}
            if "temperature" in options:
                shared["temperature"] = str(options["temperature"])
            generated = [text for group in answers for text in (group if isinstance(group, list) else [group])]
        except (StopIteration, IndexError, TypeError, KeyError, AttributeError) as error:
            raise BadData(path, line, "a sample must have 'arguments' with a prompt, and 'resps'.") from error
        if not all(isinstance(text, str) for text in generated):
            raise BadData(path, line, "these are log-likelihoods, not answers. Use the layout lm-eval.")
        yield from ((line, {**shared, "answer": text, "sample": sample}) for sample, text in enumerate(generated))


LAYOUTS: Mapping[str, AnswerLayout] = {
    "inspect": AnswerLayout(lambda path, columns: path.suffix == ".eval", parse_inspect),
    "decodingtrust": AnswerLayout(
        lambda path, columns: columns >= {"model", "system_prompt", "user_prompt", "gen_0"},
        parse_decodingtrust,
        "agree",
    ),
    "lm-eval": AnswerLayout(lambda path, columns: columns >= {"doc", "arguments", "resps"}, parse_lm_eval),
    "table": AnswerLayout(lambda path, columns: True, parse_table),
}


def find_layout(path: Path, reading: Reading) -> AnswerLayout:
    """The layout that a file is of, by its name and its columns."""
    columns: frozenset[str] = frozenset()
    if path.suffix != ".eval":
        with reading_as(reading):
            columns = frozenset(name for _, row in islice(read_log(path), 1) for name in row)
    return next(layout for layout in LAYOUTS.values() if layout.recognise(path, columns))
