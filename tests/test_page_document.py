"""The HTML report: what it shows is what was measured, nothing can leak in or out, and bad input is told."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import sys
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import isogloss as ig
from isogloss import registry
from isogloss.analysis.agreements import agree
from isogloss.analysis.changes import change
from isogloss.analysis.controls import check_controls
from isogloss.analysis.groups import check_rows, item_gaps
from isogloss.analysis.intervals import IntervalSettings
from isogloss.analysis.measures import Measure, measure
from isogloss.analysis.robustness import RobustnessReport, SettingResult
from isogloss.analysis.study import Study, load_study
from isogloss.cli import app
from isogloss.errors import BadData, IsoglossError, MissingExtra
from isogloss.items import Items
from isogloss.reports.chart_data import branches, icat_lines, leaves, model_kinds, without_task
from isogloss.reports.figures import _style
from isogloss.reports.numbers import missing_intervals
from isogloss.reports.page.added_files import Extras, read_extras
from isogloss.reports.page.data import PageData, measure_all
from isogloss.reports.page.document import draw_page, draw_panels, stored_title, write_report
from isogloss.reports.page.panels import explorer
from isogloss.reports.text.sentences import state_findings
from isogloss.results import Results
from isogloss.runs import part_path, read_part, read_scored, write_part
from support.builders import score_many
from support.reports import WORDS, neutral_items, write_run, write_runs

QUICK = IntervalSettings(resamples=200)
ANSWERS = "model,language,prompt,verdict,share\nchat,en,agree?,yes,0.25\nchat,en,agree?,no,0.75\n"
SHARES = "model,language,set,concept,term,share\nm,en,work,nurse,women,0.7\nm,en,work,nurse,men,0.3\n"


class Reader(HTMLParser):
    """What a page holds: its scripts by kind, its visible text, and every address it names."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.text: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag, attrs):
        known = dict(attrs)
        self.addresses += [known[key] for key in ("src", "href", "action") if known.get(key)]
        self.ids += [known["id"]] if known.get("id") else []
        if tag in ("script", "style"):
            self.stack.append(tag)
            self.scripts.append((known, "")) if tag == "script" else None

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self.stack.pop()

    def handle_data(self, data):
        if self.stack and self.stack[-1] == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        elif not self.stack:
            self.text.append(data)


def unpacked(text: str) -> dict:
    return json.loads(gzip.decompress(base64.b64decode(text)))


def hash_of(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:24]


