"""Causal models (GPT class): texts with a common beginning are read as one packed row that branches after it."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from ...errors import IsoglossError
from ...items import BLANK
from ..continuations import left_to_right, span, start_token
from ..forward import find_activations, one_pass, pad, send
from ..generation import answer_prompts, prompting_identity, refuse_prompts, refuse_prompts_by_files
from ..head import blank_inputs, find_head, gap, read_head
from ..info import CAUSAL_LM, LIBRARIES, auto_class
from ..model import Bundle, Family, Generating, Model
from ..next_sentence import read_classes
from ..questions import ARGMAX, CLASS, DISTRIBUTION, LOGPROB, TEXT, VECTOR, Answer, Question
from ..text import Ids, encode, shared_start

CLOSE = 1e-4
WORTH = 4  # a text joins a packed row when that saves at least this part of it: a quarter


def prepare(model: Model) -> None:
    """Find the head, and find out whether packed rows give the same hidden states as plain ones."""
    net = model.net
    sample = tuple(token % model.info.vocabulary for token in range(5, 13))
    with torch.inference_mode():
        read = {"input_ids": torch.tensor([sample], device=model.device), "use_cache": False}
        head = find_head(net, [net.base_model, net.get_decoder()], inputs=blank_inputs, sample=read)
        # how far back every layer sees; a packed row has a mask of its own instead, so its texts must be shorter
        config = net.config.get_text_config()
        sizes = (getattr(config, name, None) for name in ("sliding_window", "attention_chunk_size"))
        window = min((size for size in sizes if isinstance(size, int) and size > 0), default=math.inf)
        model.state.update(body=head.body, head=head, window=window)
        # XLNet and its like count as causal in transformers, but without more masks they see the token they are asked for
        ids = torch.tensor([sample, (*sample[:-1], sample[0])], device=model.device)
        first, second = head.body(input_ids=ids, use_cache=False).last_hidden_state[:, :-1]
        if not gap(first, second) < CLOSE:
            raise IsoglossError(
                f"'{model.info.name}' is a '{model.info.model_type}' model, which sees later tokens; "
                "it cannot be scored as a causal model."
            )
        model.state["packed"] = _packing_is_exact(model, sample)
        model.state["activations"] = find_activations(net)


def _packing_is_exact(model: Model, sample: tuple[int, ...]) -> bool:
    forks = [Question(sample[:3] + tail) for tail in (sample[3:], sample[6:2:-1], sample[4:6])]
    batch = [Bundle((0, 1, 2), 0), Bundle((2,), 0)]
    try:
        packed, indices = _packed_states(model, forks, batch=batch)
        texts = [torch.tensor([fork.ids], device=model.device) for fork in forks]
        plain = [model.state["body"](input_ids=ids, use_cache=False).last_hidden_state[0] for ids in texts]
    except (RuntimeError, ValueError, TypeError, IndexError, AttributeError):
        return False
    return all(gap(plain[index], packed[row, indices[index][1]]) < CLOSE for row, index in ((0, 0), (0, 1), (1, 2)))


def bundle(model: Model, questions: Sequence[Question]) -> list[Bundle]:
    """Texts that begin alike go together when that saves at least a quarter of the text that joins.

    For less, as for a start token that all texts share, rows would grow long and attention over them dear.
    """
    groups: list[tuple[list[int], list[Ids], int]] = []  # questions, their texts, and how many tokens these share
    for index in sorted(range(len(questions)), key=lambda index: questions[index].ids):
        ids = questions[index].ids
        if groups and ids == groups[-1][1][-1]:
            groups[-1][0].append(index)
            continue
        if groups and model.state["packed"]:
            indices, texts, before = groups[-1]
            shared = min(before, shared_start(ids, texts[0]))
            length = shared + sum(len(text) - shared for text in (*texts, ids))
            saves = WORTH * (shared - (len(texts) - 1) * (before - shared)) >= len(ids)
            longest = max(map(len, (*texts, ids)))
            if saves and length <= min(model.info.max_length or 1024, 1024) and longest <= model.state["window"]:
                indices.append(index)
                texts.append(ids)
                groups[-1] = (indices, texts, shared)
                continue
        groups.append(([index], [ids], len(ids)))
    return [
        Bundle(tuple(indices), shared + sum(len(text) - shared for text in texts)) for indices, texts, shared in groups
    ]


def answer(model: Model, questions: Sequence[Question], *, batch: Sequence[Bundle]) -> dict[int, Answer]:
    """One pass over plain or packed rows; then the head, at the asked positions only.

    Texts that are longer than the model's window keep the model's own mask, in a pass of their own.
    """
    far = [bundle for bundle in batch if len(questions[bundle.indices[0]].ids) > model.state["window"]]
    near = [bundle for bundle in batch if bundle not in far]
    answers: dict[int, Answer] = {}
    for part in filter(None, (near, far)):
        with one_pass(model):
            states, rows = _packed_states(model, questions, batch=part)
            order, moved = sorted(rows), []
            for index in order:
                positions = tuple(rows[index][1][position] for position in questions[index].positions)
                moved.append(replace(questions[index], ids=(), positions=positions))
            asked = [(rows[index][0], number) for number, index in enumerate(order)]
            values = read_head(model.state["head"], states, questions=moved, asked=asked)
            if "classifier" in model.state:
                values |= read_classes(model.state["classifier"], states, questions=moved, asked=asked)
            answers |= {order[number]: value for number, value in values.items()}
    return answers


def _packed_states(
    model: Model, questions: Sequence[Question], *, batch: Sequence[Bundle]
) -> tuple[torch.Tensor, dict[int, tuple[int, list[int]]]]:
    """The hidden states of the batch's rows, and for each question its row and where its tokens are in it."""
    rows, indices = [], {}
    for number, bundle in enumerate(batch):
        texts = list(dict.fromkeys(questions[index].ids for index in bundle.indices))
        shared = min(shared_start(texts[0], text) for text in texts)
        starts, cursor = {}, shared
        for text in texts:
            starts[text] = cursor
            cursor += len(text) - shared
        rows.append((texts, shared, cursor))
        for index in bundle.indices:
            ids = questions[index].ids
            indices[index] = number, [*range(shared), *range(starts[ids], starts[ids] + len(ids) - shared)]
    if all(len(texts) == 1 for texts, _, _ in rows):
        tokens, mask = pad([texts[0] for texts, _, _ in rows])
        inputs = {"input_ids": tokens} if bool(mask.all()) else {"input_ids": tokens, "attention_mask": mask}
    else:
        inputs = _packed_inputs(rows)
    states = model.state["body"](**send(inputs, model.device), use_cache=False).last_hidden_state
    return states.to(model.device), indices  # the last layer may be on another device


