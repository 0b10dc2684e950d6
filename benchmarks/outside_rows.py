"""The populations of the outside calibration's rows: values of one model, and two sides without a difference."""

from __future__ import annotations

import gzip
import json
import math
import os
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from benchmarks.held_out import BASE, Population, beta_quantiles, draw_items, draw_targets
from benchmarks.outside import PLAIN, POSITIVE, PREFERENCES, TRIPLES, PairRow, Row, Sides, of_population, see
from isogloss.metrics import Contribution, from_values, percent

P = Population
FILES = (  # six models of four families on English StereoSet
    "bert-base-cased_BertLM_BertNextSentence_en",
    "bert-base-multilingual-cased_BertLM_BertNextSentence_en",
    "gpt2_GPT2LM_ModelNSP_en",
    "THUMT_mGPT_GPT2LM_ModelNSP_en",
    "google_mt5-base_mT5LM_ModelNSP_en",
    "t5-base_T5LM_ModelNSP_en",
)
WORDINGS, CONCEPTS = 10, 5


# ---- values of StereoSet-like data


def real_rows() -> Iterator[Row]:
    """Targets of six published models, drawn with replacement from the 79 of StereoSet."""
    folder = Path(os.environ.get("ISOGLOSS_REAL_DATA", ""))
    if not (folder / "predictions").is_dir():
        return
    for name in FILES:
        for clusters in (12, 20, 40, 79, 150):

            def draw(rng: np.random.Generator, name: str = name, clusters: int = clusters) -> Sides:
                parts = read_targets(folder, name)
                chosen = [parts[number] for number in rng.integers(len(parts), size=clusters)]
                index = np.repeat(np.arange(clusters), [len(part) for part in chosen])
                sums = np.concatenate(chosen)
                return see(sums, index, TRIPLES, ties=int(np.sum(sums[:, 1] == 0.5)))

            yield Row("real targets", f"{name} {clusters}", partial(_real_truths, folder, name), draw)


@cache
def read_targets(folder: Path, name: str) -> tuple[Any, ...]:
    """By target the items of both tasks: the share of related candidates that win, the win of the stereotype, and 1."""
    data = _read_json(folder / "stereoset" / "dev.json.gz")["data"]
    scores = _read_json(folder / "predictions" / f"{name}.json.gz")
    value = {row["id"]: row["score"] for task in scores.values() for row in task}
    parts: dict[str, list[list[float]]] = {}
    for item in (item for task in data.values() for item in task):
        own = {one["gold_label"]: value.get(one["id"]) for one in item["sentences"]}
        if None in own.values() or len(own) < 3:
            continue
        a, b, c = (own[role] for role in ("stereotype", "anti-stereotype", "unrelated"))
        sense, won = ((a > c) + (a == c) / 2 + (b > c) + (b == c) / 2) / 2, (a > b) + (a == b) / 2
        parts.setdefault(item["target"], []).append([sense, won, 1.0])
    return tuple(np.array(part) for part in parts.values())


def _read_json(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))


def _real_truths(folder: Path, name: str) -> dict[str, float]:
    parts = read_targets(folder, name)
    sums, index = np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return {metric: side.value for metric, side in see(sums, index, TRIPLES).items()}


