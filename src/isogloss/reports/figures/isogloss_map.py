"""The isogloss map: how alike languages are for a model, item by item, as a tree and a matrix."""

from collections.abc import Sequence
from typing import Any

from ...analysis.structure import Likeness, Structure
from ..chart_data import branches, leaves, structures
from ..numbers import between, format_value
from . import FigureRequest, Plot, open_study
from ._marks import CELL_INK, GREY, field_colour
from ._style import DOUBLE, SMALL, Canvas, fit_name, language_label, new_figure
from ._svg import explain

CELL = 0.34


def find(request: FigureRequest) -> list[Structure]:
    """The structures of all data sets: across languages for each model; with one language only, across models."""
    scored = open_study(request).scores
    over = "language" if scored.table["language"].n_unique() > 1 else "model"
    return structures(scored, over)


def draw(structures: Sequence[Structure], canvas: Canvas) -> Any:
    """A tree and a matrix for each structure, two abreast on a wide canvas."""
    columns = min(len(structures), 2 if canvas.width >= DOUBLE else 1)
    down = -(-len(structures) // columns)
    most = max(len(structure.units) for structure in structures)
    side = min(CELL, 0.56 * canvas.width / columns / most) if canvas.width < DOUBLE or columns > 1 else CELL
    figure = new_figure(canvas, down * (0.62 + max(side, 0.2) * most))
    parts = figure.subfigures(down, columns, squeeze=False)
    several = len({structure.group.get("dataset", "") for structure in structures}) > 1
    for part, structure in zip(parts.flat, structures, strict=False):
        tree, matrix = part.subplots(1, 2, gridspec_kw={"width_ratios": [0.3, 1], "wspace": 0})
        _draw_tree(tree, structure)
        _draw_matrix(matrix, structure, canvas=canvas)
        named = {key: value for key, value in structure.group.items() if key != "dataset" or several}
        names = [language_label(value, canvas) if key == "language" else value for key, value in named.items()]
        part.suptitle(fit_name(" · ".join(names), canvas, share=0.9 / columns), fontsize=7.5, fontweight="bold")
    return figure


def _draw_tree(axes: Any, structure: Structure) -> None:
    """Branches that join from the matrix to the left, at 1 minus the rank correlation."""
    for distance, (x1, y1), (x2, y2) in branches(structure):
        axes.plot([x1, distance, distance, x2], [y1, y1, y2, y2], color="black", linewidth=0.8)
    axes.set_ylim(len(structure.units) - 0.5, -0.5)
    far = max((merge.distance for merge in structure.tree), default=1.0) or 1.0
    axes.set_xlim(far * 1.05, 0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xticks([0, far], ["0", f"{far:.2f}"], fontsize=SMALL)
    axes.set_xlabel("1 − ρ", fontsize=SMALL, labelpad=1)
    axes.set_visible(bool(structure.tree))


def _draw_matrix(axes: Any, structure: Structure, *, canvas: Canvas) -> None:
    """Every pair's rank correlation, below the diagonal with its interval."""
    order = leaves(structure)
    pairs = {frozenset((likeness.a, likeness.b)): likeness for likeness in structure.likeness}
    for row, a in enumerate(order):
        for column, b in enumerate(order):
            if a != b:
                _draw_cell(axes, pairs[frozenset((a, b))], at=(column, row))
    axes.set_xlim(-0.5, len(order) - 0.5)
    axes.set_ylim(len(order) - 0.5, -0.5)
    if structure.over == "language":
        names, short = [language_label(unit, canvas) for unit in order], order
    else:
        short = [str(number) for number, _ in enumerate(order, 1)]
        names = [f"{fit_name(unit, canvas, share=0.3)}  {number}" for unit, number in zip(order, short, strict=True)]
    axes.set_yticks(range(len(order)), names)
    axes.set_xticks(range(len(order)), short)
    axes.tick_params(length=0, top=True, bottom=False, labeltop=True, labelbottom=False)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(f"rank correlation ρ, n = {structure.n:,} items", fontsize=SMALL, color=GREY)


def _draw_cell(axes: Any, likeness: Likeness, *, at: tuple[int, int]) -> None:
    from matplotlib.patches import Rectangle

    x, y = at
    if likeness.rho is None:
        axes.text(x, y, "–", ha="center", va="center", fontsize=SMALL, color=GREY)
        return
    unclear = likeness.rho_low is None or likeness.rho_high is None or likeness.rho_low <= 0 <= likeness.rho_high
    colour = field_colour(likeness.rho, 1.0, unclear=unclear)
    field = axes.add_patch(Rectangle((x - 0.49, y - 0.49), 0.98, 0.98, facecolor=colour, linewidth=0))
    ends = between(likeness.rho_low, likeness.rho_high, form=".2f").replace("0.", ".").replace(" to ", "–")
    cell_text = f"{likeness.rho:.2f}".replace("-", "−") if x > y or not ends else ends
    text = axes.text(x, y, cell_text, ha="center", va="center_baseline", fontsize=SMALL, color=CELL_INK)
    for artist in (field, text):
        explain(
            artist, f"{likeness.a}, {likeness.b}: {format_value(likeness.rho, (likeness.rho_low, likeness.rho_high))}"
        )


figure = Plot(
    title="The isogloss map",
    needs="scores of the same items in two languages, or of two models: isogloss eval MODEL --data stereoset --language en --language de --out RUNS",
    caption="Rank correlation of the gaps between stereotype and anti-stereotype, item by item: above the diagonal the value, below it the 95 % interval; colors run from −1 (blue) through 0 to 1 (orange), and stay pale where the interval includes 0; the tree joins by average linkage.",
    find=find,
    draw=draw,
)
