"""From weights, from predictions, printed: the tables of docs/results/reproducing.md, from whatever is scored so far."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median

import polars as pl

import isogloss as ig
from isogloss.analysis.intervals import IntervalSettings
from isogloss.analysis.mbe_tests import check_mbe
from isogloss.analysis.measures import Measure
from isogloss.analysis.term_shares import measure_shares
from isogloss.exchange.predictions import read_predictions
from isogloss.items import Items
from isogloss.reports.numbers import format_value, p_value
from isogloss.reports.text.table import Grid, as_markdown
from isogloss.runs import Run, find_runs, read_scored
from isogloss.scores import Scored, scored_from_values

from .batches import Shift, is_close
from .data import LANGUAGES, SCORES, TABLES
from .weights import HEADED

CASED, UNCASED, MULTILINGUAL = "bert-base-cased", "bert-base-uncased", "bert-base-multilingual-cased"
HEADLINES = ("lms", "ss", "icat")
STEREOSET_ROWS = [(CASED, "en"), *((MULTILINGUAL, tag) for tag in LANGUAGES)]
PRINTED_CB = {  # BehnamGhader and Milios (2022), Table 2, English
    "gender-1": 1.45, "gender-2": 0.13, "gender-3": 0.47, "gender-4": 0.39,
    "religion-1": 4.58, "religion-2": 4.38, "religion-3": 2.83,
    "ethnicity-1": 3.82, "ethnicity-2": 4.75, "ethnicity-3": 12.14, "ethnicity-4": 5.57,
}  # fmt: skip
TOGETHER = {  # Tables 1a and 2: the sets of an aggregated value
    "gender": (("gender-1", "gender-2", "gender-3", "gender-4"), 0.63),
    "religion": (("religion-1", "religion-2", "religion-3"), 4.19),
    "ethnicity, coarse terms": (("ethnicity-1", "ethnicity-2"), 4.28),
    "ethnicity, all terms": (("ethnicity-1", "ethnicity-2", "ethnicity-3", "ethnicity-4"), 6.56),
}
PRINTED_KL = {  # Table 3, English
    "gender-1": 2.67e-6, "gender-2": 3.32e-6, "gender-3": 2.65e-5,
    "religion-1": 3.83e-5, "religion-2": 4.90e-5, "religion-3": 7.36e-5,
    "ethnicity-1": 5.88e-5, "ethnicity-2": 3.11e-5, "ethnicity-3": 8.86e-5, "ethnicity-4": 4.41e-5,
}  # fmt: skip
PRINTED_TOP = {  # Table 4, English
    (
        "ethnicity-3",
        "sexist",
    ): "gypsies 0.661, new zealanders 0.130, swedes 0.067, south africans 0.032, singaporeans 0.025",
    (
        "ethnicity-3",
        "prejudiced",
    ): "gypsies 0.265, sri lankans 0.174, new zealanders 0.166, swedes 0.156, mauritians 0.079",
    (
        "ethnicity-4",
        "sexist",
    ): "latin america 0.444, hong kong 0.218, surinam 0.076, saudi arabia 0.074, south africa 0.041",
    ("ethnicity-4", "prejudiced"): (
        "the middle east 0.219, hong kong 0.194, surinam 0.163, latin america 0.123, saudi arabia 0.099"
    ),
}
PUBLISHED_CROWS = {"crows": 60.5, "crows_stereo": 61.1, "crows_antistereo": 56.9}
PARTS = {"crows": "all pairs", "crows_stereo": "stereotype part", "crows_antistereo": "anti-stereotype part"}
NOTHING, NOT_SCORED = "Not scored yet.", "not scored"


@dataclass(frozen=True, eq=False)  # the same sources are measured once
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
        return read_predictions(self.data / SCORES.format(model, language))

    def predicted(self, model: str, task: str, language: str) -> Scored:
        values = self.published(model, language)
        return scored_from_values(self.items(task, language), values, model=model, method="published scores")

    def printed(self, model: str, level: str, language: str) -> dict[str, float]:
        """The values of the paper's tables; the first that is printed of each metric."""
        if not (self.data / TABLES).is_file():
            return {}
        tables = json.loads((self.data / TABLES).read_text(encoding="utf-8"))
        rows = tables[f"{model}_BertLM_BertNextSentence_{language}"][level]["printed"]
        return {row["metric"]: row["value"] for row in reversed(rows) if row["metric"] in HEADLINES}


