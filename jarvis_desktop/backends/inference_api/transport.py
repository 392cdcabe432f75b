"""The one way from a call of the API to the network. Used in the API's child process only.

huggingface_hub sends its requests wherever an answer tells it to: it fetches results from addresses
that a provider names, asks without end whether they are done, and takes any number of bytes. All of
it passes here. What is asked, by whom and for how long is bounded, the key is shown to the Hub and
its router alone, and whatever goes wrong becomes one of our errors.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

import httpx2

from jarvis_desktop.backends.inference_api import errors as failures
from jarvis_desktop.backends.inference_api.errors import ApiTarget
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.i18n import tr

HUB = "huggingface.co"
ROUTER = "router.huggingface.co"
THE_HUB = "The Hugging Face Hub"

CONNECTING = 10.0
"""Seconds until a connection must stand."""

MOST_OF_AN_ERROR = 64_000
"""Bytes of the body of an error that are read."""

MOST_REDIRECTS = 3

Check = Callable[[str, Sequence[str]], str]
"""Gives the address of a host that may be connected to: check(host, its addresses).

Raises JarvisError where it is none of the public network.
"""


@dataclass(slots=True)
class Errand:
    """What one call may take of the network."""

    asked: ApiTarget
    """Who is asked for what; the Hub in the provider's stead while it is asked about experts."""
    ends: float
    """The moment, by the monotonic clock, at which all of it must be done."""
    most: int
    """Bytes that one answer may have."""
    posted: bool = False
    """Whether a service was asked: what goes wrong before is about the question."""
    calls: int = 0
    """How often one was."""

    def left(self) -> float:
        """Seconds that remain. Raises ExpertError where there are none."""
        left = self.ends - time.monotonic()
        if left <= 0:
            raise failures.too_slow(self.asked)
        return left


