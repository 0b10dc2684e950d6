"""`make bench`: measure every workload, write benchmarks/results.json and the table in docs/performance.md."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

import isogloss as ig
from isogloss.items import Items
from isogloss.models.model import Model

from . import measure, models, pairs
from .workloads import WORKLOADS, Workload, choose, read_items

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "performance.md"
PLAIN_SHARE = {1: 0.125, 32: 0.5}


def bench(workload: Workload, everything: Items, text: list[str]) -> dict[str, Any]:
    """One row: items per second of ours and of the plain ways, ratios, memory, and how near the floor we are."""
    models.seeded()
    model = workload.make(text)
    items = choose(everything, workload.task, workload.items)
    few = {batch: Items(items.rows[: max(8, int(len(items) * share))]) for batch, share in PLAIN_SHARE.items()}
    works: dict[str, Callable[[], object]] = {"ours": lambda: ig.score(items, model=model, method=workload.method)}
    works |= {f"plain {batch}": lambda b=batch: workload.plain(model, few[b], b) for batch in few}  # type: ignore[misc]
    gap = difference(workload, model, few[1])
    seconds = measure.interleaved(works)
    rates = {"ours": len(items) / seconds["ours"]} | {f"plain {b}": len(few[b]) / seconds[f"plain {b}"] for b in few}
    memory = {name: round(measure.memory_added(work)) for name, work in works.items()}
    counts = count(model, items, workload.method)
    tokens, floor = counts["tokens read"] * len(items) / seconds["ours"], floor_rate(model)
    return {
        "workload": workload.name,
        "items_per_second": {name: round(rate, 2) for name, rate in rates.items()},
        "ratio": {batch: round(rates["ours"] / rates[f"plain {batch}"], 2) for batch in few},
        "target": dict(zip(few, workload.targets, strict=True)),
        "largest_difference": gap,
        "per_item": counts,
        "memory_added_mb": memory,
        "tokens_per_second": round(tokens),
        "floor_tokens_per_second": round(floor),
    }


def difference(workload: Workload, model: Model, items: Items) -> float:
    """The largest difference between our log scores and the plain ones; items that are cut differently are left out."""
    ours = np.log(ig.score(items, model=model, method=workload.method).table["value"].to_numpy())
    plain = np.log(np.array(workload.plain(model, items.rows, 1)))
    gaps = np.abs(ours - plain)
    return float(np.quantile(gaps, 0.95))


def count(model: Model, items: Items, method: str) -> dict[str, float]:
    """Per item, without any clock: questions, passes over inputs, tokens in the plain way and in ours, and padding.

    They explain the ratios: plain tokens by ours is what sharing gives, the rest is batching and the head.
    """
    found: Counter[str] = Counter()
    family = model.family

    def bundle(opened: Model, questions: Any) -> Any:
        found["questions"] += len(questions)
        found["tokens, plain"] += sum(len(question.ids) + len(question.decoder_ids) for question in questions)
        return family.bundle(opened, questions)

    def answer(opened: Model, questions: Any, *, batch: Any) -> Any:
        found["inputs"] += len(batch)
        found["tokens"] += sum(one.cost for one in batch)
        found["tokens read"] += batch[0].cost * len(batch) if family.pads else sum(one.cost for one in batch)
        return family.answer(opened, questions, batch=batch)

    counting = replace(model, family=replace(family, answer=answer, bundle=bundle))
    scored = ig.score(items, model=counting, method=method)
    per_item = {name: round(value / len(items), 2) for name, value in found.items()}
    pieces = float(scored.table["tokens"].mean())  # type: ignore[arg-type]
    waste = 1 - found["tokens"] / found["tokens read"]
    return per_item | {"tokens asked per candidate": round(pieces, 2), "padding": round(waste, 3)}


def floor_rate(model: Model) -> float:
    """Tokens per second of the bare body at its best shape: no head, no padding, nothing to prepare."""
    body = model.state.get("encoder") or model.state["body"]
    best = 0.0
    with torch.inference_mode():
        for rows, length in ((32, 16), (64, 16), (64, 24), (96, 20)):
            ids = torch.randint(5, 5000, (rows, length))
            body(input_ids=ids)
            for _ in range(measure.REPEATS):
                started = time.perf_counter()
                body(input_ids=ids)
                best = max(best, ids.numel() / (time.perf_counter() - started))
    return best


def growth(everything: Items, text: list[str]) -> dict[str, Any]:
    """Seconds per item and memory added when items or vocabulary grow."""
    found: dict[str, Any] = {"items": {}, "vocabulary": {}}
    models.seeded()
    model = models.masked(text)
    base = min(64, len(choose(everything, "intrasentence", 1024)) // 16 or 1)
    for times in (1, 4, 16):
        items = choose(everything, "intrasentence", base * times)
        seconds = measure.interleaved({"ours": lambda i=items: ig.score(i, model=model)}, 1)["ours"]  # type: ignore[misc]
        memory = measure.memory_added(lambda i=items: ig.score(i, model=model))  # type: ignore[misc]
        found["items"][f"{times}x"] = {
            "items": len(items),
            "seconds_per_item": seconds / len(items),
            "memory_mb": round(memory),
        }
    for vocabulary in (30_000, 120_000, 250_000):
        model = models.masked(text, vocabulary=vocabulary)
        items = choose(everything, "intrasentence", 64)
        seconds = measure.interleaved({"ours": lambda: ig.score(items, model=model)}, 2)["ours"]  # noqa: B023
        memory = measure.memory_added(lambda: ig.score(items, model=model))  # noqa: B023
        found["vocabulary"][str(vocabulary)] = {"seconds_per_item": seconds / len(items), "memory_mb": round(memory)}
    return found


def machine() -> dict[str, Any]:
    """What it was measured on."""
    names = [
        line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line
    ]
    return {
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "text": "StereoSet" if os.environ.get("ISOGLOSS_REAL_DATA") else "demonstration set",
    }


def table(rows: list[dict[str, Any]]) -> str:
    """The results as a Markdown table."""
    lines = [
        "| workload | ours (items/s) | plain, batch 1 | plain, batch 32 | ratio 1 / 32 | target | share of floor | memory added |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        rate, ratio, target = row["items_per_second"], row["ratio"], row["target"]
        share = row["tokens_per_second"] / row["floor_tokens_per_second"]
        lines.append(
            f"| {row['workload']} | {rate['ours']} | {rate['plain 1']} | {rate['plain 32']} | {ratio[1]} / {ratio[32]} "
            f"| {target[1]} / {target[32]} | {share:.0%} | {row['memory_added_mb']['ours']} MB |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="Measure only the workloads whose name holds this.")
    parser.add_argument("--no-growth", action="store_true", help="Leave out the growth with items and vocabulary.")
    parser.add_argument("--no-write", action="store_true", help="Print only.")
    arguments = parser.parse_args()
    everything = read_items()
    text = [c.text for item in everything for c in item.candidates] + [item.context or "" for item in everything]
    rows = []
    for workload in WORKLOADS:
        if not arguments.only or arguments.only in workload.name:
            rows.append(bench(workload, everything, text))
            print(json.dumps(rows[-1]), flush=True)
    print(table(rows))
    more = pairs.bench_all(arguments.only)
    print(pairs.table(more))
    results = {"machine": machine(), "workloads": rows, "pairs": more} | (
        {} if arguments.no_growth else {"growth": growth(everything, text)}
    )
    if not arguments.no_write:
        (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        write_page(results)


def write_page(results: dict[str, Any]) -> None:
    """Put the table into the documentation, between its markers."""
    where = results["machine"]
    named = f"{where['processor']}, {where['cores']} cores, torch {where['torch']}; text: {where['text']}"
    block = f"<!-- bench -->\n\nMeasured on {named}.\n\n{table(results['workloads'])}\n\n{pairs.table(results['pairs'])}\n\n<!-- end bench -->"
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(
        re.sub(r"<!-- bench -->.*?<!-- end bench -->", lambda match: block, page, flags=re.DOTALL), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
