"""Two sequences of token ids set beside each other: what they share in order, and where they diverge."""

from collections.abc import Sequence

Positions = tuple[list[int], list[int]]


def shared_in_order(first: Sequence[int], second: Sequence[int]) -> Positions:
    """The places of a longest common subsequence in either sequence.

    The two sides are put in a fixed order before they are aligned, so that swapping them swaps the answer.
    A common beginning is always shared, and then a common end.
    """
    if list(second) < list(first):
        right, left = shared_in_order(second, first)
        return left, right
    head = _common(first, second)
    tail = _common(first[head:][::-1], second[head:][::-1])
    ends = len(first) - tail, len(second) - tail
    inner = _subsequence(first[head : ends[0]], second[head : ends[1]])
    pairs = [(k, k) for k in range(head)]
    pairs += [(head + a, head + b) for a, b in inner]
    pairs += [(ends[0] + k, ends[1] + k) for k in range(tail)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def divergent_positions(first: Sequence[int], second: Sequence[int]) -> Positions:
    """The places that are not shared: what the first sequence has of its own, and the second; also in several stretches."""
    left, right = (set(positions) for positions in shared_in_order(first, second))
    return [k for k in range(len(first)) if k not in left], [k for k in range(len(second)) if k not in right]


def _common(first: Sequence[int], second: Sequence[int]) -> int:
    """How many tokens the two have in common at their beginning."""
    pairs = zip(first, second, strict=False)
    return next((k for k, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


def _subsequence(first: Sequence[int], second: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs of places of a longest common subsequence, the earliest possible ones."""
    length = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for a in reversed(range(len(first))):
        for b in reversed(range(len(second))):
            same = first[a] == second[b]
            length[a][b] = length[a + 1][b + 1] + 1 if same else max(length[a + 1][b], length[a][b + 1])
    pairs: list[tuple[int, int]] = []
    a = b = 0
    while a < len(first) and b < len(second):
        if first[a] == second[b]:
            pairs.append((a, b))
            a, b = a + 1, b + 1
        elif length[a + 1][b] >= length[a][b + 1]:
            a += 1
        else:
            b += 1
    return pairs
