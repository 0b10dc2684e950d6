"""Translators: each keeps BLANK, says what is missing in one sentence, and is asked only once for a text."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from isogloss import registry
from isogloss.errors import IsoglossError
from isogloss.translate.texts import (
    TranslationSession,
    read_cache,
    refuse_unpaid,
    texts_of,
    translate_items,
    translate_texts,
)
from isogloss.translate.translators import LanguagePair, Opened, chat, check_options, protect, restore
from support import endpoints
from support.builders import lacks_apertium, triple

PAIR = LanguagePair("en", "es")
apertium = pytest.mark.skipif(lacks_apertium(), reason="Apertium has no eng-spa here")


def shout(texts: Sequence[str]) -> list[str]:
    """A translator that loses XBLANKX, changes the case of Qblankq, and writes everything large."""
    return [text.replace("XBLANKX", "ESPACIO").upper() for text in texts]


def desk(tmp_path: Path, opened: Opened | None = None) -> TranslationSession:
    return TranslationSession(opened or Opened("shout", shout, batch=2), PAIR, tmp_path / "cache.jsonl")


# ---- keeping BLANK, the cache, costs


@pytest.mark.parametrize("placeholder", ["XBLANKX", "Qblankq", "BLANK", "[BLANK]"])
def test_a_placeholder_goes_and_comes_back(placeholder):
    sent = protect("She  is BLANK,\nvery BLANK.", placeholder)
    assert sent == f"She is {placeholder}, very {placeholder}."
    assert restore(sent.upper(), placeholder, count=2) == "SHE IS BLANK, VERY BLANK."
    assert restore("gone", placeholder, count=1) is None
    assert restore(f"{placeholder} {placeholder}", placeholder, count=1) is None


def test_another_placeholder_is_tried_when_the_first_is_lost(tmp_path):
    assert translate_texts(["She is BLANK.", "kind"], desk(tmp_path)) == {
        "She is BLANK.": "SHE IS BLANK.",
        "kind": "KIND",
    }


def test_an_item_whose_blank_is_lost_is_dropped_with_its_reason(tmp_path):
    lost = Opened("lost", lambda texts: [text if "B" not in text and "b" not in text else "nada" for text in texts])
    items, dropped = translate_items([triple("a")], desk(tmp_path, lost))
    assert items == ()
    assert [(one.item, one.step, one.reason) for one in dropped] == [
        ("a", "translate", "BLANK was lost or nothing came back for 'She is BLANK.'")
    ]


def test_the_translated_item_keeps_ids_roles_and_the_english_target(tmp_path):
    (item,), _ = translate_items([triple("a")], desk(tmp_path))
    assert (item.id, item.language, item.context, item.cluster) == ("a", "es", "SHE IS BLANK.", "nurse")
    assert next((c.id, c.role, c.word, c.text) for c in item.candidates) == (
        "a-stereotype",
        "stereotype",
        "STEREOTYPE",
        "SHE IS STEREOTYPE.",
    )
    assert (item.tags["target"], item.tags["target_term"], item.tags["provenance"]) == ("nurse", "NURSE", "machine")


def test_work_goes_on_where_it_stopped(tmp_path):
    asked: list[str] = []

    def falter(texts: Sequence[str]) -> list[str]:
        if len(asked) == 4:
            raise IsoglossError("the line is dead")
        asked.extend(texts)
        return [text.upper() for text in texts]

    texts = ["a", "b", "c", "d", "e"]
    with pytest.raises(IsoglossError, match="the line is dead"):
        translate_texts(texts, desk(tmp_path, Opened("falter", falter, batch=2)))
    with (tmp_path / "cache.jsonl").open("a") as file:
        file.write('{"translator": "falter", "fro')  # torn by a crash
    done: list[str] = []
    opened = Opened("falter", lambda texts: done.extend(texts) or [text.upper() for text in texts])  # type: ignore[func-returns-value]
    assert translate_texts(texts, desk(tmp_path, opened)) == {text: text.upper() for text in texts}
    assert done == ["e"]
    assert len(read_cache(desk(tmp_path, opened))) == 5


def test_the_cache_is_kept_by_translator_and_language(tmp_path):
    translate_texts(["kind"], desk(tmp_path))
    assert read_cache(desk(tmp_path)) == {"kind": "KIND"}
    assert read_cache(desk(tmp_path, Opened("other", shout))) == {}
    assert read_cache(replace(desk(tmp_path), pair=LanguagePair("en", "fr"))) == {}


def test_a_paid_call_names_its_cost_first_and_only_for_what_is_new(tmp_path):
    paid = desk(tmp_path, Opened("aws translate", shout, paid=True, price=15.0, placeholders=("BLANK",)))
    texts = texts_of([triple("a")])
    with pytest.raises(IsoglossError) as caught:
        refuse_unpaid(texts, paid)
    assert str(caught.value) == (
        "aws translate would translate 5 texts with 52 characters, which costs money, about 0.00 $. Use `yes` to proceed."
    )
    translate_texts(texts, paid)
    refuse_unpaid(texts, paid)  # everything is in the cache


def test_calls_are_spread_over_time(tmp_path, monkeypatch):
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    translate_texts(["a", "b", "c"], desk(tmp_path, Opened("slow", shout, batch=1, pause=30)))
    assert [round(wait) for wait in waits] == [0, 30, 30]


def test_an_unknown_option_is_refused():
    with pytest.raises(IsoglossError) as caught:
        check_options(registry.get("translator", "apertium"), {"directon": "eng-spa"})
    assert str(caught.value) == (
        "No option of this translator named 'directon'. Did you mean 'direction'? Known: direction."
    )


# ---- Apertium


@apertium
def test_apertium_translates_texts_one_by_one_and_keeps_blank(tmp_path):
    opened = registry.get("translator", "apertium").open(PAIR, {})
    texts = ["The nurse is BLANK.", "kind", "rude", "Ukrainian people", "BLANK is rude"]
    found = translate_texts(texts, desk(tmp_path, opened))
    assert found == {
        "The nurse is BLANK.": "El enfermero es BLANK.",
        "kind": "amable",
        "rude": "grosero",
        "Ukrainian people": "Personas ucranianas",
        "BLANK is rude": "BLANK Es grosero",
    }


@apertium
def test_apertium_names_the_directions_it_has():
    with pytest.raises(IsoglossError) as caught:
        registry.get("translator", "apertium").open(LanguagePair("en", "tr"), {})
    before, directions = str(caught.value).split(" Known: ")
    assert before == "Apertium has no direction 'eng-tur' here."
    assert {"eng-spa", "spa-eng"} <= set(directions.split(". ")[0].split(", "))
    assert directions.endswith(". Install the package of the pair, or use `options={'direction': '…'}`")


def test_apertium_that_is_missing_is_one_sentence(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(IsoglossError) as caught:
        registry.get("translator", "apertium").open(PAIR, {})
    assert str(caught.value) == "Apertium is not installed. On Debian: apt-get install apertium apertium-eng-spa"


# ---- AWS


@pytest.fixture
def aws():
    boto3, stub = pytest.importorskip("boto3"), pytest.importorskip("botocore.stub")
    client = boto3.client("translate", region_name="eu-central-1", aws_access_key_id="x", aws_secret_access_key="y")
    with stub.Stubber(client) as stubber:
        yield client, stubber


def request(text: str) -> dict[str, object]:
    return {
        "Text": text,
        "TerminologyNames": ["isogloss-blank"],
        "SourceLanguageCode": "en",
        "TargetLanguageCode": "zh-TW",
    }


def test_aws_keeps_blank_by_a_terminology_that_is_made_first(aws, tmp_path):
    from isogloss.translate.translators.aws import open_client

    client, stubber = aws
    terminology = {
        "Name": "isogloss-blank",
        "MergeStrategy": "OVERWRITE",
        "Description": "Keeps the word BLANK as it is.",
        "TerminologyData": {"File": b"en,zh-TW\nBLANK,BLANK\n", "Format": "CSV", "Directionality": "UNI"},
    }
    stubber.add_response("import_terminology", {}, terminology)
    for text, answer in {"She is BLANK.": "她很BLANK。", "kind": "善良"}.items():
        answered = {"TranslatedText": answer, "SourceLanguageCode": "en", "TargetLanguageCode": "zh-TW"}
        stubber.add_response("translate_text", answered, request(text))
    pair = LanguagePair("en", "zh-Hant")
    opened = open_client(client, pair, rate=1e6)
    found = translate_texts(["She is BLANK.", "kind"], TranslationSession(opened, pair, tmp_path / "cache.jsonl"))
    assert found == {"She is BLANK.": "她很BLANK。", "kind": "善良"}
    assert (opened.paid, opened.price) == (True, 15.0)
    stubber.assert_no_pending_responses()


def test_aws_that_refuses_is_one_sentence(aws, tmp_path):
    from isogloss.translate.translators.aws import open_client

    client, stubber = aws
    stubber.add_client_error("import_terminology", "LimitExceededException", "Too many")
    with pytest.raises(IsoglossError) as caught:
        translate_texts(["kind"], desk(tmp_path, open_client(client, PAIR, rate=1e6)))
    assert str(caught.value) == (
        "AWS Translate refused: An error occurred (LimitExceededException) when calling the ImportTerminology operation: "
        "Too many. What was translated is kept; run it again."
    )


# ---- chat


class Endpoint(BaseHTTPRequestHandler):
    """A chat endpoint on this machine that is busy once, then shouts."""

    seen: ClassVar[list[tuple[str, str | None, dict[str, object]]]] = []
    busy = 0
    status = 200

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Endpoint.seen.append((self.path, self.headers.get("Authorization"), body))
        if Endpoint.busy:
            Endpoint.busy -= 1
            self.send_response(429)
            self.send_header("Retry-After", "0")
            self.end_headers()
            return
        self.send_response(Endpoint.status)
        self.end_headers()
        text = body["messages"][-1]["content"].upper()
        self.wfile.write(json.dumps({"choices": [{"message": {"content": f" {text}\n"}}]}).encode())

    def log_message(self, format: str, *values: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[str]:
    Endpoint.seen, Endpoint.busy, Endpoint.status = [], 0, 200
    server = HTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_a_chat_model_is_asked_with_the_key_of_the_environment_and_again_when_busy(endpoint, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    Endpoint.busy = 1
    opened = chat.open_chat(PAIR, {"url": endpoint, "model": "tiny"})
    assert translate_texts(["She is BLANK."], desk(tmp_path, opened)) == {"She is BLANK.": "SHE IS BLANK."}
    assert [(path, key) for path, key, _ in Endpoint.seen] == [("/v1/chat/completions", "Bearer secret-key")] * 2
    sent = Endpoint.seen[-1][2]
    assert (sent["model"], sent["temperature"]) == ("tiny", 0)
    assert sent["messages"][0]["content"].startswith("Translate from English to Spanish.")  # type: ignore[index]
    assert sent["messages"][1] == {"role": "user", "content": "She is XBLANKX."}  # type: ignore[index]
    assert "secret-key" not in (tmp_path / "cache.jsonl").read_text(encoding="utf-8")
    assert opened.paid is False


def test_a_chat_endpoint_that_refuses_is_one_sentence_without_the_key(endpoint, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    Endpoint.status = 401
    with pytest.raises(IsoglossError) as caught:
        translate_texts(["kind"], desk(tmp_path, chat.open_chat(PAIR, {"url": endpoint, "model": "tiny"})))
    assert str(caught.value) == f"{endpoint} answered 401 (Unauthorized). Check the key in the environment."


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ([{"type": "text", "text": "Ella"}, {"type": "text", "text": " es"}], "Ella es"),
        ("Ella \ud83d", "Ella \ufffd"),
        (5, None),
        ("x" * 17_000_000, None),
    ],
    ids=["pieces", "half-surrogate", "number", "endless"],
)
def test_a_chat_endpoint_s_odd_content_is_read_or_refused_in_one_sentence(tmp_path, content, found):
    body = json.dumps({"choices": [{"message": {"content": content}}]}).encode()
    with endpoints.serving(lambda handler, asked: handler.send(body)) as server:
        opened = chat.open_chat(PAIR, {"url": server.url, "model": "tiny"})
        if found is not None:
            assert translate_texts(["kind"], desk(tmp_path, opened)) == {"kind": found}
            return
        with pytest.raises(IsoglossError) as caught:
            translate_texts(["kind"], desk(tmp_path, opened))
    said = "does not speak the chat protocol. Use `options={'url': 'https://…/v1'}`"
    assert str(caught.value) in (
        f"{server.url} {said}",
        f"{server.url} sent more than 16 MB for one text. Check the address.",
    )


def test_a_chat_endpoint_that_redirects_elsewhere_does_not_pass_the_key_on(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    seen: list[str | None] = []

    def elsewhere(handler: endpoints.Handler) -> None:
        seen.append(handler.headers.get("Authorization"))
        handler.send(b"{}")

    monkeypatch.setattr(endpoints.Handler, "do_GET", elsewhere, raising=False)
    with (
        endpoints.serving(endpoints.good) as other,
        endpoints.serving(endpoints.status(302, Location=other.url)) as server,
        pytest.raises(IsoglossError),
    ):
        translate_texts(["kind"], desk(tmp_path, chat.open_chat(PAIR, {"url": server.url, "model": "tiny"})))
    assert (server.keys, seen) == (["Bearer secret-key"], [None])


@pytest.mark.parametrize(("asked", "seconds"), [("nan", 0.5), ("1e308", 60), ("inf", 60), ("-1", 0), ("3", 3)])
def test_the_wait_that_a_chat_endpoint_asks_for_is_bounded(tmp_path, monkeypatch, asked, seconds):
    waits: list[float] = []
    monkeypatch.setattr(chat.time, "sleep", waits.append)
    with endpoints.serving(endpoints.first(1, endpoints.status(429, Retry_After=asked))) as server:
        translate_texts(["kind"], desk(tmp_path, chat.open_chat(PAIR, {"url": server.url, "model": "tiny"})))
    assert waits[1:] == [seconds]  # the first is the pause before a text


def test_a_paid_chat_endpoint_needs_a_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(IsoglossError) as caught:
        chat.open_chat(PAIR, {"url": "https://example.org/v1", "model": "big"})
    assert str(caught.value) == (
        "The environment has no OPENAI_API_KEY. Set it to your key, or use `options={'key': 'NAME'}`."
    )
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    opened = chat.open_chat(PAIR, {"url": "https://example.org/v1", "model": "big", "rate": "2"})
    assert (opened.paid, opened.pause) == (True, 0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "tiny"}, "The translator 'chat' needs to know 'url'. Use `options={'url': '…'}`"),
        ({"url": "localhost", "model": "x"}, "'localhost' is not an address. Use `options={'url': 'https://…/v1'}`"),
        (
            {"url": "http://localhost/v1", "model": "x", "rate": "fast"},
            "The option 'rate' is 'fast'. Use a positive number.",
        ),
    ],
)
def test_what_a_chat_model_needs_is_asked_for(options, message):
    with pytest.raises(IsoglossError) as caught:
        chat.open_chat(PAIR, options)
    assert str(caught.value) == message


# ---- a file, and models of Hugging Face


def test_a_table_of_ones_own_is_begun_filled_in_and_used(tmp_path):
    path = tmp_path / "mine.csv"
    opened = registry.get("translator", "file").open(PAIR, {"path": str(path)})
    with pytest.raises(IsoglossError) as caught:
        translate_texts(["She is BLANK.", "kind"], desk(tmp_path, opened))
    assert str(caught.value) == (
        f"2 texts have no translation. They were written to {path}: fill in the column 'translation' and run it again."
    )
    assert path.read_text(encoding="utf-8").splitlines() == ["text,translation", "She is BLANK.,", "kind,"]
    path.write_text("text,translation\nShe is BLANK.,Es BLANK.\nkind,amable\n", encoding="utf-8")
    opened = registry.get("translator", "file").open(PAIR, {"path": str(path)})
    found = translate_texts(["She is BLANK.", "kind"], desk(tmp_path, opened))
    assert found == {"She is BLANK.": "Es BLANK.", "kind": "amable"}
    path.write_text("text,translation\nkind,bondadosa\n", encoding="utf-8")
    edited = registry.get("translator", "file").open(PAIR, {"path": str(path)})
    assert translate_texts(["kind"], desk(tmp_path, edited)) == {"kind": "bondadosa"}


def test_a_tiny_marian_translates_in_batches_and_what_loses_blank_is_dropped(tmp_path):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    from isogloss.translate.translators.hf import open_network
    from support.tiny import wordpiece

    torch.manual_seed(0)
    tokenizer = wordpiece()
    config = transformers.MarianConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=64,
        pad_token_id=0, eos_token_id=3, decoder_start_token_id=0, forced_eos_token_id=3,
    )  # fmt: skip
    net = transformers.MarianMTModel(config)
    opened = open_network(net, tokenizer, pair=PAIR, name="tiny", beams=1)
    one_by_one = [opened.translate([text])[0] for text in ("kind", "The nurse is kind.")]
    assert opened.translate(["kind", "The nurse is kind."]) == one_by_one
    items, dropped = translate_items([triple("a")], desk(tmp_path, opened))
    assert (items, [one.item for one in dropped]) == ((), ["a"])
    net.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    from_folder = registry.get("translator", "hf").open(PAIR, {"model": str(tmp_path / "model"), "beams": "1"})
    assert from_folder.translate(["kind"]) == one_by_one[:1]


def test_a_model_that_cannot_be_opened_is_one_sentence(tmp_path):
    pytest.importorskip("transformers")
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(IsoglossError) as caught:
        registry.get("translator", "hf").open(PAIR, {"model": str(tmp_path)})
    assert str(caught.value) == (
        f"'{tmp_path}' cannot be opened as a translation model. Check the name, or give a folder with its files; "
        "when it only has pickled weights that you trust, use `options={'pickle': 'yes'}`."
    )


def test_the_languages_of_multilingual_models_are_found():
    pytest.importorskip("transformers")
    from isogloss.translate.translators.hf import language_code, language_id

    class Codes:
        """As much of a tokenizer as is asked."""

        unk_token_id = 0

        def __init__(self, *codes: str) -> None:
            self.all_special_tokens = list(codes)

        def get_added_vocab(self) -> dict[str, int]:
            return {}

        def convert_tokens_to_ids(self, token: str) -> int:
            return self.all_special_tokens.index(token) + 1 if token in self.all_special_tokens else 0

    nllb = Codes("eng_Latn", "spa_Latn", "pes_Arab", "zho_Hant")
    assert [language_code(nllb, tag) for tag in ("en", "es", "fa", "zh-Hant")] == nllb.all_special_tokens
    assert language_id(Codes("__en__", "__es__"), language_code(Codes("__en__", "__es__"), "es")) == 2
    assert language_code(Codes("en_XX", "es_XX"), "es") == "es_XX"
    with pytest.raises(IsoglossError) as caught:
        language_code(nllb, "tr")
    assert str(caught.value) == "The translation model does not know the language 'tr'. Choose a model that does."
