"""Comparisons as tables: text for a terminal, HTML for a notebook, CSV, LaTeX and Markdown."""

from collections.abc import Sequence

from ...analysis.agreements import Agreement
from ...analysis.comparisons import Comparisons
from ..chart_data import without_task
from ..numbers import dagger, direction, format_value, merge_notes, metric_name, p_value, percent, side_name
from .measures import doubts
from .table import Grid, as_text


def grid(comparisons: Comparisons) -> Grid:
    """One row per group and metric: both values, the difference, p-values, effect, and the smallest detectable one."""
    columns = list(dict.fromkeys(name for row in comparisons for name in row.group))
    numbers = ["a", "b", "a - b", "p", "Holm", "BH", "effect", "n", "clusters", "MDE"]
    empty = "overall" if "task" in columns else "all"
    rows = [
        [
            *(row.group.get(name, empty) for name in columns),
            metric_name(row.metric),
            format_value(row.value_a),
            format_value(row.value_b),
            format_value(row.difference, (row.low, row.high), form="+.2f") + dagger(row) * (row.difference is not None),
            p_value(row.p),
            p_value(row.p_holm),
            p_value(row.p_bh),
            format_value(row.effect, form="+.2f"),
            str(row.n),
            str(row.clusters),
            format_value(row.mde),
        ]
        for row in comparisons
    ]
    return Grid([*columns, "metric", *numbers], rows, len(columns) + 1, tuple(remarks(comparisons)))


def remarks(comparisons: Comparisons) -> list[str]:
    """The caveats of the table."""
    lines = [f"a is {side_name(row.a)}; b is {side_name(row.b)}" for row in comparisons]
    if any(row.design == "unpaired" for row in comparisons):
        lines.append("compared as independent samples: n counts the items of both sides")
    tests = sum(row.p is not None for row in comparisons)
    lines += [f"Holm and BH adjust p for the {tests} test{'s' * (tests != 1)} of this table"] if tests else []
    lines += merge_notes(comparisons.notes)
    lines += doubts(comparisons)
    lines += [
        f"{metric_name(row.metric)} depends on the number of items per target: a model without any preference would get "
        f"{row.unbiased_a:.1f} on side a and {row.unbiased_b:.1f} on side b; compare ICAT macro corrected instead"
        for row in comparisons
        if row.design == "unpaired" and row.unbiased_a is not None
    ]
    lines += dict.fromkeys(direction(row) for row in comparisons if row.above)
    lines += [f"{metric_name(row.metric)}: {row.why}" for row in comparisons if row.why]
    return list(dict.fromkeys(lines))


def comparisons_as_text(comparisons: Comparisons) -> str:
    """In words what was found over all tasks, and the table, for a terminal."""
    from .sentences import explain_comparisons

    whole = without_task(comparisons)
    sentences = [line for row, line in zip(comparisons, explain_comparisons(comparisons), strict=True) if row in whole]
    return "\n".join([*sentences, "", as_text(grid(comparisons))])


def agreement_grid(agreements: Sequence[Agreement]) -> Grid:
    """One row for each two measures that were compared over models or languages."""
    rows, notes = [], []
    for agreement in agreements:
        ways = (agreement.spearman, agreement.pearson)
        rows.append(
            [
                " / ".join(dict.fromkeys([metric_name(agreement.metric), metric_name(agreement.other)])),
                *(format_value(way.value, (way.low, way.high)) for way in ways),
                percent(agreement.direction, form=".0f"),
                f"{agreement.mean_difference:+.2f}",
                f"{agreement.mean_absolute_difference:.2f}",
                str(agreement.n),
            ]
        )
        notes += [f"{metric_name(agreement.metric)}: {way.why}" for way in ways if way.why]
    heading = ["metric", "Spearman", "Pearson", "same side", "mean a - b", "mean |a - b|", "n"]
    return Grid(heading, rows, 1, tuple(dict.fromkeys(notes)))
