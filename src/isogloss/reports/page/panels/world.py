"""The world map: scores by region, and the number of items about each region."""

from collections.abc import Mapping, Sequence
from typing import Any

from .... import registry
from ....analysis.measures import Measure
from ....analysis.regions import REGION, country_names, unknown_regions, world
from ...chart_data import worldwide
from ...numbers import language_name, metric_name, model_label, number
from ..charts import WEAK, altair, data, finish
from ..data import PageData
from ..parts import Figure
from . import Panel

HEIGHT = 400


def draw(data: PageData) -> dict[str, Any] | None:
    """Two maps, of scores and of coverage; the reader chooses model and language."""
    rows = data.regions
    if not rows:
        return None
    names, metric = country_names(), metric_name(rows[0].metric)
    labels = [f"{model_label(row.group)}, {language_name(row.group['language'])}" for row in rows]
    cells = list(dict.fromkeys(labels))
    keys = [str(cells.index(label)) for label in labels]
    shown = [_row(row, key, country=names[row.group["country"]]) for row, key in zip(rows, keys, strict=True)]
    table = [[names[row.group["country"]], number(row), str(row.n), str(row.clusters)] for row in rows]
    counts = altair().Scale(domain=[0, max(row.n for row in rows)], range=["#d3e7df", "#0f5f57"])
    figures = [
        Figure(
            "world-scores",
            _chart(shown, _score_scale(rows), field="value", title=metric),
            label=f"World map of {metric} by country; all values are in the table below.",
            caption=f"{metric} over the items that are valid in a country, for the chosen model and language.",
            heading=["country", metric, "n", "clusters"],
            rows=table,
            keys=keys,
        ),
        Figure(
            "world-coverage",
            _chart(shown, counts, field="items", title="items"),
            label="World map of the number of items about each country; the counts are in the table above.",
            caption="Coverage: how many of the scored items are valid in a country.",
        ),
    ]
    items = data.scored.table.unique(["dataset", "id"])
    regions = data.scored.table[REGION].drop_nulls()
    regions = regions.explode().drop_nulls() if regions.dtype.is_nested() else regions
    return {
        "figures": figures,
        "options": {str(index): cell for index, cell in enumerate(cells)},
        "unplaced": unknown_regions([str(region) for region in regions.unique()]),
        "worldwide": int(worldwide(items).sum()),
        "world": world(),
    }


def _row(row: Measure, cell: str, *, country: str) -> dict[str, Any]:
    return {
        "key": f"{cell}/{row.group['country']}",
        "cell": int(cell),
        "value": row.value,
        "items": row.n,
        "weak": row.interpretable is False,
        "tip": f"{country}: {metric_name(row.metric)} {number(row)}, n = {row.n}",
    }


def _score_scale(rows: Sequence[Measure]) -> Any:
    """Colours on both sides of the neutral point, or upwards where the metric has none."""
    alt = altair()
    neutral = registry.get("metric", rows[0].metric).neutral
    values = [row.value or 0.0 for row in rows]
    if neutral is None:
        return alt.Scale(domain=[min(values), max(values)], range=["#cfe7da", "#19786f"])
    far = max(abs(value - neutral) for value in values) or 1.0
    return alt.Scale(
        domain=[neutral - far, neutral, neutral + far], range=["#2a6ba1", "#e4e2dc", "#c26405"], interpolate="rgb"
    )


def _chart(rows: Sequence[Mapping[str, Any]], scale: Any, *, field: str, title: str) -> dict[str, Any]:
    """All countries in grey, and over them those that have data. The borders are in the page once, not in the chart."""
    alt = altair()
    borders = alt.NamedData(name="world")
    land = alt.Chart(borders).mark_geoshape(fill="#8a909922", stroke="#7d838c", strokeWidth=0.4)
    fields = alt.LookupData(data=data(rows), key="key", fields=[field, "weak", "tip"])
    legend = alt.Legend(title=title, orient="bottom", gradientLength=220)
    shown = (
        alt.Chart(borders)
        .transform_calculate(key="pick + '/' + datum.id")
        .transform_lookup(lookup="key", from_=fields)
        .transform_filter(f"isValid(datum.{field})")
        .mark_geoshape(stroke="#7d838c", strokeWidth=0.4)
        .encode(
            color=alt.condition(
                f"datum.weak && '{field}' == 'value'",
                alt.value(WEAK),
                alt.Color(f"{field}:Q", scale=scale, legend=legend),
            ),
            tooltip=[alt.Tooltip("tip:N", title=" ")],
        )
    )
    chart = (land + shown).project("equalEarth").add_params(alt.param(name="pick", value=0))
    finished = finish(chart, height=HEIGHT)
    finished["datasets"] = {**finished.get("datasets", {}), "world": "shared"}
    return finished


panel = Panel("Where on earth", order=90, draw=draw)
