"""`python -m benchmarks.versions CHECKOUT`: version 0.1.0 beside today's, the same model and items, in turn.

Every measurement is a process of its own with one thread, because two versions cannot be imported into one, and counts
processor seconds, which other work on the machine hardly changes. ISOGLOSS_REAL_DATA names the data.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.run import HERE, machine, write_page
from isogloss.models.packaged import pulled_folder

ROUNDS = 2
SCORE = """
import sys, time
import isogloss as ig
from isogloss.items import Items
from isogloss.models.load import open_model
folder, path, method, step = sys.argv[1:]
items = Items(tuple(ig.read(path, language="en"))[::int(step)])
model = open_model(folder)
ig.score(Items(items.rows[:2]), model=model, method=method)
started = time.process_time()
ig.score(items, model=model, method=method)
print(time.process_time() - started, len(items))
"""
INTRA, CROWS = "stereoset/intrasentence_en.jsonl.gz", "crows_pairs/crows_pairs_anonymized.csv"
SCORED = {  # model, file, method, and every how many-th item is scored
    "StereoSet intra, bert-base-cased": ("bert-base-cased", INTRA, "unmask", 26),
    "StereoSet intra, SmolLM2, likelihood": ("smollm2", INTRA, "likelihood", 26),
    "CrowS-Pairs, bert-base-cased": ("bert-base-cased", CROWS, "crows", 200),
}
PREDICTIONS = (
    "predictions/bert-base-cased_BertLM_BertNextSentence_en.json.gz "
    "--data stereoset/intrasentence_en.jsonl.gz --data stereoset/intersentence_en.jsonl.gz --mode paper --language en"
)
COMMANDS = {  # in 0.1.0, and now
    "measure published scores of 4,229 items": (f"measure --predictions {PREDICTIONS}", f"measure {PREDICTIONS}"),
    "start-up: isogloss list": ("list", "list"),
}


def time_scoring(checkout: Path, data: Path, *, name: str) -> tuple[float, int]:
    """Processor seconds to score the items of a workload once the model is open and has answered once, and how many they are."""
    model, path, method, step = SCORED[name]
    arguments = [str(pulled_folder(model)), str(data / path), method, str(step)]
    seconds, items = _run(checkout, ["-c", SCORE, *arguments], data).split()[-2:]
    return float(seconds), int(items)


def time_command(checkout: Path, data: Path, *, name: str) -> tuple[float, int]:
    """Processor seconds of a whole command."""
    started = _used()
    command = COMMANDS[name][checkout == HERE.parent]
    _run(checkout, ["-m", "isogloss", *command.split()], data)
    return _used() - started, 0


def _used() -> float:
    """The processor seconds of all processes that were run so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(checkout: Path, arguments: list[str], data: Path) -> str:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *arguments], env=environment, cwd=data, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{checkout.name}: {done.stderr.strip()}")
    return done.stdout


def compare_versions(old: Path, data: Path, *, only: str) -> list[dict[str, Any]]:
    """The best time of each version for every workload whose name holds `only`; the versions take turns."""
    rows = []
    for name in (name for name in (*SCORED, *COMMANDS) if only in name):
        measure = time_scoring if name in SCORED else time_command
        times: dict[str, list[float]] = {"before": [], "now": []}
        for _ in range(ROUNDS):
            for version, checkout in (("before", old), ("now", HERE.parent)):
                seconds, items = measure(checkout, data, name=name)
                times[version].append(seconds)
        best = {version: round(min(values), 3) for version, values in times.items()}
        rows.append({"workload": name, "items": items, "seconds": best})
        print(json.dumps(rows[-1]), flush=True)
    return rows


def main() -> None:
    """Measure both versions, print, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path, help="A checkout of version 0.1.0.")
    parser.add_argument("--only", default="", help="Measure only the workloads whose name holds this.")
    arguments = parser.parse_args()
    data = Path(os.environ["ISOGLOSS_REAL_DATA"]).resolve()
    rows = {row["workload"]: row for row in compare_versions(arguments.checkout.resolve(), data, only=arguments.only)}
    path = HERE / "results.json"
    results = json.loads(path.read_text(encoding="utf-8"))
    rows = {row["workload"]: row for row in results.get("versions", {}).get("rows", [])} | rows
    kept = [rows[name] for name in (*SCORED, *COMMANDS) if name in rows]
    results["versions"] = {"before": "0.1.0", "rows": kept, "machine": machine()}
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    write_page(results)


if __name__ == "__main__":
    main()
