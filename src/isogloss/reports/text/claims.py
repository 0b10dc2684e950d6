"""Claims and rankings in words and as tables: for a terminal, a paper, a test report and a page of a CI job."""

from collections import Counter
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from ...analysis.rankings import Rank, Rankings
from ...claims.baselines import BASELINE
from ...claims.evidence import ClaimPart
from ...claims.verdicts import (
    CONTRADICTED,
    NO_TEST,
    NOT_INTERPRETABLE,
    NOT_TESTABLE,
    STRICTER,
    SUPPORTED,
    UNDECIDED,
    ClaimVerdict,
    GateResult,
)
from ...items import group_by
from ..numbers import format_value, listed, merge_notes, metric_name, p_value, percent, plain_name
from .table import Grid

ORDER = (SUPPORTED, CONTRADICTED, UNDECIDED, NOT_INTERPRETABLE, NOT_TESTABLE, NO_TEST)
MEANINGS = {
    SUPPORTED: "the scores show what the claim says",
    CONTRADICTED: "the scores show the opposite",
    UNDECIDED: "the scores are compatible with the claim and with its opposite",
    NOT_INTERPRETABLE: "a model that the claim is about is below our competence limit on these items",
    NOT_TESTABLE: "scores or items that the claim needs are missing",
    NO_TEST: "it holds for any scores, so confirming it is uninformative",
}


# ---- in words


def explain_claim(verdict: ClaimVerdict) -> str:
    """The verdict in a sentence or two for readers who do not know statistics."""
    part = verdict.part
    if part is not None and part.b == BASELINE and verdict.status in (SUPPORTED, CONTRADICTED, UNDECIDED):
        return _explain_change(verdict, part)
    if verdict.status == NOT_INTERPRETABLE:
        return f"No verdict: a model is below our competence limit. {verdict.reason}."
    if verdict.status == NOT_TESTABLE:
        return f"Not tested: {verdict.reason}."
    if verdict.status == NO_TEST:
        return f"It had to come out this way: {verdict.reason}."
    if part is None or part.difference is None:
        return f"{verdict.status.capitalize()}: {verdict.reason}."
    if verdict.status == SUPPORTED:
        count = "both" if verdict.parts == 2 else f"all {verdict.parts}"
        opening = "Yes." if verdict.parts == 1 else f"Yes, in {count} comparisons it needs; in the closest of them"
        return _sentence(opening, part)
    if verdict.status == CONTRADICTED:
        opening = "No, the opposite." if verdict.parts == 1 else f"No: {verdict.reason};"
        return _sentence(opening, part)
    if verdict.reason == STRICTER:
        return _sentence(f"Open: {verdict.reason}. The clearest comparison against it:", part)
    return _sentence(f"Open. {_count(verdict)}".strip(), part) + _missed(verdict, part)


def _count(verdict: ClaimVerdict) -> str:
    """How many comparisons of an open claim hold, and why that is not enough."""
    if verdict.held == verdict.parts:
        hold = (
            "It holds"
            if verdict.parts == 1
            else "Both comparisons hold"
            if verdict.parts == 2
            else f"All {verdict.parts} comparisons hold"
        )
        adjusted = (
            f" (p {p_value(verdict.p)}, adjusted {p_value(verdict.p_holm)})" if verdict.p_holm is not None else ""
        )
        return f"{hold} individually, but the claim fails after Holm's adjustment for all claims in the file{adjusted}; the closest:"
    if verdict.parts < 2:
        return ""
    agree = "agrees" if verdict.held == 1 else "agree"
    some = f"{verdict.held} of {verdict.parts} comparisons {agree}, but not the closest one:"
    return some if verdict.held else f"None of {verdict.parts} comparisons is clear; the closest one:"


def _missed(verdict: ClaimVerdict, part: ClaimPart) -> str:
    """The true difference from which on the claim would have been shown with power 0.8."""
    if not verdict.mde:
        return ""
    if not part.shift:
        return f" Only a difference of {verdict.mde:.1f} or more would have been found reliably."
    least, side = part.shift + part.sign * verdict.mde, "more" if part.sign > 0 else "less"
    return f" The claim would have been shown reliably only by a true difference of {least:+.1f} or {side}."


