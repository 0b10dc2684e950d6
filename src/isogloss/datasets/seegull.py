"""SeeGULL Multilingual as associations: an identity and an attribute in a sentence, against another identity with the same attribute."""

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import languages
from ..errors import BadData
from ..files.rows import OnBadRow, read_rows
from ..files.sources import Dataset
from ..items import ANNOTATORS, CONTRAST, STEREOTYPE, Candidate, Item

COLUMNS = ("identity", "attribute", "stereotype", "non_stereotype", "unsure")
TAG = re.compile(r"stereotypes_([a-z]{2,3}-[A-Z]{2})\b")  # in the name of the file
COMMAS = " ,،"  # some identities end in a comma
TEMPLATES = Path(__file__).parent.parent / "data" / "association_templates.toml"
KNOWN = f"{ANNOTATORS}_known"  # how many of the annotators of the country call it a stereotype


def split_pair(row: Mapping[str, Any]) -> tuple[str, str]:
    """The identity and the attribute of a row, without commas at their ends."""
    return str(row["identity"]).strip(COMMAS), str(row["attribute"]).strip(COMMAS)


def name_pairs(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """A name for each pair of identity and attribute; pairs that differ in a comma only get a number."""
    counts: Counter[str] = Counter()
    names = []
    for identity, attribute in pairs:
        name = f"{identity}: {attribute}"
        counts[name] += 1
        names.append(name if counts[name] == 1 else f"{name} ({counts[name]})")
    return names


def parse(path: Path, language: str | None, *, bad: OnBadRow) -> Iterator[Item]:
    """An item for each pair: its sentence, and that of an identity of which the file does not say the attribute.

    The other identity and the wording follow from the pair's name, so that they do not depend on the order of the rows.
    """
    match = TAG.search(path.name)
    tag = languages.standard_tag(match[1]) if match else language
    templates = tomllib.loads(TEMPLATES.read_text(encoding="utf-8"))
    wordings = templates.get((tag or "").split("-")[0])
    if tag is None or wordings is None:
        names = ", ".join(templates)
        raise BadData(
            path,
            None,
            f"no sentences for the language '{tag}'. Its name says it: stereotypes_es-MX.csv. Known: {names}.",
        )
    rows = [(line, row, split_pair(row)) for line, row in read_rows(path, bad)]
    identities = sorted({identity for _, _, (identity, _) in rows})
    identities_of: dict[str, set[str]] = {}
    for _, _, (identity, attribute) in rows:
        identities_of.setdefault(attribute, set()).add(identity)
    for name, (line, row, (identity, attribute)) in zip(name_pairs([pair for *_, pair in rows]), rows, strict=True):
        others = [other for other in identities if other not in identities_of[attribute]]
        if not identity or not attribute or not others:
            bad(BadData(path, line, "needs an identity, an attribute, and another identity without that attribute."))
            continue
        draw = int(hashlib.sha256(name.encode()).hexdigest(), 16)
        number = draw % len(wordings)
        other = others[draw // len(wordings) % len(others)]
        texts = [wordings[number].format(identity=side, attribute=attribute) for side in (identity, other)]
        yield Item(
            name,
            "seegull",
            tag,
            "nationality",
            (Candidate(f"{name}-stereotype", STEREOTYPE, texts[0]), Candidate(f"{name}-contrast", CONTRAST, texts[1])),
            cluster=identity,
            tags={"task": CONTRAST, "target": identity, "wording": str(number), KNOWN: _count(row["stereotype"])},
        )


def _count(value: Any) -> str:
    return str(value).removesuffix(".0")


dataset = Dataset(
    title="SeeGULL Multilingual",
    summary="Associations of identities and attributes, with labels by three annotators of the country.",
    licence="CC BY 4.0",
    citation="Bhutani et al. (2024), SeeGULL Multilingual",
    url="https://github.com/google-research-datasets/SeeGULL-Multilingual",
    recognise=lambda columns: columns >= set(COLUMNS),
    parse=parse,
    columns=COLUMNS,
)
