"""Who may use the server: programs that have the token, within limits.

Pages in a browser are kept out by their Origin, and by the Host that they must send if they reach
this computer under another name (DNS rebinding). Nothing allows other origins (CORS).
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import secrets
from pathlib import Path
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.platform import api_keys

PLACE = "api-server"
"""Under which the token is in the keyring."""
VARIABLE = "JARVIS_API_TOKEN"
MAX_BODY = 64_000_000
"""Bytes of a request."""
BODY_S = 120.0
"""Seconds in which a request must have arrived."""
MIN_TOKEN = 16


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
    fresh = secrets.token_urlsafe(32)
    try:
        api_keys.keep_secret(PLACE, fresh)
    except UnavailableError as error:
        raise UnavailableError(
            "The token of the server could not be kept: the system has no keyring that is open.",
            hint=f"Unlock or install one, or give a token: set {VARIABLE}, or --token-file FILE.",
        ) from error
    return fresh


class Access:
    """Checks every request before the application sees it."""

    def __init__(self, app: ASGIApp, *, token: str, host: str) -> None:
        """`host`: the name or address that the server listens at."""
        self._app = app
        self._token = token.encode()
        self._host = host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {key.lower(): value.decode("latin-1") for key, value in scope["headers"]}
        length = headers.get(b"content-length", "0")
        if not self._is_own(f"//{headers.get(b'host', '')}"):
            await _refuse(send, 403, "This server is not known by that name.")
        elif b"origin" in headers and not self._is_own(headers[b"origin"]):
            await _refuse(send, 403, "Pages of other servers may not use this one.")
        elif not self._knows(headers.get(b"authorization", "")):
            await _refuse(send, 401, "The token is missing or wrong.")
        elif not length.isdecimal() or int(length) > MAX_BODY:
            await _refuse(send, 413, f"A request has at most {MAX_BODY // 1_000_000} MB.")
        else:
            await self._app(scope, _limited(receive), send)

    def _is_own(self, url: str) -> bool:
        """Whether an address means this computer, not by a name that anybody could choose."""
        try:
            name = (urlsplit(url).hostname or "").rstrip(".")
        except ValueError:
            return False
        if name in ("localhost", self._host):
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


def _limited(receive: Receive) -> Receive:
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
        if size > MAX_BODY:
            raise HTTPException(413)
        return message

    return next_message


async def _refuse(send: Send, status: int, reason: str) -> None:
    body = json.dumps(error_document(reason, status)).encode()
    kind = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": kind})
    await send({"type": "http.response.body", "body": body})


def error_document(message: str, status: int, *, code: str = "") -> dict[str, object]:
    """Return an error in OpenAI's form."""
    kind = {401: "authentication_error", 403: "permission_error", 404: "not_found_error"}
    error = {"message": message, "type": kind.get(status, "invalid_request_error"), "param": None}
    if status >= 500:
        error["type"] = "server_error"
    return {"error": {**error, "code": code or None}}
