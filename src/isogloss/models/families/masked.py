"""Masked models (BERT class): equal inputs share one pass; the head sees the asked positions only."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import torch

from ...errors import IsoglossError
from ...items import BLANK, group_by
from ..forward import (
    WORTH,
    AttentionOutputs,
    find_activations,
    find_asked_positions,
    find_attention,
    find_limited_module,
    limit_positions,
    one_pass,
    pad,
    send,
    watching,
)
from ..head import TOLERANCE, as_array, blank_inputs, find_head, gap, read_head
from ..info import LIBRARIES, MASKED_LM, auto_class
from ..model import EXPECT, FILL, HIDE, Bundle, Family, Filling, Model
from ..next_sentence import read_classes
from ..questions import ARGMAX, ATTENTION, CLASS, DISTRIBUTION, LOGPROB, VECTOR, Answer, Question
from ..text import Ids, cut, special_tokens

NSP_TYPES = ("bert", "ernie", "fnet", "megatron-bert", "mobilebert")
STAND_IN = "a"  # a word in the place of the blank, so that what follows is cut as after a word
NO_ATTENTION = "'{name}' shows no attention, so it cannot be scored with 'aula'. Use `method='aul'`."


def loader(config: Mapping[str, Any]) -> str:
    """The class of transformers that loads all the model's heads."""
    return "AutoModelForPreTraining" if config["model_type"] in NSP_TYPES else MASKED_LM


def prepare(model: Model) -> None:
    """Find the head, and find out whether padding leaves the hidden states as they are."""
    sample = Question(tuple(token % model.info.vocabulary for token in range(5, 13)))
    with torch.inference_mode():
        head = find_head(model.net, [model.net.base_model], inputs=blank_inputs, sample=_inputs(model, [sample]))
        model.state.update(body=head.body, head=head)
        model.state["padded"] = _padding_is_exact(model, sample)
        model.state["last_attention_output"] = find_limited_module(
            head.body, _inputs(model, [sample, Question(sample.ids[::-1])])
        )
        model.state["activations"] = find_activations(model.net)


def _padding_is_exact(model: Model, sample: Question) -> bool:
    """Not so where neighbors are mixed before any mask is seen: convolutions, trigrams, Fourier transforms."""
    short = Question(sample.ids[:5])
    body = model.state["body"]
    try:
        padded = body(**_inputs(model, [sample, short])).last_hidden_state[1, :5]
    except (RuntimeError, TypeError, ValueError):
        return False
    return gap(body(**_inputs(model, [short])).last_hidden_state[0], padded) < TOLERANCE


def bundle(model: Model, questions: Sequence[Question]) -> list[Bundle]:
    """Questions with the same input go together."""
    reads = [(question.ids, question.segments, question.language) for question in questions]
    groups = group_by(range(len(questions)), reads.__getitem__)
    return [Bundle(tuple(indices), len(ids)) for (ids, _, _), indices in groups.items()]


def answer(model: Model, questions: Sequence[Question], *, batch: Sequence[Bundle]) -> dict[int, Answer]:
    """One padded pass of the body, or one for each length where padding would show."""
    if model.state["padded"]:
        return _answer(model, questions, batch=batch)
    answers: dict[int, Answer] = {}
    for _, same in groupby(sorted(batch, key=lambda bundle: bundle.cost), key=lambda bundle: bundle.cost):
        answers |= _answer(model, questions, batch=list(same))
    return answers


def _answer(model: Model, questions: Sequence[Question], *, batch: Sequence[Bundle]) -> dict[int, Answer]:
    """One pass of the body; then the heads, at the asked places only."""
    firsts = [questions[bundle.indices[0]] for bundle in batch]
    inputs = _inputs(model, firsts)
    asked = [(row, index) for row, bundle in enumerate(batch) for index in bundle.indices]
    with one_pass(model):
        asked_positions = find_asked_positions(questions, asked) if model.state["last_attention_output"] else None
        if asked_positions and WORTH * len(asked_positions) <= inputs["input_ids"].numel():
            with limit_positions(model.state["last_attention_output"], asked_positions):
                states = model.state["body"](**inputs).last_hidden_state
            return read_head(
                model.state["head"], states, questions=questions, asked=asked, asked_positions=asked_positions
            )
        watched = [(row, index) for row, index in asked if questions[index].want == ATTENTION]
        where = see_attention(model) if watched else None
        if where is not None:
            mask = inputs.get("attention_mask", torch.ones_like(inputs["input_ids"]))
            with watching(model.net, where, mask=mask) as received:
                output = model.state["body"](**inputs, **where.arguments)
            mean = sum(received) / len(received)
            attention = {index: as_array(mean[row, list(questions[index].positions)]) for row, index in watched}
        elif watched:
            raise IsoglossError(NO_ATTENTION.format(name=model.info.name))
        else:
            output, attention = model.state["body"](**inputs), {}
        classes = _classes(model, questions, output=output, asked=asked)
        states = output.last_hidden_state
        return classes | attention | read_head(model.state["head"], states, questions=questions, asked=asked)


