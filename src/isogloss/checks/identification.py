"""The language of many texts at once: py3langid's model applied to arrays instead of one text after the other.

It reads parts of the identifier that are not public, so pyproject.toml bounds its version, and a test compares both ways.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..errors import require

Array = np.ndarray[Any, Any]
SURE = 0.99
MARGIN = 0.001  # sums in another order give other last digits, so what is near SURE is asked of the library itself
BATCH = 20_000  # texts


@cache
def load_identifier() -> Any:
    """py3langid's identifier, with probabilities."""
    langid = require("py3langid.langid", extra="translate")
    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)


@cache
def supported() -> frozenset[str]:
    """The languages that can be told."""
    return frozenset(load_identifier().labels)


def find_foreign(texts: Sequence[str], expected: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The index of each text that is surely in another language than expected, and that language."""
    identifier = load_identifier()
    labels = np.array(identifier.nb_classes)
    for start in range(0, len(texts), BATCH):
        scores = language_scores(texts[start : start + BATCH])
        own = np.array(expected[start : start + BATCH])
        other = np.flatnonzero(labels[scores.argmax(axis=1)] != own)
        chances = probabilities(scores[other])
        for index, chance in zip(other.tolist(), chances, strict=True):
            guess, sure = str(labels[chance.argmax()]), float(chance.max())
            if abs(sure - SURE) < MARGIN:
                guess, sure = identifier.classify(texts[start + index])
            if guess != own[index] and sure >= SURE:
                yield start + index, guess


def language_scores(texts: Sequence[str]) -> Array:
    """The logarithm of every language's probability [texts, languages], but for a constant, as `classify` computes it."""
    from scipy.sparse import csr_array

    identifier = load_identifier()
    encoded = [identifier._encode(text) for text in texts]
    row, feature = _visited(encoded)
    visits = np.bincount(feature, minlength=1)
    used, column = np.flatnonzero(visits), np.cumsum(visits > 0) - 1
    counts = csr_array((np.ones(len(row), np.float32), (row, column[feature])), shape=(len(texts), len(used)))
    counts.sum_duplicates()
    counts.data = np.log1p(counts.data)
    scores = counts @ identifier.nb_ptc[used].astype(np.float32) + identifier.nb_pc
    scores[np.diff(counts.indptr) == 0] = 0.0  # nothing known in the text: all languages alike
    lengths = np.array([len(text) or 1 for text in encoded])
    return np.asarray(scores / np.sqrt(lengths).astype(np.float32)[:, None])


def probabilities(scores: Array) -> Array:
    """The probability of every language; two scripts of one language are one."""
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    for first, second in load_identifier()._alias_pairs:
        chances[:, first] += chances[:, second]
        chances[:, second] = 0.0
    return np.asarray(chances)


def _visited(encoded: Sequence[bytes]) -> tuple[Array, Array]:
    """The features of the texts, each with the index of its text: all texts walk through the automaton side by side."""
    moves, base, output = _automaton()
    lengths = np.array([len(text) for text in encoded])
    order = np.argsort(-lengths, kind="stable")  # at every step those that go on are the first ones
    letters = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    starts = (np.cumsum(lengths) - lengths)[order]
    going = np.searchsorted(-lengths[order], -np.arange(lengths.max(initial=0)))
    state = np.zeros(len(encoded), dtype=np.intp)
    rows, features = [order[:0]], [output[:0]]
    for step, count in enumerate(going):
        state = moves[base[state[:count]] + letters[starts[:count] + step]]
        feature = output[state]
        known = np.flatnonzero(feature >= 0)
        rows.append(order[known])
        features.append(feature[known])
    return np.concatenate(rows), np.concatenate(features)


@cache
def _automaton() -> tuple[Array, Array, Array]:
    """The next state by row and letter, where a state's row begins, and the feature that a state ends (or -1)."""
    identifier = load_identifier()
    base = np.asarray(identifier.tk_row, dtype=np.intp) << 8
    return np.asarray(identifier.tk_nextmove), base, np.asarray(identifier.tk_output, dtype=np.int32)
