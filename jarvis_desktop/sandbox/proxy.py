"""The only way out of the sandbox: connects to the hosts that the user approved, exactly.

The script passes its end of each connection as an open socket (see inside/sockets.py), with a host
and a port. Names are looked up here, and their addresses must be public.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import json
import os
import socket
import stat
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.sandbox.inside.sockets import MAX_NAME_CHARS, REQUEST

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


USUAL_PORTS = (80, 443)  # the ports of a host named without one: the Web's
LAST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class Host:
    """A normalised name or address, and a port."""

    name: str
    port: int

    def __str__(self) -> str:
        return f"[{self.name}]:{self.port}" if ":" in self.name else f"{self.name}:{self.port}"

    @property
    def is_address(self) -> bool:
        """Whether approving it means approving an address, or this computer by name, so that nobody
        can redirect it."""
        return self.name == "localhost" or _address(self.name) is not None


def parse_hosts(hosts: Collection[str]) -> frozenset[Host]:
    """Parse HOST and HOST:PORT; unreadable ones allow nothing."""
    found: set[Host] = set()
    for text in hosts:
        name, port = _parts(text.strip())
        with suppress(ValueError):
            plain = normalise_host(name)
            found |= {Host(plain, each) for each in ((port,) if port else USUAL_PORTS)}
    return frozenset(found)


def normalise_host(name: str) -> str:
    """Normalise a name or an address for comparison. Raises ValueError."""
    bare = name.strip("[]").rstrip(".").lower()
    found = _address(bare)
    if found is not None:
        return str(found)
    # The codec refuses long and empty labels; ASCII passes unchanged.
    plain = bare.encode("idna").decode("ascii").lower()
    if not plain or not all(sign.isalnum() or sign in "-._" for sign in plain):
        raise ValueError("not the name of a host")
    return plain


def _parts(text: str) -> tuple[str, int]:
    """The name and the port, 0 if none is given; ("", 0) if it is neither."""
    if _address(text.strip("[]")) is not None:
        return text, 0
    name, colon, port = text.rpartition(":")
    if not colon:
        return text, 0
    if port.isascii() and port.isdigit() and 0 < int(port) <= LAST_PORT:
        return name, int(port)
    return "", 0


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


MIB = 1 << 20
BLOCK = 1 << 16
MSG_DONTWAIT = getattr(socket, "MSG_DONTWAIT", 0)

MAX_REFUSED = 20  # hosts reported per run
MAX_LOOKUPS = 2  # simultaneous name lookups

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""Returns the addresses of a host. Raises JarvisError."""
CheckAddress = Callable[[str, Sequence[str]], str]
"""Returns the address of a host to connect to. Raises JarvisError if any is not public."""


@dataclass(frozen=True, slots=True)
class TrafficLimits:
    """Limits of a session's connections."""

    bytes: int = 256 * MIB  # in both directions together
    connections: int = 32  # at a time
    connecting: float = 15.0  # seconds
    silence: float = 60.0
    """Seconds without a byte in either direction, after which a connection is closed."""


