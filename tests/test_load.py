"""Opening models from folders and GGUF files, and one sentence for each way in which that can fail."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from gguf import GGUFWriter
from safetensors.torch import load_file, save_file

from isogloss.errors import IsoglossError
from isogloss.models import info as facts
from isogloss.models import load
from isogloss.models.load import open_model
from isogloss.models.model import Loading
from isogloss.runs import find_runs, read_scored
from isogloss.studies.scoring_plan import fitting_methods
from support import tiny
from support.examples import CLOSE, INTER, INTRA, rows_of

INCOMPLETE = (
    "'bert' has no complete safetensors weights. Download it again; "
    "or, when it only has pickled weights that you trust, use `allow_pickle`."
)
FAR = "is neither a folder, nor a pulled model, nor in the hub's cache, and offline nothing is downloaded."
LIST = "See: isogloss list models"


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Each tiny model as a folder, written once."""
    transformers.utils.logging.disable_progress_bar()
    root = tmp_path_factory.mktemp("models")

    def folder(name: str) -> Path:
        path = root / name
        if not path.exists():
            tiny.network(name).save_pretrained(path)
            tiny.tokenizer_of(name).save_pretrained(path)
        return path

    return folder


@pytest.fixture
def bert(saved: Callable[[str], Path], tmp_path: Path) -> Path:
    """A copy of the tiny BERT that a test may break."""
    return Path(shutil.copytree(saved("bert"), tmp_path / "bert"))


def message(name: Path | str, **options: Any) -> str:
    with pytest.raises(IsoglossError) as caught:
        open_model(str(name), Loading(**options))
    return str(caught.value)


def save_net(net: Any, folder: Path, *, tokenizer: str) -> Path:
    net.save_pretrained(folder)
    tiny.tokenizer_of(tokenizer).save_pretrained(folder)
    return folder


FAMILY = dict.fromkeys(tiny.MASKED, "masked") | dict.fromkeys(tiny.CAUSAL, "causal")
METHODS = {"masked": "unmask", "causal": "likelihood", "seq2seq": "unmask"}


@pytest.mark.parametrize("name", tiny.KINDS)
def test_a_saved_model_opens_as_it_was(name: str, saved: Callable[[str], Path]) -> None:
    model, wanted = open_model(str(saved(name))), tiny.model(name)
    assert model.info.family == FAMILY.get(name, "seq2seq")
    assert model.info.name == name
    assert model.info.heads == (("lm", "nsp") if name in tiny.NSP else ("lm",))
    assert model.info.untrained == ()
    assert model.info.vocabulary == wanted.info.vocabulary
    assert model.info.parameters == wanted.info.parameters
    assert model.info.max_length == (None if name in (*tiny.SEQ2SEQ, "bloom") else tiny.LENGTH)
    if name == "qwen2":  # transformers builds its own tokenizer for this type, whatever was saved
        return
    assert model.info.tokenizer == wanted.info.tokenizer
    method = METHODS[model.info.family]
    found, known = rows_of(model, INTRA[:4], method), rows_of(wanted, INTRA[:4], method)
    for key, row in known.items():
        assert found[key].logprobs == pytest.approx(row.logprobs, abs=CLOSE, rel=0)


def test_the_hash_is_that_of_weights_and_configuration(bert: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(bert, tmp_path / "copy")
    first = open_model(str(bert)).info
    assert open_model(str(copy)).info.weights == first.weights
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | {"transformers_version": "9"}))
    assert open_model(str(copy)).info.weights == first.weights
    (copy / "config.json").write_text(json.dumps(config | {"hidden_act": "relu"}))
    assert open_model(str(copy)).info.weights != first.weights


def test_the_hash_changes_with_one_weight(bert: Path) -> None:
    first = open_model(str(bert)).info
    weights = load_file(bert / "model.safetensors")
    weights["bert.pooler.dense.bias"][0] += 1e-3
    save_file(weights, bert / "model.safetensors", metadata={"format": "pt"})
    second = open_model(str(bert)).info
    assert second.weights != first.weights
    assert second.tokenizer == first.tokenizer


