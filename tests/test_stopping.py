"""Rules that stop a run: what they say, when they stop, and what they refuse."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import isogloss as ig
from isogloss.errors import IsoglossError
from isogloss.runs import find_runs
from isogloss.scores import Scored
from isogloss.stats.sequences import ClusterSampling, sequence_interval
from isogloss.studies.cells import order_units
from isogloss.studies.plan import plan_study
from isogloss.studies.stopping import ITEM, POPULATION, StoppingRule, cluster_sizes, make_stop, parse_rule
from support import tiny
from support.builders import score, triple
from support.scores import assert_same_scores


def scored(wins: list[float], *, per_cluster: int = 2, start: int = 0) -> Scored:
    """Items in order, the stereotype winning where `wins` says 1."""
    items = [triple(f"i{n}", f"t{(start + n) // per_cluster:04}") for n in range(start, start + len(wins))]
    return score(items, [(1.0, 0.0, -1.0) if win else (0.0, 1.0, -1.0) for win in wins])


def draw(share: float, count: int, seed: int = 0) -> list[float]:
    return (np.random.default_rng(seed).random(count) < share).astype(float).tolist()


def first(whole: Scored, items: int) -> Scored:
    return Scored(whole.table.head(3 * items))


@pytest.mark.parametrize(
    ("text", "kind", "number", "baseline"),
    [
        ("ss±2", "precision", 2, None),
        ("lms +- 1.5", "precision", 1.5, None),
        ("ss!=50", "threshold", 50, None),
        ("ss within 2 of runs/base", "baseline", 2, "runs/base"),
    ],
)
def test_a_rule_is_read_from_its_text(text: str, kind: str, number: float, baseline: str | None) -> None:
    rule = parse_rule(text)
    assert (rule.kind, rule.number, rule.baseline) == (kind, number, baseline)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "icat±2",
            "'icat' is not a mean over items but a product of LMS and SS with a kink. "
            "Use a metric that is a mean over items, such as ss, lms or crows.",
        ),
        ("gest_male±1", "'gest_male' has no bounds, so no interval of it stays valid at every look. Use ss or lms."),
        (
            "ss about 50",
            "'ss about 50' is not a stopping rule. Write ss±2 (to within 2 points), ss!=50 (not 50), or ss within 2 of RUNS.",
        ),
        ("ss±0", "'ss±0' has a precision of 0, which only the complete data reaches."),
    ],
)
def test_what_cannot_be_a_rule_is_refused_in_one_sentence(text: str, message: str) -> None:
    with pytest.raises(IsoglossError) as caught:
        parse_rule(text)
    assert str(caught.value) == message


def test_it_stops_at_the_first_look_whose_interval_excludes_the_number() -> None:
    whole = scored(draw(0.8, 600))
    sizes = cluster_sizes(whole.table)
    stop = make_stop(parse_rule("ss!=50"), sizes)
    looks = list(range(10, 600, 10))
    stopped = next(look for look in looks if stop(first(whole, look)))
    values = [1.0 if row else 0.0 for row in draw(0.8, 600)]
    for look in (stopped - 10, stopped):
        totals = np.array([[values[n] + values[n + 1], 2.0] for n in range(0, look, 2)])
        low, high = sequence_interval(totals, sampling=ClusterSampling(2, 300, rest=600 - look))
        assert (low <= 0.5 <= high) == (look < stopped)
    assert stopped < 150


def test_the_reason_names_interval_clusters_and_estimand() -> None:
    whole = scored(draw(0.8, 100))
    reason = make_stop(parse_rule("ss±2"), cluster_sizes(whole.table))(whole)
    exact = 100 * np.mean(draw(0.8, 100))
    assert reason == (
        f"ss is known to within 2: {exact:.2f} to {exact:.2f} after 50 of 50 clusters, "
        "on this benchmark (drawn without replacement)"
    )


def test_an_incomplete_cluster_is_not_looked_at() -> None:
    whole = scored(draw(0.9, 400), per_cluster=4)
    stop = make_stop(parse_rule("ss!=50"), cluster_sizes(whole.table))
    at = next(look for look in range(4, 400, 4) if stop(first(whole, look)))
    assert stop(first(whole, at - 1)) is None  # three items of the cluster that decides


def test_the_population_of_targets_needs_more_than_the_benchmark() -> None:
    whole = scored(draw(0.65, 800))
    sizes = cluster_sizes(whole.table)
    rules = [parse_rule("ss±5"), parse_rule("ss±5", estimand=POPULATION)]
    looks = []
    for rule in rules:
        stop = make_stop(rule, sizes)
        looks.append(next((look for look in range(20, 801, 20) if stop(first(whole, look))), math.inf))
    assert looks[0] < looks[1]


def test_what_the_data_cannot_decide_is_given_up() -> None:
    whole = scored(draw(0.6, 100))
    reason = make_stop(parse_rule("ss±1", estimand=POPULATION), cluster_sizes(whole.table))(first(whole, 60))
    assert reason is not None
    assert reason.startswith("ss±1 cannot be reached with these data: ")


def test_single_items_in_random_order_decide_sooner_on_large_clusters() -> None:
    whole = scored(draw(0.62, 1200), per_cluster=30)
    looks = []
    for unit in ("cluster", ITEM):
        stop = make_stop(parse_rule("ss!=50", unit=unit), cluster_sizes(whole.table, unit=unit))
        looks.append(next(look for look in range(30, 1201, 30) if stop(first(whole, look))))
    assert looks[1] < looks[0]


def test_a_baseline_is_compared_item_by_item() -> None:
    wins = draw(0.6, 600)
    same, base = scored(wins), scored(wins)
    other = scored([0.0 if n % 3 == 0 else win for n, win in enumerate(wins)])
    sizes, rule = cluster_sizes(base.table), parse_rule("ss within 5 of runs/base")
    equal = make_stop(rule, sizes, baseline=base)(first(same, 400))
    assert equal is not None
    assert equal.startswith("ss is within 5 of runs/base: a difference of ")
    worse = make_stop(rule, sizes, baseline=base)(first(other, 500))
    assert worse is not None
    assert worse.startswith("ss is not within 5 of runs/base: a difference of ")


def test_a_rule_with_a_baseline_needs_its_scores() -> None:
    with pytest.raises(IsoglossError) as caught:
        make_stop(parse_rule("ss within 2 of runs/base"), {"a": 1})
    assert str(caught.value) == "The rule 'ss within 2 of runs/base' needs the scores of a baseline."
    assert isinstance(parse_rule("ss±2"), StoppingRule)


# ---- real runs


@pytest.fixture(scope="module")
def demo() -> ig.Items:
    return ig.read("demo", language="en")


def score_until(demo: ig.Items, out: Path, until: str | None, *, order: str = "cluster") -> ig.Scored:
    loading = ig.Loading(part_size=24, order=order)
    return ig.score(demo, model=tiny.model("gpt2"), method="likelihood", out=out, until=until, loading=loading)


def test_a_rule_that_is_tightened_goes_on_where_the_run_was_stopped(tmp_path: Path, demo: ig.Items) -> None:
    loose = score_until(demo, tmp_path, "lms±45")
    assert any("stopped on purpose after" in note and "lms is known to within 45" in note for note in loose.notes)
    files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("part-*.parquet")}
    tight = score_until(demo, tmp_path, "lms±20")
    assert loose.table.height < tight.table.height
    whole = score_until(demo, tmp_path, None)
    assert tight.table.height < whole.table.height
    assert not any("stopped" in note for note in whole.notes)
    assert {path: path.stat().st_mtime_ns for path in files} == files
    assert_same_scores(whole.table, score_until(demo, tmp_path / "other", None).table)


def test_answers_that_are_enough_are_counted_with_their_tokens(tmp_path: Path) -> None:
    items = ig.read("shades_demo", language="en")
    settings, loading = ig.AskSettings(max_tokens=2), ig.Loading(part_size=12)
    model = tiny.save_talker(tmp_path / "chat")
    asked = ig.ask(
        items, model=model, settings=settings, out=tmp_path / "runs", loading=loading, until="answered_none±40"
    )
    assert any("stopped on purpose after" in note for note in asked.notes)
    (run,) = find_runs(tmp_path / "runs")
    assert 0 < run.info["requests"] < 3 * len(items)
    assert run.info["tokens"]["prompt"] > 0


def test_items_in_random_order_are_a_run_of_their_own_with_the_same_scores(tmp_path: Path, demo: ig.Items) -> None:
    clusters, items = score_until(demo, tmp_path, None), score_until(demo, tmp_path, None, order="item")
    assert len(list(tmp_path.rglob("run.json"))) == 2
    rows = [side.table.sort("id", "candidate") for side in (clusters, items)]
    assert rows[0]["value"].to_list() == pytest.approx(rows[1]["value"].to_list(), abs=1e-4)
    stopped = score_until(demo, tmp_path / "few", "lms±30", order="item")
    assert any(" items, on this benchmark" in note for note in stopped.notes)


def test_the_first_parts_of_single_items_come_from_more_clusters(demo: ig.Items) -> None:
    firsts = [order_units(demo, unit)[:12] for unit in ("cluster", "item")]
    clusters = [len({item.cluster or item.id for unit in units for item in unit}) for units in firsts]
    assert [len(unit) for unit in firsts[1]] == [1] * 12
    assert len({item.cluster or item.id for unit in firsts[0] for item in unit}) == clusters[0] == 12
    with pytest.raises(IsoglossError, match="No order named 'clusters'"):
        order_units(demo, "clusters")


def test_a_rule_without_a_folder_or_on_items_of_a_population_is_refused_before_anything_is_scored(
    tmp_path: Path, demo: ig.Items
) -> None:
    with pytest.raises(IsoglossError) as caught:
        ig.score(demo, model=tiny.model("gpt2"), until="ss±2")
    assert str(caught.value) == (
        "A stopping rule looks at the parts that are written. Give a folder for them: out=FOLDER."
    )
    with pytest.raises(IsoglossError, match=r"^For the population of targets, whole clusters must come"):
        score_until(demo, tmp_path, "ss±2 in the population", order="item")
    with pytest.raises(
        IsoglossError, match=r"^'icat' is not a mean over items but a product of LMS and SS with a kink"
    ):
        score_until(demo, tmp_path, "icat±2")
    assert not list(tmp_path.rglob("run.json"))


def test_the_population_can_be_named_in_the_rule() -> None:
    rule = parse_rule("ss within 2 of runs/base in the population")
    assert (rule.estimand, rule.baseline) == ("population", "runs/base")


def test_a_study_file_has_a_rule_and_finds_its_baseline_beside_it(tmp_path: Path, command) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "gpt2"
    tiny.network("gpt2").save_pretrained(folder)
    tiny.tokenizer_of("gpt2").save_pretrained(folder)
    study = tmp_path / "study.yaml"
    text = "name: few\nmodels: [gpt2]\ndata: [demo]\nlanguages: [en]\nmethods: [likelihood]\nloading: {part_size: 24}\n"
    study.write_text(text + "until: lms±45\n")
    result = ig.run(study, out=tmp_path / "runs")
    assert [run.info["status"] for run in result.runs] == ["stopped"]
    study.write_text(text + "until: lms within 60 of runs\n")
    assert plan_study(study).until == f"lms within 60 of {tmp_path / 'runs'}"
    study.write_text(text + "until: icat±2\n")
    code, _, problem = command("run", study, "--out", tmp_path / "other")
    assert code == 2
    assert problem.splitlines()[-1].startswith(f"Error: {study}: 'icat' is not a mean over items")
    with pytest.raises(IsoglossError, match=r"was stopped on purpose \(lms is known to within 45: "):
        ig.gate(tmp_path / "runs", ["lms > 10"])
