"""The only way from a call of the API to the network. Used in the API's child process only.

huggingface_hub sends requests wherever an answer tells it to: it fetches results from addresses
that a provider names, polls without end, and reads any number of bytes. All of it passes through
here. Addresses, time and bytes are limited, the key is sent to the Hub and its router only, and
every failure becomes one of our errors.
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
from dataclasses import dataclass, field, replace

import httpx2

from jarvis_desktop.backends.inference_api import errors as failures
from jarvis_desktop.backends.inference_api.errors import ApiTarget
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.process.network_guard import is_near

HUB = "huggingface.co"
ROUTER = "router.huggingface.co"
THE_HUB = "The Hugging Face Hub"
CONNECT_TIMEOUT_S = 10.0
MAX_ERROR_BYTES = 64_000  # of the body of an error that are read
MAX_REDIRECTS = 3

Check = Callable[[str, Sequence[str]], str]
"""Returns the address to use for a host and its addresses. Raises JarvisError if none is public."""


@dataclass(slots=True)
class RequestBudget:
    """The limits of one call, and what it has used."""

    asked: ApiTarget  # replaced by the Hub while that is asked about experts
    ends: float  # the deadline of the whole call, by the monotonic clock
    most: int  # bytes of one answer
    posted: bool = False  # whether a service was asked; errors before that are about the question
    calls: int = 0  # requests to a service
    endpoint: str = ""  # the only address that may be asked, if the user set one
    key: str = field(default="", repr=False)  # for the endpoint

    def left(self) -> float:
        """Seconds that remain. Raises ExpertError if there are none."""
        left = self.ends - time.monotonic()
        if left <= 0:
            raise failures.too_slow(self.asked)
        return left


class Gate(httpx2.BaseTransport):
    """Checks and limits the requests of one call. `network` really sends them. `via` is a relay
    that every request goes to instead of its own address; "" for none. `hub` is the host of the
    Hub, or of a mirror. The key is sent to the Hub itself and its router only."""

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
        self._direct: httpx2.BaseTransport | None = None
        self._errand: RequestBudget | None = None

    @contextmanager
    def open(self, budget: RequestBudget) -> Iterator[None]:
        """Allow requests within the limits of this call; outside of a call, none are."""
        self._errand = budget
        try:
            yield
        finally:
            self._errand = None

    def client(self) -> httpx2.Client:
        """A client that can only use this transport."""
        return httpx2.Client(
            transport=self,
            follow_redirects=True,
            max_redirects=MAX_REDIRECTS,
            # Bytes are counted as they arrive; compressed ones could expand to any number.
            headers={"Accept-Encoding": "identity"},
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request. Raises JarvisError on any failure."""
        if self._errand is None:
            raise RuntimeError("a request outside of any call")
        budget = self._errand
        if request.url.host == self._hub:
            budget = replace(budget, asked=replace(budget.asked, who=THE_HUB))
        left = budget.left()
        request.extensions["timeout"] = {
            "connect": min(left, CONNECT_TIMEOUT_S), "read": left, "write": left, "pool": left,
        }  # fmt: skip
        if request.url.host not in self._trusted and not (budget.endpoint and budget.key):
            request.headers.pop("authorization", None)
        request.headers["accept-encoding"] = "identity"
        if request.method == "POST":
            self._errand.posted = True
            self._errand.calls += 1
        aimed = self._aimed(request, budget)
        with _translated(budget, failures.broke_off):
            response = self._way_to(request.url, budget).handle_request(aimed)
        try:
            self._inspect(request, response, budget)
        except BaseException:
            response.close()
            raise
        assert isinstance(response.stream, httpx2.SyncByteStream)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_LimitedStream(response.stream, budget),
            extensions=response.extensions,
        )

    def close(self) -> None:
        """Close all connections."""
        self._network.close()
        if self._direct:
            self._direct.close()

    def _way_to(self, url: httpx2.URL, budget: RequestBudget) -> httpx2.BaseTransport:
        """What sends a request: a proxy does not reach this computer's own network."""
        if not (budget.endpoint and is_near(url.host)):
            return self._network
        self._direct = self._direct or httpx2.HTTPTransport()
        return self._direct

    def _aimed(self, request: httpx2.Request, budget: RequestBudget) -> httpx2.Request:
        """Return the request with its final address."""
        url, extensions = request.url, dict(request.extensions)
        if budget.endpoint:
            if _origin(url) != _origin(httpx2.URL(budget.endpoint)):
                raise failures.unusable(
                    budget.asked, why=tr("it names an address that must not be used")
                )
            return request
        ours = url.host in self._services
        if url.scheme != "https" or url.userinfo or (request.method != "GET" and not ours):
            raise failures.unusable(
                budget.asked, why=tr("it names an address that must not be used")
            )
        # A relay or a proxy resolves names itself, so they cannot be checked here.
        elsewhere = self._via is not None or self._behind_proxy
        if not ours and (_is_number(url.host) or not elsewhere):
            address = self._public(url.host, budget)
            if not elsewhere:
                extensions["sni_hostname"] = url.host
                url = url.copy_with(host=address)
        if self._via:
            url = url.copy_with(scheme=self._via.scheme, host=self._via.host, port=self._via.port)
        return httpx2.Request(
            request.method,
            url,
            headers=request.headers,  # with the original host
            stream=request.stream,
            extensions=extensions,
        )

    def _public(self, host: str, budget: RequestBudget) -> str:
        addresses: Sequence[str] = ()
        with suppress(OSError, UnicodeError):
            found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            addresses = tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
        if not addresses:
            raise failures.no_way(budget.asked)
        try:
            return self._check(host, addresses)
        except JarvisError as error:
            why = "it names an address that is not of the public network"
            raise failures.unusable(budget.asked, why=why) from error

    def _inspect(
        self, request: httpx2.Request, response: httpx2.Response, budget: RequestBudget
    ) -> None:
        """Raise an error if the status or headers of an answer call for it."""
        status, headers = response.status_code, response.headers
        # A file may be elsewhere; a question is never redirected.
        if response.has_redirect_location and request.method == "GET":
            return
        if budget.endpoint:
            pass  # a refusal, like that of a provider
        elif request.url.host not in self._services and status in range(400, 500):
            # The host of a file knows neither the expert nor the key.
            if status not in (408, 429):
                why = "the file that it names cannot be fetched"
                raise failures.unusable(budget.asked, why=why, retryable=True)
        elif status in (401, 403, 404) and "authorization" not in request.headers:
            # The Hub returns these for anything it does not have.
            raise failures.not_served(budget.asked)
        if status >= 300:
            raise failures.refusal(
                budget.asked, status, dict(headers.items()), _beginning(response, budget)
            )
        if headers.get("content-type", "").partition(";")[0].strip().lower() == "text/html":
            raise failures.a_stranger(budget.asked)
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > budget.most:
            raise failures.too_much(budget.asked, budget.most)


