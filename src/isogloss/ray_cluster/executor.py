"""The same cells on a Ray cluster: actors that hold one model each, units of work handed out as workers become free, parts in the store.

The driver never opens a model. An actor opens it by its name, plans the cells as the local engine does, scores a unit of work and
writes its parts; the driver holds the locks, hands out, and counts. What dies is replaced, and its work given to another.
"""

import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..analysis.study import Failure
from ..errors import IsoglossError
from ..methods import PART
from ..models.journal import Journal, open_journal
from ..progress import Progress
from ..runs import Run, locked, part_path, read_run, read_scored, written_parts
from ..storage import RemotePath, StoragePath, as_path
from ..studies import cells
from ..studies.cells import CellResult, Running, WorkUnit
from ..studies.run import Cluster
from ..studies.run_files import finish_runs
from ..studies.scoring_plan import PlannedCell
from .connection import connected, last_line
from .worker import Worker, ending_signal, pack_cells

TRIES = 3
NOT_SHARED = (
    "The workers do not write to the place that this machine reads: {}. "
    "Give `out` a folder that all machines share, or an address such as s3://bucket/runs."
)


class ClusterError(IsoglossError):
    """The cluster itself cannot work: no cell could be run, so none is tried."""


def run_on_ray(groups: Sequence[Sequence[PlannedCell]], *, running: Running, cluster: Cluster) -> list[CellResult]:
    """The results of each checkpoint's cells on a cluster, one model after the other, each on all workers.

    What fails is added to `running.failures` and does not stop the rest.
    """
    if running.out is None:
        raise IsoglossError("A cluster needs a folder to write to. Give one with `out`.")
    out = running.out if isinstance(running.out, RemotePath) else running.out.resolve()
    runs: list[Run] = []
    with connected(cluster) as ray:
        pool = WorkerPool(ray, cluster)
        try:
            for cells in groups:
                try:
                    runs += _run_checkpoint(cells, pool, running=replace(running, out=out))
                except ClusterError:
                    raise
                except IsoglossError as error:
                    running.fail([failure for cell in cells for failure in cell.failures(error)], error)
        finally:
            pool.stop()
    return [CellResult(read_scored([run]), run) for run in runs if written_parts(run)]


# ---- the actors


@dataclass(frozen=True, slots=True)
class Task:
    """A unit of work of a group of cells."""

    group: int
    work: WorkUnit


