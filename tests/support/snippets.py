"""Scores made of numbers, as a reader of the review would build them."""

from __future__ import annotations

import numpy as np

import isogloss as ig
from isogloss.scores import Scored, scored_from_values

ROLES = ("stereotype", "anti-stereotype", "unrelated")


def data(values, clusters, *, language="en", task="intrasentence", roles=ROLES) -> Scored:
    """One item per row of `values` [n, roles]; `clusters` are names, or None for items that are their own cluster."""
    items, flat = [], {}
    for k, row in enumerate(values):
        candidates = tuple(ig.Candidate(f"{language}{k}-{role}", role, f"text {k} {role}") for role in roles)
        cluster = None if clusters is None else f"c{clusters[k]}"
        items.append(ig.Item(f"i{k}", "sim", language, "race", candidates, cluster=cluster, tags={"task": task}))
        flat |= {one.id: float(value) for one, value in zip(candidates, row, strict=True)}
    return scored_from_values(ig.Items(tuple(items)), flat, model="m")


def triples(won, rng, *, unrelated=0.1):
    """Scores in which the stereotype wins where `won`, and the unrelated candidate wins with this probability."""
    odd = rng.random(len(won)) < unrelated
    return np.column_stack([np.where(won, 2, 1), np.where(won, 1, 2), np.where(odd, 3, 0)])


def logistic(values):
    return 1 / (1 + np.exp(-values))
