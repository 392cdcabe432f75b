"""Downloads one file by its URL: over https, from public addresses, within limits.

A host name is resolved once, all its addresses are checked, and the connection uses the checked
address: a name server that answers differently the second time gains nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import mimetypes
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from jarvis_desktop.core.artifact import KINDS
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError, StorageError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.placement import MB

if TYPE_CHECKING:
    import httpx


Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.ip_network("64:ff9b::/32")
_COMPATIBLE = ipaddress.ip_network("::/96")
_SITE_LOCAL = ipaddress.ip_network("fec0::/10")
_DOCUMENTATION = ipaddress.ip_network("3fff::/20")


async def look_up(host: str) -> Sequence[str]:
    """Resolve a host with the system's resolver. Raises UnavailableError."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UnavailableError(
            tr("{host} was not found on the network.", host=host),
            hint=tr("Check the address and the network."),
        ) from error
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def checked(host: str, addresses: Sequence[str]) -> str:
    """Return the first address of a host. Raises InputError unless all are public."""
    if not addresses or not all(is_public(address) for address in addresses):
        raise InputError(
            tr(
                "{host} is not a place on the public network, so nothing is fetched from it.",
                host=host,
            ),
            hint=tr("Save the file yourself and give it."),
        )
    return addresses[0]


def is_public(address: str) -> bool:
    """Whether an address is public, including an embedded IPv4 address."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(each.is_global and not _special(each) for each in (found, *_wrapped(found)))


def _special(address: Address) -> bool:
    """Networks that some Python versions call global, but that have no web servers."""
    return (
        address.is_multicast
        or address.is_reserved
        or address.is_unspecified
        or (isinstance(address, ipaddress.IPv6Address) and _is_nowhere(address))
    )


def _is_nowhere(address: ipaddress.IPv6Address) -> bool:
    return (
        address in _NAT64
        or address in _COMPATIBLE
        or address in _SITE_LOCAL
        or address in _DOCUMENTATION
        or address.sixtofour is not None
        or address.teredo is not None
    )


def _wrapped(address: Address) -> Sequence[Address]:
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return (address.ipv4_mapped,)
    return ()


MAX_REDIRECTS = 3

MAX_URL_CHARS = 2000

LAST_PORT = 65_535

MAX_NAME_CHARS = 60
"""Most file systems allow 255 bytes for a file name, with up to four for a character."""

BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """The limits of one download."""

    bytes: int = 100 * MB
    seconds: float = 60.0
    """From the request to the last byte, including redirects."""
    silence: float = 10.0
    """Seconds without a single byte."""


@dataclass(eq=False)
class WebFetcher:
    """Implements Web.

    `find` resolves a host and `check` picks the address to connect to, or refuses. `trust` are the
    certificates to trust; None is the system's.
    """

    limits: FetchLimits = FetchLimits()
    _: KW_ONLY
    find: Callable[[str], Awaitable[Sequence[str]]] = look_up
    check: Callable[[str, Sequence[str]], str] = checked
    trust: ssl.SSLContext | None = None

    async def fetch(self, url: str, folder: Path) -> Path:
        """Download the file at `url` into `folder`. Raises InputError, UnavailableError,
        StorageError."""
        import httpx

        shown = one_line(url, limit=100)
        try:
            async with (
                asyncio.timeout(self.limits.seconds),
                httpx.AsyncClient(
                    verify=self.trust or True,
                    # A proxy would resolve the name again, and could reach private addresses.
                    trust_env=False,
                    timeout=self.limits.silence,
                    # Received bytes are counted; compressed ones could expand without limit.
                    headers={"Accept-Encoding": "identity", "User-Agent": "jarvis-desktop"},
                ) as client,
            ):
                return await self._follow(client, _parsed(url), folder)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise UnavailableError(
                tr("{shown} took too long to fetch.", shown=shown),
                hint=tr("Try again later."),
                retryable=True,
            ) from error
        except httpx.TransportError as error:
            raise UnavailableError(
                tr("{shown} could not be fetched: {error}.", shown=shown, error=_reason(error)),
                hint=tr("Check the address and the network."),
                retryable=True,
            ) from error

    async def _follow(self, client: httpx.AsyncClient, url: httpx.URL, folder: Path) -> Path:
        for _ in range(MAX_REDIRECTS + 1):
            address = self.check(url.host, await self.find(url.host))
            async with client.stream(
                "GET",
                url.copy_with(host=address),
                headers={"Host": url.netloc.decode("ascii")},
                extensions={"sni_hostname": url.raw_host.decode("ascii")},
            ) as response:
                if response.has_redirect_location:
                    url = _parsed(str(url.join(response.headers["Location"])))
                    continue
                if response.status_code != 200:
                    raise UnavailableError(
                        tr(
                            "{host} did not send the file (status {status_code}).",
                            host=url.host,
                            status_code=response.status_code,
                        ),
                        hint=tr(
                            "Open the address in a browser: it may have moved or want a login."
                        ),
                        retryable=response.status_code in (429, 500, 502, 503, 504),
                    )
                return await self._write(response, url, folder)
        raise UnavailableError(
            tr("{host} sends on from one address to the next, without end.", host=url.host)
        )

    async def _write(self, response: httpx.Response, url: httpx.URL, folder: Path) -> Path:
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise UnavailableError(
                tr("{host} sent the file in an unexpected encoding.", host=url.host)
            )
        name = _name(url, response.headers.get("Content-Type", ""))
        to, size = folder / name, 0
        # Writes go to the page cache, so they hardly block the loop.
        with _saving(name), to.open("xb") as file:
            async for chunk in response.aiter_raw(BLOCK):
                size += len(chunk)
                if size > self.limits.bytes:
                    raise InputError(
                        tr(
                            "{name} has more than {bytes} MB, which is the most that is fetched.",
                            name=name,
                            bytes=self.limits.bytes // MB,
                        ),
                        hint=tr("Save it yourself and give it as a file."),
                    )
                file.write(chunk)
        return to


@contextmanager
def _saving(name: str) -> Iterator[None]:
    try:
        yield
    except TimeoutError:  # a subclass of OSError, but a network error
        raise
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise StorageError(
            tr("{name} could not be saved: {reason}.", name=name, reason=reason),
            hint=tr("See that the disk has room."),
        ) from error


def _parsed(url: str) -> httpx.URL:
    """Return the URL, with https instead of http. Raises InputError if it is not allowed."""
    import httpx

    shown = one_line(url, limit=100)
    try:
        parsed = httpx.URL(url) if len(url) <= MAX_URL_CHARS else None
    except httpx.InvalidURL:
        parsed = None
    if (
        parsed is None
        or not parsed.host
        or parsed.scheme not in ("http", "https")
        or (parsed.port or 0) > LAST_PORT
    ):
        raise InputError(tr("{shown} is not the address of a web page or file.", shown=shown))
    if parsed.userinfo:
        raise InputError(
            tr(
                "The address of {host} has a name or password in it, so it is not fetched.",
                host=parsed.host,
            ),
            hint=tr("Save the file yourself and give it."),
        )
    if parsed.scheme == "http":
        # Anyone on the way can read and change plain http.
        parsed = parsed.copy_with(scheme="https", port=None)
    return parsed.copy_with(fragment=None)


def _name(url: httpx.URL, content_type: str) -> str:
    """Return a file name for a URL: its last part, with a suffix that fits the content."""
    last = PurePosixPath(unquote(url.path)).name
    # No spaces: the name is part of the request line.
    kept = "".join(char if char.isalnum() or char in ".+-_" else "_" for char in last)
    whole = PurePosixPath(kept.strip("._") or url.host)
    stem, suffix = whole.stem, whole.suffix
    if suffix.lower() not in KINDS:
        kind = content_type.partition(";")[0].strip().lower()
        stem, suffix = stem + suffix, mimetypes.guess_extension(kind) or ""
    return stem[: MAX_NAME_CHARS - len(suffix)] + suffix


def _reason(error: Exception) -> str:
    if isinstance(error.__context__, ssl.SSLError) or "certificate" in str(error).lower():
        return "its certificate is not right"
    return "the connection broke off"
