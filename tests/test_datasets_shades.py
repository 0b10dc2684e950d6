"""SHADES: its layout however it is spelled, its bad rows, the hub, filters, the demonstration set, and the extremes."""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import isogloss
from isogloss.analysis.inspection import find_extremes
from isogloss.cli import app
from isogloss.datasets import shades
from isogloss.errors import IsoglossError
from isogloss.files import cell_values, hub
from isogloss.files.filters import filter_items
from isogloss.items import Items
from isogloss.library import score
from isogloss.reports.text.runs import WARNING, extremes_as_text
from isogloss.runs import find_runs, read_scored
from support import tiny

FACTS = (
    "index", "subset", "bias_type", "stereotype_origin_langs", "stereotype_valid_langs", "stereotype_valid_regions",
    "stereotyped_entity", "type",
)  # fmt: skip
LANGUAGES = ("en", "pt_br", "zh_hant")
COLUMNS = [*FACTS, *(f"{tag}_{field}" for tag in LANGUAGES for field in shades.FIELDS[::-1])]


def row(index: Any, subset: str, **cells: Any) -> dict[str, Any]:
    return dict.fromkeys(COLUMNS, "") | {"index": index, "subset": subset} | cells


ROWS = [
    row(
        "1.0", "_original", bias_type="gender", stereotype_origin_langs="['en', 'es-DO']", stereotype_valid_langs="en; pt",
        stereotype_valid_regions="['USA', 'Germany (West)']", stereotyped_entity="red stones ∪ red bricks", type="declaration",
        en_biased_sentences="Red stones are heavy.", en_templates="COLOUR-PL are heavy.", en_expression="false",
        pt_br_biased_sentences="Pedras vermelhas pesam.", zh_hant_biased_sentences="紅石頭很重。", en_comments="plain",
    ),
    row(
        "1.0", "a", en_biased_sentences="Blue stones are heavy.", pt_br_biased_sentences="Pedras azuis pesam.",
        zh_hant_biased_sentences="藍石頭很重。",
    ),
    row("1.0", "b", en_biased_sentences="Green stones are heavy."),
    row(
        "1.1", "_original", bias_type="gender", stereotype_origin_langs="en", type="obligation",
        en_biased_sentences="Red stones must be heavy.",
    ),
    row("1.1", "a", en_biased_sentences="Blue stones must be heavy."),
    row(
        "2.0", "_original", bias_type="age", stereotype_origin_langs="pt-BR", stereotype_valid_langs="en, pt-BR",
        stereotype_valid_regions="Latin America; Arab world (Egypt, Libya)", type="description",
        en_biased_sentences="Old lamps glow.", en_expression="True", pt_br_biased_sentences="Lampiões velhos brilham.",
    ),
]  # fmt: skip


def write_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "shades.csv", ROWS)


def by_key(items: Items) -> dict[tuple[str, str], Any]:
    return {(item.language, item.id): item for item in items}


# ---- the reader


def test_ids_are_parallel_and_each_contrast_is_an_item(table):
    found = by_key(isogloss.read(table))
    assert sorted(found) == [
        ("en", "1.1a"),
        ("en", "1a"),
        ("en", "1b"),
        ("en", "2"),
        ("pt-BR", "1a"),
        ("pt-BR", "2"),
        ("zh-Hant", "1a"),
    ]
    item = found["en", "1a"]
    assert [(c.id, c.role, c.text) for c in item.candidates] == [
        ("1a-stereotype", "stereotype", "Red stones are heavy."),
        ("1a-contrast", "contrast", "Blue stones are heavy."),
    ]
    assert (item.dataset, item.category, item.cluster) == ("shades", "gender", "1")
    assert found["en", "1.1a"].cluster == "1"


def test_the_tags_say_what_the_table_says(table):
    tags = by_key(isogloss.read(table))["en", "1a"].tags
    assert tags == {
        "task": "contrast",
        "entity": ("red stones", "red bricks"),
        "type": "declaration",
        "statement": "implicit",
        "region": ("USA", "Germany (West)"),
        "origin_language": ("en", "es-DO"),
        "valid_language": ("en", "pt-BR"),
        "original": "yes",
        "valid": "yes",
        "template": "COLOUR-PL are heavy.",
    }


