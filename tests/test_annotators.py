"""Annotators: agreement equal to a package's and to hand counts, labels as columns, and where models stand on clear items."""

from __future__ import annotations

import json
from dataclasses import replace

import krippendorff
import numpy as np
import pytest
from reproduction.variance import find_components

import isogloss as ig
from isogloss import runs
from isogloss.analysis.annotators import compare_unanimous, join_agreement, measure_annotators
from isogloss.errors import IsoglossError
from isogloss.items import Items, items_hash
from isogloss.scores import item_table
from isogloss.stats.associations import ac1_of_sums, agreement_sums, alpha_of_sums
from support.builders import score, triple


def counts(*, units: int = 40, labels: int = 4, seed: int = 0) -> np.ndarray:
    """How often each unit got each label: two to five labels, mostly the unit's own."""
    rng = np.random.default_rng(seed)
    found = np.zeros((units, labels))
    for row in found:
        own = rng.integers(labels)
        for _ in range(rng.integers(2, 6)):
            row[own if rng.random() < 0.7 else rng.integers(labels)] += 1
    return found


@pytest.mark.parametrize("seed", range(5))
def test_alpha_equals_that_of_the_package_krippendorff(seed):
    table = counts(seed=seed)
    found = float(alpha_of_sums(agreement_sums(table).sum(0)))
    assert found == pytest.approx(krippendorff.alpha(value_counts=table, level_of_measurement="nominal"))


def test_units_with_one_label_count_for_nothing():
    table = counts()
    more = np.vstack([table, [[1, 0, 0, 0]], [[0, 0, 0, 0]]])
    for finish in (alpha_of_sums, ac1_of_sums):
        assert finish(agreement_sums(more).sum(0)) == pytest.approx(float(finish(agreement_sums(table).sum(0))))


def test_weights_of_annotators_count_pairs_of_two_people_only():
    given = [("a", 2.0), ("a", 1.0), ("b", 3.0)]  # the label and the weight of each annotator of one unit
    pairs = [(x, y) for i, x in enumerate(given) for j, y in enumerate(given) if i != j]
    weight = sum(x[1] * y[1] for x, y in pairs)
    agreeing = sum(x[1] * y[1] for x, y in pairs if x[0] == y[0]) / weight
    assert agreement_sums(np.array([[3.0, 3.0]]), np.array([14.0]))[0, 1] == pytest.approx(agreeing)


def test_ac1_equals_its_definition():
    #  unit 1: a a a b, unit 2: b b     Pa = (6/12 + 1)/2 = 0.75, shares a 0.375, b 0.625, chance 2·0.375·0.625 = 0.46875
    table = np.array([[3.0, 1.0], [0.0, 2.0]])
    assert float(ac1_of_sums(agreement_sums(table).sum(0))) == pytest.approx((0.75 - 0.46875) / (1 - 0.46875))


def dev(tmp_path, count: int = 240) -> Items:
    """StereoSet's own layout with three annotators: they agree on every third item."""
    roles = ("stereotype", "anti-stereotype", "unrelated")
    rows = []
    for k in range(count):
        sentences = [
            {
                "id": f"i{k}-{role}",
                "sentence": f"A thing is {role}.",
                "gold_label": role,
                "labels": [
                    {"human_id": f"h{h}", "label": role if k % 3 == 0 or h < 2 else "related"} for h in range(3)
                ],
            }
            for role in roles
        ]
        rows.append(
            {"id": f"i{k}", "target": f"t{k % 20}", "bias_type": "race", "context": "It is so.", "sentences": sentences}
        )
    path = tmp_path / "dev.json"
    path.write_text(json.dumps({"version": "1", "data": {"intersentence": rows}}), encoding="utf-8")
    return ig.read(str(path), language="en")


def test_labels_are_columns_that_do_not_change_what_an_item_is(tmp_path):
    items = dev(tmp_path, 6)
    assert items.rows[1].tags["annotators_stereotype"] == ("stereotype", "stereotype", "related")
    assert items.rows[1].tags["annotators"] == ("h0", "h1", "h2")
    assert [item.tags["annotators_agree"] for item in items] == ["yes", "no", "no", "yes", "no", "no"]
    plain = tuple(
        triple(one.id).__class__(**{**{f: getattr(one, f) for f in one.__slots__}, "tags": {k: v for k, v in one.tags.items() if not k.startswith("annotators")}})
        for one in items
    )  # fmt: skip
    assert items_hash(items.rows) == items_hash(plain)


def test_labels_that_changed_after_the_scores_make_the_groups(tmp_path):
    items = dev(tmp_path, 6)
    info = {"model": "m", "dataset": "d", "language": "en", "method": "pll", "parts": 1}
    info |= {"fingerprint": {"data": items_hash(items.rows)}}
    run = runs.open_run(tmp_path / "runs", info=info, items=item_table(items))
    turned = [replace(item, tags={**item.tags, "annotators_agree": "no"}) for item in items]
    again = runs.open_run(tmp_path / "runs", info=info, items=item_table(Items(tuple(turned))))
    assert again.folder == run.folder
    assert set(runs.read_items(again)["annotators_agree"]) == {"no"}