def value_rows() -> Iterator[Row]:
    """Populations of targets by their beta-distributed SS and LMS, or with sizes that go with the preference."""
    for c in (12, 20, 79):
        for share, related in (
            (0.35, 0.85),
            (0.5, 0.85),
            (0.65, 0.85),
            (0.85, 0.85),
            (0.97, 0.85),
            (0.6, 0.52),
            (0.6, 0.97),
        ):
            yield of_population("levels", P("levels", c, share=share, related=related), TRIPLES)
        for related in (0.52, 0.75, 0.99):
            yield of_population("lms", P("lms", c, related=related, related_likeness=0.3), TRIPLES)
        for ties in (0.05, 0.3):
            for share in (0.5, 0.65, 0.9):
                yield of_population("ties", P("ties", c, share=share, ties=ties), PREFERENCES)
    for c in (20, 41, 79):
        for spread in (0.8, 1.3):
            for r in (-0.6, -0.3, 0.3, 0.6):
                for share in (0.35, 0.65):
                    yield of_population(
                        "sizes", P("sizes", c, share=share, size_spread=spread, correlation=r), PREFERENCES
                    )
    for c in (12, 20, 41, 79):
        for share, opposite in ((0.62, 0.1), (0.52, 0.98), (0.35, 0.9), (0.97, 0.4)):
            name = "mixture 97/40" if share == 0.97 else "mixtures"
            yield of_population(name, P("mixtures", c, share=share, opposite=opposite), PREFERENCES)
    for c in (12, 20):
        for share in (0.5, 0.65, 0.85):
            yield of_population("few items", P("few items", c, size=5, size_spread=0.0, share=share), TRIPLES)
    for c in (20, 79):
        for effect in (0.4, 0.8):
            for share in (0.5, 0.65):
                yield _crossed(c, effect=effect, share=share, fixed=True)
                yield _crossed(c, effect=effect, share=share, fixed=False)


def _crossed(clusters: int, *, effect: float, share: float, fixed: bool) -> Row:
    """Ten wordings that all targets share: always the same, or drawn anew for every data set."""
    population = P("wordings", clusters, share=share)
    fixed_effects = effect * np.random.default_rng(11).normal(size=WORDINGS)

    def draw(rng: np.random.Generator) -> Sides:
        sums, index, _ = draw_crossed(population, rng, fixed_effects if fixed else effect * rng.normal(size=WORDINGS))
        return see(sums, index, ("ss", "icat"))

    def truths() -> dict[str, float]:
        rng = np.random.default_rng(5)
        effects = fixed_effects if fixed else effect * rng.normal(size=20_000)
        return true_of_crossed(population, rng, effects)

    name = f"{'these' if fixed else 'new'} wordings"
    return Row(name, f"{clusters} targets, effect {effect:g}, SS {100 * share:g}", truths, draw)


def draw_crossed(population: Population, rng: np.random.Generator, effects: Any) -> tuple[Any, Any, Any]:
    """Items whose preference is that of their target and their wording; with each item's target and wording."""
    sizes, chance, related = draw_targets(population, rng, population.clusters)
    index = np.repeat(np.arange(len(sizes)), sizes)
    wording = rng.integers(len(effects), size=len(index))
    wins = expit(np.log(chance / (1 - chance))[index] + effects[wording])
    sense = (rng.random((2, len(index))) < related[index]).mean(0)
    return np.column_stack([sense, rng.random(len(index)) < wins, np.ones(len(index))]), index, wording


def true_of_crossed(population: Population, rng: np.random.Generator, effects: Any) -> dict[str, float]:
    """SS and ICAT over all targets and these wordings; every size has the same mean."""
    _, chance, related = draw_targets(population, rng, 4_000)
    ss = 100 * float(expit(np.log(chance / (1 - chance))[:, None] + effects[None, :]).mean())
    return {"ss": ss, "icat": 100 * float(related.mean()) * min(ss, 100 - ss) / 50}


# ---- other metrics


def other_rows() -> Iterator[Row]:
    """Agreement, shares of pairs, means and categorical bias."""
    for c in (12, 20, 79):
        for share in (0.08, 0.3, 0.92):
            yield _shares(c, share=share)
    for c in (12, 30, 79, 150):
        for ties in (0.05, 0.3):
            yield Row(
                "pair score",
                f"{c} pairs, {100 * ties:g} % ties",
                partial(dict, share=50 + 10 * (1 - ties)),
                partial(_pairs, c, ties),
            )
    for c in (12, 20, 40, 79, 150):
        for kind in ("t4", "mixture", "clustered", "exponential"):
            yield Row(f"mean, {kind}", f"{c} clusters", partial(dict, mean=1.0), partial(_mean, c, kind), PLAIN)
    yield Row("mean, sizes 1.3", "20 clusters", partial(dict, mean=1.0), partial(_mean, 20, "sizes"), PLAIN)
    for c in (20, 40, 79, 150):
        for kind in ("lognormal", "inverse gamma", "rare terms", "uniform", "five times as wide", "random concepts"):
            group = "cb" if kind not in ("five times as wide", "random concepts") else f"cb, {kind}"
            yield Row(group, f"{kind}, {c} templates", partial(_true_cb, kind), partial(_cb, c, kind), POSITIVE)


