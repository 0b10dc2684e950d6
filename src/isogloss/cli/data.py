"""`isogloss data`: pull, check, translate, import and export data; `build` is a module of its own."""

from __future__ import annotations

from pathlib import Path

import typer

from ..errors import IsoglossError
from . import options
from .build import build

app = typer.Typer(help="Pull, build, check, translate, import and export data.", no_args_is_help=True)
app.command("build")(build)


@app.command("check")
def check(
    source: str = options.Source,
    languages: list[str] = options.Languages,
    columns: list[str] = options.Columns,
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
        read(source, language=languages, columns=options.split_columns(columns), skip_bad=True), checks=checks
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
    "logs; import only), gest (its score files; import only), or every-eval-ever (export only).",
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
) -> None:
    """Import another tool's scores as a run."""
    from ..exchange.runs import import_run
    from ..files.sources import read
    from ..runs import read_scored

    items = read(data, language=languages, columns=options.split_columns(columns), skip_bad=skip_bad)
    run = import_run(file, items, root=out, layout=layout, model=model)
    for note in read_scored([run]).notes if layout == "inspect" else ():
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

Folder = typer.Argument(help="The folder that `isogloss data translate` wrote.")
Out = typer.Option(..., "--out", "-o", metavar="FOLDER", help="The folder to write.")
TranslatorOptions = typer.Option(
    [], "--option", metavar="NAME=VALUE", help="An option of the translator. May be repeated."
)
Yes = typer.Option(False, "--yes", help="Proceed although the translator costs money.")


@app.command("translate")
def translate(
    source: str = options.Source,
    to: str = typer.Option(..., "--to", metavar="LANGUAGE", help="The language to translate into, by tag or name."),
    translator: str = typer.Option("apertium", "--translator", help="apertium, aws, chat, file or hf."),
    out: Path = Out,
    language: str = typer.Option("en", "--language", "-l", help="The language to translate from, by tag or name."),
    option: list[str] = TranslatorOptions,
    limit: int = typer.Option(None, "--limit", min=1, help="Translate N items only, drawn from every target in turn."),
    columns: list[str] = options.Columns,
    skip_bad: bool = options.SkipBad,
    yes: bool = Yes,
) -> None:
    """Translate a data set: BLANK is kept, and texts already translated are read from the cache in the folder."""
    from ..files.sources import read
    from ..items import sample_items
    from ..progress import progress_bars
    from ..translate.project import TranslationRequest
    from ..translate.project import translate as translate_items
    from ..translate.steps import steps_as_text

    items = read(source, language=language, columns=options.split_columns(columns), skip_bad=skip_bad)
    items = sample_items(items, limit=limit) if limit else items
    request = TranslationRequest(translator, to, options.split_pairs(option), yes)
    with progress_bars() as progress:
        project = translate_items(items, request, folder=out, progress=progress)
    typer.echo(steps_as_text(project.steps))
    for item in project.dropped:
        typer.echo(f"dropped {item.item}: {item.reason}")


@app.command("repair")
def repair(
    source: str = typer.Argument(help="The folder of a translation; or, with --out, any data."),
    out: Path = typer.Option(
        None, "--out", "-o", metavar="FOLDER", help="A new folder, for data not translated by Isogloss."
    ),
    steps: str = typer.Option(None, "--steps", metavar="NAMES", help="Repairs, comma-separated; by default all."),
    undo: str = typer.Option(None, "--undo", metavar="STEP", help="Undo this step and those after it instead."),
    chart: Path = typer.Option(None, "--chart", metavar="FILE", help="Also draw the counts, as .svg, .png or .pdf."),
    languages: list[str] = options.Languages,
    columns: list[str] = options.Columns,
    form: options.TextOrJson = options.Format,
) -> None:
    """Repair a translation step by step, and count the problems per target after each step."""
    from ..files.sources import read
    from ..translate import project as projects
    from ..translate.steps import draw_steps, steps_as_rows, steps_as_text

    if out is None and columns:
        raise IsoglossError("--columns is for data that was not translated by Isogloss. Use it with --out FOLDER.")
    if out is None:
        project = projects.open_project(Path(source))
    else:
        project = projects.begin_project(read(source, language=languages, columns=options.split_columns(columns)), out)
    if undo is not None:
        project = projects.undo_step(project, undo)
    else:
        project = projects.repair_project(project, options.split_names(steps))
    if chart is not None:
        draw_steps(project.steps, chart)
    options.show(form, text=lambda: steps_as_text(project.steps), json=lambda: {"steps": steps_as_rows(project.steps)})


@app.command("review")
def review(
    folder: Path = Folder,
    sheets: list[Path] = typer.Argument(
        None, help="Reviewed sheets to read, .xlsx or .csv; without any, a new sheet is written.", show_default=False
    ),
    out: Path = typer.Option(None, "--out", "-o", metavar="FILE", help="The sheet to write, .xlsx or .csv."),
    rows: str = typer.Option(
        "problems", "--items", metavar="WHICH", help="Write the items with problems, all, or N at random."
    ),
    seed: int = options.Seed,
    prefer: str = typer.Option(None, "--prefer", metavar="REVIEWER", help="Who decides where reviewers disagree."),
) -> None:
    """Write a sheet for native speakers to review; given reviewed sheets, apply what the reviewers agree on."""
    from ..translate.project import open_project
    from ..translate.review import export_sheet, import_sheets, review_as_text

    if bool(sheets) == (out is not None):
        raise IsoglossError("Use --out FILE to write a sheet, or give reviewed sheets to read.")
    if sheets and (rows != "problems" or seed):
        raise IsoglossError("--items and --seed are for writing a sheet.")
    if rows not in ("problems", "all") and not (rows.isdecimal() and int(rows) > 0):
        raise IsoglossError(f"--items takes problems, all or a number of items, not '{rows}'.")
    if out is not None and prefer:
        raise IsoglossError("--prefer is for reading reviewed sheets.")
    project = open_project(folder)
    if sheets:
        typer.echo(review_as_text(import_sheets(project, sheets, prefer=prefer)[1]))
    else:
        sample = int(rows) if rows.isdecimal() else None
        count = export_sheet(project, out, sample=sample, everything=rows == "all", seed=seed)
        typer.echo(f"Wrote {count} items to {out}.")


@app.command("publish")
def publish(
    folder: Path = Folder,
    out: Path = Out,
    title: str = typer.Option(..., "--title", help="The data set's title."),
    licence: str = typer.Option(
        ..., "--licence", help="The licence, such as 'CC BY-SA 4.0'; it must be compatible with the source's."
    ),
    origin: str = typer.Option(..., "--source", metavar="TEXT", help="Where the source comes from, for the card."),
    citation: str = typer.Option("", "--citation", metavar="TEXT", help="What to cite."),
    back: str = typer.Option(
        None, "--back", metavar="TRANSLATOR", help="Also translate back with this translator, and report chrF."
    ),
    option: list[str] = TranslatorOptions,
    yes: bool = Yes,
) -> None:
    """Write the data set with its data card, for others and for Hugging Face's datasets."""
    from ..translate.project import open_project
    from ..translate.publication import Label, translate_back
    from ..translate.publication import publish as write

    project = open_project(folder)
    back_translation = translate_back(project, back, options=options.split_pairs(option), paid=yes) if back else None
    write(project, out, label=Label(title, licence, origin, citation), back=back_translation)
    typer.echo(f"Wrote {len(project.items)} items and a data card to {out}.")
