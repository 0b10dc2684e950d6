"""Asking on this machine: generation in batches, samples, templates, and the probabilities of yes and no."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest
import torch

from isogloss import languages, runs
from isogloss.chat.prompt_words import prompt_words_of
from isogloss.errors import IsoglossError
from isogloss.items import Candidate, Items, Problem
from isogloss.methods import fill_options
from isogloss.methods.ask import AskSettings, make_requests, method, statement_of
from isogloss.models import chat_template
from isogloss.models.generation import answer_prompts
from isogloss.models.load import describe, wrap
from isogloss.models.model import Loading, Model
from isogloss.models.questions import Prompt, Reply
from isogloss.studies.cells import Running, run_cells
from isogloss.studies.run import score_items
from isogloss.studies.scoring_plan import PlannedCell, plan_cells
from support import tiny
from support.builders import triple

CHAT = "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}<assistant>"
PLAIN = AskSettings(template="plain", max_tokens=4)
LONG = {"gpt2": {"n_positions": 1024}, "gemma3": {"max_position_embeddings": 1024}}


@cache
def talker(kind: str = "bloom") -> Model:
    """A tiny model that reads long texts."""
    if kind not in LONG:
        return tiny.model(kind)
    name, tokenizer, options = tiny.KINDS[kind]
    with patch.dict(tiny.KINDS, {kind: (name, tokenizer, options | LONG[kind])}):
        net = tiny.network(kind)
    return wrap(net, tokenizer(), info=describe(net, tokenizer(), name=f"talking-{kind}"))


def with_template(model: Model, template: str | None) -> Model:
    """The model with another chat template; the tokenizer of the session stays as it is."""
    tokenizer = copy.deepcopy(model.tokenizer)
    tokenizer.chat_template = template
    return replace(model, tokenizer=tokenizer)


def ask_all(rows: Items, model: Model, *, out: Path, part_size: int | None = None) -> list[runs.Run]:
    planned = PlannedCell("", rows, "ask", PLAIN.options, loading=Loading(part_size=part_size, token_budget=1))
    results = run_cells(plan_cells(planned, model), model, running=Running(out, token_budget=1))
    return [result.run for result in results if result.run]


def items(count: int = 3) -> Items:
    words = ["kind", "a doctor", "very quiet and not friendly at all", "rude", "from Norway"][:count]
    made = [triple(f"i{n}", f"t{n}") for n in range(len(words))]
    return Items(
        tuple(
            replace(one, candidates=(Candidate(f"{one.id}-s", "stereotype", f"The nurse is {word}."),))
            for one, word in zip(made, words, strict=True)
        )
    )


def prompts_about(rows: Items, settings: AskSettings) -> list[Prompt]:
    """Every message about the items."""
    words = prompt_words_of(languages.describe("en"), "")
    return [request.message for item in rows for request in make_requests(item, settings, words=words)]


def answers(model: Model, prompts: list[Prompt], *, budget: int | None = None) -> dict[Prompt, Reply]:
    kept: dict[Prompt, Reply] = {}
    answer_prompts(model, prompts, keep=kept.update, token_budget=budget)
    return kept


@pytest.mark.parametrize("kind", ["bloom", "gpt2", "gemma3", "t5"])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_answers_depend_neither_on_the_batch_nor_on_the_order(kind, temperature):
    plan = replace(PLAIN, temperature=temperature, samples=2 if temperature else 1)
    prompts = prompts_about(items(), plan)
    together = answers(talker(kind), prompts, budget=4000)
    alone = answers(talker(kind), prompts[::-1], budget=1)
    assert len(together) == len(prompts)
    assert len({reply.logprobs for reply in together.values()}) > 3
    for prompt, reply in together.items():
        assert replace(reply, logprobs=None) == replace(alone[prompt], logprobs=None)
        if reply.logprobs is not None:
            assert reply.logprobs == pytest.approx(alone[prompt].logprobs, abs=1e-4)


@pytest.mark.parametrize("kind", ["bloom", "gpt2"])
def test_the_greedy_answer_is_the_most_probable_token_each_time(kind):
    model = talker(kind)
    (request, *_) = prompts_about(items(), PLAIN)
    found = answers(model, [request])[request]
    start = [model.tokenizer.bos_token_id]
    ids = start + model.tokenizer.encode(request.text + "\n", add_special_tokens=False)
    prompt = len(ids)
    with torch.inference_mode():
        for _ in range(PLAIN.max_tokens):
            ids.append(int(model.net(torch.tensor([ids])).logits[0, -1].argmax()))
    assert model.tokenizer.eos_token_id not in ids[prompt:]
    assert found.text == model.tokenizer.decode(ids[prompt:], skip_special_tokens=True).strip()
    assert (found.prompt_tokens, found.answer_tokens, found.finish) == (prompt, 4, "length")


def test_the_probability_of_yes_is_that_of_its_tokens_after_the_prompt():
    model = talker()
    (request, *_) = prompts_about(items(), PLAIN)
    found = answers(model, [request])[request]
    assert found.logprobs is not None
    start = [model.tokenizer.bos_token_id, *model.tokenizer.encode(request.text + "\n", add_special_tokens=False)]
    for value, forms in zip(found.logprobs, (("yes", "Yes"), ("no", "No")), strict=True):
        total = torch.tensor(0.0, dtype=torch.float64)
        for form in forms:
            ids = model.tokenizer.encode(form, add_special_tokens=False)
            with torch.inference_mode():
                logs = model.net(torch.tensor([[*start, *ids]])).logits[0].double().log_softmax(-1)
            positions = range(len(start) - 1, len(start) + len(ids) - 1)
            total += sum(logs[position, token] for position, token in zip(positions, ids, strict=True)).exp()
        assert value == pytest.approx(float(total.log()), abs=1e-4)


def test_samples_follow_the_model_s_distribution_and_the_seed():
    model = talker()
    plan = replace(PLAIN, max_tokens=1, temperature=0.8, samples=300)
    requests = prompts_about(items(1), plan)[600:900]  # one prompt in one order
    found = [reply.text for reply in answers(model, requests, budget=10**6).values()]
    ids = [model.tokenizer.bos_token_id, *model.tokenizer.encode(requests[0].text + "\n", add_special_tokens=False)]
    with torch.inference_mode():
        chance, top = (model.net(torch.tensor([ids])).logits[0, -1] / 0.8).softmax(-1).max(-1)
    expected, seen = float(chance), found.count(model.tokenizer.decode([int(top)]).strip()) / 300
    assert abs(seen - expected) < 4 * (expected * (1 - expected) / 300) ** 0.5
    again = answers(model, prompts_about(items(1), replace(plan, seed=1))[600:900], budget=10**6)
    assert [answer.text for answer in again.values()] != found


def test_a_model_without_a_template_says_how_to_do_without():
    with pytest.raises(IsoglossError) as caught:
        plan_cells(PlannedCell("", items(), "ask"), talker())
    assert str(caught.value) == (
        "'tiny-bloom' has no chat template, so it is not known how to address it. "
        "Use `options={'template': 'plain'}` to give it the bare prompt, or choose a chat model."
    )


def test_a_model_without_a_template_is_known_before_its_weights_are_loaded(tmp_path):
    folder = Path(tiny.save_talker(tmp_path / "talker"))
    (folder / "chat_template.jinja").unlink()
    (folder / "model.safetensors").write_bytes(b"not read")
    for options, why in ({}, "has no chat template"), ({"template": "plain"}, "no complete safetensors"):
        with pytest.raises(IsoglossError, match=why):
            score_items(items(), str(folder), method="ask", options=options)


def test_the_chat_template_frames_the_prompt():
    model = with_template(talker(), CHAT)
    (request, *_) = prompts_about(items(), AskSettings(max_tokens=4))
    framed = model.tokenizer.encode(f"<user>{request.text}\n<assistant>", add_special_tokens=False)
    found = answers(model, [request])[request]
    assert found.prompt_tokens == len(framed)


ODD = (
    "{{ bos_token }}{% generation %}{{ messages[0]['content']|tojson }}{% endgeneration %}{{ messages|length }}"
    "{% if add_generation_prompt %}{{ eos_token }} é 中 \U0001f600{% endif %}"
)


@pytest.mark.parametrize("template", [CHAT, ODD])
def test_the_child_process_frames_a_prompt_as_transformers_does(template):
    tokenizer = with_template(talker("gpt2"), template).tokenizer
    texts = ["Is it?\nYes or no: é 中", "{{ 1 }}"]
    chats = [[{"role": "user", "content": text}] for text in texts]
    wanted = tokenizer.apply_chat_template(chats, tokenize=False, add_generation_prompt=True)
    assert chat_template.frame_prompts(tokenizer, texts, name="tiny") == wanted


@pytest.mark.parametrize(
    ("template", "why"),
    [
        (
            "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
            "it did not end within 1 seconds",
        ),
        ("{{ 'b' * 9999999999 }}", "it needs more than 1 GB of memory"),
        (
            "{% set n = namespace(s='ab') %}{% for a in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
            "it needs more than 1 GB of memory",
        ),
        ("{{ 'b' * 2000000 }}", "it makes more than 1,000,000 letters of a prompt"),
        ("{{ ''.__class__.__mro__ }}", "access to attribute '__class__' of 'str' object is unsafe."),
        ("{% if %}", "Expected an expression, got 'end of statement block'"),
    ],
    ids=["endless", "memory", "doubling", "letters", "escape", "syntax"],
)
def test_a_chat_template_has_a_limit_of_time_and_size_on_any_thread(monkeypatch, template, why):
    monkeypatch.setattr(
        chat_template, "SECONDS", 1 if "seconds" in why else 20
    )  # a busy machine takes long to fill 1 GB
    model = with_template(talker(), template)
    with ThreadPoolExecutor(1) as pool, pytest.raises(IsoglossError) as caught:
        pool.submit(answers, model, prompts_about(items(1), AskSettings())).result()
    assert (
        str(caught.value)
        == f"The chat template of 'tiny-bloom' cannot be used ({why}). Use `options={{'template': 'plain'}}`."
    )


LISTS = "{% for m in messages %}{% for part in m.content %}{% if part.type == 'text' %}{{ part.text }}{% endif %}{% endfor %}{% endfor %}A:"


def test_a_template_that_reads_a_list_of_parts_gets_one_and_one_that_drops_the_message_is_refused():
    tokenizer = copy.copy(tiny.tokenizer_of("gpt2"))
    tokenizer.chat_template = LISTS
    assert chat_template.frame_prompts(tokenizer, ["The nurse is kind. "], name="tiny") == ["The nurse is kind. A:"]
    tokenizer.chat_template = "{% for m in messages %}{{ m.role }}{% endfor %}A:"
    with pytest.raises(IsoglossError) as caught:
        chat_template.frame_prompts(tokenizer, ["The nurse is kind."], name="tiny")
    assert str(caught.value) == (
        "The chat template of 'tiny' cannot be used (it leaves out the message). Use `options={'template': 'plain'}`."
    )


def test_a_template_that_fails_is_one_sentence():
    model = with_template(talker(), "{{ raise_exception('no users here') }}")
    with pytest.raises(IsoglossError) as caught:
        answers(model, prompts_about(items(), AskSettings()))
    assert str(caught.value) == (
        "The chat template of 'tiny-bloom' cannot be used (no users here). Use `options={'template': 'plain'}`."
    )


def test_a_masked_model_cannot_answer():
    with pytest.raises(IsoglossError) as caught:
        plan_cells(PlannedCell("", items(), "ask", PLAIN.options), tiny.model("bert"))
    assert str(caught.value) == (
        "The method 'ask' is for causal and seq2seq and server models; 'tiny-bert' is masked. "
        "Use `method='auto'` to let Isogloss choose."
    )


def test_too_long_a_prompt_is_named():
    with pytest.raises(IsoglossError) as caught:
        answers(tiny.model("gpt2"), prompts_about(items(), PLAIN))
    assert str(caught.value).startswith("A prompt has ")
    assert "is more than the 64 that 'tiny-gpt2' reads: 'Consider this statement: The nurse" in str(caught.value)


# ---- requests


def test_every_prompt_is_asked_with_the_answer_words_in_both_orders():
    texts = [prompt.text for prompt in prompts_about(items(1), AskSettings())]
    assert len(texts) == len(set(texts)) == 6
    assert sum("yes or no" in text for text in texts) == sum("no or yes" in text for text in texts) == 3
    assert all("The nurse is kind." in text for text in texts)


def test_a_sentence_after_its_context_is_asked_with_it():
    item = replace(triple("x"), context="I met a nurse.")
    assert statement_of(item, item.candidates[0]) == "I met a nurse. She is stereotype."
    assert statement_of(replace(item, language="zh"), item.candidates[0]) == "I met a nurse.She is stereotype."
    assert statement_of(triple("x"), item.candidates[0]) == "She is stereotype."


def test_braces_in_a_statement_stay_as_they_are():
    item = items(1)[0]
    odd = replace(item, candidates=(Candidate("c", "stereotype", "{first} {statement} {x}"),))
    assert "{first} {statement} {x}" in prompts_about(Items((odd,)), AskSettings())[0].text


def test_a_language_without_prompts_says_where_to_write_them():
    with pytest.raises(IsoglossError) as caught:
        method.prepare([replace(items(1)[0], language="ig")], fill_options("ask", method, chosen={}))
    assert str(caught.value) == (
        "Igbo has no prompts. Add [ask.prompts] and [ask.answers] to a file for it (isogloss language new ig)."
    )


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (AskSettings(samples=3), "3 samples at temperature 0 are all the same. Use temperature=0.7, or samples=1."),
        (AskSettings(order="up"), "No value of 'ask' option 'order' named 'up'. Known: both, no-yes, yes-no."),
        (AskSettings(template="fancy"), "No value of 'ask' option 'template' named 'fancy'. Known: auto, plain."),
        (AskSettings(max_tokens=0), "max_tokens=0: 'max_tokens' of 'ask' must be a whole number of at least 1."),
    ],
)
def test_plans_that_cannot_work_are_refused(plan, message):
    with pytest.raises(IsoglossError) as caught:
        fill_options("ask", method, chosen=plan.options)
    assert str(caught.value) == message


def test_a_cell_has_the_problems_of_its_own_language():
    english = items(1)
    german = tuple(replace(item, language="de") for item in english)
    problems = tuple(Problem("odd", "warning", "i0", f"odd in {tag}", tag) for tag in ("en", "de"))
    both = Items((*english.rows, *german), problems)
    cells = plan_cells(PlannedCell("", both, "ask", PLAIN.options), talker())
    assert [[problem.message for problem in cell.problems] for cell in cells] == [["odd in en"], ["odd in de"]]


def test_items_without_the_role_are_left_out_and_none_at_all_is_an_error(tmp_path):
    both = Items((*items(1).rows, triple("only", roles=("unrelated",))))
    (cell,) = plan_cells(PlannedCell("", both, "ask", PLAIN.options), talker())
    assert len(cell.items) == 1
    with pytest.raises(IsoglossError) as caught:
        plan_cells(PlannedCell("", items(1), "ask", replace(PLAIN, role="hero").options), talker())
    assert str(caught.value).startswith(
        "The method 'ask[role=hero,max_tokens=4,template=plain]' fits none of the 1 items"
    )


# ---- on disk


def test_what_is_answered_is_never_asked_again_and_parts_are_equal(tmp_path):
    (whole,) = ask_all(items(5), talker(), out=tmp_path / "whole", part_size=2)
    asked: list[Prompt] = []

    def falter(model, questions, *, keep, token_budget=None):
        def once(replies):
            keep(replies)
            asked.extend(replies)
            if len(asked) % 7 == 0:
                raise KeyboardInterrupt

        answer_prompts(model, questions, keep=once, token_budget=1)

    faltering = replace(talker(), family=replace(talker().family, answer_each=falter))
    for _ in range(4):
        with pytest.raises(KeyboardInterrupt):
            ask_all(items(5), faltering, out=tmp_path / "torn", part_size=2)
    (run,) = ask_all(items(5), faltering, out=tmp_path / "torn", part_size=2)
    assert len(asked) == len(set(asked)) == 30
    assert run.parts == 3
    for number in range(3):
        assert runs.part_path(run, number).read_bytes() == runs.part_path(whole, number).read_bytes()
