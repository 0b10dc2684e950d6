"""Looking everywhere at once: many differences over the same clusters, adjusted by the largest that chance gives."""

from dataclasses import dataclass

import numpy as np

from .resampling import DRAWS_AT_ONCE, Array, student_quantile


@dataclass(frozen=True, slots=True)
class Scan:
    """Differences in columns, each with its standard error and its p adjusted for all of them.

    `reach` is how many standard errors a simultaneous 95 % interval spans to either side, `near` the same for 90 %, which
    two one-sided tests at 5 % use; both are wider for a column of few clusters.
    """

    values: Array
    errors: Array
    p: Array
    reach: Array
    near: Array


def scan_clusters(moves: Array, sizes: Array, *, resamples: int, seed: int = 0) -> Scan:
    """Each column's ratio of sums, Σ moves / Σ sizes, tested by max-T under random signs of whole clusters.

    `moves` and `sizes` are [clusters, columns]; a cluster that a column lacks has size 0 there. If nothing changed, a
    cluster's move is as likely with the other sign; all columns share the signs, so that their dependence is kept
    (Westfall and Young 1993). Intervals use the same signs on the residuals.
    """
    whole, counts = sizes.sum(0), (sizes > 0).sum(0)
    values = moves.sum(0) / whole
    residuals = moves - values * sizes
    errors = _errors(values, moves, sizes=sizes)
    observed = _ratio(values, errors)
    beyond = np.zeros(len(values))
    largest = []
    rng = np.random.default_rng(seed)
    block = max(1, DRAWS_AT_ONCE // len(moves))
    for start in range(0, resamples, block):
        signs = (1 - 2 * rng.integers(2, size=(min(block, resamples - start), len(moves)))).astype(np.float64)
        under_null = np.abs(_flipped(signs, moves, sizes=sizes)).max(1)
        beyond += (under_null[:, None] >= np.abs(observed) - 1e-9).sum(0)
        largest.append(np.abs(_flipped(signs, residuals, sizes=sizes)).max(1))
    peaks = np.concatenate(largest)
    reach, near = (
        np.maximum(np.quantile(peaks, level), [student_quantile((1 + level) / 2, max(1, n - 1)) for n in counts])
        for level in (0.95, 0.90)
    )
    return Scan(values, errors, (beyond + 1) / (resamples + 1), reach, near)


def _errors(values: Array, moves: Array, *, sizes: Array) -> Array:
    """The standard error of a ratio of sums over clusters."""
    counts = (sizes > 0).sum(0)
    squares = ((moves - values * sizes) ** 2).sum(0) * counts / np.maximum(counts - 1, 1)
    return np.asarray(np.sqrt(squares) / sizes.sum(0), dtype=np.float64)


def _flipped(signs: Array, moves: Array, *, sizes: Array) -> Array:
    """The studentized ratios [r, columns] when clusters have these signs."""
    whole, counts = sizes.sum(0), (sizes > 0).sum(0)
    values = signs @ moves / whole
    crossed = signs @ (moves * sizes)
    squares = (moves**2).sum(0) - 2 * values * crossed + values**2 * (sizes**2).sum(0)
    squares = np.maximum(squares, 0.0) * counts / np.maximum(counts - 1, 1)
    return _ratio(values, np.sqrt(squares) / whole)


def _ratio(values: Array, errors: Array) -> Array:
    """Values in standard errors; where nothing varies, none or very many."""
    with np.errstate(divide="ignore", invalid="ignore"):
        studentised = np.where(errors > 1e-12, values / errors, np.where(np.abs(values) > 1e-12, np.inf, 0.0))
    return np.asarray(np.clip(studentised, -1e6, 1e6), dtype=np.float64)
