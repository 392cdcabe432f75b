"""Asks a server of LLMs for an answer and reads it line by line.

Where a server of LLMs listens, and how long it is waited for.

Says in sentences what goes wrong between here and a server of LLMs."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import ExpertError, Fault, JarvisError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.process.network_guard import is_here

if TYPE_CHECKING:
    import ssl

    import httpx


@dataclass(frozen=True, slots=True)
class ServerTimeouts:
    """How long a server may say nothing, in seconds."""

    connect: float = 5.0
    first: float = 300.0
    """Until the first line: it may have to read an LLM from a slow disk, and a long prompt."""
    between: float = 60.0
    """Between two lines of an answer."""


USUAL = ServerTimeouts()


@dataclass(frozen=True, slots=True)
class Server:
    """One server, and what a person is told of it. Raises UnavailableError on a bad address."""

    program: str
    """Begins a sentence, such as "Ollama"."""
    kind: str
    """What it is not where something else answers, such as "an OpenAI-compatible server"."""
    address: str
    """A URL; the names of the endpoints are put behind it."""
    start: str
    """What to do where it does not run, in a sentence."""
    obtain: str
    """What to do where it lacks an LLM, in a sentence; {name} is the LLM's place."""

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.address)
            usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            # Not quoted: it may hold a password.
            raise UnavailableError(
                tr("The address of {kind} is not one that can be used.", kind=self.kind),
                hint=tr("It has the form http://127.0.0.1:8080."),
            )

    @property
    def host(self) -> str:
        """Host and port alone: an address may hold a password."""
        return urlsplit(self.address).netloc.rpartition("@")[2]

    @property
    def remote(self) -> bool:
        """Whether what is sent there leaves this computer."""
        return is_remote(self.address)

    def client(self, patience: ServerTimeouts) -> httpx.AsyncClient:
        """An HTTP client of this server. It follows no redirects: they could lead anywhere."""
        import httpx

        return httpx.AsyncClient(
            base_url=self.address,
            follow_redirects=False,
            # A proxy of the environment knows nothing of this computer's own addresses.
            trust_env=self.remote,
            verify=_certificates(self.remote),
            timeout=httpx.Timeout(patience.first, connect=patience.connect),
        )


@functools.cache
def _certificates(trust_env: bool) -> ssl.SSLContext:
    """Whom to trust, read once: for each request anew it would take a twentieth of a second."""
    import httpx

    return httpx.create_ssl_context(trust_env=trust_env)


def is_remote(address: str) -> bool:
    """Whether what is sent to a URL leaves this computer."""
    return not is_here(urlsplit(address).hostname or "")


NO_CREDIT = "insufficient_quota"
"""OpenAI says it with status 429, as if waiting helped."""


class RequestRejectedError(ExpertError):
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
        refused = RequestRejectedError(f"{server.program} refused the request{said}")
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


BUSY = (429, 503)
"""A full queue, a limit that is reached, an LLM that is still being loaded."""
LOADING = 503
"""The one of them that may last as long as the first line."""
WAITS = (1.0, 2.0, 4.0, 8.0)
"""Seconds before each further try at a busy server."""
LONGEST_WAIT = 20.0
"""A server that asks for more than these seconds is not waited for."""

SHORTEST_KEY = 12
"""Characters; less keeps nobody out."""

Sleep = Callable[[float], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Post:
    """A request to one LLM of a server."""

    server: Server
    path: str
    name: str
    """What the server calls the LLM."""
    patience: ServerTimeouts = USUAL
    key: str = field(default="", repr=False)
    """Sent as a bearer token, and taken out of all that the server says in errors."""
    sleep: Sleep = asyncio.sleep

    async def lines(self, body: Mapping[str, Any]) -> AsyncGenerator[str, None]:
        """The lines of the answer that are not empty. Closing the iterator closes the connection.

        A busy server is asked again a few times, and one that still loads the LLM as long as the
        first line is waited for. Raises Refused where the request is at fault,
        otherwise UnavailableError and ExpertError.
        """
        with sentences(self.server):
            async with self.server.client(self.patience) as client:
                response = await self._accepted(client, body)
                lines, patience = response.aiter_lines(), self.patience.first
                try:
                    while True:
                        async with asyncio.timeout(patience):
                            line = await anext(lines, None)
                        if line is None:
                            return
                        patience = self.patience.between
                        if line:
                            yield line
                finally:
                    await response.aclose()

    async def _accepted(self, client: httpx.AsyncClient, body: Mapping[str, Any]) -> httpx.Response:
        """The response with status 200 whose body is still to be read."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        left = self.patience.first
        for tries, wait in enumerate(chain(WAITS, repeat(WAITS[-1]))):
            request = client.build_request("POST", self.path, json=body, headers=headers)
            async with asyncio.timeout(self.patience.first):
                response = await client.send(request, stream=True)
                if response.status_code == 200:
                    return response
                text = (await response.aread()).decode(errors="replace")
            asked = _seconds(response.headers.get("Retry-After", ""))
            wait = asked or wait
            left -= wait
            over = left < 0 if response.status_code == LOADING else tries == len(WAITS)
            hopeless = over or wait > LONGEST_WAIT or NO_CREDIT in text
            if response.status_code not in BUSY or hopeless:
                break
            await self.sleep(wait)
        words = self.without_key(text)
        raise refusal(self.server, response.status_code, words, name=self.name, wait=asked)

    def without_key(self, text: str) -> str:
        """The text with the key taken out; what stands in for one, such as "none", may stay."""
        return text.replace(self.key, "…") if len(self.key) >= SHORTEST_KEY else text


def _seconds(retry_after: str) -> float:
    """What the header says; 0 where it says nothing, or a date, which no LLM server uses."""
    return float(retry_after) if retry_after.isascii() and retry_after.isdigit() else 0