class WorkerPool:
    """The actors of a cluster; each holds the model whose cells are being run, and what dies is replaced.

    `calls` are what the actors are doing; one without a task opens the model.
    """

    def __init__(self, ray: Any, cluster: Cluster) -> None:
        self.ray, self.cluster = ray, cluster
        self.members: list[Any] = []
        self.idle: list[Any] = []
        self.calls: dict[Any, tuple[Any, Task | None]] = {}
        self.packed: Any = None
        self.options: dict[str, Any] = {}
        self.deaths = 0

    def start(self, packed: str, *, wanted: int, gpu: bool) -> None:
        """Let every actor open the model; there are as many as fit and as there is work for."""
        self.packed, self.idle, self.calls, self.deaths = self.ray.put(packed), [], {}, 0
        threads = str(self.cluster.threads)
        options = {
            "num_cpus": self.cluster.threads,
            "num_gpus": 1 if gpu else 0,
            "scheduling_strategy": "SPREAD",
            "runtime_env": {"env_vars": {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}},
        }
        if options != self.options:
            self.stop()
            self.options = options
        space = len(self.members) + _free_actors(self.ray, self.cluster, gpu=gpu)
        for actor in self.members:
            self.open_model(actor)
        while len(self.members) < max(1, min(space, wanted, self.cluster.workers or wanted)):
            self.add_worker()

    def add_worker(self) -> None:
        """One more actor, which opens the model first."""
        actor = self.ray.remote(Worker).options(**self.options).remote()
        self.members.append(actor)
        actor.trace.remote(str(self._trace_of(actor)))
        self.open_model(actor)

    def open_model(self, actor: Any) -> None:
        """Let an actor open the model."""
        self.calls[actor.open.remote(self.packed)] = (actor, None)

    def score(self, actor: Any, task: Task, *, folders: Sequence[str]) -> None:
        """Let an actor score a unit of work and write it into the folders of its runs."""
        call = actor.score.remote(task.group, (task.work.number, task.work.cells), folders=list(folders))
        self.calls[call] = (actor, task)

    def reply(self) -> tuple[Any, Task | None, str | None]:
        """The next actor that has answered, its task, and what went wrong; without a task, it has opened the model.

        Who has opened the model is idle then, who died or cannot open it is no longer a member.
        """
        opening = all(task is None for _, task in self.calls.values())
        done, _ = self.ray.wait(list(self.calls), num_returns=1, timeout=self.cluster.wait if opening else None)
        if not done:
            raise ClusterError(
                f"No worker of the cluster could be started in {self.cluster.wait:g} seconds. "
                "Has it free cores (or GPUs) and memory? See: ray status"
            )
        actor, task = self.calls.pop(done[0])
        died = False
        try:
            error = self.ray.get(done[0]).get("error")
        except self.ray.exceptions.RayActorError:
            name = ending_signal(self._trace_of(actor))
            error = (
                f"the worker was ended by {name}" if name else "the worker was killed (SIGKILL), or its machine died"
            )
            died = True
        except Exception as problem:  # whatever a library raised there
            error = last_line(problem)
        if died or (error and task is None):
            self.members.remove(actor)
            self._trace_of(actor).unlink(missing_ok=True)
            self.ray.kill(actor)  # even if a handle to it is left: its core must be free for others
        else:
            self.idle.append(actor)
        if died:
            self.deaths += 1
            if task or self.deaths <= TRIES * (len(self.members) + 1):
                self.add_worker()
        return actor, task, error

    def _trace_of(self, actor: Any) -> Path:
        return Path(tempfile.gettempdir()) / f"isogloss-worker-{actor._actor_id.hex()}.txt"

    def first(self) -> Any:
        """An actor that has opened the model; the reason when none can."""
        why = "no reason is known"
        while not self.idle:
            if not self.calls:
                raise IsoglossError(
                    f"The workers of the cluster died while they opened the model: {why}. Is there memory for it?"
                )
            _, _, error = self.reply()
            why = error or why
            if error and not self.calls and not self.idle:
                raise IsoglossError(error)
        return self.idle[0]

    def stop(self) -> None:
        """Let all actors go."""
        for actor in self.members:
            self.ray.kill(actor)
            self._trace_of(actor).unlink(missing_ok=True)
        self.members, self.idle, self.calls = [], [], {}


