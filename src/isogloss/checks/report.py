"""What the checks found, counted: by check, by target, and as text."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..items import Item, Items, Problem, collection_paused
from .all_checks import ALL, NOT_NORMAL, find_problems
from .check import SEVERITIES, Check

UNREADABLE = Check("unreadable", "error", "The row cannot be read as an item.", lambda items: iter(()))


@collection_paused()
def check_items(items: Items, *, checks: Sequence[Check] = ALL) -> list[dict[str, Any]]:
    """Every check with its severity, explanation, count, the items it found, counts by target, and why it was not made.

    Bad rows are the items of `unreadable`; they, and texts that were not in normal form C, were found when the data was read.
    """
    rows = list(items)
    clusters = {(item.id, item.language): item.cluster for item in rows if item.cluster not in (None, item.id)}
    problems = [problem for problem in items.problems if problem.check in (UNREADABLE.name, NOT_NORMAL.name)]
    problems += find_problems(rows, tuple(checks))
    by_check: dict[str, list[Problem]] = {check.name: [] for check in (UNREADABLE, *checks)}
    for problem in problems:
        by_check.setdefault(problem.check, []).append(problem)
    return [
        {
            "check": check.name,
            "severity": check.severity,
            "count": len(by_check[check.name]),
            "items": [entry.message if check is UNREADABLE else entry.item for entry in by_check[check.name]],
            "explanation": check.explanation,
            "targets": dict(
                Counter(
                    clusters[entry.item, entry.language or ""]
                    for entry in by_check[check.name]
                    if (entry.item, entry.language or "") in clusters
                ).most_common()
            ),
            "note": check.missing(),
        }
        for check in (UNREADABLE, *checks)
    ]


def checks_as_text(results: Sequence[dict[str, Any]]) -> str:
    """The report for a terminal: a line for each check that found something, the targets with the most problems, the rest."""
    lines = []
    for result in results:
        if result["count"]:
            first = f"  first: {', '.join(result['items'][:3])}"
            lines.append(
                f"{result['severity']:8} {result['check']:18} {result['count']:6}  {result['explanation']}{first}"
            )
    counts: Counter[str] = Counter()
    for result in results:
        if result["severity"] in SEVERITIES[:2]:
            counts.update(result["targets"])
    if counts:
        listed = ", ".join(f"{target} {count}" for target, count in counts.most_common(12))
        more = f", … ({len(counts)} in all)" if len(counts) > 12 else ""
        lines.append(f"targets with the most errors and warnings: {listed}{more}")
    lines += [f"{result['check']}: {result['note']}" for result in results if result["note"]]
    nothing = [result["check"] for result in results if not result["count"] and not result["note"]]
    if nothing:
        lines.append(f"{len(nothing)} checks found nothing: {', '.join(nothing)}")
    return "\n".join(lines)


def problem_rows(items: Sequence[Item], problems: Sequence[Problem]) -> set[tuple[str, str]]:
    """The items, by id and language, that have at least one error or warning."""
    keys = {(item.id, item.language) for item in items}
    flagged = {(problem.item, problem.language or "") for problem in problems if problem.severity in SEVERITIES[:2]}
    return flagged & keys


def problems_by_target(items: Sequence[Item], problems: Sequence[Problem]) -> dict[str, int]:
    """How many items with an error or a warning each target has, most first."""
    rows = problem_rows(items, problems)
    counts = Counter(item.cluster or item.id for item in items if (item.id, item.language) in rows)
    return dict(counts.most_common())
