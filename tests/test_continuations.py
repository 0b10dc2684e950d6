"""Texts scored in a chat template: equal to a plain pass over the framed text, here and through a server."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import pytest

from isogloss import registry
from isogloss.errors import IsoglossError
from isogloss.items import Items
from isogloss.methods import check_model, fill_options
from isogloss.models.load import describe, open_model, wrap
from isogloss.models.model import Loading, Model
from isogloss.studies.cells import Running, run_cells
from isogloss.studies.scoring_plan import PlannedCell, plan_cells
from support import score_server, tiny
from support.builders import triple

TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}<assistant>"
ITEM = replace(
    triple("a"),
    context="People are kind.",
    candidates=tuple(
        replace(one, text=f"She is {word}.")
        for one, word in zip(triple("a").candidates, ("warm", "cold", "not"), strict=True)
    ),
)


@pytest.fixture(scope="module")
def talker() -> Model:
    net, tokenizer = score_server.trained()
    tokenizer = copy.deepcopy(tokenizer)
    tokenizer.chat_template = TEMPLATE
    return wrap(net, tokenizer, info=describe(net, tokenizer, name="talker"))


def score(model: Model, method: str, **options: str):
    (cell,) = plan_cells(PlannedCell("", Items((ITEM,)), method, options), model)
    (result,) = run_cells([cell], model, running=Running())
    return result.scored.table


@pytest.mark.parametrize(("method", "message"), [("likelihood", ""), ("continuation", "People are kind.")])
def test_the_text_is_the_answer_to_its_context(talker, method, message):
    table = score(talker, method, template="chat")
    encode = talker.tokenizer.encode
    before = encode(f"<user>{message}\n<assistant>", add_special_tokens=False)
    for row, candidate in zip(table.to_dicts(), ITEM.candidates, strict=True):
        whole = encode(f"<user>{message}\n<assistant>{candidate.text}", add_special_tokens=False)
        assert whole[: len(before)] == before
        reference = score_server.logprobs(tuple(whole))[len(before) - 1 :]
        assert row["logprobs"] == pytest.approx(reference, abs=1e-4)
        assert row["method"] == f"{method}[template=chat]"


def test_a_served_model_gives_the_same(talker, tmp_path):
    talker.net.save_pretrained(tmp_path)
    talker.tokenizer.save_pretrained(tmp_path)
    with score_server.scoring("vllm") as server:
        served = open_model(server.url, Loading(served_model="tiny", tokenizer=str(tmp_path), repeat=0))
        through = score(served, "continuation", template="chat")
    ours = score(talker, "continuation", template="chat")
    assert through["value"].to_list() == pytest.approx(ours["value"].to_list(), rel=1e-4)


def test_the_template_is_part_of_the_fingerprint_and_its_absence_changes_none(talker, tmp_path):
    from isogloss.studies.run_files import run_info

    def fingerprint(**options: str) -> dict[str, object]:
        (cell,) = plan_cells(PlannedCell("", Items((ITEM,)), "likelihood", options), talker)
        return dict(run_info(cell, talker)["fingerprint"])

    plain, chat = fingerprint(), fingerprint(template="chat")
    assert plain["options"] == {"start": "auto", "length": "mean"}
    assert "asked" not in plain
    assert chat["options"] == {"start": "auto", "length": "mean", "template": "chat"}
    assert json.dumps(chat["asked"]) == json.dumps({"chat": TEMPLATE})


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("gpt2", {}, "'tiny-gpt2' has no chat template here. Choose a chat model."),
        ("t5", {}, "The option 'template=chat' is for causal models, here or behind a server."),
    ],
)
def test_a_model_without_a_template_is_refused(name, options, why):
    method = registry.get("method", "likelihood")
    filled = fill_options("likelihood", method, chosen={"template": "chat", **options})
    with pytest.raises(IsoglossError) as caught:
        check_model("likelihood", method, model=tiny.model(name), options=filled)
    assert str(caught.value) == why


def test_a_start_beside_a_template_is_refused(talker):
    with pytest.raises(IsoglossError, match="a text starts as the template says"):
        score(talker, "likelihood", template="chat", start="first")