def _shares(clusters: int, *, share: float) -> Row:
    """Answers to two prompts per statement, three to seven statements per cluster."""

    def draw(rng: np.random.Generator) -> Sides:
        chance = beta_quantiles(share, 0.1, rng.normal(size=clusters))
        index = np.repeat(np.arange(clusters), rng.integers(3, 8, size=clusters))
        won = (rng.random((2, len(index))) < chance[index]).mean(0)
        return {"share": from_values(won, index.tolist(), finish=percent, ties=int(np.sum(won == 0.5)))}

    return Row("agreement", f"{100 * share:g} %, {clusters} clusters", partial(dict, share=100 * share), draw)


def _pairs(count: int, ties: float, rng: np.random.Generator) -> Sides:
    won = np.where(rng.random(count) < ties, 0.5, rng.random(count) < 0.6)
    return {"share": from_values(won, range(count), finish=percent, ties=int(np.sum(won == 0.5)))}


def _mean(clusters: int, kind: str, rng: np.random.Generator) -> Sides:
    """A mean of 1 with heavy tails, of two kinds of clusters, with items in clusters, or of exponential values."""
    sizes = np.ones(clusters, dtype=int)
    if kind in ("clustered", "sizes"):
        spread = 1.3 if kind == "sizes" else 0.5
        sizes = np.maximum(1, np.round(9 * np.exp(spread * rng.normal(size=clusters) - spread**2 / 2))).astype(int)
    index = np.repeat(np.arange(clusters), sizes)
    values = {
        "t4": lambda: 1 + rng.standard_t(4, size=clusters),
        "mixture": lambda: 1 + rng.normal(size=clusters) + np.where(rng.random(clusters) < 0.1, 2.7, -0.3),
        "exponential": lambda: rng.exponential(size=clusters),
    }.get(kind, lambda: 1 + 0.7 * rng.normal(size=clusters)[index] + rng.normal(size=len(index)))()
    return {"mean": replace(from_values(values, index.tolist()), alone=None)}


def _cb(templates: int, kind: str, rng: np.random.Generator) -> Sides:
    """The variance of eight terms' log-probabilities per concept and template; templates differ in scale."""
    scales = {
        "lognormal": lambda: np.exp(0.7 * rng.normal(size=templates)),
        "inverse gamma": lambda: np.sqrt(2 / rng.gamma(3, 1, size=templates)),
        "uniform": lambda: np.sqrt(rng.uniform(0, 2, size=templates)),
        "five times as wide": lambda: np.where(rng.random(templates) < 0.05, 5.0, 1.0) * math.sqrt(0.75),
    }.get(kind, lambda: np.ones(templates))()
    rare = np.where(np.arange(8) < 2, -3.0, 0.0) if kind == "rare terms" else np.zeros(8)
    concepts = np.exp(0.7 * rng.normal(size=CONCEPTS)) if kind == "random concepts" else np.ones(CONCEPTS)
    logs = scales[:, None, None] * concepts[None, :, None] * rng.normal(size=(templates, CONCEPTS, 8)) + rare
    index = np.repeat(np.arange(templates), CONCEPTS)
    return {"cb": replace(from_values(np.var(logs, axis=2).ravel(), index.tolist()), alone=None)}


