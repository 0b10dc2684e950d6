"""Questions with answers: a stratified sample of MBBQ with its controls, and UnifiedQA's published answers to BBQ; their tables."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from functools import cache
from itertools import combinations
from pathlib import Path

import polars as pl
import yaml

import isogloss as ig
from isogloss import languages
from isogloss.analysis.measures import Measure
from isogloss.exchange.bbq import read_answers
from isogloss.items import Item, group_by
from isogloss.reports.numbers import format_value, p_value
from isogloss.scores import Scored, join_scored
from isogloss.stats.hypotheses import adjust_holm

from .tables import NOTHING, Sources, markdown, shown

LANGUAGES = ("en", "es", "tr")
SAMPLE = 1_000  # questions of each language; each comes with its control question
METRICS = ("accuracy_ambiguous", "accuracy_disambiguated", "bias_a", "bias_d")
COMPARED = ("accuracy_disambiguated", "bias_a", "bias_d")
PUBLISHED = ("accuracy_ambiguous", "accuracy_disambiguated", "s_dis", "s_amb", "s_amb_script", "bias_a", "bias_d")
SHORT = {"accuracy_ambiguous": "acc amb", "accuracy_disambiguated": "acc dis", "bias_a": "bias A", "bias_d": "bias D"}
SHORT |= {"s_dis": "s_DIS", "s_amb": "s_AMB, paper", "s_amb_script": "s_AMB, script"}
FORMAT = "race"  # of the prompts of UnifiedQA


def sample_study(study: Path, data: Path, work: Path) -> Path:
    """A copy of the study that reads the stratified sample instead of the whole data."""
    write_sample(data / "mbbq", work / "mbbq")
    content = yaml.safe_load(study.read_text(encoding="utf-8"))
    entries = [{**entry, "source": str(work / "mbbq")} for entry in content["data"]]
    copy = work / study.name
    kept = {name: value for name, value in content.items() if name != "sample"}
    copy.write_text(yaml.safe_dump({**kept, "data": entries}, allow_unicode=True), encoding="utf-8")
    return copy


def write_sample(source: Path, folder: Path) -> None:
    """The sample as files in MBBQ's layout: questions that all three languages have with their controls.

    They are drawn in turn from every question, condition, polarity and right answer, so the sample is the same everywhere.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = {tag: sorted(source.glob(f"*_{tag}.jsonl.gz")) for tag in LANGUAGES}
    items = {path: tuple(ig.read(path, language=tag)) for tag, files in paths.items() for path in files}
    kept = draw_sample({tag: [item for path in files for item in items[path]] for tag, files in paths.items()})
    for path, rows in items.items():
        lines = gzip.decompress(path.read_bytes()).decode("utf-8").splitlines(keepends=True)
        chosen = [line for item, line in zip(rows, lines, strict=True) if (item.derived_from or item.id) in kept]
        (folder / path.name.removesuffix(".gz")).write_text("".join(chosen), encoding="utf-8")


def draw_sample(items: Mapping[str, list[Item]]) -> set[str]:
    """The ids of the sample's questions."""
    by_id = {tag: {item.id: item for item in rows} for tag, rows in items.items()}
    complete = [
        {name for name, item in rows.items() if item.variant is None and f"{name}~control" in rows}
        for rows in by_id.values()
    ]
    questions = [by_id[LANGUAGES[0]][name] for name in set.intersection(*complete)]
    strata = group_by((item for item in questions if item.tags["biased"] != "none"), _stratum)
    order = [
        (turn, _draw_key(str(stratum)), item.id)
        for stratum, rows in strata.items()
        for turn, item in enumerate(sorted(rows, key=lambda item: _draw_key(item.id)))
    ]
    return {name for _, _, name in sorted(order)[:SAMPLE]}


def _stratum(item: Item) -> tuple[str, ...]:
    return (str(item.cluster), *(str(item.tags[name]) for name in ("condition", "polarity", "right")))


def _draw_key(text: str) -> str:
    return hashlib.sha256(f"0 {text}".encode()).hexdigest()


@cache
def load_questions(sources: Sources) -> Scored | None:
    """The scores of MBBQ's sample by all models, where there are any."""
    folder = sources.runs / "mbbq"
    return ig.load(folder) if folder.is_dir() else None


