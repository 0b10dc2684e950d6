"""Parts of a page: its sections, charts with their tables, templates, and JSON that is safe inside a page."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ...errors import require
from ..numbers import describe

FOLDER = Path(__file__).parent.parent.parent / "data" / "report"


@dataclass(frozen=True, slots=True)
class Section:
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
    made.globals["language"] = describe
    return made


def render(template: str, **values: Any) -> str:
    """The template filled in; every text is escaped."""
    return str(_environment().get_template(template).render(**values))


def safe_json(value: Any) -> Any:
    """The value as compact JSON that cannot end the script element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return require("markupsafe", extra="report").Markup(text.replace("<", "\\u003c"))
