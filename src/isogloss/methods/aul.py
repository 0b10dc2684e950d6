"""All unmasked likelihood: every token of a sentence at its position, nothing masked; and the sentence's vector."""

from dataclasses import replace

from ..items import Item
from ..models.model import IN_PLACE, Model
from ..models.questions import VECTOR, Asking
from . import VECTOR_TASKS, Method, Options
from ._masked_sentence import unmasked_rows


def ask(item: Item, model: Model, *, options: Options) -> Asking:
    """Two questions per candidate that share one pass: the tokens, and their mean hidden state for single sentences."""
    read = yield from unmasked_rows(item, model, wants=[VECTOR] if item.tags.get("task") in VECTOR_TASKS else [])
    return [
        replace(row, value=float(logs.mean()), vector=tuple(more[0].tolist()) if more else ()) if len(logs) else row
        for row, logs, more in read
    ]


method = Method(
    title="All unmasked likelihood (AUL)",
    formula="1/|T| · sum over tokens of log P(w_t | the whole sentence T, nothing masked)",
    citation="Kaneko and Bollegala (2022)",
    uses=(IN_PLACE,),
    suits=lambda item: True,
    ask=ask,
)
