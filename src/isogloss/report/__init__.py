"""Results for people: text, paper tables, figures, and one HTML page.

The package can be called as the function `report(source, out)` of `report/page.py`, since `isogloss.report` names both.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A package that can be called as the function of the same name."""

    def __call__(self, *args: Any, **options: Any) -> Path:
        from .page.document import report

        return report(*args, **options)


sys.modules[__name__].__class__ = _Callable
