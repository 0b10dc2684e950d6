"""The cluster: the local engine's values on Ray, whatever is killed, and nothing that is finished done again."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import transformers

from isogloss import runs
from isogloss.analysis.study import Failure, Study
from isogloss.errors import IsoglossError
from isogloss.items import Items
from isogloss.library import ask, score
from isogloss.methods.ask import AskSettings
from isogloss.models.model import Loading
from isogloss.ray_cluster.connection import ENDED
from isogloss.ray_cluster.executor import TRIES, Cluster, Group, Queue, Task, record_result, unfinished_work
from isogloss.ray_cluster.worker import Worker, pack_cells, unpack_cells
from isogloss.storage import as_path
from isogloss.studies import cells
from isogloss.studies.plan import StudyPlan
from isogloss.studies.run import execute
from isogloss.studies.scoring_plan import PlannedCell
from support import ports, tiny
from support.builders import stereoset_rows, write_jsonl
from support.scores import assert_same_scores
from test_fault_tolerance import kept
from test_studies_run import BOTH, MANY

transformers.utils.logging.disable_progress_bar()
pytestmark = pytest.mark.xdist_group("ray")  # two clusters at once would take each other's addresses
LONG = Items(tuple(replace(item, id=f"{item.id}-{turn}") for turn in range(60) for item in MANY))


@pytest.fixture(scope="module")
def bert(tmp_path_factory) -> Path:
    """A tiny model in a folder."""
    folder = tmp_path_factory.mktemp("models") / "bert"
    tiny.network("bert").save_pretrained(folder)
    tiny.tokenizer_of("bert").save_pretrained(folder)
    return folder


def job(model: Path | str, items: Items = LONG) -> StudyPlan:
    """Items scored by one model."""
    return StudyPlan((PlannedCell(str(model), items, "unmask"),))


def run_on_ray(plan: StudyPlan, *, out: Path, cluster: Cluster | None = None, **more) -> Study:
    return execute(plan, out=out, cluster=cluster or Cluster(), **more)


# ---- without Ray: what one actor does, and how works are handed out


def test_a_job_survives_being_packed_as_plain_text(bert):
    items = Items((replace(MANY[0], tags={"regions": ("a", "b"), "task": "x"}), *BOTH), ())
    cell = PlannedCell(str(bert), items, "unmask", {"variant": "log"}, {"size": "small"}, Loading(token_budget=9))
    packed = pack_cells([cell])
    assert unpack_cells(packed) == [cell]
    assert json.loads(packed)[0]["checkpoint"] == str(bert.resolve())


def test_a_model_in_a_folder_is_named_by_its_whole_path(bert, monkeypatch):
    monkeypatch.chdir(bert.parent)
    cells = [PlannedCell(name, MANY) for name in ("bert", "org/name@main")]
    found = unpack_cells(pack_cells(cells))
    assert [cell.checkpoint for cell in found] == [str(bert), "org/name@main"]


def test_a_worker_writes_what_the_local_engine_writes(bert, tmp_path, monkeypatch):
    local = score(MANY, model=str(bert), method="unmask", out=tmp_path / "local", loading=SMALL)
    worker = Worker()
    assert worker.open(pack_cells([PlannedCell(str(bert), MANY, "unmask", loading=SMALL)])) == {}
    (group,) = worker.prepare(str(tmp_path / "ray"))["groups"]
    assert (group["title"], group["items"]) == ("bert tiny en unmask", 40)
    (run,) = runs.find_runs(tmp_path / "ray")
    for number in reversed(range(run.parts)):
        assert worker.score(0, (number, (0,)), folders=group["folders"]) == {}
    assert_same_scores(runs.read_scored(runs.find_runs(tmp_path / "ray")).table, local.table)


@pytest.fixture(scope="module")
def talker(tmp_path_factory) -> str:
    """A tiny chat model in a folder."""
    return tiny.save_talker(tmp_path_factory.mktemp("models") / "talker")


SMALL = Loading(part_size=6)
BRIEF = AskSettings(order="yes-no", max_tokens=2)
FEW = Items(MANY.rows[:4])


def test_a_worker_asks_what_is_asked_here(talker, tmp_path):
    here = ask(FEW, model=talker, settings=BRIEF)
    worker = Worker()
    assert worker.open(pack_cells([PlannedCell(talker, FEW, "ask", BRIEF.options)])) == {}
    (group,) = worker.prepare(str(tmp_path))["groups"]
    assert group["title"] == "talker tiny en ask[order=yes-no,max_tokens=2]"
    assert worker.score(0, (0, (0,)), folders=group["folders"]) == {}
    assert_same_scores(runs.read_scored(runs.find_runs(tmp_path)).table, here.table)


def test_a_worker_answers_a_mistake_with_a_sentence(tmp_path, bert):
    worker = Worker()
    nowhere = pack_cells([PlannedCell("/no/such/model", MANY)])
    assert worker.open(nowhere) == {"error": "No such model folder: /no/such/model."}
    both = [PlannedCell(str(bert), MANY, name) for name in ("likelihood", "unmask")]
    assert worker.open(pack_cells(both)) == {}
    answer = worker.prepare(str(tmp_path))
    assert len(answer["groups"]) == 1
    (told,) = answer["failed"]
    assert (told["data"], told["language"], told["method"]) == ("tiny", "en", "likelihood")
    assert "masked" in told["why"]


@pytest.fixture
def group(bert, tmp_path, monkeypatch) -> Group:
    """A finished run of two methods, with parts of two items."""
    for method in ("unmask", "pll"):
        score(Items(MANY.rows[:6]), model=str(bert), method=method, out=tmp_path, loading=SMALL)
    return Group("title", 6, runs.find_runs(tmp_path))


def test_parts_that_lie_ready_are_put_in_place_and_others_scored_again(group):
    unit = cells.WorkUnit(1, (0, 1))
    paths = [runs.part_path(run, 1) for run in group.runs]
    ready = [path.with_name(path.name + ".ready") for path in paths]
    assert unfinished_work(unit, group.runs) is None
    paths[0].rename(ready[0])
    assert unfinished_work(unit, group.runs) is None
    assert paths[0].exists()
    paths[0].rename(ready[0])
    paths[1].unlink()
    assert unfinished_work(unit, group.runs) == unit
    ready[0].rename(paths[0])
    assert unfinished_work(unit, group.runs) == cells.WorkUnit(1, (1,))


def test_a_work_is_tried_three_times_by_others_if_there_are_others_and_then_listed(group):
    task = Task(0, cells.WorkUnit(1, (0, 1)))
    for run in group.runs:
        runs.part_path(run, 1).unlink()
    queue = Queue([])
    for turn in range(TRIES):
        assert queue.failed == []
        error = "the worker or its machine died"
        record_result(f"actor {turn}", task, error=error, queue=queue, group=group)
    why = "part 1 failed 3 times, at last because the worker or its machine died"
    assert queue.failed == [Failure("bert", "tiny", "en", method, why) for method in ("pll", "unmask")]
    assert len(queue.tasks) == TRIES - 1


def test_an_actor_takes_what_it_has_not_failed_at_first():
    first, second = Task(0, cells.WorkUnit(0, (0,))), Task(0, cells.WorkUnit(1, (0,)))
    queue = Queue([first, second])
    queue.tries(first).append("a")
    assert queue.take("a") == second
    assert queue.take("a") == first
    assert queue.take("a") is None


def test_an_address_where_nobody_listens_is_told_at_once():
    pytest.importorskip("ray")
    with ports.refusing() as closed, pytest.raises(IsoglossError) as caught:
        execute(job("x"), out=Path("runs"), cluster=Cluster(address=closed))
    assert str(caught.value) == f"No Ray cluster answers at {closed} ([Errno 111] Connection refused)."


# ---- with Ray


@pytest.fixture(scope="module")
def local(bert, tmp_path_factory) -> runs.Scored:
    """What the local engine gives."""
    return score(LONG, model=str(bert), method="unmask", out=tmp_path_factory.mktemp("local"))


class Machines:
    """A cluster of a head without cores and two machines with one core each."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster as Machinery

        os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "OMP_NUM_THREADS": "1", "RAY_worker_niceness": "0"}
        self.cluster, self.last = Machinery(), 1
        self.head, self.nodes = self._add(0), [self._add(1), self._add(1)]

    def _add(self, cores: int):
        self.last += 1  # 127.0.0.1 is rewritten, so the first is 127.0.0.2
        memory = 100 * 2**20
        return self.cluster.add_node(
            num_cpus=cores,
            node_ip_address=f"127.0.0.{self.last}",
            object_store_memory=memory,
            include_dashboard=False,
        )

    def kill_node(self, number: int) -> None:
        self.cluster.remove_node(self.nodes.pop(number), allow_graceful=False)

    def kill_worker(self, draw: random.Random, *, with_signal: int = signal.SIGKILL) -> None:
        """End one of the actors' processes, if there is one."""
        raylets = {info.process.pid for node in self.nodes for info in node.all_processes["raylet"]}
        found = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and _is_actor(path, raylets)]
        if found or with_signal == signal.SIGKILL:
            os.kill(draw.choice(sorted(found)), with_signal)

    def mend(self) -> None:
        """Two machines again, and nobody who still believes in the dead ones."""
        import ray

        while len(self.nodes) < 2:
            self.nodes.append(self._add(1))
        ends = time.monotonic() + 120
        while sum(node["Alive"] for node in ray.nodes()) > 3 and time.monotonic() < ends:
            time.sleep(0.5)


