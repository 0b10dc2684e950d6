"""Logs of Inspect (`.eval`): the answers of a chat model to StereoSet's items or BBQ's questions, read again as choices."""

import json
import struct
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..chat.choice_readings import read_choice
from ..chat.question_words import UNKNOWN
from ..errors import BadData, require
from ..items import ANTI_STEREOTYPE, STEREOTYPE, UNRELATED, Item, Items, group_by
from ..scores import Row, Scored, item_table, make_scored, row_table, skipped_rows

CHOICE = "choice"
NEWEST = 2  # the version of logs that is known here
LARGEST = 50_000_000  # bytes of one file in a log, unpacked
ROLES = (STEREOTYPE, ANTI_STEREOTYPE, UNRELATED)
STEREOSET, BBQ = "stereoset", "bbq"  # how the names of the tasks end
RIGHT = "right"
ZSTANDARD = 93
HEADER = struct.Struct("<26xHH")  # how long the name and the extra field of a member are


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer: the item's id, the options as shown with their roles, what the model wrote, what the harness counted."""

    item: str
    options: tuple[str, ...]
    roles: tuple[str, ...]
    answer: str
    counted: Mapping[str, float]


def read_log(path: Path, items: Items) -> tuple[str, list[Sample]]:
    """The model's name and the answers in a log of StereoSet or BBQ; a log of another task or version is refused."""
    header, logged = read_members(path)
    task = str(header["eval"].get("task"))
    if not task.endswith((STEREOSET, BBQ)):
        raise BadData(path, None, f"a log of the task '{task}'. Logs of the tasks 'stereoset' and 'bbq' can be read.")
    known = group_by(items, _texts) if task.endswith(BBQ) else None
    read = _sample if known is None else partial(_question, known=known)
    return str(header["eval"].get("model", path.stem)), [read(path, sample) for sample in logged]


def read_members(path: Path) -> tuple[dict[str, Any], list[Any]]:
    """The header of a log of any task, and its samples as they are in the file; an unknown version is refused."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if "header.json" not in names:
                raise BadData(path, None, "not a finished log of Inspect: it has no header.json.")
            header = _member(path, archive.getinfo("header.json"))
            _check_header(path, header)
            members = [name for name in names if name.startswith("samples/")]
            samples = [_member(path, archive.getinfo(name)) for name in members]
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, struct.error) as error:
        raise BadData(path, None, f"not a log of Inspect, or it is cut off ({error}).") from error
    if not samples:
        raise BadData(path, None, "the log has no samples.")
    return header, samples


def _member(path: Path, info: zipfile.ZipInfo) -> Any:
    """The JSON value in a file of the log, whose compression Python's own library may not know."""
    if info.file_size > LARGEST:
        raise BadData(path, None, f"{info.filename} unpacks to {info.file_size:,} bytes; at most {LARGEST:,} are read.")
    if info.compress_type != ZSTANDARD:
        with zipfile.ZipFile(path) as archive:
            return json.loads(archive.read(info))
    library = require("zstandard", extra="inspect")
    with path.open("rb") as file:
        file.seek(info.header_offset)
        name, extra = HEADER.unpack(file.read(HEADER.size))
        file.seek(info.header_offset + HEADER.size + name + extra)
        packed = file.read(info.compress_size)
    try:
        return json.loads(library.ZstdDecompressor().decompress(packed, max_output_size=LARGEST))
    except library.ZstdError as error:
        raise ValueError(f"{info.filename}: {error}") from error


def _check_header(path: Path, header: Any) -> None:
    version = header.get("version") if isinstance(header, dict) else None
    if not isinstance(version, int) or not isinstance(header.get("eval"), dict):
        raise BadData(path, None, "not a log of Inspect: its header has no version.")
    if version > NEWEST:
        raise BadData(
            path, None, f"a log of version {version}; the newest that is known here is {NEWEST}. Upgrade Isogloss."
        )


def _sample(path: Path, sample: Any) -> Sample:
    try:
        counted = sample.get("scores", {}).get("stereoset_scorer", {}).get("value", {})
        roles = tuple(map(str, sample["metadata"]["gold_labels"]))
        options = tuple(map(str, sample["choices"]))
        return Sample(
            str(sample["id"]), options, roles, answer_of(sample), counted if isinstance(counted, dict) else {}
        )
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise BadData(path, None, f"a sample of the log has no {error}; it is not one of StereoSet.") from error


def answer_of(sample: Any) -> str:
    """What the model wrote in a sample; an empty text where it wrote nothing."""
    choices = sample["output"].get("choices")
    return text_of(choices[0]["message"]["content"]) if choices else ""


def text_of(content: Any) -> str:
    """The text of a message, which may come in parts."""
    if isinstance(content, list):
        return " ".join(str(part.get("text", part.get("content", ""))) for part in content)
    return str(content)


def _question(path: Path, sample: Any, *, known: Mapping[frozenset[str], Sequence[Item]]) -> Sample:
    """An answer to a question; its item has the same three answers, and a context and a question that the model was shown."""
    try:
        options, shown = tuple(str(option).strip() for option in sample["choices"]), text_of(sample["input"])
        scores = [score.get("value") for score in (sample.get("scores") or {}).values()]
        answer = answer_of(sample)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise BadData(path, None, f"a sample of the log has no {error}; it is not one of BBQ.") from error
    same = [item for item in known.get(frozenset(options), ()) if _has_text(item, shown)]
    item = max(same, key=lambda item: len(item.context or ""), default=None)  # one context is the beginning of another
    if item is None:
        return Sample("", options, (), answer, {})
    roles = {candidate.text.strip(): candidate.role for candidate in item.candidates}
    counted = {RIGHT: float(scores[0] in ("C", 1, True))} if scores else {}
    return Sample(item.id, options, tuple(roles[option] for option in options), answer, counted)


