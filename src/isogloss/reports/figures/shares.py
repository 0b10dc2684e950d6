"""Shares of terms in templates as stacked bars: a panel for each set and language, a bar for each concept."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...analysis.measures import Measure
from ...analysis.term_shares import known_terms
from ...items import group_by
from ..chart_data import term_shares
from ..numbers import english_first, percent
from . import FigureRequest, Plot, open_study, value_of
from ._marks import COLOURS, PALE
from ._style import DOUBLE, SMALL, Canvas, fit_name, language_label, new_figure
from ._svg import explain

MOST = 7  # terms with a part of their own; the others share one
LABEL_SPACE = 7.0  # per cent of a bar that a name needs to stand in it
LINE, LEGEND = 0.2, 0.15
WHOLE = 99.9
NAMED = ("concept", "concept_word", "term", "word")
IN_A_LINE = 4


def find(request: FigureRequest) -> list[Measure]:
    """The mean share of each term for each model, language, set and concept, with intervals over templates."""
    return term_shares(open_study(request).scores, request.settings)


def draw(rows: Sequence[Measure], canvas: Canvas) -> Any:
    """Terms that are large over all panels with the same terms have a color; the rest is gray."""
    order = english_first(row.group["language"] for row in rows)
    ordered = sorted(rows, key=lambda row: order.index(row.group["language"]))
    groups = group_by(ordered, lambda row: tuple(row.group[name] for name in row.group if name not in NAMED))
    panels = list(groups.values())
    columns = min(len(panels), 2 if canvas.width >= DOUBLE else 1)
    blocks = [panels[index : index + columns] for index in range(0, len(panels), columns)]
    most = [max(len(_concepts(panel)) for panel in block) for block in blocks]
    heights = []
    for count, block in zip(most, blocks, strict=True):
        names = max(min(MOST + 1, len(_terms(panel))) for panel in block)
        heights.append(0.85 + LINE * count + LEGEND * (-(-names // IN_A_LINE) - 1))
    figure = new_figure(canvas, sum(heights))
    parts = figure.subfigures(len(blocks), columns, squeeze=False, height_ratios=heights)
    several = len({row.group["model"] for row in rows}) > 1
    for index, panel in enumerate(panels):
        part, count = parts[index // columns][index % columns], most[index // columns]
        axes = part.subplots()
        terms = _largest([row for other in panels if _terms(other) == _terms(panel) for row in other])
        _draw_panel(axes, panel, terms=terms, lines=count, canvas=canvas)
        _draw_legend(part, panel, terms=terms, canvas=replace(canvas, width=canvas.width / columns))
        first = panel[0].group
        title_parts = [first["model"]] * several + [language_label(first["language"], canvas), first.get("set", "")]
        title = fit_name(" · ".join(filter(None, title_parts)), canvas, share=0.8 / columns)
        axes.set_title(title, loc="left", fontweight="bold", pad=3)
    return figure


def _terms(panel: Sequence[Measure]) -> frozenset[str]:
    return frozenset(row.group["term"] for row in panel)


def _concepts(panel: Sequence[Measure]) -> list[str]:
    return list(dict.fromkeys(row.group.get("concept", "") for row in panel))


def _largest(panel: Sequence[Measure]) -> list[str]:
    """The terms with the largest share summed over concepts."""
    sums: dict[str, float] = {}
    for row in panel:
        sums[row.group["term"]] = sums.get(row.group["term"], 0.0) + value_of(row)
    return sorted(sums, key=lambda term: -sums[term])[:MOST]


def _draw_panel(axes: Any, panel: Sequence[Measure], *, terms: Sequence[str], lines: int, canvas: Canvas) -> None:
    """A bar for each concept, the one with the largest share of the first term on top."""
    first = {row.group.get("concept", ""): value_of(row) for row in panel if row.group["term"] == terms[0]}
    concepts = sorted(_concepts(panel), key=lambda concept: -first.get(concept, 0.0))
    for index, concept in enumerate(concepts):
        shares = {row.group["term"]: row for row in panel if row.group.get("concept", "") == concept}
        left = 0.0
        for number, term in enumerate(terms):
            if term in shares:
                left += _draw_part(axes, shares[term], at=(left, index), colour=COLOURS[number])
        if left < WHOLE:
            axes.barh(index, 100 - left, 0.82, left=left, color=PALE, linewidth=0.4, edgecolor="white")
    if len(_terms(panel)) == 2:
        axes.vlines(50, -0.5, len(concepts) - 0.5, color="black", linewidth=0.6, linestyle=(0, (4, 3)), zorder=3)
    axes.set_yticks(
        range(len(concepts)),
        [fit_name(name, canvas) for name in _labels(concepts, panel, column="concept", canvas=canvas)],
    )
    axes.set_ylim(lines - 0.5, -0.5)
    axes.spines["left"].set_bounds(-0.5, len(concepts) - 0.5)
    axes.set_xlim(0, 100)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("share, %", labelpad=1)


def _draw_legend(part: Any, panel: Sequence[Measure], *, terms: Sequence[str], canvas: Canvas) -> None:
    """The terms below the bars."""
    from matplotlib.patches import Patch

    others = len(_terms(panel)) - len(terms)
    names = _labels(terms, panel, column="term", canvas=canvas) + ([f"{others} others"] if others > 0 else [])
    handles = [Patch(color=colour) for colour in [*COLOURS[: len(terms)], PALE][: len(names)]]
    part.legend(
        handles, names, loc="outside lower center", ncols=IN_A_LINE, fontsize=SMALL, handlelength=0.8, borderaxespad=0.1
    )


def _labels(names: Sequence[str], panel: Sequence[Measure], *, column: str, canvas: Canvas) -> list[str]:
    """Terms or concepts in English, or by the words that were scored, where the canvas has names of their own."""
    word = "word" if column == "term" else "concept_word"
    own_names = {row.group.get(column, ""): row.group.get(word, "") for row in panel} if canvas.names == "own" else {}
    terms = known_terms(panel[0].group["language"])
    return [own_names.get(name) or (terms[name].gloss if name in terms else name.replace("_", " ")) for name in names]


def _draw_part(axes: Any, row: Measure, *, at: tuple[float, int], colour: str) -> float:
    """A term's part of a bar, as wide as its share, and its interval as a line around its end; the width in per cent.

    The part that ends the bar has its line around its beginning, above the other's.
    """
    left, position = at
    share = 100 * value_of(row)
    (bar,) = axes.barh(position, share, 0.82, left=left, color=colour, linewidth=0.4, edgecolor="white")
    names = " · ".join(filter(None, (row.group.get("concept", ""), row.group["term"])))
    explain(bar, f"{names}: {percent(row.value, (row.low, row.high))}")
    if row.low is not None and row.high is not None and share >= LABEL_SPACE:
        last = left + share > WHOLE
        ends = [100 * (1 - row.high), 100 * (1 - row.low)] if last else [left + 100 * row.low, left + 100 * row.high]
        heights = [position + (-0.28 if last else 0.28)] * 2
        axes.plot(ends, heights, color="black", linewidth=0.7, solid_capstyle="butt", zorder=4)
    return share


figure = Plot(
    title="Shares of terms in templates",
    needs="scores of templates: isogloss eval MODEL --data templates --language en --out RUNS",
    caption="The probability of a term's sentence among those of all terms, averaged over templates; a black line is the 95 % interval of the share that ends there, or, for the last share of a bar, that begins there.",
    find=find,
    draw=draw,
)
