"""Write the generated parts of the documentation between their markers; `--check` only says whether they are fresh."""

from __future__ import annotations

import inspect
import os
import re
import sys
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import chdir
from itertools import groupby
from pathlib import Path
from typing import Any, get_args, get_origin

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PACKAGE = ROOT / "src" / "isogloss"
WIDTH = "100"
PLAIN = {
    "TERMINAL_WIDTH": WIDTH,
    "COLUMNS": WIDTH,
    "NO_COLOR": "1",
    "TERM": "dumb",
    "_TYPER_FORCE_DISABLE_TERMINAL": "1",
}
MARKED = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
EXAMPLE = re.compile(r"<!-- example: (\S+) -->\n+```\w*\n(.*?)```", re.DOTALL)

ROW_COLUMNS = {
    "dataset": "The data set; with `id` and `language` the key of the item.",
    "id": "The item; equal in all languages when items are parallel.",
    "language": "BCP 47 tag.",
    "candidate": "The candidate's id, unique within a language.",
    "against": "The other candidate, for a number that belongs to a pair; null otherwise.",
    "quantity": "What `value` is; `score` is what metrics compare.",
    "value": "The number; higher means preferred. Null if the candidate could not be scored.",
    "tokens": "The number of tokens that `value` covers; null for scores made elsewhere.",
    "unknown": "How many of these tokens are the tokenizer's unknown token.",
    "truncated": "Whether text was cut because it was longer than the model can read.",
    "pieces": "The scored tokens as text; empty if the method scores a whole pair.",
    "logprobs": "Their natural log-probabilities (for `nsp`: of the two classes).",
    "vector": "The sentence's vector, for methods that make one; empty otherwise.",
    "why": "Why `value` is null; null otherwise.",
}
ITEM_COLUMNS = {
    "dataset": "The data set; with `id` and `language` the key of the item.",
    "id": "The item.",
    "language": "BCP 47 tag.",
    "category": "The bias type.",
    "cluster": "The unit of resampling: in StereoSet, the English target term.",
    "derived_from": "The item that this one was made from, or null.",
    "variant": "Which variant of that item this one is, or null.",
    "problems": "The checks that flagged the item.",
    "context": "The context, with BLANK where there is one.",
    "candidate": "The candidate's id.",
    "role": "`stereotype`, `anti-stereotype` or `unrelated`; other data may have other roles.",
    "text": "The candidate's sentence as stored.",
    "word": "The word that fills BLANK, or null.",
}


def examples(page: str) -> dict[str, str]:
    """The marked code blocks of a page, by file name."""
    return dict(EXAMPLE.findall(next(DOCS.rglob(page)).read_text(encoding="utf-8")))


def table(heading: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)


def escaped(text: str) -> str:
    """A formula that Markdown leaves as it is."""
    return text.replace("<", "&lt;").replace("*", r"\*")


def fenced(text: str, kind: str = "text") -> str:
    """A block of code or output, without blanks at line ends."""
    plain = "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
    return f"```{kind}\n{plain}\n```"


def run_command(*arguments: str) -> str:
    """What a command prints."""
    from typer.testing import CliRunner

    from isogloss.cli import app

    done = CliRunner().invoke(app, list(arguments), prog_name="isogloss")
    if done.exit_code:
        raise SystemExit(f"isogloss {' '.join(arguments)} failed: {done.output} {done.exception}")
    return done.stdout


def command_names() -> Iterator[tuple[str, ...]]:
    """Every command and group of the command line, as words."""
    import typer

    from isogloss.cli import app

    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        yield path
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, (*path, name))

    return walk(typer.main.get_command(app), ())


SHARED_GROUPS = {  # options that usually occur together, by the name of the group
    "file options": ("--columns", "--encoding", "--reader"),
    "model options": ("--device", "--dtype", "--offline", "--part-size", "--token-budget"),
    "server options": ("--concurrency", "--key-env", "--max-cost", "--max-requests", "--prices", "--served-model", "--timeout", "--tries"),
    "Ray options": ("--address", "--backend", "--threads", "--wait", "--workers"),
}  # fmt: skip


def commands() -> str:
    """Every command with its arguments and options; an option that several commands share is explained once."""
    import typer

    from isogloss.cli import app

    found = {path: find_command(typer.main.get_command(app), path) for path in command_names()}
    shared = shared_options(found)
    usual = sorted(row for row, group in shared.items() if not group)
    grouped = {name: [row for row in usual if option_name(row) in names] for name, names in SHARED_GROUPS.items()}
    parts = ["## Shared options", listed([row for row in usual if not any(row in rows for rows in grouped.values())])]
    for name, rows in grouped.items():
        parts += [f"### {name[0].upper()}{name[1:]}", listed(rows)]
    return "\n\n".join([*parts, *(command_section(path, command, shared) for path, command in found.items())])


def shared_options(commands: dict[tuple[str, ...], Any]) -> dict[tuple[str, str], tuple[str, ...]]:
    """The options of two commands or more, with the group that all of these are in; an empty one is all commands."""
    uses: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for path, command in commands.items():
        for one in filter(is_own_option, command.params):
            uses.setdefault(option_row(one), []).append(path[:-1])
    count = {row: len(groups) for row, groups in uses.items()}
    several = {row: groups for row, groups in uses.items() if len(groups) > 1}
    first = {row[0]: row for row in sorted(several, key=lambda row: count[row])}  # of two with one name, the usual one
    return {row: groups[0] if len(set(groups)) == 1 else () for row, groups in several.items() if first[row[0]] == row}


