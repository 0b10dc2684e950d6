"""Encoder-decoder models (T5 class): an encoder input is read once for all decoder inputs that follow it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import torch
from transformers.modeling_outputs import BaseModelOutput

from ...items import group_by
from ...languages import join_sentences
from ..engine import fill_batches
from ..forward import find_activations, one_pass, pad, send
from ..generation import answer_prompts, prompting_identity, refuse_prompts
from ..head import find_head, read_head
from ..info import LIBRARIES, SEQ2SEQ_LM, auto_class
from ..model import CONTINUE, FILL, Bundle, Family, Filling, Generating, Model
from ..questions import ARGMAX, LOGPROB, TEXT, VECTOR, Answer, Passage, Question, Span
from ..text import Ids, encode, encode_full, shared_start, token_id

MOST_DECODED = 2048
SENTINEL = "<extra_id_0>"


def prepare(model: Model) -> None:
    """Find encoder, decoder and head."""
    net = model.net
    # transformers 5 takes every UMT5 for one with tied matrices and scales its output; with untied ones it must not
    if net.config.model_type == "umt5" and net.lm_head.weight.data_ptr() != net.shared.weight.data_ptr():
        net.config.tie_word_embeddings = False
    encoder, decoder = net.get_encoder(), net.get_decoder()

    def head_inputs(states: torch.Tensor) -> dict[str, object]:
        ids = torch.zeros(1, len(states), dtype=torch.long, device=states.device)
        return {
            "encoder_outputs": BaseModelOutput(last_hidden_state=states[None]),
            "decoder_input_ids": ids,
            "use_cache": False,
        }

    ids = torch.arange(5, 13, device=model.device)[None] % model.info.vocabulary
    sample = {"input_ids": ids, "decoder_input_ids": ids, "use_cache": False}
    with torch.inference_mode():
        head = find_head(net, [decoder], inputs=head_inputs, sample=sample)
    model.state.update(encoder=encoder, decoder=decoder, head=head, activations=find_activations(net))


def bundle(model: Model, questions: Sequence[Question]) -> list[Bundle]:
    """Questions with the same encoder input go together."""
    groups = group_by(range(len(questions)), lambda index: questions[index].ids)
    return [
        Bundle(tuple(part), len(ids) + sum(map(len, {questions[index].decoder_ids for index in part})))
        for ids, indices in groups.items()
        for part in _cut(questions, indices)
    ]


def _cut(questions: Sequence[Question], indices: list[int]) -> Iterator[list[int]]:
    """Questions of one encoder input in parts of a limited number of decoder tokens; equal decoder inputs stay together."""
    if sum(len(questions[index].decoder_ids) for index in indices) <= MOST_DECODED:
        yield indices
        return
    part: list[int] = []
    size = 0
    last: tuple[int, ...] = ()
    for index in sorted(indices, key=lambda index: (len(questions[index].decoder_ids), questions[index].decoder_ids)):
        ids = questions[index].decoder_ids
        if part and ids != last and size + len(ids) > MOST_DECODED:
            yield part
            part, size = [], 0
        size += len(ids) if ids != last or not part else 0
        part.append(index)
        last = ids
    yield part


def answer(model: Model, questions: Sequence[Question], *, batch: Sequence[Bundle]) -> dict[int, Answer]:
    """The encoder once per input, the decoder once per decoder input, the head at the asked positions.

    The two lengths of a question have little to do with each other, so encoder and decoder inputs are grouped apart.
    """
    rows: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for number, bundle in enumerate(batch):
        for index in bundle.indices:
            rows.setdefault((number, questions[index].decoder_ids), []).append(index)
    answers: dict[int, Answer] = {}
    with one_pass(model):
        encoded: dict[int, torch.Tensor] = {}
        sources, texts = [questions[bundle.indices[0]].ids for bundle in batch], list(rows)
        for group in _alike(sources):
            inputs = _sent([sources[number] for number in group], model.device)
            states = model.state["encoder"](**inputs).last_hidden_state
            encoded |= {number: line[: len(sources[number])] for number, line in zip(group, states, strict=True)}
        for group in _alike([ids for _, ids in texts]):
            chosen = [texts[index] for index in group]
            states = _decode(model, [ids for _, ids in chosen], encoded=[encoded[number] for number, _ in chosen])
            asked = [(row, index) for row, text in enumerate(chosen) for index in rows[text]]
            answers |= read_head(model.state["head"], states, questions=questions, asked=asked)
    return answers


def _alike(texts: Sequence[Ids]) -> list[list[int]]:
    """The places of texts in groups of about the same length."""
    order = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
    groups = fill_batches([Bundle((index,), len(texts[index])) for index in order], MOST_DECODED)
    return [[bundle.indices[0] for bundle in group] for group in groups]


def _decode(model: Model, texts: Sequence[tuple[int, ...]], *, encoded: Sequence[torch.Tensor]) -> torch.Tensor:
    """The decoder's hidden states for texts that follow what was encoded."""
    source = torch.nn.utils.rnn.pad_sequence(list(encoded), batch_first=True)
    lengths = torch.tensor([len(states) for states in encoded], device=source.device)
    states: torch.Tensor = model.state["decoder"](
        **_sent(texts, model.device),
        encoder_hidden_states=source,
        encoder_attention_mask=(torch.arange(source.shape[1], device=source.device)[None] < lengths[:, None]).long(),
        use_cache=False,
    ).last_hidden_state
    return states