def _is_actor(process: Path, raylets: set[int]) -> bool:
    try:
        parent = int((process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        return parent in raylets and (process / "cmdline").read_bytes().startswith(b"ray::Worker")
    except OSError:
        return False


@pytest.fixture(scope="module")
def machines():
    """The cluster, connected, for all tests of this file."""
    ray = pytest.importorskip("ray")
    made = Machines()
    ray.init(made.cluster.address, log_to_driver=False, logging_level="error")
    yield made
    ray.shutdown()
    made.cluster.shutdown()


def disturbed(plan: StudyPlan, out: Path, *, share: float, disturb) -> tuple[list[float], runs.Scored, list[Failure]]:
    """Run a job, disturb it when so much is done, and check that what was finished then is left as it was."""
    shares: list[float] = []
    there: dict[Path, tuple[int, int]] = {}
    begun = threading.Event()

    def progress(label: str, done: float, *, items: int = 0) -> None:
        shares.append(done)
        if done >= share and not begun.is_set() and any(out.rglob("run.json")):  # first reports come before the runs
            begun.set()
            there.update(kept(out))
            disturb()

    outcome = run_on_ray(plan, out=out, cluster=Cluster(wait=120), progress=progress)
    assert begun.is_set()
    now = kept(out)
    assert {path: now[path] for path in there} == there
    return shares, runs.read_scored(list(outcome.runs)), list(outcome.failures)


def test_a_command_that_ends_with_its_node_says_so_in_one_sentence(tmp_path):
    gone = (
        "from isogloss.ray_cluster.connection import *\nwith explained_if_ended():\n    os._exit(1)"  # as Ray does it
    )
    ended = subprocess.run([sys.executable, "-c", gone], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (1, f"{ENDED}\n")
    done = gone.replace("os._exit(1)", "raise IsoglossError('something else')")
    assert ENDED not in subprocess.run([sys.executable, "-c", done], capture_output=True, text=True).stderr


@pytest.mark.slow
def test_a_node_that_dies_with_all_its_workers_ends_the_command_in_one_sentence(bert, tmp_path):
    psutil = pytest.importorskip("psutil")
    data = write_jsonl(tmp_path / "items_en.jsonl", stereoset_rows())
    words = [
        "eval",
        bert,
        "--data",
        data,
        "--out",
        tmp_path / "runs",
        "--backend",
        "ray",
        "--workers",
        1,
        "--part-size",
        1,
    ]
    process = subprocess.Popen([sys.executable, "-m", "isogloss", *map(str, words)], stderr=subprocess.PIPE, text=True)
    node: list[Any] = []
    while not node and process.poll() is None:
        children = psutil.Process(process.pid).children(recursive=True)
        node = [child for child in children if child.is_running() and child.name() == "raylet"]
        time.sleep(0.05)
    for child in node:
        child.kill()
    _, error = process.communicate()
    assert process.returncode != 0
    (line,) = [line for line in error.splitlines() if line.startswith("Error: ")]
    assert line == ENDED or line.startswith("Error: Ray cannot be started here")


@pytest.mark.slow
def test_a_cluster_gives_the_local_engines_values_and_tells_its_progress(machines, bert, local, tmp_path):
    plan = job(bert)
    shares, scored, failed = disturbed(plan, tmp_path, share=0, disturb=lambda: None)
    assert shares[0] == 0
    assert shares[-1] == 1
    assert shares == sorted(shares)
    assert failed == []
    assert_same_scores(scored.table, local.table)
    (run,) = runs.find_runs(tmp_path)
    assert (run.info["status"], run.info["scored_parts"]) == ("finished", run.parts)
    before = kept(tmp_path)
    again = run_on_ray(plan, out=tmp_path)
    assert kept(tmp_path) == before
    assert_same_scores(runs.read_scored(list(again.runs)).table, local.table)


@pytest.mark.slow
def test_a_cluster_asks_and_scores_with_one_model_and_resumes(machines, talker, tmp_path):
    planned = [PlannedCell(talker, FEW, "likelihood"), PlannedCell(talker, FEW, "ask", BRIEF.options)]
    outcome = run_on_ray(StudyPlan(tuple(planned)), out=tmp_path)
    assert outcome.failures == ()
    answers = [run for run in outcome.runs if run.info["method"].startswith("ask")]
    here = ask(FEW, model=talker, settings=BRIEF)
    assert_same_scores(runs.read_scored(answers).table, here.table)
    assert len(outcome.runs) == 2
    before = kept(tmp_path)
    run_on_ray(StudyPlan(tuple(planned)), out=tmp_path)
    assert kept(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(13))
def test_a_killed_worker_changes_nothing(machines, bert, local, tmp_path, seed):
    draw = random.Random(seed)
    plan = job(bert)
    share = draw.uniform(0, 0.7)
    _, scored, failed = disturbed(plan, tmp_path, share=share, disturb=lambda: machines.kill_worker(draw))
    assert failed == []
    assert_same_scores(scored.table, local.table)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_a_killed_machine_changes_nothing(machines, bert, local, tmp_path, seed):
    draw = random.Random(seed)
    machines.mend()
    plan = job(bert)
    share, number = draw.uniform(0, 0.7), draw.randrange(2)
    _, scored, failed = disturbed(plan, tmp_path, share=share, disturb=lambda: machines.kill_node(number))
    assert failed == []
    assert_same_scores(scored.table, local.table)


@pytest.mark.slow
def test_a_work_that_fails_three_times_is_listed_and_the_rest_is_done(machines, bert, local, tmp_path):
    machines.mend()

    def block() -> None:
        (run,) = runs.find_runs(tmp_path)
        path = runs.part_path(run, 4)
        path.with_name(path.name + ".ready").mkdir()

    _, _, failed = disturbed(job(bert), tmp_path, share=0, disturb=block)
    (run,) = runs.find_runs(tmp_path)
    (told,) = failed
    assert (told.model, told.data, told.language, told.method) == ("bert", "tiny", "en", "unmask")
    assert told.why.startswith("part 4 failed 3 times, at last because Cannot write ")
    assert runs.written_parts(run) == [number for number in range(run.parts) if number != 4]
    assert run.info["status"] == "started"
    (run.folder / "part-00004.parquet.ready").rmdir()
    outcome = run_on_ray(job(bert), out=tmp_path)
    assert_same_scores(runs.read_scored(list(outcome.runs)).table, local.table)


@pytest.mark.slow
def test_a_worker_that_a_signal_ends_is_a_failed_cell_with_its_name(machines, bert, tmp_path, monkeypatch):
    machines.mend()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    over = threading.Event()

    def attack() -> None:
        while not over.wait(0.2):
            if any(tmp_path.glob("isogloss-worker-*.txt")):  # a worker that can say what ends it
                machines.kill_worker(random.Random(0), with_signal=signal.SIGSEGV)

    attacker = threading.Thread(target=attack, daemon=True)
    attacker.start()
    with pytest.raises(IsoglossError, match="SIGSEGV"):
        run_on_ray(job(bert), out=tmp_path / "runs", cluster=Cluster(workers=1))
    over.set()
    attacker.join()


@pytest.mark.slow
def test_a_job_that_cannot_be_done_is_a_sentence_and_does_not_stop_the_others(machines, bert, tmp_path):
    few = Items(MANY.rows[:4])
    nowhere = job("/no/such/model", few)
    for _ in range(3):  # who cannot open a model must not keep its core
        with pytest.raises(IsoglossError, match="No such model folder"):
            run_on_ray(nowhere, out=tmp_path, cluster=Cluster(wait=60))
    both = replace(nowhere, cells=(*nowhere.cells, *job(bert, few).cells))
    outcome = run_on_ray(both, out=tmp_path, cluster=Cluster(wait=60))
    why = "No such model folder: /no/such/model."
    assert outcome.failures == (Failure("/no/such/model", "tiny", "en", "unmask", why),)
    assert [run.info["status"] for run in outcome.runs] == ["finished"]


@pytest.mark.slow
def test_a_place_that_the_machines_do_not_share_is_told(machines, bert):
    with pytest.raises(IsoglossError) as caught:
        run_on_ray(job(bert, Items(MANY.rows[:4])), out=as_path("memory://mine/runs"))
    assert str(caught.value) == (
        "The workers do not write to the place that this machine reads: memory://mine/runs. "
        "Give `out` a folder that all machines share, or an address such as s3://bucket/runs."
    )
