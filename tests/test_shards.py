"""Shards of a study: shares that are the same everywhere, side by side in one folder, and kills that lose no part."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import isogloss as ig
from isogloss.atomic_files import claim_file
from isogloss.errors import IsoglossError
from isogloss.items import Items
from isogloss.models.model import Loading
from isogloss.progress import JobClock
from isogloss.studies import cells
from isogloss.studies.plan import StudyPlan, plan_evaluation
from isogloss.studies.run import execute
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


def make_plan(folders: list[str]) -> StudyPlan:
    return plan_evaluation(folders, ITEMS, loading=Loading(part_size=9))


@pytest.fixture
def plan(folders) -> StudyPlan:
    return make_plan(folders)


def parts_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("part-*.parquet"))}


def counted(log: Path, *, kill_after: int | None = None) -> Callable[..., object]:
    """How a unit is scored, with a line for each; this process is killed after so many, before they are written."""
    score_work, turns = cells.score_work, iter(range(10**6))

    def score(unit: cells.WorkUnit, group: list[cells.Cell], *, scoring: cells.Scoring) -> object:
        tables = score_work(unit, group, scoring=scoring)
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{scoring.model.info.name} {unit.number}\n")
        if next(turns) == kill_after:
            os.kill(os.getpid(), signal.SIGKILL)
        return tables

    return score


def child(
    folders: list[str], shard: str, out: Path, log: Path, kill_after: int | None = None
) -> subprocess.Popen[bytes]:
    """A process that scores a share."""
    task = json.dumps([folders, shard, str(out), str(log), kill_after])
    script = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_shards; test_shards.work(sys.argv[1])"
    return subprocess.Popen([sys.executable, "-c", script, task])


def work(task: str) -> None:
    """What a child does."""
    folders, shard, out, log, kill_after = json.loads(task)
    cells.score_work = counted(Path(log), kill_after=kill_after)  # type: ignore[assignment]
    share = read_shard(shard, {})
    assert share is not None
    run_shard(make_plan(folders), share, out=Path(out))


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
    assert str(caught.value) == f"`shard` takes a share such as 3/16, not '{text}'."


def test_a_task_of_an_array_with_gaps_is_asked_for_its_share():
    place = {"SLURM_ARRAY_TASK_ID": "9", "SLURM_ARRAY_TASK_MIN": "3", "SLURM_ARRAY_TASK_COUNT": "2"}
    with pytest.raises(IsoglossError, match=r"^Task 9 of an array of 2 tasks with gaps .* as `shard`, such as \$SLURM"):
        read_shard(None, place)


# ---- one after another, and side by side


def test_the_shards_together_write_what_one_process_writes_and_only_the_last_has_scores(plan, tmp_path):
    whole = execute(plan, out=tmp_path / "whole")
    for number in (2, 1, 3):
        result, missing = run_shard(plan, Shard(number, 3), out=tmp_path / "shards")
        assert (result.scored is None, bool(missing)) == ((True, True) if number != 3 else (False, False))
    assert parts_in(tmp_path / "shards") == parts_in(tmp_path / "whole")
    assert [run.folder.name for run in result.runs] == [run.folder.name for run in whole.runs]
    key = ["model", "id", "candidate", "method"]
    assert result.scored.table.sort(key).equals(whole.scored.table.sort(key))
    assert {run.info["status"] for run in result.runs} == {"finished"}


def test_a_unit_that_another_process_has_in_hand_is_left_to_it(plan, tmp_path, monkeypatch):
    run_shard(plan, Shard(1, 12), out=tmp_path)
    runs = sorted(path.parent for path in tmp_path.rglob("run.json"))
    log = tmp_path / "log"
    monkeypatch.setattr(cells, "score_work", counted(log))
    missing = next(n for n in range(12) if not (runs[0] / f"part-{n:05}.parquet").exists())
    with claim_file(runs[0] / f".unit-{missing:05}.lock") as claimed:
        assert claimed
        _, left = run_shard(plan, Shard(1, 1), out=tmp_path)
    assert left == 1
    result, left = run_shard(plan, Shard(1, 1), out=tmp_path)
    assert (left, result.scored is None) == (0, False)
    lines = log.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines)) == 24 - 2


@pytest.mark.slow
def test_several_processes_on_one_folder_score_no_unit_twice(plan, folders, tmp_path):
    execute(plan, out=tmp_path / "whole")
    log, shared = tmp_path / "log", tmp_path / "shared"
    shards = ["1/2", "2/2", "1/2", "1/1"]  # also two with the same share, and one with all
    children = [child(folders, shard, shared, log) for shard in shards]
    assert [process.wait() for process in children] == [0] * 4
    lines = log.read_text(encoding="utf-8").splitlines()
    assert Counter(lines) == dict.fromkeys(lines, 1)
    assert len(lines) == 24
    assert parts_in(shared) == parts_in(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.parametrize("kill_after", [0, 3])
def test_a_killed_shard_loses_no_part_and_any_other_process_takes_its_share(plan, folders, tmp_path, kill_after):
    whole, shared, log = (tmp_path / name for name in ("whole", "shared", "log"))
    execute(plan, out=whole)
    children = [child(folders, "1/2", shared, log, kill_after), child(folders, "2/2", shared, log)]
    assert [process.wait() for process in children] == [-signal.SIGKILL, 0]
    assert len(parts_in(shared)) == 12 + kill_after
    result, missing = run_shard(plan, Shard(1, 2), out=shared)
    assert missing == 0
    assert result.scored is not None
    assert parts_in(shared) == parts_in(whole)


def test_what_other_shares_scored_does_not_count_as_kept(plan, tmp_path):
    kept = []
    for share in (Shard(1, 2), Shard(2, 2), Shard(1, 2)):
        clock = JobClock()
        run_shard(plan, share, out=tmp_path, progress=lambda *args, clock=clock, **facts: clock.tell(*args, **facts))
        kept.append(clock.kept)
    assert kept == [0, 0, 0]


def test_a_plain_process_waits_for_the_shards(plan, tmp_path):
    run_shard(plan, Shard(1, 3), out=tmp_path)
    result = execute(plan, out=tmp_path)  # none is at work any more
    assert len(result.scored) == len(ITEMS)


def test_a_study_is_measured_by_the_shard_that_ends_last(folders, tmp_path, command):
    study = tmp_path / "study.yaml"
    study.write_text(
        f"name: tiny\ndata: [demo]\nlanguages: [en]\nmodels: [{folders[0]}]\nloading: {{part_size: 30}}\n",
        encoding="utf-8",
    )
    out = tmp_path / "out"
    status, text, _ = command("run", study, "--out", out, "--shard", "1/2", "--limit", "20")
    assert (status, (out / "measures.json").exists()) == (0, False)
    assert text.startswith("Shard 1/2 is done; ")
    status, text, _ = command("run", study, "--out", out, "--shard", "2/2", "--limit", "20")
    assert status == 0
    assert json.loads((out / "measures.json").read_text(encoding="utf-8"))["measures"]


def test_the_library_runs_a_share(folders, tmp_path):
    study = tmp_path / "study.yaml"
    study.write_text(
        f"name: tiny\ndata: [demo]\nlanguages: [en]\nmodels: [{folders[0]}]\nloading: {{part_size: 60}}\n",
        encoding="utf-8",
    )
    out = tmp_path / "out"
    first = ig.run(study, out=out, shard="1/2")
    assert first.scored is None
    assert first.problems[0].endswith(f"parts of {out} are missing.")
    assert len(ig.run(study, out=out, shard="2/2").scored) == len(ig.read("demo", language="en"))
