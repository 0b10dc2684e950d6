"""Write the parts of docs/findings.md that come from published scores and StereoSet's annotators; part of `make claims`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import polars as pl
from make_claims import CLAIMS, LANGUAGES, ROOT, find_data, load_published

import isogloss as ig
from isogloss.analysis.alignment import align, mean_of
from isogloss.analysis.annotators import AGREE, compare_unanimous, join_agreement, measure_annotators
from isogloss.analysis.claim_files import read_claims
from isogloss.analysis.claims import with_labels
from isogloss.analysis.differences import paired_test
from isogloss.analysis.intervals import IntervalSettings
from isogloss.analysis.structure import find_structure
from isogloss.analysis.variance import find_components
from isogloss.languages import describe
from isogloss.registry import get
from isogloss.stats.hypotheses import adjust_holm

PAGE = ROOT / "docs" / "findings.md"
START, END = "<!-- published scores: start -->", "<!-- published scores: end -->"
MULTILINGUAL = ("mBERT", "mGPT-2", "mT5")
DRAWING = IntervalSettings(resamples=2000)


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [heading, ["---"] * len(heading), *rows])


def span(low: float | None, high: float | None, form: str = ".1f") -> str:
    """An interval, or a dash."""
    return "-" if low is None or high is None else f"{low:{form}} to {high:{form}}"


def show_annotators(items: ig.Items) -> str:
    """Alpha and AC1 by task, bias type and target."""
    rows = []
    for by in ((), ("task",), ("category",)):
        for one in measure_annotators(items, by=by, resamples=2000):
            name = next(iter(one.group.values()), "all")
            alpha, ac1 = span(one.alpha_low, one.alpha_high, ".2f"), span(one.ac1_low, one.ac1_high, ".2f")
            rows.append(
                [
                    name,
                    str(one.n),
                    f"{one.alpha:.2f} ({alpha})",
                    f"{one.ac1:.2f} ({ac1})",
                    f"{100 * one.unanimous:.0f} %",
                ]
            )
    targets = sorted(measure_annotators(items, by=("target",), resamples=100), key=lambda one: one.alpha)
    ends = ", ".join(f"{one.group['target']} {one.alpha:.2f}" for one in targets[:3]) + "; highest: "
    ends += ", ".join(f"{one.group['target']} {one.alpha:.2f}" for one in targets[-3:])
    heading = ["items", "n", "Krippendorff's alpha (95 % CI)", "Gwet's AC1 (95 % CI)", "unanimous"]
    return f"{table(heading, rows)}\n\nAlpha of single targets runs from {targets[0].alpha:.2f} to {targets[-1].alpha:.2f}; lowest: {ends}."


def show_unanimous(scored: ig.Scored) -> str:
    """SS, LMS and ICAT of each model and language on unanimous items beside the others."""
    found = {
        metric: compare_unanimous(scored, metric=metric, resamples=DRAWING.resamples)
        for metric in ("ss", "lms", "icat")
    }
    holm = adjust_holm([1.0 if one.p is None else one.p for one in found["ss"]])
    rows = []
    for number, one in enumerate(found["ss"]):
        others = [found[name][number] for name in ("lms", "icat")]
        cells = [f"{row.difference:+.1f} ({span(row.low, row.high, '+.1f')})" for row in (one, *others)]
        rows.append(
            [
                one.group["model"],
                one.group["language"],
                f"{one.unanimous:.1f}",
                f"{one.others:.1f}",
                *cells,
                f"{holm[number]:.2g}",
            ]
        )
    heading = [
        "model",
        "language",
        "SS unanimous",
        "SS others",
        "difference of SS",
        "of LMS",
        "of ICAT",
        "Holm p of SS",
    ]
    up = sum(one.difference > 0 for one in found["ss"])
    clear = sum(p <= 0.05 for p in holm)
    means = [f"* {mean_difference(scored, metric=metric, tag=tag)}" for metric in ("ss", "lms") for tag in (None, "en")]
    words = f"SS is higher on unanimous items in {up} of {len(rows)} models and languages; {clear} of the differences {'survives' if clear == 1 else 'survive'} Holm's adjustment. Mean differences:"
    return "\n".join([words, "", *means, "", table(heading, rows)])


def mean_difference(scored: ig.Scored, *, metric: str, tag: str | None) -> str:
    """The mean difference over all models of a language, or of all languages, paired by target."""
    rows = scored.table if tag is None else scored.table.filter(pl.col("language") == tag)
    sides = []
    chosen = get("metric", metric)
    for value in ("yes", "no"):
        part = rows.filter(pl.col(AGREE) == value)
        sides.append([cell for _, cell in part.group_by("model", "language", maintain_order=True)])
    count = len(sides[0])
    aligned = align([*sides[0], *sides[1]], [chosen] * (2 * count), mode="corrected")
    if aligned is None:
        return "no items in common"
    a, b = mean_of(aligned.sides[:count]), mean_of(aligned.sides[count:])
    test = paired_test(a, b, bounds=chosen.bounds, settings=DRAWING)
    where = "English" if tag else "all languages"
    return f"{metric.upper()}, {count} models in {where}: {a.value - b.value:+.1f} points (95 % CI {span(test.low, test.high, '+.1f')}, p = {test.p:.2g})"


def show_alike(scored: ig.Scored) -> str:
    """Kappa between languages, item by item, for the multilingual models."""
    rows = []
    for task in ("intrasentence", "intersentence"):
        part = replace(
            scored, table=scored.table.filter((pl.col("task") == task) & pl.col("model").is_in(MULTILINGUAL))
        )
        for one in find_structure(part):
            kappas = sorted((two for two in one.likeness if two.kappa is not None), key=lambda two: two.kappa)
            low, high = kappas[0], kappas[-1]
            cells = [
                f"{two.a}, {two.b}: {two.kappa:.2f} ({span(two.kappa_low, two.kappa_high, '.2f')})"
                for two in (low, high)
            ]
            rows.append([one.group["model"], task, *cells, f"{sum(two.kappa for two in kappas) / len(kappas):.2f}"])
    return table(["model", "task", "least alike (kappa)", "most alike", "mean"], rows)


def show_components(scored: ig.Scored) -> str:
    """The variance components of the multilingual models in five languages."""
    part = replace(scored, table=scored.table.filter(pl.col("model").is_in(MULTILINGUAL)))
    found = find_components(part, resamples=500)
    rows = [
        [one.name, f"{one.deviation:.1f}", f"{100 * one.share:.2f} %", f"{100 * one.low:.2f} to {100 * one.high:.2f} %"]
        for one in found
    ]
    head = f"{found[0].n} items about {found[0].targets} targets, three models in five languages:"
    return f"{head}\n\n{table(['source', 'standard deviation in points', 'share of the variance', '95 % CI'], rows)}"


def show_remaining(scored: ig.Scored, faults: frozenset[str]) -> str:
    """Differences of SS from English with all items, and without items that are doubtful in either language."""
    odd = (
        scored.table.filter(pl.col("problems").list.len() > 0)
        if "problems" in scored.table.columns
        else scored.table.clear()
    )
    bad = {tag: set(odd.filter(pl.col("language") == tag)["id"]) for tag in LANGUAGES}
    roles = scored.table.filter(pl.col("role").is_in(["stereotype", "anti-stereotype"]))
    ties = (
        roles.group_by("model", "language", "id")
        .agg(pl.col("value").n_unique().alias("values"))
        .filter(pl.col("values") == 1)
    )
    metric, rows = get("metric", "ss"), []
    for model, (tag, other) in (
        (m, pair) for m in MULTILINGUAL for pair in combinations(LANGUAGES, 2) if pair[0] == "en"
    ):
        cells = [
            scored.table.filter((pl.col("model") == model) & (pl.col("language") == name)) for name in (tag, other)
        ]
        tied = set(ties.filter((pl.col("model") == model) & pl.col("language").is_in([tag, other]))["id"])
        doubtful = bad[tag] | bad[other] | faults | tied
        shown = []
        for part in (cells, [cell.filter(~pl.col("id").is_in(sorted(doubtful))) for cell in cells]):
            aligned = align(part, [metric] * 2, mode="corrected")
            if aligned is None:
                continue
            a, b = aligned.sides
            test = paired_test(a, b, bounds=metric.bounds, settings=DRAWING)
            shown.append((a.value - b.value, test.low, test.high, a.n))
        full, clean = shown
        share = f"{100 * clean[0] / full[0]:.0f} %" if full[1] is not None and full[1] * full[2] > 0 else "-"
        rows.append(
            [
                model,
                describe(other).name,
                *(f"{one[0]:+.1f} ({span(one[1], one[2], '+.1f')})" for one in shown),
                share,
                f"{clean[3]} of {full[3]}",
            ]
        )
    return table(["model", "English minus", "all items", "without doubtful items", "remains", "items"], rows)


def show_ranks(scored: ig.Scored) -> str:
    """For each language the models that may have the best ICAT, and those that may have the worst."""
    rows = []
    for metric in ("lms", "icat"):
        ranks = ig.rank_models(scored, metric=metric, resamples=1000)
        for tag in LANGUAGES:
            own = [row for row in ranks if row.group["language"] == tag]
            order = ", ".join(f"{row.model} {row.value:.1f} ({row.low}-{row.high})" for row in own)
            best, worst = (
                ", ".join(r.model for r in own if getattr(r, name)) for name in ("may_be_best", "may_be_worst")
            )
            rows.append([metric.upper(), describe(tag).name, order, best, worst])
    return table(
        ["metric", "language", "models with value and interval of the rank", "may be the best", "may be the worst"],
        rows,
    )


TEXT = """\
## Do people agree that it is a stereotype?

