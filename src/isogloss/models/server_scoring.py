"""Scoring through a server: the canary before the first text, texts several at once, and the server watched meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..errors import IsoglossError
from ..items import group_by
from . import canary
from .model import Model
from .questions import Keep, Question
from .score_requests import ask_once, request_scores
from .served_tokenizer import ServedTokenizer
from .server_connection import KEPT, Connection, Server, ask_all, run_now
from .server_identity import ask_identity, find_tokenizer
from .server_scores import DIALECTS, BadScores, PromptTokens, ScoreDialect, ScoredPrompt, check_scores
from .text import Ids

EVERY = 8  # parts; a canary costs one request, a part about a thousand
GENERATED = 1  # tokens after a text: many servers refuse to generate none
STATE = "scoring"


@dataclass
class ServedScoring:
    """How a server scores text, what it says about itself, and what it gave for the canary's sentence."""

    dialect: ScoreDialect
    statements: dict[str, str]
    sentence: PromptTokens
    values: tuple[float, ...]
    parts: int = 0
    sources: set[str] = field(default_factory=set)

    @property
    def limit(self) -> int | None:
        """How many tokens a text may have."""
        length = self.statements.get("max_model_len", "")
        return int(length) - GENERATED if length.isdigit() else None


def scoring_of(model: Model) -> ServedScoring:
    """How the model's server scores; found out once, before the first text."""
    if STATE not in model.state:
        model.state[STATE] = _find_out(model)
    scoring: ServedScoring = model.state[STATE]
    return scoring


def _find_out(model: Model) -> ServedScoring:
    """Ask a server who it is, find a tokenizer, and try each way to score until the canary believes one."""
    server: Server = model.net
    statements = ask_identity(server)
    find_tokenizer(model, statements)
    reasons = []
    for dialect in DIALECTS:
        if model.tokenizer.as_text and not dialect.takes_text:
            continue
        try:
            sentence, disorder = (prompt_of(model.tokenizer, text) for text in (canary.SENTENCE, canary.DISORDER))
            ask = _asking(server, dialect)
            return ServedScoring(dialect, statements, sentence, canary.try_server(ask, sentence, disorder=disorder))
        except BadScores as error:
            reasons.append(f"{dialect.title}: {error}")
    raise IsoglossError(
        f"{server.url} cannot score given text. {'. '.join(reasons)}. "
        "Use a server that returns log-probabilities of the prompt, such as vLLM, or ask in words: isogloss ask"
    )


def _asking(server: Server, dialect: ScoreDialect) -> canary.Ask:
    """How the canary asks a server in a dialect."""

    def ask(prompt: PromptTokens, max_tokens: int) -> ScoredPrompt:
        return ask_once(server, dialect, prompt=prompt, max_tokens=max_tokens)

    return ask


def prompt_of(tokenizer: ServedTokenizer, text: str) -> PromptTokens:
    """A text after the start token, where there is one."""
    start = next((token for token in (tokenizer.bos_token_id, tokenizer.eos_token_id) if token is not None), None)
    bare = tuple(tokenizer.encode(text, add_special_tokens=False))
    return tokens_of(tokenizer, bare if start is None else (start, *bare))


def tokens_of(tokenizer: ServedTokenizer, ids: Ids) -> PromptTokens:
    """Tokens with their texts, as far as these can be compared with what the server says."""
    known = tokenizer.local is not None or tokenizer.as_text
    pieces = tuple(tokenizer.decode([number]) for number in ids) if known else ()
    return PromptTokens(ids, pieces, tokenizer.as_text)


def answer_questions(model: Model, questions: Sequence[Question], *, keep: Keep) -> None:
    """Answer questions for log-probabilities, several at once; each answer is handed over as soon as it is there.

    Before each part the server is asked again who it is, and before every few parts the canary is repeated.
    """
    scoring = scoring_of(model)
    _check_again(model.net, scoring)
    scoring.parts += 1
    places = {question: places_of(question) for question in questions}
    pairs = [(prompt, question) for question, asked in places.items() for prompt in dict(asked)]
    by_prompt = group_by(pairs, lambda pair: pair[0])
    values: dict[Ids, tuple[float, ...]] = {}

    async def ask(connection: Connection, ids: Ids) -> None:
        prompt = tokens_of(model.tokenizer, ids)
        scored = await _scores_of(connection, scoring, prompt=prompt)
        if scored is None:
            return
        values[ids] = scored
        for _, question in by_prompt[ids]:
            if all(needed in values for needed, _ in places[question]):
                keep({question: np.array([values[needed][index - 1] for needed, index in places[question]])})

    run_now(ask_all(model.net, by_prompt, ask=ask))


def places_of(question: Question) -> list[tuple[Ids, int]]:
    """For each target a prompt that holds it, and its index there.

    A target that is not the next token of the text, as one of several possible words, needs a prompt of its own.
    """
    ids = question.ids
    pairs = list(zip(question.positions, question.targets, strict=True))
    inside = [position + 1 < len(ids) and ids[position + 1] == target for position, target in pairs]
    end = max((position for (position, _), there in zip(pairs, inside, strict=True) if there), default=0) + 2
    return [
        (ids[:end] if there else (*ids[: position + 1], target), position + 1)
        for (position, target), there in zip(pairs, inside, strict=True)
    ]


async def _scores_of(
    connection: Connection, scoring: ServedScoring, *, prompt: PromptTokens
) -> tuple[float, ...] | None:
    """The log-probabilities of all tokens of a prompt but the first; none when the connection was closed meanwhile."""
    url = connection.server.url
    try:
        scored = await request_scores(connection, scoring.dialect, prompt=prompt, max_tokens=GENERATED)
        if scored is None:
            return None
        scoring.sources.add(scored.source)
        if len(scoring.sources) > 1:
            names = " and ".join(f"'{name}'" for name in sorted(scoring.sources))
            raise IsoglossError(f"{url} answered as {names}: several models are behind it. {KEPT}")
        return check_scores(scored, prompt)
    except BadScores as error:
        raise IsoglossError(f"{url} failed on a text of {len(prompt.ids)} tokens: {error}. {KEPT}") from error


def _check_again(server: Server, scoring: ServedScoring) -> None:
    """Stop when the server says that it is another one, or gives the canary's sentence other values than before."""
    if not scoring.parts:
        return
    before, now = scoring.statements, ask_identity(server)
    changed = sorted(key for key in {*now, *before} if now.get(key) != before.get(key))
    if changed:
        states = [statements.get(changed[0], "not stated") for statements in (before, now)]
        raise IsoglossError(
            f"{server.url} is not the server that it was: its {changed[0]} was {states[0]} and is {states[1]}. {KEPT}"
        )
    if scoring.parts % EVERY:
        return
    try:
        scored = ask_once(server, scoring.dialect, prompt=scoring.sentence, max_tokens=GENERATED)
        move = canary.largest_move(scoring.values, canary.checked_values(scored, scoring.sentence))
    except BadScores as error:
        raise IsoglossError(f"{server.url} stopped scoring: {error}. {KEPT}") from error
    if move > canary.MOVED:
        raise IsoglossError(
            f"{server.url} gives the sentence '{canary.SENTENCE}' other log-probabilities than before, "
            f"by up to {move:.2f}: another model answers. {KEPT}"
        )
