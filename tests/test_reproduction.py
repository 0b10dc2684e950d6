"""What `make reproduce` does, on small models: recovered heads, shifted batches, and the blocks of its pages."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path

import polars as pl
import pytest
import torch
import transformers
from reproduction import __main__ as command
from reproduction import pages, questions, weights
from reproduction.batches import find_shift, published_inputs, published_scores
from reproduction.claims import PAGE, RECORD, as_section, as_table, load_weights
from reproduction.data import CROWS, NEEDED, PREDICTIONS, STEREOSET, TEMPLATES, find_data
from reproduction.findings import small_difference_table, small_summary, small_table
from reproduction.pages import PUBLISHED
from reproduction.published import load_nadeem
from reproduction.tables import NOTHING, Sources
from safetensors.torch import load_file, save_file

import isogloss as ig
from isogloss.errors import IsoglossError
from isogloss.items import Candidate, Item, Items, items_hash
from isogloss.models.load import open_model
from isogloss.models.model import Loading
from isogloss.scores import Scored
from support import tiny
from support.builders import TRIPLE, score, triple
from support.local_hub import Hub, read_folder
from test_models_hub import hub  # noqa: F401

PULLED = Path.home() / ".isogloss"
REAL = Path(os.environ.get("ISOGLOSS_REAL_DATA") or "/nowhere")
WORDS = (
    ("kind", "rude", "green"),
    ("doctor", "nurse", "table"),
    ("quick", "slow", "wooden"),
    ("tall", "short", "loud"),
)


def small_bert() -> tuple[transformers.BertForPreTraining, transformers.BertTokenizer]:
    tokenizer = tiny.tokenizer_of("bert")
    torch.manual_seed(0)
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = transformers.BertConfig(vocab_size=len(tokenizer), initializer_range=0.5, **size)
    return transformers.BertForPreTraining(config).eval(), tokenizer


def save_without_head(net: transformers.BertForPreTraining, tokenizer: transformers.BertTokenizer, to: Path) -> None:
    """A folder as pulling a package leaves it: with a pooler, a card, and no next-sentence head."""
    net.save_pretrained(to)
    tokenizer.save_pretrained(to)
    weights_file = to / "model.safetensors"
    kept = {name: value for name, value in load_file(weights_file).items() if "seq_relationship" not in name}
    save_file(kept, weights_file, metadata={"format": "pt"})
    (to / "README.md").write_text("---\nlicense: apache-2.0\n---\nA small one.\n", encoding="utf-8")


def blank_items() -> list[Item]:
    """Four items; the second has two BLANKs."""
    contexts = ["The man is BLANK.", "The BLANK met the BLANK.", "She was BLANK.", "They are BLANK today."]
    return [
        Item(str(k), "own", "en", "x", tuple(Candidate(f"{k}{w}", r, "-", w) for w, r in zip(words, TRIPLE, strict=True)), context=context)
        for k, (context, words) in enumerate(zip(contexts, WORDS, strict=True))
    ]  # fmt: skip


def slow_published(net, tokenizer, inputs, size: int) -> dict[str, float]:
    """The published code, batch by batch: the rows of all masks, the columns of all tokens, and their diagonal."""
    found: dict[str, list[float]] = {}
    for start in range(0, len(inputs), size):
        batch = inputs[start : start + size]
        ids = tokenizer([one.text for one in batch], padding=True, return_tensors="pt", return_token_type_ids=False)
        with torch.no_grad():
            rows = net(**ids).prediction_logits.softmax(-1)[ids.input_ids == tokenizer.mask_token_id]
        values = rows.index_select(1, torch.tensor([one.piece for one in batch])).diag()
        for one, value in zip(batch, values, strict=True):
            found.setdefault(one.candidate, []).append(float(value))
    return {name: sum(values) / len(values) for name, values in found.items()}


@pytest.mark.parametrize("size", [1, 2, 3, 4, 64])
def test_a_shifted_batch_gives_what_the_published_code_gives(size: int) -> None:
    net, tokenizer = small_bert()
    inputs = published_inputs(tokenizer, blank_items())
    scores, whole = (
        published_scores(net, tokenizer, inputs=inputs, size=size),
        slow_published(net, tokenizer, inputs, size),
    )
    assert {name: scores[name] for name in scores} == pytest.approx({name: whole[name] for name in scores}, rel=1e-4)
    alone = slow_published(net, tokenizer, inputs, 1)
    untouched = whole.keys() - scores.keys()
    assert {name: whole[name] for name in untouched} == pytest.approx(
        {name: alone[name] for name in untouched}, rel=1e-4
    )


def test_the_batch_size_of_a_published_run_is_found() -> None:
    net, tokenizer = small_bert()
    published = slow_published(net, tokenizer, published_inputs(tokenizer, blank_items()), 8)
    shift = find_shift(net, tokenizer, items=blank_items(), published=published)
    assert (shift.size, shift.given) == (8, len(shift.touched))


def test_a_recovered_head_is_added_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path))
    save_without_head(*small_bert(), tmp_path / "models" / "bert-base-cased")
    head = {"cls.seq_relationship.weight": torch.randn(2, 32), "cls.seq_relationship.bias": torch.zeros(2)}
    monkeypatch.setattr(weights, "HEADS", tmp_path)
    save_file(head, tmp_path / "bert-base-cased.safetensors")
    assert open_model("bert-base-cased", Loading(offline=True)).info.untrained == ("nsp",)
    model = open_model(str(weights.attach_recovered_head("bert-base-cased", tmp_path)))
    assert torch.equal(model.net.cls.seq_relationship.weight, head["cls.seq_relationship.weight"])
    assert (model.info.untrained, model.info.notes) == (
        (),
        ("its next-sentence head was recovered from published scores",),
    )


@pytest.mark.parametrize("name", ["bert-base-cased", "bert-base-multilingual-cased"])
def test_the_recovered_heads_are_two_opposite_rows(name: str) -> None:
    head = load_file(weights.HEADS / f"{name}.safetensors")
    rows, bias = head["cls.seq_relationship.weight"], head["cls.seq_relationship.bias"]
    assert rows.shape == (2, 768)
    assert torch.equal(rows[0], -rows[1])
    assert float(bias[0]) == pytest.approx(-float(bias[1]))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "tag"), [("bert-base-cased", "en"), ("bert-base-multilingual-cased", "tr")])
def test_a_recovered_head_gives_published_scores_back(
    name: str, tag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not (PULLED / "models" / name / "config.json").is_file() or not REAL.is_dir():
        pytest.skip(f"{name} is not pulled, or ISOGLOSS_REAL_DATA is not set")
    monkeypatch.setenv("ISOGLOSS_HOME", str(PULLED))
    items = Items(ig.read(REAL / "stereoset" / f"intersentence_{tag}.jsonl.gz", language=tag).rows[:20])
    scored = ig.score(items, model=str(weights.attach_recovered_head(name, tmp_path)), method="nsp").table
    published = ig.load(REAL / "predictions" / f"{name}_BertLM_BertNextSentence_{tag}.json.gz", data=items).table
    wanted = dict(published.select("candidate", "value").iter_rows())
    assert dict(scored.select("candidate", "value").iter_rows()) == pytest.approx(wanted, abs=1e-4)


def test_without_the_data_it_says_which_files_are_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_REAL_DATA", str(tmp_path))
    with pytest.raises(
        IsoglossError, match=r"20 of 20 files are not in ISOGLOSS_REAL_DATA: stereoset/intrasentence_en"
    ):
        find_data(tmp_path, print)


@pytest.mark.slow
def test_data_by_name_is_what_a_folder_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not REAL.is_dir():
        pytest.skip("ISOGLOSS_REAL_DATA is not set")
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ISOGLOSS_MIRROR", str(REAL))
    monkeypatch.delenv("ISOGLOSS_REAL_DATA")
    folder = find_data(tmp_path / "data", print)
    for name, tag in ((STEREOSET[1], "de"), (CROWS, "en"), (TEMPLATES, "en")):
        pulled, real = (ig.read(root / name, language=tag).rows for root in (folder, REAL))
        assert items_hash(pulled) == items_hash(real)
    assert all((folder / name).is_file() for name in NEEDED)


def test_without_a_pulled_copy_the_weights_come_from_a_hub_that_answers(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    hub: Hub,  # noqa: F811
) -> None:
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path / "home"))
    net, tokenizer = small_bert()
    net.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    for name in weights.MODELS:
        hub.add(name, read_folder(tmp_path / "model"))
    said: list[str] = []
    assert weights.get_weights(weights.MODELS, said.append)
    assert said == [f"Fetching {name} from the hub …" for name in weights.MODELS]
    assert open_model("bert-base-cased").info.untrained == ()


def test_the_study_of_small_models_runs_those_that_are_pulled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path))
    (tmp_path / "models" / "smollm2").mkdir(parents=True)
    (tmp_path / "models" / "smollm2" / "config.json").write_text("{}", encoding="utf-8")
    said: list[str] = []
    assert command.find_small_models(said.append) == ["SmolLM2/*/*", "BERT/*/*", "mBERT/*/*"]
    assert said == ["gemma3-270m is left out. To include it: isogloss model pull gemma3-270m --accept-license"]


def test_small_models_are_compared_masked_minus_causal() -> None:
    items = [triple(f"i{k}", f"t{k % 12}") for k in range(60)]
    kinds = {"mBERT": ("masked", [(2, 1, 0)] * 60), "SmolLM2": ("causal", [(2, 1, 3)] * 30 + [(1, 2, 3)] * 30)}
    tables = [
        score(items, numbers, model=name).table.with_columns(pl.lit(family).alias("family"))
        for name, (family, numbers) in kinds.items()
    ]
    scored = Scored(pl.concat(tables))
    assert [line.split(" | ")[:3] for line in small_table(scored).splitlines()[2:]] == [
        ["| English", "mBERT", "masked"],
        ["| English", "SmolLM2", "causal"],
    ]
    lms, ss = (line.split(" | ") for line in small_difference_table(scored).splitlines()[2:])
    assert (lms[1:3], lms[3][:6], lms[-2]) == (["mBERT - SmolLM2", "LMS"], "+100.0", "yes")
    assert (ss[2], ss[3][:5]) == ("SS", "+50.0")
    assert small_summary(scored).startswith("1 of 1 differences in LMS survive (mBERT - SmolLM2 en +100.0).")


def test_a_stage_writes_its_own_tables_and_keeps_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = tuple(pages.PAGES)
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((pages.DOCS / name).read_text(encoding="utf-8"), encoding="utf-8")
    before = [pages.read_blocks((tmp_path / name).read_text(encoding="utf-8")) for name in names]
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    said: list[str] = []
    pages.write_pages(Sources(tmp_path / "nothing", tmp_path, {}), said.append, stages=["small"])
    assert sorted(line.split(": ")[1] for line in said) == sorted(f"{block} …" for block in pages.SMALL)
    assert [pages.read_blocks((tmp_path / name).read_text(encoding="utf-8")) for name in names] == before


def stand_in_data(folder: Path) -> None:
    """A few real StereoSet items of each language with scores that are invented, and the other files as they are."""
    for name in NEEDED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if name not in STEREOSET and name not in PREDICTIONS:
            (folder / name).symlink_to(REAL / name)
    ids: dict[str, list[str]] = {}
    for name in STEREOSET:
        lines = gzip.decompress((REAL / name).read_bytes()).decode().splitlines(keepends=True)
        kept = [*lines[:30], *(line for line in lines[30:] if json.loads(line)["context"].count("BLANK") > 1)]
        (folder / name).write_bytes(gzip.compress("".join(kept).encode()))
        task, tag = Path(name).name.removesuffix(".jsonl.gz").split("_")
        items = ig.read(folder / name, language=tag)
        ids[f"{task} {tag}"] = [candidate.id for item in items for candidate in item.candidates]
    for name in PREDICTIONS:
        tag = name[-10:-8]
        rows = {
            task: [{"id": one, "score": (k * 37 % 101 + 1) / 1000} for k, one in enumerate(ids[f"{task} {tag}"])]
            for task in ("intrasentence", "intersentence")
        }
        (folder / name).write_bytes(gzip.compress(json.dumps(rows).encode()))


@pytest.mark.slow
def test_the_whole_command_runs_on_stand_ins_and_writes_both_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not REAL.is_dir():
        pytest.skip("ISOGLOSS_REAL_DATA is not set")
    tokenizer = tiny.tokenizer_of("bert")
    size = {"hidden_size": 768, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.BertConfig(vocab_size=len(tokenizer), **size)  # as wide as the recovered heads
    for name in weights.MODELS:
        save_without_head(transformers.BertForPreTraining(config), tokenizer, tmp_path / "home" / "models" / name)
    stand_in_data(tmp_path / "data")
    for folder in ("assets", "results", "dev"):
        (tmp_path / "docs" / folder).mkdir(parents=True)
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ISOGLOSS_REAL_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(pages, "DOCS", tmp_path / "docs")
    patterns = [
        word for one in ("*/intra/*", "*recovered head/inter/*", "*/methods/*", "*/mbe/*") for word in ("--only", one)
    ]
    monkeypatch.setattr("sys.argv", ["reproduction", "--out", str(tmp_path / "runs"), *patterns])
    command.main()
    page, findings_page, _, *records = ((tmp_path / "docs" / name).read_text() for name in pages.PAGES)
    assert "| bert-base-multilingual-cased | tr | recovered | 90 of 90 |" in records[0]
    assert page.count("| bert-base-multilingual-cased |") >= 10
    assert "**Languages.** We compare multilingual BERT" in findings_page
    assert (findings_page + records[1]).count(NOTHING) == len(
        PUBLISHED
    ) + 8  # no CrowS-Pairs, no small models, no questions


def test_words_and_tables_of_the_pages_go_together() -> None:
    for name, blocks in pages.PAGES.items():
        text = (pages.TEXT / Path(name).name).read_text(encoding="utf-8")
        page = pages.fill_in(text, dict.fromkeys(blocks, "x"))
        assert pages.read_blocks(page) == dict.fromkeys(blocks, "x")
        stored = pages.read_blocks((pages.DOCS / name).read_text(encoding="utf-8"))
        assert pages.fill_in(text, stored) == (pages.DOCS / name).read_text(encoding="utf-8")


def test_claims_of_a_paper_are_not_tested_without_all_of_its_scores(tmp_path: Path) -> None:
    assert load_weights(tmp_path / "nothing") == {}
    (tmp_path / "predictions").mkdir()
    (tmp_path / "predictions" / "nadeem_predictions_gpt2_ModelNSP_GPT2LM.json.gz").touch()  # one of nine models
    assert load_nadeem(tmp_path) is None


def test_a_paper_is_a_table_of_its_claims_and_a_section_of_the_record() -> None:
    items = [triple(f"i{k}", f"t{k % 12}") for k in range(36)]
    claims = {"title": "A paper", "claims": [{"name": "stereotypes win", "says": "ss > 50", "source": "A (2020), §2"}]}
    result = ig.gate(score(items, [(2, 1, 0)] * 36), claims, resamples=100)
    assert as_table(result).splitlines()[-1].startswith("| Stereotypes win | §2 | supported | +50.0 [")
    assert "### Stereotypes win" in as_section(result)


def test_every_claim_of_the_record_is_on_the_page_with_the_same_verdict() -> None:
    record = re.findall(r"^### (.*?)\n\n.*?\n\n\*\*(.*?)\.\*\*", RECORD.read_text(encoding="utf-8"), re.MULTILINE)
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [line.removeprefix("| ").split(" | ") for line in lines if line.count(" | ") == 4]
    page = [(cells[0], cells[2].capitalize()) for cells in rows if cells[0] not in ("claim", "---")]
    lists = [line.removeprefix("Not testable here: ") for line in lines if line.startswith("Not testable here: ")]
    others = [one.rpartition(" (")[0] for text in lists for one in text.split("; ")]
    assert sorted([*page, *((name, "Not testable here") for name in others)]) == sorted(record)


def test_claims_that_cannot_be_tested_are_one_line_of_the_page() -> None:
    items = [triple(f"i{k}", f"t{k % 12}") for k in range(36)]
    claims = [{"name": f"claim {n}", "says": "ss(fr) > 50", "source": f"A (2020), §{n}"} for n in (1, 2)]
    result = ig.gate(score(items, [(2, 1, 0)] * 36), {"title": "A paper", "claims": claims}, resamples=100)
    assert as_table(result) == "## A paper\n\nNot testable here: Claim 1 (§1); Claim 2 (§2).\n"


def test_the_sample_of_questions_has_those_with_controls_in_all_languages_from_every_stratum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def item(name: str, tag: str, cluster: str, *, control: bool = False) -> Item:
        tags = {"condition": "ambiguous", "polarity": "negative", "right": "unknown", "biased": "target"}
        variant = {"derived_from": name, "variant": "control"} if control else {}
        return Item(
            f"{name}~control" if control else name, "mbbq", tag, "Age", (), cluster=cluster, tags=tags, **variant
        )

    names = [(f"q{k}", f"c{k % 2}") for k in range(6)]
    items = {
        tag: [item(name, tag, cluster, control=side) for name, cluster in names for side in (False, True)]
        for tag in questions.LANGUAGES
    }
    items["tr"] = [one for one in items["tr"] if one.id != "q0~control"]
    assert questions.draw_sample(items) == {"q1", "q2", "q3", "q4", "q5"}
    monkeypatch.setattr(questions, "SAMPLE", 2)
    assert {int(name[1:]) % 2 for name in questions.draw_sample(items)} == {0, 1}
