"""Models of the hub: which weights a number belongs to, what is asked of the hub, and one sentence for each way it fails."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from huggingface_hub import HfApi, constants
from safetensors.torch import load_file, save_file

from isogloss.errors import IsoglossError
from isogloss.files import catalogue
from isogloss.models.load import open_model
from support import data_server, local_hub, ports, tiny
from support.local_hub import TOKEN, Fault, Files, Hub

Command = Callable[..., tuple[int, str, str]]
DATA = ("--data", "demo", "-l", "en", "--limit", "2", "--metrics", "lms")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Files]:
    """The files of a tiny model, with weights of a seed, written once."""
    transformers.utils.logging.disable_progress_bar()
    root = tmp_path_factory.mktemp("models")
    known: dict[tuple[str, int], Files] = {}

    def read(name: str = "gpt2", seed: int = 0) -> Files:
        if (name, seed) not in known:
            folder = root / f"{name}{seed}"
            tiny.network(name, seed=seed).save_pretrained(folder)
            tiny.tokenizer_of(name).save_pretrained(folder)
            known[name, seed] = local_hub.read_folder(folder)
        return dict(known[name, seed])

    return read


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    """A stand-in hub that the real client talks to, with an empty cache and no token."""
    import huggingface_hub.utils._http as http

    with local_hub.serve() as served:
        monkeypatch.setattr(constants, "ENDPOINT", served.url)
        template = served.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(http, "time", SimpleNamespace(**{**vars(time), "sleep": lambda seconds: None}))
        monkeypatch.setattr("huggingface_hub.file_download.time", http.time)
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        monkeypatch.setenv("HF_HUB_OFFLINE", "0")
        monkeypatch.setenv("DISABLE_SAFETENSORS_CONVERSION", "0")
        monkeypatch.delenv("HF_TOKEN", raising=False)
        local_hub.wait_for_answers(monkeypatch)
        monkeypatch.setattr("isogloss.models.hub.silent_hubs", {})  # a port may be used again by the next test
        yield served


@pytest.fixture
def timeouts(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time-outs with which the hub is asked for the files of a model, one for each time."""
    seen: list[float] = []
    model_info = HfApi.model_info

    def ask(self: HfApi, *names: Any, timeout: float, **options: Any) -> Any:
        seen.append(timeout)
        return model_info(self, *names, timeout=timeout, **options)

    monkeypatch.setattr(HfApi, "model_info", ask)
    return seen


def info(command: Command, name: str, *options: str) -> dict[str, Any]:
    """What is known about a model that opens."""
    status, out, err = command("show", name, "--format", "json", *options)
    assert status == 0, err
    return dict(json.loads(out))


def refusal(command: Command, name: str, *options: str) -> str:
    """The one line that a model which cannot be opened gives."""
    status, out, err = command("show", name, *options)
    lines = [line for line in err.splitlines() if not line.startswith("Downloading")]
    assert (status, out, len(lines)) == (2, "", 1), err
    return lines[0].removeprefix("Error: ")


def pickled(files: Files, tmp_path: Path) -> Files:
    """The same model with pickled weights only."""
    safe, bad = tmp_path / "x.safetensors", tmp_path / "x.bin"
    safe.write_bytes(files["model.safetensors"])
    torch.save(load_file(safe), bad)
    kept = {name: data for name, data in files.items() if name != "model.safetensors"}
    return {**kept, "pytorch_model.bin": bad.read_bytes()}


