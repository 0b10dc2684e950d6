"""`isogloss probe` and `robustness`: one model, a template or a data set, scored in one go."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options


def probe(
    model: str = options.Model,
    template: str = typer.Argument(help='A template, such as "The {gender} is a \\[nurse|doctor]."'),
    language: str = typer.Option("en", "--language", "-l", help="The language of the template, by tag or name."),
    terms: str = typer.Option(
        None, "--terms", help="The slot whose terms are compared; by default the brackets, else the first slot."
    ),
    folder: Path = options.Folder,
    top: int = typer.Option(20, "--top", min=1, help="Show at most N terms."),
    limit: int = typer.Option(2000, "--limit", min=1, help="Refuse a template with more than N sentences."),
    device: str = options.Device,
    offline: bool = options.Offline,
    form: options.TextOrJson = options.Format,
) -> None:
    """Show which terms a model finds most probable in a template, as shares."""
    from .. import library
    from ..models.load import Loading
    from ..studies.probe import probe_as_text

    loading = Loading(device=device, offline=offline)
    found = library.probe(model, template, language=language, terms=terms, folder=folder, limit=limit, loading=loading)
    options.show(form, text=lambda: probe_as_text(found, top=top), json=found.to_dict)


def robustness(
    model: str = options.Model,
    data: list[str] = options.Data,
    languages: list[str] = options.Languages,
    limit: int = options.Limit,
    seed: int = options.Seed,
    resamples: int = options.Resamples,
    device: str = options.Device,
    offline: bool = options.Offline,
    allow_pickle: bool = options.AllowPickle,
    skip_bad: bool = options.SkipBad,
    columns: str = options.Columns,
    form: options.TextOrJson = options.Format,
) -> None:
    """Re-score the items with every method, dtype and batch size, and report whether the conclusion holds."""
    from ..files.sources import read_many
    from ..models.load import Loading
    from ..progress import progress_bars
    from ..studies.plan import take_sample
    from ..studies.robustness import check_robustness

    items = read_many(data, language=languages, columns=options.split_columns(columns), skip_bad=skip_bad)
    items = take_sample(items, limit, seed=seed)
    loading = Loading(device=device, offline=offline, allow_pickle=allow_pickle)
    with progress_bars() as progress:
        cards = check_robustness(items, model=model, loading=loading, resamples=resamples, progress=progress)
    options.show_result(cards, form)
