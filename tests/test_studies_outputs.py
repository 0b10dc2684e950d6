"""Studies of the papers: with stand-ins for checkpoints and data, each shipped study runs to its tables and figures."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import transformers
import yaml

from isogloss.chat.prompt_words import PROMPTS
from isogloss.datasets.shades_demo import FILE as DEMO
from isogloss.exchange.predictions import read_predictions
from isogloss.files.sources import read
from isogloss.reports.paper.layouts import LayoutRequest, add_facts, layout_grid
from isogloss.reports.text.table import Grid
from isogloss.scores import Scored, join_scored, scored_from_values
from isogloss.studies.file import read_study
from isogloss.studies.outputs import table_order
from isogloss.studies.plan import plan_study
from isogloss.studies.run import execute
from support import tiny
from support.builders import stereoset_rows, write_jsonl

SHIPPED = Path(__file__).parent.parent / "studies"
REAL = Path(os.environ.get("ISOGLOSS_REAL_DATA") or "/nowhere")
KINDS = {"encoder": "bert", "decoder": "gpt2", "encoder-decoder": "t5"}


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny model of each architecture."""
    root = tmp_path_factory.mktemp("models")
    transformers.utils.logging.disable_progress_bar()
    for name in KINDS.values():
        tiny.network(name).save_pretrained(root / name)
        tiny.tokenizer_of(name).save_pretrained(root / name)
    return root


def stand_in(study: dict[str, Any], models: Path) -> dict[str, Any]:
    """The study with tiny checkpoints on the processor."""
    for one in study["models"]:
        kind = str(models / KINDS[one.get("facts", {}).get("architecture", "encoder")])
        if "checkpoint" in one:
            one["checkpoint"] = kind
        for tag, entry in one.get("checkpoints", {}).items():
            one["checkpoints"][tag] = {**entry, "checkpoint": kind} if isinstance(entry, dict) else kind
    study.pop("loading", None)
    study.pop("report", None)
    study["measures"]["resamples"] = 100
    return study


def run(study: dict[str, Any], folder: Path) -> str:
    """The tables that the study writes."""
    (folder / "study.yaml").write_text(yaml.safe_dump(study, allow_unicode=True), encoding="utf-8")
    plan = plan_study(folder / "study.yaml")
    result = execute(plan, out=folder / "out")
    assert not result.problems
    assert result.scored is not None
    text = (folder / "out" / "tables.md").read_text(encoding="utf-8") if study["tables"] else ""
    assert all(one["title"] in text for one in study["tables"])
    assert "There are no scores" not in text
    return text


def shipped(name: str, models: Path) -> dict[str, Any]:
    return stand_in(yaml.safe_load((SHIPPED / f"{name}.yaml").read_text(encoding="utf-8")), models)


def sentences(path: Path, language: str) -> None:
    rows = [
        {
            "id": f"{path.parent.name}{n}",
            "group": group,
            "text": f"The {word} number {n} is here.",
            "language": language,
        }
        for n in range(4)
        for group, word in (("female" if n % 2 else "male", "nurse" if n % 2 else "cat"),)
    ]
    write_jsonl(path, rows)


def pairs(path: Path, language: str) -> None:
    rows = [
        {
            "id": f"p{n}",
            "category": "gender",
            "stereotype": f"He is {n}.",
            "anti_stereotype": f"She is {n}.",
            "language": language,
        }
        for n in range(3)
    ]
    write_jsonl(path, rows)


def templates_file() -> dict[str, Any]:
    """A file in the layout of the template study: eleven sets, the last of four wordings, with two terms and concepts."""
    wordings = ["[MASK] are {prior}.", "All [MASK] are {prior}.", "[MASK] seem {prior}.", "Why are [MASK] so {prior}?"]
    block = {
        "base_templates": [{"english": text, "greek": f"Οι {text}"} for text in wordings],
        "prior_variations": {"english": "traits|english", "greek": "traits|english"},
        "words": {"english": "people|english", "greek": "people|english"},
    }
    short = {**block, "base_templates": block["base_templates"][:1]}
    counts = {"gender": 4, "religion": 3, "ethnicity": 4}
    return {
        "word_lists": {"traits": {"english": ["sexist", "prejudiced"]}, "people": {"english": ["cats", "dogs"]}},
        "categories": [
            {"type": kind, "templates": [*[short] * (count - 2), block, block]} for kind, count in counts.items()
        ],
    }


