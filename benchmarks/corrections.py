"""A simulation of corrected rates with known truth: how often 95 % intervals hold it, and how wide they are.

`python -m benchmarks.corrections` prints the table of docs/dev/native-speakers-record.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from isogloss.stats.prediction_powered import powered_share
from isogloss.stats.resampling import Array

ROUNDS = 2_000
SPREAD = 4.0  # the parameter of the Beta distribution of the questions' rates
CASES = [  # the true rate, questions, samples of each, answers that people read, share that the machine misreads
    (0.3, 200, 1, 50, 0.10),
    (0.3, 200, 5, 50, 0.10),
    (0.3, 200, 5, 200, 0.10),
    (0.3, 72, 25, 60, 0.10),
    (0.3, 72, 25, 200, 0.05),
    (0.3, 72, 25, 200, 0.30),
    (0.3, 500, 1, 100, 0.02),
    (0.3, 500, 1, 100, 0.50),
    (0.02, 72, 25, 100, 0.02),
    (0.02, 500, 1, 100, 0.02),
    (0.05, 500, 1, 60, 0.10),
    (0.95, 72, 25, 200, 0.05),
]


def simulate(
    case: tuple[float, int, int, int, float], *, rounds: int, seed: int = 0
) -> tuple[float, float, float, float]:
    """Coverage of the corrected and of the plain interval, and the mean half-width of both, in points."""
    rate = case[0]
    rng = np.random.default_rng(seed)
    hits, halves = np.zeros(2), np.zeros(2)
    for _ in range(rounds):
        machine, people, names = draw(rng, case)
        for number, power in enumerate((None, 0.0)):
            result = powered_share(machine, people, clusters=names, power=power)
            low, high = result.low or 0.0, result.high or 0.0
            hits[number] += low <= rate <= high
            halves[number] += (high - low) / 2
    return (*(100 * hits / rounds), *(100 * halves / rounds))


def draw(rng: np.random.Generator, case: tuple[float, int, int, int, float]) -> tuple[Array, Array, list[str]]:
    """The machine's reading of all answers, people's of a random sample, and the question of each answer."""
    rate, questions, samples, read, wrong = case
    rates = np.repeat(rng.beta(rate * SPREAD, (1 - rate) * SPREAD, questions), samples)
    truth = (rng.random(len(rates)) < rates).astype(np.float64)
    machine = np.where(rng.random(len(rates)) < wrong * np.where(truth > 0, 1.5, 0.7), 1 - truth, truth)
    people = np.full(len(rates), np.nan)
    chosen = rng.permutation(len(rates))[:read]
    people[chosen] = truth[chosen]
    return machine, people, [str(name) for name in np.repeat(np.arange(questions), samples)]


def lines(rounds: int = ROUNDS) -> Iterator[str]:
    """The table as Markdown."""
    yield "| true rate | questions | samples of each | read | misread | corrected: covered | half-width | people alone: covered | half-width |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for case in CASES:
        covered, plain, half, plain_half = simulate(case, rounds=rounds)
        facts = f"{100 * case[0]:.0f} % | {case[1]} | {case[2]} | {case[3]} | {100 * case[4]:.0f} %"
        yield f"| {facts} | {covered:.1f} % | {half:.1f} | {plain:.1f} % | {plain_half:.1f} |"


if __name__ == "__main__":
    print("\n".join(lines(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)))
