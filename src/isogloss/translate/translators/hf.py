"""Hugging Face translation models: Marian, M2M, NLLB, mBART and others that transformers calls sequence to sequence."""

from collections.abc import Mapping, Sequence
from typing import Any

import langcodes

from ...errors import IsoglossError, require
from ...models.load import fetch_source
from ...models.model import Loading
from . import LanguagePair, Opened, Translator, number, option

MORE_TOKENS = 64
NLLB = {"ar": "arb_Arab", "fa": "pes_Arab", "zh": "zho_Hans", "zh-Hant": "zho_Hant"}


def open_hf(pair: LanguagePair, options: Mapping[str, str]) -> Opened:
    """The model of that name, from a folder or the hub; no code that comes with it is run."""
    transformers = require("transformers", extra="hf")
    name = option(options, "model", translator="hf")
    safe = None if options.get("pickle") == "yes" else True
    folder = str(fetch_source(name, Loading(allow_pickle=safe is None)).folder)
    fixed = {"trust_remote_code": False, "local_files_only": True}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **fixed)
        net = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder, use_safetensors=safe, **fixed)
    except Exception as error:
        raise IsoglossError(
            f"'{name}' cannot be opened as a translation model. Check the name, or give a folder with its files; "
            "when it only has pickled weights that you trust, use `options={'pickle': 'yes'}`."
        ) from error
    beams = int(number(options, "beams", default=4))
    return open_network(net, tokenizer, pair=pair, name=name, beams=beams)


def open_network(net: Any, tokenizer: Any, *, pair: LanguagePair, name: str, beams: int = 4) -> Opened:
    """A translator around a network and a tokenizer in memory."""
    torch = require("torch", extra="hf")
    net.eval()
    extra: dict[str, Any] = {}
    if getattr(tokenizer, "src_lang", None) is not None or hasattr(tokenizer, "lang_code_to_token"):
        tokenizer.src_lang = language_code(tokenizer, pair.source)
        extra["forced_bos_token_id"] = language_id(tokenizer, language_code(tokenizer, pair.target))

    def translate(texts: Sequence[str]) -> list[str]:
        inputs = tokenizer(list(texts), return_tensors="pt", padding=True, truncation=True)
        longest = int(inputs["input_ids"].shape[1]) * 2 + MORE_TOKENS
        space = getattr(net.config, "max_position_embeddings", None) or longest
        with torch.no_grad():
            generated = net.generate(**inputs, num_beams=beams, max_new_tokens=min(longest, space - 2), **extra)
        return [str(text).strip() for text in tokenizer.batch_decode(generated, skip_special_tokens=True)]

    return Opened(f"hf {name}", translate, batch=16)


def language_code(tokenizer: Any, tag: str) -> str:
    """The tokenizer's own code for a language: `es`, `spa_Latn` or `es_XX`."""
    tokens = {str(token) for token in tokenizer.all_special_tokens} | set(tokenizer.get_added_vocab())
    language = langcodes.Language.get(tag)
    plain = str(language.language)
    guesses = [tag, plain, NLLB.get(tag, ""), f"{language.to_alpha3()}_{language.maximize().script}"]
    for guess in guesses:
        if guess in tokens or f"__{guess}__" in tokens:
            return guess
    regional = sorted(code for code in tokens if code.startswith(f"{plain}_"))
    if regional:
        return regional[0]
    raise IsoglossError(f"The translation model does not know the language '{tag}'. Choose a model that does.")


def language_id(tokenizer: Any, code: str) -> int:
    """The token that makes the model write that language."""
    token = tokenizer.convert_tokens_to_ids(code)
    if token is None or token == tokenizer.unk_token_id:
        token = tokenizer.convert_tokens_to_ids(f"__{code}__")
    return int(token)


translator = Translator(
    title="A translation model of Hugging Face, on this machine",
    open=open_hf,
    options={
        "model": "a folder or a name on the hub, such as Helsinki-NLP/opus-mt-en-es",
        "beams": "the number of beams; by default 4",
        "pickle": "yes, to open pickled weights that you trust",
    },
)
