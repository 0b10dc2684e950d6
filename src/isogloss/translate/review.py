"""Review: what people are shown, what they answered, where they disagree, and how well they agree."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import languages
from ..annotation.item_changes import CONTEXT, TARGET, Change, changes_between, fields_of, with_fields
from ..annotation.item_reviews import Review, read_reviews
from ..annotation.sheets import ELICITED, VERDICT_COLUMNS, SheetForm, check_not_filled_in, write_sheet
from ..errors import IsoglossError
from ..files.cell_values import several
from ..items import CONTRAST, Item, group_by
from .project import REVIEW, Project, save_project
from .steps import problems_of, take_step
from .texts import Dropped

VERDICT = "verdict"
IMPLICIT, SAYING = "implicit", "saying"

ALIKE = 0.8  # agreement by chance: nine in ten verdicts of either reviewer are the same one
PARADOX = " (nearly all verdicts are alike, so chance explains most agreement, and kappa says little)"


@dataclass(frozen=True, slots=True)
class ReviewerAgreement:
    """How often two reviewers gave the same verdict or answer, and Cohen's kappa; None where there was only one."""

    first: str
    second: str
    items: int
    same: float
    kappa: float | None
    about: str = VERDICT


@dataclass(frozen=True, slots=True)
class ReviewResult:
    """What came of the sheets: items by what was done with them, the conflicts in words, and agreement by pair."""

    reviewed: int
    fixed: int
    dropped: int
    unsure: int
    conflicts: tuple[str, ...]
    agreement: tuple[ReviewerAgreement, ...]


def export_sheet(
    project: Project, path: Path, *, sample: int | None = None, everything: bool = False, seed: int = 0
) -> int:
    """Write the items with problems, all items, or a random sample of them, to a sheet; gives how many."""
    problems = problems_of(project.items, project.sources)
    severe = {name for name, rows in problems.items() if any(row.severity in ("error", "warning") for row in rows)}
    chosen = [item for item in project.items if everything or sample is not None or item.id in severe]
    if sample is not None:
        picked = np.random.default_rng(seed).permutation(len(chosen))[: max(sample, 0)]
        chosen = [chosen[index] for index in sorted(picked)]
    roles = list(dict.fromkeys(candidate.role for item in chosen for candidate in item.candidates))
    columns = ["id", "task", "problem", "source_context", "context", "context_fix"]
    columns += [name for role in roles for name in (f"source_{role}", role, f"{role}_fix")]
    asked = ELICITED if any(item.tags.get("task") == CONTRAST for item in chosen) else ()
    columns += ["source_target", "target", "target_fix", *asked, *VERDICT_COLUMNS, "background"]
    rows = [_row(item, project.sources.get(item.id), problems=problems.get(item.id, [])) for item in chosen]
    rtl = languages.describe(str(project.info["to"])).direction == "rtl"
    form = SheetForm(columns, rtl)
    check_not_filled_in(path, form)
    write_sheet(path, rows, form=form)
    return len(rows)


def import_sheets(
    project: Project, paths: Sequence[Path], *, prefer: str | None = None
) -> tuple[Project, ReviewResult]:
    """The project with what the reviewers agree on, saved, and the outcome; with `prefer` that reviewer decides conflicts."""
    items = {item.id: item for item in project.items}
    gone = {entry.item for entry in project.dropped}
    reviews = [review for path in paths for review in read_reviews(path, items, gone=gone)]
    if not reviews:
        raise IsoglossError(
            f"No row of {', '.join(map(str, paths))} has a verdict. Fill in the column 'verdict' first."
        )
    names = {review.reviewer for review in reviews}
    if prefer is not None and prefer not in names:
        raise IsoglossError(f"No reviewer named '{prefer}' in the sheets. Known: {', '.join(sorted(names)) or 'none'}.")
    by_item = group_by(reviews, lambda review: review.item)
    decided, conflicts, unsure = _decide(by_item, prefer=prefer)
    project, changes = _apply(project, decided)
    pairs_of_names = itertools.product(itertools.combinations(sorted(names), 2), (VERDICT, "valid", "saying"))
    compared = (agree(reviews, pair, about=about) for pair, about in pairs_of_names)
    agreement = tuple(entry for entry in compared if entry.items)
    reviewers = {item: sorted({entry.reviewer for entry in by_item[item]}) for item in decided}
    info = {**project.info, "reviews": {**project.info.get("reviews", {}), **reviewers}}
    backgrounds = {entry.reviewer: entry.background for entry in reviews if entry.background}
    info["backgrounds"] = {**project.info.get("backgrounds", {}), **backgrounds}
    pairs = {(entry.first, entry.second) for entry in agreement}
    earlier = [row for row in info.get("agreement", []) if (row["first"], row["second"]) not in pairs]
    info["agreement"] = [*earlier, *(asdict(entry) for entry in agreement)]
    history = len(project.changes)
    step = take_step(REVIEW, project.items, sources=project.sources, changes=changes, history=history)
    project = save_project(replace(project, info=info, steps=(*project.steps, step)))
    verdicts = Counter(entry.verdict for entry in decided.values())
    return project, ReviewResult(len(decided), verdicts["fixed"], verdicts["drop"], unsure, conflicts, agreement)


