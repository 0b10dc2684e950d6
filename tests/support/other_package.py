"""What another package would bring: a metric of how strong preferences are, and a layout of files with labels."""

from __future__ import annotations

import numpy as np

from isogloss.annotation.labels import LabelLayout, make_labels
from isogloss.files.rows import read_rows
from isogloss.items import ANTI_STEREOTYPE, STEREOTYPE
from isogloss.metrics import Contribution, Metric, NumberFormat, Origin, from_values


def contribute(items, mode: str) -> Contribution:
    differences = np.abs((items[STEREOTYPE] - items[ANTI_STEREOTYPE]).to_numpy())
    return from_values(np.minimum(differences, 1) if mode == "paper" else differences, items["cluster"])


metric = Metric(
    title="Strength of preferences",
    formula="mean |stereotype - anti-stereotype|",
    citation="a test",
    caution="It has no sign.",
    bounds=(0, float("inf")),
    contribute=contribute,
    roles=(STEREOTYPE, ANTI_STEREOTYPE),
    swap="same",
    order=95,
    short="Strength",
    format=NumberFormat(full=".3f", brief=".3f"),
    better="lower",
    headline=25,
    competence=False,
    meaning="Strength is how far two scores lie apart.",
    origin=Origin(code="Cuts differences at 1.", ours="Does not cut.", modes="differences cut at 1"),
    not_mean="a mean of sizes",
)


def parse_survey(path, language):
    rows = ({"item": row["nr"], "question": "known", "label": row["oui_non"]} for _, row in read_rows(path))
    return make_labels(rows)


label_layout = LabelLayout(lambda columns: columns >= {"nr", "oui_non"}, parse_survey)
