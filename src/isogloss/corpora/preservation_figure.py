"""How many English he- and she-sentences keep the pronoun's gender in their translation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import BadData
from ..files.rows import read_json
from ..reports.figures import FigureRequest, Plot
from ..reports.figures._marks import COLOURS, add_legend, whiskers
from ..reports.figures._style import Canvas, language_label, new_figure
from ..stats.resampling import wilson_interval
from .pronoun_preservation import Preservation, count_all
from .texts import open_corpora

PRONOUNS = ("he", "she")
COUNTED = ("corpus", "language", "pronoun", "kept", "n")
LINE = 0.34


def find(request: FigureRequest) -> list[Preservation]:
    """The counts of parallel texts, or those that `data build preservation --format json` printed."""
    rows: list[Preservation] = []
    language = request.languages[0] if request.languages else None
    for source in request.sources:
        if Path(source).suffix != ".json":
            rows += count_all(open_corpora([source], language=language))
            continue
        content = read_json(Path(source))
        try:
            rows += [Preservation(**{name: row[name] for name in COUNTED}) for row in content["preservation"]]
        except (TypeError, KeyError) as error:
            message = "is not what data build preservation --format json prints."
            raise BadData(Path(source), None, message) from error
    return [row for row in rows if row.share is not None]


def draw(rows: Sequence[Preservation], canvas: Canvas) -> Any:
    """Two bars for each text, with Wilson's intervals."""
    texts = list(dict.fromkeys((preserved.language, preserved.corpus) for preserved in rows))
    several = len({tag for tag, _ in texts}) < len(texts)
    figure = new_figure(canvas, 0.75 + LINE * len(texts))
    axes = figure.subplots()
    handles = {}
    for row in rows:
        number = PRONOUNS.index(row.pronoun)
        position = texts.index((row.language, row.corpus)) + (number - 0.5) * 0.4
        share = 100 * row.kept / row.n
        low, high = (100 * end for end in wilson_interval(row.kept / row.n, row.n))
        handles[row.pronoun] = axes.barh(position, share, 0.36, color=COLOURS[number])
        axes.errorbar(share, position, xerr=whiskers(low, share, high=high), color="black", elinewidth=0.8, fmt="none")
        axes.annotate(
            f"n = {row.n:,}", (1, position), (2, 0), textcoords="offset points", va="center", fontsize=6, color="white"
        )
    names = [language_label(tag, canvas) + (f"\n{corpus}" if several else "") for tag, corpus in texts]
    axes.set_yticks(range(len(texts)), names)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(texts) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xlabel("sentences that keep the pronoun, %")
    add_legend(figure, list(handles.values()), labels=[f"'{name}'" for name in handles], canvas=canvas)
    return figure


figure = Plot(
    title="Pronouns kept in translation",
    needs="parallel texts with English: isogloss data build preservation CORPUS --language de, or the file that it prints with --format json",
    caption="Of the English sentences with only this pronoun, how many have it in their translation; bars are Wilson's 95 % intervals.",
    find=find,
    draw=draw,
)