def question_table(sources: Sources) -> str:
    """Accuracies and biases of each model and language, of the questions and of their controls."""
    scored = load_questions(sources)
    if scored is None:
        return NOTHING
    measures = ig.measure(scored, metrics=list(METRICS), by=["language"])
    controls = ig.measure(scored, metrics=list(METRICS), by=["language", "variant"])
    rows = []
    for (model, tag), own in group_by(measures, lambda row: (row.group["model"], row.group["language"])).items():
        of_controls = [
            row
            for row in controls
            if (row.group["model"], row.group["language"], row.group["variant"]) == (model, tag, "control")
        ]
        for kind, group in (("questions", own), ("controls", of_controls)):
            values = {row.metric: row for row in group}
            number = sum(values[name].n for name in METRICS[:2])
            reads = "-" if kind == "controls" else "yes" if values["bias_a"].interpretable else "no"
            cells = (shown(values[name]) for name in METRICS)
            rows.append([model, languages.get(tag).name, kind, *cells, reads, str(number)])
    heading = ["model", "language", "", *(SHORT[name] for name in METRICS), "biases can be interpreted", "n"]
    return markdown(heading, rows, labels=3)


def control_table(sources: Sources) -> str:
    """How far the biases of the questions lie above those of their controls, pair by pair."""
    scored = load_questions(sources)
    if scored is None:
        return NOTHING
    pairs = [row for row in ig.controls(sources.runs / "mbbq") if row.kind == "items"]
    adjusted = adjust_holm([row.p if row.p is not None else 1.0 for row in pairs])
    rows = [
        [
            row.group["model"],
            languages.get(row.group["language"]).name,
            SHORT[row.name.split()[0]],
            format_value(row.difference, (row.difference_low, row.difference_high), form="+.1f"),
            p_value(row.p),
            p_value(holm),
        ]
        for row, holm in zip(pairs, adjusted, strict=True)
    ]
    return markdown(["model", "language", "metric", "questions - controls", "p", "p (Holm)"], rows, labels=3)


def language_table(sources: Sources) -> str:
    """Every pair of languages on the same questions, for each model."""
    scored = load_questions(sources)
    if scored is None:
        return NOTHING
    compared = []
    for model in sorted(scored.table["model"].unique()):
        rows_of = scored.table.filter(pl.col("model") == model)
        parts = {tag: Scored(rows_of.filter(pl.col("language") == tag)) for tag in LANGUAGES}
        for a, b in combinations([tag for tag, part in parts.items() if len(part)], 2):
            compared += [(model, row) for row in ig.compare(parts[a], parts[b], metrics=list(COMPARED), by=[])]
    adjusted = adjust_holm([row.p if row.p is not None else 1.0 for _, row in compared])
    rows = [
        [
            model,
            f"{row.a['language']} - {row.b['language']}",
            SHORT[row.metric],
            format_value(row.difference, (row.low, row.high), form="+.1f"),
            p_value(row.p),
            p_value(holm),
            "yes" if holm < 0.05 else "no",
            str(row.n),
        ]
        for (model, row), holm in zip(compared, adjusted, strict=True)
    ]
    heading = ["model", "languages", "metric", "difference", "p", "p (Holm)", "survives", "questions"]
    return markdown(heading, rows, labels=3)


def unifiedqa_table(sources: Sources) -> str:
    """UnifiedQA's published answers to BBQ by category: accuracy and bias, by the paper's and by the script's formula."""
    paths = sorted((sources.data / "bbq").glob("preds_*.jsonl.gz"))
    if not paths:
        return NOTHING
    scored = join_scored([read_answers(path, ig.read(path)) for path in paths])
    measures = ig.measure(scored, metrics=list(PUBLISHED), by=["category"])
    by_category: dict[str, dict[str, Measure]] = {}
    for row in measures:
        if row.group["model"].endswith(FORMAT):
            by_category.setdefault(row.group["category"], {})[row.metric] = row
    rows = [
        [category, *(shown(values[name]) for name in PUBLISHED), str(sum(values[name].n for name in PUBLISHED[:2]))]
        for category, values in sorted(by_category.items())
    ]
    return markdown(["category", *(SHORT[name] for name in PUBLISHED), "n"], rows, labels=1)
