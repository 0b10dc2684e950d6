"""Tiny random models of every family, built in memory once per session; weights are large so that a slip shows."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from isogloss.models.load import describe, wrap
from isogloss.models.model import Model

torch.set_num_threads(1)

LENGTH = 64
WIDE = 32
LANGUAGES = {"de": 0, "en": 1, "fa": 2, "hi": 3, "tr": 4, "zh": 5}
TEXT = [
    "The nurse is kind and the doctor is rude. She was a compassionate woman. He is not friendly at all!",
    "People from Norway are cold; people from Ghana are warm. I met a programmer. They were very quiet.",
    "Die Krankenschwester ist freundlich und der Arzt ist unhöflich. Sie war müde, er fährt größere Autos.",
    "Hemşire çok nazik biridir. Doktor kaba davrandı. Şoför yavaş sürüyordu, çünkü yağmur yağıyordu.",
    "پرستار مهربان است و پزشک بداخلاق است. او یک زن دلسوز بود. آنها خیلی آرام بودند.",
    "护士很善良。医生很粗鲁。她是一个好人。他们来自挪威。我遇到了一个程序员。",
    "नर्स दयालु है। डॉक्टर अशिष्ट है। वह एक अच्छी महिला थी। वे बहुत शांत थे।",
    'banana table seven green window music river stone letter garden, winter: 1984 (again) "quoted" - done?',
]


def _special(*tokens: str, mask: str | None = None) -> list[AddedToken | str]:
    plain: list[AddedToken | str] = list(tokens)
    return plain + ([AddedToken(mask, lstrip=True, special=True)] if mask else [])


def _finish(tokenizer: Tokenizer, single: str, *, pair: str | None = None, **names: Any) -> PreTrainedTokenizerFast:
    """The tokenizer with its frame and its special tokens named."""
    used = {token for token in (single + " " + (pair or "")).replace(":1", "").split() if token not in ("$A", "$B")}
    if used:
        known = [(token, tokenizer.token_to_id(token)) for token in sorted(used)]
        tokenizer.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=known)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


@cache
def wordpiece() -> PreTrainedTokenizerFast:
    """As BERT's."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    special = _special("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    tokenizer.train_from_iterator(
        TEXT, trainers.WordPieceTrainer(vocab_size=420, special_tokens=special, show_progress=False)
    )
    return _finish(
        tokenizer,
        "[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


@cache
def mpnet_pieces() -> PreTrainedTokenizerFast:
    """As MPNet's: word pieces with RoBERTa's special tokens, the mask taking the space before it."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = _special("<s>", "<pad>", "</s>", "[UNK]", mask="<mask>")
    tokenizer.train_from_iterator(
        TEXT, trainers.WordPieceTrainer(vocab_size=400, special_tokens=special, show_progress=False)
    )
    return _finish(
        tokenizer,
        "<s> $A </s>",
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        unk_token="[UNK]",
        pad_token="<pad>",
        mask_token=AddedToken("<mask>", lstrip=True, special=True),
    )


def _bytes(special: list[AddedToken | str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=420, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    return tokenizer


@cache
def byte_masked() -> PreTrainedTokenizerFast:
    """As RoBERTa's and ModernBERT's: bytes, a leading space in the token, the mask taking the space before it."""
    return _finish(
        _bytes(_special("<s>", "<pad>", "</s>", "<unk>", mask="<mask>")),
        "<s> $A </s>",
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        mask_token=AddedToken("<mask>", lstrip=True, special=True),
    )


@cache
def byte_plain() -> PreTrainedTokenizerFast:
    """As GPT-2's: one special token for everything."""
    end = "<|endoftext|>"
    return _finish(_bytes([end]), "$A", bos_token=end, eos_token=end, unk_token=end)


@cache
def byte_qwen() -> PreTrainedTokenizerFast:
    """As Qwen's: no beginning-of-text token."""
    return _finish(
        _bytes(_special("<|endoftext|>", "<|im_end|>")), "$A", eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )


@cache
def byte_bloom() -> PreTrainedTokenizerFast:
    """As BLOOM's: nothing is added to a text."""
    special = _special("<unk>", "<s>", "</s>", "<pad>")
    return _finish(
        _bytes(special),
        "$A",
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        padding_side="left",
    )


@cache
def byte_opt() -> PreTrainedTokenizerFast:
    """As OPT's: a text begins with what ends others."""
    special = _special("<s>", "<pad>", "</s>", "<unk>")
    return _finish(_bytes(special), "</s> $A", bos_token="</s>", eos_token="</s>", unk_token="</s>", pad_token="<pad>")


def _unigram(special: list[AddedToken | str], unknown: str) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    split = [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(split)  # type: ignore[arg-type]
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=380, special_tokens=special, unk_token=unknown, show_progress=False, max_piece_length=6
    )
    tokenizer.train_from_iterator(TEXT * 3, trainer)
    return tokenizer


@cache
def pieces_masked() -> PreTrainedTokenizerFast:
    """As XLM-R's: sentence pieces."""
    return _finish(
        _unigram(_special("<s>", "<pad>", "</s>", "<unk>", mask="<mask>"), "<unk>"),
        "<s> $A </s>",
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        mask_token=AddedToken("<mask>", lstrip=True, special=True),
    )


@cache
def pieces_cls() -> PreTrainedTokenizerFast:
    """As ALBERT's and DeBERTa-v2's: sentence pieces with BERT's special tokens."""
    return _finish(
        _unigram(_special("[PAD]", "[UNK]", "[CLS]", "[SEP]", mask="[MASK]"), "[UNK]"),
        "[CLS] $A [SEP]",
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token=AddedToken("[MASK]", lstrip=True, special=True),
    )


@cache
def pieces_t5() -> PreTrainedTokenizerFast:
    """As T5's: sentence pieces, an end, and sentinels."""
    sentinels = [f"<extra_id_{n}>" for n in range(3)]
    return _finish(
        _unigram(_special("<pad>", "</s>", "<unk>", *sentinels), "<unk>"),
        "$A </s>",
        unk_token="<unk>",
        eos_token="</s>",
        pad_token="<pad>",
        additional_special_tokens=sentinels,
    )


@cache
def pieces_llama() -> PreTrainedTokenizerFast:
    """As Llama's: sentence pieces after a beginning-of-text token."""
    special = _special("<unk>", "<s>", "</s>")
    return _finish(_unigram(special, "<unk>"), "<s> $A", unk_token="<unk>", bos_token="<s>", eos_token="</s>")


@cache
def pieces_gemma() -> PreTrainedTokenizerFast:
    """As Gemma's out of a GGUF file: spaces become letters, no beginning-of-text token is added."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    tokenizer.decoder = decoders.Replace("▁", " ")
    special = _special("<pad>", "<eos>", "<bos>", "<unk>")
    tokenizer.train_from_iterator(
        TEXT, trainers.BpeTrainer(vocab_size=420, special_tokens=special, show_progress=False)
    )
    return _finish(tokenizer, "$A", unk_token="<unk>", bos_token="<bos>", eos_token="<eos>", pad_token="<pad>")


@cache
def word_ends() -> PreTrainedTokenizerFast:
    """As XLM's and FlauBERT's: pairs of pieces, the end of a word marked."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = _special("<s>", "</s>", "<pad>", "<unk>", "<special1>")
    trainer = trainers.BpeTrainer(
        vocab_size=420, special_tokens=special, end_of_word_suffix="</w>", show_progress=False
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    return _finish(
        tokenizer,
        "<s> $A </s>",
        bos_token="<s>",
        sep_token="</s>",
        cls_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        mask_token="<special1>",
    )


SMALL = {
    "hidden_size": WIDE,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
    "max_position_embeddings": LENGTH,
}
ROTARY = {**SMALL, "num_key_value_heads": 1, "head_dim": 16}
T5 = {"d_model": WIDE, "d_kv": 16, "d_ff": 48, "num_layers": 2, "num_heads": 2, "decoder_start_token_id": 0}
OLD = {"emb_dim": WIDE, "n_layers": 2, "n_heads": 2, "max_position_embeddings": LENGTH}
DEBERTA = {
    **SMALL,
    "relative_attention": True,
    "pos_att_type": ["c2p", "p2c"],
    "position_biased_input": False,
    "max_relative_positions": 16,
    "type_vocab_size": 0,
}

Kind = tuple[str, Callable[[], PreTrainedTokenizerFast], dict[str, Any]]

KINDS: dict[str, Kind] = {
    "bert": ("BertForPreTraining", wordpiece, SMALL),
    "ernie": ("ErnieForPreTraining", wordpiece, SMALL),
    "megatron-bert": ("MegatronBertForPreTraining", wordpiece, SMALL),
    "mobilebert": (
        "MobileBertForPreTraining",
        wordpiece,
        {**SMALL, "embedding_size": 16, "intra_bottleneck_size": 16, "true_hidden_size": 16},
    ),
    "fnet": ("FNetForPreTraining", wordpiece, SMALL),
    "roberta": ("RobertaForMaskedLM", byte_masked, {**SMALL, "max_position_embeddings": LENGTH + 2}),
    "albert": ("AlbertForMaskedLM", pieces_cls, {**SMALL, "embedding_size": 16}),
    "electra": ("ElectraForMaskedLM", wordpiece, {**SMALL, "embedding_size": 16}),
    "distilbert": ("DistilBertForMaskedLM", wordpiece, {"dim": WIDE, "n_layers": 2, "n_heads": 2, "hidden_dim": 48, "max_position_embeddings": LENGTH}),
    "deberta": ("DebertaForMaskedLM", byte_masked, DEBERTA),
    "deberta-new-head": ("DebertaForMaskedLM", byte_masked, {**DEBERTA, "legacy": False}),
    "deberta-v2": (
        "DebertaV2ForMaskedLM",
        pieces_cls,
        {**DEBERTA, "position_buckets": 8, "norm_rel_ebd": "layer_norm", "share_att_key": True, "conv_kernel_size": 3, "conv_act": "gelu"},
    ),
    "xlm-roberta": ("XLMRobertaForMaskedLM", pieces_masked, {**SMALL, "max_position_embeddings": LENGTH + 2}),
    "modernbert": ("ModernBertForMaskedLM", byte_masked, {**SMALL, "num_hidden_layers": 4, "local_attention": 8, "global_attn_every_n_layers": 3, "bos_token_id": 0, "cls_token_id": 0, "eos_token_id": 2, "sep_token_id": 2}),
    "flaubert": ("FlaubertWithLMHeadModel", word_ends, OLD),
    "flaubert-pre-norm": ("FlaubertWithLMHeadModel", word_ends, {**OLD, "pre_norm": True}),
    "xlm": ("XLMWithLMHeadModel", word_ends, {**OLD, "n_langs": 6, "use_lang_emb": True, "lang2id": LANGUAGES}),
    "convbert": ("ConvBertForMaskedLM", wordpiece, {**SMALL, "embedding_size": 16, "num_attention_heads": 4, "conv_kernel_size": 5}),
    "mpnet": ("MPNetForMaskedLM", mpnet_pieces, {**SMALL, "max_position_embeddings": LENGTH + 2}),
    "gpt2": ("GPT2LMHeadModel", byte_plain, {"n_embd": WIDE, "n_layer": 2, "n_head": 2, "n_positions": LENGTH}),
    "llama": ("LlamaForCausalLM", pieces_llama, ROTARY),
    "gemma2": ("Gemma2ForCausalLM", pieces_gemma, {**ROTARY, "final_logit_softcapping": 3.0, "attn_logit_softcapping": 5.0, "sliding_window": 12, "query_pre_attn_scalar": 16}),
    "gemma3": ("Gemma3ForCausalLM", pieces_gemma, {**ROTARY, "sliding_window": 12, "query_pre_attn_scalar": 16, "layer_types": ["sliding_attention", "full_attention"]}),
    "qwen2": ("Qwen2ForCausalLM", byte_qwen, {k: v for k, v in ROTARY.items() if k != "head_dim"}),
    "qwen3": ("Qwen3ForCausalLM", byte_qwen, ROTARY),
    "bloom": ("BloomForCausalLM", byte_bloom, {"hidden_size": WIDE, "n_layer": 2, "n_head": 2}),
    "opt": ("OPTForCausalLM", byte_opt, {**{k: v for k, v in SMALL.items() if k != "intermediate_size"}, "ffn_dim": 48, "word_embed_proj_dim": 16}),
    "t5": ("T5ForConditionalGeneration", pieces_t5, T5),
    "t5-v1.1": ("T5ForConditionalGeneration", pieces_t5, {**T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}),
    "mt5": ("MT5ForConditionalGeneration", pieces_t5, {**T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}),
    "umt5": ("UMT5ForConditionalGeneration", pieces_t5, {**T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}),
}  # fmt: skip

SEQ2SEQ = ("t5", "t5-v1.1", "mt5", "umt5")
UNTIED = ("t5-v1.1", "mt5", "umt5")
CAUSAL = ("gpt2", "llama", "gemma2", "gemma3", "qwen2", "qwen3", "bloom", "opt")
MASKED = tuple(name for name in KINDS if name not in (*SEQ2SEQ, *CAUSAL))
NSP = ("bert", "ernie", "megatron-bert", "mobilebert", "fnet")


def _config(kind: Any, tokenizer: PreTrainedTokenizerFast, options: dict[str, Any]) -> Any:
    start = {"byte_qwen": 0}.get(next(b for _, b, _ in KINDS.values() if b() is tokenizer).__name__)
    names = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    known = {key: value for key, value in names.items() if value is not None}
    known |= {"bos_token_id": start} if start is not None else {}
    pad = tokenizer.pad_token_id
    return kind.config_class(**{"vocab_size": len(tokenizer), "pad_token_id": pad, **known, **options})


def network(name: str, *, seed: int = 0) -> Any:
    """A new network of that kind with random weights."""
    model_class, tokenizer, options = KINDS[name]
    kind = getattr(transformers, model_class)
    torch.manual_seed(seed)
    net = kind(_config(kind, tokenizer(), options)).eval()
    with torch.no_grad():
        for parameter_name, parameter in net.named_parameters():
            noise = torch.randn_like(parameter)
            if "norm" in parameter_name.lower() and parameter.ndim == 1 and parameter_name.endswith("weight"):
                parameter.add_(0.2 * noise)
            elif (
                parameter.ndim < 2
                or "embed" in parameter_name
                or ".wte" in parameter_name
                or "shared" in parameter_name
            ):
                parameter.copy_(0.4 * noise)
            else:
                # T5 does not divide attention scores by the width of a head; its query matrix makes up for it
                size = parameter[0].numel() * (16 if parameter_name.endswith("Attention.q.weight") else 1)
                parameter.copy_(noise / size**0.5)
        if name in UNTIED:
            net.lm_head.weight = torch.nn.Parameter(0.4 * torch.randn_like(net.shared.weight))
    return net


def tokenizer_of(name: str) -> PreTrainedTokenizerFast:
    """The tokenizer of a kind of model."""
    return KINDS[name][1]()


@cache
def model(name: str) -> Model:
    """The open tiny model of that kind; the same object for the whole session."""
    net, tokenizer = network(name), tokenizer_of(name)
    return wrap(net, tokenizer, info=describe(net, tokenizer, name=f"tiny-{name}"))


def save_talker(folder: Path) -> str:
    """The folder of a tiny chat model that reads texts of any length."""
    tokenizer = copy.deepcopy(tokenizer_of("bloom"))
    tokenizer.chat_template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}<assistant>"
    network("bloom").save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)