def _sent(texts: Sequence[tuple[int, ...]], device: str) -> dict[str, torch.Tensor]:
    ids, mask = pad(texts)
    return send({"input_ids": ids, "attention_mask": mask}, device)


def continue_text(model: Model, passage: Passage) -> Span:
    """The encoder reads the context and a sentinel; the decoder is made to fill it with the text."""
    tokenizer = model.tokenizer
    tokens = encode(tokenizer, passage.text)
    if passage.closed:
        tokens = (*tokens, tokenizer.eos_token_id)
    if not tokens:
        return Span((), False)
    context = passage.context
    source = join_sentences(context, SENTINEL, tag=passage.language) if context else SENTINEL
    begin = (_first(model), token_id(tokenizer, SENTINEL))
    read = tokens[:-1] if context else tokens  # a sentence's vector needs its last token too
    question = Question(
        encode_full(tokenizer, source), tuple(range(1, len(tokens) + 1)), tokens, decoder_ids=(*begin, *read)
    )
    return Span((question,), False)


def fill_blank(model: Model, question: Question) -> Question:
    """A question about a blank in the encoder's text, put to the decoder after the sentinel."""
    sentinel = question.ids[question.positions[0]]
    return replace(question, positions=(1,), decoder_ids=(_first(model), sentinel), language=None)


def read_pair(model: Model, first: str, *, second: str) -> tuple[Ids, Ids, int]:
    """The two sentences, each with its end token, after the prefix of a trained head."""
    tokenizer, reading = model.tokenizer, model.state.get("reading")
    prefix = reading.prefix if reading else ""
    end = () if tokenizer.eos_token_id is None else (tokenizer.eos_token_id,)
    before = encode(tokenizer, prefix + first)
    return before + end + encode(tokenizer, second) + end, (), shared_start(before, encode(tokenizer, prefix))


def _after_prompt(model: Model, ids: Ids, *, tokens: Ids) -> Question:
    return Question(ids, tuple(range(len(tokens))), tokens, decoder_ids=(_first(model), *tokens[:-1]))


def _first(model: Model) -> int:
    """The token that every decoder input begins with."""
    return model.net.config.decoder_start_token_id  # type: ignore[no-any-return]


def refuse(model: Model, *, asked: str, options: Mapping[str, str]) -> str | None:
    """A sentence when the model has no sentinel to fill, or cannot be asked with these options."""
    if asked == TEXT:
        return refuse_prompts(model, options)
    if asked == FILL and options.get("variant") == "all-masked":
        return "The variant 'all-masked' is for masked models; an encoder-decoder model has one sentinel."
    if asked == CONTINUE and options.get("case", "d") != "d":
        return f"The case '{options['case']}' is for causal models; an encoder-decoder model has the default only."
    if asked == CONTINUE and options.get("start", "auto") != "auto":
        return f"The option 'start={options['start']}' is for causal models."
    if asked in (CONTINUE, FILL) and SENTINEL not in model.tokenizer.get_vocab():
        lost = "fill a blank. Use `method='continuation'`" if asked == FILL else "be made to write a sentence"
        return f"'{model.info.name}' has no '{SENTINEL}' token, so it cannot {lost}."
    return None


family = Family(
    title="Encoder-decoder models: T5, mT5, UMT5, ...",
    wants=(LOGPROB, ARGMAX, VECTOR, TEXT),
    matches=lambda config: auto_class(config) == SEQ2SEQ_LM,
    loader=lambda config: SEQ2SEQ_LM,
    prepare=prepare,
    bundle=bundle,
    answer=answer,
    answer_each=answer_prompts,
    prompting=prompting_identity,
    libraries=LIBRARIES,
    pads=False,
    filling=Filling(lambda model: SENTINEL, fill_blank),
    continuing=continue_text,
    pairing=read_pair,
    generating=Generating(lambda model, text: encode_full(model.tokenizer, text), _after_prompt, echoes=False),
    refuse=refuse,
)