StereoSet has five annotators' labels for each of its 12,687 candidates, and the label of the data set is their majority. How far do they agree?

{annotators}

*Unanimous* means that all five gave one label to the stereotype, and all five one label to the anti-stereotype. Is the published bias diluted by items that people do not agree on?
Items have the same ids in all languages, so the agreement of the English annotators can be joined to the translations.

{unanimous}

What this does not show: that unanimous items are better items, since clear stereotypes may also be worded more simply; or that people who read the translations would agree on the same ones.
Few of the 1,808 annotators labelled most of the data, and the intervals cover other targets, not other annotators.

## How far do languages agree, item by item?

Kappa of the preferences (stereotype or anti-stereotype) of one model for the same item in two languages: 0 is chance, 1 is always the same.

{alike}

## How much is the language?

{components}

*Item and language* is what an item changes between languages for all three models alike, which is above all its translation. The *rest* contains what a model does with one item in one language and nothing else explains.
A component of the language itself that is near zero does not mean that languages do not matter: it means that they matter item by item, not as a level.

## What remains without doubtful items?

The difference of SS between English and another language, with all items and without those that a check finds odd in either language, that tie, or that follow an item with two BLANKs (whose batch was scored wrongly).

{remaining}

## Who is best?

Ranks by the published scores, with 95 % intervals over targets. A model *may be the best* if no other is shown to be better (paired tests, Holm over all pairs).

{ranks}
"""


def main() -> None:
    """Write the section between its markers, at the end of the page if it has none."""
    folder, file = find_data(), read_claims(CLAIMS / "ozturk2023.yaml")
    scored = load_published(folder)
    scored = replace(scored, table=with_labels(scored.table, file.facts)[0])
    items = ig.read(str(folder / "stereoset" / "dev.json.gz"), language="en")
    text = TEXT.format(
        annotators=show_annotators(items),
        unanimous=show_unanimous(join_agreement(scored, items)),
        alike=show_alike(scored),
        components=show_components(scored),
        remaining=show_remaining(scored, file.faults.items),
        ranks=show_ranks(scored),
    )
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else "# Findings\n"
    before, _, rest = page.partition(START)
    after = rest.partition(END)[2] or "\n"
    Path(PAGE).write_text(f"{before.rstrip()}\n\n{START}\n\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
