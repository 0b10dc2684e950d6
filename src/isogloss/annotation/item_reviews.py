"""Reviews of items in a sheet: verdicts, new texts, and what speakers answered."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import BadData
from ..files.cell_values import several, yes_or_no
from ..items import BLANK, Item
from .item_changes import CONTEXT, TARGET, fields_of
from .sheets import ELICITED, VERDICTS, list_problems, read_sheet


@dataclass(frozen=True, slots=True)
class Review:
    """What one reviewer said about one item: a verdict, new texts by field, and answers to what speakers are asked."""

    item: str
    reviewer: str
    verdict: str
    fixes: Mapping[str, str] = field(default_factory=dict)
    comment: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    background: str = ""


def read_reviews(path: Path, items: Mapping[str, Item], *, gone: Collection[str] = ()) -> list[Review]:
    """The reviews in a sheet; a row without a verdict and without a fix was not reviewed, a dropped item may be in it.

    Every row that cannot be used is named at once.
    """
    reviews, problems = [], list[BadData]()
    for line, row in read_sheet(path):
        if "id" not in row or "verdict" not in row:
            raise BadData(path, 1, "a review sheet needs the columns 'id' and 'verdict'. Export it again.")
        try:
            review = _review(row, items, gone=gone, where=(path, line))
        except BadData as error:
            problems.append(error)
            continue
        if review is not None:
            reviews.append(review)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise BadData(path, None, list_problems([(error.line or 0, error.problem.rstrip(".")) for error in problems]))
    return reviews


def _review(
    row: Mapping[str, str], items: Mapping[str, Item], *, gone: Collection[str], where: tuple[Path, int]
) -> Review | None:
    """What a row says about its item; None where it says nothing."""
    path, line = where
    item = items.get(row["id"])
    if item is None and row["id"] not in gone:
        raise BadData(path, line, f"no item '{row['id']}' in this translation. Import it where it was exported.")
    verdict = _verdict(row, where=where)
    if not verdict:
        return None
    fixes = _fixes(item, row, where=where) if item is not None else {}
    answers = _answers(row, where=where)
    reviewer = row.get("reviewer") or path.stem
    return Review(row["id"], reviewer, verdict, fixes, row.get("comment", ""), answers, row.get("background", ""))


def _verdict(row: Mapping[str, str], *, where: tuple[Path, int]) -> str:
    """The row's verdict, or nothing; a fix that was written makes it `fixed`."""
    written = any(text for name, text in row.items() if name.endswith("_fix"))
    verdict = row["verdict"].casefold()
    if verdict and verdict not in VERDICTS:
        raise BadData(*where, f"the verdict is '{row['verdict']}'. Use one of {', '.join(VERDICTS)}.")
    if verdict == "fixed" and not written:
        raise BadData(*where, "the verdict is 'fixed', but there is no fix. Write one, or say 'good' or 'drop'.")
    if not verdict and any(row.get(name) for name in ELICITED):
        verdict = "good"
    return "fixed" if written and verdict in ("", "good") else verdict


def _fixes(item: Item, row: Mapping[str, str], *, where: tuple[Path, int]) -> dict[str, str]:
    """The new texts of a row by field; a context that loses BLANK is refused."""
    columns = {CONTEXT: "context_fix", TARGET: "target_fix"} | {
        candidate.id: f"{candidate.role}_fix" for candidate in item.candidates
    }
    old = fields_of(item)
    texts = {name: row.get(column, "").strip() for name, column in columns.items()}
    fixes = {name: text for name, text in texts.items() if text and text != old[name]}
    cloze = any(candidate.word is not None for candidate in item.candidates)
    if cloze and CONTEXT in fixes and fixes[CONTEXT].count(BLANK) != 1:
        raise BadData(*where, f"the context must have BLANK once, and has it {fixes[CONTEXT].count(BLANK)} times.")
    return fixes


def _answers(row: Mapping[str, str], *, where: tuple[Path, int]) -> dict[str, str]:
    """What a speaker answered, in one spelling: yes or no, and the regions in the order of the alphabet."""
    answers = {name: row[name].strip() for name in ELICITED if row.get(name, "").strip()}
    for name in ("valid", "saying"):
        if name in answers:
            answer = yes_or_no(answers[name])
            if answer is None:
                raise BadData(*where, f"'{name}' is '{answers[name]}'. Use yes or no.")
            answers[name] = "yes" if answer else "no"
    if "regions" in answers:
        answers["regions"] = ", ".join(sorted(several(answers["regions"])))
    return answers