def _true_cb(kind: str) -> dict[str, float]:
    square = {"lognormal": math.exp(0.98), "random concepts": math.exp(0.98), "five times as wide": 0.75 * 2.2}.get(
        kind, 1.0
    )
    return {"cb": square * 7 / 8 + (9 * 0.25 * 0.75 if kind == "rare terms" else 0.0)}


# ---- two sides


def pair_rows() -> Iterator[PairRow]:
    """Sides of the same targets whose effects are half in common, and independent sides."""
    base = replace(BASE, kind="paired", share=0.5)
    for c in (12, 20, 79):
        b = replace(base, clusters=c)
        for metric in ("ss", "lms", "icat"):
            one, two = (replace(b, likeness=x, related_likeness=x) for x in (0.05, 0.25))
            yield _paired("ordinary", f"spreads .05 and .25, {metric}, {c}", one, two, metric)
        for share in (0.85, 0.97):
            for metric in ("ss", "icat"):
                yield _paired("ordinary", f"SS {100 * share:g}, {metric}, {c}", *[replace(b, share=share)] * 2, metric)
        mixed = replace(b, share=0.5 - 0.1 * (0.95 - 0.5) / 0.9, opposite=0.95)
        yield _paired("ordinary", f"mixture on one side, ss, {c}", mixed, b, "ss")
        yield _paired("ordinary", f"ICAT 44 and 56, icat, {c}", replace(b, share=0.44), replace(b, share=0.56), "icat")
        equal = replace(b, share=0.5, related=0.8), replace(b, share=5 / 9, related=0.9)
        yield _paired("ordinary", f"(50, 80) and (55.6, 90), icat, {c}", *equal, "icat")
        yield _paired("ordinary", f"ties 30 %, ss, {c}", *[replace(b, ties=0.3)] * 2, "ss")
    for c in (12, 20, 79):
        b = replace(base, clusters=c)
        for spread, r in ((0.5, 0.3), (0.8, 0.4), (1.2, 0.6)):
            one, two = (replace(b, size_spread=spread, correlation=x) for x in (r, 0.0))
            yield _paired(f"sizes {spread:g}, r {r:g} on one side", str(c), one, two, "ss")
        one, two = (replace(b, size_spread=1.0, correlation=r) for r in (0.5, -0.5))
        yield _paired("sizes 1, r .5 and -.5", str(c), one, two, "ss")
    for c, d in ((79, 14), (150, 12)):
        for metric in ("ss", "icat"):
            yield _unpaired(f"{c} and {d}, {metric}", replace(base, clusters=c), replace(base, clusters=d), metric)
    yield _unpaired(
        "SS 97, 79 and 20, ss", replace(base, clusters=79, share=0.97), replace(base, clusters=20, share=0.97), "ss"
    )
    mixed = replace(base, clusters=79, share=0.45, opposite=0.95)
    yield _unpaired("mixture on one side, ss", mixed, replace(base, clusters=20), "ss")
    sized = replace(base, clusters=79, size_spread=1.2, correlation=0.6)
    yield _unpaired("sizes on one side, ss", sized, replace(base, clusters=20), "ss")


def _paired(group: str, name: str, a: Population, b: Population, metric: str) -> PairRow:
    def draw(rng: np.random.Generator) -> tuple[Contribution, Contribution]:
        shared = rng.normal(size=(2, a.clusters))
        return _side(a, rng, metric, shared=shared), _side(b, rng, metric, shared=shared)

    return PairRow(f"paired, {group}", name, draw)


def _unpaired(name: str, a: Population, b: Population, metric: str) -> PairRow:
    return PairRow("unpaired", name, lambda rng: (_side(a, rng, metric), _side(b, rng, metric)), paired=False)


def _side(population: Population, rng: np.random.Generator, metric: str, *, shared: Any = None) -> Contribution:
    sums, index = draw_items(population, rng, draw_targets(population, rng, population.clusters, shared=shared))
    return see(sums, index, (metric,), ties=int(np.sum(sums[:, 1] == 0.5)))[metric]
