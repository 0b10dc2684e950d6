"""`isogloss compare`: is the difference between two models or two languages more than chance?"""

from __future__ import annotations

from pathlib import Path

import typer

from ..errors import IsoglossError
from . import options


def compare(
    paths: list[Path] = typer.Argument(
        help="Two folders of runs, or two prediction files (with --data); or one folder with --a and --b."
    ),
    a: list[str] = typer.Option([], "--a", help="What side A is, as in language=en. May be given several times."),
    b: list[str] = typer.Option([], "--b", help="What side B is, as in language=de. May be given several times."),
    data: list[str] = typer.Option(
        [], "--data", help="The data of prediction files; --a language=en chooses from it. May be given several times."
    ),
    by: str = typer.Option(None, "--by", help="Columns to compare one by one, comma-separated: task,category,target."),
    metrics: str = typer.Option(None, "--metrics", help="Metrics, comma-separated; by default LMS, SS and ICAT."),
    unpaired: bool = typer.Option(False, "--unpaired", help="Compare as independent samples, not item by item."),
    agreement: bool = typer.Option(
        False, "--agreement", help="Do the two sides agree over models or languages? Correlations instead of tests."
    ),
    against: str = typer.Option(
        None, "--against", help="With --agreement: the metric of side B, if it is another one."
    ),
    mode: str = typer.Option("corrected", "--mode", help="corrected (ties count one half) or paper (as published)."),
    resamples: int = options.Resamples,
    seed: int = typer.Option(0, "--seed", help="The seed of permutations and resamples."),
    as_json: bool = options.Json,
    as_csv: bool = typer.Option(False, "--csv", help="Print CSV, one line per comparison."),
    as_latex: bool = typer.Option(False, "--latex", help="Print a LaTeX table (booktabs)."),
    as_markdown: bool = typer.Option(False, "--markdown", help="Print a Markdown table."),
) -> None:
    """Compare two models or two languages on the items that both have: difference, interval, p, effect, power."""
    from ..analysis import agreements, comparisons
    from ..reports.text.comparisons import FORMS, agreements_as_text
    from .sides import two_sides

    form = options.one_of(json=as_json, csv=as_csv, latex=as_latex, markdown=as_markdown)
    if against and not agreement:
        raise IsoglossError("--against goes with --agreement.")
    if agreement and (unpaired or form not in (None, "json")):
        raise IsoglossError("--agreement prints a table or --json, and knows no --unpaired.")
    first, second = two_sides(paths, a=options.split_pairs(a), b=options.split_pairs(b), data=data)
    names, groups = options.split_names(metrics), options.split_names(by)
    if agreement:
        agreed = agreements.agree_scored(first, second, metrics=names, against=against, by=groups)
        if form == "json":
            options.print_json(agreements.agreements_as_json(agreed))
        else:
            typer.echo(agreements_as_text(agreed))
        return
    found = comparisons.compare(
        first,
        second,
        metrics=names,
        by=groups,
        mode=mode,
        design="unpaired" if unpaired else "paired",
        resamples=resamples,
        seed=seed,
    )
    if form == "json":
        options.print_json(comparisons.comparisons_as_json(found))
    else:
        typer.echo(FORMS[form or "text"](found).rstrip("\n"))
