"""A real vLLM beside our engine: the same model, the same items, each method; run where vLLM is installed.

ISOGLOSS_VLLM names its program (`vllm` of an environment of its own); ISOGLOSS_VLLM_URL an instance that serves smollm2.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
import polars as pl
import pytest

from isogloss.errors import IsoglossError
from isogloss.files.sources import read
from isogloss.items import Item, Items
from isogloss.models.load import open_model
from isogloss.models.model import Loading, Model
from isogloss.studies.cells import Running, run_cells
from isogloss.studies.scoring_plan import PlannedCell, plan_cells

PROGRAM, URL = os.environ.get("ISOGLOSS_VLLM"), os.environ.get("ISOGLOSS_VLLM_URL")
FOLDER = Path.home() / ".isogloss" / "models" / "smollm2"
CASES = {
    "likelihood": ("demo", "intrasentence", {}),
    "likelihood, as published": ("demo", "intrasentence", {"start": "first"}),
    "continuation": ("demo", "intersentence", {}),
    "continuation e": ("demo", "intersentence", {"case": "e"}),
    "contrast": ("shades_demo", None, {}),
    "templates": ("templates", None, {}),
    "pairs": ("pairs", None, {}),
    "answer_likelihood": ("questions", None, {}),
}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (PROGRAM or URL), reason="vLLM is not installed: see docs/how-to/models.md"),
    pytest.mark.skipif(not FOLDER.exists(), reason="isogloss model pull smollm2"),
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a vLLM that serves SmolLM2 in float32."""
    if URL:
        yield URL
        return
    with socket.socket() as held:  # vLLM does not say which port it took, so a free one is chosen for it
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    log = tmp_path_factory.mktemp("vllm") / "log"
    command = f"{PROGRAM} serve {FOLDER} --served-model-name smollm2 --host 127.0.0.1 --port {port}".split()
    options = ["--dtype", "float32", "--max-model-len", "512", "--enforce-eager"]
    environment = {**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
    with log.open("wb") as file:
        server = subprocess.Popen([*command, *options], env=environment, stdout=file, stderr=file)
    try:
        _wait(f"http://127.0.0.1:{port}/health", server, log=log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(60)


def _wait(address: str, server: subprocess.Popen[bytes], *, log: Path) -> None:
    while server.poll() is None:
        try:
            if httpx.get(address, timeout=5).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(1)
    pytest.fail(f"vLLM ended: {log.read_text(encoding='utf-8', errors='replace')[-2000:]}")


def items_of(data: str, task: str | None) -> Items:
    items = read(["demo" if data in MADE else data], language=["en"])
    chosen = [item for item in items if task in (None, item.tags.get("task"))]
    return Items(tuple(map(MADE.get(data, lambda item: item), chosen[:30])))


def as_pair(item: Item) -> Item:
    """The first two candidates without their context."""
    return replace(item, candidates=item.candidates[:2], context=None, tags={"task": "pair"})


def as_question(item: Item) -> Item:
    """A question whose answers are the candidates."""
    tags = {"task": "question", "condition": "ambiguous", "biased": "stereotype"}
    return replace(item, context=f"This is about: {item.cluster}.", question="Which fits?", tags=tags)


MADE = {"pairs": as_pair, "questions": as_question}


def score(model: Model, items: Items, method: str, options: dict[str, str]) -> pl.DataFrame:
    cells = plan_cells(PlannedCell("smollm2", items, method, options), model)
    (result,) = run_cells(cells, model, running=Running())
    return result.scored.table.sort("id", "candidate", "quantity")


@pytest.mark.parametrize("case", CASES)
def test_every_method_equals_our_engine_item_by_item(case, url):
    data, task, options = CASES[case]
    method = case.partition(" ")[0].strip(",").replace("templates", "likelihood").replace("pairs", "likelihood")
    items = items_of(data, task)
    served = score(open_model(url, Loading(served_model="smollm2", repeat=0)), items, method, options)
    ours = score(open_model(str(FOLDER)), items, method, options)
    assert served["pieces"].to_list() == ours["pieces"].to_list()
    for column in ("value", "logprobs"):
        one, other = (np.array(table[column].explode().to_list(), dtype=float) for table in (served, ours))
        print(f"{case}: {column} differs by at most {np.nanmax(np.abs(one - other)):.2g} in {len(one)} numbers")
        assert np.allclose(one, other, rtol=1e-3, atol=1e-3, equal_nan=True)


@pytest.mark.parametrize("method", ["choice", "ask"])
def test_questions_get_the_answers_that_our_engine_gives(method, url):
    items, options = items_of("demo", None)[:6], {"max_tokens": "8"} if method == "ask" else {}
    columns = ["id", "candidate", "quantity", "pieces", *(["openings"] if method == "ask" else [])]
    tables = []
    for model in (open_model(url, Loading(served_model="smollm2", repeat=0)), open_model(str(FOLDER))):
        (result,) = run_cells(
            plan_cells(PlannedCell("smollm2", items, method, options), model), model, running=Running()
        )
        tables.append(result.scored.table)
    assert tables[0].select(columns).equals(tables[1].select(columns))
    if method == "choice":
        assert tables[0]["value"].equals(tables[1]["value"])
    else:  # a server lists the 20 most probable tokens, so other spellings of a word are added up than by our engine
        assert np.allclose(tables[0]["value"], tables[1]["value"], atol=0.02)


@pytest.mark.parametrize("tokenizer", ["here", "the server's"])
def test_the_servers_tokenizer_cuts_as_ours(tokenizer, url, monkeypatch):
    if tokenizer == "the server's":

        def absent(*_: object, **__: object) -> object:
            raise IsoglossError("not here")

        monkeypatch.setattr("isogloss.models.load.open_tokenizer", absent)
    items = items_of("demo", "intersentence")
    served = score(open_model(url, Loading(served_model="smollm2", repeat=0)), items, "continuation", {})
    ours = score(open_model(str(FOLDER)), items, "continuation", {})
    assert served["tokens"].to_list() == ours["tokens"].to_list()
