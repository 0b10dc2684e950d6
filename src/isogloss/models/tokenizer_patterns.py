"""Regular expressions of a tokenizer: those that could take all memory or time are refused before a text is cut."""

import json
import re
from pathlib import Path

from ..errors import IsoglossError

FILES = "tokenizer*.json"  # transformers also takes 'tokenizer.4.0.json' where the configuration names it
KEY = "".join(f"(?:{letter}|\\\\u{ord(letter):04x})" for letter in "Regex")
PATTERN = re.compile(rf'"{KEY}"\s*:\s*("(?:[^"\\]|\\.)*")', re.IGNORECASE)
COUNT = re.compile(r"\{(\d{0,9})(?:,(\d{0,9}))?\}")
CLASS = re.compile(r"\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]", re.DOTALL)
MOST_REPETITIONS = 1_000  # published tokenizers have 3; the time for '(a?){1,100000}' grows with the square
MOST_GROUPS = 100  # published ones have under 10; nested, 2,000 take minutes and hundreds of MB for one sentence
LONGEST = 20_000  # published ones have a few hundred letters; a class of letters takes up to 23 kB


def check_patterns(folder: Path | None, name: str) -> None:
    """Refuse a tokenizer with a regular expression that is longer, or repeats more, than any tokenizer needs."""
    for file in sorted(folder.glob(FILES)) if folder else ():
        for match in PATTERN.finditer(file.read_text(encoding="utf-8", errors="replace")):
            try:
                pattern = str(json.loads(match[1]))
            except ValueError:  # the tokenizers library says what is wrong with the file
                continue
            if excess := find_excess(pattern):
                raise IsoglossError(
                    f"The tokenizer of '{name}' has a regular expression with more than {excess}, which could take all "
                    f"memory. Download the model again."
                )


def find_excess(pattern: str) -> str:
    """Which bound a regular expression exceeds, in words; nothing for the usual ones."""
    if len(pattern) > LONGEST:
        return f"{LONGEST:,} letters"
    if pattern.count("(") > MOST_GROUPS:
        return f"{MOST_GROUPS} groups"
    return f"{MOST_REPETITIONS:,} repetitions" if largest_repetition(pattern) > MOST_REPETITIONS else ""


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
