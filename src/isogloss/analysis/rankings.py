"""Rankings: the rank of each model with an interval, which may be the best or the worst, and which can be told apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from .. import registry
from ..errors import IsoglossError
from ..metrics import Contribution, Metric
from ..results import Results
from ..scores import Scored, check_scored
from ..stats import RESAMPLES
from ..stats.hypotheses import LEVEL, adjust_holm
from ..stats.resampling import FEWEST_CLUSTERS, Array, bootstrap_values
from .alignment import ITEMS, align, distance_from
from .competence import LIMITS, Competence, at_limit, find_competence
from .differences import paired_p
from .groups import Part, check_by, check_rows, default_parts
from .intervals import IntervalSettings, check_interval_settings, find_estimates
from .item_values import default_metric
from .measures import check_mode


@dataclass(frozen=True, slots=True)
class Rank:
    """A model's rank (1 is best) with its 95 % interval.

    The interval reaches from 1 + the number of models shown to be better to the number of models minus those shown
    to be worse (Mogstad et al. 2024; paired tests, Holm over all pairs). `first` and `last` are how often the model
    has the best and the worst value when clusters are resampled. `may_be_best` and `may_be_worst` mean that no
    model is shown to be better, or worse; `better_than` and `worse_than` name the models that differ.
    """

    model: str
    metric: str
    group: Mapping[str, str]
    value: float
    rank: int
    low: int | None
    high: int | None
    first: float | None
    last: float | None
    may_be_best: bool
    may_be_worst: bool
    better_than: tuple[str, ...]
    worse_than: tuple[str, ...]
    n: int
    clusters: int
    mode: str
    why: str | None = None


Rankings = Results[Rank]
Key = tuple[tuple[str, str], ...]  # what the models of a ranking have in common


def rank_models(
    scored: Scored,
    *,
    metric: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    mode: str = "corrected",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Rankings:
    """The models of each data set and language from best to worst, on the items that all of them have.

    Each metric defines what is best: the highest value, the lowest, or the one nearest to its neutral value. A
    model below the competence limit has no rank.

    Parameters:
        scored: Scores of two models or more.
        metric: One metric or several; by default the first main metric with a neutral value, such as SS.
        by: One column or several to group by; by default, tasks one by one and together.
        mode: `corrected` or `paper`.
        resamples: How many times clusters are drawn again, or change sides.
        seed: The seed of both.

    Example:
        >>> ranks = ig.rank_models(ig.load(["runs/mine", "runs/other"]), metric="lms", by=[])
        >>> [(row.rank, row.model) for row in ranks]
        [(1, 'smollm2'), (2, 'other')]
    """
    check_mode(mode)
    settings = check_interval_settings(IntervalSettings(resamples=resamples, seed=seed))
    table = check_rows(check_scored(scored, "rank_models"))
    chosen: dict[str, Metric] = registry.chosen("metric", metric or default_metric(table))
    for name, plugin in chosen.items():
        if not plugin.directed:
            why = f" {plugin.undirected}" if plugin.undirected else ""
            raise IsoglossError(f"Models cannot be ranked by '{name}', which has no better and worse.{why}")
    rankings: dict[Key, dict[str, Part]] = {}
    for part in default_parts(table, check_by(by, scored.table.columns)):
        rest = tuple((name, value) for name, value in part.group.items() if name != "model")
        rankings.setdefault(rest, {})[part.group["model"]] = part
    rankings = {group: parts for group, parts in rankings.items() if len(parts) > 1}
    judged: dict[Key, dict[str, Competence]] = {}
    rows: list[Rank] = []
    notes: list[str] = []
    for name, (group, parts) in product(chosen, rankings.items()):
        blank = Rank("", name, dict(group), 0.0, 0, None, None, None, None, True, True, (), (), 0, 0, mode)
        short = chosen[name].short or name
        if chosen[name].competence and group not in judged:
            judged[group] = {
                model: find_competence(part, mode=mode, settings=settings) for model, part in parts.items()
            }
        competences = judged[group] if chosen[name].competence else {}
        weak = [model for model, competence in competences.items() if competence.interpretable is False]
        where = ", ".join(value for column, value in group if column != "dataset")
        if weak:
            notes.append(f"no rank by {short} ({where}), below the competence limit: {', '.join(sorted(weak))}")
        notes += _other_limits(competences, f"{short} ({where})")
        kept = {model: part for model, part in parts.items() if model not in weak}
        rows += _rank_parts(kept, blank, settings=settings, notes=notes) if len(kept) > 1 else []
    if not rows:
        raise IsoglossError(next(iter(notes), "A ranking needs two models with scores in one language."))
    return Results(tuple(rows), notes=(*scored.notes, *notes))


def _other_limits(known: Mapping[str, Competence], what: str) -> list[str]:
    """A note on how many models would have a rank at each competence limit, where that differs."""
    counts = {
        limit: sum(at_limit(one.interpretable, one.low, limit=limit) is not False for one in known.values())
        for limit in LIMITS
    }
    if len(set(counts.values())) < 2:
        return []
    numbers = ", ".join(f"{count} at {limit:g}" for limit, count in counts.items())
    return [f"models with a rank by {what}, by competence limit: {numbers}"]


def _rank_parts(parts: Mapping[str, Part], blank: Rank, *, settings: IntervalSettings, notes: list[str]) -> list[Rank]:
    """The models of one group from best to worst; none, with a note, where they do not have the same items."""
    metric, names = registry.get("metric", blank.metric), sorted(parts)
    aligned = align([parts[name] for name in names], [metric] * len(names), mode=blank.mode)
    if aligned is None or aligned.common != ITEMS:
        notes.append(
            f"The models {', '.join(names)} have fewer than half of their items in common, so they have no ranking."
        )
        return []
    sign = 1 if metric.better == "higher" else -1  # -1: the lowest value, or the lowest distance, is the best
    direct = metric.better is not None
    sides = aligned.sides if direct else [distance_from(side, metric.neutral or 0.0) for side in aligned.sides]
    merits = np.array([sign * side.value for side in sides])
    clusters = len(sides[0].clusters)
    enough = clusters >= FEWEST_CLUSTERS
    better = _told_apart(dict(zip(names, sides, strict=True)), sign=sign, settings=settings) if enough else set()
    drawn = _drawn_ranks(sides, sign=sign, settings=settings) if enough else None
    rows = []
    for index in sorted(range(len(names)), key=lambda i: (-merits[i], names[i])):
        name = names[index]
        above = tuple(other for other in names if (other, name) in better)
        below = tuple(other for other in names if (name, other) in better)
        row = replace(
            blank,
            model=name,
            value=aligned.sides[index].value,
            rank=1 + int(np.sum(merits > merits[index])),
            may_be_best=not above,
            may_be_worst=not below,
            better_than=below,
            worse_than=above,
            n=sides[0].n,
            clusters=clusters,
            why=f"{clusters} clusters; an interval needs {FEWEST_CLUSTERS}" if drawn is None else None,
        )
        if drawn is not None:
            values = drawn[:, index]
            first, last = float(np.mean(values == 1)), float(np.mean(values == len(names)))
            row = replace(row, low=1 + len(above), high=len(names) - len(below), first=first, last=last)
        rows.append(row)
    return rows


def _drawn_ranks(sides: Sequence[Contribution], *, sign: int, settings: IntervalSettings) -> Array:
    """The ranks [resamples, models] in resamples that draw the same clusters for every model; equal values share the best."""
    clusters, resamples, seed = len(sides[0].clusters), settings.resamples, settings.seed
    drawn = [bootstrap_values(side.evaluate, clusters, resamples=resamples, seed=seed) for side in sides]
    values = sign * np.column_stack(drawn)
    return np.asarray(1 + (values[:, None, :] > values[:, :, None]).sum(axis=2), dtype=np.float64)


def _told_apart(sides: Mapping[str, Contribution], *, sign: int, settings: IntervalSettings) -> set[tuple[str, str]]:
    """The pairs (better, worse) that differ by paired tests, adjusted for all pairs (Holm)."""
    pairs = list(combinations(sides, 2))
    estimates = {name: find_estimates(side, settings, bounds=(0, 100)) for name, side in sides.items()}
    p = adjust_holm([paired_p((estimates[a], estimates[b]), sides[a].pieces or sides[b].pieces) for a, b in pairs])
    ordered = [(a, b) if sign * (sides[a].value - sides[b].value) > 0 else (b, a) for a, b in pairs]
    return {pair for pair, adjusted in zip(ordered, p, strict=True) if adjusted <= LEVEL}
