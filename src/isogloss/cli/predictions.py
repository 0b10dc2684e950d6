"""Prediction files as the command line gives them: a path, named by the file."""

from __future__ import annotations

from pathlib import Path

from ..errors import IsoglossError
from ..items import Items
from ..scores import Scored, scored_from_values


def load_predictions(path: Path, items: Items) -> Scored:
    """The file's scores on the items; the model's name is the file's."""
    from ..exchange.predictions import model_of_file, read_predictions
    from ..files.sources import language_in_name

    languages = sorted({item.language for item in items})
    if len(languages) > 1:
        raise IsoglossError(
            f"A prediction file holds one language; the data has {', '.join(languages)}. Say --language."
        )
    named = language_in_name(path)
    if named is not None and named.split("-")[0] != languages[0].split("-")[0]:
        raise IsoglossError(
            f"{path.name} is named after '{named}', but the data is in '{languages[0]}'. Rename the file if it is right."
        )
    return scored_from_values(items, read_predictions(path), model=model_of_file(path))
