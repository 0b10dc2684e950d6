"""Next-sentence heads that a study trains before it scores; a finished head is kept, an interrupted training resumes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import IsoglossError, satellite


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

    return [_train_head(head, Path(path).parent) for head in read_study(path).training]


def _train_head(head: HeadTraining, base: Path) -> Path:
    with satellite("nsp", "training heads"):
        from ..nsp.articles import parse_sources
        from ..nsp.data import PairSettings, build_data, read_pair_settings
        from ..nsp.settings import TrainingSettings, read_training_settings
        from ..nsp.train import train_head

    data, out = base / head.data, base / head.out
    settings = read_training_settings(head.options, TrainingSettings(epochs=head.epochs, pairs=head.pairs))
    if not data.exists():
        if not head.articles:
            raise IsoglossError(f"No such folder: {data}. Make it with isogloss nsp data, or name 'articles'.")
        parts = [source.rpartition("=") for source in head.articles]  # perhaps after a language and =
        sources = [tag + sign + path_beside(base, place) for tag, sign, place in parts]
        pair_settings = read_pair_settings(head.data_options, PairSettings(limit=head.limit))
        build_data(parse_sources(sources, language=head.language), data, settings=pair_settings)
    train_head(path_beside(base, head.model), data, out=out, settings=settings)
    return out


def path_beside(base: Path, name: str) -> str:
    """The whole path of what lies beside the study file, in the folder `base`; any other name as it is."""
    return str(base / name) if (base / name).exists() else name