class _LimitedStream(httpx2.SyncByteStream):
    """The body of an answer, within the limits of its call."""

    def __init__(self, stream: httpx2.SyncByteStream, budget: RequestBudget) -> None:
        self._stream = stream
        self._errand = budget

    def __iter__(self) -> Iterator[bytes]:
        size, budget = 0, self._errand
        with _translated(budget, failures.cut_off):
            for chunk in self._stream:
                budget.left()
                size += len(chunk)
                if size > budget.most:
                    raise failures.too_much(budget.asked, budget.most)
                yield chunk

    def close(self) -> None:
        self._stream.close()


@contextmanager
def _translated(
    budget: RequestBudget, broken: Callable[[ApiTarget], JarvisError]
) -> Iterator[None]:
    """Translate the network's errors; `broken` is for a connection that ended too early."""
    try:
        yield
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
        if _about_certificates(error):
            raise failures.not_trusted(budget.asked) from error
        raise failures.no_way(budget.asked) from error
    except httpx2.TimeoutException as error:
        raise failures.too_slow(budget.asked) from error
    except httpx2.TransportError as error:
        raise broken(budget.asked) from error


def _beginning(response: httpx2.Response, budget: RequestBudget) -> bytes:
    found = b""
    assert isinstance(response.stream, httpx2.SyncByteStream)
    with suppress(httpx2.TransportError, JarvisError):
        for chunk in response.stream:
            found += chunk
            budget.left()
            if len(found) > MAX_ERROR_BYTES:
                break
    return found[:MAX_ERROR_BYTES]


def _about_certificates(error: Exception) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return True
        cause = cause.__cause__ or cause.__context__
    return "CERTIFICATE_VERIFY_FAILED" in str(error)


def _origin(url: httpx2.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or (443 if url.scheme == "https" else 80)


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host == "localhost" or host.replace(".", "").isdigit()
    return True


def _proxy() -> str | None:
    """The proxy that the user's environment names, if any."""
    with suppress(OSError):
        if urllib.request.proxy_bypass(ROUTER):
            return None
    return urllib.request.getproxies().get("https") or None


def hub_host() -> str:
    """The host of the Hub, or of the mirror that the environment names."""
    return httpx2.URL(os.environ.get("HF_ENDPOINT") or f"https://{HUB}").host
