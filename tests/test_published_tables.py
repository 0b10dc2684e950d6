"""The published predictions become the papers' tables."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isogloss.analysis.measures import measure
from isogloss.exchange.predictions import read_predictions
from isogloss.files.sources import read
from isogloss.items import Items
from isogloss.scores import Scored, scored_from_values

FOLDER = Path(os.environ.get("ISOGLOSS_REAL_DATA") or "/nowhere")
LEVELS = {"intra": "intrasentence", "inter": "intersentence", "overall": None}
PRINTED = {  # the names in the tables of the papers, and in the files that came with the predictions
    "lms": "lms",
    "ss": "ss",
    "icat": "icat",
    "multiclass.lms": "lms_multiclass",
    "multiclass.ss": "ss_multiclass",
    "multiclass.icat_macro": "icat_macro",
    "multiclass.icat_micro": "icat_micro",
    "count": "n",
    "LM Score": "lms",
    "SS Score": "ss",
    "ICAT Score": "icat",
    "Multi Class LM Score": "lms_multiclass",
    "Multi Class SS Score": "ss_multiclass",
    "Multi Class SS Score Stdev": "ss_std",
    "Macro ICAT Score": "icat_macro",
    "Micro ICAT Score": "icat_micro",
    "Count": "n",
}


@cache
def expected() -> dict[str, Any]:
    path = FOLDER / "expected_tables.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {name: table for name, table in found.items() if name != "_meta"}


unset = pytest.param("", marks=pytest.mark.skip("ISOGLOSS_REAL_DATA is not set: the published data is not here"))


def files() -> list[Any]:
    """Every prediction file; those of a model in all languages at once, the others in the slow tests."""
    quick = [name for name in sorted(expected()) if name.startswith("bert-base-multilingual-cased")]
    rest = [pytest.param(name, marks=pytest.mark.slow) for name in sorted(expected()) if name not in quick]
    return [*quick, *rest] or [unset]


@pytest.fixture(scope="module", params=files())
def name(request):
    """Each prediction file in turn; the tests of one file run together."""
    return request.param


@cache
def items(language: str) -> Items:
    return read([FOLDER / "stereoset" / f"{task}_{language}.jsonl.gz" for task in LEVELS.values() if task])


@cache
def scored(name: str) -> Scored:
    values = read_predictions(FOLDER / "predictions" / f"{name}.json.gz")
    return scored_from_values(items(expected()[name]["language"]), values, model=name)


def values_of(table: dict[str, Any]) -> dict[str, float]:
    """What our metrics must give for a table, by our names."""
    many = table["multiclass"]
    return {
        "lms": table["lms"],
        "ss": table["ss"],
        "icat": table["icat"],
        "lms_multiclass": many["lms"],
        "ss_multiclass": many["ss"],
        "icat_macro": many["icat_macro"],
        "icat_micro": many["icat_micro"],
    }


def measured(data: Scored, by: list[str] | None = None) -> dict[tuple[str | None, ...], dict[str, float]]:
    """The values and counts of each group in paper mode, by the group's task and category."""
    found: dict[tuple[str | None, ...], dict[str, float]] = {}
    for row in measure(data, by=by, mode="paper", resamples=100):
        group = found.setdefault((row.group.get("task"), row.group.get("category")), {})
        group |= {row.metric: row.value, "n": row.n, "clusters": row.clusters}
    return found


def spread(data: Scored, task: str | None) -> float:
    """The population standard deviation of SS over the target terms."""
    by = ["target"] if task is None else ["task", "target"]
    rows = measure(data, metrics=["ss"], by=by, mode="paper")
    return float(np.std([row.value for row in rows if row.group.get("task") == task]))


def test_the_recomputed_values_are_reproduced(name):
    found = measured(scored(name))
    for level in LEVELS.keys() & expected()[name].keys():
        table, ours = expected()[name][level], found[(LEVELS[level], None)]
        assert (ours["n"], ours["clusters"]) == (table["count"], table["multiclass"]["n_classes"])
        wanted = values_of(table)
        assert {key: ours[key] for key in wanted} == pytest.approx(wanted, abs=1e-9)


def test_the_values_of_each_bias_type_are_reproduced(name):
    found = measured(scored(name), ["task", "category"]) | measured(scored(name), ["category"])
    for level in LEVELS.keys() & expected()[name].keys():
        for kind, table in expected()[name][level]["by_bias_type"].items():
            ours, wanted = found[(LEVELS[level], kind)], values_of(table)
            assert ours["n"] == table["count"]
            assert {key: ours[key] for key in wanted} == pytest.approx(wanted, abs=1e-9)


def test_the_printed_values_are_reproduced_to_their_last_decimal(name):
    found = measured(scored(name))
    for level in LEVELS.keys() & expected()[name].keys():
        ours = found[(LEVELS[level], None)] | {"ss_std": spread(scored(name), LEVELS[level])}
        for printed in expected()[name][level]["printed"]:
            if printed["reproduced"]:
                assert ours[PRINTED[printed["metric"]]] == pytest.approx(printed["value"], abs=0.005 + 1e-9), printed


def test_english_t5_was_evaluated_on_the_german_items(real_data):
    name = "t5-base_T5LM_ModelNSP_en"
    german = {item.id for item in items("de")}
    subset = Items(tuple(item for item in items("en") if item.id in german))
    values = read_predictions(real_data / "predictions" / f"{name}.json.gz")
    found = measured(scored_from_values(subset, values, model=name))[(None, None)]
    wanted = values_of(expected()[name]["overall_on_german_subset"])
    assert found["n"] == 4226
    assert {key: found[key] for key in wanted} == pytest.approx(wanted, abs=1e-9)


def test_every_prediction_file_has_its_table(real_data):
    files = {path.name.removesuffix(".json.gz") for path in (real_data / "predictions").iterdir()}
    assert files == set(expected())
