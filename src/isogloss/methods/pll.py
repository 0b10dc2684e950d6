"""Pseudo-log-likelihood: every token of a sentence, masked alone, given all the others."""

from ..items import Item
from ..models.model import HIDE, Model
from ..models.questions import Asking
from . import Method, Options
from ._masked_sentence import pseudo_likelihood


def ask(item: Item, model: Model, *, options: Options) -> Asking:
    """One question per token and candidate."""
    return pseudo_likelihood(
        item, model, length=options["length"], hide=lambda sentence, text: [[place] for place in sentence.inner]
    )


method = Method(
    title="Pseudo-log-likelihood",
    formula="sum over tokens of log P(w_t | all other tokens), each masked alone",
    citation="Wang and Cho (2019); Salazar et al. (2020)",
    uses=(HIDE,),
    suits=lambda item: True,
    ask=ask,
    auto=("template",),
    options={"length": ("sum", "mean")},
)
