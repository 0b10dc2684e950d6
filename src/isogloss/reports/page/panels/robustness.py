"""Robustness: the same items under all methods, dtypes and batch sizes; does the sign survive?"""

from __future__ import annotations

from ....analysis.robustness import RobustnessReport, SettingResult
from ...text.robustness import SAID
from ..data import PageData
from ..parts import Panel, language_name, panel


def draw(data: PageData) -> Panel | None:
    """One table for each card that was brought along."""
    tables = [_table(card) for card in data.extras.cards]
    return panel("robustness", "Robustness", tables=tables) if tables else None


def _table(report: RobustnessReport) -> dict[str, object]:
    name = f"{report.model}, {language_name(report.language)}, {report.dataset}, {report.task}"
    return {"name": name, "rows": [_row(one) for one in report.trials], "said": SAID[report.sign]}


def _row(result: SettingResult) -> list[str]:
    ends = "" if result.low is None or result.high is None else f" [{result.low:.2f}, {result.high:.2f}]"
    return [
        result.setting,
        result.kind,
        f"- ({result.why})" if result.value is None else f"{result.value:.2f}{ends}",
        "-" if result.flips is None else f"{result.flips} ({100 * result.flips / max(result.n, 1):.1f} %)",
        "-" if result.rank is None else f"{result.rank:.2f}",
        str(result.n),
    ]
