"""Verbs of `import isogloss as ig` from reading to reporting, in the order in which they are used; commands call the same ones.

`read` gives items, `score` and `ask` put them to models and give scores, `run` does both for a study file and gives a study;
`load` reads what is stored. `measure`, `compare`, `change`, `trace`, `rank_models`, `controls`, `structure` and `gate` turn
scores into numbers with intervals; `table`, `figure` and `report` show them. Verbs about answers from elsewhere and labels
by people are in `label_library`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .analysis.changes import change
from .analysis.comparisons import compare
from .analysis.controls import Control, check_controls, read_frequencies
from .analysis.intervals import IntervalSettings
from .analysis.measures import measure
from .analysis.mixed import read_facts
from .analysis.planning import SizePlan
from .analysis.published import load_published
from .analysis.rankings import rank_models
from .analysis.series import trace
from .analysis.sides import select
from .analysis.structure import Structure, find_structure
from .analysis.study import Study, check_readable, load_study
from .claims.baselines import MARGIN, check_baseline, check_margins, without_baseline
from .claims.files import Claims, as_claims
from .claims.verdicts import GateResult, check_claims, make_result
from .errors import IsoglossError
from .exchange.runs import read_chosen
from .files import filters
from .files.sources import read
from .items import Items
from .languages import resolve
from .models.model import DEFAULT_LOADING, Loading, Model
from .progress import Progress, default_progress
from .results import Results, as_names
from .runs import find_runs, written_parts
from .scores import Scored, check_scored, item_table, join_scored
from .stats import RESAMPLES
from .stats.hypotheses import POWER
from .storage import StoragePath, as_path

if TYPE_CHECKING:
    from .methods.ask import AskSettings
    from .reports.figures import FigureRequest, WrittenFigure
    from .studies.probe import Probe
    from .studies.run import Cluster

__all__ = [
    "ask",
    "change",
    "compare",
    "controls",
    "describe_methods",
    "figure",
    "gate",
    "join",
    "load",
    "load_published",
    "measure",
    "probe",
    "rank_models",
    "read",
    "report",
    "run",
    "score",
    "structure",
    "table",
    "trace",
]
Names = str | Sequence[str] | None
Folders = str | Path | Sequence[str | Path]
Source = Study | Scored | Folders
Where = filters.Where | None
Facts = str | Path | Mapping[str, Mapping[str, Any]] | None


def score(
    items: Items,
    *,
    model: str | Path | Model | Sequence[str | Path | Model],
    method: str = "auto",
    options: Mapping[str, str] | None = None,
    out: str | Path | None = None,
    until: str | None = None,
    loading: Loading = DEFAULT_LOADING,
    progress: Progress | None = None,
) -> Scored:
    """The scores of items by one or several models, as one table; the first model that fails raises an error.

    Parameters:
        items: Items, as `isogloss.read` gives them.
        model: A model's name, a folder, an open model, or a list of these.
        method: The scoring method; `auto` takes the default of each family. `isogloss list methods` shows all.
        options: Options of the method by name: `{"length": "sum"}`.
        out: A folder for the scores; finished parts there are not scored again.
        until: A stopping rule such as `ss±2`; it needs `out`.
        loading: How models are opened: device, number format, batches.
        progress: A function to call with the progress; without it, a notebook or an interactive session shows bars.

    Example:
        >>> items = ig.read("demo", language="en")
        >>> ig.score(items, model="smollm2")
        Scored(96 items, 288 rows: smollm2 · continuation, likelihood · demo · en)
    """
    from .studies.run import score_items

    _check_items(items, "score")
    with default_progress(progress) as telling:
        return score_items(
            items,
            model,
            method=method,
            options=options,
            out=as_path(out) if out else None,
            until=until,
            loading=loading,
            progress=telling,
        )


def ask(
    items: Items,
    *,
    model: str | Path | Model | Sequence[str | Path | Model],
    settings: AskSettings | None = None,
    out: str | Path | None = None,
    until: str | None = None,
    loading: Loading = DEFAULT_LOADING,
    progress: Progress | None = None,
) -> Scored:
    """The answers of one or several chat models about items, as one table; the same as `score` with the method `ask`.

    Parameters:
        items: Items, as `isogloss.read` gives them.
        model: A chat model's name, a folder, an open model, the address of a server, or a list of these.
        settings: How questions are asked.
        out: A folder for the answers; answered questions there are not asked again.
        until: A stopping rule such as `agreement±5`; it needs `out`.
        loading: How models are opened; for a server, see `served_model` and `key_env`.
        progress: A function to call with the progress; without it, a notebook or an interactive session shows bars.

    Example:
        >>> items = ig.read("demo", language="en", where="category=religion")
        >>> ig.ask(items, model="smollm2-chat", settings=ig.AskSettings(max_tokens=3))
        Scored(14 items, 84 rows: smollm2-chat · ask[max_tokens=3] · demo · en)
    """
    _check_items(items, "ask")
    from .methods.ask import AskSettings

    options = (settings or AskSettings()).options
    return score(
        items, model=model, method="ask", options=options, out=out, until=until, loading=loading, progress=progress
    )


def run(
    study: str | Path,
    *,
    out: str | Path | None = None,
    only: str | Sequence[str] = (),
    cluster: Cluster | None = None,
    shard: str | None = None,
    progress: Progress | None = None,
) -> Study:
    """The result of a study file: scores, measures, claims, and the cells that failed.

    Parameters:
        study: A study file.
        out: The folder to write to; by default `runs/NAME`.
        only: One pattern or several; only matching cells are run: `smollm2/demo/en`, `*/demo`.
        cluster: The Ray cluster to run on; by default, this process scores.
        shard: The share that this process scores, such as `3/16`. Until all shards are done, the study has no scores,
            and its problems state the number of missing parts.
        progress: A function to call with the progress; without it, a notebook or an interactive session shows bars.

    Example:
        >>> ig.run("study.yaml", out="runs/study")
        Study(192 scored items, 4 runs)
    """
    if not isinstance(study, str | Path):
        raise IsoglossError("run takes one study file. Run several one after another.")
    from .studies.plan import Subset, plan_study
    from .studies.run import execute
    from .studies.shards import run_share
    from .studies.training import train_heads

    train_heads(study)
    plan = plan_study(study, subset=Subset(as_names(only)))
    folder = as_path(out or f"runs/{plan.study.name if plan.study else 'study'}")
    if shard is not None and cluster is not None:
        raise IsoglossError("A cluster divides the work itself. Use a cluster or a shard, not both.")
    with default_progress(progress) as telling:
        if shard is not None:
            return run_share(plan, shard, out=folder, progress=telling)
        return execute(plan, out=folder, cluster=cluster, progress=telling)


def probe(
    model: str | Path | Model,
    text: str,
    *,
    language: str = "en",
    terms: str | None = None,
    folder: str | Path | None = None,
    limit: int = 2000,
    loading: Loading = DEFAULT_LOADING,
) -> Probe:
    """Which terms a model finds most probable in a template, as shares.

    Parameters:
        model: A model's name, a folder, or an open model.
        text: A template, such as `The {gender} is a [nurse|doctor].`
        language: The language of the template, by tag or name.
        terms: The slot whose terms are compared; by default the one in brackets, else the first.
        folder: A folder with your vocabularies.
        limit: The maximum number of sentences; more raise an error.
        loading: How the model is opened.

    Example:
        >>> shares = ig.probe("smollm2", "The [nurse|doctor] is kind.")
        >>> sorted(one.term for one in shares.shares)
        ['doctor', 'nurse']
    """
    from .studies.probe import ProbeRequest, run_probe

    if not isinstance(model, str | Path | Model) or not isinstance(text, str) or not isinstance(language, str):
        raise IsoglossError("probe takes one model, one template and one language. Probe several one after another.")
    request = ProbeRequest(text, language, terms, Path(folder) if folder is not None else None)
    return run_probe(model, request, limit=limit, loading=loading)


def _check_items(items: Items, verb: str) -> None:
    if not isinstance(items, Items):
        raise IsoglossError(f"{verb} takes items. Read them first: items = isogloss.read('demo', language='en')")


def load(
    source: Source,
    *,
    languages: Names = None,
    where: Where = None,
    data: Items | Folders | None = None,
) -> Scored:
    """The scores of folders of runs or prediction files as one table, or a selection of scores.

    Parameters:
        source: A folder of runs, a prediction file, or several; or a study or scores to select from.
        languages: One language or several, by tag or name; without it, all.
        where: One condition or several: `category=gender`, or `{"category": "gender"}`, also with a list of values.
        data: The data that prediction files belong to.

    Example:
        >>> ig.load("runs/mine", languages="English")
        Scored(96 items, 288 rows: smollm2 · continuation, likelihood · demo · en)
    """
    study = open_study(source, languages=languages, where=where, data=data)
    return replace(study.scores, notes=(*study.scores.notes, *study.problems))


def open_study(
    source: Source, *, languages: Names = None, where: Where = None, data: Items | Folders | None = None
) -> Study:
    """What all commands and functions look at: a study, scores, folders of runs, or files of predictions with their data."""
    wanted = read_conditions(where)
    if isinstance(source, Study | Scored):
        return (source if isinstance(source, Study) else Study(source)).narrow(as_names(languages), wanted)
    paths = source_paths(source)
    files = [path for path in paths if _is_file(path)]
    if data is not None and not files:
        raise IsoglossError("`data` is for prediction files; a run knows its data.")
    if data is not None and not isinstance(data, Items):
        data = read(data, language=as_names(languages))
    folders = [str(path) for path in paths if not _is_file(path)]
    study = load_study(folders, tags=as_names(languages), where=wanted) if folders else Study(None)
    if not files:
        return study.narrow((), wanted)
    scores = [read_chosen(Path(str(path)), data, where=wanted) for path in files]
    joined = join_scored([*([study.scored] if study.scored else []), *scores])
    return replace(study, scored=select(joined, wanted), memory={})


def load_sides(paths: Folders, a: Where, *, b: Where, data: Items | None = None) -> tuple[Scored, Scored]:
    """Both sides of a comparison: two folders or files, or one with what to choose in it for each side."""
    sides = source_paths(paths)
    if len(sides) == 1 and a and b:
        sides *= 2
    if len(sides) != 2:
        raise IsoglossError(
            "Give two runs to compare, or one folder and what to choose in it, such as `a='language=en'` and `b='language=de'`."
        )
    files = [_is_file(path) for path in sides]  # a run knows its data, the file beside it does not
    items = [data if is_file or not any(files) else None for is_file in files]
    return load(str(sides[0]), data=items[0], where=a), load(str(sides[1]), data=items[1], where=b)


def read_conditions(where: Where) -> dict[str, str]:
    """The columns and the values that they must have."""
    if isinstance(where, Mapping):
        return {name: value if isinstance(value, str) else ",".join(value) for name, value in where.items()}
    pairs = [text.partition("=") for text in as_names(where)]
    for name, sign, value in pairs:
        if not sign or not name.strip("! "):
            raise IsoglossError(f"'{name}{sign}{value}' does not select scores. Write it as column=value.")
    return {name.strip(): value.strip() for name, _, value in pairs}


def source_paths(source: Folders) -> list[StoragePath]:
    """The paths of one source or several; none at all is refused."""
    if not (names := source_names(source)):
        raise IsoglossError("No runs were given. Give a folder of runs, such as 'runs/mine', or a list of folders.")
    return [as_path(name) for name in names]


def source_names(source: Folders) -> list[str | Path]:
    """One path or several, as a list; a dictionary, and scores inside a list, are refused."""
    if isinstance(source, Mapping):
        raise IsoglossError(
            "A dictionary is not a source of scores. Write it to a JSON file and name the items that it belongs to, as in "
            "isogloss.load('scores.json', data='demo')."
        )
    names = [source] if isinstance(source, str | Path) else list(source)
    if any(isinstance(name, Scored) for name in names):
        raise IsoglossError("Give one table of scores; several are joined with isogloss.join(a, b).")
    return names


def _is_file(path: StoragePath) -> bool:
    return isinstance(path, Path) and path.is_file()


def join(*scored: Scored) -> Scored:
    """Scores of several models, languages or data sets as one table; two versions of one model are an error.

    Parameters:
        scored: The scores.

    Example:
        >>> ig.join(ig.load("runs/mine"), ig.load("runs/other"))
        Scored(96 items, 576 rows: other, smollm2 · continuation, likelihood · demo · en)
    """
    return join_scored([check_scored(part, "join") for part in scored or (None,)])


def gate(
    source: Source,
    claims: Claims = None,
    *,
    data: Items | Folders | None = None,
    baseline: Source | None = None,
    margin: float | None = None,
    strict: bool = False,
    robustness: bool = False,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> GateResult:
    """The verdict on each claim: supported, contradicted, undecided, or why it cannot be tested.

    Parameters:
        source: Scores, folders of finished runs, or prediction files with `data`.
        claims: A YAML file, its content, or a list of claims.
        data: The data that prediction files belong to.
        baseline: Scores or runs that `source` must not be worse than, and from which claims measure a change.
        margin: How many points worse than the baseline each metric may be; by default 2, or the file's `margins`.
        strict: Whether undecided counts as failed.
        robustness: Whether to test each claim also in the other mode and without a task, a bias type or ties.
        resamples: How many times clusters are resampled.
        seed: The seed of the resampling.

    Example:
        >>> ig.gate("runs/mine", ["lms > 10"], resamples=200).status
        'passed'
    """
    if claims is None and baseline is None:
        raise IsoglossError("Give `claims`, `baseline`, or both.")
    if margin is not None and baseline is None:
        raise IsoglossError("`margin` limits the change from a baseline. Give `baseline` too.")
    file = as_claims(claims)
    check_margins(file, margin)
    scored = _finished(source, data)
    before = _finished(baseline, data) if baseline is not None else None
    file = replace(file, baseline=before)
    verdicts, notes = check_claims(scored, file, robustness=robustness, resamples=resamples, seed=seed), scored.notes
    if before is not None:
        most = MARGIN if margin is None else margin
        judged, notes = check_baseline(scored, before, file=file, margin=most, resamples=resamples)
        same = ("these runs and the baseline have the same scores",) if scored.table.equals(before.table) else ()
        verdicts, notes = verdicts + judged, tuple(dict.fromkeys([*same, *scored.notes, *notes]))
    else:
        verdicts += without_baseline(file)
    return make_result(verdicts, file, strict=strict, notes=notes)


def plan(
    pilot: Source,
    other: Source | None = None,
    *,
    difference: float,
    power: float = POWER,
    metric: str | None = None,
    design: str | None = None,
    data: Items | Folders | None = None,
    languages: Names = None,
    where: Where = None,
    prices: tuple[float, float] = (0.0, 0.0),
) -> Results[SizePlan]:
    """The number of items needed to detect a difference with a given power, in each language and over all, and what they cost.

    Parameters:
        pilot: A run or published scores of one model, on similar items.
        other: A second model on the same items, which shows how far two runs agree.
        difference: The true difference to detect, in units of the metric.
        power: The probability of detecting it, two-sided at 5 %.
        metric: A mean over items; by default SS, or the CrowS-Pairs score of pairs.
        design: `paired` (with `other`), `independent` (without), or `fixed`: one run against a number.
        data: The data that prediction files belong to.
        languages: One language or several; without it, all.
        where: One condition or several that select scores: `model=gpt2`, or `{"model": "gpt2"}`.
        prices: Prices per million prompt tokens and per million answer tokens.

    Example:
        >>> ig.plan("runs/mine", difference=5, design="fixed")[0].items > 100
        True
    """
    from .studies.sizes import SizeRequest, plan_sizes

    sides = [
        open_study(side, languages=languages, where=where, data=data) for side in (pilot, other) if side is not None
    ]
    return plan_sizes(sides, SizeRequest(difference, power, metric, design, prices))


def _finished(source: Source, data: Items | Folders | None) -> Scored:
    """The scores; runs that are not finished, or cannot be read, are refused."""
    study = check_readable(open_study(source, data=data))
    for run in (*study.runs, *study.empty):
        if run.stopped:
            raise IsoglossError(
                f"The run {run.folder} was stopped on purpose ({run.stopped}). Run it without a stopping rule to complete it."
            )
        if len(written_parts(run)) < run.parts:
            raise IsoglossError(f"The run {run.folder} is not finished. Run the same command again to complete it.")
    return study.scores


def controls(
    source: Source,
    *,
    data: Items | Folders | None = None,
    frequencies: str | Path | Mapping[str, int] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Results[Control]:
    """SS of each model and language, and SS of control items, permuted labels and simple preferences.

    Parameters:
        source: Folders of runs, or scores or prediction files with `data`.
        data: The data, with texts, of scores or prediction files.
        frequencies: Word frequencies, or a file of them; by default, words are counted in the data.
        resamples: How many times items are resampled or permuted.
        seed: The seed of both.

    Example:
        >>> ig.controls("runs/mine", resamples=200).to_polars()["name"].to_list()
        ['score', 'permuted labels', 'shorter words', 'more frequent words', 'fewer tokens']
    """
    counts = read_frequencies(Path(frequencies)) if isinstance(frequencies, str | Path) else frequencies
    if data is not None:
        items = data if isinstance(data, Items) else read(data)
        known = isinstance(source, Study | Scored)
        scored, texts = open_study(source, data=None if known else items).scores, item_table(items)
    else:
        study = open_study(source)
        scored, texts = study.scores, study.items
        if not study.runs:
            raise IsoglossError("Scores do not hold the texts that controls need. Give the items too: data=items.")
    return check_controls(scored, texts, frequencies=counts, resamples=resamples, seed=seed)


def structure(source: Source, *, over: str = "language") -> Results[Structure]:
    """How far languages or models agree item by item, and what is common to all or specific to one.

    Parameters:
        source: Scores or folders of runs, in several languages or of several models.
        over: What to compare: `language` or `model`.

    Example:
        >>> ig.structure(["runs/mine", "runs/other"], over="model")[0].units
        ('other', 'smollm2')
    """
    return find_structure(open_study(source).scores, over=over)


def table(
    source: Source,
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
        source: A study, scores, or one or several folders of runs.
        format: `latex`, `markdown`, `csv`, `parquet` or `model-index`.
        out: A file to write; the result is then a sentence that names it.
        languages: One language or several; without it, all.
        metrics: One metric or several; by default LMS, SS and ICAT where they fit.
        task: One task, or `all` for values over all tasks.
        intervals: Whether intervals are shown below the values.
        facts: Facts about each model, or a YAML file of them; `multilingual` divides the rows into blocks, `label` names a row.
        mode: `corrected` or `paper`.
        interval: `auto`, `bootstrap`, `bca` or `wilson`.
        resamples: How many times items are resampled.
        seed: The seed of the resampling.
        study: A study file; the result is then the tables that it lists, as Markdown or LaTeX.

    Example:
        >>> print(ig.table("runs/mine", metrics="ss", task="all", resamples=200))
        SS on demo: ...
        <BLANKLINE>
        | model | SS en |
        ...
    """
    from .reports.paper.output import write_paper
    from .studies.outputs import write_tables

    if study is not None:
        return write_tables(study, open_study(source).scores, kind=format, out=out, facts=_facts(facts))
    request = replace(
        _request(source),
        languages=tuple(resolve(tag) for tag in as_names(languages)),
        metrics=as_names(metrics),
        mode=mode,
        settings=IntervalSettings(interval, resamples, seed),
        facts=_facts(facts),
    )
    path = Path(out) if out is not None else None
    return write_paper(request, format, task=task, intervals=intervals, out=path)


