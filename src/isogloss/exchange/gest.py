"""GEST's score files: one number per line, a man's score minus a woman's, in the order of gest.csv; one file per wording."""

import math
import re
from pathlib import Path

from ..errors import BadData
from ..files.rows import read_bytes
from ..items import Items, group_by

NAME = re.compile(r"(?:english_)?(?:(mlm|glm)_)?(.+)_template-([0-3])\.txt(?:\.gz)?")
CAUSAL = "glm"
FIRST_OF_CAUSAL = 2  # a causal model's two wordings are the last two of a masked model's


def read_differences(path: Path, items: Items) -> tuple[dict[str, float], Items, list[str]]:
    """The score of each candidate, the items of the file's wordings, and caveats.

    Other files of the same model in the same folder hold its other wordings, and are read too.
    """
    task, model, _ = split_name(path)
    values: dict[str, float] = {}
    kept = []
    of_wording = group_by(items, lambda item: str(item.tags.get("wording")))
    for other in sorted(path.parent.glob("*_template-?.txt*")):
        if not NAME.fullmatch(other.name) or split_name(other)[:2] != (task, model):
            continue
        wording = str(int(split_name(other)[2]) + (FIRST_OF_CAUSAL if task == CAUSAL else 0))
        worded = of_wording.get(wording, [])
        numbers = _numbers(other)
        if len(numbers) != len(worded):
            raise BadData(other, None, f"has {len(numbers)} scores; the data has {len(worded)} items of this wording.")
        for item, number in zip(worded, numbers, strict=True):
            values |= {name.id: number if name.id.endswith("-male") else 0.0 for name in item.candidates}
        kept += worded
    note = "the files hold differences between two sentences; the woman's sentence has the score 0"
    return values, Items(tuple(kept), items.problems), [note]


def split_name(path: Path) -> tuple[str, str, str]:
    """Whether the model is masked (mlm) or causal (glm), its name, and the number of the wording."""
    match = NAME.fullmatch(path.name)
    if match is None:
        raise BadData(path, None, "GEST's score files are named like english_mlm_MODEL_template-0.txt.")
    task = match[1] or path.resolve().parent.name.removeprefix("english_")
    return task, match[2], match[3]


def _numbers(path: Path) -> list[float]:
    numbers = []
    for line, text in enumerate(read_bytes(path).decode("ascii", "replace").split(), 1):
        try:
            numbers.append(float(text))
        except ValueError:
            numbers.append(math.nan)
        if not math.isfinite(numbers[-1]):
            raise BadData(path, line, f"a score must be a finite number; it is {text[:40]!r}.")
    return numbers
