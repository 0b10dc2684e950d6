"""The grammar of templates: a line of text becomes its elements, with errors that name line and column, and back."""

from __future__ import annotations

import re
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
    """Text that stands as it is."""

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
    """A slot whose terms stand on the spot."""

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
        return show_template(self)


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """Where a template stands: a file, the set it belongs to, its line."""

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
        line, column = _position(text, error)
        raise BadTemplate(
            SourcePosition(position.path, position.line + line - 1), column, _complaint(text, error)
        ) from error
    return Template(_join([_element(child, position) for child in tree.children]))


@cache
def _parser() -> Lark:
    return Lark(GRAMMAR, parser="lalr", lexer="contextual", propagate_positions=True, maybe_placeholders=True)


def _position(text: str, error: UnexpectedInput) -> tuple[int, int]:
    """Line and column of an error; at the end of the text lark does not know them."""
    before = text if _at_end(text, error) else text[: error.pos_in_stream]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def _at_end(text: str, error: UnexpectedInput) -> bool:
    token = getattr(error, "token", None)
    position = error.pos_in_stream
    return (token is not None and token.type == "$END") or position is None or not 0 <= position < len(text)


def _complaint(text: str, error: UnexpectedInput) -> str:
    if _at_end(text, error):
        opened = [sign for sign in "{[(" if _is_open(text, sign)]
        return f"the template ends before its '{opened[0]}' is closed." if opened else "the template ends too soon."
    sign = text[error.pos_in_stream or 0]
    if sign in "})]|":
        return f"'{sign}' stands alone here; write '\\{sign}' if you mean the character itself."
    return f"'{sign}' cannot stand here. A slot is {{name}}, {{name:features}} or {{name~slot:features}}."


def _is_open(text: str, sign: str) -> bool:
    plain = re.sub(r"\\.", "", text)
    return plain.count(sign) > plain.count({"{": "}", "[": "]", "(": ")"}[sign])


def _element(node: Any, position: SourcePosition) -> Element | list[Element]:
    if isinstance(node, Token):
        return Text(_plain(str(node)))
    makers: dict[str, Any] = {"slot": _slot, "written": _written, "wordings": _wordings}
    return makers[node.data](node, position)  # type: ignore[no-any-return]


def _slot(node: Any, position: SourcePosition) -> Slot:
    name = str(node.children[0]).strip()
    agrees: str | None = None
    features: Features = ()
    for child in node.children[1:]:
        token = child.children[0]
        if agrees if child.data == "agree" else features:
            raise _bad(
                token, position, problem=f"'{name}' has two of these; give all features after one ':', and one '~'."
            )
        if child.data == "agree":
            agrees = str(token).strip()
        else:
            features = _features(token, str(token), position=position)
    return Slot(name, agrees, features, column=node.meta.column)


def _written(node: Any, position: SourcePosition) -> Written | TermChoice:
    *tokens, agree = node.children
    if agree is None:
        return TermChoice(tuple(_choice(token, position) for token in tokens))
    pairs = []
    for token in tokens:
        label, colon, text = _cut(str(token))
        if not colon:
            raise _bad(token, position, problem="say which form this is, as in [masc: … | fem: … ~slot].")
        pairs.append((_features(token, label, position=position), _plain(text).strip(" ")))
    return Written(tuple(pairs), str(agree.children[0]).strip(), column=node.meta.column)


def _choice(token: Any, position: SourcePosition) -> str:
    text = _plain(str(token)).strip(" ")
    if not text:
        raise _bad(token, position, problem="a term is empty.")
    return text


def _wordings(node: Any, position: SourcePosition) -> Wordings | list[Element]:
    rows = [_join([_element(child, position) for child in row.children]) for row in node.children]
    if len(rows) == 1:
        return [Text("("), *rows[0], Text(")")]
    return Wordings(tuple(rows))


def _features(token: Any, text: str, *, position: SourcePosition) -> Features:
    try:
        return parse_features(text)
    except ValueError as error:
        raise _bad(token, position, problem=str(error)) from error


def _bad(token: Any, position: SourcePosition, *, problem: str) -> BadTemplate:
    return BadTemplate(SourcePosition(position.path, position.line + token.line - 1), token.column, problem)


def _cut(text: str) -> tuple[str, str, str]:
    """A form's label and its text, cut at the first colon that is not escaped."""
    match = re.match(r"((?:\\.|[^\\:])*):(.*)", text, re.DOTALL)
    return (match[1], ":", match[2]) if match else (text, "", "")


def _join(elements: list[Element | list[Element]]) -> tuple[Element, ...]:
    """The elements in one row, texts that touch put together."""
    flat = [part for element in elements for part in (element if isinstance(element, list) else [element])]
    joined: list[Element] = []
    for part in flat:
        if isinstance(part, Text) and joined and isinstance(joined[-1], Text):
            joined[-1] = Text(joined[-1].text + part.text)
        elif part != Text(""):
            joined.append(part)
    return tuple(joined)


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def escape(text: str, signs: str = r"\{}[]()|") -> str:
    """Text as it must be written in a template to stand for itself."""
    return "".join(f"\\{sign}" if sign in signs else sign for sign in text)


def show_template(template: Template) -> str:
    """A template as one writes it; parsing it gives the same template."""
    return "".join(map(_show, template.elements))


def _show(element: Element) -> str:
    match element:
        case Text(text):
            return escape(text)
        case Slot(name=name, agrees=agrees, features=features):
            goes = f"~{agrees}" if agrees else ""
            asked = f":{show_features(features)}" if features else ""
            return f"{{{name}{goes}{asked}}}"
        case Written(forms=forms, agrees=agrees):
            shown = " | ".join(f"{show_features(features)}: {escape(text, SPECIAL)}" for features, text in forms)
            return f"[{shown} ~{agrees}]"
        case TermChoice(terms):
            return f"[{'|'.join(escape(term, SPECIAL) for term in terms)}]"
        case Wordings(alternatives):
            return f"({'|'.join(''.join(map(_show, row)) for row in alternatives)})"
