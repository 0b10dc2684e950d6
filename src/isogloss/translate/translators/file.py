"""File: translations that you bring yourself, as a table with the columns text and translation."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...atomic_files import write_csv
from ...errors import BadData, IsoglossError
from ...files.rows import read_rows, suffix
from ...items import BLANK
from . import LanguagePair, Opened, Translator, option


def open_file(pair: LanguagePair, options: Mapping[str, str]) -> Opened:
    """The table as a translator; a text that is not in it is written into it, to be filled in."""
    path = Path(option(options, "path", translator="file"))
    translations = _read(path) if path.exists() else {}
    # A table that was edited must not be answered from the cache of the old one.
    version = hashlib.sha256(json.dumps(translations, sort_keys=True).encode()).hexdigest()[:8]
    return Opened(
        f"file {path.name} {version}",
        lambda texts: _look_up(path, texts, known=translations),
        batch=10**9,
        placeholders=(BLANK,),
    )


def _read(path: Path) -> dict[str, str]:
    translations = {}
    for line, row in read_rows(path):
        if not isinstance(row.get("text"), str) or not isinstance(row.get("translation"), str):
            raise BadData(path, line, "the table needs the columns 'text' and 'translation'.")
        translations[" ".join(row["text"].split())] = row["translation"].strip()
    return translations


def _look_up(path: Path, texts: Sequence[str], *, known: Mapping[str, str]) -> list[str]:
    missing = [text for text in texts if not known.get(text)]
    if missing:
        target = path if suffix(path) == ".csv" else path.with_suffix(".missing.csv")
        kept = [(text, translation) for text, translation in known.items() if translation and target == path]
        write_csv(target, [("text", "translation"), *kept, *((text, "") for text in missing)])
        raise IsoglossError(
            f"{len(missing)} texts have no translation. They were written to {target}: "
            "fill in the column 'translation' and run it again."
        )
    return [known[text] for text in texts]


translator = Translator(
    title="A table of your own",
    open=open_file,
    options={"path": "a table with the columns text and translation; it is created if it does not exist"},
)
