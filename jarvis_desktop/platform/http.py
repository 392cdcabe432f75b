"""HTTP requests to servers of LLMs, speech and pictures: addresses, timeouts, and errors in
sentences.

Chat is plain HTTP: Ollama's client cannot send `truncate: false`, without which a prompt is cut
silently, and huggingface_hub's client rewrites a JSON schema for any address, sends the Hub's saved
token to it, and refuses 127.0.0.1 under HF_HUB_OFFLINE.
"""

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
from jarvis_desktop.process.network_guard import is_this_computer, web_address

if TYPE_CHECKING:
    import ssl

    import httpx

    from jarvis_desktop.platform.api_keys import ApiKey


@dataclass(frozen=True, slots=True)
class ServerTimeouts:
    """How long a server may be silent, in seconds."""

    connect: float = 5.0
    first: float = 300.0
    """Until the first line: loading an LLM from a slow disk and reading a long prompt take time."""
    between: float = 60.0
    """Between two lines of an answer."""


DEFAULT_TIMEOUTS = ServerTimeouts()


@dataclass(frozen=True, slots=True)
class Server:
    """A server, and what the user reads about it. Raises UnavailableError on a bad address."""

    program: str
    """Begins a sentence, such as "Ollama"."""
    kind: str
    """What is expected at the address, such as "an OpenAI-compatible server"."""
    address: str
    """A URL, to which the paths of endpoints are appended."""
    start: str
    """What to do if it does not run, in a sentence."""
    obtain: str
    """What to do if it lacks what was asked for, in a sentence; {name} is that."""
    wanted: str = "such an LLM"
    """What it lacks, if no name was asked for."""

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.address)
            usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            # Not quoted: it may hold a password.
            raise UnavailableError(
                tr("The address of {kind} is not usable.", kind=self.kind),
                hint=tr("It has the form http://127.0.0.1:8080."),
            )

    @property
    def host(self) -> str:
        """Host and port only, as an address may hold a password."""
        return urlsplit(self.address).netloc.rpartition("@")[2]

    @property
    def remote(self) -> bool:
        """Whether requests leave this computer."""
        return is_remote(self.address)

    def client(self, patience: ServerTimeouts) -> httpx.AsyncClient:
        """Return an HTTP client. It follows no redirects, which could lead anywhere."""
        import httpx

        return httpx.AsyncClient(
            base_url=self.address,
            follow_redirects=False,
            # A proxy of the environment cannot reach this computer's own addresses.
            trust_env=self.remote,
            verify=certificates(self.remote),
            timeout=httpx.Timeout(patience.first, connect=patience.connect),
        )


@functools.cache
def certificates(trust_env: bool) -> ssl.SSLContext:
    """The trusted certificates, cached: reading them takes 50 ms."""
    import httpx

    return httpx.create_ssl_context(trust_env=trust_env)


def is_remote(address: str) -> bool:
    """Whether a request to the URL leaves this computer."""
    return not is_this_computer(urlsplit(address).hostname or "")


NO_CREDIT = "insufficient_quota"
"""OpenAI sends it with status 429, although waiting does not help."""


class RequestRejectedError(ExpertError):
    """The server rejected the request; `body` is its explanation."""

    body: str = ""


@contextmanager
def sentences(server: Server) -> Iterator[None]:
    """Translate errors of httpx and json.

    Raises UnavailableError if the server is not there or is another program, ExpertError if it fell
    silent or the connection broke.
    """
    import httpx

    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError, ConnectionError) as error:
        raise absent(server) from error
    except (TimeoutError, httpx.TimeoutException) as error:
        raise ExpertError(
            tr("{program} at {host} does not answer.", program=server.program, host=server.host),
            hint=tr("It may be busy, or what it runs is too large for its computer."),
            retryable=True,
            fault=Fault.TIMEOUT,
        ) from error
    except httpx.TransportError as error:
        raise broken_off(server) from error
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise stranger(server) from error


def absent(server: Server) -> UnavailableError:
    """Return the error for an address at which nothing listens."""
    return UnavailableError(
        tr("{program} does not run at {host}.", program=server.program, host=server.host),
        hint=server.start,
        fault=Fault.NETWORK,
    )


