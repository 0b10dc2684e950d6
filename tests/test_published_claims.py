"""Ten verdicts on the published scores, next to a calculation that shares no code with ours: files, numpy and Student's t."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

import isogloss as ig
from isogloss.claims.files import make_claims
from isogloss.claims.verdicts import check_claims
from isogloss.files.sources import read

TASKS = ("intrasentence", "intersentence")
LANGUAGES = ("en", "de", "tr", "fr", "es")
FILES = {
    "mBERT": "bert-base-multilingual-cased_BertLM_BertNextSentence",
    "mGPT-2": "THUMT_mGPT_GPT2LM_GPT2LM_d",
    "mT5": "google_mt5-base_mT5LM_ModelNSP",
}
MODELS = tuple(FILES)
pytestmark = pytest.mark.slow


@cache
def sums(folder: Path, model: str, language: str, task: str | None) -> dict[str, np.ndarray]:
    """Per target: stereotypes preferred, related candidates preferred (halves), and items; ties count one half."""
    with gzip.open(folder / "predictions" / f"{FILES[model]}_{language}.json.gz", "rt", encoding="utf-8") as file:
        content = json.load(file)
    found: dict[str, np.ndarray] = {}
    for name in TASKS if task is None else (task,):
        score = {one["id"]: one["score"] for one in content[name]}
        with gzip.open(folder / "stereoset" / f"{name}_{language}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                s, a, u = (
                    score[next(c["id"] for c in row["candidates"] if c["gold_label"] == role)]
                    for role in ("stereotype", "anti-stereotype", "unrelated")
                )
                half = [(np.sign(x - y) + 1) / 2 for x, y in ((s, a), (s, u), (a, u))]
                target = row.get("target_original") or row["target"]
                found[target] = found.get(target, np.zeros(3)) + np.array([half[0], (half[1] + half[2]) / 2, 1])
    return found


def leave_one_out(table: dict[str, np.ndarray], column: int) -> tuple[float, np.ndarray]:
    """The value, and the value without each target, in the targets' order."""
    rows = np.array([table[name] for name in sorted(table)])
    total = rows.sum(0)
    rest = total - rows
    return 100 * total[column] / total[2], 100 * rest[:, column] / rest[:, 2]


def one_sided(folder: Path, column: int, a: tuple, b: tuple | float, shift: float = 0.0) -> float:
    """The p-value of a - b > shift by the jackknife over targets."""
    value, without = leave_one_out(sums(folder, *a), column)
    if isinstance(b, tuple):
        other, other_without = leave_one_out(sums(folder, *b), column)
        value, without = value - other, without - other_without
    else:
        value, without = value - b, without - b
    count = len(without)
    error = np.sqrt((count - 1) / count * np.sum((without - without.mean()) ** 2))
    return float(stats.t.sf((value - shift) / error, count - 1))


SS, LMS = 0, 1


def parts(name: str) -> list[tuple]:
    """The parts of a claim as (column, a, b, shift, sign)."""
    intra, inter = TASKS
    rest = [one for one in MODELS if one != "mGPT-2"]
    if name == "anti":
        return [(SS, ("mGPT-2", tag, inter), 50.0, 0.0, -1) for tag in LANGUAGES]
    if name in ("best", "worst"):
        task, sign = (intra, 1) if name == "best" else (inter, -1)
        return [(LMS, ("mGPT-2", tag, task), (m, tag, task), 0.0, sign) for tag in LANGUAGES for m in rest]
    if name in ("overall", "inter"):
        task = inter if name == "inter" else None
        return [(SS, (m, tag, task), 50.0, 0.0, 1) for tag in LANGUAGES for m in rest]
    if name in ("german", "wide", "narrow"):
        shift = {"german": 0.0, "wide": 2.0, "narrow": 12.0}[name]
        return [(LMS, ("mT5", "de", None), (m, "de", None), shift, 1) for m in ("mBERT", "mGPT-2")]
    if name == "fair":
        return [(SS, ("mGPT-2", tag, None), 50.0, sign * -4.0, sign) for tag in ("en", "tr", "es") for sign in (1, -1)]
    if name == "leans":
        return [(SS, ("mGPT-2", tag, None), 50.0, 0.0, -1) for tag in ("de", "fr")]
    return [(SS, ("mGPT-2", "en", intra), ("mBERT", "en", intra), 0.0, -1)]


SAYS = {
    "anti": "for every language: ss(mGPT-2, intersentence) < 50",
    "best": "for every language: lms(mGPT-2, intrasentence) is highest among lms(intrasentence)",
    "worst": "for every language: lms(mGPT-2, intersentence) is lowest among lms(intersentence)",
    "overall": "for every language: ss(mBERT) > 50 and ss(mT5) > 50",
    "inter": "for every language: ss(mBERT, intersentence) > 50 and ss(mT5, intersentence) > 50",
    "german": "lms(mT5, de) is highest among lms(de)",
    "wide": "lms(mT5, de) > lms(mBERT, de) + 2 and lms(mT5, de) > lms(mGPT-2, de) + 2",
    "narrow": "lms(mT5, de) > lms(mBERT, de) + 12 and lms(mT5, de) > lms(mGPT-2, de) + 12",
    "fair": "ss(mGPT-2, en) = 50 ± 4 and ss(mGPT-2, tr) = 50 ± 4 and ss(mGPT-2, es) = 50 ± 4",
    "leans": "ss(mGPT-2, de) < 50 and ss(mGPT-2, fr) < 50",
    "pair": "ss(mGPT-2, en, intrasentence) < ss(mBERT, en, intrasentence)",
}


def own_verdicts(folder: Path) -> dict[str, str]:
    """The verdicts by intersection-union tests and Holm over the file."""
    found = {}
    for name in SAYS:
        yes, no = [], []
        for column, a, b, shift, sign in parts(name):
            p = one_sided(folder, column, a, b, shift)
            yes.append(p if sign > 0 else 1 - p)
            no.append(1 - p if sign > 0 else p)
        for_claim, against = max(yes), min(1.0, len(no) * min(no))
        found[name] = (min(1.0, 2 * min(for_claim, against)), "supported" if for_claim < against else "contradicted")
    verdicts, worst = {}, 0.0
    for rank, name in enumerate(sorted(found, key=lambda one: found[one][0])):
        worst = max(worst, (len(found) - rank) * found[name][0])
        verdicts[name] = found[name][1] if worst <= 0.05 else "undecided"
    return verdicts


def test_verdicts_equal_those_of_an_independent_calculation(real_data):
    parts_of = []
    for tag in LANGUAGES:
        items = read([str(real_data / "stereoset" / f"{task}_{tag}.jsonl.gz") for task in TASKS], language=[tag])
        for label, stem in FILES.items():
            scored = ig.load(real_data / "predictions" / f"{stem}_{tag}.json.gz", data=items)
            parts_of.append(ig.Scored(scored.table.with_columns(pl.lit(label).alias("model"))))
    file = make_claims({"claims": [{"name": name, "says": says} for name, says in SAYS.items()]})
    found = {one.name: one.status for one in check_claims(ig.join(*parts_of), file, resamples=4000)}
    assert found == own_verdicts(real_data)
    assert set(found.values()) == {"supported", "contradicted", "undecided"}
