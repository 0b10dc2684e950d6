"""Counting tokens with a model's tokenizer, for the check of token gaps."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import IsoglossError, need
from ..models.load import find_place


def open_counter(name: str) -> Callable[[str], int]:
    """A function that counts a text's tokens, special tokens apart, with the tokenizer of that model; no weight is loaded."""
    transformers = need("transformers", extra="hf")
    place = find_place(name)
    sentence = f"The tokenizer of '{name}' cannot be opened. Check the name, or give a folder with its files."
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(place.source, **place.arguments)
    except Exception as error:
        raise IsoglossError(sentence) from error
    if len(tokenizer) <= len(tokenizer.all_special_tokens):  # transformers makes an empty one where files are missing
        raise IsoglossError(sentence)
    return lambda text: len(tokenizer.encode(" " + text, add_special_tokens=False))
