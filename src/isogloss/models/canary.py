"""The canary: before a server scores anything it must give a plain sentence the log-probabilities that a model gives."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from .server_scores import BadScores, PromptTokens, ScoredPrompt, check_scores, show_values, starts_word

SENTENCE = "The children walked to school together every morning in the rain."
DISORDER = "Rain together the in school every walked morning the to children."
QUARTERS = 4  # parts of the sentence whose ends are asked for alone
REQUESTS = 3 + QUARTERS
MARGIN = 1.0  # nats; models of any size prefer the sentence by 15 and more
SAME = 1e-6  # values that differ less are equal
MOVED = 0.25  # nats a token; bfloat16 in other batches moves a token by less than 0.1, other weights by far more


Ask = Callable[[PromptTokens, int], ScoredPrompt]  # what a server returns for a text and a number of tokens to generate


def try_server(ask: Ask, sentence: PromptTokens, *, disorder: PromptTokens) -> tuple[float, ...]:
    """The log-probabilities of the sentence, when they and those of its words in random order can be a model's; else BadScores.

    A token's value does not depend on what follows it: each beginning of the sentence, asked for alone, must have the same
    values token by token. Values in another order do not, wherever in the text they were exchanged.
    """
    plain = checked_values(ask(sentence, 1), sentence)
    mixed = checked_values(ask(disorder, 1), disorder)
    if sum(plain) < sum(mixed) + MARGIN:
        raise BadScores(
            f"the sentence '{SENTENCE}' is no more probable ({sum(plain):.2f}) than its words in random order "
            f"({sum(mixed):.2f}); it returned {show_values(plain)}"
        )
    longer = checked_values(ask(sentence, 2), sentence)
    if largest_move(plain, longer) > MOVED:
        raise BadScores(
            "the log-probabilities of a text depend on how many tokens are generated after it: "
            f"{show_values(plain)} and {show_values(longer)}"
        )
    for start in beginnings_of(sentence):
        alone = checked_values(ask(start, 1), start)
        if largest_move(plain[: len(alone)], alone) > MOVED:
            raise BadScores(
                f"the first {len(start.ids)} tokens of the sentence have other log-probabilities without the rest, so the "
                f"values are not in the order of the tokens: it returned {show_values(plain)} and {show_values(alone)}"
            )
    return plain


def beginnings_of(sentence: PromptTokens) -> list[PromptTokens]:
    """One, two and three quarters of a text, to the end of a word where it is known, and all but its last token."""
    count = len(sentence.ids)
    words = [end for end in range(2, count) if sentence.pieces[end : end + 1] and starts_word(sentence.pieces[end])]
    quarters = [count * quarter // QUARTERS for quarter in range(1, QUARTERS)]
    ends = [max((end for end in words if end <= quarter), default=quarter) for quarter in quarters]
    return [replace(sentence, ids=sentence.ids[:end], pieces=sentence.pieces[:end]) for end in (*ends, count - 1)]


def checked_values(scored: ScoredPrompt, text: PromptTokens) -> tuple[float, ...]:
    """The log-probabilities of a text of the canary; values that are all alike are no model's."""
    try:
        values = check_scores(scored, text)
        if max(values) - min(values) <= SAME:
            raise BadScores(f"all log-probabilities are {values[0]:.4g}")
    except BadScores as error:
        raise BadScores(f"{error}; it returned {show_values(scored.values)}") from error
    return values


def largest_move(first: Sequence[float], second: Sequence[float]) -> float:
    """How far the log-probabilities of the same tokens are apart at most."""
    return max((abs(a - b) for a, b in zip(first, second, strict=True)), default=0.0)
