"""`isogloss data`: pull, check, translate, import and export data; `build` is a module of its own."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options
from .messages import say

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
    output_format: options.TextOrJson = options.Format,
) -> None:
    """Check a data set: list the problems that each check finds, with severity and items."""
    from .. import registry
    from ..checks import ALL, SEVERITIES, Check, check_items, checks_as_text
    from ..checks.candidates import token_gap
    from ..errors import UnknownName
    from ..files.sources import read
    from ..models.load import open_counter

    if fail_on is not None and fail_on not in SEVERITIES:
        raise UnknownName("severity", fail_on, SEVERITIES)
    checks: tuple[Check, ...] = ALL
    for find_checks in registry.load_all("source_check").values():
        checks = (*checks, *find_checks(Path(source)))
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
    options.show(output_format, text=lambda: checks_as_text(report), json=lambda: {"checks": report})
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
    help="The layout: stereoset-predictions; lm-eval (log of samples); every-eval-ever (export only); or, import only: inspect (.eval "
    "log), gest (score file), bbq (published answers), lm-eval-bbq (samples of its BBQ), answers (chat answers: a table, an "
    "Inspect or lm-eval log, DecodingTrust).",
)


@app.command("import")
def import_scores(
    file: Path = typer.Argument(help="The file with scores or answers."),
    data: list[str] = typer.Option(
        [], "--data", metavar="DATA", help="The data that the file belongs to; optional for answers. May be repeated."
    ),
    out: Path = typer.Option(Path("runs/imported"), "--out", "-o", metavar="FOLDER", help="The study's folder."),
    languages: list[str] = options.Languages,
    model: str = typer.Option(None, "--model", help="The model's name; by default the file's."),
    layout: str = Layout,
    question: str = typer.Option(
        None, "--question", help="With answers: what was asked (stereotype, agree or disagree), if no column says so."
    ),
    skip_bad: bool = options.SkipBad,
    columns: list[str] = options.Columns,
    encoding: str = options.Encoding,
    reader: str = options.Reader,
) -> None:
    """Import another tool's scores, or chat answers from any source, as runs."""
    from ..exchange.answers import import_answers
    from ..exchange.foreign_answers import AnswerImport
    from ..exchange.runs import CHOICE_READERS, import_runs
    from ..files.sources import read
    from ..runs import read_scored

    if layout == "answers":
        stated = AnswerImport(
            question,
            model,
            languages[0] if languages else None,
            options.split_columns(columns),
            encoding,
            read(data, language=languages) if data else None,
        )
        runs = import_answers(file, stated, root=out)
        for note in dict.fromkeys(note for run in runs for note in run.info["notes"]):
            typer.echo(f"· {note}", err=True)
        typer.echo("\n".join(str(run.folder) for run in runs))
        return
    items = read(
        data,
        language=languages,
        columns=options.split_columns(columns, encoding=encoding, reader=reader),
        skip_bad=skip_bad,
    )
    for run in import_runs(file, items, root=out, layout=layout, model=model):
        for note in read_scored([run]).notes if layout in CHOICE_READERS else ():
            say(f"· {note}")
        typer.echo(str(run.folder))


@app.command("export")
def export_scores(
    runs: list[Path] = typer.Argument(help="Folders of runs of one model and language."),
    out: Path = typer.Option(..., "--out", "-o", metavar="FILE", help="The file to write."),
    layout: str = Layout,
) -> None:
    """Export a run's scores in another tool's layout."""
    from ..exchange.every_eval_ever import export_results
    from ..exchange.runs import export_runs

    if layout == "every-eval-ever":
        typer.echo(f"Wrote the measures to {out}, and {export_results(runs, out)} items beside it.")
        return
    typer.echo(f"Wrote {export_runs(runs, out, layout=layout)} scores to {out}.")


# ---- a data set in a new language
