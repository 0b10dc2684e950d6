"""Cells: those of one language share their passes, and what was scored together is written together."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest

from isogloss import registry
from isogloss import runs as run_store
from isogloss.items import Item
from isogloss.methods import fill_options
from isogloss.models.model import Model, ModelInfo, notes_on
from isogloss.scores import Scored, join_scored
from isogloss.studies import cells
from isogloss.studies.cells import Cell, Running, Scoring, WorkUnit, group_cells, plan_work, score_work, write_work
from support import tiny
from support.examples import blank, follow
from support.scores import assert_same_scores

WORDS = ("kind", "rude", "compassionate", "cold", "warm", "quiet", "friendly", "green", "tired", "slow")
INTRA = [
    blank(f"item-{n}", "en", f"The nurse number {n} is BLANK today.", *(WORDS[(n + k) % 10] for k in range(3)))
    for n in range(9)
]
INTER = [
    follow(f"next-{n}", "en", f"I met {n} people.", *(f"They were {WORDS[(n + k) % 10]}." for k in range(3)))
    for n in range(9)
]
MASKED = [("aul", {}), ("aula", {}), ("pll", {}), ("pll_word_l2r", {})]
PART_SIZE = 0  # as many candidates as the method says
CAUSAL = [("likelihood", {}), *(("continuation", {"case": case}) for case in "bcde")]


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of two items."""
    monkeypatch.setattr(sys.modules[__name__], "PART_SIZE", 6)


def make(items: Sequence[Item], methods: Sequence[tuple[str, dict[str, str]]]) -> list[Cell]:
    """A cell for each method with its options."""
    found = []
    for name, options in methods:
        method = registry.get("method", name)
        found.append(Cell(tuple(items), name, method, fill_options(name, method, chosen=options), part_size=PART_SIZE))
    return found


def run_cells(group: Sequence[Cell], model: Model, *, out: Path | None = None) -> Scored:
    """What the cells give, as one table."""
    return join_scored([one.scored for one in cells.run_cells(group, model, running=Running(out))])


def counted(model: Model) -> tuple[Model, list[int]]:
    """The model, and how many inputs it reads in each batch that it is asked to answer."""
    passes: list[int] = []
    own = model.family.answer

    def answer(opened, questions, *, batch):
        passes.append(len(batch))
        return own(opened, questions, batch=batch)

    return replace(model, family=replace(model.family, answer=answer)), passes


def numbers(scored: Scored) -> dict[tuple[str, ...], float]:
    return {(row["method"], row["candidate"], row["quantity"]): row["value"] for row in scored.table.to_dicts()}


def values(scored: Scored) -> pl.DataFrame:
    return scored.table.select("method", "id", "candidate", "quantity", "value", "logprobs")


@pytest.mark.parametrize(("name", "items", "methods"), [("bert", INTRA, MASKED), ("gpt2", INTER, CAUSAL)])
def test_methods_scored_together_share_passes_and_give_the_same_numbers(name, items, methods) -> None:
    model, together = counted(tiny.model(name))
    found = numbers(run_cells(make(items, methods), model))
    model, apart = counted(tiny.model(name))
    alone: dict[tuple[str, ...], float] = {}
    for cell in make(items, methods):
        alone |= numbers(run_cells([cell], model))
    assert found.keys() == alone.keys()
    for key, value in alone.items():
        assert found[key] == pytest.approx(value, rel=1e-6, abs=1e-6)
    assert sum(together) < sum(apart)
    assert len(together) < len(apart)


def test_data_sets_of_one_language_share_passes_too() -> None:
    same = [replace(item, dataset="copy") for item in INTRA]
    model, once = counted(tiny.model("bert"))
    run_cells(make(INTRA, MASKED[:1]), model)
    model, twice = counted(tiny.model("bert"))
    scored = run_cells([*make(INTRA, MASKED[:1]), *make(same, MASKED[:1])], model)
    assert sum(once) == sum(twice) > 0
    first, second = (scored.table.filter(pl.col("dataset") == name)["value"] for name in (INTRA[0].dataset, "copy"))
    assert first.len() == 27
    assert first.to_list() == second.to_list()


def test_cells_are_scored_with_those_of_their_language_and_given_back_in_order() -> None:
    german = [replace(item, language="de") for item in INTRA]
    mixed = [make(rows, [method])[0] for method in MASKED[:2] for rows in (INTRA, german)]
    assert group_cells(mixed, tiny.model("bert")) == [[0, 2], [1, 3]]
    shown = run_cells(mixed, tiny.model("bert")).table.select("language", "method").unique(maintain_order=True)
    assert shown.rows() == [("en", "aul"), ("de", "aul"), ("en", "aula"), ("de", "aula")]


def test_a_work_holds_one_part_of_every_cell_that_lacks_it(tmp_path: Path, small_parts: None) -> None:
    model = tiny.model("bert")
    group = [*make(INTRA, MASKED[:2]), *make(INTRA[:3], MASKED[2:3])]
    runs = [run_store.open_run(tmp_path, info=cells.run_info(cell, model), items=cell.table) for cell in group]
    assert plan_work(runs) == [
        WorkUnit(0, (0, 1, 2)),
        WorkUnit(1, (0, 1, 2)),
        *(WorkUnit(n, (0, 1)) for n in (2, 3, 4)),
    ]
    tables = score_work(WorkUnit(1, (0, 2)), group, scoring=Scoring(model))
    scored = [table["id"].unique(maintain_order=True).to_list() for table in tables]
    assert scored == [[item.id for item in group[index].parts[1]] for index in (0, 2)]
    assert list(map(len, scored)) == [2, 1]
    write_work(WorkUnit(1, (0, 2)), runs, tables=tables)
    assert plan_work(runs)[1] == WorkUnit(1, (1,))
    assert not list(tmp_path.rglob("*.ready"))


