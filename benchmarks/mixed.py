"""How often the mixed model finds a language, or a fact about models, that does nothing; `python -m benchmarks.mixed` prints one row each.

Five languages and some models are fully crossed. Targets, targets by language, models and models by language scatter, in points of SS;
no language and no fact has an effect of its own.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
import polars as pl

from isogloss.analysis.mixed import fit_mixed
from isogloss.scores import ROW_SCHEMA, Scored

LANGUAGES = ("de", "en", "es", "fr", "tr")
ITEMS = 6  # per target


@dataclass(frozen=True)
class Truth:
    """The targets, the models, and the standard deviations of models and of models by language, in points of SS."""

    targets: int
    models: int = 3
    of_models: float = 0.0
    by_language: float = 0.0


ROWS = (
    Truth(30),
    Truth(79),
    Truth(30, by_language=3),
    Truth(79, by_language=3),
    Truth(30, models=20, of_models=3),
)


def draw(truth: Truth, rng: np.random.Generator) -> Scored:
    """The scores of every item by every model in every language."""
    shape = (truth.models, len(LANGUAGES), truth.targets, ITEMS)
    chance = 0.55 + 0.08 * rng.normal(size=(1, 1, truth.targets, 1))
    chance = chance + 0.05 * rng.normal(size=(1, len(LANGUAGES), truth.targets, 1))
    chance = chance + truth.of_models / 100 * rng.normal(size=(truth.models, 1, 1, 1))
    chance = chance + truth.by_language / 100 * rng.normal(size=(truth.models, len(LANGUAGES), 1, 1))
    won = (rng.random(shape) < chance).ravel()
    model, tag, target, item = (part.ravel() for part in np.indices(shape))
    frame = pl.DataFrame(
        {
            "model": [f"m{k}" for k in model],
            "language": np.array(LANGUAGES)[tag],
            "id": [f"{a} {b}" for a, b in zip(target, item, strict=True)],
            "cluster": [f"t{k}" for k in target],
            "won": won,
        }
    )
    fixed = {"method": "x", "dataset": "d", "category": "c", "quantity": "score"}
    frame = frame.with_columns(**{name: pl.lit(value) for name, value in fixed.items()})
    parts = [
        frame.with_columns(
            role=pl.lit(role), candidate=pl.col("id") + role, value=pl.col("won").cast(pl.Float64) * sign
        )
        for role, sign in (("stereotype", 1.0), ("anti-stereotype", -1.0))
    ]
    table = pl.concat(parts).drop("won")
    missing = [name for name in ROW_SCHEMA if name not in table.columns]
    return Scored(table.with_columns(pl.lit(None).cast(ROW_SCHEMA[name]).alias(name) for name in missing))


def simulate(truth: Truth, *, trials: int) -> dict[str, float]:
    """In per cent: p at most 0.05 and intervals that hold 0, of languages (each) and of a fact of half of the models."""
    rng = np.random.default_rng(17)
    facts = {f"m{k}": {"kind": "ab"[k % 2]} for k in range(truth.models)}
    kinds: dict[str, list[tuple[bool, bool]]] = {"language": [], "fact": []}
    for _ in range(trials):
        for effect in fit_mixed(draw(truth, rng), facts=facts if truth.of_models else None).effects:
            kind = {"language": "language", "kind": "fact"}.get(effect.name.split()[0])
            if kind and effect.p is not None and effect.low is not None and effect.high is not None:
                kinds[kind].append((effect.p <= 0.05, effect.low <= 0 <= effect.high))
    named = {kind: np.array(rows, dtype=float) for kind, rows in kinds.items() if rows}
    return {
        f"{kind} {what}": 100 * float(rows[:, k].mean())
        for kind, rows in named.items()
        for k, what in enumerate(("found", "held"))
    }


def main() -> None:
    """Print every row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100, help="data sets per row")
    trials = parser.parse_args().trials
    for truth in ROWS:
        print(truth, {key: round(value, 1) for key, value in simulate(truth, trials=trials).items()}, flush=True)


if __name__ == "__main__":
    main()
