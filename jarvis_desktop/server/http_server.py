"""Builds the HTTP application and runs it until it is stopped."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.paths import shipped
from jarvis_desktop.server import hugginggpt_api, mcp_api, openai_api, responses_api
from jarvis_desktop.server.access import Access, ServerTerms, error_document

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from jarvis_desktop.app.application import Application


AT_ONCE = 256
"""Connections; more get an answer that says so."""
BACKLOG = 512
"""Connections that wait to be accepted."""
HEADERS_S = 30.0
"""Seconds in which the headers of a request must have arrived."""
ENDING_S = 2.0
"""Seconds in which what is being answered ends once the server is cancelled."""


class TimedHeaders(H11Protocol):
    """A connection that is closed if the headers of a request do not arrive in time.

    uvicorn waits for ever, so that those who never finish one could take all connections.
    """

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        super().connection_lost(exc)
        self._stop()

    def _expect(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()
        elif self._late is None:
            self._late = self.loop.call_later(HEADERS_S, self.transport.close)

    def _stop(self) -> None:
        if self._late:
            self._late.cancel()
            self._late = None


@asynccontextmanager
async def http_app(app: Application, terms: ServerTerms) -> AsyncIterator[ASGIApp]:
    """Provide the ASGI application over a built application."""

    async def refused(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        words = {
            400: "The form is not valid.",
            404: "There is nothing at this address.",
            405: "It takes another method.",
            408: "The request did not arrive in time.",
            413: "The request is too large.",
        }
        told = words.get(status, "Something went wrong inside JARVIS itself; the log says what.")
        return JSONResponse(error_document(told, status), status)

    async with mcp_api.over_http(app) as mcp:
        starlette = Starlette(
            routes=[
                *openai_api.routes(app),
                *responses_api.routes(app),
                *hugginggpt_api.routes(app),
                Route("/mcp", mcp),
                *page_routes(),
            ],
            exception_handlers={HTTPException: refused, Exception: refused},
        )
        yield Access(starlette, terms)


def listen(host: str, port: int, *, silence: float = 0.0) -> socket.socket:
    """Return a socket that listens; who connects waits for `serve`. Raises UnavailableError.

    After `silence` seconds in which the other side confirms nothing that was sent, a connection
    ends, on Linux; the usual is a quarter of an hour.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # asyncio sends small pieces at once only on sockets that name TCP; on others the second
        # piece of an answer would wait 40 ms for the client to confirm the first.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        if os.name != "nt":  # there it would let two programs have the same port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if silence and hasattr(socket, "TCP_USER_TIMEOUT"):
            patience = round(1000 * silence)
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, patience)
        try:
            listening.bind((host, port))
            listening.listen(BACKLOG)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            reason = tr("another program uses it already")
        else:
            reason = (error.strerror or str(error)).lower()
        raise UnavailableError(
            tr(
                "The server cannot listen at {host}, port {port}: {reason}.",
                host=one_line(host, limit=100),
                port=port,
                reason=reason,
            ),
            hint=tr("Choose another port or address."),
        ) from error
    return listening


def address_of(listening: socket.socket, *, encrypted: bool = False) -> str:
    """Return the address of OpenAI's protocol at a socket. Without a host it is that under which
    other computers reach this one, if it is in a network."""
    host, port = listening.getsockname()[:2]
    if ip_address(host).is_unspecified:
        with suppress(OSError), socket.socket(listening.family, socket.SOCK_DGRAM) as probe:
            # Nothing is sent: it only looks up the way to an address of nobody.
            probe.connect(("2001:db8::1" if ":" in host else "192.0.2.1", 9))
            host = probe.getsockname()[0]
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if encrypted else 'http'}://{shown}:{port}/v1"


def encryption(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return what encrypts connections with a certificate. Raises InputError."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key, password="")
    except (OSError, ssl.SSLError) as error:
        reason = getattr(error, "reason", "") or error.strerror or str(error)
        raise InputError(
            f"The certificate {certificate} with the key {key} cannot be used: "
            f"{str(reason).lower().replace('_', ' ')}.",
            hint="Both are PEM files, and the key has no password.",
        ) from error
    return context


async def serve(
    app: Application,
    listening: socket.socket,
    terms: ServerTerms,
    *,
    encrypted: ssl.SSLContext | None = None,
) -> None:
    """Serve until it is stopped by Ctrl-C, or cancelled, which ends what is being answered."""
    async with http_app(app, terms) as asgi:
        await serve_app(asgi, listening, encrypted=encrypted)


async def serve_app(
    asgi: ASGIApp, listening: socket.socket, *, encrypted: ssl.SSLContext | None = None
) -> None:
    """Serve an ASGI application in the same way."""
    config = uvicorn.Config(
        asgi,
        http=TimedHeaders,
        log_config=None,
        access_log=False,
        lifespan="off",
        limit_concurrency=AT_ONCE,
        backlog=BACKLOG,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=5,
        server_header=False,
        proxy_headers=False,
        ssl_context_factory=(lambda config, usual: encrypted) if encrypted else None,
    )
    server = uvicorn.Server(config)
    try:
        await server.serve(sockets=[listening])
    except asyncio.CancelledError:
        await _end(server)
        raise


async def _end(server: uvicorn.Server) -> None:
    """Close the connections, as if all clients went away, and wait until their turns have ended."""
    for accepting in getattr(server, "servers", ()):
        accepting.close()
    for connection in list(server.server_state.connections):
        connection.transport.close()
    if answering := list(server.server_state.tasks):
        await asyncio.wait(answering, timeout=ENDING_S)


PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PAGE_HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
PAGE_FILES = {"/": "index.html", "/page.css": "page.css", "/page.js": "page.js"}


def page_routes() -> list[Route]:
    """Return the routes of the page for a browser, `/`, and of what it loads.

    It is static and has no secrets: it asks for the token, which it sends with each request, as
    other programs do. It loads nothing from elsewhere, and nothing may put it into a frame.
    """

    async def file(request: Request) -> Response:
        name = PAGE_FILES[request.url.path]
        return FileResponse(shipped("resources", "web", name), headers=PAGE_HEADERS)

    return [Route(path, file, methods=["GET"]) for path in PAGE_FILES]
