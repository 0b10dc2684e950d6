"""The data: the published files, linked into one folder, and what is built from them."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

from isogloss.errors import IsoglossError

LANGUAGES = ("en", "de", "es", "fr", "tr")
STEREOSET = [f"stereoset/{task}_{tag}.jsonl.gz" for task in ("intrasentence", "intersentence") for tag in LANGUAGES]
CROWS = "crows_pairs/crows_pairs_anonymized.csv"
TRANSLATED = {"ja": "crows_pairs/mbe_japanese.json", "ru": "crows_pairs/mbe_russian.json"}
NEWS = [f"parallel/news_pt_{group}.jsonl.gz" for group in ("female", "male")]
TEMPLATES = "templates/behnamghader_milios_en_el.json"
PREDICTIONS = [f"predictions/bert-base-multilingual-cased_BertLM_BertNextSentence_{tag}.json.gz" for tag in LANGUAGES]
NEEDED = [*STEREOSET, CROWS, *TRANSLATED.values(), *NEWS, TEMPLATES, *PREDICTIONS, "expected_tables.json"]


def find_data() -> Path:
    """The folder with the published data; without it, a sentence that says what is needed."""
    folder = Path(os.environ.get("ISOGLOSS_REAL_DATA") or "/nowhere")
    missing = [name for name in NEEDED if not (folder / name).is_file()]
    if missing:
        raise IsoglossError(
            f"Set ISOGLOSS_REAL_DATA to a folder with the published data; {len(missing)} of {len(NEEDED)} files are not "
            f"there: {', '.join(missing)}. docs/reproducing.md says where they come from."
        )
    return folder


def prepare_data(source: Path, folder: Path) -> None:
    """Link the published data into the folder, and build what the study reads beside it."""
    built = folder / "built"
    built.mkdir(parents=True, exist_ok=True)
    for name in {Path(name).parts[0] for name in NEEDED}:
        if not (folder / name).is_symlink():
            (folder / name).symlink_to((source / name).resolve())
    crows = str(folder / CROWS)
    _build("align", crows, out=built / "english.txt")
    _build("split", str(built / "english.txt"), out=built / "single_en.jsonl")
    for tag, name in TRANSLATED.items():
        _build("align", crows, str(folder / name), out=built / f"en-{tag}.tsv")
        _build("split", str(built / f"en-{tag}.tsv"), out=built / f"single_{tag}.jsonl")
    _build("pairs", str(folder / STEREOSET[0]), out=built / "stereoset_pairs_en.jsonl")
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
