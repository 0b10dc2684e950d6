"""Large sets of items as tables: a million items in a third of the memory, made into objects again when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, overload

import numpy as np
import polars as pl

from .items import Candidate, Item

CHUNK = 5_000  # items of a table
PACKED_FROM = 100_000  # items; fewer stay objects

Shared = tuple[str, str, str | None, str | None, tuple[str, ...], Mapping[str, Any]]
"""What many items have in common, stored once: data set, language, category, variant, the candidates' roles, tags."""


class PackedItems(Sequence[Item]):
    """Items in tables of CHUNK rows; each access makes the objects anew."""

    def __init__(self, tables: Sequence[tuple[pl.DataFrame, pl.DataFrame]], shared: Sequence[Shared]) -> None:
        self._tables, self._shared = tables, shared
        self._size = sum(items.height for items, _ in tables)
        self.kinds = {(dataset, language) for dataset, language, *_ in shared}

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Item]:
        return chain.from_iterable(self._unpack(number) for number in range(len(self._tables)))

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Item, ...]: ...

    def __getitem__(self, index: int | slice) -> Item | tuple[Item, ...]:
        numbers = range(self._size)[index]
        if isinstance(numbers, int):
            return self._unpack(numbers // CHUNK)[numbers % CHUNK]
        unpacked = {number: self._unpack(number) for number in {number // CHUNK for number in numbers}}
        return tuple(unpacked[number // CHUNK][number % CHUNK] for number in numbers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(Item.__eq__, self, other))

    def __repr__(self) -> str:
        return f"PackedItems({self._size} items)"

    def _unpack(self, number: int) -> list[Item]:
        """The items of a table."""
        items, candidates = self._tables[number]
        texts = zip(*(candidates[name].to_list() for name in ("id", "text", "word")), strict=True)
        rows = []
        for shared, name, context, cluster, derived_from in items.iter_rows():
            dataset, language, category, variant, roles, tags = self._shared[shared]
            pairs = zip(roles, islice(texts, len(roles)), strict=True)
            own = tuple([Candidate(key, role, text, word) for role, (key, text, word) in pairs])
            rows.append(Item(name, dataset, language, category, own, context, cluster, tags, derived_from, variant))
        return rows


class Packer:
    """Takes items in chunks, and packs them once there are many."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        self._tables: list[tuple[pl.DataFrame, pl.DataFrame]] = []
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._shared: list[Shared] = []

    def __len__(self) -> int:
        return len(self._tables) * CHUNK + len(self._items)

    def add(self, items: Sequence[Item]) -> None:
        """Take more items."""
        self._items += items
        if len(self) >= PACKED_FROM:
            while len(self._items) >= CHUNK:
                self._pack(self._items[:CHUNK])
                del self._items[:CHUNK]

    def finish(self) -> Sequence[Item]:
        """All items, packed if there are many."""
        if not self._tables:
            return tuple(self._items)
        self._pack(self._items)
        return PackedItems(self._tables, self._shared)

    def _pack(self, items: Sequence[Item]) -> None:
        own = [candidate for item in items for candidate in item.candidates]
        table = {
            "shared": pl.Series([self._number(item) for item in items], dtype=pl.UInt32),
            **{
                name: pl.Series([getattr(item, name) for item in items], dtype=pl.String)
                for name in ("id", "context", "cluster", "derived_from")
            },
        }
        texts = {
            "id": [candidate.id for candidate in own],
            "text": [candidate.text for candidate in own],
            "word": [candidate.word for candidate in own],
        }
        self._tables.append((pl.DataFrame(table), pl.DataFrame(texts, schema=dict.fromkeys(texts, pl.String))))

    def _number(self, item: Item) -> int:
        """The number of what an item shares with others; tags that a reader shares are first known by their identity."""
        roles = tuple([candidate.role for candidate in item.candidates])
        facts = (item.dataset, item.language, item.category, item.variant, roles)
        number = self._numbers.get((id(item.tags), facts))
        if number is None:
            number = self._numbers.setdefault((*item.tags.items(), facts), len(self._shared))
            if number == len(self._shared):
                self._shared.append((*facts, item.tags))
                self._numbers[id(item.tags), facts] = number  # they are stored now, so no other tags get their identity
        return number


def hashes(keys: Iterable[object]) -> Any:
    """The hash of each key, in one array."""
    return np.fromiter(map(hash, keys), np.int64)


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


def chunks(items: Iterable[Any], size: int = CHUNK) -> Iterator[list[Any]]:
    """The items in lists of that size; the last may be shorter."""
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk
