"""Figures for papers: their marks are the measures, their letters have fonts, their files are what they say."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
import unicodedata
import warnings
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib import font_manager
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.text import Text
from typer.testing import CliRunner

from isogloss import registry
from isogloss.analysis.intervals import IntervalSettings
from isogloss.analysis.measures import Measure, measure
from isogloss.chat.records import ANSWER_SCHEMA, ANSWERS
from isogloss.cli import app
from isogloss.corpora.pronoun_preservation import Preservation
from isogloss.errors import IsoglossError, MissingExtra
from isogloss.items import Items
from isogloss.reports.chart_data import MONOLINGUAL, MULTILINGUAL, model_kinds
from isogloss.reports.figures import FigureRequest, _marks, _style, _svg, draw_plot, make_figure, write_figure
from isogloss.reports.figures._maps import equal_earth
from isogloss.reports.figures._style import DOUBLE, SINGLE, Canvas, open_canvas, save_figure
from isogloss.reports.figures.heatmap import HeatmapTable
from isogloss.runs import find_runs, read_scored, write_part
from isogloss.stats.resampling import wilson_interval
from support.builders import triple
from support.offenders import for_every
from support.reports import neutral_items, write_run

LETTERS = {
    "fa": "فارسی می‌رود",
    "hi": "हिन्दी क्षेत्र",
    "bn": "বাংলা স্ত্রী",
    "ja": "日本語の木",
    "ru": "Русский",
    "el": "ελληνικά",
}
TAGS = ("en", "fa", "ja")
RUN_FIGURES = ("plane", "heatmap", "forest", "isogloss_map", "agreement", "bias_types", "world", "coverage")
ALL = sorted(registry.names("figure"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two models in English, Persian and Japanese; every item is told in France."""
    root = tmp_path_factory.mktemp("runs")
    for index, model in enumerate(("one", "two")):
        for number, language in enumerate(TAGS):
            write_run(root, neutral_items(language, region="France"), model=model, wins=20 - 6 * number + index)
    return str(root)


@pytest.fixture(scope="module")
def order(runs):
    return FigureRequest((runs,), settings=IntervalSettings(resamples=200))


def texts(figure):
    return [one.get_text() for one in figure.findobj(Text) if one.get_text() and one.get_visible()]


def overall(runs, *metrics):
    return list(measure(read_scored(find_runs(Path(runs))), metrics=metrics, resamples=200))


def lines_of(axes):
    """Every straight line that an error bar drew, as its two ends."""
    found = [segment for one in axes.collections if isinstance(one, LineCollection) for segment in one.get_segments()]
    return [np.round(segment, 9).tolist() for segment in found]


# ---- what all figures share


@for_every(name=ALL)
def test_every_figure_says_what_it_shows_and_needs(name):
    plot = registry.get("figure", name)
    assert plot.title
    assert "isogloss " in plot.needs
    assert plot.caption.endswith(".")


@pytest.mark.parametrize("width", ["single", "double"])
@pytest.mark.parametrize("name", RUN_FIGURES)
def test_a_figure_has_the_width_that_was_asked_for_and_no_text_is_cut_or_tiny(order, name, width):
    chosen = replace(order, metrics=("ss", "icat")) if name == "agreement" else order
    chosen = replace(order, languages=("fa",)) if name == "world" else chosen
    figure = make_figure(name, chosen, canvas=open_canvas(width))
    assert figure.get_size_inches()[0] == {"single": SINGLE, "double": DOUBLE}[width]
    figure.draw_without_rendering()
    drawn, (wide, high) = figure.get_tightbbox(), figure.get_size_inches()
    assert drawn.x0 >= -0.02
    assert drawn.y0 >= -0.02
    assert drawn.x1 <= wide + 0.02
    assert drawn.y1 <= high + 0.02
    assert min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text()) >= 6


@pytest.mark.parametrize("name", ["plane", "forest", "isogloss_map", "world"])
def test_without_its_data_a_figure_says_what_it_needs(tmp_path, name):
    run = write_run(tmp_path, Items(tuple(replace(item, category=None) for item in neutral_items().rows[:2])))
    if name == "plane":
        roles = ("man", "woman", "person")
        run = write_run(tmp_path / "other", Items(tuple(triple(f"p{n}", roles=roles) for n in range(3))))
    with pytest.raises(IsoglossError) as caught:
        make_figure(name, FigureRequest((str(run.folder),)))
    assert (
        str(caught.value)
        == f"Nothing in these sources can be drawn as '{name}'. It needs {registry.get('figure', name).needs}."
    )


