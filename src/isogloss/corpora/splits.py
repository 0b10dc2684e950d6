"""A parallel text split by the English side into the sentences of two groups, as many of each, drawn by a seed."""

import hashlib
import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import IsoglossError
from ..files.layout import write_json_lines
from ..items import Candidate, Item
from .texts import Corpus, SentencePair, open_corpus
from .wordlists import WordList, find_group, gender_lists

MOST = 100_000


@dataclass(frozen=True, slots=True)
class CorpusSplit:
    """The items of a corpus, equally many of each group, and what was counted on the way.

    `counts` has the sentences of each group, of both, of neither, and those with an empty side; `kept` is per group.
    """

    corpus: str
    language: str
    items: tuple[Item, ...]
    counts: Mapping[str, int]
    kept: int


def split_corpus(corpus: Corpus, lists: tuple[WordList, WordList], *, most: int = MOST, seed: int = 0) -> CorpusSplit:
    """The corpus split by the lists; of each group at most `most` sentences are ever held, whatever its size.

    Which sentences are drawn depends on their line numbers and the seed alone.
    """
    groups = [word_list.group for word_list in lists]
    held: dict[str, list[tuple[int, int, SentencePair]]] = {group: [] for group in groups}
    counts: Counter[str] = Counter(dict.fromkeys(groups, 0))
    for pair in corpus.read():
        group = find_group(pair.english, lists) if pair.english and pair.text else "empty"
        counts[group] += 1
        if group in held:
            digest = hashlib.blake2b(f"{seed} {pair.line}".encode(), digest_size=8).digest()
            entry = (-int.from_bytes(digest), pair.line, pair)
            (heapq.heappush if len(held[group]) < most else heapq.heappushpop)(held[group], entry)
    if not counts.total():
        raise IsoglossError(f"'{corpus.name}' has no sentences.")
    missing = " and ".join(f"'{group}'" for group in groups if not counts[group])
    if missing:
        raise IsoglossError(
            f"None of the {counts.total()} sentences of '{corpus.name}' has words of {missing} only, so there are not "
            "two groups to compare. Give other lists or another corpus."
        )
    kept = min(len(drawn) for drawn in held.values())
    rows = [
        _item(corpus, pair, group=group, groups=groups)
        for group in groups
        for _, _, pair in sorted(heapq.nlargest(kept, held[group]), key=lambda entry: entry[1])
    ]
    return CorpusSplit(corpus.name, corpus.language, tuple(rows), dict(counts), kept)


def sentence_items(corpus: Corpus, lists: tuple[WordList, WordList]) -> Iterator[Item]:
    """All sentences of either group, without drawing; sentences of both groups or of none are left out."""
    groups = [word_list.group for word_list in lists]
    for pair in corpus.read():
        group = find_group(pair.english, lists)
        if group in groups and pair.text:
            yield _item(corpus, pair, group=group, groups=groups)


def write_split(splits: Sequence[CorpusSplit], path: Path) -> Path:
    """The sentences of all the splits as one file of our layout, written in one step."""
    return write_json_lines(path, (_row(item) for split in splits for item in split.items))


def _row(item: Item) -> dict[str, Any]:
    candidate = item.candidates[0]
    key = {"id": item.id, "dataset": item.dataset, "language": item.language}
    tags = {name: value for name, value in item.tags.items() if name != "task"}
    return key | {"group": candidate.role, "text": candidate.text} | tags


def split_counts(splits: Sequence[CorpusSplit]) -> list[dict[str, str | int]]:
    """One row per corpus: its language, the sentences of each kind, and how many of each group were kept."""
    return [{"corpus": s.corpus, "language": s.language, **s.counts, "kept_per_group": s.kept} for s in splits]


def counts_as_text(splits: Sequence[CorpusSplit]) -> str:
    """The counts for a terminal, one line per corpus."""
    lines = []
    for split in splits:
        counted = ", ".join(f"{count:,} {name}" for name, count in split.counts.items())
        lines.append(f"{split.language}  {split.corpus}: {counted}; kept {split.kept:,} of each group")
    return "\n".join(lines)


def _item(corpus: Corpus, pair: SentencePair, *, group: str, groups: Sequence[str]) -> Item:
    name = f"{corpus.name}:{pair.line}"
    tags = {"task": "sentence", "groups": "/".join(groups), "corpus": corpus.name}
    return Item(
        id=name,
        dataset="sentences",
        language=corpus.language,
        category=None,
        candidates=(Candidate(f"{name}-{group}", group, pair.text),),
        cluster=name,
        tags=tags | ({"english": pair.english} if pair.english != pair.text else {}),
    )


def convert_archive(path: Path, language: str) -> Path:
    """The sentences of a downloaded corpus that mention women or men, as `isogloss data build split` writes them."""
    split = split_corpus(open_corpus(path, language=language), gender_lists())
    return write_split([split], path.with_name(f"sentences_{language}.jsonl"))