def command_section(path: tuple[str, ...], command: Any, shared: dict[tuple[str, str], tuple[str, ...]]) -> str:
    """One command: its help, its own arguments and options, and the names of those that it shares."""
    purpose = inspect.cleandoc(command.help or "").partition("\n\n")[0]  # pages have the rest
    parts = [f"## {' '.join(['isogloss', *path])}", " ".join(purpose.split())]
    rows = [option_row(one) for one in command.params if one.param_type_name == "argument"]
    options = [option_row(one) for one in command.params if is_own_option(one)]
    rows += [row for row in options if row not in shared]
    parts += [listed(rows)] if rows else []
    common = {option_name(row) for row in options if row in shared}
    whole = {name: set(names) for name, names in SHARED_GROUPS.items() if common.issuperset(names)}
    names = [*(f"`{one}`" for one in sorted(common.difference(*whole.values()))), *whole]
    parts += [f"Shared: {', '.join(names)}."] if names else []
    inner = getattr(command, "commands", {})
    parts += ["Commands: " + ", ".join(f"`{one}`" for one in inner) + "."] if inner and not path else []
    group = sorted(row for row, members in shared.items() if path and members == path)
    parts += [f"Shared in this group:\n\n{listed(group)}"] if group else []
    return "\n\n".join(parts)


def option_name(row: tuple[str, str]) -> str:
    """The name in a row that `option_row` made."""
    return row[0].split(",")[0].split(" ")[0].strip("`")


def listed(rows: list[tuple[str, str]]) -> str:
    """Options as a list."""
    return "\n".join(f"* {name}: {meaning}" for name, meaning in rows)


def find_command(command: Any, path: tuple[str, ...]) -> Any:
    """The command at these words."""
    return find_command(command.commands[path[0]], path[1:]) if path else command


def is_own_option(parameter: Any) -> bool:
    """Whether it is an option, and not one that every command of Typer has."""
    foreign = ("--help", "--install-completion", "--show-completion")
    return parameter.param_type_name == "option" and parameter.opts[0] not in foreign


