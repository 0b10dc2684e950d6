"""The BBQ family: a context, a question and three answers (target group, other group, unknown); one table of layouts."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..errors import BadData
from ..files.reading import remark
from ..files.rows import OnBadRow, read_rows
from ..files.sources import UNCATEGORISED, Dataset, language_in_name, row_language, row_text
from ..items import Candidate, Item
from ._kobbq import TEMPLATE_COLUMNS, expand_template

TASK = "question"
ROLES = (TARGET, OTHER, UNKNOWN) = ("target", "other", "unknown")
UNDIRECTED = ("first", "second")  # roles of two answers of which none, or both, are the target group
NONE = "none"
POLARITIES = {
    "neg": "negative",
    "nonneg": "non-negative",
    "negative": "negative",
    "nonnegative": "non-negative",
    "bsd": "negative",
    "cnt": "non-negative",
}
CONDITIONS = {
    "amb": "ambiguous",
    "ambig": "ambiguous",
    "ambiguous": "ambiguous",
    "dis": "disambiguated",
    "disambig": "disambiguated",
    "disambiguous": "disambiguated",
    "disambiguated": "disambiguated",
    "ambiguouscontext": "ambiguous",
    "disambiguouscontext": "disambiguated",
}
CONTROL = "control"
CONTROL_FILE = re.compile(r"_control(?=[_.])", re.IGNORECASE)
NAMES_FILE = re.compile(r"_proper_names(?=[_.])", re.IGNORECASE)
LANGUAGE_FIRST = re.compile(r"([a-z]{2,3})_")
SAMPLE = re.compile(r"(?P<category>.+)-(?P<template>\d+)(?P<version>[a-z]?)-(?P<example>\d+)-(?P<condition>amb|dis)-(?P<polarity>bsd|cnt)")  # fmt: skip
KOREAN_UNKNOWN = "없음"  # how all of KoBBQ's published wordings of unknown end
SAME_GROUP = {  # how MBBQ's three languages name in the answers what the stereotyped groups call F and M
    "f": ("woman", "women", "girl", "girls", "female", "mujer", "chica", "kadın", "kız"),
    "m": ("man", "men", "boy", "boys", "male", "hombre", "chico", "adam", "erkek çocuk"),
    "trans": ("transgender women", "transgender men"),
}


@dataclass(frozen=True, slots=True)
class Layout:
    """How the files of one data set name the columns; a dot leads into an object, {} is the number of an answer.

    `language` is that of files that name none; `places` are the answers of the target group and of *unknown*, where their
    place is all that says so; `category` and `template` are those of rows that have none. `categories` are those by which a data set is known
    whose columns are another's.
    """

    dataset: str
    columns: Mapping[str, str] = field(default_factory=dict)
    language: str | None = None
    places: tuple[int, int] | None = None
    category: str = UNCATEGORISED
    template: str = ""
    categories: frozenset[str] = frozenset()

    def value(self, row: Mapping[str, Any], name: str, *, number: int | None = None) -> Any:
        """What the row has in our column `name`, or None."""
        column = self.columns.get(name, name).format(number)
        if column in row or "." not in column:
            return row.get(column)
        outer, _, inner = column.partition(".")
        holder = row.get(outer)
        if isinstance(holder, str) and holder.lstrip().startswith("{"):
            holder = {str(key): value for key, value in dict(_literal(holder)).items()}
        return holder.get(inner) if isinstance(holder, Mapping) else None


BBQ = {
    "example": "example_id",
    "template": "question_index",
    "polarity": "question_polarity",
    "condition": "context_condition",
    "answer": "ans{}",
    "group": "answer_info.ans{}",
    "targets": "additional_metadata.stereotyped_groups",
    "version": "additional_metadata.version",
}
LAYOUTS: dict[str, tuple[frozenset[str], Layout]] = {  # by name: the columns that only this one has, and the layout
    "KoBBQ": (frozenset({"sample_id", "choices", "biased_answer", "answer"}), Layout("kobbq", {}, "ko")),
    "EsBBQ": (
        frozenset({"instance_id", "template_id", "stereotyped_groups", "answer_info.ans0"}),
        Layout(
            "esbbq",
            {**BBQ, "example": "instance_id", "template": "template_id", "targets": "stereotyped_groups", "version": "version"},
        ),
    ),
    "CBBQ": (
        frozenset({"bias_targeted_groups", "question_index"}),
        Layout("cbbq", {**BBQ, "targets": "bias_targeted_groups", "version": "version"}, "zh", (0, 2)),
    ),
    "GG-BBQ": (
        frozenset({"choice_info", "known_stereotyped_groups"}),
        Layout(
            "gg_bbq",
            {
                "example": "index",
                "template": "relevant_social_values",
                "polarity": "question_type",
                "condition": "context_type",
                "answer": "choice_{}",
                "group": "choice_info.{}",
                "targets": "known_stereotyped_groups",
            },
            "de",
            category="Gender_identity",
            template="no value stated",
        ),
    ),
    "BasqBBQ": (
        frozenset({"additional_metadata", "answer_info"}),
        Layout(
            "basqbbq",
            BBQ,
            "eu",
            categories=frozenset(
                {
                    "Adin",
                    "Arraza_etnizitate",
                    "Ezgaitasun_egoera",
                    "Genero_identitate",
                    "Itxura_fisikoa",
                    "MSE",
                    "Nazionalitate",
                    "Orientazio_sexual",
                }
            ),
        ),
    ),
    "BBQ": (frozenset({"additional_metadata", "answer_info"}), Layout("bbq", BBQ, "en")),
    "columns": (frozenset(), Layout("bbq", {**BBQ, "targets": "stereotyped_groups", "version": "version"})),
}  # fmt: skip
ASKED = frozenset({"context", "question"})
RECOGNISED = (
    ASKED | {"ans0", "ans1", "ans2", "label"},
    ASKED | {"choice_0", "choice_1", "choice_2", "label", *LAYOUTS["GG-BBQ"][0]},
    ASKED | LAYOUTS["KoBBQ"][0],
    TEMPLATE_COLUMNS,
)


def recognise(columns: frozenset[str]) -> bool:
    """Whether a file has a context, a question, three answers and a label, or KoBBQ's samples or templates."""
    return any(columns >= recognised for recognised in RECOGNISED)


