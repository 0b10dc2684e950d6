"""Pairs and single sentences: ours against the published way, minicons and lm-eval, and MBE without its matrix."""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

import isogloss as ig
from benchmarks import measure, models
from benchmarks.floor import count, find_floor, items_at_floor
from isogloss.corpora.pairs import make_pairs
from isogloss.items import Item, Items, sample_items
from isogloss.models.load import describe, wrap
from isogloss.models.model import Model
from isogloss.stats.pairwise import rank, unit, weighted_share

Other = Callable[[Model, Sequence[Item]], list[float]]
MBE_SENTENCES = 40_000


@dataclass(frozen=True)
class Row:
    """One row of the table: our method, another way to the same numbers, and the ratio that we want to reach."""

    name: str
    make: Callable[[Sequence[str]], Model]
    method: str
    others: dict[str, Other]
    targets: dict[str, float]
    items: int


def masked(text: Sequence[str]) -> Model:
    """A BERT-base with a language-model head only, as minicons expects it."""
    model = models.masked(text)
    net = transformers.BertForMaskedLM(model.net.config).eval()
    return wrap(net, model.tokenizer, info=describe(net, model.tokenizer, name="bert-base"))


def _logprobs(model: Model, ids: list[int]) -> torch.Tensor:
    with torch.no_grad():
        return model.net(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)


def crows_plain(model: Model, items: Sequence[Item]) -> list[float]:
    """As published: one pass per shared token, the softmax over the whole vocabulary at every position."""
    mask, scores = model.tokenizer.mask_token_id, []
    for item in items:
        ids = [model.tokenizer.encode(candidate.text) for candidate in item.candidates]
        matcher = difflib.SequenceMatcher(None, ids[0], ids[1], autojunk=False)
        pairs = [(b.a + k, b.b + k) for b in matcher.get_matching_blocks() for k in range(b.size)][1:-1]
        for side in (0, 1):
            total = 0.0
            for pair in pairs:
                position = pair[side]
                shown = [*ids[side][:position], mask, *ids[side][position + 1 :]]
                total += float(_logprobs(model, shown)[position, ids[side][position]])
            scores.append(total)
    return scores


def minicons_pll(model: Model, items: Sequence[Item]) -> list[float]:
    """minicons, eight sentences at a time; it still calls what transformers 5 has taken away."""
    from minicons import scorer

    tokenizer = model.tokenizer
    tokenizer.batch_encode_plus = lambda texts, **more: tokenizer(texts, **more)
    opened = scorer.MaskedLMScorer(model.net, "cpu", tokenizer=tokenizer)
    texts = [candidate.text for item in items for candidate in item.candidates]
    found: list[float] = []
    for start in range(0, len(texts), 8):
        part = texts[start : start + 8]
        found += opened.sequence_score(part, reduction=lambda x: x.sum(0).item(), PLL_metric="original")
    return found


def lm_eval_likelihood(batch: int) -> Other:
    """lm-eval's log-likelihood of a whole sentence after an empty context, so many at a time."""

    def work(model: Model, items: Sequence[Item]) -> list[float]:
        from lm_eval.api.instance import Instance
        from lm_eval.models.huggingface import HFLM

        opened = HFLM(pretrained=model.net, tokenizer=model.tokenizer, batch_size=batch, device="cpu")
        texts = [candidate.text for item in items for candidate in item.candidates]
        asked = [Instance("loglikelihood", {}, ("", text), k) for k, text in enumerate(texts)]
        sums = [value for value, _ in opened.loglikelihood(asked, disable_tqdm=True)]
        counts = [len(model.tokenizer.encode(text)) for text in texts]
        return [float(np.exp(total / count)) for total, count in zip(sums, counts, strict=True)]

    return work


def aula_plain(model: Model, items: Sequence[Item]) -> list[float]:
    """As published: one sentence at a time, all attentions kept and stacked."""
    usual, scores = model.net.config._attn_implementation, []
    model.net.set_attn_implementation("eager")
    with torch.no_grad():
        for item in items:
            for candidate in item.candidates:
                ids = torch.tensor([model.tokenizer.encode(candidate.text)])
                output = model.net(input_ids=ids, output_attentions=True)
                logs = output.logits[0].log_softmax(-1)[torch.arange(ids.shape[1]), ids[0]]
                received = torch.stack(list(output.attentions)).mean(0)[0].mean(0).mean(0)
                scores.append(float((received * logs)[1:-1].mean()))
    model.net.set_attn_implementation(usual)
    return scores


