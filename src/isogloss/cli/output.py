"""`isogloss report`, `figure`, `table`, `show` and `list`: what there is, to look at."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from ..errors import IsoglossError, UnknownName
from . import options
from .model import is_language, is_model, language_facts, show_language, show_model

PLUGINS = {
    "methods": "method",
    "metrics": "metric",
    "families": "family",
    "translators": "translator",
    "figures": "figure",
}
KINDS = ["data", *PLUGINS, "languages", "models"]


def report(
    runs: list[str] = options.Runs,
    out: Path = typer.Option(
        Path("report.html"),
        "--out",
        "-o",
        metavar="FILE",
        help="The file to write, .html or .pdf.",
    ),
    add: list[Path] = typer.Option(
        [],
        "--add",
        metavar="FILE",
        help="Include a file: JSON from gate, change, robustness, controls or agreement, or a table of shares or answers. May be repeated.",
    ),
    beside: str = options.Beside,
    facts: Path = options.Facts,
    resamples: int = options.Resamples,
    seed: int = options.Seed,
) -> None:
    """Write a report: one HTML file that works offline, or with -o NAME.pdf a two-page summary."""
    from ..analysis.intervals import IntervalSettings
    from ..analysis.mixed import read_facts
    from ..analysis.published import check_beside
    from ..analysis.study import load_study
    from ..reports.page.added_files import read_extras
    from ..reports.page.document import write_report

    extras = read_extras(add, facts=read_facts(facts) if facts else None)
    extras = replace(extras, beside=tuple(check_beside(beside)))
    command = shlex.join(["isogloss", *sys.argv[1:]])
    study = load_study(runs, texts=True)
    path = write_report(
        study, out, extras=extras, settings=IntervalSettings(resamples=resamples, seed=seed), command=command
    )
    typer.echo(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


def cite(
    runs: list[str] = options.Runs,
    output_format: options.TextOrJson = options.Format,
) -> None:
    """Show what to cite for runs: data, method, metrics and Isogloss, with BibTeX."""
    from ..reports.text.citations import citations_as_json, citations_as_text, cite_runs
    from ..runs import find_runs

    cited = cite_runs(find_runs(*runs))
    options.show(output_format, text=lambda: citations_as_text(cited), json=lambda: citations_as_json(cited))


def methods(runs: list[str] = options.Runs, resamples: int = options.Resamples) -> None:
    """Print a methods paragraph for a paper, with BibTeX."""
    from ..reports.text.methods_paragraph import describe_methods
    from ..runs import find_runs

    typer.echo(describe_methods(find_runs(*runs), resamples=resamples))


def figure(
    name: str = typer.Argument(help="The figure; isogloss list figures shows them all."),
    sources: list[str] = typer.Argument(help="Folders of runs, or whatever else the figure needs."),
    out: Path = typer.Option(
        None, "--out", "-o", metavar="FILE", help="The file to write: .png, .svg or .pdf; by default NAME.png."
    ),
    width: str = typer.Option(
        "single", "--width", metavar="WIDTH", help="single (3.3 in), double (6.9 in), or a number of inches."
    ),
    languages: list[str] = options.Languages,
    metrics: str = options.Metrics,
    where: list[str] = options.Where,
    names: str = typer.Option("english", "--names", help="How languages are named: english, own or tag."),
    beside: str = options.Beside,
    facts: Path = options.Facts,
    mode: str = options.Mode,
    resamples: int = options.Resamples,
    seed: int = options.Seed,
) -> None:
    """Draw a figure for a paper: PNG, SVG or PDF, in one or two columns, with intervals.

    What each needs: plane, heatmap, forest: runs of eval. isogloss_map: runs of the same items in two languages or by two models.
    agreement: runs with two metrics of three models or languages. answers: runs of ask. shares: runs of templates.
    pareto: runs of several models. world: runs of items with regions. coverage: data with regions. bias_types: data, or runs of it. preservation: parallel texts.
    change: two folders of runs of the same items. problems: the folder of a translation. training: the folder of nsp train.
    """
    from .. import library
    from ..analysis.published import check_beside
    from ..reports.figures._style import check_ending

    path = out or Path(f"{name.replace('-', '_')}.png")
    check_ending(path)
    drawn = library.figure(
        name,
        [*sources, *check_beside(beside)],
        out=path,
        width=width,
        languages=languages,
        metrics=options.split_names(metrics),
        where=options.split_conditions(where),
        names=names,
        facts=facts,
        mode=mode,
        resamples=resamples,
        seed=seed,
    )
    typer.echo(f"{path}: {drawn.inches[0]:.2f} x {drawn.inches[1]:.2f} in\n{drawn.caption}")


def table(
    runs: list[str] = options.Runs,
    kind: str = typer.Option("markdown", "--format", help="latex, markdown, csv, parquet or model-index."),
    out: Path = typer.Option(None, "--out", "-o", metavar="FILE", help="The file to write instead of printing."),
    languages: list[str] = options.Languages,
    metrics: str = options.Metrics,
    task: str = typer.Option(None, "--task", help="One task only, or 'all' for values over all tasks."),
    intervals: bool = typer.Option(True, "--intervals/--no-intervals", help="Show 95 % intervals below the values."),
    beside: str = options.Beside,
    facts: Path = options.Facts,
    mode: str = options.Mode,
    interval: str = options.Interval,
    resamples: int = options.Resamples,
    seed: int = options.Seed,
    study: Path = typer.Option(
        None, "--study", metavar="FILE", help="Make the tables that a study file lists, in their papers' layouts."
    ),
) -> None:
    """Make a table for a paper: models by metric and language, with ranks and intervals."""
    from .. import library
    from ..analysis.published import check_beside

    text = library.table(
        [*runs, *check_beside(beside)],
        format=kind,
        out=out,
        languages=languages,
        metrics=options.split_names(metrics),
        task=task,
        intervals=intervals,
        facts=facts,
        mode=mode,
        interval=interval,
        resamples=resamples,
        seed=seed,
        study=study,
    )
    typer.echo(text.rstrip("\n"))


def show(
    source: str = typer.Argument(
        help="A folder of runs; a data set's name, a file, or a folder of files; a language; a model; or `published` "
        "(StereoSet results, of a --where model=NAME and a --language)."
    ),
    item: str = typer.Argument(None, help="An item's id: show its candidates with log-probabilities."),
    extremes: int = typer.Option(
        None,
        "--extremes",
        min=1,
        help="Show the N most and least stereotyped expressions per language (contrast runs).",
    ),
    languages: list[str] = options.Languages,
    where: list[str] = options.Where,
    columns: list[str] = options.Columns,
    encoding: str = options.Encoding,
    reader: str = options.Reader,
    skip_bad: bool = options.SkipBad,
    offline: bool = options.Offline,
    allow_pickle: bool = options.AllowPickle,
    output_format: options.TextOrJson = options.Format,
) -> None:
    """Show runs, an item, a data set, a language, a model, or published results."""
    from ..analysis.published import PUBLISHED, load_published
    from ..runs import run_folders
    from ..storage import as_path

    if source == PUBLISHED:
        model = options.split_conditions(where).get("model")
        options.show_result(load_published(model=model, languages=languages), output_format)
        return
    path = as_path(source)
    if item and (extremes or languages):
        raise IsoglossError("Give either an item's id, or --extremes, with --language for some languages only.")
    if item or extremes or (path.exists() and run_folders(path)):
        if where or columns or skip_bad:
            raise IsoglossError("--where, --columns and --skip-bad are for data; these are runs.")
        _show_runs(Path(source), item, extremes=extremes, languages=languages, output_format=output_format)
        return
    if not (languages or where or columns or skip_bad):
        if is_language(source):
            show_language(source, output_format)
            return
        if is_model(source):
            show_model(source, offline=offline, allow_pickle=allow_pickle, output_format=output_format)
            return
    from ..files.overview import describe_items, overview_as_text
    from ..files.sources import read

    named = options.split_columns(columns, encoding=encoding, reader=reader)
    overview = describe_items(read(source, language=languages, columns=named, where=where, skip_bad=skip_bad))
    options.show(output_format, text=lambda: overview_as_text(overview), json=lambda: overview)


def _show_runs(path: Path, item: str | None, *, extremes: int | None, languages: list[str], output_format: str) -> None:
    from .. import runs
    from ..analysis.inspection import find_extremes, inspect_item, list_runs
    from ..reports.text.runs import extremes_as_text, inspection_as_text

    if extremes:
        rows = find_extremes(runs.in_languages(runs.find_runs(path), languages), extremes)
        options.show(output_format, text=lambda: extremes_as_text(rows), json=lambda: rows)
    else:
        view = inspect_item(path, item) if item else list_runs(path)
        options.show(output_format, text=lambda: inspection_as_text(view), json=lambda: view)


def list_known(
    kind: str = typer.Argument(None, help=f"{', '.join(KINDS)}: with details; by default all names."),
    output_format: options.TextOrJson = options.Format,
) -> None:
    """List what there is by name: data sets, methods, metrics and so on."""
    if kind is None:
        facts: Any = {plural: _names(plural) for plural in KINDS}
        lines = [f"{plural}: {', '.join(names)}" for plural, names in facts.items()]
    elif kind in KINDS:
        facts, lines = _describe(kind)
    else:
        raise UnknownName("list", kind, KINDS)
    options.show(output_format, text=lambda: "\n".join(lines), json=lambda: facts)


def _names(kind: str) -> list[str]:
    from .. import languages, registry
    from ..models.packaged import PULLED

    if kind == "models":
        return list(PULLED)
    if kind == "data":
        from ..files.catalogue import data_names

        return data_names()
    return list(languages.tags() if kind == "languages" else registry.names(PLUGINS[kind]))


def _describe(kind: str) -> tuple[Any, list[str]]:
    """The facts about all that there is of one kind, and the lines that show them."""
    from .. import languages, registry

    if kind == "models":
        from ..models.packaged import PULLED, find_pulled

        folders = {name: folder for name in PULLED if (folder := find_pulled(name))}
        pulled = {
            name: {"title": model.title, "licence": model.licence, "size": model.size, "here": name in folders}
            for name, model in PULLED.items()
        }
        return pulled, [
            f"{name}: {model.title} ({model.licence}; {model.size})\n    "
            + (f"in {folders[name]}" if name in folders else f"not pulled yet: isogloss model pull {name}")
            for name, model in PULLED.items()
        ]
    if kind == "languages":
        every = [languages.get(tag) for tag in languages.tags()]
        lines = [
            f"{language.tag:8} {language.name:24} {language.script}  {language.direction}  {language.autonym}"
            for language in every
        ]
        return [language_facts(language) for language in every], lines
    plugins = registry.load_all(PLUGINS.get(kind, "dataset"))
    if kind == "data":
        return _describe_data(plugins)
    titles = {name: getattr(plugin, "title", "") for name, plugin in plugins.items()}
    needs = {name: f"\n    needs {plugin.needs}" for name, plugin in plugins.items() if kind == "figures"}
    return titles, [f"{name}: {title}{needs.get(name, '')}".rstrip(": ") for name, title in titles.items()]


def _describe_data(known: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """What is known about all data that has a name: what ships, layouts of your own files, and published sources."""
    from ..files.catalogue import sources

    keys = ("title", "summary", "licence", "citation", "url")
    facts = {name: {key: getattr(dataset, key) for key in keys} for name, dataset in known.items()}
    lines = {}
    for name, dataset in known.items():
        where = f"ships in {', '.join(sorted(dataset.bundled()))}" if dataset.bundled else f"from {dataset.url}"
        lines[name] = f"{name}: {dataset.summary}\n    {dataset.licence}; {where}\n    {dataset.citation}"
    for name, source in sources().items():
        shared = {key: getattr(source, key) for key in ("title", "licence", "citation", "kind")}
        facts[name] = {**facts.get(name, {}), **shared, "url": source.page, "languages": list(source.languages)}
        title = facts[name].get("summary", source.title)
        get = f"isogloss data pull {name} ({', '.join(source.languages)})"
        lines[name] = f"{name}: {title}\n    {source.licence}; {get}\n    {source.citation}"
    return dict(sorted(facts.items())), [lines[name] for name in sorted(lines)]
