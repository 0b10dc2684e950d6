"""Shards of a study: shares that are the same everywhere, side by side in one folder, and kills that lose no part."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from isogloss.errors import IsoglossError
from isogloss.items import Items
from isogloss.models.model import Loading
from isogloss.sealing import claim_file
from isogloss.studies import cells
from isogloss.studies.plan import StudyPlan, plan_evaluation
from isogloss.studies.run import run_plan
from isogloss.studies.shards import Shard, assign_units, read_shard, run_shard
from support import tiny
from support.examples import blank

WORDS = ("kind", "rude", "cold", "warm", "quiet", "green", "tired")
ITEMS = Items(
    tuple(
        replace(
            blank(f"item-{n}", "en", f"The nurse number {n} is BLANK today.", *(WORDS[(n + k) % 7] for k in range(3))),
            cluster=f"target-{n % 12}",
        )
        for n in range(36)
    )
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two tiny models."""
    saved = []
    for name in ("gpt2", "bert"):
        folder = tmp_path_factory.mktemp("models") / name
        tiny.network(name).save_pretrained(folder)
        tiny.tokenizer_of(name).save_pretrained(folder)
        saved.append(str(folder))
    return saved


@pytest.fixture
def plan(folders) -> StudyPlan:
    return plan_evaluation(folders, ITEMS, loading=Loading(part_size=9))


def parts_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("part-*.parquet"))}


def counted(monkeypatch: pytest.MonkeyPatch, log: Path, *, then: Callable[[int], object] = lambda n: None) -> None:
    """Write a line for each unit that is scored, and do something after so many of this process."""
    score_work, turns = cells.score_work, iter(range(1, 10**6))

    def score(unit: cells.WorkUnit, group: list[cells.Cell], *, scoring: cells.Scoring) -> object:
        tables = score_work(unit, group, scoring=scoring)
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{scoring.model.info.name} {unit.number}\n")
        then(next(turns))
        return tables

    monkeypatch.setattr(cells, "score_work", score)


def in_child(work: Callable[[], object]) -> int:
    """Run something in a process of its own; its number."""
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    except BaseException as error:
        print(error, file=sys.stderr)
        os._exit(1)


def wait(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# ---- shares


def test_every_unit_has_one_shard_and_the_shares_of_each_checkpoint_are_even(plan):
    owners = assign_units(plan, 5)
    assert owners == assign_units(plan, 5)
    for checkpoint in (0, 1):
        numbers = sorted(key[2] for key in owners if key[0] == checkpoint)
        assert numbers == list(range(12))
        counts = Counter(owner for key, owner in owners.items() if key[0] == checkpoint)
        assert sorted(counts.values()) == [2, 2, 2, 3, 3]
    assert max(Counter(owners.values()).values()) - min(Counter(owners.values()).values()) <= 1


def test_dearer_units_are_shared_out_first(folders):
    long = ITEMS.rows[0]
    long = replace(long, candidates=tuple(replace(one, text=one.text * 4) for one in long.candidates), cluster="long")
    plan = plan_evaluation(folders[:1], Items((*ITEMS.rows[1:12], long)), loading=Loading(part_size=3))
    owners = assign_units(plan, 2)
    shares = Counter(owners.values())
    assert sorted(shares.values()) == [5, 7]  # the long item weighs as much as three others more


@pytest.mark.parametrize(
    ("text", "environment", "shard"),
    [
        ("3/16", {}, Shard(3, 16)),
        (None, {}, None),
        (None, {"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_MIN": "5", "SLURM_ARRAY_TASK_COUNT": "4"}, Shard(3, 4)),
        (
            None,
            {
                "SLURM_ARRAY_TASK_ID": "8",
                "SLURM_ARRAY_TASK_MIN": "0",
                "SLURM_ARRAY_TASK_COUNT": "3",
                "SLURM_ARRAY_TASK_STEP": "4",
            },
            Shard(3, 3),
        ),
        ("1/1", {"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_COUNT": "9"}, Shard(1, 1)),
    ],
)
def test_a_shard_is_written_or_found_in_an_array_job(text, environment, shard):
    assert read_shard(text, environment) == shard


@pytest.mark.parametrize("text", ["0/4", "5/4", "3", "a/b", "-1/3", "1/0"])
def test_a_share_that_is_none_is_refused(text):
    with pytest.raises(IsoglossError) as caught:
        read_shard(text, {})
    assert str(caught.value) == f"--shard takes a share such as 3/16, not '{text}'."


# ---- one after another, and side by side


def test_the_shards_together_write_what_one_process_writes_and_only_the_last_has_scores(plan, tmp_path):
    whole = run_plan(plan, out=tmp_path / "whole")
    for number in (2, 1, 3):
        result, missing = run_shard(plan, Shard(number, 3), out=tmp_path / "shards")
        assert (result.scored is None, bool(missing)) == ((True, True) if number != 3 else (False, False))
    assert parts_in(tmp_path / "shards") == parts_in(tmp_path / "whole")
    key = ["model", "id", "candidate", "method"]
    assert result.scored.table.sort(key).equals(whole.scored.table.sort(key))
    assert {run.info["status"] for run in result.runs} == {"finished"}


def test_a_unit_that_another_process_has_in_hand_is_left_to_it(plan, tmp_path, monkeypatch):
    run_shard(plan, Shard(1, 12), out=tmp_path)
    runs = sorted(path.parent for path in tmp_path.rglob("run.json"))
    log = tmp_path / "log"
    counted(monkeypatch, log)
    missing = next(n for n in range(12) if not (runs[0] / f"part-{n:05}.parquet").exists())
    with claim_file(runs[0] / f".unit-{missing:05}.lock") as claimed:
        assert claimed
        _, left = run_shard(plan, Shard(1, 1), out=tmp_path)
    assert left == 1
    result, left = run_shard(plan, Shard(1, 1), out=tmp_path)
    assert (left, result.scored is None) == (0, False)
    lines = log.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines)) == 24 - 2


