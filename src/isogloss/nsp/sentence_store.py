"""The sentences of all articles in one file on disk; memory holds only where each of them begins."""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

Index = npt.NDArray[np.int64]


@dataclass(slots=True)
class Writer:
    """A sentence store that is being filled: 12 bytes of memory per sentence, and some 60 per article."""

    path: Path
    file: IO[bytes]
    ends: array[int] = field(default_factory=lambda: array("q", [0]))
    sizes: array[int] = field(default_factory=lambda: array("i"))
    firsts: array[int] = field(default_factory=lambda: array("q"))
    languages: array[int] = field(default_factory=lambda: array("i"))
    draws: array[int] = field(default_factory=lambda: array("Q"))
    names: list[str] = field(default_factory=list)
    named: set[str] = field(default_factory=set)
    seen: set[bytes] = field(default_factory=set)
    tags: list[str] = field(default_factory=list)

    def put(self, name: str, sentences: Sequence[str], *, language: str, seed: int) -> bool:
        """Put an article in the store; false, and nothing done, for one whose text is there already."""
        digest = hashlib.blake2b("\n".join([language, *sentences]).encode(), digest_size=8).digest()
        if digest in self.seen:
            return False
        self.seen.add(digest)
        if language not in self.tags:
            self.tags.append(language)
        self.firsts.append(len(self.ends) - 1)
        self.languages.append(self.tags.index(language))
        draw = hashlib.blake2b(f"{seed}:".encode() + digest, digest_size=8).digest()
        self.draws.append(int.from_bytes(draw, "big"))
        name = f"{name}#{len(self.names)}" if name in self.named else name  # ids repeat across files and languages
        self.named.add(name)
        self.names.append(name)
        for sentence in sentences:
            raw = sentence.encode()
            self.file.write(raw)
            self.ends.append(self.ends[-1] + len(raw))
            self.sizes.append(len(sentence))
        return True

    def close(self) -> SentenceStore:
        """The store, ready to be read."""
        self.file.close()
        firsts = np.frombuffer(self.firsts, dtype=np.int64)
        return SentenceStore(
            np.frombuffer(self.ends, dtype=np.int64),
            np.frombuffer(self.sizes, dtype=np.int32),
            np.append(firsts, len(self.ends) - 1),
            np.frombuffer(self.languages, dtype=np.int32),
            np.frombuffer(self.draws, dtype=np.uint64),
            tuple(self.names),
            tuple(self.tags),
            os.open(self.path, os.O_RDONLY),
        )


@dataclass(frozen=True, slots=True)
class SentenceStore:
    """Sentence i lies at bytes ends[i] to ends[i + 1]; article a has the sentences firsts[a] to firsts[a + 1].

    `sizes` is how many letters a sentence has; `draws` is an article's number in the lottery for train, validation and test: a hash of the seed and its text.
    """

    ends: Index
    sizes: npt.NDArray[np.int32]
    firsts: Index
    languages: npt.NDArray[np.int32]
    draws: npt.NDArray[np.uint64]
    names: tuple[str, ...]
    tags: tuple[str, ...]
    file: int

    def read(self, sentence: int) -> str:
        """The text of a sentence, read from the file."""
        start, end = int(self.ends[sentence]), int(self.ends[sentence + 1])
        return os.pread(self.file, end - start, start).decode()

    def articles_of(self, sentences: Index) -> Index:
        """The article of each sentence."""
        return np.asarray(np.searchsorted(self.firsts, sentences, side="right") - 1, dtype=np.int64)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self.file)


def open_writer(path: Path) -> Writer:
    """An empty store at a path."""
    return Writer(path, path.open("wb"))