def test_models_in_memory_have_hashes_too() -> None:
    known = [tiny.describe(tiny.network("bert", seed=seed), tiny.wordpiece(), name="x") for seed in (0, 0, 1)]
    assert known[0].weights == known[1].weights != known[2].weights
    plain, pre_norm = tiny.model("flaubert").info, tiny.model("flaubert-pre-norm").info
    assert plain.weights != pre_norm.weights


def test_the_hash_of_the_tokenizer_changes_with_how_it_cuts_text(bert: Path) -> None:
    first = open_model(str(bert)).info.tokenizer
    text = (bert / "tokenizer.json").read_text(encoding="utf-8")
    (bert / "tokenizer.json").write_text(text.replace('"lowercase": false', '"lowercase": true'), encoding="utf-8")
    assert open_model(str(bert)).info.tokenizer != first


@pytest.mark.parametrize("change", ["merges.txt", "do_lowercase"])
def test_the_hash_of_a_python_tokenizer_changes_with_its_other_files_and_settings(change: str, tmp_path: Path) -> None:
    words = ["a</w>", "b</w>", "a", "ab</w>", "<unk>"]
    (tmp_path / "vocab.json").write_text(json.dumps({word: n for n, word in enumerate(words)}), encoding="utf-8")
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b</w>\n", encoding="utf-8")

    def read() -> Any:
        return transformers.CTRLTokenizer(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))

    before, other = read(), read()
    before.do_lowercase = other.do_lowercase = False
    assert facts.hash_tokenizer(before) == facts.hash_tokenizer(other)
    before.tokenize("a b ab")  # what a tokenizer remembers of its use is not what it is
    assert facts.hash_tokenizer(before) == facts.hash_tokenizer(other)
    if change == "merges.txt":
        (tmp_path / change).write_text("#version: 0.2\n", encoding="utf-8")
        other = read()
    other.do_lowercase = change == "do_lowercase"
    assert facts.hash_tokenizer(before) != facts.hash_tokenizer(other)


@pytest.mark.parametrize(
    ("name", "option", "left_out"), [("gpt2", "n_layer", "h.1."), ("bert", "num_hidden_layers", ".1.")]
)
def test_a_configuration_that_leaves_out_layers_is_refused(
    name: str, option: str, left_out: str, saved: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(saved(name), tmp_path / name))
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {option: 1}), encoding="utf-8")
    message = rf"^'{name}' has \d+ weights of layers that its config.json leaves out, such as '.*{re.escape(left_out)}"
    with pytest.raises(IsoglossError, match=message):
        open_model(str(folder))


@pytest.mark.parametrize("how", ["in place", "replaced", "deleted"])
def test_weights_that_change_while_they_are_used_end_the_work(
    how: str, saved: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(saved("gpt2"), tmp_path / "gpt2"))
    model, weights = open_model(str(folder)), folder / "model.safetensors"
    first = rows_of(model, INTRA[:1], "likelihood")
    weights.touch()
    assert rows_of(model, INTRA[:1], "likelihood") == first
    content = weights.read_bytes()
    if how != "in place":
        weights.unlink()
    if how != "deleted":
        with weights.open("r+b" if weights.exists() else "xb") as file:
            file.write(content[:-4] + bytes(4))
    with pytest.raises(IsoglossError) as caught:
        rows_of(model, INTRA[:1], "likelihood")
    assert str(caught.value) == (
        f"The weights of 'gpt2' in {folder} changed while they were in use. Run the same command again."
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_layer": 1_000_000}, "'gpt2' has 1,000,000 layers by its config.json ('n_layer'). Download it again."),
        ({"text_config": {"num_hidden_layers": 10**6}}, "'gpt2' has 1,000,000 layers by its config.json"),
    ],
)
def test_a_configuration_with_a_million_layers_is_refused_at_once(
    change: dict[str, Any], message: str, saved: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(saved("gpt2"), tmp_path / "gpt2"))
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | change), encoding="utf-8")
    for opening in (open_model, load.open_outline, load.find_family):
        with pytest.raises(IsoglossError) as caught:
            opening(str(folder))
        assert str(caught.value).startswith(message)