def test_each_language_knows_whether_it_is_the_original(table):
    found = by_key(isogloss.read(table))
    assert [
        found[key].tags["original"] for key in [("en", "1a"), ("pt-BR", "1a"), ("zh-Hant", "1a"), ("pt-BR", "2")]
    ] == [
        "yes",
        "no",
        "no",
        "yes",
    ]
    assert found["pt-BR", "1a"].tags["valid"] == "yes"
    assert "valid" not in found["en", "1.1a"].tags


def test_a_statement_is_a_saying_where_its_language_says_so(table):
    found = by_key(isogloss.read(table))
    assert (found["en", "2"].tags["statement"], found["pt-BR", "2"].tags["statement"]) == ("saying", "descriptive")
    assert found["en", "2"].tags["region"] == ("Latin America", "Arab world (Egypt, Libya)")


def test_a_stereotype_without_a_contrast_is_kept_alone(table):
    item = by_key(isogloss.read(table))["en", "2"]
    assert [candidate.role for candidate in item.candidates] == ["stereotype"]


def test_parquet_with_lists_and_numbers_reads_alike(table, tmp_path):
    typed = [
        one
        | {
            "index": float(one["index"]),
            "stereotype_valid_regions": list(cell_values.several(one["stereotype_valid_regions"])),
            "en_expression": {"true": True, "false": False}.get(one["en_expression"].lower()),
            "en_comments": None,
        }
        for one in ROWS
    ]
    path = tmp_path / "shades.parquet"
    pl.DataFrame(typed, infer_schema_length=None).write_parquet(path)
    assert isogloss.read(path).rows == isogloss.read(table).rows


@pytest.mark.parametrize(
    ("cell", "wanted"),
    [
        ("['en', 'fr']", ("en", "fr")),
        ('["en", "fr"]', ("en", "fr")),
        ("en, fr", ("en", "fr")),
        ("en;fr", ("en", "fr")),
        ("en|fr\nen", ("en", "fr")),
        ("[Côte d'Ivoire, Togo]", ("Côte d'Ivoire", "Togo")),
        (["en", None, "fr"], ("en", "fr")),
        ("North Africa (Egypt, Libya), France", ("North Africa (Egypt, Libya)", "France")),
        ("[]", ()),
        ("", ()),
        (None, ()),
        (float("nan"), ()),
    ],
)
def test_a_cell_holds_several_values_in_many_ways(cell, wanted):
    assert cell_values.several(cell) == wanted


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("zh_hant", "zh-Hant"),
        ("zh-hant", "zh-Hant"),
        ("zh_Hant", "zh-Hant"),
        ("Chinese (Traditional)", "zh-Hant"),
        ("pt_br", "pt-BR"),
        ("pt-BR", "pt-BR"),
        ("pt", "pt-BR"),
        ("English", "en"),
        ("es-DO", "es-DO"),
        ("ru_uz", "ru-UZ"),
        ("zh", "zh"),
        ("nonsense language", None),
    ],
)
def test_languages_are_found_however_they_are_spelled(name, tag):
    assert cell_values.language_tag(name) == tag


BAD = {
    "'index' is missing or empty.": row("", "_original", en_biased_sentences="x"),
    "'subset' is missing or empty.": row("9", "", en_biased_sentences="x"),
    "the subset is 'z'; use '_original', or a letter from a to j for a contrast.": row(
        "9", "z", en_biased_sentences="x"
    ),
    "index 1 has the subset 'a' twice.": row("1", "a", en_biased_sentences="x"),
    "the contrast 'c' of index 9 has a sentence in 'en', but its original has none.": row(
        "9", "c", en_biased_sentences="x"
    ),
}


