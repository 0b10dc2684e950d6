"""Studies: items scored in memory and on disk, in parts that survive anything and are never scored twice."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import transformers

from isogloss import library, runs
from isogloss.errors import IsoglossError
from isogloss.items import Item, Items, limit_items
from isogloss.models.model import Loading, Model
from isogloss.scores import Scored
from isogloss.studies.plan import plan_evaluation
from isogloss.studies.run import execute
from support import tiny
from support.examples import INTER, INTRA, blank, follow, rows_of
from support.scores import assert_same_scores

BOTH = Items((*INTRA[:5], *INTER[:5]))
WORDS = ("kind", "rude", "compassionate", "cold", "warm", "quiet", "friendly", "green", "tired", "slow")
MANY = Items(
    tuple(
        replace(
            blank(f"item-{n}", "en", f"The nurse number {n} is BLANK today.", *(WORDS[(n + k) % 10] for k in range(3))),
            cluster=f"target-{n % 7}",
        )
        for n in range(40)
    )
)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of two items."""
    monkeypatch.setattr(sys.modules[__name__], "LOADING", Loading(part_size=6))


LOADING = Loading()


def score(items: Items, **given: object) -> Scored:
    return library.score(items, **{"loading": LOADING, **given})


def values(scored: Scored) -> pl.DataFrame:
    return scored.table.select("id", "language", "candidate", "value", "tokens", "unknown", "truncated")


def counted(model: Model) -> tuple[Model, list[int]]:
    """The model, and the number of batches it is asked to answer."""
    calls: list[int] = []
    own = model.family.answer

    def answer(*given, **named):
        calls.append(1)
        return own(*given, **named)

    return replace(model, family=replace(model.family, answer=answer)), calls


def only_run(folder: Path) -> runs.Run:
    (run,) = runs.find_runs(folder)
    return run


# ---- in memory


def test_scores_in_memory_are_those_of_the_method() -> None:
    scored = score(Items(tuple(INTRA)), model=tiny.model("bert"), method="unmask")
    rows = rows_of(tiny.model("bert"), INTRA, "unmask")
    assert scored.table.height == len(rows) == sum(len(item.candidates) for item in INTRA)
    for line in scored.table.iter_rows(named=True):
        assert line["value"] == pytest.approx(rows[line["candidate"]].value, rel=1e-4)
    assert scored.table["model"].unique().to_list() == ["tiny-bert"]
    assert set(scored.table["method"]) == {"unmask"}


@pytest.mark.parametrize(
    ("name", "intra", "inter"),
    [("bert", "unmask", "nsp"), ("gpt2", "likelihood", "continuation"), ("t5", "unmask", "continuation")],
)
def test_auto_chooses_by_family_and_task_and_says_so(name: str, intra: str, inter: str) -> None:
    scored = score(BOTH, model=tiny.model(name))
    chosen = scored.table.select("task", "method").unique().rows()
    assert sorted(chosen) == [("intersentence", inter), ("intrasentence", intra)]
    assert f"intrasentence items were scored by '{intra}', chosen by auto" in scored.notes
    assert f"intersentence items were scored by '{inter}', chosen by auto" in scored.notes


def test_auto_leaves_out_what_the_model_cannot_do_and_names_it() -> None:
    scored = score(Items((*INTRA[:1], *INTER[:2])), model=tiny.model("roberta"))
    assert scored.table["task"].unique().to_list() == ["intrasentence"]
    why = "'tiny-roberta' has no next-sentence head, so it cannot be scored with 'nsp'. Train one: isogloss nsp train"
    assert f"the 2 intersentence items in en were left out: {why}" in scored.notes
    with pytest.raises(IsoglossError) as caught:
        score(Items(tuple(INTER[:2])), model=tiny.model("roberta"))
    assert str(caught.value) == why


def test_items_that_a_chosen_method_does_not_fit_are_left_out_and_named() -> None:
    scored = score(Items((INTRA[0], *INTER[:2])), model=tiny.model("bert"), method="unmask")
    assert set(scored.table["id"]) == {INTRA[0].id}
    assert scored.notes[-1].endswith(
        "were left out, because the method 'unmask' does not fit them: " + ", ".join(item.id for item in INTER[:2])
    )


def test_a_candidate_that_cannot_be_scored_keeps_its_row() -> None:
    empty = blank("empty", "en", "[MASK] is BLANK.", "kind", "rude", "green")
    scored = score(Items((empty, INTRA[0])), model=tiny.model("bert"), method="unmask")
    assert scored.table.filter(pl.col("id") == "empty")["value"].to_list() == [None, None, None]
    assert scored.table.filter(pl.col("id") == "pieces")["value"].null_count() == 0


