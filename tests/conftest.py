"""What every test may use: the real data when it is there, and a home of its own for Isogloss."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "isogloss",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)
settings.load_profile("isogloss")
OFFLINE = {name: value for name, value in os.environ.items() if name == "HF_HUB_OFFLINE"}


def pytest_configure(config: pytest.Config) -> None:
    """A user's own languages and models must not change what the tests see."""
    home = tempfile.mkdtemp(prefix="isogloss-home-")
    os.environ["ISOGLOSS_HOME"] = home
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))


@pytest.fixture(autouse=True)
def onednn_as_it_was() -> Iterator[None]:
    """A test that computes in a low-precision format may turn oneDNN off, which would change the last digits of others."""
    yield
    if "torch" in sys.modules:
        sys.modules["torch"].backends.mkldnn.set_flags(True)


@pytest.fixture(autouse=True)
def offline_as_it_was() -> None:
    """`--offline` is for a whole process; the next test begins as the first one did."""
    os.environ.pop("HF_HUB_OFFLINE", None)
    os.environ.update(OFFLINE)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder with the published data; without it the test is skipped."""
    folder = os.environ.get("ISOGLOSS_REAL_DATA")
    if not folder:
        pytest.skip("ISOGLOSS_REAL_DATA is not set: the published data is not here")
    return Path(folder)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run the command line as a user does: exit code, standard output, standard error."""
    from isogloss.cli import main  # after Isogloss has a home of its own

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["isogloss", *map(str, arguments)])
        with monkeypatch.context() as patch:
            patch.setenv("HF_HUB_OFFLINE", os.environ.get("HF_HUB_OFFLINE", "0"))  # --offline is for this call only
            with pytest.raises(SystemExit) as left:
                main()
        shown = capsys.readouterr()
        return int(left.value.code or 0), shown.out, shown.err

    return call