@pytest.mark.parametrize("name", ["shares", "answers"])
def test_runs_of_another_kind_are_named_by_what_is_missing(order, name):
    with pytest.raises(IsoglossError, match=f"can be drawn as '{name}'. It needs .*isogloss "):
        make_figure(name, order)


def test_drawing_leaves_matplotlib_as_it_was(order):
    names = [name for name in matplotlib.rcParams if name != "backend"]  # to ask for it imports pyplot
    before = {name: matplotlib.rcParams[name] for name in names}
    make_figure("plane", order)
    assert {name: matplotlib.rcParams[name] for name in names} == before
    assert "matplotlib.pyplot" not in sys.modules


def test_listing_figures_needs_no_matplotlib():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from isogloss import registry; assert registry.load_all('figure')['plane'].title\n"
        "assert not [m for m in sys.modules if m.startswith('matplotlib.')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_extra_is_named(order, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    _style.installed.cache_clear()
    with pytest.raises(MissingExtra) as caught:
        make_figure("plane", order)
    assert str(caught.value) == (
        "This needs the library 'matplotlib', which is not installed: pip install \".[report]\" in your copy of Isogloss"
    )


# ---- files


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_files_are_what_their_ending_says_and_equal_every_time(order, tmp_path, ending, start):
    paths = [tmp_path / f"{n}.{ending}" for n in range(2)]
    for path in paths:
        drawn = write_figure("bias_types", order, path=path)
    first, second = (path.read_bytes() for path in paths)
    assert first.startswith(start)
    assert first == second
    assert drawn.inches[0] == SINGLE


def test_a_png_has_300_dots_per_inch(order, tmp_path):
    path = write_figure("plane", order, path=tmp_path / "x.png", canvas=Canvas(DOUBLE)).path
    assert struct.unpack(">I", path.read_bytes()[16:20])[0] == int(300 * DOUBLE)


