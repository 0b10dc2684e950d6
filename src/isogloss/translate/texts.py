"""Translating: the texts of items, each once, with BLANK kept and checked after every call."""

import json
import time
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..atomic_files import append_lines, make_folder
from ..errors import IsoglossError
from ..items import BLANK, Item
from ..progress import Progress, silent
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
    """Where texts are translated: the open translator, the languages, the cache, and the progress callback."""

    opened: Opened
    pair: LanguagePair
    cache: Path
    progress: Progress = silent


def texts_of(items: Iterable[Item]) -> list[str]:
    """Every text of the items that is to be translated, once: contexts, words or sentences, and target terms."""
    return list(dict.fromkeys(text for item in items for text in _texts(item)))


def translate_items(items: Sequence[Item], state: TranslationSession) -> tuple[tuple[Item, ...], tuple[Dropped, ...]]:
    """The items in the other language, with the same ids; an item whose BLANK did not survive is dropped, with its reason."""
    translations = translate_texts(texts_of(items), state)
    kept, dropped = [], []
    for item in items:
        lost = [text for text in _texts(item) if translations[text] is None]
        if lost:
            dropped.append(Dropped(item.id, "translate", f"BLANK was lost or nothing came back for '{lost[0]}'"))
        else:
            kept.append(_translated(item, {text: translations[text] or "" for text in _texts(item)}, state=state))
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


def refuse_unpaid(texts: Sequence[str], state: TranslationSession) -> None:
    """Raise with the number of characters when a call would cost money; the caller skips this when told to go on."""
    translated = read_cache(state)
    sent = {protect(text, state.opened.placeholders[0]) for text in texts}
    new = [text for text in sent if text not in translated]
    if not state.opened.paid or not new:
        return
    characters = sum(map(len, new))
    price = f", about {characters * state.opened.price / 1e6:.2f} $" if state.opened.price else ""
    raise IsoglossError(
        f"{state.opened.name} would translate {len(new):,} texts with {characters:,} characters, "
        f"which costs money{price}. Use `yes` to proceed."
    )


def _ask(sent: Sequence[str], state: TranslationSession) -> dict[str, str]:
    """What the translator gives for each text; every batch is kept as soon as it is there."""
    translated = read_cache(state)
    new = [text for text in sent if text not in translated]
    head = {"translator": state.opened.name, "from": state.pair.source, "to": state.pair.target}
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
        rows = (head | {"text": text, "translation": translation} for text, translation in fresh.items())
        make_folder(state.cache.parent)
        append_lines(state.cache, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
        translated |= fresh
        state.progress(state.opened.name, (start + len(batch)) / len(new))
    return translated


def _texts(item: Item) -> list[str]:
    texts = [item.context, _term(item), *(candidate.word or candidate.text for candidate in item.candidates)]
    return [text for text in texts if text and text.strip()]


def _term(item: Item) -> str | None:
    term = item.tags.get("target_term") or item.tags.get("target")
    return term if isinstance(term, str) and item.context else None


def _translated(item: Item, known: Mapping[str, str], *, state: TranslationSession) -> Item:
    context = known[item.context] if item.context else None
    candidates = []
    for candidate in item.candidates:
        if candidate.word is None:
            candidates.append(replace(candidate, text=known[candidate.text]))
        else:
            word = known[candidate.word]
            candidates.append(replace(candidate, word=word, text=(context or BLANK).replace(BLANK, word)))
    tags = {name: value for name, value in item.tags.items() if name not in OF_LANGUAGE}
    tags |= {"provenance": "machine", "translator": state.opened.name}
    if term := _term(item):
        tags |= {"target": item.tags.get("target", term), "target_term": known[term]}
    return replace(item, language=state.pair.target, context=context, candidates=tuple(candidates), tags=tags)


def read_cache(state: TranslationSession) -> dict[str, str]:
    """What this translator gave for these languages, by the text that was sent; a torn last line is passed over."""
    if not state.cache.exists():
        return {}
    wanted = (state.opened.name, state.pair.source, state.pair.target)
    translations = {}
    for line in state.cache.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            row = json.loads(line)
            if (row["translator"], row["from"], row["to"]) == wanted:
                translations[str(row["text"])] = str(row["translation"])
        except (ValueError, KeyError, TypeError):
            continue
    return translations
