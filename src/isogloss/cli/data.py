"""`isogloss data`: pull, check, translate, import and export data; `build` is a module of its own."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options

app = typer.Typer(help="Pull, build, check, translate, import and export data.", no_args_is_help=True)


@app.command("check")
def check(
    source: str = options.Source,
    languages: list[str] = options.Languages,
    columns: list[str] = options.Columns,
    encoding: str = options.Encoding,
    reader: str = options.Reader,
    fail_on: str = typer.Option(
        None,
        "--fail-on",
        metavar="SEVERITY",
        help="Exit with status 1 on problems of this severity or worse: error, warning, note.",
    ),
    tokenizer: str = typer.Option(
        None, "--tokenizer", metavar="MODEL", help="Also compare token counts, with this model's tokenizer."
    ),
    form: options.TextOrJson = options.Format,
) -> None:
    """Check a data set: each check with its severity, the number of problems, and their items."""
    from ..checks import ALL, SEVERITIES, Check, check_items, checks_as_text
    from ..checks.candidates import token_gap
    from ..errors import UnknownName
    from ..files.sources import read
    from ..models.load import open_counter
    from ..translate.project import is_project, open_project
    from ..translate.steps import checks_against, untranslated_words

    if fail_on is not None and fail_on not in SEVERITIES:
        raise UnknownName("severity", fail_on, SEVERITIES)
    checks: tuple[Check, ...] = ALL
    if is_project(Path(source)):
        sources = open_project(Path(source)).sources
        checks = (*checks_against(sources), untranslated_words(sources)) if sources else ALL
    checks = (*checks, token_gap(open_counter(tokenizer))) if tokenizer else checks
    report = check_items(
        read(
            source,
            language=languages,
            columns=options.split_columns(columns, encoding=encoding, reader=reader),
            skip_bad=True,
        ),
        checks=checks,
    )
    options.show(form, text=lambda: checks_as_text(report), json=lambda: {"checks": report})
    failing = SEVERITIES[: SEVERITIES.index(fail_on) + 1] if fail_on else ()
    if any(row["count"] and row["severity"] in failing for row in report):
        raise typer.Exit(1)


@app.command("pull")
def pull(
    name: str = typer.Argument(help="Published data by name; isogloss list data shows all."),
    languages: list[str] = options.Languages,
) -> None:
    """Download published data, check its content, and keep it for --data NAME."""
    from ..files.published import pull_data

    for line in pull_data(name, languages):
        typer.echo(line)


Layout = typer.Option(
    "stereoset-predictions",
    "--layout",
    help="The layout of the file: stereoset-predictions, lm-eval (that harness's log of samples), inspect (its .eval "
    "logs; import only), gest (its score files; import only), bbq (its published answers; import only), lm-eval-bbq (samples of that harness's BBQ; import only), or every-eval-ever (export only).",
)


@app.command("import")
def import_scores(
    file: Path = typer.Argument(help="The file with scores."),
    data: list[str] = options.Data,
    out: Path = typer.Option(Path("runs/imported"), "--out", "-o", metavar="FOLDER", help="The study's folder."),
    languages: list[str] = options.Languages,
    model: str = typer.Option(None, "--model", help="The model's name; by default the file's."),
    layout: str = Layout,
    skip_bad: bool = options.SkipBad,
    columns: list[str] = options.Columns,
    encoding: str = options.Encoding,
    reader: str = options.Reader,
) -> None:
    """Import another tool's scores as a run."""
    from ..exchange.runs import CHOICE_READERS, import_runs
    from ..files.sources import read
    from ..runs import read_scored

    items = read(
        data,
        language=languages,
        columns=options.split_columns(columns, encoding=encoding, reader=reader),
        skip_bad=skip_bad,
    )
    for run in import_runs(file, items, root=out, layout=layout, model=model):
        for note in read_scored([run]).notes if layout in CHOICE_READERS else ():
            typer.echo(f"· {note}", err=True)
        typer.echo(str(run.folder))


@app.command("export")
def export_scores(
    runs: list[Path] = typer.Argument(help="Folders of runs of one model and language."),
    out: Path = typer.Option(..., "--out", "-o", metavar="FILE", help="The file to write."),
    layout: str = Layout,
) -> None:
    """Export a run's scores in another tool's layout."""
    from ..exchange.runs import export_runs
    from ..reports.paper.every_eval_ever import export_results

    if layout == "every-eval-ever":
        typer.echo(f"Wrote the measures to {out}, and {export_results(runs, out)} items beside it.")
        return
    typer.echo(f"Wrote {export_runs(runs, out, layout=layout)} scores to {out}.")


# ---- a data set in a new language
