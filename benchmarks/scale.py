"""How reading, measuring, comparing, checking and reporting grow with rows, clusters and runs; each step in a fresh process."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

ROLES = ("stereotype", "anti-stereotype", "unrelated")
WORDS = ("kind", "lazy", "green", "clever", "poor", "wooden", "brave", "noisy", "square", "gentle")
PART = 100_000  # items in a part of a run
CLUSTERS = 5_000
SIZES = {
    "read": (10_000, 100_000, 1_000_000),
    "check": (10_000, 200_000),
    "measure": (10_000, 100_000, 1_000_000),
    "compare": (10_000, 100_000),
    "measure own": (100_000,),
    "compare own": (100_000,),
    "report": (30, 100, 300),
}


def write_triples(path: Path, rows: int) -> None:
    """A file of StereoSet's layout with so many items."""
    rng = np.random.default_rng(0)
    picks = rng.integers(len(WORDS), size=(rows, 3))
    with path.open("w", encoding="utf-8") as file:
        for i in range(rows):
            context = f"The people of village {i} are known to be BLANK."
            cells = [
                {
                    "id": f"{i:08d}-{place}",
                    "gold_label": role,
                    "sentence": context.replace("BLANK", WORDS[picks[i, place]]),
                    "word": WORDS[picks[i, place]],
                }
                for place, role in enumerate(ROLES)
            ]
            row = {
                "id": f"item-{i:08d}",
                "task": "intrasentence",
                "language": "en",
                "target": f"target {i % CLUSTERS}",
                "bias_type": ("race", "gender", "profession", "religion")[i % 4],
                "context": context,
                "candidates": cells,
            }
            file.write(json.dumps(row) + "\n")