def test_several_processes_on_one_folder_score_no_unit_twice(plan, tmp_path, monkeypatch):
    whole = run_plan(plan, out=tmp_path / "whole")
    log = tmp_path / "log"
    counted(monkeypatch, log)
    shards = [Shard(1, 2), Shard(2, 2), Shard(1, 2), Shard(1, 1)]  # also two with the same share, and one with all
    children = [in_child(lambda s=shard: run_shard(plan, s, out=tmp_path / "shared")) for shard in shards]
    assert [wait(child) for child in children] == [0] * 4
    lines = log.read_text(encoding="utf-8").splitlines()
    assert Counter(lines) == dict.fromkeys(lines, 1)
    assert len(lines) == 24
    assert parts_in(tmp_path / "shared") == parts_in(tmp_path / "whole")
    assert whole.scored is not None


@pytest.mark.parametrize("seed", range(4))
def test_a_killed_shard_loses_no_part_and_any_other_process_takes_its_share(plan, tmp_path, monkeypatch, seed):
    whole, shared = tmp_path / "whole", tmp_path / "shared"
    run_plan(plan, out=whole)
    log = tmp_path / "log"

    def killed() -> None:
        # after scoring and before writing, for the first, second, ... unit of this process
        counted(monkeypatch, log, then=lambda turn: turn > seed and os.kill(os.getpid(), signal.SIGKILL))
        run_shard(plan, Shard(1, 2), out=shared)

    children = [in_child(killed), in_child(lambda: run_shard(plan, Shard(2, 2), out=shared))]
    assert [wait(child) for child in children] == [-signal.SIGKILL, 0]
    before = parts_in(shared)
    assert len(before) == 12 + seed
    result, missing = run_shard(plan, Shard(1, 2), out=shared)
    assert missing == 0
    assert result.scored is not None
    assert parts_in(shared) == parts_in(whole)


def test_a_plain_process_waits_for_the_shards(plan, tmp_path):
    run_shard(plan, Shard(1, 3), out=tmp_path)
    result = run_plan(plan, out=tmp_path)  # none is at work any more
    assert len(result.scored) == len(ITEMS)


def test_a_study_is_measured_by_the_shard_that_ends_last(folders, tmp_path, command):
    study = tmp_path / "study.yaml"
    study.write_text(
        f"name: tiny\ndata: [demo]\nlanguages: [en]\nmodels: [{folders[0]}]\nloading: {{part_size: 30}}\n", encoding="utf-8"
    )
    out = tmp_path / "out"
    status, text, _ = command("run", study, "--out", out, "--shard", "1/2", "--limit", "20")
    assert (status, (out / "measures.json").exists()) == (0, False)
    assert text.startswith("Shard 1/2 is done; ")
    status, text, _ = command("run", study, "--out", out, "--shard", "2/2", "--limit", "20")
    assert status == 0
    assert json.loads((out / "measures.json").read_text(encoding="utf-8"))["measures"]
