"""Contrasts: alignment on token ids, scores equal to slow references on every family, and the metrics by hand."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss import registry
from isogloss.analysis.groups import check_rows
from isogloss.analysis.measures import contribution, fitting_metrics, measure
from isogloss.errors import IsoglossError
from isogloss.items import Candidate, Item, Items
from isogloss.methods import check_model, fill_options
from isogloss.methods.contrast import divergent_positions, divergent_tokens, shared_in_order
from isogloss.models.engine import run_all
from isogloss.models.model import Model
from isogloss.reports.text.measures import measures_as_text
from isogloss.scores import Row, Scored, item_table, make_scored, row_table
from isogloss.studies.scoring_plan import choose_method
from support import references, references_pairs, tiny
from support.examples import CLOSE, LONG

FEW = ["bert", "roberta", "xlm", "modernbert"]


def pair(name: str, language: str, *texts: str, **tags: object) -> Item:
    candidates = tuple(
        Candidate(f"{name}-{role}", role, text) for role, text in zip(("stereotype", "contrast"), texts, strict=False)
    )
    return Item(name, "tiny", language, "gender", candidates, cluster=name, tags={"task": "contrast", **tags})  # type: ignore[arg-type]


PAIRS = [
    pair("plain", "en", "The nurse is kind and quiet.", "The doctor is kind and quiet."),
    pair("several", "en", "The nurse is rude and the doctor is kind.", "The doctor is rude and the nurse is kind."),
    pair("first", "de", "Krankenschwester ist freundlich.", "Arzt ist freundlich."),
    pair("longer", "en", "He is not friendly.", "A compassionate woman from Norway is not friendly."),
    pair("chinese", "zh", "护士很善良。", "医生很善良。"),
    pair("persian", "fa", "پرستار مهربان است.", "پزشک مهربان است."),
    pair("turkish", "tr", "Hemşire çok nazik biridir.", "Doktor çok nazik biridir."),
]


def rows_of(model: Model, items: Sequence[Item], *, budget: int = 2048, **options: str) -> dict[tuple[str, str], Row]:
    """The rows by candidate and quantity."""
    method = registry.get("method", "contrast")
    filled = fill_options("contrast", method, chosen=options)
    check_model("contrast", method, model=model, options=filled)
    found = run_all(model, (method.ask(item, model, options=filled) for item in items), token_budget=budget)
    return {(row.candidate, row.quantity): row for rows in found for row in rows}


def own_places(model: Model, texts: Sequence[str]) -> list[list[int]]:
    """The places of the tokens that difflib finds in one of the two only; parts of one letter are taken together."""
    ids = [references.plain(model, text) for text in texts]
    units = [whole_letters(model, text, count=len(own)) for text, own in zip(texts, ids, strict=True)]
    keys = [[tuple(own[k] for k in unit) for unit in places] for own, places in zip(ids, units, strict=True)]
    codes = SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes()
    changed = [code for code in codes if code[0] != "equal"]
    return [
        [k for code in changed for unit in units[0][code[1] : code[2]] for k in unit],
        [k for code in changed for unit in units[1][code[3] : code[4]] for k in unit],
    ]


def whole_letters(model: Model, text: str, *, count: int) -> list[list[int]]:
    """The places of tokens, together where the tokenizer says that they come from the same letter."""
    read = model.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    offsets, parts = read["offset_mapping"], ["\ufffd" in model.tokenizer.decode([one]) for one in read["input_ids"]]
    if len(offsets) != count:
        return [[k] for k in range(count)]
    units: list[list[int]] = []
    for k, (start, _) in enumerate(offsets):
        if units and parts[k] and parts[k - 1] and start < max(offsets[j][1] for j in units[-1]):
            units[-1].append(k)
        else:
            units.append([k])
    return units


def written(model: Model, text: str) -> list[float]:
    """The log-probability of every token given those before it, from plain passes."""
    if model.info.family == "seq2seq":
        return references_pairs.likelihood_seq2seq(model, text)
    return references.text_logprobs(model, references.plain(model, text))


def masked_rest(model: Model, text: str, language: str, own: Sequence[int]) -> list[float]:
    """Masked models: each own token when it and all later own ones are hidden."""
    ids, inner = references_pairs.whole(model, text)
    found = []
    for position in own:
        shown = list(ids)
        for later in own:
            if later >= position:
                shown[inner[later]] = model.tokenizer.mask_token_id
        found.append(references.logprobs(model, shown, language)[inner[position], ids[inner[position]]].item())
    return found


# ---- alignment

ids = st.lists(st.integers(0, 3), max_size=8)


def most_shared(first: Sequence[int], second: Sequence[int]) -> int:
    """The length of the longest sequence that can be picked out of both, by trying all."""
    for size in range(min(len(first), len(second)), 0, -1):
        if set(itertools.combinations(first, size)) & set(itertools.combinations(second, size)):
            return size
    return 0


@given(first=ids, second=ids)
@settings(max_examples=300)
def test_the_shared_tokens_are_equal_in_order_and_as_many_as_can_be(first, second):
    left, right = shared_in_order(first, second)
    assert [first[k] for k in left] == [second[k] for k in right]
    assert left == sorted(set(left))
    assert right == sorted(set(right))
    assert len(left) == most_shared(first, second)


@given(first=ids, second=ids)
@settings(max_examples=300)
def test_swapping_the_sides_swaps_the_divergent_places(first, second):
    assert divergent_positions(first, second) == divergent_positions(second, first)[::-1]


@given(same=ids)
def test_equal_sequences_diverge_nowhere(same):
    assert divergent_positions(same, list(same)) == ([], [])


@given(
    head=ids, tail=ids, first=st.lists(st.integers(4, 5), max_size=4), second=st.lists(st.integers(6, 7), max_size=4)
)
def test_what_stands_between_a_common_beginning_and_end_diverges(head, tail, first, second):
    found = divergent_positions(head + first + tail, head + second + tail)
    assert [len(positions) for positions in found] == [len(first), len(second)]
    assert found[0] == list(range(len(head), len(head) + len(first)))


def test_several_divergences_are_found():
    #                 0  1  2  3  4  5        0  1  2  3  4
    found = divergent_positions([1, 9, 2, 3, 8, 4], [1, 7, 2, 3, 4])
    assert found == ([1, 4], [1])


# ---- the method


@pytest.mark.parametrize("name", [*tiny.CAUSAL, *tiny.SEQ2SEQ])
def test_models_that_write_equal_plain_passes(name: str) -> None:
    model = tiny.model(name)
    left, whole = rows_of(model, PAIRS), rows_of(model, PAIRS, variant="sentence")
    for item in PAIRS:
        texts = [candidate.text for candidate in item.candidates]
        for candidate, own in zip(item.candidates, own_places(model, texts), strict=True):
            logs = written(model, candidate.text)
            row, sentence = left[candidate.id, "contrast"], left[candidate.id, "sentence"]
            wanted = [logs[position] for position in own]
            assert row.logprobs == pytest.approx(wanted, abs=CLOSE, rel=0), candidate.id
            assert row.value == pytest.approx(math.fsum(wanted) / len(own), abs=CLOSE)
            assert row.tokens == len(own) == len(row.pieces)
            assert sentence.value == pytest.approx(math.fsum(logs), abs=CLOSE * len(logs))
            assert (sentence.against, sentence.tokens) == (None, len(logs))
            per_own = math.fsum(logs) / len(own)
            assert whole[candidate.id, "contrast"].value == pytest.approx(per_own, abs=CLOSE * len(logs))
        first, second = item.candidates
        assert left[first.id, "contrast"].against == second.id
        assert left[second.id, "contrast"].against == first.id


@pytest.mark.parametrize(
    "name", [name if name in FEW else pytest.param(name, marks=pytest.mark.slow) for name in tiny.MASKED]
)
def test_masked_models_equal_plain_passes(name: str) -> None:
    model = tiny.model(name)
    found = {hide: rows_of(model, PAIRS[:5], hide=hide) for hide in ("word", "token", "rest")}
    for item in PAIRS[:5]:
        texts = [candidate.text for candidate in item.candidates]
        for candidate, own in zip(item.candidates, own_places(model, texts), strict=True):
            word = references_pairs.pll_word_l2r(model, candidate.text, item.language)
            token = references_pairs.pll(model, candidate.text, item.language)
            wanted = {
                "word": [word[position] for position in own],
                "token": [token[position] for position in own],
                "rest": masked_rest(model, candidate.text, item.language, own),
            }
            for hide, logs in wanted.items():
                row = found[hide][candidate.id, "contrast"]
                assert row.logprobs == pytest.approx(logs, abs=CLOSE, rel=0), (candidate.id, hide)
                assert row.value == pytest.approx(math.fsum(logs) / len(own), abs=CLOSE)
                assert (candidate.id, "sentence") not in found[hide]


@pytest.mark.parametrize("name", FEW)
def test_a_masked_sentence_is_its_pseudo_likelihood_over_its_own_tokens(name: str) -> None:
    model = tiny.model(name)
    rows = rows_of(model, PAIRS[:2], variant="sentence")
    for item in PAIRS[:2]:
        texts = [candidate.text for candidate in item.candidates]
        for candidate, own in zip(item.candidates, own_places(model, texts), strict=True):
            whole = math.fsum(references_pairs.pll_word_l2r(model, candidate.text, item.language))
            assert rows[candidate.id, "contrast"].value == pytest.approx(whole / len(own), abs=10 * CLOSE)
            assert rows[candidate.id, "sentence"].value == pytest.approx(whole, abs=10 * CLOSE)


@pytest.mark.parametrize("budget", [16, 4096])
@pytest.mark.parametrize("name", [*FEW, "gpt2", "gemma3", *tiny.SEQ2SEQ])
def test_neither_order_nor_batch_nor_side_matters(name: str, budget: int) -> None:
    model = tiny.model(name)
    plain = rows_of(model, PAIRS)
    turned = [replace(item, candidates=item.candidates[::-1]) for item in PAIRS[::-1]]
    other = rows_of(model, turned, budget=budget)
    assert plain.keys() == other.keys()
    for key, row in plain.items():
        assert row.value == pytest.approx(other[key].value, abs=10 * CLOSE), key


UNSCORABLE = [
    pair("same", "en", "The nurse is kind.", "The nurse is kind."),
    pair("inside", "en", "The nurse is kind.", "The nurse is kind. She was rude."),
    pair("empty", "en", "", "She."),
    pair("alone", "en", "The nurse is kind."),
]


@pytest.mark.parametrize("name", ["gpt2", "bert", "t5"])
def test_what_cannot_be_told_apart_is_unscored_and_says_why(name: str) -> None:
    rows = rows_of(tiny.model(name), UNSCORABLE)
    assert {row.value for row in rows.values()} == {None}
    assert {quantity for _, quantity in rows} == {"contrast"}
    why = {candidate: row.why for (candidate, _), row in rows.items() if candidate.endswith("stereotype")}
    assert why == {
        "same-stereotype": "both sentences have the same tokens",
        "inside-stereotype": "one of the two sentences has no tokens that the other lacks",
        "empty-stereotype": "one of the two sentences has no tokens that the other lacks",
        "alone-stereotype": "the stereotype has no contrast in its language",
    }


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_too_long_a_pair_is_cut_and_counted(name: str) -> None:
    items = [
        pair("late", "en", LONG + " kind.", LONG + " rude."),
        pair("early", "en", "He is. " + LONG, "She is. " + LONG),
    ]
    rows = rows_of(tiny.model(name), items)
    late, early = rows["late-stereotype", "contrast"], rows["early-stereotype", "contrast"]
    assert late.why == "both sentences have the same tokens as far as the model can read them"
    assert early.truncated
    assert early.value is not None
    assert not any(row.truncated for (_, quantity), row in rows.items() if quantity == "sentence")


def test_without_a_start_token_a_pair_that_differs_at_once_is_not_scored() -> None:
    model = tiny.model("bloom")
    net, tokenizer = copy.deepcopy(model.net), copy.deepcopy(model.tokenizer)
    tokenizer.bos_token = tokenizer.eos_token = None
    net.config.bos_token_id = None
    rows = rows_of(replace(model, net=net, tokenizer=tokenizer), [PAIRS[0], PAIRS[2]])
    assert rows["plain-stereotype", "contrast"].value is not None
    first = rows["first-stereotype", "contrast"]
    assert (first.value, first.why) == (
        None,
        "the first token differs, and the model has no start token to ask for it with",
    )


@pytest.mark.parametrize(
    ("name", "options", "wanted"),
    [
        (
            "gpt2",
            {"hide": "token"},
            "The option 'hide' is for masked models; the others see what stands before a token.",
        ),
        (
            "bert",
            {"hide": "rest", "variant": "sentence"},
            "The option 'hide=rest' is about the tokens that differ; with 'variant=sentence' use word or token.",
        ),
        (
            "bert",
            {"variant": "lefft"},
            "No value of 'contrast' option 'variant' named 'lefft'. Did you mean 'left'? Known: left, sentence.",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(name: str, options: dict[str, str], wanted: str) -> None:
    with pytest.raises(IsoglossError) as caught:
        rows_of(tiny.model(name), PAIRS[:1], **options)
    assert str(caught.value) == wanted


def test_auto_takes_contrast_for_every_family() -> None:
    assert {choose_method(PAIRS[0], family) for family in ("masked", "causal", "seq2seq")} == {"contrast"}


# ---- the metrics


def scored(
    rows: Sequence[tuple[float | None, float | None]], tags: Sequence[dict[str, object]] | None = None
) -> Scored:
    """Pairs with the values of both sides; the sentence's log-probability is twice the value."""
    items, numbers = [], []
    for number, values in enumerate(rows):
        item = pair(str(number), "en", "a", "b", **(tags[number] if tags else {"statement": "implicit"}))
        items.append(item)
        for k, value in enumerate(values):
            one, other = item.candidates[k].id, item.candidates[1 - k].id
            numbers.append(Row(item, one, value, quantity="contrast", against=other, why=None if value else "same"))
            numbers.append(Row(item, one, None if value is None else 2 * value, quantity="sentence"))
    labels = {"model": "m", "method": "contrast", "family": "causal"}
    return make_scored(item_table(Items(tuple(items))), row_table(numbers), labels=labels)


