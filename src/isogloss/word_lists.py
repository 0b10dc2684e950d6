"""Word lists that ship: words, names and pronouns of women and men by language."""

import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "data" / "gender"
GROUPS = ("female", "male")


def load_toml(name: str) -> dict[str, Any]:
    """One of the files of word lists that ship."""
    return tomllib.loads((FOLDER / name).read_text(encoding="utf-8"))


def languages_with_names() -> dict[str, dict[str, str]]:
    """The group of each English name that native ones can replace, by language.

    In Latin script English names are written as in English; in other scripts they are listed as usually transliterated.
    """
    native, foreign = load_toml("native_names.toml"), load_toml("transliterated_names.toml")
    english = load_toml("en_names.toml")
    return {
        language: {
            name: group
            for group in GROUPS
            for name in foreign.get(language, english)[group]
            if name not in lists.get("words", ())
        }
        for language, lists in native.items()
    }
