"""Who may use the server: programs that have the token, within limits.

Pages in a browser are kept out by their Origin, and by the Host that they must send if they reach
this computer under another name (DNS rebinding). Nothing allows other origins (CORS).
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import math
import secrets
import socket
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from h11 import LocalProtocolError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.platform import api_keys

PLACE = "api-server"
"""Under which the token is in the keyring."""
MAX_BODY = 64_000_000
"""Bytes of a request."""
BODY_S = 120.0
"""Seconds in which a request must have arrived."""
MIN_TOKEN = 16
PER_MINUTE = 1200
"""Requests a minute, also at once."""
WRONG_PER_MINUTE = 60
"""Requests a minute with a wrong token; further ones get another answer."""
OPEN = ("/", "/page.css", "/page.js")
"""The page for a browser, which has nothing but a field for the token."""


@dataclass(frozen=True, slots=True)
class ServerTerms:
    """Who may use the server, and how much."""

    token: str
    host: str
    """The name or address that it listens at."""
    names: tuple[str, ...] = ()
    """Other names under which it is reached."""
    per_minute: int = PER_MINUTE


def token_from(file: Path | None, variable: str) -> str:
    """Return the token of the file, else of the environment, else of the keyring, made at first.

    Raises InputError for one that is too short to be safe, UnavailableError without a keyring.
    """
    given = variable
    if file is not None:
        try:
            given = file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"The file {file} with the token cannot be read.") from error
    if given := given.strip():
        if len(given) < MIN_TOKEN:
            raise InputError(f"The token is shorter than {MIN_TOKEN} characters.")
        return given
    if kept := api_keys.secret(PLACE):
        return kept
    return new_token()


def new_token() -> str:
    """Make a token, put it into the keyring, and return it. Raises UnavailableError without one."""
    fresh = secrets.token_urlsafe(32)
    try:
        api_keys.keep_secret(PLACE, fresh)
    except UnavailableError as error:
        raise UnavailableError(
            tr(
                "The token of the server could not be kept: the system has no keyring that is open."
            ),
            hint=tr(
                "Unlock or install one, or start “jarvis-desktop serve” with a token: set "
                "{variable}, or --token-file FILE.",
                variable=api_keys.SERVER_VARIABLE,
            ),
        ) from error
    return fresh


class Access:
    """Checks every request before the application sees it."""

    open: Collection[tuple[str, str]] = tuple(
        (method, path) for method in ("GET", "HEAD") for path in OPEN
    )
    """Methods and paths that need no token."""
    max_body = MAX_BODY

    def __init__(self, app: ASGIApp, terms: ServerTerms) -> None:
        self._app = app
        self._token = terms.token.encode()
        own = socket.gethostname()
        names = ("localhost", own, f"{own}.local", terms.host, *terms.names)
        self._names = {name.lower() for name in names}
        self._rate, self._wrong = _Rate(terms.per_minute), _Rate(WRONG_PER_MINUTE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            await self._answer(scope, receive, send)
        except LocalProtocolError:
            # The rest of the request is not HTTP: uvicorn has refused it already, and closes the
            # connection. Without this it would log a traceback each time.
            while (await receive())["type"] != "http.disconnect":
                pass

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {key.lower(): value.decode("latin-1") for key, value in scope["headers"]}
        length = headers.get(b"content-length", "0")
        if not self._is_own(f"//{headers.get(b'host', '')}"):
            await _refuse(send, 403, "This server is not known by that name.")
        elif b"origin" in headers and not self._is_own(headers[b"origin"]):
            await _refuse(send, 403, "Pages of other servers may not use this one.")
        elif (scope["method"], scope["path"]) in self.open:
            await self._app(scope, receive, send)
        elif not self._knows(headers.get(b"authorization", "")):
            if wait := self._wrong.wait():
                await _refuse(send, 429, "There were too many wrong tokens.", wait=wait)
            else:
                await _refuse(send, 401, "The token is missing or wrong.")
        elif wait := self._rate.wait():
            await _refuse(send, 429, "There were too many requests in a minute.", wait=wait)
        elif not length.isdecimal() or int(length) > self.max_body:
            most = self.max_body // 1_000_000
            await _refuse(send, 413, f"A request has at most {most} MB.")
        else:
            await self._app(scope, _limited(receive, self.max_body), send)

    def _is_own(self, url: str) -> bool:
        """Whether an address means this computer, not by a name that anybody could choose."""
        try:
            name = (urlsplit(url).hostname or "").rstrip(".")
        except ValueError:
            return False
        if name in self._names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def _knows(self, authorization: str) -> bool:
        kind, _, given = authorization.partition(" ")
        right = hmac.compare_digest(given.strip().encode("latin-1"), self._token)
        return right and kind.lower() == "bearer"


def _limited(receive: Receive, most: int) -> Receive:
    """The same messages, as long as the body is small and arrives."""
    size, whole = 0, False

    async def next_message() -> Message:
        nonlocal size, whole
        if whole:  # now only the end of the connection is awaited
            return await receive()
        try:
            async with asyncio.timeout(BODY_S):
                message = await receive()
        except TimeoutError as error:
            raise HTTPException(408) from error
        size += len(message.get("body", b""))
        whole = not message.get("more_body", False)
        if size > most:
            raise HTTPException(413)
        return message

    return next_message


class _Rate:
    """Limits how many events happen in a minute; they may come at once."""

    def __init__(self, per_minute: int) -> None:
        self._size = self._left = float(per_minute)
        self._last = time.monotonic()

    def wait(self) -> int:
        """Count an event. Return the seconds until it may happen; 0 if it may now."""
        now = time.monotonic()
        gain = (now - self._last) * self._size / 60
        self._left, self._last = min(self._size, self._left + gain), now
        if self._left < 1:
            return math.ceil((1 - self._left) * 60 / self._size)
        self._left -= 1
        return 0


async def _refuse(send: Send, status: int, reason: str, *, wait: int = 0) -> None:
    body = json.dumps(error_document(reason, status)).encode()
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    if wait:
        headers.append((b"retry-after", str(wait).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def error_document(message: str, status: int, *, code: str = "") -> dict[str, object]:
    """Return an error in OpenAI's form."""
    kind = {401: "authentication_error", 403: "permission_error", 404: "not_found_error"}
    kind[429] = "rate_limit_error"
    error = {"message": message, "type": kind.get(status, "invalid_request_error"), "param": None}
    if status >= 500:
        error["type"] = "server_error"
    return {"error": {**error, "code": code or None}}
