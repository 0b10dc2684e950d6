"""SHADES' notation of templates: GENDER-PL, NATIONALITY_1:MASC, OCCUPATION-ADJ, and so on."""

import re

from ..errors import IsoglossError
from .features import SHORT, make_features
from .grammar import Slot, SourcePosition, Template, Text

# how SHADES names a category, and how we do, where that differs
CATEGORIES = {"OCCUPATION": "profession", "RELIGION": "religion"}
NAMES = {ours: theirs for theirs, ours in CATEGORIES.items()}
TAGS = {"PL": "pl", "MASC": "masc", "FEM": "fem", "NEUT": "neut", "DATIVE": "dat"}
TAGS |= {"ADJ": "adj", "POSS": "poss", "ART": "art", "STATE": "state"}
# ours: the published tags have no other case than the dative, no definiteness and no German declensions
TAGS |= {"GENITIVE": "gen", "ACCUSATIVE": "acc", "INSTRUMENTAL": "ins", "OBLIQUE": "obl"}
TAGS |= {"DEF": "def", "STRONG": "strong", "WEAK": "weak"}
CATEGORY_NAMES = (
    "AGE BODY_HAIRCOLOR BODY_HEIGHT BODY_SKIN_COLOR BODY_WEIGHT CLOTHING_HEAD DISABILITY ETHNICITY FIELD "
    "GENDER MENTAL_ISSUE NATION NATIONALITY NATIONALITY_LOCALE OCCUPATION POLITICAL_IDEA POLITICAL_IDENTITY "
    "RELIGION SEXUAL_ORIENTATION SOCIO_EC URBANITY"
)
KNOWN = frozenset(CATEGORY_NAMES.split())
# capitals, at least three, perhaps with parts joined by _, -, or :, in angle or square brackets or in none
SLOT = re.compile(r"(?P<open>[<\[])?(?P<name>[A-Z]{3,}(?:[_:-]?(?:[A-Z]+|\d+))*)(?P<close>[>\]])?")


def read_shades(text: str, position: SourcePosition | None = None) -> Template:
    """A template in SHADES' notation as one of ours.

    A slot is one of their categories, or any capitals in brackets or with a tag; other capitals stay text.
    """
    elements: list[Text | Slot] = []
    cursor = 0
    for match in SLOT.finditer(text):
        start, end = match.span("name")
        slot = _slot(match["name"], column=match.start() + 1)
        if match["open"] and match["close"]:
            start, end = match.span()
        elif _plain(slot) not in KNOWN and match["name"] == _plain(slot):
            continue
        elements += [Text(text[cursor:start]), slot]
        cursor = end
    elements.append(Text(text[cursor:]))
    if not any(isinstance(element, Slot) for element in elements):
        where = position or SourcePosition()
        raise IsoglossError(f"{where.path}, line {where.line}: there is no slot in capitals, such as GENDER-PL.")
    return Template(tuple(part for part in elements if part != Text("")))


def _slot(name: str, *, column: int) -> Slot:
    """The parts of a name: tags are features, a number says which of several, the rest is the category."""
    category: list[str] = []
    number = ""
    features: dict[str, str] = {}
    for part in re.split(r"[_:-]|(?<=[A-Z])(?=\d)", name):
        if part in TAGS and category:
            feature, value = SHORT[TAGS[part]]
            features[feature] = value
        elif part.isdigit():
            number = f"_{part}"
        else:
            category.append(part)
    whole = "_".join(category)
    return Slot(CATEGORIES.get(whole, whole.casefold()) + number, None, make_features(features), column=column)


def _plain(slot: Slot) -> str:
    """The category of a slot as SHADES names it, without tags."""
    category = re.sub(r"_\d+$", "", slot.name)
    return NAMES.get(category, category.upper())
