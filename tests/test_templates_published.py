"""Template files in the layout of BehnamGhader and Milios (2022): the same sentences, variants, agreement and regions."""

from __future__ import annotations

import json
import math
import os
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

import isogloss as ig
from isogloss.analysis.measures import measure
from isogloss.analysis.term_shares import measure_shares
from isogloss.errors import BadData
from isogloss.methods import distribution
from isogloss.models.engine import run_all
from support import tiny
from test_metrics_templates import MW, item, scored, value

REAL = Path(os.environ.get("ISOGLOSS_REAL_DATA", "none")) / "templates" / "behnamghader_milios_en_el.json"
SMALL = {
    "word_lists": {
        "traits": {"english": ["calm", ["kind", "nice"]], "greek": ["ήρεμοι", ["καλοί", "ευγενικοί"]]},
        "people": {"english": ["men", "women"], "greek": ["άντρες", "γυναίκες"]},
        "lands": {"english": ["kenya", ["the US", "the USA"], "kenya"]},
    },
    "categories": [
        {
            "type": "gender/sex",
            "templates": [
                {
                    "base_templates": [
                        {"english": "[MASK] are {prior}.", "greek": "Οι [MASK] είναι {prior}."},
                        {"english": "Why are [MASK] so {prior}?", "greek": "Γιατί είναι {prior} οι [MASK];."},
                    ],
                    "prior_variations": {
                        "english": "traits|english",
                        "greek": "traits|greek",
                        "greek_fem": "traits|greek_fem",
                    },
                    "words": {"english": "people|english", "greek": "people|greek"},
                },
                {
                    "base_templates": [{"english": "A {prior} person is from [MASK]."}],
                    "prior_variations": {"english": "traits|english"},
                    "words": {"english": "lands|english"},
                },
            ],
        }
    ],
}
SMALL["word_lists"]["traits"]["greek_fem"] = ["ήρεμες", ["καλές", "ευγενικές"]]


def by_hand(content: dict, name: str) -> list[str]:
    """The sentences as the authors' layout says: plain replacements, feminine forms where the term is the Greek for women."""

    def words(reference: str) -> list[list[str]]:
        first, form = reference.split("|")
        return [[one] if isinstance(one, str) else one for one in content["word_lists"][first][form]]

    found = []
    for block in (block for row in content["categories"] for block in row["templates"]):
        if name not in block["words"]:
            continue
        priors = words(block["prior_variations"][name])
        feminine = words(block["prior_variations"].get(f"{name}_fem", block["prior_variations"][name]))
        for row, (plain, other), terms in product(
            block["base_templates"], zip(priors, feminine, strict=True), words(block["words"][name])
        ):
            chosen = other if terms == ["γυναίκες"] else plain
            found += [row[name].replace("{prior}", p).replace("[MASK]", t) for t, p in product(terms, chosen)]
    return found


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "lists.json"
    path.write_text(json.dumps(SMALL), encoding="utf-8")
    return path


@pytest.mark.parametrize(("name", "tag"), [("english", "en"), ("greek", "el")])
def test_sentences_are_those_of_the_file(small, name, tag):
    texts = [one.text for row in ig.read(small, language=tag) for one in row.candidates]
    assert sorted(texts) == sorted(by_hand(SMALL, name))


@pytest.mark.skipif(not REAL.exists(), reason="ISOGLOSS_REAL_DATA has no published templates")
def test_the_published_file_gives_its_own_sentences():
    content, items = json.loads(REAL.read_text(encoding="utf-8")), ig.read(REAL)
    for name, tag, count in (("english", "en", 16_180), ("greek", "el", 18_370)):
        texts = [one.text for row in items if row.language == tag for one in row.candidates]
        assert len(texts) == count
        assert sorted(texts) == sorted(by_hand(content, name))


def test_capitals_and_contractions_are_made_where_the_file_asks_for_them(small):
    content = {**SMALL, "capitals": True, "contractions": True}
    small.write_text(json.dumps(content), encoding="utf-8")
    texts = {one.text for row in ig.read(small, language="en") for one in row.candidates}
    assert "Men are calm." in texts
    assert "men are calm." not in texts