def _has_parts(run: Run) -> bool:
    return any(run.folder.glob("part-*.parquet"))


def markdown(heading: Sequence[str], rows: Iterable[Sequence[str]], *, labels: int = 1) -> str:
    """The rows as a Markdown table; without rows, that nothing is scored yet."""
    cells = [list(row) for row in rows]
    return as_markdown(Grid(list(heading), cells, labels)).strip() if cells else NOTHING


def shown(row: Measure) -> str:
    """A measure with its interval."""
    return format_value(row.value, (row.low, row.high))


def _scores(scored: Scored) -> dict[str, float]:
    table = scored.table.filter(scored.table["quantity"] == "score")
    return dict(table.select("candidate", "value").iter_rows())


def _triple(values: Mapping[str, float | None]) -> str:
    return " / ".join(format_value(values.get(name)) for name in HEADLINES)


def measured(scored: Scored | None, mode: str = "paper") -> dict[str, float | None]:
    if scored is None:
        return {}
    return {row.metric: row.value for row in ig.measure(scored, metrics=list(HEADLINES), by=[], mode=mode)}


@dataclass(frozen=True)
class Checked:
    """Scores from weights beside the published ones: how many there are of how many, which differ, and what explains them."""

    model: str
    language: str
    scores: Mapping[str, float]
    published: Mapping[str, float]
    total: int
    head: str = ""
    touched: frozenset[str] = frozenset()

    @property
    def differing(self) -> set[str]:
        return {name for name, value in self.scores.items() if not is_close(value, self.published[name])}

    @property
    def gaps(self) -> list[float]:
        """The absolute differences of what no shifted batch touched."""
        names = self.scores.keys() - self.touched
        return [abs(self.scores[name] - self.published[name]) for name in names] or [0.0]


@cache
def check_candidates(sources: Sources, task: str) -> list[Checked]:
    """Every model and language that is scored so far, candidate by candidate."""
    rows = []
    for model, tag in STEREOSET_ROWS:
        intra = task == "intrasentence"
        scored, _ = sources.intra(model, tag) if intra else sources.inter(model, tag)
        if scored is None:
            continue
        shift = sources.shifts.get(f"{model} {tag}") if intra else None
        head = "recovered" if any("recovered" in note for note in scored.notes) else "the checkpoint's own"
        total = sum(len(item.candidates) for item in sources.items(task, tag))
        known = sources.published(model, tag)
        rows.append(Checked(model, tag, _scores(scored), known, total, head, frozenset(shift.touched if shift else ())))
    return rows


def intra_table(sources: Sources) -> str:
    """Candidate by candidate: how many agree, and what explains the others."""
    rows = []
    for row in check_candidates(sources, "intrasentence"):
        near = sum(is_close(value, row.published[name], within=1e-4) for name, value in row.scores.items())
        counts = [f"{len(row.scores):,} of {row.total:,}", f"{near:,}", str(len(row.differing))]
        counts += [str(len(row.differing & row.touched)), str(len(row.differing - row.touched))]
        rows.append([row.model, row.language, *counts, f"{max(row.gaps):.1e}"])
    heading = ["model", "language", "candidates scored", "within 1e-4 (relative)", "beyond 1e-3"]
    heading += ["of these explained by a shifted batch", "unexplained", "largest other difference"]
    return markdown(heading, rows, labels=2)


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
            weights = NOT_SCORED if scored is None else f"{len(scored):,} items so far"
        else:
            weights = _triple(measured(scored))
        predicted = _triple(measured(sources.predicted(model, task, tag)))
        rows.append([model, tag, weights, predicted, _triple(sources.printed(model, task[:5], tag))])
    if all(row[2] == NOT_SCORED for row in rows):
        return NOTHING
    return markdown(["model", "language", "from weights", "from predictions", "printed"], rows, labels=2)


def inter_table(sources: Sources) -> str:
    """Next-sentence scores, candidate by candidate."""
    rows = []
    for row in check_candidates(sources, "intersentence"):
        gaps = [f"{max(row.gaps):.1e}", f"{median(row.gaps):.1e}"]
        rows.append([row.model, row.language, row.head, f"{len(row.scores):,} of {row.total:,}", *gaps])
    heading = ["model", "language", "head", "pairs scored", "largest difference", "median"]
    return markdown(heading, rows, labels=3)


def crows_table(sources: Sources) -> str:
    """CrowS-Pairs' own score, its parts and its categories."""
    scored, whole = sources.scored(UNCASED, "en", method="crows", dataset="crows_pairs")
    if scored is None:
        return NOTHING
    rows = []
    for row in ig.measure(scored, metrics=list(PUBLISHED_CROWS), by=[], mode="paper"):
        rows.append([PARTS[row.metric], shown(row), str(PUBLISHED_CROWS[row.metric]), str(row.n), str(row.ties)])
    for row in ig.measure(scored, metrics=["crows"], by=["category"], mode="paper"):
        rows.append([row.group["category"], shown(row), "-", str(row.n), str(row.ties)])
    left = "" if whole else f"\n\nSo far {len(scored):,} of 1,508 pairs are scored."
    return markdown(["pairs", "from weights", "printed", "n", "ties"], rows) + left


def sentence_methods_table(sources: Sources) -> str:
    """PLL, AUL and AULA on the same pairs."""
    rows = []
    for method in ("crows", "pll", "aul", "aula"):
        scored, _ = sources.scored(UNCASED, "en", method=method, dataset="crows_pairs")
        if scored is not None:
            metric = "crows" if method == "crows" else "pair_score"
            measures = ig.measure(scored, metrics=[metric], by=[])
            rows += [[method, shown(row), str(row.n), str(row.ties)] for row in measures]
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
        ht = [shown(row) for row in ig.measure(pairs, metrics=["pair_score"], by=[])] if pairs else ["-"]
        measures = ig.measure(single, metrics=["mbe"], mode="paper")
        test = check_mbe(single, measures)[0]
        n = " + ".join(str(count) for count in test.sentences.values())
        value = format_value(test.value, (test.low, test.high))
        rows.append([model, tag, text, *ht, value, format_value(test.shuffled), p_value(test.p_permutation), n])
    heading = ["model", "language", "text", "Eq. 3 (HT)", "MBE", "Shf", "p (permutation)", "sentences"]
    return markdown(heading, rows, labels=3)


def _templates(sources: Sources, model: str, *, dataset: str = "templates", method: str = "pll") -> Scored | None:
    """All template sets that are wholly scored with the model so far."""
    wanted = {"model": model, "language": "en", "method": method, "dataset": dataset}
    runs = [run for run in find_runs(sources.runs) if all(run.info[name] == value for name, value in wanted.items())]
    runs = [run for run in runs if run.info.get("status") == "finished"]
    return read_scored(runs) if runs else None


def _values(scored: Scored | None, metric: str, *, sets: Sequence[str], mode: str) -> float | None:
    """The value over some sets; nothing where one of them is not there."""
    if scored is None or not set(sets) <= set(scored.table["set"]):
        return None
    chosen = Scored(scored.table.filter(scored.table["set"].is_in(list(sets))))
    return ig.measure(chosen, metrics=[metric], by=[], mode=mode, resamples=100)[0].value


@cache
def cb_cells(sources: Sources) -> list[tuple[str, list[float | None], float]]:
    """CB of each published template set and together, in three ways, beside the printed value."""
    uncased, cased = _templates(sources, UNCASED), _templates(sources, CASED)
    ways = [(uncased, "paper"), (cased, "paper"), (uncased, "corrected")]
    single = [_by_set(scored, mode) for scored, mode in ways]
    rows = [(name, [values.get(name) for values in single], printed) for name, printed in PRINTED_CB.items()]
    for title, (sets, printed) in TOGETHER.items():
        rows.append((title, [_values(scored, "cb", sets=sets, mode=mode) for scored, mode in ways], printed))
    return rows


