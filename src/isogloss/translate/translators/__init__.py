"""Translators: one file each; here is what a translator is and how BLANK survives it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ...errors import IsoglossError, UnknownName
from ...items import BLANK

PLACEHOLDERS = ("XBLANKX", "Qblankq", "BLANK", "[BLANK]")


@dataclass(frozen=True, slots=True)
class LanguagePair:
    """The two languages of a translation, as BCP 47 tags."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Opened:
    """A translator that is ready: `translate` gives one text for each text, `name` is what the cache files it under.

    `placeholders` are tried in turn in BLANK's place until one survives; `pause` is the least number of seconds between
    two calls; `price` is in dollars per million characters and None where nothing is paid for.
    """

    name: str
    translate: Callable[[Sequence[str]], list[str]]
    batch: int = 64
    pause: float = 0.0
    paid: bool = False
    price: float | None = None
    placeholders: tuple[str, ...] = PLACEHOLDERS


@dataclass(frozen=True, slots=True)
class Translator:
    """A way to translate; `options` are its options with what they mean, `open` checks them before the first call."""

    title: str
    open: Callable[[LanguagePair, Mapping[str, str]], Opened]
    options: Mapping[str, str] = field(default_factory=dict)


def check_options(translator: Translator, options: Mapping[str, str]) -> None:
    """Raise when an option is not one of the translator's."""
    for name in options:
        if name not in translator.options:
            raise UnknownName("option of this translator", name, translator.options)


def option(options: Mapping[str, str], name: str, *, translator: str) -> str:
    """The option's value; raises when it was not given."""
    if not options.get(name):
        raise IsoglossError(f"The translator '{translator}' needs to know '{name}'. Use `options={{'{name}': '…'}}`")
    return options[name]


def number(options: Mapping[str, str], name: str, *, default: float) -> float:
    """The option's value as a positive number, or the default."""
    text = options.get(name)
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1e9:
        raise IsoglossError(f"The option '{name}' is '{text}'. Use a positive number.")
    return value


def protect(text: str, placeholder: str) -> str:
    """The text as it is sent: on one line, with the placeholder for BLANK."""
    return " ".join(text.split()).replace(BLANK, placeholder)


def restore(text: str, placeholder: str, *, count: int) -> str | None:
    """What came back with BLANK in its place again, or nothing when it is not there as often as it was sent."""
    if count == 0:
        return text
    if text.lower().count(placeholder.lower()) != count:
        return None
    parts, low, rest = [], placeholder.lower(), text
    while (start := rest.lower().find(low)) >= 0:
        parts.append(rest[:start])
        rest = rest[start + len(placeholder) :]
    return BLANK.join([*parts, rest])
