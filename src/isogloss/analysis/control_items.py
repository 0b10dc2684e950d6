"""Control items that a measure of stereotypes should not react to: the same words in another context, or in random order."""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from .. import languages
from ..errors import IsoglossError, UnknownName
from ..items import BLANK, Item, Items, group_by

KINDS = ("neutral", "shuffled")


def make_control_items(items: Items, *, kinds: Sequence[str] = KINDS, seed: int = 0) -> Items:
    """The neutral and shuffled control items of the items, those that can be made; each points to its item by `derived_from`.

    A neutral control item puts an item's candidates into the context of an item about something else, so that nothing in it is
    a stereotype of its target. A shuffled control item keeps all words and loses their order. Which context and which order
    depends on ids and the seed alone, so parallel languages get parallel control items.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise UnknownName("kind of control item", kind, KINDS)
    real = [item for item in items if item.variant is None]
    controls = _neutral(real, seed) if "neutral" in kinds else []
    controls += [control for item in real if (control := _shuffled(item, seed))] if "shuffled" in kinds else []
    if not controls:
        raise IsoglossError(
            "No control item can be made of these items: they have no context, and their sentences have one word."
        )
    return Items(tuple(controls))


def _draw_key(seed: int, *texts: str) -> str:
    return hashlib.sha256(" ".join([str(seed), *texts]).encode()).hexdigest()


def _neutral(items: Sequence[Item], seed: int) -> list[Item]:
    """Each item with the context of the next item in seeded order that is about something else.

    That is the next of another category, or, where all have the same, of another cluster.
    """
    with_context = [item for item in items if item.context]
    groups = group_by(with_context, lambda item: (item.dataset, item.language, str(item.tags.get("task"))))
    controls: dict[tuple[str, str, str], Item | None] = {}
    for group in groups.values():
        order = sorted(group, key=lambda item: _draw_key(seed, item.id))
        for index, item in enumerate(order):
            rest = [*order[index + 1 :], *order[:index]]
            donors = [other for other in rest if other.category != item.category]
            donors = donors or [other for other in rest if other.cluster != item.cluster]
            if donors and (BLANK in (item.context or "")) == (BLANK in (donors[0].context or "")):
                controls[item.key] = _in_context(item, donors[0].context or "", kind="neutral")
    return [control for item in items if (control := controls.get(item.key))]


def _in_context(item: Item, context: str, *, kind: str) -> Item | None:
    """The control item with this context; none where it has a BLANK and a candidate has no word for it."""
    blank = BLANK in context
    if blank and not all(candidate.word for candidate in item.candidates):
        return None
    texts = [context.replace(BLANK, c.word or "") if blank else c.text for c in item.candidates]
    return _control_item(item, kind, context=context, texts=texts)


def _shuffled(item: Item, seed: int) -> Item | None:
    """The item with the words of its context, or without one of its sentences, in another order."""
    key = _draw_key(seed, item.id)
    if item.context:
        context = _disorder(item.context, key, language=item.language)
        return _in_context(item, context, kind="shuffled") if context != item.context else None
    texts = [_disorder(candidate.text, key, language=item.language) for candidate in item.candidates]
    if any(text == candidate.text for text, candidate in zip(texts, item.candidates, strict=True)):
        return None
    return _control_item(item, "shuffled", context=None, texts=texts)


def _disorder(text: str, key: str, *, language: str) -> str:
    """The text's words in another order (its letters with their marks where the language has no spaces); BLANK stays whole.

    The order depends on places alone, so two sentences that differ in a word are disordered alike.
    """
    words, space = text.split(), " "
    if not languages.describe(language).spaces:
        words, space = re.findall(rf"{BLANK}|\S", text), ""
        for index in reversed(range(1, len(words))):
            if unicodedata.category(words[index][0]).startswith("M"):
                words[index - 1 : index + 1] = [words[index - 1] + words[index]]
    for turn in range(10):
        order = sorted(range(len(words)), key=lambda index: _draw_key(turn, key, str(index)))
        if order != list(range(len(words))) and (mixed := space.join(words[i] for i in order)) != text:
            return mixed
    return text


def _control_item(item: Item, kind: str, *, context: str | None, texts: Sequence[str]) -> Item:
    candidates = tuple(
        replace(candidate, id=f"{candidate.id}~{kind}", text=text)
        for candidate, text in zip(item.candidates, texts, strict=True)
    )
    return replace(
        item, id=f"{item.id}~{kind}", candidates=candidates, context=context, derived_from=item.id, variant=kind
    )
