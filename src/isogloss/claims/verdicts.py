"""Claims: sentences about measures in a file, each with a verdict that the scores allow; limits of a gate are claims."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import polars as pl

from .. import results
from ..analysis.comparisons import adjust_p
from ..analysis.competence import LEAST_COMPETENCE, LIMITS
from ..analysis.groups import check_rows
from ..analysis.intervals import IntervalSettings, check_interval_settings
from ..analysis.mixed import Facts
from ..errors import BadData, IsoglossError
from ..items import ANTI_STEREOTYPE, STEREOTYPE
from ..scores import KEY, Scored
from ..stats import RESAMPLES
from ..stats.hypotheses import LEVEL, detectable_effect
from .evidence import FEWEST_ITEMS, ClaimPart, Evidence
from .groups import Catalogue, Hypothesis, expand, find_column, leave_out, make_catalogue, restrict
from .hypotheses import check_part, join_parts
from .language import CHANGE, Formula, Selector, relations

SUPPORTED, CONTRADICTED, UNDECIDED = "supported", "contradicted", "undecided"
NOT_INTERPRETABLE, NOT_TESTABLE, NO_TEST = "not interpretable", "not testable here", "could not have failed"
PASSED, FAILED = "passed", "failed"
CHECKED_RESAMPLES = 1_000  # of each variant of a robustness line
FOLDED = ("icat_macro", "icat_micro")


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of a file: its name, what it says in words and in the language of claims, and where it was made.

    `needs` says what is missing to test it; `by_construction` why no data could have spoken against it. With `stricter`, the
    formula asks for more than the sentence says, so that its contradiction does not contradict the sentence.
    """

    name: str
    says: str
    formula: Formula | None
    sentence: str = ""
    source: str = ""
    where: tuple[Selector, ...] = ()
    needs: str = ""
    by_construction: str = ""
    note: str = ""
    stricter: bool = False
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Faults:
    """What is known to be wrong with scores: items, and groups of scores, each as selectors, with the reasons."""

    items: frozenset[str] = frozenset()
    groups: tuple[tuple[Selector, ...], ...] = ()
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClaimsFile:
    """The claims of a file, their settings, and facts about models.

    `margins` are the metrics that are compared with a baseline, with the points by which each may be worse.
    `baseline` are the scores from which a change is measured.
    """

    claims: tuple[Claim, ...]
    mode: str = "corrected"
    strict: bool = False
    min_n: int = FEWEST_ITEMS
    adjust: str = "holm"
    title: str = ""
    facts: Facts = field(default_factory=dict)
    faults: Faults = Faults()
    path: str = ""
    sha256: str = ""
    registered: str = ""
    baseline: Scored | None = field(default=None, repr=False)
    margins: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """A claim with its verdict; `part` is the deciding hypothesis of `parts` in all, of which `held` agree with the claim.

    `p_holm` and `p_bh` are `p` adjusted for the file, unless it has `adjust: none`; `status_bh` is the verdict by
    `p_bh`. `mde` is the difference that would have been found with power 0.8, where nothing was decided.
    `robustness` has the verdict of each variant, `limits` those at other competence limits, and `left_out` the
    groups with known faults.
    """

    name: str
    status: str
    reason: str
    says: str
    sentence: str = ""
    source: str = ""
    note: str = ""
    part: ClaimPart | None = None
    parts: int = 0
    held: int = 0
    opposed: int = 0
    p: float | None = None
    p_holm: float | None = None
    p_bh: float | None = None
    mde: float | None = None
    mode: str = "corrected"
    robustness: Mapping[str, str] = field(default_factory=dict)
    details: tuple[ClaimPart, ...] = ()
    limits: Mapping[str, str] = field(default_factory=dict)
    status_bh: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """What the verdict is to a gate: passed, failed or undecided."""
        return {SUPPORTED: PASSED, CONTRADICTED: FAILED}.get(self.status, UNDECIDED)


@dataclass(frozen=True, slots=True, repr=False)
class GateResult:
    """The verdicts of a claims file; `status` is passed, failed or undecided (with `strict`, failed).

    `sha256` is the hash of the file, `tested` the date, and `registered` says whether the file is the registered
    one.
    """

    verdicts: tuple[ClaimVerdict, ...]
    strict: bool = False
    notes: tuple[str, ...] = ()
    title: str = ""
    sha256: str = ""
    tested: str = ""
    registered: str = ""

    @property
    def status(self) -> str:
        outcomes = {verdict.outcome for verdict in self.verdicts}
        if FAILED in outcomes or (self.strict and UNDECIDED in outcomes):
            return FAILED
        return UNDECIDED if UNDECIDED in outcomes else PASSED

    @property
    def passed(self) -> bool:
        return self.status == PASSED

    __repr__, __str__, _repr_html_, to_polars, to_pandas, to_dict, to_json = results.METHODS


