"""Says in sentences what goes wrong between here and a server of LLMs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from jarvis_desktop.core.errors import ExpertError, Fault, JarvisError, UnavailableError
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr
from jarvis_desktop.llm.server import Server

NO_CREDIT = "insufficient_quota"
"""OpenAI says it with status 429, as if waiting helped."""


class Refused(ExpertError):
    """The server did not take the request as it was; `body` is what it says of that."""

    body: str = ""


@contextmanager
def sentences(server: Server) -> Iterator[None]:
    """Translate what httpx and json raise.

    Raises UnavailableError where the server is not there or is another program, ExpertError
    where it fell silent or the connection broke.
    """
    import httpx

    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError, ConnectionError) as error:
        raise absent(server) from error
    except (TimeoutError, httpx.TimeoutException) as error:
        raise ExpertError(
            tr("{program} at {host} does not answer.", program=server.program, host=server.host),
            hint=tr("It may be busy, or the LLM too large for the computer it runs on."),
            retryable=True,
            fault=Fault.TIMEOUT,
        ) from error
    except httpx.TransportError as error:
        raise broken_off(server) from error
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise stranger(server) from error


def absent(server: Server) -> UnavailableError:
    """Nobody listens at the address."""
    return UnavailableError(
        tr("{program} does not run at {host}.", program=server.program, host=server.host),
        hint=server.start,
        fault=Fault.NETWORK,
    )


def broken_off(server: Server) -> ExpertError:
    """The connection ended before the answer did."""
    return ExpertError(
        tr("The answer of {host} broke off.", host=server.host),
        hint=tr(
            "The server may have been closed, or have run out of memory. {start}",
            start=server.start,
        ),
        retryable=True,
        fault=Fault.NETWORK,
    )


def cut_short(name: str) -> ExpertError:
    """The LLM of that name may write no more, and was not at the end."""
    return ExpertError(
        tr("The answer of {name} reached its longest length.", name=name),
        hint=tr("Ask for less at once, or let it think less."),
        fault=Fault.ANSWER,
    )


def stranger(server: Server) -> UnavailableError:
    """Something else listens at the address."""
    return UnavailableError(
        tr("What answers at {host} is not {kind}.", host=server.host, kind=server.kind),
        hint=tr("Look at the address."),
        fault=Fault.GONE,
    )


def failed(server: Server, detail: object) -> ExpertError:
    """The server itself says that it failed."""
    return ExpertError(
        tr("{program} failed: {words}", program=server.program, words=_words(detail))
    )


def refusal(
    server: Server, status: int, body: str, *, name: str = "", wait: float = 0.0
) -> JarvisError:
    """The error that an HTTP status stands for; `name` is the LLM that was asked for.

    `wait` is after how many seconds the server wants to be asked again, where it says so.
    """
    if status in (401, 403):
        # The body is not quoted: some servers repeat the key that they refuse.
        return UnavailableError(
            tr(
                "{program} at {host} refused the key, or wants one.",
                program=server.program,
                host=server.host,
            ),
            hint=tr("Set a key that is valid there."),
            fault=Fault.KEY,
        )
    if status == 402 or NO_CREDIT in body:
        return UnavailableError(
            tr("The account at {host} has no credit left.", host=server.host),
            hint=tr("Add credit there, or choose an LLM of this computer."),
            fault=Fault.PAYMENT,
        )
    if status == 404:
        wanted = one_line(name) or "such an LLM"
        return UnavailableError(
            tr(
                "{program} at {host} does not have {wanted}.",
                program=server.program,
                host=server.host,
                wanted=wanted,
            ),
            hint=server.obtain.format(name=wanted),
            fault=Fault.GONE,
        )
    if 300 <= status < 400:
        return stranger(server)
    words = _words(body)
    said = f": {words}" if words else f" (status {status})."
    if status in (400, 422):
        refused = Refused(f"{server.program} refused the request{said}")
        refused.body = body
        return refused
    if status in (429, 503):
        return ExpertError(
            tr("{program} has too much to do{said}", program=server.program, said=said),
            hint=tr("Try again in a while."),
            retryable=True,
            fault=Fault.LOADING if status == 503 else Fault.BUSY,
            wait=wait,
        )
    if status >= 500:
        return ExpertError(
            tr("{program} failed{said}", program=server.program, said=said),
            retryable=True,
            fault=Fault.BUSY,
        )
    return ExpertError(tr("{program} failed{said}", program=server.program, said=said))


def _words(detail: object) -> str:
    """What of an error's body is for people: {"error": {"message": …}} in all its variants."""
    if isinstance(detail, str) and detail.lstrip().startswith("{"):
        try:
            return _words(json.loads(detail))
        except ValueError:
            pass
    while isinstance(detail, dict):
        detail = next((detail[key] for key in ("error", "message", "detail") if key in detail), "")
    text = str(detail or "")
    return "" if text.lstrip().startswith("<") else one_line(text, limit=200)