def test_text_stays_text_in_svg_and_pdf(order, tmp_path):
    svg = write_figure("heatmap", order, path=tmp_path / "x.svg").path
    words = [one.text for one in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert "one" in words
    pdf = write_figure("heatmap", order, path=tmp_path / "x.pdf").path.read_bytes()
    assert b"/FontFile2" in pdf or b"/FontFile3" in pdf
    assert b"/Type3" not in pdf.replace(b" ", b"")


def test_an_unknown_ending_is_refused(order, tmp_path):
    with pytest.raises(IsoglossError) as caught:
        write_figure("plane", order, path=tmp_path / "x.bmp")
    assert str(caught.value) == "A chart cannot be written as '.bmp'. Use one of .svg, .png, .pdf."


def test_a_folder_that_is_not_there_is_named(order, tmp_path):
    with pytest.raises(IsoglossError, match=r"Cannot write .*Is the folder writable"):
        write_figure("plane", order, path=tmp_path / "no" / "x.png")


@pytest.mark.parametrize("width", ["broad", "0.2", "99"])
def test_a_width_that_cannot_be_drawn_is_refused(width):
    with pytest.raises(IsoglossError, match="Use "):
        open_canvas(width)


# ---- letters


def letters_without_font(text):
    """The letters of a text that no font on this machine has, of those that we know for its script."""
    names = _style.families([text])
    found = {font.fname for font in font_manager.fontManager.ttflist if font.name in names}
    known = {code for path in found for code in font_manager.get_font(path).get_charmap()}
    return {letter for letter in text if ord(letter) not in known and unicodedata.category(letter) != "Cf"}


@pytest.mark.parametrize("text", LETTERS.values(), ids=LETTERS)
def test_no_letter_is_missing_that_an_installed_font_has(tmp_path, text):
    missing = letters_without_font(text)  # none of them with fonts-noto-core and fonts-noto-cjk
    steps = [{"name": "a", "tasks": {"b": 3}, "targets": {text: 2}}]
    figure = draw_plot(registry.get("figure", "problems"), steps, canvas=Canvas())
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        save_figure(figure, tmp_path / "x.png")
    told = [str(one.message) for one in heard if str(one.message).startswith("No installed font has these letters")]
    assert len(told) == len(heard) == bool(missing)
    assert missing >= {letter for line in told for letter in line.split(": ")[1].split(". ")[0].split(" ")}


def test_a_letter_that_no_font_has_is_told_once(tmp_path):
    steps = [{"name": "\U00012000", "tasks": {"a": 3}, "targets": {"b": 2}}]  # a cuneiform sign
    figure = draw_plot(registry.get("figure", "problems"), steps, canvas=Canvas())
    with pytest.warns(UserWarning, match="No installed font has these letters") as heard:
        save_figure(figure, tmp_path / "x.png")
    assert len(heard) == 1


@pytest.mark.skipif(
    not {f"Noto Sans CJK {one}" for one in ("JP", "SC", "TC")} <= _style.installed(),
    reason="there are no CJK fonts here",
)
def test_han_letters_are_written_as_the_language_writes_them():
    def first(text, *tags):
        return next(name for name in _style.families([text], languages=tags) if "CJK" in name)

    assert first("日本語の木") == "Noto Sans CJK JP"
    assert first("骨") == "Noto Sans CJK SC"
    assert first("骨", "ja") == "Noto Sans CJK JP"
    assert first("骨", "zh-Hant") == "Noto Sans CJK TC"


def test_languages_can_be_named_by_themselves(order):
    shown = texts(make_figure("forest", order, canvas=Canvas(names="own")))
    assert {"English", "فارسی", "日本語"} <= set(shown)
    with pytest.raises(IsoglossError, match="No way to name languages named 'latin'"):
        open_canvas(names="latin")


def contrast(one, two):
    """The ratio of the luminances of two colours, as WCAG defines it."""

    def light(colour):
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear)) + 0.05

    return max(light(one), light(two)) / min(light(one), light(two))


@for_every(field=[*_marks.ABOVE, *_marks.BELOW, *_marks.UPWARDS])
def test_numbers_are_readable_on_every_field(field):
    assert contrast(field, _marks.CELL_INK) >= 4.5


@for_every(colour=_marks.COLOURS)
def test_marks_are_seen_on_white_and_on_the_dark_page(colour):
    assert contrast(colour, "#ffffff") >= 3
    assert contrast(colour, "#14171c") >= 3


# ---- colours mean what the numbers say


def cell(value, low, high, *, model="m", language="en", sure=True):
    group = {"model": model, "dataset": "d", "language": language}
    return Measure("ss", group, value, low, high, n=9, ties=0, clusters=12, mode="corrected", interpretable=sure)


def test_what_cannot_be_distinguished_from_neutral_has_no_colour_whatever_its_value():
    rows = [cell(80, 40, 95), cell(80, 70, 90), cell(53, 51, 55), cell(30, 20, 40), cell(90, None, None)]
    colour, ends = _marks.measure_colours(rows)
    pale, strongest, weakest, below, without = map(colour, rows)
    assert pale == without == _marks.ABOVE[0]
    assert (strongest, weakest, below) == (_marks.ABOVE[3], _marks.ABOVE[1], _marks.BELOW[2])
    assert ends == (10, 90)


def test_a_map_without_a_neutral_value_says_what_its_green_means():
    rows = tuple(replace(cell(value, value - 9, value + 9), metric="recognition") for value in (20, 50))
    rows = (rows[0], replace(rows[1], group={**rows[1].group, "language": "de"}))
    figure = draw_plot(registry.get("figure", "heatmap"), [HeatmapTable("d", "recognition", rows, {})], canvas=Canvas())
    assert figure.axes[0].get_xlabel() == "stronger green: higher value"


def test_small_differences_in_per_cent_do_not_get_strong_colours():
    colour, _ = _marks.measure_colours([cell(52, 51, 53), cell(49, 48, 49.5)])
    assert colour(cell(52, 51, 53)) == _marks.ABOVE[1]


