"""`isogloss robustness`: the same items under all methods, dtypes and batch sizes."""

from __future__ import annotations

import typer

from . import options


def robustness(
    model: str = typer.Argument(help="A model: pulled, a folder, a GGUF file, or a hub name (name@revision)."),
    data: list[str] = options.Data,
    languages: list[str] = options.Languages,
    limit: int = typer.Option(
        None, "--limit", min=1, help="At most so many items per data set, language and task, over all clusters."
    ),
    seed: int = typer.Option(0, "--seed", help="The seed of --limit."),
    resamples: int = options.Resamples,
    device: str = typer.Option("cpu", "--device", help="cpu, cuda, cuda:1, mps."),
    offline: bool = options.Offline,
    allow_pickle: bool = typer.Option(False, "--allow-pickle", help="Also load pickled weights, which can run code."),
    skip_bad: bool = options.SkipBad,
    as_json: bool = options.Json,
) -> None:
    """Score the same items in every way that fits the model: does the sign survive, which items flip, what is noise?"""
    from ..analysis.robustness import robustness_as_json
    from ..files.sources import read_many
    from ..models.load import Loading
    from ..progress import progress_bars
    from ..reports.text.robustness import robustness_as_text
    from ..studies.plan import take_sample
    from ..studies.robustness import check_robustness

    items = take_sample(read_many(data, language=languages, skip_bad=skip_bad), limit, seed=seed)
    loading = Loading(device=device, offline=offline, allow_pickle=allow_pickle)
    with progress_bars() as progress:
        cards = check_robustness(items, model=model, loading=loading, resamples=resamples, progress=progress)
    if as_json:
        options.print_json(robustness_as_json(cards))
    else:
        typer.echo("\n\n".join(robustness_as_text(card) for card in cards))
