"""Identity: a score is never taken for another model's, another run's or another template's, and nothing is lost for one item."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import transformers
import yaml

import isogloss as ig
from support import tiny
from support.builders import stereoset_rows, write_jsonl
from test_generation import CHAT, talker

Command = Callable[..., tuple[int, str, str]]
OLD = Path(__file__).parent / "run_0_1_0"
METRICS = ("--metrics", "ss,lms", "--resamples", "100")


@pytest.fixture(autouse=True)
def quiet() -> None:
    transformers.utils.logging.disable_progress_bar()


def save_model(folder: Path, kind: str = "gpt2", *, seed: int = 0) -> Path:
    tiny.network(kind, seed=seed).save_pretrained(folder)
    tiny.tokenizer_of(kind).save_pretrained(folder)
    return folder


def rows(prefix: str = "a", count: int = 4, *, task: str = "intrasentence") -> list[dict[str, Any]]:
    found = [row for row in stereoset_rows() if row["task"] == task]
    return [
        {**row, "id": f"{prefix}{n}", "target": f"target {n}"}
        | {"candidates": [{**one, "id": f"{one['id']}-{prefix}{n}"} for one in row["candidates"]]}
        for n, row in ((n, found[n % len(found)]) for n in range(count))
    ]


@pytest.fixture
def evaluate(tmp_path, command: Command):
    """`isogloss eval` of a model on rows, into a folder; gives the run's folder."""

    def call(model: Path, items: list[dict[str, Any]], *words: object, out: str = "runs") -> Path:
        before = set((tmp_path / out).rglob("run.json"))
        data = write_jsonl(tmp_path / "items_en.jsonl", items)
        code, _, shown = command("eval", model, "--data", data, "--out", tmp_path / out, "--part-size", 6, *words)
        assert code == 0, shown
        (found,) = set((tmp_path / out).rglob("run.json")) - before or {None}
        return found.parent if found else tmp_path / out

    return call


def error(command: Command, *words: object) -> str:
    """The one sentence that a command ends with, or by which it names what it left out."""
    code, _, shown = command(*words)
    assert "Traceback" not in shown
    if code == 1:  # the rest of the run was measured
        return next(line for line in shown.splitlines() if "run" in line)
    assert code == 2, shown
    (line,) = [line for line in shown.splitlines() if line.startswith("Error: ")]
    return line.removeprefix("Error: ")


def change_run(folder: Path, **facts: Any) -> None:
    path = folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | facts))


def seal(path: Path, table: pl.DataFrame) -> None:
    """Write a table with a valid checksum, as 0.1.0 did."""
    buffer = io.BytesIO()
    table.write_parquet(buffer, metadata={"checksum": "isogloss:sha256:" + "0" * 64})
    raw = buffer.getvalue()
    start = raw.rindex(b"isogloss:sha256:") + len("isogloss:sha256:")
    path.write_bytes(raw[:start] + hashlib.sha256(raw).hexdigest().encode() + raw[start + 64 :])


def make_old(folder: Path) -> None:
    """Turn a run into one that 0.1.0 could have written."""
    change_run(folder, schema=1)
    for path in folder.glob("*.parquet"):
        seal(path, pl.read_parquet(path))


# ---- a part belongs to its run


@pytest.mark.filterwarnings("default:::isogloss")
def test_a_part_of_another_model_is_refused_and_scored_again(tmp_path, evaluate, command):
    first = evaluate(save_model(tmp_path / "one"), rows())
    other = evaluate(save_model(tmp_path / "two", seed=1), rows())
    before = (first / "part-00000.parquet").read_bytes()
    shutil.copy(other / "part-00000.parquet", first / "part-00000.parquet")
    sentence = error(command, "measure", first)
    assert sentence.startswith(f"{first / 'part-00000.parquet'}: the part belongs to another run")
    evaluate(tmp_path / "one", rows())
    assert (first / "part-00000.parquet.broken").exists()
    assert (first / "part-00000.parquet").read_bytes() == before


