"""Large sets of items as tables: a million items in a third of the memory, made into objects again when they are asked for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from typing import Any, overload

import numpy as np
import polars as pl

from .items import Candidate, Item

CHUNK = 5_000  # items that are read, checked and packed at a time
PACKED_FROM = 100_000  # items; fewer stay objects
ITEM_COLUMNS = ("id", "context", "cluster", "derived_from", "question")
CANDIDATE_COLUMNS = ("id", "text", "word", "correct")

Shared = tuple[str, str, str | None, str | None, tuple[str, ...], Mapping[str, Any]]
"""What many items have in common, stored once: data set, language, category, variant, the candidates' roles, tags."""


@dataclass(frozen=True, slots=True)
class ItemTables:
    """Some items as two tables, with one row per item and one row per candidate; `shared` is what rows refer to by number."""

    items: pl.DataFrame
    candidates: pl.DataFrame
    shared: Sequence[Shared]

    def unpack(self) -> list[Item]:
        """The items as objects."""
        texts = zip(*(_cells(self.candidates, name) for name in CANDIDATE_COLUMNS), strict=True)
        cells = zip(*(_cells(self.items, name) for name in ("number", *ITEM_COLUMNS)), strict=True)
        rows = []
        for number, name, context, cluster, source, question in cells:
            dataset, language, category, variant, roles, tags = self.shared[number]
            pairs = zip(roles, islice(texts, len(roles)), strict=True)
            own = tuple([Candidate(key, role, text, word, correct) for role, (key, text, word, correct) in pairs])
            rows.append(Item(name, dataset, language, category, own, context, cluster, tags, source, variant, question))
        return rows

    def choose(self, indexes: Any, *, each: int) -> ItemTables:
        """Some of the items, of which all have `each` candidates."""
        own = (each * indexes[:, None] + np.arange(each)).ravel()
        return ItemTables(self.items[indexes], self.candidates[own], self.shared)


def _cells(table: pl.DataFrame, name: str) -> list[Any]:
    """The values of a column; a column that is not there is empty."""
    return table[name].to_list() if name in table.columns else [None] * table.height


def make_tables(
    columns: Mapping[str, Sequence[Any]], candidates: Mapping[str, Sequence[Any]], *, shared: Sequence[Shared]
) -> ItemTables:
    """Tables from their columns: number, id, context, cluster and derived_from, and id, text and word of the candidates."""
    kinds = {name: pl.UInt32 if name == "number" else pl.String for name in columns}
    texts = pl.DataFrame(
        candidates, schema={name: pl.Boolean if name == "correct" else pl.String for name in candidates}
    )
    return ItemTables(pl.DataFrame(columns, schema=kinds), texts, shared)


class PackedItems(Sequence[Item]):
    """Items in tables; each access makes the objects anew."""

    def __init__(self, tables: Sequence[ItemTables]) -> None:
        self.tables = tables
        self._starts = [0, *accumulate(table.items.height for table in tables)]

    @property
    def kinds(self) -> set[tuple[str, str]]:
        """The data sets and languages of the items, as pairs."""
        return {table.shared[number][:2] for table in self.tables for number in table.items["number"].unique()}

    def __len__(self) -> int:
        return self._starts[-1]

    def __iter__(self) -> Iterator[Item]:
        return chain.from_iterable(table.unpack() for table in self.tables)

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Item, ...]: ...

    def __getitem__(self, index: int | slice) -> Item | tuple[Item, ...]:
        numbers = range(len(self))[index]
        chosen = [numbers] if isinstance(numbers, int) else numbers
        positions = [(bisect_right(self._starts, number) - 1, number) for number in chosen]
        unpacked = {table: self.tables[table].unpack() for table in {table for table, _ in positions}}
        items = tuple(unpacked[table][number - self._starts[table]] for table, number in positions)
        return items[0] if isinstance(numbers, int) else items

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(Item.__eq__, self, other))

    def __repr__(self) -> str:
        return f"PackedItems({len(self)} items)"


