"""A group of items for every metric, made of the same small numbers: (first, second, third, cluster) for each item."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from isogloss.chat.answer_rows import make_answer_rows
from isogloss.chat.prompt_words import PROMPTS
from isogloss.chat.records import ORDERS, Answer, answer_table
from isogloss.items import Candidate, Item, Items
from isogloss.scores import Row, Scored, item_table, make_scored, row_table
from support.builders import TRIPLE

Numbers = Sequence[tuple[float, float, float, int]]
TEXTS = ("Yes.", "No.", "I cannot answer that.", "Soup")
TERMS = ("man", "person", "woman")
LABELS = {"model": "tiny", "method": "x"}


def _item(name: str, task: str, roles: Sequence[str], **facts: Any) -> Item:
    tags = {"task": task, **facts.pop("tags", {})}
    candidates = tuple(Candidate(f"{name}-{role}", role, role) for role in roles)
    return Item(name, "made", "en", "gender", candidates, tags=tags, **facts)


def _scored(rows: Sequence[Row]) -> Scored:
    items = {row.item.id: row.item for row in rows}
    return make_scored(item_table(Items(tuple(items.values()))), row_table(rows), labels=LABELS)


def triples(numbers: Numbers) -> Scored:
    """A context with three candidates."""
    made = [(_item(f"i{n}", "intrasentence", TRIPLE, cluster=f"t{row[3]}"), row) for n, row in enumerate(numbers)]
    return _scored([Row(one, c.id, v) for one, row in made for c, v in zip(one.candidates, row[:3], strict=True)])


def _both(item: Item, values: Sequence[float], quantity: str) -> list[Row]:
    first, second = (candidate.id for candidate in item.candidates)
    return [
        Row(item, first, values[0], quantity=quantity, against=second),
        Row(item, second, values[1], quantity=quantity, against=first),
    ]


def pairs(numbers: Numbers) -> Scored:
    """Two sentences; the third number says in which direction they stereotype."""
    rows = []
    for n, (first, second, third, cluster) in enumerate(numbers):
        tags = {"direction": "stereo" if third > 0 else "antistereo"}
        one = _item(f"i{n}", "pair", TRIPLE[:2], cluster=f"t{cluster}", tags=tags)
        rows += [Row(one, c.id, v) for c, v in zip(one.candidates, (first, second), strict=True)]
        rows += _both(one, (first, second), "shared")
    return _scored(rows)


def contrasts(numbers: Numbers) -> Scored:
    """A stereotype and its contrast; the third number says whether the statement is implicit, the cluster where it is known."""
    rows = []
    for n, (first, second, third, cluster) in enumerate(numbers):
        tags = {"statement": "implicit" if third > 0 else "saying", "valid": "yes" if cluster % 2 else "no"}
        one = _item(f"i{n}", "contrast", (TRIPLE[0], "contrast"), cluster=f"t{cluster}", tags=tags)
        for quantity in ("contrast", "sentence", "completion"):
            rows += _both(one, (first, second), quantity)
    return _scored(rows)


def sentences(numbers: Numbers) -> Scored:
    """Single sentences of two groups, with vectors."""
    rows = []
    for n, row in enumerate(numbers):
        for role, value in zip(("female", "male"), row, strict=False):
            one = _item(f"i{n}-{role}", "sentence", (role,), cluster=f"i{n}-{role}")
            rows.append(Row(one, one.candidates[0].id, value, vector=(4.0, row[2])))
    return _scored(rows)


def templates(numbers: Numbers) -> Scored:
    """A sentence for each of three terms, as a demonym and as a periphrasis; each number is a template's concept."""
    rows = []
    for n, (*values, cluster) in enumerate(numbers):
        for name, logs in (("s", values), ("p", values[1:] + values[:1])):
            tags = {"set": name, "wording": f"w{cluster}", "concept": f"c{n}"}
            tags |= {"periphrasis_of": "s"} if name == "p" else {}
            one = _item(f"{name}{n}", "template", TERMS, cluster=f"{name}-w{cluster}", tags=tags)
            for candidate, log in zip(one.candidates, logs, strict=True):
                rows.append(Row(one, candidate.id, log, tokens=2, logprobs=(log - 1, 1.0)))
                rows.append(Row(one, candidate.id, log, quantity="normalised"))
                rows += [
                    Row(one, candidate.id, abs(log - other), tokens=9, quantity="kl", against=against.id)
                    for against, other in zip(one.candidates, logs, strict=True)
                    if against is not candidate
                ]
    return _scored(rows)


def samples(numbers: Numbers) -> Scored:
    """One prompt in one order, asked three times; each number picks an answer."""
    items = [_item(f"i{n}", "intrasentence", TRIPLE[:1], cluster=f"t{row[3]}") for n, row in enumerate(numbers)]
    made = [
        Answer(*one.key, one.candidates[0].id, PROMPTS[1], ORDERS[0], sample, TEXTS[int(v) % 4])
        for one, row in zip(items, numbers, strict=True)
        for sample, v in enumerate(row[:3])
    ]
    return make_scored(item_table(Items(tuple(items))), make_answer_rows(answer_table(made)), labels=LABELS)