def test_agreement_is_measured_by_group_with_intervals(tmp_path):
    found = measure_annotators(dev(tmp_path), by=["category"], resamples=200)
    assert (len(found), found[0].group, found[0].n, found[0].clusters) == (1, {"category": "race"}, 240, 20)
    assert found[0].unanimous == pytest.approx(1 / 3)
    assert found[0].alpha_low < found[0].alpha < found[0].alpha_high
    with pytest.raises(
        IsoglossError, match=r"^These items have no annotators' labels\. StereoSet's own JSON has them\.$"
    ):
        measure_annotators(ig.read("demo", language="en"))


def test_few_annotators_make_the_interval_wider_than_targets_alone_do(tmp_path):
    items = dev(tmp_path)
    people = [
        (f"p{k % 9}", f"p{(k + 4) % 9}", f"q{k % 3}" if k % 3 else f"p{(k + 2) % 9}") for k in range(240)
    ]  # two people give all labels that differ
    named = Items(tuple(replace(i, tags={**i.tags, "annotators": p}) for i, p in zip(items, people, strict=True)))
    both, targets = (measure_annotators(one, resamples=300)[0] for one in (named, items))
    assert both.alpha == targets.alpha
    assert both.alpha_high - both.alpha_low > 1.3 * (targets.alpha_high - targets.alpha_low)


def test_the_difference_on_unanimous_items_is_paired_by_target(tmp_path):
    items = dev(tmp_path)
    wins = [k % 3 == 0 or k % 2 for k in range(240)]
    scored = score(list(items), [(2, 1, 0) if won else (1, 2, 0) for won in wins])
    row = compare_unanimous(scored, resamples=300)[0]
    assert (row.unanimous, row.others, row.clusters) == (100.0, 50.0, 20)
    assert row.p < 0.01
    again = compare_unanimous(join_agreement(scored, items), resamples=300)[0]
    assert again == row


# ---- variance components


def crossed(seed: int = 0) -> ig.Scored:
    """Three models in three languages on the same items, with effects of model, item, and item in a language."""
    rng = np.random.default_rng(seed)
    n = 400
    item, parts = rng.normal(0, 0.5, n), []
    translation = {tag: rng.normal(0, 1.0, n) for tag in ("en", "de", "fr")}
    for model, level in (("a", 0.6), ("b", 0.2), ("c", -0.4)):
        for tag, own in translation.items():
            won = level + item + own + rng.normal(0, 1.0, n) > 0
            rows = [triple(f"i{k}", f"t{k % 20}", language=tag) for k in range(n)]
            parts.append(score(rows, [(2, 1, 0) if one else (1, 2, 0) for one in won], model=model))
    return ig.join(*parts)


def test_components_find_what_varies():
    found = {row.name: row for row in find_components(crossed(), resamples=100)}
    assert sum(row.share for row in found.values()) == pytest.approx(1)
    assert found["item and language"].low > found["item and model"].high
    assert (found["model"].low, found["model"].high) == (None, None)
    assert found["model"].why.endswith(" models; an interval needs 10")
    assert found["target"].low < 0.02


def test_components_equal_those_of_mean_squares_by_loops():
    rng = np.random.default_rng(1)
    y, target = 100.0 * rng.integers(2, size=(30, 2, 3)), np.repeat(np.arange(10), 3)
    i, m, n = y.shape
    parts = []
    for b, c in np.ndindex(m, n):
        rows = [triple(f"i{a}", f"t{target[a]}", language=("en", "de", "fr")[c]) for a in range(i)]
        parts.append(score(rows, [(2, 1, 0) if won else (1, 2, 0) for won in y[:, b, c]], model=f"m{b}"))
    found = {row.name: row for row in find_components(ig.join(*parts), resamples=100)}
    g = y.mean()
    error = sum(
        (y[a, b, c] - y[a, b].mean() - y[a, :, c].mean() - y[:, b, c].mean() + y[a].mean() + y[:, b].mean() + y[:, :, c].mean() - g) ** 2
        for a in range(i) for b in range(m) for c in range(n)
    ) / ((i - 1) * (m - 1) * (n - 1))  # fmt: skip
    ml = (
        i
        * sum((y[:, b, c].mean() - y[:, b].mean() - y[:, :, c].mean() + g) ** 2 for b in range(m) for c in range(n))
        / ((m - 1) * (n - 1))
    )
    assert found["rest"].deviation ** 2 == pytest.approx(error)
    total = error / found["rest"].share
    assert found["model and language"].share * total == pytest.approx((ml - error) / i)
    means = [y[target == t].mean() for t in range(10)]
    between = 3 * sum((one - np.mean(means)) ** 2 for one in means) / 9
    items = y.mean((1, 2))
    within = sum((items[k] - means[target[k]]) ** 2 for k in range(i)) / (i - 10)
    assert found["target"].share * total == pytest.approx((between - within) / 3)


def test_components_need_a_crossed_design():
    with pytest.raises(IsoglossError, match=r"^Variance components need two models and two languages"):
        find_components(score([triple(f"i{k}", f"t{k}") for k in range(20)], [(2, 1, 0)] * 20))
