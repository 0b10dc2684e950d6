"""Test the claims of published papers; `make claims` (`python -m reproduction.claims`) writes docs/results/claims.md, its figure and docs/dev/claims-record.md.

It needs the published data, as a folder in ISOGLOSS_REAL_DATA or next to the project in ../shared/data, and what NEEDS names. Where
something is missing, or with --check, nothing is written: the papers that can be tested are compared with the pages.
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections import Counter
from pathlib import Path

import polars as pl

import isogloss as ig
from isogloss.claims.files import read_claims
from isogloss.claims.verdicts import (
    CONTRADICTED,
    NO_TEST,
    NOT_INTERPRETABLE,
    NOT_TESTABLE,
    SUPPORTED,
    UNDECIDED,
    ClaimsFile,
    ClaimVerdict,
)
from isogloss.reports.text.claims import (
    count_verdicts,
    explain_claim,
    left_out_line,
    robustness_line,
)
from isogloss.runs import find_runs, read_scored

from .published import CLAIMS, load_nadeem, load_published

ROOT = Path(__file__).parent.parent
PAGE, FIGURE = ROOT / "docs" / "results" / "claims.md", ROOT / "docs" / "assets" / "claims.svg"
RECORD = ROOT / "docs" / "dev" / "claims-record.md"
FILES = ("ozturk2023", "nadeem2021", "behnamghader2022", "kaneko2022", "shades2025")
NEEDS = {  # what the folder of the published data need not hold
    "nadeem2021": "the scores of all nine models in its folder predictions (`isogloss data pull nadeem_predictions`)",
    "behnamghader2022": "the templates of bert-base-uncased among the runs of `make reproduce`",
    "kaneko2022": "the sentences with AULA among the runs of `make reproduce`",
}
NEGATION = {"gender-1": "statement", "gender-2": "negation"}
COLOURS = {
    SUPPORTED: "#0072b2",
    CONTRADICTED: "#d55e00",
    UNDECIDED: "#777777",
    NOT_INTERPRETABLE: "#cc79a7",
    NO_TEST: "#e69f00",
}

OPENING = """\
# Which claims survive?

