"""Prediction-powered inference: equal to a slow reference and to ppi-python, covers as often as it says, plans what it needs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from isogloss.errors import IsoglossError
from isogloss.stats.prediction_powered import answers_to_read, powered_mean, powered_share

# seed, read, unread, kind, power, estimate, both ends of 95 %: ppi-python 0.2.3 (ppi_mean_pointestimate, ppi_mean_ci)
PPI_PYTHON = [
    (0, 60, 500, "binary", 0.48444852561549484, 0.26492428935994455, 0.16736888737738193, 0.3624796913425072),
    (0, 60, 500, "binary", 0.0, 0.2833333333333333, 0.16931363072454186, 0.3973530359421248),
    (0, 60, 500, "binary", 1.0, 0.24533333333333335, 0.12629764708908003, 0.36436901957758666),
    (0, 60, 500, "binary", 0.6, 0.2605333333333333, 0.16148606170237784, 0.35958060496428873),
    (1, 40, 80, "binary", 0.45782570679102336, 0.26927717866511225, 0.16038371042836497, 0.37817064690185953),
    (1, 40, 80, "binary", 1.0, 0.2625, 0.11451075381125825, 0.4104892461887418),
    (2, 100, 1000, "normal", 0.46598403243483805, 2.034399518178937, 1.8996758851646212, 2.1691231511932534),
    (2, 100, 1000, "normal", 1.0, 2.083469838650786, 1.929286452463613, 2.2376532248379593),
]
# The example `forest_badmodel` of ppi-python's repository (1,596 parcels, MIT licence), of which some are read. Both readings
# are 0 or 1: how many were read as (1, 1), (1, 0), (0, 1), (0, 0), and how many of the others the machine reads as 1 and 0.
FOREST = [
    ((0, 12, 0, 38), (33, 1513), 0.0, 0.24, 0.12162077134103225, 0.35837922865896776),
    ((0, 12, 0, 38), (33, 1513), 0.5, 0.25067270375161704, 0.13223867837000425, 0.36910672913322984),
    ((0, 12, 0, 38), (33, 1513), 1.0, 0.26134540750323415, 0.14274714386209347, 0.37994367114437483),
    ((0, 26, 3, 121), (30, 1416), 0.5, 0.1737067773167358, 0.11127801494902281, 0.2361355396844488),
    ((0, 26, 3, 121), (30, 1416), 1.0, 0.1740802213001383, 0.10772456293405604, 0.2404358796662206),
    ((0, 91, 10, 399), (23, 1073), 0.5, 0.182492700729927, 0.14745819441061248, 0.2175272070492415),
    ((0, 91, 10, 399), (23, 1073), 1.0, 0.182985401459854, 0.14527162743251623, 0.22069917548719178),
]
TUNED = [PPI_PYTHON[0], PPI_PYTHON[4], PPI_PYTHON[6]]


def readings(seed: int, read: int, unread: int, kind: str = "binary") -> tuple[np.ndarray, np.ndarray]:
    """The machine's reading of all answers and people's of the first ones."""
    rng, count = np.random.default_rng(seed), read + unread
    if kind == "binary":
        truth = (rng.random(count) < 0.3).astype(float)
        machine = np.where(rng.random(count) < 0.15, 1 - truth, truth)
    else:
        truth = rng.normal(2.0, 1.0, count)
        machine = truth + 0.5 + rng.normal(0, 0.7, count)
    return machine, np.where(np.arange(count) < read, truth, np.nan)


def clustered(rng: np.random.Generator, *, questions: int, samples: int, read: int, wrong: float, rate: float = 0.3):
    """Yes or no to questions that are asked several times; people read some answers at random."""
    spread = 4.0  # of the Beta distribution of the questions' rates: answers to one question are alike
    rates = np.repeat(rng.beta(rate * spread, (1 - rate) * spread, questions), samples)
    truth = (rng.random(len(rates)) < rates).astype(float)
    machine = np.where(rng.random(len(rates)) < wrong * np.where(truth > 0, 1.5, 0.7), 1 - truth, truth)
    people = np.full(len(rates), np.nan)
    chosen = rng.choice(len(rates), read, replace=False)
    people[chosen] = truth[chosen]
    return machine, people, [str(name) for name in np.repeat(np.arange(questions), samples)]


@pytest.mark.parametrize(("seed", "read", "unread", "kind", "power", "value", "low", "high"), PPI_PYTHON)
def test_an_estimate_with_a_power_equals_that_of_ppi_python(seed, read, unread, kind, power, value, low, high):
    result = powered_mean(*readings(seed, read, unread, kind), power=power)
    assert result.value == pytest.approx(value, abs=1e-12)
    smaller = math.sqrt((read - 1) / read)  # ppi-python divides by n, not n - 1, and uses the normal distribution
    assert 1.959963984540054 * result.error * smaller == pytest.approx((high - low) / 2, abs=1e-12)


@pytest.mark.parametrize(("seed", "read", "unread", "kind", "power", "value", "low", "high"), TUNED)
def test_the_tuned_estimate_is_close_to_that_of_ppi_python(seed, read, unread, kind, power, value, low, high):
    # ppi-python takes the machine's variance from all answers; ours is the minimum of the variance that is reported
    result = powered_mean(*readings(seed, read, unread, kind))
    assert abs(result.value - value) < 0.06 * (high - low)
    assert (result.high - result.low) / (high - low) == pytest.approx(1, abs=0.08)


@pytest.mark.parametrize(("cells", "others", "power", "value", "low", "high"), FOREST)
def test_an_example_of_ppi_python_has_its_numbers(cells, others, power, value, low, high):
    people = np.concatenate([np.repeat([1.0, 1.0, 0.0, 0.0], cells), np.full(sum(others), np.nan)])
    machine = np.repeat([1.0, 0.0, 1.0, 0.0, 1.0, 0.0], [*cells, *others])
    result = powered_mean(machine, people, power=power)
    smaller = math.sqrt((sum(cells) - 1) / sum(cells))  # as above
    assert result.value == pytest.approx(value, abs=1e-12)
    assert 1.959963984540054 * result.error * smaller == pytest.approx((high - low) / 2, abs=1e-12)


def slow(machine, people, names, power):
    """The estimate and its variance, answer by answer and cluster by cluster."""
    read = [i for i in range(len(machine)) if not math.isnan(people[i])]
    unread = [i for i in range(len(machine)) if math.isnan(people[i])]
    residual = {i: people[i] - power * machine[i] for i in read}
    of_machine = sum(machine[i] for i in unread) / len(unread)
    of_people = sum(residual.values()) / len(read)
    variance = 0.0
    for name in set(names):
        own = sum(residual[i] - of_people for i in read if names[i] == name) / len(read)
        own += power * sum(machine[i] - of_machine for i in unread if names[i] == name) / len(unread)
        variance += own**2
    return power * of_machine + of_people, variance


@pytest.mark.parametrize("seed", range(4))
def test_clusters_give_the_variance_of_the_slow_reference_and_the_power_its_minimum(seed):
    machine, people, names = clustered(np.random.default_rng(seed), questions=40, samples=5, read=80, wrong=0.2)
    result = powered_mean(machine, people, clusters=names)
    value, variance = slow(machine, people, names, result.power)
    assert result.value == pytest.approx(value)
    assert result.error**2 == pytest.approx(variance * result.clusters_read / (result.clusters_read - 2))
    least = min((slow(machine, people, names, power)[1], power) for power in np.linspace(0, 1, 201))
    assert result.power == pytest.approx(least[1], abs=0.005)


def test_without_power_it_is_the_mean_of_what_people_read():
    machine, people, names = clustered(np.random.default_rng(1), questions=40, samples=5, read=80, wrong=0.2)
    result = powered_mean(machine, people, clusters=names, power=0)
    assert result.value == result.plain == pytest.approx(np.nanmean(people))
    assert result.error == pytest.approx(result.plain_error)


def test_when_everything_is_read_the_machine_is_not_used():
    machine, people = readings(3, 200, 0)
    result = powered_mean(machine, people)
    assert (result.power, result.value) == (0, pytest.approx(people.mean()))


def test_a_machine_whose_errors_were_not_seen_is_not_trusted():
    machine, people = readings(4, 60, 500)
    people = np.where(np.isnan(people), people, machine)
    assert powered_mean(machine, people).power == 0
    people[0] = 1 - machine[0]
    assert powered_mean(machine, people).power > 0


def test_few_clusters_have_no_interval():
    machine, people = readings(5, 90, 210)
    result = powered_mean(machine, people, clusters=[str(i % 9) for i in range(300)])
    assert (result.low, result.clusters_read) == (None, 9)
    assert "an interval needs 10" in result.why


@pytest.mark.parametrize(
    ("machine", "people", "message"),
    [
        ([1, 0], [1], "one of each per answer"),
        ([1, math.nan], [1, math.nan], "missing for some answers"),
        ([1, 0], [math.nan, math.nan], "No answers were read"),
    ],
)
def test_bad_readings_are_named(machine, people, message):
    with pytest.raises(IsoglossError, match=message):
        powered_mean(np.array(machine, dtype=float), np.array(people, dtype=float))


# ---- how many answers to read


def test_the_planned_number_of_answers_gives_the_wanted_half_width():
    rng = np.random.default_rng(7)
    pilot = clustered(rng, questions=1000, samples=1, read=300, wrong=0.1)
    planned = answers_to_read(*pilot[:2], half_width=0.035)
    halves = []
    for _ in range(20):
        machine, people, _ = clustered(rng, questions=1000, samples=1, read=planned, wrong=0.1)
        result = powered_mean(machine, people)
        halves.append((result.high - result.low) / 2)
    assert np.mean(halves) == pytest.approx(0.035, rel=0.08)


def test_a_good_machine_saves_reading():
    rng = np.random.default_rng(8)
    good = answers_to_read(*clustered(rng, questions=2000, samples=1, read=300, wrong=0.05)[:2], half_width=0.035)
    useless = answers_to_read(*clustered(rng, questions=2000, samples=1, read=300, wrong=0.5)[:2], half_width=0.035)
    assert good < useless / 2


def test_a_half_width_beyond_all_answers_cannot_be_reached():
    assert answers_to_read(*readings(9, 60, 100), half_width=0.01) is None


def test_a_plan_needs_a_half_width_and_a_pilot():
    with pytest.raises(IsoglossError, match="more than 0"):
        answers_to_read(*readings(9, 60, 100), half_width=0)
    with pytest.raises(IsoglossError, match="Read at least 10"):
        answers_to_read(*readings(9, 5, 100), half_width=0.1)


# ---- coverage


@pytest.mark.parametrize(
    ("questions", "samples", "read", "wrong"), [(600, 1, 40, 0.15), (600, 1, 60, 0.03), (60, 10, 120, 0.15)]
)
def test_intervals_cover_the_known_truth_as_often_as_they_say(questions, samples, read, wrong):
    rng, rounds, hits = np.random.default_rng(11), 1000, 0
    for _ in range(rounds):
        machine, people, names = clustered(rng, questions=questions, samples=samples, read=read, wrong=wrong)
        result = powered_mean(machine, people, clusters=names)
        hits += result.low <= 0.3 <= result.high
    assert 0.93 <= hits / rounds <= 0.98


@pytest.mark.parametrize(
    ("read", "rate", "missed", "added"), [(40, 0.2, 0.1, 0), (50, 0.5, 0, 0.06), (80, 0.1, 0.1, 0)]
)
def test_intervals_cover_when_the_machine_errs_rarely_and_to_one_side(read, rate, missed, added):
    rng, rounds, count, hits = np.random.default_rng(12), 1000, 4000, 0
    for _ in range(rounds):
        truth = (rng.random(count) < rate).astype(float)
        machine = np.where(rng.random(count) < np.where(truth > 0, missed, added), 1 - truth, truth)
        people = np.where(np.arange(count) < read, truth, np.nan)
        result = powered_mean(machine, people)
        hits += result.low <= rate <= result.high
    assert 0.92 <= hits / rounds <= 0.99


# ---- shares


def test_a_share_of_which_people_read_nothing_else_still_has_a_width():
    machine = np.zeros(500)
    people = np.where(np.arange(500) < 100, 0.0, np.nan)
    result = powered_share(machine, people)
    assert (result.value, result.low) == (0, pytest.approx(0, abs=1e-12))
    assert 0.03 < result.high < 0.05  # Wilson's interval of 0 of 100 ends at 0.037


def test_the_interval_of_a_share_is_wilson_s_where_every_answer_is_a_question():
    machine, people = readings(6, 80, 400)
    result = powered_share(machine, people, power=0)
    count, share = 80, float(np.nanmean(people))
    worth = count - 1  # the error divides by n - 1
    quantile = 1.990450  # Student's, 79 degrees of freedom
    centre = (share + quantile**2 / (2 * worth)) / (1 + quantile**2 / worth)
    assert (result.low + result.high) / 2 == pytest.approx(centre, abs=1e-6)


@pytest.mark.parametrize(("questions", "samples", "read", "rate"), [(500, 1, 100, 0.02), (72, 25, 100, 0.05)])
def test_intervals_of_rare_shares_cover_the_known_truth(questions, samples, read, rate):
    rng, rounds, hits = np.random.default_rng(13), 400, 0
    for _ in range(rounds):
        machine, people, names = clustered(rng, questions=questions, samples=samples, read=read, wrong=0.02, rate=rate)
        result = powered_share(machine, people, clusters=names)
        hits += result.low <= rate <= result.high
    assert hits / rounds >= 0.92