def test_templates_study_gives_its_tables(stand_ins, tmp_path):
    (tmp_path / "templates.json").write_text(json.dumps(templates_file()), encoding="utf-8")
    study = shipped("behnamghader2022", stand_ins)
    study["figures"] = study["figures"][-1:]
    text = run(study, tmp_path)
    assert "|  | [MASK] shouldn't be {prior}. |" in text
    assert text.count("|  | Aggregated |") == 6  # three kinds of bias, as published and corrected
    top = text.split("### Table 4")[1].split("###")[0]
    assert re.search(
        r"\| People from .* \| sexist \| (el|en) \| (cats|dogs) [01]\.\d{3} \| (cats|dogs) [01]\.\d{3} \|", top
    )
    assert (tmp_path / "out" / "figures" / "figure-8.png").exists()


def test_stereoset_study_gives_overall_rows_and_a_joined_row(stand_ins, tmp_path):
    (tmp_path / "stereoset").mkdir()
    for language in ("en", "de"):
        write_jsonl(
            tmp_path / "stereoset" / f"items_{language}.jsonl",
            [{**row, "language": language} for row in stereoset_rows()],
        )
    study = shipped("ozturk2023", stand_ins)
    study["models"] = [one for one in study["models"] if one["label"] in ("BERT", "GPT-2", "T5")]
    study["models"].append(
        {"label": "head", "checkpoint": str(stand_ins / "gpt2"), "facts": {"row": "T5", "multilingual": "no"}}
    )
    for one in study["data"]:
        one["models"] = [name for name in one.get("models", []) if not name.startswith("m")]
    generative = next(one for one in study["data"] if one.get("name") == "generative")
    generative["models"] = ["head"]
    generative["methods"] = ["auto"]
    study["languages"] = ["en", "de"]
    study["figures"] = []
    text = run(study, tmp_path)
    overall = text.split("Table 4")[1].split("###")[0]
    assert overall.count("| monolingual | BERT |") == 1
    assert "|  | T5 |" in overall
    assert "| head |" not in text


def test_audit_study_tests_its_claims(stand_ins, tmp_path):
    (tmp_path / "stereoset").mkdir()
    for language in ("en", "de"):
        rows = [{**row, "language": language} for row in stereoset_rows()]
        write_jsonl(tmp_path / "stereoset" / f"items_{language}.jsonl", rows)
    study = shipped("audit", stand_ins)
    study["claims"] = str(SHIPPED / study["claims"])
    run({**study, "tables": []}, tmp_path)
    verdicts = json.loads((tmp_path / "out" / "claims.json").read_text(encoding="utf-8"))["verdicts"]
    assert verdicts[0]["name"] == "The models can do the task in English."
    assert len(verdicts) == 4


def test_mbe_study_has_both_corpora_as_columns(stand_ins, tmp_path):
    for corpus in ("ted", "news"):
        (tmp_path / corpus).mkdir()
        for language in ("de", "ja"):
            sentences(tmp_path / corpus / f"x_{language}.jsonl", language)
    text = run(shipped("kaneko2022", stand_ins), tmp_path)
    assert "| mbe TED | mbe News |" in text


def test_meta_evaluation_study_gives_agreements_and_differences(stand_ins, tmp_path):
    for name in ("pairs_ht", "pairs_mt", "single_ht", "tmp"):
        (tmp_path / name).mkdir()
        for language in ("ja", "ru"):
            (sentences if name == "single_ht" else pairs)(tmp_path / name / f"x_{language}.jsonl", language)
    for corpus in ("cp", "ss"):
        pairs(tmp_path / f"pairs_{corpus}_en.jsonl", "en")
        sentences(tmp_path / f"single_{corpus}_en.jsonl", "en")
    for language, text in (("ja", "彼は来た。\t彼女は来た。"), ("ru", "Он пришёл.\tОна пришла.")):
        he, she = text.split("\t")
        rows = f"en\t{language}\nHe came.\t{he}\nShe came.\t{she}\n"
        (tmp_path / f"en-{language}.tsv").write_text(rows, encoding="utf-8")
    text = run(shipped("kaneko2022-meta", stand_ins), tmp_path)
    assert (tmp_path / "out" / "figures" / "figure-2.png").exists()
    assert "| CP | Spearman |" in text
    assert "| MT | base-subword |" in text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["small", "reproduce"])
