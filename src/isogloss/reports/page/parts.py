"""Fragments of a page: templates, panels, numbers as cells, and JSON that is safe inside a page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ... import languages, registry
from ...analysis.measures import Measure
from ...errors import require

FOLDER = Path(__file__).parent.parent.parent / "data" / "report"


@dataclass(frozen=True, slots=True)
class Panel:
    """One section of the page: its anchor, its heading, and its HTML."""

    name: str
    title: str
    html: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with what stands around it: a label for those who do not see it, a caption, and its numbers as a table.

    `pick` names a parameter of the chart and its values with their labels: the reader chooses one.
    """

    name: str
    spec: Mapping[str, Any]
    label: str
    caption: str = ""
    heading: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    pick: Mapping[str, str] | None = None
    keys: Sequence[str] = ()


@cache
def _described(tag: str) -> languages.Language:
    """What is known of a language, looked up once: a report names each one thousands of times."""
    return languages.describe(tag)


@cache
def _environment() -> Any:
    jinja = require("jinja2", extra="report")
    made = jinja.Environment(
        loader=jinja.FileSystemLoader(FOLDER, encoding="utf-8"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja.StrictUndefined,
    )
    made.filters["safe_json"] = safe_json
    made.globals["language"] = _described
    return made


def render(template: str, **values: Any) -> str:
    """The template filled in; every text is escaped."""
    return str(_environment().get_template(template).render(**values))


def panel(name: str, title: str, **values: Any) -> Panel:
    """The panel of that name, from the template of that name."""
    return Panel(name, title, render(f"panels/{name}.html", **values))


def safe_json(value: Any) -> Any:
    """The value as compact JSON that cannot end the script element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return require("markupsafe", extra="report").Markup(text.replace("<", "\\u003c"))


def language_name(tag: str) -> str:
    """The language's English name with its tag, or the tag alone when nothing is known of it."""
    known = _described(tag)
    return tag if known.name == tag else f"{known.name} ({tag})"


def plain_name(tag: str) -> str:
    """The language's English name, for a sentence."""
    return _described(tag).name


def short(row: Measure) -> str:
    """The value for a crowded place: one digit after the point, or two where the metric's scale is small."""
    return "-" if row.value is None else f"{row.value:{_form(row.metric)}}".replace("-", "−")


def _form(metric: str) -> str:
    low, high = registry.get("metric", metric).bounds
    return ".1f" if 10 < high - low < float("inf") else ".2f"


def ends(row: Measure) -> str:
    """The interval for a crowded place, or nothing."""
    return between(row.low, row.high, form=_form(row.metric))


def between(low: float | None, high: float | None, *, form: str = ".1f") -> str:
    """Both ends in as few letters as can be read without doubt; nothing when one is missing."""
    if low is None or high is None:
        return ""
    sign = "–" if low >= 0 else " to "
    return f"{low:{form}}{sign}{high:{form}}".replace("-", "−")


def side(row: Measure, neutral: float | None) -> str:
    """Where the interval lies: above, below or unclear; nothing without a neutral point, an interval, or competence."""
    if row.interpretable is False or neutral is None or row.low is None or row.high is None:
        return ""
    return "unclear" if row.low <= neutral <= row.high else "above" if row.low > neutral else "below"


def model_label(group: Mapping[str, str]) -> str:
    """Who was measured: the model, and its method where it was scored by several."""
    return group["model"] + (f" · {group['method']}" if "method" in group else "")