def templates_table(sources: Sources) -> str:
    """CB of the template sets: uncased and cased, as published and corrected."""
    cells = cb_cells(sources)
    if all(value is None for _, values, _ in cells for value in values):
        return NOTHING
    rows = [[name, *map(format_value, values), f"{printed:.2f}"] for name, values, printed in cells]
    heading = ["sets", "uncased, as published", "cased, as published", "uncased, corrected", "printed"]
    return markdown(heading, rows)


def _by_set(scored: Scored | None, mode: str) -> dict[str, float | None]:
    measures = ig.measure(scored, metrics=["cb"], by=["set"], mode=mode, resamples=100) if scored else ()
    return {row.group["set"]: row.value for row in measures}


def divergence_table(sources: Sources) -> str:
    """The largest divergence between two terms' distributions at the concept, set by set; with and without Albania."""
    scored = _templates(sources, UNCASED, dataset="template_blanks", method="distribution")
    if scored is None:
        return NOTHING
    named = [pl.col(name).fill_null("").str.contains("albania") for name in ("candidate", "against")]
    fewer = Scored(scored.table.filter(~named[0] & ~named[1]))
    rows = []
    for name, printed in PRINTED_KL.items():
        values = [_values(one, "distribution_difference", sets=(name,), mode="paper") for one in (scored, fewer)]
        rows.append([name, *(format_value(value, form=".2e") for value in values), f"{printed:.2e}"])
    agree = [sum(row[column] == row[3] for row in rows) for column in (1, 2)]
    words = (
        f"{agree[0]} of {len(rows)} values agree to the last digit, {agree[1]} if the terms *Albanians* and *Albania* are "
        "left out: they are in the published lists and in the printed CB, but were apparently not yet in the list when the "
        "paper's Table 3 was computed."
    )
    return f"{markdown(['set', 'from weights', 'without Albania', 'printed'], rows)}\n\n{words}"


def top_table(sources: Sources) -> str:
    """The most probable terms of the two concepts that the paper's Table 4 shows, with their shares and the printed ones."""
    scored = _templates(sources, UNCASED)
    rows = []
    for (name, concept), printed in PRINTED_TOP.items():
        part = scored.table.filter((pl.col("set") == name) & (pl.col("concept") == concept)) if scored else None
        if part is None or not part.height:
            continue
        best = measure_shares(Scored(part), by=["set", "concept"], top=5, settings=IntervalSettings(resamples=100))
        terms = ", ".join(f"{row.group['term']} {format_value(row.value, form='.3f')}" for row in best)
        rows.append([name, concept, terms.replace("_", " "), printed])
    return markdown(["set", "concept", "terms and shares", "printed"], rows, labels=4) if rows else NOTHING


def negation_table(sources: Sources) -> str:
    """Whether preferences turn round between "It's better for … to be [MASK]" and "[MASK] shouldn't be …"."""
    scored = _templates(sources, UNCASED)
    if scored is None:
        return NOTHING
    table = scored.table.with_columns(pl.col("logprobs").list.sum().alias("total"))
    wide = table.filter(pl.col("set").is_in(["gender-1", "gender-2"])).pivot(
        "role", index=["set", "concept"], values="total"
    )
    shares = wide.with_columns(men=1 / (1 + (pl.col("women") - pl.col("men")).exp()))
    both = shares.pivot("set", index="concept", values="men").drop_nulls()
    kinds = {
        "men in both": ((both["gender-1"] > 0.5) & (both["gender-2"] > 0.5)).sum(),
        "women in both": ((both["gender-1"] < 0.5) & (both["gender-2"] < 0.5)).sum(),
    }
    kinds["turned round"] = both.height - sum(kinds.values())
    means = [f"{float(both[name].mean()):.2f}" for name in ("gender-1", "gender-2")]
    row = [str(both.height), *map(str, kinds.values()), *means]
    return markdown(["professions", *kinds, "mean share of men", "the same, negated"], [row])
