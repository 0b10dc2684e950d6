"""Controls, explanations, tests of MBE, robustness, structures and mixed models as text for a terminal."""

from collections.abc import Sequence

from ...analysis.competence import UNMEASURED
from ...analysis.controls import Control
from ...analysis.explanations import Explanation
from ...analysis.mbe_tests import DEPENDENT, MbeTest
from ...analysis.mixed import MixedModel
from ...analysis.robustness import RobustnessReport
from ...analysis.structure import Structure
from ..numbers import format_value, p_value, percent
from .table import Grid, as_text

# ---- controls

CELLS = ("what", "value", "score - this", "p", "kappa", "n")


def controls_as_text(controls: Sequence[Control]) -> str:
    """One row per control: what it scores, how far the score lies above it, and how often both prefer the same."""
    columns = list(dict.fromkeys(name for control in controls for name in control.group))
    rows = [[*(control.group.get(name, "-") for name in columns), *control_cells(control)] for control in controls]
    whys = tuple(dict.fromkeys(f"{control.name}: {control.why}" for control in controls if control.why))
    permuted = any(control.kind in ("labels", "baseline") for control in controls)  # of preferences only
    lines = [as_text(Grid([*columns, *CELLS], rows, len(columns) + 1, whys)), ""]
    for control in controls:
        label = ", ".join(control.group[key] for key in ("model", "language") if key in control.group)
        sentence = explain_control_items(control)
        lines += [f"{label}: {sentence}"] if sentence else []
    if permuted:
        lines.append(
            "Permuted labels show where chance alone puts the score (95 %). A baseline near the score, with a high kappa, says that "
            "length or frequency could explain it; a baseline far away does not prove a stereotype."
        )
    return "\n".join(lines)


def control_cells(control: Control) -> list[str]:
    """A control's cells in a table: its name, its value, how far the score lies above it, p, kappa and n."""
    return [
        control.name,
        format_value(control.value, (control.low, control.high)),
        format_value(control.difference, (control.difference_low, control.difference_high), form="+.2f"),
        p_value(control.p),
        format_value(control.kappa),
        str(control.n),
    ]


def explain_control_items(control: Control) -> str | None:
    """Whether the score can be told from that of its control items; None for what is not control items, or has no interval."""
    if control.kind != "items" or control.difference_low is None or control.difference_high is None:
        return None
    verdict = (
        "differs from" if control.difference_low > 0 or control.difference_high < 0 else "is not distinguishable from"
    )
    return f"the score {verdict} that of its {control.name}, in which nothing is a stereotype of the target."


# ---- explanations

LEAST = 0.1  # points; a smaller difference is not shown


def explanations_as_text(explanations: Sequence[Explanation]) -> str:
    """Per metric its definition, what was published, what we do, and the points that each difference makes."""
    return "\n\n".join(_explain(explanation) for explanation in explanations)


def _explain(explanation: Explanation) -> str:
    lines = [
        f"{explanation.title}",
        f"  definition      {explanation.definition}",
        f"  published in    {explanation.citation}",
        f"  published code  {explanation.published_code}",
        f"  ours            {explanation.ours}",
        f"  caution         {explanation.caution}",
    ]
    large = [difference for difference in explanation.differences if abs(difference.points) >= LEAST]
    differences = sorted(large, key=lambda difference: -abs(difference.points))
    if not differences:
        return "\n".join([*lines, f"  on these scores none of this makes a difference of {LEAST:g} points or more"])
    columns = [name for name in differences[0].group if len({row.group[name] for row in explanation.differences}) > 1]
    rows = []
    for row in differences:
        numbers = [f"{row.ours:.2f}", f"{row.other:.2f}", f"{row.points:+.2f}", str(row.n)]
        rows.append([*(row.group[name] for name in columns), row.what, *numbers])
    table = as_text(Grid([*columns, "the other way", "ours", "other", "points", "n"], rows, len(columns) + 1))
    hidden = len(explanation.differences) - len(differences)
    more = [f"  {hidden} more make less than {LEAST:g} points"] if hidden else []
    return "\n".join([*lines, "", *(f"  {line}" for line in table.splitlines()), *more])


def mbe_as_text(tests: Sequence[MbeTest]) -> str:
    """One block per group, and the caveats of the tests."""
    blocks = []
    for test in tests:
        counted = ", ".join(f"{count:,} {group}" for group, count in test.sentences.items())
        blocks.append(
            f"{' · '.join(test.group.values())}\n"
            f"  MBE {format_value(test.value, (test.low, test.high))}   more than 50: '{test.preferred}' sentences are found more likely\n"
            f"  {counted} sentences; {test.ties:,} tied pairs; {test.mode}\n"
            f"  p {test.p_permutation:.4f} (permutation of labels)   p {test.p_mcnemar:.4g} (McNemar)   "
            f"Shf {test.shuffled:.2f} (paired at random)"
        )
    return "\n".join([*blocks, f"Note: {DEPENDENT}.", f"Note: {UNMEASURED}."])


