"""The grammar of templates: a line of text becomes its elements, with errors that name line and column, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from lark import Lark, Token
from lark.exceptions import UnexpectedInput

from ..errors import IsoglossError
from .features import Features, parse_features, show_features

GRAMMAR = r"""
start: element*
?element: TEXT | slot | written | wordings
slot: "{" NAME (agree | asked)* "}"
agree: "~" NAME
asked: ":" FEATURES
written: "[" FORM ("|" FORM)* [agree] "]"
wordings: "(" alternative ("|" alternative)* ")"
alternative: element*

TEXT: /(\\.|[^\\{}\[\]()|])+/s
NAME: /\s*[^\s{}\[\]()|~:=,;\\]+\s*/
FEATURES: /[^{}\[\]()|~:\\]+/
FORM: /(\\.|[^\\{}\[\]()|~])+/s
"""
SPECIAL = r"\{}[]()|~:"


@dataclass(frozen=True, slots=True)
class Text:
    """Literal text."""

    text: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a term of a category or a word, with features, and perhaps another slot to agree with."""

    name: str
    agrees: str | None = None
    features: Features = ()
    column: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Written:
    """A word written out form by form that agrees with a slot."""

    forms: tuple[tuple[Features, str], ...]
    agrees: str
    column: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TermChoice:
    """A slot that lists its own terms."""

    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wordings:
    """Alternative wordings; each is a row of elements."""

    alternatives: tuple[tuple[Element, ...], ...]


Element = Text | Slot | Written | TermChoice | Wordings


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed template."""

    elements: tuple[Element, ...]

    def __str__(self) -> str:
        """The template as one writes it; parsing it gives the same template."""
        return "".join(map(_show, self.elements))


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """The position of a template: a file, the set it belongs to, its line."""

    path: Path | str = "the template"
    line: int = 1


class BadTemplate(IsoglossError):
    """A template that cannot be read: where, to the column, and why."""

    def __init__(self, position: SourcePosition, column: int, problem: str) -> None:
        super().__init__(f"{position.path}, line {position.line}, column {column}: {problem}")
        self.problem = problem
        self.column = column


def parse_template(text: str, position: SourcePosition | None = None) -> Template:
    """The elements of a template."""
    position = position or SourcePosition()
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        raise _syntax_error(text, error, position=position) from error
    return Template(_row(tree.children, position))


@cache
def _parser() -> Lark:
    return Lark(GRAMMAR, parser="lalr", lexer="contextual", propagate_positions=True, maybe_placeholders=True)


def _syntax_error(text: str, error: UnexpectedInput, *, position: SourcePosition) -> BadTemplate:
    """What is wrong with a text, and where; at the end of the text lark does not know the position."""
    token, index = getattr(error, "token", None), error.pos_in_stream
    if (token is not None and token.type == "$END") or index is None or not 0 <= index < len(text):
        before, plain = text, re.sub(r"\\.", "", text)
        opened = [pair[0] for pair in ("{}", "[]", "()") if plain.count(pair[0]) > plain.count(pair[1])]
        problem = f"the template ends before its '{opened[0]}' is closed." if opened else "the template ends too soon."
    else:
        before, sign = text[:index], text[index]
        problem = f"'{sign}' cannot stand here. A slot is {{name}}, {{name:features}} or {{name~slot:features}}."
        if sign in "})]|":
            problem = f"'{sign}' stands alone here; write '\\{sign}' if you mean the character itself."
    column = len(before) - (before.rfind("\n") + 1) + 1
    return BadTemplate(SourcePosition(position.path, position.line + before.count("\n")), column, problem)


def _row(nodes: Iterable[Any], position: SourcePosition) -> tuple[Element, ...]:
    """The elements of a row of nodes, texts that touch put together."""
    parts: list[Element] = []
    for node in nodes:
        if isinstance(node, Token):
            parts.append(Text(_plain(str(node))))
        elif node.data == "slot":
            parts.append(_slot(node, position))
        elif node.data == "written":
            parts.append(_written(node, position))
        else:
            rows = [_row(row.children, position) for row in node.children]
            parts += [Wordings(tuple(rows))] if len(rows) > 1 else [Text("("), *rows[0], Text(")")]
    joined: list[Element] = []
    for part in parts:
        if isinstance(part, Text) and joined and isinstance(joined[-1], Text):
            joined[-1] = Text(joined[-1].text + part.text)
        elif part != Text(""):
            joined.append(part)
    return tuple(joined)


def _slot(node: Any, position: SourcePosition) -> Slot:
    name = str(node.children[0]).strip()
    agrees: str | None = None
    features: Features = ()
    for child in node.children[1:]:
        token = child.children[0]
        if agrees if child.data == "agree" else features:
            problem = f"'{name}' has two of these; give all features after one ':', and one '~'."
            raise _bad(token, position, problem=problem)
        if child.data == "agree":
            agrees = str(token).strip()
        else:
            features = _features(token, str(token), position=position)
    return Slot(name, agrees, features, column=node.meta.column)


def _written(node: Any, position: SourcePosition) -> Written | TermChoice:
    *tokens, agree = node.children
    if agree is None:
        terms = [_plain(str(token)).strip(" ") for token in tokens]
        if "" in terms:
            raise _bad(tokens[terms.index("")], position, problem="a term is empty.")
        return TermChoice(tuple(terms))
    forms = []
    for token in tokens:
        match = re.match(r"((?:\\.|[^\\:])*):(.*)", str(token), re.DOTALL)  # at the first colon that is not escaped
        if match is None:
            raise _bad(token, position, problem="say which form this is, as in [masc: … | fem: … ~slot].")
        forms.append((_features(token, match[1], position=position), _plain(match[2]).strip(" ")))
    return Written(tuple(forms), str(agree.children[0]).strip(), column=node.meta.column)


def _features(token: Any, text: str, *, position: SourcePosition) -> Features:
    try:
        return parse_features(text)
    except ValueError as error:
        raise _bad(token, position, problem=str(error)) from error


def _bad(token: Any, position: SourcePosition, *, problem: str) -> BadTemplate:
    return BadTemplate(SourcePosition(position.path, position.line + token.line - 1), token.column, problem)


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def escape(text: str, signs: str = r"\{}[]()|") -> str:
    """Text escaped so that a template contains it literally."""
    return "".join(f"\\{sign}" if sign in signs else sign for sign in text)


def _show(element: Element) -> str:
    match element:
        case Text(text):
            return escape(text)
        case Slot(name=name, agrees=agrees, features=features):
            goes = f"~{agrees}" if agrees else ""
            asked = f":{show_features(features)}" if features else ""
            return f"{{{name}{goes}{asked}}}"
        case Written(forms=forms, agrees=agrees):
            lines = " | ".join(f"{show_features(features)}: {escape(text, SPECIAL)}" for features, text in forms)
            return f"[{lines} ~{agrees}]"
        case TermChoice(terms):
            return f"[{'|'.join(escape(term, SPECIAL) for term in terms)}]"
        case Wordings(alternatives):
            return f"({'|'.join(''.join(map(_show, row)) for row in alternatives)})"