def value(table: Scored, name: str) -> float:
    found = contribution(registry.get("metric", name), check_rows(table), mode="corrected")
    assert found is not None
    return found.value


#        stereotype contrast   d     |2d| -> |tanh(d)|
FOUR = [(-1.0, -2.0), (-3.0, -2.5), (-1.0, -1.0), (-2.0, -4.5)]  # d = 1, -0.5, 0, 2.5


def test_stereotypes_of_other_languages_are_set_against_those_of_this_one():
    tags = [{"statement": "implicit", "valid": value} for value in ("yes", "no", "yes", "no")]
    # not known: (-0.5 + 2.5) / 2 = 1; known: (1 + 0) / 2 = 0.5
    assert value(scored(FOUR, tags), "validity_gap") == pytest.approx(0.5)


@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_the_completion_is_the_sentence_without_the_tokens_that_differ(name):
    rows = rows_of(tiny.model(name), PAIRS[:1])
    for (candidate, quantity), row in rows.items():
        if quantity == "completion":
            own = rows[candidate, "contrast"]
            assert row.value == pytest.approx(rows[candidate, "sentence"].value - sum(own.logprobs), abs=1e-5)
            assert row.tokens == rows[candidate, "sentence"].tokens - own.tokens
    assert {quantity for _, quantity in rows} == {"contrast", "sentence", "completion"}


