"""Prediction-powered inference: a machine's reading of all answers, corrected by people's reading of some of them.

Angelopoulos et al. (2023), with the power tuned as in Angelopoulos, Duchi and Zrnic (2024), and with variances over clusters.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import IsoglossError
from .resampling import FEWEST_CLUSTERS, Array, cluster_sums, student_quantile, wilson_interval

ROUNDS = 50  # of the search for a number of answers; it settles within a few


@dataclass(frozen=True, slots=True)
class PoweredMean:
    """A mean with its interval, and beside it the mean of people's reading alone (`plain`) and the machine's (`machine`).

    `power` is the weight of the machine's reading, from 0 (not used) to 1. Without an interval, `why` says why.
    """

    value: float
    low: float | None
    high: float | None
    error: float | None
    power: float
    plain: float
    plain_error: float | None
    machine: float
    read: int
    answers: int
    clusters_read: int
    why: str | None = None


def powered_mean(
    machine: Array,
    people: Array,
    *,
    clusters: Sequence[str] | None = None,
    power: float | None = None,
    level: float = 0.95,
) -> PoweredMean:
    """The mean of what people would read in all answers: power · mean(machine, unread) + mean(people - power · machine, read).

    `machine` and `people` have one number per answer; `people` is NaN where nobody read. Answers of one cluster (a question
    that was asked several times) may be read in part. What was read must be a random sample. The power that is not given
    minimises the variance; it is 0 where people never differ from the machine.
    """
    sample = _sample(machine, people, clusters=clusters)
    plain, slope = _influences(sample)
    tuned = power is None
    chosen = _tuned_power(sample) if power is None else power
    gap = _mean(machine, ~sample.read) - _mean(machine, sample.read)
    centre = _mean(people, sample.read)
    freedom = sample.clusters_read - (2 if tuned and chosen else 1)  # a tuned power is one more estimated number
    value = centre + chosen * gap
    count = sample.clusters_read
    numbers = (float(np.mean(machine)), int(sample.read.sum()), len(machine), count)
    if count < FEWEST_CLUSTERS:
        why = f"{count} clusters were read; an interval needs {FEWEST_CLUSTERS}"
        return PoweredMean(value, None, None, None, chosen, centre, None, *numbers, why)
    error = math.sqrt(float(np.sum((plain + chosen * slope) ** 2)) * count / freedom)
    half = student_quantile((1 + level) / 2, freedom) * error
    plain_error = math.sqrt(float(np.sum(plain**2)) * count / (count - 1))
    return PoweredMean(value, value - half, value + half, error, chosen, centre, plain_error, *numbers)


def powered_share(
    machine: Array, people: Array, *, clusters: Sequence[str] | None = None, power: float | None = None
) -> PoweredMean:
    """The same for readings from 0 to 1, with Wilson's interval at the number of answers that the error is worth.

    Near 0 and 1 an interval of the mean plus and minus its error is too narrow; where people read the same everywhere, its
    width would be 0. There every cluster that was read counts as one answer.
    """
    result = powered_mean(machine, people, clusters=clusters, power=power)
    if result.error is None:
        return result
    share = float(np.clip(result.value, 0, 1))
    spread = share * (1 - share)
    worth = spread / result.error**2 if result.error > 0 and spread > 0 else float(result.clusters_read)
    level = math.erf(
        student_quantile(0.975, result.clusters_read - 1) / math.sqrt(2)
    )  # Student's quantile for Wilson's
    low, high = wilson_interval(share, worth, level=level)
    return replace(result, value=share, low=low, high=high)


def answers_to_read(
    machine: Array,
    people: Array,
    *,
    half_width: float,
    clusters: Sequence[str] | None = None,
    level: float = 0.95,
) -> int | None:
    """How many answers must be read in all for an interval of this half-width, judged by those read so far.

    The answers that are read next come from clusters as those so far did. None if reading all answers is not enough.
    """
    if half_width <= 0:
        raise IsoglossError(f"The half-width of an interval must be more than 0; it is {half_width}.")
    sample = _sample(machine, people, clusters=clusters)
    count, read, total = sample.clusters_read, int(sample.read.sum()), len(machine)
    if count < FEWEST_CLUSTERS:
        raise IsoglossError(f"{count} clusters were read, too few to plan by. Read at least {FEWEST_CLUSTERS}.")
    plain, slope = _influences(sample)
    power = _tuned_power(sample)
    weight = power * total / (total - read) if power else 0.0  # of the mean over all answers, not only the unread
    whole = weight * cluster_sums((machine - machine.mean())[:, None], sample.cluster)[:, 0] / total
    remainder = plain + power * slope - whole  # what reading more answers makes smaller
    freedom = count - (2 if power else 1)
    of_read = float(np.sum(remainder**2)) * count / freedom * read
    fixed = float(np.sum(whole**2))
    needed = read
    for _ in range(ROUNDS):
        clusters_then = max(FEWEST_CLUSTERS, needed * count / read)
        squared = (half_width / student_quantile((1 + level) / 2, clusters_then - 1 - bool(power))) ** 2
        if squared <= fixed:
            return None
        previous, needed = needed, math.ceil(of_read / (squared - fixed))
        if needed == previous:
            break
    fewest = math.ceil(FEWEST_CLUSTERS * read / count)
    return None if max(needed, fewest) > total else max(needed, fewest)


@dataclass(frozen=True, slots=True)
class _Sample:
    """Answers with their clusters by number, and which of them people read."""

    machine: Array
    people: Array
    read: np.ndarray[tuple[int], np.dtype[np.bool_]]
    cluster: np.ndarray[tuple[int], np.dtype[np.int64]]

    @property
    def clusters_read(self) -> int:
        return len(np.unique(self.cluster[self.read]))


def _sample(machine: Array, people: Array, *, clusters: Sequence[str] | None) -> _Sample:
    names = np.arange(len(machine)) if clusters is None else np.asarray(clusters)
    if not len(machine) == len(people) == len(names):
        raise IsoglossError(
            f"{len(machine)} machine readings, {len(people)} readings by people and {len(names)} clusters: give one "
            "of each per answer, and NaN where nobody read."
        )
    if not np.isfinite(machine).all():
        raise IsoglossError("The machine's reading is missing for some answers. Give a number for each, such as 0.")
    read = ~np.isnan(people)
    if not read.any():
        raise IsoglossError("No answers were read by people. Have a random sample read first.")
    return _Sample(machine, people, read, np.unique(names, return_inverse=True)[1].astype(np.int64))


def _influences(sample: _Sample) -> tuple[Array, Array]:
    """What each cluster adds to the error of people's mean, and to that of the machine's correction per unit of power."""
    read, unread = sample.read, ~sample.read
    people = _centred(np.where(read, sample.people, 0.0), read)
    machine = _centred(sample.machine, unread) - _centred(sample.machine, read)
    sums = cluster_sums(np.column_stack([people, machine]), sample.cluster)
    return sums[:, 0], sums[:, 1]


def _tuned_power(sample: _Sample) -> float:
    """The power with the least variance.

    Where none of the machine's errors was seen, nothing is known of their rate, and a variance from what was seen is too
    small: intervals from 30 to 60 of 5,000 answers, of which the machine misses few, cover in 57 to 83 % instead of 95 %.
    """
    differing = sample.read & (np.abs(sample.people - sample.machine) > 1e-12)
    if sample.read.all() or not differing.any():
        return 0.0
    plain, slope = _influences(sample)
    spread = float(slope @ slope)
    return float(np.clip(-(plain @ slope) / spread, 0, 1)) if spread > 0 else 0.0


def _centred(values: Array, rows: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Array:
    """Each row's part in the error of the mean over these rows; 0 elsewhere."""
    return np.where(rows, values - _mean(values, rows), 0.0) / max(1, int(rows.sum()))


def _mean(values: Array, rows: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    return float(values[rows].mean()) if rows.any() else 0.0
