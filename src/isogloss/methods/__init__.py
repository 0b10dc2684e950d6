"""Methods: one file each turns an item into questions, and the answers into scores or records; here is what a method is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import polars as pl

from .. import registry
from ..errors import IsoglossError, UnknownName
from ..items import CONTRAST, Item
from ..models.model import Family, Model
from ..models.questions import TEXT, Answer, Asking
from ..models.text import Ids, count_unknown, decode
from ..scores import SCORES, Holding, Row
from ..settings import read_value

Options = Mapping[str, str]
HEADS = {"lm": "language-model", "nsp": "next-sentence"}
VECTOR_TASKS = ("sentence", CONTRAST)  # of these items the sentences get a vector
EMPTY = "the sentence has no tokens"


class Ask(Protocol):
    """Turns an item into questions for a model, under a method's options."""

    def __call__(self, item: Item, model: Model, *, options: Options) -> Asking: ...


class Identify(Protocol):
    """Gives what a method's rows depend on beside the model, the items and the options."""

    def __call__(self, model: Model, language: str, *, options: Options) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Free:
    """An option that takes any value of a kind; `least` is the least number."""

    default: str
    kind: type = str
    least: int = 0


PART = 768  # candidates; enough to fill batches, few enough that little is lost when a process is killed


@dataclass(frozen=True, slots=True)
class Method:
    """A way to ask about items: `ask` is a generator that yields questions, is sent answers, and returns rows.

    `options` maps each option to its possible values, the default first, or to a `Free` value; options are part of the
    fingerprint, and `check` refuses those that do not fit together. A method that must see all items of a cell has `prepare`,
    which gives the `ask` to use. `identity` is what else the rows depend on.
    `instead` is the method that `auto` takes where models that this one cannot ask are to be compared on the same items.
    What a run stores is `holds`; where that is not scores, `read` turns it, with what `run.json` says, into rows when they are measured.
    Options in `later` came after runs were made; at their default they are no part of the fingerprint.
    `columns` are those that its rows have beside the ones of all scores. A part of a run has about `part` candidates.
    `uses` are the ways to ask that suit it; a model's family must offer one, and the first that it offers is used.
    `needs` is the head whose weights must be in the checkpoint. `auto` names the tasks for which `auto` takes this method.
    `refuse` gives a sentence when a model cannot be scored this way; `suits` says whether an item can be.
    """

    title: str
    formula: str
    citation: str
    uses: tuple[str, ...]
    suits: Callable[[Item], bool]
    ask: Ask
    options: Mapping[str, tuple[str, ...] | Free] = field(default_factory=dict)
    auto: tuple[str, ...] = ()
    instead: str = ""
    refuse: Callable[[Model, Options], str | None] = lambda model, options: None
    needs: str = "lm"
    version: int = 1
    check: Callable[[Options], None] = lambda options: None
    admits: Callable[[Item, Options], bool] = lambda item, options: True
    prepare: Callable[[Sequence[Item], Options], Ask] | None = None
    identity: Identify = lambda model, language, *, options: {}
    holds: Holding = SCORES
    read: Callable[[pl.DataFrame, Mapping[str, Any]], pl.DataFrame] | None = None
    columns: tuple[str, ...] = ()
    part: int = PART
    later: tuple[str, ...] = ()

    @property
    def alone(self) -> bool:
        """Whether its cells are run one by one, since answers in words share no passes."""
        return self.uses == (TEXT,)


def fill_options(name: str, method: Method, *, chosen: Mapping[str, str]) -> dict[str, str]:
    """All the method's options, the chosen values checked and the others at their default."""
    filled = {key: default_value(values) for key, values in method.options.items()}
    for written, value in chosen.items():
        key = written if written in method.options else written.replace("-", "_")
        if key not in method.options:
            raise UnknownName(f"option of '{name}'", written, method.options)
        values = method.options[key]
        if isinstance(values, Free):
            filled[key] = str(read_value(value, values.kind, name=written, what=name, least=values.least))
        elif value not in values:
            raise UnknownName(f"value of '{name}' option '{key}'", value, values)
        else:
            filled[key] = value
    method.check(filled)
    return filled


def default_value(values: tuple[str, ...] | Free) -> str:
    """The value of an option that was not chosen."""
    return values.default if isinstance(values, Free) else values[0]


def label(name: str, method: Method, *, options: Options) -> str:
    """The method's name with the options that are not at their default, as in `continuation[case=e]`."""
    changed = [f"{key}={value}" for key, value in options.items() if value != default_value(method.options[key])]
    return f"{name}[{','.join(changed)}]" if changed else name


def way_to_ask(method: Method, family: Family) -> str | None:
    """The first of the method's ways to ask that the family offers, if there is one."""
    return next((way for way in method.uses if way in family.offers), None)


def families_of(method: Method) -> list[str]:
    """The names of the families that the method can ask."""
    return [name for name, family in registry.load_present("family").items() if way_to_ask(method, family)]


def default_methods(task: str, family: str) -> dict[str, Method]:
    """The methods that declare themselves for a task and can ask a family, those with the most specific way first."""
    asked: Family = registry.get("family", family)
    declared = {name: method for name, method in registry.load_all("method").items() if task in method.auto}
    ways = {name: way_to_ask(method, asked) for name, method in declared.items()}
    if asked.wants != (TEXT,):  # a model that can be scored is asked in words only by request
        ways = {name: None if way == TEXT else way for name, way in ways.items()}
    ranks = {name: asked.offers.index(way) for name, way in ways.items() if way}
    return {name: declared[name] for name in sorted(ranks, key=ranks.__getitem__)}


def check_family(name: str, method: Method, *, model: str, family: str) -> str:
    """The way in which the method asks a model of that family; one that it cannot ask is refused in one sentence."""
    way = way_to_ask(method, registry.get("family", family))
    if way is None:
        raise IsoglossError(
            f"The method '{name}' is for {' and '.join(families_of(method))} models; '{model}' is {family}. "
            "Use `method='auto'` to let Isogloss choose."
        )
    return way


def check_model(name: str, method: Method, *, model: Model, options: Options) -> None:
    """Refuse, in one sentence, a model that cannot be scored this way."""
    way = check_family(name, method, model=model.info.name, family=model.info.family)
    if method.needs in model.info.untrained:
        raise IsoglossError(
            f"The checkpoint '{model.info.name}' has no weights for its {HEADS[method.needs]} head; "
            "an untrained head gives noise."
        )
    reason = model.family.refuse(model, asked=way, options=options) or method.refuse(model, options)
    if reason:
        raise IsoglossError(reason)


def fill_row(row: Row, model: Model, *, tokens: Ids, logs: Answer, read: Ids | None = None) -> Row:
    """The row with its tokens and their log-probabilities; unknown ones are counted in what was `read`, by default the tokens."""
    return replace(
        row,
        tokens=len(tokens),
        unknown=count_unknown(model.tokenizer, tokens if read is None else read),
        pieces=decode(model.tokenizer, tokens),
        logprobs=tuple(logs.tolist()),
    )
