"""Claims: the verdict that known scores must get, the language, its errors, and the files."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import isogloss as ig
from isogloss.claims.evidence import short_title
from isogloss.claims.files import as_claims, make_claims, read_claims
from isogloss.claims.verdicts import check_claims
from isogloss.cli import main
from isogloss.errors import IsoglossError
from isogloss.reports.text.claims import (
    claims_as_junit,
    claims_as_summary,
    claims_grid,
    describe_adjustment,
    explain_claim,
    left_out_line,
    robustness_line,
)
from support.builders import score, triple

CLUSTERS, EACH = 30, 20
FACTS = {
    "one": {"family": "x", "multilingual": False},
    "two": {"family": "y", "multilingual": False},
    "many": {"family": "x", "multilingual": True},
    "absent": {"family": "z", "multilingual": True},
}


def made(ss: dict[tuple[str, str], float], *, lms: float = 0.95, seed: int = 0) -> ig.Scored:
    """Scores of (model, language) with these shares of stereotypes; `lms` is the chance of each related candidate."""
    rng = np.random.default_rng(seed)
    parts = []
    for (model, language), share in ss.items():
        count = CLUSTERS * EACH
        items = [
            triple(f"i{k}", f"t{k % CLUSTERS:02}", language=language, category=["race", "gender"][k % CLUSTERS < 12])
            for k in range(count)
        ]
        wins = rng.permutation(count) < round(share * count)
        sense = rng.random((count, 2)) < lms
        rows = [
            (1.2 if won else 1.1, 1.1 if won else 1.2, 0.0)
            if all(row)
            else (1.2 - 2 * (not row[0]), 1.1 - 2 * (not row[1]), 0.0)
            for won, row in zip(wins, sense, strict=True)
        ]
        rows = [
            (r[0] + (0.2 if won else -0.2), r[1] + (-0.2 if won else 0.2), 0.0)
            for r, won in zip(rows, wins, strict=True)
        ]
        parts.append(score(items, rows, model=model))
    return ig.join(*parts)


CELLS = {
    ("one", "en"): 0.7,
    ("one", "de"): 0.55,
    ("two", "en"): 0.68,
    ("two", "de"): 0.52,
    ("many", "en"): 0.56,
    ("many", "de"): 0.5,
}


@pytest.fixture(scope="module")
def scored() -> ig.Scored:
    return made(CELLS)


def verdict(scored: ig.Scored, says: str, **keys) -> ig.ClaimVerdict:
    file = make_claims({"claims": [{"says": says, **keys}], "facts": FACTS})
    return check_claims(scored, file, resamples=500)[0]


@pytest.mark.parametrize(
    ("says", "status", "parts"),
    [
        ("ss(one, en) > ss(one, de)", "supported", 1),
        ("ss(one, en) < ss(one, de)", "contradicted", 1),
        ("ss(one, en) > ss(two, en)", "undecided", 1),
        ("ss(one, en) > ss(one, de) + 5", "supported", 1),
        ("ss(one, en) > ss(one, de) + 14", "undecided", 1),
        ("ss(one, en) > ss(one, de) + 30", "contradicted", 1),
        ("ss(many, de) = 50 ± 10", "supported", 2),
        ("ss(many, de) = 50 +- 2", "undecided", 2),
        ("ss(one, en) = 50 ± 10", "contradicted", 2),
        ("every ss(monolingual, en) > every ss(not en)", "supported", 6),
        ("every ss(monolingual, en) > every ss(multilingual)", "supported", 4),
        ("ss(en) > every ss(de)", "undecided", 9),
        ("some ss(en) > 62", "supported", 3),
        ("some ss(multilingual) > 65", "contradicted", 2),
        ("mean ss(monolingual, en) > mean ss(monolingual, de)", "supported", 1),
        ("for every model: ss(en) > ss(de)", "supported", 3),
        ("for every language: ss(one) is highest among ss", "undecided", 4),
        ("for some family: ss(monolingual, de) > ss(monolingual, en)", "contradicted", 2),
        ("distance ss(many, de) < distance ss(many, en) and lms > 60", "undecided", 7),
        ("distance ss(many, de) is lowest among distance ss(monolingual, en)", "supported", 2),
        ("ss(category=race, one, en) > 50", "supported", 1),
        ("ss(one, en, race) > ss(one, de, race)", "supported", 1),
        ("50 < ss(one, en)", "supported", 1),
        ("lms(one, English) > 80", "supported", 1),
        ("correlation(ss(en), ss(de)) > 0", "not testable here", 1),
        ("ss(absent) > 50", "not testable here", 0),
        ("ss(Turkish) > 50", "not testable here", 0),
        ("for every model: for every language: icat_macro < icat_micro", "could not have failed", 6),
    ],
)  # fmt: skip
def test_a_claim_gets_the_verdict_that_the_scores_allow(scored, says, status, parts):
    found = verdict(scored, says)
    assert (found.status, found.parts) == (status, parts), explain_claim(found)


def test_a_model_that_guesses_is_not_interpretable_but_a_refuted_part_still_refutes():
    weak = ig.join(made(CELLS), made({("weak", "en"): 0.9, ("weak", "de"): 0.9}, lms=0.5))
    assert verdict(weak, "ss(weak) > 50").status == "not interpretable"
    assert verdict(weak, "lms(weak) < 90").status == "supported"
    assert verdict(weak, "every ss(de) > every ss(en)").status == "contradicted"
    assert verdict(weak, "some ss(en) > 60").status == "supported"
    found = verdict(weak, "ss(en) > 50")
    assert found.status == "not interpretable"
    assert found.reason.endswith("3 of the 3 parts that can be interpreted hold")


def test_an_intersection_has_the_largest_p_and_a_union_the_smallest_times_their_number(scored):
    single = [verdict(scored, f"ss({name}) > 50").p for name in ("one, de", "two, de", "many, en")]
    both = verdict(scored, "ss(one, de) > 50 and ss(two, de) > 50 and ss(many, en) > 50")
    assert both.p == pytest.approx(max(single))
    union = verdict(scored, "ss(one, de) > 50 or ss(two, de) > 50 or ss(many, en) > 50")
    assert union.p == pytest.approx(min(1, 3 * min(single)))


def test_p_values_are_adjusted_over_the_whole_file(scored):
    texts = ["ss(one, de) > 50", "ss(two, de) > 50", "ss(one, en) > 50", "lms > 60"]
    file = make_claims({"claims": texts, "facts": FACTS})
    found = check_claims(scored, file, resamples=500)
    p = sorted(one.p for one in found)
    holm = np.maximum.accumulate([min(1, (4 - i) * one) for i, one in enumerate(p)])
    assert sorted(one.p_holm for one in found) == pytest.approx(list(holm))
    loose = check_claims(scored, make_claims({"claims": texts, "facts": FACTS, "adjust": "none"}), resamples=500)
    assert [one.status == "supported" for one in loose] == [one.p <= 0.05 for one in loose]


def test_a_file_that_is_not_adjusted_says_so_everywhere(scored):
    texts = {}
    for adjust in ("holm", "none"):
        result = ig.gate(scored, {"claims": ["ss(one, de) > 50", "lms > 60"], "adjust": adjust}, resamples=200)
        remarks = claims_grid(result).remarks
        texts[adjust] = (str(result), " ".join(remarks), describe_adjustment(result.verdicts))
    for text in texts["none"]:
        assert "Holm" not in text
        assert "not adjusted" in text
    for text in texts["holm"]:
        assert "Holm" in text
        assert "not adjusted" not in text
    assert describe_adjustment(()) == ""


def test_a_single_part_is_counted_in_the_singular(scored):
    found = verdict(scored, "ss(one, en) > 60 and ss(one, en) < 60")
    assert found.reason == "1 of 2 parts is the other way round"


def test_claims_that_contradict_each_other_are_tested_each_for_itself(scored):
    file = make_claims({"claims": ["ss(one, en) > 60", "ss(one, en) < 60"]})
    assert [one.status for one in check_claims(scored, file, resamples=500)] == ["supported", "contradicted"]


def test_an_undecided_claim_says_which_difference_would_have_been_found(scored):
    found = verdict(scored, "ss(one, en) > ss(two, en)")
    assert found.mde == pytest.approx(found.part.mde)
    assert f"Only a difference of {found.mde:.1f} or more" in explain_claim(found)


def test_homogeneous_targets_are_not_taken_for_different_ones_and_different_ones_are_found():
    same = made({("m", "en"): 0.65})
    assert verdict(same, "icat_macro < homogeneous").status == "undecided"
    items = [triple(f"i{k}", f"t{k % CLUSTERS:02}") for k in range(CLUSTERS * EACH)]
    apart = score(items, [(2, 1, 0) if k % CLUSTERS < 18 else (1, 2, 0) for k in range(len(items))], model="m")
    assert verdict(apart, "icat_macro < homogeneous").status == "supported"


def test_a_rank_correlation_over_models_counts_models_and_targets():
    shares = {f"m{k}": 0.4 + 0.04 * k for k in range(8)}
    scored = made({(name, language): share for name, share in shares.items() for language in ("en", "de")})
    found = verdict(scored, "correlation(ss(en), ss(de)) > 0")
    assert (found.status, found.part.design) == ("supported", "over groups")
    assert verdict(scored, "correlation(ss(en), ss(de)) < 0").status == "contradicted"
    assert 0.8 < found.part.value_a <= 1
    assert verdict(scored, "correlation(ss, lms) > 0").part.a == "rank correlation over 16 groups"


def test_the_robustness_line_names_what_changes(scored):
    file = make_claims({"claims": ["ss(one, en, gender) > 50", "ss(one, en) > ss(one, de)"]})
    found = check_claims(scored, file, robustness=True, resamples=300)
    assert list(found[1].robustness) == ["paper mode", "without gender", "without race"]
    assert robustness_line(found[1]) == "same verdict in 3 of 3 variants"
    assert "without gender" not in found[0].robustness


WRONG_SCORES = {
    "items": [f"i{k}" for k in range(10)],
    "groups": [{"model": "two", "language": "de", "why": "untrained"}],
}


def test_scores_known_to_be_wrong_are_left_out_first_and_a_line_says_what_they_would_change(scored):
    low = ig.join(scored, made({("wrong", "de"): 0.9}))
    faults = {"groups": [{"model": "wrong", "language": "de", "why": "untrained"}]}
    file = make_claims({"claims": ["every ss(monolingual, en) > every ss(de)"], "faults": faults, "facts": FACTS})
    found = check_claims(low, file, robustness=True, resamples=300)[0]
    assert (found.status, found.parts, found.left_out) == ("supported", 6, ("wrong, de",))
    assert found.robustness["with known faults"] == "contradicted"
    assert left_out_line(found) == "Tested without scores that are known to be wrong: wrong, de."
    assert robustness_line(found).endswith("with known faults: contradicted")


def test_a_claim_about_nothing_but_wrong_scores_is_not_tested(scored):
    file = make_claims({"claims": ["ss(two, de) > 50", "lms(one, en) > 60"], "faults": WRONG_SCORES, "facts": FACTS})
    found = check_claims(scored, file, resamples=300)
    assert [one.status for one in found] == ["not testable here", "supported"]
    assert explain_claim(found[0]) == "Not tested: its scores are known to be wrong (two, de)."
    assert found[1].details[0].n == CLUSTERS * EACH - 10


def test_a_group_of_which_one_bias_type_is_wrong_is_left_out_as_a_whole(scored):
    faults = {"groups": [{"model": "one", "language": "en", "category": "race"}]}
    file = make_claims({"claims": ["ss(one, en) > 50", "ss(one, en, gender) > 50"], "faults": faults, "facts": FACTS})
    assert [one.status for one in check_claims(scored, file, resamples=300)] == ["not testable here", "supported"]


def test_the_contradiction_of_a_stricter_reading_leaves_the_sentence_open(scored):
    says = "ss(one, en) < ss(one, de)"
    assert verdict(scored, says).status == "contradicted"
    found = verdict(scored, says, stricter=True)
    assert (found.status, found.status_bh) == ("undecided", "undecided")
    assert explain_claim(found).startswith("Open: this reading asks for more than the sentence says")
    assert verdict(scored, "ss(one, en) > ss(one, de)", stricter=True).status == "supported"


def test_a_claim_that_fails_by_the_number_of_claims_alone_says_so_and_bh_decides_it(scored):
    texts = ["ss(one, de) > 48.5", *(f"lms > {limit}" for limit in range(60, 70))]
    texts += [f"ss(many, de) > {50 + limit / 100}" for limit in range(10)]
    found = check_claims(scored, make_claims({"claims": texts, "facts": FACTS}), resamples=300)[0]
    assert found.p <= 0.05 < found.p_holm
    assert (found.status, found.status_bh) == ("undecided", "supported")
    assert "It holds individually, but the claim fails after Holm's adjustment for all claims" in explain_claim(found)
    assert "but not the closest one" not in explain_claim(found)


# ---- what is refused


ERRORS = {
    "ss >": r"'ss >' cannot be understood at its start or end; docs/how-to/gate.md describes the language.",
    "ss => 60": r"'ss => 60' cannot be understood after 'ss ='; docs/how-to/gate.md describes the language. Did you mean '>='?",
    "ss > > 3": r"'ss > > 3' cannot be understood after 'ss >'; docs/how-to/gate.md describes the language.",
    "ss(one": "'ss(one' cannot be understood at its start or end; docs/how-to/gate.md describes the language. "
    "A parenthesis is not closed; in a list in brackets, write a claim that contains a comma in quotes.",
    "ss >= 0": "'ss >= 0' can never fail, so it claims nothing.",
    "ss = 50 ± 50": "'ss = 50 ± 50' can never fail, so it claims nothing.",
    "ss > 100": "'ss > 100' can never hold, so it claims nothing.",
    "ss(one) > ss(two) - 101": "'ss(one) > ss(two) - 101' can never fail, so it claims nothing.",
    "3 > 2": "a claim compares a metric with something, and here are two numbers.",
    "distance lms > 3": "'lms' has no neutral point, so it has no distance from it.",
    "ss < homogeneous": "only 'icat_macro' can be compared with a homogeneous model, without an addition.",
    "homogeneous > icat_macro": "'homogeneous' is allowed after < or > only.",
    "for mean model: ss > 50": "'for mean model' has no meaning; use 'for every' or 'for some'.",
    "ss(onee, en) > 50": "No model, language, group or value named 'onee'. Did you mean 'one'? "
    "Known: one, gender, intrasentence, de, en and 10 more.",
    "ss(one, Germn) > 50": "No model, language, group or value named 'Germn'. Did you mean 'German'? "
    "Known: German, en, gender, many, absent and 10 more.",
    "ss(model=onee) > 50": "No model named 'onee'. Did you mean 'one'? Known: absent, many, one, two.",
    "ss(familie=x) > 50": "No column named 'familie'. Known: family, multilingual, model, method, target and 5 more.",
}  # fmt: skip


@pytest.mark.parametrize("says", ERRORS)
def test_what_cannot_be_tested_is_refused_with_its_line(scored, tmp_path, says):
    path = tmp_path / "claims.yaml"
    path.write_text(
        f"facts: {json.dumps(FACTS)}\nclaims:\n- lms > 60\n- says: '{says}'\n  name: odd\n", encoding="utf-8"
    )
    with pytest.raises(IsoglossError) as caught:
        ig.gate(scored, path, resamples=100)
    assert str(caught.value) == f"{path}, line 4: claim 'odd': {ERRORS[says]}"


def test_an_unknown_metric_is_named_with_the_nearest_one():
    with pytest.raises(
        IsoglossError, match=r"^claims: claim 'icatt > 3': No metric named 'icatt'\. Did you mean 'icat'\?"
    ):
        make_claims({"claims": ["icatt > 3"]})


NEEDS = "a claims file needs 'claims' (a list of texts such as 'ss = 50 ± 5', or of objects with 'says') or 'margins'."
BAD = {
    "claims: [": (1, "not YAML: expected the node content, but found '<stream end>'."),
    "": (None, NEEDS),
    "claims: 3": (None, NEEDS),
    "claims: [ss > 5]\nstrikt: true": (None, "No key named 'strikt'. Did you mean 'strict'? Known: strict, title, adjust, source, facts and 5 more."),
    "claims:\n- says: ss > 5\n  sayz: x": (2, "No key named 'sayz'. Known: says, name, needs, source, sentence and 4 more."),
    "claims: [5]": (1, "claim 1 must be a text or an object with 'says', or with 'needs'."),
    "claims: [ss > 5, ss > 5]": (1, "two claims are named 'ss > 5'."),
    "claims: [{says: ss > 5, where: de}]": (1, "claim 'ss > 5': 'where' must map columns to values, such as language: de."),
    "claims: [ss > 5]\nmode: papr": (None, "No mode named 'papr'. Did you mean 'paper'? Known: corrected, paper."),
    "claims: [ss > 5]\nadjust: bh": (None, "No adjust named 'bh'. Known: holm, none."),
    "claims: [ss > 5]\nmin_n: 0": (None, "'min_n' must be a whole number of items, 1 or more."),
    "claims: [ss > 5]\nstrict: 3": (None, "'strict' must be true or false."),
}  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_a_file_that_is_not_understood_is_refused_by_name(tmp_path, text):
    path = tmp_path / "claims.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(IsoglossError) as caught:
        read_claims(path)
    line, problem = BAD[text]
    assert str(caught.value) == f"{path}{f', line {line}' if line else ''}: {problem}"


# ---- registration, reports of CI jobs


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: object) -> tuple[int, str]:
    monkeypatch.setattr("sys.argv", ["isogloss", *map(str, words)])
    try:
        main()
        code = 0
    except SystemExit as left:
        code = int(left.code or 0)
    shown = capsys.readouterr()
    return code, shown.out + shown.err


def test_a_registered_file_says_when_it_was_changed(tmp_path, monkeypatch, capsys, scored):
    path = tmp_path / "claims.yaml"
    code, out = run(capsys, monkeypatch, "claims", "new", path)
    assert (code, out.startswith(f"Wrote {path}.")) == (0, True)
    assert len(read_claims(path).claims) == 2
    assert "exists already" in run(capsys, monkeypatch, "claims", "new", path)[1]
    code, out = run(capsys, monkeypatch, "claims", "register", path)
    assert code == 0
    assert re.match(r"Registered 2 claims on \d{4}-\d\d-\d\d \d\d:\d\d UTC; ", out)
    same = ig.gate(scored, path, resamples=100)
    assert same.registered.endswith("unchanged since")
    path.write_text(path.read_text(encoding="utf-8").replace("70", "75"), encoding="utf-8")
    changed = ig.gate(scored, path, resamples=100)
    assert changed.registered.startswith("CHANGED since it was registered on ")
    assert changed.registered in str(changed)
    assert changed.sha256 != same.sha256


def test_junit_and_the_summary_of_a_job_say_what_failed(scored):
    result = ig.gate(
        scored,
        {"claims": ["ss(one, en) < 60", "lms > 60", "ss(one, en) > ss(two, en)"], "title": "A <b>"},
        resamples=300,
    )
    suite = ElementTree.fromstring(claims_as_junit(result))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    assert [[child.tag for child in case] for case in suite] == [["failure"], [], ["skipped"]]
    assert "contradicted: No, the opposite." in str(suite[0][0].get("message"))
    summary = claims_as_summary(result)
    assert "| ❌ | ss(one, en) &lt; 60 | contradicted |" in summary
    strict = ig.gate(scored, ["ss(one, en) > ss(two, en)"], strict=True, resamples=100)
    assert ElementTree.fromstring(claims_as_junit(strict)).get("failures") == "1"


def test_the_command_writes_both_and_exits_by_status(tmp_path, monkeypatch, capsys):
    rows = [
        {"id": one.id, "score": len(one.text)} for item in ig.read("demo", language="en") for one in item.candidates
    ]
    (tmp_path / "long_en.json").write_text(json.dumps({"intrasentence": rows}), encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    path = tmp_path / "claims.yaml"
    for text, expected in (("claims: [lms < 99]", 0), ("claims: [lms > 99]", 1), ("claims: [lms(de) > 60]", 3)):
        path.write_text(text, encoding="utf-8")
        words = ["gate", tmp_path / "long_en.json", "--data", "demo", "--claims", path, "--junit", tmp_path / "j.xml"]
        code, out = run(capsys, monkeypatch, *words, "--resamples", 200)
        assert code in (expected, 2 if expected == 3 else expected), out
    assert (tmp_path / "j.xml").exists()
    assert Path(tmp_path / "summary.md").read_text(encoding="utf-8").count("## Isogloss gate") >= 2


@pytest.mark.slow
def test_a_report_shows_the_claims_of_a_result_below_the_map(scored, tmp_path):
    result = ig.gate(scored, {"claims": ["ss(one, en) < 60", "lms > 60"], "adjust": "none"}, resamples=200)
    (tmp_path / "claims.json").write_text(result.to_json(), encoding="utf-8")
    page = ig.report(scored, tmp_path / "report.html", add=tmp_path / "claims.json", resamples=100).read_text(
        encoding="utf-8"
    )
    assert page.index(">Models and languages<") < page.index(">Claims<") < page.index(">What the numbers do not mean<")
    assert "1 contradicted: the scores show the opposite." in page
    assert "No, the opposite." in page
    assert "The p-values are not adjusted for the number of claims." in page
    assert '<table class="wrapped">' in page


# ---- hostile files


FAULTS = ": 'faults' must be an object with 'items', a list of ids, and 'groups', a list of objects."
TWICE = "claims: [ss < 90]\ntitle: x\nclaims: [ss > 10]\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (TWICE, ", line 3: the key 'claims' is there twice."),
        ("claims: [{says: ss < 9, says: ss > 1}]\n", ", line 1: the key 'says' is there twice."),
        ("claims: " + "[" * 1000 + "]" * 1000, ": nested too deeply."),
        ("claims: [ss < 9]\nmin_n: 0x\n", ": 'min_n' must be a whole number of items, 1 or more."),
        (
            "claims: [ss < 9]\nmin_n: " + "9" * 5000,
            ", line 2: '99999999999999999999…' is not a number that can be read.",
        ),
        ("claims: [ss < 9]\nmin_n: 2024-13-01\n", ": 'min_n' must be a whole number of items, 1 or more."),
        ("claims: &a [*a]\n", ", line 1: aliases (*name) are not read; write it out."),
        ("claims: [ss < 9]\nsource: &a [*a, *a]\n", ", line 2: aliases (*name) are not read; write it out."),
        ("claims: [ss < 9]\nfaults: {groups: 5}\n", FAULTS),
        ("claims: [ss < 9]\nfaults: {groups: [5]}\n", FAULTS),
        ("claims: [ss < 9]\nfaults: {items: 5}\n", FAULTS),
    ],
)
def test_a_hostile_file_of_claims_is_refused_in_one_sentence(tmp_path, text, problem):
    path = tmp_path / "claims.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(IsoglossError) as caught:
        read_claims(path)
    assert str(caught.value) == f"{path}{problem}"


def test_facts_and_faults_with_a_key_twice_are_refused(tmp_path):
    (tmp_path / "facts.yaml").write_text("a: {size: 1}\na: {size: 2}\n", encoding="utf-8")
    (tmp_path / "faults.yaml").write_text("items: [1]\nitems: [2]\n", encoding="utf-8")
    for name in ("facts", "faults"):
        with pytest.raises(IsoglossError, match=rf"{name}\.yaml, line 2: the key '\w+' is there twice\.$"):
            as_claims({"claims": ["ss < 9"], name: str(tmp_path / f"{name}.yaml")})


def test_a_pipe_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "claims.yaml")
    with pytest.raises(IsoglossError) as caught:
        read_claims(tmp_path / "claims.yaml")
    assert str(caught.value) == (
        f"{tmp_path / 'claims.yaml'}: a pipe or a device is not read. Save its content as a file first."
    )


def test_a_metric_is_named_by_its_abbreviation_and_not_by_the_data_sets_in_its_title():
    assert [short_title(name) for name in ("ss", "lms", "bias_a")] == ["SS", "LMS", "Bias in ambiguous contexts"]