def test_four_pairs_give_the_numbers_worked_out_by_hand():
    table = scored(FOUR)
    assert value(table, "contrast") == pytest.approx(3.0 / 4)
    # squares 1 + 0.25 + 0 + 6.25 = 7.5; 7.5 - 9/4 = 5.25; / 3
    assert value(table, "contrast_variance") == pytest.approx(1.75)
    assert value(table, "contrast_share") == pytest.approx(100 * 2.5 / 4)
    scaled = []
    for stereotype, contrast in FOUR:
        p, q = math.exp(2 * stereotype), math.exp(2 * contrast)
        scaled.append(abs(p / (p + q) - q / (p + q)))
    assert value(table, "bias_l") == pytest.approx(sum(scaled) / 4)


numbers = st.tuples(st.integers(-6, 0).map(float), st.integers(-6, 0).map(float))


@given(rows=st.lists(numbers, min_size=2, max_size=12))
@settings(max_examples=10)
def test_the_metrics_obey_their_swap_laws(rows):
    for name in ("contrast", "contrast_share", "contrast_variance", "bias_l"):
        metric = registry.get("metric", name)
        before, after = value(scored(rows), name), value(scored([row[::-1] for row in rows]), name)
        assert after == pytest.approx(2 * metric.neutral - before if metric.swap == "mirror" else before, abs=1e-9)
        assert metric.bounds[0] - 1e-9 <= before <= metric.bounds[1] + 1e-9
        assert value(scored(rows[::-1]), name) == pytest.approx(before, abs=1e-9)


