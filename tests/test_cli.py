"""The command line: one line for a mistake, JSON for machines, help for everything."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from isogloss import __version__, languages, registry
from isogloss.cli import app
from isogloss.cli.messages import as_options
from isogloss.files.catalogue import data_names
from support import tiny
from support.builders import stereoset_rows, write_jsonl
from support.offenders import for_every


@pytest.fixture
def data(tmp_path):
    """A data file with both tasks."""
    return write_jsonl(tmp_path / "items_en.jsonl", stereoset_rows())


@pytest.fixture
def predictions(tmp_path):
    """Scores for the data file: the stereotype always wins, the unrelated candidate always loses."""
    content = {"intrasentence": [], "intersentence": []}
    for row in stereoset_rows():
        cells = [{"id": c["id"], "score": 1 / (i + 1)} for i, c in enumerate(row["candidates"])]
        content[row["task"]] += cells
    path = tmp_path / "tiny.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture
def run(command):
    """The command line, under the name that these tests give it."""
    return command


def load(shown: str):
    return json.loads(shown)


# ---- help


def commands(command, path=("isogloss",)):
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*path, name))


COMMANDS = {" ".join(path): command for path, command in commands(typer.main.get_command(app))}


@for_every(name=COMMANDS)
def test_every_command_option_and_argument_has_help(name):
    command = COMMANDS[name]
    assert (command.help or "").strip()
    for parameter in command.params:
        assert (getattr(parameter, "help", "") or "").strip(), f"{name}: {parameter.name}"


@for_every(name=COMMANDS)
def test_every_help_page_can_be_shown_and_is_written_once(name):
    shown = CliRunner().invoke(app, [*name.split()[1:], "--help"])
    assert shown.exit_code == 0
    assert "Usage" in shown.output


def test_the_version_is_that_of_the_package(run):
    assert run("--version") == (0, f"isogloss {__version__}\n", "")


def test_without_arguments_help_is_shown():
    assert "Usage" in CliRunner().invoke(app, []).output


# ---- mistakes


MISTAKES = {
    "no such file": (["show", "no/such.csv"], "Error: No such file: no/such.csv.\n"),
    "no such run": (
        ["measure", "no/such/run"],
        "Error: No such run: no/such/run. Make one with: isogloss eval MODEL --data demo --out no/such/run\n",
    ),
    "nothing to measure": (["measure"], "Error: Missing argument 'RUNS'. See: isogloss measure --help\n"),
    "no figure": (["figure"], "Error: Missing argument 'NAME'. See: isogloss figure --help\n"),
    "runs and data": (
        ["measure", "runs", "--data", "demo"],
        "Error: --data is for prediction files; a run knows its data.\n",
    ),
    "no data": (
        ["measure", __file__],
        f"Error: {__file__} is a file of predictions, so it needs its data. Use --data with a file or a folder.\n",
    ),
    "an option of another kind": (
        ["data", "build", "pairs", "demo", "-o", "x", "--list", "old=x"],
        "Error: --list does not apply to 'data build pairs'.\n",
    ),
    "no file to write": (
        ["data", "build", "pairs", "demo"],
        "Error: 'data build pairs' writes a file. Use --out FILE.\n",
    ),
    "no such words": (
        ["data", "build", "split", "x", "-o", "x", "--without", "name"],
        "Error: No word list named 'name'. Did you mean 'names'? Known: generic, names.\n",
    ),
    "neither sheet": (
        ["data", "review", "folder"],
        "Error: Use --out FILE to write a sheet, or give reviewed sheets to read.\n",
    ),
    "no column": (
        ["measure", "x", "--columns", "encoding=cp1250"],
        "Error: 'encoding' is not a column. Use --encoding cp1250.\n",
    ),
    "a cluster without its backend": (
        ["eval", "x", "--data", "demo", "--workers", "2"],
        "Error: --workers requires --backend ray.\n",
    ),
    "no such list": (
        ["list", "metric"],
        "Error: No list named 'metric'. Did you mean 'metrics'? "
        "Known: data, families, figures, languages, methods, metrics, models, translators.\n",
    ),
    "no such format": (
        ["gate", "x", "--format", "csv"],
        "Error: Invalid value for '--format': 'csv' is not one of 'text', 'json', 'latex', 'markdown'. See: isogloss gate --help\n",
    ),
    "severity": (
        ["data", "check", "demo", "--fail-on", "fatal"],
        "Error: No severity named 'fatal'. Known: error, note, warning.\n",
    ),
    "language": (
        ["language", "new", "x!"],
        "Error: No language named 'x!'. Use a tag such as 'pl', 'sw' or 'pt-BR', or a name such as 'Polish' or 'polski'. Languages with a file: isogloss list languages\n",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line_on_standard_error_and_leaves_with_two(name, run):
    arguments, line = MISTAKES[name]
    assert run(*arguments) == (2, "", line)


def test_an_unknown_option_or_command_leaves_with_two(run):
    for arguments in (["list", "--nonsense"], ["nonsense"], ["measure", "--resamples", "x"]):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert "Traceback" not in err


@pytest.mark.slow
def test_a_traceback_is_shown_with_debug_only():
    command = [sys.executable, "-m", "isogloss"]
    plain, debug = (
        subprocess.run([*command, *more, "show", "no/such.csv"], capture_output=True, text=True)
        for more in ([], ["--debug"])
    )
    assert (plain.returncode, plain.stderr) == (2, "Error: No such file: no/such.csv.\n")
    assert debug.stderr.startswith("Traceback")
    assert debug.stderr.endswith("IsoglossError: No such file: no/such.csv.\n")


def test_a_bad_row_is_named_by_file_and_line(run, tmp_path):
    rows = stereoset_rows()
    rows[2]["context"] = "No gap."
    path = write_jsonl(tmp_path / "x.jsonl", rows)
    assert run("show", path) == (2, "", f"Error: {path}, line 3: the context has no BLANK.\n")
    code, out, _ = run("show", path, "--skip-bad")
    assert code == 0
    assert out.startswith("3 items, 9 candidates\n")
    assert "unreadable: 1" in out


# ---- list


def test_list_names_all_plug_ins_and_languages(run):
    code, out, err = run("list", "--format", "json")
    found = load(out)
    assert (code, err, list(found)) == (
        0,
        "",
        ["data", "methods", "metrics", "families", "translators", "figures", "languages", "models"],
    )
    assert found["metrics"] == registry.names("metric")
    assert found["languages"] == languages.tags()
    shown = run("list", "metrics")[1].splitlines()
    assert [line.split(":")[0] for line in shown] == registry.names("metric")


@pytest.mark.parametrize(
    "arguments", [["list"], ["--help"], ["list", "data"], ["list", "languages"], ["measure", "-h"]]
)
def test_looking_around_imports_nothing_heavy(arguments):
    code = (
        "import sys; sys.argv[0] = 'isogloss'\n"
        "from isogloss.cli import main\n"
        "try:\n    main()\nexcept SystemExit as left:\n    assert not left.code, left.code\n"
        "heavy = {'torch', 'transformers', 'tokenizers', 'accelerate'}\n"
        "heavy |= {'numpy', 'polars'} if sys.argv[1:] in (['list'], ['--help']) else set()\n"
        "heavy &= set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "assert sys.argv[1:] not in (['list'], ['--help']) or len(sys.modules) < 500, len(sys.modules)\n"  # quick
    )
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, stdout=subprocess.DEVNULL)


# ---- data


def test_data_list_gives_licence_and_source(run):
    found = load(run("list", "data", "--format", "json")[1])
    assert set(found) == set(data_names())
    assert set(found["stereoset"]) >= {"title", "licence", "citation", "url"}
    assert "stereoset: " in run("list", "data")[1]


def test_data_show_counts(run, data):
    found = load(run("show", data, "--format", "json")[1])
    assert found["items"] == 4
    assert found["counts"]["category"] == {"gender": 2, "race": 2}
    assert found["counts"]["target"] == {"nurse": 2, "Norwegian": 2}
    assert set(found) >= {"duplicate_contexts", "characters", "problems"}
    assert run("show", data)[1].startswith("4 items, 12 candidates\n")


def test_data_check_reports_every_check_and_can_fail(run, tmp_path):
    rows = stereoset_rows()
    rows[0]["context"] = "The BLANK is BLANK."
    rows[1]["id"] = None
    path = write_jsonl(tmp_path / "x.jsonl", rows)
    code, out, _ = run("data", "check", path, "--format", "json")
    found = {one["check"]: one for one in load(out)["checks"]}
    assert code == 0
    assert all({"check", "severity", "count", "items"} <= set(one) for one in found.values())
    assert (found["several_blanks"]["severity"], found["several_blanks"]["items"]) == ("warning", ["intra0"])
    assert (found["unreadable"]["severity"], found["unreadable"]["count"]) == ("error", 1)
    assert run("data", "check", path, "--fail-on", "error")[0] == 1


def test_data_check_fails_on_the_severity_that_was_asked_for(run, tmp_path):
    rows = stereoset_rows()
    rows[0]["context"] = "The BLANK is BLANK."
    path = write_jsonl(tmp_path / "x.jsonl", rows)
    assert run("data", "check", path)[0] == 0
    assert run("data", "check", path, "--fail-on", "error")[0] == 0
    assert run("data", "check", path, "--fail-on", "warning")[0] == 1


def test_scores_are_imported_measured_and_exported(run, data, predictions, tmp_path):
    code, folder, _ = run("data", "import", predictions, "--data", data, "--out", tmp_path / "runs")
    assert (code, Path(folder.strip()).parent) == (0, tmp_path / "runs" / "tiny")
    out = tmp_path / "out.json"
    assert run("data", "export", tmp_path / "runs", "--out", out) == (0, f"Wrote 12 scores to {out}.\n", "")
    assert load(out.read_text()) == load(predictions.read_text())
    imported = load(run("measure", tmp_path / "runs", "--format", "json")[1])
    assert imported == load(run("measure", predictions, "--data", data, "--format", "json")[1])


# ---- measure


def test_measure_prints_the_documented_json(run, data, predictions):
    code, out, err = run("measure", predictions, "--data", data, "--format", "json")
    found = load(out)["measures"]
    assert (code, err) == (0, "")
    keys = ["metric", "group", "value", "low", "high", "n", "ties", "clusters", "mode", "why"]
    assert set(found[0]) >= set(keys)
    assert [one["group"].get("task") for one in found if one["metric"] == "ss"] == [
        "intrasentence",
        "intersentence",
        None,
    ]
    assert {one["metric"]: round(one["value"], 6) for one in found if "task" not in one["group"]} == {
        "lms": 100,
        "ss": 100,
        "icat": 0,
        "lms_multiclass": 100,
        "ss_multiclass": 100,
        "icat_macro": 0,
        "icat_micro": 0,
        "icat_macro_corrected": 0,
    }


def test_measure_groups_by_several_columns_and_in_paper_mode(run, data, predictions):
    base = ["measure", predictions, "--data", data, "--format", "json", "--metrics", "ss,lms"]
    found = load(run(*base, "--by", "task,target", "--mode", "paper")[1])["measures"]
    assert len(found) == 2 * 2 * 2
    assert {one["mode"] for one in found} == {"paper"}
    assert set(found[0]["group"]) == {"model", "dataset", "language", "task", "target"}


def test_measure_prints_csv_latex_markdown_and_text(run, data, predictions):
    base = ["measure", predictions, "--data", data, "--metrics", "ss"]
    assert len(list(csv.DictReader(io.StringIO(run(*base, "--format", "csv")[1])))) == 3
    assert run(*base, "--format", "latex")[1].startswith("\\noindent\n\\begin{tabular}")
    assert run(*base, "--format", "markdown")[1].count("\n| tiny |") == 3
    text = run(*base)[1]
    assert "\n\nmodel tiny · dataset stereoset · language en\n" in text
    assert "no interval: 2 clusters; an interval needs 10" in text


def test_measure_takes_several_data_sources(run, tmp_path, predictions):
    rows = stereoset_rows()
    paths = [
        write_jsonl(tmp_path / f"{task}_en.jsonl", [row for row in rows if row["task"] == task])
        for task in ("intrasentence", "intersentence")
    ]
    shown = run("measure", predictions, "--data", paths[0], "--data", paths[1], "--format", "json")[1]
    assert [one["n"] for one in load(shown)["measures"] if one["metric"] == "ss"] == [2, 2, 4]


def test_skipped_rows_are_counted_in_the_result(run, data, predictions):
    with data.open("a", encoding="utf-8") as file:
        file.write("nonsense\n")
    base = ["measure", predictions, "--data", data]
    assert run(*base) == (2, "", f"Error: {data}, line 5: not JSON: Expecting value.\n")
    assert "1 bad rows, left out" in run(*base, "--skip-bad")[1]


def test_a_prediction_file_of_several_languages_is_refused(run, data, predictions, tmp_path):
    german = write_jsonl(tmp_path / "items_de.jsonl", [row | {"language": "de"} for row in stereoset_rows()])
    code, _, err = run("measure", predictions, "--data", data, "--data", german)
    assert code == 2
    assert err == "Error: A prediction file holds one language; the data has de, en. Use --language.\n"


# ---- language


def test_language_list_and_show(run):
    found = load(run("list", "languages", "--format", "json")[1])
    assert [one["tag"] for one in found] == languages.tags()
    shown = load(run("show", "Arabic", "--format", "json")[1])
    assert (shown["tag"], shown["direction"], shown["spaces"]) == ("ar", "rtl", True)
    assert "autonym    Deutsch" in run("show", "de")[1]
    without_file = run("show", "Galician")[1]
    assert "file       none; isogloss language new gl writes one" in without_file
    assert "path " not in without_file


def test_language_new_writes_a_file_that_can_be_shown(run, tmp_path):
    code, out, _ = run("language", "new", "ig", "--folder", tmp_path)
    assert (code, (tmp_path / "ig.toml").exists()) == (0, True)
    assert out == f"Wrote {tmp_path / 'ig.toml'}. Fill it in; see docs/reference/languages.md.\n"
    code, _, err = run("language", "new", "ig", "--folder", tmp_path)
    assert (code, err) == (2, f"Error: 'ig' has a file already: {tmp_path / 'ig.toml'}. Edit that one.\n")


def test_show_knows_runs_data_languages_and_models_apart(run, tmp_path):
    tiny.network("gpt2").save_pretrained(tmp_path)
    tiny.tokenizer_of("gpt2").save_pretrained(tmp_path)
    assert run("show", "demo", "-l", "en")[1].startswith("96 items")
    assert run("show", "French")[1].startswith("tag        fr\n")
    assert "family       causal" in run("show", tmp_path)[1]
    assert run("show", "Frennch")[2].startswith("Error: No data set or file named 'Frennch'.")
    assert "українська" in run("show", "Ukrainian")[1]


def test_an_unknown_language_is_one_line(run):
    code, _, err = run("show", "demo", "-l", "Elbonian")
    assert code == 2
    assert err.startswith("Error: No language named 'Elbonian'. Use a tag such as")


def test_a_broken_pipe_is_not_an_error():
    command = f"{sys.executable} -m isogloss list data | head -c 1"
    shown = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (shown.returncode, shown.stderr) == (0, "")


def test_arguments_in_messages_become_the_options_of_that_name():
    message = "Use `licence`, `skip_bad`, `dtype='float32'`, `design='unpaired'` or `options={'case': 'e'}`."
    shown = "Use --license, --skip-bad, --dtype float32, --unpaired or --option case=e."
    assert as_options(message) == shown
