"""Apertium: free translation by rules on this machine; one process for all texts."""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence

import langcodes

from ...errors import IsoglossError, list_known
from . import LanguagePair, Opened, Translator

BATCH = 5000
INSTALL = "apt-get install apertium apertium-eng-spa"


def open_apertium(pair: LanguagePair, options: Mapping[str, str]) -> Opened:
    """The translator for a pair, such as eng-spa, that is installed here."""
    if shutil.which("apertium") is None:
        raise IsoglossError(f"Apertium is not installed. On Debian: {INSTALL}")
    codes = (str(langcodes.Language.get(tag).to_alpha3()) for tag in (pair.source, pair.target))
    direction = options.get("direction") or "-".join(codes)
    modes = _run(["apertium", "-l"], "").split()
    if direction not in modes:
        raise IsoglossError(
            f"Apertium has no direction '{direction}' here. Known: {list_known(direction, modes)}. "
            "Install the package of the pair, or use `options={'direction': '…'}`"
        )
    return Opened(f"apertium {direction}", lambda texts: _translate(texts, direction), batch=BATCH)


def _translate(texts: Sequence[str], direction: str) -> list[str]:
    """An empty line ends a sentence for Apertium, so texts do not run into each other."""
    source_text = "".join(f"{text}\n\n" for text in texts)
    lines = re.split(r"\n\n", _run(["apertium", "-u", direction], source_text))
    lines = [line.strip() for line in lines[: len(texts)]]
    if len(lines) != len(texts) or any("\n" in line for line in lines):
        raise IsoglossError(
            f"Apertium gave {len(lines)} texts for {len(texts)}. Try a smaller set to find the text it stumbles over."
        )
    for index, (text, line) in enumerate(zip(texts, lines, strict=True)):
        if text[:1].islower() and line[1:2].islower():  # Apertium writes the first letter of every text large
            lines[index] = line[:1].lower() + line[1:]
    return lines


def _run(command: list[str], text: str) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        raise IsoglossError(f"Apertium failed: {done.stderr.strip() or done.stdout.strip()}.")
    return done.stdout


translator = Translator(
    title="Apertium, rules on this machine",
    open=open_apertium,
    options={"direction": "Apertium's name for the pair, such as eng-spa; by default derived from the languages"},
)
