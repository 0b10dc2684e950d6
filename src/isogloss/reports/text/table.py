"""A heading, rows of text and remarks as a table: for a terminal, a notebook, a paper or a page."""

import html
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

import polars as pl

BLOCKS = " ▏▎▍▌▋▊▉█"
QUOTED = re.compile(r"""(?<!\w)(["'])([^"']+)\1(?!\w)""")  # 'this' and "this", but not an apostrophe
PAGE = 100  # letters that fit into the width of a printed page


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of text: the first `labels` columns say what a row is, the others are numbers; remarks go below.

    Where a table is too wide, further blocks repeat the last `repeated` columns.

    For papers: headings over several columns, headings of blocks by their first row, bold cells, second lines of rows.
    """

    heading: list[str]
    rows: list[list[str]]
    labels: int
    remarks: tuple[str, ...] = ()
    spans: tuple[tuple[str, int], ...] = ()
    blocks: Mapping[int, str] = field(default_factory=dict)
    bold: frozenset[tuple[int, int]] = frozenset()
    below: Mapping[int, list[str]] = field(default_factory=dict)
    repeated: int = 0


def as_text(grid: Grid, *, title: str = "", width: int | None = None) -> str:
    """The table for a terminal; labels that all rows share are above, and columns that do not fit come in further blocks."""
    shared, left, blocks = _arrange(grid, width)
    above = " · ".join([*([title] if title else []), *(f"{grid.heading[i]} {grid.rows[0][i]}" for i in shared)])
    widths = _widths(grid)
    drawn = [above] if above else []
    for right in blocks:
        lines = [
            "  ".join([*(_pad(row[i], widths[i]) for i in left), *(_pad(row[i], -widths[i]) for i in right)]).rstrip()
            for row in [grid.heading, *grid.rows]
        ]
        rule = "  ".join("─" * widths[i] for i in [*left, *right])
        drawn.append("\n".join([lines[0], rule, *lines[1:]]))
    return "\n\n".join(drawn) + as_remarks(grid.remarks)


def as_remarks(remarks: Sequence[str]) -> str:
    """The remarks below a table for a terminal, a line each."""
    return "".join(f"\n· {remark}" for remark in remarks)


def _arrange(grid: Grid, width: int | None) -> tuple[list[int], list[int], list[list[int]]]:
    """The label columns that all rows share, the other label columns, and the number columns in blocks that fit into `width`."""
    least = 1 if grid.repeated else 2
    shared = [i for i in range(grid.labels) if len(grid.rows) >= least and len({row[i] for row in grid.rows}) == 1]
    left = [i for i in range(grid.labels) if i not in shared]
    last = list(range(len(grid.heading) - grid.repeated, len(grid.heading)))
    widths = _widths(grid)
    blocks: list[list[int]] = [[]]
    for column in range(grid.labels, len(grid.heading) - grid.repeated):
        if width and blocks[-1] and sum(widths[i] + 2 for i in [*left, *blocks[-1], column, *last]) > width:
            blocks.append([])
        blocks[-1].append(column)
    return shared, left, [[*block, *last] for block in blocks]


def _widths(grid: Grid) -> list[int]:
    return [max(columns(row[i]) for row in [grid.heading, *grid.rows]) for i in range(len(grid.heading))]


def _pad(text: str, width: int) -> str:
    """The text flush left in `width` columns; flush right for a negative width."""
    space = " " * (abs(width) - columns(text))
    return text + space if width > 0 else space + text


def as_html(grid: Grid) -> str:
    """The table for a notebook."""

    def cells(row: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) + "</tr>"

    notes = "".join(f"<li>{html.escape(remark)}</li>" for remark in grid.remarks)
    body = "".join(cells(row, "td") for row in grid.rows)
    return f"<table><thead>{cells(grid.heading, 'th')}</thead><tbody>{body}</tbody></table><ul>{notes}</ul>"


def as_latex(grid: Grid) -> str:
    """The table for a paper, with booktabs: what all rows share is a note, and columns that do not fit come in a further table."""
    if grid.spans or grid.bold or grid.below:
        return "\n".join(latex_lines(grid)) + "\n"
    shared, left, blocks = _arrange(grid, PAGE)
    shared, left = (shared, left) if left else ([], shared)
    notes = [", ".join(f"{grid.heading[i]} {grid.rows[0][i]}" for i in shared if grid.rows[0][i])] if shared else []
    lines: list[str] = []
    for block in blocks:
        chosen = [*left, *block]
        rows = [[row[i] for i in chosen] for row in grid.rows]
        lines += [*([r"\par\medskip"] if lines else []), r"\noindent"]
        lines += latex_lines(Grid([grid.heading[i] for i in chosen], rows, len(left)))
    return "\n".join([*lines, *latex_notes([*notes, *grid.remarks])]) + "\n"


def latex_lines(grid: Grid) -> Iterator[str]:
    """The lines of the table for a paper, and its remarks as notes below."""
    count = len(grid.heading)
    yield rf"\begin{{tabular}}{{{'l' * grid.labels + 'r' * (count - grid.labels)}}}"
    yield r"\toprule"
    if grid.spans:
        spans = [rf"\multicolumn{{{size}}}{{c}}{{{latex(name)}}}" for name, size in grid.spans]
        yield " & ".join(["", *spans]).strip() + r" \\"
        ends = list(accumulate((size for _, size in grid.spans), initial=grid.labels))
        yield " ".join(rf"\cmidrule(lr){{{start + 1}-{end}}}" for start, end in pairwise(ends))
    yield " & ".join(map(latex, grid.heading)).replace(" - ", " $-$ ") + r" \\"
    yield r"\midrule"
    for number, row in enumerate(grid.rows):
        if number in grid.blocks:
            yield from [r"\midrule"] if number else []
            heading = rf"\multicolumn{{{count}}}{{l}}{{\emph{{{latex(grid.blocks[number])}}}}} \\"
            yield from [heading] if len(grid.blocks) > 1 else []
        cells = [latex(cell) if i < grid.labels else latex_number(cell) for i, cell in enumerate(row)]
        cells_in_bold = [rf"\textbf{{{cell}}}" if (number, i) in grid.bold else cell for i, cell in enumerate(cells)]
        yield " & ".join(cells_in_bold) + r" \\"
        if number in grid.below:
            second = [rf"{{\scriptsize {latex_number(cell)}}}" if cell else "" for cell in grid.below[number]]
            yield " & ".join(second).strip() + r" \\"
    yield from (r"\bottomrule", r"\end{tabular}", *latex_notes(grid.remarks))


def latex_notes(remarks: Sequence[str]) -> list[str]:
    """Remarks as one paragraph below a table, where its reader sees them: a paragraph each is longer than the table."""
    if not remarks:
        return []
    text = "; ".join(remark.rstrip(".") for remark in remarks)
    return [rf"\par{{\footnotesize\raggedright {latex(text)}.\par}}"]


def as_markdown(grid: Grid) -> str:
    """The table for a page in Markdown."""
    names = [name for name, size in grid.spans for _ in range(size)]
    above = [""] * grid.labels + (names or [""] * (len(grid.heading) - grid.labels))
    heading = [f"{a} {b}".strip() for a, b in zip(above, grid.heading, strict=True)]
    table = [heading, ["---"] * grid.labels + ["--:"] * (len(grid.heading) - grid.labels)]
    for number, row in enumerate(grid.rows):
        if number in grid.blocks and len(grid.blocks) > 1:
            table.append([f"*{grid.blocks[number]}*", *[""] * (len(row) - 1)])
        cells = [f"**{cell}**" if (number, i) in grid.bold else cell for i, cell in enumerate(row)]
        second = grid.below.get(number, [""] * len(row))
        table.append([f"{cell}<br>{below}" if below else cell for cell, below in zip(cells, second, strict=True)])
    lines = ["| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in table]
    notes = [f"- {remark}" for remark in grid.remarks]
    return "\n".join([*lines, *(["", *notes] if notes else [])]) + "\n"


def as_csv(result: Any, grid: Grid) -> str:
    """One line per row of the result, full precision; their caveats are in the last column."""
    return str(result.to_polars().with_columns(remarks=pl.lit("; ".join(grid.remarks))).write_csv())


def latex(text: str) -> str:
    """The text with LaTeX's special letters made harmless, and its straight quotes opened and closed."""
    special = {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "†": r"\textdagger{}",
        "—": "---",
        "–": "--",
    }
    safe = "".join(special.get(c, "\\" + c if c in "&%$#_{}" else c) for c in text)
    return QUOTED.sub(r"``\2''", safe)


def latex_number(text: str) -> str:
    """The same for a cell with numbers: a hyphen before a digit is a minus."""
    return re.sub(r"(?<![\w.])-(?=\d)", "$-$", latex(text))


def bars_as_text(rows: Sequence[tuple[str, float, str]], *, width: int = 40) -> str:
    """One line per row: its label, a bar as long as its share of the whole, the share in per cent, a remark."""
    wide = max((columns(label) for label, _, _ in rows), default=0)
    lines = []
    for label, share, remark in rows:
        full, eighths = divmod(round(max(0.0, min(1.0, share)) * width * 8), 8)
        bar = ("█" * full + BLOCKS[eighths]).ljust(width)[:width]
        lines.append(f"{_pad(label, wide)}  {bar}  {100 * share:5.1f} %  {remark}".rstrip())
    return "\n".join(lines)


def columns(text: str) -> int:
    """How many columns a terminal gives a text."""
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(unicodedata.category(sign) in ("Mn", "Me", "Cf") for sign in text)
