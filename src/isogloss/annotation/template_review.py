"""Review sheets of a language: what speakers corrected, who reviewed what, and what is wrong with their answers."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..atomic_files import write_file
from ..errors import BadData, IsoglossError
from ..languages import describe, resolve
from ..templates.checks import sets_path
from ..templates.features import USES
from ..templates.grammar import BadTemplate, parse_template
from ..templates.lexicon import Lexicon
from ..templates.vocabulary import MAIN
from .sheets import VERDICT_COLUMNS, VERDICTS, SheetForm, list_problems, read_sheet, write_sheet
from .speaker_rows import FORM, PROMPT, SENTENCE, WORDING, review_rows

# what a speaker needs first, and what only the program needs last, beyond the edge of the screen
REVIEW = ("kind", "english", "features", "text", "text fix", *VERDICT_COLUMNS, "stands for", "where", "id")
SLOTS = re.compile(r"\{[a-z]+\}")
GUIDE = Path(__file__).parent.parent / "data" / "speaker_guide.toml"


@dataclass(frozen=True, slots=True)
class TemplateReview:
    """A filled sheet: its rows with a verdict or a correction, and how many forms each reviewer saw of each vocabulary."""

    rows: tuple[Mapping[str, str], ...]
    forms: Mapping[str, Mapping[str, int]]

    @property
    def corrections(self) -> tuple[Mapping[str, str], ...]:
        return tuple(row for row in self.rows if row["text fix"] not in ("", row["text"]))


def guide_lines(tag: str) -> list[str]:
    """The instructions for speakers of a language, in English where there are none in theirs."""
    guides = tomllib.loads(GUIDE.read_text(encoding="utf-8"))
    own = guides.get(tag, guides.get(tag.split("-")[0], []))
    return [*own, "", *guides["en"]] if own and own is not guides["en"] else list(guides["en"])


def write_review(path: Path, language: str, *, folder: Path | None = None, kinds: tuple[str, ...] = ()) -> int:
    """Write the sheet for speakers of a language, and give its number of rows."""
    known = describe(resolve(language))
    rows = review_rows(known.tag, folder=folder, kinds=kinds)
    write_sheet(path, rows, form=SheetForm(REVIEW, known.direction == "rtl", guide_lines(known.tag)))
    return len(rows)


def read_review(path: Path, current: Iterable[Mapping[str, str]]) -> TemplateReview:
    """What reviewers wrote into a sheet of the `current` rows; every cell that cannot be used is named at once.

    A row without a verdict and without a correction was not reviewed.
    """
    known: dict[tuple[str, ...], set[str]] = {}
    for row in current:
        known.setdefault(_key(row), set()).add(row["text"])
    rows, problems, forms = [], list[tuple[int, str]](), dict[str, Counter[str]]()
    for line, cells in read_sheet(path):
        row = {name: cells.get(name, "") for name in REVIEW}
        row["verdict"] = row["verdict"].strip().casefold()
        if not row["verdict"] and not row["text fix"]:
            continue
        problem = _row_problem(row, known)
        if problem:
            problems.append((line, problem))
            continue
        row["reviewer"] = row["reviewer"] or path.stem
        rows.append(row)
        if row["kind"] == FORM:
            forms.setdefault(row["where"], Counter())[row["reviewer"]] += 1
    if problems:
        raise BadData(path, None, list_problems(problems))
    if not rows:
        raise IsoglossError(f"No row of {path} has a verdict. Fill in the column 'verdict', or give a new file name.")
    return TemplateReview(tuple(rows), forms)


def _key(row: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(row.get(name, "") for name in ("kind", "where", "id", "features"))


def _row_problem(row: Mapping[str, str], known: Mapping[tuple[str, ...], set[str]]) -> str | None:
    """Why the answers of a row cannot be used."""
    fix = row["text fix"]
    if row["verdict"] not in ("", *VERDICTS):
        return f"the verdict '{row['verdict']}' is none of {', '.join(VERDICTS)}"
    if row["verdict"] == "fixed" and not fix:
        return "the verdict is 'fixed', but 'text fix' is empty"
    if row["kind"] != SENTENCE and row["text"] not in known.get(_key(row), ()):
        return f"'{row['text']}' is not the text of '{row['id']}' in {row['where']} any more; write a new sheet"
    if fix and row["kind"] == PROMPT and sorted(SLOTS.findall(fix)) != sorted(SLOTS.findall(row["text"])):
        return f"the prompt must keep {', '.join(SLOTS.findall(row['text']))}"
    if fix and row["kind"] == WORDING:
        try:
            parse_template(fix)
        except BadTemplate as error:
            return f"'{fix}' is no template ({error.problem})"
    return None


def _use_of(row: Mapping[str, str]) -> str:
    first = row["features"].split(" ")[0]
    return first if first in USES else MAIN


def apply_review(review: TemplateReview, lexicon: Lexicon, *, folder: Path) -> int:
    """Write corrected forms and wordings, and the reviewers' names, into the folder; gives how many texts changed.

    A file that the folder lacks is read from what ships and written into the folder; what ships never changes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    changed = _apply_wordings(review, lexicon.language, folder=folder)
    for name, reviewers in review.forms.items():
        vocabulary = lexicon.vocabularies[name]
        text = vocabulary.path.read_text(encoding="utf-8")
        for row in review.corrections:
            if row["kind"] == FORM and row["where"] == name:
                text, count = _correct(text, row)
                changed += count
        total = sum(len(cells) for term in vocabulary.terms.values() for cells in term.uses.values())
        names = "; ".join(f"{who} ({count} of {total} forms)" for who, count in sorted(reviewers.items()))
        text = re.sub(r"(?m)^reviewed = .*\n", "", text)
        text = text.replace("\n[terms]", f'\nreviewed = "{names}"\n\n[terms]'.replace("\n\nreviewed", "\nreviewed"), 1)
        write_file(folder / vocabulary.path.name, text.encode())
    return changed


