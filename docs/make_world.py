"""Makes src/isogloss/data/regions/world.geojson out of the npm package world-atlas: python docs/make_world.py PACKAGE_FOLDER.

`npm pack world-atlas` fetches the package; its TopoJSON is Natural Earth's, which is in the public domain. Countries are taken
at 1:110 million, and those too small for that scale at 1:50 million. Antarctica is left out. Coordinates keep two decimals.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

REGIONS = Path(__file__).parent.parent / "src" / "isogloss" / "data" / "regions"
ANTARCTICA = "ATA"
UNNUMBERED = {"Kosovo": "XKX"}  # a user-assigned code that many use; the others without a number have no code
OVERSEAS = {"GUF": "FRA", "SJM": "NOR"}  # territories that the maps draw as a part of their state
Point = list[float]


def decode_arcs(topology: dict[str, Any]) -> list[list[Point]]:
    """The arcs as points: stored as differences, scaled."""
    (sx, sy), (tx, ty) = topology["transform"]["scale"], topology["transform"]["translate"]
    arcs = []
    for arc in topology["arcs"]:
        x = y = 0
        points = []
        for dx, dy in arc:
            x, y = x + dx, y + dy
            points.append([round(x * sx + tx, 2), round(y * sy + ty, 2)])
        arcs.append(points)
    return arcs


def ring(numbers: list[int], arcs: list[list[Point]]) -> list[Point]:
    """Arcs joined end to end; a number below zero is an arc read backwards; points that repeat are left out."""
    points: list[Point] = []
    for number in numbers:
        points += arcs[number] if number >= 0 else arcs[~number][::-1]
    return [point for k, point in enumerate(points) if k == 0 or point != points[k - 1]]


def polygons(shape: dict[str, Any], arcs: list[list[Point]]) -> list[list[list[Point]]]:
    """The polygons of a geometry, those without an area left out."""
    parts = shape["arcs"] if shape["type"] == "MultiPolygon" else [shape["arcs"]]
    made = [[found for one in part if len(found := ring(one, arcs)) > 3] for part in parts]
    return [part for part in made if part]


def features(path: Path, codes: dict[str, tuple[str, str]]) -> dict[str, dict[str, Any]]:
    """A feature for each country of a TopoJSON file, by code, or by name where there is no code."""
    topology = json.loads(path.read_text(encoding="utf-8"))
    arcs = decode_arcs(topology)
    found = {}
    for shape in topology["objects"]["countries"]["geometries"]:
        name = shape["properties"]["name"]
        code, name = codes.get(shape.get("id", ""), (UNNUMBERED.get(name), name))
        geometry = {"type": "MultiPolygon", "coordinates": polygons(shape, arcs)}
        if geometry["coordinates"] and code != ANTARCTICA:
            properties = {"code": code, "name": name}
            found[code or name] = {
                "type": "Feature",
                "id": code or name,
                "properties": properties,
                "geometry": geometry,
            }
    return found


def split_overseas(home: dict[str, Any], code: str, *, name: str) -> list[dict[str, Any]]:
    """The territory that lies far from its state as a feature of its own, taken out of the state's."""
    far = {"GUF": lambda x, y: x < -30, "SJM": lambda x, y: y > 74}[code]
    parts = home["geometry"]["coordinates"]
    away = [part for part in parts if far(*(sum(values) / len(values) for values in zip(*part[0], strict=True)))]
    home["geometry"]["coordinates"] = [part for part in parts if part not in away]
    geometry = {"type": "MultiPolygon", "coordinates": away}
    feature = {"type": "Feature", "id": code, "properties": {"code": code, "name": name}, "geometry": geometry}
    return [feature] if away else []


def main(package: Path) -> None:
    """Write the file."""
    with (REGIONS / "countries.csv").open(encoding="utf-8", newline="") as file:
        codes = {row["number"]: (row["code"], row["name"]) for row in csv.DictReader(file) if row["number"]}
    small = {
        key: one for key, one in features(package / "countries-50m.json", codes).items() if one["properties"]["code"]
    }
    countries = small | features(package / "countries-110m.json", codes)
    names = dict(codes.values())
    away = [one for code, home in OVERSEAS.items() for one in split_overseas(countries[home], code, name=names[code])]
    world = {"type": "FeatureCollection", "features": [*countries.values(), *away]}
    text = json.dumps(world, ensure_ascii=False, separators=(",", ":"))
    (REGIONS / "world.geojson").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
