"""What chance does to the smaller of a share and its complement, min(p, 1 - p), when p is estimated from few items."""

import numpy as np
import numpy.typing as npt

from .resampling import Array

Numbers = npt.ArrayLike


def fold_of_share(sizes: Numbers, share: float) -> Array:
    """The expected min(k/n, 1 - k/n) of a binomial count k, for each n; exact.

    An even n gives the same as n + 1, and for n = 2m + 1 it is p·P(K < m) + (1 - p)·P(K > m), K of 2m trials.
    """
    from scipy.special import betainc

    half = np.asarray(sizes, dtype=np.int64) // 2
    above = np.maximum(half, 1)
    fold = share * betainc(above + 1, above, 1 - share) + (1 - share) * betainc(above + 1, above, share)
    return np.where(half > 0, fold, 0.0)


def fold_of_beta(mean: Array, spread: Array) -> Array:
    """The expected min(p, 1 - p) of a beta-distributed p; `spread` is its variance over mean · (1 - mean).

    An estimate of the spread may fall below zero; there the function goes on as its mirror image.
    """
    from scipy.special import betainc

    mean, inner = np.clip(mean, 1e-9, 1 - 1e-9), np.clip(np.abs(spread), 1e-7, 1 - 1e-7)
    a, b = mean * (1 / inner - 1), (1 - mean) * (1 / inner - 1)
    fold = mean * betainc(a + 1, b, 0.5) + (1 - mean) * betainc(b + 1, a, 0.5)
    return np.asarray(np.where(spread < 0, 2 * np.minimum(mean, 1 - mean) - fold, fold), dtype=np.float64)


def lost_fold(sizes: Numbers, mean: Array, *, spread: Array) -> Array:
    """How much of the expected min(p, 1 - p) is lost when p, beta-distributed, is estimated from n items: [..., sizes].

    The estimate is taken for beta-distributed too, with the variance that n items add; give 2m + 1 for n = 2m.
    """
    wider = spread[..., None] + (1 - spread[..., None]) / np.asarray(sizes)
    return fold_of_beta(mean, spread)[..., None] - fold_of_beta(mean[..., None], wider)