def _apply_wordings(review: TemplateReview, language: str, *, folder: Path) -> int:
    """Put corrected templates in the place of the old ones in the folder's file of sets, which is begun if it is missing."""
    rows = [row for row in review.corrections if row["kind"] == WORDING]
    own = folder / "sets.toml"
    if not rows and own.exists():
        return 0
    text = (own if own.exists() else sets_path(language)).read_text(encoding="utf-8")
    changed = 0
    for row in rows:
        # only within the set: other sets may have a wording of the same text
        start = text.index(f'id = "{row["where"]}"')
        end = text.find("[[set]]", start)
        part = text[start : end if end >= 0 else len(text)]
        fixed = part.replace(f'"{row["text"]}"', f'"{row["text fix"]}"', 1)
        changed += fixed != part
        text = text[:start] + fixed + text[start + len(part) :]
    write_file(own, text.encode())
    return changed


def _correct(text: str, row: Mapping[str, str]) -> tuple[str, int]:
    """The text of a vocabulary file with one form of a term replaced in its line, wherever the term has that form."""
    line = re.search(rf'(?m)^"?{re.escape(row["id"])}"? = \{{.*$', text)
    if line is None:
        return text, 0
    old, new = (f'"{row[name]}"' for name in ("text", "text fix"))
    fields = ("lemma", "forms") if _use_of(row) == MAIN else (_use_of(row),)
    pattern = rf'({"|".join(fields)}) = (\[[^\]]*\]|\{{[^}}]*\}}|"[^"]*")'
    fixed = re.sub(pattern, lambda field: field[0].replace(old, new), line[0])
    return text.replace(line[0], fixed, 1), int(fixed != line[0])


def review_as_text(review: TemplateReview, *, applied: bool) -> str:
    """Who reviewed what, and every correction with its file; those that are not applied have to be made by hand."""
    lines = [
        f"{name}: {who} reviewed {count} forms"
        for name, counts in review.forms.items()
        for who, count in sorted(counts.items())
    ]
    seen: Sequence[tuple[str, str]] = [(row["kind"], row["reviewer"]) for row in review.rows if row["kind"] != FORM]
    lines += [f"{kind}s: {who} reviewed {count}" for (kind, who), count in sorted(Counter(seen).items())]
    for row in review.rows:
        where = f"{row['where']}, {row['id']}, {row['features']}".rstrip(", ")
        if row in review.corrections:
            done = "corrected" if applied and row["kind"] in (FORM, WORDING) else "to correct"
            lines.append(f"{done}: {where}: {row['text']} → {row['text fix']}")
        notes = [f"{name}: {row[name]}" for name in ("stands for", "comment") if row[name]]
        if notes or row["verdict"] in ("drop", "unsure"):
            lines.append(f"{row['verdict'] or 'noted'}: {where}: {row['text']} {'; '.join(notes)}".rstrip())
    return "\n".join(lines)
