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
    """A chart with the text around it: a label for those who do not see it, a caption, and its numbers as a table.

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
def open_templates(folder: Path) -> Any:
    """The templates of a folder: every text is escaped, and a value that is not given is an error."""
    jinja = require("jinja2", extra="report")
    templates = jinja.Environment(
        loader=jinja.FileSystemLoader(folder, encoding="utf-8"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja.StrictUndefined,
    )
    templates.filters["safe_json"] = safe_json
    templates.globals["language"] = describe
    return templates


def render(template: str, **values: Any) -> str:
    """The template filled in; every text is escaped."""
    return str(open_templates(FOLDER).get_template(template).render(**values))


def safe_json(value: Any) -> Any:
    """The value as compact JSON that cannot end the script element that contains it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return require("markupsafe", extra="report").Markup(text.replace("<", "\\u003c"))
