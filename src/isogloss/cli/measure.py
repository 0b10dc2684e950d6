"""`isogloss measure`, `compare`, `gate` and `structure`: stored scores become numbers, tests and verdicts."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from ..errors import IsoglossError
from . import options

if TYPE_CHECKING:
    from ..analysis.mbe_tests import MbeTest
    from ..analysis.measures import Measures
    from ..claims.verdicts import GateResult
    from ..items import Items
    from ..results import Results
    from ..scores import Scored

PERMUTATIONS = 2_000  # of the labels of sentences, for MBE
Sides = typer.Argument(
    help="Two sides, each a folder of runs or a prediction file (with --data); or one folder with --a and --b.",
    metavar="RUNS...",
)
SideA = typer.Option([], "--a", metavar="NAME=VALUE", help="Side A, as in language=en. May be repeated.")
SideB = typer.Option([], "--b", metavar="NAME=VALUE", help="Side B, as in language=de. May be repeated.")
NO_DISTRIBUTIONS = "There are no distributions over the vocabulary among these scores. Score the data set 'template_blanks' with --method distribution."
EXIT = {"passed": 0, "failed": 1, "undecided": 3}


def measure(
    runs: list[Path] = typer.Argument(help="Folders of runs, or a prediction file in StereoSet's layout with --data."),
    data: list[str] = options.PredictionData,
    languages: list[str] = options.Languages,
    where: list[str] = options.Where,
    by: str = options.By,
    metrics: str = options.Metrics,
    mode: str = options.Mode,
    interval: str = options.Interval,
    over: str = options.Over,
    resamples: int = options.Resamples,
    seed: int = options.Seed,
    skip_bad: bool = options.SkipBad,
    columns: list[str] = options.Columns,
    encoding: str = options.Encoding,
    reader: str = options.Reader,
    explain: bool = options.Explain,
    output_format: options.AnyFormat = options.Format,
) -> None:
    """Measure runs or a prediction file: values with confidence intervals."""
    from .. import library
    from ..analysis.intervals import IntervalSettings
    from ..reports.text.sentences import explain_measures

    groups = options.split_names(by)
    items = _items(
        data, languages, columns=options.split_columns(columns, encoding=encoding, reader=reader), skip_bad=skip_bad
    )
    study = library.open_study(runs, data=items, languages=languages, where=where)
    settings = IntervalSettings(interval, resamples, seed, over)
    result = study.measure(options.measuring(metrics=metrics, by=by, mode=mode, settings=settings))
    tests = _test_mbe(study.scores, result, by=groups, resamples=resamples, seed=seed)
    _show_measures(result, tests, output_format=output_format)
    if explain and output_format == "text":
        typer.echo(f"\n{explain_measures(result)}")
    options.exit_with_problems(study.problems)


def explain(
    runs: list[Path] = options.Runs,
    languages: list[str] = options.Languages,
    where: list[str] = options.Where,
    metrics: str = options.Metrics,
    output_format: options.TextOrJson = options.Format,
) -> None:
    """Explain each metric: the published definition, the published code, Isogloss, and how far they differ."""
    from .. import library
    from ..analysis.explanations import explain_scores

    scored = library.load(runs, languages=languages, where=where)
    options.show_result(explain_scores(scored, metrics=options.split_names(metrics)), output_format)


def controls(
    runs: list[Path] = options.Runs,
    frequencies: Path = typer.Option(
        None, "--frequencies", metavar="FILE", help="Words with counts, one word per line."
    ),
    resamples: int = options.Resamples,
    seed: int = options.Seed,
    output_format: options.TextOrJson = options.Format,
) -> None:
    """Compare SS with control items (of eval --controls), permuted labels, and baselines such as a preference for short words."""
    from .. import library

    options.show_result(library.controls(runs, frequencies=frequencies, resamples=resamples, seed=seed), output_format)


def shares(
    runs: list[Path] = options.Runs,
    of: Literal["terms", "regions", "negation", "pairs"] = typer.Option(
        "terms",
        "--of",
        help="The largest shares (terms or regions), the effect of negation, or the pairs that differ most.",
    ),
    languages: list[str] = options.Languages,
    where: list[str] = options.Where,
    by: str = options.By,
    top: int = typer.Option(5, "--top", min=1, help="Show N terms."),
    output_format: options.AnyFormat = options.Format,
) -> None:
    """Show the most probable terms of templates, as shares."""
    from .. import library

    scored = library.load(runs, languages=languages, where=where)
    _show_shares(scored, of, by=options.split_names(by) or ["set"], top=top, output_format=output_format)


def _items(data: list[str], languages: list[str], *, columns: dict[str, str], skip_bad: bool) -> Items | None:
    from ..files.sources import read

    if not data:
        return None
    return read(data, language=languages, columns=columns, skip_bad=skip_bad)


def _test_mbe(
    scored: Scored, measures: Measures, *, by: list[str] | None, resamples: int, seed: int
) -> Results[MbeTest] | None:
    """The tests that belong to MBE, where it was measured."""
    from ..analysis.mbe_tests import check_mbe

    tests = check_mbe(scored, measures, by=by, permutations=min(resamples, PERMUTATIONS), seed=seed)
    return tests if tests.rows else None


def _show_measures(measures: Measures, tests: Results[MbeTest] | None, *, output_format: str) -> None:
    from ..reports.text.measures import grid

    def as_json() -> dict[str, Any]:
        table, extra = measures.to_dict(), tests.to_dict() if tests else {"notes": []}
        return table | extra | {"notes": [*table["notes"], *extra["notes"]]}

    texts = [measures, tests] if tests else [measures]
    options.show_table(output_format, measures, grid=grid, text=lambda: "\n\n".join(map(str, texts)), json=as_json)


def _show_shares(scored: Scored, what: str, *, by: list[str], top: int, output_format: str) -> None:
    from ..analysis.term_shares import measure_negation, measure_shares, name_terms
    from ..metrics._divergences import largest_pairs

    if what != "pairs":
        negation, regions = what == "negation", what == "regions"
        shares = (
            measure_negation(scored, by=by) if negation else measure_shares(scored, by=by, top=top, regions=regions)
        )
        _show_measures(name_terms(shares) if what == "terms" else shares, None, output_format=output_format)
        return
    pairs = largest_pairs(scored.table)
    if not pairs:
        raise IsoglossError(NO_DISTRIBUTIONS)
    lines = [
        f"{pair.model} · {pair.language} · {pair.set}: {pair.first} -> {pair.second}  "
        f"{pair.nats:.4f} nats  {pair.per_token:.3e} by |V|"
        for pair in pairs
    ]
    options.show(output_format, text=lambda: "\n".join(lines), json=lambda: [asdict(pair) for pair in pairs])


def compare(
    paths: list[Path] = Sides,
    a: list[str] = SideA,
    b: list[str] = SideB,
    where: list[str] = options.Where,
    data: list[str] = options.PredictionData,
    columns: list[str] = options.Columns,
    encoding: str = options.Encoding,
    reader: str = options.Reader,
    by: str = options.By,
    metrics: str = options.Metrics,
    unpaired: bool = typer.Option(False, "--unpaired", help="Compare as independent samples, not item by item."),
    mode: str = options.Mode,
    resamples: int = options.Resamples,
    seed: int = options.Seed,
    output_format: options.AnyFormat = options.Format,
) -> None:
    """Compare two models or languages on their common items: difference, interval, p, effect size and power."""
    from .. import library
    from ..analysis import comparisons
    from ..reports.text.comparisons import grid

    items = _items(data, [], columns=options.split_columns(columns, encoding=encoding, reader=reader), skip_bad=False)
    common = options.split_conditions(where)
    first, second = library.load_sides(
        paths, common | options.split_conditions(a), b=common | options.split_conditions(b), data=items
    )
    names, groups = options.split_names(metrics), options.split_names(by)
    result = comparisons.compare(
        first,
        second,
        metrics=names,
        by=groups,
        mode=mode,
        design="unpaired" if unpaired else "paired",
        resamples=resamples,
        seed=seed,
    )
    options.show_table(output_format, result, grid=grid)


def agreement(
    paths: list[Path] = Sides,
    a: list[str] = SideA,
    b: list[str] = SideB,
    where: list[str] = options.Where,
    by: str = options.By,
    metrics: str = options.Metrics,
    against: str = typer.Option(None, "--against", help="The metric of side B, if it differs."),
    output_format: options.TextOrJson = options.Format,
) -> None:
    """Correlate the values of two sides over models or languages, with intervals."""
    from .. import library
    from ..analysis.agreements import agree_scored

    common = options.split_conditions(where)
    first, second = library.load_sides(
        paths, common | options.split_conditions(a), b=common | options.split_conditions(b)
    )
    names, groups = options.split_names(metrics), options.split_names(by)
    options.show_result(agree_scored(first, second, metrics=names, against=against, by=groups), output_format)


def gate(
    runs: list[Path] = typer.Argument(help="Folders of runs, or prediction files with --data."),
    claims: Path = typer.Option(None, "--claims", metavar="FILE", help="A YAML file of claims or limits."),
    data: list[str] = options.PredictionData,
    baseline: Path = typer.Option(
        None, "--baseline", metavar="RUNS", help="Baseline runs; the new runs must not be worse."
    ),
    margin: float = typer.Option(
        None, "--margin", min=0, help="With --baseline: allow values worse by N points (default 2)."
    ),
    strict: bool = typer.Option(False, "--strict", help="Exit with status 1 instead of 3 if a claim is undecided."),
    robustness: bool = typer.Option(
        False,
        "--robustness",
        help="Also test in the other mode, without each task, each bias type or ties, and with known faults.",
    ),
    junit: Path = typer.Option(None, "--junit", metavar="FILE", help="Also write the verdicts as a JUnit report."),
    resamples: int = options.Resamples,
    seed: int = options.Seed,
    output_format: Literal["text", "json", "latex", "markdown"] = options.Format,
) -> None:
    """Test claims about runs. Exit status: 0 all passed, 1 a claim failed, 2 error, 3 a claim is undecided."""
    from .. import library
    from ..reports.text.claims import claims_grid

    result = library.gate(
        runs,
        claims,
        data=data or None,
        baseline=baseline,
        margin=margin,
        strict=strict,
        robustness=robustness,
        resamples=resamples,
        seed=seed,
    )
    write_verdicts(result, junit)
    options.show_table(output_format, result, grid=claims_grid)
    raise typer.Exit(EXIT[result.status])


claims_app = typer.Typer(help="Write and register claims files, which isogloss gate tests.", no_args_is_help=True)


@claims_app.command("new")
def new_claims(file: Path = typer.Argument(help="The claims file to write.")) -> None:
    """Write a starter claims file."""
    from ..claims.files import write_starter

    typer.echo(write_starter(file))


@claims_app.command("register")
def register(file: Path = typer.Argument(help="A claims file.")) -> None:
    """Check a claims file before scoring, and print its registration: a hash and the date."""
    from ..claims.files import register_claims

    typer.echo(register_claims(file))


def write_verdicts(result: GateResult, junit: Path | None) -> None:
    """Write the JUnit report, and append to the summary of a GitHub job where there is one."""
    from ..atomic_files import append_lines, write_file
    from ..reports.text.claims import claims_as_junit, claims_as_summary

    if junit is not None:
        write_file(junit, claims_as_junit(result).encode())
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        append_lines(Path(summary), claims_as_summary(result))


def structure(
    runs: list[Path] = typer.Argument(help="Folders of runs in several languages, or of several models."),
    over: str = typer.Option("language", "--over", help="What to compare: language or model."),
    output_format: options.TextOrJson = options.Format,
) -> None:
    """Show how far languages or models agree item by item, and what is common to all or specific to one."""
    from .. import library

    options.show_result(library.structure(runs, over=over), output_format)


def mixed(
    runs: list[Path] = typer.Argument(help="Folders of runs of several models or languages."),
    facts: Path = options.Facts,
    output_format: options.TextOrJson = options.Format,
) -> None:
    """Fit a mixed model of preferences: fixed effects of language, bias type and facts about models; target as a random effect."""
    from .. import library
    from ..analysis.mixed import fit_mixed, read_facts

    options.show_result(fit_mixed(library.load(runs), facts=read_facts(facts) if facts else None), output_format)