def test_a_legend_shows_a_model_in_the_grey_of_its_points_when_it_is_never_interpretable():
    rows = [cell(60, 55, 65, model="sure"), cell(60, 55, 65, model="weak", sure=False)]
    labels, handles = _marks.model_legend(rows)
    assert labels == ["sure", "weak", "† not interpretable"]
    assert [handle.get_color() for handle in handles] == [_marks.COLOURS[0], _marks.WEAK, _marks.WEAK]
    assert [handle.get_marker() for handle in handles] == ["o", "s", "o"]


def test_marks_carry_tooltips_with_their_numbers_in_files_and_in_pages(order, tmp_path):
    path = write_figure("plane", order, path=tmp_path / "x.svg").path
    titles = {one.text for one in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}title")}
    figure = make_figure("plane", order)
    embedded = _svg.embed_svg(figure, name="p")
    tips = [title for title in titles if title.startswith(("one, ", "two, "))]
    assert len(tips) == 6
    assert all(re.fullmatch(r"(one|two), \w+ \(\w\w\): SS .*, n = 24; LMS .*", tip) for tip in tips)
    assert all(f"<title>{tip}</title>" in embedded for tip in tips)


def test_a_picture_in_a_page_has_the_colours_of_its_theme_and_ids_of_its_own(order):
    embedded = [_svg.embed_svg(make_figure("heatmap", order), name=name) for name in ("a", "b")]
    ids = [set(re.findall(r' id="([^"]+)"', text)) for text in embedded]
    assert not ids[0] & ids[1]
    for text in embedded:
        assert not set(re.findall(r"#[0-9a-f]{6}", text)) & set(_svg.THEME)
        assert "var(--cell)" in text
        assert set(re.findall(r"url\(#([^)]+)\)", text)) <= ids[0] | ids[1]
        assert "font-family" not in text


def test_the_page_defines_every_colour_that_pictures_name():
    css = (Path(_svg.__file__).parents[2] / "data" / "report" / "style.css").read_text(encoding="utf-8")
    light = dict(re.findall(r"--([\w]+): (#[0-9a-f]{6});", css[: css.index("data-theme")]))
    dark = dict(re.findall(r"--([\w]+): (#[0-9a-f]{6});", css[css.index('data-theme="dark"') : css.index("@media")]))
    assert set(_svg.THEME.values()) <= set(dark) <= set(light)
    fields = {*_marks.ABOVE, *_marks.BELOW, *_marks.UPWARDS, _marks.CELL_INK}
    assert {name: light[_svg.THEME[name]] for name in fields} == {name: name for name in fields}


def test_outlines_that_several_pictures_have_are_written_once():
    outline = "M0 0" + "L1 1" * 40
    pictures = [
        f'<svg><path d="{outline}" style="fill:red" /></svg>',
        f'<svg><path d="{outline}" /><path d="M1" /></svg>',
    ]
    shared, defs = _svg.share_outlines(pictures, name="land")
    assert shared == [
        '<svg><use href="#land-0" style="fill:red" /></svg>',
        '<svg><use href="#land-0" /><path d="M1" /></svg>',
    ]
    assert defs == f'<path id="land-0" d="{outline}"/>'


# ---- marks are measures


def test_the_plane_has_a_mark_and_two_intervals_for_each_model_and_language(runs, order):
    axes = make_figure("plane", order).axes[0]
    rows = overall(runs, "ss", "lms")
    ss = {tuple(row.group.values()): row for row in rows if row.metric == "ss"}
    lms = {tuple(row.group.values()): row for row in rows if row.metric == "lms"}
    assert len(ss) == 6
    drawn = lines_of(axes)
    assert len(drawn) == 12
    for key, row in ss.items():
        y = lms[key].value
        assert [[pytest.approx(row.low), y], [pytest.approx(row.high), y]] in drawn
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("SS (50: no preference)", "LMS")


def test_the_heat_map_has_a_field_for_each_cell_in_blocks(runs, order):
    facts = {"one": {"multilingual": "no"}, "two": {"multilingual": "yes"}}
    figure = make_figure("heatmap", replace(order, facts=facts))
    fields = [one for one in figure.axes[0].patches if isinstance(one, Rectangle)]
    assert len(fields) == 6
    shown = "\n".join(texts(figure)).replace("-\nlingual", "lingual")  # in two lines, beside one row
    assert "monolingual" in shown
    assert "multilingual" in shown
    for row in overall(runs, "ss"):
        assert f"{row.value:.1f}" in shown


