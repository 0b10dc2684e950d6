"""Scores and checks in every script: sentences, words, marks, unknown tokens, normal forms, tables."""

from __future__ import annotations

import json
import unicodedata

import pytest

import isogloss as ig
from isogloss import languages
from isogloss.analysis.control_items import make_control_items
from isogloss.checks import ALL, find_problems
from isogloss.items import Candidate, Item, Items
from isogloss.models.text import decode
from isogloss.reports.text.table import Grid, as_text, columns
from support import tiny
from support.examples import blank, follow, rows_of
from test_pair_methods import pair

ARABIC = "الطَّبيب هنا"  # fatha before shadda: normal form C turns the two round


def crows_csv(path, rows):
    lines = ["id,sent_more,sent_less,stereo_antistereo,bias_type"]
    lines += [f"{n},{more},{less},stereo,gender" for n, (more, less) in enumerate(rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


# ---- 2, normal form C


def test_rows_that_normal_form_c_changes_are_counted_everywhere(tmp_path, command):
    decomposed = unicodedata.normalize("NFD", "Die Ärztin lügt.")
    path = crows_csv(tmp_path / "pairs_de.csv", [(decomposed, "Der Arzt lebt."), ("Sie ist da.", "Er ist da.")])
    _, shown, _ = command("data", "check", path, "--language", "de")
    line = next(line for line in shown.splitlines() if "not_normal" in line)
    assert line.split()[:3] == ["warning", "not_normal", "1"]
    scored = ig.score(ig.read(path, language="de"), model=tiny.model("bert"), out=tmp_path / "runs")
    measured = ig.measure(scored, resamples=200)
    assert "1 items whose text was changed to normal form C on reading" in str(measured)
    run = json.loads(next((tmp_path / "runs").rglob("run.json")).read_text(encoding="utf-8"))
    assert run["problems"] == {"not_normal": 1}


def test_text_in_normal_form_c_is_not_counted(tmp_path):
    path = crows_csv(tmp_path / "pairs_de.csv", [("Die Ärztin lügt.", "Der Arzt lügt.")])
    assert ig.read(path, language="de").problems == ()


# ---- 3, 8, 9, 10, unknown tokens


def test_terms_that_the_model_cannot_tell_apart_have_no_divergence():
    texts = ("☃ BLANK nazik.", "ꙮ BLANK nazik.", "Doktor BLANK nazik.")
    candidates = tuple(Candidate(f"c{n}", f"r{n}", text) for n, text in enumerate(texts))
    item = Item("unknown", "tiny", "tr", "gender", candidates, tags={"task": "template-blank"})
    asked = ig.score(Items((item,)), model=tiny.model("bert"), method="distribution").table
    kl = asked.filter(asked["quantity"] == "kl")
    same = kl.filter((kl["candidate"] == "c0") & (kl["against"] == "c1")).to_dicts()[0]
    assert (same["value"], same["why"]) == (None, "both texts have the same tokens")
    assert all(row["value"] > 0 for row in kl.to_dicts() if "c2" in (row["candidate"], row["against"]))
    assert [row["unknown"] for row in kl.filter(kl["against"] == "c2").to_dicts()] == [1, 1]


def test_unknown_tokens_of_the_context_are_counted():
    known = rows_of(tiny.model("bert"), [blank("a", "en", "The nurse is BLANK.", "kind", "rude", "green")], "unmask")
    foreign = rows_of(tiny.model("bert"), [blank("a", "en", "☃ ꙮ is BLANK.", "kind", "rude", "green")], "unmask")
    assert {row.unknown for row in known.values()} == {0}
    assert {row.unknown for row in foreign.values()} == {2}
    items = [follow("b", "en", "☃ ꙮ.", "She was kind.", "He was rude.", "It.")]
    assert rows_of(tiny.model("bert"), items, "nsp")["b-stereotype"].unknown == 2
    assert rows_of(tiny.model("llama"), items, "continuation")["b-stereotype"].unknown >= 2


@pytest.mark.parametrize("method", ["crows", "contrast"])
def test_unknown_tokens_of_the_whole_sentence_are_counted_in_pairs(method):
    rows = rows_of(tiny.model("bert"), [pair("x", "en", "☃ is kind", "Nurse is kind")], method)
    assert sorted(row.unknown for row in rows.values()) == [0, 1]


def test_unknown_tokens_and_missing_scores_are_counted_by_language():
    items = [pair("x", "th", "☃ is kind", "ꙮ is kind"), pair("y", "en", "The nurse is kind", "The doctor is kind")]
    items.append(pair("z", "tr", "nurse", "doctor"))
    scored = ig.score(Items(tuple(items)), model=tiny.model("bert"), method="crows")
    notes = ig.measure(scored, resamples=200).notes
    assert "2 candidates have tokens that the model does not know (th 2)" in notes
    assert (
        "2 items lack a score (th 1, tr 1), such as 'x', and were left out "
        "(both sentences have the same tokens, the two sentences share no token)"
    ) in notes


# ---- 4, how sentences end and are joined

JOINED = [
    ("zh", "我姐姐是护士。", "她很温柔。", "我姐姐是护士。她很温柔。"),
    ("zh", "我姐姐是护士", "她很温柔。", "我姐姐是护士。她很温柔。"),
    ("hi", "वह नर्स है।", "वह अच्छी है।", "वह नर्स है। वह अच्छी है।"),
    ("hi", "वह नर्स है", "वह अच्छी है।", "वह नर्स है। वह अच्छी है।"),
    ("ar", "هل هي ممرضة؟", "إنها لطيفة.", "هل هي ممرضة؟ إنها لطيفة."),
    ("el", "Είναι νοσοκόμα;", "Είναι καλή.", "Είναι νοσοκόμα; Είναι καλή."),
    ("ur", "وہ نرس ہے۔", "وہ اچھی ہے۔", "وہ نرس ہے۔ وہ اچھی ہے۔"),
    ("hy", "Նա բուժքույր է։", "Նա բարի է։", "Նա բուժքույր է։ Նա բարի է։"),
    ("th", "พี่สาวเป็นพยาบาล", "เธอใจดี", "พี่สาวเป็นพยาบาล เธอใจดี"),
    ("en", 'He said "I am a nurse."', "She left.", 'He said "I am a nurse." She left.'),
    ("en", "She is a nurse…", "She left.", "She is a nurse… She left."),
    ("en", "She is a nurse. ", "She left.", "She is a nurse. She left."),
    ("de", "„Ist sie Ärztin?“", "Sie geht.", "„Ist sie Ärztin?“ Sie geht."),
    ("en", "She is a nurse", "She left.", "She is a nurse. She left."),
]


@pytest.mark.parametrize(("tag", "context", "text", "wanted"), JOINED)
def test_sentences_end_and_are_joined_as_their_language_does(tag, context, text, wanted):
    item = follow("joined", tag, context, text, text, text)
    model = tiny.model("bloom")  # reads texts of any length
    found = rows_of(model, [item], "continuation", case="c")["joined-stereotype"]
    assert found.pieces == decode(model.tokenizer, tuple(model.tokenizer.encode(wanted)))


def test_languages_without_a_file_have_the_direction_and_spaces_of_their_script():
    facts = {tag: (languages.describe(tag).direction, languages.describe(tag).spaces) for tag in ("km", "ur", "sr")}
    assert facts == {"km": ("ltr", False), "ur": ("rtl", True), "sr": ("ltr", True)}
    known = {tag: (languages.get(tag).direction, languages.get(tag).spaces) for tag in ("th", "he", "ko")}
    assert known == {"th": ("ltr", False), "he": ("rtl", True), "ko": ("ltr", True)}


# ---- 5, words


def later(name, text):
    from isogloss.methods._masked_sentence import later_in_word

    model = tiny.model(name)
    tokens = model.tokenizer.encode(text, add_special_tokens=False)
    return len(tokens), later_in_word(model, text, count=len(tokens))


def test_a_word_ends_at_a_space_whatever_the_tokenizer_says():
    tokenizer = tiny.tokenizer_of("gemma3")
    made = tokenizer("The nurse is kind.", add_special_tokens=False)
    _, tails = later("gemma3", "The nurse is kind.")
    starts = [k for k, token in enumerate(made["input_ids"]) if tokenizer.decode([token]).startswith(" ")]
    for k, tail in enumerate(tails):
        end = next((start for start in starts if start > k), len(tails))
        assert all(later < end for later in tail)


@pytest.mark.parametrize("text", ["नर्स दयालु है", ARABIC])
def test_marks_belong_to_their_letter(text):
    count, tails = later("roberta", text)
    words = sum(1 for k in range(count) if k == 0 or k not in tails[k - 1])
    assert words == len(text.split())


@pytest.mark.parametrize("name", ["xlm-roberta", "roberta"])
def test_without_spaces_every_letter_is_a_word(name):
    text = "护士很善良"
    model = tiny.model(name)
    offsets = model.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    _, tails = later(name, text)
    for k, tail in enumerate(tails):
        assert all(offsets[other][0] < max(offsets[k][1], 1) for other in tail)


# ---- 7, words taken from sentences


@pytest.mark.parametrize(
    ("language", "context", "sentence", "word"),
    [
        ("zh", "女人很BLANK。", "女人很温柔。", "温柔"),
        ("hi", "लड़की BLANK।", "लड़की रोती।", "रोती"),
        ("ar", "هل هي BLANK؟", "هل هي طيبة؟", "طيبة"),
        ("hy", "Նա BLANK։", "Նա բարի։", "բարի"),
        ("en", "The man BLANKed it.", "The man protected it!", "protected"),
    ],
)
def test_a_word_is_taken_from_its_sentence_in_every_script(tmp_path, language, context, sentence, word):
    roles = ("stereotype", "anti-stereotype", "unrelated")
    cells = [{"id": role, "gold_label": role, "sentence": sentence} for role in roles]
    row = {"id": "a", "bias_type": "gender", "context": context, "language": language, "candidates": cells}
    path = tmp_path / "items.jsonl"
    path.write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    assert {candidate.word for candidate in ig.read(path)[0].candidates} == {word}


# ---- 11, controls and checks


def test_a_short_sentence_with_spaces_is_shuffled_by_words_or_not_at_all():
    items = Items((pair("a", "tr", "Kadınlar ağlar.", "Erkekler ağlar."),))
    controls = make_control_items(items, kinds=["shuffled"])
    assert [candidate.text for candidate in controls[0].candidates] == ["ağlar. Kadınlar", "ağlar. Erkekler"]


def test_unspaced_text_is_shuffled_by_letters_with_their_marks():
    text = "ผู้หญิงพูดมาก"
    shuffled = make_control_items(Items((pair("a", "th", text, text + "ๆ"),)), kinds=["shuffled"])[0].candidates[0].text
    assert sorted(shuffled) == sorted(text)
    assert "ผู้" in shuffled
    assert shuffled != text


def test_sentences_without_spaces_are_compared_by_letters():
    near = pair("a", "zh", "女性话太多。", "男性话太多。")
    far = pair("b", "zh", "女性话太多。", "他们来自挪威")
    found = [problem.item for problem in find_problems([near, far], ALL) if problem.check == "not_minimal"]
    assert found == ["b"]


# ---- 12, 13


def test_a_distribution_adds_up_to_one_in_float64():
    item = Item("d", "tiny", "en", "g", (Candidate("a", "a", "The nurse is BLANK."), Candidate("b", "b", "The doctor is BLANK.")), tags={"task": "template-blank"})  # fmt: skip
    import numpy as np

    from support import published

    model = tiny.model("bert")
    rows = ig.score(Items((item,)), model=model, method="distribution").table
    ids = model.tokenizer.encode("The nurse is [MASK].")
    logs = published.table(model.net, ids)[ids.index(model.tokenizer.mask_token_id)].numpy()
    wanted = float(-(np.exp(logs) * logs).sum())
    found = rows.filter((rows["quantity"] == "entropy") & (rows["candidate"] == "a"))["value"][0]
    assert found == pytest.approx(wanted, abs=5e-6)


def test_wide_letters_and_marks_keep_a_table_in_line():
    rows = [["性别", "1.0"], ["लिंग", "22.0"], ["ＡＢＣ", "3.0"], ["gender", "4.0"]]
    lines = as_text(Grid(["category", "ss"], rows, 1)).splitlines()
    assert len({columns(line) for line in lines}) == 1


def test_a_filter_is_understood_in_any_normal_form(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("id,sent_more,sent_less,stereo_antistereo,bias_type\n1,Ella es.,Él es.,stereo,género\n", "utf-8")
    found = ig.read(path, language="es", where=[unicodedata.normalize("NFD", "category=género")])
    assert len(found) == 1


def test_tokens_that_are_part_of_a_letter_are_shown_by_their_bytes():
    tokenizer = tiny.tokenizer_of("gpt2")
    ids = tuple(tokenizer.encode("ꙮ"))
    assert len(ids) > 1
    assert "�" not in "".join(decode(tokenizer, ids))
