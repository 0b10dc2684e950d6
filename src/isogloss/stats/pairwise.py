"""Every sentence of one list against every sentence of another, weighted by likeness, without the matrix of pairs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .resampling import Array

BLOCK = 128


@dataclass(frozen=True, slots=True)
class Ranked:
    """Sentences sorted by score: their vectors, the order they were in, and blocks that no tie runs across."""

    vectors: Array
    order: npt.NDArray[np.int64]
    blocks: tuple[Stretch, ...]
    half: float

    def __len__(self) -> int:
        return len(self.order)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of the sorted sentences; `wins` is who beats whom in it times likeness, or nothing when all tie."""

    start: int
    stop: int
    wins: Array | None


def rank(scores: Array, vectors: Array, *, ties: float) -> Ranked:
    """The sentences in the order of their scores; a tie counts `ties` for the first list."""
    order = np.argsort(scores, kind="stable")
    sorted_scores, sorted_vectors = scores[order], np.ascontiguousarray(vectors[order])
    blocks = tuple(
        Stretch(start, stop, _wins(sorted_scores[start:stop], sorted_vectors[start:stop], ties=ties))
        for start, stop in _cut(sorted_scores)
    )
    return Ranked(sorted_vectors, order, blocks, ties)


def unit(vectors: Array) -> Array:
    """The vectors at length 1; one of length 0 stays as it is."""
    lengths = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))[:, None]
    return np.asarray(vectors / np.where(lengths == 0, 1, lengths), dtype=np.float64)


def weighted_share(ranked: Ranked, first: Array, *, second: Array) -> Array:
    """The share, by likeness, of pairs in which the sentence of the first list has the higher score: [r].

    `first` and `second` say how often each sentence is in either list, [r, sentences], in the order they were given.
    Σ_i Σ_j a_i b_j u_i·u_j [A_i > A_j] / Σ_i Σ_j a_i b_j u_i·u_j: with the sentences sorted, what is below a block is a
    running sum of vectors, and only the pairs within a block are looked at one by one. Linear in sentences, and exact.
    """
    size = len(first), ranked.vectors.shape[1]
    below, all_first = np.zeros(size), np.zeros(size)
    won = np.zeros(len(first))
    for block in ranked.blocks:
        ranks = ranked.order[block.start : block.stop]
        a, b = first[:, ranks], second[:, ranks]
        u = ranked.vectors[block.start : block.stop]
        ours, theirs = _sum(a, u), _sum(b, u)
        won += np.einsum("rd,rd->r", ours, below)
        if block.wins is None:
            won += ranked.half * np.einsum("rd,rd->r", ours, theirs)
        else:
            won += np.einsum("rj,rj->r", a @ block.wins, b)
        below += theirs
        all_first += ours
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(won / np.einsum("rd,rd->r", all_first, below), dtype=np.float64)


def left_out_shares(ranked: Ranked, first: npt.NDArray[np.bool_]) -> Array:
    """`weighted_share` of the first list against all others without each sentence in turn, in one pass."""
    own, other = first[ranked.order].astype(np.float64), (~first[ranked.order]).astype(np.float64)
    ours, theirs = own @ ranked.vectors, other @ ranked.vectors
    below, above = np.zeros_like(ours), ours.copy()
    won = np.empty(len(ranked))
    for block in ranked.blocks:
        part = slice(block.start, block.stop)
        a, b, u = own[part], other[part], ranked.vectors[part]
        above -= a @ u
        wins = ranked.half * (u @ u.T) if block.wins is None else block.wins
        won[part] = np.where(a > 0, u @ below + wins @ b, u @ above + a @ wins)
        below += b @ u
    pairs = np.where(own > 0, ranked.vectors @ theirs, ranked.vectors @ ours)
    shares = np.empty(len(ranked))
    with np.errstate(invalid="ignore", divide="ignore"):
        shares[ranked.order] = (won @ own - won) / (float(ours @ theirs) - pairs)
    return shares


