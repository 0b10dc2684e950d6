"""The sides of a comparison as the command line gives them: folders of runs, or prediction files with their data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import IsoglossError, UnknownName
from ..items import Items
from ..scores import Scored, join_scored, scored_from_values

NEEDS_DATA = "{path} is a file of predictions, so it needs its data. Use --data with a file or a folder."


def load_scores(paths: Sequence[Path], *, data: Sequence[str], languages: Sequence[str], skip_bad: bool) -> Scored:
    """The scores of folders of runs, or of prediction files on their data."""
    from ..files.sources import read_many
    from .options import read_runs

    files = [path for path in paths if path.is_file()]
    folders = [path for path in paths if path not in files]
    if data and not files:
        raise IsoglossError("--data is for prediction files; a run knows its data.")
    if files and not data:
        raise IsoglossError(NEEDS_DATA.format(path=files[0]))
    items = read_many(data, language=languages, skip_bad=skip_bad) if files else Items(())
    scored = [load_predictions(path, items) for path in files]
    return join_scored([*scored, *([read_runs(folders, languages)] if folders else [])])


def load_side(path: Path, *, data: Sequence[str], where: Mapping[str, str]) -> Scored:
    """The scores of one side; `where` selects among them, and for a prediction file also the data's language."""
    from ..analysis.sides import select
    from ..files.sources import read_many
    from ..runs import find_runs, read_scored

    if path.is_dir() or not path.exists():
        runs = find_runs(path)  # whole runs first, so that notes on the others are left out
        facts = {name: value for name, value in where.items() if name in ("model", "dataset", "language")}
        chosen = [run for run in runs if all(run.info[name] == value for name, value in facts.items())]
        return select(read_scored(chosen or runs), where)
    if not data:
        raise IsoglossError(NEEDS_DATA.format(path=path))
    items = read_many(data)
    if "language" in where:
        items = _in_language(items, where["language"])
    scored = load_predictions(path, items)
    return select(scored, {name: value for name, value in where.items() if name != "language"})


def _in_language(items: Items, language: str) -> Items:
    from ..languages import resolve

    tag = resolve(language)
    rows = tuple(item for item in items if item.language == tag)
    if not rows:
        raise UnknownName("language of the data", language, {item.language for item in items})
    return replace(items, rows=rows)


def two_sides(
    paths: Sequence[Path], *, a: Mapping[str, str], b: Mapping[str, str], data: Sequence[str]
) -> tuple[Scored, Scored]:
    """Both sides: two paths, or one path with what to choose for each side."""
    if len(paths) == 1 and a and b:
        paths = [paths[0], paths[0]]
    if len(paths) != 2:
        raise IsoglossError(
            "Give two runs to compare, or one folder and what to choose in it, such as --a language=en --b language=de."
        )
    return load_side(paths[0], data=data, where=a), load_side(paths[1], data=data, where=b)


def load_predictions(path: Path, items: Items) -> Scored:
    """The file's scores on the items; the model's name is the file's."""
    from ..exchange.predictions import model_of_file, read_predictions
    from ..files.sources import language_in_name

    languages = sorted({item.language for item in items})
    if len(languages) > 1:
        raise IsoglossError(
            f"A prediction file holds one language; the data has {', '.join(languages)}. Use --language."
        )
    named = language_in_name(path)
    if named is not None and named.split("-")[0] != languages[0].split("-")[0]:
        raise IsoglossError(
            f"{path.name} is named after '{named}', but the data is in '{languages[0]}'. Rename the file if it is right."
        )
    return scored_from_values(items, read_predictions(path), model=model_of_file(path))
