"""How each kind of result is shown: by the class of its rows, or its own where it has none."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from ...analysis.agreements import Agreement
from ...analysis.annotators import LabelAgreement
from ...analysis.changes import GroupChange
from ...analysis.comparisons import Comparison
from ...analysis.controls import Control
from ...analysis.explanations import Explanation
from ...analysis.mbe_tests import MbeTest
from ...analysis.measures import Measure
from ...analysis.mixed import MixedModel
from ...analysis.planning import SizePlan
from ...analysis.rankings import Rank
from ...analysis.robustness import RobustnessReport
from ...analysis.series import SeriesStep
from ...analysis.structure import Structure
from ...claims.verdicts import GateResult
from . import analyses, annotators, change, claims, comparisons, measures
from .table import Grid


@dataclass(frozen=True, slots=True)
class View:
    """How a result is shown: its key in JSON, and the functions that make its text and its table.

    A function takes the whole result, unless `each` is set: then it takes one row. Without a function for the text, the
    table is the text. `detail` is the field whose rows are the rows of the table. A `whole` text has the result's notes.
    """

    key: str
    text: Callable[[Any], str] | None = None
    grid: Callable[[Any], Grid] | None = None
    each: bool = False
    detail: str | None = None
    whole: bool = False


@singledispatch
def view_of(_: object) -> View:
    """How results with such rows are shown; a class of another package registers its own."""
    return View("rows")


def _show(kind: type, view: View) -> None:
    view_of.register(kind, lambda _: view)


_show(Measure, View("measures", measures.measures_as_text, measures.grid, whole=True))
_show(Comparison, View("comparisons", comparisons.comparisons_as_text, comparisons.grid, whole=True))
_show(GroupChange, View("changes", change.changes_as_text, change.grid, whole=True))
_show(SeriesStep, View("steps", change.series_as_text, change.series_grid, whole=True))
_show(SizePlan, View("plans", change.sizes_as_text, change.sizes_grid))
_show(Agreement, View("agreements", grid=comparisons.agreement_grid))
_show(LabelAgreement, View("agreements", grid=annotators.agreement_grid))
_show(Control, View("controls", analyses.controls_as_text))
_show(Explanation, View("explanations", analyses.explanations_as_text, detail="differences"))
_show(MbeTest, View("mbe", analyses.mbe_as_text))
_show(RobustnessReport, View("cards", analyses.robustness_as_text, each=True, detail="trials"))
_show(Structure, View("structures", analyses.structure_as_text, each=True, detail="likeness"))
_show(Rank, View("ranks", grid=claims.rank_grid))
_show(GateResult, View("verdicts", claims.gate_as_text, detail="verdicts", whole=True))
_show(MixedModel, View("effects", analyses.mixed_as_text, detail="effects"))
