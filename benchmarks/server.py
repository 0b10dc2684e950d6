"""`python -m benchmarks.server ADDRESS`: our engine beside a server with log-probabilities (vLLM) on the same cores.

The server must serve the pulled model smollm2; docs/dev/performance.md has the commands. The same sentences, as the same token
ids, are scored by both in turn; the best of a few rounds of each counts. With `--pid`, the processor seconds of the server and
of our engine are compared too: other work on the machine hardly changes them.
"""

from __future__ import annotations

import argparse
import json
import os
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import isogloss as ig
from benchmarks import measure
from benchmarks.run import HERE, machine, write_page
from benchmarks.workloads import choose, read_items
from isogloss.items import Items
from isogloss.models.load import open_model
from isogloss.models.model import Model

NAME = "smollm2"
ROUNDS = 2


def ask_server(address: str, model: Model, items: Items) -> list[float]:
    """The geometric mean of the tokens' probabilities of every candidate, from one request with all of them."""
    tokenizer = model.tokenizer
    texts = [candidate.text for item in items for candidate in item.candidates]
    prompts = [[tokenizer.bos_token_id, *tokenizer.encode(text, add_special_tokens=False)] for text in texts]
    body = {
        "model": _served(address),
        "prompt": prompts,
        "max_tokens": 1,
        "echo": True,
        "logprobs": 0,
        "temperature": 0,
    }
    answer = _post(f"{address}/v1/completions", body)
    choices = sorted(answer["choices"], key=lambda choice: choice["index"])
    logs = [choice["logprobs"]["token_logprobs"] for choice in choices]
    return [float(np.exp(np.mean(one[1 : len(ids)]))) for one, ids in zip(logs, prompts, strict=True)]


def used_seconds(pid: int) -> float:
    """The processor seconds of a process and of its descendants so far."""
    parents, seconds = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # a process that has ended meanwhile
            fields = path.read_text().rpartition(")")[2].split()
            parents[int(path.parent.name)] = int(fields[1])
            seconds[int(path.parent.name)] = sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
    family = {pid}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(seconds.get(member, 0.0) for member in family)


def compare_processors(works: Mapping[str, measure.Work], pids: Mapping[str, int]) -> dict[str, float]:
    """The least processor seconds of each piece of work, in the process that does it."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for name, work in works.items():
            started = used_seconds(pids[name])
            work()
            best[name] = min(best[name], used_seconds(pids[name]) - started)
    return best


def _served(address: str) -> str:
    with urllib.request.urlopen(f"{address}/v1/models") as response:
        return str(json.load(response)["data"][0]["id"])


def _post(address: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return dict(json.load(response))


def main() -> None:
    """Measure both, print, and write the row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address", help="The server, as in http://127.0.0.1:8765")
    parser.add_argument("--pid", type=int, help="The server's process, to compare processor seconds too.")
    parser.add_argument("--items", type=int, default=100, help="How many items are scored.")
    arguments = parser.parse_args()
    address = arguments.address.rstrip("/")
    model, items = open_model(NAME), choose(read_items(), "intrasentence", arguments.items)
    ours = ig.score(items, model=model, method="likelihood").table["value"].to_numpy()
    gap = float(np.abs(np.log(ours) - np.log(ask_server(address, model, items))).max())
    works: dict[str, measure.Work] = {
        "ours": lambda: ig.score(items, model=model, method="likelihood"),
        "server": lambda: ask_server(address, model, items),
    }
    seconds = measure.interleaved(works, ROUNDS)
    rates = {name: round(len(items) / value, 2) for name, value in seconds.items()}
    row = {"workload": f"StereoSet intra, {NAME}, likelihood", "items_per_second": rates, "largest_difference": gap}
    row |= {"items": len(items), "ratio": round(rates["ours"] / rates["server"], 2)}
    row |= {"load": round(os.getloadavg()[0], 1), "machine": machine()}
    if arguments.pid:
        used = compare_processors(works, {"ours": os.getpid(), "server": arguments.pid})
        row["cpu_ms_per_item"] = {name: round(1000 * value / len(items), 1) for name, value in used.items()}
    print(json.dumps(row))
    path = HERE / "results.json"
    results = json.loads(path.read_text(encoding="utf-8")) | {"server": row}
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    write_page(results)


if __name__ == "__main__":
    main()
