"""Parts of a page: its sections, its charts with their tables, and its templates."""

from collections.abc import Sequence
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
class ChartView:
    """One picture of a chart, in its widths, with its numbers as a table; `keys` are the choices that show it."""

    keys: tuple[str, ...]
    pictures: Sequence[str]
    heading: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: its views, what the reader chooses between them by, a label for those who do not see it, and a caption."""

    name: str
    views: Sequence[ChartView]
    label: str
    caption: str = ""
    choices: Sequence[str] = ()

    @property
    def options(self) -> list[tuple[str, list[str]]]:
        """Each choice with its values, in the order of the views."""
        values = [list(dict.fromkeys(view.keys[place] for view in self.views)) for place in range(len(self.choices))]
        return list(zip(self.choices, values, strict=True))


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
    templates.globals["language"] = describe
    return templates


def render(template: str, **values: Any) -> str:
    """The template filled in; every text is escaped."""
    return str(open_templates(FOLDER).get_template(template).render(**values))
