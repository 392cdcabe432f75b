"""The only way out of the sandbox: connects what a script asks for, where that was agreed to.

The script's end of each connection is handed over by it as an open socket (see inside/sockets.py).
It names a host and a port; names are looked up here, and what the name stands for must be public.

Which hosts a script may reach: those that a person was shown and agreed to, exactly."""

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
from jarvis_desktop.sandbox.inside.sockets import LONGEST_NAME, REQUEST

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


USUAL_PORTS = (80, 443)
"""The ports of a host that is named without one: the Web's."""

LAST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class Host:
    """A name or an address, as it is compared, and a port."""

    name: str
    port: int

    def __str__(self) -> str:
        return f"[{self.name}]:{self.port}" if ":" in self.name else f"{self.name}:{self.port}"

    @property
    def is_address(self) -> bool:
        """Whether a person who agreed to it agreed to an address, or to this computer by name,
        so that nothing is left which another could point elsewhere."""
        return self.name == "localhost" or _address(self.name) is not None


def allowed(hosts: Collection[str]) -> frozenset[Host]:
    """The hosts that HOST and HOST:PORT stand for; what cannot be read allows nothing."""
    found: set[Host] = set()
    for text in hosts:
        name, port = _parts(text.strip())
        with suppress(ValueError):
            plain = normal(name)
            found |= {Host(plain, each) for each in ((port,) if port else USUAL_PORTS)}
    return frozenset(found)


def normal(name: str) -> str:
    """A name or an address in the one form that it is compared in. Raises ValueError."""
    bare = name.strip("[]").rstrip(".").lower()
    found = _address(bare)
    if found is not None:
        return str(found)
    # The codec refuses what is too long and what is empty; ASCII passes as it is.
    plain = bare.encode("idna").decode("ascii").lower()
    if not plain or not all(sign.isalnum() or sign in "-._" for sign in plain):
        raise ValueError("not the name of a host")
    return plain


def _parts(text: str) -> tuple[str, int]:
    """The name and the port, 0 where none is named; ("", 0) for what is neither."""
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

MOST_REFUSED = 20
"""Hosts that are told of one run."""

LOOK_UPS = 2
"""Names that are looked up at a time."""

Find = Callable[[str], Awaitable[Sequence[str]]]
"""The addresses of a host. Raises JarvisError."""
Check = Callable[[str, Sequence[str]], str]
"""The address of a host to connect to. Raises JarvisError where one of them is not public."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What the connections of a session may cost."""

    bytes: int = 256 * MIB
    """In both directions together."""
    connections: int = 32
    """At a time."""
    connecting: float = 15.0
    """Seconds."""
    silence: float = 60.0
    """Seconds without a byte in either direction, after which a connection is closed."""


class ConnectionRefused(Exception):
    """What the script is told, with the number of an OSError; -1 for a name that is unknown."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number = number


class _Ours(socket.socket):
    """A script's end of a connection. The script holds it, too, and could make it one that blocks:
    each call says for itself that it does not."""

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
        find: Find,
        check: Check,
        network: Callable[[], bool] = lambda: True,
        traffic: Traffic = Traffic(),
    ) -> None:
        """As long as `network` says no, nothing is reached, whatever `hosts` says, and what goes on
        ends."""
        self._allowed = allowed(hosts)
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
        # The system's resolver takes a thread for each, and gives it back when it likes.
        self._looking_up = asyncio.Semaphore(LOOK_UPS)

    def serve(self, requests: socket.socket) -> None:
        """Take requests from this socket from now on; it is closed with the proxy."""
        requests.setblocking(False)
        self._socket = requests
        asyncio.get_running_loop().add_reader(requests, self._take)

    def refused(self) -> tuple[str, ...]:
        """The hosts, as HOST:PORT, that were refused since this was last asked."""
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
        """Read what there is of a request. Whoever sends something else is not served any more."""
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
            os.close(far[0])  # not even told: whoever asks that often does not listen
            return
        inside = _stream(far[0])
        if inside is None:
            return
        task = asyncio.get_running_loop().create_task(self._serve(words, inside))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, words: bytes, inside: socket.socket) -> None:
        """One connection, from the request to its end."""
        script = outside = None
        try:
            script = await _opened(inside)
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
            pass  # an end has gone, or it takes nothing
        finally:
            for pair in (script, outside):
                if pair:
                    pair[1].transport.abort()
            if not script:
                inside.close()

    async def _connect(self, words: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host = _wanted(words)
        if host not in self._allowed or not self._network():
            raise self._refusal(host)
        if len(self._tasks) > self._traffic.connections:
            raise ConnectionRefused(errno.EMFILE, "The script has too many connections open.")
        if self._left <= 0:
            raise ConnectionRefused(errno.EDQUOT, self._used_up)
        address = host.name
        try:
            async with asyncio.timeout(self._traffic.connecting):
                if not host.is_address:
                    # The address that was checked is the one that is connected to.
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
        if len(self._refused) < MOST_REFUSED:
            self._refused[one_line(str(host), limit=LONGEST_NAME + 8)] = None
        if not self._network():
            return ConnectionRefused(errno.EACCES, f"{host} was not reached: there is no network.")
        return ConnectionRefused(
            errno.EACCES, f"{host} is not among the hosts that this script may reach."
        )

    @property
    def _used_up(self) -> str:
        return f"The script has moved more than {self._traffic.bytes // MIB} MiB over the network."

    async def _pump(
        self,
        script: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        outside: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Pass on in both directions, until both have ended, or the time or the bytes are over."""
        async with asyncio.timeout(self._traffic.silence) as limit, asyncio.TaskGroup() as both:
            both.create_task(self._pass_on(script[0], outside[1], limit))
            both.create_task(self._pass_on(outside[0], script[1], limit))

    async def _flush(self, writer: asyncio.StreamWriter) -> None:
        """Close, once what was written has gone."""
        writer.close()
        await asyncio.wait_for(writer.wait_closed(), self._traffic.connecting)

    async def _pass_on(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, limit: asyncio.Timeout
    ) -> None:
        loop = asyncio.get_running_loop()
        with suppress(OSError):
            while data := await source.read(BLOCK):
                if limit.expired():  # the other direction has used up what was left
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


def _wanted(words: bytes) -> Host:
    """The host of a request. Raises RefusedError for what is none."""
    try:
        request = json.loads(words)
        name, port = request["host"], request["port"]
        if isinstance(port, int) and 0 < port <= LAST_PORT and len(name) <= LONGEST_NAME:
            return Host(normal(name), port)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    raise ConnectionRefused(-1, "That is not the name of a host and a port.")


def _stream(descriptor: int) -> socket.socket | None:
    """The connected stream socket that was handed over; None, and it is closed, for all else."""
    os.set_inheritable(descriptor, False)
    try:
        if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            found = _Ours(fileno=descriptor)
            if found.family == socket.AF_UNIX and found.type == socket.SOCK_STREAM:
                found.setblocking(False)
                return found
            found.detach()
    except OSError:
        pass
    os.close(descriptor)
    return None


async def _opened(inside: socket.socket) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_unix_connection(sock=inside)
