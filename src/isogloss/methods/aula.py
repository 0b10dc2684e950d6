"""All unmasked likelihood with attention: each token weighted by the attention it receives; AUL and the vector beside it."""

from dataclasses import replace

from ..items import Item
from ..models.model import Model
from ..models.questions import ATTENTION, VECTOR, Asking
from ..scores import Row
from . import VECTOR_TASKS, Method, Options
from ._masked_sentence import unmasked_rows


def ask(item: Item, model: Model, *, options: Options) -> Asking:
    """Questions that share one pass: the tokens, the attention they receive, and the vector of a single sentence."""
    wants = [ATTENTION, *([VECTOR] if item.tags.get("task") in VECTOR_TASKS else [])]
    read = yield from unmasked_rows(item, model, wants=wants)
    rows: list[Row] = []
    for row, logs, more in read:
        if not more:
            rows.append(row)
            continue
        vector = tuple(more[1].tolist()) if len(more) > 1 else ()
        plain = replace(
            row, value=float(logs.mean()), quantity="aul", unknown=0, truncated=False, pieces=(), logprobs=()
        )
        rows += [replace(row, value=float((more[0] * logs).mean()), vector=vector), plain]
    return rows


method = Method(
    title="All unmasked likelihood with attention (AULA)",
    formula="1/|T| · sum over tokens of a_t · log P(w_t | T), with a_t the attention that token t receives, averaged over layers, heads and queries",
    citation="Kaneko and Bollegala (2022); Kaneko et al. (2022)",
    uses=(ATTENTION,),
    suits=lambda item: True,
    ask=ask,
    auto=("sentence",),
)