def make_result(
    verdicts: Sequence[ClaimVerdict], file: ClaimsFile, *, strict: bool = False, notes: tuple[str, ...] = ()
) -> GateResult:
    """The verdicts with what must be known of their file, and the date of today."""
    date, notes = datetime.now(UTC).strftime("%Y-%m-%d"), (*notes, *_faults_note(file.faults), *_other_limits(verdicts))
    return GateResult(tuple(verdicts), strict or file.strict, notes, file.title, file.sha256, date, file.registered)


def _faults_note(faults: Faults) -> list[str]:
    """A note on what is left out; none where nothing is known to be wrong."""
    counts = [f"{len(faults.groups)} groups of scores"] * bool(faults.groups) + [f"{len(faults.items)} items"] * bool(
        faults.items
    )
    return [f"left out, because they are known to be wrong: {' and '.join(counts)}"] if counts else []


def _other_limits(verdicts: Sequence[ClaimVerdict]) -> list[str]:
    """A note on how many verdicts change at other competence limits; none where no verdict depends on competence."""
    limits = list(dict.fromkeys(limit for verdict in verdicts for limit in verdict.limits))
    changed = {limit: sum(v.limits.get(limit, v.status) != v.status for v in verdicts) for limit in limits}
    if not any(changed.values()):
        return []
    counts = ", ".join(f"{count} at {limit}" for limit, count in changed.items())
    return [
        f"with a competence limit other than {LEAST_COMPETENCE:g}, some of the {len(verdicts)} verdicts change: {counts}"
    ]


def check_claims(
    scored: Scored, file: ClaimsFile, *, robustness: bool = False, resamples: int = RESAMPLES, seed: int = 0
) -> list[ClaimVerdict]:
    """The verdict of each claim, adjusted for all claims in the file; with `robustness`, under every variant too.

    What is known to be wrong is left out, except in the variant that shows what it would change.
    """
    settings = check_interval_settings(IntervalSettings(resamples=resamples, seed=seed))
    everything, facts = with_labels(check_rows(scored), file.facts)
    catalogue = make_catalogue(everything, facts)
    table, suspect = _split_faults(everything, file.faults, catalogue=catalogue)
    verdicts = _check_all(table, file, catalogue=catalogue, settings=settings, suspect=suspect)
    if not robustness:
        return verdicts
    lines: list[dict[str, str]] = [{} for _ in verdicts]
    quick = replace(settings, resamples=min(resamples, CHECKED_RESAMPLES))
    variants = [(*variant, suspect) for variant in _variants(table, file)]
    variants += [("with known faults", everything, file.mode, None)] if file.faults != Faults() else []
    for name, part, mode, wrong in variants:
        cells = restrict(catalogue, part)
        again = _check_all(part, replace(file, mode=mode), catalogue=cells, settings=quick, suspect=wrong)
        for line, verdict in zip(lines, again, strict=True):
            if verdict.status not in (NOT_TESTABLE, NO_TEST):
                line[name] = verdict.status
    return [replace(verdict, robustness=line) for verdict, line in zip(verdicts, lines, strict=True)]


def with_labels(table: pl.DataFrame, facts: Facts) -> tuple[pl.DataFrame, Facts]:
    """The table with models under their labels, and the facts by label."""
    labels = {model: str(known["label"]) for model, known in facts.items() if "label" in known}
    merged: dict[str, dict[str, str | float]] = {}
    for model, known in facts.items():
        rest = {name: value for name, value in known.items() if name != "label"}
        merged.setdefault(labels.get(model, model), {}).update(rest)
    return table.with_columns(pl.col("model").replace(labels)), merged


def _check_all(
    table: pl.DataFrame,
    file: ClaimsFile,
    *,
    catalogue: Catalogue,
    settings: IntervalSettings,
    suspect: pl.DataFrame | None,
) -> list[ClaimVerdict]:
    before = with_labels(check_rows(file.baseline), file.facts)[0] if file.baseline is not None else None
    evidence = Evidence(table, catalogue, file.mode, settings, file.min_n, suspect=suspect, baseline=before)
    verdicts = _check_with(evidence, file)
    for limit in (limit for limit in LIMITS if limit != LEAST_COMPETENCE):
        again = _check_with(evidence.at_limit(limit), file)
        verdicts = [
            replace(verdict, limits={**verdict.limits, f"{limit:g}": other.status})
            for verdict, other in zip(verdicts, again, strict=True)
        ]
    return verdicts


