"""Regular expressions of a tokenizer: those that repeat too often are refused before a text is cut with them."""

import json
import re
from pathlib import Path

from ..errors import IsoglossError

TOKENIZER = "tokenizer.json"
PATTERN = re.compile(r'"Regex"\s*:\s*("(?:[^"\\]|\\.)*")')
COUNT = re.compile(r"\{(\d{0,9})(?:,(\d{0,9}))?\}")
CLASS = re.compile(r"\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]", re.DOTALL)
MOST_REPETITIONS = 1_000  # published tokenizers have 3; the time for '(a?){1,100000}' grows with the square


def check_patterns(folder: Path | None, name: str) -> None:
    """Refuse a tokenizer whose counted repetitions, multiplied where they are nested, are more than any tokenizer needs."""
    if folder is None or not (folder / TOKENIZER).is_file():
        return
    text = (folder / TOKENIZER).read_text(encoding="utf-8", errors="replace")
    for match in PATTERN.finditer(text):
        try:
            pattern = str(json.loads(match[1]))
        except ValueError:  # the tokenizers library says what is wrong with the file
            continue
        if largest_repetition(pattern) > MOST_REPETITIONS:
            raise IsoglossError(
                f"The tokenizer of '{name}' has a regular expression with more than {MOST_REPETITIONS:,} repetitions, "
                f"which could take all memory. Download the model again."
            )


def largest_repetition(pattern: str) -> int:
    """The largest product of nested counts: 6 for '((a{2}){3}b{4})*'; '*' and '+' do not count."""
    groups, last, at = [1], 1, 0  # the largest product in each open group, and that of the last element
    while at < len(pattern):
        count = COUNT.match(pattern, at)
        element = CLASS.match(pattern, at)
        if count and at:
            last *= max(int(number or 0) for number in (count[1], count[2]))
            groups[-1] = max(groups[-1], last)
            at = count.end()
            continue
        last = 1
        if pattern[at] == "(":
            groups.append(1)
        elif pattern[at] == ")" and len(groups) > 1:
            last = groups.pop()
            groups[-1] = max(groups[-1], last)
        at = element.end() if element else at + (2 if pattern[at] == "\\" else 1)
    return max(groups)
