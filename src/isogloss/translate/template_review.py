"""Review sheets of templates: what speakers look through, what they corrected, and who reviewed what."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import BadData, IsoglossError
from ..sealing import write_file
from ..templates.checks import expand_sets, sets_path
from ..templates.features import USES, show_features
from ..templates.lexicon import Lexicon, read_lexicon
from ..templates.sets import read_sets
from ..templates.vocabulary import MAIN
from .sheets import VERDICT_COLUMNS, VERDICTS, read_sheet

FORM, SENTENCE = "form", "sentence"
REVIEW = ("kind", "where", "id", "gloss", "features", "text", "text fix", "stands for", *VERDICT_COLUMNS)


@dataclass(frozen=True, slots=True)
class TemplateReview:
    """A filled sheet: its rows with a verdict or a correction, and how many forms each reviewer saw of each vocabulary."""

    rows: tuple[Mapping[str, str], ...]
    forms: Mapping[str, Mapping[str, int]]

    @property
    def corrections(self) -> tuple[Mapping[str, str], ...]:
        return tuple(row for row in self.rows if row["text fix"] not in ("", row["text"]))


def review_rows(language: str, *, folder: Path | None = None, per_template: int = 5) -> list[dict[str, str]]:
    """What speakers look through: every form of every vocabulary, and some sentences of each template.

    The column `stands for` is for what a word means to people in a place beside its dictionary meaning.
    """
    lexicon = read_lexicon(language, folder)
    rows = [
        {"kind": FORM, "where": vocabulary.category, "id": term.id, "gloss": term.gloss, "text": cell.text}
        | {"features": f"{use} {show_features(cell.features)}".strip()}
        for vocabulary in lexicon.vocabularies.values()
        for term in vocabulary.terms.values()
        for use, cells in term.uses.items()
        for cell in cells
    ]
    for template_set in read_sets(sets_path(lexicon.language, folder)):
        sentences: dict[str, list[str]] = {}
        for frame, sentence in expand_sets([template_set], lexicon):
            sentences.setdefault(f"{frame.name} {frame.variant or ''}".strip(), []).append(sentence.text)
        for name, texts in sentences.items():
            chosen = np.random.default_rng(0).permutation(len(texts))[:per_template]
            rows += [
                {"kind": SENTENCE, "where": template_set.id, "id": name, "text": texts[int(index)]} for index in chosen
            ]
    return rows


def read_review(path: Path, lexicon: Lexicon) -> TemplateReview:
    """What reviewers wrote into a sheet; a row without a verdict and without a correction was not reviewed."""
    rows, forms = [], dict[str, Counter[str]]()
    for line, cells in read_sheet(path):
        row = {name: cells.get(name, "") for name in REVIEW}
        if row["verdict"] not in ("", *VERDICTS):
            raise BadData(path, line, f"the verdict '{row['verdict']}' is none of {', '.join(VERDICTS)}.")
        if not row["verdict"] and not row["text fix"]:
            continue
        row["reviewer"] = row["reviewer"] or path.stem
        rows.append(row)
        if row["kind"] == FORM:
            vocabulary = lexicon.vocabularies.get(row["where"])
            term = vocabulary.terms.get(row["id"]) if vocabulary else None
            if term is None or row["text"] not in [cell.text for cell in term.uses.get(_use_of(row), ())]:
                problem = f"'{row['text']}' is no form of '{row['id']}' in {row['where']}. Write a new sheet."
                raise BadData(path, line, problem)
            forms.setdefault(row["where"], Counter())[row["reviewer"]] += 1
    if not rows:
        raise IsoglossError(f"No row of {path} has a verdict. Fill in the column 'verdict', or give a new file name.")
    return TemplateReview(tuple(rows), forms)


def _use_of(row: Mapping[str, str]) -> str:
    first = row["features"].split(" ")[0]
    return first if first in USES else MAIN


def apply_review(review: TemplateReview, lexicon: Lexicon, *, folder: Path) -> int:
    """Write corrected forms and the reviewers' names into the folder; gives how many forms changed.

    A vocabulary that the folder lacks is read from what ships and written into the folder; what ships never changes.
    """
    changed = 0
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
    """Who reviewed what, and every correction; a sentence's template has to be changed by hand."""
    lines = [
        f"{name}: {who} reviewed {count} forms"
        for name, counts in review.forms.items()
        for who, count in sorted(counts.items())
    ]
    seen: Sequence[str] = [row["reviewer"] for row in review.rows if row["kind"] == SENTENCE]
    lines += [f"sentences: {who} reviewed {count}" for who, count in sorted(Counter(seen).items())]
    for row in review.rows:
        where = f"{row['where']}, {row['id']}, {row['features']}".rstrip(", ")
        if row in review.corrections:
            done = "corrected" if applied and row["kind"] == FORM else "to correct"
            lines.append(f"{done}: {where}: {row['text']} → {row['text fix']}")
        notes = [f"{name}: {row[name]}" for name in ("stands for", "comment") if row[name]]
        if notes or row["verdict"] in ("drop", "unsure"):
            lines.append(f"{row['verdict'] or 'noted'}: {where}: {row['text']} {'; '.join(notes)}".rstrip())
    return "\n".join(lines)
