"""Two Ray workers with one core each against two plain processes with one thread each, on the same works.

    python -m benchmarks.cluster smollm2 --items 600 --rounds 3

Both open the model, then score the same parts; only the scoring is timed. The plain processes take every other part, the
workers what comes next. Printed: items per second of both in each round, and the ratio of the best.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from isogloss import runs
from isogloss.files.sources import read
from isogloss.items import Items
from isogloss.models.load import DEFAULT_LOADING
from isogloss.ray_cluster.worker import Worker, pack_cells
from isogloss.storage import as_path
from isogloss.studies.cells import PART_CANDIDATES, WorkUnit
from isogloss.studies.plan import StudyPlan
from isogloss.studies.run import Cluster, execute
from isogloss.studies.scoring_plan import PlannedCell

THREADS = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


def make_job(model: str, items: int) -> PlannedCell:
    """So many items, made of the demonstration data, each turn a little longer."""
    demo = [item for item in read("demo", language="en") if item.tags.get("task") == "intrasentence"]
    rows = []
    for number in range(items):
        turn, item = number // len(demo), demo[number % len(demo)]
        candidates = tuple(
            replace(one, id=f"{one.id}-{turn}", text=f"{one.text} {'So it was. ' * (turn % 5)}{turn}")
            for one in item.candidates
        )
        rows.append(replace(item, id=f"{item.id}-{turn}", candidates=candidates))
    return PlannedCell(model, Items(tuple(rows)), "likelihood")


def serve(path: str, half: str) -> None:
    """One plain process: open the model, wait for a line, score every other part, say how long it took."""
    packed = (Path(path) / "job.json").read_text(encoding="utf-8")
    worker = Worker()
    problem = worker.open(packed) or worker.prepare(path)
    if "error" in problem:
        raise SystemExit(problem["error"])
    print("ready", flush=True)
    sys.stdin.readline()
    started = time.time()
    for number in range(int(half), len(worker.groups[0][0].parts), 2):
        unit = WorkUnit(number, (0,))
        worker.score(0, (unit.number, unit.cells), folders=problem["groups"][0]["folders"])
    print(time.time() - started, flush=True)


def plain_seconds(cell: PlannedCell) -> float:
    """How long two plain processes score."""
    with tempfile.TemporaryDirectory() as path:
        (Path(path) / "job.json").write_text(pack_cells([cell], DEFAULT_LOADING), encoding="utf-8")
        processes = []
        for half in ("0", "1"):
            command = [sys.executable, "-m", "benchmarks.cluster", "--serve", path, half]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            processes.append(subprocess.Popen(command, env=os.environ | THREADS, **pipes))  # type: ignore[call-overload]
            processes[-1].stdout.readline()  # one after the other, so that only one makes the run
        started = time.time()
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        for process in processes:
            process.stdout.readline()
        seconds = time.time() - started
        for process in processes:
            process.communicate()
        return seconds


def ray_seconds(cell: PlannedCell) -> float:
    """How long two Ray workers score, from the first work that is handed out to the last that is done.

    Half of the items are scored before, so that both workers are there.
    """
    half = Items(cell.items.rows[::2])
    with tempfile.TemporaryDirectory() as path:
        plans = [StudyPlan((one,)) for one in (replace(cell, items=half), cell)]
        outcome, *_ = [execute(one, out=as_path(path), cluster=Cluster(workers=2, threads=1)) for one in plans][::-1]
        (run,) = outcome.runs
        if len(runs.written_parts(run)) != run.parts:
            raise SystemExit("; ".join(cell.why for cell in outcome.failures))
        return float(run.info["seconds"])


def main() -> None:
    """Measure and print."""
    if "--serve" in sys.argv:
        serve(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--items", type=int, default=20 * PART_CANDIDATES // 3)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    os.environ |= THREADS
    job = make_job(given.model, given.items)
    found: dict[str, list[float]] = {"plain": [], "ray": []}
    for _ in range(given.rounds):
        found["plain"].append(given.items / plain_seconds(job))
        found["ray"].append(given.items / ray_seconds(job))
    ratio = max(found["ray"]) / max(found["plain"])
    rates = {name: [round(rate, 1) for rate in rates] for name, rates in found.items()}
    print(json.dumps({"items": given.items, "items per second": rates, "ray / plain": round(ratio, 3)}))


if __name__ == "__main__":
    main()
