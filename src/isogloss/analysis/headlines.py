"""Which metrics are named first: what metrics say of themselves, asked for a list of their names."""

from collections.abc import Iterable

from .. import registry
from ..metrics import Metric


def find_metric(name: str) -> Metric | None:
    """The metric of that name; nothing for another number, or for a metric of a package that is not installed."""
    return registry.get("metric", name) if name.replace("-", "_") in registry.names("metric") else None


def find_headlines(names: Iterable[str]) -> list[str]:
    """The headlines among these metrics, in their order."""
    places = {name: metric.headline for name in names if (metric := find_metric(name)) is not None}
    return sorted((name for name, place in places.items() if place is not None), key=lambda name: (places[name], name))


def neutral_headlines(names: Iterable[str]) -> list[str]:
    """The headlines among these metrics that have a neutral value, in their order."""
    return [name for name in find_headlines(names) if registry.get("metric", name).neutral is not None]


def leading_headlines(names: Iterable[str]) -> list[str]:
    """The headlines among these metrics where one of them leads; none otherwise."""
    first = find_headlines(names)
    return first if any((metric := find_metric(name)) and metric.leads for name in first) else []


def shown_metrics(names: Iterable[str]) -> list[str]:
    """The metrics that are shown where nobody asked for others: the headlines where one of them leads, else all."""
    every = list(names)
    return leading_headlines(every) or every


def main_metric(names: Iterable[str]) -> str:
    """The metric that speaks for the others: of the headlines where one leads, else of all, the first with a neutral point."""
    every = list(names)
    candidates = [*leading_headlines(every), *every]
    neutral = (name for name in candidates if (metric := find_metric(name)) and metric.neutral is not None)
    return next(neutral, every[0])
