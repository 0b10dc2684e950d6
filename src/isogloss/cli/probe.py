"""`isogloss probe` and `robustness`: one model, a template or a data set, scored in one go."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from . import options

if TYPE_CHECKING:
    from ..studies.probe import Probe


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
    from ..studies.jobs import Loading
    from ..studies.probe import ProbeRequest, run_probe

    loading = Loading(device=device, offline=offline)
    found = run_probe(model, ProbeRequest(template, language, terms, folder), limit=limit, loading=loading)
    options.show(form, text=lambda: _bars(found, top), json=lambda: asdict(found))
    if form == "text":
        left = len(found.shares) - top
        more = f"; {left} more terms" if left > 0 else ""
        over = f", mean over {found.concepts} concepts" if found.concepts > 1 else ""
        typer.echo(f"\nshares of whole-sentence probability{over}{more}", err=True)
        typer.echo("longer and rarer words have smaller shares, whatever they are about", err=True)


def _bars(found: Probe, top: int) -> str:
    from ..reports.text.table import bars_as_text

    head = f"{found.model} · {found.language} · {found.method} · {found.sentences} sentences\n"
    return f"{head}\n{bars_as_text([(one.term, one.share, one.sentence) for one in found.shares[:top]])}"


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
    form: options.TextOrJson = options.Format,
) -> None:
    """Re-score the items with every method, dtype and batch size, and report whether the conclusion holds."""
    from ..analysis.robustness import robustness_as_json
    from ..files.sources import read_many
    from ..reports.text.robustness import robustness_as_text
    from ..studies.jobs import Loading, Sample, take_sample
    from ..studies.robustness import check_robustness
    from .progress import progress_bars

    items = take_sample(read_many(data, language=languages, skip_bad=skip_bad), Sample(limit, seed))
    loading = Loading(device=device, offline=offline, allow_pickle=allow_pickle)
    with progress_bars() as progress:
        cards = check_robustness(items, model=model, loading=loading, resamples=resamples, progress=progress)
    options.show(
        form,
        text=lambda: "\n\n".join(robustness_as_text(card) for card in cards),
        json=lambda: robustness_as_json(cards),
    )