def test_architectures_that_are_no_list_are_no_traceback(saved: Callable[[str], Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(saved("gpt2"), tmp_path / "gpt2"))
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"architectures": 5}), encoding="utf-8")
    with suppress(IsoglossError):
        open_model(str(folder))


def test_a_card_names_languages_and_licence(bert: Path) -> None:
    (bert / "README.md").write_text("---\nlicense: mit\nlanguage:\n- en\n- fa\n---\nA model.\n", encoding="utf-8")
    known = open_model(str(bert)).info
    assert known.languages == ("en", "fa")
    assert known.licence == "mit"


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", ["bert", "gpt2", "t5"])
def test_small_number_formats_give_nearly_the_same(name: str, dtype: str, saved: Callable[[str], Path]) -> None:
    model = open_model(str(saved(name)), Loading(dtype=dtype))
    assert model.info.dtype == dtype
    method = METHODS[model.info.family]
    found, known = rows_of(model, INTRA[:4], method), rows_of(tiny.model(name), INTRA[:4], method)
    for key, row in known.items():
        assert found[key].logprobs == pytest.approx(row.logprobs, abs=0.2)


# ---- heads that the checkpoint does not have


def refusal(model: Any, method: str, items: Any) -> str:
    with pytest.raises(IsoglossError) as caught:
        rows_of(model, items, method)
    return str(caught.value)


def test_an_untrained_next_sentence_head_is_refused_and_the_rest_works(tmp_path: Path) -> None:
    net = transformers.BertForMaskedLM(tiny.network("bert").config)
    model = open_model(str(save_net(net, tmp_path / "mlm", tokenizer="bert")))
    assert model.info.untrained == ("nsp",)
    assert refusal(model, "nsp", INTER[:1]) == (
        "The checkpoint 'mlm' has no weights for its next-sentence head; an untrained head gives noise."
    )
    assert len(rows_of(model, INTRA[:1], "unmask")) == 3
    assert "unmask" in fitting_methods(model)
    assert "nsp" not in fitting_methods(model)


def test_a_checkpoint_without_a_language_model_head_is_refused(tmp_path: Path) -> None:
    for kind, method, net in (
        ("bert", "unmask", transformers.BertForNextSentencePrediction(tiny.network("bert").config)),
        ("electra", "unmask", transformers.ElectraForPreTraining(tiny.network("electra").config)),
        ("llama", "likelihood", transformers.LlamaModel(tiny.network("llama").config)),
    ):
        model = open_model(str(save_net(net, tmp_path / kind, tokenizer=kind)))
        assert model.info.untrained == ("lm",)
        assert refusal(model, method, INTRA[:1]) == (
            f"The checkpoint '{kind}' has no weights for its language-model head; an untrained head gives noise."
        )


def test_a_model_without_a_next_sentence_head_is_refused() -> None:
    assert refusal(tiny.model("roberta"), "nsp", INTER[:1]) == (
        "'tiny-roberta' has no next-sentence head, so it cannot be scored with 'nsp'. Train one: isogloss nsp train"
    )


def test_a_model_without_a_mask_token_is_refused() -> None:
    net, tokenizer = tiny.network("bert"), tiny.byte_plain()
    model = tiny.wrap(net, tokenizer, info=tiny.describe(net, tokenizer, name="maskless"))
    assert refusal(model, "unmask", INTRA[:1]) == (
        "'maskless' has no mask token, so it cannot fill a blank. Is it a masked model?"
    )


def test_a_model_without_a_sentinel_is_refused() -> None:
    net, tokenizer = tiny.network("t5"), tiny.pieces_masked()
    model = tiny.wrap(net, tokenizer, info=tiny.describe(net, tokenizer, name="bart"))
    assert refusal(model, "unmask", INTRA[:1]) == (
        "'bart' has no '<extra_id_0>' token, so it cannot fill a blank. Use `method='continuation'`."
    )
    assert refusal(model, "continuation", INTER[:1]) == (
        "'bart' has no '<extra_id_0>' token, so it cannot be made to write a sentence."
    )


