"""The robustness card of a model as text for a terminal."""

from __future__ import annotations

from ...analysis.robustness import RobustnessReport, SettingResult
from .table import Grid, as_text

SAID = {
    "same": "The sign survives: all settings lie on the same side of 50.",
    "different": "The sign does not survive: some settings lie above 50 and others below, each beyond its interval.",
    "unclear": "Whether the sign survives cannot be said: at least one setting cannot be told from 50.",
}


def robustness_as_text(report: RobustnessReport) -> str:
    """All trials, what they say about the sign, and which methods rank the items alike."""
    title = f"{report.model} · {report.dataset} · {report.language} · {report.task}"
    rows = [
        [
            one.setting,
            one.kind,
            _value(one),
            "-" if one.flips is None else f"{one.flips} ({100 * one.flips / max(one.n, 1):.1f} %)",
            "-" if one.rank is None else f"{one.rank:.2f}",
            "-" if one.noise is None else f"{one.noise:.2g}",
            "-" if one.below is None else str(one.below),
            str(one.n),
        ]
        for one in report.trials
    ]
    whys = tuple(dict.fromkeys(f"{one.setting}: {one.why}" for one in report.trials if one.why))
    heading = ["setting", "changes", "SS", "items that flip", "rank", "noise", "below noise", "n"]
    lines = [as_text(Grid(heading, rows, 2, whys), title=title), "", SAID[report.sign]]
    if report.below:
        lines.append(
            f"{len(report.below)} items lie below the noise floor, such as '{report.below[0]}': "
            "their preference may be an accident of arithmetic."
        )
    pairs = [
        [f"{a} - {b}", "-" if rho is None else f"{rho:.2f}", "-" if kappa is None else f"{kappa:.2f}"]
        for a, b, rho, kappa in report.agreement
    ]
    if pairs:
        lines += ["", as_text(Grid(["methods", "rank correlation", "kappa"], pairs, 1))]
    return "\n".join(lines)


def _value(result: SettingResult) -> str:
    if result.value is None:
        return "-"
    return (
        f"{result.value:.2f}"
        if result.low is None or result.high is None
        else f"{result.value:.2f} [{result.low:.2f}, {result.high:.2f}]"
    )