def option_row(parameter: Any) -> tuple[str, str]:
    """An argument or option with its value, and its help with the default."""
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`", str(parameter.help or "").replace("\\[", "[")
    default = parameter.default
    shown = default not in (None, False, "") and isinstance(default, str | int | float | Path)
    ends = f" Default: `{default}`." if shown else " Required." if parameter.required else ""
    value = "" if parameter.is_flag else f" {parameter.metavar or 'NAME'}"
    meaning = parameter.help.removesuffix(" May be repeated.")
    names = [f"`{parameter.opts[0]}{value}`", *(f"`{name}`" for name in parameter.opts[1:])]
    return ", ".join(names) + "…" * (meaning != parameter.help), f"{meaning}{ends}"


def demo_overview() -> str:
    """What `isogloss show` prints for the demonstration set in English."""
    return fenced(run_command("show", "demo", "--language", "en"))


def own_scores() -> str:
    """The table for the scores that the example of a script writes."""
    code = examples("other-tools.md")["short.py"]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        exec(compile(code, "short.py", "exec"), {})
        words = "measure short.json --data demo --language en --metrics lms,ss,icat"
        return fenced(run_command(*words.split()))


COMMON_ARGUMENTS = {  # what they are in every function; each is explained once
    "languages": "One language or several, by tag or name; by default, all.",
    "where": "One condition or several: `category=gender`, `region=France,Germany`, `type!=saying`, or a dictionary.",
    "mode": "`corrected` (a tie counts one half) or `paper` (as published).",
    "resamples": "How many times clusters are resampled or permuted, where an interval or test needs it.",
    "seed": "The random seed.",
    "facts": "Facts about each model, or a YAML file of them; `multilingual` divides the rows into blocks, `label` names a row.",
    "progress": "A function to call with the progress; by default, a notebook or an interactive session shows bars.",
}
COMMON_FIELDS = (
    "Many results have the fields `group` (the model, data set, language and other columns of the row), `metric`, `value`, "
    "`difference`, `low` and `high` (the 95 % interval), `p`, `n` (items), `clusters`, `mode`, and `why` (the reason for a "
    "missing value)."
)
CONSTRUCTED = ("AskSettings", "Candidate", "Cluster", "Item", "Items", "Loading")  # other classes are results
FUNCTIONS = {  # heading and the functions below it
    "Data": ("read",),
    "Scores": ("score", "ask", "run", "probe", "load", "join", "import_answers", "load_published"),
    "Numbers": ("measure", "compare", "rank_models", "change", "trace", "gate", "controls", "structure", "plan"),
    "Answers and labels": ("verdicts", "compare_verdicts", "sheet", "read_labels", "label_agreement", "correct", "bleeding"),
    "Output": ("table", "figure", "report", "describe_methods"),
}  # fmt: skip


def public_names() -> str:
    """Every public name with its signature and its docstring; results with the names of their fields."""
    import isogloss

    found = {name: getattr(isogloss, name) for name in isogloss.__all__}
    texts = {name: docstring_parts(thing) for name, thing in found.items()}
    uses = Counter(row for _, rows, _ in texts.values() for row in rows if row[0] not in COMMON_ARGUMENTS)
    usual = {row[0]: row for row, count in sorted(uses.items(), key=lambda pair: pair[1]) if count > 2}
    common = [*COMMON_ARGUMENTS.items(), *usual.values()]
    told = {name: markdown_of(*parts, common=common) for name, parts in texts.items()}
    rows = "\n".join(f"* `{name}`: {meaning}" for name, meaning in sorted(common, key=lambda row: row[0]))
    parts = [
        f"## Common arguments\n\nThese have the same meaning in every function that does not explain them:\n\n{rows}"
    ]
    for heading, names in FUNCTIONS.items():
        parts.append(f"## {heading}")
        parts += [function_section(name, found[name], told[name]) for name in names]
    classes = [name for name in sorted(found) if name[0].isupper()]
    if missing := set(found) - set(classes) - {name for names in FUNCTIONS.values() for name in names}:
        raise SystemExit(f"docs/generate.py: FUNCTIONS lacks {', '.join(sorted(missing))}")
    inputs = [name for name in classes if name in CONSTRUCTED]
    parts += ["## Inputs", *(function_section(name, found[name], told[name]) for name in inputs)]
    results = [name for name in classes if name not in CONSTRUCTED]
    parts.append(f"## Results and errors\n\n{COMMON_FIELDS}")
    return "\n\n".join([*parts, *(result_section(name, found[name], told[name]) for name in results)])


def function_section(name: str, thing: Any, text: str) -> str:
    """A function or a class that users make: its signature and what is said about it."""
    methods = methods_of(thing) if inspect.isclass(thing) else ""
    parts = [f"### {name}", fenced(signature(name, thing), "python"), text, methods]
    return "\n\n".join(part for part in parts if part)


def result_section(name: str, thing: Any, text: str) -> str:
    """A class that functions return, with the names of its fields and its methods."""
    if get_origin(thing) is not None:
        return f"### {name}\n\n`Results` with rows of `{get_args(thing)[0].__name__}`."
    fields = getattr(thing, "__dataclass_fields__", {})
    others = [f"`{field}`" for field in fields if f"`{field}`" not in f"{COMMON_FIELDS} {text}"]
    word = "Other fields" if len(others) < len(fields) else "Fields"
    listed = f"{word}: {', '.join(others)}." if others else ""
    return "\n\n".join(part for part in (f"### {name}", text, listed, methods_of(thing)) if part)


def docstring_parts(thing: Any) -> tuple[str, list[tuple[str, str]], str]:
    """What the docstring of a function or class says, its parameters, and its example."""
    text = "" if get_origin(thing) is not None else inspect.getdoc(thing) or ""
    text, _, example = text.partition("\nExample:\n")
    text, _, parameters = text.partition("\nParameters:\n")
    entries = re.sub(r"\n {5,}(?=\S)", " ", inspect.cleandoc("\n" + parameters) if parameters else "")
    rows = [line.partition(": ") for line in re.sub(r"\n +", " ", entries).splitlines() if line.strip()]
    return text.strip(), [(name, what) for name, _, what in rows], inspect.cleandoc(example)


def markdown_of(text: str, rows: list[tuple[str, str]], example: str, *, common: list[tuple[str, str]]) -> str:
    """A docstring whose parameters are a list, without the common ones, and whose example is a block of code."""
    own = [row for row in rows if row[0] not in COMMON_ARGUMENTS and row not in common]
    listed = "\n".join(f"* `{name}`: {what}" for name, what in own)
    code = fenced(example, "pycon") if example else ""
    return "\n\n".join(part for part in (text, listed, code) if part)


def signature(name: str, thing: Any) -> str:
    """`name(argument=default, ...)`: a function without its types, a class with those of its fields."""
    parts, starred = [], False
    for argument in inspect.signature(thing).parameters.values():
        if argument.kind is argument.KEYWORD_ONLY and not starred:
            parts, starred = [*parts, "*"], True
        star = "*" if argument.kind is argument.VAR_POSITIONAL else ""
        obvious = isinstance(argument.default, str | int | float | tuple)  # the default shows its type
        kind = f": {shown_type(argument.annotation)}" if inspect.isclass(thing) and not obvious else ""
        space = " " if kind else ""
        default = f"{space}={space}{shown_default(argument.default)}" if argument.default is not argument.empty else ""
        parts.append(f"{star}{argument.name}{kind}{default}")
    result = "" if inspect.isclass(thing) else f" -> {shown_type(inspect.signature(thing).return_annotation)}"
    line = f"{name}({', '.join(parts)}){result}"
    return line if len(line) <= 100 else f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){result}"


def shown_type(annotation: Any) -> str:
    """A type as one would write it, without the modules of its names."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])", "", text)


def shown_default(value: Any) -> str:
    """A default as one would write it; functions and factories have no such form."""
    if hasattr(value, "__dataclass_fields__") and value == type(value)():
        return f"{type(value).__name__}()"
    if isinstance(value, str):
        return f'"{value}"'
    return "..." if callable(value) or type(value).__name__ == "_HAS_DEFAULT_FACTORY_CLASS" else repr(value)


def methods_of(kind: type) -> str:
    """The public methods and properties of a class, one line each."""
    hidden = ("_", "to_", "once")  # as for all results, and what is for our own use
    own = {name: thing for name, thing in vars(kind).items() if not name.startswith(hidden)}
    told = {
        name: inspect.getdoc(thing) for name, thing in own.items() if callable(thing) or isinstance(thing, property)
    }
    return "\n".join(f"* `{name}`: {(text or '').splitlines()[0]}" for name, text in told.items() if text)


METRIC_FAMILIES = {  # heading and the metrics below it; one that is not named here is under the last heading
    "StereoSet": ("ss", "lms", "icat", "ss_multiclass", "lms_multiclass", "icat_macro", "icat_micro", "icat_macro_corrected"),
    "Pairs and lists of sentences": ("pair_score", "crows", "crows_stereo", "crows_antistereo", "mbe", "shf"),
    "Contrasts (SHADES)": ("contrast", "contrast_share", "contrast_variance", "contrast_other", "contrast_completion", "bias_l", "validity_gap"),
    "GEST": ("gest", "gest_rate", "gest_male"),
    "Templates": ("cb", "cb_relative", "cb_normalised", "top_share", "distribution_difference", "wording_variance", "wording_flips", "periphrasis"),
    "Answers of chat models": ("recognition", "agreement", "recognition_probability", "agreement_probability", "consistency", "answer_spread", "word_against_stance", "answered_yes", "answered_no", "answered_none", "refused"),
    "Choices of chat models": ("ss_choice", "sense_choice", "contrast_choice", "coverage_choice", "position_bias", "order_flips"),
    "Questions (BBQ and its translations)": (),
}  # fmt: skip


def metrics() -> str:
    """Every metric by family; neighbors with the same range, source and caution share one entry."""
    from isogloss import registry

    found = registry.load_all("metric")
    named = {name for names in METRIC_FAMILIES.values() for name in names}
    others = sorted(set(found) - named, key=lambda name: (found[name].order, name))
    parts = []
    for family, names in METRIC_FAMILIES.items():
        parts.append(f"### {family}")
        source, count = Counter(source_of(found[name]) for name in names or others).most_common(1)[0]
        usual = source if count > 2 else ""
        parts += [f"Source (unless the entry names another): {usual}."] if usual else []
        alike = groupby(names or others, key=lambda name: (metric_facts(found[name], usual), found[name].caution))
        parts += [metric_entry({name: found[name] for name in same}, usual) for _, same in alike]
    return "\n\n".join(parts)


def metric_entry(metrics: dict[str, Any], usual: str) -> str:
    """Metrics that differ in their formula only: names, formulas, range and source, and the caution."""
    one = next(iter(metrics.values()))
    heading = ", ".join(f"`{name}`: {metric.title}" for name, metric in metrics.items())
    formulas = [escaped(metric.formula) for metric in metrics.values()]
    if len(metrics) > 1:
        formulas = [f"* `{name}`: {formula}" for name, formula in zip(metrics, formulas, strict=True)]
    facts = [metric_facts(one, usual), f"**Caution:** {one.caution}"]
    lines = ["\n".join(formulas), " ".join(fact for fact in facts if fact)]
    return f"#### {heading}\n\n" + "\n\n".join(lines)


def source_of(one: Any) -> str:
    """The citation of a metric, three authors as the first of them, without a period."""
    short = re.sub(r"(\w+), \w+ and \w+ \(", r"\1 et al. (", one.citation)
    return re.sub(r"^ours\b", "Isogloss", short).rstrip(".")


def metric_facts(one: Any, usual: str) -> str:
    """Range where it is not 0 to 100, neutral point, and the source if it is not the usual one."""
    low, high = one.bounds
    ends = [f"{end:g}".replace("-inf", "−∞").replace("inf", "∞").replace("-", "−") for end in (low, high)]
    facts = [] if (low, high) == (0, 100) else [f"{ends[0]} to {ends[1]}"]
    facts += [] if one.neutral is None else [f"neutral {one.neutral:g}"]
    facts += [] if source_of(one) == usual else [source_of(one)]
    line = "; ".join(facts)
    return f"{line[0].upper()}{line[1:]}." if line else ""


def values_of(values: Any) -> str:
    """The values of an option, or its default and what else it may be."""
    from isogloss.methods import Free

    if isinstance(values, Free):
        kind = {int: "integer", float: "number", str: "text"}[values.kind]
        return f"{kind} (`{values.default}`)" if values.default else kind
    return ", ".join(f"`{value}`" for value in values)


METHOD_KINDS = {  # heading and the methods below it; one that is not named here is under the last heading
    "StereoSet's tasks": ("unmask", "likelihood", "continuation", "nsp"),
    "Sentences": ("pll", "pll_word_l2r", "aul", "aula"),
    "Pairs": ("crows", "contrast", "gest"),
    "Templates": ("distribution", "normalised"),
    "Questions": (),
}


def methods() -> str:
    """Every scoring method by kind."""
    from isogloss import registry

    found = registry.load_all("method")
    others = [name for name in found if not any(name in names for names in METHOD_KINDS.values())]
    parts = []
    for kind, names in METHOD_KINDS.items():
        parts.append(f"### {kind}")
        parts += [method_entry(name, found[name]) for name in names or others]
    return "\n\n".join(parts)


def method_entry(name: str, one: Any) -> str:
    """One method: its formula, families, options and source."""
    from isogloss import registry
    from isogloss.methods import families_of

    options = [f"`{key}`: {values_of(values)}" for key, values in one.options.items()]
    kinds = families_of(one)
    every = len(kinds) == len(registry.names("family"))
    facts = [
        "all families" if every else f"families: {', '.join(kinds)}",
        *([f"options: {'; '.join(options)}"] if options else []),
    ]
    facts += [re.sub(r"^ours; ", "", one.citation)]
    line = ". ".join(fact[0].upper() + fact[1:].rstrip(".") for fact in facts) + "."
    return f"#### `{name}`: {one.title}\n\n{escaped(one.formula)}\n\n{line}"


def auto_methods() -> str:
    """What `--method auto` chooses."""
    from isogloss import registry
    from isogloss.methods import default_methods

    tasks = sorted({task for one in registry.load_all("method").values() for task in one.auto}, reverse=True)

    def choice(task: str, kind: str) -> str:  # of the methods that need the same head, the first
        firsts = {one.needs: name for name, one in reversed(default_methods(task, kind).items())}
        return " or ".join(f"`{name}`" for name in reversed(firsts.values())) or "-"

    rows = [[kind, *(choice(task, kind) for task in tasks)] for kind in registry.names("family")]
    return table(["family", *tasks], rows)


def families() -> str:
    """Every model family."""
    from isogloss import registry

    return table(["family", "models"], [[f"`{name}`", one.title] for name, one in registry.load_all("family").items()])


def demonstration_models() -> str:
    """The models that `isogloss model pull` gets."""
    from isogloss.models.packaged import PULLED

    rows = [[f"`{name}`", one.title, one.licence, one.size] for name, one in PULLED.items()]
    return table(["name", "what", "license", "size"], rows)


def language_table() -> str:
    """Every language that has a file, and in words which of them are written otherwise than most."""
    from isogloss import languages

    found = [languages.get(tag) for tag in languages.tags()]
    listed = ", ".join(f"{one.name} (`{one.tag}`)" for one in sorted(found, key=lambda one: one.name))
    leftward = ", ".join(one.name for one in found if one.direction == "rtl")
    unspaced = ", ".join(one.name for one in found if not one.spaces)
    return f"{listed}.\n\nWritten from right to left: {leftward}.\nWithout spaces between words: {unspaced}."


def capabilities() -> str:
    """What each language has beside what works in all of them."""
    from isogloss import languages, registry

    sets = {name: set(one.bundled()) for name, one in registry.load_all("dataset").items() if one.bundled}
    sections = {"chat prompts": "ask", "article check": "articles", "repairs": "fixes"}
    known = [languages.describe(tag) for tag in languages.tags()]
    rows = [
        [
            one.name,
            *("✓" if one.tag in tags else "" for tags in sets.values()),
            *("✓" if section in one.sections else "" for section in sections.values()),
        ]
        for one in sorted(known, key=lambda one: one.name)
    ]
    return table(["language", *(f"`{name}`" for name in sets), *sections], rows)


def coverage_table() -> str:
    """What there is for each language, and what independent dictionaries say of its template sentences."""
    import json

    from isogloss.coverage import count_templates, cover_language
    from isogloss.templates.lexicon import bundled_languages

    shares = json.loads((ROOT / "tests" / "golden" / "dictionaries.json").read_text(encoding="utf-8"))
    rows = []
    for tag in bundled_languages():
        one, (_, sentences) = cover_language(tag), count_templates(tag)
        checked = shares.get(tag)
        share = f"{checked['passed']:.1f} %" if checked else "no dictionary"
        terms = f"{sum(one.vocabularies.values())}"
        rest = [", ".join(one.data) or "-", ", ".join(one.missing) or "-"]
        rows.append([f"`{tag}`", terms, f"{sentences:,}", share, *rest])
    head = [
        "tag",
        "terms",
        "sentences",
        "sentences of known words only",
        "demonstration data",
        "missing",
    ]
    return table(head, rows)


def datasets() -> str:
    """Every layout that no source of the catalogue is named after."""
    from isogloss import registry
    from isogloss.files.catalogue import sources

    parts = []
    for name, one in registry.load_all("dataset").items():
        if name in sources():  # which the catalogue describes
            continue
        facts = f" License: {one.licence}. {without_titles(one.citation).rstrip('.')}. <{one.url}>."
        parts.append(f"* **`{name}`**: {one.summary}{facts if one.url.startswith('http') else ''}")
    return "\n".join(parts)


UNTRIED = "We have not downloaded"  # how a fault begins that several sources have


def published_sources() -> str:
    """Every source of the catalogue: where it is, what may be done with it, and its faults."""
    from isogloss.files.catalogue import sources

    untried = [f"`{name}`" for name, one in sources().items() if any(f.startswith(UNTRIED) for f in one.faults)]
    cards = [source_card(name, one) for name, one in sources().items()]
    return "\n\n".join([*cards, f"We have not downloaded all files of {', '.join(untried)}."])


def without_titles(citation: str) -> str:
    """Authors, the first of three, and years; the bibliography has the rest."""
    return re.sub(r"(\(\d{4}\)), [A-Z][^;]*", r"\1", re.sub(r"(\w+), [\w-]+ and \w+ \(", r"\1 et al. (", citation))


def published_contents() -> str:
    """The commits of every source of the catalogue, and the hash of the content that must be read."""
    from isogloss.files.catalogue import sources

    rows = []
    for name, one in sources().items():
        places = dict.fromkeys(place(file.address) for file in one.files)
        known = [f"{tag} `{content[:16]}`" for tag, (_, content) in one.contents.items()]
        rows.append([f"`{name}`", ", ".join(places) or f"<{one.page}>", ", ".join(known) or "-"])
    return table(["source", "address", "SHA-256 of the content (first 16 digits)"], rows)


def source_card(name: str, one: Any) -> str:
    """One source: citation, licence, size and places; its languages with items; its faults."""
    places = list(dict.fromkeys(place(file.address).partition(" at ")[0] for file in one.files))
    size = sum(file.size for file in one.files) if all(file.size for file in one.files) else 0
    page = [] if any(f"<{one.page}>" in where for where in places) else [f"<{one.page}>"]
    where = ", ".join([*page, *places]) + (f" ({size / 1e6:,.1f} MB)" if size else "")
    citation = without_titles(one.citation)
    citation = citation if citation[-1] in ".?" else f"{citation}."
    licence = "No license is named." if one.licence.startswith("no license") else f"License: {one.licence}."
    facts = [citation, licence, f"{where}."]
    counted = [f"{tag} ({one.contents[tag][0]:,})" if tag in one.contents else tag for tag in one.languages]
    faults = " ".join(fault for fault in one.faults if not fault.startswith(UNTRIED))
    return f"### `{name}`: {one.title}\n\n{' '.join(facts)}\nLanguages: {', '.join(counted)}.\n\n{faults}".rstrip()


def place(address: str) -> str:
    """The repository of a file, with the commit where its address has one."""
    host, *parts = address.removeprefix("https://").split("/")
    commits = [part for part in parts if re.fullmatch("[0-9a-f]{40}", part)]
    if host == "raw.githubusercontent.com":
        return (
            f"<https://github.com/{parts[0]}/{parts[1]}> at `{commits[0][:12]}`"
            if commits
            else f"<https://github.com/{parts[0]}/{parts[1]}>"
        )
    repository = "/".join(parts[: 3 if parts[0] == "datasets" else 2])
    return f"<https://{host}/{repository}>" + (f" at `{commits[0][:12]}`" if commits else "")


def hashes() -> str:
    """The SHA-256 of every file that ships, so that a copy can be compared with it; files of one name in one row."""
    import hashlib

    from isogloss import registry

    shipped: dict[Path, tuple[str, set[str]]] = {}
    for name, one in registry.load_all("dataset").items():
        for tag, paths in sorted(one.bundled().items()) if one.bundled else ():
            for path in paths:
                shipped.setdefault(path, (name, set()))[1].add(tag)
    rows: dict[tuple[str, str], list[str]] = {}
    for path, (name, tags) in shipped.items():
        tag = "all" if len(tags) > 1 else next(iter(tags))
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        stem = re.sub(rf"(?<=[-_]){tag}(?=\.)", "…", path.name)
        rows.setdefault((name, stem), []).append(f"{tag} `{digest}`")
    return table(
        ["data set", "file", "SHA-256 (first 16 digits)"],
        [[f"`{n}`", f"`{f}`", ", ".join(h)] for (n, f), h in rows.items()],
    )


def checks() -> str:
    """Every check of `isogloss data check`, by severity."""
    from isogloss.checks import check_items
    from isogloss.items import Items

    found = check_items(Items(()))
    parts = []
    for severity in ("error", "warning", "note"):
        rows = [(f"`{check['check']}`", check["explanation"]) for check in found if check["severity"] == severity]
        parts.append(f"{severity.capitalize()}s:\n\n{listed(rows)}")
    return "\n\n".join(parts)


def translators() -> str:
    """Every translator with its options."""
    from isogloss import registry

    rows = []
    for name, one in registry.load_all("translator").items():
        options = "<br>".join(f"`{key}`: {meaning}" for key, meaning in one.options.items())
        rows.append([f"`{name}`", one.title, options or "none"])
    return table(["translator", "what it is", "options"], rows)


def repairs() -> str:
    """Every repair of `isogloss data repair`, in their order."""
    from isogloss.translate.repairs import REPAIRS

    return table(["repair", "what it does"], [[f"`{one.name}`", one.explanation] for one in REPAIRS])


def row_columns() -> str:
    """The columns of a part."""
    from isogloss.scores import ROW_SCHEMA

    return _columns(ROW_SCHEMA, ROW_COLUMNS)


def item_columns() -> str:
    """The columns of `items.parquet`."""
    from isogloss.scores import ITEM_SCHEMA

    return _columns(ITEM_SCHEMA, ITEM_COLUMNS)


def _columns(schema: dict[str, Any], meanings: dict[str, str]) -> str:
    undocumented = sorted(set(schema) ^ set(meanings))
    if undocumented:
        raise SystemExit(f"docs/generate.py: explain the columns: {', '.join(undocumented)}")
    kinds = {name: str(kind()) if isinstance(kind, type) else str(kind) for name, kind in schema.items()}
    return table(["column", "type", "meaning"], [[f"`{n}`", f"`{kinds[n]}`", meanings[n]] for n in schema])


def schema_version() -> str:
    """The version of the layout of runs."""
    from isogloss.runs import SCHEMA

    return f"The layout described here is **schema version {SCHEMA}**."


def module_list() -> str:
    """Every module with the first sentence of its docstring; plug-ins, which have their own pages, by name only."""
    import ast

    from isogloss.registry import PLUGIN_PACKAGES, built_in

    plugins = {PACKAGE / package.replace(".", "/"): built_in(kind) for kind, package in PLUGIN_PACKAGES.items()}
    rows = []
    for path in sorted(PACKAGE.rglob("*.py"), key=lambda path: (len(path.relative_to(PACKAGE).parts), str(path))):
        if path.stem in plugins.get(path.parent, ()):
            continue
        said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        rows.append([f"`{path.relative_to(PACKAGE)}`", (said or "").splitlines()[0] if said else ""])
        if path.name == "__init__.py" and path.parent in plugins:
            rows.append([f"`{path.parent.relative_to(PACKAGE)}/*.py`", ", ".join(sorted(plugins[path.parent]))])
    return table(["file", "what is in it"], rows)


def make_targets() -> str:
    """What can be made."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.findall(r"^([a-z-]+):.*?## (.*)$", text, re.MULTILINE)
    return table(["command", "what it does"], [[f"`make {name}`", what] for name, what in found])


LABELLED_SETS = {  # of tests/data: the field with the verdict at first, if it was read before rules were changed, and what it is
    "answers": ("", "the rules and lists were written on these"),
    "answers_later": ("", "constructed after the rules of that time"),
    "answers_held_out": ("", "by the same author, kept apart; an answer that leads to a rule moves to the first set"),
    "answers_second_author": ("first_read", "by a second author; round 2 are paraphrases chosen to be hard"),
    "answers_hard": ("first_read", "the kinds that real answers showed to be hardest"),
    "answers_blind": ("first_read", "short hard answers, written before their author had read the rules"),
    "answers_sealed": ("first_read", "written with them, and read once after the changes"),
    "answers_apart": ("first_read", "with the stance in a second sentence"),
    "answers_bakers": ("first_read", "about one statement, often repeated or denied in its own words"),
    "answers_gardeners": ("first_read", "by the same author, after the changes"),
    "answers_cyclists": ("first_read", "wrappers, feminine forms and long hedged paragraphs"),
    "answers_anglers": ("opened_read", "written with them, and read once after the changes"),
    "answers_potters": ("first_read", "by the same author, after the changes"),
    "answers_usual": ("first_read", "sentences in the proportions of six chat models"),
    "answers_usual_sealed": ("opened_read", "written with them, and read once after the changes"),
    "answers_qwen": ("first_read", "real outputs of Qwen2.5-Coder 1.5B, labeled without knowledge of the rules"),
}


def verdict_matrices() -> str:
    """How the labelled answers are read: the sets, the languages, the rules, and every answer that is read wrong."""
    import json

    from isogloss.chat.readings import VERDICTS

    rows: list[dict[str, Any]] = []
    sets = []
    for name, (field, what) in LABELLED_SETS.items():
        lines = (ROOT / "tests" / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        read = [json.loads(line) for line in lines]
        read = [row | {"read": answer.verdict, "rule": answer.rule} for row in read for answer in [reading_of(row)]]
        languages = {row["language"] for row in read}
        first = shares_right(read, field) if field else ["", ""]
        sets.append([f"`{name}`", what, str(len(languages)), str(len(read)), *first, *shares_right(read, "read")])
        rows += read
    tags = sorted({row["language"] for row in rows})
    by_language = [[row for row in rows if row["language"] == tag] for tag in tags]
    wrong = [
        [f"`{r['language']}`", r["prompt"], f"`{r['text']!r}`".replace("|", "\\|"), r["verdict"], r["read"], r["rule"]]
        for r in rows
        if r["read"] != r["verdict"]
    ]
    counted = ["answers", "at first", "opposite", "now", "opposite"]
    return "\n\n".join(
        [
            "The sets of labeled answers, in the order in which they were made. *At first*: before rules or words were changed for them.",
            table(["set", "what it is", "languages", *counted], sets),
            "All sets together, by language:",
            table(
                ["language", "answers", "now", "opposite"],
                [
                    [f"`{tag}`", str(len(part)), *shares_right(part, "read")]
                    for tag, part in zip(tags, by_language, strict=True)
                ],
            ),
            "Which rule decided how many of these answers, in the order in which the rules are tried:",
            rule_table(rows),
            "All answers; labels are rows, what is read are columns:",
            verdict_matrix(rows, tuple(VERDICTS)),
            "Read wrong:",
            table(["language", "prompt", "answer", "labeled", "read as", "by rule"], wrong),
        ]
    )


def shares_right(rows: list[dict[str, Any]], field: str) -> list[str]:
    """The share of answers whose verdict in that field means what the label means, and how many mean the opposite."""
    pairs = [[verdict if verdict in ("yes", "no") else "" for verdict in (row[field], row["verdict"])] for row in rows]
    right = sum(read == labeled for read, labeled in pairs)
    return [
        f"{100 * right / len(rows):.1f} %",
        str(sum(read != labeled and "" not in (read, labeled) for read, labeled in pairs)),
    ]


def verdict_rules() -> str:
    """The rules that read an answer, in the order in which they are tried."""
    from isogloss.chat.readings import RULES

    return table(["rule", "condition"], [[name, what] for name, what in RULES.items()])


def reading_of(row: dict[str, Any]) -> Any:
    """How a labelled answer is read, with the words that its prompt named."""
    from isogloss import languages
    from isogloss.chat.answer_words import AskedPrompts
    from isogloss.chat.prompt_words import prompt_words_of
    from isogloss.chat.verdicts import read_answer

    prompts = tuple(prompt_words_of(languages.describe(row["language"])).prompts.items())
    asked = AskedPrompts(prompts, (row["words"][0], row["words"][1])) if "words" in row else None
    return read_answer(
        row["text"],
        language=row["language"],
        prompt=row["prompt"],
        asked=asked,
        statement=row.get("statement", ""),
    )


def rule_table(rows: list[dict[str, Any]]) -> str:
    """For each rule: what it is, how many answers it decided, and how many of these rightly."""
    from isogloss.chat.readings import RULES

    cells = []
    for name, what in RULES.items():
        part = [row["read"] == row["verdict"] for row in rows if row["rule"] == name]
        cells.append([name, what, str(len(part)), f"{100 * sum(part) / len(part):.1f} %" if part else ""])
    return table(["rule", "condition", "answers", "read right"], cells)


def verdict_matrix(rows: list[dict[str, str]], verdicts: tuple[str, ...]) -> str:
    """Labels against what is read; labels that do not occur are left out."""
    counts = {(a, b): sum((row["verdict"], row["read"]) == (a, b) for row in rows) for a in verdicts for b in verdicts}
    used = [a for a in verdicts if any(counts[a, b] for b in verdicts)]
    return table(["", *verdicts], [[a, *(str(counts[a, b] or "") for b in verdicts)] for a in used])


ACCENTS = {"'": "\u0301", '"': "\u0308", "c": "\u0327", "`": "\u0300", "v": "\u030c", "~": "\u0303", "^": "\u0302"}


def plain_tex(text: str) -> str:
    """A field of BibTeX as plain text: accents as letters, without braces."""
    text = re.sub(
        r"\\(['\"`~^cv])\{?(\\?[A-Za-z])\}?", lambda m: m[2].lstrip("\\") + ACCENTS[m[1]], text.replace(r"{\ss}", "ß")
    )
    return unicodedata.normalize("NFC", text.replace("{", "").replace("}", "").replace("--", "–"))


def bibliography() -> str:
    """Every work that plug-ins cite, by author, with its address."""
    from isogloss.reports.text.citations import BIBLIOGRAPHY

    lines = []
    for entry in re.split(r"\n(?=@)", BIBLIOGRAPHY.read_text(encoding="utf-8")):
        fields = {name: plain_tex(value) for name, value in re.findall(r"^  (\w+) = \{(.*)\},?$", entry, re.MULTILINE)}
        if "title" not in fields:
            continue
        names = [name.split(", ")[0] for name in fields.get("author", "").split(" and ")]
        who = f"{names[0]} et al." if len(names) > 2 or names[-1] == "others" else " and ".join(names)
        places = [("doi", "https://doi.org/"), ("eprint", "https://arxiv.org/abs/"), ("url", "")]
        venue = fields.get("booktitle") or fields.get("journal")
        where = [f"<{start}{fields[name]}>" for name, start in places if name in fields] or (
            [f"*{venue}*."] if venue else []
        )
        title = fields["title"].rstrip(".") + ("" if fields["title"][-1] in "?!" else ".")
        lines.append(" ".join([f"* {who} ({fields['year']}).", title, *where[:1]]))
    return "\n".join(sorted(lines, key=str.casefold))


PARTS: dict[str, Callable[[], str]] = {
    "bibliography": bibliography,
    "verdict-matrices": verdict_matrices,
    "verdict-rules": verdict_rules,
    "auto-methods": auto_methods,
    "checks": checks,
    "commands": commands,
    "catalogue": published_sources,
    "catalogue-contents": published_contents,
    "datasets": datasets,
    "demo-overview": demo_overview,
    "demonstration-models": demonstration_models,
    "families": families,
    "hashes": hashes,
    "item-columns": item_columns,
    "languages": language_table,
    "capabilities": capabilities,
    "coverage": coverage_table,
    "make-targets": make_targets,
    "methods": methods,
    "metrics": metrics,
    "own-scores": own_scores,
    "public-names": public_names,
    "repairs": repairs,
    "modules": module_list,
    "row-columns": row_columns,
    "schema-version": schema_version,
    "translators": translators,
}


def fresh(text: str) -> str:
    """A page with its generated parts written anew."""
    return MARKED.sub(lambda found: f"{found[1]}\n{PARTS[found[2]]()}\n\n{found[3]}", text)


def main() -> int:
    """Write the pages, or with `--check` only name those that are stale."""
    pages = [*sorted(DOCS.rglob("*.md")), *sorted(ROOT.glob("*.md"))]
    stale = []
    with tempfile.TemporaryDirectory() as nobody:
        os.environ |= PLAIN | {"ISOGLOSS_HOME": nobody}
        for page in pages:
            old = page.read_text(encoding="utf-8")
            new = fresh(old)
            if new != old:
                stale.append(page.relative_to(ROOT))
                if "--check" not in sys.argv:
                    page.write_text(new, encoding="utf-8")
    if stale and "--check" in sys.argv:
        print(f"Stale: {', '.join(map(str, stale))}. Write them anew with: python docs/generate.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