@pytest.mark.parametrize("message", BAD)
def test_a_bad_row_is_named_with_its_line_and_counted_when_skipped(tmp_path, message):
    path = write_csv(tmp_path / "bad.csv", [*ROWS, BAD[message]])
    with pytest.raises(IsoglossError) as caught:
        isogloss.read(path)
    assert str(caught.value) == f"{path}, line 8: {message}"
    found = isogloss.read(path, skip_bad=True)
    assert len(found) == 7
    assert [problem.check for problem in found.problems] == ["unreadable"]


# ---- the hub


def test_the_gated_set_is_read_by_its_name_and_says_how_to_enter(monkeypatch, tmp_path):
    def load(*_: Any) -> None:
        raise RuntimeError("Dataset 'LanguageShades/BiasShades' is a gated dataset on the Hub.")

    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path / "home"))
    fake_library(monkeypatch, load)
    with pytest.raises(IsoglossError) as caught:
        isogloss.read("shades")
    assert str(caught.value) == (
        "'LanguageShades/BiasShades' is gated: accept its terms at "
        "https://huggingface.co/datasets/LanguageShades/BiasShades, and set HF_TOKEN to a token of your account."
    )


def fake_library(monkeypatch: pytest.MonkeyPatch, load: Any) -> None:
    join = SimpleNamespace(load_dataset=load, concatenate_datasets=lambda parts: parts[0])
    monkeypatch.setitem(sys.modules, "datasets", join)


def test_a_hub_table_is_fetched_once_and_read_like_a_file(monkeypatch, tmp_path, table):
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path / "home"))
    asked = []

    def load(name: str, config: str | None) -> dict[str, Any]:
        asked.append(name)
        write = pl.DataFrame(ROWS, infer_schema_length=None).write_parquet
        return {"train": SimpleNamespace(to_parquet=write)}

    fake_library(monkeypatch, load)
    for name in (shades.HUB, f"hf:{shades.HUB}"):
        assert isogloss.read(name).rows == isogloss.read(table).rows
    assert asked == [shades.HUB]


def test_a_hub_that_refuses_gives_one_sentence_and_leaves_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path / "home"))

    def load(name: str, config: str | None) -> None:
        raise RuntimeError(f"Dataset '{name}' is a gated dataset on the Hub.\nMore.")

    fake_library(monkeypatch, load)
    with pytest.raises(IsoglossError) as caught:
        isogloss.read("hf:some/one")
    assert str(caught.value) == (
        "'some/one' is gated: accept its terms at https://huggingface.co/datasets/some/one, "
        "and set HF_TOKEN to a token of your account."
    )
    assert not (tmp_path / "home").exists()
    assert hub.PREFIX == "hf:"


# ---- filters


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        (["original=yes", "language=en"], ["1a", "1b", "1.1a"]),
        (["region=usa"], ["1a", "1b", "1a", "1a"]),
        (["statement=saying,descriptive"], ["2", "2"]),
        (["valid_language=pt-BR", "language!=pt-BR", "statement!=saying"], ["1a", "1b", "1a"]),
        (["entity=red bricks", "language=en"], ["1a", "1b"]),
        (["bias_type=age"], ["2", "2"]),
        (["region=Arab world (Egypt, Libya)"], ["2", "2"]),
        ([], ["1a", "1b", "1a", "1a", "1.1a", "2", "2"]),
    ],
)
def test_filters_keep_what_meets_all_conditions(table, where, wanted):
    assert [item.id for item in filter_items(isogloss.read(table), where)] == wanted


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (["original"], "'original' is not a filter. Write it as column=value, such as original=yes."),
        (["regin=USA"], "No column named 'regin'. Did you mean 'region'? Known: region, original, origin_language, entity, category and 10 more."),
        (["region=Latin Amerika"], "No value of 'region' named 'Latin Amerika'. Did you mean 'Latin America'? Known: "
    "Arab world (Egypt, Libya), Germany (West), Latin America, USA."),
        (["region=USA", "category=age"], "None of the 7 items has region=USA and category=age; region=USA alone leaves 4, "
    "category=age alone leaves 2. Leave a condition out."),
    ],
)  # fmt: skip
def test_a_filter_that_cannot_work_says_so(table, where, message):
    with pytest.raises(IsoglossError) as caught:
        filter_items(isogloss.read(table), where)
    assert str(caught.value) == message


