"""Words as they stand in a sentence, masks, frames and spans, for every kind of tokenizer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from isogloss.models.continuations import Span, span, start_token
from isogloss.models.questions import Question
from isogloss.models.text import count_unknown, cut, decode, encode, shared_start, special_tokens
from support import tiny

FRAMES = {
    "bert": (("[CLS]",), ("[SEP]",)),
    "roberta": (("<s>",), ("</s>",)),
    "xlm-roberta": (("<s>",), ("</s>",)),
    "xlm": (("<s>",), ("</s>",)),
    "t5": ((), ("</s>",)),
    "llama": (("<s>",), ()),
    "gpt2": ((), ()),
    "gemma3": ((), ()),
    "opt": (("</s>",), ()),
}


@pytest.mark.parametrize("name", FRAMES)
def test_the_frame_is_what_the_tokenizer_puts_around_a_text(name: str) -> None:
    tokenizer = tiny.tokenizer_of(name)
    before, after = FRAMES[name]
    wanted = tuple(map(tokenizer.convert_tokens_to_ids, before)), tuple(map(tokenizer.convert_tokens_to_ids, after))
    assert special_tokens(tokenizer) == wanted


@pytest.mark.parametrize(
    ("name", "left", "word", "wanted"),
    [
        ("bert", "She is ", "kind", "kind"),
        ("roberta", "She is ", "kind", "Ġkind"),
        ("roberta", "", "kind", "kind"),
        ("roberta", "(", "kind", "kind"),
        ("xlm-roberta", "She is ", "and", "▁and"),
        ("xlm-roberta", "", "and", "▁and"),
        ("xlm-roberta", "她", "很", "很"),
        ("t5", "She is ", "and", "▁and"),
        ("xlm", "She is ", "kind", "kind</w>"),
    ],
)
def test_a_word_is_cut_as_it_stands_in_the_sentence(name: str, left: str, word: str, wanted: str) -> None:
    tokenizer = tiny.tokenizer_of(name)
    pieces = tokenizer.convert_ids_to_tokens(list(cut(tokenizer, (left, word))[1]))
    assert "".join(piece.removeprefix("##") for piece in pieces) == wanted


def melting() -> PreTrainedTokenizerFast:
    """Sentence pieces that join 很 and 好 to one."""
    pieces = [("<unk>", 0.0), ("▁", -3.0), ("▁(", -3.0), ("很", -5.0), ("好", -5.0), ("很好", -2.0), ("▁好", -2.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")


def test_a_word_that_would_melt_into_what_is_before_it_gets_no_space_of_its_own() -> None:
    tokenizer = melting()
    assert tokenizer.tokenize("很好") == ["▁", "很好"]
    assert decode(tokenizer, cut(tokenizer, ("很", "好"))[1]) == ("好",)
    assert tokenizer.convert_ids_to_tokens(list(cut(tokenizer, ("很", "好"))[1])) == ["好"]


@pytest.mark.parametrize("name", ["bert", "roberta", "xlm-roberta", "xlm", "mpnet"])
def test_the_parts_of_a_sentence_add_up_to_its_tokens(name: str) -> None:
    tokenizer = tiny.tokenizer_of(name)
    parts = cut(tokenizer, ("She is ", "kind", " and ", "quiet", "."))
    assert tuple(token for part in parts for token in part) == encode(tokenizer, "She is kind and quiet.")
    assert all(parts)


def test_what_follows_a_word_is_cut_as_inside_a_word() -> None:
    tokenizer = tiny.tokenizer_of("bert")
    parts = [tokenizer.convert_ids_to_tokens(list(part)) for part in cut(tokenizer, ("She was ", "kind", "ly."))]
    assert [part[0].startswith("##") for part in parts] == [False, False, True]
    assert "".join(parts[1] + parts[2]).replace("##", "") == "kindly."


def test_unknown_tokens_are_counted_unless_they_are_also_the_end() -> None:
    assert count_unknown(tiny.wordpiece(), (1, 7, 1)) == 2
    assert count_unknown(tiny.byte_plain(), (0, 7, 0)) == 0
    assert count_unknown(tiny.byte_qwen(), (0, 7, 0)) == 0


def test_texts_share_their_beginning() -> None:
    assert shared_start((1, 2, 3), (1, 2, 4)) == 2
    assert shared_start((1, 2), (1, 2, 4)) == 2
    assert shared_start((), (1,)) == shared_start((5,), (1,)) == 0


@pytest.mark.parametrize(
    ("name", "token"),
    [("gpt2", "<|endoftext|>"), ("gemma3", "<bos>"), ("qwen2", "<|endoftext|>"), ("llama", "<s>"), ("opt", "</s>")],
)
def test_a_text_begins_with_the_model_s_start_token(name: str, token: str) -> None:
    model = tiny.model(name)
    assert start_token(model) == (model.tokenizer.convert_tokens_to_ids(token),)


def test_a_span_asks_for_each_token_one_position_before_it() -> None:
    model = tiny.model("gpt2")
    assert span(model, (7, 8), start=(0,), before=(5, 6)) == Span((Question((0, 5, 6, 7, 8), (2, 3), (7, 8)),), False)
    assert span(model, (7, 8), start=()) == Span((Question((7, 8), (0,), (8,)),), False, unasked=(7,))
    assert span(model, (7,), start=()) == Span((), False)
    assert span(model, (), start=(0,), before=(5,)) == Span((), False)


def test_too_long_a_span_loses_its_context_first_and_then_its_end() -> None:
    model = tiny.model("gpt2")
    short = replace(model, info=replace(model.info, max_length=4))
    assert span(short, (8, 9), start=(0,), before=(5, 6, 7)) == Span((Question((0, 7, 8, 9), (1, 2), (8, 9)),), True)
    assert span(short, (7, 8, 9, 10), start=(0,), before=(5, 6)) == Span(
        (Question((0, 7, 8, 9), (0, 1, 2), (7, 8, 9)),), True
    )
