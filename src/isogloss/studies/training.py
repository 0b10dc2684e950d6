"""Next-sentence heads that a study trains before it scores; a finished head is kept, an interrupted training resumes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .. import registry


@dataclass(frozen=True, slots=True)
class HeadTraining:
    """A head: the model it is for, the folder it is saved in, and its pairs of sentences.

    `data` is the folder of the pairs. Where it is missing, it is made of `articles`, as `isogloss nsp data` makes it with
    `data_options`; `options` are those of `isogloss nsp train`, with `epochs` and `pairs` among them.
    """

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012  # for study files

    model: str
    out: str
    data: str
    articles: tuple[str, ...] = ()
    language: str | None = None
    limit: int | None = None
    epochs: int = 1
    pairs: int | None = None
    data_options: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)


def train_heads(path: str | Path) -> list[Path]:
    """The folders of the heads that a study file names, each trained unless it is finished; paths start at the file."""
    from .file import read_study

    heads = read_study(path).training
    if not heads:
        return []
    train = registry.get("trainer", "nsp")
    return [train(head, Path(path).parent) for head in heads]


def path_beside(base: Path, name: str) -> str:
    """The whole path of what lies beside the study file, in the folder `base`; any other name as it is."""
    return str(base / name) if (base / name).exists() else name
