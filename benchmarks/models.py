"""Models of real shape with random weights, and tokenizers trained on the text at hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from isogloss.models.load import describe, wrap
from isogloss.models.model import Model

# Trained on English StereoSet, 8000 pieces cut its candidate words into 1.28 (WordPiece), 1.30 (BPE) and 1.26 (Unigram) pieces.
# A real English tokenizer of 49,152 pieces (SmolLM2) has 1.25, one of 262,144 for many languages (Gemma 3) 1.12. Larger
# vocabularies trained on so little text know every word (1.00 from 16,000 pieces on), which would flatter us.
PIECES = 8000


def masked(text: Sequence[str], *, vocabulary: int = 28_996) -> Model:
    """A BERT-base with both heads."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(text, trainers.WordPieceTrainer(vocab_size=PIECES, special_tokens=special))
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    config = transformers.BertConfig(vocab_size=vocabulary)
    return _open(transformers.BertForPreTraining(config), tokenizer, names, name=f"bert-base-{vocabulary}")


def causal(text: Sequence[str], *, vocabulary: int = 50_257) -> Model:
    """A GPT-2 small."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=PIECES, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet)
    tokenizer.train_from_iterator(text, trainer)
    names = dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<|endoftext|>")
    config = transformers.GPT2Config(vocab_size=vocabulary, bos_token_id=0, eos_token_id=0)
    return _open(transformers.GPT2LMHeadModel(config), tokenizer, names, name="gpt2")


def seq2seq(text: Sequence[str], *, vocabulary: int = 250_112) -> Model:
    """An mT5-small."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    special = ["<pad>", "</s>", "<unk>", "<extra_id_0>"]
    trainer = trainers.UnigramTrainer(vocab_size=PIECES, special_tokens=special, unk_token="<unk>")
    tokenizer.train_from_iterator(text, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    names = {
        "pad_token": "<pad>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "additional_special_tokens": ["<extra_id_0>"],
    }
    config = transformers.MT5Config(
        vocab_size=vocabulary,
        d_model=512,
        d_kv=64,
        d_ff=1024,
        num_layers=8,
        num_heads=6,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=1,
    )
    return _open(transformers.MT5ForConditionalGeneration(config), tokenizer, names, name="mt5-small")


def _open(net: Any, tokenizer: Tokenizer, names: dict[str, Any], *, name: str) -> Model:
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
    return wrap(net, fast, info=describe(net, fast, name=name))


def seeded() -> None:
    """The same weights in every run."""
    torch.manual_seed(0)
