"""SVG of figures: tooltips for marks, and pictures that take on the colors and the type of the page around them."""

import io
import math
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Sequence
from typing import Any

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
TIP = "tip: "  # starts the id of a mark that has a tooltip
DROPPED = {"font-family", "stroke-dashoffset"}  # the page's own type; the default
SHARED = 100  # letters of an outline; a shorter one is not worth a reference
LONG, NEAR = 2_000, 0.6  # letters of an outline such as a coast, and points of a figure: one pixel of a screen
NUMBER = re.compile(r"-?\d+\.\d+")
# Colors of figures that a page exchanges when it is dark; the others are read on white and on black.
THEME = {
    "#000000": "ink", "#14171c": "cell", "#6e6e6e": "soft", "#d9d9d9": "line", "#9a9a9a": "soft", "#ececec": "bare",
    "#ffffff": "page", "#f2f2f0": "dp0", "#fbe3c6": "dp1", "#f7cc98": "dp2", "#f0b066": "dp3", "#e6923a": "dp4",
    "#d6e6f4": "dn1", "#b3d2eb": "dn2", "#8dbbdf": "dn3", "#68a3d0": "dn4",
    "#f3f5f2": "s0", "#e2efe6": "s1", "#cfe7da": "s2", "#b9dece": "s3", "#a1d3c2": "s4", "#87c7b6": "s5",
    "#6dbaab": "s6", "#56ac9f": "s7", "#459d93": "s8",
}  # fmt: skip


def explain(artist: Any, text: str) -> None:
    """Give a mark a tooltip."""
    artist.set_gid(TIP + text)


def draw_svg(figure: Any, **options: Any) -> bytes:
    """The figure as an SVG file, its tooltips as titles of their marks."""
    root = _parse(figure, **options)
    for element in root.iter():
        _add_title(element)
    ElementTree.register_namespace("", SVG[1:-1])
    ElementTree.register_namespace("xlink", LINK[1:].partition("}")[0])
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))


def embed_svg(figure: Any, *, name: str) -> str:
    """The figure as an element of a page: ids start with `name`, colors are the page's variables, numbers are short."""
    figure.patch.set_visible(False)
    for axes in figure.get_axes():
        axes.patch.set_visible(False)
    root = _parse(figure)
    for child in [child for child in root if child.tag == f"{SVG}metadata" or child.find(f"{SVG}style") is not None]:
        root.remove(child)
    used: dict[str, str] = {}
    for element in root.iter():
        _add_title(element)
        _shorten(element, used, name=name)
    for element in root.iter():
        if (id := element.attrib.pop("id", None)) in used:
            element.set("id", used[id])
    _unwrap(root)
    box = root.get("viewBox", "")
    root.attrib.clear()
    root.attrib.update({"class": "plot", "viewBox": box, "aria-hidden": "true"})
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)


def _parse(figure: Any, **options: Any) -> Any:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", **options)
    return ElementTree.fromstring(buffer.getvalue())


def _add_title(element: Any) -> None:
    """Turn the id of a mark that carries a tooltip into a title."""
    if element.get("id", "").startswith(TIP):
        title = ElementTree.Element(f"{SVG}title")
        title.text = element.attrib.pop("id").removeprefix(TIP)
        element.insert(0, title)


def _shorten(element: Any, used: dict[str, str], *, name: str) -> None:
    """Write an element as a page needs it; `used` collects the ids that are referred to, with their new names."""
    element.tag = element.tag.removeprefix(SVG)
    element.tail = None
    if element.tag not in ("text", "title"):
        element.text = None
    if LINK in element.attrib:
        element.set("href", element.attrib.pop(LINK))
    for key, value in list(element.attrib.items()):
        if key == "fill" and value in THEME:  # a hatched field
            del element.attrib[key]
            element.set("style", f"fill:var(--{THEME[value]})")
        elif key != "fill" and (match := re.fullmatch(r"(url\()?#([\w-]+)\)?", value)):
            new = used.setdefault(match[2], f"{name}-{len(used)}")
            element.set(key, f"url(#{new})" if match[1] else f"#{new}")
        elif key == "style":
            element.set(key, _style(value, used, name=name))
        elif key == "transform" and value.startswith("rotate(-0 "):
            del element.attrib[key]
        elif key not in ("id", "class"):
            element.set(key, _short_numbers(value, outline=key == "d"))


def _short_numbers(text: str, *, outline: bool) -> str:
    """The text with numbers of one digit after the point; two in small outlines, which are markers."""
    digits = 2 if outline and len(text) < SHARED else 1
    short = NUMBER.sub(lambda number: f"{float(number[0]):.{digits}f}".rstrip("0").rstrip("."), text)
    if not outline:
        return short
    return _thin(re.sub(r"\s*([A-Za-z])\s*", r"\1", short).strip())


def _thin(outline: str) -> str:
    """A long outline without the corners that are too near to the one before to be seen."""
    corners = re.findall(r"([MLz])([-\d. ]*)", outline)
    if len(outline) < LONG or len("".join(map("".join, corners))) < len(outline):
        return outline
    kept, last = [], (math.inf, math.inf)
    for letter, place in corners:
        x, y = map(float, place.split()) if place else last
        if letter == "L" and math.dist(last, (x, y)) < NEAR:
            continue
        kept.append(letter + place)
        last = (x, y)
    return "".join(kept)


def _style(text: str, used: dict[str, str], *, name: str) -> str:
    kept = []
    for part in filter(None, map(str.strip, text.split(";"))):
        key, _, value = part.partition(": ")
        if match := re.fullmatch(r"url\(#([\w-]+)\)", value):
            value = f"url(#{used.setdefault(match[1], f'{name}-{len(used)}')})"
        if key not in DROPPED:
            kept.append(f"{key}:{f'var(--{THEME[value]})' if value in THEME else value}")
    return ";".join(kept)


def _unwrap(element: Any) -> None:
    """Take out groups that say nothing."""
    children = []
    for child in element:
        _unwrap(child)
        plain = child.tag == "g" and not child.attrib and (child.find("title") is None)
        children += list(child) if plain else [child]
    element[:] = [child for child in children if child.tag != "defs" or len(child)]


def share_outlines(pictures: Sequence[str], *, name: str) -> tuple[list[str], str]:
    """The pictures with references in place of the outlines that several of them have, and the outlines."""
    outlines = [match for picture in pictures for match in re.findall(r'<path d="([^"]+)"', picture)]
    repeated = [d for d, count in Counter(outlines).items() if count > 1 and len(d) >= SHARED]
    ids = {d: f"{name}-{index}" for index, d in enumerate(repeated)}

    def refer(match: re.Match[str]) -> str:
        return f'<use href="#{ids[match[1]]}"' if match[1] in ids else match[0]

    defs = "".join(f'<path id="{id}" d="{d}"/>' for d, id in ids.items())
    return [re.sub(r'<path d="([^"]+)"', refer, picture) for picture in pictures], defs
