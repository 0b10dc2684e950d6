"""Changes: what a step did to an item's texts, field by field, and how it is undone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..items import BLANK, Item

CONTEXT = "context"
TARGET = "target"


@dataclass(frozen=True, slots=True)
class Change:
    """One field of one item before and after a step; the field is context, target, or a candidate's id."""

    step: str
    item: str
    field: str
    before: str
    after: str


def fields_of(item: Item) -> dict[str, str]:
    """The texts of an item that a step may change: context, target term, and each candidate's word or sentence."""
    term = item.tags.get("target_term")
    fields = {CONTEXT: item.context or "", TARGET: term if isinstance(term, str) else ""}
    return fields | {
        candidate.id: candidate.word if candidate.word is not None else candidate.text for candidate in item.candidates
    }


def with_fields(item: Item, values: Mapping[str, str]) -> Item:
    """The item with these texts; a sentence that was its context with the word filled in is so again."""
    context = values.get(CONTEXT, item.context) if item.context is not None else None
    candidates = []
    for candidate in item.candidates:
        new = values.get(candidate.id)
        if candidate.word is None:
            candidates.append(replace(candidate, text=candidate.text if new is None else new))
            continue
        word = candidate.word if new is None else new
        was_filled = candidate.text == (item.context or "").replace(BLANK, candidate.word)
        text = (context or "").replace(BLANK, word) if was_filled else candidate.text
        candidates.append(replace(candidate, word=word, text=text))
    tags = item.tags
    if values.get(TARGET):
        tags = {**tags, "target_term": values[TARGET]}
    return replace(item, context=context, candidates=tuple(candidates), tags=tags)


def changes_between(before: Item, after: Item, *, step: str) -> list[Change]:
    """What differs between two states of an item."""
    old, new = fields_of(before), fields_of(after)
    return [Change(step, before.id, name, old[name], new[name]) for name in old if old[name] != new[name]]


def undo(items: Sequence[Item], changes: Iterable[Change]) -> tuple[Item, ...]:
    """The items as they were before these changes, the last of which is undone first."""
    by_id = {item.id: item for item in items}
    for change in reversed(list(changes)):
        if change.item in by_id:
            by_id[change.item] = with_fields(by_id[change.item], {change.field: change.before})
    return tuple(by_id[item.id] for item in items)