Papers about stereotypes in several languages draw conclusions such as "English models are the most biased".
This page tests such sentences with the scores that the authors published and, where a paper published none, with [trained weights](reproducing.md#from-trained-weights).
Öztürk et al., who released every score, call their conclusions tentative.

{counts}

**Verdicts are adjusted for all claims of a paper that have a p-value**, by Holm's method: the chance of *one or more* false verdicts in a paper is at most 5 %, so each verdict can be quoted by itself.
By Benjamini and Hochberg's method (BH), at most 5 % of the *verdicts* are expected to be false, which suits an overview.
{difference}

**Scores that are known to be wrong are left out first.** {faults}
A claim over both tasks is not tested on one task alone. [With these scores](../dev/claims-record.md#what-the-wrong-scores-would-change), {changed} would change.

![Each claim's deciding comparison with its 95 % confidence interval, in the direction of the claim](../assets/claims.svg)

*Values to the right of zero agree with the claim. Bars are 95 % confidence intervals over targets, before the adjustment for the number of claims.*

Each claim is written in the [claim language](../how-to/gate.md#the-language) in `studies/claims`, and tested on the items that all sides have.
We show the deciding comparison: the weakest one if the scores lean toward the claim, otherwise the strongest against it.
*Robust* counts the variants with the same verdict: paper mode; without a task, a bias type or ties; with the scores that are known to be wrong.
Where only a stricter reading of a sentence can be tested (*in every language* instead of *most*), a contradiction of that reading leaves the claim undecided.
[Claims and CI gates](../how-to/gate.md#verdicts) defines the verdicts; [the record](../dev/claims-record.md) has each claim's sentence, formula, p-values and notes, and says why some cannot be tested.

## What this page does not say

* *Undecided* does not mean false: {targets} targets are too few to settle a difference of this size. The record gives the smallest difference that would have been detected reliably.
* A claim is about these models, these items and these translations ([what an interval covers](../explanation/statistics.md#what-an-interval-is-over)).
* A verdict is about our reading of a sentence; where the sentence says "similar" or "much", the margin is ours.
* *Not interpretable* describes a model on these items, under a [rule](../explanation/statistics.md#when-a-score-can-be-interpreted) newer than the papers. {limits}
* A claim that survives is not an explanation, and a score is not a harm.
"""

RECORD_OPENING = """\
# Claims of published papers: the record

Every claim of [Which claims survive?](../results/claims.md) with its sentence, verdict, formula, p-values and notes.

## What the wrong scores would change

| claim of Öztürk et al. | without them | with them |
| --- | --- | --- |
{rows}
"""


def find_data() -> Path:
    """The folder with the published data."""
    for folder in (os.environ.get("ISOGLOSS_REAL_DATA"), ROOT.parent / "shared" / "data"):
        if folder and (Path(folder) / "predictions").is_dir():
            return Path(folder)
    sys.exit("The published data is not here. Set ISOGLOSS_REAL_DATA to the folder that holds it.")


def load_weights(runs: Path) -> dict[str, ig.Scored]:
    """By claims file, the scores of trained weights that are finished: gendered sentences, and professions with and without a negation."""
    done = [run for run in find_runs(runs) if run.info["status"] == "finished"] if runs.is_dir() else []
    sentences = [run for run in done if (run.info["dataset"], run.info["method"]) == ("sentences", "aula")]
    templates = [run for run in done if (run.info["dataset"], run.info["model"]) == ("templates", "bert-base-uncased")]
    found = {"kaneko2022": ig.Scored(read_scored(sentences).table)} if sentences else {}
    rows = read_scored(templates).table if templates else None
    if rows is not None and set(NEGATION) <= set(rows["set"]):
        rows = rows.filter(pl.col("set").is_in(list(NEGATION))).select(
            *("model", "method", "language", "id", "candidate", "against", "quantity", "family"),
            dataset=pl.lit("professions"),
            category=pl.lit("gender"),
            cluster="concept",
            task=pl.col("set").replace_strict(NEGATION),
            role=pl.col("role").replace_strict({"men": "stereotype", "women": "anti-stereotype"}),
            value=pl.col("logprobs").list.sum(),
        )
        found["behnamghader2022"] = ig.Scored(rows)
    return found


def capital(name: str) -> str:
    """The name with a capital letter, unless it begins with a model's name such as mBERT."""
    return name if name[1:2].isupper() else name[0].upper() + name[1:]


def as_table(result: ig.GateResult) -> str:
    """One paper: a row for each claim with its place, its verdict and the deciding comparison; what cannot be tested in one line."""
    lines = [f"## {result.title}", ""]
    tested = [one for one in result.verdicts if one.status != NOT_TESTABLE]
    if tested:
        lines += ["| claim | where | verdict | deciding comparison | robust |", "| --- | --- | --- | --- | --- |"]
    for one in tested:
        same = sum(status == one.status for status in one.robustness.values())
        robust = f"{same}/{len(one.robustness)}" if one.robustness else ""
        lines.append(f"| {capital(one.name)} | {place_of(one)} | {one.status} | {as_difference(one)} | {robust} |")
    others = [f"{capital(one.name)} ({place_of(one)})" for one in result.verdicts if one.status == NOT_TESTABLE]
    if others:
        lines += [*([""] if tested else []), f"{NOT_TESTABLE.capitalize()}: {'; '.join(others)}."]
    return "\n".join([*lines, ""])


def place_of(one: ClaimVerdict) -> str:
    """Where in its paper the claim is."""
    return one.source.partition("), ")[2] or one.source.removeprefix("SHADES, ")


def as_difference(one: ClaimVerdict) -> str:
    """The deciding comparison with its interval; nothing where there is no verdict."""
    part = one.part
    if part is None or part.difference is None or one.status not in (SUPPORTED, CONTRADICTED, UNDECIDED):
        return ""
    over_groups = part.design == "over groups"
    value = f"{part.difference + float(part.b):.2f}" if over_groups else f"{part.difference:+.1f}"
    return value if part.low is None or part.high is None else f"{value} [{part.low:+.1f}, {part.high:+.1f}]"


def as_section(result: ig.GateResult) -> str:
    """One paper: its claims, each with verdict, numbers and plain words."""
    lines = [f"## {result.title}", "", f"{count_verdicts(result).capitalize()}.", ""]
    for one in result.verdicts:
        lines += [f"### {capital(one.name)}", "", f"{one.sentence} ({one.source})", ""]
        lines += [f"**{one.status.capitalize()}.** {explain_claim(one)}", ""]
        if one.parts:
            tested = one.p is not None and one.status != NOT_INTERPRETABLE
            other = f" ({one.status_bh})" if one.status_bh != one.status else ""
            numbers = f" p = {one.p:.2g}, Holm {one.p_holm:.2g}, BH {one.p_bh:.2g}{other}." if tested else ""
            lines += [
                f"`{one.says}`: {one.held} of {one.parts} comparisons hold by themselves, {one.opposed} {'is' if one.opposed == 1 else 'are'} the other way round.{numbers}",
                "",
            ]
        lines += [left_out_line(one), ""] if left_out_line(one) else []
        robust = robustness_line(one)
        lines += [f"Robustness: {robust}.", ""] if robust else []
        lines += [f"*{one.note}*", ""] if one.note else []
    return "\n".join(lines)


def draw(results: list[ig.GateResult]) -> None:
    """The figure: the deciding comparison of each claim in the claim's direction."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    mpl.rcParams |= {"svg.hashsalt": "isogloss", "svg.fonttype": "none"}
    rows = [
        one
        for result in results
        for one in result.verdicts
        if one.part is not None and one.part.low is not None and one.part.design != "over groups"
    ]
    figure, axes = plt.subplots(figsize=(9, 0.24 * len(rows) + 1.2))
    for index, one in enumerate(reversed(rows)):
        part, colour = one.part, COLOURS.get(one.status, "#777777")
        ends = sorted(part.sign * (end - part.shift) for end in (part.low, part.high))
        axes.plot(ends, [index, index], color=colour, linewidth=2)
        axes.plot(part.sign * (part.difference - part.shift), index, "o", color=colour, markersize=4)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(rows)), [textwrap.shorten(one.name, 60) for one in reversed(rows)], fontsize=7)
    axes.set_xlabel("points in the direction of the claim (deciding comparison, 95 % confidence interval)", fontsize=8)
    axes.tick_params(axis="x", labelsize=7)
    axes.margins(y=0.01)
    for name, colour in COLOURS.items():
        axes.plot([], [], color=colour, linewidth=2, label=name)
    axes.legend(fontsize=7, loc="upper left", frameon=False)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(FIGURE, metadata={"Date": None})


def summarise(results: list[ig.GateResult], file: ClaimsFile) -> dict[str, str]:
    """The sentences of the page's head: both kinds of adjustment, what is left out and what it would change, and other limits."""
    rows = [f"* {one.title.partition(': ')[0]}: {count_verdicts(one)}" for one in results]
    claims = [one for result in results for one in result.verdicts]
    moved = [one for one in claims if one.status_bh and one.status_bh != one.status]
    decided = Counter(one.status_bh for one in moved)
    moves = ", ".join(f"{count} {status}" for status, count in decided.items())
    first = results[0].verdicts
    with_faults = [(one, one.robustness.get("with known faults", one.status)) for one in first]
    changed = [f"| {one.name} | {one.status} | {status} |" for one, status in with_faults if status != one.status]
    names = [" ".join(selector.value for selector in group) for group in file.faults.groups]
    limits = [note for note in results[0].notes if "competence limit" in note]
    return {
        "counts": "\n".join(rows),
        "difference": f"Of the {len(claims)} claims, BH decides {len(moved)} that Holm leaves undecided ({moves}).",
        "faults": f"For Öztürk et al., these are {'; '.join(names)}; and the {len(file.faults.items)} items that follow the two with two BLANKs. "
        "[Published numbers](reproducing.md#rows-that-cannot-be-trusted) has the evidence.",
        "changed": f"{len(changed)} of {len(first)} verdicts",
        "rows": "\n".join(changed),
        "limits": f"For Öztürk et al., {limits[0]}." if limits else "",
    }


def compare_with_pages(results: dict[str, ig.GateResult]) -> dict[str, bool]:
    """Whether the table and the record of each paper are what the pages have."""
    page, record = PAGE.read_text(encoding="utf-8"), RECORD.read_text(encoding="utf-8")
    return {
        name: as_table(result) in page and as_section(result).rstrip() in record for name, result in results.items()
    }


def main(resamples: int, runs: Path, check: bool) -> None:
    """Test all files and write both pages, or compare what can be tested with them."""
    folder = find_data()
    sources = {"nadeem2021": load_nadeem(folder), **load_weights(runs)}
    missing = [name for name in NEEDS if sources.get(name) is None]
    tested = [name for name in FILES if name not in missing]
    files = {name: read_claims(CLAIMS / f"{name}.yaml") for name in tested}
    published = load_published(folder)
    results = {
        name: ig.gate(sources.get(name) or published, file, robustness=True, resamples=resamples)
        for name, file in files.items()
    }
    if not missing and not check:
        return write_pages(results, files["ozturk2023"], resamples=resamples)
    same = compare_with_pages(results)
    lines = [f"{name}: {'as' if equal else 'not as'} on the pages" for name, equal in same.items()]
    lines += [f"{name}: not tested; it needs {NEEDS[name]}" for name in missing]
    print("\n".join([*lines, "Nothing was written."]))
    sys.exit(0 if all(same.values()) and (check or not missing) else 1)


def write_pages(results: dict[str, ig.GateResult], file: ClaimsFile, *, resamples: int) -> None:
    """Write the page, its figure and the record."""
    first, every = results["ozturk2023"], list(results.values())
    targets = max(part.clusters for one in first.verdicts for part in one.details)
    words = summarise(every, file)
    head = OPENING.format(targets=targets, **words)
    hashes = "\n".join(f"* `{name}.yaml`: {result.sha256[:12]}" for name, result in results.items())
    files = (
        f"## Files\n\nTested on {first.tested} with {resamples:,} resamples. Hashes of the claims files:\n\n{hashes}\n"
    )
    PAGE.write_text("\n".join([head, *map(as_table, every)]).rstrip() + "\n", encoding="utf-8")
    record = [RECORD_OPENING.format(**words), files, *map(as_section, every)]
    RECORD.write_text("\n".join(record).rstrip() + "\n", encoding="utf-8")
    draw(every)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--runs", type=Path, default=ROOT / "runs" / "reproduce", help="The runs of `make reproduce`.")
    parser.add_argument("--check", action="store_true", help="Write nothing; compare with the pages.")
    main(**vars(parser.parse_args()))
