"""Changes between runs: flips by hand, the scan against a slow reference, verdicts, series and plans."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.rounding import round_rows

import isogloss as ig
from isogloss.analysis.changes import CHANGED, EQUIVALENT, UNDECIDED, change, list_flips
from isogloss.analysis.planning import clusters_needed, plan_distance, plan_size
from isogloss.analysis.series import trace
from isogloss.errors import IsoglossError
from isogloss.exchange.runs import import_run, read_scores
from isogloss.scores import Scored
from isogloss.stats.scans import scan_clusters
from support.builders import score, triple


def run(wins: np.ndarray | list[float], *, model: str, kinds: int = 2) -> Scored:
    """Two items per target; every second target is of the other category."""
    items = [triple(f"i{n}", f"t{n // 2}", category=f"k{n // 2 % kinds}") for n in range(len(wins))]
    return score(items, [(win, 0.5, -1.0) for win in wins], model=model)


def draw(share: float, count: int, seed: int) -> np.ndarray:
    return (np.random.default_rng(seed).random(count) < share).astype(float)


def test_the_four_cells_and_the_net_change_by_hand() -> None:
    #         kept stereotype, turned to, turned away, turned away, kept other (x 8)
    before, after = [1.0, 0.0, 1.0, 1.0, 0.0] * 8, [1.0, 1.0, 0.0, 0.0, 0.0] * 8
    row = change(run(before, model="a"), run(after, model="b"), by=[], resamples=200)[0]
    cells = row.kept_stereotype, row.turned_to, row.turned_away, row.kept_other
    assert cells == (8, 8, 16, 8)
    assert (row.churn, row.difference) == (60.0, pytest.approx(-20.0))
    assert (row.before, row.after) == (60.0, 40.0)


def test_an_unchanged_mean_can_hide_flips() -> None:
    before = draw(0.5, 400, 1)
    rows = change(run(before, model="a"), run(1 - before, model="b"), by=[], margin=20, resamples=500)
    assert rows[0].churn == 100
    assert rows[0].state == EQUIVALENT


def test_a_group_that_moved_is_found_and_the_other_is_equivalent() -> None:
    before = draw(0.5, 800, 2)
    after = before.copy()
    moved = np.arange(800) // 2 % 2 == 1
    after[moved] = np.maximum(after[moved], draw(0.6, 400, 3))
    rows = change(run(before, model="a"), run(after, model="b"), by="category", resamples=500)
    states = {tuple(row.group.values()): row.state for row in rows}
    assert states == {(): CHANGED, ("k0",): EQUIVALENT, ("k1",): CHANGED}


def test_too_little_data_is_undecided_and_says_how_much_is_needed() -> None:
    rows = change(run(draw(0.5, 60, 4), model="a"), run(draw(0.5, 60, 5), model="b"), by=[], resamples=500)
    assert rows[0].state == UNDECIDED
    assert rows[0].needed is not None
    assert rows[0].needed > 1000


def test_a_group_of_few_clusters_has_no_verdict() -> None:
    rows = change(run(draw(0.5, 12, 4), model="a"), run(draw(0.5, 12, 5), model="b"), by=[], resamples=200)
    assert (rows[0].state, rows[0].p, rows[0].why) == (UNDECIDED, None, "6 clusters; a verdict needs 10")


def test_churn_is_set_against_that_of_a_repeat() -> None:
    before = draw(0.6, 400, 6)
    again, after = before.copy(), before.copy()
    again[:8] = 1 - again[:8]
    after[::4] = 1 - after[::4]
    row = change(run(before, model="a"), run(after, model="b"), by=[], repeat=run(again, model="a2"), resamples=500)[0]
    assert (row.churn, row.floor) == (25.0, 2.0)
    assert row.floor_p is not None
    assert row.floor_p < 0.01


def test_a_metric_that_is_no_mean_is_refused() -> None:
    one = run(draw(0.5, 60, 4), model="a")
    with pytest.raises(IsoglossError) as caught:
        change(one, run(draw(0.5, 60, 5), model="b"), metric="icat", resamples=100)
    assert str(caught.value).startswith("'icat' is not a mean over items but a product of LMS and SS with a kink.")


def test_flips_are_listed_with_the_way_they_turned() -> None:
    flips = list_flips(run([1.0, 0.0, 1.0, 0.0], model="a"), run([1.0, 1.0, 0.0, 0.0], model="b"))
    assert dict(flips.select("id", "turned").iter_rows()) == {"i1": "to", "i2": "away"}


# ---- the scan


def slow_scan(moves: np.ndarray, sizes: np.ndarray, *, resamples: int, seed: int) -> list[float]:
    """Adjusted p by going through all draws and columns one by one."""

    def studentised(values: np.ndarray, weights: np.ndarray) -> float:
        there = weights > 0
        ratio = values.sum() / weights.sum()
        residuals = values[there] - ratio * weights[there]
        count = int(there.sum())
        error = np.sqrt((residuals**2).sum() * count / (count - 1)) / weights.sum()
        return abs(float(ratio / error))

    rng = np.random.default_rng(seed)
    signs = 1 - 2 * rng.integers(2, size=(resamples, len(moves)))
    columns = range(moves.shape[1])
    largest = [max(studentised(sign * moves[:, k], sizes[:, k]) for k in columns) for sign in signs]
    return [
        (1 + sum(peak >= studentised(moves[:, k], sizes[:, k]) for peak in largest)) / (resamples + 1) for k in columns
    ]


def test_the_scan_equals_its_slow_reference() -> None:
    rng = np.random.default_rng(1)
    sizes = rng.integers(0, 4, size=(30, 5)).astype(float)
    moves = sizes * rng.normal(0.3, 1, size=(30, 5))
    scan = scan_clusters(moves, sizes, resamples=200, seed=7)
    assert scan.p == pytest.approx(slow_scan(moves, sizes, resamples=200, seed=7))


def test_looking_in_ten_places_finds_something_in_at_most_five_of_a_hundred() -> None:
    """300 scans of ten groups in which nothing changed; 9 % is three standard errors above 5 %."""
    found = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 5, size=(40, 10)).astype(float)
        moves = sizes * (rng.normal(size=(40, 1)) + rng.normal(size=(40, 10)))
        found += bool((scan_clusters(moves, sizes, resamples=200, seed=seed).p <= 0.05).any())
    assert found / 300 < 0.09


# ---- series


def test_the_step_of_a_series_is_where_it_changes() -> None:
    low, high = draw(0.5, 600, 8), np.maximum(draw(0.5, 600, 8), draw(0.3, 600, 9))
    steps = trace([run(low, model=f"m{n}") if n < 3 else run(high, model=f"m{n}") for n in range(6)], resamples=500)
    assert [step.group["model"] for step in steps if step.is_step] == ["m3"]
    assert [step.churn for step in steps][1:3] == [0, 0]
    third = steps[3]
    assert third.difference == pytest.approx(100 * float((high - low).mean()))
    assert third.low is not None
    assert third.low > 0


def test_a_series_without_change_has_no_step() -> None:
    steps = trace([run(draw(0.5, 300, n), model=f"m{n}") for n in range(5)], resamples=500)
    assert not any(step.is_step for step in steps)
    assert steps.notes[0].startswith("linear trend over 5 runs: ")


def test_a_series_needs_three_runs() -> None:
    with pytest.raises(IsoglossError) as caught:
        trace([run(draw(0.5, 60, 1), model="a")] * 2)
    assert str(caught.value) == "A series needs 3 runs or more; there are 2."


# ---- plans


def test_a_plan_of_single_items_is_the_textbook_number() -> None:
    #   sd 50, difference 5, power 80 %: (1.96 + 0.84)² · 50² / 5² = 785 items, a few more by Student's distribution
    assert clusters_needed(50, 5) == pytest.approx(785, abs=4)


def test_as_many_clusters_as_planned_show_the_difference_as_often_as_planned() -> None:
    pilot = run(draw(0.5, 400, 1), model="a")
    plan = plan_distance(pilot, difference=10.0)
    shown = 0
    for seed in range(400):
        wins = 100 * draw(0.6, 2 * plan.clusters, seed).reshape(-1, 2).mean(1) - 50
        error = wins.std(ddof=1) / np.sqrt(len(wins))
        shown += abs(wins.mean() / error) > 1.98
    assert shown / 400 == pytest.approx(0.8, abs=0.08)


def test_runs_that_agree_need_fewer_items() -> None:
    before = draw(0.6, 400, 2)
    after = before.copy()
    after[::10] = 1 - after[::10]
    one, two = run(before, model="a"), run(after, model="b")
    assert plan_size(one, two, difference=2.0).items < plan_size(one, difference=2.0).items / 2


# ---- the published series


def test_llama_chat_keeps_its_score_while_most_stereotypes_move(real_data: Path) -> None:
    items = ig.read(real_data / "gest" / "gest.csv.gz")
    names = ("Llama-2-7b-hf", "Llama-2-7b-chat-hf")
    paths = [real_data / "gest" / f"english_glm_{name}_template-0.txt.gz" for name in names]
    before, after = (read_scores(path, items, layout="gest")[0] for path in paths)
    rows = change(before, after, by=["about", "target"], resamples=500)
    whole, men, women, *stereotypes = rows
    assert (whole.turned_to, whole.turned_away, whole.n) == (844, 740, 7130)
    assert whole.state == UNDECIDED
    assert (men.group["about"], men.state, women.state) == ("men", CHANGED, CHANGED)
    assert sum(row.state == CHANGED for row in stereotypes) >= 12


def test_the_command_prints_the_map_and_writes_the_flips(tmp_path: Path, command) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "gest.csv"
    path.write_text("sentence,stereotype\n" + "".join(f"I am number {n}.,{n % 16 + 1}\n" for n in range(40)))
    items = ig.read(path)
    for name, shift in (("base", 0.0), ("chat", 0.6)):
        scores = [str(np.sin(n) + shift) for n in range(40)]
        file = tmp_path / f"english_glm_{name}_template-0.txt"
        file.write_text("\n".join(scores))
        import_run(file, items, root=tmp_path / name, layout="gest")
    status, shown, _ = command(
        "change",
        tmp_path / "base",
        tmp_path / "chat",
        "--by",
        "about",
        "--resamples",
        200,
        "--flips",
        tmp_path / "f.csv",
        "--gate",
    )
    assert status == 1
    assert "about women" in shown
    assert (tmp_path / "f.csv").read_text().splitlines()[0].endswith("before,after,turned")


def test_the_text_names_flips_of_a_preference_and_moves_of_other_metrics() -> None:
    before, after = run(draw(0.5, 60, 1), model="a"), run(draw(0.6, 60, 2), model="b")
    ss, lms = (str(change(before, after, metric=name, by=[], resamples=200)) for name in ("ss", "lms"))
    assert " to the stereotype, " in ss
    assert " up, " in lms


def test_rows_rounded_to_eight_bits_move_by_at_most_half_a_step() -> None:
    matrix = np.random.default_rng(0).normal(size=(5, 40)).astype(np.float32)
    matrix[2] = 0
    rounded = round_rows(matrix)
    step = abs(matrix).max(axis=1, keepdims=True) / 127
    assert rounded.dtype == matrix.dtype
    assert (abs(rounded - matrix) <= step / 2 + 1e-6).all()
    assert all(len(np.unique(row)) <= 255 for row in rounded)
    assert np.array_equal(rounded[2], matrix[2])
    assert abs(rounded - matrix).max() > 0
