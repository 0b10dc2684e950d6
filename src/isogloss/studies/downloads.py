"""Everything that a study needs from the network, fetched at once and listed in a manifest, for machines without a network."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..analysis.study import Failure
from ..atomic_files import write_file
from ..errors import IsoglossError
from ..files.catalogue import content_hash, find_source
from ..files.hub import on_message
from ..files.published import stored_files
from ..items import Items
from ..models.info import stored_weights
from ..models.load import fetch_source
from ..models.packaged import PULLED, find_pulled, pull
from ..storage import StoragePath
from .file import read_study
from .plan import EVERYTHING, Subset, plan_study
from .scoring_plan import PlannedCell

MANIFEST = "downloads.json"


def download_study(path: Path, *, out: StoragePath, subset: Subset = EVERYTHING) -> tuple[StoragePath, list[Failure]]:
    """The manifest of what a study needs, once all of it is on this disk, and the cells for which something is missing."""
    study = read_study(path)
    for model in study.models:
        names = [model.checkpoint, *(checkpoint.checkpoint for checkpoint in model.checkpoints.values())]
        for name in names:
            if name in PULLED and not PULLED[name].terms and not find_pulled(name):
                pull(name, say=on_message.get())
    plan = plan_study(path, subset=subset)
    failures, models = list(plan.failures), []
    for cells in plan.by_checkpoint():
        try:
            if described := _fetch_model(cells[0]):
                models.append(described)
        except IsoglossError as error:
            failures += [failure for cell in cells for failure in cell.failures(error)]
    manifest = {"study": study.name, "models": models, "data": list(_describe_data(plan.cells))}
    out.mkdir(parents=True, exist_ok=True)
    write_file(out / MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1).encode())
    return out / MANIFEST, failures


def _fetch_model(cell: PlannedCell) -> dict[str, Any] | None:
    """Where a model's files are, once they are here; nothing for one that has no files, such as one behind a server."""
    name, pickle = cell.checkpoint, cell.loading.allow_pickle
    source = fetch_source(name, cell.loading)
    if source.family is not None:
        return None
    folder = source.folder or Path()
    weights = [source.gguf] if source.gguf else stored_weights(folder, pickle=pickle)
    if not weights:
        raise IsoglossError(f"'{name}' has no weights that can be loaded; see: isogloss model info {name}")
    sizes = {file: (folder / file).stat().st_size for file in weights}
    return {"name": name, "revision": source.revision, "commit": source.commit, "folder": str(folder), "weights": sizes}


def _describe_data(cells: Iterable[PlannedCell]) -> Iterator[dict[str, Any]]:
    """The data of each data set and language, as it was read: how much, its content, and where published data is stored."""
    groups: dict[tuple[str, str], Items] = {}
    for cell in cells:
        groups.setdefault((cell.items[0].dataset, cell.items[0].language), cell.items)
    for (dataset, language), items in groups.items():
        source = find_source(dataset)
        files = stored_files(source, language) if source else []
        yield {
            "dataset": dataset,
            "language": language,
            "items": len(items),
            "content": content_hash(items),
            "files": [str(file) for file in files],
        }
