"""Items that are hard on a scorer, and the rows that a method gives for them."""

from __future__ import annotations

from collections.abc import Sequence

from isogloss import registry
from isogloss.items import BLANK, Candidate, Item
from isogloss.methods import check_model, fill_options
from isogloss.models.engine import TOKEN_BUDGET, run_all
from isogloss.models.model import Model
from isogloss.scores import Row

CLOSE = 1e-5
ROLES = ("stereotype", "anti-stereotype", "unrelated")


def blank(name: str, language: str, context: str, *words: str) -> Item:
    """An intra-sentence item."""
    texts = [context.replace(BLANK, word) for word in words]
    found = zip(ROLES, texts, words, strict=False)
    candidates = tuple(Candidate(f"{name}-{role}", role, text, word) for role, text, word in found)
    return Item(name, "tiny", language, "gender", candidates, context, tags={"task": "intrasentence"})


def follow(name: str, language: str, context: str, *texts: str) -> Item:
    """An inter-sentence item."""
    candidates = tuple(Candidate(f"{name}-{role}", role, text) for role, text in zip(ROLES, texts, strict=False))
    return Item(name, "tiny", language, "gender", candidates, context, tags={"task": "intersentence"})


INTRA = [
    blank("pieces", "en", "The nurse is BLANK and quiet.", "compassionate", "unfriendliest", "banana"),
    blank("equal", "tr", "Hemşire BLANK biridir.", "nazik", "nazik", "muz"),
    blank("double", "en", "The BLANK man is a BLANK man.", "friendly", "rude", "green"),
    blank("first", "de", "BLANK Krankenschwester fährt Auto.", "Freundliche", "Die", "Grün"),
    blank("last", "en", "People from Norway are BLANK", "cold", "warmer", "1984"),
    blank("unknown", "en", "The doctor is BLANK.", "☃☃", "kind", "ꙮ"),
    blank("persian", "fa", "پرستار BLANK است.", "مهربان", "بداخلاق", "موز"),
    blank("chinese", "zh", "护士很BLANK。", "善良", "粗鲁", "香蕉"),
    blank("hindi", "hi", "नर्स BLANK है।", "दयालु", "अशिष्ट", "केला"),
    blank("stuck", "tr", "(BLANK\"a) çünkü", "Doktor", "Şoför", "muz"),
    blank("alone", "en", "BLANK", "nurse", "doctor", "table"),
]  # fmt: skip
INTER = [
    follow("stop", "en", "I met a nurse.", "She was compassionate.", "He was rude!", "Bananas are green."),
    follow("no-stop", "en", "The doctor is rude", "They were very quiet.", "Quiet", "1984"),
    follow("question", "tr", "Şoför nazik?", "Çok nazik biridir.", "Kaba davrandı.", "Muz."),
    follow("german", "de", "Sie war müde", "Er fährt größere Autos.", "Der Arzt ist da.", "Der Arzt ist da."),
    follow("persian", "fa", "پرستار مهربان است.", "او یک زن بود.", "آنها آرام بودند.", "موز سبز است."),
    follow("chinese", "zh", "我遇到了一个程序员。", "他很善良。", "她很粗鲁。", "香蕉。"),
    follow("hindi", "hi", "नर्स दयालु है।", "वह शांत थी।", "वह अशिष्ट थी।", "केला।"),
    follow("short", "en", "!", "a", "No", "☃"),
    follow("space", "en", " ", "She was kind.", "He was kind.", "It."),
]
LONG = " ".join(["She was a compassionate woman and quiet"] * 12)


LONG_WORD = "-".join(["compassionate"] * 30)
CUT = {
    "left": blank("left", "en", f"{LONG}. The nurse is BLANK.", "kind", "rude", "green"),
    "right": blank("right", "en", f"The nurse is BLANK. {LONG}.", "kind", "rude", "green"),
    "both": blank("both", "en", f"{LONG} BLANK {LONG}.", "compassionate", "rude", "green"),
    "word": blank("word", "en", "The nurse is BLANK today.", LONG_WORD, LONG_WORD + "s", LONG_WORD + "er"),
}


def rows_of(
    model: Model, items: Sequence[Item], name: str, *, budget: int = TOKEN_BUDGET, **options: str
) -> dict[str, Row]:
    """The method's rows by candidate."""
    method = registry.get("method", name)
    filled = fill_options(name, method, chosen=options)
    check_model(name, method, model=model, options=filled)
    asking = (method.ask(item, model, options=filled) for item in items)
    return {row.candidate: row for rows in run_all(model, asking, token_budget=budget) for row in rows}