def test_a_part_in_the_place_of_another_part_is_refused(tmp_path, evaluate, command):
    run = evaluate(save_model(tmp_path / "one"), rows())
    shutil.copy(run / "part-00000.parquet", run / "part-00001.parquet")
    assert "part-00001.parquet: the part belongs to another run" in error(command, "measure", run)


def test_items_of_another_run_are_refused(tmp_path, evaluate, command):
    model = save_model(tmp_path / "one")
    first, other = evaluate(model, rows()), evaluate(model, rows("b"))
    shutil.copy(other / "items.parquet", first / "items.parquet")
    assert "items.parquet: the table of items belongs to another run" in error(command, "measure", first)


def test_run_json_of_another_run_is_refused(tmp_path, evaluate, command):
    first = evaluate(save_model(tmp_path / "one"), rows())
    other = evaluate(save_model(tmp_path / "two", seed=1), rows())
    shutil.copy(other / "run.json", first / "run.json")
    assert error(command, "measure", first).startswith(f"{first / 'run.json'}: it describes another run")
    renamed = first.rename(tmp_path / "renamed")  # the folder's name no longer says which run it is
    assert "belongs to another run" in error(command, "measure", renamed)


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("parts", [1, 3, 99])
def test_a_wrong_number_of_parts_is_refused(tmp_path, evaluate, command, parts, old):
    run = evaluate(save_model(tmp_path / "one"), rows())
    if old:
        make_old(run)
    change_run(run, parts=parts)
    if not old or parts < 2:
        assert "run" in error(command, "measure", run)
    data = tmp_path / "items_en.jsonl"
    assert error(command, "eval", tmp_path / "one", "--data", data, "--part-size", 6, "--out", tmp_path / "runs") == (
        f"{run / 'run.json'}: 'parts' is {parts}, but these items make 2 parts. Put the right file back, or delete the run's folder and run again."
    )


def test_a_run_whose_parts_do_not_hold_all_items_is_refused(tmp_path, evaluate, command):
    run = evaluate(save_model(tmp_path / "one"), rows())
    make_old(run)
    path = run / "part-00001.parquet"
    last = pl.read_parquet(path)["id"][-1]
    seal(path, pl.read_parquet(path).filter(pl.col("id") != last))
    assert error(command, "measure", run) == (
        f"{run}: the parts have no scores for 1 of the 4 items, such as '{last}'. Delete the run's folder and run again."
    )
    seal(path, pl.read_parquet(path).with_columns(id=pl.lit("z")))
    assert error(command, "measure", run) == (
        f"{run}: 3 rows of the parts belong to no item of items.parquet, such as 'z'. Delete the run's folder and run again."
    )


def test_a_run_of_version_0_1_0_is_read(command, tmp_path):
    run = shutil.copytree(OLD, tmp_path / "stereoset-en-likelihood-9ee3122a")
    code, shown, _ = command("measure", run, *METRICS, "--format", "json")
    assert code == 0
    assert {row["n"] for row in json.loads(shown)["measures"]} == {2}


def test_a_run_of_version_0_1_0_is_resumed(tmp_path, evaluate, command):
    model = save_model(tmp_path / "lab" / "mödel (1)")
    new = evaluate(model, rows())
    run = tmp_path / "runs" / "m_del_1" / new.name  # what 0.1.0 called the folder
    shutil.copytree(new, run)
    shutil.rmtree(new.parent)
    make_old(run)
    kept, lost = run / "part-00000.parquet", run / "part-00001.parquet"
    before = kept.read_bytes()
    lost.unlink()
    assert evaluate(model, rows()) == tmp_path / "runs"  # no new run
    assert kept.read_bytes() == before
    assert lost.exists()
    assert command("measure", run)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["items.parquet", "part-00000.parquet"])
