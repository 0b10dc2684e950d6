"""Template sentences against tools that were not used to write them: spelling dictionaries and morphological analysers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from isogloss.templates.checks import expand_sets, sets_path
from isogloss.templates.lexicon import read_lexicon
from isogloss.templates.sets import read_sets

HERE = Path(__file__).parent
SHARES = HERE / "golden" / "dictionaries.json"  # shown in docs/languages.md
ALLOWED = tomllib.loads((HERE / "data" / "unknown_words.toml").read_text(encoding="utf-8"))
HUNSPELL = {
    "ar": "ar", "de": "de_DE", "el": "el_GR", "en": "en_GB", "es": "es_ES", "fr": "fr_FR", "he": "he_IL", "id": "id_ID",
    "it": "it_IT", "ko": "ko_KR", "nl": "nl_NL", "pl": "pl_PL", "pt": "pt_PT", "pt-BR": "pt_BR", "ro": "ro_RO",
    "ru": "ru_RU", "sw": "sw_TZ", "tr": "tr_TR", "vi": "vi_VN",
}  # fmt: skip
FOLDER = Path("/usr/share/hunspell")
WORD = re.compile(r"[^\s.,!?;:()«»—]+")

pytestmark = pytest.mark.slow


@cache
def sentences(tag: str) -> list[str]:
    made = expand_sets(read_sets(sets_path(tag)), read_lexicon(tag), limit=10**6)
    return [sentence.text for _, sentence in made]


def run(command: list[str], lines: list[str]) -> list[str]:
    text = "".join(f"{line}\n" for line in lines)
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.splitlines()


def unknown_words(tag: str, words: list[str]) -> set[str]:
    """The words that a spelling dictionary does not know."""
    if tag == "fi":
        return {line[3:] for line in run(["voikkospell"], words) if line.startswith("W: ")}
    parts = {part for word in words for part in re.split(r"['’]", word) if part}  # dall'Italia
    bad = set(run(["hunspell", "-d", HUNSPELL[tag], "-i", "utf-8", "-l"], sorted({*words, *parts})))
    return {word for word in words if word in bad or bad & {p for p in re.split(r"['’]", word) if len(p) > 4}}


@pytest.mark.parametrize("tag", [*HUNSPELL, "fi"])
def test_every_word_is_in_a_dictionary_or_on_the_list_with_a_reason(tag):
    tool = "voikkospell" if tag == "fi" else "hunspell"
    if shutil.which(tool) is None or (tag != "fi" and not (FOLDER / f"{HUNSPELL[tag]}.dic").exists()):
        pytest.skip(f"{tool} or its dictionary for '{tag}' is not installed")
    words = sorted({word for sentence in sentences(tag) for word in WORD.findall(sentence)})
    unknown = unknown_words(tag, words)
    allowed = {word for listed in ALLOWED.get(tag, {}).values() for word in listed}
    assert unknown - allowed == set()
    passed = sum(not unknown & set(WORD.findall(sentence)) for sentence in sentences(tag))
    found = {
        "tool": tool,
        "words": len(words),
        "unknown": len(unknown),
        "passed": round(100 * passed / len(sentences(tag)), 1),
    }
    shares = json.loads(SHARES.read_text(encoding="utf-8")) if SHARES.exists() else {}
    if os.environ.get("ISOGLOSS_WRITE_GOLDEN"):
        SHARES.write_text(json.dumps(dict(sorted({**shares, tag: found}.items())), indent=1) + "\n", encoding="utf-8")
        return
    assert shares[tag]["words"] == found["words"]
    assert found["passed"] == pytest.approx(shares[tag]["passed"], abs=2)  # dictionaries differ a little by version


CASES = {"Nom": "nomn", "Gen": "gent", "Dat": "datv", "Acc": "accs", "Ins": "ablt", "Loc": "loct"}
NUMBERS = {"Sing": "sing", "Plur": "plur"}


def russian_cells() -> Iterator[tuple[str, dict[str, str]]]:
    """Every Russian form with its features, a form of several words by its words."""
    lexicon = read_lexicon("ru")
    for vocabulary in lexicon.vocabularies.values():
        for term in vocabulary.terms.values():
            for cell in term.uses[""]:
                yield from ((word, dict(cell.features)) for word in cell.text.split(" и "))


def test_russian_forms_have_the_case_and_number_that_their_cell_says():
    pymorphy = pytest.importorskip("pymorphy3")
    analyser = pymorphy.MorphAnalyzer()
    wrong = []
    for word, features in russian_cells():
        wanted = {table[features[name]] for name, table in (("Case", CASES), ("Number", NUMBERS)) if name in features}
        if not any(wanted <= parse.tag.grammemes for parse in analyser.parse(word)):
            wrong.append((word, sorted(wanted)))
    assert wrong == []


def test_every_reason_of_the_list_is_a_sentence_and_every_word_still_occurs():
    for tag, reasons in ALLOWED.items():
        words = {word for sentence in sentences(tag) for word in WORD.findall(sentence)}
        for reason, listed in reasons.items():
            assert len(reason.split()) >= 3, reason
            assert set(listed) <= words, sorted(set(listed) - words)
