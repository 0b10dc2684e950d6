"""The language of claims: what a claim says about measures, from its text to comparisons of terms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from lark import Lark, Tree
from lark.exceptions import UnexpectedInput

from .. import registry
from ..analysis.groups import SYNONYMS
from ..errors import IsoglossError

GRAMMAR = r"""
start: scope* any
scope: "for" QUANTIFIER NAME ["in" selectors] ":"
any: all ("or" all)*
all: atom ("and" atom)*
?atom: "(" any ")" | order | equal | extreme | correlation | change
order: side SIGN side [SHIFT]
equal: side "=" side ("±" | "+-") NUMBER
extreme: term "is" EXTREME "among" term
correlation: "correlation" "(" term "," term ")" SIGN NUMBER
change: "change" "(" term ")" "within" NUMBER
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
NAME: /(?!(?:correlation|change)\s*\()("[^"]+"|'[^']+'|[^\W_][\w.\/@:-]*(?<!:))/
%import common.WS
%ignore WS
"""
EVERY, SOME, MEAN = "every", "some", "mean"
CHANGE = "change"  # from the baseline
HOMOGENEOUS = "homogeneous"  # a model with the same preferences for every target
MISTYPED = {"=>": ">=", "=<": "<=", "==": "= … ±", "+/-": "±"}
HOW = "docs/how-to/gate.md describes the language"


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

    `kind` is order, equal (within `shift`), change (from the baseline, within `shift`), homogeneous or correlation.
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


def _build(node: Any) -> Any:
    """What a node of the grammar's tree means; an optional part that is not there is None."""
    if not isinstance(node, Tree):
        return node
    parts = [_build(child) for child in node.children]
    match str(node.data):
        case "start":
            return replace(parts[-1], scopes=tuple(parts[:-1]))
        case "scope":
            quantifier, name, chosen = parts
            if quantifier == MEAN:
                raise IsoglossError(f"'for mean {_plain(name)}' has no meaning; use 'for every' or 'for some'.")
            return Scope(str(quantifier), SYNONYMS.get(_plain(name), _plain(name)), chosen or ())
        case "any" | "all":
            alone = len(parts) == 1 and isinstance(parts[0], Formula)
            return parts[0] if alone else Formula(SOME if node.data == "any" else EVERY, tuple(parts))
        case "order":
            return _order(parts)
        case "equal":
            left, right, margin = parts if isinstance(parts[0], ClaimTerm) else (parts[1], parts[0], parts[2])
            return Relation("equal", _term_of(left), _number(right), 1, abs(float(margin)))
        case "extreme":
            return Relation("order", parts[0], parts[2], 1 if parts[1] == "highest" else -1)
        case "correlation":
            left, right, sign, number = parts
            return Relation("correlation", left, right, 1 if sign[0] == ">" else -1, float(number), len(sign) == 1)
        case "change":
            return Relation(CHANGE, parts[0], None, 1, abs(float(parts[1])))
        case "term":
            quantifier, distance, name, chosen = parts
            if name == HOMOGENEOUS and not chosen and not quantifier:
                return HOMOGENEOUS
            metric = _plain(name).replace("-", "_")
            if registry.get("metric", metric).neutral is None and distance:
                raise IsoglossError(f"'{metric}' has no neutral point, so it has no distance from it.")
            return ClaimTerm(metric, chosen or (), str(quantifier) if quantifier else EVERY, distance is not None)
        case "selector":
            negation, name, equals, value = parts
            if equals is None:
                return Selector(_plain(name), None, negation is not None)
            column = SYNONYMS.get(_plain(name), _plain(name))
            return Selector(_plain(value), column, (negation is not None) != (equals == "!="))
    return tuple(parts)  # selectors


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
    return Relation("order", _term_of(right), _number(left), -above, -moved, strict)


def _number(side: Any) -> ClaimTerm | float:
    if side == HOMOGENEOUS:
        raise IsoglossError("'homogeneous' is allowed after < or > only.")
    return side if isinstance(side, ClaimTerm) else float(side)


def _term_of(side: Any) -> ClaimTerm:
    if not isinstance(side, ClaimTerm):
        raise IsoglossError("a claim compares a metric with something, and here are two numbers.")
    return side


def _plain(name: str) -> str:
    return str(name).strip("\"'")


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
        meant = next((f" Did you mean '{right}'?" for wrong, right in MISTYPED.items() if wrong in text), "")
        if text.count("(") > text.count(")"):
            meant = (
                " A parenthesis is not closed; in a list in brackets, write a claim that contains a comma in quotes."
            )
        raise IsoglossError(f"'{text}' cannot be understood {where}; {HOW}.{meant}") from error
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


def _bounds(term: ClaimTerm) -> tuple[float, float]:
    """The least and the largest value that a term can have."""
    metric = registry.get("metric", term.metric)
    low, high = metric.bounds
    return (0.0, max(high - metric.neutral, metric.neutral - low)) if term.distance else (low, high)


def _check_can_fail(relation: Relation, text: str) -> None:
    """Refuse what holds, or fails, for every model there can be."""
    if relation.kind in (HOMOGENEOUS, "correlation"):
        return
    (low, high), limit = _bounds(relation.left), relation.left if relation.kind == CHANGE else relation.right
    if limit is None:
        return
    if isinstance(limit, ClaimTerm):
        other = _bounds(limit)
        low, high, limit = low - other[1], high - other[0], 0.0
    if relation.kind in ("equal", CHANGE):
        always = limit - relation.shift <= low and high <= limit + relation.shift
        never = limit - relation.shift > high or limit + relation.shift < low
    else:
        limit = relation.sign * (limit + relation.shift)
        low, high = sorted((relation.sign * low, relation.sign * high))
        always = limit < low or (limit == low and not relation.strict)
        never = limit > high or (limit == high and relation.strict)
    if always or never:
        raise IsoglossError(f"'{text}' {'can never fail' if always else 'can never hold'}, so it claims nothing.")
