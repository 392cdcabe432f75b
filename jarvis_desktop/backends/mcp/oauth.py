"""Logging in to an MCP server with a browser (OAuth 2.1), as the protocol describes it.

The library does the exchange. Here are the page that the browser comes back to, on this computer
alone, and the keyring that holds the tokens. A browser is opened only for somebody who asked for
it; a call in a plan renews its token silently, or says that a login is needed.
"""

from __future__ import annotations

import asyncio
import html
import json
import logging
import secrets
import time
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl

from jarvis_desktop.backends.mcp.servers import McpServer, keep_login, login_of
from jarvis_desktop.core.context import current_note
from jarvis_desktop.core.errors import Fault, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.process.network_guard import is_this_computer

LOGIN_S = 300.0
"""Seconds in which the user logs in."""
EARLY_S = 30.0
"""How long before its end a token is renewed."""
MAX_REQUEST = 16_384
PATH = "/callback"

# The library logs a failed exchange with what the server answered, which may hold a secret.
logging.getLogger("mcp.client.auth.oauth2").disabled = True


class McpLogin:
    """The login at one server. `browser` says whether the user may be sent to a page."""

    def __init__(self, server: McpServer, *, browser: bool) -> None:
        self.server = server
        self.browser = browser
        self.failure: UnavailableError | None = None
        """Why there is none, in a sentence."""
        self.on_page: Callable[[], None] = lambda: None
        """Called when the user is sent to a page."""
        self._known = login_of(server)
        self._answer: asyncio.Future[AuthorizationCodeResult] | None = None
        self._state = ""
        self._page: asyncio.Server | None = None
        self._used: OAuthClientProvider | None = None

    @asynccontextmanager
    async def provider(self) -> AsyncIterator[OAuthClientProvider | None]:
        """Provide what authenticates requests; None without tokens and without a browser."""
        if not self.browser:
            yield self._provider(self._port()) if "tokens" in self._known else None
            return
        self._page = await self._opened()
        try:
            port = self._page.sockets[0].getsockname()[1]
            if port != self._port():  # the old registration is for another page
                self._known.pop("client", None)
            yield self._provider(port)
        finally:
            self.settled()

    @property
    def offered(self) -> bool:
        """Whether the server has said where to log in."""
        return self._used is not None and self._used.context.oauth_metadata is not None

    def settled(self) -> None:
        """Send the user to no page from now on: later nobody has asked for it."""
        self.browser = False
        if self._page:
            self._page.close()

    async def check(self, request: httpx2.Request) -> None:
        """Refuse requests to places that a server must not send us to. Raises UnavailableError."""
        here = is_this_computer(request.url.host)
        if (request.url.scheme != "https" and not here) or (here and self.server.outside):
            self.failure = self._failed(tr("it names an address that must not be used"))
            raise self.failure

    def _provider(self, port: int) -> OAuthClientProvider:
        provider = OAuthClientProvider(
            self.server.url,
            OAuthClientMetadata(
                redirect_uris=[AnyUrl(f"http://127.0.0.1:{port}{PATH}")],
                client_name="JARVIS Desktop",
                token_endpoint_auth_method="none",  # noqa: S106 - a program keeps no secret
            ),
            _Tokens(self.server, self._known),
            self._send_there,
            self._came_back,
        )
        storage = provider.context.storage
        assert isinstance(storage, _Tokens)
        storage.provider = self._used = provider
        return provider

    def _port(self) -> int:
        """The port of the page that was registered; 0 if there was none."""
        uris = self._known.get("client", {}).get("redirect_uris") or [""]
        try:
            return urlsplit(str(uris[0])).port or 0
        except ValueError:
            return 0

    async def _opened(self) -> asyncio.Server:
        for port in (self._port(), 0):
            try:
                return await asyncio.start_server(self._serve, "127.0.0.1", port, limit=MAX_REQUEST)
            except OSError:
                if not port:
                    raise
        raise AssertionError

    async def _send_there(self, url: str) -> None:
        if not self.browser:
            self.failure = UnavailableError(
                tr("The MCP server {name} wants a login.", name=self.server.name),
                hint=tr("Log in: jarvis-desktop mcp login {name}", name=self.server.name),
                fault=Fault.KEY,
            )
            raise self.failure
        parts = urlsplit(url)
        if parts.scheme != "https" and not is_this_computer(parts.hostname or ""):
            self.failure = self._failed(tr("it names an address that must not be used"))
            raise self.failure
        self._state = parse_qs(parts.query).get("state", [""])[0]
        self._answer = asyncio.get_running_loop().create_future()
        self.on_page()
        current_note.get()(tr("Log in in the browser. If it does not open: {url}", url=url))
        await asyncio.to_thread(webbrowser.open, url)

    async def _came_back(self) -> AuthorizationCodeResult:
        assert self._answer
        try:
            async with asyncio.timeout(LOGIN_S):
                return await self._answer
        except TimeoutError:
            self.failure = self._failed(tr("nobody logged in within some minutes"))
            raise self.failure from None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the browser. Only a request with the right state counts."""
        status, words = "404 Not Found", ""
        try:
            async with asyncio.timeout(10):
                line = await reader.readuntil(b"\r\n")
                while await reader.readuntil(b"\r\n") != b"\r\n":
                    pass
            method, target, _ = line.decode("latin-1").split(" ", 2)
            parts = urlsplit(target)
            given = {key: values[0] for key, values in parse_qs(parts.query).items()}
            known = bool(self._state) and secrets.compare_digest(
                given.get("state", "").encode(), self._state.encode()
            )
            if method == "GET" and parts.path == PATH and known:
                status, words = "200 OK", self._take(given)
        except (ValueError, EOFError, TimeoutError, OSError, asyncio.LimitOverrunError):
            status = "400 Bad Request"
        body = f"<!doctype html><meta charset=utf-8><title>JARVIS</title><p>{html.escape(words)}"
        head = (
            f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n"
            f"Content-Length: {len(body.encode())}\r\nCache-Control: no-store\r\n"
            "Content-Security-Policy: default-src 'none'\r\nReferrer-Policy: no-referrer\r\n"
            "Connection: close\r\n\r\n"
        )
        try:
            writer.write(head.encode() + body.encode())
            await writer.drain()
        except OSError:
            pass  # the browser did not wait
        finally:
            writer.close()

    def _take(self, given: dict[str, str]) -> str:
        if self._answer is None or self._answer.done():
            return tr("You can close this page.")
        if "code" in given:
            answer = AuthorizationCodeResult(
                code=given["code"], state=given.get("state"), iss=given.get("iss")
            )
            self._answer.set_result(answer)
            return tr("You are logged in. You can close this page.")
        self.failure = self._failed(tr("it was refused"))
        self._answer.set_exception(self.failure)
        return tr("You are not logged in. You can close this page.")

    def _failed(self, why: str) -> UnavailableError:
        return UnavailableError(
            tr("The login at the MCP server {name} failed: {why}.", name=self.server.name, why=why),
            hint=tr("Log in: jarvis-desktop mcp login {name}", name=self.server.name),
            fault=Fault.KEY,
        )


class _Tokens:
    """Tokens and registration in the keyring, for this address of the server alone."""

    provider: OAuthClientProvider

    def __init__(self, server: McpServer, known: dict[str, Any]) -> None:
        self._server = server
        self._known = known

    async def get_tokens(self) -> OAuthToken | None:
        """Return the saved tokens. One that has ended is empty, so that it is renewed."""
        known, context = self._known, self.provider.context
        if "tokens" not in known:
            return None
        tokens = OAuthToken.model_validate(known["tokens"])
        # Without these the library would renew the token at the wrong address.
        if known.get("metadata"):
            context.oauth_metadata = OAuthMetadata.model_validate(known["metadata"])
        if known.get("resource"):
            resource = ProtectedResourceMetadata.model_validate(known["resource"])
            context.protected_resource_metadata = resource
            if resource.authorization_servers:
                context.auth_server_url = str(resource.authorization_servers[0])
        if known.get("ends") and time.time() > known["ends"] - EARLY_S:
            tokens.access_token = ""
        return tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Save new tokens."""
        context = self.provider.context
        metadata, resource = context.oauth_metadata, context.protected_resource_metadata
        ends = time.time() + tokens.expires_in if tokens.expires_in else 0
        await self._keep(
            tokens=tokens.model_dump(mode="json", exclude_none=True),
            ends=ends,
            metadata=metadata.model_dump(mode="json", exclude_none=True) if metadata else None,
            resource=resource.model_dump(mode="json", exclude_none=True) if resource else None,
        )

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the saved registration."""
        client = self._known.get("client")
        return OAuthClientInformationFull.model_validate(client) if client else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Save a registration."""
        await self._keep(client=client_info.model_dump(mode="json", exclude_none=True))

    async def _keep(self, **values: object) -> None:
        self._known.update(values)
        await asyncio.to_thread(keep_login, self._server, json.dumps(self._known))