class ConnectionRefused(Exception):
    """Reported to the script, with the number of an OSError; -1 for an unknown name."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number = number


class _ScriptSocket(socket.socket):
    """A script's end of a connection. The script also has it and could make it blocking, so each
    call asks not to block."""

    def recv(self, size: int, flags: int = 0) -> bytes:
        return super().recv(size, flags | MSG_DONTWAIT)

    def send(self, data: ReadableBuffer, flags: int = 0) -> int:
        return super().send(data, flags | MSG_DONTWAIT)

    def sendmsg(self, buffers: Iterable[ReadableBuffer], *rest: object) -> int:
        return super().sendmsg(buffers, [], MSG_DONTWAIT)


class Proxy:
    """The connections of one session."""

    def __init__(
        self,
        hosts: Collection[str],
        *,
        find: Resolve,
        check: CheckAddress,
        network: Callable[[], bool] = lambda: True,
        traffic: TrafficLimits = TrafficLimits(),
    ) -> None:
        """While `network` returns False, nothing can be reached, and open connections end."""
        self._allowed = parse_hosts(hosts)
        self._network = network
        self._find = find
        self._check = check
        self._traffic = traffic
        self._left = traffic.bytes
        self._refused: dict[str, None] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._socket: socket.socket | None = None
        self._waiting = b""
        self._far: list[int] = []
        # The system's resolver occupies a thread for each, for as long as it likes.
        self._looking_up = asyncio.Semaphore(MAX_LOOKUPS)

    def serve(self, requests: socket.socket) -> None:
        """Take requests from this socket from now on; the proxy closes it."""
        requests.setblocking(False)
        self._socket = requests
        asyncio.get_running_loop().add_reader(requests, self._take)

    def refused(self) -> tuple[str, ...]:
        """The hosts, as HOST:PORT, refused since the last call."""
        found, self._refused = tuple(self._refused), {}
        return found

    async def close(self) -> None:
        """End all connections."""
        self._stop()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _stop(self) -> None:
        requests, self._socket = self._socket, None
        if requests:
            asyncio.get_running_loop().remove_reader(requests)
            requests.close()
        self._drop()

    def _drop(self) -> None:
        far, self._far, self._waiting = self._far, [], b""
        for descriptor in far:
            os.close(descriptor)

    def _take(self) -> None:
        """Read what has arrived of a request. A script that sends anything else is not served any
        more."""
        if self._socket is None:
            return
        close = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
        try:
            data, far, _, _ = socket.recv_fds(self._socket, REQUEST - len(self._waiting), 1, close)
        except BlockingIOError:
            return
        except OSError:
            data, far = b"", []
        self._far += far
        self._waiting += data
        if not data or len(self._far) > 1:
            self._stop()
        elif len(self._waiting) == REQUEST:
            self._begin()

    def _begin(self) -> None:
        words, far = self._waiting, self._far
        self._waiting, self._far = b"", []
        if not far:
            return
        if len(self._tasks) >= 2 * self._traffic.connections:
            os.close(far[0])  # without an answer: a script that asks this often ignores it
            return
        inside = _stream(far[0])
        if inside is None:
            return
        task = asyncio.get_running_loop().create_task(self._serve(words, inside))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, words: bytes, inside: socket.socket) -> None:
        script = outside = None
        try:
            script = await asyncio.open_unix_connection(sock=inside)
            try:
                outside = await self._connect(words)
            except ConnectionRefused as refused:
                told = {"errno": refused.number, "message": str(refused)}
                script[1].write(b"\1" + json.dumps(told).encode())
                await self._flush(script[1])
                return
            script[1].write(b"\0")
            await self._pump(script, outside)
            for _, writer in (script, outside):
                await self._flush(writer)
        except (OSError, TimeoutError):
            pass  # an end has gone, or does not read
        finally:
            for pair in (script, outside):
                if pair:
                    pair[1].transport.abort()
            if not script:
                inside.close()

    async def _connect(self, words: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host = _requested_host(words)
        if host not in self._allowed or not self._network():
            raise self._refusal(host)
        if len(self._tasks) > self._traffic.connections:
            raise ConnectionRefused(errno.EMFILE, "The script has too many connections open.")
        if self._left <= 0:
            moved = f"more than {self._traffic.bytes // MIB} MiB over the network"
            raise ConnectionRefused(errno.EDQUOT, f"The script has moved {moved}.")
        address = host.name
        try:
            async with asyncio.timeout(self._traffic.connecting):
                if not host.is_address:
                    # Connect to the address that was checked.
                    async with self._looking_up:
                        found = await self._find(host.name)
                    address = self._check(host.name, found)
                return await asyncio.open_connection(address, host.port)
        except JarvisError as error:
            raise ConnectionRefused(-1, error.message) from error
        except TimeoutError as error:
            raise ConnectionRefused(errno.ETIMEDOUT, f"{host} did not answer.") from error
        except OSError as error:
            number = error.errno or errno.ECONNREFUSED
            reason = os.strerror(number) if number > 0 else "it was not found"
            raise ConnectionRefused(number, f"{host} was not reached: {reason}.") from error

    def _refusal(self, host: Host) -> ConnectionRefused:
        if len(self._refused) < MAX_REFUSED:
            self._refused[one_line(str(host), limit=MAX_NAME_CHARS + 8)] = None
        if not self._network():
            return ConnectionRefused(errno.EACCES, f"{host} was not reached: there is no network.")
        return ConnectionRefused(
            errno.EACCES, f"{host} is not among the hosts that this script may reach."
        )

    async def _pump(
        self,
        script: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        outside: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Forward in both directions, until both have ended, or time or bytes run out."""
        async with asyncio.timeout(self._traffic.silence) as limit, asyncio.TaskGroup() as both:
            both.create_task(self._pass_on(script[0], outside[1], limit))
            both.create_task(self._pass_on(outside[0], script[1], limit))

    async def _flush(self, writer: asyncio.StreamWriter) -> None:
        writer.close()
        await asyncio.wait_for(writer.wait_closed(), self._traffic.connecting)

    async def _pass_on(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, limit: asyncio.Timeout
    ) -> None:
        loop = asyncio.get_running_loop()
        with suppress(OSError):
            while data := await source.read(BLOCK):
                if limit.expired():  # the other direction used up the rest
                    return
                self._left -= len(data)
                if self._left <= 0 or not self._network():
                    limit.reschedule(loop.time())
                    return
                limit.reschedule(loop.time() + self._traffic.silence)
                target.write(data)
                await target.drain()
        with suppress(OSError):
            target.write_eof()


def _requested_host(words: bytes) -> Host:
    """The host of a request. Raises ConnectionRefused for anything else."""
    try:
        request = json.loads(words)
        name, port = request["host"], request["port"]
        if isinstance(port, int) and 0 < port <= LAST_PORT and len(name) <= MAX_NAME_CHARS:
            return Host(normalise_host(name), port)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    raise ConnectionRefused(-1, "That is not the name of a host and a port.")


def _stream(descriptor: int) -> socket.socket | None:
    """The connected stream socket that was passed; anything else is closed, and None returned."""
    os.set_inheritable(descriptor, False)
    try:
        if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            found = _ScriptSocket(fileno=descriptor)
            if found.family == socket.AF_UNIX and found.type == socket.SOCK_STREAM:
                found.setblocking(False)
                return found
            found.detach()
    except OSError:
        pass
    os.close(descriptor)
    return None
