"""What `run.json` says about a cell: who was asked what, and everything that a score depends on."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import runs as run_store
from ..items import Items, problem_counts
from ..models.journal import Journal
from ..scores import skipped_rows

if TYPE_CHECKING:
    from ..models.model import Model
    from .cells import Cell, WorkUnit

ORDER_SEED = 0  # of the order in which clusters are scored; it is recorded, so that another may be drawn
FACTS = ("family", "model_type", "revision", "commit", "vocabulary", "parameters")
LIBRARIES = ("isogloss", "polars", "numpy")  # and those of the model's family


def run_info(cell: Cell, model: Model) -> dict[str, Any]:
    """What `run.json` says about a cell; its fingerprint holds everything that a score depends on."""
    from ..methods import default_value, way_to_ask
    from ..models.model import notes_on

    model_info = model.info
    asked = dict(cell.method.identity(model, cell.language, options=cell.options))
    identity = dict(model_info.identity) | dict(
        model.family.identify(model, way_to_ask(cell.method, model.family) or "")
    )
    unset = [name for name in cell.method.later if cell.options[name] == default_value(cell.method.options[name])]
    return {
        "holds": cell.method.holds.name,
        "model": cell.labels.get("model", model_info.name),
        "dataset": cell.dataset,
        "language": cell.language,
        "method": cell.label,
        "options": dict(cell.options),
        "items": len(cell.items),
        "parts": len(cell.parts),
        "notes": [*notes_on(model_info, cell.language, called=cell.labels.get("model")), *cell.notes],
        "skipped": skipped_rows(Items(cell.items, cell.problems)),
        "problems": problem_counts(cell.problems),
        "labels": {name: value for name, value in cell.labels.items() if name != "model"},
        "facts": {
            **{name: getattr(model_info, name) for name in FACTS},
            "checkpoint": model_info.name,
            "source": model_info.name
            if model_info.source is None or Path(model_info.source).exists()
            else model_info.source,
            "languages": list(model_info.languages),
            "device": model.device,
        },
        **({"prices": list(model.state["prices"])} if any(model.state.get("prices", ())) else {}),
        "versions": {name: version(name) for name in (*LIBRARIES, *model.family.libraries)},
        "python": platform.python_version(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "fingerprint": {
            "schema": run_store.FINGERPRINT,
            "weights": model_info.weights,
            "tokenizer": model_info.tokenizer,
            "dtype": model_info.dtype,
            "data": cell.hash,
            "method": cell.name,
            "options": {name: value for name, value in cell.options.items() if name not in unset},
            "version": cell.method.version,
            "part": cell.part_size or cell.method.part,
            "order": ORDER_SEED if cell.order == "cluster" else f"{cell.order} {ORDER_SEED}",
            **({"identity": identity} if identity else {}),
            **({"asked": asked} if asked else {}),
        },
    }


def finish_runs(
    runs: Sequence[run_store.Run], plan: Sequence[WorkUnit], *, seconds: float, journal: Journal | None = None
) -> list[run_store.Run]:
    """The runs, marked as finished; `seconds` is how long they took together. What was counted in the journal stays."""
    done = []
    for index, run in enumerate(runs):
        scored = sum(index in work.cells for work in plan)
        if scored or run.info["status"] != "finished":
            facts: dict[str, Any] = {"seconds": round(seconds, 3), "scored_parts": scored}
            run = run_store.finish_run(run, **facts, **count_answers(journal))
        if journal is not None and journal.path is not None:
            journal.path.unlink(missing_ok=True)
            run = replace(run, info={**run.info, "asked": len(journal.kept)})
        done.append(run)
    return done


def count_answers(journal: Journal | None) -> dict[str, Any]:
    """What the answers of a journal took; nothing for what is not answered one by one."""
    if journal is None or not journal.answers:
        return {}
    return {"tokens": journal.count_tokens(), "requests": len(journal.answers)}
