"""How long `nsp data` takes and how much memory it needs: synthetic articles in, resident memory and seconds out.

python -m benchmarks.nsp_data --sentences 2000000
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from isogloss.nsp.articles import ArticleSource
from isogloss.nsp.data import PairSettings, build_data

WORDS = [
    "the",
    "river",
    "was",
    "long",
    "and",
    "the",
    "people",
    "of",
    "the",
    "town",
    "went",
    "over",
    "it",
    "every",
    "day",
    "because",
    "they",
    "had",
    "built",
    "a",
    "bridge",
    "of",
    "stone",
    "which",
    "stood",
    "for",
    "many",
    "years",
    "after",
    "the",
    "war",
    "when",
    "the",
    "old",
    "houses",
    "were",
    "burned",
    "and",
    "new",
    "ones",
    "were",
    "made",
    "from",
    "wood",
]


def write_articles(path: Path, sentences: int, *, seed: int = 0) -> None:
    """A plain text with so many English-looking sentences in articles of two to forty."""
    rng = np.random.default_rng(seed)
    words, left = np.array(WORDS), sentences
    with path.open("w", encoding="utf-8") as file:
        while left > 0:
            size = min(left, int(rng.integers(2, 41)))
            for length in rng.integers(8, 25, size=size):
                text = " ".join(rng.choice(words, length))
                file.write(f"{text.capitalize()} {rng.integers(10**6)}.\n")
            file.write("\n")
            left -= size


def main() -> None:
    """Print one JSON object with sentences, pairs, seconds and the peak of resident memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=100_000)
    wanted = parser.parse_args().sentences
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "articles.txt"
        write_articles(path, wanted)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        started = time.perf_counter()
        card = build_data([ArticleSource(str(path), "en")], Path(folder) / "data", settings=PairSettings())
        seconds = time.perf_counter() - started
        shown = {
            "sentences": card["sentences"],
            "articles": card["articles"]["kept"],
            "pairs": sum(split["pairs"] for split in card["splits"].values()),
            "text MB": round(path.stat().st_size / 1e6, 1),
            "seconds": round(seconds, 1),
            "peak MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
            "peak MB before": round(before),
        }
    print(json.dumps(shown, indent=1))


if __name__ == "__main__":
    main()
