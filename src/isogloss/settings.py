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
        own = types[name]
        try:
            values[name] = YES_NO[text.lower()] if own is bool else own(text)
            if own in (int, float) and not least <= values[name] < math.inf:
                raise ValueError
        except (ValueError, KeyError) as error:
            need = NEEDED[own] + f" of at least {least}" * (own is not bool)
            raise IsoglossError(f"{written}={text}: '{written}' of '{what}' must be {need}.") from error
    return values


def _plain_type(hint: Any) -> type | None:
    """The type that a text is read as; none for a field that holds something larger."""
    if get_origin(hint) is UnionType:
        (hint,) = (part for part in get_args(hint) if part is not NoneType)
    return hint if hint in (bool, int, float, str) else None