def read_page(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    return reader


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def found(runs: Path) -> PageData:
    return measure_all(load_study(runs), Extras(), settings=QUICK)


@pytest.fixture(scope="module")
def page(found: PageData) -> str:
    return draw_page(found, command="isogloss report runs -o report.html")


def names(data: PageData) -> list[str]:
    return [panel.name for panel in draw_panels(data)]


def html_of(data: PageData, name: str) -> str:
    return next(panel.html for panel in draw_panels(data) if panel.name == name)


# ---- what it shows


def test_every_cell_of_the_heat_map_is_what_was_measured(found):
    rows = measure(found.scored, metrics=["ss"], by=[], resamples=200)
    shown = html_of(found, "heatmap")
    for row in rows:
        assert f"{row.value:.1f}" in shown
        assert f"{row.low:.1f}–{row.high:.1f}" in shown


def test_the_finding_leads_with_what_was_found():
    def row(language: str, value: float, low: float, high: float, *, known: bool = True) -> Measure:
        group = {"model": "m", "dataset": "d", "language": language}
        return Measure("ss", group, value, low, high, n=40, ties=0, clusters=12, mode="corrected", interpretable=known)

    rows = [row("en", 63.5, 55.2, 71.9), row("fr", 52, 48, 56), row("es", 40, 35, 45)]
    weak = [row("de", 42, 36, 49, known=False), row("tr", 70, 60, 80, known=False)]
    assert state_findings([*weak, *rows]) == [
        "On d, m prefers stereotypes in English (63.5, 55.2 to 71.9); it prefers anti-stereotypes in Spanish (40.0, 35.0 to 45.0); "
        "it shows no clear preference in French (52.0, 48.0 to 56.0); "
        "in German and Turkish it is below our competence limit, so its SS is not interpretable."
    ]
    assert state_findings(weak) == [
        "On d, m is below our competence limit in German and Turkish, so its SS is not interpretable."
    ]


def test_a_finding_names_the_tasks_of_a_language_with_a_value_for_each():
    def row(language: str, task: str, value: float, *, known: bool = True) -> Measure:
        group = {"model": "m", "dataset": "d", "language": language, "task": task}
        ends = (value - 4, value + 4)
        return Measure("ss", group, value, *ends, n=40, ties=0, clusters=12, mode="corrected", interpretable=known)

    rows = [row("en", "intrasentence", 60), row("en", "intersentence", 52)]
    weak = [row("es", task, 45, known=False) for task in ("intrasentence", "intersentence")]
    assert state_findings([*rows, *weak]) == [
        "On d, m prefers stereotypes in English (intrasentence: 60.0, 56.0 to 64.0); "
        "it shows no clear preference in English (intersentence: 52.0, 48.0 to 56.0); "
        "in Spanish (intrasentence) and Spanish (intersentence) it is below our competence limit, so its SS is not interpretable."
    ]
    assert state_findings(rows[:1], values=False) == ["On d, m prefers stereotypes in English."]


def test_a_finding_without_a_neutral_value_states_the_values():
    def row(language: str, value: float, model: str = "m") -> Measure:
        group = {"model": model, "dataset": "d", "language": language}
        return Measure("recognition", group, value, value - 8, value + 8, n=40, ties=0, clusters=12, mode="corrected")

    few = [row("en", 32.5), row("de", 40)]
    values = "32.5 (24.5 to 40.5) in English"
    assert state_findings(few) == [f"On d, m's recognition is {values} and 40.0 (32.0 to 48.0) in German."]
    assert state_findings(few, values=False) == state_findings(few)  # they are the finding
    without = Measure("recognition", row("fr", 1).group, 30, None, None, n=4, ties=0, clusters=4, mode="corrected")
    assert state_findings([few[0], without]) == [
        f"On d, m's recognition is {values}; it has too few clusters for an interval of recognition in French (30.0)."
    ]
    many = [*few, row("fr", 50), row("es", 60), row("it", 44)]
    assert state_findings(many) == [f"On d, m's recognition ranges from {values} to 60.0 (52.0 to 68.0) in Spanish."]


def test_a_finding_is_about_all_methods_where_they_were_pooled():
    def row(value: float, language: str = "en", **method: str) -> Measure:
        group = {"model": "m", "dataset": "d", "language": language, **method}
        return Measure(
            "ss", group, value, value - 5, value + 5, n=40, ties=0, clusters=12, mode="corrected", interpretable=True
        )

    split = [row(70, method="likelihood"), row(50, method="continuation")]
    assert state_findings([*split, row(60)]) == ["On d, m prefers stereotypes in English (60.0, 55.0 to 65.0)."]
    assert state_findings([*split, row(60, "de")]) == [
        "On d, m · likelihood prefers stereotypes in English (70.0, 65.0 to 75.0). "
        "m · continuation shows no clear preference in English (50.0, 45.0 to 55.0). "
        "m prefers stereotypes in German (60.0, 55.0 to 65.0)."
    ]


def test_a_bias_type_without_any_interval_has_no_panel_and_is_named(found):
    def row(kind: str, low: float | None) -> Measure:
        group = {"model": "m", "dataset": "d", "language": "en", "category": kind}
        why = None if low else "3 clusters; an interval needs 10"
        return Measure("ss", group, 60, low, low and 65, n=9, ties=0, clusters=3, mode="corrected", why=why)

    shown = html_of(replace(found, categories=(row("race", 55), row("age", None), row("family", None))), "forest")
    drawn, _, table = shown.partition("<table")
    assert (">race<" in drawn, ">age<" in drawn, ">age<" in table) == (True, False, True)
    assert "No group of age and family has one; their values are in the table." in shown


def test_a_report_of_a_studys_folder_has_the_studys_title(runs, tmp_path):
    write_run(tmp_path / "study" / "model", neutral_items())
    found = load_study(tmp_path).runs
    study = found[0].folder.parent.parent
    (study / "study.yaml").write_text("# made by\nname: x\ntitle: Of a file\n", encoding="utf-8")
    assert stored_title(found) == "Of a file"
    assert stored_title(load_study(runs).runs) == ""


def test_contrasts_are_shown_with_what_they_were_compared_with():
    row = {"role": ["stereotype", "contrast"], "text": ["Girls like pink.", "Boys like pink."], "context": None}
    shown = explorer.describe_item(row | {"id": "2a", "dataset": "d", "language": "en", "category": "gender"})
    assert (shown["s"], shown["n"]) == (["Girls like pink.", "Boys like pink.", None], 1)


def test_the_heat_map_comes_first_and_a_studys_title_is_the_heading(found):
    assert names(found)[0] == "heatmap"
    page = draw_page(replace(found, extras=Extras(title="Two models & three languages")))
    assert '<h1 dir="auto">Two models &amp; three languages</h1>' in page


@pytest.mark.slow
def test_panels_appear_when_their_data_is_there(runs, found, tmp_path):
    assert set(names(found)) == {*registry.names("panel")} - {"change", "claims", "targets", "shares", "answers", "world", "pairs", "agreement", "controls", "robustness", "ranking"}  # fmt: skip
    (tmp_path / "answers.csv").write_text(ANSWERS, encoding="utf-8")
    (tmp_path / "shares.csv").write_text(SHARES, encoding="utf-8")
    extras = read_extras([tmp_path / "answers.csv", tmp_path / "shares.csv"])
    assert {"answers", "shares"} <= set(names(replace(found, extras=extras)))


def test_scores_in_memory_make_a_report_without_sentences(tmp_path):
    path = ig.report(score_many(60, clusters=12), tmp_path / "report.html", resamples=100)
    reader = read_page(path.read_text(encoding="utf-8"))
    assert "heatmap" in reader.ids
    assert "explorer" not in reader.ids
    assert "The scores were passed in memory" in " ".join(reader.text)


def test_the_verb_works_after_the_room_was_imported(tmp_path):
    from isogloss.reports.text import measures

    assert measures.metric_name("ss") == "SS"
    assert ig.report(score_many(24, clusters=12), tmp_path / "r.html", resamples=100) == tmp_path / "r.html"


def test_targets_are_ranked_with_intervals_over_their_items(tmp_path):
    panel = next(p for p in draw_panels(measure_all(Study(score_many(120, clusters=12)), Extras(), settings=QUICK)) if p.name == "targets")  # fmt: skip
    assert "t0" in panel.html
    assert re.search(r"\[\d+\.\d\d, \d+\.\d\d\]", panel.html)


def test_models_stand_in_blocks_when_their_languages_are_known(tmp_path):
    write_run(tmp_path, neutral_items(), model="single", facts={"languages": ["en"]})
    write_run(tmp_path, neutral_items(), model="many", facts={"languages": ["multilingual"]})
    write_run(tmp_path, neutral_items(), model="told")
    extras = Extras(facts={"told": {"multilingual": "True"}})
    found = measure_all(load_study(tmp_path), extras, settings=QUICK)
    assert model_kinds(found.runs, extras.facts) == {
        "single": "monolingual",
        "many": "multilingual",
        "told": "multilingual",
    }
    shown = html_of(found, "heatmap")
    assert all(
        f">{text}<" in shown for text in ("single", "many", "told", "mono-", "multilingual")
    )  # one row: two lines


def test_lines_of_equal_icat_are_where_icat_is_equal():
    lines = icat_lines((40.0, 60.0), (50.0, 90.0))
    assert any(line for line in lines.values())
    for level, line in lines.items():
        for ss, lms in line:
            assert lms * min(ss, 100 - ss) / 50 == pytest.approx(level, abs=0.01)


def test_like_stands_by_like(found):
    one = found.languages_alike[0]
    order = leaves(one)
    assert sorted(order) == sorted(WORDS)
    nearest = one.tree[0]
    assert abs(order.index(nearest.left[0]) - order.index(nearest.right[0])) == 1
    assert len(branches(one)) == len(WORDS) - 1


def test_whole_takes_the_only_task_where_there_is_one():
    def row(**group: str) -> Measure:
        return Measure("ss", group, 50, 40, 60, n=9, ties=0, clusters=12, mode="corrected")

    both = [row(model="a", task="x"), row(model="a", task="y"), row(model="a"), row(model="b", task="x")]
    assert without_task(both) == [both[2], both[3]]


def test_the_world_map_has_the_countries_of_the_regions(tmp_path):
    write_run(tmp_path, neutral_items(region=("Japan", "Nowhere land")))
    shown = html_of(measure_all(load_study(tmp_path), Extras(), settings=QUICK), "world")
    assert '<th scope="row" dir="auto">Japan</th>' in shown
    assert "Not on the map: <bdi>Nowhere land</bdi>" in shown


def test_items_that_are_valid_worldwide_are_not_on_the_map(tmp_path):
    items = neutral_items(region="Worldwide")
    some = tuple(replace(item, tags={**item.tags, "region": "Japan"}) for item in items.rows[:12])
    write_run(tmp_path, Items((*some, *items.rows[12:])))
    found = measure_all(load_study(tmp_path), Extras(), settings=QUICK)
    assert {row.group["country"] for row in found.regions} == {"JPN"}
    assert "12 items that are valid worldwide are not on the map" in html_of(found, "world")


def test_an_item_counts_once_in_all_its_languages(found):
    assert re.search(r"<strong>24</strong> items", html_of(found, "heatmap"))


def test_reasons_for_missing_intervals_are_said_once():
    def row(why: str) -> Measure:
        return Measure("ss", {}, 50, None, None, n=9, ties=0, clusters=1, mode="corrected", why=why)

    rows = [row("1 clusters; an interval needs 10"), row("4 clusters; an interval needs 10"), row("a reason")]
    assert missing_intervals(rows) == "1 to 4 clusters; an interval needs 10; a reason"
    assert missing_intervals(rows[:1]) == "1 cluster; an interval needs 10"


def test_every_chart_has_a_label_and_its_numbers_nearby(page):
    figures = re.findall(r"<figure.*?</figure>", page, re.DOTALL)
    assert len(figures) >= 2  # the plane, and one forest plot
    for figure in figures:
        assert re.search(r'role="img" aria-label="[^"]{20,}"', figure) or "<svg" not in figure
        assert "<table>" in figure
    assert 'id="plane-neutral-0-0"' in page  # parts of pictures have ids of their own


# ---- nothing leaks


def test_sentences_are_not_in_the_page_but_in_data_that_is_not_shown(page, runs):
    reader = read_page(page)
    shown = " ".join(reader.text)
    texts = [c.text for language in WORDS for item in neutral_items(language) for c in item.candidates]
    assert [text for text in texts if text in shown] == []
    data = next(unpacked(text) for known, text in reader.scripts if known.get("id") == "explorer-data")
    assert {text for item in data["items"] for text in item["s"]} == set(texts)


def test_only_the_pages_own_scripts_may_run(page):
    reader = read_page(page)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1].replace("&#39;", "'")
    running = [text for known, text in reader.scripts if known.get("type") != "application/gzip"]
    assert len(running) == 1
    for text in running:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe-eval" not in policy
    assert "http" not in policy


