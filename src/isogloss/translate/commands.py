"""`isogloss data translate`, `repair`, `review` and `publish`: a data set in another language."""

from __future__ import annotations

from pathlib import Path

import typer

from ..cli import options
from ..cli.commands import Commands
from ..errors import IsoglossError

Out = typer.Option(..., "--out", "-o", metavar="FOLDER", help="The folder to write.")
Yes = typer.Option(False, "--yes", help="Proceed although the translator costs money.")
TranslatorOptions = typer.Option(
    [], "--option", metavar="NAME=VALUE", help="An option of the translator. May be repeated."
)
Folder = typer.Argument(help="The folder that `isogloss data translate` wrote.")


def translate(
    source: str = options.Source,
    to: str = typer.Option(..., "--to", metavar="LANGUAGE", help="The language to translate into, by tag or name."),
    translator: str = typer.Option("apertium", "--translator", help="apertium, aws, chat, file or hf."),
    out: Path = Out,
    language: str = typer.Option("en", "--language", "-l", help="The language to translate from, by tag or name."),
    option: list[str] = TranslatorOptions,
    limit: int = typer.Option(None, "--limit", min=1, help="Translate N items only, drawn from every target in turn."),
    columns: list[str] = options.Columns,
    encoding: str = options.Encoding,
    reader: str = options.Reader,
    skip_bad: bool = options.SkipBad,
    yes: bool = Yes,
) -> None:
    """Translate a data set; an interrupted translation resumes."""
    from ..files.sources import read
    from ..items import sample_items
    from ..progress import progress_bars
    from .project import TranslationRequest
    from .project import translate as translate_items
    from .steps import steps_as_text

    items = read(
        source,
        language=language,
        columns=options.split_columns(columns, encoding=encoding, reader=reader),
        skip_bad=skip_bad,
    )
    items = sample_items(items, limit=limit) if limit else items
    request = TranslationRequest(translator, to, options.split_pairs(option), yes)
    with progress_bars() as progress:
        project = translate_items(items, request, folder=out, progress=progress)
    typer.echo(steps_as_text(project.steps))
    for item in project.dropped:
        typer.echo(f"dropped {item.item}: {item.reason}")


def repair(
    source: str = typer.Argument(help="The folder of a translation; or, with --out, any data."),
    out: Path = typer.Option(
        None, "--out", "-o", metavar="FOLDER", help="A new folder, for data not translated by Isogloss."
    ),
    steps: str = typer.Option(None, "--steps", metavar="NAMES", help="Repairs, comma-separated; by default all."),
    undo: str = typer.Option(
        None, "--undo", metavar="STEP", help="Instead of repairing, undo this step and those after it."
    ),
    chart: Path = typer.Option(None, "--chart", metavar="FILE", help="Also draw the counts, as .svg, .png or .pdf."),
    languages: list[str] = options.Languages,
    columns: list[str] = options.Columns,
    encoding: str = options.Encoding,
    reader: str = options.Reader,
    output_format: options.TextOrJson = options.Format,
) -> None:
    """Repair a translation step by step, and count the remaining problems."""
    from ..files.sources import read
    from . import project as projects
    from .steps import draw_steps, steps_as_rows, steps_as_text

    if out is None and columns:
        raise IsoglossError("--columns is for data that was not translated by Isogloss. Use it with --out FOLDER.")
    if out is None:
        project = projects.open_project(Path(source))
    else:
        project = projects.begin_project(
            read(source, language=languages, columns=options.split_columns(columns, encoding=encoding, reader=reader)),
            out,
        )
    if undo is not None:
        project = projects.undo_step(project, undo)
    else:
        project = projects.repair_project(project, options.split_names(steps))
    if chart is not None:
        draw_steps(project.steps, chart)
    options.show(
        output_format, text=lambda: steps_as_text(project.steps), json=lambda: {"steps": steps_as_rows(project.steps)}
    )


def review(
    folder: Path = Folder,
    sheets: list[Path] = typer.Argument(
        None, help="Reviewed sheets, .xlsx or .csv; without any, a new sheet is written.", show_default=False
    ),
    out: Path = typer.Option(None, "--out", "-o", metavar="FILE", help="The sheet to write, .xlsx or .csv."),
    rows: str = typer.Option(
        "problems", "--items", metavar="WHICH", help="Write the items with problems, all, or N at random."
    ),
    seed: int = options.Seed,
    prefer: str = typer.Option(None, "--prefer", metavar="REVIEWER", help="Who decides where reviewers disagree."),
) -> None:
    """Write a review sheet for native speakers; given reviewed sheets, apply what the reviewers agree on."""
    from .project import open_project
    from .review import export_sheet, import_sheets, review_as_text

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
        typer.echo(f"Wrote {count} item{'s' * (count != 1)} to {out}.")


def publish(
    folder: Path = Folder,
    out: Path = Out,
    title: str = typer.Option(..., "--title", help="The data set's title."),
    licence: str = typer.Option(
        ..., "--license", help="The license, compatible with the source's, such as 'CC BY-SA 4.0'."
    ),
    origin: str = typer.Option(..., "--source", metavar="TEXT", help="Where the source comes from, for the card."),
    citation: str = typer.Option("", "--citation", metavar="TEXT", help="What to cite."),
    back: str = typer.Option(
        None, "--back", metavar="TRANSLATOR", help="Also translate back with this translator, and report chrF."
    ),
    option: list[str] = TranslatorOptions,
    yes: bool = Yes,
) -> None:
    """Write the data set and its data card, for publication on Hugging Face."""
    from .project import open_project
    from .publication import Label, translate_back
    from .publication import publish as write

    project = open_project(folder)
    back_translation = translate_back(project, back, options=options.split_pairs(option), paid=yes) if back else None
    write(project, out, label=Label(title, licence, origin, citation), back=back_translation)
    typer.echo(f"Wrote {len(project.items)} items and a data card to {out}.")


commands = Commands(
    "Data",
    {"data translate": translate, "data repair": repair, "data review": review, "data publish": publish},
)
