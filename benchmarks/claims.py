"""How often does a file of claims support what is not true, and which differences does it find?

Simulates scores whose truth is known and tests a file of ten claims with `check_claims`.
`python -m benchmarks.claims` prints both tables and writes them into docs/dev/calibration.md (some minutes).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl

from isogloss.claims.files import make_claims
from isogloss.claims.verdicts import check_claims
from isogloss.scores import Scored

PAGE = Path(__file__).parent.parent / "docs" / "dev" / "calibration.md"
START, END = "<!-- claims: start -->", "<!-- claims: end -->"
TARGETS, EACH, RESAMPLES = 79, 27, 500
MODELS, LANGUAGES = ("a", "b", "c"), ("en", "de")
SHARED, OWN = (
    0.08,
    0.05,
)  # standard deviations of the targets' preferences: for all models and languages, and for one of each
# With a true SS of 55 everywhere, none of these holds: each lies exactly on its border.
BORDERLINE = (
    "ss(a, en) > ss(a, de)",
    "ss(b, en) < ss(b, de)",
    "ss(c, en) > 55",
    "ss(a, de) = 50 ± 5",
    "ss(b, de) > 55 or ss(c, de) < 55",
    "every ss(a) > every ss(b)",
    "some ss(c) > 55",
    "for every language: ss(a) is highest among ss",
    "mean ss(en) > mean ss(de)",
    "distance ss(b, en) > distance ss(c, en)",
)
DIFFERENCES = (2.0, 4.0, 6.0, 8.0)


def draw(rng: np.random.Generator, *, difference: float = 0.0) -> Scored:
    """Scores of all models in all languages with a true SS of 55, and `difference` more for the first model in English."""
    common = rng.normal(0, SHARED, TARGETS)
    parts = []
    for model in MODELS:
        for language in LANGUAGES:
            level = 0.55 + (difference / 100 if (model, language) == (MODELS[0], "en") else 0.0)
            share = np.clip(level + common + rng.normal(0, OWN, TARGETS), 0, 1)
            won = rng.random((TARGETS, EACH)) < share[:, None]
            lost = rng.random((TARGETS, EACH, 2)) < 0.1  # nonsense wins: an LMS of 90
            stereo = np.where(won, 3.0, 2.0) - 10 * lost[:, :, 0]
            anti = np.where(won, 2.0, 3.0) - 10 * lost[:, :, 1]
            # which of the two wins must not depend on nonsense
            anti = np.where((stereo > anti) == won, anti, np.where(won, stereo - 1, stereo + 1))
            parts.append(_table(model, language, np.stack([stereo, anti, np.zeros_like(anti)], axis=-1)))
    return Scored(pl.concat(parts))


def _table(model: str, language: str, values: np.ndarray) -> pl.DataFrame:
    count = TARGETS * EACH
    items = pl.DataFrame({"id": [f"i{k}" for k in range(count)], "cluster": [f"t{k // EACH:02}" for k in range(count)]})
    roles = ("stereotype", "anti-stereotype", "unrelated")
    long = pl.concat(
        [
            items.with_columns(role=pl.lit(role), value=pl.Series(values[:, :, number].ravel()))
            for number, role in enumerate(roles)
        ]
    )
    return long.with_columns(
        model=pl.lit(model),
        language=pl.lit(language),
        dataset=pl.lit("simulated"),
        method=pl.lit("simulated"),
        quantity=pl.lit("score"),
        against=pl.lit(None, pl.String),
        candidate=pl.concat_str("id", pl.lit("-"), "role"),
        category=pl.lit("any"),
    )


def simulate(trials: int, *, difference: float, seed: int) -> tuple[float, float, float]:
    """The shares of files with a false *supported*, with a false *contradicted*, and with the first claim supported."""
    file = make_claims({"claims": list(BORDERLINE)})
    rng, counts = np.random.default_rng(seed), np.zeros(3)
    for _ in range(trials):
        found = [one.status for one in check_claims(draw(rng, difference=difference), file, resamples=RESAMPLES)]
        counts += ["supported" in found, "contradicted" in found, found[0] == "supported"]
    return tuple(counts / trials)


def main() -> None:
    """Run both simulations, print them and write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    trials = parser.parse_args().trials
    powered = max(20, trials // 10)
    supported, contradicted, _ = simulate(trials, difference=0.0, seed=1)
    lines = [
        f"| files with a false *supported* (of {trials}) | files with a false *contradicted* |",
        "| --- | --- |",
        f"| {100 * supported:.1f} % | {100 * contradicted:.1f} % |",
        "",
        f"| true difference | found (*supported* after Holm over ten claims, {powered} files each) |",
        "| --- | --- |",
    ]
    for number, size in enumerate(DIFFERENCES):
        found = simulate(powered, difference=size, seed=2 + number)[2]
        lines.append(f"| {size:g} points | {100 * found:.0f} % |")
    text = "\n".join(lines)
    page = PAGE.read_text(encoding="utf-8")
    if START in page:
        before, after = page.split(START)[0], page.split(END)[1]
        PAGE.write_text(f"{before}{START}\n\n{text}\n\n{END}{after}", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
