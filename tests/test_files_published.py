"""Published data by name: where it comes from, that only its own content is read, and one sentence for each way it fails."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import isogloss as ig
from isogloss import registry
from isogloss.errors import IsoglossError
from isogloss.files import catalogue
from isogloss.files.catalogue import Source, content_hash
from isogloss.files.downloads import download
from isogloss.files.pickled_table import read_pickled_table
from isogloss.files.published import pull, stored_files
from isogloss.languages import resolve
from support import data_server, tiny
from support.data_server import TASKS, DataServer, demo_items, own_json, pickled, rows_as_items, use_catalogue

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[DataServer]:
    """A data server with a small stand-in for StereoSet in English and German, and a catalogue that points to it."""
    with data_server.serve() as served:
        data_server.offer_stereoset(served, tmp_path, monkeypatch=monkeypatch)
        yield served
    catalogue.sources.cache_clear()


def refusal(command: Command, *arguments: str) -> str:
    status, out, err = command(*arguments)
    lines = [line for line in err.splitlines() if not line.startswith("Downloading")]
    assert (status, out, len(lines)) == (2, "", 1), err
    return lines[0].removeprefix("Error: ")


# ---- a name is enough


def test_a_name_and_a_language_give_items_and_the_second_read_asks_nobody(server: DataServer) -> None:
    items = ig.read("stereoset", language="German")
    assert (len(items), {item.language for item in items}) == (12, {"de"})
    server.requests.clear()
    assert ig.read("stereoset", language="de") == items
    assert server.requests == []


def test_the_first_fetch_says_size_licence_and_warning_in_one_line(server: DataServer, command: Command) -> None:
    status, out, err = command("data", "pull", "stereoset", "-l", "de")
    assert status == 0
    assert re.fullmatch(
        r"Downloading StereoSet \(de, 0\.0 MB; license: CC BY-SA 4\.0\)\. It contains stereotypes, some of them "
        r"offensive\. Please cite: Nadeem et al\. \(2021\)\n",
        err,
    )
    assert out.startswith("stereoset (de): 12 items with the published content, in ")
    assert command("data", "pull", "stereoset", "-l", "de")[2] == ""


def test_labels_of_annotators_are_kept_in_the_converted_file(server: DataServer) -> None:
    source = catalogue.sources()["stereoset"]
    rows = [json.loads(line) for path in pull(source, ["de"])["de"] for line in path.read_text().splitlines()]
    assert all(one["labels"] == [{"label": "stereotype", "human_id": "1"}] for row in rows for one in row["candidates"])


def test_a_study_reads_published_data_by_name(server: DataServer, tmp_path: Path) -> None:
    from isogloss.studies.plan import plan_study

    path = tmp_path / "study.yaml"
    text = "name: x\nmodels: [{label: a, checkpoint: ./a}]\ndata: [{source: stereoset, languages: [de]}]\n"
    path.write_text(text, encoding="utf-8")
    tiny.network("gpt2").save_pretrained(tmp_path / "a")
    (cell,) = plan_study(path).cells
    assert {(item.dataset, item.language) for item in cell.items} == {("stereoset", "de")}


def test_the_local_page_offers_what_was_pulled(server: DataServer) -> None:
    from isogloss.web.choices import offered_data

    assert "stereoset" not in {one.name for one in offered_data()}
    ig.read("stereoset", language="de")
    assert {one.name: one.languages for one in offered_data()}["stereoset"] == ("de",)


def test_an_unknown_name_or_language_lists_the_nearest(server: DataServer, command: Command) -> None:
    assert "Did you mean 'stereoset'?" in refusal(command, "data", "pull", "steroset")
    assert "Did you mean 'stereoset'?" in refusal(command, "show", "steroset")
    assert refusal(command, "show", "stereoset", "-l", "sw") == "No language of 'stereoset' named 'sw'. Known: de, en."


# ---- a bad network


def test_a_cut_download_goes_on_where_it_stopped(server: DataServer) -> None:
    server.faults["dev.json"] = ["cut", 2]
    assert len(ig.read("stereoset", language="en")) == 12
    size = len(server.files["dev.json"])
    assert [line.partition(" ")[2] for line in server.requests] == [
        "",
        f"bytes={size // 2}-",
        f"bytes={size // 2 + (size - size // 2) // 2}-",
    ]


def test_a_download_that_is_always_cut_is_one_sentence_and_a_later_one_goes_on(server: DataServer) -> None:
    server.faults["dev.json"] = ["cut", 4]
    with pytest.raises(
        IsoglossError, match=r"The connection to 127\.0\.0\.1:\d+ broke\. Run the command again: what has"
    ):
        ig.read("stereoset", language="en")
    server.requests.clear()
    assert len(ig.read("stereoset", language="en")) == 12
    assert "bytes=" in server.requests[0]


def test_a_redirect_is_followed_and_a_busy_server_is_asked_again(server: DataServer) -> None:
    server.faults = {"dev.json": ["redirect", 1], "df_intrasentence_de.pkl": ["503", 2]}
    assert len(ig.read("stereoset", language=["en", "de"])) == 24
    assert any(line.startswith("/elsewhere/dev.json") for line in server.requests)


@pytest.mark.parametrize("fault", ["page", "disguised page"])
def test_a_web_page_is_not_taken_for_data(server: DataServer, fault: str) -> None:
    server.faults["dev.json"] = [fault, 9]
    with pytest.raises(IsoglossError, match="gives a web page instead of the file; is there a login page or a proxy"):
        ig.read("stereoset", language="en")
    server.faults.clear()
    assert len(ig.read("stereoset", language="en")) == 12


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [("long", "gives more than the"), ("short size", r"gave [\d,]+ of [\d,]+ bytes"), ("404", r"\(HTTP status 404\)")],
)
def test_a_server_that_lies_about_sizes_or_has_no_file_is_one_sentence(
    server: DataServer, fault: str, sentence: str
) -> None:
    server.faults["dev.json"] = [fault, 9]
    server.faults["dev.json"][0] = fault
    if fault == "short size":
        server.files["dev.json"] = server.files["dev.json"][:-40]
    with pytest.raises(IsoglossError, match=sentence) as error:
        ig.read("stereoset", language="en")
    assert "ISOGLOSS_MIRROR" in str(error.value)


@pytest.mark.parametrize("name", ["dev.json", "df_intersentence_de.pkl"])
def test_another_content_is_set_aside_and_never_read(server: DataServer, name: str, tmp_path: Path) -> None:
    server.faults[name] = ["other", 1]
    language = "en" if name == "dev.json" else "de"
    with pytest.raises(IsoglossError, match=r"This is not the published 'stereoset'.*was set aside as .*\.rejected"):
        ig.read("stereoset", language=language)
    folder = tmp_path / "home" / "data" / "stereoset" / language
    assert (folder / f"{name}.rejected").is_file()
    assert not (folder / "receipt.json").exists()
    assert len(ig.read("stereoset", language=language)) == 12


def test_a_stored_file_that_was_changed_later_is_checked_again(server: DataServer, tmp_path: Path) -> None:
    ig.read("stereoset", language="en")
    path = tmp_path / "home" / "data" / "stereoset" / "en" / "dev.json"
    path.write_bytes(path.read_bytes().replace(b"the", b"THE"))
    with pytest.raises(IsoglossError, match="This is not the published 'stereoset'"):
        ig.read("stereoset", language="en")


# ---- no network


def test_without_a_network_the_sentence_names_the_file_and_where_to_put_it(
    server: DataServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    path = tmp_path / "home" / "data" / "stereoset" / "en" / "dev.json"
    with pytest.raises(IsoglossError) as error:
        ig.read("stereoset", language="en")
    assert str(error.value) == (
        f"'stereoset' (en) is not stored here, and offline nothing is downloaded. Copy {server.url}/{data_server.COMMIT}"
        f"/dev.json to {path}, or set ISOGLOSS_MIRROR to a folder or an address that has the data."
    )
    path.parent.mkdir(parents=True)
    path.write_bytes(server.files["dev.json"])
    assert len(ig.read("stereoset", language="en")) == 12
    assert server.requests == []


def test_a_mirror_is_an_address_with_the_same_files(server: DataServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_MIRROR", f"{server.url}/mirror/")
    assert len(ig.read("stereoset", language="en")) == 12
    assert server.requests == ["/mirror/stereoset/en/dev.json"]


@pytest.mark.parametrize("layout", ["published", "packed", "rows"])
def test_a_mirror_is_a_folder_with_the_files_or_any_copy_of_their_content(
    server: DataServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, layout: str
) -> None:
    folder = tmp_path / "mirror" / "stereoset"
    folder.mkdir(parents=True)
    monkeypatch.setenv("ISOGLOSS_MIRROR", str(tmp_path / "mirror"))
    if layout == "rows":
        for task in TASKS:
            rows = [row for row in demo_items("de") if row["task"] == task]
            (folder / f"{task}_de.jsonl").write_text(
                "".join(json.dumps({**row, "dataset": "stereoset"}) + "\n" for row in rows)
            )
    for name, data in server.files.items() if layout != "rows" else ():
        (folder / (name + ".gz" * (layout == "packed"))).write_bytes(
            gzip.compress(data) if layout == "packed" else data
        )
    direct = "rows" if layout == "rows" else "files"
    assert (len(ig.read("stereoset", language="de")), direct, server.requests) == (12, direct, [])


def test_a_mirror_without_the_data_says_what_to_put_there(
    server: DataServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "mirror").mkdir()
    monkeypatch.setenv("ISOGLOSS_MIRROR", str(tmp_path / "mirror"))
    with pytest.raises(IsoglossError) as error:
        ig.read("stereoset", language="de")
    assert str(error.value) == (
        f"ISOGLOSS_MIRROR ({tmp_path / 'mirror'}) has no 'stereoset' in 'de' with the known content. "
        f"Put df_intrasentence_de.pkl and df_intersentence_de.pkl into {tmp_path / 'mirror' / 'stereoset' / 'de'}."
    )


# ---- sources without a commit, and corpora


def test_a_corpus_of_opus_is_split_once_and_its_content_is_remembered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    english = ["He is here.", "She is here.", "It rains.", "The man sings.", "The woman sings."]
    other = ["彼はここ。", "彼女はここ。", "雨だ。", "男が歌う。", "女が歌う。"]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("GlobalVoices.en-jp.en", "\n".join(english) + "\n")
        archive.writestr("GlobalVoices.en-jp.jp", "\n".join(other) + "\n")
    with data_server.serve() as served:
        served.files["en-jp.txt.zip"] = packed.getvalue()
        head = 'title = "N"\nreader = "sentences"\nlicence = "L"\ncitation = "C"\npage = "P"\n'
        part = f'address = "{served.url}/v1/{{file}}"\nlayout = "OPUS archive"\nfiles = [["en-jp.txt.zip", "ja", 0]]\n'
        use_catalogue(monkeypatch, tmp_path, f"[news]\n{head}[[news.parts]]\n{part}")
        items = ig.read("news", language="ja")
        assert sorted((one.role, one.text) for item in items for one in item.candidates) == [
            ("female", "女が歌う。"), ("female", "彼女はここ。"), ("male", "彼はここ。"), ("male", "男が歌う。")
        ]  # fmt: skip
        path = stored_files(catalogue.sources()["news"], "ja")[0]
        path.write_text(path.read_text(encoding="utf-8").replace("歌う", "泳ぐ"), encoding="utf-8")
        assert stored_files(catalogue.sources()["news"], "ja") == []
    catalogue.sources.cache_clear()


NEWS = """[news]
title = "N"
reader = "sentences"
licence = "L"
citation = "C"
page = "P"
[[news.parts]]
address = "{}/v1/{{file}}"
files = [["news.csv", "en", 0]]
"""


@pytest.fixture
def news(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[DataServer]:
    """A data server with a file whose size and hash the catalogue does not know."""
    monkeypatch.setattr("isogloss.files.downloads.PAUSE", 0.0)
    with data_server.serve() as served:
        served.files["news.csv"] = b"id,sentence,role\n" + b"".join(b"%d,He sings.,male\n" % n for n in range(400))
        use_catalogue(monkeypatch, tmp_path, NEWS.format(served.url))
        yield served
    catalogue.sources.cache_clear()


def test_a_file_of_unknown_length_is_not_accepted(news: DataServer) -> None:
    news.faults["news.csv"] = ["no length", 9]
    with pytest.raises(
        IsoglossError, match="does not say how long the file is, so a cut download would not be noticed"
    ):
        pull(catalogue.sources()["news"])


@pytest.mark.parametrize("fault", ["", "no If-Range"])
def test_a_file_that_changed_before_the_download_was_resumed_is_one_version(
    news: DataServer, fault: str, tmp_path: Path
) -> None:
    address, path = f"{news.url}/v1/news.csv", tmp_path / "news.csv"
    news.faults["news.csv"] = ["cut", 4]
    with pytest.raises(IsoglossError, match="Run the command again"):
        download(address, path)
    news.files["news.csv"] = changed = news.files["news.csv"].replace(b"sings", b"walks")
    news.faults["news.csv"] = [fault, 1]
    assert download(address, path).read_bytes() == changed
    assert "bytes=" in news.requests[4]
    assert [file.name for file in tmp_path.glob("news.csv*")] == ["news.csv"]


def test_a_flipped_bit_in_a_stored_file_is_noticed_whatever_its_time(server: DataServer, tmp_path: Path) -> None:
    ig.read("stereoset", language="en")
    path = tmp_path / "home" / "data" / "stereoset" / "en" / "dev.json"
    times, content = path.stat(), bytearray(path.read_bytes())
    content[content.index(b'"sentence": "') + 14] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(IsoglossError, match="This is not the published 'stereoset'"):
        ig.read("stereoset", language="en")


def test_a_broken_archive_is_set_aside_and_the_next_pull_fetches_it_again(
    news: DataServer, tmp_path: Path, monkeypatch
) -> None:
    text = NEWS.format(news.url).replace('["news.csv", "en", 0]', '["en-jp.txt.zip", "ja", 0]')
    use_catalogue(monkeypatch, tmp_path, text + 'layout = "OPUS archive"\n')
    news.files["en-jp.txt.zip"] = b"PK\x03\x04 broken"
    for _ in range(2):
        news.requests.clear()
        with pytest.raises(IsoglossError, match=r"set aside as .*en-jp\.txt\.zip\.rejected\. Run the command again"):
            pull(catalogue.sources()["news"])
        assert len(news.requests) == 1


# ---- pickled tables


def test_a_pickled_table_is_read_as_pandas_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "x.pkl"
    path.write_bytes(pickled(demo_items("tr")[:6]))
    assert read_pickled_table(path) == pd.read_pickle(path).to_dict("records")


def test_nothing_in_a_pickle_is_carried_out(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "ran",))

    path = tmp_path / "x.pkl"
    for content in (pickle.dumps(Evil()), pickle.dumps([1, 2]), b"\x80\x04.", b"", pickle.dumps(Evil())[:-3]):
        path.write_bytes(content)
        with pytest.raises(IsoglossError, match="not a pickled table of pandas with text in it"):
            read_pickled_table(path)
    assert not (tmp_path / "ran").exists()


# ---- the catalogue that ships

SHIPPED = catalogue.sources()


@pytest.mark.parametrize("name", SHIPPED)
def test_a_source_says_what_it_is_and_names_known_languages_readers_and_whole_addresses(name: str) -> None:
    source = SHIPPED[name]
    assert all((source.title, source.licence, source.citation, source.page, source.faults, source.languages))
    assert [resolve(tag) for tag in source.languages] == list(source.languages)
    assert source.kind != catalogue.ITEMS or source.reader in registry.names("dataset")
    assert set(source.contents) <= set(source.languages)
    for file in source.files:
        assert re.fullmatch(r"https://[\w.-]+/[^{}\s]+", file.address)
        assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert catalogue.COMMIT.search(file.address) or "github" not in file.address


NOT_AT_HAND = {
    ("behnamghader_milios", "fa"),
    ("mbbq", "nl"),
    ("esbbq", "es"),
    ("esbbq", "ca"),
    ("kobbq", "ko"),
    ("gg_bbq", "de"),
}
CONTENTS = {(name, tag) for name, source in SHIPPED.items() for tag in source.contents}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "language"), sorted(CONTENTS - NOT_AT_HAND))
def test_the_copies_at_hand_have_the_content_of_the_catalogue(
    name: str, language: str, real_data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path))
    monkeypatch.setenv("ISOGLOSS_MIRROR", str(real_data))
    items = ig.read(name, language=language)
    assert (len(items), content_hash(items)) == SHIPPED[name].contents[language]


@pytest.mark.slow
def test_the_published_predictions_at_hand_have_the_hashes_of_the_catalogue(
    real_data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ISOGLOSS_HOME", str(tmp_path))
    monkeypatch.setenv("ISOGLOSS_MIRROR", str(real_data))
    source: Source = SHIPPED["stereoset_predictions"]
    assert {tag: len(paths) for tag, paths in pull(source).items()} == {"en": 18, "de": 12, "es": 6, "fr": 7, "tr": 6}
    shutil.rmtree(tmp_path)


def test_content_depends_neither_on_the_order_nor_on_the_layout(tmp_path: Path) -> None:
    rows = demo_items("en")
    path = tmp_path / "dev_en.json"
    path.write_bytes(own_json(rows[::-1]))
    assert content_hash(ig.read(path, language="en")) == content_hash(rows_as_items(rows, tmp_path))
    rows[0]["candidates"][0]["sentence"] += " "
    assert content_hash(rows_as_items(rows, tmp_path)) != content_hash(ig.read(path, language="en"))