# ---- what is written


def test_cells_on_disk_equal_those_in_memory_and_are_never_scored_again(tmp_path: Path, small_parts: None) -> None:
    group = make(INTRA, MASKED)
    kept = run_cells(group, tiny.model("bert"), out=tmp_path)
    assert_same_scores(values(kept), values(run_cells(group, tiny.model("bert"))))
    model, passes = counted(tiny.model("bert"))
    assert run_cells(group, model, out=tmp_path).table.equals(kept.table)
    assert passes == []
    assert {run.info["scored_parts"] for run in run_store.find_runs(tmp_path)} == {5}


def test_a_run_that_was_made_alone_is_kept_when_others_come(tmp_path: Path, small_parts: None) -> None:
    first = run_cells(make(INTRA, MASKED[:1]), tiny.model("bert"), out=tmp_path)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("part-*")}
    later = run_cells(make(INTRA, MASKED), tiny.model("bert"), out=tmp_path)
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert values(later).filter(pl.col("method") == "aul").equals(values(first))


class Killed(Exception):
    """Stands for the end of the process."""


STEPS = [(name, count) for name in ("stage_part", "commit_part") for count in range(4)]


@pytest.mark.parametrize(("step", "count"), STEPS, ids=lambda value: str(value))
def test_a_work_killed_at_any_step_of_writing_is_whole_or_not_there(
    step: str, count: int, tmp_path: Path, small_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = make(INTRA[:4], MASKED)
    undisturbed = run_cells(group, tiny.model("bert"), out=tmp_path / "other")
    own = getattr(run_store, step)
    left = [count]

    def end(*given, **named):
        if not left[0]:
            raise Killed
        left[0] -= 1
        own(*given, **named)

    with monkeypatch.context() as patched:
        patched.setattr(run_store, step, end)
        with pytest.raises(Killed):
            run_cells(group, tiny.model("bert"), out=tmp_path / "runs")
    found = run_cells(group, tiny.model("bert"), out=tmp_path / "runs")
    assert_same_scores(values(found), values(undisturbed))
    scored = {run.info["scored_parts"] for run in run_store.find_runs(tmp_path / "runs")}
    assert scored == ({2} if step == "stage_part" else {1})
    for run, other in zip(*(run_store.find_runs(tmp_path / name) for name in ("runs", "other")), strict=True):
        for number in range(2):
            assert run_store.part_path(run, number).read_bytes() == run_store.part_path(other, number).read_bytes()


def test_a_broken_part_that_lay_ready_is_scored_again(tmp_path: Path, small_parts: None) -> None:
    model = tiny.model("bert")
    group = make(INTRA[:2], MASKED[:1])
    runs = [run_store.open_run(tmp_path, info=cells.run_info(cell, model), items=cell.table) for cell in group]
    run_store.stage_part(runs[0], 0, rows=score_work(WorkUnit(0, (0,)), group, scoring=Scoring(model))[0])
    (ready,) = tmp_path.rglob("*.ready")
    whole = ready.read_bytes()
    ready.write_bytes(whole[:-30])
    assert plan_work(runs) == [WorkUnit(0, (0,))]
    ready.write_bytes(whole)
    assert plan_work(runs) == []
    assert run_store.part_path(runs[0], 0).read_bytes() == whole


# ---- labels


def test_labels_are_columns_and_do_not_make_another_run(tmp_path: Path) -> None:
    plain = make(INTRA[:2], MASKED[:1])
    run_cells([replace(plain[0], labels={"model": "tiny-bert"})], tiny.model("bert"), out=tmp_path)
    labels = {"model": "tiny-bert", "checkpoint": "tiny-bert", "multilingual": "no"}
    model, passes = counted(tiny.model("bert"))
    again = run_cells([replace(plain[0], labels=labels)], model, out=tmp_path)
    assert passes == []
    assert set(again.table["multilingual"]) == {"no"}
    (run,) = run_store.find_runs(tmp_path)
    assert run.info["labels"] == {"checkpoint": "tiny-bert", "multilingual": "no"}
    assert run_store.read_scored([run]).table.equals(again.table)


def test_a_model_goes_by_the_name_that_a_study_gives_it(tmp_path: Path) -> None:
    (cell,) = make(INTRA[:2], MASKED[:1])
    named = replace(cell, labels={"model": "BERT"})
    for out in (None, tmp_path):
        assert set(run_cells([named], tiny.model("bert"), out=out).table["model"]) == {"BERT"}
    (run,) = run_store.find_runs(tmp_path)
    assert (run.info["model"], run.info["facts"]["checkpoint"]) == ("BERT", "tiny-bert")
    assert run.folder.parent.name == "BERT"


def test_every_pair_of_methods_can_be_scored_together() -> None:
    model = tiny.model("gpt2")
    for pair in combinations(make(INTER[:2], CAUSAL), 2):
        assert run_cells(pair, model).table["value"].null_count() == 0


def test_a_note_calls_the_model_as_the_study_does():
    info = ModelInfo("owner/name", "causal", "gpt2", languages=("en",), notes=("an oddity",))
    said = notes_on(info, "de", called="mine")
    assert said == ["mine: an oddity", "mine does not claim to know 'de', only en"]
    assert notes_on(info, "en-GB") == ["owner/name: an oddity"]
    assert notes_on(replace(info, languages=("multilingual",)), "de") == ["owner/name: an oddity"]
