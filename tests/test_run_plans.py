"""What a folder of runs lacks is named wherever its numbers are shown."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import isogloss as ig
from isogloss import runs
from isogloss.analysis.inspection import list_runs
from isogloss.library import score
from isogloss.run_plans import find_missing, read_cells, record_cells
from support import tiny
from support.examples import INTER, INTRA


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two runs, of two methods, by one model."""
    score(ig.Items((*INTRA, *INTER)), model=tiny.model("gpt2"), out=tmp_path / "runs")
    return tmp_path / "runs"


def notes_of(folder: Path) -> str:
    return " ".join(ig.measure(ig.load(folder), resamples=100).notes)


def test_nothing_is_said_of_a_folder_that_is_whole(folder: Path) -> None:
    assert {cell[3] for cell in read_cells(folder)} == {"", "likelihood", "continuation"}
    assert "not there" not in notes_of(folder)


def test_models_keep_the_order_in_which_they_were_planned(folder: Path) -> None:
    score(ig.Items(INTRA), model=tiny.model("bloom"), out=folder)
    assert list(dict.fromkeys(run.info["model"] for run in runs.find_runs(folder))) == ["tiny-gpt2", "tiny-bloom"]
    assert [row.group["model"] for row in ig.measure(ig.load(folder), metrics="ss", by="task", resamples=100)][-1] == (
        "tiny-bloom"
    )


def test_a_run_that_was_deleted_is_named(folder: Path) -> None:
    shutil.rmtree(next(run.folder for run in runs.find_runs(folder) if run.method == "likelihood"))
    assert "1 cell was planned for" in notes_of(folder)
    assert "likelihood" in notes_of(folder)


def test_a_run_without_its_description_is_named(folder: Path) -> None:
    run = next(run for run in runs.find_runs(folder) if run.method == "likelihood")
    (run.folder / "run.json").unlink()
    assert f"1 run has lost its run.json in {folder}: {run.folder.name}" in notes_of(folder)


def test_a_part_that_was_deleted_is_named_and_the_run_is_not_finished(folder: Path) -> None:
    run = next(run for run in runs.find_runs(folder) if run.method == "likelihood")
    runs.part_path(run, 0).unlink()
    assert f" runs in {folder} have no finished part yet: {run.folder.name}" in notes_of(folder)
    statuses = {row["folder"]: row["status"] for row in list_runs(folder)}
    assert statuses.pop(str(run.folder)) == "1 of 1 parts missing"
    assert set(statuses.values()) == {"finished"}


def test_what_one_of_two_folders_lacks_is_named_even_where_it_has_no_scores(folder: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(folder, tmp_path / "broken")
    lost, *empty = (run.folder for run in runs.find_runs(broken))
    (lost / "run.json").unlink()
    for run in empty:
        (run / "part-00000.parquet").unlink()
    for load in (ig.load, lambda paths: runs.read_scored(runs.find_runs(*paths))):
        notes = " ".join(load([folder, broken]).notes)
        assert f"1 run has lost its run.json in {broken}: {lost.name}" in notes
        assert f"runs in {folder}, {broken} have no finished part yet: {empty[0].name}" in notes


def test_a_cell_that_was_planned_and_never_begun_is_named(folder: Path) -> None:
    record_cells(folder, [("other", "tiny", "de", "")])
    assert "other tiny de; run the same command again" in notes_of(folder)


def test_a_torn_line_is_passed_over(tmp_path: Path) -> None:
    record_cells(tmp_path, [("m", "d", "en", "")])
    with (tmp_path / "plan.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"model": "m", "data')
    assert read_cells(tmp_path) == [("m", "d", "en", "")]
    assert find_missing(tmp_path, []) != []
