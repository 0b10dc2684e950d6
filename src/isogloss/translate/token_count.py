"""Counting tokens with a model's tokenizer, for the check of token gaps."""

from collections.abc import Callable

from ..errors import IsoglossError
from ..models.load import open_tokenizer


def open_counter(name: str) -> Callable[[str], int]:
    """A function that counts a text's tokens, special tokens apart, with the tokenizer of that model; no weight is loaded."""
    tokenizer = open_tokenizer(name)
    if len(tokenizer) <= len(tokenizer.all_special_tokens):  # transformers makes an empty one where files are missing
        raise IsoglossError(f"'{name}' has no tokenizer that can be read. Download it again.")
    return lambda text: len(tokenizer.encode(" " + text, add_special_tokens=False))