def test_variants_share_a_role_and_repeated_words_are_terms_of_their_own(small):
    row = next(one for one in ig.read(small, language="en") if one.id == "gender-2-w1-kind")
    roles = [one.role for one in row.candidates]
    assert [roles.count(name) for name in ("kenya", "the_us", "kenya-2")] == [2, 4, 2]
    assert len({one.id for one in row.candidates}) == 8


def test_a_file_that_lacks_a_list_is_refused_with_its_name(tmp_path):
    path = tmp_path / "lists.json"
    path.write_text(json.dumps({**SMALL, "word_lists": {}}), encoding="utf-8")
    with pytest.raises(BadData, match="not in the layout of the published templates"):
        ig.read(path)


def test_the_probability_of_a_term_is_the_mean_over_its_variants():
    # man 0.1 and 0.3, woman 0.4: ln 0.2 and ln 0.4, half the difference squared = (ln 2 / 2)² = 0.120113
    one = item("s.w1.c1", ("man", "man", "woman"))
    one = replace(one, candidates=tuple(replace(c, id=f"c{n}") for n, c in enumerate(one.candidates)))
    rows = scored([(one, (0.1, 0.3, 0.4))])
    assert value(rows, "cb") == pytest.approx((math.log(2) / 2) ** 2)
    assert value(rows, "top_share") == pytest.approx(0.4 / 0.6)


def test_the_distribution_of_a_term_is_the_mean_over_its_variants(small):
    row = next(one for one in ig.read(small, format="template_blanks", language="en") if one.id == "gender-2-w1")
    rows = next(iter(run_all(tiny.model("bert"), [distribution.ask(row, tiny.model("bert"), options={})])))
    assert [one.candidate for one in rows if one.quantity == "entropy"] == [
        "gender-2-w1-blank-kenya",
        "gender-2-w1-blank-the_us",
        "gender-2-w1-blank-kenya-2",
    ]
    assert next(one.value for one in rows if one.against == "gender-2-w1-blank-kenya-2") == pytest.approx(0, abs=1e-6)


def test_variance_and_flips_between_wordings_equal_their_definitions():
    random = np.random.default_rng(3)
    shares = random.dirichlet(np.ones(4), size=(3, 2))  # wordings, concepts
    roles = ("a", "b", "c", "d")
    rows = [(item(f"s.w{t}.c{c}", roles), tuple(shares[t, c])) for t in range(3) for c in range(2)]
    variances, flips = [], []
    for c in range(2):
        logs = np.log(shares[:, c])
        logs = logs - logs.mean(1, keepdims=True)
        variances.append(np.mean([(logs[t] - logs.mean(0)) ** 2 for t in range(3)]) / np.mean(logs**2))
        pairs = [(s, t, n, m) for s, t in combinations(range(3), 2) for n, m in combinations(range(4), 2)]
        flips.append(np.mean([(logs[s, n] > logs[s, m]) != (logs[t, n] > logs[t, m]) for s, t, n, m in pairs]))
    assert value(scored(rows), "wording_variance") == pytest.approx(np.mean(variances))
    assert value(scored(rows), "wording_flips") == pytest.approx(np.mean(flips))


def test_shares_are_summed_by_part_of_the_world():
    rows = scored([(item("s.w1.c1", ("french", "german", "japan", "atlantis")), (0.1, 0.2, 0.3, 0.4))])
    found = {row.group["region"]: row.value for row in measure_shares(rows, by="set", regions=True)}
    assert found == pytest.approx({"Europe": 0.3, "East and Southeast Asia": 0.3, "elsewhere": 0.4})


def test_shares_name_the_words_that_were_scored():
    tags = {"concept_word": "ήρεμοι", "term_words": ("man=Άντρες", "woman=γυναίκες")}
    rows = scored([(item("s.w1.calm", MW, tags=tags), (0.25, 0.75))])
    found = measure_shares(rows, by=["set", "concept"])
    assert [(row.group["word"], row.group["concept_word"]) for row in found] == [
        ("γυναίκες", "ήρεμοι"),
        ("Άντρες", "ήρεμοι"),
    ]


def test_one_template_has_no_wording_variance():
    rows = scored([(item("s.w1.c1", MW), (0.8, 0.2))])
    assert "wording_variance" not in {row.metric for row in measure(rows, by=[])}
