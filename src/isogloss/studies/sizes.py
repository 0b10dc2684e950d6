"""Sizes: how many items each language of a study needs to show a difference, and what they cost, from a pilot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from .. import languages
from ..analysis.planning import DESIGNS, FIXED, INDEPENDENT, PAIRED, SizePlan, plan_distance, plan_size
from ..analysis.study import Study
from ..errors import IsoglossError, UnknownName
from ..results import Results
from ..runs import Run, written_parts
from ..scores import KEY, Scored
from ..stats.hypotheses import POWER
from .costs import LETTERS_A_TOKEN

FREE = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class SizeRequest:
    """The difference to see with which power, by which metric and design, and the prices of a million tokens."""

    difference: float
    power: float = POWER
    metric: str | None = None
    design: str | None = None
    prices: tuple[float, float] = FREE


@dataclass(frozen=True, slots=True)
class ItemCost:
    """What one item took: tokens of prompts and answers, and seconds; `counted` where tokens are not an estimate."""

    prompt: float
    answer: float = 0.0
    seconds: float | None = None
    counted: bool = False


def plan_sizes(pilots: Sequence[Study], request: SizeRequest) -> Results[SizePlan]:
    """A plan for each language, and one for all of them where there are several; a language with too few clusters is noted."""
    design = request.design or (PAIRED if len(pilots) == 2 else INDEPENDENT)
    if design not in DESIGNS:
        raise UnknownName("design", design, DESIGNS)
    if (design == PAIRED) != (len(pilots) == 2):
        raise IsoglossError(f"The design '{design}' takes {'two pilots' if design == PAIRED else 'one pilot'}.")
    scored = [_one_model(study.scores) for study in pilots]
    tags = sorted(set.intersection(*(set(side.table["language"].unique()) for side in scored)))
    costs = {tag: find_cost(pilots[0], tag) for tag in tags}
    groups: list[Mapping[str, str]] = [{"language": tag} for tag in tags]
    rows: list[SizePlan] = []
    problems: list[str] = []
    for group in [*groups, *([{}] if len(tags) > 1 else [])]:
        chosen = [_in_language(side, group.get("language")) for side in scored]
        try:
            plan = _plan(chosen, request, design=design)
        except IsoglossError as error:
            problems.append(f"{group.get('language', 'all languages')}: {error}")
            continue
        priced = [costs[group["language"]]] if group else [costs[tag] for tag in tags]
        rows.append(_with_cost(replace(plan, group=group), priced, prices=request.prices))
    if not rows:
        raise IsoglossError(problems[0] if problems else "The two pilots have no language in common.")
    notes = [f"design: {DESIGNS[design]}", *problems, *_advice(rows, request), *_cost_notes(list(costs.values()))]
    return Results(tuple(rows), notes=tuple(notes))


def _plan(scored: Sequence[Scored], request: SizeRequest, *, design: str) -> SizePlan:
    if design == FIXED:
        return plan_distance(scored[0], difference=request.difference, metric=request.metric, power=request.power)
    return plan_size(*scored, difference=request.difference, metric=request.metric, power=request.power)


def _one_model(scored: Scored) -> Scored:
    """The scores, if each item has them by one model and one method; else it would count several times."""
    for column in ("model", "method"):
        scorers = scored.table.select(*KEY, column).unique()
        if scorers.select(KEY).is_duplicated().any():
            names = ", ".join(sorted(map(str, scorers[column].unique())))
            raise IsoglossError(
                f"A pilot has one {column}, not several ({names}). Choose one with `where='{column}=NAME'`."
            )
    return scored


def _in_language(scored: Scored, tag: str | None) -> Scored:
    return scored if tag is None else replace(scored, table=scored.table.filter(pl.col("language") == tag))


# ---- what it costs


def find_cost(pilot: Study, tag: str) -> ItemCost | None:
    """What an item of the pilot took in a language: tokens as counted, or estimated from letters; nothing without runs."""
    runs = [run for run in pilot.runs if run.info["language"] == tag]
    scored = sum(map(_scored_items, runs))
    if not scored:
        return None
    times = [seconds for run in runs if (seconds := _seconds(run)) is not None]
    seconds = sum(times) / scored if len(times) == len(runs) else None
    if all(run.info.get("tokens") for run in runs):
        prompt, answer = (
            sum(run.info["tokens"].get(kind, 0) for run in runs) / scored for kind in ("prompt", "answer")
        )
        return ItemCost(prompt, answer, seconds, counted=True)
    texts = pilot.items.filter(pl.col("language") == tag)
    letters = texts.select((pl.col("text").str.len_chars() + pl.col("context").fill_null("").str.len_chars()).sum())
    count = texts.select("dataset", "id").n_unique()
    return ItemCost(letters.item() / LETTERS_A_TOKEN / count, seconds=seconds) if count else None


def _scored_items(run: Run) -> float:
    return float(run.info["items"]) * len(written_parts(run)) / run.parts


def _seconds(run: Run) -> float | None:
    """How long all that is there took, if the last command, whose time is known, was like those before."""
    scored, seconds = run.info.get("scored_parts"), run.info.get("seconds")
    return float(seconds) * len(written_parts(run)) / scored if scored and seconds is not None else None


def _with_cost(plan: SizePlan, costs: Sequence[ItemCost | None], *, prices: tuple[float, float]) -> SizePlan:
    """The plan with the cost of one run; several languages share the items evenly."""
    priced = [cost for cost in costs if cost is not None]
    if len(priced) < len(costs):
        return plan
    each = plan.items / len(priced)
    prompt, answer = each * sum(cost.prompt for cost in priced), each * sum(cost.answer for cost in priced)
    times = [cost.seconds for cost in priced if cost.seconds is not None]
    money = (prompt * prices[0] + answer * prices[1]) / 1e6 if any(prices) else None
    seconds = each * sum(times) if len(times) == len(priced) else None
    return replace(plan, tokens=round(prompt + answer), seconds=seconds, cost=money)


def _cost_notes(costs: Sequence[ItemCost | None]) -> list[str]:
    priced = [cost for cost in costs if cost is not None]
    notes = ["tokens, time and cost are those of one run of one model, at the pilot's rate"] if priced else []
    estimated = any(not cost.counted for cost in priced)
    return notes + [f"tokens are estimated from the texts, one for {LETTERS_A_TOKEN} letters"] * estimated


def _advice(rows: Sequence[SizePlan], request: SizeRequest) -> list[str]:
    """Which languages can show the difference with data as large as the pilot's, and what all of them show together."""
    named = {row.group["language"]: row for row in rows if row.group}
    enough = [languages.describe(tag).name for tag, row in named.items() if row.enough]
    short = [languages.describe(tag).name for tag, row in named.items() if not row.enough]
    notes = (
        [f"data as large as the pilot's show {request.difference:g} points in: {', '.join(enough)}"] if enough else []
    )
    notes += [f"more data than the pilot's are needed in: {', '.join(short)}"] if short else []
    whole = next((row for row in rows if not row.group), None)
    if short and whole is not None and whole.enough:
        notes.append(f"the mean over all {len(named)} languages shows it with {whole.items:,} items in all")
    return notes
