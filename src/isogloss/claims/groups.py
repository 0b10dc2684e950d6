"""From the names in a claim to groups of scores: which models, languages and items a claim is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from .. import languages
from ..analysis.groups import group_columns, several_methods
from ..errors import IsoglossError, UnknownName
from .language import CHANGE, EVERY, MEAN, ClaimTerm, Formula, Relation, Scope, Selector, relations

IDENTITY = ("model", "language", "dataset", "method")
BARE = ("model", "language", "task", "category", "dataset")
"""The columns whose values may stand without the column's name."""


@dataclass(frozen=True, slots=True)
class ScoreGroup:
    """The scores of a model in a language, and of them the items that fit the filters; `before` is that of the baseline."""

    names: tuple[tuple[str, str], ...]
    filters: tuple[Selector, ...] = ()
    before: bool = False

    def label(self) -> str:
        """The group in words."""
        names = {name: value for name, value in self.names if name not in ("dataset", "method")}
        shown = list((names | {"model": "the baseline"} if self.before else names).values())
        return ", ".join([*shown, *("not " * filtered.negated + filtered.value for filtered in self.filters)])


@dataclass(frozen=True, slots=True)
class ClaimSide:
    """A metric on a group of scores, or its distance from the neutral point; for several groups, the mean over them."""

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
    if column is None:
        flag = "multilingual" if value == "monolingual" else value
        if flag in facts and _values(flag, catalogue) <= {"True", "False"}:
            return replace(selector, column=flag, value=str(flag == value))
        columns = [name for name in dict.fromkeys([*BARE, *sorted(facts)]) if value in _values(name, catalogue)]
        if not columns and not _tag(value, catalogue):
            known = set().union(*(_values(name, catalogue) for name in {*BARE, *facts})) - {"True", "False"}
            known |= {languages.describe(tag).name for tag in _values("language", catalogue)}
            raise UnknownName("model, language, group or value", value, known)
        if len(columns) > 1:
            choices = " or ".join(f"{name}={value}" for name in columns)
            raise IsoglossError(f"'{value}' is a value of several columns. Write {choices}.")
        column = columns[0] if columns else "language"
    elif column not in {*IDENTITY, *facts, *catalogue.columns}:
        raise UnknownName("column", column, {*IDENTITY, *facts, *catalogue.columns})
    known = _values(column, catalogue)
    tag = _tag(value, catalogue) if column == "language" and value not in known else None
    if value not in known and tag is None:
        raise UnknownName(column, value, known)
    return replace(selector, column=column, value=tag or value)


def _values(column: str, catalogue: Catalogue) -> set[str]:
    """All values of a column, also of models that have facts but no scores."""
    known = {cell[column] for cell in catalogue.known if column in cell} | set(catalogue.columns.get(column, ()))
    own = {facts[column] for facts in catalogue.facts.values() if column in facts}
    return known | (set(catalogue.facts) if column == "model" else own)


def _tag(value: str, catalogue: Catalogue) -> str | None:
    """The tag of a language by tag or name, if it has a file or scores: most short words are the tag of some language."""
    try:
        tag = languages.resolve(value)
    except IsoglossError:
        return None
    return tag if tag in languages.tags() or tag in _values("language", catalogue) else None


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
    return _expand(formula, catalogue, bound=bound)


def leave_out(tree: Hypotheses, is_wrong: Callable[[ScoreGroup], bool]) -> tuple[Hypotheses, tuple[str, ...]]:
    """The hypotheses without groups that are wrong, and the names of these; a mean keeps its other groups."""
    names: dict[str, None] = {}

    def trim(side: ClaimSide) -> ClaimSide:
        wrong = [group for group in side.groups if is_wrong(group)]
        names.update(dict.fromkeys(group.label() for group in wrong))
        return replace(side, groups=tuple(group for group in side.groups if group not in wrong))

    def prune(part: Hypotheses | Hypothesis) -> Hypotheses | Hypothesis | None:
        if isinstance(part, Hypotheses):
            kept = tuple(inner for inner in map(prune, part.parts) if inner is not None)
            return replace(part, parts=kept) if kept else None
        left, right = trim(part.left), trim(part.right) if isinstance(part.right, ClaimSide) else part.right
        emptied = not left.groups or (isinstance(right, ClaimSide) and not right.groups)
        return None if emptied else replace(part, left=left, right=right)

    pruned = prune(tree)
    return (pruned if isinstance(pruned, Hypotheses) else Hypotheses(tree.quantifier, ())), tuple(names)