def write_pairs(path: Path, rows: int) -> None:
    """A table of pairs."""
    with path.open("w", encoding="utf-8") as file:
        file.write("id,language,category,stereotype,anti_stereotype\n")
        for i in range(rows):
            first, second = WORDS[i % 10], WORDS[(i // 10) % 10]
            file.write(
                f"p{i},en,race,The people of village {i} are {first} to all.,The people of village {i} are {second} to all.\n"
            )


def item_rows(start: int, stop: int, clusters: int) -> pl.DataFrame:
    """The table of items of a run, one row per candidate, as `isogloss eval` writes it."""
    from isogloss.scores import ITEM_SCHEMA

    number = np.repeat(np.arange(start, stop), len(ROLES))
    place = np.tile(np.arange(len(ROLES)), stop - start)
    frame = pl.DataFrame({"number": number, "place": place})
    context = pl.format("The people of village {} are known to be BLANK.", "number")
    word = pl.lit(pl.Series(WORDS)).gather((pl.col("number") + pl.col("place")) % len(WORDS))
    return frame.select(
        dataset=pl.lit("stereoset"),
        id=pl.format("item-{}", pl.col("number").cast(pl.String).str.zfill(8)),
        language=pl.lit("en"),
        category=pl.lit("race"),
        cluster=pl.format("target {}", pl.col("number") % clusters),
        derived_from=pl.lit(None, dtype=pl.String),
        variant=pl.lit(None, dtype=pl.String),
        problems=pl.lit([], dtype=pl.List(pl.String)),
        context=context,
        candidate=pl.format("{}-{}", pl.col("number").cast(pl.String).str.zfill(8), "place"),
        role=pl.lit(pl.Series(ROLES)).gather("place"),
        text=context.str.replace("BLANK", word, literal=True),
        word=word,
        task=pl.lit("intrasentence"),
        target=pl.format("target {}", pl.col("number") % clusters),
    ).select(*ITEM_SCHEMA, "task", "target")


def score_rows(items: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Scores for a table of items, with a preference that differs from cluster to cluster."""
    from isogloss.scores import ROW_SCHEMA

    rng = np.random.default_rng(seed)
    lift = items["role"].replace_strict(dict(zip(ROLES, (0.2, 0.0, -1.5), strict=True)), return_dtype=pl.Float64)
    value = -20 + lift.to_numpy() + rng.normal(size=items.height)
    return items.select(
        "dataset",
        "id",
        "language",
        "candidate",
        against=pl.lit(None, dtype=pl.String),
        quantity=pl.lit("score"),
        value=pl.lit(pl.Series(value)),
        tokens=pl.lit(12, dtype=pl.Int64),
        unknown=pl.lit(0, dtype=pl.Int64),
        truncated=pl.lit(False),
        pieces=pl.lit([], dtype=pl.List(pl.String)),
        logprobs=pl.lit([], dtype=pl.List(pl.Float64)),
        vector=pl.lit([], dtype=pl.List(pl.Float32)),
        why=pl.lit(None, dtype=pl.String),
    ).select(list(ROW_SCHEMA))


def write_run(root: Path, model: str, *, items: int, clusters: int, seed: int, language: str = "en") -> None:
    """A finished run."""
    from isogloss.runs import finish_run, open_run, write_part

    table = item_rows(0, items, clusters).with_columns(language=pl.lit(language))
    parts = -(-items // PART)
    info = {
        "model": model,
        "dataset": "stereoset",
        "language": language,
        "method": "likelihood",
        "parts": parts,
        "fingerprint": {"model": model, "language": language, "items": items, "clusters": clusters},
    }
    run = open_run(root, info=info, items=table)
    for number in range(parts):
        rows = table.slice(3 * PART * number, 3 * PART)
        write_part(run, number, rows=score_rows(rows, seed * 1000 + number))
    finish_run(run)


def read(folder: Path, size: int) -> None:
    """Read a file of triples."""
    import isogloss as ig

    assert len(ig.read(folder / f"triples-{size}_en.jsonl")) == size


def check(folder: Path, size: int) -> None:
    """Check a table of pairs."""
    import isogloss as ig
    from isogloss.checks import check_items, checks_as_text

    checks_as_text(check_items(ig.read(folder / f"pairs-{size}.csv", skip_bad=True)))


def measure(folder: Path, size: int, *, kind: str = "few") -> None:
    """Measure LMS, SS and ICAT of a run."""
    import isogloss as ig
    from isogloss.runs import find_runs, read_scored

    scored = read_scored(find_runs(folder / f"runs-{kind}-{size}" / "one"))
    ig.measure(scored, metrics=["lms", "ss", "icat"])


def compare(folder: Path, size: int, *, kind: str = "few") -> None:
    """Compare two runs."""
    import isogloss as ig
    from isogloss.runs import find_runs, read_scored

    one, two = (read_scored(find_runs(folder / f"runs-{kind}-{size}" / name)) for name in ("one", "two"))
    ig.compare(one, two)


def report(folder: Path, size: int) -> None:
    """A report of so many runs of 320 items."""
    import isogloss as ig

    ig.report(folder / f"many-{size}", folder / f"report-{size}.html")


def prepare(folder: Path, step: str, size: int) -> None:
    """The files that a step needs."""
    if step == "read":
        write_triples(folder / f"triples-{size}_en.jsonl", size)
    elif step == "check":
        write_pairs(folder / f"pairs-{size}.csv", size)
    elif step == "report":
        tags = ("en", "de", "es", "fr", "tr", "pl", "it", "nl", "sv", "cs")
        for number in range(size):
            model, language = f"model-{number // len(tags):02d}", tags[number % len(tags)]
            write_run(folder / f"many-{size}", model, items=320, clusters=40, seed=number, language=language)
    else:
        kind = step.partition(" ")[2] or "few"
        clusters = size if kind == "own" else CLUSTERS
        for seed, name in enumerate(("one", "two")):
            write_run(folder / f"runs-{kind}-{size}" / name, name, items=size, clusters=clusters, seed=seed)


STEPS: dict[str, Callable[[Path, int], None]] = {
    "read": read,
    "check": check,
    "measure": measure,
    "compare": compare,
    "measure own": lambda folder, size: measure(folder, size, kind="own"),
    "compare own": lambda folder, size: compare(folder, size, kind="own"),
    "report": report,
}


def steps() -> Iterator[tuple[str, int]]:
    """Every step at every size; `own` means that every item is a cluster of its own."""
    for step in STEPS:
        yield from ((step, size) for size in SIZES[step])


def peak_memory() -> int:
    """The most memory that this process held, in bytes; `getrusage` would also count that of the process that started it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    lines = dict(line.split(":", 1) for line in status.read_text(encoding="utf-8").splitlines())
    return int(lines["VmHWM"].split()[0]) * 1024


def run_step(folder: Path, step: str, size: int) -> dict[str, Any]:
    """CPU seconds, wall seconds and peak memory of one step in a process of its own."""
    for mode in ("prepare", "run"):
        command = [sys.executable, "-m", "benchmarks.scale", "--folder", str(folder), f"--{mode}", step, str(size)]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(output.splitlines()[-1])  # type: ignore[no-any-return]


def table(rows: list[dict[str, Any]]) -> str:
    """The results as a Markdown table; nothing without results."""
    if not rows:
        return ""
    lines = ["| step | size | CPU seconds | peak memory |", "|---|---|---|---|"]
    lines += [f"| {row['step']} | {row['size']:,} | {row['cpu']:.1f} | {row['mb']:,} MB |" for row in rows]
    return "\n".join(lines) + "\n\n"


def bench_all() -> list[dict[str, Any]]:
    """Every step at every size."""
    with tempfile.TemporaryDirectory() as folder:
        return [run_step(Path(folder), step, size) for step, size in steps()]


def main() -> None:
    """Measure and print; `--prepare` and `--run` are for the processes of single steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--prepare", nargs=2, metavar=("STEP", "SIZE"))
    parser.add_argument("--run", nargs=2, metavar=("STEP", "SIZE"))
    arguments = parser.parse_args()
    if arguments.prepare:
        prepare(arguments.folder, arguments.prepare[0], int(arguments.prepare[1]))
    elif arguments.run:
        step, size = arguments.run[0], int(arguments.run[1])
        start = time.perf_counter()
        STEPS[step](arguments.folder, size)
        wall, usage = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
        cpu = usage.ru_utime + usage.ru_stime
        print(json.dumps({"step": step, "size": size, "cpu": cpu, "wall": wall, "mb": peak_memory() // 10**6}))
    else:
        print(table(bench_all()))


if __name__ == "__main__":
    main()
