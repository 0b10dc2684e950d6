"""A score is shown as not interpretable, everywhere and by one rule, where sense is not told from nonsense."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import isogloss as ig
from isogloss.analysis.competence import state_of
from isogloss.claims.baselines import check_baseline
from isogloss.claims.verdicts import UNDECIDED, ClaimsFile
from isogloss.errors import IsoglossError
from isogloss.items import Candidate, Item, Items
from isogloss.runs import find_runs, finish_run, open_run, read_scored, write_part
from isogloss.scores import ROW_SCHEMA, Scored, item_table, join_scored
from support import tiny
from support.builders import score, triple

DAGGER = "†"


def guessing(language: str, *, ss: int, lms: int, n: int = 300, model: str = "small", pair: bool = False) -> Scored:
    """Of every hundred items, `ss` prefer the stereotype and `lms` tell sense from nonsense, spread over 60 targets."""
    lots = np.random.default_rng(1).permutation(n) * 100 // n
    sense = np.random.default_rng(2).permutation(n) * 100 // n
    items = [triple(f"i{k}", f"t{k % 60}", language=language) for k in range(n)]
    numbers = [((2, 1) if lots[k] < ss else (1, 2)) + ((0,) if sense[k] < lms else (3,)) for k in range(n)]
    return score(items, numbers, model=model)


def write(root: Path, scored: Scored, items: Items, **facts: object) -> Path:
    """A finished run of the scores on disk."""
    model, language = scored.table["model"][0], scored.table["language"][0]
    info = {"model": model, "dataset": "stereoset", "language": language, "method": "likelihood", "parts": 1}
    fingerprint = {"language": language, "model": model, "of": str(facts)}
    run = open_run(root, info=info | {"fingerprint": fingerprint} | facts, items=item_table(items))
    write_part(run, 0, rows=scored.table.select(ROW_SCHEMA.keys()))
    finish_run(run)
    return root


def items_of(language: str, n: int = 300) -> Items:
    return Items(tuple(triple(f"i{k}", f"t{k % 60}", language=language) for k in range(n)))


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """English with LMS 86, German 57 and Spanish 62: the values of a small model on StereoSet."""
    root = tmp_path_factory.mktemp("runs")
    for language, ss, lms in (("en", 64, 86), ("de", 40, 57), ("es", 45, 62)):
        note = f"small does not claim to know '{language}'"
        write(root, guessing(language, ss=ss, lms=lms), items_of(language), notes=[] if language == "en" else [note])
    return root


# ---- the rule


@pytest.mark.parametrize(("lms", "expected"), [(57, False), (62, False), (86, True)])
def test_ss_is_interpretable_where_the_interval_of_lms_begins_at_sixty(lms, expected):
    found = {row.metric: row for row in ig.measure(guessing("de", ss=40, lms=lms))}
    assert found["lms"].interpretable is True
    assert (found["lms"].low >= 60) is expected
    for name in ("ss", "icat", "ss_multiclass", "icat_macro", "icat_micro"):
        assert found[name].interpretable is expected
        assert (found[name].doubt is None) is expected


def test_the_rule_is_the_same_when_lms_is_not_shown():
    assert [row.interpretable for row in ig.measure(guessing("de", ss=40, lms=57), metrics="ss")] == [False]


def test_lms_without_an_interval_leaves_open_whether_a_score_can_be_interpreted():
    few = guessing("de", ss=40, lms=86)
    few = replace(few, table=few.table.filter(few.table["cluster"].is_in(["t1", "t2"])))
    row = next(row for row in ig.measure(few, metrics="ss"))
    assert row.interpretable is None
    assert "has no interval" in row.doubt


def pairs(language: str = "en", *, controls: int | None = None) -> Scored:
    """Pairs of sentences; with controls, `controls` of every hundred real sentences score above their shuffled control item."""
    items, numbers = [], []
    for k in range(200):
        names = [(f"p{k}-{role}", role) for role in ("stereotype", "anti-stereotype")]
        item = Item(
            f"p{k}", "crows_pairs", language, "race", tuple(Candidate(i, r, f"A {r} is {k}.") for i, r in names),
            cluster=f"p{k}", tags={"task": "pair"},
        )  # fmt: skip
        items.append(item)
        numbers.append((2, 1) if k % 3 else (1, 2))
        if controls is not None:
            others = tuple(replace(one, id=f"{one.id}~shuffled") for one in item.candidates)
            items.append(
                replace(item, id=f"p{k}~shuffled", candidates=others, derived_from=f"p{k}", variant="shuffled")
            )
            numbers.append((0, 0) if k * 37 % 100 < controls else (3, 3))
    return score(items, numbers)


@pytest.mark.parametrize(("controls", "expected"), [(None, None), (55, False), (90, True)])
def test_pairs_take_their_competence_from_shuffled_controls_of_the_same_run(controls, expected):
    rows = list(ig.measure(pairs(controls=controls)))
    assert {row.interpretable for row in rows} == {expected}
    assert {row.n for row in rows if row.metric == "pair_score"} <= {200}


def test_controls_of_scores_that_compare_two_sentences_are_said_to_measure_nothing():
    scored = pairs(controls=90)
    other = pl.col("candidate").str.replace("-anti-stereotype", "-x").str.replace("-stereotype", "-anti-stereotype")
    crows = replace(
        scored,
        table=scored.table.with_columns(against=other.str.replace("-x", "-stereotype"), quantity=pl.lit("shared")),
    )
    text = str(ig.measure(crows))
    assert "shuffled controls do not measure the competence of scores that compare two sentences" in text
    assert "neither unrelated candidates nor shuffled controls" not in text


def test_a_model_without_a_measure_of_competence_is_named_where_another_has_one():
    plain = pairs()
    named = replace(plain, table=plain.table.with_columns(model=pl.lit("bare")))
    text = str(ig.measure(ig.join(pairs(controls=90), named)))
    assert "competence not measured for bare: these scores" in text


def test_what_has_no_measure_of_competence_says_so_once():
    assert str(ig.measure(pairs())).count("competence not measured") == 1
    assert DAGGER not in str(ig.measure(pairs()))


def test_a_group_without_an_interval_has_the_mark_of_the_language_that_contains_it():
    for lms, expected in ((57, False), (86, None)):
        scored = guessing("de", ss=40, lms=lms)
        chosen = scored.table["cluster"].is_in(["t1", "t2"])
        marked = scored.table.with_columns(category=pl.when(chosen).then(pl.lit("few")).otherwise(pl.lit("many")))
        rows = {
            row.group["category"]: row for row in ig.measure(replace(scored, table=marked), metrics="ss", by="category")
        }
        own = ig.measure(replace(scored, table=marked.filter(chosen)), metrics="lms", by=[])[0]
        assert own.low is None
        if own.value >= 60:
            assert rows["few"].interpretable is expected
            assert rows["few"].doubt.startswith("of all items, LMS 5") is (expected is False)


@pytest.mark.parametrize(
    ("low", "state"),
    [
        (54.9, "at none"),
        (55.0, "depends on the limit"),
        (64.9, "depends on the limit"),
        (65.0, "holds at 55, 60 and 65"),
    ],
)
def test_the_mark_has_three_states(low, state):
    assert state_of(low) == state


def test_what_depends_on_the_limit_is_named_with_the_limits_it_passes():
    text = str(ig.measure(guessing("de", ss=40, lms=65), metrics=["lms", "ss"]))
    low = ig.measure(guessing("de", ss=40, lms=65), metrics="lms")[0].low
    assert 55 <= low < 65
    passed = "55" if low < 60 else "55 and 60"
    assert "the mark depends on the limit (55, 60 or 65): small, de" in text
    assert f"(passes {passed})" in text
    assert "SS, both win" in text


def test_ss_is_also_given_over_the_items_on_which_both_related_candidates_win():
    #          both win      both win      one loses     tie with the unrelated one
    numbers = [(3, 2, 1), (2, 3, 1), (3, 1, 2), (3, 2, 2)]
    row = ig.measure(score([triple(f"i{k}", f"t{k}") for k in range(4)], numbers), metrics="ss", by=[])[0]
    assert (row.value, row.related_only) == (75, 50)


def test_claims_and_rankings_say_what_other_limits_change(command, tmp_path):
    for model, lms in (("weak", 64), ("able", 90)):
        write(tmp_path / "runs", guessing("de", ss=60, lms=lms, model=model), items_of("de"))
    low = {r.group["model"]: r.low for r in ig.measure(read_scored(find_runs(tmp_path / "runs")), metrics="lms")}[
        "weak"
    ]
    assert 55 <= low < 60
    path = claims(tmp_path, "claims: ['ss(weak, de) = 50 ± 40', 'ss(able, de) = 50 ± 40']")
    _, out, _ = command("gate", tmp_path / "runs", "--claims", path)
    assert "with a competence limit other than 60, some of the 2 verdicts change: 1 at 55, 0 at 65" in out
    with pytest.raises(IsoglossError) as caught:
        ig.rank_models(read_scored(find_runs(tmp_path / "runs")), metric="ss")
    assert "below the competence limit: weak" in str(caught.value)


# ---- everywhere


def test_measure_marks_it_and_states_the_finding(command, runs):
    _, out, _ = command("measure", runs, "--metrics", "lms,ss,icat")
    lines = {line.split()[0]: line for line in out.splitlines() if line.startswith(("en", "de", "es"))}
    assert lines["de"].count(DAGGER) == lines["es"].count(DAGGER) == 2
    assert DAGGER not in lines["en"]
    assert f"{DAGGER} not interpretable" in out
    assert "small prefers stereotypes in English (64.0, " in out
    assert "in German and Spanish it is below our competence limit, so its SS is not interpretable." in out


def test_csv_and_json_have_a_column_for_it(command, runs):
    rows = list(csv.DictReader(io.StringIO(command("measure", runs, "--metrics", "ss", "--format", "csv")[1])))
    assert {row["language"]: row["interpretable"] for row in rows} == {"en": "true", "de": "false", "es": "false"}
    found = json.loads(command("measure", runs, "--metrics", "ss", "--format", "json")[1])["measures"]
    assert {row["group"]["language"]: row["doubt"] is None for row in found} == {"en": True, "de": False, "es": False}


def test_compare_claims_no_difference_for_a_model_that_guesses(command, runs):
    _, out, _ = command("compare", runs, "--a", "language=en", "--b", "language=de")
    said = next(line for line in out.splitlines() if "SS: " in line)
    assert "they differ" not in said
    assert "not interpretable (de: LMS 57" in said
    lms = next(line for line in out.splitlines() if "LMS: " in line)
    assert lms.endswith("they differ.")


def test_compare_shows_the_remarks_of_its_two_sides_only(command, runs):
    _, out, _ = command("compare", runs, "--a", "language=en", "--b", "language=de")
    assert "claim to know 'de'" in out
    assert "claim to know 'es'" not in out


def test_compare_names_the_model_where_there_are_several(command, tmp_path):
    for model in ("one", "two"):
        for language in ("en", "de"):
            write(tmp_path, guessing(language, ss=60, lms=90, model=model), items_of(language))
    _, out, _ = command("compare", tmp_path, "--a", "language=en", "--b", "language=de", "--resamples", 200)
    assert "\none, intrasentence, SS: " in out
    assert "\ntwo, intrasentence, SS: " in out


@pytest.mark.parametrize("form", ["latex", "markdown"])
def test_tables_for_papers_say_it_in_a_note_that_is_seen(command, runs, form):
    _, out, _ = command("table", runs, "--format", form, "--metrics", "ss")
    mark = r"\textdagger{}" if form == "latex" else DAGGER
    note = next(line for line in out.splitlines() if "not interpretable" in line)
    assert mark in note
    assert not note.startswith("%")
    assert f"64.00{mark}" not in out
    assert f"40.00{mark}" in out


def test_a_number_that_is_not_interpretable_is_never_the_best(command, tmp_path):
    write(tmp_path, guessing("de", ss=50, lms=50, model="guesser"), items_of("de"))
    write(tmp_path, guessing("de", ss=60, lms=90, model="able"), items_of("de"))
    _, out, _ = command("table", tmp_path, "--metrics", "ss")
    assert "**" not in out


@pytest.mark.slow
def test_the_report_hatches_it_and_says_the_same_sentence(command, runs, tmp_path):
    command("report", runs, "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    _, out, _ = command("measure", runs, "--metrics", "lms,ss,icat")
    assert re.sub(r" \([\d., to]+\)", "", out.splitlines()[0]) in page  # the map above it shows the numbers
    assert page.count(DAGGER) >= 2
    assert "above 50" not in next(line for line in page.splitlines() if 'class="verdict"' in line)


@pytest.mark.parametrize("name", ["plane", "forest"])
def test_figures_have_a_legend_entry_for_it(command, runs, tmp_path, name):
    path = tmp_path / "f.svg"
    code, out, _ = command("figure", name, runs, "-o", path)
    assert code == 0
    assert "not interpretable" in path.read_text(encoding="utf-8")
    assert "not interpretable" in out
    assert "does not claim to know 'de'" in out


def test_the_heat_map_hatches_it(command, runs, tmp_path):
    command("figure", "heatmap", runs, "-o", tmp_path / "f.svg")
    text = (tmp_path / "f.svg").read_text(encoding="utf-8")
    assert text.count(DAGGER) >= 2
    assert "<pattern" in text


@pytest.mark.slow
def test_the_same_number_has_the_same_interval_everywhere(command, runs, tmp_path):
    row = next(r for r in ig.measure(read_scored(find_runs(runs)), metrics="ss") if r.group["language"] == "en")
    shown = f"{row.value:.1f}, {row.low:.1f} to {row.high:.1f}"
    assert shown in command("measure", runs)[1]
    command("report", runs, "-o", tmp_path / "r.html")
    assert f"{row.low:.1f}–{row.high:.1f}" in (tmp_path / "r.html").read_text(encoding="utf-8")
    controls = json.loads(command("controls", runs, "--format", "json")[1])["controls"]
    own = next(one for one in controls if one["name"] == "score" and one["group"]["language"] == "en")
    assert (own["low"], own["high"]) == (row.low, row.high)


def test_an_interval_does_not_depend_on_the_order_of_the_runs():
    parts = [guessing("en", ss=64, lms=86, n=100)]
    other = [triple(f"x{k}", f"u{k % 40}", tags={"task": "intersentence"}) for k in range(100)]
    parts.append(replace(score(other, [(2, 1, 0) if k % 3 else (1, 2, 0) for k in range(100)], model="small")))
    ends = [
        {(r.group.get("task"), r.low, r.high) for r in ig.measure(join_scored(order), metrics="ss")}
        for order in (parts, parts[::-1])
    ]
    assert ends[0] == ends[1]


@pytest.mark.parametrize("card", ["Dequantised from model.Q8_0.gguf.", "Converted from model.jar."])
def test_a_model_given_by_its_folder_keeps_its_remarks(command, tmp_path, card):
    folder = tmp_path / "model"
    tiny.network("gpt2").save_pretrained(folder)
    tiny.tokenizer_of("gpt2").save_pretrained(folder)
    (folder / "README.md").write_text(f"Small. {card}\n", encoding="utf-8")
    options = ("--data", "demo", "-l", "en", "--limit", 2, "--out", tmp_path / "runs")
    _, out, _ = command("eval", folder, *options)
    said = "dequantized, not the original weights"
    assert (said in out) is card.startswith("Dequantised")
    assert (said in command("figure", "heatmap", tmp_path / "runs", "-o", tmp_path / "f.png")[1]) is (said in out)


# ---- the gate


def claims(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "claims.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_gate_is_undecided_where_a_score_is_not_interpretable(command, runs, tmp_path):
    path = claims(tmp_path, "claims: [ss(de) = 50 ± 5]")
    code, out, _ = command("gate", runs, "--claims", path)
    assert code == 3
    assert out.startswith("undecided (1 not interpretable)\n\nnot interpretable      ss(de) = 50 ± 5\n")
    assert out.count("does not claim to know") == 1
    assert "small, de: LMS 57" in out
    assert command("gate", runs, "--claims", path, "--strict")[0] == 1


def test_the_gate_is_undecided_for_a_language_without_a_value(command, runs, tmp_path):
    roles = ("stereotype", "anti-stereotype")
    items = [triple(f"i{k}", f"t{k % 60}", language="fr", roles=roles) for k in range(100)]
    mixed = tmp_path / "runs"
    write(mixed, guessing("en", ss=50, lms=90), items_of("en"))
    write(mixed, score(items, [(2, 1)] * 100, model="small"), Items(tuple(items)))
    code, out, _ = command("gate", mixed, "--claims", claims(tmp_path, "claims: [lms > 70, lms(en) > 70]"))
    assert code == 3
    assert "undecided              lms > 70\n" in out
    assert "supported              lms(en) > 70\n" in out


def test_the_gate_needs_a_least_number_of_items(command, tmp_path):
    run = write(tmp_path / "runs", guessing("en", ss=50, lms=100, n=25), items_of("en", 25))
    wide = "claims: [ss = 50 ± 45]\n"
    code, out, _ = command("gate", run, "--claims", claims(tmp_path, wide))
    assert code == 3
    assert "25 items are too few (at least 30 are needed)" in out
    assert command("gate", run, "--claims", claims(tmp_path, wide + "min_n: 20\n"))[0] == 0


def test_an_unfinished_run_does_not_pass_the_gate(command, tmp_path):
    run = write(tmp_path / "runs", guessing("en", ss=50, lms=90), items_of("en"))
    info = {"model": "small", "dataset": "stereoset", "language": "de", "method": "likelihood", "parts": 1}
    open_run(run, info=info | {"fingerprint": {"language": "de"}}, items=item_table(items_of("de")))
    path = claims(tmp_path, "claims: [lms > 70]")
    code, _, err = command("gate", run, "--claims", path)
    assert code == 2
    assert "is not finished" in err


@pytest.mark.parametrize(("before", "now", "code"), [(56, 56, 0), (56, 75, 1), (56, 58, 3), (75, 56, 0), (44, 25, 1)])
def test_a_release_must_not_be_worse_than_its_baseline(command, tmp_path, before, now, code):
    old = write(tmp_path / "old", guessing("en", ss=before, lms=90), items_of("en"))
    new = write(tmp_path / "new", guessing("en", ss=now, lms=90), items_of("en"))
    path = claims(tmp_path, "claims: [ss = 50 ± 49]")
    found, out, _ = command("gate", new, "--baseline", old, "--claims", path)
    assert found == code
    sentences = {
        0: "Yes. SS of small in English is not worse than the baseline by more than 2 (",
        1: "No. SS of small in English is worse than the baseline by more than 2 (",
        3: "Open. It is not clear whether SS of small in English is worse than the baseline by more than 2 (",
    }
    assert sentences[code] in out
    assert f"({before:.1f} → {now:.1f}" in out
    assert before == now or f"; distance from 50 {abs(now - 50) - abs(before - 50):+.1f}" in out
    assert ("An unchanged model would pass reliably with a margin of" in out) is (code == 3)


def test_the_side_of_the_neutral_point_is_not_taken_from_the_estimates():
    # SS 47.5 before and 49.75 now, but targets differ so much that both may really lie above 50, where the change is for the
    # worse; the interval of the difference itself, 2.25 ± 1.4, says nothing of that
    before = [2, 7, 2, 8] * 10
    now = [wins + (k % 9 < 2) for k, wins in enumerate(before)]
    items = [triple(f"i{k}", f"t{k // 10}") for k in range(400)]
    sides = [
        score(items, [(2, 1, 0) if k % 10 < wins[k // 10] else (1, 2, 0) for k in range(400)]) for wins in (now, before)
    ]
    row = ig.compare(*sides, metrics="ss", by=[])[0]
    assert 0 < row.low < row.high < 4
    verdicts, _ = check_baseline(*sides, file=ClaimsFile(()))
    assert next(verdict for verdict in verdicts if verdict.name.startswith("SS")).status == UNDECIDED


def test_a_release_that_did_not_change_reads_as_a_pass(command, tmp_path):
    run = write(tmp_path / "run", guessing("de", ss=56, lms=90), items_of("de"))
    code, out, _ = command("gate", run, "--baseline", run)
    assert code == 0
    assert "supported              LMS against the baseline, small, de  [LMS at most 2 worse]\n" in out
    assert "Yes. LMS of small in German is not worse than the baseline by more than 2 (90.0 → 90.0).\n" in out


def test_a_language_that_only_the_baseline_has_does_not_pass_in_silence(command, tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    for root, languages in ((old, ("en", "de")), (new, ("en", "fr"))):
        for language in languages:
            write(root, guessing(language, ss=56, lms=90), items_of(language))
    code, out, _ = command("gate", new, "--baseline", old)
    assert code == 3
    assert out.startswith("undecided (3 supported, 1 not testable here)\n")
    assert "Not tested: de is in the baseline, not in these runs.\n" in out
    assert "· on one side only, and left out: language fr\n" in out
    assert command("gate", new, "--baseline", old, "--strict")[0] == 1
    assert command("gate", old, "--baseline", new)[1].count("fr is in the baseline") == 1


def test_nothing_is_compared_with_a_baseline_in_another_language_or_data_set():
    english = guessing("en", ss=56, lms=90)
    for column in ("language", "dataset"):
        other = replace(english, table=english.table.with_columns(pl.lit("de").alias(column)))
        verdicts = ig.gate(english, baseline=other, resamples=100).verdicts
        assert [(row.status, row.reason) for row in verdicts] == [
            ("not testable here", "de is in the baseline, not in these runs")
        ]


def test_a_language_that_one_data_set_of_the_baseline_has_is_missed():
    english, german = guessing("en", ss=56, lms=90), guessing("de", ss=56, lms=90)
    second = replace(english, table=english.table.with_columns(pl.lit("other").alias("dataset")))
    result = ig.gate(
        ig.join(english, second, german),
        baseline=ig.join(second, replace(german, table=german.table.with_columns(dataset=pl.lit("other")))),
        resamples=100,
    )
    missing = [row.reason for row in result.verdicts if row.status == "not testable here"]
    assert missing == ["other, de, intrasentence is in the baseline, not in these runs"]


def test_the_gate_needs_claims_or_a_baseline(command, runs):
    code, _, err = command("gate", runs)
    assert code == 2
    assert "Give --claims, --baseline, or both." in err
