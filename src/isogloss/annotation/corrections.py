"""People's reading of some answers corrects the machine's reading of all: a rate with a valid interval, and what to read next."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from ..chat.readings import VERDICTS
from ..errors import IsoglossError, UnknownName
from ..reports.text.answers import corrected_grid
from ..reports.text.views import View, view_of
from ..results import Results
from ..stats.prediction_powered import answers_to_read, powered_share
from ..stats.resampling import FEWEST_CLUSTERS
from .answer_verdicts import group_answers
from .labels import LabelTable, share_of_label

QUESTION = "verdict"
PROMPT = "prompt"


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """How often answers have a verdict, in percent, corrected by people's reading, with a 95 % interval.

    `people` is the rate in the answers that people read, `machine` the rate in all answers by our rules, and
    `agree` the share on which both agree. `needed` is the number of answers to read for the wanted half-width, if
    it can be reached.
    """

    group: Mapping[str, str]
    verdict: str
    value: float
    low: float | None
    high: float | None
    people: float
    people_low: float | None
    people_high: float | None
    machine: float
    power: float
    agree: float
    read: int
    answers: int
    clusters_read: int
    needed: int | None = None
    why: str | None = None


def draw_answers(table: pl.DataFrame, *, count: int, seed: int = 0) -> list[dict[str, str]]:
    """A random sample of at most `count` answers of each model, data set, language and method, in random order, to be read by people.

    The rows name neither the model nor our verdict, so that they are judged by their text.
    """
    if count < 1:
        raise IsoglossError("Draw at least one answer of each model.")
    rng = np.random.default_rng(seed)
    drawn = [part[np.sort(rng.permutation(part.height)[:count])] for _, part in group_answers(table)]
    rows = pl.concat(drawn, how="diagonal_relaxed")
    rows = rows[rng.permutation(rows.height)]
    columns = {
        "item": "answer_id",
        "text": "statement_text",
        "prompt": "asked",
        "answer": "answer",
        "language": "language",
    }
    columns |= {"category": "category", "cluster": "cluster"}
    texts = rows.select(pl.col(theirs).fill_null("").alias(ours) for ours, theirs in columns.items())
    return [row | {"question": QUESTION} for row in texts.iter_rows(named=True)]


def correct_rates(
    table: pl.DataFrame,
    labels: LabelTable,
    *,
    verdict: str = "yes",
    by: Sequence[str] = (),
    within: float | None = None,
) -> Results[CorrectedRate]:
    """For each model, data set, language, method, prompt and group of `by`: the rate of a verdict as people would read all answers.

    A yes to one prompt is not a yes to another, so that prompts are never pooled. What people read must be a random sample, as `draw_answers` gives; an answer that several people read has the mean of
    what they say. `within` is a wanted half-width in points.
    """
    if verdict not in VERDICTS:
        raise UnknownName("verdict", verdict, VERDICTS)
    shares = share_of_label(labels, question=QUESTION, label=verdict, offered=VERDICTS)
    shares = shares.select(answer_id="item", people="share")
    joined = table.join(shares, on="answer_id", how="left", maintain_order="left")
    if joined["people"].null_count() == joined.height:
        raise IsoglossError("No label is about an answer of these runs. Were they imported again from another file?")
    rows, unread = [], []
    for group, part in group_answers(joined, [PROMPT, *by]):
        if part["people"].null_count() == part.height:
            unread.append(" ".join(group.values()))
            continue
        rows.append(_rate(part, group, verdict=verdict, within=within))
    notes = [f"nobody read answers of {', '.join(unread)}"] if unread else []
    beyond = sum(within is not None and row.low is not None and row.needed is None for row in rows)
    notes += (
        [f"{beyond} of {len(rows)} rates cannot reach ±{within:g} points, even if all answers are read"]
        if beyond
        else []
    )
    return Results(tuple(rows), notes=tuple(notes))


def _rate(part: pl.DataFrame, group: Mapping[str, str], *, verdict: str, within: float | None) -> CorrectedRate:
    machine = (part["verdict"] == verdict).cast(pl.Float64).to_numpy()
    people = part["people"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    clusters = part["cluster"].to_list()
    powered = powered_share(machine, people, clusters=clusters)
    plain = powered_share(machine, people, clusters=clusters, power=0)
    read = ~np.isnan(people)
    needed = None
    if within is not None and powered.low is not None and powered.high is not None:
        needed = answers_to_read(machine, people, half_width=within / 100, clusters=clusters)
        width = 50 * (powered.high - powered.low)
        # near 0 and 1 the plan by the error is too small: Wilson's interval is c / (n + c) wide where all read answers agree
        least = powered.read * width * (50 - within) / (within * (50 - width)) if width > within else FEWEST_CLUSTERS
        needed = None if needed is None else max(needed, math.ceil(least))
        needed = None if needed is None or needed > powered.answers else needed
    ends = [_percent(end) for end in (powered.low, powered.high, plain.low, plain.high)]
    return CorrectedRate(
        group,
        verdict,
        100 * powered.value,
        ends[0],
        ends[1],
        100 * powered.plain,
        ends[2],
        ends[3],
        100 * powered.machine,
        powered.power,
        float(np.mean((people[read] >= 0.5) == (machine[read] == 1))),
        powered.read,
        powered.answers,
        powered.clusters_read,
        needed,
        powered.why,
    )


def _percent(end: float | None) -> float | None:
    return None if end is None else 100 * end


@view_of.register
def _view(_: CorrectedRate) -> View:
    return View("rates", grid=corrected_grid)
