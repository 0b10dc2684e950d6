"""An example of a package that adds a metric, a model family and a language to Isogloss."""

from pathlib import Path

LANGUAGES = Path(__file__).parent / "languages"
