"""`make reproduce`: get the weights, score everything that was published, and write docs/results/reproducing.md and docs/results/findings.md."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import yaml

from isogloss.errors import IsoglossError
from isogloss.models.load import open_model
from isogloss.models.packaged import pull, pulled_folder

from .batches import Shift, find_shift
from .data import find_data, prepare_data
from .pages import write_pages
from .questions import sample_study
from .tables import STEREOSET_ROWS, Sources
from .weights import MODELS, attach_recovered_heads, get_weights

ROOT = Path(__file__).parent.parent
STUDY, SMALL, MBBQ, AUDIT = (ROOT / "studies" / f"{name}.yaml" for name in ("reproduce", "small", "mbbq", "audit"))
SMALLEST = "smollm2"
STAGES = ("published", "small", "questions", "audit")
NEEDS = {  # the stages share two of the models
    "published": "1.5 GB to fetch, 3 GB on disk (half of it with a hub) and, on two cores, about 70 minutes",
    "small": "1.2 GB to fetch, 1.7 GB on disk and about 8 minutes of one core",
    "questions": "0.4 GB to fetch, 1.7 GB on disk and about 70 minutes of one core",
    "audit": "0.4 GB to fetch, 1.7 GB on disk and about 8 minutes of one core",
}
INTERRUPTED = 130  # the exit status of a command that was stopped
KEPT = "Stop it at any time and run it again: what is scored is kept."


def main() -> None:
    """Run all steps; a finished step is not repeated."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "stages",
        nargs="*",
        metavar="STAGE",
        help="published: what was published, from weights. small: small causal and masked models. "
        "questions: MBBQ in three languages with its controls. audit: two models with claims. By default all. "
        "Only the tables of these stages are written.",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "reproduce", help="The folder of the runs.")
    parser.add_argument(
        "--only", action="append", default=[], help="Only cells of the published stage that match MODEL/DATA/LANGUAGE."
    )
    parser.add_argument("--pages", action="store_true", help="Only write the pages, from what is scored so far.")
    arguments = parser.parse_args()
    unknown = set(arguments.stages) - set(STAGES)
    if unknown:
        parser.error(f"unknown stage: {', '.join(sorted(unknown))}. Known: {', '.join(STAGES)}.")
    stages = arguments.stages or (STAGES[:1] if arguments.only else STAGES)
    try:
        _run(arguments.out.resolve(), stages, only=arguments.only, score=not arguments.pages)
    except IsoglossError as error:
        sys.exit(f"Error: {error}")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _run(out: Path, stages: Sequence[str], *, only: list[str], score: bool) -> None:
    work = out / "work"
    if score:
        for stage in stages:
            _say(f"{stage}: the first time this needs {NEEDS[stage]}.")
        _say(KEPT)
    data = find_data(work, _say)
    if score:
        small = read_small_models() if "small" in stages else []
        masked = [model["checkpoint"] for model in small if model["checkpoint"] in MODELS]
        own_heads = get_weights(MODELS if "published" in stages else masked, _say)
        prepare_data(data, work)
    if score and "published" in stages:
        if not own_heads:
            attach_recovered_heads(work / "models")
        _run_study(choose_data(STUDY, work), work, out=out, only=only or _cells(own_heads))
    if score and "small" in stages:
        pull(SMALLEST, say=_say)
        _run_study(SMALL, work, out=out / "small", only=find_small_models(_say))
    if score and "questions" in stages:
        pull(SMALLEST, say=_say)
        _run_study(sample_study(MBBQ, data, work), work, out=out / "mbbq", only=[])
    if score and "audit" in stages:
        pull(SMALLEST, say=_say)
        _run_study(AUDIT, work, out=out / "audit", only=[])
    shifts = read_shifts(out, data, _say) if "published" in stages else {}
    write_pages(Sources(out, data, shifts), _say, stages=stages, everything=score)


def choose_data(study: Path, work: Path) -> Path:
    """The study; where a file of its data cannot be had, a copy without it."""
    content = yaml.safe_load(study.read_text(encoding="utf-8"))
    kept = [entry for entry in content["data"] if (work / entry["source"]).exists()]
    if len(kept) == len(content["data"]):
        return study
    copy = work / study.name
    copy.write_text(yaml.safe_dump({**content, "data": kept}, allow_unicode=True), encoding="utf-8")
    return copy


def _run_study(study: Path, work: Path, *, out: Path, only: list[str]) -> None:
    """Say how long the study will take, and run it; what is scored is kept."""
    command = [sys.executable, "-m", "isogloss", "run", str(study), "--out", str(out)]
    command += [word for pattern in only for word in ("--only", pattern)]
    subprocess.run([*command, "--dry-run"], cwd=work, check=False)
    status = subprocess.run(command, cwd=work).returncode
    if status == INTERRUPTED:
        raise KeyboardInterrupt
    if status not in (0, 1):
        raise IsoglossError("The study could not be run; the message is above.")


def read_small_models() -> list[dict[str, str]]:
    return list(yaml.safe_load(SMALL.read_text(encoding="utf-8"))["models"])


def find_small_models(say: Callable[[str], None]) -> list[str]:
    """The models of the study of small models that can be opened; one whose license must be accepted may be missing."""
    cells = []
    for model in read_small_models():
        name = model["checkpoint"]
        if name in MODELS or (pulled_folder(name) / "config.json").is_file():
            cells.append(f"{model['label']}/*/*")
        else:
            say(f"{name} is left out. To include it: isogloss model pull {name} --accept-license")
    return cells


def _say(line: str) -> None:
    print(line, flush=True)


def _cells(own_heads: bool) -> list[str]:
    """The cells of the study: next-sentence heads are the checkpoint's own where there are some, recovered otherwise."""
    inter = [f"{model}/inter/*" if own_heads else f"{model}, recovered head/inter/*" for model in HEADS]
    return ["*/intra/*", *inter, "*/methods/*", "*/ht/*", "*/mbe/*", "*/templates*/*", "*/crows/*"]


HEADS = ("bert-base-cased", "bert-base-multilingual-cased")


def read_shifts(out: Path, data: Path, say: Callable[[str], None]) -> dict[str, Shift]:
    """The batch sizes that explain the published scores, found once."""
    path = out / "shifts.json"
    stored = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    for model, tag in STEREOSET_ROWS:
        if f"{model} {tag}" in stored:
            continue
        say(f"Repeating the published batches: {model}, {tag} …")
        opened = open_model(model)
        sources = Sources(out, data, {})
        items, published = sources.items("intrasentence", tag).rows, sources.published(model, tag)
        stored[f"{model} {tag}"] = asdict(find_shift(opened.net, opened.tokenizer, items=items, published=published))
        path.write_text(json.dumps(stored, indent=1), encoding="utf-8")
    return {name: Shift(**{**shift, "touched": tuple(shift["touched"])}) for name, shift in stored.items()}


if __name__ == "__main__":
    main()
