"""Measure the published prediction files and write the numbers as the table that ships; pull both data sets first."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "src" / "isogloss" / "data" / "published_measures.csv"
COLUMNS = (
    "model",
    "language",
    "task",
    "category",
    "metric",
    "value",
    "low",
    "high",
    "n",
    "ties",
    "clusters",
    "interpretable",
    "fault",
)
METRICS = ("lms", "ss", "icat")
FAULTS = {  # the beginning of a file's name, a task, and what is known to be wrong
    ("flaubert_flaubert_base_cased_BertLM", "intrasentence"): "random weights: loaded with the wrong class",
    ("flaubert_flaubert_base_cased_BertLM", "intersentence"): "untrained next-sentence head",
    ("dbmdz_bert-base-french-europeana-cased_BertLM", "intersentence"): "untrained next-sentence head",
    ("dccuchile_bert-base-spanish-wwm-cased_BertLM", "intersentence"): "untrained next-sentence head",
    ("dbmdz_bert-base-german-cased_BertLM", "intersentence"): "untrained next-sentence head",
    (
        "bert-base-multilingual-cased_BertLM_BertNextSentence_de",
        "intrasentence",
    ): "not the file behind the printed table",
    ("miguelvictor_multilingual-gpt2-large_testtest", "intersentence"): "a trial, not used in the paper",
}


def fault_of(name: str, task: str) -> str:
    """What is known to be wrong with the scores of a file; over both tasks, what is wrong with either."""
    found = [text for (start, where), text in FAULTS.items() if name.startswith(start) and task in ("", where)]
    return "; ".join(dict.fromkeys(found))


def measure_file(path: Path, items: Any, resamples: int) -> Iterator[dict[str, Any]]:
    """The rows of one prediction file: by task, over both, and by bias type."""
    import isogloss as ig
    from isogloss.exchange.runs import read_scores

    name = path.name.removesuffix(".gz").removesuffix(".json")
    scored = read_scores(path, items)[0]
    tasks = ig.measure(scored, metrics=METRICS, resamples=resamples)
    for row in [*tasks, *ig.measure(scored, metrics=METRICS, by="category", resamples=resamples)]:
        if row.value is not None:
            task = row.group.get("task", "")
            ends = {key: round(end, 4) for key, end in (("low", row.low), ("high", row.high)) if end is not None}
            counts = {key: getattr(row, key) for key in ("n", "ties", "clusters")}
            group = {"model": name, "language": row.group["language"], "task": task}
            group |= {"category": row.group.get("category", ""), "metric": row.metric, "value": round(row.value, 4)}
            known = {True: "yes", False: "no", None: ""}[row.interpretable]
            rest = {"interpretable": known, "fault": fault_of(name, task)}
            yield {**dict.fromkeys(COLUMNS, ""), **group, **ends, **counts, **rest}


def main(resamples: int = 10_000) -> None:
    """Write the table."""
    import isogloss as ig
    from isogloss.files.catalogue import sources
    from isogloss.files.published import pull

    rows: list[dict[str, Any]] = []  # the table that ships is replaced when all is measured
    for language, paths in pull(sources()["stereoset_predictions"]).items():
        items = ig.read("stereoset", language=language)
        for path in sorted(paths):
            rows += measure_file(path, items, resamples)
            print(path.name, file=sys.stderr)
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
