"""`isogloss plan`: how many items a study needs to see a difference, from a pilot."""

from __future__ import annotations

from pathlib import Path

import typer

from ..errors import IsoglossError
from . import options


def plan(
    pilots: list[Path] = typer.Argument(
        help="A run or prediction file (with --data); a second one shows how far two models agree.",
        metavar="PILOT [OTHER]",
    ),
    difference: float = typer.Option(..., "--difference", "-d", help="The true difference to detect."),
    power: float = typer.Option(0.8, "--power", help="The probability of detecting it."),
    metric: str = typer.Option(None, "--metric", help="A mean over items: ss (the default), lms, crows, ..."),
    design: str = typer.Option(
        None,
        "--design",
        help="paired (two pilots), independent (one pilot), or fixed (one run against a number).",
    ),
    data: list[str] = options.PredictionData,
    languages: list[str] = options.Languages,
    where: list[str] = options.Where,
    prices: str = options.Prices,
    output_format: options.AnyFormat = options.Format,
) -> None:
    """Plan a study: the number of items that show a difference, and their tokens, time and cost."""
    from .. import library
    from ..reports.text.change import sizes_grid

    if len(pilots) > 2:
        raise IsoglossError("Give one pilot, or two on the same items.")
    result = library.plan(
        pilots[0],
        pilots[1] if len(pilots) == 2 else None,
        difference=difference,
        power=power,
        metric=metric,
        design=design,
        data=data or None,
        languages=languages,
        where=where,
        prices=options.split_prices(prices),
    )
    options.show_table(output_format, result, grid=sizes_grid)
