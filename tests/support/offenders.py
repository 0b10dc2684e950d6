"""One test of a rule for many cases: it lists all cases that break the rule, each with its traceback."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable


def for_every(**cases: Iterable[object]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A test of a rule for every combination of these cases; what else the rule takes are fixtures."""

    def decorate(rule: Callable[..., None]) -> Callable[..., None]:
        combinations = list(itertools.product(*cases.values()))
        if not combinations:
            raise ValueError(f"There is no case for {rule.__name__}.")

        @functools.wraps(rule)
        def check(**fixtures: object) -> None:
            offenders = []
            for values in combinations:
                try:
                    rule(**dict(zip(cases, values, strict=True)), **fixtures)
                except Exception as error:
                    error.add_note(f"Case: {', '.join(map(str, values))}")
                    offenders.append((", ".join(map(str, values)), error))
            if offenders:
                names = "; ".join(name for name, _ in offenders)
                count = f"{len(offenders)} of {len(combinations)} cases break the rule"
                raise ExceptionGroup(f"{count}: {names}", [error for _, error in offenders])

        left = [p for name, p in inspect.signature(rule).parameters.items() if name not in cases]
        check.__signature__ = inspect.Signature(left)  # type: ignore[attr-defined]  # pytest looks there for fixtures
        return check

    return decorate
