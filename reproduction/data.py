"""The data: published files in one folder, from ISOGLOSS_REAL_DATA or by name from their publishers, and what is built from them."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import isogloss as ig
from isogloss.errors import IsoglossError
from isogloss.files.catalogue import find_source
from isogloss.files.layout import write_items
from isogloss.files.published import pull

LANGUAGES = ("en", "de", "es", "fr", "tr")
STEREOSET = [f"stereoset/{task}_{tag}.jsonl.gz" for task in ("intrasentence", "intersentence") for tag in LANGUAGES]
CROWS = "crows_pairs/crows_pairs_anonymized.csv"
TRANSLATED = {"ja": "crows_pairs/mbe_japanese.json", "ru": "crows_pairs/mbe_russian.json"}
TEMPLATES = "templates/behnamghader_milios_en_el.json"
SCORES = "predictions/{}_BertLM_BertNextSentence_{}.json.gz"
PREDICTIONS = [SCORES.format("bert-base-cased", "en")]
PREDICTIONS += [SCORES.format("bert-base-multilingual-cased", tag) for tag in LANGUAGES]
NEEDED = [*STEREOSET, CROWS, *TRANSLATED.values(), TEMPLATES, *PREDICTIONS]
NEWS = [f"parallel/news_pt_{group}.jsonl.gz" for group in ("female", "male")]  # without them, MBE has no Portuguese row
TABLES = "expected_tables.json"  # without it, nothing is shown as printed


def find_data(folder: Path, say: Callable[[str], None]) -> Path:
    """The folder with the published data: the one that ISOGLOSS_REAL_DATA names, or one filled from the publishers."""
    named = os.environ.get("ISOGLOSS_REAL_DATA")
    if not named:
        pull_data(folder, say)
        return folder
    missing = [name for name in NEEDED if not (Path(named) / name).is_file()]
    if missing:
        raise IsoglossError(
            f"{len(missing)} of {len(NEEDED)} files are not in ISOGLOSS_REAL_DATA: {', '.join(missing)}. Put them there, "
            "or unset ISOGLOSS_REAL_DATA to fetch them from their publishers."
        )
    return Path(named)


def pull_data(folder: Path, say: Callable[[str], None]) -> None:
    """Fetch the published data by name, and lay it out as the study reads it."""
    for tag in LANGUAGES:
        if not all(
            (folder / f"stereoset/{task}_{tag}.jsonl.gz").is_file() for task in ("intrasentence", "intersentence")
        ):
            say(f"Fetching StereoSet in {tag} …")
            (folder / "stereoset").mkdir(parents=True, exist_ok=True)
            for path in write_items(folder / "stereoset", ig.read("stereoset", language=tag)):
                _pack(path, path.with_name(path.name + ".gz"))
                path.unlink()
    for name, (source, tag) in SOURCES.items():
        if not (folder / name).is_file():
            say(f"Fetching {Path(name).name} …")
            stored = pull(find_source(source), [tag])[tag]  # type: ignore[arg-type]
            plain = Path(name).name.removesuffix(".gz")
            chosen = next((path for path in stored if path.name.removesuffix(".gz") == plain), stored[0])
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            _pack(chosen, folder / name)


SOURCES = {
    CROWS: ("crows_pairs", "en"),
    **{name: ("crows_pairs", tag) for tag, name in TRANSLATED.items()},
    TEMPLATES: ("behnamghader_milios", "en"),
    **{name: ("stereoset_predictions", name[-10:-8]) for name in PREDICTIONS},
}


def _pack(path: Path, target: Path) -> None:
    """A copy; packed when the target's name says so and the file is not."""
    content = path.read_bytes()
    target.write_bytes(gzip.compress(content) if target.suffix == ".gz" and path.suffix != ".gz" else content)


def prepare_data(source: Path, folder: Path) -> None:
    """Link the published data into the folder, and build what the study reads beside it."""
    built = folder / "built"
    built.mkdir(parents=True, exist_ok=True)
    for name in (*NEEDED, *NEWS):
        if not (folder / name).exists() and (source / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).symlink_to((source / name).resolve())
    crows = str(folder / CROWS)
    _build("align", crows, out=built / "english.txt")
    _build("split", str(built / "english.txt"), out=built / "single_en.jsonl")
    for tag, name in TRANSLATED.items():
        _build("align", crows, str(folder / name), out=built / f"en-{tag}.tsv")
        _build("split", str(built / f"en-{tag}.tsv"), out=built / f"single_{tag}.jsonl")
    _build("pairs", str(folder / STEREOSET[0]), out=built / "stereoset_pairs_en.jsonl")
    if all((folder / name).is_file() for name in NEWS):
        _write_news(folder, built / "news_pt.jsonl")


def _build(kind: str, *sources: str, out: Path) -> None:
    if out.is_file():
        return
    command = [sys.executable, "-m", "isogloss", "data", "build", kind, *sources, "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise IsoglossError(f"{out.name} could not be built: {done.stderr.strip()}")


def _write_news(folder: Path, out: Path) -> None:
    """The Portuguese news sentences, already split by gender, as sentences of two groups."""
    rows = []
    for name in NEWS:
        with gzip.open(folder / name, "rt", encoding="utf-8") as file:
            rows += [json.loads(line) for line in file]
    same = {"dataset": "sentences", "language": "pt", "groups": "female/male"}
    lines = [
        {"id": f"{row['gender']}-{row['i']}", "group": row["gender"], "text": row["text_detokenised"], **same}
        | {"corpus": row["corpus"]}
        for row in rows
    ]
    out.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