def test_nothing_points_outside(page):
    assert [one for one in read_page(page).addresses if not one.startswith("#")] == []
    assert not re.search(r"url\((?!#)|@import", page)


def test_hostile_names_and_texts_stay_text(tmp_path):
    bad = '</script><script>alert("x")</script><img src=x onerror=alert(1)>'
    items = neutral_items()
    hostile = tuple(
        replace(item, category=bad, candidates=tuple(replace(c, text=c.text + bad) for c in item.candidates))
        for item in items
    )
    write_run(tmp_path, Items(hostile), model=bad)
    reader = read_page(draw_page(measure_all(load_study(tmp_path), Extras(), settings=QUICK), command=bad))
    assert len([1 for known, _ in reader.scripts if known.get("type") != "application/gzip"]) == 1
    assert "x" not in reader.addresses
    assert any(bad in text for text in reader.text)


def test_ids_are_unique(page):
    ids = read_page(page).ids
    assert sorted(ids) == sorted(set(ids))


def test_the_explorer_keeps_the_most_telling_items_and_says_so(found, monkeypatch):
    monkeypatch.setattr(explorer, "MOST", 2_000)
    shown = html_of(found, "explorer")
    data = unpacked(re.search(r'id="explorer-data">(.*?)</script>', shown, re.DOTALL)[1])
    assert 0 < len(data["items"]) < 24 * len(WORDS)
    assert f"contains {len(data['items'])} of {24 * len(WORDS)} items" in shown
    largest = max(abs(gap) for item in json.loads(json.dumps(data["items"])) for gap in item["g"] if gap is not None)
    gaps = item_gaps(check_rows(found.scored))["gap"].abs()
    assert largest == pytest.approx(gaps.max(), abs=0.001)


