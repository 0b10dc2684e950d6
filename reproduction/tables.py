"""From weights, from predictions, printed: the tables of docs/reproducing.md, from whatever is scored so far."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import isogloss as ig
from isogloss.analysis.mbe_tests import check_mbe
from isogloss.exchange.predictions import read_predictions
from isogloss.items import Items
from isogloss.reports.numbers import format_value, p_value
from isogloss.reports.text.table import Grid, as_markdown
from isogloss.runs import Run, find_runs, read_scored
from isogloss.scores import Scored, scored_from_values

from .batches import Shift, is_close
from .data import LANGUAGES
from .weights import HEADED

CASED, UNCASED, MULTILINGUAL = "bert-base-cased", "bert-base-uncased", "bert-base-multilingual-cased"
HEADLINES = ("lms", "ss", "icat")
STEREOSET_ROWS = [(CASED, "en"), *((MULTILINGUAL, tag) for tag in LANGUAGES)]
PUBLISHED_CROWS = {"crows": 60.5, "crows_stereo": 61.1, "crows_antistereo": 56.9}


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the runs and the published data are, and the shifts that explain published scores."""

    runs: Path
    data: Path
    shifts: Mapping[str, Shift]

    def scored(self, model: str, language: str, *, method: str, dataset: str) -> tuple[Scored | None, bool]:
        """What is scored so far, and whether that is everything."""
        wanted = {"model": model, "language": language, "method": method, "dataset": dataset}
        for run in find_runs(self.runs):
            if all(run.info[name] == value for name, value in wanted.items()) and _has_parts(run):
                return read_scored([run]), run.info.get("status") == "finished"
        return None, False

    def intra(self, model: str, language: str, *, method: str = "unmask[variant=paper]") -> tuple[Scored | None, bool]:
        return self.scored(model, language, method=method, dataset="stereoset")

    def inter(self, model: str, language: str) -> tuple[Scored | None, bool]:
        """By the recovered head, or by the checkpoint's own where the hub was reachable."""
        recovered, whole = self.scored(HEADED.format(model), language, method="nsp", dataset="stereoset")
        return (recovered, whole) if recovered else self.scored(model, language, method="nsp", dataset="stereoset")

    def items(self, task: str, language: str) -> Items:
        return ig.read(self.data / "stereoset" / f"{task}_{language}.jsonl.gz", language=language)

    def published(self, model: str, language: str) -> dict[str, float]:
        return read_predictions(self.data / "predictions" / f"{model}_BertLM_BertNextSentence_{language}.json.gz")

    def predicted(self, model: str, task: str, language: str) -> Scored:
        values = self.published(model, language)
        return scored_from_values(self.items(task, language), values, model=model, method="published scores")

    def printed(self, model: str, level: str, language: str) -> dict[str, float]:
        """The values of the paper's tables; the first that is printed of each metric."""
        tables = json.loads((self.data / "expected_tables.json").read_text(encoding="utf-8"))
        rows = tables[f"{model}_BertLM_BertNextSentence_{language}"][level]["printed"]
        return {row["metric"]: row["value"] for row in reversed(rows) if row["metric"] in HEADLINES}


def _has_parts(run: Run) -> bool:
    return any(run.folder.glob("part-*.parquet"))


def markdown(heading: Sequence[str], rows: Iterable[Sequence[str]], *, labels: int = 1) -> str:
    return as_markdown(Grid(list(heading), [list(row) for row in rows], labels))


def _scores(scored: Scored) -> dict[str, float]:
    table = scored.table.filter(scored.table["quantity"] == "score")
    return dict(table.select("candidate", "value").iter_rows())


def _triple(values: Mapping[str, float | None]) -> str:
    return " / ".join(format_value(values.get(name)) for name in HEADLINES)


def measured(scored: Scored | None, mode: str = "paper") -> dict[str, float | None]:
    if scored is None:
        return {}
    return {row.metric: row.value for row in ig.measure(scored, metrics=list(HEADLINES), by=[], mode=mode)}


def intra_table(sources: Sources) -> str:
    """Candidate by candidate: how many agree, and what explains the others."""
    rows = []
    for model, tag in STEREOSET_ROWS:
        scored, _ = sources.intra(model, tag)
        if scored is None:
            continue
        published, scores = sources.published(model, tag), _scores(scored)
        shift = sources.shifts.get(f"{model} {tag}")
        touched = set(shift.touched if shift else ())
        near = [name for name, value in scores.items() if is_close(value, published[name], within=1e-4)]
        differing = {name for name, value in scores.items() if not is_close(value, published[name])}
        largest = max((abs(scores[name] - published[name]) for name in scores.keys() - touched), default=0.0)
        rows.append(
            [model, tag, f"{len(scores):,} of {_candidates(sources, tag):,}", f"{len(near):,}", str(len(differing))]
        )
        rows[-1] += [str(len(differing & touched)), str(len(differing - touched)), f"{largest:.1e}"]
    heading = ["model", "language", "candidates scored", "within 1e-4 (relative)", "beyond 1e-3"]
    heading += ["of these explained by a shifted batch", "unexplained", "largest other difference"]
    return markdown(heading, rows, labels=2)