def sharded(files: Files, tmp_path: Path, *, below: str = "") -> Files:
    """The same model in two shards and an index."""
    safe = tmp_path / "x.safetensors"
    safe.write_bytes(files["model.safetensors"])
    weights = load_file(safe)
    names = sorted(weights)
    made = {name: data for name, data in files.items() if name != "model.safetensors"}
    place = {}
    for number, part in enumerate((names[: len(names) // 2], names[len(names) // 2 :])):
        save_file({name: weights[name] for name in part}, safe, metadata={"format": "pt"})
        made[f"{below}part-{number}.safetensors"] = safe.read_bytes()
        place |= dict.fromkeys(part, f"{below}part-{number}.safetensors")
    made["model.safetensors.index.json"] = json.dumps({"metadata": {}, "weight_map": place}).encode()
    return made


# ---- what is opened, and under which identity


@pytest.mark.parametrize(
    ("kind", "family"), [("gpt2", "causal"), ("bert", "masked"), ("roberta", "masked"), ("t5", "seq2seq")]
)
def test_a_hub_model_opens_as_its_folder_does(
    kind: str, family: str, hub: Hub, command: Command, files: Any, tmp_path: Path
) -> None:
    repository = hub.add("lab/model", {**files(kind), "tf_model.h5": b"large", "onnx/model.onnx": b"large"})
    found = info(command, "lab/model")
    for name, data in files(kind).items():
        (tmp_path / "model").mkdir(exist_ok=True)
        (tmp_path / "model" / name).write_bytes(data)
    local = info(command, str(tmp_path / "model"))
    assert found["family"] == family
    assert [found[key] for key in ("weights", "tokenizer", "heads")] == [
        local[key] for key in ("weights", "tokenizer", "heads")
    ]
    assert (found["revision"], found["commit"], found["source"]) == (None, repository.refs["main"], "lab/model")
    assert not hub.seen(".h5")
    assert not hub.seen(".onnx")


def test_shards_in_a_sub_folder_are_downloaded_and_belong_to_the_identity(
    hub: Hub, command: Command, files: Any, tmp_path: Path
) -> None:
    for seed in (0, 1):
        hub.add(f"lab/m{seed}", sharded(files(seed=seed), tmp_path, below="w/"))
    first, second = info(command, "lab/m0"), info(command, "lab/m1")
    assert first["weights"] != second["weights"]
    assert first["tokenizer"] == second["tokenizer"]


def test_weights_in_a_sub_folder_of_a_local_model_belong_to_its_identity(
    command: Command, files: Any, tmp_path: Path
) -> None:
    found = []
    for seed in (0, 1):
        for name, data in sharded(files(seed=seed), tmp_path, below="w/").items():
            (tmp_path / "model" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "model" / name).write_bytes(data)
        found.append(info(command, str(tmp_path / "model"))["weights"])
    assert found[0] != found[1]


def test_files_that_are_not_loaded_do_not_belong_to_the_identity(
    hub: Hub, command: Command, files: Any, tmp_path: Path
) -> None:
    hub.add("lab/both", {**files(), "pytorch_model.bin": b"old", "training_args.bin": b"x", "optimizer.bin": b"y"})
    first = info(command, "lab/both")
    (folder,) = (tmp_path / "cache" / "models--lab--both" / "snapshots").iterdir()
    assert not (folder / "pytorch_model.bin").exists()
    (folder / "pytorch_model.bin").write_bytes(b"old")  # as `hf download` does
    (folder / "other.safetensors").write_bytes(b"not loaded")
    assert info(command, "lab/both")["weights"] == first["weights"]


def test_a_configuration_may_name_its_file_of_weights(command: Command, files: Any, tmp_path: Path) -> None:
    found = []
    for seed in (0, 1):
        folder = tmp_path / f"m{seed}"
        folder.mkdir()
        for name, data in files().items():
            (folder / name).write_bytes(data)
        (folder / "other.safetensors").write_bytes(files(seed=seed)["model.safetensors"])
        config = json.loads(files()["config.json"]) | {"transformers_weights": "other.safetensors"}
        (folder / "config.json").write_text(json.dumps(config))
        found.append(info(command, str(folder))["weights"])
    assert found[0] != found[1]


def test_a_tag_a_branch_and_a_commit_are_recorded_with_their_commit(hub: Hub, command: Command, files: Any) -> None:
    repository = hub.add("lab/gpt2", files())
    old = repository.commit(files(seed=1), "dev")
    first = info(command, "lab/gpt2@dev")
    assert (first["name"], first["revision"], first["commit"]) == ("lab/gpt2@dev", "dev", old)
    new = repository.commit(files(seed=2), "dev")
    second = info(command, "lab/gpt2@dev")
    assert (second["revision"], second["commit"]) == ("dev", new)
    assert first["weights"] != second["weights"]
    assert info(command, f"lab/gpt2@{old}")["weights"] == first["weights"]
    assert info(command, "lab/gpt2@dev", "--offline")["commit"] == new


def test_a_commit_is_completed_when_another_program_downloaded_a_part_of_it(
    hub: Hub, command: Command, files: Any
) -> None:
    from huggingface_hub import hf_hub_download

    commit = hub.add("lab/gpt2", files()).refs["main"]
    for name in ("config.json", "model.safetensors"):
        hf_hub_download("lab/gpt2", name, revision=commit)
    hub.requests.clear()
    info(command, f"lab/gpt2@{commit}")
    assert hub.seen("tokenizer.json")
    assert not hub.seen("model.safetensors")


def test_a_model_that_moved_to_another_name_is_found(hub: Hub, command: Command, files: Any) -> None:
    hub.add("lab/new", files())
    hub.moved["lab/old"] = "lab/new"
    assert info(command, "lab/old")["family"] == "causal"


def test_a_run_is_resumed_for_the_same_weights_and_never_for_others(
    hub: Hub, command: Command, files: Any, tmp_path: Path
) -> None:
    repository = hub.add("lab/gpt2", files())
    for _ in range(2):
        assert command("eval", "lab/gpt2", *DATA, "--out", tmp_path / "out")[0] == 0
    repository.commit({**files(), "README.md": b"Only the card is new."})
    assert command("eval", "lab/gpt2", *DATA, "--out", tmp_path / "out")[0] == 0
    runs = {json.loads(path.read_text())["fingerprint"]["weights"] for path in (tmp_path / "out").rglob("run.json")}
    assert len(runs) == 1
    moved = repository.commit(files(seed=1))
    assert command("eval", "lab/gpt2", *DATA, "--out", tmp_path / "other")[0] == 0
    facts = [json.loads(path.read_text()) for path in (tmp_path / "other").rglob("run.json")]
    assert {one["facts"]["commit"] for one in facts} == {moved}
    assert runs.isdisjoint(one["fingerprint"]["weights"] for one in facts)


def test_a_branch_that_moves_during_the_download_changes_nothing(hub: Hub, command: Command, files: Any) -> None:
    repository = hub.add("lab/gpt2", files())
    first = repository.refs["main"]
    hub.moves = lambda: repository.commit(files(seed=1))
    assert info(command, "lab/gpt2")["commit"] == first
    hub.moves = None
    assert info(command, "lab/gpt2", "--offline")["commit"] == first


def test_languages_and_licence_come_from_the_card_of_the_commit(hub: Hub, command: Command, files: Any) -> None:
    hub.add("lab/gpt2", {**files(), "README.md": b"---\nlanguage: [no, nb, en]\nlicense: mit\n---\n"})
    found = info(command, "lab/gpt2")
    assert (found["languages"], found["licence"]) == (["no", "nb", "en"], "mit")


# ---- pickled weights, and the conversion service


def test_pickled_weights_need_permission_and_no_pull_request_is_taken_instead(
    hub: Hub, command: Command, files: Any, tmp_path: Path
) -> None:
    for seed in (0, 1):
        repository = hub.add(f"lab/bin{seed}", pickled(files(seed=seed), tmp_path))
        repository.commit({**pickled(files(seed=seed), tmp_path), **files(seed=seed)}, "refs/pr/1")
    assert refusal(command, "lab/bin0") == (
        "'lab/bin0' has no complete safetensors weights. Download it again; "
        "or, when it only has pickled weights that you trust, use --allow-pickle."
    )
    found = [info(command, f"lab/bin{seed}", "--allow-pickle") for seed in (0, 1)]
    assert found[0]["weights"] != found[1]["weights"]
    assert found[0]["commit"] == hub.repositories["lab/bin0"].refs["main"]
    assert not [line for line in hub.requests if "discussions" in line or "refs/pr" in line or line.startswith("POST")]
    hub.requests.clear()
    assert info(command, "lab/bin0", "--allow-pickle", "--offline")["weights"] == found[0]["weights"]
    assert hub.requests == []


def test_code_of_a_model_is_neither_run_nor_downloaded(hub: Hub, command: Command, files: Any) -> None:
    config = json.loads(files()["config.json"])
    own = {"auto_map": {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Net"}}
    code = {"own.py": b"raise SystemExit('the code was run')"}
    hub.add("lab/known", {**files(), **code, "config.json": json.dumps(config | own).encode()})
    hub.add("lab/mine", {**files(), **code, "config.json": json.dumps(config | own | {"model_type": "mine"}).encode()})
    assert info(command, "lab/known")["notes"] == ["has its own code, which was not run"]
    assert refusal(command, "lab/mine") == (
        "'lab/mine' needs its own code, which Isogloss never runs. Choose a model that transformers supports."
    )
    assert not hub.seen("own.py")


def test_a_repository_without_weights_or_configuration_is_refused(hub: Hub, command: Command, files: Any) -> None:
    bare = {name: data for name, data in files().items() if name != "model.safetensors"}
    hub.add("lab/bare", bare)
    hub.add("lab/nothing", {"README.md": b"soon"})
    assert refusal(command, "lab/bare").startswith("'lab/bare' has no complete safetensors weights.")
    assert refusal(command, "lab/nothing") == "'lab/nothing' is not a model that can be opened: it has no config.json."


def test_a_model_with_an_adapter_is_refused_whatever_is_installed(hub: Hub, command: Command, files: Any) -> None:
    hub.add("lab/adapted", {**files(), "adapter_config.json": b'{"base_model_name_or_path": "lab/other"}'})
    assert refusal(command, "lab/adapted") == (
        "'lab/adapted' comes with an adapter. Merge the adapter into the weights first."
    )


# ---- offline, and a hub that does not answer


def test_offline_makes_no_request_at_all(
    hub: Hub, command: Command, files: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add("lab/gpt2", files())
    assert command("eval", "lab/gpt2", *DATA, "--out", tmp_path / "out")[0] == 0
    hub.requests.clear()
    assert command("eval", "lab/gpt2", *DATA, "--offline", "--out", tmp_path / "out")[0] == 0
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert command("eval", "lab/gpt2", *DATA, "--out", tmp_path / "out")[0] == 0
    assert len(list((tmp_path / "out").rglob("run.json"))) == 2  # one for each task: resumed twice
    status, _, err = command("eval", "lab/gpt2", "--data", "hf:lab/set", "-l", "en", "--offline")
    assert (status, err) == (
        2,
        "Error: The data set 'lab/set' is not stored here, and offline nothing is downloaded.\n",
    )
    assert hub.requests == []


def test_an_interrupted_download_of_a_new_version_leaves_the_old_one_usable_offline(
    hub: Hub, command: Command, files: Any
) -> None:
    repository = hub.add("lab/gpt2", files())
    old = info(command, "lab/gpt2")
    repository.commit(files(seed=1))
    hub.faults.append(Fault("model.safetensors", status=503))
    assert (
        refusal(command, "lab/gpt2")
        == "The hub is busy (HTTP status 503) and does not give 'lab/gpt2'. Try again later."
    )
    assert info(command, "lab/gpt2", "--offline") == old


@pytest.mark.filterwarnings("always::UserWarning")
@pytest.mark.parametrize("fault", [Fault("", status=503), Fault("", hang=True), Fault("", page=True), None])
def test_a_cached_model_is_used_after_one_request_when_the_hub_does_not_answer(
    fault: Fault | None, hub: Hub, command: Command, files: Any, timeouts: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = hub.add("lab/gpt2", files()).refs["main"]
    info(command, "lab/gpt2")
    timeouts.clear()
    patience = local_hub.SILENT if fault and fault.hang else local_hub.PATIENCE
    monkeypatch.setattr(constants, "HF_HUB_ETAG_TIMEOUT", patience)
    hub.faults += [fault] if fault else []
    with ports.refusing() as closed:
        if not fault:
            monkeypatch.setattr(constants, "ENDPOINT", f"http://{closed}")
            monkeypatch.setenv("HF_ENDPOINT", f"http://{closed}")
        status, out, err = command("show", "lab/gpt2", "--format", "json")
    assert (status, json.loads(out)["commit"]) == (0, commit)
    assert f"'lab/gpt2' is read from the cache, commit {commit[:12]}." in err
    assert timeouts == [patience]


@pytest.mark.filterwarnings("always::UserWarning")
def test_a_hub_that_hangs_is_asked_once(
    hub: Hub, command: Command, files: Any, tmp_path: Path, timeouts: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add("lab/gpt2", files())
    assert command("eval", "lab/gpt2", *DATA, "--out", tmp_path / "out")[0] == 0
    monkeypatch.setattr(constants, "HF_HUB_ETAG_TIMEOUT", local_hub.SILENT)
    hub.faults.append(Fault("", hang=True))
    timeouts.clear()
    assert command("eval", "lab/gpt2", *DATA, "--out", tmp_path / "out")[0] == 0
    assert timeouts == [local_hub.SILENT]


# ---- one sentence for each failure


PAGE = "https://huggingface.co/lab/gpt2"
GATED = f"'lab/gpt2' is gated: accept its terms at {PAGE}, and set HF_TOKEN to a token of your account."
REFUSED = (
    "The hub refuses your token, so it does not give 'lab/gpt2'. Set HF_TOKEN to a valid token, "
    "or unset it if the repository is public."
)


def nobody(name: str) -> str:
    return (
        f"The hub has no '{name}', or it is private. Check the name; "
        "for a private one set HF_TOKEN to a token of your account."
    )


def test_gated_and_private_models_open_with_a_token(
    hub: Hub, command: Command, files: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add("lab/gpt2", files(), gated=True)
    hub.add("lab/own", files(), private=True)
    assert refusal(command, "lab/gpt2") == GATED
    assert refusal(command, "lab/own") == nobody("lab/own")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert info(command, "lab/gpt2")["weights"] == info(command, "lab/own")["weights"]
    monkeypatch.delenv("HF_TOKEN")
    assert info(command, "lab/gpt2")["family"] == "causal"  # from the cache: the listing of a gated model is public


def test_a_wrong_token_is_named_also_for_a_public_model(
    hub: Hub, command: Command, files: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add("lab/gpt2", files())
    monkeypatch.setenv("HF_TOKEN", "hf_expired")
    assert refusal(command, "lab/gpt2") == REFUSED
    hub.repositories["lab/gpt2"].gated = True
    assert refusal(command, "lab/gpt2") == REFUSED


def test_a_name_or_a_revision_that_is_not_there_is_named(hub: Hub, command: Command, files: Any) -> None:
    hub.add("lab/gpt2", files())
    assert refusal(command, "lab/gtp2") == nobody("lab/gtp2")
    with pytest.raises(IsoglossError, match="Did you mean 'smollm2'"):
        open_model("smolm2")
    assert refusal(command, "lab/gpt2@v9") == (
        "'lab/gpt2' has no revision 'v9'. Look at the model's page for its branches, tags and commits."
    )
    with pytest.raises(IsoglossError, match=r"The hub has no 'lab--x\.\.y'"):  # not a name that the hub could have
        open_model("lab--x..y")


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_hub_is_named(status: int, hub: Hub, command: Command, files: Any) -> None:
    hub.add("lab/gpt2", files())
    hub.faults.append(Fault("", status=status))
    sentence = f"The hub is busy (HTTP status {status}) and does not give 'lab/gpt2'. Try again later."
    assert refusal(command, "lab/gpt2") == sentence
    hub.faults[0].part = "model.safetensors"
    assert refusal(command, "lab/gpt2") == sentence
    hub.faults[0].times = 2
    assert info(command, "lab/gpt2")["family"] == "causal"


def test_no_connection_is_named_after_one_try(
    hub: Hub, command: Command, timeouts: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve = socket.getaddrinfo

    def unknown(host: Any, *rest: Any, **options: Any) -> Any:
        if host in ("hub.invalid", b"hub.invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return resolve(host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", unknown)  # a resolver may be slow, or answer for every name
    with ports.refusing() as closed:
        for number, host in enumerate((f"http://{closed}", "http://hub.invalid")):
            monkeypatch.setattr(constants, "ENDPOINT", host)
            monkeypatch.setenv("HF_ENDPOINT", host)
            assert refusal(command, f"lab/gpt{number}") == (
                f"The hub cannot be reached ({host}), and 'lab/gpt{number}' is not in the cache. Check the network."
            )
    assert len(timeouts) == 2


def test_a_hub_that_does_not_answer_is_named(hub: Hub, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_ETAG_TIMEOUT", local_hub.SILENT)
    hub.faults.append(Fault("", hang=True))
    assert refusal(command, "lab/gpt2") == (
        f"The hub ({hub.url}) does not answer, and 'lab/gpt2' is not in the cache. Try again later."
    )


def test_a_login_page_of_the_network_is_named(hub: Hub, command: Command, files: Any) -> None:
    hub.add("lab/gpt2", files())
    hub.faults.append(Fault("", page=True))
    assert refusal(command, "lab/gpt2") == (
        f"What answers at {hub.url} is not the hub. Is there a login page or a proxy in the network?"
    )


@pytest.mark.parametrize("part", ["model.safetensors", "tokenizer.json", "README.md"])
def test_a_cut_connection_is_named_and_goes_on_next_time(part: str, hub: Hub, command: Command, files: Any) -> None:
    hub.add("lab/gpt2", {**files(), "README.md": b"---\nlicense: mit\n---\n" * 100})
    hub.faults.append(Fault(f"/{part}", cut=True))
    hub.faults[0].times = 40
    assert refusal(command, "lab/gpt2") == (
        "The connection broke while 'lab/gpt2' was downloaded. Run the command again; complete files are kept."
    )
    hub.faults[0].times = 1
    assert info(command, "lab/gpt2")["licence"] == "mit"


def test_a_download_is_reported_on_standard_error_and_the_library_is_silent(
    hub: Hub, command: Command, files: Any, capsys: pytest.CaptureFixture[str]
) -> None:

    hub.add("lab/gpt2", files())
    hub.add("lab/quiet", files())
    _, _, err = command("show", "lab/gpt2")
    size = len(files()["model.safetensors"]) / 1e6
    assert err == f"Downloading 'lab/gpt2' ({size:,.1f} MB)\n"
    assert command("show", "lab/gpt2")[2] == ""
    import contextvars

    contextvars.Context().run(open_model, "lab/quiet")
    assert capsys.readouterr().err == ""


def test_a_tokenizer_of_the_hub_is_opened_without_weights(hub: Hub, command: Command, files: Any) -> None:
    hub.add("lab/gpt2", files())
    assert command("data", "check", "demo", "--tokenizer", "lab/gpt2")[0] == 0
    assert not hub.seen("model.safetensors")
    status, _, err = command("data", "check", "demo", "--tokenizer", "lab/no")
    assert (status, err) == (2, f"Error: {nobody('lab/no')}\n")


def test_the_tokenizer_of_a_gated_model_names_the_gate(hub: Hub, command: Command, files: Any) -> None:
    hub.add("lab/gpt2", files(), gated=True)
    status, _, err = command("data", "check", "demo", "--tokenizer", "lab/gpt2")
    assert (status, err) == (2, f"Error: {GATED}\n")


def test_lists_and_local_models_ask_nobody(hub: Hub, command: Command, files: Any, tmp_path: Path) -> None:
    for name, data in files().items():
        (tmp_path / "gpt2").mkdir(exist_ok=True)
        (tmp_path / "gpt2" / name).write_bytes(data)
    for words in (["list"], ["list", "models"], ["list", "data"], ["list", "languages"], ["show", "demo"]):
        assert command(*words)[0] == 0
    assert command("eval", tmp_path / "gpt2", *DATA, "--out", tmp_path / "out")[0] == 0
    assert hub.requests == []


# ---- studies


def study(tmp_path: Path, *models: str) -> Path:
    lines = "".join(f"  - {{label: {name.split('/')[1]}, checkpoint: {name}}}\n" for name in models)
    text = f"name: trial\nmodels:\n{lines}data: [{{source: demo, languages: [en]}}]\nsample: {{limit: 2}}\n"
    path = tmp_path / "study.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_dry_run_downloads_no_weights_and_counts_the_same(
    hub: Hub, command: Command, files: Any, tmp_path: Path
) -> None:
    for kind in ("gpt2", "bert", "t5"):
        hub.add(f"lab/{kind}", files(kind))
    path = study(tmp_path, "lab/gpt2", "lab/bert", "lab/t5")
    status, out, err = command("run", path, "--dry-run", "--format", "json")
    assert status == 0, err
    assert not hub.seen("model.safetensors")
    before = json.loads(out)["cells"]
    assert command("run", path, "--out", tmp_path / "out")[0] == 0
    after = json.loads(
        command("run", path, "--dry-run", "--no-trial", "--format", "json", "--out", tmp_path / "none")[1]
    )["cells"]
    assert [row | {"seconds": None} for row in before] == [row | {"seconds": None} for row in after]
    assert {row["seconds"] for row in before} == {None}


def test_a_study_goes_on_past_models_that_the_hub_does_not_give(
    hub: Hub, command: Command, files: Any, tmp_path: Path
) -> None:
    hub.add("lab/gpt2", files())
    hub.add("lab/closed", files(), gated=True)
    path = study(tmp_path, "lab/gpt2", "lab/closed", "lab/none")
    status, out, err = command("run", path, "--out", tmp_path / "out")
    assert status == 1
    assert "'lab/closed' is gated: accept its terms at https://huggingface.co/lab/closed" in err
    assert nobody("lab/none") in err
    assert "gpt2" in out


# ---- the whole program, in a process of its own


@pytest.mark.slow
def test_two_names_give_a_number_and_offline_the_same_one(
    hub: Hub, command: Command, files: Any, tmp_path: Path
) -> None:
    hub.add("lab/bert", files("bert"))
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "DISABLE_"))}
    own = {"HF_ENDPOINT": hub.url, "HF_HUB_CACHE": constants.HF_HUB_CACHE, "HF_HOME": str(tmp_path / "home")}
    own |= {f"HF_HUB_{kind}_TIMEOUT": str(local_hub.PATIENCE) for kind in ("ETAG", "DOWNLOAD")}
    first = subprocess.run(
        [sys.executable, "-m", "isogloss", "eval", "lab/bert", *DATA],
        env=plain | own,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert first.returncode == 0, first.stderr
    hub.requests.clear()
    status, out, _ = command("eval", "lab/bert", *DATA, "--offline", "--out", tmp_path / "out")
    assert (status, out) == (0, first.stdout)
    assert hub.requests == []


def test_two_published_names_give_a_number_end_to_end(
    hub: Hub, command: Command, files: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add("google-bert/bert-base-multilingual-cased", files("bert"))
    names = ("google-bert/bert-base-multilingual-cased", "--data", "stereoset", "-l", "de", "--out", tmp_path / "out")
    with data_server.serve() as served:
        data_server.offer_stereoset(served, tmp_path, monkeypatch=monkeypatch)
        status, out, err = command("eval", *names)
        assert status == 0, err
        assert "dataset stereoset · language de" in out
        assert "license: CC BY-SA 4.0). It contains stereotypes" in err
        hub.requests.clear()
        served.requests.clear()
        assert command("eval", *names, "--offline")[:2] == (0, out)
        assert (hub.requests, served.requests) == ([], [])
    catalogue.sources.cache_clear()


def test_download_only_fetches_models_and_data_and_the_study_then_runs_offline(
    hub: Hub, command: Command, files: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = hub.add("lab/gpt2", files())
    hub.add("lab/closed", files(), gated=True)
    path = study(tmp_path, "lab/gpt2", "lab/closed")
    path.write_text(path.read_text().replace("source: demo, languages: [en]", "source: stereoset, languages: [de, it]"))
    with data_server.serve() as served:
        data_server.offer_stereoset(served, tmp_path, monkeypatch=monkeypatch)
        status, out, err = command("run", path, "--download-only", "--out", tmp_path / "out")
        assert "'lab/closed' is gated" in err
        assert "'stereoset' has no items in 'it'." in err
        assert (status, "--offline" in out) == (1, True)
        served.requests.clear()
        hub.requests.clear()
        status, out, err = command("run", path, "--offline", "--only", "gpt2/*/de", "--out", tmp_path / "out")
        assert (status, hub.requests, served.requests) == (0, [], []), err
    catalogue.sources.cache_clear()
    manifest = json.loads((tmp_path / "out" / "downloads.json").read_text(encoding="utf-8"))
    (model,) = manifest["models"]
    assert (model["name"], model["commit"]) == ("lab/gpt2", repository.refs["main"])
    assert model["weights"] == {"model.safetensors": len(files()["model.safetensors"])}
    assert [(one["dataset"], one["language"], one["items"]) for one in manifest["data"]] == [("stereoset", "de", 4)]


def test_a_dry_run_uses_what_is_cached_and_waits_for_no_hub(
    hub: Hub, command: Command, files: Any, tmp_path: Path
) -> None:
    hub.add("lab/gpt2", files())
    path = study(tmp_path, "lab/gpt2")
    assert command("run", path, "--out", tmp_path / "out")[0] == 0
    hub.requests.clear()
    hub.faults.append(Fault("", hang=True))
    assert command("run", path, "--dry-run", "--out", tmp_path / "out")[0] == 0
    assert hub.requests == []


# ---- hostile cards and tokenizers


ALIASES = "\n".join(
    ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)), "language: *a8"]
)


@pytest.mark.parametrize(
    ("card", "languages"),
    [
        ("language: 5", ["5"]),
        ("language: 2001-99-99", ["2001-99-99"]),
        ("language: [en, 'no', \"fr\"] # three", ["en", "no", "fr"]),
        ("language:\n  - en\n  - no\n\nlicense: mit", ["en", "no"]),
        ("language: [en, no, {a: b}, [fr]]", []),
        ("language: " + "[" * 900_000, []),
        ("language: " + "- " * 2_000, []),
        (ALIASES, []),
        ("language: {a: 1}\nlicense: [mit, {b: c}]", []),
    ],
)
def test_a_hostile_card_says_nothing_and_breaks_nothing(
    card: str, languages: list[str], command: Command, files: Any, tmp_path: Path
) -> None:
    for name, data in files().items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "README.md").write_text(f"---\n{card}\n---\n", encoding="utf-8")
    assert info(command, str(tmp_path))["languages"] == languages


def test_a_tokenizer_larger_than_the_embedding_is_refused(command: Command, files: Any, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    tiny.network("gpt2").save_pretrained(folder)
    tokenizer = tiny.tokenizer_of("gpt2").__class__(tokenizer_object=tiny.tokenizer_of("gpt2").backend_tokenizer)
    tokenizer.add_tokens([f"extra{number}" for number in range(500)])
    tokenizer.save_pretrained(folder)
    assert refusal(command, str(folder)) == (
        "'small' has no tokenizer that fits: it knows 920 tokens, the model 420. Download it again."
    )


def test_a_special_token_beyond_the_embedding_is_no_fault(command: Command, tmp_path: Path) -> None:
    # as Gemma 3 has one for images, which no text gives
    folder = tmp_path / "odd"
    tiny.network("gpt2").save_pretrained(folder)
    tokenizer = tiny.tokenizer_of("gpt2").__class__(tokenizer_object=tiny.tokenizer_of("gpt2").backend_tokenizer)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<image>"]})
    tokenizer.save_pretrained(folder)
    assert info(command, str(folder))["family"] == "causal"