def test_a_table_with_a_valid_checksum_and_other_columns_is_one_sentence(tmp_path, command, name):
    run = shutil.copytree(OLD, tmp_path / "stereoset-en-likelihood-9ee3122a")
    path = run / name
    whole = pl.read_parquet(path)
    changed = [whole.drop(column) for column in whole.columns]
    changed += [whole.with_columns(pl.lit(None).alias(column)) for column in whole.columns]
    changed += [whole.with_columns(pl.lit(7).alias(column)) for column in whole.columns]
    changed += [whole.with_columns(pl.lit(None, kind).alias(column)) for column, kind in whole.schema.items()]
    changed += [whole.clear(), pl.concat([whole, whole]), whole.head(1), whole.rename({"id": "ID"}), pl.DataFrame()]
    changed += [whole.with_columns(pl.lit(value).alias(column)) for column in ("model", "side") for value in ("x", 1.5)]
    for table in changed:
        seal(path, table)
        for words in (("measure", run, *METRICS), ("report", run, "--out", tmp_path / "r.html", "--resamples", "100")):
            code, _, shown = command(*words)
            assert code in (0, 1, 2), (table, shown)
            assert code < 2 or len([line for line in shown.splitlines() if line.startswith("Error: ")]) == 1, shown


# ---- two versions of a model


def two_versions(tmp_path: Path, evaluate, items=("a", "b")) -> tuple[Path, Path]:
    model = tmp_path / "m"
    return tuple(evaluate(save_model(model, seed=seed), rows(prefix)) for seed, prefix in enumerate(items))


@pytest.mark.parametrize("items", [("a", "b"), ("a", "a")])
def test_two_versions_of_a_model_are_never_pooled(tmp_path, evaluate, command, items):
    first, second = two_versions(tmp_path, evaluate, items)
    out = tmp_path / "runs"
    marks = [json.loads((run / "run.json").read_text())["fingerprint"]["weights"][:8] for run in (first, second)]
    sentence = error(command, "measure", out)
    assert sentence.startswith("'m' names two versions of a model: ")
    for run, mark in zip((first, second), marks, strict=True):
        assert f"{run} (weights {mark}, tokenizer " in sentence
    assert sentence.endswith(
        "Give the runs of one of them, compare the two with: isogloss compare RUN RUN, or label each in a study."
    )
    assert error(command, "report", out, "--out", tmp_path / "r.html") == sentence
    assert error(command, "compare", out, "--a", "task=intrasentence", "--b", "task=intrasentence") == sentence
    assert command("measure", first)[0] == 0
    assert command("compare", first, second, "--unpaired", "--resamples", "100")[0] in (0, 1)


def test_the_revisions_of_two_versions_are_named(tmp_path, evaluate, command):
    for run, revision in zip(two_versions(tmp_path, evaluate), ("0a1b2c", "3d4e5f"), strict=True):
        facts = json.loads((run / "run.json").read_text())["facts"]
        change_run(run, facts=facts | {"revision": revision})
    sentence = error(command, "measure", tmp_path / "runs")
    assert "(revision 0a1b2c, weights " in sentence
    assert "(revision 3d4e5f, weights " in sentence
    assert "revision 3d4e5f" in command("show", tmp_path / "runs")[1]


def test_two_models_of_one_name_are_told_apart_in_memory_too(tmp_path, command):
    one, two = (save_model(tmp_path / name / "m", seed=seed) for seed, name in enumerate("ab"))
    data = write_jsonl(tmp_path / "items_en.jsonl", rows())
    assert error(command, "eval", one, two, "--data", data, "--out", tmp_path / "runs").startswith(
        "'m' names two versions of a model: "
    )


