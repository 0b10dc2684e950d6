"""Servers on this machine that score given text in each dialect, honestly or with a lie; a tiny trained model is behind them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import torch

from isogloss.models.canary import SENTENCE

from . import tiny

Values = list[float | None]
Lie = Callable[[Values], Values | None]

LIES: dict[str, tuple[Lie, str]] = {
    "none": (lambda values: None, "the response has no log-probabilities of the prompt"),
    "zeros": (lambda values: [None, *(0.0 for _ in values[1:])], "all log-probabilities are 0"),
    "constant": (lambda values: [None, *(-2.5 for _ in values[1:])], "all log-probabilities are -2.5"),
    "infinite": (lambda values: [*values[:-1], float("-inf")], "token {last} has the log-probability -inf"),
    "clamped": (lambda values: [*values[:-1], -9999.0], "token {last} has the log-probability -inf"),
    "too few": (lambda values: values[:-1], "it returned {fewer} log-probabilities for a text of {last} tokens"),
    "first": (lambda values: [-1.5, *values[1:]], "the first token has the value -1.5, although nothing precedes it"),
    "positive": (lambda values: [*values[:-1], 0.5], "token {last} has the log-probability 0.5, which is above 0"),
    "gap": (lambda values: [*values[:2], None, *values[3:]], "token 3 of {last} has no value"),
    "pattern": (
        lambda values: [None, *(-1.0 - place % 2 for place in range(len(values) - 1))],
        "is no more probable",
    ),
    "reversed": (lambda values: [None, *values[:0:-1]], "are not in the order of the tokens"),
    "sorted": (lambda values: [None, *sorted(filter(None, values))], "are not in the order of the tokens"),
    "half": (
        lambda values: [*values[: len(values) // 2], *values[: len(values) // 2 - 1 : -1]],
        "are not in the order of the tokens",
    ),
    "last two": (lambda values: [*values[:-2], values[-1], values[-2]], "are not in the order of the tokens"),
}


@cache
def trained() -> tuple[Any, Any]:
    """A GPT-2 that has learned the canary's sentence, and its tokenizer."""
    net, tokenizer = tiny.network("gpt2").train(), tiny.tokenizer_of("gpt2")
    ids = torch.tensor([[tokenizer.bos_token_id, *tokenizer.encode(SENTENCE)]])
    optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3)
    for _ in range(60):
        loss = net(input_ids=ids, labels=ids).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return net.eval(), tokenizer


@cache
def logprobs(ids: tuple[int, ...]) -> list[float]:
    """What the model gives each token but the first, from a plain pass over one text."""
    net, _ = trained()
    with torch.inference_mode():
        logs = net(input_ids=torch.tensor([ids])).logits[0].double().log_softmax(-1)
    return [float(logs[place, token]) for place, token in enumerate(ids[1:])]


def save(folder: Path) -> Path:
    """The model in a folder."""
    net, tokenizer = trained()
    net.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


class ScoreServer(ThreadingHTTPServer):
    """A server that speaks some dialects; `lie` changes what it returns, and `refuse` may answer before it does."""

    daemon_threads = True

    def __init__(self, *dialects: str, lie: Lie = lambda values: values) -> None:
        super().__init__(("127.0.0.1", 0), ScoreHandler)
        self.dialects, self.lie = dialects, lie
        self.statements: dict[str, Any] = {
            "owned_by": "tests",
            "max_model_len": 65,
        }  # the model's 64, and one generated
        self.refuse: Callable[[ScoreHandler, int], bool] = lambda handler, number: False
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.source = "tiny"
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def prompts(self) -> list[Any]:
        return [body.get("prompt", body.get("input_ids")) for body in self.bodies]


class ScoreHandler(BaseHTTPRequestHandler):
    """Answers as vLLM, as OpenAI's completions, or as SGLang."""

    server: ScoreServer

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            self.reply({"data": [{"id": "tiny", **self.server.statements}]})
        elif self.path == "/version":
            self.reply({"version": "1.0"})
        else:
            self.reply({"error": "no such address"}, code=404)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.bodies.append(body)
            self.server.headers.append(dict(self.headers))
            number = len(self.server.bodies)
        if self.server.refuse(self, number):
            return
        dialects = self.server.dialects
        if self.path == "/tokenize" and "tokenize" in dialects:
            self.tokenize(body)
        elif self.path == "/generate" and "sglang" in dialects:
            self.generate(body)
        elif self.path == "/v1/completions" and {"vllm", "echo", "echo text", "plain"} & {*dialects}:
            self.complete(body)
        else:
            self.reply({"error": "no such address"}, code=404)

    def tokenize(self, body: dict[str, Any]) -> None:
        _, tokenizer = trained()
        ids = tokenizer.encode(body["prompt"], add_special_tokens=body["add_special_tokens"])
        self.reply({"tokens": ids, "token_strs": tokenizer.convert_ids_to_tokens(ids)})

    def read(self, prompt: Any) -> tuple[list[int], Values | None, list[str]]:
        _, tokenizer = trained()
        ids = tokenizer.encode(prompt) if isinstance(prompt, str) else list(prompt)
        values = self.server.lie([None, *logprobs(tuple(ids))])
        return ids, values, [tokenizer.decode([number]) for number in ids]

    def generate(self, body: dict[str, Any]) -> None:
        ids, values, _ = self.read(body["input_ids"])
        entries = [[value, number, None] for value, number in zip(values or [], ids, strict=False)]
        self.reply({"text": " x", "meta_info": {"input_token_logprobs": entries} if values else {}})

    def complete(self, body: dict[str, Any]) -> None:
        dialects = self.server.dialects
        if isinstance(body["prompt"], list) and dialects == ("echo text",):
            self.reply({"error": "prompt must be a string"}, code=400)
            return
        ids, values, pieces = self.read(body["prompt"])
        choice: dict[str, Any] = {"text": " x", "logprobs": None}
        if "vllm" in dialects and "prompt_logprobs" in body and values:
            listed = zip(values, ids, pieces, strict=False)
            choice["prompt_logprobs"] = [
                None if value is None else {str(number): {"logprob": value, "decoded_token": piece}}
                for value, number, piece in listed
            ]
        if {"echo", "echo text"} & {*dialects} and body.get("echo") and values:
            more = body["max_tokens"]
            tokens = [*pieces[: len(values)], *[" x"] * more]
            choice["logprobs"] = {"tokens": tokens, "token_logprobs": [*values, *[-1.0] * more]}
        usage = {"prompt_tokens": len(ids), "completion_tokens": body["max_tokens"]}
        self.reply({"model": self.server.source, "choices": [choice], "usage": usage})

    def reply(self, content: Any, *, code: int = 200, **headers: str) -> None:
        raw = json.dumps(content).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(raw)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *values: object) -> None:
        """Say nothing."""


@contextmanager
def scoring(*dialects: str, lie: Lie = lambda values: values) -> Iterator[ScoreServer]:
    """The server while this is open, at any free port."""
    server = ScoreServer(*dialects, lie=lie)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
