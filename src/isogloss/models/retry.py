"""Waiting before another try: as long as the server asks for, or longer each time, and never all at the same moment."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MOST = 86_400.0  # a longer wait is reported as this


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a request is tried, the first wait in seconds, and the longest that is waited for."""

    tries: int = 6
    first: float = 0.5
    longest: float = 300.0


def asked_wait(header: str | None, *, now: datetime | None = None) -> float | None:
    """The seconds that a Retry-After header asks for, written as a number or as a date; none when it says nothing."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            moment = parsedate_to_datetime(header)
        except (ValueError, TypeError):
            return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        seconds = (moment - (now or datetime.now(UTC))).total_seconds()
    return min(max(0.0, seconds), MOST) if seconds == seconds else None  # not a number is no wait


def next_wait(policy: RetryPolicy, turn: int, *, asked: float | None, draw: random.Random) -> float:
    """How long to wait after try number `turn`; what the server asked for is the least."""
    doubled = float(min(policy.longest, policy.first * 2**turn))
    if asked is not None:
        return asked + draw.uniform(0, 0.1) * max(asked, policy.first)
    return doubled * draw.uniform(0.5, 1.0)