def test_one_label_with_a_checkpoint_for_each_language_is_one_model(tmp_path, command):
    save_model(tmp_path / "one"), save_model(tmp_path / "two", seed=1)
    for tag in ("en", "de"):
        write_jsonl(tmp_path / f"items_{tag}.jsonl", [{**row, "language": tag} for row in rows()])
    study = {
        "name": "s",
        "models": [{"label": "M", "checkpoints": {"en": "one", "de": "two"}}],
        "data": ["items_en.jsonl", "items_de.jsonl"],
        "measures": {"resamples": 100},
    }
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(study))
    code, _, shown = command("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert code == 0, shown
    note = "'M' has other weights in de, en: a difference between these languages is also one between models"
    for words in (("measure", *METRICS), ("compare", "--a", "language=en", "--b", "language=de", *METRICS)):
        code, shown, error = command(words[0], tmp_path / "out", *words[1:])
        assert (code, note in shown + error) == (0, True), shown + error


# ---- chat


def ask(command: Command, model: Path, out: Path, *more: str) -> int:
    """Ask a model about a statement; how many runs there are then."""
    words = ("--limit", 1, "--option", "order=yes-no", "--option", "max_tokens=2", "--out", out)
    with suppress(ValueError):  # the answers of a random model may have no measure
        command("ask", model, "--data", "demo", "-l", "en", *words, *more)
    return len([*out.rglob("part-00000.parquet")])


def test_another_chat_template_or_other_ends_of_answers_are_another_run(tmp_path, command):
    model = tmp_path / "m"
    talker().net.save_pretrained(model)
    talker().tokenizer.save_pretrained(model)
    template, settings = model / "chat_template.jinja", model / "generation_config.json"
    template.write_text(CHAT)
    assert [ask(command, model, tmp_path / "runs") for _ in range(2)] == [1, 1]
    template.write_text("Say yes. " + CHAT)
    assert ask(command, model, tmp_path / "runs") == 2
    before = json.loads(settings.read_text())
    for count, change in ((3, {"eos_token_id": [2, 9]}), (4, {"suppress_tokens": [5]})):
        settings.write_text(json.dumps(before | change))
        assert ask(command, model, tmp_path / "runs") == count
    prompts = tmp_path / "prompts.toml"
    prompts.write_text(
        "[en]\n" + "".join(f'{name} = "{name}? {{statement}}"\n' for name in ("stereotype", "agree", "disagree"))
    )
    assert ask(command, model, tmp_path / "runs", "--option", f"prompts={prompts}") == 5
    for words in (("measure",), ("report", "--out", tmp_path / "report.html")):
        code, shown, error = command(words[0], tmp_path / "runs", *words[1:])
        assert (code, shown) == (2, "")
        assert "'m' names two versions of a model: " in error


# ---- counts, labels, folders


def test_the_number_of_bad_rows_is_that_of_now(tmp_path, evaluate, command):
    model = save_model(tmp_path / "one")
    bad = {"id": "x", "task": "intrasentence"}
    for count in (1, 7, 0):
        evaluate(model, rows() + [bad] * count, "--skip-bad")
        shown = command("measure", tmp_path / "runs", *METRICS, "--format", "json")[1]
        assert json.loads(shown)["problems"].get("unreadable", 0) == count


def test_labels_that_differ_in_odd_letters_only_have_their_own_folders(tmp_path, command):
    save_model(tmp_path / "one")
    write_jsonl(tmp_path / "items_en.jsonl", rows())
    labels = ["M (1)", "M [1]", "模型", "model", "نموذج", "m" * 300]
    study = {
        "name": "s",
        "models": [{"label": label, "checkpoint": "one", "facts": {"kind": f"k{n}"}} for n, label in enumerate(labels)],
        "data": ["items_en.jsonl"],
        "measures": {"metrics": ["ss"], "by": ["kind"], "resamples": 100},
    }
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(study))
    code, _, shown = command("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert code == 0, shown
    found = json.loads(command("measure", tmp_path / "out", "--by", "kind", *METRICS, "--format", "json")[1])[
        "measures"
    ]
    pairs = {(row["group"]["model"], row["group"]["kind"]) for row in found}
    assert pairs == {(label, f"k{n}") for n, label in enumerate(labels)}


# ---- studies that fail


def test_the_reason_of_a_failed_cell_is_shown_when_the_folder_is_there(tmp_path, command):
    study = {"name": "s", "models": ["nowhere/at-all"], "data": ["demo"], "languages": ["en"]}
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(study | {"loading": {"offline": True}}))
    (tmp_path / "out").mkdir()
    code, _, shown = command("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert code == 1
    assert "No runs in" not in shown
    assert "nowhere/at-all" in shown
    assert command("run", tmp_path / "s.yaml", "--out", tmp_path / "new")[::2] == (code, shown)


# ---- items that a method does not fit


def odd_rows() -> list[dict[str, Any]]:
    """Eight items, one of which has BLANK in a context that is a sentence of its own."""
    found = rows("s", task="intersentence") + rows("w")
    found[1]["context"] = "I met a BLANK."
    return found


@pytest.mark.parametrize("method", ["auto", "continuation"])
def test_an_item_that_a_method_does_not_fit_is_left_out_and_named(tmp_path, evaluate, command, method):
    model = save_model(tmp_path / "one")
    items = odd_rows() if method == "auto" else odd_rows()[:4]
    evaluate(model, items, "--method", method, out="runs") if method != "auto" else command(
        "eval", model, "--data", write_jsonl(tmp_path / "items_en.jsonl", items), "--out", tmp_path / "runs"
    )
    found = json.loads(command("measure", tmp_path / "runs", *METRICS, "--by", "task", "--format", "json")[1])
    counts = {row["group"]["task"]: row["n"] for row in found["measures"] if row["metric"] == "ss"}
    assert counts["intersentence"] == 3
    assert (
        "1 of 4 intersentence items in en was left out, because the method 'continuation' does not fit it: s1"
        in (found["notes"])
    )


def test_items_that_no_method_fits_are_refused_with_what_to_do(tmp_path, command):
    model = save_model(tmp_path / "one")
    data = write_jsonl(
        tmp_path / "items_en.jsonl", [row | {"context": "A BLANK."} for row in rows(task="intersentence")]
    )
    sentence = "The method 'continuation' fits none of the 4 items, such as 'a0'. See why with: isogloss data check"
    for words in ((), ("--method", "continuation")):
        assert error(command, "eval", model, "--data", data, "--out", tmp_path / "runs", *words) == sentence


def test_data_check_names_items_that_the_usual_method_does_not_fit(tmp_path, command):
    data = write_jsonl(tmp_path / "items_en.jsonl", odd_rows())
    found = {one["check"]: one for one in json.loads(command("data", "check", data, "--format", "json")[1])["checks"]}
    assert found["method_unfit"]["items"] == ["s1"]


def test_a_missing_head_is_said_before_items_that_do_not_fit(tmp_path, command):
    model = save_model(tmp_path / "one")
    assert error(command, "eval", model, "--data", "demo", "-l", "en", "--method", "nsp", "--out", tmp_path / "r") == (
        "'one' has no next-sentence head, so it cannot be scored with 'nsp'. Train one: isogloss nsp train"
    )


def test_a_study_can_leave_out_bad_rows(tmp_path, command):
    save_model(tmp_path / "one")
    write_jsonl(tmp_path / "items_en.jsonl", [*rows(), {"id": "x"}])
    study = {"name": "s", "models": ["one"], "data": [{"source": "items_en.jsonl"}], "measures": {"resamples": 100}}
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(study))
    assert "line 5" in error(command, "run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    study["data"][0]["skip_bad"] = True
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(study))
    code, shown, _ = command("run", tmp_path / "s.yaml", "--out", tmp_path / "out", "--format", "json")
    assert (code, json.loads(shown)["problems"]) == (0, {"unreadable": 1})


def test_scores_of_two_models_in_memory_are_joined_only_under_two_names(tmp_path):
    data = write_jsonl(tmp_path / "items_en.jsonl", rows())
    scored = [ig.score(ig.read(str(data), language="en"), model=str(save_model(tmp_path / name))) for name in "ab"]
    assert len({row["model"] for one in scored for row in one.table.iter_rows(named=True)}) == 2