def _explain_change(verdict: ClaimVerdict, part: ClaimPart) -> str:
    """Whether a value is worse than the baseline's by more than is allowed."""
    if part.difference is None:
        return f"{verdict.status.capitalize()}: {verdict.reason}."
    answers = {
        SUPPORTED: f"Yes. {part.a} is not worse than {part.b} by more than {part.shift:g}",
        CONTRADICTED: f"No. {part.a} is worse than {part.b} by more than {part.shift:g}",
        UNDECIDED: f"Open. It is not clear whether {part.a} is worse than {part.b} by more than {part.shift:g}",
    }
    values = f"{part.value_b or 0:.1f} → {part.value_a or 0:.1f}"
    interval = "" if part.low is None or part.high is None else f", 95 % CI {part.low:+.1f} to {part.high:+.1f}"
    what = f"{part.scale} {part.difference:+.1f}" if part.scale else f"worse by {part.difference:.1f}"
    what = what if part.scale or part.difference >= 0 else f"better by {-part.difference:.1f}"
    ends = f"{interval}{'; above 0 is worse' * (not part.scale)}" if interval else ""
    worse = f"; {what}{ends}" if interval or part.difference else ""
    mde = verdict.mde
    least = f" An unchanged model would pass reliably with a margin of {mde:.1f} or more." if mde else ""
    return f"{answers[verdict.status]} ({values}{worse}).{least}"


def _sentence(opening: str, part: ClaimPart) -> str:
    """An opening and how far the two sides lie apart, with the interval, as one sentence or two."""
    difference = part.difference or 0.0
    interval = "" if part.low is None or part.high is None else f" (95 % CI {part.low:+.1f} to {part.high:+.1f})"
    if part.design == "over groups":
        text = f"the {part.a} is {difference + float(part.b):.2f}{interval}"
    else:
        value = "" if part.value_a is None else f", {part.value_a:.1f}"
        other = part.b if part.value_b is None or part.b[:1].isdigit() else f"{part.b}, {part.value_b:.1f}"
        limit = f"; the claim needs {'more' if part.sign > 0 else 'less'} than {part.shift:+g}" if part.shift else ""
        text = f"{part.a}{value}, minus {other}, is {difference:+.1f}{interval}{limit}"
    return f"{opening} {text[0].upper() + text[1:] if opening.endswith('.') else text}."


def robustness_line(verdict: ClaimVerdict) -> str:
    """What changes when something is left out; nothing where it was not tried."""
    if not verdict.robustness:
        return ""
    changed = [f"{name}: {status}" for name, status in verdict.robustness.items() if status != verdict.status]
    same = len(verdict.robustness) - len(changed)
    return "; ".join([f"same verdict in {same} of {len(verdict.robustness)} variants", *changed])


def left_out_line(verdict: ClaimVerdict) -> str:
    """The groups that a claim was tested without; nothing where there are none."""
    names = verdict.left_out
    if not names or verdict.status == NOT_TESTABLE:
        return ""
    more = f", and {len(names) - 3} more" if len(names) > 3 else ""
    return f"Tested without scores that are known to be wrong: {'; '.join(names[:3])}{more}."


def gate_as_text(result: GateResult) -> str:
    """The outcome with the counts, then each claim with its verdict and the sentence that explains it."""
    outcome = f"{result.status} ({count_verdicts(result)})"
    lines = [f"{result.title}: {outcome}" if result.title else outcome, ""]
    for verdict in result.verdicts:
        says = f"  [{verdict.says}]" if verdict.says and verdict.says != verdict.name else ""
        adjusted = "not adjusted" if verdict.p_holm is None else f"by Holm {p_value(verdict.p_holm)}"
        p = "" if verdict.p is None else f" p {p_value(verdict.p)}, {adjusted}."
        lines += [f"{verdict.status:<21}  {verdict.name}{says}", f"{'':<23}{explain_claim(verdict)}{p}"]
        lines += [f"{'':<23}{left_out_line(verdict)}"] if verdict.left_out else []
        line = robustness_line(verdict)
        lines += [f"{'':<23}Robustness: {line}."] if line else []
    return "\n".join([*lines, *_file_lines(result)])


