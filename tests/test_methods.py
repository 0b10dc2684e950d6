"""Every method and variant, on every fitting kind of model, equals a slow reference."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from isogloss.items import Candidate, Item
from isogloss.scores import Row
from support import references, tiny
from support.examples import CLOSE, CUT, INTER, INTRA, LONG, follow, rows_of

Reference = Callable[[Item, Candidate], list[float]]


def compare(rows: dict[str, Row], items: Sequence[Item], reference: Reference) -> None:
    """Every candidate's log-probabilities, token by token."""
    for item in items:
        for candidate in item.candidates:
            row, wanted = rows[candidate.id], reference(item, candidate)
            assert row.logprobs == pytest.approx(wanted, abs=CLOSE, rel=0), candidate.id
            assert not row.truncated


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


@pytest.mark.parametrize("name", tiny.MASKED)
def test_unmask_equals_its_reference(name: str) -> None:
    model = tiny.model(name)
    rows = rows_of(model, INTRA, "unmask")
    compare(rows, INTRA, lambda item, candidate: references.unmask(model, item, candidate))
    for row in rows.values():
        assert row.value == pytest.approx(mean([math.exp(log) for log in row.logprobs]))
        assert row.tokens == len(row.pieces) == len(row.logprobs)


@pytest.mark.parametrize("name", tiny.MASKED)
def test_unmask_log_is_the_mean_log_probability(name: str) -> None:
    model = tiny.model(name)
    plain, logs = rows_of(model, INTRA, "unmask"), rows_of(model, INTRA, "unmask", variant="log")
    for key, row in logs.items():
        assert row.logprobs == plain[key].logprobs
        assert row.value == pytest.approx(mean(row.logprobs))


@pytest.mark.parametrize("name", tiny.MASKED)
def test_unmask_all_masked_equals_its_reference(name: str) -> None:
    model = tiny.model(name)
    rows = rows_of(model, INTRA, "unmask", variant="all-masked")
    compare(rows, INTRA, lambda item, candidate: references.unmask_all(model, item, candidate))
    for row in rows.values():
        assert row.value == pytest.approx(mean([math.exp(log) for log in row.logprobs]))


@pytest.mark.parametrize("variant", ["prob", "log"])
@pytest.mark.parametrize("name", tiny.SEQ2SEQ)
def test_unmask_of_an_encoder_decoder_equals_its_reference(name: str, variant: str) -> None:
    model = tiny.model(name)
    rows = rows_of(model, INTRA, "unmask", variant=variant)
    compare(rows, INTRA, lambda item, candidate: references.unmask_seq2seq(model, item, candidate))
    for row in rows.values():
        wanted = mean(row.logprobs) if variant == "log" else mean([math.exp(log) for log in row.logprobs])
        assert row.value == pytest.approx(wanted)


@pytest.mark.parametrize("start", ["auto", "none"])
@pytest.mark.parametrize("name", tiny.CAUSAL)
def test_likelihood_equals_its_reference(name: str, start: str) -> None:
    model, items = tiny.model(name), INTRA[:-1]
    rows = rows_of(model, items, "likelihood", start=start)
    compare(rows, items, lambda item, candidate: references.likelihood(model, candidate, start=start == "auto"))
    for row in rows.values():
        assert row.value == pytest.approx(references.geometric(list(row.logprobs)))
        assert row.tokens == len(row.pieces) == len(row.logprobs)


@pytest.mark.parametrize("name", tiny.CAUSAL)
def test_continuation_equals_its_reference_in_every_case(name: str) -> None:
    model = tiny.model(name)
    wanted = {c.id: references.continuation(model, item, c) for item in INTER for c in item.candidates}
    main = {"d": "B|A", "orig": "B", "b": "B|A", "c": "AB", "e": "B|A", "f": "AB"}
    for case, shown in main.items():
        rows = rows_of(model, INTER, "continuation", case=case)
        for key, logs in wanted.items():
            assert rows[key].logprobs == pytest.approx(logs[shown], abs=CLOSE, rel=0), (case, key)
            assert rows[key].value == pytest.approx(references.case(case, logs), rel=5 * CLOSE), (case, key)


@pytest.mark.parametrize("closing", ["without", "with"])
@pytest.mark.parametrize("name", tiny.SEQ2SEQ)
def test_continuation_of_an_encoder_decoder_equals_its_reference(name: str, closing: str) -> None:
    model = tiny.model(name)
    rows = rows_of(model, INTER, "continuation", closing=closing)
    compare(
        rows,
        INTER,
        lambda item, candidate: references.continuation_seq2seq(model, item, candidate, closing=closing == "with"),
    )
    for row in rows.values():
        assert row.value == pytest.approx(references.geometric(list(row.logprobs)))


