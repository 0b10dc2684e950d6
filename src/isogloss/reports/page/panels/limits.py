"""What the numbers do not mean, and what each metric says of itself."""

from typing import Any

from .... import registry
from ...numbers import metric_name
from ..data import PageData
from . import Panel

LIMITS = (
    (
        "A score describes these items, not the model's fairness.",
        "Other items, or another way to score the same ones, may give another result.",
    ),
    (
        "A probability is not a behavior.",
        "What a model writes when prompted, and whom that harms, are different questions.",
    ),
    ("Preference is not strength.", "A model that slightly prefers the stereotype in every item has SS 100."),
    (
        "With a low LMS, SS means nothing.",
        "A model with an LMS near 50 does not distinguish meaningful sentences from unrelated ones.",
    ),
    (
        "An interval covers one kind of uncertainty:",
        "other targets of the same kind. It does not cover errors in the data or its translation, or the choice of method.",
    ),
    (
        "Languages are hard to compare.",
        "A stereotype may be unknown elsewhere; a translation may be unnatural; tokenizers split some languages into more pieces than others.",
    ),
    (
        "The models may have seen the data.",
        "Much of it has been public for years, sentences and labels alike. A model trained later may have read it, and this report cannot detect that.",
    ),
    (
        "Categories are coarse.",
        "People whom the data does not name are not measured, which is not the same as “no bias”.",
    ),
)


def draw(data: PageData) -> dict[str, Any]:
    """The limits that hold for every report, and the cautions of the metrics in this one."""
    names = dict.fromkeys(row.metric for row in data.overall)
    cautions = [{"name": metric_name(name), "text": registry.get("metric", name).caution} for name in names]
    return {"limits": [{"head": head, "text": text} for head, text in LIMITS], "cautions": cautions}


panel = Panel("What the numbers do not mean", order=150, draw=draw)
