"""The core nouns: a candidate, an item, a set of items, and the problems found in it."""

from __future__ import annotations

import gc
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar, overload

from . import results

if TYPE_CHECKING:
    import polars as pl

STEREOTYPE = "stereotype"
ANTI_STEREOTYPE = "anti-stereotype"
UNRELATED = "unrelated"
CONTRAST = "contrast"
BLANK = "BLANK"
ANNOTATORS = "annotators"  # the first word of the columns about annotators

Key = tuple[str, str, str]
Tag = str | tuple[str, ...]
Group = TypeVar("Group")
Member = TypeVar("Member")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the compared texts of an item: the stored sentence, and the word that fills BLANK, if any.

    `correct` says whether it is a right answer, where the item has a question.
    """

    id: str
    role: str
    text: str
    word: str | None = None
    correct: bool | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One question to a model; items with the same `cluster` are resampled together, and `tags` are further columns.

    A control item or negated counterpart has a `variant`, and `derived_from` names its source. `question` is asked
    about the context, where the candidates are answers.
    """

    id: str
    dataset: str
    language: str
    category: str | None
    candidates: tuple[Candidate, ...]
    context: str | None = None
    cluster: str | None = None
    tags: Mapping[str, Tag] = field(default_factory=dict)
    derived_from: str | None = None
    variant: str | None = None
    question: str | None = None

    @property
    def key(self) -> Key:
        return (self.dataset, self.id, self.language)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong, or odd, in the data: which check found it, how severe it is, and where."""

    check: str
    severity: str
    item: str
    message: str
    language: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Items:
    """Items that were read together, with the problems found in them."""

    rows: Sequence[Item]
    problems: tuple[Problem, ...] = ()

    def __iter__(self) -> Iterator[Item]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> Items: ...

    def __getitem__(self, index: int | slice) -> Item | Items:
        """One item, or some of them as items that can be scored."""
        return part_of(self, self.rows[index]) if isinstance(index, slice) else self.rows[index]

    def __add__(self, other: Items) -> Items:
        return Items((*self.rows, *other.rows), self.problems + other.problems)

    def filter(self, **columns: str | Sequence[str]) -> Items:
        """The items with these values, as `where` of `isogloss.read` chooses them: `filter(category="gender", task=["intrasentence"])`."""
        from .files.filters import filter_items

        return filter_items(self, columns)

    def __repr__(self) -> str:
        datasets, languages = {item.dataset for item in self}, {item.language for item in self}
        return f"Items({len(self)} items of {', '.join(sorted(datasets))} in {', '.join(sorted(languages))})"

    def __str__(self) -> str:
        from .files.overview import describe_items, overview_as_text

        return overview_as_text(describe_items(self))

    def _repr_html_(self) -> str:
        return results.as_preformatted(str(self))

    def to_polars(self) -> pl.DataFrame:
        """One row per item and candidate."""
        from .scores import item_table

        return item_table(self)

    def to_dict(self) -> dict[str, Any]:
        """The items and the problems found in them, as plain dictionaries."""
        return {"items": [asdict(row) for row in self.rows], "problems": [asdict(problem) for problem in self.problems]}

    to_pandas = results.pandas_of
    to_json = results.json_of


@contextmanager
def collection_paused() -> Iterator[None]:
    """Items have no cycles, and looking for some among millions of new objects again and again takes a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def problem_counts(problems: tuple[Problem, ...]) -> dict[str, int]:
    """How often each check spoke, by name."""
    return dict(Counter(problem.check for problem in problems))


def items_hash(items: Iterable[Item]) -> str:
    """The SHA-256 of everything the items say, so that a score is never taken for other data.

    What annotators said about them is left out: no score depends on it.
    """
    digest = hashlib.sha256()
    for item in items:
        if any(name.startswith(ANNOTATORS) for name in item.tags):
            item = replace(item, tags={k: v for k, v in item.tags.items() if not k.startswith(ANNOTATORS)})
        digest.update(json.dumps(_hashed(item), ensure_ascii=False, sort_keys=True).encode())
        digest.update(b"\n")
    return digest.hexdigest()


def _hashed(item: Item) -> dict[str, Any]:
    """What is hashed of an item; a question and correct answers only where there are any, so that older hashes stay valid."""
    content = asdict(item)
    for part, name in ((content, "question"), *((candidate, "correct") for candidate in content["candidates"])):
        if part[name] is None:
            del part[name]
    return content


def part_of(items: Items, rows: Sequence[Item]) -> Items:
    """Some of the items, with the problems that are theirs or nobody's; unreadable rows stay counted."""
    ids = {(item.language, item.id) for item in rows}
    kept = (
        problem
        for problem in items.problems
        if problem.language is None or problem.check == "unreadable" or (problem.language, problem.item) in ids
    )
    return Items(tuple(rows), tuple(kept))


def limit_items(items: Items, limit: int | None, *, seed: int = 0) -> Items:
    """At most `limit` items of each data set, language and task, drawn as `sample_items` does; all without a limit."""
    if limit is None:
        return items
    groups = group_by(items, lambda item: (item.dataset, item.language, str(item.tags.get("task")))).values()
    kept = {item.key for rows in groups for item in sample_items(Items(tuple(rows)), limit=limit, seed=seed)}
    return part_of(items, [item for item in items if item.key in kept])


def sample_items(items: Items, *, limit: int, seed: int = 0) -> Items:
    """At most `limit` items, drawn in turn from every cluster in seeded order; the file's order is kept.

    Control items of an item that is there come with it and do not count. The draw depends on the clusters' names, the items' ids and the seed alone, so parallel languages keep parallel items.
    """
    ids = {item.id for item in items}
    controls = {
        item.id: item.derived_from for item in items if item.derived_from != item.id and item.derived_from in ids
    }
    if len(ids) - len(controls) <= limit:
        return items

    def random_key(text: str) -> str:
        return hashlib.sha256(f"{seed} {text}".encode()).hexdigest()

    turns: dict[str, int] = {}
    order = []
    for item in sorted((item for item in items if item.id not in controls), key=lambda item: random_key(item.id)):
        cluster = item.cluster or item.id
        turns[cluster] = turns.get(cluster, 0) + 1
        order.append((turns[cluster], random_key(cluster), item.id))
    kept = {item_id for _, _, item_id in sorted(order)[:limit]}
    return replace(items, rows=tuple(item for item in items if controls.get(item.id, item.id) in kept))


def group_by(members: Iterable[Member], key: Callable[[Member], Group]) -> dict[Group, list[Member]]:
    """The members of each group; groups and members keep their order."""
    groups: dict[Group, list[Member]] = {}
    for member in members:
        groups.setdefault(key(member), []).append(member)
    return groups
