"""Builds the HTTP application and runs it until it is stopped."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.server import hugginggpt_api, mcp_api, openai_api, responses_api
from jarvis_desktop.server.access import Access, error_document

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from jarvis_desktop.app.application import Application

AT_ONCE = 256
"""Connections; more get an answer that says so."""


@asynccontextmanager
async def http_app(app: Application, *, token: str, host: str) -> AsyncIterator[ASGIApp]:
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
            ],
            exception_handlers={HTTPException: refused, Exception: refused},
        )
        yield Access(starlette, token=token, host=host)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raises UnavailableError."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family)
        with suppress(OSError):
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OSError as error:
        raise UnavailableError(
            f"The server cannot listen at {host}, port {port}: {error.strerror or error}.",
            hint="Choose another: --port N.",
        ) from error
    return listening


async def serve(app: Application, listening: socket.socket, *, token: str, host: str) -> None:
    """Serve until it is stopped by Ctrl-C."""
    async with http_app(app, token=token, host=host) as asgi:
        config = uvicorn.Config(
            asgi,
            log_config=None,
            access_log=False,
            lifespan="off",
            limit_concurrency=AT_ONCE,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=5,
            server_header=False,
        )
        await uvicorn.Server(config).serve(sockets=[listening])
