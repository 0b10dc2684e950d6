"""What a study writes beside its measures, as its file lists them: verdicts on claims, tables in a paper's layout, figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from .. import languages
from ..analysis.study import Study
from ..claims.files import read_claims
from ..claims.verdicts import ClaimsFile, GateResult, check_claims, make_result
from ..errors import IsoglossError, short_message
from ..files.layout import write_atomically
from ..reports.chart_data import Facts
from ..reports.paper.layouts import ValueOrder, add_facts
from ..reports.paper.output import layout_grids, write_layouts
from ..reports.text.table import Grid
from ..runs import Run
from ..scores import Scored
from ..storage import RemotePath, StoragePath

if TYPE_CHECKING:
    from .file import StudyFile

RUN_FACTS = ("parameters", "vocabulary")


@dataclass(frozen=True, slots=True)
class StudyFigure:
    """A figure of a study: its name, the file it is written to, and what `isogloss figure` takes.

    It is drawn from the study's runs, or from `sources`, files beside the study file.
    """

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012  # for study files

    figure: str
    file: str | None = None
    metrics: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)
    names: str = "english"
    width: str = "double"
    mode: str = "corrected"
    sources: tuple[str, ...] = ()


def _check_claims(study: StudyFile, file: ClaimsFile, *, scored: Scored) -> GateResult:
    """The verdicts on the claims of a study; the facts of its models make groups, as those of the file of claims do."""
    truth = {"yes": "True", "true": "True", "no": "False", "false": "False"}
    known = {
        model.label or str(model.checkpoint): {
            name: truth.get(value.lower(), value) for name, value in model.facts.items()
        }
        for model in study.models
    }
    facts = {name: {**known.get(name, {}), **file.facts.get(name, {})} for name in {**known, **file.facts}}
    table = scored.table.drop({name for facts_of in known.values() for name in facts_of}, strict=False)
    verdicts = check_claims(replace(scored, table=table), replace(file, facts=facts))
    return make_result(verdicts, file, notes=scored.notes)


def table_order(study: StudyFile) -> ValueOrder:
    """Models, languages and facts in the order of the file."""
    labels = [model.label or str(model.checkpoint) for model in study.models]
    order: dict[str, list[str]] = {
        "model": [str(model.facts.get("row", label)) for model, label in zip(study.models, labels, strict=True)],
        "language": [languages.resolve(name) for name in study.languages],
    }
    facts = [*(model.facts for model in study.models), *(data.facts for data in study.data)]
    for known in facts:
        for name, value in known.items():
            order.setdefault(name, []).append(str(value))
    return {name: tuple(dict.fromkeys(values)) for name, values in order.items()}


def make_tables(file: StudyFile, scored: Scored) -> dict[str, Grid | str]:
    """All tables of a study by title."""
    labelled = [replace(table, labels={**file.labels, **table.labels}) for table in file.tables]
    return layout_grids(scored, labelled, order=table_order(file))


def write_tables(
    path: str | Path, scored: Scored, *, kind: str, out: str | Path | None = None, facts: Facts | None = None
) -> str:
    """The tables that a study file lists, made from these scores, as text or, with a file, written to it."""
    from .file import read_study

    if kind not in ("markdown", "latex"):
        raise IsoglossError("Tables of a study are Markdown or LaTeX. Use `format='markdown'` or `format='latex'`.")
    text = write_layouts(make_tables(read_study(path), add_facts(scored, facts or {})), kind)
    if out is None:
        return text
    write_atomically(Path(out), text)
    return f"Wrote {out}."


def write_outputs(file: StudyFile, study: Study, *, out: StoragePath, base: Path) -> Study:
    """Write `claims.json`, the report, `tables.md`, `tables.tex` and the figures that a study file lists.

    The study comes out with the verdicts on its claims, and with a sentence for each output that could not be made.
    `base` is the folder of the study file. Tables and figures are not written behind an address.
    """
    problems: list[str] = []
    try:
        claims = _check_claims(file, read_claims(base / file.claims), scored=study.scores) if file.claims else None
        study = replace(study, claims=claims)
    except IsoglossError as error:
        problems.append(f"The claims could not be tested: {error}")
    if study.claims:
        write_atomically(out / "claims.json", f"{study.claims.to_json()}\n")
    try:
        if file.report:
            _write_report(study, file, out=out)
    except Exception as error:  # whatever happens here, the scores are done
        problems.append(f"The report could not be written: {short_message(error)}")
    if isinstance(out, RemotePath):
        return replace(study, problems=(*study.problems, *problems))
    if file.tables:
        facts = any(table.facts for table in file.tables)
        scored = _add_run_facts(study.scores, study.runs) if facts else study.scores
        grids = make_tables(file, scored)
        for kind, name in (("markdown", "tables.md"), ("latex", "tables.tex")):
            write_atomically(out / name, write_layouts(grids, kind))
    for number, figure in enumerate(file.figures, 1):
        path = out / "figures" / (figure.file or f"{number}-{figure.figure}.png")
        try:
            _write_figure(figure, path, study=study, sources=tuple(str(base / name) for name in figure.sources))
        except Exception as error:  # whatever happens here, the scores are done
            problems.append(f"The figure '{figure.figure}' could not be drawn: {short_message(error)}")
    return replace(study, problems=(*study.problems, *problems))


def _write_report(study: Study, file: StudyFile, *, out: StoragePath) -> None:
    from ..reports.page.added_files import Extras
    from ..reports.page.document import write_report

    name = str(file.report)
    if isinstance(out, RemotePath):
        raise IsoglossError(f"{out} is not on this machine. Make it with: isogloss report {out} --out {name}")
    path = out / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_report(study, path, extras=Extras(claims=study.claims.verdicts if study.claims else (), title=file.title))


def _add_run_facts(scored: Scored, runs: Sequence[Run]) -> Scored:
    """The scores with the number of parameters and the size of the vocabulary of each checkpoint, unless the study states them."""
    facts = {
        (run.info["model"], run.info["language"]): [run.info.get("facts", {}).get(name) for name in RUN_FACTS]
        for run in runs
    }
    rows = [
        (*key, *(f"{value:,}" if isinstance(value, int) else None for value in values)) for key, values in facts.items()
    ]
    schema = dict.fromkeys(("model", "language", *RUN_FACTS), pl.String)
    known = pl.DataFrame(rows, schema=schema, orient="row")
    joined = scored.table.join(known, on=["model", "language"], how="left", suffix="_found", maintain_order="left")
    stated = [name for name in RUN_FACTS if name in scored.table.columns]
    joined = joined.with_columns(pl.coalesce(name, f"{name}_found").alias(name) for name in stated)
    return replace(scored, table=joined.drop(f"{name}_found" for name in stated))


def _write_figure(figure: StudyFigure, path: Path, *, study: Study, sources: tuple[str, ...]) -> None:
    """Draw a figure of the study, or of files beside the study file."""
    from ..reports.figures import FigureRequest, write_figure
    from ..reports.figures._style import open_canvas

    tags = tuple(languages.resolve(name) for name in figure.languages)
    request = FigureRequest(sources, tags, figure.metrics, dict(figure.where), figure.mode)
    path.parent.mkdir(parents=True, exist_ok=True)
    canvas = open_canvas(figure.width, names=figure.names, languages=tags)
    write_figure(figure.figure, request if sources else replace(request, study=study), path=path, canvas=canvas)