def test_studies_of_trained_weights_run_with_stand_ins(name, stand_ins, tmp_path):
    study = shipped(name, stand_ins)
    blocks = [one if isinstance(one, dict) else {"source": one} for one in study["data"]]
    study["data"] = [{"languages": ["en"], **block} for block in blocks]
    for number, one in enumerate(study["data"]):
        (language,), path = (
            one["languages"],
            tmp_path / f"data{number}.json{'' if 'templates' in one['source'] else 'l'}",
        )
        if "templates" in one["source"]:
            path.write_text(json.dumps(templates_file()), encoding="utf-8")
        elif "sentence" in one["source"] or one["source"] == "stereoset":
            task = one["source"].partition("/")[2].partition("_")[0]
            rows = [row for row in stereoset_rows() if task in ("", row["task"])]
            write_jsonl(path, [{**row, "language": language} for row in rows])
        else:
            (sentences if one["name"] == "mbe" else pairs)(path, language)
        one["source"] = str(path)
    run({**study, "tables": []}, tmp_path)


def test_every_shipped_study_is_run_with_stand_ins():
    here = {"audit", "behnamghader2022", "kaneko2022", "kaneko2022-meta", "ozturk2023", "shades", "small", "reproduce"}
    assert {path.stem for path in SHIPPED.glob("*.yaml")} == here | {
        "demo",
        "mbbq",
        "two",
    }  # the demo is run in test_study_files, MBBQ needs questions, and "two" has the demo's data