ROWS = [
    Row("CrowS-Pairs shared tokens, BERT-base", masked, "crows", {"plain": crows_plain}, {"plain": 3.8}, 12),
    Row("PLL, BERT-base", masked, "pll", {"minicons": minicons_pll}, {"minicons": 1.5}, 12),
    Row(
        "Pair likelihood, GPT-2",
        models.causal,
        "likelihood",
        {"lm-eval, batch 1": lm_eval_likelihood(1), "lm-eval, batch 32": lm_eval_likelihood(32)},
        {"lm-eval, batch 1": 5, "lm-eval, batch 32": 2},
        64,
    ),
    Row("AULA, BERT-base", masked, "aula", {"plain": aula_plain}, {"plain": 3.5}, 64),
]


def read_pairs() -> Items:
    """CrowS-Pairs where ISOGLOSS_REAL_DATA names it, pairs of the demonstration set otherwise."""
    real = os.environ.get("ISOGLOSS_REAL_DATA")
    if real:
        return ig.read(Path(real) / "crows_pairs" / "crows_pairs_anonymized.csv")
    return make_pairs(ig.read("demo", language="en"), category=None)


def bench(row: Row, everything: Items, text: Sequence[str]) -> dict[str, Any]:
    """Items per second of ours and of the others, and the largest difference between their scores."""
    models.seeded()
    model = row.make(text)
    items = sample_items(everything, limit=row.items, seed=1)
    found: dict[str, Any] = {"workload": row.name, "items": len(items), "target": row.targets, "ratio": {}, "gap": {}}
    works: dict[str, Callable[[], object]] = {"ours": lambda: ig.score(items, model=model, method=row.method)}
    ours = ig.score(items, model=model, method=row.method).table.filter(quantity=_quantity(row))["value"].to_numpy()
    for name, other in row.others.items():
        try:
            found["gap"][name] = float(np.abs(ours - np.array(other(model, items.rows))).max())
        except ModuleNotFoundError as error:
            found["gap"][name] = f"not installed: {error.name}"
            continue
        works[name] = lambda other=other: other(model, items.rows)  # type: ignore[misc]
    floor = find_floor(model)
    seconds = measure.interleaved(works | {"body": floor.body, "head": floor.head})
    found["per_item"] = count(model, items, row.method)
    best = items_at_floor(found["per_item"], seconds, floor=floor)
    found["items_per_second"] = {name: round(len(items) / seconds[name], 2) for name in works} | {
        "floor": round(best, 2)
    }
    found["ratio"] = {name: round(seconds[name] / seconds["ours"], 2) for name in works if name != "ours"}
    found["ratio_at_floor"] = {name: round(best * seconds[name] / len(items), 2) for name in found["ratio"]}
    return found


def _quantity(row: Row) -> str:
    return "shared" if row.method == "crows" else "score"


def bench_mbe() -> dict[str, Any]:
    """Seconds for 20,000 × 20,000 sentences with 768 numbers each, and how much memory it adds."""
    rng = np.random.default_rng(0)
    scores, vectors = rng.normal(size=MBE_SENTENCES), rng.normal(size=(MBE_SENTENCES, 768)) + 0.1
    first = (np.arange(MBE_SENTENCES) % 2 == 0)[None].astype(np.float64)

    def work() -> object:
        return weighted_share(rank(scores, unit(vectors), ties=0.5), first, second=1 - first)

    started = time.perf_counter()
    work()
    seconds = time.perf_counter() - started
    return {"sentences": MBE_SENTENCES, "seconds": round(seconds, 2), "memory_mb": round(measure.memory_added(work))}


def bench_all(only: str | None = None) -> dict[str, Any]:
    """All rows whose name holds `only`, and MBE."""
    everything = read_pairs()
    text = [candidate.text for item in everything for candidate in item.candidates]
    rows = [bench(row, everything, text) for row in ROWS if not only or only in row.name]
    return {"rows": rows, "mbe": bench_mbe() if not only or only in "MBE" else None}


def table(found: dict[str, Any]) -> str:
    """The rows as a Markdown table."""
    lines = [
        "| pairs and sentences | ours (items/s) | other | items/s | ratio | at the floor | target |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in found["rows"]:
        for name, target in row["target"].items():
            rate, ratio = row["items_per_second"].get(name, "not installed"), row["ratio"].get(name, "")
            best = row["ratio_at_floor"].get(name, "")
            lines.append(
                f"| {row['workload']} | {row['items_per_second']['ours']} | {name} | {rate} | {ratio} | {best} | {target} |"
            )
    if found["mbe"]:
        mbe = found["mbe"]
        lines.append(
            f"| MBE, {mbe['sentences'] // 2:,} × {mbe['sentences'] // 2:,} | {mbe['seconds']} s | a matrix | 5 GB | | | 2 s |"
        )
    return "\n".join(lines)
