"""Settings written as texts, such as batch=16, read by the fields of the dataclass that holds them."""

import math
from collections.abc import Collection, Mapping
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from .errors import IsoglossError, UnknownName

YES_NO = {"yes": True, "true": True, "no": False, "false": False}
NEEDED = {bool: "yes or no", int: "a whole number", float: "a number"}


def read_fields(
    kind: type, texts: Mapping[str, str], *, what: str, names: Collection[str] = (), least: int = 0
) -> dict[str, Any]:
    """The values of a dataclass's fields, or of those named; what does not exist or has another type is refused."""
    types = {name: plain for name, hint in get_type_hints(kind).items() if (plain := _plain_type(hint))}
    types = {name: types[name] for name in names or types}
    values = {}
    for written, text in texts.items():
        name = written.replace("-", "_")
        if name not in types:
            raise UnknownName(f"option of '{what}'", written, types)
        field_type = types[name]
        values[name] = read_value(text, field_type, name=written, what=what, least=least)
    return values


def read_value(text: str, kind: type, *, name: str, what: str, least: int = 0) -> Any:
    """The value that a text stands for, of one kind; another is refused with the name of its option."""
    try:
        value = YES_NO[text.lower()] if kind is bool else kind(text)
        if kind in (int, float) and not least <= value < math.inf:
            raise ValueError
    except (ValueError, KeyError) as error:
        need = NEEDED[kind] + f" of at least {least}" * (kind is not bool)
        raise IsoglossError(f"{name}={text}: '{name}' of '{what}' must be {need}.") from error
    return value


def _plain_type(hint: Any) -> type | None:
    """The type that a text is read as; none for a field that holds something larger."""
    if get_origin(hint) is UnionType:
        (hint,) = (part for part in get_args(hint) if part is not NoneType)
    return hint if hint in (bool, int, float, str) else None
