"""The registry: plug-ins by file name and by entry point, listed without importing them."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from isogloss import registry
from isogloss.errors import IsoglossError, list_known


@pytest.fixture
def other_package(monkeypatch):
    """Pretend that another package is installed with these entry points."""

    def install(**points: str) -> None:
        found = [EntryPoint(name, value, "isogloss.metrics") for name, value in points.items()]
        monkeypatch.setattr(registry, "entry_points", lambda group: found if group == "isogloss.metrics" else [])
        registry.entry_points_of.cache_clear()

    yield install
    registry.entry_points_of.cache_clear()


@pytest.mark.parametrize("kind", registry.PLUGIN_PACKAGES)
def test_names_are_sorted_and_private_files_are_not_plug_ins(kind):
    names = registry.names(kind)
    assert names == sorted(set(names))
    assert not [name for name in names if name.startswith("_")]


def test_a_plug_in_is_named_by_its_file():
    assert {"lms", "ss", "icat", "icat_macro", "icat_micro"} <= set(registry.names("metric"))
    assert {"stereoset", "demo"} <= set(registry.names("dataset"))


def test_hyphens_and_underscores_are_the_same():
    assert registry.get("metric", "icat-macro") is registry.get("metric", "icat_macro")


def test_listing_imports_no_plug_in():
    code = (
        "import sys; from isogloss import registry; "
        "names = [n for k in registry.PLUGIN_PACKAGES for n in registry.names(k)]; assert names; "
        "bad = [m for m in sys.modules if m.startswith(('isogloss.metrics.', 'isogloss.datasets.', 'torch'))]; "
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_name_suggests_a_near_one():
    with pytest.raises(IsoglossError) as caught:
        registry.get("metric", "icat-makro")
    known = list_known("icat-makro", registry.names("metric"))
    assert str(caught.value) == f"No metric named 'icat-makro'. Did you mean 'icat_macro'? Known: {known}."


def test_a_name_that_is_near_nothing_gets_no_suggestion():
    with pytest.raises(IsoglossError, match=r"^No metric named 'de'\. Known: "):
        registry.get("metric", "de")


def test_another_package_can_bring_a_plug_in(other_package):
    other_package(**{"my-metric": "math:pi"})
    assert "my_metric" in registry.names("metric")
    assert registry.get("metric", "my-metric") == pytest.approx(3.14159, abs=1e-5)


def test_a_plug_in_that_cannot_be_imported_is_blamed_by_name(other_package):
    other_package(broken="no_such_package:metric")
    with pytest.raises(IsoglossError) as caught:
        registry.get("metric", "broken")
    assert str(caught.value) == (
        "The metric 'broken' of another package (no_such_package:metric) cannot be imported: "
        "ModuleNotFoundError: No module named 'no_such_package'. Fix or uninstall that package."
    )


def test_another_package_cannot_replace_one_of_ours(other_package):
    other_package(lms="math:pi")
    with pytest.raises(IsoglossError) as caught:
        registry.names("metric")
    assert str(caught.value) == (
        "Another package brings a metric named 'lms', which Isogloss has already. Rename or uninstall it."
    )
