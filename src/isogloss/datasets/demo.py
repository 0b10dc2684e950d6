"""The demonstration set that ships with Isogloss: small, parallel in five languages, not validated."""

from pathlib import Path

from ..files.sources import Dataset, language_in_name, relabelled

FOLDER = Path(__file__).parent.parent / "data" / "demo"


def bundled() -> dict[str, list[Path]]:
    """The files by language, intra-sentence first."""
    files: dict[str, list[Path]] = {}
    for task in ("intrasentence", "intersentence"):
        for path in sorted(FOLDER.glob(f"{task}_*.jsonl")):
            files.setdefault(language_in_name(path) or "", []).append(path)
    return files


dataset = Dataset(
    title="Isogloss demonstration set",
    summary="48 intra- and 48 inter-sentence items, parallel in five languages; for trying things out, not for conclusions.",
    licence="CC BY 4.0",
    citation="Isogloss demonstration set; written for demonstration, not validated by native speakers.",
    url="docs/reference/data-formats.md",
    recognise=lambda columns: False,
    parse=relabelled("stereoset", "demo"),
    bundled=bundled,
)