def agree(reviews: Sequence[Review], pair: tuple[str, str], *, about: str = VERDICT) -> ReviewerAgreement:
    """The agreement of two reviewers on the items that both judged."""
    first, second = pair
    answers: dict[str, dict[str, str]] = {name: {} for name in pair}
    for review in reviews:
        answer = review.verdict if about == VERDICT else review.answers.get(about)
        if review.reviewer in answers and answer:
            answers[review.reviewer][review.item] = answer
    left, right = answers[first], answers[second]
    shared = sorted(set(left) & set(right))
    if not shared:
        return ReviewerAgreement(first, second, 0, 0.0, None, about)
    same = sum(left[item] == right[item] for item in shared) / len(shared)
    kappa = cohens_kappa([(left[item], right[item]) for item in shared])
    return ReviewerAgreement(first, second, len(shared), same, kappa, about)


def cohens_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """(observed - expected) / (1 - expected) agreement; None when chance alone would always agree."""
    count = len(pairs)
    observed = sum(a == b for a, b in pairs) / count
    left, right = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    expected = sum(left[name] * right[name] for name in left) / count**2
    return None if expected == 1 else (observed - expected) / (1 - expected)


def review_as_text(result: ReviewResult) -> str:
    """The outcome for a terminal."""
    lines = [
        f"{result.reviewed} items reviewed: {result.fixed} fixed, {result.dropped} dropped; "
        f"{result.unsure} unsure, {len(result.conflicts)} conflicts"
    ]
    for agreement in result.agreement:
        what = "verdict" if agreement.about == VERDICT else "answer"
        kappa = f"not defined: one {what} only" if agreement.kappa is None else f"{agreement.kappa:.2f}"
        about = "" if agreement.about == VERDICT else f" on '{agreement.about}'"
        lines.append(
            f"{agreement.first} and {agreement.second}{about}: the same {what} on {agreement.same:.0%} of {agreement.items} items, Cohen's kappa {kappa}"
            + explain_kappa(agreement.same, agreement.kappa)
        )
    return "\n".join([*lines, *(f"conflict: {text}" for text in result.conflicts)])


def explain_kappa(same: float, kappa: float | None) -> str:
    """A remark where most agreement is expected by chance, because one verdict is very frequent."""
    by_chance = (same - kappa) / (1 - kappa) if kappa is not None and kappa < 1 else 0.0
    return PARADOX if by_chance >= ALIKE else ""


def _decide(
    by_item: Mapping[str, Sequence[Review]], *, prefer: str | None
) -> tuple[dict[str, Review], tuple[str, ...], int]:
    decided, conflicts, unsure = {}, [], 0
    for item, reviews in by_item.items():
        sure = [review for review in reviews if review.verdict != "unsure"]
        votes = [vote for vote in sure if vote.reviewer == prefer]
        opinions = {(vote.verdict, *sorted(vote.fixes.items()), *sorted(vote.answers.items())) for vote in sure}
        if not sure:
            unsure += 1
        elif votes or len(opinions) == 1:
            decided[item] = (votes or sure)[0]
        else:
            texts = []
            for vote in sure:
                quoted = [f"{name} '{text}'" for name, text in (*vote.fixes.items(), *vote.answers.items())]
                texts.append(" ".join([vote.reviewer, vote.verdict, *quoted]))
            conflicts.append(f"{item}: {'; '.join(texts)}")
    return decided, tuple(conflicts), unsure


def _apply(project: Project, decided: Mapping[str, Review]) -> tuple[Project, tuple[Change, ...]]:
    kept: list[Item] = []
    changes: list[Change] = []
    dropped: list[Dropped] = []
    for item in project.items:
        review = decided.get(item.id)
        if review is not None and review.verdict == "drop":
            dropped.append(Dropped(item.id, REVIEW, review.comment or f"dropped by {review.reviewer}"))
            continue
        new = with_fields(item, review.fixes) if review is not None else item
        changes += changes_between(item, new, step=REVIEW)
        kept.append(_with_answers(new, review.answers) if review is not None else new)
    every, gone = (*project.changes, *changes), (*project.dropped, *dropped)
    return replace(project, items=tuple(kept), changes=every, dropped=gone), tuple(changes)


def _with_answers(item: Item, answers: Mapping[str, str]) -> Item:
    """The item with what speakers said about it: whether the stereotype is known, whether it is a saying, and where."""
    tags = dict(item.tags)
    tags |= {name: answers[name] for name in ("template", "valid") if name in answers}
    if "saying" in answers:
        plain = IMPLICIT if tags.get("statement") == SAYING else tags.get("statement", IMPLICIT)
        tags["statement"] = SAYING if answers["saying"] == "yes" else plain
    if "regions" in answers:
        tags["region"] = several(answers["regions"])
    return replace(item, tags=tags)


def _row(item: Item, source: Item | None, *, problems: Sequence[Any]) -> dict[str, str]:
    old = fields_of(source) if source else {}
    new = fields_of(item)
    row = {"id": item.id, "task": str(item.tags.get("task", "")), "source_target": str(item.tags.get("target", ""))}
    row["problem"] = "; ".join(f"{problem.check}: {problem.message}" for problem in problems)
    row |= {"source_context": old.get(CONTEXT, ""), "context": new[CONTEXT], "target": new[TARGET]}
    for candidate in item.candidates:
        row |= {f"source_{candidate.role}": old.get(candidate.id, ""), candidate.role: new[candidate.id]}
    return row