@pytest.mark.parametrize(
    ("name", "method", "families"),
    [("gpt2", "unmask", "masked and seq2seq"), ("bert", "likelihood", "causal and seq2seq and server"), ("bert", "continuation", "causal and seq2seq and server"), ("t5", "pll", "masked")],
)  # fmt: skip
def test_a_method_of_another_family_is_refused(name: str, method: str, families: str) -> None:
    model = tiny.model(name)
    assert refusal(model, method, INTRA[:1]) == (
        f"The method '{method}' is for {families} models; 'tiny-{name}' is {model.info.family}. "
        "Use `method='auto'` to let Isogloss choose."
    )


@pytest.mark.parametrize(
    ("name", "method", "options", "sentence"),
    [
        ("t5", "unmask", {"variant": "all-masked"}, "The variant 'all-masked' is for masked models; an encoder-decoder model has one sentinel."),
        ("t5", "continuation", {"case": "e"}, "The case 'e' is for causal models; an encoder-decoder model has the default only."),
        ("gpt2", "continuation", {"closing": "with"}, "The option 'closing=with' is for encoder-decoder models."),
        ("gpt2", "likelihood", {"begin": "none"}, "No option of 'likelihood' named 'begin'. Known: length, start, template."),
        ("gpt2", "likelihood", {"start": "nonee"}, "No value of 'likelihood' option 'start' named 'nonee'. Did you mean 'none'? Known: auto, first, none."),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_are_refused(name: str, method: str, options: dict[str, str], sentence: str) -> None:
    with pytest.raises(IsoglossError) as caught:
        rows_of(tiny.model(name), INTER[:1], method, **options)
    assert str(caught.value) == sentence


# ---- half a download


def test_a_folder_without_weights_is_refused(bert: Path) -> None:
    (bert / "model.safetensors").unlink()
    assert message(bert) == INCOMPLETE


@pytest.mark.parametrize("keep", [0, 4, 100, 50_000])
def test_a_cut_weights_file_is_refused(bert: Path, keep: int) -> None:
    content = (bert / "model.safetensors").read_bytes()
    assert keep < len(content)
    (bert / "model.safetensors").write_bytes(content[:keep])
    assert message(bert) == INCOMPLETE


def test_weights_that_are_missing_in_the_file_are_not_made_up(bert: Path) -> None:
    weights = load_file(bert / "model.safetensors")
    kept = {key: tensor for key, tensor in weights.items() if "layer.1.output.dense" not in key}
    save_file(kept, bert / "model.safetensors", metadata={"format": "pt"})
    assert message(bert) == (
        "'bert' lacks 2 of its weights, such as 'bert.encoder.layer.1.output.dense.bias'. Download it again."
    )


def test_weights_of_another_size_are_refused(bert: Path) -> None:
    config = json.loads((bert / "config.json").read_text())
    (bert / "config.json").write_text(json.dumps(config | {"intermediate_size": 64}))
    assert message(bert) == "'bert' has weights of other sizes than its config.json says. Download it again."


@pytest.mark.parametrize(("name", "tokens", "size"), [("bert", 5, 420), ("gpt2", 1, 420), ("t5", 104, 238)])
def test_a_folder_without_a_tokenizer_is_refused(
    name: str, tokens: int, size: int, saved: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(saved(name), tmp_path / name))
    for path in folder.glob("tokenizer*"):
        path.unlink()
    assert message(folder) == (
        f"'{name}' has no tokenizer that fits: it knows {tokens} tokens, the model {size}. Download it again."
    )


def test_half_a_tokenizer_is_refused(bert: Path) -> None:
    text = (bert / "tokenizer.json").read_text(encoding="utf-8")
    (bert / "tokenizer.json").write_text(text[: len(text) // 2], encoding="utf-8")
    assert message(bert) == "'bert' has no tokenizer that can be read. Download it again."
    (bert / "tokenizer.json").unlink()
    assert message(bert) == "'bert' has no tokenizer that can be read. Download it again."


def test_half_a_configuration_is_refused(bert: Path) -> None:
    text = (bert / "config.json").read_text(encoding="utf-8")
    (bert / "config.json").write_text(text[: len(text) // 2], encoding="utf-8")
    assert message(bert) == "'bert' has a broken config.json. Download it again."
    (bert / "config.json").unlink()
    assert message(bert) == f"The folder {bert} is not a model: it has no config.json."


# ---- what is not safe


class Trap:
    """Would write a file when it is unpickled."""

    def __reduce__(self) -> Any:
        return (exec, ("raise SystemExit('the pickle was run')",))


def test_pickled_weights_are_loaded_only_when_allowed(bert: Path) -> None:
    torch.save(load_file(bert / "model.safetensors"), bert / "pytorch_model.bin")
    (bert / "model.safetensors").unlink()
    assert message(bert) == INCOMPLETE
    found = rows_of(open_model(str(bert), Loading(allow_pickle=True)), INTRA[:1], "unmask")
    known = rows_of(tiny.model("bert"), INTRA[:1], "unmask")
    assert {key: row.logprobs for key, row in found.items()} == {key: row.logprobs for key, row in known.items()}


def test_a_pickle_is_not_even_opened_when_it_is_not_allowed(bert: Path) -> None:
    torch.save({"a": Trap()}, bert / "pytorch_model.bin")
    (bert / "model.safetensors").unlink()
    assert message(bert) == INCOMPLETE


def add_code(folder: Path, **config: Any) -> None:
    known = json.loads((folder / "config.json").read_text())
    classes = {"AutoConfig": "own.Config", "AutoModelForPreTraining": "own.Net", "AutoModelForMaskedLM": "own.Net"}
    (folder / "config.json").write_text(json.dumps({**known, "auto_map": classes, **config}))
    (folder / "own.py").write_text("raise SystemExit('the model\\'s code was run')\n")


def test_a_model_that_needs_its_own_code_is_refused(bert: Path) -> None:
    add_code(bert, model_type="mine")
    assert message(bert) == (
        "'bert' needs its own code, which Isogloss never runs. Choose a model that transformers supports."
    )


def test_a_known_model_with_code_of_its_own_is_loaded_without_it_and_says_so(bert: Path) -> None:
    add_code(bert)
    assert open_model(str(bert)).info.notes == ("has its own code, which was not run",)


# ---- what is not there


def test_another_kind_of_model_is_refused(bert: Path) -> None:
    (bert / "config.json").write_text('{"model_type": "clip"}')
    assert message(bert) == (
        "'bert' is a 'clip' model, which belongs to no family that Isogloss can score: causal, masked, seq2seq."
    )


@pytest.mark.parametrize("name", ["./nowhere", "/no/such/model", "a/b/c"])
def test_a_folder_that_is_not_there_is_refused(name: str) -> None:
    assert message(name) == f"No such model folder: {Path(name)}."


@pytest.mark.parametrize("name", ["nobody/nothing", "nothing-at-all"])
def test_a_hub_name_is_refused_when_offline(name: str) -> None:
    assert message(name, offline=True) == f"'{name}' {FAR} {LIST}"


def test_a_name_that_is_very_near_to_a_pulled_model_is_suggested() -> None:
    assert message("smolm2", offline=True) == f"Did you mean 'smollm2'? 'smolm2' {FAR}"


def test_a_demonstration_model_must_be_pulled_first() -> None:
    assert message("smollm2") == "'smollm2' is not downloaded yet. Get it with: isogloss model pull smollm2"
    assert message("gemma3-270m") == (
        "'gemma3-270m' is not downloaded yet. Get it with: isogloss model pull gemma3-270m --accept-license"
    )


@pytest.mark.parametrize("device", ["potato", "meta", "", ":0"])
def test_an_unknown_device_is_refused(bert: Path, device: str) -> None:
    assert message(bert, device=device) == f"No device named '{device}'. Known: auto, cpu, cuda, cuda:0, mps."


def test_a_device_that_is_not_there_is_refused(bert: Path) -> None:
    absent = "mps" if torch.cuda.is_available() else "cuda:7"
    assert message(bert, device=absent) == f"There is no '{absent}' on this machine. Use `device='cpu'`."


def test_an_unknown_number_format_is_refused(bert: Path) -> None:
    assert message(bert, dtype="int4") == "No dtype named 'int4'. Known: float32, bfloat16, float16."


# ---- GGUF

BLOCK = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
OUTSIDE = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def gguf_tensor(name: str, values: Any, config: Any) -> tuple[str, Any]:
    """A Llama's tensor under its name in GGUF; queries and keys are stored with their halves interleaved."""
    stem = name.removesuffix(".weight")
    if stem in OUTSIDE:
        return f"{OUTSIDE[stem]}.weight", values
    _, _, layer, rest = stem.split(".", 3)
    heads = {"self_attn.q_proj": config.num_attention_heads, "self_attn.k_proj": config.num_key_value_heads}.get(rest)
    if heads:
        values = values.reshape(heads, 2, -1, values.shape[1]).swapaxes(1, 2).reshape(values.shape)
    return f"blk.{layer}.{BLOCK[rest]}.weight", values


def write_gguf(path: Path, net: Any, tokenizer: Any) -> Path:
    config, writer = net.config, GGUFWriter(path, "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(10_000.0)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(len(tokenizer))
    tokens = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token.startswith("<|") else 1 for token in tokens])
    merges = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_bos_token_id(tokenizer.bos_token_id)
    writer.add_eos_token_id(tokenizer.eos_token_id)
    for name, tensor in net.state_dict().items():
        stored, values = gguf_tensor(name, tensor.numpy(), config)
        writer.add_tensor(stored, np.ascontiguousarray(values))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_a_gguf_file_opens_as_the_model_it_was_made_from(tmp_path: Path) -> None:
    tokenizer = tiny.byte_plain()
    torch.manual_seed(0)
    options = {
        **tiny.ROTARY,
        "vocab_size": len(tokenizer),
        "bos_token_id": 0,
        "eos_token_id": 0,
        "initializer_range": 0.3,
    }
    net = transformers.LlamaForCausalLM(transformers.LlamaConfig(**options)).eval()
    path = write_gguf(tmp_path / "tiny.gguf", net, tokenizer)
    model = open_model(str(path))
    assert model.info.name == "tiny"
    assert model.info.notes == (load.DEQUANTISED,) == ("dequantized, not the original weights",)
    known = tiny.wrap(net, tokenizer, info=tiny.describe(net, tokenizer, name="known"))
    found, wanted = rows_of(model, INTRA, "likelihood"), rows_of(known, INTRA, "likelihood")
    for key, row in wanted.items():
        assert found[key].logprobs == pytest.approx(row.logprobs, abs=CLOSE, rel=0)
    (tmp_path / "neighbour.gguf").write_bytes(b"another file in the folder")
    assert open_model(str(path)).info.weights == model.info.weights


def test_a_gguf_file_that_is_not_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "junk.gguf"
    assert message(path) == f"No such file: {path}."
    path.write_bytes(b"hello" * 100)
    assert message(path) == (
        f"'junk' cannot be opened: {path} does not start with the GGUF magic bytes, so it is not a GGUF file."
    )


# ---- AULA in other number formats


def test_aula_scores_in_bfloat16_as_in_float32_but_for_rounding(bert, tmp_path, command) -> None:
    data = tmp_path / "pairs.jsonl"
    pair = {"id": "1", "language": "en", "category": "gender", "stereotype": "The nurse is kind.", "anti_stereotype": "The doctor is rude."}  # fmt: skip
    data.write_text(json.dumps(pair) + "\n", encoding="utf-8")
    values = {}
    for dtype in ("float32", "bfloat16"):
        out = tmp_path / dtype
        code, _, error = command("eval", bert, "--data", data, "--method", "aula", "--dtype", dtype, "--out", out)
        assert code == 0, error
        table = read_scored(find_runs(out)).table.sort("role", "quantity")
        values[dtype] = table["value"].to_list()
    assert len(values["float32"]) == 4  # AULA and AUL of two sentences
    assert values["bfloat16"] == pytest.approx(values["float32"], rel=0.1)
    assert values["bfloat16"] != values["float32"]
