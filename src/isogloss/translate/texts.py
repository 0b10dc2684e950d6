"""Translating: the texts of items, each once, with BLANK kept and checked after every call."""

import json
import time
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import IsoglossError
from ..items import BLANK, Candidate, Item
from ..progress import Progress, silent
from ..sealing import append_lines, make_folder
from .translators import LanguagePair, Opened, protect, restore

OF_LANGUAGE = ("template", "contrast_template", "expression", "original", "valid")  # true of the source language only


@dataclass(frozen=True, slots=True)
class Dropped:
    """An item that is left out, in which step, and why."""

    item: str
    step: str
    reason: str


@dataclass(frozen=True, slots=True)
class TranslationSession:
    """Where texts are translated: the open translator, the languages, the cache, and who is told how far it is."""

    opened: Opened
    pair: LanguagePair
    cache: Path
    progress: Progress = silent


def texts_of(items: Iterable[Item]) -> list[str]:
    """Every text of the items that is to be translated, once: contexts, words or sentences, and target terms."""
    texts: dict[str, None] = {}
    for item in items:
        texts |= dict.fromkeys(_texts(item))
    return list(texts)


def translate_items(items: Sequence[Item], state: TranslationSession) -> tuple[tuple[Item, ...], tuple[Dropped, ...]]:
    """The items in the other language, with the same ids; an item whose BLANK did not survive is dropped, with its reason."""
    known = translate_texts(texts_of(items), state)
    kept, dropped = [], []
    for item in items:
        lost = [text for text in _texts(item) if known[text] is None]
        if lost:
            dropped.append(Dropped(item.id, "translate", f"BLANK was lost or nothing came back for '{lost[0]}'"))
        else:
            kept.append(_translated(item, {text: known[text] or "" for text in _texts(item)}, state=state))
    return tuple(kept), tuple(dropped)


def translate_texts(texts: Sequence[str], state: TranslationSession) -> dict[str, str | None]:
    """Each text's translation; None where BLANK survived no placeholder or nothing came back."""
    translations: dict[str, str | None] = dict.fromkeys(texts)
    for turn, placeholder in enumerate(state.opened.placeholders):
        left = [text for text in texts if translations[text] is None and (turn == 0 or BLANK in text)]
        if not left:
            break
        sent = {text: protect(text, placeholder) for text in left}
        answers = _ask(list(dict.fromkeys(sent.values())), state)
        for text in left:
            answer = restore(answers[sent[text]], placeholder, count=text.count(BLANK))
            translations[text] = answer.strip() or None if answer else None
    return translations


def estimate(texts: Sequence[str], state: TranslationSession) -> tuple[int, int]:
    """How many texts are not in the cache yet, and how many characters they have."""
    known = read_cache(state.cache, state.opened, pair=state.pair)
    sent = {protect(text, state.opened.placeholders[0]) for text in texts}
    new = [text for text in sent if text not in known]
    return len(new), sum(map(len, new))


def refuse_unpaid(texts: Sequence[str], state: TranslationSession) -> None:
    """Raise with the number of characters when a call would cost money; the caller skips this when told to go on."""
    count, characters = estimate(texts, state)
    if not state.opened.paid or not count:
        return
    price = f", about {characters * state.opened.price / 1e6:.2f} $" if state.opened.price else ""
    raise IsoglossError(
        f"{state.opened.name} would translate {count:,} texts with {characters:,} characters, which costs money{price}. "
        "Use --yes to proceed."
    )


def _ask(sent: Sequence[str], state: TranslationSession) -> dict[str, str]:
    """What the translator gives for each text; every batch is kept as soon as it is there."""
    known = read_cache(state.cache, state.opened, pair=state.pair)
    new = [text for text in sent if text not in known]
    last = 0.0
    for start in range(0, len(new), state.opened.batch):
        batch = new[start : start + state.opened.batch]
        time.sleep(max(0.0, last + state.opened.pause - time.monotonic()) if last else 0)
        last = time.monotonic()
        answers = state.opened.translate(batch)
        if len(answers) != len(batch):
            raise IsoglossError(f"{state.opened.name} gave {len(answers)} texts for {len(batch)}. Run it again.")
        clean = [unicodedata.normalize("NFC", " ".join(answer.split())) for answer in answers]
        fresh = dict(zip(batch, clean, strict=True))
        append_cache(state.cache, fresh, opened=state.opened, pair=state.pair)
        known |= fresh
        state.progress(state.opened.name, (start + len(batch)) / len(new))
    return known


def _texts(item: Item) -> list[str]:
    texts = [item.context, _term(item), *(candidate.word or candidate.text for candidate in item.candidates)]
    return [text for text in texts if text and text.strip()]


def _term(item: Item) -> str | None:
    term = item.tags.get("target_term") or item.tags.get("target")
    return term if isinstance(term, str) and item.context else None


def _translated(item: Item, known: Mapping[str, str], *, state: TranslationSession) -> Item:
    context = known[item.context] if item.context else None
    candidates = tuple(_candidate(candidate, known, context=context) for candidate in item.candidates)
    kept = {name: value for name, value in item.tags.items() if name not in OF_LANGUAGE}
    tags = {**kept, "provenance": "machine", "translator": state.opened.name}
    term = _term(item)
    if term:
        tags |= {"target": item.tags.get("target", term), "target_term": known[term]}
    return replace(item, language=state.pair.target, context=context, candidates=candidates, tags=tags)


def _candidate(candidate: Candidate, known: Mapping[str, str], *, context: str | None) -> Candidate:
    if candidate.word is None:
        return replace(candidate, text=known[candidate.text])
    word = known[candidate.word]
    return replace(candidate, word=word, text=(context or BLANK).replace(BLANK, word))


def read_cache(path: Path, opened: Opened, *, pair: LanguagePair) -> dict[str, str]:
    """What this translator gave for these languages, by the text that was sent; a torn last line is passed over."""
    if not path.exists():
        return {}
    known = {}
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            row = json.loads(line)
            if (row["translator"], row["from"], row["to"]) == (opened.name, pair.source, pair.target):
                known[str(row["text"])] = str(row["translation"])
        except (ValueError, KeyError, TypeError):
            continue
    return known


def append_cache(path: Path, translations: Mapping[str, str], *, opened: Opened, pair: LanguagePair) -> None:
    """Add translations to the cache, in one write."""
    head = {"translator": opened.name, "from": pair.source, "to": pair.target}
    rows = (head | {"text": text, "translation": translation} for text, translation in translations.items())
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    make_folder(path.parent)
    append_lines(path, lines)
