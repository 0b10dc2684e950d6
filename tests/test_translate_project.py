"""A data set in a new language, from the English file to what is published, with real Apertium."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest
import yaml

import isogloss
from isogloss.annotation.sheets import SheetForm, read_sheet, write_sheet
from isogloss.cli import main
from isogloss.errors import BadData, IsoglossError
from isogloss.files.sources import read
from isogloss.items import Items, sample_items
from isogloss.translate.project import (
    Project,
    TranslationRequest,
    begin_project,
    open_project,
    repair_project,
    translate,
    undo_step,
)
from isogloss.translate.publication import Label, publish, translate_back
from isogloss.translate.review import (
    Review,
    ReviewerAgreement,
    ReviewResult,
    agree,
    cohens_kappa,
    explain_kappa,
    export_sheet,
    import_sheets,
    read_reviews,
    review_as_text,
)
from isogloss.translate.steps import draw_steps
from support.builders import lacks_apertium, triple, write_jsonl

pytestmark = pytest.mark.skipif(lacks_apertium(), reason="Apertium has no eng-spa here")
LABEL = Label("Demonstration set in Spanish", "CC BY 4.0", "Isogloss demonstration set")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """The demonstration set in Spanish, as Apertium gives it."""
    folder = tmp_path_factory.mktemp("new") / "es"
    translate(isogloss.read("demo", language="en"), TranslationRequest("apertium", "Spanish"), folder=folder)
    return folder


@pytest.fixture
def project(made, tmp_path) -> Project:
    """A copy of it, to be worked on."""
    shutil.copytree(made, tmp_path / "es")
    return open_project(tmp_path / "es")


# ---- translate, repair, undo


def test_all_items_come_back_in_spanish_with_their_ids(project):
    english = isogloss.read("demo", language="en")
    assert project.dropped == ()
    assert {item.id for item in project.items} == {item.id for item in english}
    assert {item.tags["target"] for item in project.items} == {item.tags["target"] for item in english}
    one = next(item for item in project.items if item.id == "demo-intra-001")
    assert (one.language, one.context) == ("es", "Mi abuela pasa sus tardes BLANK.")
    assert (one.tags["target_term"], one.tags["provenance"], one.tags["reviewers"]) == ("abuela", "machine", "0")


def test_repairs_remove_a_third_of_the_problems_on_fresh_text_and_leave_untranslated_words(project):
    done = repair_project(project)
    counts = [step.problems for step in done.steps]
    assert counts[-1] <= counts[0] * 2 / 3
    assert done.steps[-1].checks["untranslated"] == counts[-1]
    assert done.steps[-1].checks.get("target_missing", 0) == 0
    assert {item.tags["provenance"] for item in done.items} == {"machine", "repaired"}


def test_a_repaired_project_is_read_again_as_it_was(project):
    done = repair_project(project)
    assert open_project(project.folder) == done


def test_undoing_the_first_repair_gives_the_translation_back(project):
    done = repair_project(repair_project(project), ["spaces", "case"])
    again = undo_step(done, "case")
    assert [step.name for step in again.steps[-2:]] == ["target", "spaces"]
    first = undo_step(undo_step(again, "spaces"), "characters")
    assert (first.items, first.changes, first.steps) == (project.items, (), project.steps)


def test_a_step_that_was_not_taken_cannot_be_undone(project):
    with pytest.raises(IsoglossError) as caught:
        undo_step(project, "case")
    assert str(caught.value) == "The step 'case' was not taken, so it cannot be undone. Taken: none."


def test_translating_again_asks_for_nothing_new(project, monkeypatch):
    cache = project.folder / "work" / "cache.jsonl"
    before = cache.read_text(encoding="utf-8")
    again = translate(isogloss.read("demo", language="en"), TranslationRequest("apertium", "es"), folder=project.folder)
    assert cache.read_text(encoding="utf-8") == before
    assert {item.id: item for item in again.items} == {item.id: item for item in project.items}


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (TranslationRequest("apertium", "en"), "The data is in 'en' already. Use `to` with another language."),
        (
            TranslationRequest("apertum", "es"),
            "No translator named 'apertum'. Did you mean 'apertium'? Known: apertium, aws, chat, file, hf.",
        ),
    ],
)
def test_a_wrong_order_is_refused(order, message, tmp_path):
    with pytest.raises(IsoglossError) as caught:
        translate(Items((triple("a"),)), order, folder=tmp_path / "x")
    assert str(caught.value) == message
    assert not (tmp_path / "x").exists()


def test_work_is_never_overwritten(project):
    repair_project(project)
    with pytest.raises(IsoglossError) as caught:
        translate(isogloss.read("demo", language="en"), TranslationRequest("apertium", "es"), folder=project.folder)
    assert str(caught.value) == f"{project.folder} has been worked on. Choose another folder with `out`."


def test_data_that_was_not_translated_here_can_be_repaired_too(tmp_path):
    given = begin_project(isogloss.read("demo", language="tr"), tmp_path / "tr")
    done = repair_project(given)
    assert {item.tags["provenance"] for item in done.items} <= {"original", "repaired"}
    with pytest.raises(IsoglossError) as caught:
        open_project(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path} is not a translation. Make one with: isogloss data translate … --out {tmp_path}"
    )


def test_the_counts_are_drawn(project, tmp_path):
    assert "<svg" in draw_steps(repair_project(project).steps, tmp_path / "x.svg").read_text(encoding="utf-8")
    with pytest.raises(IsoglossError) as caught:
        draw_steps(project.steps, tmp_path / "x.bmp")
    assert str(caught.value) == "A chart cannot be written as '.bmp'. Use one of .svg, .png, .pdf."


# ---- review


def answer(path: Path, **answers: dict[str, str]) -> Path:
    """The sheet with these answers by item, all others left empty."""
    rows = [row | answers.get(row["id"].replace("-", "_"), {}) for _, row in read_sheet(path)]
    return write_sheet(path, rows, form=SheetForm(list(rows[0])))


def test_a_sheet_has_drop_downs_and_what_a_reviewer_needs(project, tmp_path):
    done = repair_project(project)
    assert export_sheet(done, tmp_path / "ana.xlsx") == done.steps[-1].problems
    sheet = openpyxl.load_workbook(tmp_path / "ana.xlsx").worksheets[0]
    assert sheet.data_validations.dataValidation[0].formula1 == '"good,fixed,drop,unsure"'
    (line, first), *_ = read_sheet(tmp_path / "ana.xlsx")
    assert line == 2
    assert first["problem"].startswith("untranslated: ")
    assert first["source_context"]
    assert (first["verdict"], first["context_fix"], first["stereotype_fix"]) == ("", "", "")


def test_cells_of_a_right_to_left_language_run_that_way(tmp_path):
    path = write_sheet(
        tmp_path / "x.xlsx",
        [{"id": "a", "context": "=متن"}],
        form=SheetForm(["id", "source_context", "context", "verdict"], rtl=True),
    )
    sheet = openpyxl.load_workbook(path).worksheets[0]
    assert [sheet[cell].alignment.readingOrder for cell in ("A2", "B2", "C2")] == [1, 1, 2]
    assert (sheet["C2"].value, sheet["C2"].data_type) == ("=متن", "s")


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
def test_what_reviewers_agree_on_is_taken_over_and_the_rest_is_named(project, tmp_path, kind):
    sheets = [tmp_path / f"{name}.{kind}" for name in ("ana", "luis")]
    for path in sheets:
        assert export_sheet(project, path, everything=True) == 96
    fix = {"verdict": "fixed", "stereotype_fix": "cosiendo"}
    answer(
        sheets[0],
        demo_intra_001=fix,
        demo_intra_002={"verdict": "good"},
        demo_intra_003={"verdict": "drop", "comment": "nonsense"},
        demo_intra_004={"verdict": "unsure"},
    )
    answer(
        sheets[1],
        demo_intra_001=fix,
        demo_intra_002={"verdict": "drop"},
        demo_intra_003={"verdict": "drop", "comment": "nonsense"},
    )
    done, outcome = import_sheets(project, sheets)
    assert (outcome.reviewed, outcome.fixed, outcome.dropped, outcome.unsure) == (2, 1, 1, 1)
    assert outcome.conflicts == ("demo-intra-002: ana good; luis drop",)
    # verdicts of both: (fixed, fixed), (good, drop), (drop, drop): observed 2/3, expected (1 + 0 + 2) / 9 = 1/3
    assert outcome.agreement[0].kappa == pytest.approx(0.5)
    assert (
        review_as_text(outcome).splitlines()[1]
        == "ana and luis: the same verdict on 67% of 3 items, Cohen's kappa 0.50"
    )
    items = {item.id: item for item in open_project(project.folder).items}
    assert items["demo-intra-001"].tags["provenance"] == "reviewed"
    assert items["demo-intra-001"].tags["reviewers"] == "2"
    assert items["demo-intra-001"].candidates[2].text == "Mi abuela pasa sus tardes cosiendo."
    assert "demo-intra-003" not in items
    assert [(one.item, one.reason) for one in done.dropped] == [("demo-intra-003", "nonsense")]


def test_speakers_say_where_a_stereotype_is_known_and_how_they_agree(tmp_path):
    items = isogloss.read("shades_demo", language="nl")
    project = begin_project(replace(items, rows=items.rows[:3]), tmp_path / "nl")
    sheets = [tmp_path / f"{name}.csv" for name in ("ana", "luis")]
    said = {"valid": "no", "saying": "Yes", "regions": "Flanders, Belgium", "background": "Dutch, Belgium, 30-40"}
    for path, other in zip(sheets, ("yes", "no"), strict=True):
        export_sheet(project, path, everything=True)
        answer(path, **{"1a": said | {"template": "GENDER-PL praten te veel."}, "2a": {"valid": other}})
    done, outcome = import_sheets(project, sheets)
    tags = open_project(project.folder).items[0].tags
    assert (tags["task"], tags["valid"], tags["statement"]) == ("contrast", "no", "saying")
    assert tags["region"] == ("Belgium", "Flanders")
    assert outcome.conflicts == ("2a: ana good valid 'yes'; luis good valid 'no'",)
    assert (
        review_as_text(outcome).splitlines()[2]
        == "ana and luis on 'valid': the same answer on 50% of 2 items, Cohen's kappa 0.00"
    )
    publish(done, tmp_path / "published", label=LABEL)
    card = (tmp_path / "published" / "README.md").read_text(encoding="utf-8")
    assert "* a reviewer's background: Dutch, Belgium, 30-40" in card
    assert "| `review` | The decisions of reviewed sheets are applied. |" in card
    assert "| license | " in card
    answer(sheets[0], **{"3a": {"valid": "perhaps"}})
    with pytest.raises(BadData, match="'valid' is 'perhaps'"):
        import_sheets(done, sheets)


def test_sheets_may_be_imported_again_once_a_conflict_is_settled(project, tmp_path):
    sheets = [tmp_path / "ana.csv", tmp_path / "luis.csv"]
    for path in sheets:
        export_sheet(project, path, everything=True)
    fix = {"stereotype_fix": "cosiendo"}
    answer(sheets[0], demo_intra_001=fix, demo_intra_002={"verdict": "drop"}, demo_intra_003={"verdict": "good"})
    answer(sheets[1], demo_intra_001=fix, demo_intra_002={"verdict": "drop"}, demo_intra_003={"verdict": "drop"})
    first, outcome = import_sheets(project, sheets)
    assert len(outcome.conflicts) == 1
    answer(sheets[1], demo_intra_003={"verdict": "good"})
    second, outcome = import_sheets(open_project(first.folder), sheets)
    assert (outcome.conflicts, outcome.agreement[0].kappa) == ((), 1.0)
    assert [row["kappa"] for row in second.info["agreement"]] == [1.0]
    assert [one.item for one in second.dropped] == ["demo-intra-002"]
    assert set(second.info["reviews"]) >= {"demo-intra-001", "demo-intra-003"}


def test_a_step_that_reviewers_have_seen_cannot_be_undone(project, tmp_path):
    export_sheet(project, tmp_path / "ana.csv", everything=True)
    answer(tmp_path / "ana.csv", demo_intra_001={"verdict": "good"})
    done, _ = import_sheets(repair_project(project), [tmp_path / "ana.csv"])
    with pytest.raises(IsoglossError) as caught:
        undo_step(done, "case")
    assert str(caught.value) == "The step 'case' cannot be undone: reviewers have looked at what came of it."


def test_one_reviewer_can_be_given_the_last_word(project, tmp_path):
    for name, verdict in (("ana", "good"), ("luis", "drop")):
        export_sheet(project, tmp_path / f"{name}.csv", everything=True)
        answer(tmp_path / f"{name}.csv", demo_intra_002={"verdict": verdict})
    sheets = [tmp_path / "ana.csv", tmp_path / "luis.csv"]
    with pytest.raises(IsoglossError) as caught:
        import_sheets(project, sheets, prefer="eva")
    assert str(caught.value) == "No reviewer named 'eva' in the sheets. Known: ana, luis."
    _, outcome = import_sheets(project, sheets, prefer="luis")
    assert (outcome.dropped, outcome.conflicts) == (1, ())


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"verdict": "bien"}, "the verdict is 'bien'. Use one of good, fixed, drop, unsure."),
        ({"verdict": "fixed"}, "the verdict is 'fixed', but there is no fix. Write one, or say 'good' or 'drop'."),
        ({"context_fix": "Mi abuela."}, "the context must have BLANK once, and has it 0 times."),
        ({"id": "x", "verdict": "good"}, "no item 'x' in this translation. Import it where it was exported."),
    ],
)
def test_a_wrong_answer_is_named_with_its_line(project, tmp_path, row, message):
    path = write_sheet(
        tmp_path / "s.csv", [{"id": "demo-intra-001"} | row], form=SheetForm(["id", "verdict", "context_fix"])
    )
    with pytest.raises(IsoglossError) as caught:
        read_reviews(path, {item.id: item for item in project.items})
    assert str(caught.value) == f"{path}, line 2: {message}"


def test_all_wrong_rows_are_named_at_once(project, tmp_path):
    rows = [{"id": "demo-intra-001", "verdict": "bien"}, {"id": "demo-intra-002", "context_fix": "Mi abuela."}]
    path = write_sheet(tmp_path / "s.csv", rows, form=SheetForm(["id", "verdict", "context_fix"]))
    with pytest.raises(IsoglossError) as caught:
        read_reviews(path, {item.id: item for item in project.items})
    assert str(caught.value) == (
        f"{path}: line 2: the verdict is 'bien'. Use one of good, fixed, drop, unsure; "
        "line 3: the context must have BLANK once, and has it 0 times. Correct these cells and read it again."
    )


def test_sheets_without_a_verdict_change_nothing(project, tmp_path):
    export_sheet(project, tmp_path / "ana.csv", sample=5)
    with pytest.raises(IsoglossError) as caught:
        import_sheets(project, [tmp_path / "ana.csv"])
    assert str(caught.value) == f"No row of {tmp_path / 'ana.csv'} has a verdict. Fill in the column 'verdict' first."


def test_a_sample_is_the_same_for_the_same_seed(project, tmp_path):
    ids = []
    for seed in (1, 1, 2):
        assert export_sheet(project, tmp_path / "s.csv", sample=10, seed=seed) == 10
        ids.append([row["id"] for _, row in read_sheet(tmp_path / "s.csv")])
    assert ids[0] == ids[1] != ids[2]


def test_kappa_by_hand():
    # yes/yes 20, yes/no 5, no/yes 10, no/no 15: observed 0.7, expected 0.5 * 0.6 + 0.5 * 0.4 = 0.5
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert cohens_kappa(pairs) == pytest.approx(0.4)
    assert cohens_kappa([("y", "y")] * 3) is None
    assert agree([Review("a", "ana", "good")], ("ana", "luis")).items == 0


# ---- publish


def test_what_is_published_is_read_again_and_says_how_it_was_made(project, tmp_path):
    done = repair_project(project)
    back = translate_back(done, "apertium", options={})
    folder = publish(done, tmp_path / "out", label=LABEL, back=back)
    items = read(folder)
    assert {item.id: item for item in items} == {item.id: item for item in done.items}
    text = (folder / "README.md").read_text(encoding="utf-8")
    front = yaml.safe_load(text.split("---")[1])
    assert (front["language"], front["license"]) == (["es"], "cc-by-4.0")
    assert [one["config_name"] for one in front["configs"]] == ["intersentence", "intrasentence"]
    for part in (
        "| `target` |",
        f"| `untranslated` | warning | {done.steps[-1].checks['untranslated']} |",
        "No native speaker has looked",
        f"chrF {back.chrf:.1f}",
    ):
        assert part in text
    assert back.chrf == pytest.approx(74, abs=3)
    rows = [
        json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()
    ]
    assert len({tuple(row) for row in rows}) == 1  # datasets wants the same columns everywhere
    assert len({tuple(cell) for row in rows for cell in row["candidates"]}) == 1


def test_agreement_and_dropped_items_stand_in_the_card(project, tmp_path):
    for name in ("ana", "luis"):
        export_sheet(project, tmp_path / f"{name}.csv", everything=True)
        answer(
            tmp_path / f"{name}.csv",
            demo_intra_002={"verdict": "drop", "comment": "odd"},
            demo_intra_003={"verdict": "good"},
        )
    done, _ = import_sheets(project, [tmp_path / "ana.csv", tmp_path / "luis.csv"])
    text = (publish(done, tmp_path / "out", label=LABEL) / "README.md").read_text(encoding="utf-8")
    assert "agreement of two reviewers on 2 items: 100%, Cohen's kappa 1.00" in text
    assert "| `demo-intra-002` | review | odd |" in text
    assert "ana" not in text.split("## Review")[1].split("##")[0]


def test_a_data_set_without_licence_or_into_a_full_folder_is_not_published(project, tmp_path):
    with pytest.raises(IsoglossError) as caught:
        publish(project, tmp_path / "out", label=Label("x", " ", "y"))
    assert str(caught.value) == "A published data set names its license and its source. Use `licence` and `source`."
    with pytest.raises(IsoglossError) as caught:
        publish(project, project.folder, label=LABEL)
    assert str(caught.value) == f"{project.folder} is not empty. Choose another folder with `out`."


# ---- other data


def test_pairs_of_sentences_go_the_same_way(tmp_path):
    rows = [
        {
            "id": f"p{n}",
            "language": "en",
            "category": "age",
            "stereotype": f"My {who} is old .",
            "anti_stereotype": "My son is old.",
        }
        for n, who in enumerate(("father", "mother"))
    ]
    items = read(write_jsonl(tmp_path / "pairs_en.jsonl", rows))
    done = repair_project(translate(items, TranslationRequest("apertium", "es"), folder=tmp_path / "es"))
    assert [c.text for c in done.items[0].candidates] == ["Mi padre es viejo.", "Mi hijo es viejo."]
    assert open_project(tmp_path / "es") == done
    assert read(publish(done, tmp_path / "out", label=LABEL)).rows == done.items
    export_sheet(done, tmp_path / "ana.csv", everything=True)
    answer(tmp_path / "ana.csv", p0={"anti-stereotype_fix": "Mi hijo es muy viejo."})
    assert import_sheets(done, [tmp_path / "ana.csv"])[0].items[0].candidates[1].text == "Mi hijo es muy viejo."


def test_data_that_our_layouts_cannot_hold_is_refused_before_the_first_call(tmp_path):
    odd = replace(triple("a"), context=None)
    with pytest.raises(IsoglossError) as caught:
        translate(Items((odd,)), TranslationRequest("apertium", "es"), folder=tmp_path / "x")
    assert str(caught.value) == (
        "The item 'a' cannot be written: our layouts hold a context with each of stereotype, anti-stereotype, unrelated, "
        "or a pair of sentences. See docs/reference/data-formats.md."
    )
    assert not (tmp_path / "x").exists()


# ---- the published English set


@pytest.mark.slow
def test_a_slice_of_the_real_set_goes_all_the_way(real_data, tmp_path):
    whole = read(real_data / "stereoset" / "intrasentence_en.jsonl.gz")
    whole += read(real_data / "stereoset" / "intersentence_en.jsonl.gz")
    items = sample_items(whole, limit=400)
    done = repair_project(translate(items, TranslationRequest("apertium", "es"), folder=tmp_path / "es"))
    first, last = done.steps[0], done.steps[-1]
    assert len(done.items) + len(done.dropped) == 400
    assert len(done.dropped) == 0
    assert (
        last.checks["target_missing"] < 0.4 * first.checks["target_missing"]
    )  # doubtful matches go to the review sheet
    assert not {"spaces", "glued_blank", "word_punctuation", "sentence_case"} & set(last.checks)
    assert last.problems < 0.75 * first.problems
    assert len(read(publish(done, tmp_path / "out", label=LABEL))) == 400


# ---- the command line


def test_the_whole_way_by_commands(tmp_path, monkeypatch, capsys):
    def run(*words: object) -> str:
        monkeypatch.setattr("sys.argv", ["isogloss", *map(str, words)])
        with pytest.raises(SystemExit) as left:
            main()
        assert not left.value.code
        return capsys.readouterr().out

    folder, sheet = tmp_path / "es", tmp_path / "ana.csv"
    assert "translated          6" in run("data", "translate", "demo", "--to", "es", "--limit", 6, "--out", folder)
    assert "target              6" in run("data", "repair", folder, "--chart", tmp_path / "steps.png")
    assert (tmp_path / "steps.png").read_bytes().startswith(b"\x89PNG")
    assert (
        json.loads(run("data", "repair", folder, "--undo", "spaces", "--format", "json"))["steps"][-1]["name"]
        == "characters"
    )
    assert run("data", "review", folder, "--out", sheet, "--items", "all") == f"Wrote 6 items to {sheet}.\n"
    first = next(read_sheet(sheet))[1]["id"].replace("-", "_")
    answer(sheet, **{first: {"verdict": "good"}})
    assert run("data", "review", folder, sheet).startswith("1 items reviewed: 0 fixed, 0 dropped; ")
    with pytest.raises(IsoglossError, match="exists already and is filled in"):
        export_sheet(open_project(folder), sheet)
    facts = ("--title", "Test", "--license", "CC BY 4.0", "--source", "demo", "--back", "apertium")
    assert run("data", "publish", folder, "--out", tmp_path / "out", *facts).startswith("Wrote 6 items and a data card")
    assert json.loads(run("data", "check", tmp_path / "out", "--format", "json"))["checks"][0]["check"] == "unreadable"


def test_checking_a_translation_finds_what_was_left_untranslated(project, monkeypatch, capsys):
    words = ["isogloss", "data", "check", str(project.folder), "--format", "json", "--fail-on", "warning"]
    monkeypatch.setattr("sys.argv", words)
    with pytest.raises(SystemExit) as left:
        main()
    counts = {row["check"]: row["count"] for row in json.loads(capsys.readouterr().out)["checks"]}
    assert left.value.code == 1
    assert counts["untranslated"] > 0
    assert "untranslated_words" in counts


@pytest.mark.parametrize(
    ("same", "kappa", "explained"), [(0.93, 0.0, True), (0.7, 0.4, False), (1.0, 1.0, False), (1.0, None, False)]
)
def test_a_low_kappa_of_verdicts_that_are_nearly_all_alike_is_explained(same, kappa, explained):
    assert bool(explain_kappa(same, kappa)) is explained
    if explained:
        result = ReviewResult(15, 0, 0, 0, (), (ReviewerAgreement("anna", "jordi", 15, same, kappa),))
        assert review_as_text(result).endswith(
            f"the same verdict on 93% of 15 items, Cohen's kappa 0.00{explain_kappa(same, kappa)}"
        )
