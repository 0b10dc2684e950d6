"""The robustness card of a model as text for a terminal."""

from ...analysis.robustness import RobustnessReport
from ..numbers import format_value
from .table import Grid, as_text

SAID = {
    "same": "The sign survives: all settings lie on the same side of 50.",
    "different": "The sign does not survive: some settings lie above 50 and others below, each beyond its interval.",
    "unclear": "Whether the sign survives cannot be said: at least one setting cannot be told from 50.",
}


def robustness_grid(report: RobustnessReport) -> Grid:
    """One row for each setting."""
    rows = [
        [
            one.setting,
            one.kind,
            format_value(one.value, (one.low, one.high)),
            "-" if one.flips is None else f"{one.flips} ({100 * one.flips / max(one.n, 1):.1f} %)",
            format_value(one.rank),
            format_value(one.noise, form=".2g"),
            "-" if one.below is None else str(one.below),
            str(one.n),
        ]
        for one in report.trials
    ]
    whys = tuple(dict.fromkeys(f"{one.setting}: {one.why}" for one in report.trials if one.why))
    heading = ["setting", "changes", "SS", "items that flip", "rank", "noise", "below noise", "n"]
    return Grid(heading, rows, 2, whys)


def robustness_as_text(report: RobustnessReport) -> str:
    """All trials, what they say about the sign, and which methods rank the items alike."""
    title = f"{report.model} · {report.dataset} · {report.language} · {report.task}"
    lines = [as_text(robustness_grid(report), title=title), "", SAID[report.sign]]
    if report.below:
        lines.append(
            f"{len(report.below)} items lie below the noise floor, such as '{report.below[0]}': "
            "their preference may be an accident of arithmetic."
        )
    pairs = [[f"{a} - {b}", format_value(rho), format_value(kappa)] for a, b, rho, kappa in report.agreement]
    if pairs:
        lines += ["", as_text(Grid(["methods", "rank correlation", "kappa"], pairs, 1))]
    return "\n".join(lines)
