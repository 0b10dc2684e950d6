"""English against German on the published predictions, next to a calculation that shares no code with ours."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from isogloss import compare
from isogloss.exchange.predictions import read_predictions
from isogloss.files.sources import read
from isogloss.scores import scored_from_values

TASKS = ("intrasentence", "intersentence")
FILES = {
    "mBERT": "bert-base-multilingual-cased_BertLM_BertNextSentence",
    "mGPT": "THUMT_mGPT_GPT2LM_GPT2LM_d",
    "mT5": "google_mt5-base_mT5LM_ModelNSP",
}
# SS of English minus German over both tasks, pairs, clusters, and p by sign flips of whole target terms; written down
# from `own_calculation` below
GOLDEN = {
    "mBERT": (1.585424, 4226, 79, 0.1232),
    "mGPT": (3.454804, 4226, 79, 0.0013),
    "mT5": (0.686228, 4226, 79, 0.6163),
}


@cache
def rows(folder: Path, language: str) -> dict[str, tuple[str, str, str]]:
    """Per item: its English target term, and the ids of the stereotype and of the anti-stereotype."""
    found = {}
    for task in TASKS:
        with gzip.open(folder / "stereoset" / f"{task}_{language}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                ids = {c["gold_label"]: c["id"] for c in row["candidates"]}
                term = row.get("target_original") or row["target"]
                found[row["id"]] = (term, ids["stereotype"], ids["anti-stereotype"])
    return found


def own_calculation(folder: Path, name: str) -> dict[str, float]:
    """Difference, interval and p from the files alone, with nothing but numpy."""
    wins: dict[str, dict[str, float]] = {}
    for language in ("en", "de"):
        with gzip.open(folder / "predictions" / f"{FILES[name]}_{language}.json.gz", "rt", encoding="utf-8") as file:
            content = json.load(file)
        score = {one["id"]: one["score"] for task in TASKS for one in content[task]}
        wins[language] = {
            item: (np.sign(score[stereo] - score[anti]) + 1) / 2
            for item, (_, stereo, anti) in rows(folder, language).items()
        }
    shared = [item for item in wins["en"] if item in wins["de"]]
    terms = sorted({rows(folder, "en")[item][0] for item in shared})
    sums, sizes = np.zeros(len(terms)), np.zeros(len(terms))
    for item in shared:
        index = terms.index(rows(folder, "en")[item][0])
        sums[index] += wins["en"][item] - wins["de"][item]
        sizes[index] += 1
    rng = np.random.default_rng(2024)
    flipped = np.abs(rng.choice([-1.0, 1.0], size=(50_000, len(terms))) @ sums)
    drawn = rng.integers(len(terms), size=(20_000, len(terms)))
    means = 100 * sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return {
        "difference": 100 * sums.sum() / sizes.sum(),
        "p": float(np.mean(flipped >= abs(sums.sum()) - 1e-9)),
        "error": float(means.std(ddof=1)),
        "n": len(shared),
        "clusters": len(terms),
    }


@pytest.mark.parametrize("name", FILES)
def test_english_against_german_is_what_an_independent_calculation_gives(real_data, name):
    sides = []
    for language in ("en", "de"):
        items = read([real_data / "stereoset" / f"{task}_{language}.jsonl.gz" for task in TASKS])
        values = read_predictions(real_data / "predictions" / f"{FILES[name]}_{language}.json.gz")
        sides.append(scored_from_values(items, values, model=name))
    found = compare(*sides, metrics=["ss"], by=[], resamples=20_000)[0]
    own = own_calculation(real_data, name)
    difference, n, clusters, p = GOLDEN[name]
    assert own["difference"] == pytest.approx(difference, abs=1e-4)
    assert found.difference == pytest.approx(own["difference"], abs=1e-9)
    assert (found.n, found.clusters) == (own["n"], own["clusters"]) == (n, clusters)
    assert found.p == pytest.approx(own["p"], abs=0.012)
    assert found.p == pytest.approx(p, abs=0.012)
    assert (found.high - found.low) / (2 * own["error"]) == pytest.approx(1.9908 * (79 / 78) ** 0.5, rel=0.05)
    assert found.mde == pytest.approx(2.8016 * own["error"] * (79 / 78) ** 0.5, rel=0.05)
