"""Tables from the hub, with the user's own access: fetched once, kept as Parquet, read like any file."""

from __future__ import annotations

from pathlib import Path

from ..errors import IsoglossError, need
from ..languages import home

PREFIX = "hf:"


def how_to_enter(name: str) -> str:
    """What a user does to read a gated data set."""
    return (
        f"It is gated: accept its terms at https://huggingface.co/datasets/{name}, set HF_TOKEN to a token of your "
        f"account, and say --data {name}."
    )


def fetch_table(name: str) -> Path:
    """The data set as a Parquet file in the user's own folder; what is there already is not fetched again."""
    name = name.removeprefix(PREFIX)
    path = home() / "data" / f"{name.replace('/', '--')}.parquet"
    if path.exists():
        return path
    try:
        datasets = need("datasets", extra="corpora")
        splits = datasets.load_dataset(name)
        table = datasets.concatenate_datasets(list(splits.values()))
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".tmp")
        table.to_parquet(str(draft))
        draft.replace(path)
    except Exception as error:  # the hub's libraries raise errors of many kinds
        reason = str(error).strip().split("\n")[0][:160].rstrip(".") or type(error).__name__
        raise IsoglossError(
            f"The hub does not give '{name}' ({reason}). If it is gated, accept its terms at "
            f"https://huggingface.co/datasets/{name} and set HF_TOKEN to a token of your account."
        ) from error
    return path