def test_an_unknown_key_of_a_table_is_named(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text("name: x\nmodels: [a]\ndata: [demo]\ntables:\n  - {title: t, metric: [ss]}\n", encoding="utf-8")
    with pytest.raises(Exception, match=r"tables 1: no key named 'metric'. Did you mean 'metrics'\?"):
        read_study(path)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ("tables:\n  - {title: t, metrics: [lsm]}\n", "No metric named 'lsm'"),
        ("figures:\n  - {figure: plan}\n", "No figure named 'plan'"),
        (
            "figures:\n  - {figure: preservation, sources: [x.tsv]}\n",
            "the figure 'preservation' needs 'x.tsv' beside the study file. Add it, or remove the figure.",
        ),
    ],
)
def test_tables_and_figures_that_cannot_be_made_are_named_before_scoring(extra, message, tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text("name: x\nmodels: [a]\ndata: [demo]\n" + extra, encoding="utf-8")
    with pytest.raises(Exception, match=re.escape(message)):
        plan_study(path)


def published(*tags: str) -> Scored:
    """The published predictions of some languages with the facts that ship."""
    facts = yaml.safe_load((SHIPPED / "facts" / "ozturk2023.yaml").read_text(encoding="utf-8"))
    chosen = [name for name in facts if name[-2:] in tags]
    items = {
        tag: read([REAL / "stereoset" / f"{task}_{tag}.jsonl.gz" for task in ("intrasentence", "intersentence")])
        for tag in tags
    }
    parts = [
        scored_from_values(items[name[-2:]], read_predictions(REAL / "predictions" / f"{name}.json.gz"), model=name)
        for name in chosen
    ]
    return add_facts(join_scored(parts), facts)


@pytest.mark.slow
@pytest.mark.skipif(not REAL.exists(), reason="ISOGLOSS_REAL_DATA is not set: the published data is not here")
def test_published_predictions_give_the_printed_tables():
    study, scored = read_study(SHIPPED / "ozturk2023.yaml"), published("de", "tr")
    request = next(one for one in study.tables if one.title.startswith("Table 3"))
    grid = layout_grid(scored, replace(request, labels=study.labels), order=table_order(study))
    assert grid.heading == ["multilingual", "model", "de", "tur", "de", "tur", "de", "tur"]
    assert grid.rows == [  # as printed, but mBERT's Turkish LMS, a misprint for 78.73
        ["monolingual", "BERT", "79.67", "83.73", "55.77", "54.07", "70.48", "76.90"],
        ["", "GPT-2", "77.04", "66.51", "51.72", "49.51", "74.39", "65.85"],
        ["", "T5", "84.48", "—", "57.18", "—", "72.34", "—"],
        ["multilingual", "mBERT", "77.27", "78.73", "58.03", "53.51", "64.86", "73.21"],
        ["", "mGPT-2", "67.57", "63.82", "43.48", "48.19", "58.75", "61.51"],
        ["", "mT5", "81.96", "79.06", "54.83", "52.43", "74.05", "75.23"],
    ]


METRICS = {
    "T2 T3 T4 T7": {"lms": 0, "ss": 1, "icat": 2},
    "T5 T8 T9": {
        "multiclass.lms": 0,
        "multiclass.ss": 1,
        "multiclass.icat_macro": 2,
        "multiclass.icat_micro": 2,
    },
}
MISPRINT = ("T3", "mBERT", "tr", "lms")  # 78.23 for 78.73; the printed ICAT fits the latter only


def printed_values() -> Iterator[tuple[str, str, str, str, float, bool]]:
    """Table, row, language, metric and value of every printed cell, and whether the published predictions give it."""
    tables = json.loads((REAL / "expected_tables.json").read_text(encoding="utf-8"))
    for name, levels in tables.items():
        for level in levels.values() if name != "_meta" else ():
            for one in level["printed"] if isinstance(level, dict) and "printed" in level else ():
                if one["paper"] == "000":
                    yield one["table"], one["row"], name[-2:], one["metric"], one["value"], one["reproduced"]


def cell_text(grid: Grid, row: str, *, language: str, block: int) -> str:
    """The cell of a row, such as `T5 (gen)`, under a language of the block of a metric."""
    names = [line[:2] for line in grid.rows]
    for number in range(1, len(names)):
        names[number][0] = names[number][0] or names[number - 1][0]
    line = next(i for i, (outer, inner) in enumerate(names) if row in (inner, f"{outer} {inner}"))
    heading = [i for i, tag in enumerate(grid.heading) if tag == {"tr": "tur"}.get(language, language)]
    return grid.rows[line][heading[block]]


@pytest.mark.slow
@pytest.mark.skipif(not REAL.exists(), reason="ISOGLOSS_REAL_DATA is not set: the published data is not here")
def test_all_printed_values_stand_in_the_tables_of_the_study():
    study, scored = read_study(SHIPPED / "ozturk2023.yaml"), published("en", "de", "tr", "fr", "es")
    grids = {
        one.title.partition(":")[0].replace("Table ", "T"): layout_grid(
            scored, replace(one, labels=study.labels), order=table_order(study)
        )
        for one in study.tables
        if not one.facts
    }
    differing = set()
    for table, row, language, metric, value, reproduced in printed_values():
        block = next(blocks for tables, blocks in METRICS.items() if table in tables.split())[metric]
        texts = cell_text(grids[table], row, language=language, block=block).strip("()").split("/")
        if f"{value:.2f}" not in texts:
            differing.add((table, row, language, metric))
            assert not reproduced, (table, row, language, metric)
    assert MISPRINT in differing
    assert {one[1:3] for one in differing - {MISPRINT}} == {("mBERT", "de"), ("T5", "en")}
    assert len(differing) == 20


def test_a_cell_with_two_values_is_refused(published_pair):
    with pytest.raises(Exception, match="two values for one cell"):
        layout_grid(published_pair, LayoutRequest("t", rows=("task",), metrics=("ss",)))


@pytest.fixture
def published_pair() -> Scored:
    from support.builders import score, triple

    items = [replace(triple(f"i{n}"), tags={"task": "intrasentence", "target": "nurse"}) for n in range(3)]
    return join_scored([score(items, [[3, 2, 1]] * 3, model=name) for name in ("a", "b")])


def test_shades_study_scores_base_models_and_asks_instruct_models(stand_ins, tmp_path):
    (tmp_path / "shades.csv").write_bytes(DEMO.read_bytes())
    study = shipped("shades", stand_ins)
    study["models"] = [one for one in study["models"] if one["label"] in ("Llama3", "Llama3 instruct")]
    for data, label in zip(study["data"], ("Llama3", "Llama3 instruct"), strict=True):
        data["models"] = [label]
    (tmp_path / "prompts.toml").write_text("[en]\n" + "".join(f'{name} = "{{statement}}?"\n' for name in PROMPTS))
    short = {"template": "plain", "order": "yes-no", "prompts": str(tmp_path / "prompts.toml")}
    study["data"][1]["methods"] = [{"ask": short}]
    study |= {"languages": ["en"], "sample": {"limit": 6}, "figures": study["figures"][:1]}
    text = run(study, tmp_path)
    assert "| Llama3 | " in text
    assert "| Llama3 instruct | agree |" in text
    assert "|  | stereotype |" in text
    assert (tmp_path / "out" / "figures" / "figure-1.png").exists()
