"""Templates that ship with Isogloss, or a sets.toml of your own, as items: one per wording and concept."""

from functools import partial

from ..files.sources import Dataset
from ..templates.bundled import bundled_sets, parse_sets
from ..templates.items import make_items
from ..templates.published import KEYS

dataset = Dataset(
    title="Templates with agreement",
    summary="Gender, religion and ethnicity terms with professions and adjectives, in grammatically correct sentences; not validated.",
    licence="CC BY 4.0",
    citation="Isogloss templates; after the design of BehnamGhader and Milios (2022), in our wording.",
    url="docs/how-to/templates.md",
    recognise=lambda columns: columns >= KEYS,
    parse=partial(parse_sets, make=make_items),
    bundled=bundled_sets,
)