def test_several_metrics_make_several_maps(order):
    figure = make_figure("heatmap", replace(order, metrics=("lms", "ss", "icat")), canvas=Canvas(DOUBLE))
    assert [axes.get_title() for axes in figure.axes] == ["LMS, neutral", "SS, neutral", "ICAT, neutral"]


def test_under_ten_clusters_the_forest_has_no_point_but_their_number(order):
    figure = make_figure("forest", order)
    marks = [line for axes in figure.axes for line in axes.lines if line.get_marker() not in ("None", "", None)]
    assert marks == []
    assert texts(figure).count("6 clusters: no interval") == 2 * 2 * 3  # bias types, models, languages


def test_the_forest_has_a_mark_with_its_interval_for_each_row():
    rows = [replace(cell(60 + n, 55 + n, 65 + n), group={"model": "m", "dataset": "d", "language": tag, "category": kind})
            for n, (tag, kind) in enumerate((tag, kind) for tag in ("en", "de") for kind in ("race", "gender"))]  # fmt: skip
    figure = draw_plot(registry.get("figure", "forest"), rows, canvas=Canvas())
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["race", "gender"]
    assert [[[round(x) for x, _ in line] for line in lines_of(axes)] for axes in figure.axes] == [
        [[55, 65], [57, 67]],
        [[56, 66], [58, 68]],
    ]


def test_the_forest_of_one_language_is_one_panel_with_a_line_for_each_bias_type():
    rows = [replace(cell(60, 55, 65), group={"model": "m", "dataset": "d", "language": "uk", "category": kind})
            for kind in ("race", "gender")]  # fmt: skip
    (axes,) = draw_plot(registry.get("figure", "forest"), rows, canvas=Canvas()).axes
    assert [one.get_text() for one in axes.get_yticklabels()] == ["race", "gender"]


def test_the_isogloss_map_has_both_halves_of_the_matrix_and_the_tree(order):
    figure = make_figure("isogloss_map", order)
    matrices = [
        axes for axes in figure.findobj(type(figure.subfigs[0].axes[0])) if axes.get_xlabel().startswith("rank")
    ]
    assert len(matrices) == 2  # one for each model
    assert all(len(axes.texts) == 6 for axes in matrices)


def test_agreement_says_what_it_needs_where_its_metrics_do_not_fit(order):
    with pytest.raises(IsoglossError, match="It needs two metrics of at least 3 models or languages"):
        make_figure("agreement", order)


def test_two_measures_are_drawn_with_their_correlation(order):
    axes = make_figure("agreement", replace(order, metrics=("ss", "icat"))).axes[0]
    assert len(lines_of(axes)) == 12
    assert axes.get_title().startswith("n = 6, Spearman ")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("SS", "ICAT")


def test_bars_count_the_items_of_each_bias_type(order):
    axes = make_figure("bias_types", order).axes[0]
    assert [bar.get_width() for bar in axes.patches] == [12] * 6
    assert [one.get_text() for one in axes.get_yticklabels()] == ["places", "things"]


def test_bias_types_are_read_from_data_too():
    axes = make_figure("bias_types", FigureRequest(("demo",), languages=("en",))).axes
    assert sorted(one.get_title() for one in axes) == ["intersentence", "intrasentence"]


# ---- maps


def test_the_map_colours_the_countries_that_have_data(order):
    figure = make_figure("coverage", order)
    patches = {one.get_label(): one for one in figure.findobj(PathPatch)}
    assert patches["FRA"].get_facecolor() != patches[""].get_facecolor()  # the land under all countries
    assert not {"BRA", "DEU"} & set(patches)


def test_scores_by_country_have_a_map_for_each_model_and_language(order):
    figure = make_figure("world", replace(order, languages=("en", "ja")))
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == ["one · English", "one · Japanese", "two · English", "two · Japanese"]
    hatched = [one for one in figure.findobj(PathPatch) if one.get_hatch()]
    assert {one.get_label() for one in hatched} <= {"FRA"}


