"""Downloading one file over HTTP: resumed after a cut, never longer than announced, never a web page instead of data."""

import http.client
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from ..errors import CannotWrite, IsoglossError
from .hub import BUSY, on_message

ATTEMPTS = 4
PAUSE = 1.0  # seconds before the second attempt; doubled before each further one
TIMEOUT = 20.0  # seconds without a byte after which a connection counts as broken
CHUNK = 1 << 16
LARGEST = 2_000_000_000  # bytes of a file whose size is not known
EVERY = 5.0  # seconds between two lines about a download
WEB_PAGE = (b"<!doctype html", b"<html")


class NotReached(IsoglossError):
    """An address that cannot be reached or gives nothing of use; the message says what happened."""


class _Cut(Exception):
    """The connection ended before the file did."""


def download(address: str, path: Path, *, size: int | None = None) -> Path:
    """The path, with what the address gives in it; a broken download goes on where it stopped, also in a later call.

    `size` is the number of bytes that the file must have, if it is known.
    """
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(PAUSE * 2 ** (attempt - 1))
            try:
                _receive(address, part, size=size)
                os.replace(part, path)
                _version_path(part).unlink(missing_ok=True)
                return path
            except _Cut as cut:
                reason = str(cut)
    except OSError as error:
        raise CannotWrite(part, error) from error
    raise NotReached(f"{reason} Run the command again: what has arrived is kept")


def _receive(address: str, part: Path, *, size: int | None) -> None:
    """Ask for the bytes that are still missing and append them; a file that has changed since is begun again."""
    there, version = part.stat().st_size if part.exists() else 0, _read_version(part)
    if size is not None and there == size:
        return
    if (size is not None and there > size) or (size is None and not version):
        there = 0
    resume = {"Range": f"bytes={there}-"} | ({"If-Range": version} if version else {}) if there else {}
    host = urlsplit(address).netloc
    try:
        request = urllib.request.Request(address, headers={"User-Agent": "isogloss", **resume})
        response: Any = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # what is here is longer than what the server has
            part.unlink(missing_ok=True)
            raise _Cut(f"{host} has another file than before.") from error
        if error.code in BUSY:
            raise _Cut(f"{host} is busy (HTTP status {error.code}).") from error
        raise NotReached(f"{host} does not give {address} (HTTP status {error.code})") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NotReached(f"There is no connection to {host} ({_reason(error)})") from error
    with response:
        if response.status == 206 and version != _version_of(response):
            part.unlink(missing_ok=True)  # a server that ignores If-Range
            raise _Cut(f"{host} has another file than before.")
        if size is None and response.length is None and not response.chunked:
            raise NotReached(f"{host} does not say how long the file is, so a cut download would not be noticed")
        _version_path(part).write_text(_version_of(response), encoding="utf-8")
        with part.open("ab" if response.status == 206 else "wb") as file:
            _append(response, file, host=host, size=size)
    arrived = part.stat().st_size
    if size is not None and arrived < size:
        raise _Cut(f"{host} gave {arrived:,} of {size:,} bytes.")


def _version_of(response: Any) -> str:
    """What the server calls this version of the file: a strong ETag, or the time of its last change; nothing without."""
    tag = response.headers.get("ETag") or ""
    return tag if tag and not tag.startswith("W/") else response.headers.get("Last-Modified") or ""


def _version_path(part: Path) -> Path:
    return part.with_name(part.name + ".version")


def _read_version(part: Path) -> str:
    try:
        return _version_path(part).read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return ""


def _append(response: Any, file: IO[bytes], *, host: str, size: int | None) -> None:
    """Copy a response's body to a file; too much of it, or a web page, is refused."""
    most = size or LARGEST
    tell = _progress(Path(file.name).name.removesuffix(".part"), size)
    if (response.headers.get_content_type()) == "text/html":
        raise NotReached(_web_page(host))
    while True:
        try:
            chunk = response.read(CHUNK)
        except (OSError, http.client.HTTPException) as error:
            raise _Cut(f"The connection to {host} broke ({_reason(error)}).") from error
        if not chunk:
            break
        if file.tell() == 0 and chunk[:20].lower().startswith(WEB_PAGE):
            raise NotReached(_web_page(host))
        if file.tell() + len(chunk) > most:
            file.truncate(0)
            raise NotReached(f"{host} gives more than the {most:,} bytes that the file has")
        file.write(chunk)
        tell(file.tell())
    if response.length:  # the bytes that the server announced and did not send
        raise _Cut(f"The connection to {host} broke.")


def _web_page(host: str) -> str:
    return f"{host} gives a web page instead of the file; is there a login page or a proxy in the network?"


def _progress(name: str, size: int | None) -> Callable[[int], None]:
    """A function that reports now and then how many bytes have arrived."""
    say, last = on_message.get(), [time.monotonic()]

    def tell(arrived: int) -> None:
        if time.monotonic() - last[0] > EVERY:
            last[0] = time.monotonic()
            say(f"{name}: {arrived / 1e6:,.0f}{f' of {size / 1e6:,.0f}' if size else ''} MB")

    return tell


def _reason(error: Exception) -> str:
    inner = getattr(error, "reason", error)
    return str(getattr(inner, "strerror", None) or inner or type(inner).__name__)
