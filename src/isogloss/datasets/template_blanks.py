"""The templates with BLANK for the concept: one item per wording, for distributions over the vocabulary."""

from functools import partial

from ..files.sources import Dataset
from ..templates.bundled import bundled_sets, parse_sets
from ..templates.items import make_blanks

dataset = Dataset(
    title="Templates with a blank for the concept",
    summary="The sets of 'templates' with BLANK in place of the profession or adjective; for the method 'distribution'.",
    licence="CC BY 4.0",
    citation="Isogloss templates; after the design of BehnamGhader and Milios (2022), in our wording.",
    url="docs/how-to/templates.md",
    recognise=lambda columns: False,
    parse=partial(parse_sets, make=make_blanks),
    bundled=bundled_sets,
)
