"""Test the claims of published papers and write docs/claims.md with its figure; run it with `make claims` (`python -m reproduction.claims`).

It needs the published data, as a folder in ISOGLOSS_REAL_DATA or beside the project in ../shared/data. Claims about
trained weights are tested where the runs of `make reproduce` are there.
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections import Counter
from dataclasses import replace
from pathlib import Path

import polars as pl

import isogloss as ig
from isogloss.analysis.claim_files import read_claims
from isogloss.analysis.claims import CONTRADICTED, NO_TEST, NOT_INTERPRETABLE, SUPPORTED, UNDECIDED, ClaimsFile
from isogloss.reports.text.claims import (
    MEANINGS,
    ORDER,
    count_verdicts,
    explain_claim,
    left_out_line,
    robustness_line,
)
from isogloss.runs import find_runs, read_scored

from .published import CLAIMS, load_nadeem, load_published

ROOT = Path(__file__).parent.parent
PAGE, FIGURE = ROOT / "docs" / "claims.md", ROOT / "docs" / "assets" / "claims.svg"
FILES = ("ozturk2023", "nadeem2021", "behnamghader2022", "kaneko2022", "shades2025")
FROM_WEIGHTS = ("behnamghader2022", "kaneko2022")
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

Papers about stereotypes in several languages end in sentences such as "English models are the most biased". This page tests such sentences with the scores that their authors published and, where a paper published none, with
[trained weights](reproducing.md#from-trained-weights).
That it can be done at all is to the authors' credit: Öztürk et al. released their translations, their code and every score, and say themselves that their conclusions are tentative.

| paper | Holm: no false verdict in the paper | BH: few false verdicts |
| --- | --- | --- |
{counts}

**Why two columns.** Both adjust for all claims of a paper that have a p-value, including those that end as *not interpretable*: some of their comparisons could have contradicted them. With Holm's method
the chance of *one or more* false verdicts in a paper is at most 5 %, so each verdict can be quoted by itself; this is the verdict given below. With Benjamini and Hochberg's (BH), at most 5 % of the *verdicts* are expected to be
false, which is enough for an overview and finds more. {difference}

**Scores that are known to be wrong are left out first.** {faults} A claim over both tasks is not tested on one of them. [What they would change](#what-the-wrong-scores-would-change) is listed below: {changed}.

![Each claim's deciding comparison with its 95 % confidence interval, in the direction of the claim](assets/claims.svg)

*Each line is the deciding comparison of one claim, in the direction of the claim: right of zero agrees with it. Bars are 95 % confidence intervals over targets, before the adjustment for the number of claims.*

Every claim is given in our words, written in the [language of claims](gate.md#the-language) in `studies/claims`, and tested on the items that all sides have, with whole targets as the unit.
We show the deciding comparison: the weakest if the claim holds, else the strongest against it. *Robustness* says what changes in paper mode and without a task, a bias type or ties, and with the scores that are known to be wrong.
A claim asks for no more than its sentence. Where only a stricter reading can be tested (*in every language* for *most*), its contradiction leaves the sentence undecided.

| verdict | meaning |
| --- | --- |
{meanings}

## What this page does not say

* *Undecided* does not mean false. It means that {targets} targets and these differences do not settle the sentence; the smallest difference that would have been found reliably is given.
* A claim is about these models, these items and these translations. The interval covers other targets of the same kind, not other models, other data sets or better translations.
* A verdict is about our reading of a sentence, which is shown with it. Where a sentence has several readings, there are several claims; where it says "similar" or "much", the margin is ours.
* *Not interpretable* is about a model on these items, by a [rule](statistics.md#when-a-score-can-be-interpreted) that the papers did not know. {limits}
* A claim that survives is not an explanation, and a score is not a harm.

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


def without_scores(file: ClaimsFile) -> ClaimsFile:
    """The file with its claims about trained weights named as not testable."""
    claims = [
        replace(one, says="", formula=None, needs=one.needs or "the runs of `make reproduce`") for one in file.claims
    ]
    return replace(file, claims=tuple(claims))


def capital(name: str) -> str:
    """The name with a capital letter, unless it begins with a model's name such as mBERT."""
    return name if name[1:2].isupper() else name[0].upper() + name[1:]


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
    rows = [f"| {one.title} | {count_verdicts(one)} | {count_verdicts(one, bh=True)} |" for one in results]
    claims = [one for result in results for one in result.verdicts]
    moved = [one for one in claims if one.status_bh and one.status_bh != one.status]
    decided = Counter(one.status_bh for one in moved)
    moves = ", ".join(f"{count} {status}" for status, count in decided.items())
    first = results[0].verdicts
    with_faults = [(one, one.robustness.get("with known faults", one.status)) for one in first]
    changed = [f"| {one.name} | {one.status} | {status} |" for one, status in with_faults if status != one.status]
    names = [" ".join(selector.value for selector in group) for group in file.faults.groups]
    reasons = [f"{name} ({why})" for name, why in zip(names, file.faults.reasons, strict=True)]
    limits = [note for note in results[0].notes if "limit of competence" in note]
    return {
        "counts": "\n".join(rows),
        "difference": f"By BH, {len(moved)} of {len(claims)} claims that are undecided by Holm would be decided ({moves}).",
        "faults": f"Of Öztürk et al. these are {'; '.join(reasons)}; and {len(file.faults.items)} items after two with two BLANKs. "
        "[Published numbers](reproducing.md#rows-that-cannot-be-trusted) has the evidence.",
        "changed": f"{len(changed)} of {len(first)} verdicts",
        "rows": "\n".join(changed),
        "limits": f"Of Öztürk et al., {limits[0]}." if limits else "",
    }


def main(resamples: int, runs: Path) -> None:
    """Test all files and write the page."""
    folder = find_data()
    published, weights, nadeem = load_published(folder), load_weights(runs), load_nadeem(folder)
    results, files = [], [read_claims(CLAIMS / f"{name}.yaml") for name in FILES]
    for name, file in zip(FILES, files, strict=True):
        own = nadeem if name == "nadeem2021" else weights.get(name)
        if name in FROM_WEIGHTS and own is None:
            file = without_scores(file)
        results.append(ig.gate(own or published, file, robustness=True, resamples=resamples))
    meanings = "\n".join(f"| {name} | {MEANINGS[name]} |" for name in ORDER)
    targets = max(part.clusters for one in results[0].verdicts for part in one.details)
    head = OPENING.format(meanings=meanings, targets=targets, **summarise(results, files[0]))
    hashes = "\n".join(f"* `{name}.yaml`: {result.sha256[:12]}" for name, result in zip(FILES, results, strict=True))
    tail = f"## Files\n\nTested on {results[0].tested} with {resamples:,} resamples. Hashes of the claims files:\n\n{hashes}\n"
    PAGE.write_text("\n".join([head, *map(as_section, results), tail]), encoding="utf-8")
    draw(results)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--runs", type=Path, default=ROOT / "runs" / "reproduce", help="The runs of `make reproduce`.")
    main(**vars(parser.parse_args()))
