"""What the trained models show: languages on the same items, and whether methods agree; the tables of docs/findings.md."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import spearmanr

import isogloss as ig
from isogloss import languages
from isogloss.analysis.groups import item_gaps
from isogloss.exchange.runs import import_run
from isogloss.items import Items
from isogloss.reports.numbers import format_value, p_value
from isogloss.runs import find_runs
from isogloss.scores import Scored
from isogloss.stats.hypotheses import adjust_holm

from .data import LANGUAGES, SCORES
from .tables import CASED, MULTILINGUAL, UNCASED, Sources, markdown

TASKS = ("intrasentence", "intersentence")
SENTENCE_METHODS = ("crows", "pll", "aul", "aula")


def scores_by_language(sources: Sources, task: str) -> dict[str, tuple[Scored, str]]:
    """The scores of multilingual BERT in each language, from weights where they are whole, and where they come from."""
    scores = {}
    for tag in LANGUAGES:
        scored, whole = (
            sources.intra(MULTILINGUAL, tag, method="unmask") if task == TASKS[0] else sources.inter(MULTILINGUAL, tag)
        )
        if scored is not None and whole:
            scores[tag] = (scored, "weights")
        else:
            scores[tag] = (sources.predicted(MULTILINGUAL, task, tag), "published scores")
    return scores


def language_table(sources: Sources) -> str:
    """LMS and SS of each language and task, with intervals; SS only counts where the model is not guessing."""
    rows = []
    for task in TASKS:
        for tag, (scored, origin) in scores_by_language(sources, task).items():
            found = {row.metric: row for row in ig.measure(scored, metrics=["lms", "ss"], by=["task"])}
            lms, ss = found["lms"], found["ss"]
            shown = [format_value(row.value, (row.low, row.high)) for row in (lms, ss)]
            reads = "yes" if ss.interpretable else "no"
            rows.append([task, languages.get(tag).name, *shown, reads, str(ss.n), str(ss.ties), origin])
    heading = ["task", "language", "LMS", "SS", "SS can be interpreted", "n", "ties", "scores from"]
    return markdown(heading, rows, labels=2)


def difference_table(sources: Sources) -> str:
    """Every pair of languages on the same items; p-values are adjusted over all of them."""
    compared = []
    for task in TASKS:
        scores = scores_by_language(sources, task)
        for a, b in combinations(LANGUAGES, 2):
            compared += ig.compare(_plain(scores[a][0]), _plain(scores[b][0]), metrics="ss", by=["task"])
    rows = []
    for row, p_holm in zip(compared, adjust_holm([row.p or 1.0 for row in compared]), strict=True):
        pair = f"{row.a['language']} - {row.b['language']}"
        difference = format_value(row.difference, (row.low, row.high), form="+.1f")
        survives = "yes" if p_holm < 0.05 else "no"
        rows.append([row.group["task"], pair, difference, p_value(row.p), p_value(p_holm), survives, str(row.n)])
    heading = ["task", "languages", "difference in SS", "p", "p (Holm)", "survives", "items"]
    return markdown(heading, rows, labels=2)


def _plain(scored: Scored) -> Scored:
    """The scores under one model and method, so that languages from weights and from predictions can be paired."""
    table = scored.table.with_columns(pl.lit(MULTILINGUAL).alias("model"), pl.lit("unmask, nsp").alias("method"))
    return Scored(table)


def draw_map(sources: Sources, out: Path) -> str:
    """The isogloss map over both tasks of the published scores, as a picture; its caption."""
    folder = sources.runs / "published"
    for tag in LANGUAGES:
        path = sources.data / SCORES.format(MULTILINGUAL, tag)
        items = Items((*sources.items(TASKS[0], tag), *sources.items(TASKS[1], tag)))
        import_run(path, items, root=folder, model=MULTILINGUAL)
    return ig.figure("isogloss_map", folder, out=out, width="double", languages=list(LANGUAGES)).caption


def method_gaps(sources: Sources, model: str, *, dataset: str) -> dict[str, dict[str, float]]:
    """Item by item, how far each method puts the stereotype above the anti-stereotype."""
    gaps = {}
    methods = (*SENTENCE_METHODS, "unmask") if dataset == "stereoset" else SENTENCE_METHODS
    for method in methods:
        scored, _ = sources.scored(model, "en", method=method, dataset=dataset)
        if scored is None:
            continue
        table = scored.table.filter(pl.col("value").is_not_null())
        if method == "crows":  # its score is of a sentence against the other one
            table = table.with_columns(pl.lit("score").alias("quantity"), pl.lit(None, pl.String).alias("against"))
        rows = item_gaps(table)
        gaps[method] = dict(zip(rows["id"], rows["gap"], strict=True))
    return gaps


def agreement_table(gaps: Mapping[str, Mapping[str, float]]) -> str:
    """For each two methods on the same items: the same sign, the rank correlation of gaps, and the items that flip."""
    rows = []
    for a, b in combinations(gaps, 2):
        shared = sorted(gaps[a].keys() & gaps[b].keys())
        first, second = (np.array([gaps[method][name] for name in shared]) for method in (a, b))
        same = np.sign(first) == np.sign(second)
        rho = float(spearmanr(first, second).statistic)
        low, high = _rank_interval(first, second)
        shown = format_value(rho, (low, high))
        rows.append([f"{a}, {b}", f"{100 * same.mean():.1f} %", str(int((~same).sum())), shown, str(len(shared))])
    heading = ["methods", "same preference", "items that flip", "rank correlation of gaps", "items"]
    return markdown(heading, rows)


def _rank_interval(first: np.ndarray, second: np.ndarray, *, resamples: int = 1_000) -> tuple[float, float]:
    draw = np.random.default_rng(0)
    picks = draw.integers(0, len(first), (resamples, len(first)))
    values = [spearmanr(first[pick], second[pick]).statistic for pick in picks]
    return float(np.quantile(values, 0.025)), float(np.quantile(values, 0.975))


def preference_table(sources: Sources) -> str:
    """How often each method prefers the stereotype, on both sets of pairs."""
    rows = []
    for title, model, dataset in (("CrowS-Pairs", UNCASED, "crows_pairs"), ("StereoSet, gender", CASED, "stereoset")):
        gaps = method_gaps(sources, model, dataset=dataset)
        shared = set.intersection(*(set(values) for values in gaps.values())) if gaps else set()
        for method in gaps:
            scored, _ = sources.scored(model, "en", method=method, dataset=dataset)
            chosen = Scored(scored.table.filter(pl.col("id").is_in(sorted(shared))))
            metric = {"crows": "crows", "unmask": "ss"}.get(method, "pair_score")
            for row in ig.measure(chosen, metrics=[metric], by=[]):
                value = format_value(row.value, (row.low, row.high))
                rows.append([title, model, method, value, str(row.n), str(row.ties)])
    heading = ["pairs", "model", "method", "stereotype preferred (%)", "n", "ties"]
    return markdown(heading, rows, labels=3)


def small_table(sources: Sources) -> str:
    """Causal and masked models on the same sample of intrasentence items."""
    if not find_runs(sources.runs / "small"):
        return "Not scored yet."
    scored = ig.load(sources.runs / "small", where={"task": TASKS[0]})
    rows = []
    measures = {
        (m.group["model"], m.group["language"], m.metric): m
        for m in ig.measure(scored, metrics=["lms", "ss"], by=["model", "language"])
    }
    for model, tag in dict.fromkeys((model, tag) for model, tag, _ in measures):
        lms, ss = (measures[model, tag, metric] for metric in ("lms", "ss"))
        shown = [format_value(row.value, (row.low, row.high)) for row in (lms, ss)]
        rows.append([model, languages.get(tag).name, *shown, "yes" if ss.interpretable else "no", str(ss.n)])
    return markdown(["model", "language", "LMS", "SS", "SS can be interpreted", "n"], rows, labels=2)


def small_difference_table(sources: Sources) -> str:
    """Every masked model beside every causal one, on the same items of a language."""
    if not find_runs(sources.runs / "small"):
        return ""
    scored = ig.load(sources.runs / "small", where={"task": TASKS[0]})
    kinds = dict(scored.table.select("model", "family").unique().iter_rows())
    compared = []
    for tag in LANGUAGES:
        here = {
            m: Scored(scored.table.filter((pl.col("model") == m) & (pl.col("language") == tag))) for m in sorted(kinds)
        }
        pairs = [(a, b) for a in here for b in here if (kinds[a], kinds[b]) == ("masked", "causal")]
        for a, b in pairs:
            if len(here[a]) and len(here[b]):
                compared += [(tag, a, b, row) for row in ig.compare(here[a], here[b], metrics=["lms", "ss"], by=[])]
    rows = []
    for (tag, a, b, row), p_holm in zip(compared, adjust_holm([row.p or 1.0 for *_, row in compared]), strict=True):
        difference = format_value(row.difference, (row.low, row.high), form="+.1f")
        rows.append(
            [languages.get(tag).name, f"{a} - {b}", row.metric.upper(), difference, p_value(p_holm), str(row.n)]
        )
    return markdown(["language", "models", "metric", "difference", "p (Holm)", "items"], rows, labels=3)