def _check_with(evidence: Evidence, file: ClaimsFile) -> list[ClaimVerdict]:
    verdicts = [_check_one(claim, file, evidence=evidence) for claim in file.claims]
    if file.adjust == "none":
        plain = [_decide(verdict, p=verdict.p, level=LEVEL) for verdict in verdicts]
        return [_soften(verdict, claim) for verdict, claim in zip(plain, file.claims, strict=True)]
    adjusted = adjust_p([verdict.p for verdict in verdicts])
    level = LEVEL / max(1, sum(p is not None and p > LEVEL for p, _ in adjusted))
    decided = []
    for verdict, claim, (holm, bh) in zip(verdicts, file.claims, adjusted, strict=True):
        by_bh = _soften(_decide(verdict, p=bh, level=LEVEL), claim).status if bh is not None else ""
        leaning = replace(verdict, p_holm=holm, p_bh=bh, status_bh=by_bh)
        decided.append(_soften(_decide(leaning, p=holm, level=level), claim))
    return decided


def _soften(verdict: ClaimVerdict, claim: Claim) -> ClaimVerdict:
    """The verdict; that a stricter reading is contradicted leaves the sentence open."""
    open_claim = claim.stricter and verdict.status == CONTRADICTED
    return replace(verdict, status=UNDECIDED, reason=STRICTER) if open_claim else verdict


def _check_one(claim: Claim, file: ClaimsFile, *, evidence: Evidence) -> ClaimVerdict:
    """The claim with its p-value, before it is adjusted for the others; the status says which way it leans."""
    blank = ClaimVerdict(
        claim.name, UNDECIDED, "", claim.says, claim.sentence, claim.source, claim.note, mode=file.mode
    )
    changes = claim.formula is not None and any(part.kind == CHANGE for part in relations(claim.formula))
    needs = claim.needs or ("the scores of a baseline" if changes and evidence.baseline is None else "")
    if needs or claim.formula is None:
        return replace(blank, status=NOT_TESTABLE, reason=f"it needs {needs}")
    try:
        tree = expand(claim.formula, evidence.catalogue, where=claim.where)
    except IsoglossError as error:
        raise BadData(file.path or "claims", claim.line, f"claim '{claim.name}': {error}") from error
    tree, left_out = leave_out(tree, evidence.is_suspect)
    blank, leaves = replace(blank, left_out=left_out), list(dict.fromkeys(tree.leaves()))
    if not leaves and left_out:
        return replace(blank, status=NOT_TESTABLE, reason=f"its scores are known to be wrong ({_several(left_out)})")
    if not leaves:
        cells = evidence.catalogue.cells
        models, tags = (", ".join(sorted({cell[name] for cell in cells})) for name in ("model", "language"))
        reason = f"no scores for what it compares; there are scores of {models} in {tags}"
        return replace(blank, status=NOT_TESTABLE, reason=reason)
    joined = join_parts(tree, evidence)
    parts = tuple(check_part(leaf, evidence) for leaf in leaves)
    held = sum(part.tested and part.p_true <= LEVEL / 2 for part in parts)
    opposed = sum(part.tested and part.p_false <= LEVEL / 2 for part in parts)
    counted = replace(blank, parts=len(parts), held=held, opposed=opposed, details=parts)
    if claim.by_construction or all(map(_is_by_construction, leaves)):
        return replace(counted, status=NO_TEST, reason=claim.by_construction or CONCAVE, part=joined.for_claim)
    if not any(part.tested for part in parts):
        doubts = _doubts([part for part in parts if part.why is None])
        reason = _several(doubts or [str(part.why) for part in parts])
        return replace(counted, status=NOT_INTERPRETABLE if doubts else NOT_TESTABLE, reason=reason, part=parts[0])
    p = min(1.0, 2 * min(joined.p_true, joined.p_false))
    if joined.p_false < joined.p_true:
        return replace(counted, p=p, part=joined.against_claim, status=CONTRADICTED)
    return replace(counted, p=p, part=joined.for_claim, status=SUPPORTED)


STRICTER = "this reading asks for more than the sentence says, so contradicting it leaves the sentence undecided"
CONCAVE = (
    "the mean of the targets' ICAT is lower than the ICAT of their means wherever targets differ at all, "
    "if only by chance (the smaller of SS and 100 - SS is concave)"
)


