"""Data sets of the hub: configurations, offline, and one sentence for each way in which reading them can fail."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from isogloss.files.hub import gated_access_hint
from support import local_hub
from support.local_hub import TOKEN, Fault, Hub

Command = Callable[..., tuple[int, str, str]]
CSV = (
    b"id,sent_more,sent_less,stereo_antistereo,bias_type\n"
    b"1,Women are bad at maths.,Men are bad at maths.,stereo,gender\n"
    b"2,Old people are slow.,Young people are slow.,stereo,age\n"
)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    """A stand-in hub that the real library talks to; without that library the test is skipped."""
    datasets = pytest.importorskip("datasets")
    from huggingface_hub import constants

    with local_hub.serve() as served:
        for module in (constants, datasets.config):
            for name in ("ENDPOINT", "HF_ENDPOINT"):
                if hasattr(module, name):
                    monkeypatch.setattr(module, name, served.url)
        template = served.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "datasets")
        monkeypatch.setattr(datasets.config, "HF_MODULES_CACHE", tmp_path / "modules")
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path / "home"))
        monkeypatch.delenv("HF_TOKEN", raising=False)
        local_hub.wait_for_answers(monkeypatch)
        yield served


def use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, load: Callable[..., Any]) -> None:
    """Let a function stand for the library's load_dataset."""
    library = SimpleNamespace(load_dataset=load, concatenate_datasets=lambda parts: parts[0])
    monkeypatch.setitem(sys.modules, "datasets", library)  # type: ignore[arg-type]
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path / "home"))


def refusal(command: Command, *arguments: str) -> str:
    status, out, err = command(*arguments)
    assert (status, out, err.count("\n")) == (2, "", 1), err
    return err.removeprefix("Error: ").rstrip("\n")


def test_a_table_is_read_from_the_hub_and_kept(hub: Hub, command: Command) -> None:
    hub.add("datasets/lab/pairs", {"en.csv": CSV, "README.md": b"---\nlicense: mit\n---\n"})
    assert command("show", "hf:lab/pairs", "-l", "en")[0] == 0
    hub.requests.clear()
    assert command("show", "hf:lab/pairs", "-l", "en")[0] == 0
    assert hub.requests == []


def test_a_gated_set_is_read_by_name_with_a_token_and_later_without(
    hub: Hub, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add("datasets/LanguageShades/BiasShades", {"train.csv": CSV}, gated=True)
    sentence = gated_access_hint("LanguageShades/BiasShades")
    assert refusal(command, "show", "shades", "-l", "en") == sentence
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert command("show", "shades", "-l", "en")[0] == 0
    monkeypatch.delenv("HF_TOKEN")
    hub.requests.clear()
    assert command("show", "shades", "-l", "en")[0] == 0
    assert hub.requests == []


def test_the_splits_of_a_set_are_read_together(hub: Hub, command: Command) -> None:
    import polars as pl

    tables = [pl.read_csv(CSV)[row : row + 1] for row in (0, 1)]
    packed = []
    for table in tables:
        buffer = io.BytesIO()
        table.write_parquet(buffer)
        packed.append(buffer.getvalue())
    names = ("train.parquet", "test.parquet")
    hub.add("datasets/lab/splits", dict(zip(names, packed, strict=True)))
    assert "2 items" in command("show", "hf:lab/splits", "-l", "en")[1]


def test_a_missing_data_set_is_one_sentence(hub: Hub, command: Command) -> None:
    hub.faults.append(Fault("datasets-server", status=404))
    assert refusal(command, "show", "hf:lab/none", "-l", "en") == (
        "The hub has no 'lab/none', or it is private. Check the name; "
        "for a private one set HF_TOKEN to a token of your account."
    )


def test_a_configuration_is_named_after_a_colon(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: Command
) -> None:
    def load(name: str, config: str | None) -> dict[str, Any]:
        if config is None:
            raise ValueError(
                "Config name is missing.\nPlease pick one among the available configs: ['en', 'de']\nMore."
            )
        assert (name, config) == ("lab/many", "de")
        table = tmp_path / "x.csv"
        table.write_bytes(CSV)
        import polars as pl

        return {"train": SimpleNamespace(to_parquet=lambda path: pl.read_csv(table).write_parquet(path))}

    use(monkeypatch, tmp_path, load)
    assert refusal(command, "show", "hf:lab/many", "-l", "en") == (
        "The data set 'lab/many' has several configurations. Give one of them as hf:lab/many:NAME. Known: en, de."
    )
    assert command("show", "hf:lab/many:de", "-l", "de")[0] == 0
    assert [path.name for path in (tmp_path / "home" / "data").iterdir()] == ["lab--many--de.parquet"]


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: Command) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path / "home"))
    for arguments in (
        ("show", "hf:lab/set"),
        ("data", "build", "split", "hf:lab/set", "-l", "de", "--out", str(tmp_path)),
    ):
        assert refusal(command, *arguments) == (
            "This needs the library 'datasets', which is not installed: pip install \".[corpora]\" in your copy of Isogloss"
        )


def test_a_corpus_that_the_hub_does_not_give_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: Command
) -> None:
    def load(*_: Any, **__: Any) -> None:
        raise ConnectionError("Couldn't reach 'lab/nothing' on the Hub") from TimeoutError()

    use(monkeypatch, tmp_path, load)
    assert refusal(
        command, "data", "build", "split", "hf:lab/nothing", "-l", "de", "--out", str(tmp_path / "out")
    ).startswith("The hub (https://huggingface.co) does not answer, and 'lab/nothing' is not in the cache.")


def test_an_unknown_error_is_told_without_advice_on_gates(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: Command
) -> None:
    def load(*_: Any, **__: Any) -> None:
        raise RuntimeError("Dataset scripts are no longer supported, but found set.py\nMore.")

    use(monkeypatch, tmp_path, load)
    assert refusal(command, "show", "hf:lab/script") == (
        "The data set 'lab/script' cannot be read from the hub: Dataset scripts are no longer supported, but found set.py."
    )


def test_a_study_that_is_offline_downloads_no_data_and_reads_a_failing_source_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: Command
) -> None:
    asked = []

    def load(*place: Any, **__: Any) -> None:
        asked.append(place)
        raise ConnectionRefusedError("no")

    use(monkeypatch, tmp_path, load)
    text = "name: x\nmodels: [{label: a, checkpoint: lab/a}]\ndata: [{source: 'hf:lab/set', languages: [en]}]\n"
    path = tmp_path / "study.yaml"
    path.write_text(text + "loading: {offline: true}\n", encoding="utf-8")
    sentence = "The data set 'lab/set' is not stored here, and offline nothing is downloaded."
    assert refusal(command, "run", str(path)) == f"{path}: {sentence}"
    assert asked == []
    path.write_text(text, encoding="utf-8")
    assert "The hub cannot be reached" in refusal(command, "run", str(path))
    assert asked == [("lab/set", None)]
