"""Parallel demonstration sets: 134 English sentences and their translations into eight languages, not validated."""

from pathlib import Path

from ..files.sources import Dataset, relabelled

FOLDER = Path(__file__).parent.parent / "data" / "parallel_demo"


def bundled() -> dict[str, list[Path]]:
    """The files by language."""
    return {path.stem.removeprefix("en-"): [path] for path in sorted(FOLDER.glob("en-*.tsv"))}


dataset = Dataset(
    title="Parallel demonstration sets",
    summary="63 female and 63 male sentences in de, ja, ar, es, pt, ru, id, zh; for trying MBE out, not for conclusions.",
    licence="CC BY 4.0",
    citation="Isogloss demonstration sets; written for demonstration, not validated by native speakers.",
    url="docs/how-to/pairs.md",
    recognise=lambda columns: False,
    parse=relabelled("parallel", "parallel_demo"),
    bundled=bundled,
)
