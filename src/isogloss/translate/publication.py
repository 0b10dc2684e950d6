"""Publishing: a folder in our layout with a data card, which Hugging Face's `datasets` reads as it is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .. import languages
from ..checks import check_items
from ..errors import IsoglossError
from ..files.layout import write_atomically, write_items, write_json_lines
from ..items import Items, items_hash
from .backtranslation import Back
from .project import Project
from .repairs import REPAIRS
from .steps import checks_against

WARNING = "Content warning: the data holds stereotypes, some of them offensive. It is for measuring, not for training."


@dataclass(frozen=True, slots=True)
class Label:
    """What the makers say of the data: its title, licence, source, and who is to be cited."""

    title: str
    licence: str
    source: str
    citation: str = ""


def publish(project: Project, folder: Path, *, label: Label, back: Back | None = None) -> Path:
    """The folder with data files, data card and the list of dropped items."""
    if not label.licence.strip() or not label.source.strip():
        raise IsoglossError("A published data set names its licence and its source. Use --licence and --source.")
    if folder.exists() and any(folder.iterdir()):
        raise IsoglossError(f"{folder} is not empty. Choose another folder with --out.")
    paths = write_items(folder, project.items)
    if project.dropped:
        rows = [{"item": drop.item, "step": drop.step, "reason": drop.reason} for drop in project.dropped]
        write_json_lines(folder / "history" / "dropped.jsonl", rows)
    write_atomically(folder / "README.md", card(project, paths, label=label, back=back))
    return folder


def card(project: Project, paths: Sequence[Path], *, label: Label, back: Back | None = None) -> str:
    """The data card: front matter for the hub, then counts, steps, problems left, agreement and what was dropped."""
    parts = [
        "---\n" + yaml.safe_dump(_front(project, paths, label=label), allow_unicode=True, sort_keys=False) + "---",
        f"# {label.title}",
        WARNING,
        _facts(project, label),
        "## What is in it\n\n" + _counts(project),
        "## How it was made\n\n" + _steps(project),
        "## Problems left\n\n" + _problems(project),
        "## Review\n\n" + _review(project),
        "## Left out\n\n" + _dropped(project),
    ]
    if back is not None:
        parts.append("## Translated back\n\n" + _back(back))
    return "\n\n".join(parts) + "\n"


def _front(project: Project, paths: Sequence[Path], *, label: Label) -> dict[str, Any]:
    """What the hub and `datasets` read; every task is a configuration with the same columns."""
    configs = [
        {"config_name": path.name.split("_")[0], "data_files": [{"split": "test", "path": path.name}]} for path in paths
    ]
    return {
        "pretty_name": label.title,
        "language": [str(project.info["to"])],
        "license": label.licence.casefold().replace(" ", "-"),
        "tags": ["bias", "stereotypes", "isogloss"],
        "size_categories": ["n<1K" if len(project.items) < 1000 else "1K<n<10K"],
        "configs": configs,
    }


def _facts(project: Project, label: Label) -> str:
    translator = project.info.get("translator") or "none: not translated by Isogloss"
    rows = [
        ["language", f"{languages.describe(str(project.info['to'])).name} (`{project.info['to']}`)"],
        ["source", label.source],
        ["licence", label.licence],
        ["citation", label.citation or "none given"],
        ["translator", translator],
        ["SHA-256 of the items", f"`{items_hash(project.items)}`"],
    ]
    return table(["", ""], rows)


def _counts(project: Project) -> str:
    tasks = Counter(str(item.tags.get("task", "items")) for item in project.items)
    kinds = Counter((str(item.category), str(item.tags.get("task", "items"))) for item in project.items)
    origin = Counter(str(item.tags.get("provenance")) for item in project.items)
    names = sorted({kind for kind, _ in kinds})
    rows = [[name, *(str(kinds[name, task]) for task in tasks)] for name in names]
    rows.append(["all", *(str(count) for count in tasks.values())])
    text = ", ".join(f"{name} {count}" for name, count in origin.most_common())
    targets = len({item.cluster for item in project.items})
    return table(["bias type", *tasks], rows) + f"\n\n{targets} targets. Items by origin: {text}."


def _steps(project: Project) -> str:
    explanations = {repair.name: repair.explanation for repair in REPAIRS}
    tasks = list(dict.fromkeys(task for step in project.steps for task in step.tasks))
    rows = [
        [
            f"`{step.name}`",
            explanations.get(step.name, ""),
            str(step.changed),
            *(str(step.tasks.get(task, 0)) for task in tasks),
        ]
        for step in project.steps
    ]
    return table(["step", "what it does", "items changed", *(f"{task}: items with a problem" for task in tasks)], rows)


def _problems(project: Project) -> str:
    checked = check_items(Items(project.items), checks=checks_against(project.sources))
    rows = [
        [f"`{row['check']}`", row["severity"], str(row["count"]), row["explanation"]] for row in checked if row["count"]
    ]
    return table(["check", "severity", "items", "what it finds"], rows) if rows else "None that the checks find."


def _review(project: Project) -> str:
    reviews: Mapping[str, Sequence[str]] = project.info.get("reviews", {})
    people = {name for names in reviews.values() for name in names}
    if not reviews:
        return "No native speaker has looked at these items. Do not draw conclusions from them."
    counts = Counter(len(names) for names in reviews.values())
    lines = [f"* {count} items were reviewed by {number}" for number, count in sorted(counts.items())]
    lines += [
        f"* {len(project.items) - sum(str(item.tags.get('reviewers')) != '0' for item in project.items)} items by nobody"
    ]
    for agreement in project.info.get("agreement", []):
        kappa = "not defined" if agreement["kappa"] is None else f"{agreement['kappa']:.2f}"
        about = agreement.get("about", "verdict")
        what = "" if about == "verdict" else f", '{about}'"
        lines.append(
            f"* agreement of two reviewers on {agreement['items']} items{what}: {agreement['same']:.0%}, Cohen's kappa {kappa}"
        )
    lines += [f"* a reviewer's background: {text}" for text in sorted(project.info.get("backgrounds", {}).values())]
    return f"{len(people)} reviewers.\n\n" + "\n".join(lines)


def _dropped(project: Project) -> str:
    if not project.dropped:
        return "Nothing."
    return f"{len(project.dropped)} items; see `history/dropped.jsonl`.\n\n" + table(
        ["item", "step", "reason"], [[f"`{drop.item}`", drop.step, drop.reason] for drop in project.dropped[:20]]
    )


def _back(back: Back) -> str:
    head = f"chrF {back.chrf:.1f} over {back.texts} contexts and sentences, translated back by {back.translator}. "
    rows = [[f"`{item}`", f"{value:.1f}", old, new] for item, value, old, new in back.lowest]
    return head + "The lowest:\n\n" + table(["item", "chrF", "source", "translated back"], rows)


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)