def answers(numbers: Numbers) -> Scored:
    """Three prompts in both orders, with log-probabilities; each number picks an answer."""
    items = [_item(f"i{n}", "intrasentence", TRIPLE[:1], cluster=f"t{row[3]}") for n, row in enumerate(numbers)]
    made = [
        Answer(*one.key, one.candidates[0].id, prompt, order, 0, TEXTS[int(v) % 4], yes=-abs(v), no=math.log(0.5))
        for one, row in zip(items, numbers, strict=True)
        for prompt, v in zip(PROMPTS, row[:3], strict=True)
        for order in ORDERS
    ]
    return make_scored(item_table(Items(tuple(items))), make_answer_rows(answer_table(made)), labels=LABELS)


def choices(numbers: Numbers) -> Scored:
    """Three options in two orders; the first two numbers pick one or none in each."""
    roles, rows, places = (*TRIPLE, "refused"), [], {}
    for n, (first, second, _, cluster) in enumerate(numbers):
        one, picked = _item(f"i{n}", "intersentence", TRIPLE, cluster=f"t{cluster}"), (int(first) % 4, int(second) % 4)
        places[one.id] = [pick if pick < 3 else -1 for pick in (picked[0], (picked[1] + 1) % 3 if picked[1] < 3 else 3)]
        for index, candidate in enumerate(one.candidates):
            share, outcomes = picked.count(index) / 2, tuple(roles[pick] for pick in picked)
            rows.append(Row(one, candidate.id, share, quantity="choice", pieces=outcomes))
    scored = _scored(rows)
    column = pl.Series("places", [places[name] for name in scored.table["id"]], dtype=pl.List(pl.Int64))
    return replace(scored, table=scored.table.with_columns(column))


def contrasts_chosen(numbers: Numbers) -> Scored:
    """A stereotype and its contrast, of which the first number picks one or none."""
    rows = []
    for n, (first, _, _, cluster) in enumerate(numbers):
        one = _item(f"i{n}", "contrast", (TRIPLE[0], "contrast"), cluster=f"t{cluster}")
        picked = int(first) % 3
        rows += [Row(one, c.id, float(picked == i), quantity="choice") for i, c in enumerate(one.candidates)]
    return _scored(rows)


def stereotypes(numbers: Numbers) -> Scored:
    """Sentences said by a man or a woman, about stereotypes of both; every second item is about women."""
    rows = []
    for n, (first, second, _, cluster) in enumerate(numbers):
        tags = {"about": ("men", "women")[n % 2], "target": f"s{n % 2}", "wording": "0"}
        one = _item(f"i{n}", "gest", TRIPLE[:2], cluster=f"t{cluster}", tags=tags)
        rows += [Row(one, c.id, v) for c, v in zip(one.candidates, (first, second), strict=True)]
    return _scored(rows)


def questions(numbers: Numbers) -> Scored:
    """Questions with three answers, of which the first number picks one or none; the others say what is asked."""
    rows = []
    for n, (first, second, third, cluster) in enumerate(numbers):
        directed = second != 3
        roles = ("target", "other", "unknown") if directed else ("first", "second", "unknown")
        condition = "disambiguated" if third > 0 else "ambiguous"
        tags = {"condition": condition, "biased": ("target", "other")[int(second) % 2] if directed else "none"}
        tags["right"] = roles[int(third) % 2] if third > 0 else "unknown"
        one = _item(f"i{n}", "question", roles, cluster=f"t{cluster}", tags=tags)
        picked = int(first) % 4
        rows += [Row(one, c.id, float(picked == i), quantity="choice") for i, c in enumerate(one.candidates)]
    return _scored(rows)


KINDS: dict[str, Callable[[Numbers], Scored]] = {
    "triples": triples,
    "pairs": pairs,
    "contrasts": contrasts,
    "sentences": sentences,
    "templates": templates,
    "answers": answers,
    "samples": samples,
    "choices": choices,
    "contrasts_chosen": contrasts_chosen,
    "stereotypes": stereotypes,
    "questions": questions,
}
SWAPS = ((TRIPLE[0], TRIPLE[1]), (TRIPLE[0], "contrast"), ("female", "male"), ("man", "woman"))


def swapped(scored: Scored) -> Scored:
    """The same scores with the two roles exchanged."""
    roles = set(scored.table["role"])
    one, other = next(pair for pair in SWAPS if set(pair) <= roles)
    return Scored(scored.table.with_columns(pl.col("role").replace({one: other, other: one})))


def without(scored: Scored, **columns: Any) -> Scored:
    """The same without the rows that have these values."""
    return Scored(scored.table.filter(~pl.all_horizontal(pl.col(name) == value for name, value in columns.items())))
