"""Progress: one count for the whole job, with a speed that leaves out what was kept and what loading took."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from isogloss import progress
from isogloss.progress import JobClock, progress_bars, shown, silent


@pytest.fixture
def at(monkeypatch):
    """Sets the time."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return lambda seconds: now.__setitem__(0, 100.0 + seconds)


def test_speed_and_time_left_are_those_of_the_whole_job(at):
    clock = JobClock()
    clock.tell("", 0.0, items=400)
    clock.tell("loading m", 0.0)
    at(60)
    clock.tell("m en", 0.5, items=100)  # 50 items were there; loading took a minute
    at(70)
    clock.tell("m en", 0.75, items=100)
    assert (clock.kept, clock.done, clock.whole) == (50, 75, 400)
    assert clock.speed == "2.5 items/s, 2:10 left"  # 25 items in 10 s, 325 items left
    clock.tell("loading n", 0.0)
    at(1000)
    clock.tell("n en", 0.0, items=100)
    assert clock.speed == "2.5 items/s, 2:10 left"


def test_a_log_has_plain_lines_now_and_then(at, capsys):
    with progress_bars() as tell:
        tell("", 0.0, items=200)
        tell("loading m", 0.0)
        tell("m en", 0.25, items=200)
        for second in range(1, 41):
            at(second)
            tell("m en", 0.25 + second / 100, items=200)
    assert capsys.readouterr().err.splitlines() == [
        "loading m …",
        "Kept 50 of 200 items from before.",
        "m en: 60 of 200 items, 2.0 items/s, 1:10 left",
        "m en: 120 of 200 items, 2.0 items/s, 0:40 left",
    ]


def test_the_bar_fits_into_80_columns(at, monkeypatch):
    terminal = io.StringIO()
    monkeypatch.setattr(
        "rich.console.Console", lambda stderr: Console(file=terminal, force_terminal=True, width=80, _environ={})
    )
    with progress_bars() as tell:
        tell("a model with a long name on a set of data en likelihood", 0.0, items=20000)
        at(10_000)
        tell("a model with a long name on a set of data en likelihood", 0.4, items=20000)
    lines = [line for line in terminal.getvalue().replace("\r", "\n").split("\n") if "left" in line]
    assert "40 %" in lines[-1]
    assert "0.8 items/s, 4:10:00 left" in lines[-1]


def test_a_library_call_shows_progress_in_a_session_only(monkeypatch, capsys):
    with shown(None) as tell:
        assert tell is silent
    monkeypatch.setattr("sys.ps1", ">>> ", raising=False)
    with shown(None) as tell:
        tell("loading m", 0.0)
    assert capsys.readouterr().err == "loading m …\n"
