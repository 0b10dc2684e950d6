"""Draws random template sentences of a language for reading: the same number from each wording, the rest from all."""

import sys
from collections.abc import Sequence

import numpy as np

from isogloss.templates.checks import expand_sets, sets_path
from isogloss.templates.lexicon import read_lexicon
from isogloss.templates.sets import read_sets


def draw_sentences(language: str, *, seed: int, count: int = 100) -> list[tuple[str, str]]:
    """Names of templates with a sentence of each, in the order of the file; none is drawn twice."""
    groups: dict[str, list[str]] = {}
    for frame, sentence in expand_sets(read_sets(sets_path(language)), read_lexicon(language), limit=10**6):
        name = f"{frame.name}-{frame.variant}" if frame.variant else frame.name
        groups.setdefault(name, []).append(sentence.text)
    generator = np.random.default_rng([seed, *language.encode()])  # other terms in each language
    each, rest = divmod(count, len(groups))
    extra = {str(name) for name in generator.permutation(list(groups))[:rest]}
    rows = []
    for name, texts in groups.items():
        chosen = generator.permutation(len(texts))[: each + (name in extra)]
        rows += [(name, texts[index]) for index in chosen]
    return rows


def main(arguments: Sequence[str]) -> None:
    """Print the sentences of a language for a seed: `python docs/sample_sentences.py de 27`."""
    for number, (name, text) in enumerate(draw_sentences(arguments[0], seed=int(arguments[1])), 1):
        print(f"{number}\t{name}\t{text}")


if __name__ == "__main__":
    main(sys.argv[1:])
