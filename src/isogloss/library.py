"""The functions of `import isogloss as ig` that put several packages together; the command line calls the same ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from .analysis.baselines import MARGIN, check_baseline
from .analysis.claim_files import Claims, as_claims
from .analysis.claims import GateResult, check_claims, make_result
from .analysis.controls import Control, check_controls, read_frequencies
from .analysis.intervals import IntervalSettings
from .analysis.mixed import read_facts
from .analysis.sides import select
from .analysis.structure import Structure, find_structure
from .errors import IsoglossError
from .exchange.runs import read_chosen
from .files.sources import read
from .items import Items
from .languages import resolve
from .results import Results, as_names
from .runs import Run, find_runs, in_languages, read_items, read_scored, written_parts
from .scores import Scored, check_scored, item_table, join_scored
from .stats import RESAMPLES
from .storage import StoragePath, as_path

if TYPE_CHECKING:
    from .reports.figures import WrittenFigure

Names = str | Sequence[str] | None
Folders = str | Path | Sequence[str | Path]
Where = str | Sequence[str] | Mapping[str, str] | None
Facts = str | Path | Mapping[str, Mapping[str, Any]] | None


def load(
    source: Folders,
    *,
    languages: Names = None,
    where: Where = None,
    data: Items | Folders | None = None,
) -> Scored:
    """The scores of one or several folders of runs, or of files of predictions, as one table.

    Parameters:
        source: A folder of runs or a file of predictions, or several of them.
        languages: One language or several, by tag or name; without it, all.
        where: One condition or several: `category=gender`, or `{"category": "gender"}`.
        data: The data that a file of predictions belongs to: items, or what `isogloss.read` reads.

    Example:
        >>> ig.load("runs/mine", languages="English")
        Scored(96 items, 288 rows: smollm2 · continuation, likelihood · demo · en)
    """
    paths, wanted = _paths(source), _conditions(where)
    if data is not None and not any(map(_is_file, paths)):
        raise IsoglossError("--data is for prediction files; a run knows its data.")
    if data is not None and not isinstance(data, Items):
        data = read(data, language=as_names(languages))
    parts = []
    if not all(map(_is_file, paths)):
        runs = in_languages(_runs([path for path in paths if not _is_file(path)]), as_names(languages))
        facts = {name: value for name, value in wanted.items() if name in ("model", "dataset", "language")}
        chosen = [run for run in runs if all(run.info[name] == value for name, value in facts.items())]
        parts.append(read_scored(chosen or runs))  # the notes of other runs do not come along
    parts += [read_chosen(Path(str(path)), data, where=wanted) for path in paths if _is_file(path)]
    return select(join_scored(parts), wanted)


def load_sides(paths: Folders, a: Where, *, b: Where, data: Items | None = None) -> tuple[Scored, Scored]:
    """Both sides of a comparison: two folders or files, or one with what to choose in it for each side."""
    sides = _paths(paths)
    if len(sides) == 1 and a and b:
        sides *= 2
    if len(sides) != 2:
        raise IsoglossError(
            "Give two runs to compare, or one folder and what to choose in it, such as --a language=en --b language=de."
        )
    files = [_is_file(path) for path in sides]  # a run knows its data, the file beside it does not
    items = [data if is_file or not any(files) else None for is_file in files]
    return load(str(sides[0]), data=items[0], where=a), load(str(sides[1]), data=items[1], where=b)


def _conditions(where: Where) -> dict[str, str]:
    """The columns and the values that they must have."""
    if isinstance(where, Mapping):
        return dict(where)
    pairs = [text.partition("=") for text in as_names(where)]
    for name, sign, value in pairs:
        if not sign or name.endswith("!"):
            raise IsoglossError(f"'{name}{sign}{value}' does not select scores. Write it as column=value.")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _paths(source: Folders) -> list[StoragePath]:
    if not (names := _names(source)):
        raise IsoglossError("No runs were given. Give a folder of runs, such as 'runs/mine', or a list of folders.")
    return [as_path(name) for name in names]


def _names(source: Folders) -> list[str | Path]:
    """One path or several, as a list; scores, which have no path, are refused."""
    names = [source] if isinstance(source, str | Path | Scored) else list(source)
    if any(isinstance(name, Scored) for name in names):
        raise IsoglossError(
            "Give the folder of the runs here, such as 'runs/mine'; join scores with isogloss.join(a, b)."
        )
    return names


def _is_file(path: StoragePath) -> bool:
    return isinstance(path, Path) and path.is_file()


def _runs(folders: Sequence[StoragePath]) -> list[Run]:
    return find_runs(*folders)


def join(*scored: Scored) -> Scored:
    """Scores of several models, languages or data sets as one table; two versions of one model are refused.

    Parameters:
        scored: The scores, one after another.

    Example:
        >>> ig.join(ig.load("runs/mine"), ig.load("runs/other"))
        Scored(96 items, 576 rows: other, smollm2 · continuation, likelihood · demo · en)
    """
    return join_scored([check_scored(part, "join") for part in scored or (None,)])


def gate(
    source: Scored | Folders,
    claims: Claims = None,
    *,
    data: Items | Folders | None = None,
    baseline: Scored | Folders | None = None,
    margin: float = MARGIN,
    strict: bool = False,
    robustness: bool = False,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> GateResult:
    """The verdict on each claim: supported, contradicted, undecided, or why it cannot be tested.

    Parameters:
        source: Scores, one or several folders of finished runs, or files of predictions with `data`.
        claims: A YAML file, what such a file holds, or only its list of claims; see the page about gates.
        data: The data that files of predictions belong to.
        baseline: Scores or runs that these must not be worse than.
        margin: How many points worse than the baseline is allowed.
        strict: Whether undecided counts as failed.
        robustness: Whether each claim is tested again in the other mode and without a task, a bias type or ties.
        resamples: How many times clusters are resampled.
        seed: The seed of the resampling.

    Example:
        >>> result = ig.gate("runs/mine", ["lms > 10"], resamples=200)
        >>> result.status, result.verdicts[0].reason
        ('passed', 'the whole interval agrees')
    """
    if claims is None and baseline is None:
        raise IsoglossError("Give --claims FILE, --baseline RUNS, or both.")
    file = as_claims(claims)
    scored = _finished(source, data)
    verdicts, notes = check_claims(scored, file, robustness=robustness, resamples=resamples, seed=seed), scored.notes
    if baseline is not None:
        before = _finished(baseline, data)
        judged, notes = check_baseline(scored, before, file=file, margin=margin, resamples=resamples)
        verdicts, notes = verdicts + judged, tuple(dict.fromkeys([*scored.notes, *notes]))
    return make_result(verdicts, file, strict=strict, notes=notes)


def _finished(source: Scored | Folders, data: Items | Folders | None) -> Scored:
    """The scores; a run that is not finished is refused."""
    if isinstance(source, Scored):
        return source
    paths = _paths(source)
    if data is not None or any(map(_is_file, paths)):
        return load(source, data=data)
    runs = _runs(paths)
    for run in runs:
        if len(written_parts(run)) < run.parts:
            raise IsoglossError(f"The run {run.folder} is not finished. Run the same command again to complete it.")
    return read_scored(runs)


def controls(
    source: Scored | Folders,
    *,
    data: Items | Folders | None = None,
    frequencies: str | Path | Mapping[str, int] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Results[Control]:
    """SS of each model and language, beside that of control items, of permuted labels and of simple preferences.

    Parameters:
        source: One or several folders of runs, or scores or files of predictions with `data`.
        data: The data that scores or files of predictions belong to; its texts are needed. Runs know their data.
        frequencies: How often words occur, or a file that says so; without it, words are counted in the data.
        resamples: How many times items are resampled or permuted.
        seed: The seed of both.

    Example:
        >>> ig.controls("runs/mine", resamples=200).to_polars()["name"].to_list()
        ['score', 'permuted labels', 'shorter words', 'more frequent words', 'fewer tokens']
    """
    counts = read_frequencies(Path(frequencies)) if isinstance(frequencies, str | Path) else frequencies
    if data is not None:
        items = data if isinstance(data, Items) else read(data)
        scored, texts = source if isinstance(source, Scored) else load(source, data=items), item_table(items)
    elif isinstance(source, Scored):
        raise IsoglossError("Scores do not hold the texts that controls need. Give the items too: data=items.")
    else:
        runs = _runs(_paths(source))
        scored, texts = read_scored(runs), pl.concat(map(read_items, runs), how="diagonal_relaxed")
    return check_controls(scored, texts, frequencies=counts, resamples=resamples, seed=seed)


def structure(source: Scored | Folders, *, over: str = "language") -> Results[Structure]:
    """How far languages or models agree item by item, which are alike, and what is common or specific.

    Parameters:
        source: Scores in several languages or of several models, or folders of runs.
        over: What is compared: `language` or `model`.

    Example:
        >>> found = ig.structure(["runs/mine", "runs/other"], over="model")
        >>> found[0].units
        ('other', 'smollm2')
    """
    scored = source if isinstance(source, Scored) else load(source)
    return find_structure(scored, over=over)


def table(
    source: Folders,
    *,
    format: str = "markdown",
    out: str | Path | None = None,
    languages: Names = None,
    metrics: Names = None,
    task: str | None = None,
    intervals: bool = True,
    facts: Facts = None,
    mode: str = "corrected",
    interval: str = "auto",
    resamples: int = RESAMPLES,
    seed: int = 0,
    study: str | Path | None = None,
) -> str:
    """A table for a paper, models by languages and metrics, or the results block of a model card.

    Parameters:
        source: One or several folders of runs.
        format: `latex`, `markdown`, `csv`, `parquet` or `model-index`.
        out: A file to write; then the result is a sentence that names it.
        languages: One language or several; without it, all.
        metrics: One metric or several; without it LMS, SS and ICAT where they fit.
        task: One task, or `all` for the values over all tasks.
        intervals: Whether intervals are shown below the values.
        facts: Facts about each model, or a YAML file of them; `multilingual` makes blocks, `label` names a row.
        mode: `corrected` or `paper`.
        interval: `auto`, `bootstrap`, `bca` or `wilson`.
        resamples: How many times items are resampled.
        seed: The seed of the resampling.
        study: A study file; then the tables are those that it lists, in their layouts, as Markdown or LaTeX.

    Example:
        >>> print(ig.table("runs/mine", metrics="ss", task="all", resamples=200))
        SS on demo: ...
        <BLANKLINE>
        | model | SS en |
        ...
    """
    from .reports.figures import FigureRequest
    from .reports.paper.output import write_paper
    from .studies.outputs import write_tables

    if study is not None:
        return write_tables(study, load(source), kind=format, out=out, facts=_facts(facts))
    request = FigureRequest(
        sources=tuple(map(str, _paths(source))),
        languages=tuple(resolve(tag) for tag in as_names(languages)),
        metrics=as_names(metrics),
        mode=mode,
        settings=IntervalSettings(interval, resamples, seed),
        facts=_facts(facts),
    )
    path = Path(out) if out is not None else None
    return write_paper(request, format, task=task, intervals=intervals, out=path)


def _facts(facts: Facts) -> Mapping[str, Mapping[str, Any]]:
    return read_facts(Path(facts)) if isinstance(facts, str | Path) else facts or {}


def figure(
    name: str,
    source: Folders,
    *,
    out: str | Path | None = None,
    width: str | float = "single",
    languages: Names = None,
    metrics: Names = None,
    where: Where = None,
    names: str = "english",
    facts: Facts = None,
    mode: str = "corrected",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> WrittenFigure:
    """A figure for a paper; a notebook shows it, `figure` is the matplotlib figure, `caption` says what its marks mean.

    Parameters:
        name: The figure; `isogloss list figures` lists them.
        source: One or several folders of runs, or what else the figure needs.
        out: A file to write: PNG, SVG or PDF by its ending.
        width: `single` (3.3 in), `double` (6.9 in), or inches.
        languages: One language or several; without it, all.
        metrics: One metric or several, instead of the figure's own.
        where: One condition or several: `set=gender`, or `{"set": "gender"}`.
        names: How languages are named: `english`, `own` or `tag`.
        facts: Facts about each model, or a YAML file of them.
        mode: `corrected` or `paper`.
        resamples: How many times items are resampled.
        seed: The seed of the resampling.

    Example:
        >>> ig.figure("forest", "runs/mine", out="forest.png", resamples=200).path
        PosixPath('forest.png')
    """
    from .reports.figures import FigureRequest, write_figure
    from .reports.figures._style import open_canvas

    tags = tuple(resolve(tag) for tag in as_names(languages))
    request = FigureRequest(
        tuple(map(str, _names(source))),
        tags,
        metrics=as_names(metrics),
        where=_conditions(where),
        mode=mode,
        facts=_facts(facts),
        settings=IntervalSettings(resamples=resamples, seed=seed),
    )
    path = Path(out) if out is not None else None
    return write_figure(name, request, path=path, canvas=open_canvas(str(width), names=names, languages=tags))


def report(
    source: Scored | Folders,
    out: str | Path,
    *,
    add: Folders = (),
    facts: Facts = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Path:
    """The path of an HTML report, one file that works offline, written from scores or folders of runs.

    Parameters:
        source: Scores, or one or several folders of runs.
        out: The HTML file to write.
        add: Files to include: JSON of robustness, controls or agreement, tables of shares or answers.
        facts: Facts about each model, or a YAML file of them.
        resamples: How many times items are resampled.
        seed: The seed of the resampling.

    Example:
        >>> ig.report("runs/mine", "report.html", resamples=200)
        PosixPath('report.html')
    """
    from .reports.page.added_files import read_extras
    from .reports.page.document import write_report

    extras = read_extras([Path(path) for path in _names(add)], facts=_facts(facts))
    source = source if isinstance(source, Scored) else _names(source)
    return write_report(source, out, extras=extras, settings=IntervalSettings(resamples=resamples, seed=seed))