@pytest.mark.parametrize("name", tiny.NSP)
def test_nsp_equals_its_reference(name: str) -> None:
    model = tiny.model(name)
    rows = rows_of(model, INTER, "nsp")
    compare(rows, INTER, lambda item, candidate: references.nsp(model, item, candidate))
    for row in rows.values():
        assert row.value == pytest.approx(math.exp(row.logprobs[0]))


@pytest.mark.parametrize("name", [*tiny.MASKED, *tiny.SEQ2SEQ])
def test_equal_words_tie(name: str) -> None:
    rows = rows_of(tiny.model(name), [INTRA[1]], "unmask")
    assert rows["equal-stereotype"].value == rows["equal-anti-stereotype"].value != rows["equal-unrelated"].value


@pytest.mark.parametrize("name", ["bert", "xlm-roberta", "albert", "t5"])
def test_unknown_words_are_counted(name: str) -> None:
    rows = rows_of(tiny.model(name), [INTRA[5]], "unmask")
    assert rows["unknown-stereotype"].unknown > 0
    assert rows["unknown-anti-stereotype"].unknown == 0
    assert rows["unknown-unrelated"].unknown > 0


def test_unknown_words_are_counted_by_the_other_methods() -> None:
    assert rows_of(tiny.model("llama"), [INTRA[5]], "likelihood")["unknown-stereotype"].unknown > 0
    assert rows_of(tiny.model("llama"), [INTER[7]], "continuation")["short-unrelated"].unknown == 1
    assert rows_of(tiny.model("bert"), [INTER[7]], "nsp")["short-unrelated"].unknown == 1
    assert rows_of(tiny.model("gpt2"), [INTRA[5]], "likelihood")["unknown-stereotype"].unknown == 0


def check_cut(rows: dict[str, Row]) -> None:
    for row in rows.values():
        assert row.truncated
        assert row.value is not None
        assert math.isfinite(row.value)
        assert all(math.isfinite(log) for log in row.logprobs)


@pytest.mark.parametrize("where", CUT)
@pytest.mark.parametrize("name", tiny.MASKED)
def test_a_context_longer_than_the_model_reads_is_cut_and_counted(name: str, where: str) -> None:
    for variant in ("prob", "all-masked"):
        rows = rows_of(tiny.model(name), [CUT[where]], "unmask", variant=variant)
        check_cut(rows)


@pytest.mark.parametrize("name", [name for name in tiny.CAUSAL if name != "bloom"])
def test_a_text_longer_than_a_causal_model_reads_is_cut_and_counted(name: str) -> None:
    model = tiny.model(name)
    texts = follow("long", "en", LONG, "She was kind.", "He was rude.", "It.")
    check_cut(rows_of(model, [CUT["left"]], "likelihood"))
    for case in ("d", "orig", "b", "c", "e", "f"):
        check_cut(rows_of(model, [texts], "continuation", case=case))
    kept = {key: "".join(row.pieces) for key, row in rows_of(model, [texts], "continuation").items()}
    for candidate in texts.candidates:
        assert kept[candidate.id].replace(" ", "") == candidate.text.replace(" ", "")


@pytest.mark.parametrize("name", tiny.NSP)
def test_a_pair_longer_than_the_model_reads_is_cut_and_counted(name: str) -> None:
    check_cut(rows_of(tiny.model(name), [follow("long", "en", LONG, "She was kind.", "He was.", LONG)], "nsp"))


@pytest.mark.parametrize("name", [*tiny.SEQ2SEQ, "bloom"])
def test_a_model_with_relative_positions_reads_a_long_text_whole(name: str) -> None:
    model = tiny.model(name)
    item = follow("long", "en", LONG, "She was kind.", "He was rude.", "It.")
    rows = rows_of(model, [item], "continuation")
    if name == "bloom":
        compare(rows, [item], lambda item, candidate: references.continuation(model, item, candidate)["B|A"])
    else:
        reference = references.continuation_seq2seq
        compare(rows, [item], lambda item, candidate: reference(model, item, candidate, closing=False))


def test_a_candidate_without_tokens_has_no_score() -> None:
    item = follow("empty", "en", "I met a nurse.", "", "She was kind.", "\u200b")
    rows = rows_of(tiny.model("llama"), [item], "continuation")
    assert rows["empty-stereotype"].value is None
    assert rows["empty-anti-stereotype"].value is not None
    assert rows_of(tiny.model("t5"), [item], "continuation")["empty-stereotype"].value is None
    assert (
        rows_of(tiny.model("gpt2"), [replace(item, context="A BLANK.")], "likelihood")["empty-stereotype"].value is None
    )
