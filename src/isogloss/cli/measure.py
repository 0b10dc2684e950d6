"""`isogloss measure`, `compare`, `gate` and `structure`: stored scores become numbers, tests and verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from ..errors import IsoglossError
from . import options

if TYPE_CHECKING:
    from ..analysis.mbe_tests import MbeTest
    from ..analysis.measures import Measures
    from ..items import Items
    from ..results import Results
    from ..scores import Scored

PERMUTATIONS = 2_000  # of the labels of sentences, for MBE
EXIT = {"passed": 0, "failed": 1, "undecided": 3}


def measure(
    runs: list[Path] = typer.Argument(help="Folders of runs, or a prediction file in StereoSet's layout with --data."),
    data: list[str] = options.PredictionData,
    languages: list[str] = options.Languages,
    by: str = options.By,
    metrics: str = options.Metrics,
    mode: str = options.Mode,
    interval: str = options.Interval,
    resamples: int = options.Resamples,
    seed: int = options.Seed,
    skip_bad: bool = options.SkipBad,
    columns: str = options.Columns,
    explain: bool = typer.Option(
        False, "--explain", help="Explain each metric: as published, in the published code, here, and the difference."
    ),
    controls: bool = typer.Option(
        False,
        "--controls",
        help="Compare SS with control items (of eval --controls), permuted labels, and baselines that prefer short or frequent words.",
    ),
    frequencies: Path = typer.Option(
        None, "--frequencies", metavar="FILE", help="With --controls: a list of words with counts, one word per line."
    ),
    shares: Literal["terms", "regions", "negation", "pairs"] = typer.Option(
        None,
        "--shares",
        help="For templates: the terms or world regions with the largest shares, the effect of negation, or the two terms that differ most.",
    ),
    top: int = typer.Option(5, "--top", min=1, help="With --shares terms: show N terms."),
    form: options.AnyFormat = options.Format,
) -> None:
    """Measure runs or a prediction file: values with confidence intervals, sample sizes and ties."""
    from .. import library
    from ..analysis import measures
    from ..analysis.explanations import explain_scores

    other = options.one_of(explain=explain, controls=controls, shares=shares is not None)
    if frequencies and not controls:
        raise IsoglossError("--frequencies requires --controls.")
    if other and form not in ("text", "json"):
        raise IsoglossError(f"--{other} prints text or JSON. Use --format text or --format json.")
    names, groups = options.split_names(metrics), options.split_names(by)
    if controls:
        options.show_result(library.controls(runs, frequencies=frequencies, resamples=resamples, seed=seed), form)
        return
    items = _items(data, languages, columns=columns, skip_bad=skip_bad)
    scored = library.load(runs, data=items, languages=languages)
    if explain:
        options.show_result(explain_scores(scored, metrics=names), form)
    elif shares == "pairs":
        _show_term_pairs(scored, form=form)
    elif shares:
        _show_measures(_measure_shares(scored, shares, by=groups or ["set"], top=top), None, form=form)
    else:
        found = measures.measure(
            scored, metrics=names, by=groups, mode=mode, interval=interval, resamples=resamples, seed=seed
        )
        _show_measures(found, _test_mbe(scored, found, resamples=resamples, seed=seed), form=form)


def _items(data: list[str], languages: list[str], *, columns: str | None, skip_bad: bool) -> Items | None:
    from ..files.sources import read_many

    if not data:
        return None
    return read_many(data, language=languages, columns=options.split_columns(columns), skip_bad=skip_bad)


def _test_mbe(scored: Scored, found: Measures, *, resamples: int, seed: int) -> Results[MbeTest] | None:
    """The tests that belong to MBE, where it was measured."""
    from ..analysis.mbe_tests import check_mbe

    if not any(one.metric == "mbe" for one in found):
        return None
    return check_mbe(scored, found, permutations=min(resamples, PERMUTATIONS), seed=seed)


def _show_measures(found: Measures, tests: Results[MbeTest] | None, *, form: str) -> None:
    from ..reports.text import measures

    def as_json() -> dict[str, Any]:
        table, extra = found.to_dict(), tests.to_dict() if tests else {"notes": []}
        return table | extra | {"notes": [*table["notes"], *extra["notes"]]}

    options.show(
        form,
        text=lambda: "\n\n".join([str(found), *([str(tests)] if tests else [])]),
        json=as_json,
        csv=lambda: measures.measures_as_csv(found),
        latex=lambda: measures.measures_as_latex(found),
        markdown=lambda: measures.measures_as_markdown(found),
    )


def _measure_shares(scored: Scored, what: str, *, by: list[str], top: int) -> Measures:
    from ..analysis.term_shares import measure_negation, measure_shares, name_terms

    if what == "negation":
        return measure_negation(scored, by=by)
    shares = measure_shares(scored, by=by, top=top, regions=what == "regions")
    return shares if what == "regions" else name_terms(shares)


def _show_term_pairs(scored: Scored, *, form: str) -> None:
    from ..metrics._divergences import largest_pairs

    found = largest_pairs(scored.table)
    lines = [
        f"{one.model} · {one.language} · {one.set}: {one.first} -> {one.second}  "
        f"{one.nats:.4f} nats  {one.per_token:.3e} by |V|"
        for one in found
    ]
    options.show(form, text=lambda: "\n".join(lines), json=lambda: [asdict(one) for one in found])


def compare(
    paths: list[Path] = typer.Argument(
        help="Two folders of runs or two prediction files (with --data); or one folder with --a and --b.",
        metavar="RUNS...",
    ),
    a: list[str] = typer.Option([], "--a", metavar="NAME=VALUE", help="Side A, as in language=en. May be repeated."),
    b: list[str] = typer.Option([], "--b", metavar="NAME=VALUE", help="Side B, as in language=de. May be repeated."),
    data: list[str] = options.PredictionData,
    columns: str = options.Columns,
    by: str = options.By,
    metrics: str = options.Metrics,
    unpaired: bool = typer.Option(False, "--unpaired", help="Compare as independent samples, not item by item."),
    agreement: bool = typer.Option(
        False, "--agreement", help="Correlate the two sides over models or languages instead of testing."
    ),
    against: str = typer.Option(None, "--against", help="With --agreement: the metric of side B, if it differs."),
    mode: str = options.Mode,
    resamples: int = options.Resamples,
    seed: int = options.Seed,
    form: options.AnyFormat = options.Format,
) -> None:
    """Compare two models or languages on their common items: difference, interval, p, effect size, power."""
    from ..analysis import agreements, comparisons
    from ..reports.text.comparisons import FORMS

    if against and not agreement:
        raise IsoglossError("--against requires --agreement.")
    if agreement and (unpaired or form not in ("text", "json")):
        raise IsoglossError("--agreement prints text or JSON, and cannot be combined with --unpaired.")
    items = _items(data, [], columns=columns, skip_bad=False)
    first, second = _sides(paths, options.split_pairs(a), b=options.split_pairs(b), data=items)
    names, groups = options.split_names(metrics), options.split_names(by)
    if agreement:
        agreed = agreements.agree_scored(first, second, metrics=names, against=against, by=groups)
        options.show_result(agreed, form)
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
        options.show_result(found, form)
    else:
        options.show(form, **{form: lambda: FORMS[form](found)})


def _sides(
    paths: list[Path], a: Mapping[str, str], *, b: Mapping[str, str], data: Items | None
) -> tuple[Scored, Scored]:
    """Both sides: two paths, or one path with what to choose for each side."""
    from ..library import load

    if len(paths) == 1 and a and b:
        paths = [paths[0], paths[0]]
    if len(paths) != 2:
        raise IsoglossError(
            "Give two runs to compare, or one folder and what to choose in it, such as --a language=en --b language=de."
        )
    return load(paths[0], data=data, where=a), load(paths[1], data=data, where=b)


def gate(
    runs: list[Path] = options.Runs,
    limits: Path = typer.Option(None, "--limits", metavar="FILE", help="A YAML file with the limits."),
    baseline: Path = typer.Option(None, "--baseline", metavar="RUNS", help="Runs that these must not be worse than."),
    margin: float = typer.Option(2.0, "--margin", min=0, help="With --baseline: allow values worse by N points."),
    strict: bool = typer.Option(False, "--strict", help="Exit with status 1 instead of 3 if a limit is undecided."),
    resamples: int = options.Resamples,
    seed: int = options.Seed,
    form: options.TextOrJson = options.Format,
) -> None:
    """Check runs against limits: exits with status 0 if all hold, 1 if any failed, 3 if any is undecided, 2 on error."""
    from .. import library

    found = library.gate(runs, limits, baseline=baseline, margin=margin, strict=strict, resamples=resamples, seed=seed)
    options.show_result(found, form)
    raise typer.Exit(EXIT[found.status])


def structure(
    runs: list[Path] = typer.Argument(help="Folders of runs in several languages, or of several models."),
    over: str = typer.Option("language", "--over", help="Compare across language or model."),
    mixed: bool = typer.Option(
        False, "--mixed", help="Fit a mixed model: language, bias type and facts about models; target as random effect."
    ),
    facts: Path = options.Facts,
    form: options.TextOrJson = options.Format,
) -> None:
    """Show how far languages or models agree item by item, which are alike, and what is shared or specific."""
    from .. import library
    from ..analysis.mixed import fit_mixed, read_facts

    if mixed:
        known = read_facts(facts) if facts else None
        options.show_result(fit_mixed(library.load(runs), facts=known), form)
    else:
        options.show_result(library.structure(runs, over=over), form)
