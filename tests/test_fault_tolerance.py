"""Faults: full and read-only disks, broken files, two processes, and kills at random moments; never a wrong number."""

from __future__ import annotations

import errno
import fcntl
import io
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
import transformers
from polars.testing import assert_frame_equal

from isogloss import runs, storage
from isogloss.errors import IsoglossError
from isogloss.items import Items
from isogloss.library import score
from isogloss.models.load import open_model
from isogloss.models.model import Loading, Model
from isogloss.studies import cells
from isogloss.studies.scoring_plan import PlannedCell, plan_cells
from support import tiny
from support.builders import stereoset_rows, write_jsonl
from support.scores import assert_same_scores
from test_studies_run import MANY, values

transformers.utils.logging.disable_progress_bar()


@pytest.fixture(scope="module")
def bert(tmp_path_factory) -> Path:
    """A tiny model in a folder."""
    folder = tmp_path_factory.mktemp("models") / "bert"
    tiny.network("bert").save_pretrained(folder)
    tiny.tokenizer_of("bert").save_pretrained(folder)
    return folder


SMALL = Loading(part_size=6)  # parts of two items


@pytest.fixture
def evaluation(tmp_path, bert, command, monkeypatch):
    """`isogloss eval` on a small file, into a folder."""
    data = write_jsonl(tmp_path / "items_en.jsonl", stereoset_rows())
    return lambda out: command("eval", bert, "--data", data, "--out", out, "--part-size", 6, "--format", "json")


def mounted(*words: str) -> None:
    """Run mount, or skip where that is not allowed."""
    done = subprocess.run(["mount", *words], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"mounting is not allowed here: {done.stderr.strip()}")