def test_the_projection_keeps_areas():
    # A field of one degree at 0° and at 60° has half the area there: cos 60° = 1/2.
    def area(south):
        corners = equal_earth(np.array([[0, south], [1, south], [1, south + 1], [0, south + 1]], dtype=float))
        x, y = corners.T
        return abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2

    expected = (np.sin(np.radians(61)) - np.sin(np.radians(60))) / np.sin(np.radians(1))
    assert area(60) / area(0) == pytest.approx(expected, rel=1e-3)


def test_no_country_is_drawn_across_the_map(order):
    figure = make_figure("coverage", order)
    for patch in figure.findobj(PathPatch):
        if patch.get_gid():
            steps = np.abs(np.diff(patch.get_path().vertices[:, 0]))
            codes = patch.get_path().codes[1:]
            assert steps[codes == 2].max(initial=0) < 1.5, patch.get_gid()


# ---- other sources


def answer_run(root, *, tag="en", yes=12):
    """A run of answers to one prompt: the first say yes, two nothing, the others no."""
    items = neutral_items(tag)
    rows = [
        {
            "dataset": item.dataset,
            "id": item.id,
            "language": tag,
            "candidate": item.candidates[0].id,
            "prompt": "agree",
            "order": "yes-no",
            "sample": 0,
            "text": "Yes." if number < yes else "" if number < yes + 2 else "No.",
        }
        for number, item in enumerate(items)
    ]
    return items, rows


def test_yes_grows_from_the_left_and_no_from_the_right(tmp_path):
    import polars as pl

    items, rows = answer_run(tmp_path)
    asked = {"data": "en", "weights": "chat", "method": "ask"}
    run = write_run(tmp_path, items, model="chat", holds=ANSWERS.name, fingerprint=asked)
    rows += [row | {"prompt": "stereotype"} for row in rows]
    table = pl.DataFrame(rows, schema_overrides=ANSWER_SCHEMA)
    missing = [
        pl.lit(None, dtype=kind).alias(name) for name, kind in ANSWER_SCHEMA.items() if name not in table.columns
    ]
    write_part(run, 0, rows=table.with_columns(missing).select(ANSWER_SCHEMA.keys()))
    first, axes = make_figure("answers", FigureRequest((str(tmp_path),))).axes
    assert first.get_title(loc="left") == "stereotype"  # the first question first
    bars = sorted((bar.get_x(), bar.get_width()) for bar in axes.patches)
    assert bars == [(0, 50), (50, pytest.approx(200 / 24)), (pytest.approx(100 - 1000 / 24), pytest.approx(1000 / 24))]
    assert axes.get_title(loc="left") == "agree"
    assert len(axes.lines) == 2  # an interval at either side


def share(term, value, *, concept="nurse", low=None, high=None):
    group = {"model": "m", "dataset": "templates", "language": "en", "set": "s", "concept": concept, "term": term}
    return Measure("share", group, value, low, high, n=12, ties=0, clusters=12, mode="corrected")


def test_shares_fill_the_bar_and_show_the_interval_of_the_part_that_ends_there():
    rows = [share("man", 0.3, low=0.2, high=0.4), share("woman", 0.7, low=0.6, high=0.8)]
    figure = draw_plot(registry.get("figure", "shares"), rows, canvas=Canvas())
    axes = figure.subfigs[0].axes[0]
    assert [(bar.get_x(), bar.get_width()) for bar in axes.patches] == [(0, 70), (70, pytest.approx(30))]
    assert [line.get_xdata().tolist() for line in axes.lines] == [
        pytest.approx([60, 80]),
        pytest.approx([60, 80]),
    ]


def test_terms_beyond_the_largest_share_one_grey_part():
    rows = [share(f"t{n}", 0.1) for n in range(10)]
    figure = draw_plot(registry.get("figure", "shares"), rows, canvas=Canvas())
    axes = figure.subfigs[0].axes[0]
    assert len(axes.patches) == 8
    assert axes.patches[-1].get_width() == pytest.approx(30)
    assert "3 others" in texts(figure)


