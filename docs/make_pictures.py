"""Make the pictures of the documentation: python docs/make_pictures.py [--check] [FOLDER] [NAMES].

FOLDER (by default runs/pictures) holds the runs that the pictures are made of; those that are missing are made with SmolLM2,
and a training with a tiny model; `two` also needs mBERT (python -m reproduction.weights bert-base-multilingual-cased). ISOGLOSS_REAL_DATA names the folder with the published scores of multilingual BERT.
The pages need Chromium. With NAMES, such as figure-answers, only these are made.
With --check nothing is written to the documentation, and the exit status is 1 if a picture differs from the one that is made now.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parent.parent
ASSETS = ROOT / "docs" / "assets"
DEMO = ROOT / "src" / "isogloss" / "data" / "parallel_demo"
TASKS = ("intrasentence", "intersentence")
MULTILINGUAL = "bert-base-multilingual-cased"
PUBLISHED = {  # files of scores, each with the name of its model, or the language of multilingual BERT
    "published": {tag: f"{MULTILINGUAL}_BertLM_BertNextSentence_{tag}" for tag in ("en", "de", "es", "fr", "tr")},
    "english": {
        "BERT": "bert-base-cased_BertLM_BertNextSentence_en",
        "mBERT": "bert-base-multilingual-cased_BertLM_BertNextSentence_en",
        "GPT-2": "gpt2_GPT2LM_ModelNSP_en",
        "T5": "t5-base_T5LM_ModelNSP_en",
        "mT5": "google_mt5-base_mT5LM_ModelNSP_en",
    },
}
RUNS = {
    "demo": "eval smollm2 --data demo",
    "two": f"run {ROOT / 'studies' / 'two.yaml'} --no-trial",
    "shades": "eval smollm2 --data shades_demo -l en -l es",
    "templates": "eval smollm2 --data templates -l en --where set=gender-profession",
    "ask": "ask smollm2 --data shades_demo -l en --limit 3",
    "translation": "data translate demo --to es --limit 40 --language en",
}
FIGURES = {
    "agreement": ("published", "--metrics ss,icat"),
    "answers": ("ask", ""),
    "bias_types": ("demo", "-l en"),
    "change": ("gest", "{runs}/Llama-2-7b-hf {runs}/Llama-2-7b-chat-hf"),
    "coverage": ("shades", ""),
    "forest": ("published", "-l en -l de -l tr"),
    "heatmap": ("published", "--metrics ss --width 5"),
    "isogloss_map": ("published", ""),
    "pareto": ("english", ""),
    "plane": ("demo", ""),
    "preservation": ("", " ".join(str(DEMO / f"en-{tag}.tsv") for tag in ("de", "es", "pt"))),
    "problems": ("translation", ""),
    "shares": ("templates", ""),
    "training": ("training", ""),
    "world": ("shades", "-l en"),
}
VISIBLE = 24  # of 255: a smaller difference of a pixel is that of a font's edges between versions
MOST = 0.005  # the share of pixels that may differ; a date or a run's hash takes less
REPORTS = {
    "report-light": ("two", {"viewport": {"width": 1200, "height": 900}}),
    "report-dark": ("two", {"viewport": {"width": 1200, "height": 900}, "color_scheme": "dark"}),
}


def isogloss(*words: str) -> None:
    """Run a command; the pictures are worth nothing if it fails."""
    subprocess.run([sys.executable, "-m", "isogloss", *words], check=True)


def make_runs(folder: Path, name: str) -> Path:
    """The folder of some runs, made where it is missing."""
    path = folder / name
    if path.exists():
        return path
    if name in PUBLISHED:
        data = Path(os.environ["ISOGLOSS_REAL_DATA"])
        for called, file in PUBLISHED[name].items():
            tag = file[-2:]
            names = ["dev.json.gz"] if tag == "en" else [f"{task}_{tag}.jsonl.gz" for task in TASKS]
            items = [word for file_name in names for word in ("--data", str(data / "stereoset" / file_name))]
            model = called if name == "english" else MULTILINGUAL
            scores = str(data / "predictions" / f"{file}.json.gz")
            isogloss("data", "import", scores, *items, "-l", tag, "--model", model, "--out", str(path))
    elif name == "gest":
        data = Path(os.environ["ISOGLOSS_REAL_DATA"]) / "gest"
        for model in ("Llama-2-7b-hf", "Llama-2-7b-chat-hf"):
            scores, items = data / f"english_glm_{model}_template-0.txt.gz", str(data / "gest.csv.gz")
            isogloss("data", "import", str(scores), "--data", items, "--layout", "gest", "--out", str(path / model))
    elif name == "training":
        sys.path.insert(0, str(ROOT / "tests"))
        from isogloss.nsp.settings import Rates, TrainingSettings
        from isogloss.nsp.train import train_head
        from support import rule

        rates = Rates(3e-3, 1e-3, "cosine")
        settings = TrainingSettings(
            batch=64, accumulation=1, rates=rates, checkpoint_percent=10, max_length=64, log_every=64
        )
        base = folder / "tiny"
        rule.save("llama", base / "model")
        train_head(str(base / "model"), rule.build(base), out=path, settings=settings)
    else:
        isogloss(*RUNS[name].split(), "--out", str(path))
        if name == "translation":
            isogloss("data", "repair", str(path))
    return path


def draw_figure(name: str, folder: Path, *, out: Path = ASSETS) -> None:
    """Draw one figure, by default at its place in the documentation."""
    source, options = FIGURES[name]
    runs = [str(make_runs(folder, source))] if source else []
    inputs = [] if "{runs}" in options else runs
    isogloss(
        "figure", name, *inputs, *options.format(runs="".join(runs)).split(), "-o", str(out / f"figure-{name}.png")
    )


@contextmanager
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield chromium
        chromium.close()


def take_report(name: str, folder: Path, *, out: Path = ASSETS) -> None:
    """Take a picture of the top of a report."""
    source, settings = REPORTS[name]
    path = folder / f"{name}.html"
    isogloss("report", str(make_runs(folder, source)), "--out", str(path))
    with browser() as chromium:
        page = chromium.new_context(**settings).new_page()
        page.goto(path.resolve().as_uri())
        page.wait_for_selector(".plot", state="attached", timeout=120_000)  # the first ones are folded
        if "dark" in name:
            page.evaluate("document.querySelector('#plane').scrollIntoView({behavior: 'instant'})")
            page.wait_for_timeout(500)
        page.screenshot(path=out / f"{name}.png")


def take_page(folder: Path, *, out: Path = ASSETS) -> None:
    """Take a picture of a study on the local page."""
    shown = make_runs(folder, "two").parent
    command = [sys.executable, "-u", "-m", "isogloss", "serve", str(shown), "--port", "8799"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        server.stderr.readline()  # it says where it is once it listens
        with browser() as chromium:
            page = chromium.new_context(viewport={"width": 1200, "height": 800}).new_page()
            page.goto("http://127.0.0.1:8799/runs/two", timeout=120_000)
            page.screenshot(path=out / "serve.png")
    finally:
        server.terminate()


def difference(one: Path, other: Path) -> float:
    """The share of the pixels in which two pictures differ visibly; 1 where their sizes do."""
    import numpy as np
    from PIL import Image

    first, second = (np.asarray(Image.open(path).convert("RGB"), dtype=int) for path in (one, other))
    if first.shape != second.shape:
        return 1.0
    return float((np.abs(first - second).max(axis=2) > VISIBLE).mean())


def make(name: str, folder: Path, *, out: Path = ASSETS) -> None:
    """Make one picture."""
    if name == "serve":
        take_page(folder, out=out)
    elif name in REPORTS:
        take_report(name, folder, out=out)
    else:
        draw_figure(name.removeprefix("figure-"), folder, out=out)


def find_stale(names: Sequence[str], folder: Path) -> list[str]:
    """Which of the pictures differ from those that are made now."""
    with TemporaryDirectory() as out:
        for name in names:
            make(name, folder, out=Path(out))
        return [name for name in names if difference(ASSETS / f"{name}.png", Path(out) / f"{name}.png") > MOST]


def main(words: Sequence[str]) -> int:
    """Make all pictures, or those that are named, or only name those that are stale."""
    folder, *names = [word for word in words if word != "--check"] or ["runs/pictures"]
    names = names or [*(f"figure-{one}" for one in FIGURES), *REPORTS, "serve"]
    if "--check" in words:
        stale = find_stale(names, Path(folder))
        print("Stale: " + ", ".join(stale) if stale else "All pictures are fresh.")
        return int(bool(stale))
    for name in names:
        make(name, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
