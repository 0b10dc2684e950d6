"""What the trained models show: languages on the same items, and whether methods agree; the tables of docs/results/findings.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import spearmanr

import isogloss as ig
from isogloss import languages
from isogloss.analysis.comparisons import Comparison
from isogloss.analysis.groups import item_gaps
from isogloss.analysis.measures import Measure
from isogloss.exchange.runs import import_run
from isogloss.items import Items
from isogloss.reports.numbers import format_value, listed, p_value
from isogloss.scores import Scored
from isogloss.stats.hypotheses import adjust_holm

from .data import LANGUAGES, SCORES
from .tables import CASED, MULTILINGUAL, NOTHING, UNCASED, Sources, cb_cells, check_candidates, markdown, shown

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


@cache
def measure_languages(sources: Sources) -> list[tuple[str, str, Mapping[str, Measure], str]]:
    """LMS and SS of each task and language, with where the scores come from."""
    return [
        (task, tag, {row.metric: row for row in ig.measure(scored, metrics=["lms", "ss"], by=["task"])}, origin)
        for task in TASKS
        for tag, (scored, origin) in scores_by_language(sources, task).items()
    ]


def language_table(sources: Sources) -> str:
    """LMS and SS of each language and task, with intervals; SS only counts where the model is not guessing."""
    rows = []
    for task, tag, measures, origin in measure_languages(sources):
        lms, ss = measures["lms"], measures["ss"]
        reads = "yes" if ss.interpretable else "no"
        rows.append([task, languages.get(tag).name, shown(lms), shown(ss), reads, str(ss.n), origin])
    heading = ["task", "language", "LMS", "SS", "SS can be interpreted", "n", "scores from"]
    if all(row[-1] == "weights" for row in rows):
        return markdown(heading[:-1], [row[:-1] for row in rows], labels=2)
    table = markdown(heading, rows, labels=2)
    return (
        f"{table}\n\nRows *from published scores* use the published scores of the same model, because not everything is scored "
        "from weights yet; [Published numbers](reproducing.md#from-trained-weights) shows how far the two agree."
    )


@cache
def compare_languages(sources: Sources) -> list[tuple[Comparison, float]]:
    """Every pair of languages on the same items, with p-values adjusted over all of them."""
    compared: list[Comparison] = []
    for task in TASKS:
        scores = scores_by_language(sources, task)
        for a, b in combinations(LANGUAGES, 2):
            compared += ig.compare(_plain(scores[a][0]), _plain(scores[b][0]), metrics="ss", by=["task"])
    return list(zip(compared, adjust_holm([row.p or 1.0 for row in compared]), strict=True))


def difference_table(sources: Sources) -> str:
    """Every pair of languages: the difference of SS, and whether it survives."""
    rows = []
    for row, p_holm in compare_languages(sources):
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


@cache
def compare_methods(sources: Sources, model: str, dataset: str) -> list[tuple[str, str, np.ndarray, np.ndarray]]:
    """For each two methods, the gaps of the items that both have."""
    gaps, pairs = method_gaps(sources, model, dataset=dataset), []
    for a, b in combinations(gaps, 2):
        shared = sorted(gaps[a].keys() & gaps[b].keys())
        first, second = (np.array([gaps[method][name] for name in shared]) for method in (a, b))
        pairs.append((a, b, first, second))
    return pairs


def agreement_table(sources: Sources, model: str, *, dataset: str) -> str:
    """For each two methods on the same items: the same sign, the rank correlation of gaps, and the items that flip."""
    rows = []
    for a, b, first, second in compare_methods(sources, model, dataset):
        same = np.sign(first) == np.sign(second)
        rho = float(spearmanr(first, second).statistic)
        cells = [
            f"{100 * same.mean():.1f} %",
            str(int((~same).sum())),
            format_value(rho, _rank_interval(first, second)),
        ]
        rows.append([f"{a}, {b}", *cells, str(len(first))])
    heading = ["methods", "same preference", "items that flip", "rank correlation of gaps", "items"]
    return markdown(heading, rows)


def _rank_interval(first: np.ndarray, second: np.ndarray, *, resamples: int = 1_000) -> tuple[float, float]:
    draw = np.random.default_rng(0)
    picks = draw.integers(0, len(first), (resamples, len(first)))
    values = [spearmanr(first[pick], second[pick]).statistic for pick in picks]
    return float(np.quantile(values, 0.025)), float(np.quantile(values, 0.975))


@cache
def measure_preferences(sources: Sources) -> list[tuple[str, str, str, Measure]]:
    """How often each method prefers the stereotype, on the items of a set that all methods have."""
    rows = []
    for title, model, dataset in (("CrowS-Pairs", UNCASED, "crows_pairs"), ("StereoSet, gender", CASED, "stereoset")):
        gaps = method_gaps(sources, model, dataset=dataset)
        shared = set.intersection(*(set(values) for values in gaps.values())) if gaps else set()
        for method in gaps:
            scored, _ = sources.scored(model, "en", method=method, dataset=dataset)
            chosen = Scored(scored.table.filter(pl.col("id").is_in(sorted(shared))))
            metric = {"crows": "crows", "unmask": "ss"}.get(method, "pair_score")
            rows += [(title, model, method, row) for row in ig.measure(chosen, metrics=[metric], by=[])]
    return rows


def preference_table(sources: Sources) -> str:
    """How often each method prefers the stereotype, on both sets of pairs."""
    rows = [[*names, shown(row), str(row.n), str(row.ties)] for *names, row in measure_preferences(sources)]
    return markdown(["pairs", "model", "method", "stereotype preferred (%)", "n", "ties"], rows, labels=3)


def load_small(sources: Sources) -> Scored | None:
    """The intrasentence scores of the study of small models."""
    folder = sources.runs / "small"
    return ig.load(folder, where={"task": TASKS[0]}) if folder.is_dir() else None


def small_table(scored: Scored) -> str:
    """Causal and masked models on the same sample of intrasentence items."""
    rows = []
    kinds = dict(scored.table.select("model", "family").unique().iter_rows())
    measures = {
        (m.group["model"], m.group["language"], m.metric): m
        for m in ig.measure(scored, metrics=["lms", "ss"], by=["model", "language"])
    }
    for tag in LANGUAGES:
        for model in sorted(kinds, key=lambda name: (kinds[name] != "masked", name)):
            if (model, tag, "ss") in measures:
                lms, ss = (measures[model, tag, metric] for metric in ("lms", "ss"))
                reads = "yes" if ss.interpretable else "no"
                rows.append([languages.get(tag).name, model, kinds[model], shown(lms), shown(ss), reads, str(ss.n)])
    return markdown(["language", "model", "family", "LMS", "SS", "SS can be interpreted", "n"], rows, labels=3)


def compare_small(scored: Scored) -> list[tuple[str, str, str, Comparison, float]]:
    """Every masked model beside every causal one on the same items of a language, with p-values adjusted over all."""
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
    adjusted = adjust_holm([1.0 if row.p is None else row.p for *_, row in compared])
    return [(*names, p) for names, p in zip(compared, adjusted, strict=True)]


def small_difference_table(scored: Scored) -> str:
    """The differences between masked and causal models."""
    rows = []
    for tag, a, b, row, p_holm in compare_small(scored):
        difference = format_value(row.difference, (row.low, row.high), form="+.1f")
        cells = [difference, p_value(row.p), p_value(p_holm), "yes" if p_holm < 0.05 else "no", str(row.n)]
        rows.append([languages.get(tag).name, f"{a} - {b}", row.metric.upper(), *cells])
    heading = ["language", "models", "metric", "difference", "p", "p (Holm)", "survives", "items"]
    return markdown(heading, rows, labels=3)


def small_summary(scored: Scored) -> str:
    """How many of the differences survive, by metric."""
    compared, said = compare_small(scored), []
    for metric in ("lms", "ss"):
        rows = [(tag, a, b, row.difference, p) for tag, a, b, row, p in compared if row.metric == metric]
        clear = [f"{a} - {b} {tag} {gap:+.1f}" for tag, a, b, gap, p in rows if p < 0.05]
        named = f" ({'; '.join(clear)})" if clear else ""
        said.append(f"{len(clear)} of {len(rows)} differences in {metric.upper()} survive{named}.")
    return " ".join(said)


# ---- in short


def summary(sources: Sources) -> str:
    """What the page shows, in a few sentences made of its numbers."""
    if not check_candidates(sources, TASKS[0]):
        return NOTHING
    return "\n".join(f"* {text}" for text in (_of_languages(sources), _of_methods(sources), _of_published(sources)))


def _names(tags: Sequence[str]) -> str:
    return listed([languages.get(tag).name for tag in tags]) if len(tags) < len(LANGUAGES) else "all five languages"


def _of_languages(sources: Sources) -> str:
    said = []
    for task, where in zip(TASKS, ("On the intrasentence task", "On the intersentence task"), strict=True):
        ss = {tag: measures["ss"] for own, tag, measures, _ in measure_languages(sources) if own == task}
        above = [tag for tag, row in ss.items() if row.interpretable and row.low is not None and row.low > 50]
        guessing = [tag for tag, row in ss.items() if not row.interpretable]
        pairs = [row for row, p in compare_languages(sources) if row.group["task"] == task and p < 0.05]
        named = "; ".join(f"{row.a['language']} - {row.b['language']} {row.difference:+.1f}" for row in pairs)
        shows = (
            f"it prefers stereotypes in {_names(above)}"
            if above
            else "it shows no clear preference for stereotypes in any language"
        )
        text = f"{where} {shows}"
        text += f" and is below our competence limit in {_names(guessing)}" if guessing else ""
        survive = f"{len(pairs)} of the 10 differences between languages survive ({named})" if named else ""
        said.append(f"{text}; {survive or 'none of the 10 differences between languages survives'}.")
    return f"**Languages.** We compare multilingual BERT on the same items in five languages. {' '.join(said)}"


def _of_methods(sources: Sources) -> str:
    said = []
    for title in dict.fromkeys(title for title, *_ in measure_preferences(sources)):
        rows = {method: row for own, _, method, row in measure_preferences(sources) if own == title}
        clear = [name for name, row in rows.items() if row.low is not None and row.low > 50]
        rest = [name for name in rows if name not in clear]
        text = f"On {title} (n = {next(iter(rows.values())).n}), {listed(clear) if clear else 'no method'} {'finds' if len(clear) == 1 else 'find'} a preference for stereotypes"
        said.append(text + (f"; the values of {listed(rest)} are not distinguishable from 50." if rest else "."))
    shares = {
        frozenset((a, b)): 100 * float(np.mean(np.sign(first) == np.sign(second)))
        for a, b, first, second in compare_methods(sources, UNCASED, "crows_pairs")
    }
    mixed = [share for pair, share in shares.items() if len(pair & {"aul", "aula"}) == 1]
    if mixed:
        alike = shares[frozenset(("aul", "aula"))]
        said.append(
            f"On CrowS-Pairs, AUL and AULA prefer the same sentence in {alike:.0f} % of the pairs; each agrees with methods that "
            f"mask tokens in only {min(mixed):.0f} to {max(mixed):.0f} %."
        )
    return f"**Methods.** The same model and items were scored by different methods. {' '.join(said)}"


def _of_all(part: int, total: int) -> str:
    """A part of a total, at the start of a sentence."""
    return f"All {total:,}" if part == total > 1 else f"{part:,} of {total:,}"


def _of_published(sources: Sources) -> str:
    rows = check_candidates(sources, TASKS[0])
    differing = sum(len(row.differing) for row in rows)
    left = sum(len(row.differing - row.touched) for row in rows)
    text = (
        f"**Published numbers.** {_of_all(sum(len(row.scores) for row in rows), sum(row.total for row in rows))} published "
        f"intrasentence scores were recomputed from weights: {differing} differ by more than 0.1 %, "
        + (
            f"{differing - left} of them because of a shifted batch."
            if left or not differing
            else "all because of a shifted batch."
        )
    )
    inter = check_candidates(sources, TASKS[1])
    if inter:
        largest = max(max(row.gaps) for row in inter)
        text += f" The {sum(len(row.scores) for row in inter):,} next-sentence scores differ by at most {largest:.0e}."
    scored = [(values[0], printed) for _, values, printed in cb_cells(sources) if values[0] is not None]
    near = sum(abs(round(value, 2) - printed) < 0.015 for value, printed in scored)
    text += f" {_of_all(near, len(scored))} printed values of CB are reproduced with bert-base-uncased to within one unit of the last digit."
    return text