def _request(source: Source) -> FigureRequest:
    """A request for what this source holds."""
    from .reports.figures import FigureRequest

    if isinstance(source, Study | Scored):
        return FigureRequest(study=open_study(source))
    return FigureRequest(tuple(map(str, source_names(source))))


def _facts(facts: Facts) -> Mapping[str, Mapping[str, Any]]:
    return read_facts(Path(facts)) if isinstance(facts, str | Path) else facts or {}


def figure(
    name: str,
    source: Source,
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
    """A figure for a paper; a notebook shows it.

    Parameters:
        name: The figure; `isogloss list figures` shows all.
        source: A study, scores, or one or several folders of runs; some figures need other sources.
        out: A file to write: PNG, SVG or PDF by its ending.
        width: `single` (3.3 in), `double` (6.9 in), or inches.
        languages: One language or several; without it, all.
        metrics: One metric or several; by default the figure's own.
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
    from .reports.figures import write_figure
    from .reports.figures._style import open_canvas

    tags = tuple(resolve(tag) for tag in as_names(languages))
    request = replace(
        _request(source),
        languages=tags,
        metrics=as_names(metrics),
        where=read_conditions(where),
        mode=mode,
        facts=_facts(facts),
        settings=IntervalSettings(resamples=resamples, seed=seed),
    )
    path = Path(out) if out is not None else None
    return write_figure(name, request, path=path, canvas=open_canvas(str(width), names=names, languages=tags))


def report(
    source: Source,
    out: str | Path,
    *,
    add: Folders = (),
    facts: Facts = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Path:
    """The path of a report: one HTML file that works offline, or a PDF of two pages.

    Parameters:
        source: A study, scores, or one or several folders of runs.
        out: The file to write: .html, or .pdf for a summary of two pages.
        add: Files to include: JSON of gate, change, robustness, controls or agreement, or tables of shares or
            answers.
        facts: Facts about each model, or a YAML file of them.
        resamples: How many times items are resampled.
        seed: The seed of the resampling.

    Example:
        >>> ig.report("runs/mine", "report.html", resamples=200)
        PosixPath('report.html')
    """
    from .reports.page.added_files import read_extras
    from .reports.page.document import write_report

    extras = read_extras([Path(path) for path in source_names(add)], facts=_facts(facts))
    study = open_study(source) if isinstance(source, Study | Scored) else load_study(source_names(source), texts=True)
    return write_report(study, out, extras=extras, settings=IntervalSettings(resamples=resamples, seed=seed))


def describe_methods(source: Study | Folders, *, resamples: int = RESAMPLES) -> str:
    """A methods paragraph for a paper, then BibTeX: models, data, methods, metrics, intervals and limits.

    Parameters:
        source: A study, or one or several folders of runs; scores alone do not say how they were made.
        resamples: The number of resamples that the measures were made with.

    Example:
        >>> print(ig.describe_methods("runs/mine"))
        We measured smollm2 ...
    """
    from .reports.text.methods_paragraph import describe_methods as describe_runs

    if isinstance(source, Scored):
        raise IsoglossError("Scores do not say how they were made. Give the folder of their runs.")
    runs = source.runs if isinstance(source, Study) else find_runs(*source_paths(source))
    return describe_runs(runs, resamples=resamples)
