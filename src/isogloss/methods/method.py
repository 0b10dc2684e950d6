"""What a scoring method is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..errors import IsoglossError, UnknownName
from ..items import Item
from ..models.model import Model
from ..models.questions import Asking

Options = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Method:
    """A way to score items: `ask` is a generator that yields questions, is sent answers, and returns rows.

    `options` maps each option to its possible values, the default first; options are part of the fingerprint.
    `refuse` gives a sentence when a model cannot be scored this way; `suits` says whether an item can be.
    """

    title: str
    formula: str
    citation: str
    families: tuple[str, ...]
    suits: Callable[[Item], bool]
    ask: Callable[[Item, Model, Options], Asking]
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    refuse: Callable[[Model, Options], str | None] = lambda model, options: None
    version: int = 1


def fill_options(name: str, method: Method, given: Mapping[str, str]) -> dict[str, str]:
    """All the method's options, the given ones checked and the others at their default."""
    for key, value in given.items():
        if key not in method.options:
            raise UnknownName(f"option of '{name}'", key, method.options)
        if value not in method.options[key]:
            raise UnknownName(f"value of '{name}' option '{key}'", value, method.options[key])
    return {key: given.get(key, values[0]) for key, values in method.options.items()}


def label(name: str, method: Method, options: Options) -> str:
    """The method's name with the options that are not at their default, as in `continuation[case=e]`."""
    changed = [f"{key}={value}" for key, value in options.items() if value != method.options[key][0]]
    return f"{name}[{','.join(changed)}]" if changed else name


def check_model(name: str, method: Method, model: Model, options: Options) -> None:
    """Refuse, in one sentence, a model that cannot be scored this way."""
    if model.info.family not in method.families:
        raise IsoglossError(
            f"The method '{name}' is for {' and '.join(method.families)} models; '{model.info.name}' is {model.info.family}. "
            "Say --method auto to let Isogloss choose."
        )
    reason = method.refuse(model, options)
    if reason:
        raise IsoglossError(reason)