def test_a_page_of_one_run_weighs_at_most_200_kilobytes(tmp_path):
    items = Items(tuple(
        replace(item, id=f"{item.id}-{copy}", candidates=tuple(replace(c, id=f"{c.id}-{copy}", text=f"{c.text} {hash_of(copy, c.id)}") for c in item.candidates))
        for copy in range(150) for item in neutral_items()
    ))  # fmt: skip
    write_run(tmp_path, items)  # 3,600 items with sentences that differ
    page = draw_page(measure_all(load_study(tmp_path), Extras(), settings=QUICK))
    assert 100_000 < len(page.encode()) <= 200_000


def test_without_matplotlib_the_page_says_which_extra_it_needs(found, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    _style.installed.cache_clear()
    with pytest.raises(MissingExtra) as caught:
        draw_page(found)
    assert str(caught.value) == (
        "This needs the library 'matplotlib', which is not installed: pip install \".[report]\" in your copy of Isogloss"
    )


# ---- bad input


def test_an_empty_folder_is_an_error_and_leaves_with_two(tmp_path):
    message = f"No runs in {tmp_path}. Make one with: isogloss eval MODEL --data demo"
    with pytest.raises(IsoglossError) as error:
        write_report(load_study(tmp_path, texts=True), tmp_path / "report.html")
    assert str(error.value) == message
    assert not (tmp_path / "report.html").exists()


def test_the_command_prints_the_error_and_leaves_with_two(tmp_path, monkeypatch, capsys):
    from isogloss.cli import main

    monkeypatch.setattr("sys.argv", ["isogloss", "report", str(tmp_path), "-o", str(tmp_path / "r.html")])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert capsys.readouterr().err.startswith(f"Error: No runs in {tmp_path}.")


def test_a_broken_part_is_told_and_the_rest_is_shown(tmp_path):
    write_run(tmp_path, neutral_items(), model="whole")
    broken = write_run(tmp_path, neutral_items(), model="broken")
    part_path(broken, 0).write_bytes(b"PAR1 not any more")
    found = measure_all(load_study(tmp_path), Extras(), settings=QUICK)
    text = " ".join(read_page(draw_page(found)).text)
    assert "Not everything could be read" in text
    assert "the part is broken or was altered" in text
    assert {row.group["model"] for row in found.overall} == {"whole"}


def test_a_run_of_another_schema_version_is_told_and_the_rest_is_shown(tmp_path):
    write_run(tmp_path, neutral_items(), model="whole")
    other = write_run(tmp_path, neutral_items("fa"), model="later")
    path = other.folder / "run.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"schema": 3', '"schema": 99'), encoding="utf-8")
    found = measure_all(load_study(tmp_path), Extras(), settings=QUICK)
    assert [problem.split(": ", 1)[1] for problem in found.problems] == ["schema version 99; this Isogloss reads versions 1, 2, 3."]  # fmt: skip
    assert len({row.group["language"] for row in found.overall}) == 1


def test_missing_parts_are_told(tmp_path):
    run = write_run(tmp_path, neutral_items(), model="part", parts=3)
    write_part(run, 0, rows=read_part(run, 0).head(3))
    assert any("2 of 3 parts are missing" in problem for problem in load_study(tmp_path).scores.notes)


def test_when_nothing_can_be_read_it_is_an_error(tmp_path):
    run = write_run(tmp_path, neutral_items())
    part_path(run, 0).write_bytes(b"")
    with pytest.raises(IsoglossError, match=r"the part is broken or was altered"):
        load_study(tmp_path)


def test_no_such_folder(tmp_path):
    with pytest.raises(IsoglossError) as error:
        load_study(tmp_path / "nowhere")
    assert str(error.value).startswith(f"No such run: {tmp_path / 'nowhere'}. Make one with: ")


@pytest.mark.slow
def test_a_place_that_cannot_be_written_is_told(runs, tmp_path):
    out = tmp_path / "no" / "report.html"
    with pytest.raises(IsoglossError) as error:
        write_report(load_study(runs, texts=True), out, settings=QUICK)
    assert str(error.value) == f"Cannot write {out} (No such file or directory). Is the folder writable, and the disk not full?"  # fmt: skip


# ---- what can be added


@pytest.mark.slow
def test_cards_controls_and_agreements_come_back_as_they_were(runs, tmp_path):
    gathered = load_study(runs)
    result = SettingResult("likelihood", "method", 55.0, 50.0, 60.0, 24, flips=2, rank=0.9)
    report = RobustnessReport(
        "one", "neutral", "en", "intrasentence", (result,), "same", (("a", "b", 0.5, 0.4),), ("x",)
    )
    controls = check_controls(gathered.scored, gathered.items, resamples=100)
    rows = measure(gathered.scored, metrics=["ss"], by=[], resamples=100)
    agreements = agree(rows, rows)
    files = {"cards": Results((report,)).to_dict(), "controls": controls.to_dict(), "agreements": agreements.to_dict()}  # fmt: skip
    for name, content in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    extras = read_extras([tmp_path / f"{name}.json" for name in files])
    assert extras.cards == (report,)
    assert extras.controls == tuple(controls)
    assert extras.agreements == tuple(agreements)
    assert {"controls", "robustness", "agreement"} <= set(names(replace(measure_all(gathered, extras, settings=QUICK))))


@pytest.mark.slow
def test_changes_are_a_panel_with_the_flips_of_each_group(runs, tmp_path):
    gathered = load_study(runs)
    one, two = (
        gathered.narrow(["en"], {"model": name}).scores for name in sorted(gathered.scores.table["model"].unique())[:2]
    )
    changes = change(one, two, by="category", resamples=200)
    path = tmp_path / "change.json"
    path.write_text(changes.to_json(), encoding="utf-8")
    extras = read_extras([path])
    assert extras.changes == (changes,)
    data = measure_all(gathered, extras, settings=QUICK)
    assert "change" in names(data)
    assert "change" not in names(replace(data, extras=Extras()))
    html = html_of(data, "change")
    moved = f"{changes[0].turned_to + changes[0].turned_away} of {changes[0].n} items"
    assert moved in html
    assert "category things" in html


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.txt", "", "a report takes in .json, .csv and .parquet files."),
        ("x.csv", "a,b\n1,2\n", "a table for a report has the columns model, language, set, concept, term, share; or model, language, prompt, verdict, share."),
        ("x.csv", ANSWERS.replace("0.25", "25"), "the column 'share' must hold numbers from 0 to 1."),
        ("x.csv", ANSWERS.replace("0.25", "some"), "the column 'share' must hold numbers."),
        ("x.json", "[]", "a JSON file for a report is what gate, change, robustness, controls or agreement print with --format json."),
        ("x.json", '{"cards": [{"model": "m"}]}', "'cards' is not what this Isogloss writes. Make the file again."),
    ],
)  # fmt: skip
def test_a_file_of_another_kind_is_refused(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadData) as error:
        read_extras([path])
    assert str(error.value) == f"{path}: {message}"


