"""Budgets for servers that cost money: how many requests and tokens a plan needs, counted before the first is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..items import group_by
from ..models import canary
from ..storage import StoragePath
from .dry_run import Forecast, forecast_plan

if TYPE_CHECKING:
    from ..models.model import Loading
    from .plan import StudyPlan


@dataclass(frozen=True, slots=True)
class Need:
    """What a model behind a server will be asked for: requests, and the tokens of prompts and answers."""

    model: str
    requests: int
    prompt: int
    answer: int
    cost: float
    exceeds: str | None = None

    def __str__(self) -> str:
        priced = f", cost about {self.cost:.4f}" * bool(self.cost)
        text = f"{self.model}: about {self.requests} requests, {self.prompt} prompt and {self.answer} answer tokens{priced}"
        return text + (f"; {self.exceeds} will end it before that" if self.exceeds else "")


def forecast_needs(plan: StudyPlan, *, out: StoragePath) -> list[Need]:
    """What each model with a budget needs for the plan; tokens are estimated where no tokenizer is at hand."""
    loadings = {cell.name: cell.loading for cell in plan.cells if has_budget(cell.loading)}
    if not loadings:
        return []
    rows, _ = forecast_plan(plan, out=out, trial=False)
    return [
        need_of(group, loadings[name])
        for name, group in group_by(rows, lambda row: row.model).items()
        if name in loadings
    ]


def has_budget(loading: Loading) -> bool:
    """Whether requests or costs are limited."""
    return loading.max_requests is not None or loading.max_cost is not None


def need_of(rows: Sequence[Forecast], loading: Loading) -> Need:
    """What the cells of one model need together; scoring asks for some items twice and generates a token after each text."""
    requests = prompt = answer = 0
    for row in rows:
        scored = row.answer_tokens == 0
        twice = min(1.0, loading.repeat / max(1, row.items)) if scored else 0.0
        asked = round(row.unique * (1 + twice)) + canary.REQUESTS * scored
        requests += asked
        prompt += round((row.read - row.answer_tokens) * (1 + twice))
        answer += asked if scored else row.answer_tokens
    cost = (prompt * loading.prices[0] + answer * loading.prices[1]) / 1e6
    exceeds = None
    if loading.max_requests is not None and requests > loading.max_requests:
        exceeds = f"`max_requests={loading.max_requests}`"
    elif loading.max_cost is not None and cost > loading.max_cost:
        exceeds = f"`max_cost={loading.max_cost:g}`"
    return Need(rows[0].model, requests, prompt, answer, cost, exceeds)