def _free_actors(ray: Any, cluster: Cluster, *, gpu: bool) -> int:
    """How many more actors fit: one per free GPU, or one per `threads` free cores of one machine."""
    free = ray.available_resources()
    if gpu:
        return int(free.get("GPU", 0))
    fitting = sum(int(node["Resources"].get("CPU", 0)) // cluster.threads for node in ray.nodes() if node["Alive"])
    return min(fitting, int(free.get("CPU", 0)) // cluster.threads)


# ---- one checkpoint


@dataclass
class Group:
    """Cells that are scored together: their runs, and how many of their parts are there."""

    title: str
    items: int
    runs: list[Run]
    plan: list[WorkUnit] = field(default_factory=list)
    left: int = 0

    def tell(self, progress: Progress) -> None:
        total = sum(run.parts for run in self.runs)
        progress(self.title, (total - self.left) / total, items=self.items)


@dataclass
class Queue:
    """What is still to do, who has tried what, and what failed."""

    tasks: list[Task]
    tried: dict[tuple[int, int], list[Any]] = field(default_factory=dict)
    failed: list[Failure] = field(default_factory=list)

    def take(self, actor: Any) -> Task | None:
        """The first task, or the first that this actor has not failed at, if there is one."""
        for task in self.tasks:
            if actor not in self.tries(task):
                self.tasks.remove(task)
                return task
        return self.tasks.pop(0) if self.tasks else None

    def tries(self, task: Task) -> list[Any]:
        """The actors that failed at a task."""
        return self.tried.setdefault((task.group, task.work.number), [])


def _run_checkpoint(planned: Sequence[PlannedCell], pool: WorkerPool, *, running: Running) -> list[Run]:
    """The runs of one checkpoint's cells."""
    out, gpu = as_path(str(running.out)), planned[0].loading.device.startswith("cuda")
    pool.start(pack_cells(planned), wanted=_most_works(planned, planned[0].loading.part_size or PART), gpu=gpu)
    answer = pool.ray.get(pool.first().prepare.remote(str(out)))
    if answer.get("error"):
        raise IsoglossError(answer["error"])
    groups = []
    for group in answer["groups"]:
        folders = [as_path(folder) for folder in group["folders"]]
        if not all((folder / "run.json").exists() for folder in folders):
            raise ClusterError(NOT_SHARED.format(out))
        groups.append(Group(group["title"], group["items"], list(map(read_run, folders))))
    with ExitStack() as locks:
        for run in (run for group in groups for run in group.runs):
            locks.enter_context(locked(run))
        started = time.time()
        for group in groups:
            group.plan = cells.plan_work(group.runs)
            group.left = sum(len(work.cells) for work in group.plan)
        queue = Queue([Task(index, work) for index, group in enumerate(groups) for work in group.plan])
        _run_tasks(queue, pool, groups=groups, progress=running.progress)
        runs = _finish(groups, seconds=time.time() - started, out=out, failed=bool(queue.failed))
    if running.failures is not None:
        running.failures.extend([*(Failure(**failure) for failure in answer["failed"]), *queue.failed])
    return runs


def _most_works(planned: Sequence[PlannedCell], part: int) -> int:
    """At least as many units of work as the cells can have."""
    sizes: Counter[tuple[str, str]] = Counter()
    for item in (item for cell in planned for item in cell.items):
        sizes[item.dataset, item.language] += len(item.candidates)
    return sum(2 + 2 * size // part for size in sizes.values())


def _run_tasks(queue: Queue, pool: WorkerPool, *, groups: Sequence[Group], progress: Progress) -> None:
    """Hand out the tasks to idle workers until all are done or have failed three times."""
    for group in groups:
        group.tell(progress)
    busy = 0
    while queue.tasks or busy:
        while pool.idle and queue.tasks:
            actor = pool.idle.pop()
            task = queue.take(actor)
            if task:
                pool.score(actor, task, folders=[str(run.folder) for run in groups[task.group].runs])
                busy += 1
        if not pool.calls:
            raise ClusterError("All workers of the cluster are gone. Run the same command again to resume.")
        actor, task, error = pool.reply()
        if task:
            busy -= 1
            record_result(actor, task, error=error, queue=queue, group=groups[task.group])
            groups[task.group].tell(progress)


def record_result(actor: Any, task: Task, *, error: str | None, queue: Queue, group: Group) -> None:
    """Count a task as done, or put what is left of it in the queue again, or give it up."""
    work = task.work
    left = unfinished_work(work, group.runs) if error else None
    group.left -= len(work.cells) - (len(left.cells) if left else 0)
    if left is None:
        return
    tries = queue.tries(task)
    tries.append(actor)
    if len(tries) < TRIES:
        queue.tasks.append(Task(task.group, left))
        return
    why = f"part {work.number} failed {TRIES} times, at last because {error}"
    for info in (group.runs[index].info for index in left.cells):
        queue.failed.append(Failure(info["model"], info["dataset"], info["language"], info["method"], why))


def unfinished_work(unit: WorkUnit, runs: Sequence[Run]) -> WorkUnit | None:
    """What must be scored again after a worker stopped; units whose parts are all staged are committed."""
    missing = tuple(index for index in unit.cells if not part_path(runs[index], unit.number).exists())
    left = WorkUnit(unit.number, missing)
    return None if cells.commit_staged(left, runs) else left


def _finish(groups: Sequence[Group], *, seconds: float, out: StoragePath, failed: bool) -> list[Run]:
    """The runs, those that are complete marked as finished."""
    runs = []
    for group in groups:
        complete = all(len(written_parts(run)) == run.parts for run in group.runs)
        if not complete and not failed:
            raise ClusterError(NOT_SHARED.format(out))
        runs += _finish_group(group, seconds=seconds) if complete else group.runs
    return runs


def _finish_group(group: Group, *, seconds: float) -> list[Run]:
    """The runs of a group, finished; what the workers' journals counted goes into their files."""
    folder = group.runs[0].folder
    paths = [] if isinstance(folder, RemotePath) else sorted(Path(str(folder)).glob(f"*-{cells.JOURNAL}"))
    journals = [open_journal(path) for path in paths]
    answers = {key: answer for journal in journals for key, answer in journal.answers.items()}
    runs = finish_runs(group.runs, group.plan, seconds=seconds, journal=Journal(None, answers))
    for path in paths:
        path.unlink(missing_ok=True)
    return runs
