"""`isogloss verdicts` and `isogloss labels`: how answers are read, and what people say about answers and items."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import typer

from ..errors import IsoglossError
from . import options

app = typer.Typer(
    help="Write sheets for annotators; read labels; measure agreement; correct scores.", no_args_is_help=True
)
LabelFiles = typer.Argument(
    metavar="FILES", help="Filled sheets, tables of labels, or published files (SeeGULL, KoBBQ's survey, GEST)."
)
LabelsOption = typer.Option(..., "--labels", metavar="FILE", help="A file of labels. May be repeated.")


def verdicts(
    runs: list[str] = options.Runs,
    languages: list[str] = options.Languages,
    where: list[str] = options.Where,
    by: str = options.By,
    differences: bool = typer.Option(
        False, "--differences", help="Show where and why imported verdicts differ from those of Isogloss."
    ),
    output_format: options.TextOrJson = options.Format,
) -> None:
    """Count the verdicts on answers, or compare imported verdicts with ours."""
    from .. import label_library

    show = label_library.compare_verdicts if differences else label_library.verdicts
    options.show_result(show(runs, by=options.split_names(by), languages=languages, where=where), output_format)


@app.command("sheet")
def sheet(
    source: str = typer.Argument(help="A folder of runs with answers, a data set's name, or a file of items."),
    out: Path = typer.Option(..., "--out", "-o", metavar="FILE", help="The sheet to write: .xlsx or .csv."),
    limit: int = typer.Option(
        None,
        "--limit",
        min=1,
        help="At most N random sentences, or answers of each model (by default 100).",
    ),
    languages: list[str] = options.Languages,
    seed: int = options.Seed,
) -> None:
    """Write a sheet for annotators: is a sentence a stereotype where they live, or what does an answer say?"""
    from .. import label_library

    typer.echo(str(label_library.sheet(source, out, count=limit, languages=languages, seed=seed)))


@app.command("read")
def read(
    files: list[Path] = LabelFiles,
    out: Path = typer.Option(Path("labels.csv"), "--out", "-o", metavar="FILE", help="The CSV file to write."),
    languages: list[str] = options.Languages,
) -> None:
    """Read filled sheets and published labels as one table, and write an anonymous list of annotators and a data statement."""
    from ..annotation.label_files import read_label_files, write_label_files

    filled = read_label_files(files, language=languages[0] if languages else None)
    for path in write_label_files(filled, out):
        typer.echo(str(path))


@app.command("agreement")
def agreement(
    files: list[Path] = typer.Argument(None, metavar="[FILES]", help="Files of labels, as for labels read."),
    data: list[str] = typer.Option(
        [],
        "--data",
        metavar="DATA",
        help="Instead of FILES: items with their annotators' labels, such as StereoSet's JSON.",
    ),
    languages: list[str] = options.Languages,
    by: str = options.By,
    over: Literal["items", "annotators", "both"] = typer.Option(
        "items", "--over", help="What intervals resample: clusters of items, annotators, or both."
    ),
    output_format: options.AnyFormat = options.Format,
) -> None:
    """Measure how far people agree: Krippendorff's alpha and Gwet's AC1 with intervals."""
    from .. import label_library
    from ..files.sources import read as read_data
    from ..reports.text.annotators import agreement_grid

    if bool(files) == bool(data):
        raise IsoglossError("Give files of labels, or items with --data.")
    labels = read_data(data, language=languages) if data else label_library.read_labels(files)
    result = label_library.label_agreement(labels, by=options.split_names(by), over=over)
    options.show_table(output_format, result, grid=agreement_grid)


@app.command("correct")
def correct(
    runs: list[str] = options.Runs,
    labels: list[Path] = LabelsOption,
    verdict: str = typer.Option("yes", "--verdict", help="The verdict whose rate is estimated."),
    within: float = typer.Option(
        None, "--within", min=0.1, help="Print how many answers must be read for an interval of ±N points."
    ),
    by: str = options.By,
    output_format: options.AnyFormat = options.Format,
) -> None:
    """Correct our reading of all answers with people's reading of some of them (prediction-powered inference)."""
    from .. import label_library
    from ..reports.text.answers import corrected_grid

    given_labels = label_library.read_labels(labels)
    result = label_library.correct(runs, given_labels, verdict=verdict, by=options.split_names(by), within=within)
    options.show_table(output_format, result, grid=corrected_grid)


@app.command("bleeding")
def bleeding(
    runs: list[str] = options.Runs,
    labels: list[Path] = LabelsOption,
    metric: str = typer.Option("ss", "--metric", help="The metric."),
    place: str = typer.Option(
        None,
        "--place",
        metavar="TAG",
        help="Use the labels of this country, such as es-MX, for all items in its language.",
    ),
    where: list[str] = options.Where,
    by: str = options.By,
    output_format: options.AnyFormat = options.Format,
) -> None:
    """Compare scores where people know a stereotype with those where they do not."""
    from .. import label_library
    from ..reports.text.annotators import known_grid

    given_labels = label_library.read_labels(labels)
    result = label_library.bleeding(
        runs, given_labels, metric=metric, place=place, where=where, by=options.split_names(by)
    )
    options.show_table(output_format, result, grid=known_grid)