@pytest.fixture
def disk(tmp_path):
    """A disk of its own, in memory, of 28 kilobytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        mounted("-t", "tmpfs", "-o", "size=28k", "tmpfs", str(folder))
    except FileNotFoundError:
        pytest.skip("there is no mount here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def one_line(shown: str) -> str:
    """What a user is told, when it is one line and no traceback."""
    (line,) = [line for line in shown.splitlines() if line.startswith("Error: ")]
    assert "Traceback" not in shown
    return line.removeprefix("Error: ")


def kept(folder: Path) -> dict[Path, tuple[int, int]]:
    """The finished parts with what changes when one is written again."""
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.rglob("part-*.parquet")}


# ---- disks


def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_room(disk, evaluation, tmp_path):
    code, _, shown = evaluation(disk / "runs")
    assert code == 2
    told = one_line(shown)
    assert told.startswith(f"Cannot write {disk}/runs/bert/")
    assert told.endswith("(No space left on device). Is the folder writable, and the disk not full?")
    there = kept(disk)
    mounted("-o", "remount,size=4m", str(disk))
    assert evaluation(disk / "runs")[0] == 0
    assert {path: mark for path, mark in kept(disk).items() if path in there} == there
    assert evaluation(tmp_path / "other")[0] == 0
    assert_same_values(disk / "runs", tmp_path / "other")


def assert_same_values(one: Path, other: Path) -> None:
    first, second = (runs.read_scored(runs.find_runs(folder)) for folder in (one, other))
    assert_same_scores(first.table, second.table)


def test_a_file_that_may_not_grow_is_told_and_nothing_is_left_of_it(tmp_path, bert, monkeypatch):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    few, model = MANY.rows[:6], open_model(str(bert))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(IsoglossError) as caught:
            score(Items(few), model=model, method="unmask", out=tmp_path / "runs")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert f"({os.strerror(errno.EFBIG)}). Is the folder writable, and the disk not full?" in str(caught.value)
    assert [path.name for path in (tmp_path / "runs").rglob("*") if path.is_file()] == ["plan.jsonl"]


@pytest.fixture
def sealed(disk):
    """Makes the disk read-only, or writable again."""
    return lambda how: mounted("-o", f"remount,{how},size=4m", str(disk))


def test_a_read_only_folder_is_told(disk, sealed, evaluation):
    sealed("ro")
    code, _, shown = evaluation(disk / "runs")
    assert code == 2
    assert one_line(shown).endswith("(Read-only file system). Choose another with --out.")


def test_an_unfinished_run_on_a_read_only_disk_is_told_before_anything_is_scored(disk, sealed, evaluation):
    sealed("rw")
    assert evaluation(disk / "runs")[0] == 0
    run = runs.find_runs(disk)[0]
    runs.part_path(run, 0).unlink()
    runs.write_info(runs.Run(run.folder, run.info | {"status": "started"}))
    (run.folder / ".lock").unlink()
    sealed("ro")
    code, _, shown = evaluation(disk / "runs")
    assert code == 2
    assert one_line(shown) == (
        f"Cannot write {run.folder} (Read-only file system). Is the folder writable, and the disk not full?"
    )


def test_a_finished_run_on_a_read_only_disk_is_read(disk, sealed, evaluation, command):
    sealed("rw")
    first = evaluation(disk / "runs")
    sealed("ro")
    assert evaluation(disk / "runs")[:2] == first[:2]
    assert command("measure", disk / "runs", "--format", "json")[0] == 0


def test_commands_that_write_one_file_say_that_the_disk_is_read_only(disk, sealed, evaluation, command, monkeypatch):
    sealed("rw")
    assert evaluation(disk / "runs")[0] == 0
    study = disk / "study.yaml"
    study.write_text("name: s\nmodels: [bert]\ndata: [demo]\nlanguages: [en]\n", encoding="utf-8")
    sealed("ro")
    monkeypatch.setenv("ISOGLOSS_HOME", str(disk / "home"))
    for words in (
        ("report", disk / "runs", "--out", disk / "report.html"),
        ("claims", "new", disk / "claims.yaml"),
        ("model", "pull", "smollm2"),
        ("run", study, "--download-only", "--out", disk / "downloads"),
    ):
        code, _, shown = command(*words)
        assert code == 2, words
        assert "(Read-only file system)" in one_line(shown.splitlines()[-1]), words


def test_a_finished_study_on_a_read_only_disk_is_read(disk, sealed, bert, command, tmp_path):
    write_jsonl(tmp_path / "items_en.jsonl", stereoset_rows())
    study = tmp_path / "s.yaml"
    study.write_text(f"name: s\nmodels: [{bert}]\ndata: [items_en.jsonl]\nmeasures: {{resamples: 100}}\n")
    sealed("rw")
    code, first, _ = command("run", study, "--out", disk / "study", "--format", "json")
    assert code == 0
    sealed("ro")
    code, again, shown = command("run", study, "--out", disk / "study", "--format", "json")
    assert code == 0, shown
    assert json.loads(again)["measures"] == json.loads(first)["measures"]
    assert f"{disk / 'study'} can only be read, so nothing was written into it" in json.loads(again)["notes"]


def test_after_a_full_disk_a_study_has_the_same_parts(disk, bert, command, tmp_path):
    write_jsonl(tmp_path / "items_en.jsonl", stereoset_rows())
    study = tmp_path / "s.yaml"
    methods = "[auto, aul, pll]"
    study.write_text(
        f"name: s\nmodels: [{bert}]\ndata: [items_en.jsonl]\nmethods: {methods}\nmeasures: {{resamples: 100}}\n"
    )
    assert command("run", study, "--out", tmp_path / "whole")[0] == 0
    mounted("-o", "remount,size=64k", str(disk))  # enough for the items of all cells, and for some of the parts
    code, _, shown = command("run", study, "--out", disk / "study")
    assert code == 1, shown
    assert "No space left on device" in shown
    assert not [*disk.rglob("part-*.parquet")]  # no cell was scored without those that belong to it
    mounted("-o", "remount,size=4m", str(disk))
    assert command("run", study, "--out", disk / "study")[0] == 0
    parts = [
        {path.relative_to(out): path.read_bytes() for path in out.rglob("part-*")}
        for out in (tmp_path / "whole", disk / "study")
    ]
    assert parts[0] == parts[1]


# ---- broken files


BREAKS = {
    "emptied": lambda raw: b"",
    "truncated": lambda raw: raw[:-200],
    "bit flipped": lambda raw: raw[:99] + bytes([raw[99] ^ 16]) + raw[100:],
}


@pytest.mark.filterwarnings("default:::isogloss")
@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_part_is_named_by_measure_and_scored_again_by_eval(tmp_path, evaluation, command, name):
    first = evaluation(tmp_path / "runs")
    path = runs.part_path(runs.find_runs(tmp_path / "runs")[0], 0)
    whole = path.read_bytes()
    others = {part: mark for part, mark in kept(tmp_path).items() if part != path}
    path.write_bytes(BREAKS[name](whole))
    code, _, shown = command("measure", tmp_path / "runs")
    assert code == 1  # the other parts were measured
    assert f"{path}: the part is broken or was altered. Delete it and run the same command again." in shown.splitlines()
    again = evaluation(tmp_path / "runs")
    assert again[:2] == first[:2]
    assert again[2].count("Warning: ") == again[2].count("is scored again.") == 1
    before, after = (pl.read_parquet(io.BytesIO(raw)) for raw in (whole, path.read_bytes()))
    assert_frame_equal(before, after, rel_tol=1e-5)  # scored alone now, so the last digits may differ
    assert {part: mark for part, mark in kept(tmp_path).items() if part != path} == others


@pytest.mark.parametrize("text", ["", "{", '{"schema": 1}', "[1]", "\0\0"])
def test_a_damaged_run_file_is_told_by_every_command(tmp_path, evaluation, command, text):
    evaluation(tmp_path / "runs")
    path = runs.find_runs(tmp_path / "runs")[0].folder / "run.json"
    path.write_text(text, encoding="utf-8")
    code, _, shown = evaluation(tmp_path / "runs")
    assert code == 1
    assert f"1 cell could not be scored:\nbert stereoset en nsp: {path}: " in shown
    code, _, shown = command("measure", tmp_path)
    assert code == 1  # the other runs were measured
    assert any(line.startswith(f"{path}: ") for line in shown.splitlines())
    code, _, shown = command("show", tmp_path)
    assert code == 2
    assert one_line(shown).startswith(f"{path}: ")


# ---- two processes


HOLD = """
import sys, time
from pathlib import Path
from isogloss import runs
with runs.locked(runs.read_run(Path(sys.argv[1]))):
    print("held", flush=True)
    time.sleep(600)
