"""From the names in a claim to groups of scores: which models, languages and items a claim is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from .. import languages
from ..errors import IsoglossError, UnknownName
from .claim_language import EVERY, MEAN, ClaimTerm, Formula, Relation, Scope, Selector, relations
from .groups import group_columns, several_methods

IDENTITY = ("model", "language", "dataset", "method")
BARE = ("model", "language", "task", "category", "dataset")
"""The columns whose values may stand without the column's name."""


@dataclass(frozen=True, slots=True)
class ScoreGroup:
    """The scores of a model in a language, and of them the items that fit the filters."""

    names: tuple[tuple[str, str], ...]
    filters: tuple[Selector, ...] = ()

    def label(self) -> str:
        """The group in words."""
        shown = [value for name, value in self.names if name not in ("dataset", "method")]
        return ", ".join([*shown, *("not " * filtered.negated + filtered.value for filtered in self.filters)])


@dataclass(frozen=True, slots=True)
class ClaimSide:
    """A metric on a group of scores, or its distance from the neutral point; several groups stand for the mean over them."""

    metric: str
    groups: tuple[ScoreGroup, ...]
    distance: bool = False


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One simple hypothesis: left minus right is above (`sign` 1) or below (-1) `shift`."""

    kind: str
    left: ClaimSide
    right: ClaimSide | float | None
    sign: int
    shift: float


@dataclass(frozen=True, slots=True)
class Hypotheses:
    """Hypotheses of which every one, or some, must hold."""

    quantifier: str
    parts: tuple[Hypotheses | Hypothesis, ...]

    def leaves(self) -> Iterator[Hypothesis]:
        """All simple hypotheses."""
        for part in self.parts:
            if isinstance(part, Hypothesis):
                yield part
            else:
                yield from part.leaves()


@dataclass(frozen=True)
class Catalogue:
    """What a claim can be about: models and languages with scores, facts about models, and columns of the items.

    `known` are the cells whose names may be used; of these, `cells` have scores.
    """

    cells: tuple[Mapping[str, str], ...]
    columns: Mapping[str, frozenset[str]]
    facts: Mapping[str, Mapping[str, str]]
    known: tuple[Mapping[str, str], ...]


def make_catalogue(table: pl.DataFrame, facts: Mapping[str, Mapping[str, object]]) -> Catalogue:
    """The catalogue of a table of scores; facts about models without scores are kept."""
    identity = [name for name in IDENTITY if name != "method" or several_methods(table)]
    plain = {model: {name: str(value) for name, value in known.items()} for model, known in facts.items()}
    cells = table.select(identity).unique(maintain_order=True).sort(identity)
    columns = {
        name: frozenset(map(str, table[name].drop_nulls().unique()))
        for name in group_columns(table.columns)
        if name not in IDENTITY and table.schema[name] == pl.String and table[name].null_count() < table.height
    }
    catalogue = tuple({**plain.get(row["model"], {}), **row} for row in cells.iter_rows(named=True))
    return Catalogue(catalogue, columns, plain, catalogue)


def restrict(catalogue: Catalogue, table: pl.DataFrame) -> Catalogue:
    """The same names with the scores of a smaller table."""
    names = [name for name in IDENTITY if catalogue.known and name in catalogue.known[0]]
    there = set(table.select(names).unique().iter_rows())
    return replace(catalogue, cells=tuple(cell for cell in catalogue.known if tuple(cell[n] for n in names) in there))


def find_column(selector: Selector, catalogue: Catalogue) -> Selector:
    """The selector with its column; a name that is not there is refused with the nearest one."""
    column, value = selector.column, selector.value
    facts = {name for known in catalogue.facts.values() for name in known}
    if column is not None:
        if column not in {*IDENTITY, *facts, *catalogue.columns}:
            raise UnknownName("column", column, {*IDENTITY, *facts, *catalogue.columns})
        return replace(selector, value=_value(column, value, catalogue=catalogue))
    flag = "multilingual" if value == "monolingual" else value
    if flag in facts and _values(flag, catalogue) <= {"True", "False"}:
        return replace(selector, column=flag, value=str(flag == value))
    columns_with_value = [name for name in dict.fromkeys([*BARE, *sorted(facts)]) if value in _values(name, catalogue)]
    if not columns_with_value and _tag(value):
        columns_with_value = ["language"]
    if not columns_with_value:
        known = set().union(*(_values(name, catalogue) for name in {*BARE, *facts})) - {"True", "False"}
        known |= {languages.describe(tag).name for tag in _values("language", catalogue)}
        raise UnknownName("model, language, group or value", value, known)
    if len(columns_with_value) > 1:
        choices = " or ".join(f"{name}={value}" for name in columns_with_value)
        raise IsoglossError(f"'{value}' is a value of several columns. Write {choices}.")
    column = columns_with_value[0]
    return replace(selector, column=column, value=_value(column, value, catalogue=catalogue))


def _values(column: str, catalogue: Catalogue) -> set[str]:
    """All values of a column, also of models that have facts but no scores."""
    known = {cell[column] for cell in catalogue.known if column in cell} | set(catalogue.columns.get(column, ()))
    own = {facts[column] for facts in catalogue.facts.values() if column in facts}
    return known | (set(catalogue.facts) if column == "model" else own)


def _value(column: str, value: str, *, catalogue: Catalogue) -> str:
    known = _values(column, catalogue)
    tag = _tag(value) if column == "language" and value not in known else None
    if value not in known and tag is None:
        raise UnknownName(column, value, known)
    return tag or value


def _tag(value: str) -> str | None:
    """The tag of a language that Isogloss knows by tag or name."""
    try:
        tag = languages.resolve(value)
    except IsoglossError:
        return None
    return tag if languages.describe(tag).name != tag else None


def select_groups(term: ClaimTerm, catalogue: Catalogue, *, bound: Sequence[Selector] = ()) -> list[ScoreGroup]:
    """The groups of a term; none where there are no such scores. What a scope binds holds unless the term says otherwise."""
    own = [find_column(selector, catalogue) for selector in term.selectors]
    named = {selector.column for selector in own}
    selectors = [*own, *(selector for selector in bound if selector.column not in named)]
    filters = tuple(selector for selector in selectors if selector.column in catalogue.columns)
    rest = [selector for selector in selectors if selector.column not in catalogue.columns]
    cells = [cell for cell in catalogue.cells if all((cell.get(str(s.column)) == s.value) != s.negated for s in rest)]
    return [ScoreGroup(tuple((name, cell[name]) for name in IDENTITY if name in cell), filters) for cell in cells]


def expand(formula: Formula, catalogue: Catalogue, *, where: Sequence[Selector] = ()) -> Hypotheses:
    """The simple hypotheses that a formula makes of the scores at hand; parts without scores are left out.

    `where` holds for every term that does not say otherwise.
    """
    for relation in relations(formula):
        for term in (relation.left, relation.right):
            if isinstance(term, ClaimTerm):
                select_groups(term, catalogue)
    bound = tuple(find_column(selector, catalogue) for selector in where)
    return _expand_scopes(formula, formula.scopes, catalogue=catalogue, bound=bound)


def _expand_scopes(
    formula: Formula, scopes: tuple[Scope, ...], *, catalogue: Catalogue, bound: tuple[Selector, ...]
) -> Hypotheses:
    if not scopes:
        return _expand_formula(formula, catalogue, bound=bound)
    scope, column = scopes[0], scopes[0].column
    values: Sequence[str] = sorted(catalogue.columns.get(column, ()))
    if column not in catalogue.columns:
        find_column(Selector(next(iter(_values(column, catalogue)), ""), column), catalogue)
        names = [dict(group.names) for group in select_groups(ClaimTerm("", scope.selectors), catalogue, bound=bound)]
        cells = [cell for cell in catalogue.cells if any(names_of.items() <= cell.items() for names_of in names)]
        values = list(dict.fromkeys(cell[column] for cell in cells if column in cell))
    parts = [
        _expand_scopes(formula, scopes[1:], catalogue=catalogue, bound=(*bound, Selector(value, column)))
        for value in values
    ]
    return Hypotheses(scope.quantifier, tuple(part for part in parts if any(part.leaves())))


def _expand_formula(formula: Formula, catalogue: Catalogue, *, bound: tuple[Selector, ...]) -> Hypotheses:
    parts = [
        _expand_relation(part, catalogue, bound=bound)
        if isinstance(part, Relation)
        else _expand_formula(part, catalogue, bound=bound)
        for part in formula.parts
    ]
    return Hypotheses(formula.quantifier, tuple(part for part in parts if any(part.leaves())))


def _expand_relation(relation: Relation, catalogue: Catalogue, *, bound: tuple[Selector, ...]) -> Hypotheses:
    """Every pair of groups of the two sides; a group is never compared with itself."""
    lefts = _sides(relation.left, catalogue, bound=bound)
    right = relation.right
    if relation.kind == "correlation" and isinstance(right, ClaimTerm):
        groups = [
            ClaimSide(term.metric, tuple(select_groups(term, catalogue, bound=bound)), term.distance)
            for term in (relation.left, right)
        ]
        leaf = Hypothesis("correlation", groups[0], groups[1], relation.sign, relation.shift)
        return Hypotheses(EVERY, (leaf,) if groups[0].groups and groups[1].groups else ())
    if not isinstance(right, ClaimTerm):
        return Hypotheses(relation.left.quantifier, tuple(_compared(relation, left, right=right) for left in lefts))
    rights = _sides(right, catalogue, bound=bound)
    rows = [
        Hypotheses(right.quantifier, tuple(_compared(relation, left, right=other) for other in rights if other != left))
        for left in lefts
    ]
    return Hypotheses(relation.left.quantifier, tuple(row for row in rows if row.parts))


def _sides(term: ClaimTerm, catalogue: Catalogue, *, bound: tuple[Selector, ...]) -> list[ClaimSide]:
    groups = select_groups(term, catalogue, bound=bound)
    if term.quantifier == MEAN:
        return [ClaimSide(term.metric, tuple(groups), term.distance)] if groups else []
    return [ClaimSide(term.metric, (group,), term.distance) for group in groups]


def _compared(relation: Relation, left: ClaimSide, *, right: ClaimSide | float | None) -> Hypotheses:
    """The simple hypotheses of one comparison; equality within a margin is two of them, one for each end."""
    if relation.kind == "equal":
        ends = ((1, -relation.shift), (-1, relation.shift))
        return Hypotheses(EVERY, tuple(Hypothesis("order", left, right, sign, shift) for sign, shift in ends))
    leaf = Hypothesis(relation.kind, left, right, relation.sign, relation.shift)
    return Hypotheses(EVERY, (leaf,))
