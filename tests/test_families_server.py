"""A real vLLM beside our engine: the same model, the same items, each method; run where vLLM is installed.

ISOGLOSS_VLLM names its program (`vllm` of an environment of its own); ISOGLOSS_VLLM_URL an instance that serves smollm2.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import polars as pl
import pytest

from isogloss.errors import IsoglossError
from isogloss.files.sources import read
from isogloss.items import Items
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
}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (PROGRAM or URL), reason="vLLM is not installed: see docs/how-to/servers.md"),
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
    items = read([data], language=["en"])
    return Items(tuple(item for item in items if task in (None, item.tags.get("task")))[:30])


def score(model: Model, items: Items, method: str, options: dict[str, str]) -> pl.DataFrame:
    cells = plan_cells(PlannedCell("smollm2", items, method, options), model)
    (result,) = run_cells(cells, model, running=Running())
    return result.scored.table.sort("id", "candidate", "quantity")


@pytest.mark.parametrize("case", CASES)
def test_every_method_equals_our_engine_item_by_item(case, url):
    data, task, options = CASES[case]
    method = case.partition(" ")[0].strip(",").replace("templates", "likelihood")
    items = items_of(data, task)
    served = score(open_model(url, Loading(served_model="smollm2", repeat=0)), items, method, options)
    ours = score(open_model(str(FOLDER)), items, method, options)
    assert served["pieces"].to_list() == ours["pieces"].to_list()
    for column in ("value", "logprobs"):
        one, other = (np.array(table[column].explode().to_list(), dtype=float) for table in (served, ours))
        print(f"{case}: {column} differs by at most {np.nanmax(np.abs(one - other)):.2g} in {len(one)} numbers")
        assert np.allclose(one, other, rtol=1e-3, atol=1e-3, equal_nan=True)


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