def test_steps_of_a_translation_are_read_from_its_folder(tmp_path):
    steps = [
        {"name": "translated", "tasks": {"intra": 4, "inter": 2}, "targets": {"tree": 4, "sea": 2}},
        {"name": "case", "tasks": {"intra": 1, "inter": 0}, "targets": {"tree": 1}},
    ]
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "project.json").write_text(json.dumps({"steps": steps}), encoding="utf-8")
    top, bottom = make_figure("problems", FigureRequest((str(tmp_path),))).axes
    assert [bar.get_width() for bar in top.patches] == [4, 1, 2, 0]
    assert [bar.get_width() for bar in bottom.patches] == [2, 4, 0, 1]  # from below: sea and tree before, then after
    with pytest.raises(IsoglossError, match="is not a translation"):
        make_figure("problems", FigureRequest((str(tmp_path / "no"),)))


def test_preservation_has_wilsons_intervals(tmp_path):
    rows = [{"corpus": "c", "language": "de", "pronoun": "he", "kept": 8, "n": 10}]
    (tmp_path / "kept.json").write_text(json.dumps({"preservation": rows}), encoding="utf-8")
    axes = make_figure("preservation", FigureRequest((str(tmp_path / "kept.json"),))).axes[0]
    assert Preservation("c", "de", "he", 8, 10).share == axes.patches[0].get_width() == 80
    low, high = wilson_interval(0.8, 10)
    (start, end) = lines_of(axes)[0]
    assert (start[0], end[0]) == (pytest.approx(100 * low), pytest.approx(100 * high))


def test_training_curves_are_read_from_the_log(tmp_path):
    lines = ["step,examples,loss,accuracy,core_rate,head_rate,seconds"]
    lines += [f"{n},{8 * n},{2 / n},{0.5 + n / 50},{1e-5 * n},{1e-3 * n},{n}" for n in range(1, 11)]
    (tmp_path / "log.csv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "card.json").write_text('{"validations": [{"examples": 40, "accuracy": 0.6}]}', encoding="utf-8")
    loss, accuracy, rates = make_figure("training", FigureRequest((str(tmp_path),))).axes
    assert [len(axes.lines) for axes in (loss, accuracy, rates)] == [2, 3, 2]
    raw, smoothed = loss.lines
    assert raw.get_ydata()[0] == smoothed.get_ydata()[0] == 2
    assert accuracy.lines[2].get_xydata().tolist() == [[40, 0.6]]
    rates.figure.draw_without_rendering()
    assert "1e−4" in [one.get_text() for one in rates.get_yticklabels()]
    with pytest.raises(IsoglossError, match=r"it has no log\.csv"):
        make_figure("training", FigureRequest((str(tmp_path / "no"),)))


# ---- kinds of models


def test_given_facts_win_over_labels_and_labels_over_known_languages(tmp_path):
    one = write_run(tmp_path, neutral_items(), model="a", facts={"languages": ["en"]})
    two = write_run(tmp_path, neutral_items(), model="b", facts={"languages": ["en"]}, labels={"multilingual": "yes"})
    three = write_run(tmp_path, neutral_items(), model="c", facts={"languages": ["en", "fa"]})
    assert model_kinds([one, two, three], {"c": {"multilingual": "False"}}) == {
        "a": MONOLINGUAL,
        "b": MULTILINGUAL,
        "c": MONOLINGUAL,
    }


# ---- the command


def run_command(*arguments):
    return CliRunner().invoke(app, ["figure", *map(str, arguments)])


def test_the_command_writes_the_file_and_says_what_the_marks_mean(runs, tmp_path):
    done = run_command("plane", runs, "--out", tmp_path / "x.svg", "--width", "double", "--resamples", 100)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "x.svg").is_file()
    assert done.stdout.startswith(f"{tmp_path / 'x.svg'}: 6.90 x ")
    assert "95 % intervals" in done.stdout


def test_the_command_lists_figures_with_what_they_need():
    shown = CliRunner().invoke(app, ["list", "figures"]).stdout
    assert all(f"{name}: " in shown for name in ALL)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("plain", "x"), "No figure named 'plain'."),
        (("plane", "no-such-folder"), "No such run: no-such-folder."),
        (("plane", "x", "--out", "x.gif"), "A chart cannot be written as '.gif'."),
    ],
)
def test_mistakes_are_told_in_one_sentence(arguments, said):
    assert str(run_command(*arguments).exception).startswith(said)