def _is_by_construction(leaf: Hypothesis) -> bool:
    """Whether a hypothesis says that macro ICAT is below micro ICAT of the same scores."""
    metrics = leaf.left.metric, getattr(leaf.right, "metric", "")
    same = getattr(leaf.right, "groups", None) == leaf.left.groups and not leaf.shift
    return same and metrics in (FOLDED, FOLDED[::-1]) and (leaf.sign < 0) == (metrics == FOLDED)


def _decide(verdict: ClaimVerdict, *, p: float | None, level: float) -> ClaimVerdict:
    """The verdict by the p-value that counts; the status so far says which way the claim leans."""
    if p is None:
        return verdict
    if p <= LEVEL:
        return replace(verdict, reason=_why(verdict))
    doubts = _doubts([detail for detail in verdict.details if detail.why is None and detail.interpretable is False])
    hardest = max((detail for detail in verdict.details if detail.tested), key=lambda detail: detail.p_true)
    if doubts:
        clear = sum(detail.tested for detail in verdict.details)
        reason = f"{_several(doubts)}; {verdict.held} of the {clear} parts that can be interpreted {'holds' if verdict.held == 1 else 'hold'}"
        return replace(verdict, status=NOT_INTERPRETABLE, reason=reason, part=hardest)
    part = verdict.part if verdict.status == SUPPORTED and verdict.part and verdict.part.tested else hardest
    mde = part.mde
    if mde is not None and part.clusters > 1:
        freedom = part.clusters - 1
        mde *= detectable_effect(1.0, freedom, level=level) / detectable_effect(1.0, freedom)
    absent = [str(detail.why) for detail in verdict.details if detail.why is not None]
    reason = _several(absent) if absent else "the scores cannot decide"
    return replace(verdict, status=UNDECIDED, reason=reason, part=part, mde=mde)


def _why(verdict: ClaimVerdict) -> str:
    if verdict.parts == 1:
        return "the whole interval agrees" if verdict.status == SUPPORTED else "the whole interval says the opposite"
    if verdict.status == SUPPORTED:
        return f"{verdict.held} of {verdict.parts} parts {'holds' if verdict.held == 1 else 'hold'}"
    return f"{verdict.opposed} of {verdict.parts} parts {'is' if verdict.opposed == 1 else 'are'} the other way round"


def _doubts(parts: Sequence[ClaimPart]) -> list[str]:
    """Each group that is not interpretable, with the reason."""
    return [text for part in parts for text in str(part.doubt).split("; ")]


def _several(texts: Sequence[str]) -> str:
    """The first of several reasons, and how many more there are."""
    lines = list(dict.fromkeys(texts))
    return lines[0] + (f", and {len(lines) - 1} more" if len(lines) > 1 else "")


# ---- robustness


def _split_faults(
    table: pl.DataFrame, faults: Faults, *, catalogue: Catalogue
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """The rows without those known to be wrong, and the rows of the groups that are wrong."""
    if faults == Faults():
        return table, None
    wrong = pl.lit(False)
    for group in faults.groups:
        selectors = [find_column(selector, catalogue) for selector in group]
        wrong |= pl.all_horizontal(pl.col(str(selector.column)) == selector.value for selector in selectors)
    items = pl.col("id").is_in(sorted(faults.items))
    return table.filter(~wrong & ~items), table.filter(wrong)


def _variants(table: pl.DataFrame, file: ClaimsFile) -> Iterator[tuple[str, pl.DataFrame, str]]:
    """Each variant's name, rows and mode: the other mode, and without a task, a bias type or ties."""
    other = "paper" if file.mode == "corrected" else "corrected"
    yield f"{other} mode", table, other
    for column in ("task", "category"):
        values = sorted(map(str, table[column].drop_nulls().unique())) if column in table.columns else []
        for value in values if len(values) > 1 else []:
            yield f"without {value}", table.filter(pl.col(column) != value), file.mode
    key = ["model", *KEY]
    roles = table.filter(pl.col("role").is_in([STEREOTYPE, ANTI_STEREOTYPE]) & (pl.col("quantity") == "score"))
    pairs = roles.group_by(key).agg(pl.col("value").n_unique().alias("values"), pl.len().alias("rows"))
    tied = pairs.filter((pl.col("values") == 1) & (pl.col("rows") == 2))
    untied = table.join(tied, on=key, how="anti", nulls_equal=True, maintain_order="left")
    if untied.height < table.height:
        yield "without ties", untied, file.mode