def parse(path: Path, language: str | None, *, bad: OnBadRow) -> Iterator[Item]:
    """The questions of a file; those without a bias direction are kept, and their number is remarked.

    EsBBQ's files are named after their language first (es_Religion.csv); BBQ's columns in a file that is named after its
    language last (Age_es.jsonl) are MBBQ. A template of KoBBQ becomes all its samples.
    """
    control = bool(CONTROL_FILE.search(path.name))
    undirected = 0
    for line, row in read_rows(path, bad):
        try:
            for sample in expand_template(row) if row.keys() >= TEMPLATE_COLUMNS else (row,):
                item = _read_row(sample, path, language=language, control=control)
                undirected += item.tags["biased"] == NONE
                yield item
        except ValueError as error:
            bad(BadData(path, line, str(error)))
    if undirected:
        remark(path, f"{undirected} questions have no bias direction: none or both of the answers are the target group")


def _read_row(row: Mapping[str, Any], path: Path, *, language: str | None, control: bool) -> Item:
    layout = _layout(row, path)
    facts = _sample(row) if layout.dataset == "kobbq" else _facts(row, layout)
    first = LANGUAGE_FIRST.match(path.name) if layout.dataset == "esbbq" else None
    tag = row_language(row, first[1] if first else language or layout.language)
    return _item(facts, dataset=str(row.get("dataset") or layout.dataset), language=tag, control=control)


def _layout(row: Mapping[str, Any], path: Path) -> Layout:
    """The layout whose columns, and categories, a row has; some data sets are known by the names of their files."""
    columns, category = frozenset(row), str(row.get("category")).strip()
    name, layout = next(
        (name, layout)
        for name, (base, layout) in LAYOUTS.items()
        if base <= columns and (not layout.categories or category in layout.categories)
    )
    if name == "BBQ" and language_in_name(path):
        return Layout("mbbq", layout.columns)
    if name == "GG-BBQ" and NAMES_FILE.search(path.name):
        return replace(layout, dataset="gg_bbq_names")
    return layout


