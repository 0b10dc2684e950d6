"""Changes, series and planned sizes as tables and sentences for a terminal."""

from ... import registry
from ...analysis.changes import CHANGED, EQUIVALENT, NOT_INTERPRETABLE, UNDECIDED, Changes, GroupChange
from ...analysis.planning import SizePlan
from ...analysis.series import Series
from ...results import Results
from ..numbers import duration, format_value, merge_notes, metric_name, p_value
from .table import Grid, as_text

STATES = (CHANGED, EQUIVALENT, UNDECIDED, NOT_INTERPRETABLE)


def group_name(row: GroupChange) -> str:
    """The group in words; all items have no group."""
    return ", ".join(f"{name} {value}" for name, value in row.group.items()) or "all items"


def verdict(row: GroupChange) -> str:
    """The state with what belongs to it."""
    if row.state == EQUIVALENT:
        return f"equivalent within {row.margin:g}"
    if row.state == UNDECIDED and row.needed:
        return f"undecided (needs about {row.needed:,} items)"
    return row.state


def grid(changes: Changes) -> Grid:
    """One row per group: both values, the difference, the flips each way, and the verdict."""
    floors = any(row.floor is not None for row in changes)
    heading = [
        "group",
        "before",
        "after",
        "change",
        "p",
        "to",
        "away",
        "churn %",
        *(["noise %"] if floors else []),
        "n",
        "clusters",
        "verdict",
    ]
    rows = [
        [
            group_name(row),
            format_value(row.before),
            format_value(row.after),
            format_value(row.difference, (row.low, row.high), form="+.2f"),
            p_value(row.p),
            "-" if row.churn is None else str(row.turned_to),
            "-" if row.churn is None else str(row.turned_away),
            format_value(row.churn, form=".1f"),
            *([format_value(row.floor, form=".1f")] if floors else []),
            str(row.n),
            str(row.clusters),
            verdict(row),
        ]
        for row in changes
    ]
    return Grid(heading, rows, 1, tuple(remarks(changes)))


def remarks(changes: Changes) -> list[str]:
    """The caveats of the table."""
    lines = [
        "intervals and p are adjusted for all groups of the table (largest change under random signs of whole clusters)",
        *merge_notes(changes.notes),
        *(f"{group_name(row)}: {row.why}" for row in changes if row.why),
        *(
            f"{group_name(row)}: churn {row.churn:.1f} % against {row.floor:.1f} % between two runs of the first side (p {p_value(row.floor_p)})"
            for row in changes
            if row.floor is not None and row.churn is not None and not row.group
        ),
    ]
    return list(dict.fromkeys(lines))


def summarise(changes: Changes) -> str:
    """The whole in two sentences: the net change, what it hides, and how many groups are in which state."""
    whole = changes[0]
    name = metric_name(whole.metric)
    text = f"{name}: {format_value(whole.before)} before, {format_value(whole.after)} after; {verdict(whole)}."
    if whole.churn is not None:
        moved = whole.turned_to + whole.turned_away
        preference = registry.get("metric", whole.metric).swap == "mirror"
        to, away = ("to the stereotype", "away from it") if preference else ("up", "down")
        text += f" {moved} of {whole.n} items ({whole.churn:.1f} %) flipped: {whole.turned_to} {to}, {whole.turned_away} {away}."
    counts = [(state, sum(row.state == state for row in changes.rows[1:])) for state in STATES]
    states = ", ".join(f"{count} {state}" for state, count in counts if count)
    return text + (f" Of {len(changes) - 1} groups: {states}." if len(changes) > 1 else "")


def changes_as_text(changes: Changes) -> str:
    """The summary and the table."""
    return "\n".join([summarise(changes), "", as_text(grid(changes))])


def series_grid(series: Series) -> Grid:
    """One row per run: its value, its difference from the first, its flips from the run before, and the jump there."""
    heading = ["run", "value", "from the first", "p", "churn %", "jump", "p of jump", ""]
    rows = [
        [
            ", ".join(row.group.values()),
            format_value(row.value),
            format_value(row.difference, (row.low, row.high), form="+.2f"),
            p_value(row.p),
            format_value(row.churn, form=".1f"),
            format_value(row.jump, form="+.2f"),
            p_value(row.jump_p),
            "<- step" if row.is_step else "",
        ]
        for row in series
    ]
    return Grid(heading, rows, 1, tuple(merge_notes(series.notes)))


def series_as_text(series: Series) -> str:
    """What is measured, and the table."""
    first = series[0]
    head = f"{metric_name(first.metric)} of {len(series)} runs on {first.n} items in {first.clusters} clusters"
    return "\n".join([head, "", as_text(series_grid(series))])


def sizes_grid(plans: Results[SizePlan]) -> Grid:
    """One row per language: what is needed, what the pilot has and can show, and what one run costs."""
    prices = any(row.cost is not None for row in plans)
    heading = ["language", "items", "clusters", "pilot's clusters", "enough", "pilot shows", "tokens", "time"]
    rows = [
        [
            row.group.get("language", "all"),
            f"{row.items:,}",
            f"{row.clusters:,}",
            f"{row.at_hand:,}",
            "yes" if row.enough else "no",
            format_value(row.smallest),
            "-" if row.tokens is None else f"{row.tokens:,}",
            duration(row.seconds),
            *(["-" if row.cost is None else f"{row.cost:.4g}"] if prices else []),
        ]
        for row in plans
    ]
    return Grid([*heading, *(["cost"] if prices else [])], rows, 1, tuple(plans.notes))


def sizes_as_text(plans: Results[SizePlan]) -> str:
    """What is planned for, and the table."""
    first = plans[0]
    head = f"To see a difference of {first.difference:g} in {metric_name(first.metric)} with power {first.power:g} (two-sided, 5 %):"
    return "\n".join([head, "", as_text(sizes_grid(plans))])