# ---- robustness

SAID = {
    "same": "The sign survives: all settings lie on the same side of 50.",
    "different": "The sign does not survive: some settings lie above 50 and others below, each beyond its interval.",
    "unclear": "Whether the sign survives is unclear: at least one setting is not distinguishable from 50.",
}


def robustness_grid(report: RobustnessReport) -> Grid:
    """One row for each setting."""
    rows = [
        [
            trial.setting,
            trial.kind,
            format_value(trial.value, (trial.low, trial.high)),
            "-" if trial.flips is None else f"{trial.flips} ({100 * trial.flips / max(trial.n, 1):.1f} %)",
            format_value(trial.rank),
            format_value(trial.noise, form=".2g"),
            "-" if trial.below is None else str(trial.below),
            str(trial.n),
        ]
        for trial in report.trials
    ]
    whys = tuple(dict.fromkeys(f"{setting.setting}: {setting.why}" for setting in report.trials if setting.why))
    heading = ["setting", "changes", "SS", "items that flip", "rank", "noise", "below noise", "n"]
    return Grid(heading, rows, 2, whys)


def robustness_as_text(report: RobustnessReport) -> str:
    """All trials, what they say about the sign, and which methods rank the items alike."""
    title = f"{report.model} · {report.dataset} · {report.language} · {report.task}"
    lines = [as_text(robustness_grid(report), title=title), "", SAID[report.sign]]
    if report.below:
        lines.append(
            f"{len(report.below)} items lie below the noise floor, such as '{report.below[0]}': "
            "their preference may be an accident of arithmetic."
        )
    pairs = [[f"{a} - {b}", format_value(rho), format_value(kappa)] for a, b, rho, kappa in report.agreement]
    if pairs:
        lines += ["", as_text(Grid(["methods", "rank correlation", "kappa"], pairs, 1))]
    return "\n".join(lines)


# ---- structures and mixed models


def structure_as_text(structure: Structure) -> str:
    """Agreement of each pair, the tree, and what is common or specific."""
    label = " · ".join(f"{name} {value}" for name, value in structure.group.items())
    has_overlap = any(likeness.overlap for likeness in structure.likeness)
    pairs = []
    for likeness in structure.likeness:
        kappa = format_value(likeness.kappa, (likeness.kappa_low, likeness.kappa_high))
        rho = format_value(likeness.rho, (likeness.rho_low, likeness.rho_high))
        overlap = f"{likeness.overlap.value:.2f} ({likeness.overlap.chance:.2f})" if likeness.overlap else ""
        counts = [str(likeness.n), str(likeness.clusters)]
        pairs.append([f"{likeness.a} - {likeness.b}", kappa, rho, *counts, *[overlap] * has_overlap])
    whys = tuple(dict.fromkeys(likeness.why for likeness in structure.likeness if likeness.why))
    whys += (
        "overlap: of the subspaces from contrasts to stereotypes (in brackets: of unrelated sentences)",
    ) * has_overlap
    heading = [structure.over + "s", "kappa", "rank correlation", "n", "clusters", *["overlap"] * has_overlap]
    lines = [as_text(Grid(heading, pairs, 1, whys), title=label), ""]
    if structure.tree:
        lines.append("Most alike first (1 - rank correlation, average linkage):")
        lines += [
            f"  {merge.distance:.2f}  {', '.join(merge.left)} + {', '.join(merge.right)}" for merge in structure.tree
        ]
        lines.append("")
    return "\n".join([*lines, *_common_lines(structure)])


def _common_lines(structure: Structure) -> list[str]:
    """How many units prefer the stereotype of how many items, and what each prefers alone."""
    count, every = len(structure.units), structure.common[-1]
    rows = [
        [f"{shared.units} of {count}", str(shared.count), percent(shared.share), percent(shared.expected)]
        for shared in structure.common
    ]
    text = (
        f"Of {structure.n} items, all {count} {structure.over}s prefer the stereotype on {100 * every.share:.1f} %; "
        f"if they were independent, it would be {100 * every.expected:.1f} %."
    )
    only = ", ".join(f"{unit} {100 * share:.1f} %" for unit, share in structure.specific.items())
    table = as_text(Grid(["stereotype preferred by", "items", "share", "if independent"], rows, 1))
    return [table, "", text, f"Preferred in one only: {only}."]


def mixed_as_text(mixed: MixedModel) -> str:
    """The effects of a mixed model, in points of SS."""
    rows = [
        [effect.name, format_value(effect.estimate, (effect.low, effect.high), form="+.2f"), p_value(effect.p)]
        for effect in mixed.effects
    ]
    remarks = (
        f"{mixed.n} preferences, {mixed.targets} targets; standard deviation between targets "
        f"{mixed.target_deviation:.2f}, within {mixed.residual_deviation:.2f}",
        "a linear model of 0, 50 and 100; an association, not a cause",
        *mixed.notes,
    )
    return as_text(Grid(["effect", "points of SS", "p"], rows, 1, remarks))
