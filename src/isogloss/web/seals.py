"""Seals: the mark of a study file that this user's own server wrote; a file that came from elsewhere has none."""

import hmac
import json
import os
import secrets
from pathlib import Path

from ..errors import CannotWrite, IsoglossError
from ..languages import home

KEY = "serve.key"
BYTES = 32


def make_seal(study: Path, *, model: str) -> str:
    """The seal of a study file and its model; the key is made at the first use."""
    path = home() / KEY
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(BYTES))
    except FileExistsError:
        pass
    except OSError as error:
        raise CannotWrite(path, error) from error
    return _seal(study, model)


def is_sealed(study: Path, *, model: str, seal: str) -> bool:
    """Whether the seal is the one that this user's server made for this file and this model."""
    try:
        return hmac.compare_digest(_seal(study, model).encode(), seal.encode())
    except (OSError, IsoglossError):
        return False


def _seal(study: Path, model: str) -> str:
    key = (home() / KEY).read_bytes()
    if len(key) != BYTES:
        raise IsoglossError(f"{home() / KEY} is broken. Delete it, and start the evaluations again.")
    return hmac.new(key, json.dumps(model).encode() + study.read_bytes(), "sha256").hexdigest()
