"""Checks of the data itself: what each looks for, how severe it is, and which items it finds."""

from .all_checks import ALL, READING, SEVERITIES, Check, find_changed, find_problems
from .language_checks import notice_language
from .report import check_items, checks_as_text, problem_rows, problems_by_target

__all__ = [
    "ALL",
    "READING",
    "SEVERITIES",
    "Check",
    "check_items",
    "checks_as_text",
    "find_changed",
    "find_problems",
    "notice_language",
    "problem_rows",
    "problems_by_target",
]
