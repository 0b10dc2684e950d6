"""Progress: one count for the whole job, with a speed that leaves out what was kept and what loading took."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from isogloss import progress
from isogloss.items import Candidate, Item, Items
from isogloss.progress import JobClock, default_progress, progress_bars, silent
from isogloss.studies.cells import Running, group_parts, run_cells
from isogloss.studies.costs import QuestionCount, announce_plan, body_size, count_work, estimate_costs
from isogloss.studies.plan import StudyPlan
from isogloss.studies.scoring_plan import PlannedCell, plan_scoring
from support import tiny

METHODS = {"bert": ("aul", "pll"), "gpt2": ("likelihood",), "t5": ("likelihood",)}


def _pair(number: int) -> Item:
    words = " ".join([str(number), "river", "stone", "green", "music"][: 1 + number % 5])
    texts = {
        role: f"The {who} is kind, {words}." for role, who in (("stereotype", "nurse"), ("anti-stereotype", "doctor"))
    }
    candidates = tuple(Candidate(f"{number}-{role}", role, text) for role, text in texts.items())
    return Item(str(number), "made", "en", None, candidates, tags={"task": "pair"})


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


def test_time_left_weighs_pieces_by_what_they_cost(at):
    clock = JobClock()
    clock.tell("dear", 0.5, items=100, cost=9000)  # half of it was there
    clock.tell("cheap", 0.0, items=900, cost=900)
    clock.tell("loading m", 0.0)
    at(60)
    clock.tell("cheap", 0.0, items=900)
    at(70)
    clock.tell("cheap", 0.5, items=900)  # 450 in 10 s, so 4950 are left for 110 s
    assert clock.speed == "45.0 items/s, 1:50 left"
    assert (clock.kept, clock.whole, round(clock.share, 2)) == (50, 1000, 0.5)
    clock.tell("loading n", 0.0)
    at(100)
    clock.tell("dear", 0.0, items=100)  # the parts that were there are of other weights
    assert (clock.kept, clock.speed) == (0, "45.0 items/s, 3:30 left")


def test_a_piece_of_unknown_cost_costs_as_much_per_item_as_the_others(at):
    clock = JobClock()
    clock.tell("", 0.0, items=300)
    clock.tell("a", 0.0, items=100, cost=1000)
    clock.tell("a", 0.0, items=100)
    at(10)
    clock.tell("a", 1.0, items=100)
    assert clock.speed == "10.0 items/s, 0:20 left"


@pytest.mark.parametrize("kind", ["bert", "gpt2", "t5"])
def test_costs_from_a_sample_are_near_those_that_are_counted(kind):
    model = tiny.model(kind)
    items = Items(tuple(_pair(number) for number in range(400)))
    group = plan_scoring([PlannedCell(kind, items, name) for name in METHODS[kind]], model, running=Running())
    counts = [QuestionCount() for _ in group]
    for unit in group_parts([range(len(cell.parts)) for cell in group]):
        count_work(unit, group, model=model, counts=counts)
    reads = [max(1, count.read) * body_size(model) for count in counts]
    assert estimate_costs(group, model) == pytest.approx(reads, rel=0.1)


def test_all_cells_are_announced_with_what_is_there_before_the_first_is_scored(tmp_path):
    words = [_pair(number) for number in range(40)]
    long = [
        replace(item, language="de", candidates=tuple(replace(c, text=c.text * 2) for c in item.candidates))
        for item in words
    ]
    told: list[tuple[str, float, int, float]] = []
    model = tiny.model("gpt2")
    plan = StudyPlan((PlannedCell("m", Items((*words, *long)), "likelihood"),), opened={"m": model})

    def tell(label: str, share: float, *, items: int = 0, cost: float = 0.0) -> None:
        told.append((label, share, items, cost))

    running = Running(tmp_path, progress=tell)
    for _ in range(2):
        told.clear()
        announce_plan(plan, running)
        announced = [one for one in told if one[3]]
        run_cells(plan_scoring(plan.cells, model, running=running), model, running=running)
    assert [(share, items) for _, share, items, _ in announced] == [(1.0, 40), (1.0, 40)]
    assert announced[1][3] > 1.5 * announced[0][3]
    assert {one[0] for one in announced} == {one[0] for one in told if one[2] and one[0]}


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
        "130 of 200 items in 0:40",
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


def test_a_label_cannot_write_control_characters_to_the_terminal(at, monkeypatch):
    terminal = io.StringIO()
    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=terminal, force_terminal=True, width=80))
    with progress_bars() as tell:
        for share in (0.5, 0.9):
            tell("\x1b]0;owned\x07m\x9b31m en [red]x", share, items=10)
    assert "\x1b]" not in terminal.getvalue()
    assert "\x07" not in terminal.getvalue()
    assert "\x9b" not in terminal.getvalue()
    assert "en [red]x" in terminal.getvalue()  # brackets are text, not colours


def test_a_notebook_without_widgets_has_lines(at, monkeypatch, capsys):
    monkeypatch.setattr("rich.console.Console.is_jupyter", True, raising=False)
    monkeypatch.setattr(progress, "find_spec", lambda name: None)
    shown_lines = []
    monkeypatch.setattr("rich.console.Console.out", lambda self, text, **options: shown_lines.append(text))
    with progress_bars() as tell:
        tell("loading m", 0.0)
    assert shown_lines == ["loading m …"]


def test_a_library_call_shows_progress_in_a_session_only(monkeypatch, capsys):
    with default_progress(None) as tell:
        assert tell is silent
    monkeypatch.setattr("sys.ps1", ">>> ", raising=False)
    with default_progress(None) as tell:
        tell("loading m", 0.0)
    assert capsys.readouterr().err == "loading m …\n"
