"""Plans of sizes as a table and a sentence for a terminal."""

from ...analysis.planning import SizePlan
from ...results import Results
from ..numbers import duration, format_value, metric_name
from .table import Grid, as_text


def grid(plans: Results[SizePlan]) -> Grid:
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
    return "\n".join([head, "", as_text(grid(plans))])
