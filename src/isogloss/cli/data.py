"""`isogloss data`: list, show, check, translate, import and export data."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options, split, translation

app = typer.Typer(help="List, show, check, translate, import and export data.", no_args_is_help=True)
split.register(app)
Source = typer.Argument(help="A data set's name, a file, or a folder of files.")


@app.command("list")
def list_data(as_json: bool = options.Json) -> None:
    """List the data sets that Isogloss can read, with licence and source."""
    from .. import registry

    found = registry.load_all("dataset")
    if as_json:
        keys = ("title", "summary", "licence", "citation", "url")
        options.print_json({name: {key: getattr(one, key) for key in keys} for name, one in found.items()})
        return
    for name, one in found.items():
        ships = f"ships in {', '.join(sorted(one.bundled()))}" if one.bundled else f"from {one.url}"
        typer.echo(f"{name}: {one.summary}\n    {one.licence}; {ships}\n    {one.citation}")


@app.command("show")
def show(
    source: str = Source,
    languages: list[str] = options.Languages,
    where: list[str] = options.Where,
    format: str = options.Format,
    skip_bad: bool = options.SkipBad,
    as_json: bool = options.Json,
) -> None:
    """Count a data set's items by task, bias type and target, duplicate contexts and characters."""
    from ..files.overview import describe_items, overview_as_text
    from ..files.sources import read

    found = describe_items(read(source, language=languages, format=format, where=where, skip_bad=skip_bad))
    if as_json:
        options.print_json(found)
    else:
        typer.echo(overview_as_text(found))


@app.command("check")
def check(
    source: str = Source,
    languages: list[str] = options.Languages,
    format: str = options.Format,
    fail_on: str = typer.Option(
        None, "--fail-on", help="Leave with 1 when something this grave is found: error, warning, note."
    ),
    tokenizer: str = typer.Option(
        None, "--tokenizer", help="Also compare numbers of tokens, with this model's tokenizer."
    ),
    as_json: bool = options.Json,
) -> None:
    """Check a data set: every check with its severity, how often it spoke, and for which items."""
    from ..checks import ALL, SEVERITIES, check_items, checks_as_text
    from ..checks.candidates import token_gap
    from ..errors import UnknownName
    from ..files.sources import read
    from ..translate.token_count import open_counter

    if fail_on is not None and fail_on not in SEVERITIES:
        raise UnknownName("severity", fail_on, SEVERITIES)
    checks = (*ALL, token_gap(open_counter(tokenizer))) if tokenizer else ALL
    found = check_items(read(source, language=languages, format=format, skip_bad=True), checks=checks)
    if as_json:
        options.print_json({"checks": found})
    else:
        typer.echo(checks_as_text(found))
    grave = SEVERITIES[: SEVERITIES.index(fail_on) + 1] if fail_on else ()
    if any(one["count"] and one["severity"] in grave for one in found):
        raise typer.Exit(1)


Layout = typer.Option(
    "stereoset-predictions",
    "--format",
    help="The layout of the file: stereoset-predictions, or lm-eval (that harness's log of samples).",
)


@app.command("import")
def import_scores(
    file: Path = typer.Argument(help="The file with scores."),
    data: list[str] = options.Data,
    out: Path = typer.Option(Path("runs/imported"), "--out", help="The study's folder."),
    languages: list[str] = options.Languages,
    model: str = typer.Option(None, "--model", help="The model's name; by default the file's."),
    layout: str = Layout,
    skip_bad: bool = options.SkipBad,
) -> None:
    """Import scores that were made elsewhere as a run."""
    from ..exchange.runs import import_run
    from ..files.sources import read_many

    items = read_many(data, language=languages, skip_bad=skip_bad)
    typer.echo(str(import_run(file, items, root=out, layout=layout, model=model).folder))


@app.command("export")
def export_scores(
    runs: list[Path] = typer.Argument(help="Folders of runs of one model and language."),
    out: Path = typer.Option(..., "--out", "-o", help="The file to write."),
    layout: str = Layout,
) -> None:
    """Export a run's scores in another tool's layout."""
    from ..exchange.runs import export_runs

    typer.echo(f"Wrote {export_runs(runs, out, layout=layout)} scores to {out}.")


app.command("translate")(translation.translate)
app.command("repair")(translation.repair)
app.add_typer(translation.review, name="review")
app.command("publish")(translation.publish)
