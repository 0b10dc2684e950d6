"""Scoring through servers: equal to our engine in each dialect, each lie refused with what was returned, faults survived."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from isogloss.errors import IsoglossError
from isogloss.files.sources import read
from isogloss.items import Candidate, Items
from isogloss.models.canary import DISORDER, MOVED, REQUESTS, SENTENCE
from isogloss.models.load import describe, open_model, wrap
from isogloss.models.model import Loading, Model
from isogloss.models.questions import Question
from isogloss.models.retry import RetryPolicy
from isogloss.models.server_scoring import EVERY, places_of, scoring_of
from isogloss.scores import notes_of
from isogloss.studies.budgets import forecast_needs
from isogloss.studies.cells import Cell, CellResult, Running, run_cells
from isogloss.studies.plan import plan_evaluation
from isogloss.studies.repeatability import compare_rows
from isogloss.studies.scoring_plan import PlannedCell, plan_cells
from support import score_server
from support.builders import triple, write_jsonl
from support.score_server import LIES, ScoreHandler, ScoreServer

DIALECTS = {
    "vllm": ("vllm", "tokenize"),
    "echo": ("echo",),
    "sglang": ("sglang",),
}
METHODS = ("likelihood", "continuation", "contrast", "gest", "answer_likelihood")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return score_server.save(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def local() -> Model:
    net, tokenizer = score_server.trained()
    return wrap(net, tokenizer, info=describe(net, tokenizer, name="tiny"))


def items_for(method: str, count: int = 6) -> Items:
    """Items of the demonstration data that a method fits."""
    if method == "gest":  # two words that are one token each for the tiny model
        names = (("stereotype", "is"), ("anti-stereotype", "a"))
        candidates = tuple(Candidate(word, role, f"People are {word} kind.", word) for role, word in names)
        return Items((replace(triple("a"), candidates=candidates),))
    if method == "answer_likelihood":
        answers = (("target", "The aunt"), ("unknown", "Not known"), ("other", "The niece"))
        candidates = tuple(Candidate(role, role, text, correct=role == "unknown") for role, text in answers)
        asked = replace(triple("a"), candidates=candidates, context="An aunt and a niece were there.", question="Who?")
        return Items((replace(asked, tags={"task": "question", "condition": "ambiguous", "biased": "target"}),))
    items = read([{"contrast": "shades_demo"}.get(method, "demo")], language=["en"])
    task = {"likelihood": "intrasentence", "continuation": "intersentence"}.get(method)
    return Items(tuple(item for item in items if task in (None, item.tags.get("task")))[:count])


def open_stub(server: ScoreServer, **options: Any) -> Model:
    model = open_model(server.url, Loading(served_model="tiny", tries=2, **options))
    return replace(model, net=replace(model.net, policy=RetryPolicy(2, first=0.01)))


def cells_of(model: Model, items: Items, method: str = "likelihood", **options: str) -> list[Cell]:
    part = options.pop("part_size", None)
    loading = Loading(part_size=int(part)) if part else Loading()
    return plan_cells(PlannedCell("tiny", items, method, options, loading=loading), model)


def score(model: Model, items: Items, method: str = "likelihood", **options: Any) -> pl.DataFrame:
    out = options.pop("out", None)
    results: list[CellResult] = run_cells(cells_of(model, items, method, **options), model, running=Running(out))
    return pl.concat([result.scored.table for result in results])


def same(first: pl.DataFrame, second: pl.DataFrame) -> None:
    """Assert that two tables of scores hold the same rows and, to float noise, the same numbers."""
    key = ["id", "candidate", "quantity"]
    first, second = first.sort(key), second.sort(key)
    assert first.select(*key, "tokens", "why").equals(second.select(*key, "tokens", "why"))
    for column in ("value", "logprobs"):
        one, other = (np.array(table[column].drop_nulls().explode().to_list()) for table in (first, second))
        assert one.size
        assert np.allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_method_gives_what_our_engine_gives_in_each_dialect(dialect, method, local, folder):
    items = items_for(method)
    with score_server.scoring(*DIALECTS[dialect]) as server:
        through = score(open_stub(server, tokenizer=str(folder)), items, method)
    same(through, score(local, items, method))


def test_the_published_start_and_other_options_go_through_a_server_too(local, folder):
    with score_server.scoring("vllm") as server:
        model = open_stub(server, tokenizer=str(folder))
        for method, options in (("likelihood", {"start": "first"}), ("continuation", {"case": "e"})):
            items = items_for(method, 3)
            same(score(model, items, method, **options), score(local, items, method, **options))


@pytest.mark.parametrize("data", ["pairs", "templates"])
def test_pairs_and_templates_are_scored_through_a_server_as_here(data, local, folder, tmp_path):
    row = {
        "id": "a",
        "language": "en",
        "category": "gender",
        "stereotype": "Women are kind.",
        "anti_stereotype": "Men are.",
    }
    source = str(write_jsonl(tmp_path / "pairs.jsonl", [row])) if data == "pairs" else data
    items = Items(tuple(read([source], language=["en"]))[:3])
    with score_server.scoring("vllm") as server:
        through = score(open_stub(server, tokenizer=str(folder)), items)
    same(through, score(local, items))


def test_without_a_tokenizer_here_the_server_cuts_the_text(local):
    items = items_for("continuation", 3)
    with score_server.scoring("vllm", "tokenize") as server:
        table = score(open_stub(server), items, "continuation")
    reference = score(local, items, "continuation")
    # neither model adds a start token by itself, so only the tokens after a context are the same
    assert table["tokens"].to_list() == reference["tokens"].to_list()
    assert table["pieces"].explode().str.replace("Ġ", " ").to_list() == reference["pieces"].explode().to_list()


def test_a_server_that_only_repeats_text_is_asked_with_text_and_its_cut_is_used():
    items = items_for("likelihood", 2)
    with score_server.scoring("echo text") as server:
        table = score(open_stub(server), items)
    assert all(isinstance(prompt, str) for prompt in server.prompts if not isinstance(prompt, list))
    first = items[0].candidates[0].text
    row = table.filter((pl.col("id") == items[0].id) & (pl.col("candidate") == items[0].candidates[0].id)).row(
        0, named=True
    )
    _, tokenizer = score_server.trained()
    ids = tuple(tokenizer.encode(first))
    assert row["logprobs"] == pytest.approx(score_server.logprobs(ids))  # its first token has no value


def test_a_token_that_is_not_in_the_text_has_a_prompt_of_its_own():
    question = Question((5, 6, 7), positions=(0, 1, 2), targets=(6, 9, 8))
    assert places_of(question) == [((5, 6), 1), ((5, 6, 9), 2), ((5, 6, 7, 8), 3)]


# ---- the canary


def refused(server: ScoreServer, folder: Path, **options: Any) -> str:
    with pytest.raises(IsoglossError) as caught:
        score(open_stub(server, tokenizer=str(folder), **options), items_for("likelihood"))
    return str(caught.value).replace(server.url, "URL")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", LIES)
def test_the_canary_refuses_each_lie_and_says_what_was_returned(name, dialect, folder):
    lie, why = LIES[name]
    with score_server.scoring(*DIALECTS[dialect], lie=lie) as server:
        message = refused(server, folder)
    _, tokenizer = score_server.trained()
    last = 1 + len(tokenizer.encode(SENTENCE))
    assert why.format(last=last, fewer=last - 1) in message
    assert message.startswith("URL cannot score given text. ")
    assert message.endswith("or ask in words: isogloss ask")
    if name not in ("none",):
        assert "it returned [" in message
    limit = REQUESTS * 3  # the canary's texts, in no more than three dialects
    assert len([prompt for prompt in server.prompts if prompt != "a"]) <= limit


def test_a_server_that_generates_only_is_refused_in_one_sentence(folder):
    with score_server.scoring("plain") as server:
        message = refused(server, folder)
    assert message == (
        "URL cannot score given text. completions with prompt_logprobs (vLLM): the response has no log-probabilities of the "
        "prompt. completions with echo and logprobs: the response has no log-probabilities of the prompt. /generate with "
        "return_logprob (SGLang): URL answered 404: check the address, which often ends in /v1, and the model's name. "
        "Use a server that returns log-probabilities of the prompt, such as vLLM, or ask in words: isogloss ask"
    )


def test_values_that_depend_on_what_is_generated_are_refused(folder):
    turns = iter(range(1000))

    def lie(values: score_server.Values) -> score_server.Values:
        shift = next(turns) * 0.5
        return [None if value is None else value - shift for value in values]

    with score_server.scoring("vllm", lie=lie) as server:
        message = refused(server, folder)
    assert "depend on how many tokens are generated" in message


def test_a_tokenizer_that_is_not_the_models_is_noticed(folder, tmp_path):
    from support import tiny

    tiny.network("llama").save_pretrained(tmp_path)
    tiny.tokenizer_of("llama").save_pretrained(tmp_path)
    with score_server.scoring("vllm") as server:
        message = refused(server, tmp_path)
    assert "it cut the text otherwise: token " in message


def test_a_name_that_is_not_served_is_told_with_those_that_are(folder):
    with score_server.scoring("vllm") as server, pytest.raises(IsoglossError) as caught:
        scoring_of(open_model(server.url, Loading(served_model="other")))
    assert str(caught.value) == f"{server.url} serves tiny, not 'other'. Use `served_model='NAME'`."


# ---- while a run goes on


def after(count: int, change: Callable[[ScoreServer], object]) -> Callable[[ScoreHandler, int], bool]:
    """Change the server before it answers request number `count`."""

    def refuse(handler: ScoreHandler, number: int) -> bool:
        if number == count:
            change(handler.server)
        return False

    return refuse


def test_a_server_that_says_it_is_another_stops_the_run_and_nothing_is_lost(folder, tmp_path):
    items = items_for("likelihood", 4)
    with score_server.scoring("vllm") as server:
        server.refuse = after(REQUESTS + 1, lambda running: running.statements.update(root="other"))
        with pytest.raises(IsoglossError, match="is not the server that it was: its root was not stated and is other"):
            score(open_stub(server, tokenizer=str(folder)), items, part_size="3", out=tmp_path)
    (run,) = tmp_path.rglob("part-*.parquet")
    assert run.exists()


def test_two_models_behind_one_address_are_noticed_by_who_answers(folder):
    with score_server.scoring("vllm") as server:
        server.refuse = after(REQUESTS + 2, lambda running: setattr(running, "source", "other"))
        message = refused(server, folder)
    assert "answered as 'other' and 'tiny': several models are behind it." in message


def test_two_models_that_say_the_same_are_noticed_by_the_canary(folder):
    items = items_for("likelihood", EVERY + 1)

    def worse(values):
        return [v if v is None else v - 2 * MOVED for v in values]

    with score_server.scoring("vllm") as server:
        server.refuse = after(REQUESTS + 2, lambda running: setattr(running, "lie", worse))
        with pytest.raises(IsoglossError) as caught:
            score(open_stub(server, tokenizer=str(folder)), items, part_size="3")
    assert f"gives the sentence '{SENTENCE}' other log-probabilities than before, by up to 0.50" in str(caught.value)


def test_a_text_that_fails_later_is_told_and_not_scored(folder):
    with score_server.scoring("vllm") as server:
        server.refuse = after(REQUESTS + 4, lambda running: setattr(running, "lie", LIES["too few"][0]))
        message = refused(server, folder, concurrency=1)
    assert "failed on a text of " in message
    assert "it returned " in message


def test_a_killed_server_loses_nothing_and_nothing_is_asked_twice(folder, tmp_path):
    items = items_for("likelihood", 4)

    def hang_up(handler: ScoreHandler, number: int) -> bool:
        if number > REQUESTS + 5:
            handler.connection.close()
            handler.close_connection = True
        return number > REQUESTS + 5

    with score_server.scoring("vllm") as server:
        server.refuse = hang_up
        with pytest.raises(IsoglossError, match="the connection failed"):
            score(open_stub(server, tokenizer=str(folder), concurrency=1), items, out=tmp_path)
        answered = server.prompts[REQUESTS : REQUESTS + 5]
        server.refuse = lambda handler, number: False
        server.bodies.clear()
        score(open_stub(server, tokenizer=str(folder), concurrency=1, repeat=0), items, out=tmp_path)
    asked = server.prompts[REQUESTS:]
    assert len(answered) == 5
    assert len(asked) == 12 - 5
    assert not [prompt for prompt in asked if prompt in answered]


def test_a_busy_server_is_tried_again(folder):
    def busy(handler: ScoreHandler, number: int) -> bool:
        if number == 5:
            handler.reply({"error": "busy"}, code=429, Retry_After="0")
        return number == 5

    with score_server.scoring("vllm") as server:
        server.refuse = busy
        assert len(score(open_stub(server, tokenizer=str(folder)), items_for("likelihood", 2))) == 6


# ---- keys and budgets


def test_a_key_is_sent_and_is_in_no_error_file_or_other_address(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "sk-very-secret")
    other = score_server.ScoreServer("vllm")

    def redirect(handler: ScoreHandler, number: int) -> bool:
        if number > REQUESTS + 1:
            handler.reply({"error": "sk-very-secret"}, code=307, Location=f"{other.url}/completions")
        return number > REQUESTS + 1

    with score_server.scoring("vllm") as server:
        server.refuse = redirect
        with pytest.raises(IsoglossError) as caught:
            score(open_stub(server, tokenizer=str(folder), key_env="SECRET_KEY"), items_for("likelihood"), out=tmp_path)
    assert {headers["Authorization"] for headers in server.headers} == {"Bearer sk-very-secret"}
    assert "sk-very" not in str(caught.value)
    assert "307" in str(caught.value)
    assert not other.bodies
    texts = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert texts
    assert not any(b"sk-very" in text for text in texts)
    other.server_close()


def test_no_more_requests_are_sent_than_allowed(folder, tmp_path):
    with score_server.scoring("vllm") as server:
        message = refused(server, folder, max_requests=7)
    assert len(server.bodies) == 7
    assert message.startswith("The budget of 7 requests to URL is used up.")


def test_no_request_is_sent_that_would_cost_more_than_allowed(folder):
    with score_server.scoring("vllm") as server:
        message = refused(server, folder, max_cost=2e-4, prices=(1.0, 1.0))
    tokens = sum(len(prompt) + body["max_tokens"] for prompt, body in zip(server.prompts, server.bodies, strict=True))
    assert 0 < tokens <= 200
    assert message.startswith(
        f"The budget of 0.0002 for URL is used up: {tokens / 1e6:.4f} after {len(server.bodies)} requests."
    )


def test_what_a_server_says_about_itself_is_part_of_the_fingerprint(folder, tmp_path):
    items = items_for("likelihood", 2)
    with score_server.scoring("vllm") as server:
        for root in ("one", "two"):
            server.statements["root"] = root
            score(open_stub(server, tokenizer=str(folder)), items, out=tmp_path)
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in tmp_path.rglob("run.json")]
    assert sorted(run["fingerprint"]["identity"]["root"] for run in runs) == ["one", "two"]
    assert {run["fingerprint"]["identity"]["version"] for run in runs} == {"1.0"}


def test_the_canarys_texts_have_the_same_words():
    words = [sorted(text.lower().rstrip(".").split()) for text in (SENTENCE, DISORDER)]
    assert words[0] == words[1]
    assert 8 <= len(words[0]) <= 12


# ---- repeatability


def runs_in(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in folder.rglob("run.json")]


def test_a_steady_server_repeats_itself_and_the_run_says_so(folder, tmp_path):
    with score_server.scoring("vllm") as server:
        score(open_stub(server, tokenizer=str(folder)), items_for("likelihood", 5), out=tmp_path)
    (run,) = runs_in(tmp_path)
    assert run["repeatability"] == {"items": 5, "comparisons": 15, "flips": 0, "largest_move": 0.0}
    assert notes_of(run)[-1] == (
        "tiny: 5 items were asked for twice; 0 of 15 comparisons flipped, and no log-probability moved by more than 0"
    )


def test_a_server_whose_numbers_move_has_that_in_its_run_and_results(folder, tmp_path):
    turns = iter(range(10**6))

    def wobble(values: score_server.Values) -> score_server.Values:
        return [v if v is None else v - 0.05 * (next(turns) % 3) for v in values]

    with score_server.scoring("vllm", lie=wobble) as server:
        model = open_stub(server, tokenizer=str(folder))
        (result,) = run_cells(cells_of(model, items_for("likelihood", 5)), model, running=Running(tmp_path))
    (run,) = runs_in(tmp_path)
    assert run["repeatability"]["largest_move"] in (0.05, 0.1)
    assert result.scored.notes[-1].startswith("tiny: 5 items were asked for twice; ")


def test_flips_are_counted_by_item_and_quantity():
    #       first   second        a-b turns; a-c stays; b-c turns from a tie
    numbers = {"a": (-1.0, -3.0), "b": (-2.0, -2.0), "c": (-2.0, -4.0)}
    tables = [
        [
            {
                "id": "x",
                "candidate": name,
                "quantity": "score",
                "against": None,
                "value": pair[k],
                "logprobs": [pair[k]],
            }
            for name, pair in numbers.items()
        ]
        for k in (0, 1)
    ]
    assert compare_rows(*tables) == {"comparisons": 3, "flips": 2, "largest_move": 2.0}
    assert compare_rows(tables[0], tables[0]) == {"comparisons": 3, "flips": 0, "largest_move": 0.0}


# ---- forecasts


def test_the_forecast_of_a_budget_counts_what_is_really_sent(folder, tmp_path):
    items = items_for("likelihood", 5)
    with score_server.scoring("vllm") as server:
        loading = Loading(served_model="tiny", tokenizer=str(folder), max_cost=1.0, prices=(1e6, 2e6), repeat=5)
        plan = plan_evaluation([server.url], items, method="likelihood", loading=loading)
        (need,) = forecast_needs(plan, out=tmp_path)
        assert not server.bodies
        model = open_stub(server, tokenizer=str(folder), repeat=5)
        score(model, items)
    canary = sum(len(prompt) for prompt in server.prompts[:REQUESTS])
    assert need.requests == len(server.bodies) == model.net.spent.requests
    assert need.prompt == model.net.spent.prompt - canary
    assert need.cost == pytest.approx(need.prompt + 2 * need.answer)
    assert str(need).endswith("; `max_cost=1` will end it before that")


def test_a_plan_without_a_budget_is_not_counted(tmp_path):
    with score_server.scoring("vllm") as server:
        plan = plan_evaluation([server.url], items_for("likelihood", 2), loading=Loading(served_model="tiny"))
        assert forecast_needs(plan, out=tmp_path) == []


def test_a_budget_in_money_needs_prices(command):
    status, _, error = command(
        "eval", "http://127.0.0.1:1/v1", "--served-model", "tiny", "--data", "demo", "--max-cost", "1"
    )
    assert (status, error.strip().splitlines()[-1]) == (
        2,
        "Error: --max-cost needs the prices of a million tokens. Use --prices IN,OUT.",
    )


def test_one_command_scores_through_a_server_and_shows_how_steady_it_is(folder, tmp_path, command):
    with score_server.scoring("vllm") as server:
        words = ("--served-model", "tiny", "--tokenizer", folder, "--limit", "3", "--out", tmp_path / "out")
        words = (*words, "--max-requests", "1000", "--data", "demo", "-l", "en")
        status, out, error = command("eval", server.url, *words)
    assert status == 0
    assert "Forecast for tiny: about " in error
    assert "tiny: 3 items were asked for twice; 0 of 9 comparisons flipped" in out