def test_the_headline_is_about_implicit_statements_and_the_others_stand_apart():
    tags: list[dict[str, object]] = [{"statement": kind} for kind in ("implicit", "saying", "descriptive")]
    table = scored([(-1.0, -2.0), (-1.0, -4.0), (-1.0, -6.0)], [*tags])
    found = {row.metric: (row.value, row.n) for row in measure(table, by=[])}
    assert found["contrast"] == (pytest.approx(1), 1)
    assert found["contrast_other"] == (pytest.approx(4), 2)
    by = {(row.group["statement"], row.metric): row.value for row in measure(table, by="statement")}
    assert by["saying", "contrast_other"] == pytest.approx(3)
    assert by["descriptive", "contrast_other"] == pytest.approx(5)
    assert ("saying", "contrast") not in by


def test_pairs_that_name_no_statement_count_as_implicit():
    assert value(scored(FOUR, [{}] * 4), "contrast") == pytest.approx(0.75)
    assert "contrast_other" not in fitting_metrics(scored(FOUR, [{}] * 4).table)


def test_an_item_counts_in_each_of_its_regions():
    tags: list[dict[str, object]] = [{"region": ("France", "Italy")}, {"region": ("Italy",)}, {"region": ()}]
    table = scored([(-1.0, -2.0), (-1.0, -4.0), (-1.0, -9.0)], tags)
    found = {row.group["region"]: (row.value, row.n) for row in measure(table, metrics="contrast", by="region")}
    assert found == {"France": (1.0, 1), "Italy": (2.0, 2), "none": (8.0, 1)}


