"""A heading, rows of text and remarks as a table: for a terminal, a notebook, a paper or a page."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

BLOCKS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of text: the first `labels` columns say what a row is, the others are numbers; remarks go below."""

    heading: list[str]
    rows: list[list[str]]
    labels: int
    remarks: tuple[str, ...] = ()


def as_text(grid: Grid, *, title: str = "") -> str:
    """The table for a terminal; labels that all rows share stand above."""
    shared = [i for i in range(grid.labels) if len(grid.rows) > 1 and len({row[i] for row in grid.rows}) == 1]
    left = [i for i in range(grid.labels) if i not in shared]
    right = list(range(grid.labels, len(grid.heading)))
    widths = [max(columns(row[i]) for row in [grid.heading, *grid.rows]) for i in range(len(grid.heading))]
    above = " · ".join([*([title] if title else []), *(f"{grid.heading[i]} {grid.rows[0][i]}" for i in shared)])
    lines = draw_lines([grid.heading, *grid.rows], widths, sides=(left, right))
    return "\n".join([*([above, ""] if above else []), *lines]) + "".join(f"\n· {remark}" for remark in grid.remarks)


def draw_lines(table: list[list[str]], widths: list[int], *, sides: tuple[list[int], list[int]]) -> list[str]:
    """The table's lines: the left columns flush left, the right ones flush right, a rule under the heading."""
    left, right = sides
    lines = [
        "  ".join(
            [*(row[i] + _pad(row[i], widths[i]) for i in left), *(_pad(row[i], widths[i]) + row[i] for i in right)]
        ).rstrip()
        for row in table
    ]
    return [lines[0], "  ".join("─" * widths[i] for i in [*left, *right]), *lines[1:]]


def _pad(text: str, width: int) -> str:
    return " " * (width - columns(text))


def as_html(grid: Grid) -> str:
    """The table for a notebook."""

    def cells(row: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) + "</tr>"

    notes = "".join(f"<li>{html.escape(remark)}</li>" for remark in grid.remarks)
    body = "".join(cells(row, "td") for row in grid.rows)
    return f"<table><thead>{cells(grid.heading, 'th')}</thead><tbody>{body}</tbody></table><ul>{notes}</ul>"


def as_latex(grid: Grid) -> str:
    """The table for a paper, with booktabs."""
    columns = "l" * grid.labels + "r" * (len(grid.heading) - grid.labels)
    lines = [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(map(latex, grid.heading)).replace(" - ", " $-$ ") + r" \\",
        r"\midrule",
        *(" & ".join(_latex_cells(row, grid.labels)) + r" \\" for row in grid.rows),
        r"\bottomrule",
        r"\end{tabular}",
        *latex_notes(grid.remarks),
    ]
    return "\n".join(lines) + "\n"


def latex_notes(remarks: Sequence[str]) -> list[str]:
    """Remarks as notes below a table, where its reader sees them."""
    return [rf"\par{{\footnotesize\raggedright {latex(remark)}\par}}" for remark in remarks]


def _latex_cells(row: Sequence[str], labels: int) -> list[str]:
    """The row's cells: labels, then numbers."""
    return [*map(latex, row[:labels]), *map(latex_number, row[labels:])]


def as_markdown(grid: Grid) -> str:
    """The table for a page in Markdown."""
    lines = [grid.heading, ["---"] * len(grid.heading), *grid.rows]
    table = ["| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines]
    notes = [f"- {remark}" for remark in grid.remarks]
    return "\n".join([*table, *(["", *notes] if notes else [])]) + "\n"


def latex(text: str) -> str:
    """The text with LaTeX's special letters made harmless."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "†": r"\textdagger{}"}
    return "".join(special.get(c, "\\" + c if c in "&%$#_{}" else c) for c in text)


def latex_number(text: str) -> str:
    """The same for a cell with numbers: a hyphen before a digit is a minus."""
    return re.sub(r"(?<![\w.])-(?=\d)", "$-$", latex(text))


def bars_as_text(rows: Sequence[tuple[str, float, str]], *, width: int = 40) -> str:
    """One line per row: its label, a bar as long as its share of the whole, the share in per cent, a remark."""
    wide = max((columns(label) for label, _, _ in rows), default=0)
    lines = []
    for label, share, remark in rows:
        pad = " " * (wide - columns(label))
        lines.append(f"{label}{pad}  {_bar(share, width)}  {100 * share:5.1f} %  {remark}".rstrip())
    return "\n".join(lines)


def _bar(share: float, width: int) -> str:
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (BLOCKS[rest] if rest else "")).ljust(width)


def columns(text: str) -> int:
    """How many columns a terminal gives a text."""
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(unicodedata.category(sign) in ("Mn", "Me", "Cf") for sign in text)