def _packed_inputs(rows: Sequence[tuple[list[Ids], int, int]]) -> dict[str, Any]:
    """Rows of a common beginning and branches; a float mask lets a branch see the beginning and itself only."""
    longest = max(length for _, _, length in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    positions = torch.zeros(len(rows), longest, dtype=torch.long)
    branch = torch.full((len(rows), longest), -1)
    for number, (texts, shared, length) in enumerate(rows):
        packed = [*texts[0][:shared], *(token for text in texts for token in text[shared:])]
        ids[number, :length] = torch.tensor(packed)
        steps = [*range(shared), *(step for text in texts for step in range(shared, len(text)))]
        positions[number, :length] = torch.tensor(steps)
        marks = [0] * shared + [mark for mark, text in enumerate(texts, 1) for _ in text[shared:]]
        branch[number, :length] = torch.tensor(marks)
    before = torch.ones(longest, longest, dtype=torch.bool).tril()
    same = (branch[:, :, None] == branch[:, None, :]) | (branch[:, None, :] == 0)
    seen = (same & before) | torch.eye(longest, dtype=torch.bool)
    mask = torch.zeros(len(rows), 1, longest, longest).masked_fill_(~seen[:, None], torch.finfo(torch.float32).min)
    return {"input_ids": ids, "position_ids": positions, "attention_mask": mask}


def expect(model: Model, text: str, *, language: str) -> Question | None:
    """The question for everything that may follow the text before the blank."""
    ids = (*start_token(model), *encode(model.tokenizer, text.partition(BLANK)[0].rstrip(" ")))
    return Question(ids, (len(ids) - 1,), want=DISTRIBUTION) if ids else None


def read_pair(model: Model, first: str, *, second: str) -> tuple[Ids, Ids, int]:
    """The two sentences as one text after the start token, or as the head that reads them was trained."""
    pair_format = model.state.get("reading")
    if pair_format is not None and pair_format.separate:
        return tuple(model.tokenizer(first, second)["input_ids"]), (), 0
    start = start_token(model)
    return start + encode(model.tokenizer, f"{first} {second}"), (), len(start)


def _after_prompt(model: Model, ids: Ids, *, tokens: Ids) -> Question:
    return span(model, tokens, start=(), before=ids).questions[0]


family = Family(
    title="Causal models: GPT-2, Llama, Gemma, Qwen, BLOOM, OPT, ...",
    wants=(LOGPROB, ARGMAX, CLASS, VECTOR, DISTRIBUTION, TEXT),
    matches=lambda config: auto_class(config) == CAUSAL_LM,
    loader=lambda config: CAUSAL_LM,
    prepare=prepare,
    bundle=bundle,
    answer=answer,
    answer_each=answer_prompts,
    prompting=prompting_identity,
    libraries=LIBRARIES,
    continuing=left_to_right,
    chats=True,
    expecting=expect,
    pairing=read_pair,
    generating=Generating(
        lambda model, text: (*start_token(model), *encode(model.tokenizer, text + "\n")), _after_prompt, echoes=True
    ),
    refuse=lambda model, *, asked, options: refuse_prompts(model, options) if asked == TEXT else None,
    refuse_files=refuse_prompts_by_files,
)