def broken_off(server: Server) -> ExpertError:
    """Return the error for a connection that ended before the answer."""
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
    """Return the error for an answer that reached the LLM's limit."""
    return ExpertError(
        tr("The answer of {name} reached its longest length.", name=name),
        hint=tr("Ask for less at once, or let it think less."),
        fault=Fault.ANSWER,
    )


def stranger(server: Server) -> UnavailableError:
    """Return the error for another program at the address."""
    return UnavailableError(
        tr("What answers at {host} is not {kind}.", host=server.host, kind=server.kind),
        hint=tr("Look at the address."),
        fault=Fault.GONE,
    )


def too_much(server: Server, most: int) -> ExpertError:
    """Return the error for an answer with more bytes than any valid one."""
    return ExpertError(
        tr(
            "The answer of {host} has more than {most} MB.",
            host=server.host,
            most=most // 1_000_000,
        ),
        fault=Fault.ANSWER,
    )


def unusable(server: Server) -> ExpertError:
    """Return the error for an answer that is not what was asked for."""
    return ExpertError(
        tr("The answer of {host} cannot be used.", host=server.host), fault=Fault.ANSWER
    )


def failed(server: Server, detail: object) -> ExpertError:
    """Return the error for a failure that the server reports."""
    return ExpertError(
        tr("{program} failed: {words}", program=server.program, words=_words(detail))
    )


def refusal(
    server: Server, status: int, body: str, *, name: str = "", wait: float = 0.0
) -> JarvisError:
    """Return the error for an HTTP status; `name` is the LLM that was asked for.

    `wait` is the number of seconds after which the server wants to be asked again.
    """
    if status in (401, 403):
        # The body is not quoted: some servers repeat the rejected key.
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
            hint=tr("Add credit there, or let this computer do it."),
            fault=Fault.PAYMENT,
        )
    if status == 404:
        wanted = one_line(name) or server.wanted
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
            tr("{program} is busy{said}", program=server.program, said=said),
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
    """The message of an error's body: {"error": {"message": …}} in all its variants."""
    if isinstance(detail, str) and detail.lstrip().startswith("{"):
        try:
            return _words(json.loads(detail))
        except ValueError:
            pass
    while isinstance(detail, dict):
        detail = next((detail[key] for key in ("error", "message", "detail") if key in detail), "")
    text = str(detail or "")
    return "" if text.lstrip().startswith("<") else one_line(text, limit=200)


BUSY_STATUSES = (429, 503)
"""The status of a full queue, a limit reached, or an LLM being loaded."""
LOADING_STATUS = 503
"""The status that may last as long as the first line."""
RETRY_DELAYS_S = (1.0, 2.0, 4.0, 8.0)
"""Seconds before each new attempt at a busy server."""
MAX_WAIT_S = 20.0
"""Seconds; a server that asks for more is not waited for."""

MAX_ERROR_BYTES = 64_000
"""Of the body of an error that are read."""
MAX_LIST_BYTES = 8_000_000
MIN_KEY_CHARS = 12
"""Characters; shorter keys are placeholders."""

