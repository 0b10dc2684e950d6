"""Numbers, names and lists as text: the one way to write a value with its interval, for every output."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from .. import languages, registry
from ..analysis.headlines import find_metric
from ..analysis.measures import Measure
from ..metrics import NumberFormat
from ..scores import UNSUPPORTED_LANGUAGE

if TYPE_CHECKING:
    from ..analysis.comparisons import Comparison

DAGGER = "†"
Ends = tuple[float | None, float | None]


def format_value(value: float | None, ends: Ends = (None, None), *, form: str = ".2f", missing: str = "-") -> str:
    """A value with its interval, as in `52.40 [49.80, 55.00]`; alone without an interval, `missing` without a value."""
    return missing if value is None else f"{value:{form}} {format_interval(*ends, form=form)}".rstrip()


def format_interval(low: float | None, high: float | None, *, form: str = ".2f") -> str:
    """Both ends in brackets, or nothing when one is missing."""
    return "" if low is None or high is None else f"[{low:{form}}, {high:{form}}]"


def percent(share: float | None, ends: Ends = (None, None), *, form: str = ".1f") -> str:
    """A share in per cent, with its interval where it has one."""
    if share is None:
        return "-"
    low, high = (None if end is None else 100 * end for end in ends)
    return f"{100 * share:{form}} % {format_interval(low, high, form=form)}".rstrip()


def p_value(p: float | None) -> str:
    """A p-value with three digits; a very small one as a bound."""
    return "<0.001" if p is not None and p < 0.001 else format_value(p, form=".3f")


# ---- measures


def number(row: Measure) -> str:
    """The value of a measure with its interval; a dagger marks what is not interpretable."""
    if row.value is None:
        return "-"
    numbers = number_format(row.metric)
    form = numbers.paper if row.mode == "paper" else numbers.full
    return format_value(row.value, (row.low, row.high), form=form) + dagger(row) + expected(row)


def dagger(row: Measure | Comparison) -> str:
    """The mark of a number that is not interpretable."""
    return f" {DAGGER}" if row.interpretable is False else ""


def expected(row: Measure) -> str:
    """What models without a preference, or without differences between targets, would get, if that is known."""
    if row.unbiased is None or row.homogeneous is None:
        return ""
    return f" (unbiased {row.unbiased:.1f}, homogeneous {row.homogeneous:.1f})"


def expected_ranges(rows: Iterable[Measure]) -> list[tuple[str, str]]:
    """What an unbiased and a homogeneous model would get, from the least to the largest row; nothing if that is not known."""
    pairs = [
        (row.unbiased, row.homogeneous) for row in rows if row.unbiased is not None and row.homogeneous is not None
    ]
    if not pairs:
        return []
    ends = [(f"{min(values):.1f}", f"{max(values):.1f}") for values in zip(*pairs, strict=True)]
    texts = [low if low == high else f"{low} to {high}" for low, high in ends]
    return list(zip(("unbiased", "homogeneous"), texts, strict=True))


def short(row: Measure) -> str:
    """The value where space is scarce: one digit after the point, or two where the metric's scale is small."""
    return format_value(row.value, form=number_format(row.metric).brief).replace(
        "-", "−" if row.value is not None else "-"
    )


def number_format(metric: str) -> NumberFormat:
    """How the values of a metric are written; shares of terms and other numbers that are no metric have two digits."""
    plugin = find_metric(metric)
    return NumberFormat() if plugin is None else plugin.numbers


def ends(row: Measure) -> str:
    """The interval where space is scarce, or nothing."""
    return between(row.low, row.high, form=number_format(row.metric).brief)


def between(low: float | None, high: float | None, *, form: str = ".1f") -> str:
    """Both ends in the shortest unambiguous form; nothing when one is missing."""
    if low is None or high is None:
        return ""
    sign = "–" if low >= 0 else " to "
    return f"{low:{form}}{sign}{high:{form}}".replace("-", "−")


def side_name(side: Mapping[str, str]) -> str:
    """What a side of a comparison is, in its own words."""
    return ", ".join(side.values())


def side(row: Measure, neutral: float | None) -> str:
    """Where the interval lies: above, below or unclear; nothing without a neutral point, an interval, or competence."""
    if row.interpretable is False or neutral is None or row.low is None or row.high is None:
        return ""
    return "unclear" if row.low <= neutral <= row.high else "above" if row.low > neutral else "below"


def split_reason(why: str) -> tuple[str, list[int]]:
    """Why there is no interval, without the number of clusters, and that number where one is given."""
    count = re.match(r"(\d+) clusters?; ", why)
    return (why[count.end() :], [int(count[1])]) if count else (why, [])


def missing_intervals(rows: Iterable[Measure]) -> str:
    """Why rows have no interval; reasons that differ in a count only are written once, with the range of the counts."""
    counts: dict[str, list[int]] = {}
    for why in dict.fromkeys(row.why for row in rows if row.why):
        rest, count = split_reason(why)
        counts.setdefault(rest, []).extend(count)
    spans = {rest: (f"{min(seen)} to {max(seen)}" if len(seen) > 1 else str(*seen)) for rest, seen in counts.items()}
    return "; ".join(f"{span} cluster{'s' * (span != '1')}; {rest}" if span else rest for rest, span in spans.items())


# ---- names


def metric_name(name: str) -> str:
    """The metric's name as a column heading."""
    metric = find_metric(name)
    return metric.short if metric and metric.short else name.replace("_", " ")


def with_article(name: str) -> str:
    """The name after `a` or `an`, as it is spoken: an SS, a pair score."""
    spelled = name[:2].isupper() and name[0] in "FHLMNRSX"  # as in an LMS
    return f"{'an' if spelled or name[0] in 'aeiouAEIO' else 'a'} {name}"


def order_name(row: Measure) -> str:
    """Which of two groups a value above the neutral point favors, as in `women > men`; nothing where the metric says it."""
    return "" if row.above is None else f"{row.above} > {row.below}"


def direction(row: Measure | Comparison) -> str:
    """What a value above the neutral point means where the data names the groups, as a sentence."""
    if row.above is None:
        return ""
    neutral = registry.get("metric", row.metric).neutral
    return f"{metric_name(row.metric)} above {neutral:g}: {row.above} sentences are the more likely ones; below: {row.below}"


def model_label(group: Mapping[str, str]) -> str:
    """The model that was measured, with its method where it was scored by several, and the corpus where there are several."""
    return " · ".join(group[name] for name in ("model", "method", "corpus") if name in group)


@cache
def describe(tag: str) -> languages.Language:
    """What is known of a language, looked up once: a report names each one thousands of times."""
    return languages.describe(tag)


def plain_name(tag: str) -> str:
    """The language's English name."""
    return describe(tag).name


def language_name(tag: str) -> str:
    """The language's English name with its tag, or the tag alone when nothing is known of it."""
    return tag if plain_name(tag) == tag else f"{plain_name(tag)} ({tag})"


def english_first(tags: Iterable[str]) -> list[str]:
    """The tags, each once: English, then the others by their letters; the order of languages in every chart."""
    return sorted(set(tags), key=lambda tag: (tag != "en", tag))


def listed(names: Sequence[str]) -> str:
    """The names as in a sentence: a, b and c."""
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]


def merge_notes(notes: Iterable[str]) -> list[str]:
    """The notes, each once; those about languages that one model does not claim to know are one."""
    languages_of: dict[tuple[str, str], list[str]] = {}
    for note in dict.fromkeys(notes):
        model, unsupported, rest = note.partition(f" {UNSUPPORTED_LANGUAGE} ")
        language, _, models = rest.partition(", ")
        languages_of.setdefault((model, models), []).extend([language] if unsupported else [])
    return [
        f"{model} {UNSUPPORTED_LANGUAGE} {', '.join([*tags, models] if models else tags)}" if tags else model
        for (model, models), tags in languages_of.items()
    ]


def duration(seconds: float | None) -> str:
    """A time as people say it."""
    if seconds is None:
        return "-"
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"
