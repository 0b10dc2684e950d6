"""`make bench`: measure every workload, write benchmarks/results.json and the table in docs/dev/performance.md."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

import isogloss as ig
from benchmarks import measure, models, pairs, scale
from benchmarks.floor import count, find_floor, items_at_floor
from benchmarks.workloads import WORKLOADS, Workload, choose, read_items
from isogloss.items import Item, Items
from isogloss.models.model import Model

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "dev" / "performance.md"
TRAINED = [workload.name for workload in WORKLOADS if workload.trained]
PLAIN_SHARE = {1: 0.25, 32: 0.5}


def bench(workload: Workload, everything: Items, text: list[str]) -> dict[str, Any]:
    """One row: items per second of ours and of the plain ways, ratios, memory, and how near the floor we are."""
    models.seeded()
    model = workload.make(text)
    items = choose(everything, workload.task, workload.items)
    few = {batch: Items(items.rows[: max(8, int(len(items) * share))]) for batch, share in PLAIN_SHARE.items()}
    works: dict[str, Callable[[], object]] = {"ours": lambda: ig.score(items, model=model, method=workload.method)}
    works |= {f"plain {batch}": lambda b=batch: workload.plain(model, few[b], b) for batch in few}  # type: ignore[misc]
    floor = find_floor(model)
    gap = difference(workload, model, few[1])
    seconds = measure.interleaved(works | {"body": floor.body, "head": floor.head})
    rates = {"ours": len(items) / seconds["ours"]} | {f"plain {b}": len(few[b]) / seconds[f"plain {b}"] for b in few}
    memory = {name: round(measure.memory_added(work)) for name, work in works.items()}
    counts = count(model, items, workload.method)
    best = items_at_floor(counts, seconds, floor=floor)
    return {
        "workload": workload.name,
        "items_per_second": {name: round(rate, 2) for name, rate in (rates | {"floor": best}).items()},
        "ratio": {str(batch): round(rates["ours"] / rates[f"plain {batch}"], 2) for batch in few},
        "ratio_at_floor": {str(batch): round(best / rates[f"plain {batch}"], 2) for batch in few},
        "target": {str(batch): wanted for batch, wanted in zip(few, workload.targets, strict=True)},
        "largest_difference": gap,
        "per_item": counts,
        "memory_added_mb": memory,
        "tokens_per_second": round(counts["tokens"] * rates["ours"]),
        "floor_tokens_per_second": round(floor.tokens / seconds["body"]),
        "floor_positions_per_second": round(floor.positions / seconds["head"]),
        "machine": machine(),
    }


def difference(workload: Workload, model: Model, items: Items) -> float | None:
    """The largest difference between our log scores and the plain ones.

    The plain way fills the first pieces of a longer word in as text and cuts that anew, sometimes elsewhere, which asks another
    question; so where words are asked, only items whose words are all of one piece are compared, if there are some. Where its probabilities
    are too small for float32, as many of an mT5 with random weights are, nothing can be compared.
    """
    same = [
        item for item in items if workload.task != "intrasentence" or workload.method != "unmask" or _whole(model, item)
    ]
    if not same:
        return None
    ours = ig.score(Items(tuple(same)), model=model, method=workload.method).table["value"].to_numpy()
    plain = np.array(workload.plain(model, same, 1))
    there = (
        plain > np.finfo(np.float32).tiny
    )  # the plain way takes logarithms of float32 probabilities, some of which are 0
    gaps = np.abs(np.log(ours[there]) - np.log(plain[there]))
    return float(gaps.max()) if len(gaps) else None


def _whole(model: Model, item: Item) -> bool:
    cut = [model.tokenizer.encode(candidate.word or "", add_special_tokens=False) for candidate in item.candidates]
    return all(len(pieces) == 1 for pieces in cut)


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


def tables(results: dict[str, Any]) -> str:
    """A Markdown table of the workloads for each machine that they were measured on."""
    machines: dict[str, list[dict[str, Any]]] = {}
    for row in results["workloads"]:
        machines.setdefault(describe(row.get("machine", results["machine"])), []).append(row)
    return "\n\n".join(f"Measured on {name}.\n\n{table(rows)}" for name, rows in machines.items())


def describe(where: dict[str, Any]) -> str:
    """A machine in one phrase."""
    return f"{where['processor']}, {where['cores']} cores, torch {where['torch']}; text: {where['text']}"


def table(rows: list[dict[str, Any]]) -> str:
    """The results as a Markdown table."""
    lines = [
        "| workload | ours (items/s) | plain, batch 1 | plain, batch 32 | ratio 1 / 32 | at the floor | target | share of floor | memory added |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        rate, ratio, target = row["items_per_second"], row["ratio"], row["target"]
        best, share = row["ratio_at_floor"], rate["ours"] / rate["floor"]
        lines.append(
            f"| {row['workload']} | {rate['ours']} | {rate['plain 1']} | {rate['plain 32']} | {ratio['1']} / {ratio['32']} "
            f"| {best['1']} / {best['32']} | {target['1']} / {target['32']} | {share:.0%} | {row['memory_added_mb']['ours']} MB |"
        )
    return "\n".join(lines)


def trained_table(rows: list[dict[str, Any]]) -> str:
    """Where the time of the trained models goes, per item, as a Markdown table."""
    lines = [
        "| trained model | questions | tokens read | ms per item | body at the floor | output matrix at the floor | remaining |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in (row for row in rows if row["workload"] in TRAINED):
        counts, total = row["per_item"], 1000 / row["items_per_second"]["ours"]
        body = 1000 * counts["tokens"] / row["floor_tokens_per_second"]
        head = 1000 * counts["positions"] / row["floor_positions_per_second"]
        times = [f"{ms:.1f} ({ms / total:.0%})" for ms in (body, head, total - body - head)]
        lines.append(
            f"| {row['workload']} | {counts['questions']:.1f} | {counts['tokens']:.1f} | {total:.1f} | {' | '.join(times)} |"
        )
    return "\n".join(lines) + "\n\n" if len(lines) > 2 else ""


def growth_table(found: dict[str, Any] | None) -> str:
    """How time and memory grow, as a Markdown table."""
    if not found:
        return ""
    lines = ["| StereoSet intra, BERT-base, growing | ms per item | memory added |", "|---|---|---|"]
    rows = [(f"{row['items']:,} items", row) for row in found["items"].values()]
    rows += [(f"vocabulary of {int(size):,}", row) for size, row in found["vocabulary"].items()]
    lines += [f"| {name} | {row['seconds_per_item'] * 1000:.1f} | {row['memory_mb']} MB |" for name, row in rows]
    return "\n".join(lines) + "\n\n"


def server_table(row: dict[str, Any] | None) -> str:
    """The row against a server, as a Markdown table; without one, what is missing."""
    if not row:
        return "Against a vLLM server: not measured on this machine, which ran none.\n\n"
    rate, cpu = row["items_per_second"], row.get("cpu_ms_per_item", {"ours": "-", "server": "-"})
    heading = "| against a vLLM server on the same cores | ours | server | ratio | largest difference | load |"
    share = f"{cpu['server'] / cpu['ours']:.2f}" if "cpu_ms_per_item" in row else "-"
    lines = [
        f"| {row['workload']}, items/s | {rate['ours']} | {rate['server']} | {row['ratio']} | {row['largest_difference']:.0e} | {row['load']} |",
        f"| the same, CPU ms per item | {cpu['ours']} | {cpu['server']} | {share} | | |",
    ]
    table = "\n".join((heading, "|---|---|---|---|---|---|", *lines))
    return f"\nMeasured on {describe(row['machine'])}.\n\n{table}\n\n"


def version_table(versions: dict[str, Any] | None) -> str:
    """An older version beside today's, as a Markdown table."""
    if not versions:
        return ""
    lines = [
        f"| the same items and model, CPU seconds on one thread | {versions['before']} | now | ratio |",
        "|---|---|---|---|",
    ]
    for row in versions["rows"]:
        before, now = (row["seconds"][version] for version in ("before", "now"))
        counted = f" ({row['items']} items)" if row["items"] else ""
        lines.append(f"| {row['workload']}{counted} | {before:.2f} | {now:.2f} | {before / now:.2f} |")
    return f"\nMeasured on {describe(versions['machine'])}.\n\n" + "\n".join(lines) + "\n\n"


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="Measure only the workloads whose name holds this, or growth, or scale.")
    parser.add_argument("--no-growth", action="store_true", help="Leave out the growth with items and vocabulary.")
    parser.add_argument("--no-write", action="store_true", help="Print only.")
    arguments = parser.parse_args()
    everything = read_items()
    text = [c.text for item in everything for c in item.candidates] + [item.context or "" for item in everything]
    grown = not arguments.no_growth and (not arguments.only or arguments.only in "growth")
    results: dict[str, Any] = {"machine": machine()}
    if grown:  # first, in a process that has not used memory for anything else
        results["growth"] = growth(everything, text)
    if grown or arguments.only == "scale":
        results["scale"] = scale.bench_all()
        print(scale.table(results["scale"]))
    rows = []
    for workload in WORKLOADS:
        if arguments.only and arguments.only not in workload.name:
            continue
        if not workload.is_here():
            print(f"{workload.name}: left out; it needs ISOGLOSS_REAL_DATA and: isogloss model pull {workload.trained}")
            continue
        rows.append(bench(workload, everything if workload.language == "en" else read_items(workload.language), text))
        print(json.dumps(rows[-1]), flush=True)
    print(table(rows))
    more = pairs.bench_all(arguments.only)
    print(pairs.table(more))
    results |= {"workloads": rows, "pairs": more}
    if not arguments.no_write:
        kept = merge(results) if arguments.only else results
        (HERE / "results.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        write_page(kept)


def merge(results: dict[str, Any]) -> dict[str, Any]:
    """What was measured before, with the rows that were measured now; a row's numbers always come from one run."""
    path = HERE / "results.json"
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    fresh = [*results["workloads"], *results["pairs"]["rows"]]
    names = {row["workload"] for row in fresh}
    pairs_before = before.get("pairs", {"rows": [], "mbe": None})
    whole = {"machine": before["machine"]} if "machine" in before and "growth" not in results else {}
    return before | {
        **results,
        **whole,
        "workloads": _by_name([*_without(before.get("workloads", []), names), *results["workloads"]], WORKLOADS),
        "pairs": {
            "rows": _by_name([*_without(pairs_before["rows"], names), *results["pairs"]["rows"]], pairs.ROWS),
            "mbe": results["pairs"]["mbe"] or pairs_before["mbe"],
        },
    }


def _without(rows: list[dict[str, Any]], names: set[str]) -> list[dict[str, Any]]:
    return [row for row in rows if row["workload"] not in names]


def _by_name(rows: list[dict[str, Any]], order: Sequence[Any]) -> list[dict[str, Any]]:
    names = [one.name for one in order]
    return sorted(rows, key=lambda row: names.index(row["workload"]))


def write_page(results: dict[str, Any]) -> None:
    """Put the table into the documentation, between its markers."""
    block = f"<!-- bench -->\n\n{tables(results)}\n\n{trained_table(results['workloads'])}Measured on {describe(results['machine'])}.\n\n{pairs.table(results['pairs'])}\n\n{growth_table(results.get('growth'))}{scale.table(results.get('scale', []))}{server_table(results.get('server'))}{version_table(results.get('versions'))}<!-- end bench -->"
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(
        re.sub(r"<!-- bench -->.*?<!-- end bench -->", lambda match: block, page, flags=re.DOTALL), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