Sleep = Callable[[float], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Post:
    """A request to a server."""

    server: Server
    path: str
    name: str
    """The server's name for the LLM, or what else does the work."""
    patience: ServerTimeouts = DEFAULT_TIMEOUTS
    key: str = field(default="", repr=False)
    """Sent as a bearer token, and removed from the server's error texts."""
    sleep: Sleep = asyncio.sleep

    async def lines(self, body: Mapping[str, Any]) -> AsyncGenerator[str, None]:
        """Return the non-empty lines of the answer. Closing the iterator closes the connection.

        A busy server is asked again a few times; one that is loading the LLM, as long as the
        timeout of the first line lasts. Raises RequestRejectedError, UnavailableError and
        ExpertError.
        """
        with sentences(self.server):
            async with self.server.client(self.patience) as client:
                response = await self._accepted(client, json=body)
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

    async def whole(self, most: int, **content: Any) -> bytes:
        """Return an answer of at most `most` bytes, all of it within the timeout of the first line.
        `content` is what httpx sends: `json`, or `data` and `files`. Raises like `lines`."""
        with sentences(self.server):
            async with self.server.client(self.patience) as client:
                async with asyncio.timeout(self.patience.first):
                    response = await self._accepted(client, **content)
                    try:
                        return await limited(self.server, response, most)
                    finally:
                        await response.aclose()

    async def _accepted(self, client: httpx.AsyncClient, **content: Any) -> httpx.Response:
        """The response with status 200, whose body is still unread."""
        headers = authorization(self.key)
        left = self.patience.first
        for tries, wait in enumerate(chain(RETRY_DELAYS_S, repeat(RETRY_DELAYS_S[-1]))):
            request = client.build_request("POST", self.path, headers=headers, **content)
            async with asyncio.timeout(self.patience.first):
                response = await client.send(request, stream=True)
                if response.status_code == 200:
                    return response
                try:
                    text = (await _beginning(response)).decode(errors="replace")
                finally:
                    await response.aclose()
            asked = _seconds(response.headers.get("Retry-After", ""))
            wait = asked or wait
            left -= wait
            over = (
                left < 0 if response.status_code == LOADING_STATUS else tries == len(RETRY_DELAYS_S)
            )
            hopeless = over or wait > MAX_WAIT_S or NO_CREDIT in text
            if response.status_code not in BUSY_STATUSES or hopeless:
                break
            await self.sleep(wait)
        words = self.without_key(text)
        raise refusal(self.server, response.status_code, words, name=self.name, wait=asked)

    def without_key(self, text: str) -> str:
        """Return the text without the key; a placeholder such as "none" stays."""
        return text.replace(self.key, "…") if len(self.key) >= MIN_KEY_CHARS else text


def _seconds(retry_after: str) -> float:
    """The header's seconds; 0 without one, or for a date, which no LLM server uses."""
    return float(retry_after) if retry_after.isascii() and retry_after.isdigit() else 0


async def _beginning(response: httpx.Response) -> bytes:
    found = b""
    async for chunk in response.aiter_bytes():
        found += chunk
        if len(found) > MAX_ERROR_BYTES:
            break
    return found[:MAX_ERROR_BYTES]


async def limited(server: Server, response: httpx.Response, most: int) -> bytes:
    """Return the body of an answer. Raises ExpertError if it has more than `most` bytes."""
    parts, size = [], 0
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > most:
            raise too_much(server, most)
        parts.append(chunk)
    return b"".join(parts)


def authorization(key: str) -> dict[str, str]:
    """Return the header that carries the key."""
    return {"Authorization": f"Bearer {key}"} if key else {}


async def sendable_key(key: ApiKey, server: Server) -> str:
    """Return the key. Raises UnavailableError, without quoting it, if no header can hold it."""
    secret = (await key.get()).strip()
    if not (secret.isascii() and secret.isprintable()):
        key.forget()
        raise UnavailableError(
            tr("The key for {host} has characters that no key has.", host=server.host),
            hint=tr("Set it again."),
        )
    return secret


def openai_address(typed: str) -> str:
    """Return the address of a server with OpenAI's protocol: a missing scheme is added, and "/v1"
    if it has no path."""
    plain = web_address(typed).rstrip("/")
    try:
        has_path = bool(urlsplit(plain).path)
    except ValueError:  # Server raises it in a sentence
        has_path = True
    return plain if has_path else f"{plain}/v1"


async def model_entries(
    server: Server, key: ApiKey, *, timeout: float = 10.0
) -> list[Mapping[str, Any]]:
    """Return the named entries of a server's list of models, sorted. Raises UnavailableError,
    ExpertError."""
    headers = authorization(await sendable_key(key, server))
    with sentences(server):
        async with (
            server.client(ServerTimeouts(first=timeout)) as client,
            asyncio.timeout(timeout),
            client.stream("GET", "/models", headers=headers) as response,
        ):
            if response.status_code != 200:
                key.forget()
                raise refusal(server, response.status_code, "")
            found = json.loads(await limited(server, response, MAX_LIST_BYTES))
        entries = found.get("data") if isinstance(found, dict) else None
        if not isinstance(entries, list):
            raise stranger(server)
    named = [each for each in entries if isinstance(each, dict) and isinstance(each.get("id"), str)]
    return sorted(named, key=lambda each: each["id"])
