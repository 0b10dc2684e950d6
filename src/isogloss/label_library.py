"""Verbs of `import isogloss as ig` about answers from elsewhere and what people say: import, read, label, correct."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .analysis.intervals import IntervalSettings
from .analysis.study import Study
from .files.sources import read
from .items import Items
from .library import Folders, Names, Source, Where, open_study, read_conditions, source_names, source_paths
from .results import Results, as_names
from .stats import RESAMPLES
from .storage import as_path

if TYPE_CHECKING:
    import polars as pl

    from .analysis.annotators import LabelAgreement
    from .annotation.answer_verdicts import VerdictCount, VerdictDifference
    from .annotation.bleeding import KnownDifference
    from .annotation.corrections import CorrectedRate
    from .annotation.labels import LabelTable


def import_answers(
    source: str | Path,
    *,
    out: str | Path = "runs/imported",
    question: str | None = None,
    model: str | None = None,
    language: str | None = None,
    columns: Mapping[str, str] | None = None,
    encoding: str | None = None,
    data: Items | Folders | None = None,
) -> Study:
    """Answers of chat models that were collected elsewhere, as runs.

    Parameters:
        source: A table (CSV, XLSX, JSON lines, Parquet, Arrow), an Inspect or lm-evaluation-harness log, or a
            DecodingTrust file.
        out: The folder of the runs, one for each model, language, system prompt and temperature.
        question: What was asked (`stereotype`, `agree` or `disagree`), if no column says so.
        model: The model's name, if no column says so.
        language: The language of prompts and answers, if no column says so.
        columns: Your name of each column: `{"answer": "reply"}`; an unknown key becomes a column to group by.
        encoding: The encoding of the file; by default detected.
        data: The data whose sentences were asked about.

    Example:
        >>> ig.import_answers("answers.csv", out="runs/answers", question="agree")
        Study(2 scored items, 1 run)
    """
    from .exchange.answers import import_answers as import_runs_of_answers
    from .exchange.foreign_answers import AnswerImport

    items = data if data is None or isinstance(data, Items) else read(data, language=language)
    settings = AnswerImport(question, model, language, columns or {}, encoding, items)
    runs = import_runs_of_answers(Path(source), settings, root=as_path(out))
    return open_study([str(run.folder) for run in runs])


def verdicts(
    source: Folders, *, by: Names = None, languages: Names = None, where: Where = None
) -> Results[VerdictCount]:
    """How many answers have each verdict, by model, data set, language and method.

    Parameters:
        source: One or several folders of runs with answers.
        by: Further columns to group by.
        languages: One language or several, by tag or name; without it, all.
        where: One condition or several: `system_prompt=none`.

    Example:
        >>> ig.verdicts("runs/answers")[0].counts
        {'yes': 1, 'no': 1}
    """
    from .annotation.answer_verdicts import count_verdicts

    return count_verdicts(_answers(source, languages=languages, where=where), by=as_names(by))


def compare_verdicts(
    source: Folders, *, by: Names = None, languages: Names = None, where: Where = None
) -> Results[VerdictDifference]:
    """Where and why imported verdicts differ from ours.

    Parameters:
        source: One or several folders of runs with answers.
        by: Further columns to group by.
        languages: One language or several, by tag or name; without it, all.
        where: One condition or several: `system_prompt=none`.

    Example:
        >>> [(row.kind, row.count) for row in ig.compare_verdicts("runs/answers")]
        [('opposite', 1), ('same', 1)]
    """
    from .annotation.answer_verdicts import compare_verdicts as compare_readings

    return compare_readings(_answers(source, languages=languages, where=where), by=as_names(by))


def _answers(source: Folders, *, languages: Names, where: Where) -> pl.DataFrame:
    """The answers of runs, each with its verdicts."""
    from .annotation.answer_verdicts import read_verdicts
    from .runs import find_runs, in_languages

    runs = in_languages(find_runs(*source_paths(source)), as_names(languages))
    return read_verdicts(runs, where=read_conditions(where))


def sheet(
    source: Items | Folders,
    out: str | Path,
    *,
    count: int | None = None,
    languages: Names = None,
    where: Where = None,
    seed: int = 0,
) -> Path:
    """A sheet for one annotator: is each sentence a stereotype where they live, or what does each answer say?

    Parameters:
        source: Items or data for sentences, folders of runs for answers.
        out: The file to write: .xlsx (with drop-downs and instructions) or .csv.
        count: The maximum number of sentences, or of answers per model (by default 100).
        languages: One language or several, by tag or name; without it, all.
        where: Only answers with these values of columns.
        seed: The seed of the random sample.

    Example:
        >>> ig.sheet("runs/answers", "sheet.csv")
        PosixPath('sheet.csv')
    """
    from .annotation.corrections import draw_answers
    from .annotation.label_sheets import item_rows, write_label_sheet
    from .items import sample_items

    if not isinstance(source, Items) and not any(_is_data(name) for name in source_names(source)):
        rows = draw_answers(_answers(source, languages=languages, where=where), count=count or 100, seed=seed)
    else:
        items = source if isinstance(source, Items) else read(source, language=as_names(languages))
        rows = item_rows(items if count is None else sample_items(items, limit=count, seed=seed))
    return write_label_sheet(Path(out), rows)


def _is_data(name: str | Path) -> bool:
    """Whether a name is a file or a data set, and no folder of runs."""
    path = Path(name)
    return not path.is_dir() or not any(path.rglob("run.json"))


def read_labels(source: Folders, *, language: str | None = None) -> LabelTable:
    """Labels by people as one table, in which annotators have numbers instead of names.

    Parameters:
        source: One or several files: completed sheets, tables with the columns item, question and label, or the
            published labels of SeeGULL Multilingual, KoBBQ or GEST.
        language: The language and region of files that name none: `es-MX`.

    Example:
        >>> len(ig.read_labels("filled.csv"))
        2
    """
    from .annotation.label_files import read_label_files

    return read_label_files([Path(name) for name in source_names(source)], language=language).labels


def label_agreement(
    labels: LabelTable | Items,
    *,
    by: Names = None,
    left_out: Names = None,
    over: str = "items",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Results[LabelAgreement]:
    """How far people agree: Krippendorff's alpha and Gwet's AC1 of each question, with 95 % intervals.

    Parameters:
        labels: Labels, or items with annotators' labels such as StereoSet's, where stereotype and anti-stereotype are
            compared.
        by: Further columns to group by.
        left_out: Labels that count as missing, such as `unsure`.
        over: What intervals resample: `items` (their clusters), `annotators`, or `both`.
        resamples: How many times.
        seed: The seed of the resampling.

    Example:
        >>> ig.label_agreement(ig.read_labels(["filled.csv", "other.csv"]))[0].n
        2
    """
    from .analysis.annotators import measure_annotators
    from .annotation.agreement import measure_agreement

    if isinstance(labels, Items):
        return measure_annotators(labels, by=as_names(by), resamples=resamples, seed=seed)
    settings = IntervalSettings(resamples=resamples, seed=seed)
    return measure_agreement(labels, by=as_names(by), left_out=as_names(left_out), over=over, settings=settings)


def correct(
    source: Folders,
    labels: LabelTable,
    *,
    verdict: str = "yes",
    by: Names = None,
    where: Where = None,
    within: float | None = None,
) -> Results[CorrectedRate]:
    """How often answers have a verdict, corrected with people's reading of a sample of them.

    Parameters:
        source: One or several folders of runs with answers.
        labels: What people read in a random sample of the answers.
        verdict: The verdict whose rate is estimated.
        by: Further columns to group by.
        where: One condition or several.
        within: A half-width in points, for which the result states how many answers to read.

    Example:
        >>> ig.correct("runs/answers", ig.read_labels("filled.csv"))[0].read
        2
    """
    from .annotation.corrections import correct_rates

    answers = _answers(source, languages=None, where=where)
    return correct_rates(answers, labels, verdict=verdict, by=as_names(by), within=within)


def bleeding(
    source: Source,
    labels: LabelTable,
    *,
    metric: str = "ss",
    question: str = "stereotype",
    label: str = "stereotype",
    share: float = 0.5,
    place: str | None = None,
    by: Names = None,
    where: Where = None,
    mode: str = "corrected",
    resamples: int = RESAMPLES,
) -> Results[KnownDifference]:
    """A metric over labeled items, weighted by how many people know the stereotype, and separately for known and unknown stereotypes.

    Parameters:
        source: A study, scores, or one or several folders of runs.
        labels: Labels of the items.
        metric: The metric.
        question: The question whose labels count.
        label: The label of a known stereotype.
        share: A stereotype is known if more than this share of people gave the label.
        place: Use the labels of this country for all items in its language: `es-MX`.
        by: Further columns to group by.
        where: One condition or several.
        mode: `corrected` or `paper`.
        resamples: How many times clusters are resampled.

    Example:
        >>> ig.bleeding("runs/mine", ig.read_labels("known.csv"), resamples=200)[0].metric
        'ss'
    """
    from .annotation.bleeding import KnownRule, join_known, measure_bleeding

    scored = join_known(open_study(source, where=where).scores, labels, rule=KnownRule(question, label, share, place))
    return measure_bleeding(scored, metric=metric, by=as_names(by), mode=mode, resamples=resamples)
