"""What claims are tested with: the scores, each group's competence and contributions, and the parts that tests fill in."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from .. import registry
from ..analysis.alignment import Aligned, align_sides
from ..analysis.competence import LEAST_COMPETENCE, Competence, at_limit, find_competence, judge
from ..analysis.groups import IDENTITY, Part, make_part
from ..analysis.intervals import IntervalSettings
from ..analysis.measures import contribution
from ..metrics import Contribution
from .groups import Catalogue, ClaimSide, Hypothesis, ScoreGroup
from .language import HOMOGENEOUS

FEWEST_ITEMS = 30


@dataclass(frozen=True, slots=True)
class ClaimPart:
    """One simple hypothesis of a claim: both sides, their difference (a minus b) with a 95 % interval, and its test.

    `p_true` is the p-value for the claim, `p_false` that for its opposite. The claim says that the difference is
    above (`sign` 1) or below (-1) `shift`. `scale` names the unit of the difference where it is not that of the
    values.
    """

    a: str
    b: str
    sign: int
    shift: float
    value_a: float | None = None
    value_b: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p_true: float = 1.0
    p_false: float = 1.0
    mde: float | None = None
    n: int = 0
    clusters: int = 0
    design: str = "paired"
    interpretable: bool | None = None
    doubt: str | None = None
    why: str | None = None
    scale: str = ""

    @property
    def tested(self) -> bool:
        """Whether its p-values count: it has some, and both sides can be interpreted."""
        return self.why is None and self.interpretable is not False


@dataclass(frozen=True)
class Evidence:
    """The scores that claims are tested with, and how; groups and their competence are found once.

    `suspect` are scores that are known to be wrong, and not in the table; `baseline` those that changes are measured from.
    """

    table: pl.DataFrame
    catalogue: Catalogue
    mode: str
    settings: IntervalSettings
    least: int = FEWEST_ITEMS
    limit: float = LEAST_COMPETENCE
    groups: dict[ScoreGroup, Part] = field(default_factory=dict)
    competence: dict[ScoreGroup, Competence] = field(default_factory=dict)
    contributions: dict[tuple[ScoreGroup, str, int], Contribution | None] = field(default_factory=dict)
    parts: dict[Hypothesis, ClaimPart] = field(default_factory=dict)
    suspect: pl.DataFrame | None = None
    baseline: pl.DataFrame | None = None

    def rows(self, group: ScoreGroup) -> Part:
        """The scores of a group."""
        if group not in self.groups:
            self.groups[group] = make_part(self._table(group).filter(_fits(self._as_there(group))))
        return self.groups[group]

    def _table(self, group: ScoreGroup) -> pl.DataFrame:
        if not group.before or self.baseline is None:
            return self.table
        return self.baseline

    def _as_there(self, group: ScoreGroup) -> ScoreGroup:
        """The group as the baseline names it: where each side has one model, that may have another name there."""
        if not group.before or self.baseline is None:
            return group
        alone = max(table["model"].n_unique() for table in (self.table, self.baseline)) == 1
        return replace(group, names=tuple(pair for pair in group.names if pair[0] != "model" or not alone))

    def is_suspect(self, group: ScoreGroup) -> bool:
        """Whether some of the group's scores are known to be wrong; the rest would be another quantity, such as one task of two."""
        return self.suspect is not None and not group.before and not self.suspect.filter(_fits(group)).is_empty()

    def align(self, sides: Sequence[tuple[ScoreGroup, str]]) -> Aligned | None:
        """Groups, each under a metric, on what they have in common; the same contribution is made once."""

        def contribute(number: int, items: Sequence[str] | None) -> Contribution | None:
            group, metric = sides[number]
            key = (group, metric, 0 if items is None else hash(tuple(items)))
            if key not in self.contributions:
                chosen, part = registry.get("metric", metric), self.rows(group)
                self.contributions[key] = contribution(chosen, part, mode=self.mode, items=items)
            return self.contributions[key]

        return align_sides(len(sides), contribute) if all(self.rows(group).rows.height for group, _ in sides) else None

    def _competence(self, group: ScoreGroup) -> Competence:
        """The competence of a group, marked where all that its model and language have is."""
        part = self.rows(group)
        names = part.rows.select(IDENTITY).unique()
        containing = make_part(self._table(group).join(names, on=IDENTITY, how="semi", nulls_equal=True))
        return find_competence(part, mode=self.mode, settings=self.settings, containing=containing)

    def at_limit(self, limit: float) -> "Evidence":
        """The same evidence, with what was tested, at another competence limit."""
        other = replace(self, limit=limit, parts={})
        for hypothesis, part in self.parts.items():
            start = start_part(hypothesis, other)
            other.parts[hypothesis] = replace(part, interpretable=start.interpretable, doubt=start.doubt)
        return other

    def judge(self, side: ClaimSide) -> tuple[bool | None, str | None]:
        """Whether the side's metric can be interpreted in all of its groups, and why not."""
        doubts: dict[str, bool | None] = {}
        for group in side.groups:
            if group not in self.competence:
                known = self._competence(group) if self.rows(group).rows.height else None
                self.competence[group] = known or Competence(None)
            judgement = judge(side.metric, self.competence[group])
            judged = at_limit(judgement.interpretable, judgement.low, limit=self.limit)
            judgement = replace(judgement, interpretable=judged)
            if judgement.interpretable is not True:
                doubts[f"{group.label()}: {judgement.doubt}"] = judgement.interpretable
        if not doubts:
            return True, None
        return (False if False in doubts.values() else None), "; ".join(doubts)


def _fits(group: ScoreGroup) -> pl.Expr:
    """Whether a row is one of the group's."""
    fits = [pl.col(name) == value for name, value in group.names]
    for selector in group.filters:
        same = pl.col(str(selector.column)) == selector.value
        fits.append(~same if selector.negated else same)
    return pl.all_horizontal(fits)


def short_title(metric: str) -> str:
    """The metric's title, or its abbreviation where the title has one; names of data sets in parentheses are none."""
    full: str = registry.get("metric", metric).title
    title, _, bracket = full.partition(" (")
    return bracket.rstrip(")") if bracket and "," not in bracket else title


def _named(side: ClaimSide) -> str:
    short = short_title(side.metric)
    short = f"distance of {short}" if side.distance else short
    if len(side.groups) == 1:
        return f"{short} of {side.groups[0].label()}"
    names = [group.label().split(", ") for group in side.groups]
    shared = [name for name in names[0] if all(name in others for others in names)]
    return f"mean {short} of {', '.join([f'{len(names)} groups', *shared])}"


def start_part(hypothesis: Hypothesis, evidence: Evidence) -> ClaimPart:
    """The part with its names and with what the sides' competence allows."""
    left, right = hypothesis.left, hypothesis.right
    judged = [evidence.judge(side) for side in (left, right) if isinstance(side, ClaimSide)]
    verdicts = [verdict for verdict, _ in judged]
    worst = False if False in verdicts else None if None in verdicts else True
    b = _named(right) if isinstance(right, ClaimSide) else (HOMOGENEOUS if right is None else f"{right:g}")
    doubt = "; ".join(dict.fromkeys(text for verdict, text in judged if text and verdict is worst)) or None
    return ClaimPart(_named(left), b, hypothesis.sign, hypothesis.shift, interpretable=worst, doubt=doubt)