"""


def test_the_second_process_is_told_and_a_killed_owner_keeps_no_lock(tmp_path, evaluation):
    first = evaluation(tmp_path / "runs")
    run = runs.find_runs(tmp_path / "runs")[0]
    owner = subprocess.Popen([sys.executable, "-c", HOLD, str(run.folder)], stdout=subprocess.PIPE, text=True)
    assert owner.stdout.readline() == "held\n"
    code, _, shown = evaluation(tmp_path / "runs")
    assert code == 1
    assert shown.endswith(f": Another process is working on {run.folder}. Wait for it, or stop it.\n")
    owner.kill()
    owner.communicate()
    assert evaluation(tmp_path / "runs")[:2] == first[:2]


def test_a_file_system_without_locks_is_used_without_them(tmp_path, evaluation, monkeypatch):
    def refuse(file, how) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert evaluation(tmp_path / "runs")[0] == 0
    assert all(run.info["status"] == "finished" for run in runs.find_runs(tmp_path / "runs"))


def test_what_a_killed_process_had_begun_to_write_is_swept_away(tmp_path, evaluation):
    evaluation(tmp_path / "runs")
    run = runs.find_runs(tmp_path / "runs")[0]
    (run.folder / ".part-00000.parquet.4711-00000000~").write_bytes(b"half")
    evaluation(tmp_path / "runs")
    assert [path.name for path in run.folder.iterdir() if path.name.endswith("~")] == []


# ---- kills


def work(model: Model, out: Path) -> None:
    """Score some items by two methods, in parts of two items."""
    few = Items(MANY.rows[:24])
    both = [cell for name in ("unmask", "pll") for cell in plan_cells(PlannedCell("", few, name, loading=SMALL), model)]
    cells.run_cells(both, model, running=cells.Running(out))


def serve(folder: str) -> None:
    """Open a model once; then score into each folder that is named, each time in a process of its own."""
    model = open_model(folder)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            with suppress(BaseException):
                work(model, Path(line.strip()))
                os._exit(0)
            os._exit(1)
        print(child, flush=True)
        print(os.waitpid(child, 0)[1], flush=True)


@pytest.fixture(scope="module")
def start(bert):
    """Scores into a folder in a process that is killed after so many seconds, if it still lives; how it ended."""
    script = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_fault_tolerance as t; t.serve({str(bert)!r})"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    server = subprocess.Popen([sys.executable, "-c", script], **pipes)

    def begin(out: Path, *, seconds: float | None = None) -> int:
        print(out, file=server.stdin, flush=True)
        child = int(server.stdout.readline())
        if seconds is not None:
            time.sleep(seconds)
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        return os.waitstatus_to_exitcode(int(server.stdout.readline()))

    yield begin
    server.communicate("")


@pytest.fixture(scope="module")
def undisturbed(start, tmp_path_factory) -> tuple[Path, float]:
    """A run that nobody killed, and how long it took."""
    out = tmp_path_factory.mktemp("undisturbed")
    assert start(out) == 0
    begun = time.time()
    assert start(tmp_path_factory.mktemp("again")) == 0
    return out, time.time() - begun


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 24))])
def test_a_kill_at_any_moment_changes_no_value_and_no_finished_part(tmp_path, start, undisturbed, seed):
    draw = random.Random(seed)
    whole, seconds = undisturbed
    there: dict[Path, tuple[int, int]] = {}
    for _ in range(draw.choice((1, 1, 2, 3))):
        assert start(tmp_path, seconds=draw.uniform(0.0, 1.1) * seconds) in (0, -signal.SIGKILL)
        now = kept(tmp_path)
        assert {path: now[path] for path in there} == there
        there = now
    assert start(tmp_path) == 0
    done = kept(tmp_path)
    assert {path: done[path] for path in there} == there
    for path in whole.rglob("part-*.parquet"):
        assert (tmp_path / path.relative_to(whole)).read_bytes() == path.read_bytes()
    assert all(run.info["status"] == "finished" for run in runs.find_runs(tmp_path))
    assert [path.name for path in tmp_path.rglob("*~")] + [path.name for path in tmp_path.rglob("*.ready")] == []


# ---- places behind an address


def test_runs_behind_an_address_are_written_resumed_and_read_like_local_ones(bert, monkeypatch):
    pytest.importorskip("fsspec")
    model = open_model(str(bert))
    first = score(MANY, model=model, method="unmask", out="memory://bucket/runs", loading=SMALL)
    (run,) = runs.find_runs(Path("memory://bucket/runs"))
    assert isinstance(run.folder, storage.RemotePath)
    assert str(run.folder).startswith("memory://bucket/runs/bert/tiny-en-unmask-")
    assert runs.written_parts(run) == list(range(run.parts))
    runs.part_path(run, 3).unlink()
    path = runs.part_path(run, 5)
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.warns(UserWarning, match="was set aside"):
        again = score(MANY, model=model, method="unmask", out="memory://bucket/runs", loading=SMALL)
    assert_same_scores(again.table, first.table)
    assert runs.read_run(run.folder).info["scored_parts"] == 2
    assert_same_scores(values(again), values(score(MANY, model=model, method="unmask")))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("runs/eval", Path("runs/eval")),
        ("file:///runs/x", Path("/runs/x")),
        ("s3://bucket/a/", storage.RemotePath("s3://bucket/a")),
        (Path("s3://bucket/a"), storage.RemotePath("s3://bucket/a")),
        ("C:/x", Path("C:/x")),
    ],
)
def test_a_path_or_an_address_is_told_apart(text, place):
    assert storage.as_path(text) == place


def test_an_address_that_cannot_be_reached_is_told_in_one_sentence(command):
    pytest.importorskip("fsspec")
    code, _, shown = command("show", "nosuchstore://bucket/runs")
    assert code == 2
    assert one_line(shown) == (
        "Cannot reach nosuchstore://bucket/runs (Protocol not known: nosuchstore). "
        "Is the address right, and may you read and write there?"
    )
    assert command("show", "memory://nothing/here")[::2] == (2, "Error: No such file: memory://nothing/here.\n")


def test_a_run_file_behind_an_address_that_is_damaged_is_told():
    pytest.importorskip("fsspec")
    (storage.RemotePath("memory://damaged/run") / "run.json").write_bytes(json.dumps({"schema": 9}).encode())
    with pytest.raises(IsoglossError) as caught:
        runs.find_runs(storage.RemotePath("memory://damaged"))
    assert str(caught.value) == "memory://damaged/run/run.json: schema version 9; this Isogloss reads versions 1, 2, 3."
