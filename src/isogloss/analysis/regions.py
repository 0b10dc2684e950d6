"""Regions: from the names that a data set gives them to countries, and what is known of each country."""

import csv
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from ..errors import IsoglossError
from ..items import Items, group_by
from ..scores import Scored
from ..stats import RESAMPLES
from .measures import Measure, measure

FOLDER = Path(__file__).parent.parent / "data" / "regions"
REGION = "region"
COUNTRY = "country"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many items, and how many stereotypes (clusters), are valid in a country."""

    code: str
    name: str
    items: int
    stereotypes: int


@dataclass(frozen=True, slots=True)
class CountryScores:
    """The measures of each country, by code and metric; and the names of regions that no table knows."""

    measures: tuple[Measure, ...]
    unknown: tuple[str, ...]


@cache
def country_names() -> dict[str, str]:
    """The English name of each country by its ISO 3166-1 alpha-3 code."""
    return {row["code"]: row["name"] for row in _countries()}


def countries_of(region: str) -> tuple[str, ...] | None:
    """The codes of the countries that a region lies in or is made of; nothing when the name is unknown."""
    return _codes_of().get(_fold(region))


@cache
def _codes_of() -> dict[str, tuple[str, ...]]:
    """The countries of every known region: parts and groups of countries, the countries themselves, and the world."""
    content = _region_file()
    codes_of = {name: (row["code"],) for row in _countries() for name in _spellings(row)}
    codes_of |= {name: tuple(codes) for kind in ("parts", "groups") for name, codes in content[kind].items()}
    codes_of |= dict.fromkeys(content["worldwide"], tuple(country_names()))
    return {_fold(name): codes for name, codes in codes_of.items()}


@cache
def _region_file() -> dict[str, Any]:
    return tomllib.loads((FOLDER / "regions.toml").read_text(encoding="utf-8"))


def people_region(name: str) -> str | None:
    """The code of the country of a people by its English name, where the vocabularies of templates lack it."""
    return _region_file()["peoples"].get(name)  # type: ignore[no-any-return]


@cache
def world_region(code: str) -> str | None:
    """The part of the world that a country (ISO 3166-1, two or three letters) or a UN code lies in."""
    content = _region_file()
    three = {row["short"]: row["code"] for row in _countries()}.get(code.partition("-")[0], code)
    for name, parts in content["world"].items():
        if three in parts or any(three in content["groups"].get(part, ()) for part in parts):
            return str(name)
    return None


def unknown_regions(names: Iterable[str]) -> tuple[str, ...]:
    """The names that no table knows, each once."""
    return tuple(sorted({name for name in names if countries_of(name) is None}))


def coverage(items: Items) -> tuple[list[Coverage], tuple[str, ...]]:
    """For each country what is valid there, most first; and the names of regions that no table knows."""
    ids: dict[str, set[str]] = {}
    clusters: dict[str, set[str]] = {}
    regions: set[str] = set()
    for item in items:
        item_regions = item.tags.get(REGION) or ()
        item_regions = (item_regions,) if isinstance(item_regions, str) else item_regions
        regions.update(item_regions)
        for code in {code for name in item_regions for code in countries_of(name) or ()}:
            ids.setdefault(code, set()).add(item.id)
            clusters.setdefault(code, set()).add(item.cluster or item.id)
    names = country_names()
    countries = [Coverage(code, names[code], len(ids[code]), len(clusters[code])) for code in ids]
    return sorted(countries, key=lambda country: (-country.items, country.code)), unknown_regions(regions)


def with_countries(scored: Scored) -> Scored:
    """The scores with a column `country`, the codes of all countries of an item's regions; one can group by it."""
    if REGION not in scored.table.columns:
        raise IsoglossError("These scores have no column 'region', so no country can be found for them.")
    lost = unknown_regions(_each(scored.table[REGION]))
    note = (f"unknown regions, which count for no country: {', '.join(lost)}",) if lost else ()
    return replace(scored, table=_add_countries(scored.table, frozenset(country_names())), notes=(*scored.notes, *note))


def country_scores(
    scored: Scored, *, metrics: str | list[str] | None = "contrast", resamples: int = RESAMPLES, seed: int = 0
) -> CountryScores:
    """Each country's measures for every model and language: its items are those valid in one of its regions.

    Countries that the data does not tell apart have the same items and are measured once.
    """
    noted = with_countries(scored)
    regions = _each(scored.table[REGION])
    alike = group_by(
        country_names(), lambda code: tuple(name for name in regions if code in (countries_of(name) or ()))
    )
    first = {codes[0]: codes for names, codes in alike.items() if names}
    few = replace(noted, table=_add_countries(scored.table, frozenset(first)))
    measures = measure(few, metrics=metrics, by=[COUNTRY], resamples=resamples, seed=seed)
    copies = [(row, code) for row in measures for code in first.get(row.group[COUNTRY], [])]
    rows = tuple(replace(row, group={**row.group, COUNTRY: code}) for row, code in copies)
    return CountryScores(rows, unknown_regions(regions))


@cache
def world() -> dict[str, Any]:
    """The borders of all countries as GeoJSON; a feature's id is its code. Treat it as read-only."""
    return json.loads((FOLDER / "world.geojson").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


@cache
def _countries() -> tuple[dict[str, str], ...]:
    with (FOLDER / "countries.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def _spellings(row: Mapping[str, str]) -> list[str]:
    others = row["others"].split("|") if row["others"] else []
    return [row["name"], row["code"], *others]


def _fold(name: str) -> str:
    return " ".join(name.casefold().replace("-", " ").replace("_", " ").split())


def _add_countries(table: pl.DataFrame, known: frozenset[str]) -> pl.DataFrame:
    """The table with a column of the countries of each row's regions, as far as they are among the known ones."""
    cells = [(cell,) if isinstance(cell, str) else cell or () for cell in table[REGION].to_list()]
    codes = [sorted({code for name in cell for code in countries_of(name) or ()} & known) or None for cell in cells]
    return table.with_columns(pl.Series(COUNTRY, codes, dtype=pl.List(pl.String)))


def _each(column: pl.Series) -> list[str]:
    values = column.explode() if isinstance(column.dtype, pl.List) else column
    return [str(value) for value in values.drop_nulls().unique()]
