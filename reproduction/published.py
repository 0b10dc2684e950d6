"""What the published scores of all models show beyond the papers' tables: the blocks of docs/results/findings.md that need no weights."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import median

import polars as pl
import yaml

import isogloss as ig
from isogloss.analysis.alignment import align, mean_of
from isogloss.analysis.annotators import AGREE, compare_unanimous, join_agreement, measure_annotators
from isogloss.analysis.differences import Difference, paired_test
from isogloss.analysis.intervals import IntervalSettings
from isogloss.analysis.structure import find_structure
from isogloss.claims.files import read_claims
from isogloss.claims.verdicts import with_labels
from isogloss.items import ANNOTATORS
from isogloss.languages import describe
from isogloss.registry import get
from isogloss.reports.chart_data import find_ranks
from isogloss.reports.numbers import format_value, p_value
from isogloss.reports.text.claims import rank_grid
from isogloss.reports.text.table import Grid, as_markdown
from isogloss.stats.hypotheses import adjust_holm

from .tables import markdown
from .variance import find_components

CLAIMS = Path(__file__).parent.parent / "studies" / "claims"
LANGUAGES = ("en", "de", "tr", "fr", "es")
MULTILINGUAL = ("mBERT", "mGPT-2", "mT5")
DRAWING = IntervalSettings(resamples=2000)
Ends = tuple[float | None, float | None]


@dataclass(frozen=True)
class Published:
    """The published scores of all models under the labels of the tables, the annotated items, and items known to be wrong."""

    scored: ig.Scored
    items: ig.Items
    faults: frozenset[str]


def load_published(folder: Path) -> ig.Scored:
    """The published scores of every model and language of the paper's tables."""
    stems = yaml.safe_load((CLAIMS / "published_models.yaml").read_text(encoding="utf-8"))
    parts = []
    for tag in LANGUAGES:
        data = [str(folder / "stereoset" / f"{task}_{tag}.jsonl.gz") for task in ("intrasentence", "intersentence")]
        files = [folder / "predictions" / f"{stem}.json.gz" for stem in stems if stem.endswith(f"_{tag}")]
        parts.append(ig.load(files, data=data, languages=tag))
    return ig.join(*parts)


def load_nadeem(folder: Path) -> ig.Scored | None:
    """The scores that Nadeem et al. published of their own models; nothing where the folder lacks a model."""
    stems = yaml.safe_load((CLAIMS / "nadeem_models.yaml").read_text(encoding="utf-8"))
    data = [str(folder / "stereoset" / f"{task}_en.jsonl.gz") for task in ("intrasentence", "intersentence")]
    paths = {}
    for stem in stems:
        for name in (f"{stem}.json.gz", f"nadeem_{stem}.json.gz"):
            if (folder / "predictions" / name).is_file():
                paths[stem] = folder / "predictions" / name
    if len(paths) < len(stems):
        return None
    scored = {stem: ig.load(path, data=data, languages="en") for stem, path in paths.items()}
    parts = [replace(one, table=one.table.with_columns(model=pl.lit(stem))) for stem, one in scored.items()]
    return ig.join(*parts)


def is_here(folder: Path) -> bool:
    """Whether the published scores of all models and the annotated items are in a folder."""
    stems = yaml.safe_load((CLAIMS / "published_models.yaml").read_text(encoding="utf-8"))
    files = [*(f"predictions/{stem}.json.gz" for stem in stems), "stereoset/dev.json.gz"]
    return all((folder / name).is_file() for name in files)


@cache
def open_published(folder: Path) -> Published:
    """The published scores in a folder, read once."""
    file, scored = read_claims(CLAIMS / "ozturk2023.yaml"), load_published(folder)
    items = ig.read(str(folder / "stereoset" / "dev.json.gz"), language="en")
    labelled = replace(scored, table=with_labels(scored.table, file.facts)[0])
    return Published(labelled, items, frozenset(file.faults.items))


def signed(value: float, ends: Ends) -> str:
    return format_value(value, ends, form="+.1f")


