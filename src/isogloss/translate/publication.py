"""Publishing: a folder with a data card, which Hugging Face reads as it is, and back-translation for the card."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml

from .. import languages, registry
from ..annotation.item_changes import CONTEXT, fields_of
from ..checks import check_items
from ..errors import IsoglossError, require
from ..files.layout import write_atomically, write_items, write_json_lines
from ..items import Items, items_hash
from .project import REVIEW, TRANSLATED, WORK, Project
from .repairs import REPAIRS
from .review import explain_kappa
from .steps import checks_against
from .texts import TranslationSession, refuse_unpaid, translate_texts
from .translators import LanguagePair, check_options

OTHER_STEPS = {
    TRANSLATED: "The source is translated.",
    REVIEW: "The decisions of reviewed sheets are applied.",
}
WARNING = (
    "Content warning: the data contains stereotypes, some of them offensive. It is for measuring, not for training."
)
LOWEST = 10  # items that came back least like the source


@dataclass(frozen=True, slots=True)
class Label:
    """What the makers say of the data: its title, license, source and citation."""

    title: str
    licence: str
    source: str
    citation: str = ""


@dataclass(frozen=True, slots=True)
class Back:
    """chrF of all contexts and sentences, how many there were, and the items that came back least like the source."""

    translator: str
    chrf: float
    texts: int
    lowest: tuple[tuple[str, float, str, str], ...]


def translate_back(project: Project, translator: str, *, options: Mapping[str, str], paid: bool = False) -> Back:
    """How near the translation comes to its source when it is translated back; a low value asks for a look, no more."""
    if not project.sources or not project.info.get("from"):
        raise IsoglossError(f"{project.folder} has no source to compare with. Only what was translated here has one.")
    chrf = require("sacrebleu.metrics", extra="translate").CHRF()
    chosen = registry.get("translator", translator)
    check_options(chosen, options)
    pair = LanguagePair(str(project.info["to"]), str(project.info["from"]))
    state = TranslationSession(chosen.open(pair, options), pair, project.folder / WORK / "cache.jsonl")
    rows = [
        (item.id, new, fields_of(project.sources[item.id])[name])
        for item in project.items
        for name, new in fields_of(item).items()
        if name == CONTEXT or name in {candidate.id for candidate in item.candidates if candidate.word is None}
    ]
    texts = list(dict.fromkeys(new for _, new, _ in rows))
    if not paid:
        refuse_unpaid(texts, state)
    translations = translate_texts(texts, state)
    pairs = [(item, translations[new] or "", old) for item, new, old in rows]
    total = chrf.corpus_score([back for _, back, _ in pairs], [[old for _, _, old in pairs]]).score
    single = [(item, chrf.sentence_score(back, [old]).score, old, back) for item, back, old in pairs]
    lowest = tuple(sorted(single, key=lambda row: row[1])[:LOWEST])
    return Back(state.opened.name, float(total), len(pairs), lowest)


def publish(project: Project, folder: Path, *, label: Label, back: Back | None = None) -> Path:
    """The folder with data files, data card and the list of dropped items."""
    if not label.licence.strip() or not label.source.strip():
        raise IsoglossError("A published data set names its license and its source. Use `licence` and `source`.")
    if folder.exists() and any(folder.iterdir()):
        raise IsoglossError(f"{folder} is not empty. Choose another folder with `out`.")
    paths = write_items(folder, project.items)
    if project.dropped:
        write_json_lines(folder / "history" / "dropped.jsonl", map(asdict, project.dropped))
    write_atomically(folder / "README.md", card(project, paths, label=label, back=back))
    return folder


def card(project: Project, paths: Sequence[Path], *, label: Label, back: Back | None = None) -> str:
    """The data card: front matter for the hub, then counts, steps, problems left, agreement and what was dropped.

    In the front matter every task is a configuration with the same columns.
    """
    front = {
        "pretty_name": label.title,
        "language": [str(project.info["to"])],
        "license": label.licence.casefold().replace(" ", "-"),
        "tags": ["bias", "stereotypes", "isogloss"],
        "size_categories": ["n<1K" if len(project.items) < 1000 else "1K<n<10K"],
        "configs": [
            {"config_name": path.name.split("_")[0], "data_files": [{"split": "test", "path": path.name}]}
            for path in paths
        ],
    }
    parts = [
        "---\n" + yaml.safe_dump(front, allow_unicode=True, sort_keys=False) + "---",
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
        head = f"chrF {back.chrf:.1f} over {back.texts} contexts and sentences, translated back by {back.translator}. "
        rows = [[f"`{item}`", f"{value:.1f}", old, new] for item, value, old, new in back.lowest]
        lowest = table(["item", "chrF", "source", "translated back"], rows)
        parts.append(f"## Translated back\n\n{head}The lowest:\n\n{lowest}")
    return "\n\n".join(parts) + "\n"


def _facts(project: Project, label: Label) -> str:
    translator = project.info.get("translator") or "none: not translated by Isogloss"
    rows = [
        ["language", f"{languages.describe(str(project.info['to'])).name} (`{project.info['to']}`)"],
        ["source", label.source],
        ["license", label.licence],
        ["citation", label.citation or "none given"],
        ["translator", translator],
        ["SHA-256 of the items", f"`{items_hash(project.items)}`"],
    ]
    return table(["", ""], rows)


def _counts(project: Project) -> str:
    tasks = Counter(str(item.tags.get("task", "items")) for item in project.items)
    kinds = Counter((str(item.category), str(item.tags.get("task", "items"))) for item in project.items)
    origin = Counter(str(item.tags.get("provenance")) for item in project.items)
    rows = [[name, *(str(kinds[name, task]) for task in tasks)] for name in sorted({kind for kind, _ in kinds})]
    rows.append(["all", *map(str, tasks.values())])
    text = ", ".join(f"{name} {count}" for name, count in origin.most_common())
    targets = len({item.cluster for item in project.items})
    return table(["bias type", *tasks], rows) + f"\n\n{targets} targets. Items by origin: {text}."


def _steps(project: Project) -> str:
    explanations = {repair.name: repair.explanation for repair in REPAIRS} | OTHER_STEPS
    tasks = list(dict.fromkeys(task for step in project.steps for task in step.tasks))
    rows = []
    for step in project.steps:
        counts = (str(step.tasks.get(task, 0)) for task in tasks)
        rows.append([f"`{step.name}`", explanations.get(step.name, ""), str(step.changed), *counts])
    return table(["step", "what it does", "items changed", *(f"{task}: items with a problem" for task in tasks)], rows)


def _problems(project: Project) -> str:
    checked = check_items(Items(project.items), checks=checks_against(project.sources))
    rows = [
        [f"`{row['check']}`", row["severity"], str(row["count"]), row["explanation"]] for row in checked if row["count"]
    ]
    return table(["check", "severity", "items", "what it finds"], rows) if rows else "None that the checks find."


def _review(project: Project) -> str:
    reviews: Mapping[str, Sequence[str]] = project.info.get("reviews", {})
    if not reviews:
        return "No native speaker has looked at these items. Do not draw conclusions from them."
    people = {name for names in reviews.values() for name in names}
    counts = Counter(map(len, reviews.values()))
    lines = [f"* {count} items were reviewed by {number}" for number, count in sorted(counts.items())]
    lines.append(f"* {sum(str(item.tags.get('reviewers')) == '0' for item in project.items)} items by nobody")
    for agreement in project.info.get("agreement", []):
        kappa = "not defined" if agreement["kappa"] is None else f"{agreement['kappa']:.2f}"
        about = agreement.get("about", "verdict")
        what = "" if about == "verdict" else f", '{about}'"
        lines.append(
            f"* agreement of two reviewers on {agreement['items']} items{what}: {agreement['same']:.0%}, Cohen's kappa {kappa}{explain_kappa(agreement['same'], agreement['kappa'])}"
        )
    lines += [f"* a reviewer's background: {text}" for text in sorted(project.info.get("backgrounds", {}).values())]
    return f"{len(people)} reviewers.\n\n" + "\n".join(lines)


def _dropped(project: Project) -> str:
    if not project.dropped:
        return "Nothing."
    return f"{len(project.dropped)} items; see `history/dropped.jsonl`.\n\n" + table(
        ["item", "step", "reason"], [[f"`{drop.item}`", drop.step, drop.reason] for drop in project.dropped[:20]]
    )


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)
