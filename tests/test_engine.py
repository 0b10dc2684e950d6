"""The engine: scores that depend on nothing but the question, no work done twice, and nothing lost when memory runs out."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from isogloss.errors import IsoglossError, naming_panics
from isogloss.models import engine
from isogloss.models.load import open_model
from isogloss.models.model import Bundle, Model
from isogloss.models.questions import ARGMAX, LOGPROB, NAN, Answer, Asking, Question
from isogloss.models.tokenizer_patterns import check_patterns, largest_repetition
from isogloss.scores import Row
from support import tiny
from support.examples import CLOSE, CUT, INTER, INTRA, blank, follow, rows_of

CELLS = (
    [(name, "unmask", {"variant": "prob"}) for name in (*tiny.MASKED, *tiny.SEQ2SEQ)]
    + [(name, "unmask", {"variant": "all-masked"}) for name in tiny.MASKED]
    + [(name, "unmask", {"variant": "paper"}) for name in tiny.SEQ2SEQ]
    + [(name, "likelihood", {"start": start}) for name in tiny.CAUSAL for start in ("auto", "none")]
    + [(name, "continuation", {"case": case}) for name in tiny.CAUSAL for case in ("b", "e", "orig")]
    + [(name, "continuation", {"closing": closing}) for name in tiny.SEQ2SEQ for closing in ("without", "with")]
    + [(name, "nsp", {}) for name in tiny.NSP]
)
NAMES = ["-".join([name, method, *options.values()]) for name, method, options in CELLS]
SPANS = [CUT["left"], INTRA[0], INTRA[2], INTRA[3], INTRA[6], INTRA[7], INTRA[8]]
PAIRS = [follow("long", "en", CUT["left"].context or "", "She.", "He was rude.", "It is so."), *INTER[:7]]


def same_rows(found: dict[str, Row], wanted: dict[str, Row]) -> None:
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        assert found[key].logprobs == pytest.approx(row.logprobs, abs=CLOSE, rel=0), key
        assert found[key].value == pytest.approx(row.value, rel=5 * CLOSE), key
        other = replace(found[key], value=row.value, logprobs=row.logprobs)
        assert other == row


@pytest.mark.parametrize(("name", "method", "options"), CELLS, ids=NAMES)
def test_scores_do_not_depend_on_batches_order_or_padding(name: str, method: str, options: dict[str, str]) -> None:
    model, items = tiny.model(name), SPANS if method in ("unmask", "likelihood") else PAIRS
    items = items[1:6] if name in tiny.SEQ2SEQ else items
    alone = {key: row for item in items for key, row in rows_of(model, [item], method, budget=1, **options).items()}
    for budget in (64, 4096):
        same_rows(rows_of(model, items, method, budget=budget, **options), alone)
    same_rows(rows_of(model, items[::-1], method, budget=200, **options), alone)


def watched(model: Model, answer: Callable[..., dict[int, Answer]]) -> Model:
    """The model with another way to answer, which is given the real one first."""
    own = model.family.answer
    return replace(model, family=replace(model.family, answer=lambda *given, **named: answer(own, *given, **named)))


def counting(model: Model) -> tuple[Model, list[int]]:
    """The model, and the number of questions in each batch it will be asked."""
    counts: list[int] = []

    def answer(own: Any, model: Model, questions: Sequence[Question], batch: Sequence[Bundle]) -> dict[int, Answer]:
        counts.append(sum(len(bundle.indices) for bundle in batch))
        return own(model, questions, batch=batch)

    return watched(model, answer), counts


@pytest.mark.parametrize(("name", "method"), [("bert", "unmask"), ("gpt2", "likelihood"), ("t5", "unmask")])
def test_equal_questions_are_answered_once(name: str, method: str) -> None:
    model, once = counting(tiny.model(name))
    rows_of(model, [INTRA[0]], method)
    model, thrice = counting(tiny.model(name))
    items = [replace(INTRA[0], id=f"copy-{n}") for n in range(3)]
    rows_of(model, items, method)
    assert sum(thrice) == sum(once)


def test_equal_words_cost_one_question_a_piece() -> None:
    model, counts = counting(tiny.model("bert"))
    rows = rows_of(model, [blank("equal", "en", "He is BLANK.", "kind", "kind", "kind")], "unmask")
    assert sum(counts) == rows["equal-unrelated"].tokens


def bundles_of(name: str, questions: Sequence[Question]) -> list[Bundle]:
    model = tiny.model(name)
    return model.family.bundle(model, questions)


def test_masked_questions_with_equal_inputs_share_a_pass() -> None:
    questions = [Question((2, 9, 4, 3), (2,), (target,)) for target in (20, 21, 22)] + [
        Question((2, 4, 3), (1,), (20,))
    ]
    assert bundles_of("bert", questions) == [Bundle((0, 1, 2), 4), Bundle((3,), 3)]


def test_a_language_or_segments_make_another_input() -> None:
    questions = [Question((2, 4, 3), (1,), (20,), language=language) for language in ("de", "en")]
    questions.append(Question((2, 4, 3), (1,), (20,), segments=(0, 1, 1), language="de"))
    assert len(bundles_of("xlm", questions)) == 3


@pytest.mark.parametrize("name", [name for name in tiny.CAUSAL if name != "bloom"])
def test_causal_texts_with_a_common_beginning_are_one_packed_row(name: str) -> None:
    assert tiny.model(name).state["packed"] is True
    questions = [Question((1, 9, 8, 7, 6, 5, *tail), (5,), tail[:1]) for tail in ((20,), (21, 22), (21, 23, 24))]
    assert bundles_of(name, questions) == [Bundle((0, 1, 2), 6 + 1 + 2 + 3)]


def test_bloom_cannot_be_packed_and_is_not() -> None:
    assert tiny.model("bloom").state["packed"] is False
    questions = [Question((1, 9, 8, 7, tail), (3,), (tail,)) for tail in (20, 21)]
    assert bundles_of("bloom", questions) == [Bundle((0,), 5), Bundle((1,), 5)]


def test_texts_that_share_little_are_not_packed() -> None:
    questions = [Question((1, start, 8, 7, 6, 5), (4,), (5,)) for start in range(20, 30)]
    assert [bundle.cost for bundle in bundles_of("gpt2", questions)] == [6] * 10


@pytest.mark.parametrize("name", ["gemma2", "gemma3"])
def test_texts_longer_than_a_sliding_window_are_not_packed(name: str) -> None:
    start = tuple(range(20, 31))
    assert len(bundles_of(name, [Question((*start, tail), (10,), (tail,)) for tail in (40, 41)])) == 1
    assert len(bundles_of(name, [Question((*start, 39, tail), (11,), (tail,)) for tail in (40, 41)])) == 2


@pytest.mark.parametrize("name", tiny.SEQ2SEQ)
def test_an_encoder_input_is_read_once(name: str) -> None:
    model = tiny.model(name)
    rows: list[int] = []
    hook = model.state["encoder"].register_forward_hook(
        lambda module, given, options, output: rows.append(len(options["input_ids"])), with_kwargs=True
    )
    try:
        rows_of(model, [INTER[0]], "continuation")
    finally:
        hook.remove()
    assert rows == [1]


def out_of_memory_above(model: Model, most: int, error: Exception) -> tuple[Model, list[int]]:
    sizes: list[int] = []

    def answer(own: Any, model: Model, questions: Sequence[Question], batch: Sequence[Bundle]) -> dict[int, Answer]:
        sizes.append(len(batch))
        if len(batch) > most:
            raise error
        return own(model, questions, batch=batch)

    return watched(model, answer), sizes


ERRORS = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
    torch.OutOfMemoryError("Allocation on device 0 would exceed allowed memory."),
    RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes."),
    RuntimeError("MPS backend out of memory (MPS allocated: 8 GB)."),
    MemoryError(),
]


@pytest.mark.parametrize("error", ERRORS, ids=str)
@pytest.mark.parametrize(("name", "method"), [("bert", "unmask"), ("gpt2", "likelihood"), ("t5", "unmask")])
def test_a_batch_is_halved_when_memory_runs_out(name: str, method: str, error: Exception) -> None:
    model, sizes = out_of_memory_above(tiny.model(name), 2, error)
    same_rows(rows_of(model, SPANS, method), rows_of(tiny.model(name), SPANS, method))
    assert max(sizes) > 2
    assert min(sizes) <= 2


def test_out_of_memory_with_one_input_is_one_sentence() -> None:
    model, _ = out_of_memory_above(tiny.model("bert"), 0, ERRORS[0])
    with pytest.raises(IsoglossError) as caught:
        rows_of(model, [blank("one", "en", "BLANK", "is")], "unmask")
    assert str(caught.value) == (
        "Out of memory with a single input of 3 tokens on cpu. "
        "Use a smaller model, another `device`, or `dtype='bfloat16'`."
    )


def test_another_error_is_not_taken_for_lack_of_memory() -> None:
    model, sizes = out_of_memory_above(tiny.model("bert"), 0, RuntimeError("shapes do not fit"))
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        rows_of(model, [INTRA[0]], "unmask")
    assert len(sizes) == 1


@pytest.mark.parametrize(("name", "method"), [("bert", "unmask"), ("gpt2", "likelihood"), ("t5", "unmask")])
def test_nan_is_refused_in_one_sentence(name: str, method: str) -> None:
    net, tokenizer = tiny.network(name), tiny.tokenizer_of(name)
    model = tiny.wrap(net, tokenizer, info=tiny.describe(net, tokenizer, name=name))
    with torch.no_grad():
        net.get_output_embeddings().weight[7, 0] = float("nan")
    with pytest.raises(IsoglossError) as caught:
        rows_of(model, [INTRA[0]], method)
    assert str(caught.value) == NAN
    with pytest.raises(IsoglossError) as caught:
        tiny.wrap(net, tokenizer, info=model.info)
    assert str(caught.value) == NAN
    assert NAN == (
        "The model gives NaN instead of probabilities. Its weights may be broken or its number format too small: "
        "try `dtype='float32'`, or pull the model again."
    )


def asks(*turns: list[Question]) -> Asking:
    """Asks as often as there are turns, and gives what it heard as its only row."""
    heard: list[float] = []
    for questions in turns:
        answers = yield questions
        heard += [value for answer in answers for value in answer.tolist()]
    return [Row(INTRA[0], str(len(turns)), None, logprobs=tuple(heard))]


def test_a_method_may_ask_again_or_not_at_all() -> None:
    model = tiny.model("gpt2")
    first, second = Question((0, 9, 8), (0, 1), (9, 8)), Question((0, 9, 7), (1,), (7,))
    groups = engine.run_all(
        model, [asks(), asks([first], [], [second]), asks([second]), asks([first, second], [first])]
    )
    rows = [row for group in groups for row in group]
    assert [len(group) for group in groups] == [1, 1, 1, 1]
    one, two = (answer.tolist() for answer in engine.answer_all(model, [first, second], token_budget=64))
    assert [row.candidate for row in rows] == ["0", "3", "1", "2"]
    for row, wanted in zip(rows, ([], one + two, two, one + two + one), strict=True):
        assert row.logprobs == pytest.approx(wanted, abs=CLOSE)


def test_no_generator_gives_no_rows() -> None:
    assert engine.run_all(tiny.model("gpt2"), []) == []


@pytest.mark.parametrize("name", ["bert", "gpt2", "gemma2", "t5"])
def test_argmax_is_the_most_probable_token(name: str) -> None:
    model = tiny.model(name)
    source = {"ids": (5, 6, 7, 8), "decoder_ids": (0, 9)} if name == "t5" else {"ids": (5, 6, 7, 8)}
    best = engine.answer_all(model, [Question(positions=(0, 1), want=ARGMAX, **source)], token_budget=64)[0]
    for position, token in enumerate(best):
        every = [Question(positions=(position,), targets=(n,), want=LOGPROB, **source) for n in range(230)]
        logs = np.concatenate(engine.answer_all(model, every, token_budget=64))
        at_best = engine.answer_all(model, [replace(every[0], targets=(int(token),))], token_budget=64)[0]
        assert at_best[0] >= logs.max() - CLOSE


def test_a_want_that_the_family_lacks_is_refused() -> None:
    with pytest.raises(IsoglossError) as caught:
        engine.answer_all(tiny.model("gpt2"), [Question((1, 2), want="attention")], token_budget=64)
    assert str(caught.value) == "A causal model cannot answer 'attention'."


def test_batches_stay_within_the_budget() -> None:
    bundles = [Bundle((n,), cost) for n, cost in enumerate((30, 20, 20, 9, 8, 7, 7, 1))]
    batches = engine.fill_batches(bundles, 40)
    assert [[bundle.cost for bundle in batch] for batch in batches] == [[30], [20, 20], [9, 8, 7, 7], [1]]


def padded(batches: Sequence[Sequence[Bundle]]) -> int:
    return sum(batch[0].cost * len(batch) for batch in batches)


def test_lengths_are_mixed_only_where_that_is_cheaper_than_another_pass() -> None:
    bundles = [Bundle((n,), cost) for n, cost in enumerate([9] * 4 + [8] * 2 + [3] * 6)]
    costs = [[b.cost for b in batch] for batch in engine.fill_batches(bundles, 400, extra=5)]
    assert costs == [[9] * 4 + [8] * 2, [3] * 6]
    assert len(engine.fill_batches(bundles, 400, extra=1)) == 3
    assert len(engine.fill_batches(bundles, 400, extra=99)) == 1


def test_little_is_padded_and_nothing_lost() -> None:
    costs = sorted((6 + (n * n) % 17 for n in range(400)), reverse=True)
    bundles = [Bundle((n,), cost) for n, cost in enumerate(costs)]
    batches = engine.fill_batches(bundles, 2048)
    assert [bundle for batch in batches for bundle in batch] == bundles
    assert max(batch[0].cost * len(batch) for batch in batches) <= 2048
    assert sum(costs) > 0.95 * padded(batches)


def test_a_family_that_groups_itself_gets_full_batches() -> None:
    bundles = [Bundle((n,), cost) for n, cost in enumerate((30, 9, 8, 50, 7, 1))]
    assert [[bundle.cost for bundle in batch] for batch in engine.fill_unpadded(bundles, 40)] == [
        [30, 9],
        [8],
        [50],
        [7, 1],
    ]


def test_progress_reaches_the_end() -> None:
    shares: list[float] = []
    questions = [Question((0, n), (0,), (n,)) for n in range(1, 20)]
    engine.answer_all(tiny.model("gpt2"), questions, token_budget=8, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_language_the_model_does_not_know_is_refused() -> None:
    with pytest.raises(IsoglossError) as caught:
        rows_of(tiny.model("xlm"), [blank("one", "sw", "BLANK", "nurse")], "unmask")
    assert str(caught.value) == (
        "'tiny-xlm' needs the language of a text and does not know 'sw'. It knows: de, en, fa, hi, tr, zh."
    )


def test_a_regional_tag_means_its_language() -> None:
    found = [
        rows_of(tiny.model("xlm"), [blank("one", tag, "BLANK", "nurse")], "unmask") for tag in ("zh", "zh-Hant", "de")
    ]
    logs = [rows["one-stereotype"].logprobs for rows in found]
    assert logs[0] == logs[1] != logs[2]


def test_memory_is_given_back_where_the_system_can(monkeypatch):
    told: list[int] = []

    class Library:
        def __init__(self, name: object) -> None:
            self.malloc_trim = told.append

    monkeypatch.setattr(engine.ctypes, "CDLL", Library)
    engine.trim_memory()
    assert told == [0]
    monkeypatch.setattr(engine.ctypes, "CDLL", lambda name: object())
    engine.trim_memory()  # no such function: nothing happens


def test_a_panic_of_a_tokenizer_is_an_error_like_others() -> None:
    panic = type("PanicException", (BaseException,), {})

    def ask() -> Any:
        raise panic("called `Option::unwrap()` on a `None` value")
        yield

    with pytest.raises(IsoglossError, match=r"^The tokenizer stopped \(PanicException: called"):
        engine.run_all(tiny.model("gpt2"), [ask()])


@pytest.mark.parametrize(
    ("pattern", "largest"),
    [
        (r"\p{N}{1,3}|\s+(?!\S)", 3),
        ("((a{2}){3}b{4})*", 6),
        ("(a?){1,100000}c", 100_000),
        ("((((a{1,100}){1,100}b){2,})", 20_000),
        (r"[({]{5}\({7}", 7),
        ("a{,50}", 50),
        ("{9", 1),
    ],
)
def test_nested_counts_of_a_regular_expression_are_multiplied(pattern: str, largest: int) -> None:
    assert largest_repetition(pattern) == largest


@pytest.mark.parametrize(
    ("pattern", "excess"),
    [
        ("((a?){1,1000}){1,1000}c", "1,000 repetitions"),
        ("(" * 2000 + "a" + ")*" * 2000, "100 groups"),
        (r"(?i:[^\p{L}\p{N}x])" * 90 + r"[^\p{L}\p{N}]" * 2000, "20,000 letters"),
    ],
)
@pytest.mark.parametrize(("file", "key"), [("tokenizer.json", "Regex"), ("tokenizer.4.0.json", r"\u0052ege\u0078")])
def test_a_tokenizer_whose_pattern_explodes_is_refused_before_it_is_used(tmp_path, pattern, excess, file, key) -> None:
    split = f'{{"type": "Split", "pattern": {{"{key}": {json.dumps(pattern)}}}}}'
    (tmp_path / file).write_text(f'{{"pre_tokenizer": {split}}}', encoding="utf-8")
    with pytest.raises(IsoglossError, match=f"a regular expression with more than {excess}, which could take all"):
        check_patterns(tmp_path, "mine")


def test_a_model_with_such_a_tokenizer_does_not_open(tmp_path: Path) -> None:
    tiny.network("gpt2").save_pretrained(tmp_path)
    tiny.tokenizer_of("gpt2").save_pretrained(tmp_path)
    open_model(str(tmp_path))
    file = tmp_path / "tokenizer.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    pattern = {"Regex": "(a?){1,100000}c"}
    content["pre_tokenizer"] = {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}
    file.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(IsoglossError, match="a regular expression with more than 1,000 repetitions"):
        open_model(str(tmp_path))


def test_an_interrupt_is_no_panic() -> None:
    with pytest.raises(KeyboardInterrupt), naming_panics():
        raise KeyboardInterrupt