def see_attention(model: Model) -> AttentionOutputs | None:
    """Where the model's attention can be read, determined once; nothing for a model without attention."""
    if "attention" not in model.state:
        sample = Question(tuple(token % model.info.vocabulary for token in range(5, 13)))
        with torch.inference_mode():
            attention = find_attention(model.net, model.state["body"], inputs=_inputs(model, [sample]))
        model.state["attention"] = attention
    return model.state["attention"]  # type: ignore[no-any-return]


def _classes(
    model: Model, questions: Sequence[Question], *, output: Any, asked: list[tuple[int, int]]
) -> dict[int, Answer]:
    pairs = [(row, index) for row, index in asked if questions[index].want == CLASS]
    if not pairs:
        return {}
    if "classifier" in model.state:
        return read_classes(model.state["classifier"], output.last_hidden_state, questions=questions, asked=asked)
    logits = model.net.cls.seq_relationship(output.pooler_output[[row for row, _ in pairs]])
    return {index: as_array(line) for (_, index), line in zip(pairs, logits.float().log_softmax(-1), strict=True)}


def _inputs(model: Model, firsts: Sequence[Question]) -> dict[str, Any]:
    config = model.net.config
    ids, mask = pad([question.ids for question in firsts], model.tokenizer.pad_token_id or 0)
    inputs: dict[str, torch.Tensor] = {"input_ids": ids} | ({} if bool(mask.all()) else {"attention_mask": mask})
    if any(question.segments for question in firsts):
        longest = ids.shape[1]
        segments = [[*question.segments, *[0] * (longest - len(question.segments))] for question in firsts]
        inputs["token_type_ids"] = torch.tensor(segments)
    if getattr(config, "n_langs", 1) > 1 and getattr(config, "use_lang_emb", False):
        languages = torch.tensor([_language(model, question.language) for question in firsts])
        inputs["langs"] = languages[:, None].expand_as(ids)
    return send(inputs, model.device) | ({"cache": _NoCache()} if getattr(config, "pre_norm", False) else {})


def _language(model: Model, language: str | None) -> int:
    """The number that the model has for a language, by the first part of its tag; any for a question without one."""
    codes = getattr(model.net.config, "lang2id", None) or {}
    plain = (language or "").split("-")[0]
    if language is None or plain in codes:
        return int(codes.get(plain, 0))
    raise IsoglossError(
        f"'{model.info.name}' needs the language of a text and does not know '{language}'. "
        f"It knows: {', '.join(sorted(codes)) or 'none'}."
    )


class _NoCache:
    """Stands for no cache: transformers 5.22 cannot index the cache that a FlauBERT with `pre_norm` makes itself."""

    def get_seq_length(self) -> int:
        return 0

    def __getitem__(self, layer: int) -> None:
        return None


def expect(model: Model, text: str, *, language: str) -> Question | None:
    """The question for everything that may fill the blank; none when the text holds the mask token itself."""
    left, _, right = text.partition(BLANK)
    mask = model.tokenizer.mask_token_id
    before, _, after = cut(model.tokenizer, (left, STAND_IN, right))
    if mask in (*before, *after):
        return None
    start, end = special_tokens(model.tokenizer)
    ids = (*start, *before, mask, *after, *end)
    return Question(ids, (len(start) + len(before),), want=DISTRIBUTION, language=language)


def read_pair(model: Model, first: str, *, second: str) -> tuple[Ids, Ids, int]:
    """The two sentences as the tokenizer pairs them, with segments where the model has them."""
    encoding = model.tokenizer(first, second, return_token_type_ids=True)
    ids, segments = tuple(encoding["input_ids"]), tuple(encoding["token_type_ids"])
    has_segments = "reading" not in model.state or getattr(model.net.config, "type_vocab_size", 0) > 1
    return ids, segments if has_segments else (), 1


def refuse(model: Model, *, asked: str, options: Mapping[str, str]) -> str | None:
    """A sentence when the model has no mask token, or shows no attention, and needs it."""
    name = model.info.name
    if asked == ATTENTION and see_attention(model) is None:
        return NO_ATTENTION.format(name=name)
    if asked in (FILL, HIDE, EXPECT) and model.tokenizer.mask_token is None:
        lost = "it cannot fill a blank" if asked == FILL else "no token can be hidden from it"
        return f"'{name}' has no mask token, so {lost}. Is it a masked model?"
    return None


family = Family(
    title="Masked models: BERT, RoBERTa, ALBERT, ELECTRA, DistilBERT, DeBERTa, XLM-R, ModernBERT, FlauBERT, XLM, ...",
    wants=(LOGPROB, ARGMAX, CLASS, VECTOR, ATTENTION, DISTRIBUTION),
    matches=lambda config: auto_class(config) == MASKED_LM,
    loader=loader,
    prepare=prepare,
    bundle=bundle,
    answer=answer,
    libraries=LIBRARIES,
    in_place=True,
    filling=Filling(lambda model: str(model.tokenizer.mask_token)),
    expecting=expect,
    pairing=read_pair,
    refuse=refuse,
)
