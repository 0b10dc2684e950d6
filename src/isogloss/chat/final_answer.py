"""Final answers: what a text answers in the end, without thoughts, boxes, JSON, code fences and headings around it."""

import json
import re

THOUGHT = re.compile(
    r"<(think|thinking|thought|reasoning|analysis)>.*?</\1>|\[THINK\].*?\[/THINK\]|◁think▷.*?◁/think▷",
    re.DOTALL | re.IGNORECASE,
)
OPEN_THOUGHT = re.compile(r"<(?:think|thinking|thought|reasoning|analysis)>|\[THINK\]|◁think▷", re.IGNORECASE)
CLOSED_THOUGHT = re.compile(r"</(?:think|thinking|thought|reasoning|analysis)>|\[/THINK\]|◁/think▷", re.IGNORECASE)
FINAL_CHANNEL = re.compile(r"<\|channel\|>final<\|message\|>|assistantfinal")
BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
LATEX_TEXT = re.compile(r"\\(?:text|mathrm|textbf|mathbf)\s*\{([^{}]*)\}")
FENCE = re.compile(r"```[a-z]*\n?|```", re.IGNORECASE)
OBJECT = re.compile(r"\{[^{}]*\}", re.DOTALL)
KEYS = ("answer", "final_answer", "response", "verdict", "result", "output", "choice")
TRUTH = {True: "yes", False: "no"}


def extract_answer(text: str) -> str:
    """The part of a text that answers; empty when a thought was cut off before the answer."""
    final = FINAL_CHANNEL.split(text)
    if len(final) > 1:
        rest = re.sub(r"<\|[a-z]+\|>", "", final[-1])
    else:  # what follows the last thought; a thought that has no end leaves nothing
        rest = CLOSED_THOUGHT.split(THOUGHT.sub(" ", text))[-1]
        rest = OPEN_THOUGHT.split(rest)[0]
    boxed = BOXED.findall(rest)
    if boxed:
        return LATEX_TEXT.sub(r"\1", boxed[-1]).strip()
    bare = FENCE.sub("", rest).strip()
    value = _json_value(bare)
    return bare if value is None else value


def _json_value(text: str) -> str | None:
    """The answer in a JSON object: under a usual key, or its only value; nothing when there is no such object."""
    match = OBJECT.search(text) if text.startswith(("{", "[")) else None
    try:
        content = json.loads(match[0]) if match else None
    except ValueError:
        content = None
    if not isinstance(content, dict):
        return None
    named = [value for key, value in content.items() if str(key).casefold() in KEYS]
    value = (named or list(content.values()) if len(content) == 1 or named else [None])[0]
    return TRUTH[value] if isinstance(value, bool) else value if isinstance(value, str) else None