def _candidates(sources: Sources, tag: str, task: str = "intrasentence") -> int:
    return sum(len(item.candidates) for item in sources.items(task, tag))


def shift_table(sources: Sources) -> str:
    """With the published order and batch size, the published scores of the touched candidates come out."""
    rows = [
        [*name.split(), str(shift.size), str(len(shift.touched)), str(shift.given)]
        for name, shift in sources.shifts.items()
    ]
    heading = ["model", "language", "batch size", "candidates touched by a shift", "whose published score follows"]
    return markdown(heading, rows, labels=2)


def triple_table(sources: Sources, task: str) -> str:
    """LMS, SS and ICAT of a task, three ways."""
    rows = []
    for model, tag in STEREOSET_ROWS:
        scored, whole = sources.intra(model, tag) if task == "intrasentence" else sources.inter(model, tag)
        if scored is None or not whole:
            weights = "not scored" if scored is None else f"{len(scored):,} items so far"
        else:
            weights = _triple(measured(scored))
        predicted = _triple(measured(sources.predicted(model, task, tag)))
        rows.append([model, tag, weights, predicted, _triple(sources.printed(model, task[:5], tag))])
    return markdown(["model", "language", "from weights", "from predictions", "printed"], rows, labels=2)


def inter_table(sources: Sources) -> str:
    """Next-sentence scores, candidate by candidate."""
    rows = []
    for model, tag in STEREOSET_ROWS:
        scored, _ = sources.inter(model, tag)
        if scored is None:
            continue
        published, scores = sources.published(model, tag), _scores(scored)
        gaps = [abs(value - published[name]) for name, value in scores.items()]
        head = "recovered" if any("recovered" in note for note in scored.notes) else "the checkpoint's own"
        total = _candidates(sources, tag, "intersentence")
        rows.append([model, tag, head, f"{len(gaps):,} of {total:,}", f"{max(gaps):.1e}", f"{median(gaps):.1e}"])
    heading = ["model", "language", "head", "pairs scored", "largest difference", "median"]
    return markdown(heading, rows, labels=3)


def crows_table(sources: Sources) -> str:
    """CrowS-Pairs' own score, its parts and its categories."""
    scored, whole = sources.scored(UNCASED, "en", method="crows", dataset="crows_pairs")
    if scored is None:
        return "Not scored yet."
    rows = []
    for row in ig.measure(scored, metrics=list(PUBLISHED_CROWS), by=[], mode="paper"):
        name = {"crows_stereo": "stereotype part", "crows_antistereo": "anti-stereotype part"}.get(
            row.metric, "all pairs"
        )
        rows.append(
            [
                name,
                format_value(row.value, (row.low, row.high)),
                str(PUBLISHED_CROWS[row.metric]),
                str(row.n),
                str(row.ties),
            ]
        )
    for row in ig.measure(scored, metrics=["crows"], by=["category"], mode="paper"):
        rows.append(
            [row.group["category"], format_value(row.value, (row.low, row.high)), "-", str(row.n), str(row.ties)]
        )
    left = "" if whole else f"\n\nSo far {len(scored):,} of 1,508 pairs are scored."
    return markdown(["pairs", "from weights", "printed", "n", "ties"], rows) + left


def sentence_methods_table(sources: Sources) -> str:
    """PLL, AUL and AULA on the same pairs."""
    rows = []
    for method in ("crows", "pll", "aul", "aula"):
        scored, _ = sources.scored(UNCASED, "en", method=method, dataset="crows_pairs")
        if scored is not None:
            metric = "crows" if method == "crows" else "pair_score"
            for row in ig.measure(scored, metrics=[metric], by=[]):
                rows.append([method, format_value(row.value, (row.low, row.high)), str(row.n), str(row.ties)])
    return markdown(["method", "stereotype preferred (%)", "n", "ties"], rows)


def mbe_table(sources: Sources) -> str:
    """Eq. 3 on the pairs, MBE and Shf on the single sentences of the same pairs, or of news."""
    rows = []
    for model, tag, text in (
        (CASED, "en", "CrowS-Pairs, gender"),
        *((MULTILINGUAL, t, "their translation") for t in ("ja", "ru")),
        (MULTILINGUAL, "pt", "news"),
    ):
        pairs, _ = sources.scored(model, tag, method="aula", dataset="crows_pairs")
        single, _ = sources.scored(model, tag, method="aula", dataset="sentences")
        if single is None:
            continue
        ht = (
            [format_value(m.value, (m.low, m.high)) for m in ig.measure(pairs, metrics=["pair_score"], by=[])]
            if pairs
            else ["-"]
        )
        measures = ig.measure(single, metrics=["mbe"], mode="paper")
        test = check_mbe(single, measures)[0]
        n = " + ".join(str(count) for count in test.sentences.values())
        value = format_value(test.value, (test.low, test.high))
        rows.append([model, tag, text, *ht, value, format_value(test.shuffled), p_value(test.p_permutation), n])
    heading = ["model", "language", "text", "Eq. 3 (HT)", "MBE", "Shf", "p (permutation)", "sentences"]
    return markdown(heading, rows, labels=3)