def describe_adjustment(verdicts: Sequence[ClaimVerdict]) -> str:
    """Whether the p-values are adjusted, in a sentence; nothing where no claim has one."""
    adjusted = {verdict.p_holm is not None for verdict in verdicts if verdict.p is not None}
    texts = {
        (False,): "The p-values are not adjusted for the number of claims.",
        (True,): "The p-values are adjusted for all claims of a file (Holm).",
        (False, True): "The p-values are adjusted for all claims of a file (Holm), except in files with adjust: none.",
    }
    return texts.get(tuple(sorted(adjusted)), "")


def count_verdicts(result: GateResult) -> str:
    """How many claims have each verdict."""
    counts = Counter(verdict.status for verdict in result.verdicts)
    return ", ".join(f"{counts[name]} {name}" for name in ORDER if counts[name])


def _file_lines(result: GateResult) -> list[str]:
    lines = [f"· {note}" for note in merge_notes(result.notes)]
    if result.sha256:
        registered = f", {result.registered}" if result.registered else ""
        lines.append(f"· claims file {result.sha256[:12]}, tested {result.tested}{registered}")
    return lines


# ---- as tables


def claims_grid(result: GateResult) -> Grid:
    """One row per claim for a paper: verdict, the deciding difference with its interval, p-values, parts."""
    rows = []
    for verdict in result.verdicts:
        part = verdict.part
        ends = (part.low, part.high) if part else (None, None)
        rows.append(
            [
                verdict.name,
                verdict.source,
                verdict.status,
                "-" if part is None else format_value(part.difference, ends, form="+.1f"),
                p_value(verdict.p),
                p_value(verdict.p_holm),
                p_value(verdict.p_bh),
                f"{verdict.held}/{verdict.parts}" if verdict.parts else "-",
            ]
        )
    tested = [verdict for verdict in result.verdicts if verdict.p is not None]
    if any(verdict.p_holm is not None for verdict in tested):
        adjustment = [f"Holm and BH adjust p for the {len(tested)} claims that were tested"]
    else:
        adjustment = ["p is not adjusted for the number of claims"] if tested else []
    remarks = (
        "difference: of the comparison that decides, with its 95 % confidence interval over targets",
        "parts: the comparisons of the claim that hold by themselves",
        *adjustment,
        *merge_notes(result.notes),
    )
    return Grid(["claim", "source", "verdict", "difference", "p", "Holm", "BH", "parts"], rows, 3, remarks)


def claims_as_summary(result: GateResult) -> str:
    """The verdicts as Markdown for the summary of a CI job."""
    marks = {"passed": "✅", "failed": "❌", "undecided": "❔"}
    lines = [f"## {result.title or 'Isogloss gate'}: {result.status}", ""]
    lines += ["| | claim | verdict | |", "| --- | --- | --- | --- |"]
    for verdict in result.verdicts:
        name, text = (cell.replace("|", r"\|").replace("<", "&lt;") for cell in (verdict.name, explain_claim(verdict)))
        lines.append(f"| {marks[verdict.outcome]} | {name} | {verdict.status} | {text} |")
    return "\n".join([*lines, "", *(line.replace("·", "*", 1) for line in _file_lines(result))]) + "\n"


