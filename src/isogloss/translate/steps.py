"""Steps: how many items have a problem before and after each repair, by check and by target, as a table and as bars."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .. import registry
from ..annotation.item_changes import Change, fields_of
from ..checks import ALL, Check, find_problems, problem_rows, problems_by_target
from ..items import Item, Problem, group_by
from ..reports.figures import draw_plot
from ..reports.figures._style import DOUBLE, Canvas, check_ending, save_figure

BAR = 40
SHOWN = 12


@dataclass(frozen=True, slots=True)
class RepairStep:
    """The state after a step: items, items with a problem by task, and counts by check and by target.

    `changed` items were changed by the step; `history` is how many changes had been made in all.
    """

    name: str
    items: int
    changed: int
    tasks: Mapping[str, int] = field(default_factory=dict)
    checks: Mapping[str, int] = field(default_factory=dict)
    targets: Mapping[str, int] = field(default_factory=dict)
    history: int = 0

    @property
    def problems(self) -> int:
        return sum(self.tasks.values())


def checks_against(sources: Mapping[str, Item]) -> tuple[Check, ...]:
    """All checks, and with sources also the one that finds what was left untranslated."""
    return (*ALL, untranslated(sources)) if sources else ALL


def untranslated(sources: Mapping[str, Item]) -> Check:
    """A check for texts that are the same as in the source; a name or a cognate may rightly be."""

    def search(items: Sequence[Item]) -> Iterator[tuple[int, str]]:
        for index, item in enumerate(items):
            old = fields_of(sources[item.id]) if item.id in sources else {}
            for name, text in fields_of(item).items():
                if name != "target" and len(text) > 3 and text.casefold() == old.get(name, "").casefold():
                    yield index, f"'{text}' is the same as in the source"
                    break

    return Check("untranslated", "warning", "A text is the same as in the source.", search)


def untranslated_words(sources: Mapping[str, Item]) -> Check:
    """A check for single words of the source within a translated text; capitalized words, such as names, are not looked at."""

    def search(items: Sequence[Item]) -> Iterator[tuple[int, str]]:
        for index, item in enumerate(items):
            old = fields_of(sources[item.id]) if item.id in sources else {}
            kept = {
                word: None
                for name, text in fields_of(item).items()
                if name != "target" and text.casefold() != old.get(name, "").casefold()
                for word in _small_words(text)
                if word in _small_words(old.get(name, ""))
            }
            if kept:
                yield index, f"words of the source: {', '.join(kept)}"

    return Check("untranslated_words", "note", "A word is the same as in the source; some rightly are.", search)


def _small_words(text: str) -> list[str]:
    return [word for word in re.findall(r"[^\W\d_]{4,}", text) if word.islower()]


def take_step(
    name: str, items: Sequence[Item], *, sources: Mapping[str, Item], changes: Sequence[Change] = (), history: int = 0
) -> RepairStep:
    """The state of the items, counted, after these changes; `history` is how many had been made in all."""
    problems = find_problems(items, checks_against(sources))
    rows = problem_rows(items, problems)
    tasks: dict[str, int] = {}
    for item in items:
        task = str(item.tags.get("task", "items"))
        tasks[task] = tasks.get(task, 0) + ((item.id, item.language) in rows)
    checks = dict(Counter(problem.check for problem in problems).most_common())
    changed = len({change.item for change in changes})
    return RepairStep(name, len(items), changed, tasks, checks, problems_by_target(items, problems), history)


def steps_as_rows(steps: Sequence[RepairStep]) -> list[dict[str, Any]]:
    """Steps for JSON."""
    return [asdict(step) for step in steps]


def steps_as_text(steps: Sequence[RepairStep]) -> str:
    """The steps with their counts and a bar each, then the targets that had the most problems, before and after."""
    tasks = list(dict.fromkeys(task for step in steps for task in step.tasks))
    most = max((step.problems for step in steps), default=0)
    head = f"{'step':14} {'items':>6} {'changed':>8} " + " ".join(f"{task:>14}" for task in tasks)
    lines = [f"{head}  items with an error or a warning"]
    for step in steps:
        counts = " ".join(f"{step.tasks.get(task, 0):14}" for task in tasks)
        bar = "█" * round(BAR * step.problems / most) if most else ""
        lines.append(f"{step.name:14} {step.items:6} {step.changed:8} {counts}  {bar} {step.problems}".rstrip())
    if len(steps) > 1:
        first, last = steps[0], steps[-1]
        lines += ["", f"{'check':22} {'before':>6} {'after':>6}"]
        for name in dict.fromkeys([*first.checks, *last.checks]):
            lines.append(f"{name:22} {first.checks.get(name, 0):6} {last.checks.get(name, 0):6}")
        lines += ["", *_targets(first, last)]
    return "\n".join(lines)


def _targets(first: RepairStep, last: RepairStep) -> list[str]:
    most = max(first.targets.values(), default=0)
    lines = [f"{'target':22} {'before':>6} {'after':>6}"]
    for target in list(first.targets)[:SHOWN]:
        before, after = first.targets[target], last.targets.get(target, 0)
        kept = round(BAR * after / most)
        bar = "█" * kept + "░" * max(round(BAR * before / most) - kept, 0)
        lines.append(f"{target[:22]:22} {before:6} {after:6}  {bar}".rstrip())
    if len(first.targets) > SHOWN:
        lines.append(f"… {len(first.targets)} targets in all")
    return lines


def problems_of(items: Sequence[Item], sources: Mapping[str, Item]) -> dict[str, list[Problem]]:
    """What the checks find, by item."""
    return group_by(find_problems(items, checks_against(sources)), lambda problem: problem.item)


def draw_steps(steps: Sequence[RepairStep], path: Path) -> Path:
    """The picture's path: the figure `problems`, in two columns."""
    check_ending(path)
    plot = registry.get("figure", "problems")
    figure = draw_plot(plot, steps_as_rows(steps), canvas=Canvas(DOUBLE))
    path.parent.mkdir(parents=True, exist_ok=True)
    return save_figure(figure, path, title=plot.title)
