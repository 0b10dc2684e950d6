"""Regions: every name leads to countries or is reported; coverage and scores per country; the borders that ship."""

from __future__ import annotations

import csv
import itertools
import tomllib

import pytest

import isogloss
from isogloss.analysis.measures import measure
from isogloss.analysis.regions import (
    FOLDER,
    countries_of,
    country_names,
    country_scores,
    coverage,
    with_countries,
    world,
)
from isogloss.errors import IsoglossError
from isogloss.items import Candidate, Item, Items
from isogloss.scores import Row, Scored, item_table, make_scored, row_table
from support.offenders import for_every

NAMED = {  # the regions that the paper and the published table name, and what they must lead to
    "Belgium (Flemish)": "BEL", "Flemish Belgium": "BEL", "Flanders": "BEL", "China (Mainland)": "CHN",
    "Mainland China": "CHN", "Germany (West)": "DEU", "Germany (East)": "DEU", "West Germany": "DEU", "Germany": "DEU",
    "Hong Kong": "HKG", "UK": "GBR", "United Kingdom": "GBR", "US": "USA", "United States of America": "USA",
    "Algeria": "DZA", "Bahrain": "BHR", "Brazil": "BRA", "Dominican Republic": "DOM", "Egypt": "EGY", "France": "FRA",
    "India": "IND", "Italy": "ITA", "Iraq": "IRQ", "Japan": "JPN", "Jordan": "JOR", "Kuwait": "KWT", "Lebanon": "LBN",
    "Libya": "LBY", "Mauritania": "MRT", "Morocco": "MAR", "Netherlands": "NLD", "Oman": "OMN", "Palestine": "PSE",
    "Poland": "POL", "Qatar": "QAT", "Romania": "ROU", "Russia": "RUS", "Saudi Arabia": "SAU", "Sudan": "SDN",
    "Syria": "SYR", "Tunisia": "TUN", "United Arab Emirates": "ARE", "Uzbekistan": "UZB", "Yemen": "YEM",
    "DEU": "DEU", "usa": "USA", "  hong   kong ": "HKG", "germany (west)": "DEU",
}  # fmt: skip


@for_every(name=NAMED)
def test_a_region_leads_to_its_country(name):
    assert countries_of(name) == (NAMED[name],)


def test_groups_have_members_and_the_world_has_all():
    assert {"BRA", "MEX", "DOM"} <= set(countries_of("Latin America"))
    assert "USA" not in countries_of("Latin America")
    assert set(countries_of("Worldwide")) == set(country_names())
    assert len(country_names()) == 250


def test_every_code_of_the_table_is_a_country_and_no_name_means_two_things():
    content = tomllib.loads((FOLDER / "regions.toml").read_text(encoding="utf-8"))
    for kind in ("parts", "groups"):
        for name, codes in content[kind].items():
            assert codes == sorted(set(codes)), name
            assert set(codes) <= set(country_names()), name
            assert countries_of(name) == tuple(codes), name
    assert {countries_of(name) for name in content["worldwide"]} == {tuple(country_names())}
    with (FOLDER / "countries.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for name in (row["name"], row["code"], *filter(None, row["others"].split("|"))):
                assert countries_of(name) == (row["code"],), name


def item(name: str, *regions: str, cluster: str | None = None, language: str = "en") -> Item:
    pair = (Candidate(f"{name}-s", "stereotype", "a"), Candidate(f"{name}-c", "contrast", "b"))
    return Item(
        name, "shades", language, "age", pair, cluster=cluster or name, tags={"task": "contrast", "region": regions}
    )


ITEMS = Items(
    (
        item("1a", "Germany (West)", "Germany (East)", cluster="1"),
        item("1b", "Germany", "Atlantis", cluster="1"),
        item("2a", "France", "Wonderland"),
        item("3a"),
    )
)


def scored(values: dict[str, float]) -> Scored:
    rows = [
        Row(one, candidate.id, values[one.id] if k == 0 else 0.0, quantity="contrast", against=one.candidates[1 - k].id)
        for one in ITEMS
        for k, candidate in enumerate(one.candidates)
    ]
    return make_scored(
        item_table(ITEMS), row_table(rows), labels={"model": "m", "method": "contrast", "family": "causal"}
    )


SCORED = scored({"1a": 1.0, "1b": 3.0, "2a": -1.0, "3a": 9.0})


def test_coverage_counts_an_item_once_per_country_and_names_the_unknown():
    found, unknown = coverage(ITEMS)
    assert [(one.code, one.name, one.items, one.stereotypes) for one in found] == [
        ("DEU", "Germany", 2, 1),
        ("FRA", "France", 1, 1),
    ]
    assert unknown == ("Atlantis", "Wonderland")


def test_scores_per_country_are_those_of_its_items():
    found = country_scores(SCORED)
    assert {row.group["country"]: (row.value, row.n) for row in found.measures} == {"DEU": (2.0, 2), "FRA": (-1.0, 1)}
    assert found.unknown == ("Atlantis", "Wonderland")


def test_the_world_is_measured_once_and_reported_for_every_country():
    wide = Items((item("1a", "Worldwide"), item("2a", "France")))
    rows = row_table(
        Row(one, c.id, 1.0 - k, quantity="contrast", against=one.candidates[1 - k].id)
        for one in wide
        for k, c in enumerate(one.candidates)
    )
    table = make_scored(item_table(wide), rows, labels={"model": "m", "method": "contrast", "family": "causal"})
    found = {row.group["country"]: row.n for row in country_scores(table).measures}
    assert set(found) == set(country_names())
    assert (found["FRA"], found["DEU"]) == (2, 1)


def test_one_can_group_by_country_and_the_unknown_are_said():
    found = measure(with_countries(SCORED), metrics="contrast", by="country")
    assert {row.group["country"]: row.n for row in found} == {"DEU": 2, "FRA": 1, "none": 1}
    assert "unknown regions, which count for no country: Atlantis, Wonderland" in found.notes


def test_scores_without_regions_are_refused():
    bare = Scored(SCORED.table.drop("region"))
    with pytest.raises(IsoglossError) as caught:
        country_scores(bare)
    assert str(caught.value) == "These scores have no column 'region', so no country can be found for them."


def test_the_borders_are_small_closed_and_coded():
    assert (FOLDER / "world.geojson").stat().st_size < 300_000
    features = world()["features"]
    codes = [one["properties"]["code"] for one in features if one["properties"]["code"]]
    assert len(codes) == len(set(codes)) >= 230
    assert set(codes) <= set(country_names()) - {"ATA"}
    assert set(NAMED.values()) <= set(codes)
    for one in features:
        for polygon in one["geometry"]["coordinates"]:
            for ring in polygon:
                assert ring[0] == ring[-1]
                assert len(ring) >= 4
                assert all(-180 <= x <= 180 and -90 <= y <= 90 for x, y in ring)


def test_berlin_lies_in_germany_and_paris_does_not():
    shape = next(one for one in world()["features"] if one["id"] == "DEU")
    ring = max((polygon[0] for polygon in shape["geometry"]["coordinates"]), key=len)

    def inside(x: float, y: float) -> bool:
        sides = itertools.pairwise(ring)
        return (
            sum((a[1] > y) != (b[1] > y) and x < (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]) + a[0] for a, b in sides)
            % 2
            == 1
        )

    assert inside(13.4, 52.5)
    assert not inside(2.35, 48.85)


def test_every_region_of_the_demonstration_set_is_known():
    assert coverage(isogloss.read("shades_demo", language="en"))[1] == ()
