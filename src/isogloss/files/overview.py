"""What a data set holds: counts by its columns, duplicate contexts, characters."""

from collections import Counter
from typing import Any

from ..items import Items, problem_counts

COLUMNS = ("language", "task", "category", "target", "statement", "original", "region")


def describe_items(items: Items) -> dict[str, Any]:
    """Counts by language, task, bias type, target, statement and region; duplicate contexts; lengths; what looked odd."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in COLUMNS}
    contexts: Counter[tuple[str, str]] = Counter()
    lengths: list[int] = []
    letters: set[str] = set()
    for item in items:
        columns = {"language": item.language, "category": item.category, **item.tags}
        columns.pop("term_words", None)
        for name in COLUMNS:
            value = columns.get(name)
            counts[name].update([value] if isinstance(value, str) else value or [])
        contexts[(item.language, item.context or "")] += bool(item.context)
        lengths += [len(candidate.text) for candidate in item.candidates]
        letters.update(*(candidate.text for candidate in item.candidates))
    return {
        "items": len(items),
        "candidates": len(lengths),
        "counts": {name: dict(counter.most_common()) for name, counter in counts.items() if counter},
        "duplicate_contexts": sum(count - 1 for count in contexts.values() if count > 1),
        "characters": {
            "distinct": len(letters),
            "shortest": min(lengths, default=0),
            "mean": sum(lengths) / max(len(lengths), 1),
            "longest": max(lengths, default=0),
        },
        "problems": {name: count for name, count in problem_counts(items.problems).items() if name != "read_as"},
        "read_as": [problem.message for problem in items.problems if problem.check == "read_as"],
    }


def overview_as_text(overview: dict[str, Any]) -> str:
    """The overview for a terminal."""
    lines = [f"{overview['items']} items, {overview['candidates']} candidates"]
    for name, counts in overview["counts"].items():
        listed = ", ".join(f"{value} {count}" for value, count in list(counts.items())[:12])
        more = f", … ({len(counts)} in all)" if len(counts) > 12 else ""
        lines.append(f"{name}: {listed}{more}")
    sizes = overview["characters"]
    lines.append(f"duplicate contexts: {overview['duplicate_contexts']}")
    lines.append(
        f"characters: {sizes['distinct']} distinct; candidates have {sizes['shortest']} to {sizes['longest']}, {sizes['mean']:.1f} on average"
    )
    lines += [f"{name}: {count}" for name, count in overview["problems"].items()]
    return "\n".join(lines)
