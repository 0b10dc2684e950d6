"""`isogloss data translate`, `repair`, `publish` and `review`: a data set in a new language."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options

review = typer.Typer(help="Write sheets for reviewers, and read them again.", no_args_is_help=True)
Folder = typer.Argument(help="The folder that `isogloss data translate` wrote.")
TranslatorOptions = typer.Option(
    [], "--option", help="An option of the translator, as name=value. May be given several times."
)
Yes = typer.Option(False, "--yes", help="Go on although the translator costs money.")


def translate(
    source: str = typer.Argument(help="A data set's name, a file, or a folder of files."),
    to: str = typer.Option(..., "--to", help="The language to translate into, by tag or name."),
    translator: str = typer.Option("apertium", "--translator", help="apertium, aws, chat, file or hf."),
    out: Path = typer.Option(..., "--out", help="The folder to write; the cache is kept in it."),
    language: str = typer.Option("en", "--language", "-l", help="The language to translate from, by tag or name."),
    option: list[str] = TranslatorOptions,
    limit: int = typer.Option(
        None, "--limit", min=1, help="Translate so many items only, drawn from every target in turn."
    ),
    format: str = options.Format,
    skip_bad: bool = options.SkipBad,
    yes: bool = Yes,
) -> None:
    """Translate a data set: BLANK is kept, what was translated before is not asked for again."""
    from ..files.sources import read
    from ..items import sample_items
    from ..progress import progress_bars
    from ..translate.project import TranslationRequest
    from ..translate.project import translate as translate_items
    from ..translate.steps import steps_as_text

    items = read(source, language=language, format=format, skip_bad=skip_bad)
    items = sample_items(items, limit=limit) if limit else items
    request = TranslationRequest(translator, to, options.split_pairs(option), yes)
    with progress_bars() as progress:
        project = translate_items(items, request, folder=out, progress=progress)
    typer.echo(steps_as_text(project.steps))
    for one in project.dropped:
        typer.echo(f"dropped {one.item}: {one.reason}")


def repair(
    source: str = typer.Argument(help="The folder of a translation; or, with --out, any data."),
    out: Path = typer.Option(None, "--out", help="A new folder, for data that was not translated by Isogloss."),
    steps: str = typer.Option(None, "--steps", help="The repairs to make, separated by commas; by default all."),
    undo: str = typer.Option(None, "--undo", help="Undo this step, and those after it, instead."),
    chart: Path = typer.Option(None, "--chart", help="Also draw the counts, as .svg, .png or .pdf."),
    languages: list[str] = options.Languages,
    as_json: bool = options.Json,
) -> None:
    """Repair a translation step by step, and count the problems per target after each step."""
    from ..files.sources import read
    from ..translate import project as projects
    from ..translate.steps import draw_steps, steps_as_rows, steps_as_text

    if out is None:
        project = projects.open_project(Path(source))
    else:
        project = projects.begin_project(read(source, language=languages), out)
    if undo is not None:
        project = projects.undo_step(project, undo)
    else:
        project = projects.repair_project(project, options.split_names(steps))
    if chart is not None:
        draw_steps(project.steps, chart)
    if as_json:
        options.print_json({"steps": steps_as_rows(project.steps)})
    else:
        typer.echo(steps_as_text(project.steps))


@review.command("export")
def export_sheet(
    folder: Path = Folder,
    out: Path = typer.Option(..., "--out", "-o", help="The sheet to write, .xlsx or .csv."),
    sample: int = typer.Option(
        None, "--sample", min=1, help="A random sample of so many items, instead of the problems."
    ),
    everything: bool = typer.Option(False, "--all", help="All items, instead of those with a problem."),
    seed: int = typer.Option(0, "--seed", help="The seed of the sample."),
) -> None:
    """Write what a native speaker should look at to a sheet."""
    from ..translate.project import open_project
    from ..translate.review import export_sheet as write

    count = write(open_project(folder), out, sample=sample, everything=everything, seed=seed)
    typer.echo(f"Wrote {count} items to {out}.")


@review.command("import")
def import_sheets(
    folder: Path = Folder,
    sheets: list[Path] = typer.Argument(help="The sheets that came back, .xlsx or .csv."),
    prefer: str = typer.Option(None, "--prefer", help="The reviewer who decides where reviewers disagree."),
) -> None:
    """Take over what the reviewers agree on; say where they do not, and how well they agree."""
    from ..translate.project import open_project
    from ..translate.review import import_sheets as take_over
    from ..translate.review import review_as_text

    _, outcome = take_over(open_project(folder), sheets, prefer=prefer)
    typer.echo(review_as_text(outcome))


def publish(
    folder: Path = Folder,
    out: Path = typer.Option(..., "--out", help="The folder to write."),
    title: str = typer.Option(..., "--title", help="The data set's title."),
    licence: str = typer.Option(
        ..., "--licence", help="The licence, such as 'CC BY-SA 4.0'; it must allow for the source's."
    ),
    origin: str = typer.Option(..., "--source", help="Where the source comes from, for the card."),
    citation: str = typer.Option("", "--citation", help="Who is to be cited."),
    back: str = typer.Option(None, "--back", help="Also translate back with this translator, and give chrF."),
    option: list[str] = TranslatorOptions,
    yes: bool = Yes,
) -> None:
    """Write the data set with its data card, for others and for Hugging Face's datasets."""
    from ..translate.backtranslation import translate_back
    from ..translate.project import open_project
    from ..translate.publication import Label
    from ..translate.publication import publish as write

    project = open_project(folder)
    found = translate_back(project, back, options=options.split_pairs(option), paid=yes) if back else None
    write(project, out, label=Label(title, licence, origin, citation), back=found)
    typer.echo(f"Wrote {len(project.items)} items and a data card to {out}.")
