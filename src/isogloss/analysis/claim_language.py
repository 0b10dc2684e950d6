"""The language of claims: what a claim says about measures, from its text to comparisons of terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from lark import Lark, Tree
from lark.exceptions import UnexpectedInput

from .. import registry
from ..errors import IsoglossError
from .groups import SYNONYMS

GRAMMAR = r"""
start: scope* any
scope: "for" QUANTIFIER NAME ["in" selectors] ":"
any: all ("or" all)*
all: atom ("and" atom)*
?atom: "(" any ")" | order | equal | extreme | correlation
order: side SIGN side [SHIFT]
equal: side "=" side ("±" | "+-") NUMBER
extreme: term "is" EXTREME "among" term
correlation: "correlation" "(" term "," term ")" SIGN NUMBER
?side: term | NUMBER
term: [QUANTIFIER] [DISTANCE] NAME ["(" selectors ")"]
selectors: selector ("," selector)*
selector: [NOT] NAME [EQUALS NAME]

QUANTIFIER.2: "every" | "some" | "mean"
DISTANCE.2: "distance"
EXTREME.2: "highest" | "lowest"
NOT.2: "not"
SIGN: ">=" | "<=" | ">" | "<"
EQUALS: "!=" | "="
SHIFT: /[+-]\s*[0-9]+(\.[0-9]+)?/
NUMBER.1: /-?[0-9]+(\.[0-9]+)?(?![\w.\/-])/
NAME: /(?!correlation\s*\()("[^"]+"|'[^']+'|[^\W_][\w.\/@:-]*(?<!:))/
%import common.WS
%ignore WS
"""
EVERY, SOME, MEAN = "every", "some", "mean"
HOMOGENEOUS = "homogeneous"  # a model with the same preferences for every target
HOW = "docs/gate.md describes the language"


@dataclass(frozen=True, slots=True)
class Selector:
    """A value that a column must have, or not; without a column, the one that has such a value."""

    value: str
    column: str | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class ClaimTerm:
    """A metric over the groups that all selectors fit: of every one, of some, or their mean.

    With `distance`, it is how far the metric lies from its neutral point.
    """

    metric: str
    selectors: tuple[Selector, ...] = ()
    quantifier: str = EVERY
    distance: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """One comparison: `sign` is 1 for above and -1 for below, `shift` is added to the right side.

    `kind` is order, equal (within `shift`), homogeneous or correlation.
    """

    kind: str
    left: ClaimTerm
    right: ClaimTerm | float | None
    sign: int = 1
    shift: float = 0.0
    strict: bool = True


@dataclass(frozen=True, slots=True)
class Scope:
    """A column whose values are gone through: all that follows must hold for every one, or for some."""

    quantifier: str
    column: str
    selectors: tuple[Selector, ...] = ()


@dataclass(frozen=True, slots=True)
class Formula:
    """Parts of which every one, or some, must hold; scopes stand before the whole."""

    quantifier: str
    parts: tuple[Formula | Relation, ...]
    scopes: tuple[Scope, ...] = ()


def _start(parts: list[Any]) -> Formula:
    formula: Formula = parts[-1]
    return replace(formula, scopes=tuple(parts[:-1]))


def _scope(parts: list[Any]) -> Scope:
    quantifier, name, chosen = parts
    if quantifier == MEAN:
        raise IsoglossError(f"'for mean {_plain(name)}' has no meaning; use 'for every' or 'for some'.")
    return Scope(str(quantifier), SYNONYMS.get(_plain(name), _plain(name)), chosen or ())


def _join(quantifier: str) -> Callable[[list[Any]], Formula]:
    def join(parts: list[Any]) -> Formula:
        alone = len(parts) == 1 and isinstance(parts[0], Formula)
        return parts[0] if alone else Formula(quantifier, tuple(parts))

    return join


def _order(parts: list[Any]) -> Relation:
    left, sign, right, shift = parts
    moved = float(shift.replace(" ", "")) if shift else 0.0
    above, strict = 1 if sign[0] == ">" else -1, len(sign) == 1
    if right == HOMOGENEOUS:
        if not isinstance(left, ClaimTerm) or left.metric != "icat_macro" or moved:
            raise IsoglossError("only 'icat_macro' can be compared with a homogeneous model, without an addition.")
        return Relation(HOMOGENEOUS, left, None, above, 0.0, strict)
    if isinstance(left, ClaimTerm):
        return Relation("order", left, _number(right), above, moved, strict)
    return Relation("order", _term_of(right), float(left), -above, -moved, strict)


def _equal(parts: list[Any]) -> Relation:
    left, right, margin = parts if isinstance(parts[0], ClaimTerm) else (parts[1], parts[0], parts[2])
    return Relation("equal", _term_of(left), _number(right), 1, abs(float(margin)))


def _number(side: Any) -> ClaimTerm | float:
    if side == HOMOGENEOUS:
        raise IsoglossError("'homogeneous' stands after < or > only.")
    return side if isinstance(side, ClaimTerm) else float(side)


def _term_of(side: Any) -> ClaimTerm:
    if not isinstance(side, ClaimTerm):
        raise IsoglossError("a claim compares a metric with something, and here are two numbers.")
    return side


def _extreme(parts: list[Any]) -> Relation:
    return Relation("order", parts[0], parts[2], 1 if parts[1] == "highest" else -1)


def _correlation(parts: list[Any]) -> Relation:
    left, right, sign, number = parts
    return Relation("correlation", left, right, 1 if sign[0] == ">" else -1, float(number), len(sign) == 1)


def _term(parts: list[Any]) -> ClaimTerm | str:
    quantifier, distance, name, chosen = parts
    if name == HOMOGENEOUS and not chosen and not quantifier:
        return HOMOGENEOUS
    metric = _plain(name).replace("-", "_")
    if registry.get("metric", metric).neutral is None and distance:
        raise IsoglossError(f"'{metric}' has no neutral point, so it has no distance from it.")
    return ClaimTerm(metric, chosen or (), str(quantifier) if quantifier else EVERY, distance is not None)


def _selector(parts: list[Any]) -> Selector:
    negation, name, equals, value = parts
    if equals is None:
        return Selector(_plain(name), None, negation is not None)
    column = SYNONYMS.get(_plain(name), _plain(name))
    return Selector(_plain(value), column, (negation is not None) != (equals == "!="))


def _plain(name: str) -> str:
    return str(name).strip("\"'")


BUILDERS: Mapping[str, Callable[[list[Any]], Any]] = {
    "start": _start,
    "scope": _scope,
    "any": _join(SOME),
    "all": _join(EVERY),
    "order": _order,
    "equal": _equal,
    "extreme": _extreme,
    "correlation": _correlation,
    "term": _term,
    "selectors": tuple,
    "selector": _selector,
}


def _build(node: Any) -> Any:
    return BUILDERS[str(node.data)]([_build(child) for child in node.children]) if isinstance(node, Tree) else node


@cache
def _parser() -> Lark:
    return Lark(GRAMMAR, parser="earley", maybe_placeholders=True)


def parse_claim(text: str) -> Formula:
    """What a claim says; a text that cannot be understood is refused with the position where understanding ends."""
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        column = getattr(error, "column", -1)
        where = f"after '{text[: column - 1].rstrip()[-30:]}'" if column > 1 else "at its start or end"
        raise IsoglossError(f"'{text}' cannot be understood {where}; {HOW}.") from error
    formula: Formula = _build(tree)
    for relation in relations(formula):
        _check_can_fail(relation, text)
    return formula


def relations(formula: Formula) -> Iterator[Relation]:
    """All comparisons of a formula."""
    for part in formula.parts:
        if isinstance(part, Relation):
            yield part
        else:
            yield from relations(part)


def bounds_of(term: ClaimTerm) -> tuple[float, float]:
    """The least and the largest value that a term can have."""
    metric = registry.get("metric", term.metric)
    low, high = metric.bounds
    return (0.0, max(high - metric.neutral, metric.neutral - low)) if term.distance else (low, high)


def _check_can_fail(relation: Relation, text: str) -> None:
    """Refuse what holds, or fails, for every model there can be."""
    if relation.kind in (HOMOGENEOUS, "correlation") or relation.right is None:
        return
    low, high = bounds_of(relation.left)
    if isinstance(relation.right, ClaimTerm):
        other = bounds_of(relation.right)
        low, high = low - other[1], high - other[0]
        limit = 0.0
    else:
        limit = relation.right
    if relation.kind == "equal":
        always = limit - relation.shift <= low and high <= limit + relation.shift
        never = limit - relation.shift > high or limit + relation.shift < low
    else:
        limit = relation.sign * (limit + relation.shift)
        low, high = sorted((relation.sign * low, relation.sign * high))
        always = limit < low or (limit == low and not relation.strict)
        never = limit > high or (limit == high and relation.strict)
    if always or never:
        raise IsoglossError(f"'{text}' {'can never fail' if always else 'can never hold'}, so it claims nothing.")
