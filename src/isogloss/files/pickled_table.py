"""Tables that were published as pickles of pandas: their instructions are read, and none of them is carried out."""

import pickletools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import BadData
from .rows import read_bytes

MARK = object()
IGNORED = ("PROTO", "FRAME")
CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
EMPTY: dict[str, type] = {"EMPTY_DICT": dict, "EMPTY_LIST": list}


@dataclass(slots=True)
class Call:
    """What a pickle asks to be called: a name and arguments, and the state that the result would get. Nothing is called."""

    name: Any
    arguments: Any = ()
    state: Any = None


def read_pickled_table(path: Path) -> list[dict[str, Any]]:
    """The rows of a pandas table of text and lists, in the layout of pandas 1 to 3."""
    try:
        return _rows(_read_stack(read_bytes(path)))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise BadData(path, None, "not a pickled table of pandas with text in it.") from error


def _rows(table: Any) -> list[dict[str, Any]]:
    if table.name[-1] != "DataFrame":
        raise ValueError("not a table")
    blocks, (columns, _) = table.state["_mgr"].arguments
    names = columns.arguments[1]["data"].state[4]
    by_name: dict[str, list[Any]] = {}
    for block in blocks:
        values, place, _ = block.arguments
        _, (width, height), _, by_column, cells = values.state
        if by_column or len(cells) != width * height:
            raise ValueError("another order of cells")
        for index, column in enumerate(range(*place.arguments)):
            by_name[names[column]] = cells[index * height : (index + 1) * height]
    return [dict(zip(names, row, strict=True)) for row in zip(*(by_name[name] for name in names), strict=True)]


def _read_stack(data: bytes) -> Any:
    """What the pickle would give, with a `Call` wherever it asks for a class or a function."""
    stack: list[Any] = []
    memo: list[Any] = []
    for operation, argument, _ in pickletools.genops(data):
        name = operation.name
        if name == "STOP":
            return stack.pop()
        if name == "MEMOIZE":
            memo.append(stack[-1])
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(memo[int(argument or 0)])
        elif name not in IGNORED:
            _push(stack, name, argument=argument)
    raise ValueError("no end")


def _push(stack: list[Any], name: str, *, argument: Any) -> None:
    """Carry out one operation on the stack; one that these tables do not use is refused."""
    if name == "MARK":
        stack.append(MARK)
    elif name in EMPTY:
        stack.append(EMPTY[name]())
    elif name in CONSTANTS:
        stack.append(CONSTANTS[name])
    elif name in ("APPENDS", "APPEND"):
        added = _pop_to_mark(stack) if name == "APPENDS" else _pop(stack, 1)
        stack[-1].extend(added)
    elif name in ("SETITEMS", "SETITEM"):
        added = _pop_to_mark(stack) if name == "SETITEMS" else _pop(stack, 2)
        stack[-1].update(zip(added[::2], added[1::2], strict=True))
    elif name in ("TUPLE", "EMPTY_TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"):
        size = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}.get(name)
        stack.append(tuple(_pop_to_mark(stack) if size is None else _pop(stack, size)))
    elif name == "STACK_GLOBAL":
        stack.append(Call(tuple(_pop(stack, 2))))
    elif name in ("REDUCE", "NEWOBJ"):
        called, arguments = _pop(stack, 2)
        stack.append(Call(called.name, arguments))
    elif name == "BUILD":
        state = stack.pop()
        stack[-1].state = state
    elif argument is not None:
        stack.append(argument)
    else:
        raise ValueError(name)


def _pop(stack: list[Any], size: int) -> list[Any]:
    taken = stack[len(stack) - size :]
    del stack[len(stack) - size :]
    return taken


def _pop_to_mark(stack: list[Any]) -> list[Any]:
    last = len(stack) - 1
    while stack[last] is not MARK:
        last -= 1
    return _pop(stack, len(stack) - last)[1:]