def _expand(part: Formula | Relation, catalogue: Catalogue, *, bound: tuple[Selector, ...]) -> Hypotheses:
    """The hypotheses of a part where `bound` holds; of a formula with scopes, for each value of the first scope's column."""
    if isinstance(part, Relation):
        return _expand_relation(part, catalogue, bound=bound)
    if not part.scopes:
        quantifier, parts = part.quantifier, [_expand(inner, catalogue, bound=bound) for inner in part.parts]
    else:
        scope, inner = part.scopes[0], replace(part, scopes=part.scopes[1:])
        bounds = [(*bound, Selector(value, scope.column)) for value in _scope_values(scope, catalogue, bound=bound)]
        quantifier, parts = scope.quantifier, [_expand(inner, catalogue, bound=narrower) for narrower in bounds]
    return Hypotheses(quantifier, tuple(hypotheses for hypotheses in parts if any(hypotheses.leaves())))


def _scope_values(scope: Scope, catalogue: Catalogue, *, bound: tuple[Selector, ...]) -> Sequence[str]:
    """The values of a scope's column: all of the items', or those of the groups that the scope chooses."""
    column = scope.column
    if column in catalogue.columns:
        return sorted(catalogue.columns[column])
    find_column(Selector(next(iter(_values(column, catalogue)), ""), column), catalogue)
    groups = select_groups(ClaimTerm("", scope.selectors), catalogue, bound=bound)
    cells = [cell for cell in catalogue.cells if any(dict(group.names).items() <= cell.items() for group in groups)]
    return list(dict.fromkeys(cell[column] for cell in cells if column in cell))


def _expand_relation(relation: Relation, catalogue: Catalogue, *, bound: tuple[Selector, ...]) -> Hypotheses:
    """Every pair of groups of the two sides, none with itself; a correlation has all groups at once.

    Equality within a margin is two hypotheses, one for each end; so is a change, of which the other side is the baseline.
    """
    together = relation.kind == "correlation"
    kind, ends = relation.kind, [(relation.sign, relation.shift)]
    if kind == "equal":
        kind = "order"
    if relation.kind in ("equal", CHANGE):
        ends = [(1, -relation.shift), (-1, relation.shift)]
    rights: Sequence[ClaimSide | float | None]
    if isinstance(relation.right, ClaimTerm):
        quantifier, rights = (
            relation.right.quantifier,
            _sides(relation.right, catalogue, bound=bound, together=together),
        )
    else:
        quantifier, rights = EVERY, [relation.right]
    rows = []
    for left in _sides(relation.left, catalogue, bound=bound, together=together):
        before = replace(left, groups=tuple(replace(group, before=True) for group in left.groups))
        others = [right for right in rights if together or right != left] if kind != CHANGE else [before]
        leaves = [tuple(Hypothesis(kind, left, right, sign, shift) for sign, shift in ends) for right in others]
        rows += [Hypotheses(quantifier, tuple(Hypotheses(EVERY, pair) for pair in leaves))] if leaves else []
    return Hypotheses(relation.left.quantifier, tuple(rows))


def _sides(term: ClaimTerm, catalogue: Catalogue, *, bound: tuple[Selector, ...], together: bool) -> list[ClaimSide]:
    groups = select_groups(term, catalogue, bound=bound)
    if term.quantifier == MEAN or together:
        return [ClaimSide(term.metric, tuple(groups), term.distance)] if groups else []
    return [ClaimSide(term.metric, (group,), term.distance) for group in groups]
