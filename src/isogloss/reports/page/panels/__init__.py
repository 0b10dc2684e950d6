"""Panels: the sections of a report, one file each; `draw` makes the section from the findings, or None without its data."""

ORDER = (
    "verdict",
    "heatmap",
    "plane",
    "forest",
    "targets",
    "likeness",
    "shares",
    "answers",
    "world",
    "pairs",
    "agreement",
    "explorer",
    "controls",
    "robustness",
    "limits",
    "provenance",
)
