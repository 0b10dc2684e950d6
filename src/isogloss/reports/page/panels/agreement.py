"""Meta-evaluation: do two ways to measure agree over models or languages?"""

from __future__ import annotations

from ....analysis.agreements import Agreement
from ....stats.associations import Correlation
from ...text.measures import metric_name
from ..data import PageData
from ..parts import Panel, panel


def draw(data: PageData) -> Panel | None:
    """One row for each two measures that were compared."""
    rows = [_row(one) for one in data.extras.agreements]
    return panel("agreement", "Do the measures agree?", rows=rows) if rows else None


def _row(agreement: Agreement) -> list[str]:
    names = list(dict.fromkeys([metric_name(agreement.metric), metric_name(agreement.other)]))
    return [
        " and ".join(names),
        _correlation(agreement.spearman),
        _correlation(agreement.pearson),
        "-" if agreement.direction is None else f"{100 * agreement.direction:.0f} %",
        f"{agreement.mean_difference:+.2f}",
        f"{agreement.mean_absolute_difference:.2f}",
        str(agreement.n),
    ]


def _correlation(found: Correlation) -> str:
    if found.value is None:
        return f"- ({found.why})" if found.why else "-"
    if found.low is None or found.high is None:
        return f"{found.value:.2f}"
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"
