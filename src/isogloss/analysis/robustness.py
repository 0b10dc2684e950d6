"""The results of a robustness check: each trial of a setting, and all of them together."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SettingResult:
    """What a setting gives: SS, the items whose preference flips, how its ranks go with the first setting's.

    `noise` is the 95th percentile of how much a gap moves; `below` counts the items whose gap is smaller than that.
    Both are for dtypes and batch sizes only, where a gap ought not to move. Without a value, `why` says why.
    """

    setting: str
    kind: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    flips: int | None = None
    rank: float | None = None
    noise: float | None = None
    below: int | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class RobustnessReport:
    """All trials on one task in one language; the first is the default. `sign` is same, different or unclear.

    `agreement` has rank correlation and kappa for each two methods, `below` the items under the largest noise.
    """

    model: str
    dataset: str
    language: str
    task: str
    trials: tuple[SettingResult, ...]
    sign: str
    agreement: tuple[tuple[str, str, float | None, float | None], ...]
    below: tuple[str, ...]