def studentised_share(ranked: Ranked, first: Array, *, second: Array) -> Array:
    """How many standard errors `weighted_share` lies above one half: [r], for lists of 0 or 1 of each sentence.

    The error is that of a ratio of sums over pairs of independent sentences (DeLong et al. 1988): each sentence's
    Σ C·([A > A'] - share) over the other list, squared, with n/(n - 1) for each list. With equal weights this is the
    statistic of Brunner and Munzel (2000). A share of exactly one half is zero.
    """
    ours, theirs = (members[:, ranked.order] @ ranked.vectors for members in (first, second))
    below, above = np.zeros_like(ours), ours.copy()
    moments = np.zeros((2, 3, len(first)))  # of either list: Σ won², Σ won · all, Σ all²
    won = np.zeros(len(first))
    for block in ranked.blocks:
        order, u = ranked.order[block.start : block.stop], ranked.vectors[block.start : block.stop]
        a, b = first[:, order], second[:, order]
        own, other = _sum(a, u), _sum(b, u)
        above -= own
        if block.wins is None:
            beaten, lost = (below + ranked.half * other) @ u.T, (above + ranked.half * own) @ u.T
        else:
            beaten, lost = below @ u.T + b @ block.wins.T, above @ u.T + a @ block.wins
        for side, (members, wins, total) in enumerate(((a, beaten, theirs @ u.T), (b, lost, ours @ u.T))):
            moments[side] += [np.einsum("rj,rj->r", members, part) for part in (wins**2, wins * total, total**2)]
        won += np.einsum("rj,rj->r", a, beaten)
        below += other
    return _studentise(won, np.einsum("rd,rd->r", ours, theirs), moments=moments, counts=(first.sum(1), second.sum(1)))


def _studentise(won: Array, pairs: Array, *, moments: Array, counts: tuple[Array, Array]) -> Array:
    """The statistic from sums; an error below that of half a pair's win, as of lists apart, counts as that much."""
    share = won / pairs
    squares = moments[:, 0] - 2 * share * moments[:, 1] + share**2 * moments[:, 2]
    variance = sum(n / np.maximum(n - 1, 1) * square for n, square in zip(counts, squares, strict=True)) / pairs**2
    least = 0.5 / (counts[0] * counts[1])
    distance = np.where(np.abs(share - 0.5) < 1e-12, 0.0, share - 0.5)
    return np.asarray(distance / np.sqrt(np.maximum(variance, least**2)), dtype=np.float64)


def _sum(weights: Array, vectors: Array) -> Array:
    """The weighted sums of the vectors; those that no row has a weight for are left out of the work."""
    used = weights.any(0)
    return np.asarray(weights @ vectors if used.all() else weights[:, used] @ vectors[used], dtype=np.float64)


def count_wins(first: Array, second: Array) -> tuple[int, int]:
    """How many of all pairs the first list's score wins, and how many tie."""
    below = np.searchsorted(np.sort(second), first, side="left")
    upto = np.searchsorted(np.sort(second), first, side="right")
    return int(below.sum()), int((upto - below).sum())


def _cut(scores: Array) -> Iterator[tuple[int, int]]:
    """Blocks of about N sentences that end where a score ends; a long tie is a block of its own."""
    edges = [0, *(np.flatnonzero(np.diff(scores)) + 1).tolist(), len(scores)]
    start = 0
    for left, right in itertools.pairwise(edges):
        if right - left > BLOCK and left > start:
            yield start, left
            start = left
        if right - start >= BLOCK:
            yield start, right
            start = right
    if start < len(scores):
        yield start, len(scores)


def _wins(scores: Array, vectors: Array, *, ties: float) -> Array | None:
    if scores[0] == scores[-1]:
        return None
    above = (scores[:, None] > scores[None, :]) + ties * (scores[:, None] == scores[None, :])
    return np.asarray(above * (vectors @ vectors.T), dtype=np.float64)
