"""How often a chat model says yes, no or neither, for each prompt and language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...chat.answer_rows import ANSWER, STEREOTYPE
from ...items import group_by
from ..numbers import english_first, format_interval, language_name, model_label
from . import FigureRequest, Plot, measured, open_study, value_of
from ._marks import COLOURS, HIGH, LOW, PALE, WEAK, add_legend, legend_height
from ._style import Canvas, fit_name, language_label, new_panels
from ._svg import explain

NEITHER = "neither"
VERDICTS = {"answered_yes": "yes", "answered_none": "none", "answered_no": "no"}
# Yes and no are the two directions of a preference; what says neither lies between them.
LOOKS = {
    "yes": HIGH, "none": PALE, "refused": COLOURS[4], "restated": COLOURS[2], "unclear": COLOURS[3], "off_topic": COLOURS[5], "empty": WEAK,
    "other_language": COLOURS[6], "no": LOW,
}  # fmt: skip
SPARE = (COLOURS[0], COLOURS[1])
LINE = 0.2


@dataclass(frozen=True, slots=True)
class AnswerShare:
    """How often a model gave one verdict to a prompt in a language, in per cent, with its interval where there is one."""

    model: str
    language: str
    prompt: str
    verdict: str
    share: float
    low: float | None = None
    high: float | None = None


def find(request: FigureRequest) -> list[AnswerShare]:
    """The shares of yes, no and neither for each model, language and prompt."""
    study = open_study(request)
    scored = study.scores
    if "prompt" not in scored.table.columns or ANSWER not in set(scored.table["quantity"]):
        return []
    rows = measured(request, study, metrics=tuple(VERDICTS), by=["prompt"])
    in_order = sorted(rows, key=lambda row: row.group.get("prompt") != STEREOTYPE)  # the first question first
    return [
        AnswerShare(
            model_label(row.group), row.group["language"], row.group["prompt"], VERDICTS[row.metric], value_of(row),
            row.low, row.high,
        )
        for row in in_order
        if row.metric in VERDICTS
    ]  # fmt: skip


def draw(shares: Sequence[AnswerShare], canvas: Canvas) -> Any:
    """A panel for each prompt and model; yes grows from the left, no from the right, so that both ends show an interval."""
    from matplotlib.patches import Patch

    panels = group_by(shares, lambda share: (share.model, share.prompt))
    several = len({who for who, _ in panels}) > 1
    tags = english_first(share.language for share in shares)
    looks = verdict_colours(shares)
    labels = [NEITHER if name == "none" else name.replace("_", " ") for name in looks]
    most = min(len({prompt for _, prompt in panels}), 3)
    each = 0.34 + LINE * len(tags)
    space = 0.45 + legend_height(canvas, labels)
    figure, axes_of, grid = new_panels(
        canvas, len(panels), height=lambda down, _: space + down * each, most=most, shared="xy"
    )
    for axes, ((who, prompt), chosen) in zip(axes_of, panels.items(), strict=True):
        for tag, bar in group_by(chosen, lambda share: share.language).items():
            _draw_bar(
                axes, sorted(bar, key=lambda share: list(looks).index(share.verdict)), at=tags.index(tag), looks=looks
            )
        title = f"{who} · {prompt}" if several else prompt
        axes.set_title(fit_name(title, canvas, share=0.8 / grid.shape[1]), loc="left", pad=2)
        axes.set_yticks(range(len(tags)), [language_label(tag, canvas) for tag in tags])
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(tags) - 0.5, -0.5)
        axes.set_xlim(0, 100)
    for axes in grid[-1]:
        axes.set_xlabel("answers, %")
    add_legend(figure, [Patch(color=colour) for colour in looks.values()], labels=labels, canvas=canvas)
    return figure


def verdict_colours(shares: Sequence[AnswerShare]) -> dict[str, str]:
    """The colors of the verdicts that occur, in the order of a bar; always those of yes and no."""
    verdicts = list(dict.fromkeys(["yes", "no", *(share.verdict for share in shares)]))
    others = [name for name in verdicts if name not in LOOKS]
    spare = {name: SPARE[index % len(SPARE)] for index, name in enumerate(others)}
    colours = {name: colour for name, colour in LOOKS.items() if name in verdicts and name != "no"}
    return {**colours, **spare, "no": LOOKS["no"]}


def _draw_bar(axes: Any, bar: Sequence[AnswerShare], *, at: int, looks: Mapping[str, str]) -> None:
    """The parts of a bar from left to right; a black line is the interval of yes or no."""
    left = 0.0
    for part in bar:
        last = part.verdict == "no"
        start = 100 - part.share if last else left
        (drawn,) = axes.barh(at, part.share, 0.8, left=start, color=looks[part.verdict], zorder=2)
        ends = "" if part.low is None else f" {format_interval(part.low, part.high, form='.1f')}"
        explain(drawn, f"{language_name(part.language)}, {part.verdict.replace('_', ' ')}: {part.share:.1f} %{ends}")
        left += part.share
        if part.verdict in ("yes", "no") and part.low is not None and part.high is not None:
            span = [100 - part.high, 100 - part.low] if last else [part.low, part.high]
            height = at + (0.15 if last else -0.15)
            axes.plot(span, [height, height], color="black", linewidth=0.8, zorder=3, clip_on=False)


figure = Plot(
    title="Answers to prompts",
    needs="answers of chat models: isogloss ask MODEL --data demo --language en --out RUNS",
    caption="Answers that say yes (from the left), no (from the right) and neither (between); black lines are 95 % intervals over clusters of items.",
    find=find,
    draw=draw,
)