def test_progress_reaches_the_end(small_parts: None) -> None:
    shares: list[float] = []
    score(
        MANY,
        model=tiny.model("gpt2"),
        method="likelihood",
        progress=lambda label, share, items=0: shares.append(share),
    )
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


# ---- on disk


def test_a_run_on_disk_equals_one_in_memory(tmp_path: Path, small_parts: None) -> None:
    kept = score(MANY, model=tiny.model("bert"), method="unmask", out=tmp_path)
    assert_same_scores(values(kept), values(score(MANY, model=tiny.model("bert"), method="unmask")))
    run = only_run(tmp_path)
    assert run.info["status"] == "finished"
    assert run.parts >= 20
    names = [f"part-{n:05d}.parquet" for n in range(run.parts)]
    assert sorted(path.name for path in run.folder.glob("part-*")) == names


def test_a_finished_run_asks_the_model_nothing(tmp_path: Path) -> None:
    first = score(MANY, model=tiny.model("bert"), method="unmask", out=tmp_path)
    model, calls = counted(tiny.model("bert"))
    again = score(MANY, model=model, method="unmask", out=tmp_path)
    assert calls == []
    assert again.table.equals(first.table)


def test_only_a_missing_part_is_scored_again(tmp_path: Path, small_parts: None) -> None:
    first = score(MANY, model=tiny.model("bert"), method="unmask", out=tmp_path)
    run = only_run(tmp_path)
    path = runs.part_path(run, 3)
    content = path.read_bytes()
    times = {other: other.stat().st_mtime_ns for other in run.folder.glob("part-*")}
    path.unlink()
    again = score(MANY, model=tiny.model("bert"), method="unmask", out=tmp_path)
    changed = [other for other, then in times.items() if other.stat().st_mtime_ns != then]
    assert changed == [path]
    assert path.read_bytes() == content
    assert again.table.equals(first.table)
    assert only_run(tmp_path).info["scored_parts"] == 1


def test_a_broken_part_is_scored_again(tmp_path: Path, small_parts: None) -> None:
    first = score(MANY, model=tiny.model("bert"), method="unmask", out=tmp_path)
    path = runs.part_path(only_run(tmp_path), 5)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.warns(UserWarning, match="was set aside"):
        again = score(MANY, model=tiny.model("bert"), method="unmask", out=tmp_path)
    assert again.table.equals(first.table)


def test_other_options_weights_or_data_are_another_run(tmp_path: Path) -> None:
    def folders() -> int:
        return len(runs.find_runs(tmp_path))

    few = Items(MANY.rows[:3])
    score(few, model=tiny.model("bert"), method="unmask", out=tmp_path)
    score(few, model=tiny.model("bert"), method="unmask", options={"variant": "log"}, out=tmp_path)
    assert folders() == 2
    net, tokenizer = tiny.network("bert", seed=1), tiny.wordpiece()
    other = tiny.wrap(net, tokenizer, info=tiny.describe(net, tokenizer, name="tiny-bert"))
    score(few, model=other, method="unmask", out=tmp_path)
    assert folders() == 3
    score(Items(MANY.rows[:2]), model=tiny.model("bert"), method="unmask", out=tmp_path)
    assert folders() == 4
    score(few, model=tiny.model("bert"), method="unmask", out=tmp_path)
    assert folders() == 4


def test_languages_are_runs_of_their_own(tmp_path: Path) -> None:
    score(BOTH, model=tiny.model("bert"), out=tmp_path)
    made = sorted((run.info["language"], run.info["method"]) for run in runs.find_runs(tmp_path))
    assert made == sorted({(i.language, "unmask") for i in INTRA[:5]} | {(i.language, "nsp") for i in INTER[:5]})


def test_a_run_that_another_process_works_on_is_refused(tmp_path: Path) -> None:
    score(MANY, model=tiny.model("bert"), method="unmask", out=tmp_path)
    run = only_run(tmp_path)
    with runs.locked(run), pytest.raises(IsoglossError) as caught:
        score(MANY, model=tiny.model("bert"), method="unmask", out=tmp_path)
    assert str(caught.value) == f"Another process is working on {run.folder}. Wait for it, or stop it."


SCRIPT = """
import os, signal, sys
sys.path.insert(0, {tests!r})
import test_studies_run as t
t.LOADING = t.Loading(part_size=6)
commit = t.runs.commit_part
def commit_and_stop(run, number):
    commit(run, number)
    if number == 1:
        os.kill(os.getpid(), signal.SIGSTOP)
t.runs.commit_part = commit_and_stop
t.score(t.MANY, model={model!r}, method="unmask", out={out!r})
"""