def test_filters_work_for_every_data_set_and_on_the_command_line():
    demo = isogloss.read("demo", language="en")
    assert {item.tags["task"] for item in filter_items(demo, ["task=intrasentence"])} == {"intrasentence"}
    shown = CliRunner().invoke(app, ["show", "demo", "-l", "en", "--where", "task=intrasentence", "--format", "json"])
    assert json.loads(shown.stdout)["counts"]["task"] == {"intrasentence": 48}


# ---- the demonstration set


def test_the_demonstration_set_is_parallel_in_23_languages():
    items = isogloss.read("shades_demo")
    ids: dict[str, list[str]] = {}
    for item in items:
        ids.setdefault(item.language, []).append(item.id)
    assert sorted(ids) == sorted(
        [
            "ar",
            "bn",
            "zh",
            "zh-Hant",
            "nl",
            "en",
            "fr",
            "de",
            "hi",
            "it",
            "mr",
            "pl",
            "pt-BR",
            "ro",
            "ru",
            "es",
            "el",
            "fa",
            "fi",
            "he",
            "ko",
            "sw",
            "vi",
        ]
    )
    assert len({tuple(sorted(names)) for names in ids.values()}) == 1
    english = [item for item in items if item.language == "en"]
    assert len({item.cluster for item in english}) >= 30
    assert all(len(item.candidates) == 2 and item.tags["region"] and item.category for item in english)
    assert set(Counter(item.tags["statement"] for item in english)) == {"implicit", "saying"}


def test_two_languages_of_the_one_file_are_read_once():
    items = isogloss.read("shades_demo", language=["de", "hi"])
    assert Counter(item.language for item in items)["de"] == len(items) / 2


# ---- extremes


@pytest.fixture
def runs(table, tmp_path):
    score(isogloss.read(table, language="en"), model=tiny.model("gpt2"), out=tmp_path / "runs")
    return tmp_path / "runs"


def test_extremes_are_the_mean_over_contrasts_and_come_with_a_warning(runs):
    scored = read_scored(find_runs(runs)).table.filter(pl.col("quantity") == "contrast")
    values = dict(scored.select("candidate", "value").iter_rows())
    first = ((values["1a-stereotype"] - values["1a-contrast"]) + (values["1b-stereotype"] - values["1b-contrast"])) / 2
    second = values["1.1a-stereotype"] - values["1.1a-contrast"]
    found = find_extremes(find_runs(runs), 3)
    assert [row["end"] for row in found] == ["most", "least"]
    texts = {row["text"]: row for row in found}
    assert texts["Red stones are heavy."]["bias"] == pytest.approx(first)
    assert texts["Red stones are heavy."]["contrasts"] == 2
    assert texts["Red stones must be heavy."]["bias"] == pytest.approx(second)
    assert found[0]["bias"] >= found[1]["bias"]
    assert extremes_as_text(found).startswith(WARNING)


def test_the_command_line_shows_extremes(runs):
    shown = CliRunner().invoke(app, ["show", str(runs), "--extremes", "1"])
    assert shown.stdout.startswith(WARNING)
    assert "the stereotype preferred most" in shown.stdout
    assert "contrasts, 1a)" in shown.stdout
    listed = CliRunner().invoke(app, ["show", str(runs), "--extremes", "1", "--format", "json"])
    assert len(json.loads(listed.stdout)) == 2


def test_runs_without_contrasts_have_no_extremes(table, tmp_path):
    score(isogloss.read(table, language="en"), model=tiny.model("gpt2"), method="likelihood", out=tmp_path / "runs")
    with pytest.raises(IsoglossError) as caught:
        find_extremes(find_runs(tmp_path / "runs"), 1)
    assert str(caught.value) == (
        "These runs hold no contrasts, so no expression can be most or least stereotyped. Score with `method='contrast'`."
    )
