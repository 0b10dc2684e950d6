"""Sets of templates: which slot is measured with which, in which wordings; read from sets.toml."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import BadData, UnknownName
from .grammar import SourcePosition, Template, parse_template
from .vocabulary import read_toml, refuse_unknown

SWITCHES = ("capitals", "contractions", "unique")
FIELDS = {"id", "category", "title", "terms", "concepts", "only", "wordings", "periphrasis_of", "note", *SWITCHES}
WORDING = {"id", "text", "negated", "note"}


@dataclass(frozen=True, slots=True)
class TemplateWording:
    """One template of a set, and the counterpart that denies it; `position` is its file and line."""

    id: str
    template: Template
    position: SourcePosition
    negated: Template | None = None


@dataclass(frozen=True, slots=True)
class TemplateSet:
    """Templates that say the same in several wordings: the terms compared, and the concepts they are compared with.

    `capitals` and `contractions` apply the automatic steps; `unique` refuses two terms that give the same sentence.
    """

    id: str
    category: str
    terms: str
    wordings: tuple[TemplateWording, ...]
    concepts: str | None = None
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    periphrasis_of: str | None = None
    title: str = ""
    capitals: bool = True
    contractions: bool = True
    unique: bool = True


def read_sets(path: Path) -> list[TemplateSet]:
    """The sets of a file; each error names the set, and in a template the line and column."""
    content = read_toml(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = content.get("set")
    if not isinstance(rows, list) or not rows or set(content) != {"set"}:
        raise BadData(path, None, "a file of sets has tables [[set]] and nothing else.")
    sets = [_set(row, path, lines=lines) for row in rows]
    ids = [template_set.id for template_set in sets]
    for template_set in sets:
        if ids.count(template_set.id) > 1:
            raise BadData(path, None, f"the set '{template_set.id}' is given twice.")
        if template_set.periphrasis_of is not None and template_set.periphrasis_of not in ids:
            raise BadData(
                path,
                None,
                f"set '{template_set.id}' is a periphrasis of '{template_set.periphrasis_of}', which is not there.",
            )
    return sets


def choose_sets(sets: list[TemplateSet], names: list[str]) -> list[TemplateSet]:
    """The sets of these names; all without names."""
    by_id = {template_set.id: template_set for template_set in sets}
    for name in names:
        if name not in by_id:
            raise UnknownName("set", name, by_id)
    return [by_id[name] for name in names] or sets


def _set(row: Mapping[str, Any], path: Path, *, lines: list[str]) -> TemplateSet:
    name = row.get("id")
    try:
        if not isinstance(name, str) or not name:
            raise ValueError("a set needs an 'id'.")
        refuse_unknown(row, FIELDS)
        for key in ("category", "terms"):
            if not isinstance(row.get(key), str):
                raise ValueError(f"'{key}' is missing.")
        wordings = row.get("wordings")
        if not isinstance(wordings, list) or not wordings:
            raise ValueError("'wordings' must be a list of templates.")
        wordings_read = tuple(
            _wording(wording, number, path=path, lines=lines) for number, wording in enumerate(wordings, 1)
        )
        ids = [wording.id for wording in wordings_read]
        if len(set(ids)) < len(ids):
            raise ValueError("two wordings have the same id.")
        wrong = [key for key in SWITCHES if not isinstance(row.get(key, True), bool)]
        if wrong:
            raise ValueError(f"'{wrong[0]}' is true or false.")
    except ValueError as error:
        raise BadData(path, None, f"set '{name}': {error}") from error
    return TemplateSet(
        name,
        row["category"],
        row["terms"],
        wordings_read,
        row.get("concepts"),
        {key: tuple(value) for key, value in row.get("only", {}).items()},
        row.get("periphrasis_of"),
        row.get("title", ""),
        **{key: row.get(key, True) for key in SWITCHES},
    )


def _wording(entry: Any, number: int, *, path: Path, lines: list[str]) -> TemplateWording:
    fields = {"text": entry} if isinstance(entry, str) else entry
    if not isinstance(fields, dict) or not isinstance(fields.get("text"), str):
        raise ValueError('a wording is a template, or { id = "…", text = "…", negated = "…" }.')
    refuse_unknown(fields, WORDING)
    position = _position(fields["text"], path, lines=lines)
    template = parse_template(fields["text"], position)
    denied = fields.get("negated")
    negated = parse_template(denied, _position(denied, path, lines=lines)) if denied is not None else None
    return TemplateWording(str(fields.get("id", f"w{number}")), template, position, negated)


def _position(text: str, path: Path, *, lines: list[str]) -> SourcePosition:
    """The line of the file that contains a template; the first line if the template does not occur verbatim."""
    numbers = [number for number, line in enumerate(lines, 1) if text in line]
    return SourcePosition(path, numbers[0] if numbers else 1)