class Gate(httpx2.BaseTransport):
    """Lets the requests of one errand pass.

    `network` is what really sends. `via` is an address that every request goes to instead of its
    own, for a relay; "" for none. `hub` is the host of the Hub, which may be a mirror. The key
    goes to the Hub itself and its router only.
    """

    def __init__(
        self,
        *,
        check: Check,
        via: str = "",
        hub: str = HUB,
        network: httpx2.BaseTransport | None = None,
    ) -> None:
        self._check = check
        self._via = httpx2.URL(via) if via else None
        self._hub = hub
        self._services = {ROUTER, hub}
        self._trusted = {ROUTER, HUB}
        proxy = None if via else _proxy()
        self._behind_proxy = proxy is not None
        self._network = network or httpx2.HTTPTransport(proxy=proxy)
        self._errand: Errand | None = None

    @contextmanager
    def open(self, errand: Errand) -> Iterator[None]:
        """Let requests pass for this errand; outside of one, none does."""
        self._errand = errand
        try:
            yield
        finally:
            self._errand = None

    def client(self) -> httpx2.Client:
        """A client that has no other way than this."""
        return httpx2.Client(
            transport=self,
            follow_redirects=True,
            max_redirects=MOST_REDIRECTS,
            # What arrives is counted; packed bytes could become any number of others.
            headers={"Accept-Encoding": "identity"},
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer to one request. Raises JarvisError whatever else comes."""
        if self._errand is None:
            raise RuntimeError("a request outside of any call")
        errand = self._errand
        if request.url.host == self._hub:
            errand = replace(errand, asked=replace(errand.asked, who=THE_HUB))
        left = errand.left()
        request.extensions["timeout"] = {
            "connect": min(left, CONNECTING), "read": left, "write": left, "pool": left,
        }  # fmt: skip
        if request.url.host not in self._trusted:
            request.headers.pop("authorization", None)
        request.headers["accept-encoding"] = "identity"
        if request.method == "POST":
            self._errand.posted = True
            self._errand.calls += 1
        aimed = self._aimed(request, errand)
        with _translated(errand, failures.broke_off):
            response = self._network.handle_request(aimed)
        try:
            self._inspect(request, response, errand)
        except BaseException:
            response.close()
            raise
        assert isinstance(response.stream, httpx2.SyncByteStream)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_Counted(response.stream, errand),
            extensions=response.extensions,
        )

    def close(self) -> None:
        """Close all connections."""
        self._network.close()

    def _aimed(self, request: httpx2.Request, errand: Errand) -> httpx2.Request:
        """The request to the place where it may go."""
        url, extensions = request.url, dict(request.extensions)
        ours = url.host in self._services
        if url.scheme != "https" or url.userinfo or (request.method != "GET" and not ours):
            raise failures.unusable(
                errand.asked, why=tr("it names an address that is not to be used")
            )
        # Where another looks names up, a relay or a proxy, they cannot be checked here.
        elsewhere = self._via is not None or self._behind_proxy
        if not ours and (_is_number(url.host) or not elsewhere):
            address = self._public(url.host, errand)
            if not elsewhere:
                extensions["sni_hostname"] = url.host
                url = url.copy_with(host=address)
        if self._via:
            url = url.copy_with(scheme=self._via.scheme, host=self._via.host, port=self._via.port)
        return httpx2.Request(
            request.method,
            url,
            headers=request.headers,  # among them the host as it was meant
            stream=request.stream,
            extensions=extensions,
        )

    def _public(self, host: str, errand: Errand) -> str:
        """The address of a host that a service named."""
        addresses: Sequence[str] = ()
        with suppress(OSError, UnicodeError):
            found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            addresses = tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
        if not addresses:
            raise failures.no_way(errand.asked)
        try:
            return self._check(host, addresses)
        except JarvisError as error:
            why = "it names an address that is not of the public network"
            raise failures.unusable(errand.asked, why=why) from error

    def _inspect(self, request: httpx2.Request, response: httpx2.Response, errand: Errand) -> None:
        """Raise what the head of an answer makes of it."""
        status, headers = response.status_code, response.headers
        # A file may lie elsewhere; a question never goes to another than it was meant for.
        if response.has_redirect_location and request.method == "GET":
            return
        if request.url.host not in self._services and status in range(400, 500):
            # Whoever keeps a file knows neither the expert nor the key.
            if status not in (408, 429):
                why = "the file that it names cannot be fetched"
                raise failures.unusable(errand.asked, why=why, retryable=True)
        elif status in (401, 403, 404) and "authorization" not in request.headers:
            # The Hub says so of what it does not have, too.
            raise failures.not_served(errand.asked)
        if status >= 300:
            raise failures.refusal(
                errand.asked, status, dict(headers.items()), _beginning(response, errand)
            )
        if headers.get("content-type", "").partition(";")[0].strip().lower() == "text/html":
            raise failures.a_stranger(errand.asked)
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > errand.most:
            raise failures.too_much(errand.asked, errand.most)


class _Counted(httpx2.SyncByteStream):
    """The body of an answer, as long as it is neither too long nor too late."""

    def __init__(self, stream: httpx2.SyncByteStream, errand: Errand) -> None:
        self._stream = stream
        self._errand = errand

    def __iter__(self) -> Iterator[bytes]:
        size, errand = 0, self._errand
        with _translated(errand, failures.cut_off):
            for chunk in self._stream:
                errand.left()
                size += len(chunk)
                if size > errand.most:
                    raise failures.too_much(errand.asked, errand.most)
                yield chunk

    def close(self) -> None:
        self._stream.close()


@contextmanager
def _translated(errand: Errand, broken: Callable[[ApiTarget], JarvisError]) -> Iterator[None]:
    """Translate what the network raises; `broken` where the connection ended too early."""
    try:
        yield
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
        if _about_certificates(error):
            raise failures.not_trusted(errand.asked) from error
        raise failures.no_way(errand.asked) from error
    except httpx2.TimeoutException as error:
        raise failures.too_slow(errand.asked) from error
    except httpx2.TransportError as error:
        raise broken(errand.asked) from error


def _beginning(response: httpx2.Response, errand: Errand) -> bytes:
    """What an error says, as far as it can be read."""
    found = b""
    assert isinstance(response.stream, httpx2.SyncByteStream)
    with suppress(httpx2.TransportError, JarvisError):
        for chunk in response.stream:
            found += chunk
            errand.left()
            if len(found) > MOST_OF_AN_ERROR:
                break
    return found[:MOST_OF_AN_ERROR]


def _about_certificates(error: Exception) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return True
        cause = cause.__cause__ or cause.__context__
    return "CERTIFICATE_VERIFY_FAILED" in str(error)


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host == "localhost" or host.replace(".", "").isdigit()
    return True


def _proxy() -> str | None:
    """The proxy that the person's environment names, where it names one."""
    with suppress(OSError):
        if urllib.request.proxy_bypass(ROUTER):
            return None
    return urllib.request.getproxies().get("https") or None


def hub_host() -> str:
    """The host of the Hub, or of the mirror that the environment names instead."""
    return httpx2.URL(os.environ.get("HF_ENDPOINT") or f"https://{HUB}").host
