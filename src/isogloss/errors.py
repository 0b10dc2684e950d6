"""Error messages for users: what happened, where, and what to do next."""

import difflib
import importlib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

MOST_LISTED, NEAREST = 8, 5  # names: a reader takes in so many at once; of more, the nearest ones
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def without_controls(text: str) -> str:
    """The text with a replacement character for every control character but tabs and line ends."""
    return CONTROLS.sub("\ufffd", text)


class IsoglossError(Exception):
    """A mistake that the user can correct; the command line prints it as one line and exits with status 2."""

    def __init__(self, message: str) -> None:
        super().__init__(without_controls(" ".join(message.splitlines())))


def short_message(error: BaseException) -> str:
    """An error's sentence; of one that nobody foresaw its kind and first line."""
    lines = str(error).strip().splitlines() or ["no reason given"]
    return str(error) if isinstance(error, IsoglossError) else f"{type(error).__name__}: {lines[0][:300]}"


class NoItems(IsoglossError):
    """Data that has no items in the languages that were asked for."""


class UnknownName(IsoglossError):
    """A name that is not in a list of known names; suggests a near one only when it is very near."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = [known for known in names if known.casefold() == name.casefold()]
        near = near or difflib.get_close_matches(name, names, n=1, cutoff=0.8)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        super().__init__(f"No {kind} named '{name}'.{hint} Known: {list_known(name, names)}.")


def list_known(name: str, known: Iterable[str]) -> str:
    """The known names for a message: all of a short list, of a longer one the five nearest to what was written."""
    names = list(known)
    if len(names) <= MOST_LISTED:
        return ", ".join(names) or "none"
    likeness = {known: difflib.SequenceMatcher(None, name.lower(), known.lower()).ratio() for known in names}
    nearest = sorted(names, key=lambda known: -likeness[known])[:NEAREST]
    return f"{', '.join(nearest)} and {len(names) - NEAREST} more"


class BadData(IsoglossError):
    """A file, or one line of it, that cannot be read as data."""

    def __init__(self, path: Path | str, line: int | None, problem: str) -> None:
        where = f"{path}, line {line}" if line is not None else f"{path}"
        super().__init__(f"{where}: {problem}")
        self.problem = problem
        self.line = line


class CannotWrite(IsoglossError):
    """A file or folder that cannot be written."""

    def __init__(self, path: object, error: Exception) -> None:
        why = getattr(error, "strerror", None) or error
        super().__init__(f"Cannot write {path} ({why}). Is the folder writable, and the disk not full?")


class NoSuchRun(IsoglossError):
    """A folder of runs that does not exist."""

    def __init__(self, path: object) -> None:
        super().__init__(f"No such run: {path}. Make one with: isogloss eval MODEL --data demo --out {path}")


class MissingExtra(IsoglossError):
    """A library that is needed for this and is not installed."""

    def __init__(self, module: str, extra: str) -> None:
        super().__init__(
            f"This needs the library '{module}', which is not installed: pip install \".[{extra}]\" in your copy of Isogloss"
        )


def require(module: str, *, extra: str) -> ModuleType:
    """The imported module, or a sentence that says which extra to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise MissingExtra(module, extra) from error


@contextmanager
def naming_panics() -> Iterator[None]:
    """Turn a panic of a tokenizer, which Python does not count among exceptions, into an error of ours."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise IsoglossError(
            f"The tokenizer stopped ({short_message(error)}). Its files may be broken; download the model again."
        ) from error
