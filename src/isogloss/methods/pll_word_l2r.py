"""Pseudo-log-likelihood within words from left to right: a token does not see the rest of its own word."""

from ..items import Item
from ..models.model import HIDE, Model
from ..models.questions import Asking
from . import Method, Options
from ._masked_sentence import MaskedSentence, later_in_word, pseudo_likelihood


def ask(item: Item, model: Model, *, options: Options) -> Asking:
    """One question per token and candidate; the later tokens of its word are masked with it."""

    def hide(sentence: MaskedSentence, text: str) -> list[list[int]]:
        tails = later_in_word(model, text, count=len(sentence.tokens))
        return [
            [position, *(sentence.inner[k] for k in tail)] for position, tail in zip(sentence.inner, tails, strict=True)
        ]

    return pseudo_likelihood(item, model, length=options["length"], hide=hide)


def refuse(model: Model, options: Options) -> str | None:
    """A sentence when the tokenizer does not know where words end."""
    if not getattr(model.tokenizer, "is_fast", False):
        return f"The tokenizer of '{model.info.name}' does not say where words end. Use `method='pll'`."
    return None


method = Method(
    title="Pseudo-log-likelihood, within words left to right",
    formula="sum over tokens of log P(w_t | all other words, and the tokens before it in its own word)",
    citation="Kauf and Ivanova (2023)",
    uses=(HIDE,),
    suits=lambda item: True,
    ask=ask,
    options={"length": ("sum", "mean")},
    refuse=refuse,
    version=2,
)