def _texts(item: Item) -> frozenset[str]:
    return frozenset(candidate.text.strip() for candidate in item.candidates)


def _has_text(item: Item, shown: str) -> bool:
    return str(item.context).strip() in shown and str(item.question).strip() in shown


def read_choices(path: Path, items: Items, *, model: str | None = None) -> Scored:
    """The choices in a log as scored items: 1 for the option that was picked, 0 for the others and where none was."""
    name, samples = read_log(path, items)
    known = {item.id: item for item in items}
    outcomes: dict[str, list[str]] = {}
    labels: Counter[str] = Counter()
    for sample in samples:
        item = known.get(sample.item)
        if item is None:
            continue
        texts = {candidate.role: candidate.text.strip() for candidate in item.candidates}
        shown = zip(sample.roles, sample.options, strict=False)
        if {role: text.strip() for role, text in shown} != texts:
            raise BadData(path, None, f"the options of the sample '{sample.item}' are not those of the data.")
        picked = _pick(sample, language=item.language)
        labels.update([chr(ord("A") + picked)] if isinstance(picked, int) else [])
        outcomes.setdefault(item.id, []).append(sample.roles[picked] if isinstance(picked, int) else picked)
    if not outcomes:
        raise BadData(path, None, "none of its samples is an item of the data. Is it the right data?")
    kept = [known[outcome] for outcome in outcomes]
    rows = []
    for item in kept:
        choices = outcomes[item.id]
        for candidate in item.candidates:
            share = sum(outcome == candidate.role for outcome in choices) / len(choices)
            rows.append(Row(item, candidate.id, share, quantity=CHOICE, pieces=tuple(choices)))
    table = item_table(replace(items, rows=tuple(kept)))
    scored = make_scored(table, row_table(rows), labels={"model": model or name, "method": "inspect"})
    notes = (*_notes(samples, outcomes, labels=labels), *_accuracy_notes(samples, known))
    return replace(scored, skipped=skipped_rows(items), notes=notes)


def _pick(sample: Sample, *, language: str) -> int | str:
    unknown = sample.roles.index(UNKNOWN) if UNKNOWN in sample.roles else None
    return read_choice(sample.answer, sample.options, language=language, unknown=unknown)


def _notes(
    samples: Sequence[Sample], outcomes: Mapping[str, Sequence[str]], *, labels: Mapping[str, int]
) -> Iterator[str]:
    """Caveats: the outcomes, the preference for a label, and what the harness counted instead."""
    counts = Counter(outcome for item_outcomes in outcomes.values() for outcome in item_outcomes)
    total = sum(counts.values())
    there = {role for sample in samples for role in sample.roles}
    roles = [*(role for role in ROLES if role in there), *sorted(there - set(ROLES))]
    none = {name: number for name, number in counts.items() if name not in roles}
    shown = ", ".join(f"{counts[role]} {role}" for role in roles)
    missing = ", ".join(f"{number} {name}" for name, number in sorted(none.items())) or "none"
    yield f"{total} answers read as choices: {shown}; without a choice: {missing}"
    chosen = max(1, sum(labels.values()))
    shares = {label: 100 * labels.get(label, 0) / chosen for label in "ABC"}
    spread = max(shares.values()) - min(shares.values())
    listed = ", ".join(f"{label} {share:.0f} %" for label, share in shares.items())
    yield f"labels picked: {listed}; the largest difference is {spread:.0f} points. One order per item was asked"
    theirs = {role: sum(sample.counted.get(role, 0) for sample in samples) for role in (*ROLES, "invalid")}
    sides = theirs[STEREOTYPE] + theirs[ANTI_STEREOTYPE]
    ours = counts[STEREOTYPE] + counts[ANTI_STEREOTYPE]
    if sides and ours and (theirs[STEREOTYPE], sides) != (counts[STEREOTYPE], ours):
        yield (
            f"the harness counted SS {100 * theirs[STEREOTYPE] / sides:.1f} ({theirs[STEREOTYPE]:.0f} of {sides:.0f}) and "
            f"{100 * theirs['invalid'] / len(samples):.0f} % invalid; read again, SS is {100 * counts[STEREOTYPE] / ours:.1f} "
            f"({counts[STEREOTYPE]} of {ours}) and {100 * sum(none.values()) / total:.0f} % have no choice"
        )


def _accuracy_notes(samples: Sequence[Sample], known: Mapping[str, Item]) -> Iterator[str]:
    """The accuracy of questions by condition, as the harness counted it and read again over answers with a choice."""
    asked = [(known[sample.item], sample) for sample in samples if RIGHT in sample.counted]
    for condition, group in group_by(asked, lambda pair: str(pair[0].tags.get("condition"))).items():
        counted = 100 * sum(sample.counted[RIGHT] for _, sample in group) / len(group)
        picks = [
            sample.roles[picked] == item.tags["right"]
            for item, sample in group
            if isinstance(picked := _pick(sample, language=item.language), int)
        ]
        ours = (
            f"{100 * sum(picks) / len(picks):.1f} of {len(picks)} answers with a choice"
            if picks
            else "no answer has a choice"
        )
        yield f"accuracy on {len(group)} {condition} questions: the harness counted {counted:.1f}; read again, {ours}"
