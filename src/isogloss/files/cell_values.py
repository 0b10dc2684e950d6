"""What tables put into one cell: several values, yes or no, a language however it is spelled."""

import ast
import re
from typing import Any

from .. import languages
from ..errors import IsoglossError

SEPARATOR = re.compile(r"[,;|\n](?![^(]*\))")  # not within brackets: "North Africa (Egypt, Libya)" is one value
FORMULA = re.compile(r"'*[=+\-@\t\r]")  # how a cell begins that a table program would compute
ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # in XML, so in XLSX
YES = {"true", "yes", "y", "1", "1.0"}
NO = {"false", "no", "n", "0", "0.0"}
SPELLINGS = {
    "pt": "pt-BR",
    "ptbr": "pt-BR",
    "brazilian portuguese": "pt-BR",
    "portuguese (brazil)": "pt-BR",
    "zh-cn": "zh",
    "zh-hans": "zh",
    "zh-tw": "zh-Hant",
    "zh-hk": "zh-Hant",
    "zht": "zh-Hant",
    "chinese (traditional)": "zh-Hant",
    "traditional chinese": "zh-Hant",
    "chinese (simplified)": "zh",
    "simplified chinese": "zh",
}


def is_empty(value: Any) -> bool:
    """Whether a cell holds nothing: no value, no text, or what a table program writes for neither."""
    return value is None or value != value or (isinstance(value, str) and value.strip().lower() in ("", "nan", "none"))


def several(value: Any) -> tuple[str, ...]:
    """The values in a cell, each once: a list, or text such as "['en', 'fr']", "en, fr" or "en;fr"."""
    if is_empty(value):
        return ()
    if not isinstance(value, str):
        cells = list(value) if isinstance(value, list | tuple) else [value]
    else:
        text = value.strip()
        listed = text.startswith("[") and text.endswith("]")
        try:
            cells = list(ast.literal_eval(text)) if listed else SEPARATOR.split(text)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            cells = [cell.strip().strip("'\"") for cell in SEPARATOR.split(text[1:-1])]
    texts = (str(cell).strip() for cell in cells if not is_empty(cell))
    return tuple(dict.fromkeys(cell for cell in texts if cell))


def yes_or_no(value: Any) -> bool | None:
    """Whether a cell says yes or no; nothing when it says something else."""
    text = str(value).strip().lower()
    return True if text in YES else False if text in NO else None


def language_tag(name: str) -> str | None:
    """The tag of a language, however a table spells it: pt_br, zh-hant, Chinese (Traditional), English."""
    plain = name.strip().lower().replace("_", "-")
    try:
        return SPELLINGS.get(plain) or languages.resolve(plain)
    except IsoglossError:
        return None


def without_region(tag: str) -> str:
    """The tag without the part that names a country: es-DO is es; a script stays, zh-Hant is zh-Hant."""
    return "-".join(part for part in tag.split("-") if not re.fullmatch(r"[A-Z]{2}|[0-9]{3}", part))


def legal_text(text: str) -> str:
    """The text with a visible sign for each character that a sheet cannot hold: ␇ for a bell."""
    return ILLEGAL.sub(lambda match: chr(0x2400 + ord(match[0])) if match[0] < " " else "\ufffd", text)


def guard_formula(text: str) -> str:
    """The text as a cell of a CSV that no table program computes: an apostrophe precedes a formula."""
    return f"'{text}" if FORMULA.match(text) else text


def unguard_formula(text: str) -> str:
    """The text that `guard_formula` was given."""
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text
