"""The commands for pairs and parallel texts, from data to numbers, with a tiny model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from isogloss.cli import app
from isogloss.errors import IsoglossError
from support import tiny

DEMO = Path(__file__).parent.parent / "src" / "isogloss" / "data" / "parallel_demo"
CROWS = (
    ",sent_more,sent_less,stereo_antistereo,bias_type,anon_writer\n"
    "0,She is a kind nurse.,He is a kind nurse.,stereo,gender,a\n"
    "1,He is a rude doctor.,She is a rude doctor.,stereo,gender,a\n"
    "2,The woman drives.,The man drives.,antistereo,gender,b\n"
)


def run(*words: object) -> str:
    found = CliRunner().invoke(app, [str(word) for word in words])
    if found.exception and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code == 0, found.output
    return found.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT on disk."""
    path = tmp_path_factory.mktemp("models") / "tiny-bert"
    tiny.network("bert").save_pretrained(path)
    tiny.tokenizer_of("bert").save_pretrained(path)
    return path


@pytest.mark.slow
def test_split_eval_and_mbe(tmp_path: Path, folder: Path) -> None:
    out = tmp_path / "de.jsonl"
    assert run("data", "build", "split", DEMO / "en-de.tsv", "--limit", 20, "-o", out).strip() == (
        "de  en-de.tsv: 63 female, 63 male, 4 neither, 4 both; kept 20 of each group"
    )
    shown = json.loads(run("eval", folder, "--data", out, "--out", tmp_path / "runs", "--format", "json"))
    assert [row["metric"] for row in shown["measures"]] == ["mbe", "shf"]
    assert "mbe" in run("eval", folder, "--data", out, "--out", tmp_path / "runs")
    found: dict[str, Any] = json.loads(run("measure", tmp_path / "runs", "--resamples", 200, "--format", "json"))
    assert found["mbe"][0]["value"] == pytest.approx(shown["measures"][0]["value"])
    assert found["mbe"][0]["sentences"] == {"female": 20, "male": 20}
    text = run("measure", tmp_path / "runs", "--resamples", 200, "--mode", "paper")
    assert "more than 50: 'male' sentences are found more likely" in text
    assert "is far too small; go by the permutation's." in text


@pytest.mark.slow
def test_crows_pairs_from_file_to_score(tmp_path: Path, folder: Path) -> None:
    data = tmp_path / "crows_pairs_anonymized.csv"
    data.write_text(CROWS, encoding="utf-8")
    shown = json.loads(run("eval", folder, "--data", data, "--out", tmp_path / "runs", "--format", "json"))
    assert [row["metric"] for row in shown["measures"]] == ["crows", "crows_stereo", "crows_antistereo"]
    assert "crows" in run("eval", folder, "--data", data, "--out", tmp_path / "runs")
    shown = json.loads(
        run("eval", folder, "--data", data, "-m", "aula", "--out", tmp_path / "aula", "--format", "json")
    )
    assert [row["metric"] for row in shown["measures"]] == ["pair_score"]


def test_the_data_of_the_experiments(tmp_path: Path) -> None:
    data = tmp_path / "crows_pairs_anonymized.csv"
    data.write_text(CROWS, encoding="utf-8")
    pairs, text = tmp_path / "pairs.jsonl", tmp_path / "en.txt"
    assert run("data", "build", "pairs", data, "-o", pairs).strip() == f"Wrote 3 pairs to {pairs}."
    assert run("data", "build", "align", data, "-o", text).strip() == f"Wrote 6 sentences to {text}."
    shown = json.loads(run("data", "build", "split", text, "-o", tmp_path / "en.jsonl", "--format", "json"))
    assert shown["splits"][0]["kept_per_group"] == 3
    out = tmp_path / "tmp_ja.jsonl"
    assert run("data", "build", "occupations", "-l", "Japanese", "-o", out).strip() == f"Wrote 2120 pairs to {out}."
    shown = json.loads(run("data", "build", "preservation", DEMO / "en-de.tsv", DEMO / "en-ja.tsv", "--format", "json"))
    assert [(row["language"], row["pronoun"]) for row in shown["preservation"]] == [
        ("de", "he"),
        ("de", "she"),
        ("ja", "he"),
        ("ja", "she"),
    ]


def test_own_lists_split_by_other_groups(tmp_path: Path) -> None:
    for name, words in (("old", "old\naged"), ("young", "young")):
        (tmp_path / f"{name}.txt").write_text(words, encoding="utf-8")
    (tmp_path / "c.txt").write_text("An old house.\nA young tree.\n", encoding="utf-8")
    lists = ["--list", f"old={tmp_path / 'old.txt'}", "--list", f"young={tmp_path / 'young.txt'}"]
    assert "1 old, 1 young" in run("data", "build", "split", tmp_path / "c.txt", *lists, "-o", tmp_path / "o.jsonl")
    with pytest.raises(
        IsoglossError, match=r"^None of the 2 sentences of 'c\.txt' has words of 'female' and 'male' only"
    ):
        run("data", "build", "split", tmp_path / "c.txt", "-o", tmp_path / "o.jsonl")


def test_own_column_names_go_into_pairs_and_repairs(tmp_path: Path) -> None:
    data = tmp_path / "pary_pl.csv"
    data.write_text("zdanie a;zdanie b\nKobieta śpi.;Mężczyzna śpi.\n", encoding="cp1250")
    columns = ("--columns", "stereotype=zdanie a,anti_stereotype=zdanie b")
    out = tmp_path / "pairs.jsonl"
    assert "Wrote 1 pairs" in run("data", "build", "pairs", data, "-o", out, "--category", "all", *columns)
    assert run("data", "repair", data, "-o", tmp_path / "new", "-l", "pl", *columns, "--format", "json")