def test_gender_is_found_in_a_bias_type_of_several():
    table = scored(FOUR)
    both = replace(
        table, table=table.table.with_columns(category=table.table["category"].replace("gender", "age+gender"))
    )
    assert value(both, "bias_l") == pytest.approx(value(table, "bias_l"))
    none = replace(table, table=table.table.with_columns(category=table.table["category"].replace("gender", "age")))
    assert "bias_l" not in fitting_metrics(none.table)


def test_unscorable_pairs_are_counted_and_named():
    found = measure(scored([*FOUR, (None, None)]), metrics="contrast", by=[])
    assert found[0].n == 4
    assert "1 items lack a score, such as '4', and were left out (same)" in found.notes


def test_the_signed_mean_has_an_interval_over_stereotypes():
    rows = [(-1.0 - n % 5, -2.0 - n % 3) for n in range(24)]
    table = scored(rows)
    clustered = replace(
        table, table=table.table.with_columns(cluster=table.table["id"].cast(int) % 12).cast({"cluster": str})
    )
    row = measure(clustered, metrics="contrast", by=[], resamples=500)[0]
    assert row.low is not None
    assert row.high is not None
    assert row.low < row.value < row.high
    assert (row.n, row.clusters) == (24, 12)


def test_a_language_that_the_model_does_not_claim_is_marked():
    noted = replace(scored(FOUR), notes=("m does not claim to know 'en', only de",))
    shown = measures_as_text(measure(noted, metrics="contrast", by=[]))
    assert "language en *" in shown
    assert "· * m does not claim to know 'en', only de" in shown
    assert "*" not in measures_as_text(measure(scored(FOUR), metrics="contrast", by=[]))


def test_a_metric_on_fewer_items_says_on_how_many():
    tags: list[dict[str, object]] = [{"statement": "implicit"}, {"statement": "saying"}, {"statement": "saying"}]
    shown = measures_as_text(measure(scored(FOUR[:3], tags), metrics=["contrast", "contrast_other"], by=[]))
    assert "1.00 (n 1)" in shown


@pytest.mark.parametrize(("few", "has_interval"), [(1, False), (9, False), (10, True)])
def test_the_smaller_side_of_a_validity_gap_needs_its_own_clusters(few, has_interval):
    rng = np.random.default_rng(few)
    pairs = [(float(value), 0.0) for value in rng.normal(size=36)]
    tags = [{"statement": "implicit", "valid": "no" if k < few else "yes"} for k in range(36)]
    row = measure(scored(pairs, tags), metrics="validity_gap", by=[])[0]
    assert (row.low is not None) is has_interval
    if has_interval:
        sides = [np.array([a for a, _ in part]) for part in (pairs[:few], pairs[few:])]
        welch = sum(side.var(ddof=1) / len(side) for side in sides) ** 0.5
        assert row.high - row.low > 2 * 1.96 * welch
    else:
        assert row.why == f"{few} cluster{'s' * (few > 1)}; an interval needs 10"


class Bytes:
    """A tokenizer with one token per byte."""

    def decode(self, tokens: list[int]) -> str:
        return bytes(tokens).decode("utf-8", errors="replace")


def test_a_byte_that_two_letters_share_is_not_shared_text():
    first, second = (tuple(text.encode()) for text in ("aधb", "aनb"))  # both letters begin with the same two bytes
    assert divergent_positions(first, second) == ([3], [3])
    assert divergent_tokens(first, second, tokenizer=Bytes()) == ([1, 2, 3], [1, 2, 3])
    assert divergent_tokens(second, first, tokenizer=Bytes()) == ([1, 2, 3], [1, 2, 3])


def test_of_several_longest_common_subsequences_that_with_the_common_beginning_and_end_counts():
    assert shared_in_order([1, 2, 3, 2, 9], [1, 2, 9]) == ([0, 1, 4], [0, 1, 2])
    assert shared_in_order([5, 1, 1, 6], [7, 1, 8]) == shared_in_order([7, 1, 8], [5, 1, 1, 6])[::-1] == ([2], [1])
