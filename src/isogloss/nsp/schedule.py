"""Learning rates by step: a warm-up, then a cosine with hard restarts, as a function without memory."""

from __future__ import annotations

import math

from .settings import Rates


def warmup_steps(steps: int) -> int:
    """How many steps the warm-up takes."""
    return steps // 100 + 1


def rate_share(step: int, steps: int, *, rates: Rates) -> float:
    """The part of the full learning rate at a step, counted from 0."""
    warm = warmup_steps(steps)
    if step < warm:
        return step / max(1, warm)
    if rates.schedule == "constant":
        return 1.0
    progress = (step - warm) / max(1, steps - warm)
    return 0.0 if progress >= 1 else max(0.0, 0.5 * (1 + math.cos(math.pi * ((rates.cycles * progress) % 1.0))))


def rates_at(step: int, steps: int, *, rates: Rates) -> tuple[float, float]:
    """The learning rates of core and head at a step; the warm-up's first step is not lost to a rate of nothing."""
    share = rate_share(step + 1, steps + 1, rates=rates)
    return share * (rates.core or 0.0), share * rates.head