class Packer:
    """Takes items in chunks, and packs them once there are many."""

    def __init__(self) -> None:
        self._chunks: list[Sequence[Item]] = []
        self._size = 0
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._shared: list[Shared] = []

    def __len__(self) -> int:
        return self._size

    def add(self, items: Sequence[Item]) -> None:
        """Take more items."""
        self._chunks.append(items)
        self._size += len(items)
        if self._size >= PACKED_FROM:
            self._chunks = [chunk if isinstance(chunk, PackedItems) else self._pack(chunk) for chunk in self._chunks]
            self._chunks = [PackedItems([table for chunk in self._chunks for table in chunk.tables])]  # type: ignore[attr-defined]

    def finish(self) -> Sequence[Item]:
        """All items, packed if there are many."""
        if self._size >= PACKED_FROM:
            return self._chunks[0]
        return tuple(item for chunk in self._chunks for item in chunk)

    def _pack(self, items: Sequence[Item]) -> PackedItems:
        own = [candidate for item in items for candidate in item.candidates]
        columns: dict[str, list[Any]] = {"number": [self._number(item) for item in items]}
        columns |= {name: [getattr(item, name) for item in items] for name in ITEM_COLUMNS}
        texts = {name: [getattr(candidate, name) for candidate in own] for name in CANDIDATE_COLUMNS}
        return PackedItems([make_tables(columns, texts, shared=self._shared)])

    def _number(self, item: Item) -> int:
        """The number of what an item shares with others."""
        roles = tuple([candidate.role for candidate in item.candidates])
        facts = (item.dataset, item.language, item.category, item.variant, roles)
        number = self._numbers.setdefault((*facts, *item.tags.items()), len(self._shared))
        if number == len(self._shared):
            self._shared.append((*facts, item.tags))
        return number


def hashes(keys: Iterable[object]) -> Any:
    """The hash of each key, in one array."""
    return np.fromiter(map(hash, keys), np.int64)


def item_hashes(items: Sequence[Item]) -> Any:
    """A hash for the key of each item."""
    if not isinstance(items, PackedItems):
        return hashes((item.dataset, item.language) for item in items) ^ hashes(item.id for item in items)
    ids = hashes(name for table in items.tables for name in table.items["id"].to_list())
    return ids ^ hashes(
        table.shared[number][:2] for table in items.tables for number in table.items["number"].to_list()
    )


class SeenHashes:
    """Which hashes came before, in eight bytes each; two keys of a million pass for the same in one of ten million files."""

    def __init__(self) -> None:
        self._blocks: list[Any] = []  # sorted

    def all_new(self, keys: Any) -> bool:
        """Whether all hashes of an array differ from each other and from those before; only then they are noted."""
        ordered = np.sort(keys)
        new = not (ordered[1:] == ordered[:-1]).any() and not self._known(ordered).any()
        if new:
            self._note(ordered)
        return new

    def first_repeats(self, groups: Sequence[Sequence[int]]) -> list[int | None]:
        """For each group the index of its first hash that came before, or None; such a group is not noted."""
        known = iter(self._known(np.fromiter(chain.from_iterable(groups), np.int64)).tolist())
        noted: set[int] = set()
        repeats = []
        for group in groups:
            old = [came or key in noted for key, came in zip(group, islice(known, len(group)), strict=True)]
            repeats.append(old.index(True) if any(old) else None)
            noted.update(() if any(old) else group)
        self._note(np.sort(np.fromiter(noted, np.int64)))
        return repeats

    def _known(self, keys: Any) -> Any:
        known = np.zeros(len(keys), bool)
        for block in self._blocks:
            known |= block[np.minimum(np.searchsorted(block, keys), len(block) - 1)] == keys
        return known

    def _note(self, ordered: Any) -> None:
        self._blocks += [ordered] if len(ordered) else []
        while len(self._blocks) > 1 and len(self._blocks[-2]) < 2 * len(self._blocks[-1]):
            self._blocks[-2:] = [np.sort(np.concatenate(self._blocks[-2:]), kind="stable")]


def chunks(items: Iterable[Any]) -> Iterator[list[Any]]:
    """The items in lists of CHUNK; the last may be shorter."""
    rest = iter(items)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk
