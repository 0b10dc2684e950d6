"""CrowS-Pairs anti-stereotype part: the CrowS-Pairs score over the pairs that contradict a stereotype."""

from ._pairs import direction_metric

metric = direction_metric(
    "antistereo",
    title="CrowS-Pairs anti-stereotype part",
    formula="100 · #(score(sent_more) > score(sent_less)) / n over the pairs that contradict a stereotype; paper mode leaves ties out",
    caution="Few pairs contradict a stereotype, so the interval is wide.",
    short="crows antistereo",
    order=13,
)