def claims_as_junit(result: GateResult) -> str:
    """The verdicts as a JUnit report: a failed claim is a failure, an undecided one is skipped, or fails when strict."""
    open_claims = "failed" if result.strict else "undecided"
    outcomes = [open_claims if verdict.outcome == "undecided" else verdict.outcome for verdict in result.verdicts]
    facts = {"name": result.title or "isogloss gate", "tests": str(len(outcomes))}
    facts |= {"failures": str(outcomes.count("failed")), "skipped": str(outcomes.count("undecided")), "errors": "0"}
    suite = ElementTree.Element("testsuite", facts)
    for verdict, outcome in zip(result.verdicts, outcomes, strict=True):
        case = ElementTree.SubElement(suite, "testcase", classname="isogloss.gate", name=verdict.name)
        text = f"{verdict.status}: {explain_claim(verdict)}"
        if outcome == "failed":
            ElementTree.SubElement(case, "failure", message=text).text = verdict.says
        elif outcome == "undecided":
            ElementTree.SubElement(case, "skipped", message=text)
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


# ---- rankings


def rank_span(row: Rank) -> str:
    """The interval of a rank, or a dash."""
    if row.low is None or row.high is None:
        return "-"
    return f"{row.low}-{row.high}" if row.low < row.high else str(row.low)


def rank_mark(rank: Rank | None) -> str:
    """The interval of a rank in parentheses, as it stands behind a value; nothing where there is none."""
    return f" ({rank_span(rank)})" if rank and rank.low is not None else ""


def rank_lines(ranks: Sequence[Rank], names: Mapping[str, str] | None = None) -> list[str]:
    """For each metric, the best and the worst model of each language, or those that may be; where none is shown to be, so."""
    lines = []
    for metric, rows_of_metric in group_by(ranks, lambda row: row.metric).items():
        tags: dict[tuple[str, str], list[str]] = {}
        for tag, rows in group_by(rows_of_metric, lambda row: row.group["language"]).items():
            tags.setdefault(_rank_ends(rows, names or {}), []).append(tag)
        parts = [_rank_part(ends, where) for ends, where in sorted(tags.items(), key=lambda entry: not any(entry[0]))]
        lines.append(f"{metric_name(metric)}: {'; '.join(parts)}")
    return lines


def _rank_ends(rows: Sequence[Rank], names: Mapping[str, str]) -> tuple[str, str]:
    """The models of a language that may be the best and the worst; nothing for an end where every model may be."""
    best, worst = ([row for row in rows if getattr(row, f"may_be_{end}")] for end in ("best", "worst"))
    names_of = [[names.get(row.model, row.model) for row in kept] for kept in (best, worst)]
    first, last = ("" if len(kept) == len(rows) else " or ".join(kept) for kept in names_of)
    return first, last


def _rank_part(ends: tuple[str, str], tags: Sequence[str]) -> str:
    where = listed(list(map(plain_name, tags)))
    if not any(ends):
        return f"in {where}, no model is shown to be better than another"
    answers = [f"the {name} is {who}" for name, who in zip(("best", "worst"), ends, strict=True) if who]
    return f"in {where}, {' and '.join(answers)}"


def rank_grid(ranks: Rankings) -> Grid:
    """One row per model: its value and rank, how sure the rank is, and the models that it can be told apart from."""
    columns = [*dict.fromkeys(name for row in ranks for name in row.group)]
    metrics = list(dict.fromkeys(row.metric for row in ranks))
    heading = [*(["metric"] if len(metrics) > 1 else []), *columns, "model"]
    labels = len(heading)
    heading += [metric_name(metrics[0]) if len(metrics) == 1 else "value", "rank", "95 % CI", "first", "last", "may be"]
    rows = [
        [
            *([metric_name(row.metric)] if len(metrics) > 1 else []),
            *(row.group.get(name, "all") for name in columns),
            row.model,
            format_value(row.value),
            str(row.rank),
            rank_span(row),
            percent(row.first),
            percent(row.last),
            " or ".join(name for name, may in (("best", row.may_be_best), ("worst", row.may_be_worst)) if may) or "-",
            ", ".join(row.better_than) or "-",
        ]
        for row in ranks
    ]
    cells = [
        "first and last: how often the model has the best and the worst value when targets are drawn again",
        "may be best: no model is shown to be better (paired tests, Holm over all pairs)",
        *(row.why for row in ranks if row.why),
        *ranks.notes,
    ]
    return Grid([*heading, "better than"], rows, labels, tuple(dict.fromkeys(cells)))
