"""Runs for the tests of reports: neutral sentences in four scripts, with scores whose outcome is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isogloss import runs
from isogloss.items import Candidate, Item, Items
from isogloss.scores import ROW_SCHEMA, item_table, scored_from_values

THINGS = ("tree", "window", "river", "book", "garden", "stone", "letter", "hill", "sea", "house", "table", "lamp")
WORDS = {
    "en": ("The {0} is {1} today.", THINGS, ("green", "quiet", "seven")),
    "fa": (
        "{0} امروز {1} است.",
        ("درخت", "پنجره", "رودخانه", "کتاب", "باغ", "سنگ", "نامه", "کوه", "دریا", "خانه", "میز", "چراغ"),
        ("سبز", "آرام", "هفت"),
    ),
    "de": (
        "Das Wort {0} ist heute {1}.",
        ("Baum", "Fenster", "Fluss", "Buch", "Garten", "Stein", "Brief", "Hügel", "Meer", "Haus", "Tisch", "Lampe"),
        ("grün", "leise", "sieben"),
    ),
    "hi": (
        "{0} आज {1} है।",
        ("पेड़", "खिड़की", "नदी", "किताब", "बगीचा", "पत्थर", "पत्र", "पहाड़", "समुद्र", "घर", "मेज़", "दीपक"),
        ("हरा", "शांत", "सात"),
    ),
    "ja": (
        "{0}は今日{1}です。",
        ("木", "窓", "川", "本", "庭", "石", "手紙", "山", "海", "家", "机", "灯り"),
        ("緑", "静か", "七つ"),
    ),
}
ROLES = ("stereotype", "anti-stereotype", "unrelated")


def neutral_items(language: str = "en", **tags: Any) -> Items:
    """24 items about things: two for each of twelve targets, parallel in all languages."""
    form, things, words = WORDS[language]
    rows = []
    for number, thing in enumerate(things):
        for turn in range(2):
            name = f"{THINGS[number]}-{turn}"
            candidates = tuple(
                Candidate(f"{language}-{name}-{role}", role, form.format(thing, word), word)
                for role, word in zip(ROLES, words, strict=True)
            )
            kind = "places" if number % 2 else "things"
            known = {"task": "intrasentence", "target": THINGS[number], **tags}
            context = form.format(thing, "BLANK")
            rows.append(
                Item(name, "neutral", language, kind, candidates, context=context, cluster=THINGS[number], tags=known)
            )
    return Items(tuple(rows))


def preferring(items: Items, wins: int) -> dict[str, float]:
    """Scores under which the stereotype wins on the first `wins` items, and nonsense never does."""
    values = {}
    for number, item in enumerate(items):
        top = 0.5 + number / 100
        pair = (top, 0.4) if number < wins else (0.4, top)
        values |= dict(zip([c.id for c in item.candidates], (*pair, 0.1)[: len(item.candidates)], strict=True))
    return values


def write_run(root: Path, items: Items, *, model: str = "tiny", wins: int = 18, **facts: Any) -> runs.Run:
    """A finished run of the items."""
    scored = scored_from_values(items, preferring(items, wins), model=model)
    first = items[0]
    info = {
        "model": model,
        "dataset": first.dataset,
        "language": first.language,
        "method": "likelihood",
        "items": len(items),
        "parts": 1,
        "versions": {"isogloss": "0.1.0"},
        "fingerprint": {"data": first.language, "weights": model, "method": "likelihood"},
        **facts,
    }
    run = runs.open_run(root, info=info, items=item_table(items))
    runs.write_part(run, 0, rows=scored.table.select(ROW_SCHEMA.keys()))
    return runs.finish_run(run)


def write_runs(root: Path, *, models: Sequence[str] = ("one", "two"), **tags: Any) -> Path:
    """Runs of every model in every language."""
    for index, model in enumerate(models):
        for number, language in enumerate(WORDS):
            write_run(root, neutral_items(language, **tags), model=model, wins=20 - 4 * number + index)
    return root