def test_shares_of_templates_are_found_in_runs():
    table = score_many(2, clusters=2).table.filter(pl.col("id") == "i0").head(2)
    logs = pl.Series("logprobs", [[-1.0, -1.0], [-1.0, -1.0 - 1.0986122886681098]], dtype=pl.List(pl.Float64))
    roles = table.with_columns(logs, role=pl.Series(["men", "women"]), task=pl.lit("template"), set=pl.lit("work"), concept=pl.lit("cook"))  # fmt: skip
    from isogloss.reports.page.data import find_shares

    shares = find_shares(ig.Scored(roles), settings=QUICK)
    assert dict(shares.select("term", "share").rows()) == pytest.approx({"men": 0.75, "women": 0.25})
    assert find_shares(score_many(4, clusters=2), settings=QUICK) is None


# ---- the command


def test_the_command_writes_one_file(runs, tmp_path):
    out = tmp_path / "report.html"
    done = CliRunner().invoke(app, ["report", str(runs), "-o", str(out), "--resamples", "100"])
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(f"{out}: ")
    text = out.read_text(encoding="utf-8")
    assert "Student's with the jackknife's error" in unescape(text)
    assert "use 100 resamples." in text
    assert "The seed is 0." in text
    assert read_scored(list(load_study(runs).runs)).table.height == 2 * len(WORDS) * 24 * 3


@pytest.mark.slow
def test_six_models_in_five_languages_stay_below_five_megabytes(real_data, tmp_path):
    for language in ("en", "de", "es", "fr", "tr"):
        folder = real_data / "stereoset"
        items = ig.read(folder / f"intrasentence_{language}.jsonl.gz") + ig.read(folder / f"intersentence_{language}.jsonl.gz")  # fmt: skip
        for number in range(6):
            write_run(tmp_path / "runs", items, model=f"model-{number}", wins=2000 + 50 * number)
    path = write_report(load_study(tmp_path / "runs", texts=True), tmp_path / "report.html", settings=QUICK)
    assert 1_000_000 < path.stat().st_size < 5_000_000