@dataclass(frozen=True, slots=True)
class Facts:
    """What a row says about its question, whatever the layout; `target` is the place of the target group, if it has one."""

    category: str
    template: str
    version: str
    example: str
    polarity: str
    condition: str
    context: str
    question: str
    answers: tuple[str, ...]
    right: int
    unknown: int
    target: int | None


def _facts(row: Mapping[str, Any], layout: Layout) -> Facts:
    answers = tuple(_text(layout.value(row, "answer", number=number), f"ans{number}") for number in range(3))
    groups = [_group(layout.value(row, "group", number=number)) for number in range(3)]
    unknowns = [number for number, (_, group) in enumerate(groups) if group.casefold() == UNKNOWN]
    target: int | None
    if layout.places:
        target, unknown = layout.places
    elif len(unknowns) == 1:
        unknown = unknowns[0]
        target = _target(groups, _listed(layout.value(row, "targets")), unknown=unknown)
    else:
        raise ValueError("one of the three answers must have the group 'unknown' in 'answer_info'.")
    label = str(row.get("label")).strip()
    if label not in ("0", "1", "2"):
        raise ValueError(f"'label' is '{label}'; it must be 0, 1 or 2.")
    return Facts(
        category=str(layout.value(row, "category") or layout.category).strip(),
        template=_text(layout.value(row, "template") or layout.template, "question_index"),
        version=_version(layout.value(row, "version")),
        example=_text(layout.value(row, "example"), "example_id"),
        polarity=_known(layout.value(row, "polarity"), POLARITIES, name="question_polarity"),
        condition=_known(layout.value(row, "condition"), CONDITIONS, name="context_condition"),
        context=row_text(row, "context"),
        question=row_text(row, "question"),
        answers=answers,
        right=int(label),
        unknown=unknown,
        target=target,
    )


def _sample(row: Mapping[str, Any]) -> Facts:
    """KoBBQ's test samples: the id says category, template, version, sample, condition and polarity.

    In a disambiguated context whose right answer is the biased one, *unknown* is recognized by its words.
    """
    match = SAMPLE.fullmatch(row_text(row, "sample_id").strip())
    if match is None:
        raise ValueError(f"the sample_id '{row['sample_id']}' is not like age-001a-002-amb-bsd.")
    choices = [str(choice).strip() for choice in _listed(row.get("choices"))]
    biased, answer = row_text(row, "biased_answer").strip(), row_text(row, "answer").strip()
    if len(choices) != 3 or len(set(choices)) != 3 or not {biased, answer} <= set(choices):
        raise ValueError("'choices' must list three different answers, among them 'answer' and 'biased_answer'.")
    condition, polarity = CONDITIONS[match["condition"]], POLARITIES[match["polarity"]]
    left = [number for number, choice in enumerate(choices) if choice not in (biased, answer)]
    worded = [number for number in left if choices[number].endswith(KOREAN_UNKNOWN)]
    unknowns = [choices.index(answer)] if condition == "ambiguous" else left if len(left) == 1 else worded
    if len(unknowns) != 1:
        raise ValueError(f"which of the choices {choices} means unknown? One must end in '{KOREAN_UNKNOWN}'.")
    unknown = unknowns[0]
    other = next(number for number in range(3) if number not in (unknown, choices.index(biased)))
    return Facts(
        match["category"], match["template"], match["version"], match["example"], polarity, condition,
        row_text(row, "context"), row_text(row, "question"), tuple(choices), choices.index(answer), unknown,
        choices.index(biased) if polarity == "negative" else other,
    )  # fmt: skip


