"""The tokenizer of a model behind a server: the one at hand, the server's own, or the text as the server cuts it."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import IsoglossError
from .info import hash_tokenizer

ESTIMATE = 3  # letters a token; cautious: English has about four, most other languages fewer

Cut = Callable[[str], list[tuple[int, str]]]  # a text's tokens, by number and text


@dataclass(eq=False)
class ServedTokenizer:
    """What methods use of a tokenizer. Until it is resolved, tokens are estimated, which is enough for a forecast.

    `local` is a tokenizer of transformers; `cut` asks the server, where none is at hand. A server that names no numbers of
    tokens is sent its text back, `as_text`.
    """

    local: Any = None
    cut: Cut | None = None
    as_text: bool = False
    pieces: dict[int, str] = field(default_factory=dict)
    bos_token_id: int | None = None
    eos_token_id: int | None = None
    unk_token_id: int | None = None
    mask_token_id: int | None = None

    def use(self, tokenizer: Any, start: int | None = None) -> None:
        """Cut text with a tokenizer of transformers; `start` is the start token by the model's configuration."""
        self.local = tokenizer
        self.bos_token_id = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else start
        self.eos_token_id, self.unk_token_id = tokenizer.eos_token_id, tokenizer.unk_token_id

    @property
    def source(self) -> str:
        """What cuts the text: the hash of the tokenizer at hand, or the server."""
        if self.local is not None:
            return hash_tokenizer(self.local)
        return "the server's, as text" if self.as_text else "the server's"

    @property
    def chat_template(self) -> str | None:
        """The template of the tokenizer at hand."""
        return getattr(self.local, "chat_template", None)

    @property
    def special_tokens_map(self) -> dict[str, Any]:
        """The special tokens of the tokenizer at hand."""
        return dict(self.local.special_tokens_map) if self.local is not None else {}

    def get_chat_template(self) -> str:
        """The chat template, as transformers names it."""
        if self.local is None:
            raise IsoglossError("A chat template around the text needs the tokenizer here. Use `tokenizer='NAME'`.")
        return str(self.local.get_chat_template())

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        """The numbers of a text's tokens."""
        if self.local is not None:
            return list(self.local.encode(text, add_special_tokens=add_special_tokens))
        if self.cut is None:
            return [number_of(text[k : k + ESTIMATE]) for k in range(0, len(text), ESTIMATE)]
        tokens = self.cut(text)
        self.pieces.update(tokens)
        start = [self.bos_token_id] if add_special_tokens and self.bos_token_id is not None else []
        return [*start, *(number for number, _ in tokens)]

    def decode(self, ids: list[int]) -> str:
        """The text of tokens."""
        if self.local is not None:
            return str(self.local.decode(ids))
        return "".join(self.pieces.get(number, "\ufffd") for number in ids)

    def convert_ids_to_tokens(self, number: int) -> str:
        """A token's name in the vocabulary."""
        return str(self.local.convert_ids_to_tokens(number)) if self.local else self.pieces.get(number, f"<{number}>")


def number_of(piece: str) -> int:
    """A number for the text of a token, the same in every process; for servers that name no numbers."""
    return int.from_bytes(hashlib.sha256(piece.encode("utf-8", "surrogatepass")).digest()[:6], "big")
