"""Meta-evaluation: do two ways to measure agree over models or languages?"""

from __future__ import annotations

from ...analysis.agreements import Agreement
from ...stats.associations import Correlation
from ..findings import Findings
from ..fragments import Panel, panel
from ..tables import metric_name


def draw(found: Findings) -> Panel | None:
    """One row for each two measures that were compared."""
    rows = [_row(one) for one in found.extras.agreements]
    return panel("agreement", "Do the measures agree?", rows=rows) if rows else None


def _row(one: Agreement) -> list[str]:
    names = list(dict.fromkeys([metric_name(one.metric), metric_name(one.other)]))
    return [
        " and ".join(names),
        _correlation(one.spearman),
        _correlation(one.pearson),
        "-" if one.direction is None else f"{100 * one.direction:.0f} %",
        f"{one.mean_difference:+.2f}",
        f"{one.mean_absolute_difference:.2f}",
        str(one.n),
    ]


def _correlation(found: Correlation) -> str:
    if found.value is None:
        return f"- ({found.why})" if found.why else "-"
    if found.low is None or found.high is None:
        return f"{found.value:.2f}"
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"