def _item(facts: Facts, *, dataset: str, language: str, control: bool) -> Item:
    """The item; its id has all that must agree for two languages, or an item and its control, to be the same question.

    That includes who is right in a disambiguated context: under one number, MBBQ has contexts that confirm the stereotype
    in one language and contradict it in another.
    """
    roles = _roles(facts)
    polarity, condition = facts.polarity.removesuffix("ative"), facts.condition[:3]
    parts = [facts.category, facts.example, facts.template + facts.version, polarity, condition]
    name = "-".join([*parts, *([roles[facts.right]] if facts.right != facts.unknown else [])])
    item_id = f"{name}~{CONTROL}" if control else name
    biased = NONE if facts.target is None else TARGET if facts.polarity == "negative" else OTHER
    return Item(
        id=item_id,
        dataset=dataset,
        language=language,
        category=facts.category,
        candidates=tuple(
            Candidate(f"{item_id}-{role}", role, text, correct=number == facts.right)
            for number, (role, text) in enumerate(zip(roles, facts.answers, strict=True))
        ),
        context=facts.context,
        cluster=f"{facts.category}-{facts.template}",
        tags={
            "task": TASK,
            "polarity": facts.polarity,
            "condition": facts.condition,
            "biased": biased,
            "right": roles[facts.right],
        },
        derived_from=name if control else None,
        variant=CONTROL if control else None,
        question=facts.question,
    )


def _roles(facts: Facts) -> list[str]:
    """The role of each answer; two that no target group distinguishes are the first and the second."""
    groups = [number for number in range(3) if number != facts.unknown]
    names = UNDIRECTED if facts.target is None else [TARGET if number == facts.target else OTHER for number in groups]
    roles = dict(zip(groups, names, strict=True)) | {facts.unknown: UNKNOWN}
    return [roles[number] for number in range(3)]


def _target(groups: Sequence[tuple[str, str]], targets: Sequence[str], *, unknown: int) -> int | None:
    """The place of the one answer whose group is stereotyped, by its code, by its meaning, or by the words of the answer."""
    places = [number for number in range(3) if number != unknown]
    for part, plain in ((1, _letters), (1, _meaning), (0, _letters)):
        wanted = {plain(target) for target in targets}
        matching = [number for number in places if plain(groups[number][part]) in wanted]
        if matching:
            return matching[0] if len(matching) == 1 else None
    return None


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _meaning(text: str) -> str:
    """The group without the gender before it ("F-Black"), and in one word for all that mean the same."""
    short = re.sub(r"^[FM]-(?=.)", "", text.strip()).casefold()
    return next((group for group, words in SAME_GROUP.items() if short in words), _letters(short))


def _group(value: Any) -> tuple[str, str]:
    """The words and the group of an answer; a single value is both."""
    parts = [str(part).strip() for part in _listed(value)]
    return (parts[0], parts[-1]) if parts else ("", "")


def _listed(value: Any) -> list[Any]:
    """A list, also one that is written as text ("['a', 'b']" or "a, b")."""
    if isinstance(value, str) and value.strip().startswith("["):
        value = _literal(value)
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return list(value) if isinstance(value, list | tuple) else []


def _literal(text: str) -> Any:
    """The list or object that a cell holds as text."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(f"'{text[:40]}' is not a list.") from error


def _known(value: Any, names: Mapping[str, str], *, name: str) -> str:
    key = str(value).strip().casefold()
    key = key.replace("_", "").replace("-", "")
    if key not in names:
        raise ValueError(f"'{name}' is '{value}'; use one of {', '.join(names)}.")
    return names[key]


def _version(value: Any) -> str:
    text = str(value or "").strip()
    return "" if text == "None" else text


def _text(value: Any, name: str) -> str:
    return row_text({name: value}, name).strip()


dataset = Dataset(
    title="BBQ",
    summary="Questions about a context with three answers: BBQ and its translations; KoBBQ as samples or templates.",
    licence="CC BY 4.0 (BBQ, MBBQ), Apache-2.0 (EsBBQ, CaBBQ), MIT (KoBBQ), CC BY-SA 4.0 (CBBQ), CC BY-NC-SA 4.0 (BasqBBQ), CC BY 4.0 (GG-BBQ)",
    citation="Parrish et al. (2022), BBQ; MBBQ: Neplenbroek et al. (2024); KoBBQ: Jin et al. (2024); CBBQ: Huang and Xiong (2024); EsBBQ and CaBBQ: Ruiz-Fernández et al. (2025); BasqBBQ: Zulaika and Saralegi (2025); GG-BBQ: Satheesh et al. (2025).",
    url="https://github.com/nyu-mll/BBQ",
    recognise=recognise,
    parse=parse,
    columns=("context", "question", "ans0", "ans1", "ans2", "label", "answer_info.ans0", "stereotyped_groups"),
)