def annotator_table(published: Published) -> str:
    """Alpha and AC1 by task and bias type, and the ends of the list of targets."""
    rows = []
    for by in ((), ("task",), ("category",)):
        for row in measure_annotators(published.items, by=by, resamples=DRAWING.resamples):
            alpha = format_value(row.alpha, (row.alpha_low, row.alpha_high))
            ac1 = format_value(row.ac1, (row.ac1_low, row.ac1_high))
            name = next(iter(row.group.values()), "all")
            rows.append([name, str(row.n), alpha, ac1, f"{100 * row.unanimous:.0f} %"])
    targets = sorted(measure_annotators(published.items, by=("target",), resamples=100), key=lambda row: row.alpha)
    low, high = (
        ", ".join(f"{row.group['target']} {row.alpha:.2f}" for row in end) for end in (targets[:3], targets[-3:])
    )
    heading = ["items", "n", "Krippendorff's alpha", "Gwet's AC1", "unanimous"]
    return f"{markdown(heading, rows).strip()}\n\nAlpha of single targets is lowest for {low}; highest for {high}."


def annotator_words(published: Published) -> str:
    """How the labels are spread over people, which an interval of their agreement has to cover."""
    given = Counter(name for item in published.items for name in item.tags[ANNOTATORS])
    counts = sorted(given.values(), reverse=True)
    tenth = 100 * sum(counts[: len(counts) // 10]) / sum(counts)
    return (
        f"{len(counts):,} people took part: half of them labeled at most {median(counts):.0f} items, and a tenth gave "
        f"{tenth:.0f} % of all labels. The intervals therefore resample both targets and people."
    )


def unanimous_summary(published: Published) -> str:
    """How much higher SS and LMS are on unanimous items, over all models."""
    scored = join_agreement(published.scored, published.items)
    rows = compare_unanimous(scored, metric="ss", resamples=DRAWING.resamples)
    holm = adjust_holm([1.0 if row.p is None else row.p for row in rows])
    up, clear = sum(row.difference > 0 for row in rows), sum(p <= 0.05 for p in holm)
    means = [f"* {_mean_difference(scored, metric, tag=tag)}" for metric in ("ss", "lms") for tag in (None, "en")]
    words = (
        f"SS is higher on unanimous items for {up} of {len(rows)} combinations of model and language; after adjustment (Holm), "
        f"{clear} of {len(rows)} differences {'is' if clear == 1 else 'are'} significant. Mean differences:"
    )
    return "\n".join([words, "", *means])


def unanimous_table(published: Published) -> str:
    """SS, LMS and ICAT of each model and language on unanimous items and on the others."""
    scored = join_agreement(published.scored, published.items)
    metrics = ("ss", "lms", "icat")
    compared = {name: compare_unanimous(scored, metric=name, resamples=DRAWING.resamples) for name in metrics}
    holm = adjust_holm([1.0 if row.p is None else row.p for row in compared["ss"]])
    rows = []
    for index, row in enumerate(compared["ss"]):
        values = [f"{value:.1f}" for value in (row.unanimous, row.others)]
        differences = [compared[name][index] for name in metrics]
        cells = [signed(each.difference, (each.low, each.high)) for each in differences]
        rows.append([row.group["model"], row.group["language"], *values, *cells, p_value(holm[index])])
    heading = ["model", "language", "SS unanimous", "SS others", "difference of SS", "of LMS", "of ICAT", "p (Holm)"]
    return markdown(heading, rows, labels=2)


def _mean_difference(scored: ig.Scored, metric: str, *, tag: str | None) -> str:
    """The mean difference over all models of a language, or of all languages, paired by target."""
    rows = scored.table if tag is None else scored.table.filter(pl.col("language") == tag)
    chosen = get("metric", metric)
    yes, no = (
        [cell for _, cell in rows.filter(pl.col(AGREE) == value).group_by("model", "language", maintain_order=True)]
        for value in ("yes", "no")
    )
    aligned = align([*yes, *no], [chosen] * (2 * len(yes)), mode="corrected")
    if aligned is None:
        return "no items in common"
    a, b = mean_of(aligned.sides[: len(yes)]), mean_of(aligned.sides[len(yes) :])
    test = paired_test(a, b, bounds=chosen.bounds, settings=DRAWING)
    shown = signed(a.value - b.value, (test.low, test.high))
    return f"{metric.upper()}, {len(yes)} models in {'English' if tag else 'all languages'}: {shown}, p = {p_value(test.p)}"


def likeness_table(published: Published) -> str:
    """Kappa between languages, item by item, for the multilingual models."""
    rows, scored = [], published.scored
    for task in ("intrasentence", "intersentence"):
        chosen = (pl.col("task") == task) & pl.col("model").is_in(MULTILINGUAL)
        for one in find_structure(replace(scored, table=scored.table.filter(chosen))):
            pairs = sorted((pair for pair in one.likeness if pair.kappa is not None), key=lambda pair: pair.kappa)
            ends = [
                f"{pair.a}, {pair.b}: {format_value(pair.kappa, (pair.kappa_low, pair.kappa_high))}"
                for pair in (pairs[0], pairs[-1])
            ]
            rows.append([one.group["model"], task, *ends, f"{sum(pair.kappa for pair in pairs) / len(pairs):.2f}"])
    return markdown(["model", "task", "least alike (kappa)", "most alike", "mean"], rows, labels=2)


def component_table(published: Published) -> str:
    """The variance components of the multilingual models in five languages."""
    scored = published.scored
    part = replace(scored, table=scored.table.filter(pl.col("model").is_in(MULTILINGUAL)))
    found = find_components(part, resamples=500)
    rows = [
        [row.name, f"{row.deviation:.1f}", format_value(100 * row.share, (100 * row.low, 100 * row.high))]
        for row in found
    ]
    head = f"{found[0].n} items about {found[0].targets} targets, three models in five languages:"
    return f"{head}\n\n{markdown(['source', 'standard deviation in points', 'share of the variance (%)'], rows)}"


def remaining_table(published: Published) -> str:
    """Differences of SS from English with all items, and without items that are doubtful in either language."""
    table = published.scored.table
    odd = table.filter(pl.col("problems").list.len() > 0) if "problems" in table.columns else table.clear()
    pairs = table.filter(pl.col("role").is_in(["stereotype", "anti-stereotype"]))
    key = ["model", "language", "id"]
    tied = pairs.group_by(key).agg(pl.col("value").n_unique().alias("values")).filter(pl.col("values") == 1)
    rows = []
    for model in MULTILINGUAL:
        for other in LANGUAGES[1:]:
            here = pl.col("language").is_in(["en", other])
            doubtful = {*odd.filter(here)["id"], *tied.filter(here & (pl.col("model") == model))["id"]}
            doubtful |= published.faults
            part = table.filter(here & (pl.col("model") == model))
            full = _english_minus(part, other)
            clean = _english_minus(part.filter(~pl.col("id").is_in(sorted(doubtful))), other)
            shown = [signed(value, (test.low, test.high)) for value, test, _ in (full, clean)]
            told = full[1].low is not None and full[1].high is not None and full[1].low * full[1].high > 0
            share = f"{100 * clean[0] / full[0]:.0f} %" if told else "-"
            rows.append([model, describe(other).name, *shown, share, f"{clean[2]} of {full[2]}"])
    heading = ["model", "English minus", "all items", "without doubtful items", "remains", "items"]
    return markdown(heading, rows, labels=2)


def _english_minus(table: pl.DataFrame, other: str) -> tuple[float, Difference, int]:
    metric = get("metric", "ss")
    sides = [table.filter(pl.col("language") == tag) for tag in ("en", other)]
    aligned = align(sides, [metric] * 2, mode="corrected")
    assert aligned is not None
    a, b = aligned.sides
    return a.value - b.value, paired_test(a, b, bounds=metric.bounds, settings=DRAWING), a.n


def rank_table(published: Published) -> str:
    """The models of each language by LMS and ICAT, over both tasks, with the interval of each rank."""
    ranks = find_ranks(published.scored, ("lms", "icat"), settings=DRAWING)
    whole = replace(
        ranks,
        rows=tuple(row for row in ranks if "task" not in row.group),
        notes=tuple(note for note in ranks.notes if "sentence)" not in note),
    )
    grid = rank_grid(whole)
    kept = [number for number, name in enumerate(grid.heading) if name not in ("dataset", "first", "last")]
    rows = [[row[number] for number in kept] for row in grid.rows]
    remarks = tuple(line for line in grid.remarks if not line.startswith("first and last"))
    return as_markdown(Grid([grid.heading[number] for number in kept], rows, grid.labels - 1, remarks))
