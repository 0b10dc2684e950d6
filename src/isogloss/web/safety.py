"""Safety: who may ask (Host, Origin, token), what a page may do (CSP), how much may be sent, and which paths exist."""

import os
import re
from hmac import compare_digest
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .settings import ServerSettings

COOKIE = "isogloss"
SAFE = ("GET", "HEAD")
UPLOADS = "/check"
FORM_BYTES = 64_000
LONGEST_NAME = 255
HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(:\d{1,5})?", re.ASCII)
LENGTH = re.compile(r"\d{1,15}", re.ASCII)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (  # a report runs its own scripts in an origin of its own, and can reach nothing from there
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Middleware: refuses requests from other origins and hosts, limits their size, and sets the headers of every response."""

    def __init__(self, app: ASGIApp, *, settings: ServerSettings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            limit = self.settings.limits.upload if scope["path"] == UPLOADS else FORM_BYTES
            size = 0

            async def counted() -> Message:
                """What is received, counted while it comes, as long as it is not too much."""
                nonlocal size
                message = await receive()
                size += len(message.get("body", b""))
                if size > limit:
                    raise HTTPException(413, too_large(limit))
                return message

            started = False

            async def with_headers(message: Message) -> None:
                """Every answer has our headers, unless it has stricter ones of its own."""
                nonlocal started
                if message["type"] == "http.response.start":
                    started = True
                    headers = MutableHeaders(scope=message)
                    for name, value in HEADERS.items():
                        headers.setdefault(name, value)
                await send(message)

            try:
                refusal = refuse(Request(scope), self.settings, limit=limit)
                await (refusal or self.app)(scope, counted, with_headers)
            except Exception:
                if not started:  # else the server below would answer, without our headers
                    await PlainTextResponse("That failed.", 500)(scope, receive, with_headers)
                raise


def refuse(request: Request, settings: ServerSettings, *, limit: int) -> Response | None:
    """Why a request is not answered, or nothing when it may pass.

    With a token, who brings it in the address gets a cookie; who has the cookie may pass.
    """
    if not known_host(request.headers.get("host", ""), settings):
        return PlainTextResponse("This server is not known under that name. See --allow-host.", 421)
    if not same_origin(request.method, request.headers, settings=settings):
        return PlainTextResponse("This came from another page, so it was not done.", 403)
    length = request.headers.get("content-length", "0")
    if not LENGTH.fullmatch(length) or int(length) > limit:
        return PlainTextResponse(too_large(limit), 413)
    if not settings.token:
        return None
    token = settings.token.encode()
    sent = parse_qs(request.scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
    if request.method == "GET" and compare_digest(sent.encode(), token):
        answer = RedirectResponse("/", 303)
        answer.set_cookie(COOKIE, settings.token, httponly=True, samesite="strict", path="/")
        return answer
    if compare_digest(request.cookies.get(COOKIE, "").encode(), token):
        return None
    return PlainTextResponse("A token is needed. Open the address that the server printed when it started.", 403)


def known_host(host: str, settings: ServerSettings) -> bool:
    """Whether a Host header names this server; a name that an attacker's DNS points here does not."""
    match = HOST.fullmatch(host)
    if match is None:
        return False
    name = match[1].strip("[]").lower()
    if name == "localhost" or name in settings.names or name == settings.host:
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or not settings.local


def same_origin(method: str, headers: Headers, *, settings: ServerSettings) -> bool:
    """Whether a request comes from our own pages; a plain link from elsewhere may be followed, nothing more.

    Under a name that was allowed when the server was started, a proxy may speak HTTPS.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if method in SAFE:
        return site in (None, "same-origin", "none") or headers.get("sec-fetch-mode") == "navigate"
    if site not in (None, "same-origin") or (site is None and origin is None):
        return False
    host = headers.get("host", "").lower()
    schemes = ("http", "https") if host.partition(":")[0] in settings.names else ("http",)
    return origin is None or origin.lower() in [f"{scheme}://{host}" for scheme in schemes]


def too_large(limit: int) -> str:
    """A sentence about too many bytes."""
    return f"That is more than {limit:,} bytes, which is the most that is taken here."


# ---- paths


def inside(root: Path, name: str) -> Path:
    """What has that name below a folder; a name that leads elsewhere, a hidden one, or a study with links is not found."""
    parts = name.split("/")
    for part in parts:
        if not part or part.startswith(".") or "\\" in part or "\0" in part or len(part.encode()) > LONGEST_NAME:
            raise HTTPException(404, "There is no such thing here.")
    path = root / name
    if (root / parts[0]).is_symlink() or not path.exists():
        raise HTTPException(404, "There is no such thing here.")
    link = find_link(root / parts[0])
    if link is not None:
        raise HTTPException(404, no_link(link, root))
    return path


def find_link(folder: Path) -> Path | None:
    """The first symbolic link in a folder and below it, if there is one; links are not followed to look for others."""
    for at, folders, files in os.walk(folder):
        for name in sorted([*folders, *files]):
            if (path := Path(at, name)).is_symlink():
                return path
    return None


def no_link(path: Path, root: Path) -> str:
    """A sentence about a link."""
    return f"'{path.relative_to(root)}' is a link; links are not followed here. Put a copy in its place."


def hidden(root: Path, name: str) -> Path:
    """A hidden folder of ours below the runs folder; a link in its place is refused."""
    path = root / name
    if path.is_symlink():
        raise HTTPException(404, no_link(path, root))
    return path