def start_until_two_parts(model: Path, out: Path) -> subprocess.Popen[bytes]:
    """A process that scores and has stopped itself (but not ended) after its second part."""
    script = SCRIPT.format(tests=str(Path(__file__).parent), model=str(model), out=str(out))
    process = subprocess.Popen([sys.executable, "-c", script])
    assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
    return process


@pytest.mark.slow
def test_a_killed_run_goes_on_as_if_nothing_had_happened(tmp_path: Path, small_parts: None) -> None:
    transformers.utils.logging.disable_progress_bar()
    folder, out = tmp_path / "bert", tmp_path / "runs"
    tiny.network("bert").save_pretrained(folder)
    tiny.tokenizer_of("bert").save_pretrained(folder)
    process = start_until_two_parts(folder, out)
    there = list(out.rglob("part-*.parquet"))
    times = {path: path.stat().st_mtime_ns for path in there}
    with pytest.raises(IsoglossError, match="Another process is working on"):
        score(MANY, model=str(folder), method="unmask", out=out)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert len(there) == 2
    found = score(MANY, model=str(folder), method="unmask", out=out)
    assert {path: path.stat().st_mtime_ns for path in there} == times
    undisturbed = score(MANY, model=str(folder), method="unmask", out=tmp_path / "other")
    assert_same_scores(found.table, undisturbed.table)
    run, other = only_run(out), only_run(tmp_path / "other")
    assert run.info["scored_parts"] == run.parts - len(there)
    for number in range(run.parts):
        assert runs.part_path(run, number).read_bytes() == runs.part_path(other, number).read_bytes()


# ---- samples and several models


def tagged(language: str) -> list[Item]:
    return [replace(item, language=language) for item in MANY]


def test_a_limit_holds_in_every_language_and_draws_the_same_items() -> None:
    items = Items((*tagged("en"), *tagged("de")))
    sample = limit_items(items, 12, seed=3)
    ids = {language: [item.id for item in sample if item.language == language] for language in ("en", "de")}
    assert ids["en"] == ids["de"]
    assert len(ids["en"]) == 12
    assert limit_items(items, 12, seed=3) == sample
    assert limit_items(items, 12, seed=4) != sample
    assert limit_items(items, None) == items


def test_several_models_are_scored_after_each_other(tmp_path: Path) -> None:
    for name in ("bert", "gpt2"):
        tiny.network(name).save_pretrained(tmp_path / name)
        tiny.tokenizer_of(name).save_pretrained(tmp_path / name)
    models = [str(tmp_path / "bert"), str(tmp_path / "gpt2")]
    plan = plan_evaluation(models, limit_items(MANY, 5), loading=Loading(token_budget=100))
    scored = execute(plan, out=tmp_path / "runs").scored
    assert scored is not None
    assert scored.table.group_by("model", "method").len().sort("model").rows() == [
        ("bert", "unmask", 15),
        ("gpt2", "likelihood", 15),
    ]
    assert len(runs.find_runs(tmp_path / "runs")) == 2


def test_a_wrong_model_is_found_before_the_first_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(IsoglossError) as caught:
        plan_evaluation([str(tmp_path / "one"), str(tmp_path / "two")], MANY)
    assert str(caught.value) == " ".join(f"No such model folder: {tmp_path / name}." for name in ("one", "two"))


def test_the_token_budget_does_not_change_scores(tmp_path: Path) -> None:
    inter = Items(tuple(follow(f"f{n}", "en", f"I met {n} people.", "They were kind.", "So.", "No.") for n in range(6)))
    found = [
        score(inter, model=tiny.model("gpt2"), method="continuation", loading=Loading(token_budget=budget))
        for budget in (1, 4096)
    ]
    first, second = (one.table["value"].log().to_list() for one in found)
    assert first == pytest.approx(second, abs=1e-5)


def test_every_fact_in_the_description_of_a_run_is_documented(tmp_path: Path) -> None:
    score(Items(tuple(INTRA[:2])), model=tiny.model("gpt2"), out=tmp_path)
    page = (Path(__file__).parent.parent / "docs" / "how-to" / "other-tools.md").read_text(encoding="utf-8")
    section = page.partition("### run.json")[2].partition("### Scores")[0]
    facts = {name for run in runs.find_runs(tmp_path) for name in run.info}
    assert facts - set(re.findall(r"`(\w+)`", section)) == set()
