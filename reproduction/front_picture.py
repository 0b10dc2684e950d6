"""The picture of the README: multilingual BERT in five languages, by its published scores, with paired differences to English.

`python -m reproduction.front_picture FOLDER` draws docs/assets/languages.svg; FOLDER has the published data (see reproduction/data.py).
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt

import isogloss as ig
from isogloss.exchange.predictions import read_predictions
from isogloss.scores import scored_from_values

from .data import LANGUAGES

MODEL = "bert-base-multilingual-cased"
NAMES = {"en": "English", "de": "German", "es": "Spanish", "fr": "French", "tr": "Turkish"}
PICTURE = Path(__file__).parent.parent / "docs" / "assets" / "languages.svg"
ACCENT, GREY = "#2b6cb0", "#8a8f98"


def load_scores(folder: Path) -> dict[str, ig.Scored]:
    """The published scores of both tasks in each language."""
    scores = {}
    for tag in LANGUAGES:
        items = ig.read(
            [folder / "stereoset" / f"{task}_{tag}.jsonl.gz" for task in ("intrasentence", "intersentence")]
        )
        values = read_predictions(folder / "predictions" / f"{MODEL}_BertLM_BertNextSentence_{tag}.json.gz")
        scores[tag] = scored_from_values(items, values, model=MODEL)
    return scores


def draw(scores: dict[str, ig.Scored], path: Path = PICTURE) -> None:
    """SS with intervals on the left, the paired difference to English on the right."""
    values = {tag: ig.measure(scored, metrics="ss", by=[])[0] for tag, scored in scores.items()}
    differences = {tag: ig.compare(scores[tag], scores["en"], metrics="ss", by=[])[0] for tag in LANGUAGES[1:]}
    plt.rcParams["svg.fonttype"] = "none"
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 2.5), sharey=True, gridspec_kw={"wspace": 0.12})
    for place, tag in enumerate(LANGUAGES):
        row = values[tag]
        _bar(left, place, row.value, ends=(row.low, row.high), neutral=50)
        if tag in differences:
            row = differences[tag]
            _bar(right, place, row.difference, ends=(row.low, row.high), neutral=0)
    left.set_yticks(range(len(LANGUAGES)), [NAMES[tag] for tag in LANGUAGES])
    left.set_ylim(len(LANGUAGES) - 0.6, -0.8)
    left.set_xlabel("SS: how often the stereotype is preferred (%)")
    right.set_xlabel("difference to English, paired by item (points)")
    for axes, neutral in ((left, 50), (right, 0)):
        axes.axvline(neutral, color=GREY, linewidth=0.8, linestyle=":")
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
    figure.suptitle("Multilingual BERT on StereoSet, 95 % confidence intervals over 79 targets", fontsize=10)
    figure.savefig(path, bbox_inches="tight", facecolor="white")


def _bar(axes: plt.Axes, place: int, value: float, *, ends: tuple[float, float], neutral: float) -> None:
    """A value with its interval; gray where the interval includes the neutral point."""
    color = GREY if ends[0] <= neutral <= ends[1] else ACCENT
    axes.plot(ends, (place, place), color=color, linewidth=2, solid_capstyle="butt")
    axes.plot(value, place, "o", color=color, markersize=6)
    axes.annotate(f"{value:+.1f}" if neutral == 0 else f"{value:.1f}", (value, place), (0, 6), textcoords="offset points", ha="center", fontsize=8)  # fmt: skip


if __name__ == "__main__":
    draw(load_scores(Path(sys.argv[1])))
