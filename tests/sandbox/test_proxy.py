"""The only way out: what reaches a host that was agreed to, and how all else is refused."""

from __future__ import annotations

import array
import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from jarvis_desktop.sandbox.inside.sockets import REQUEST
from jarvis_desktop.sandbox.proxy import Host, Proxy, TrafficLimits, normalise_host, parse_hosts
from jarvis_desktop.storage.web_fetch import checked
from tests.sandbox.web import anywhere, here, proxy, served


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with served() as found:
        yield found


async def test_what_a_name_stands_for_must_be_public_unless_it_was_named(port: int) -> None:
    """A name that leads to this computer is refused; the address itself may be agreed to."""
    way = Proxy((f"prices.example:{port}", f"127.0.0.1:{port}"), find=here, check=checked)
    async with asked(way) as ask:
        refused = await ask("prices.example", port)
        assert b"not a place on the public network" in refused
        assert await ask("127.0.0.1", port) == b"\0"
        assert b"not among" in await ask("127.1", port)
        assert b"not among" in await ask("2130706433", port)
        assert b"not among" in await ask("::ffff:127.0.0.1", port)


async def test_a_network_that_goes_away_is_reached_no_more(port: int) -> None:
    online = True
    way = Proxy((f"127.0.0.1:{port}",), find=here, check=anywhere, network=lambda: online)
    async with asked(way) as ask:
        assert await ask("127.0.0.1", port) == b"\0"
        online = False
        ask.ends[-1].send(b"GET / HTTP/1.0\r\n\r\n")
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(60):
            assert await loop.sock_recv(ask.ends[-1], 100) == b""
        assert b"there is no network" in await ask("127.0.0.1", port)


class Ask:
    """Asks a proxy for a connection, as the sandbox does."""

    def __init__(self, way: socket.socket) -> None:
        self.way = way
        self.ends: list[socket.socket] = []

    async def __call__(self, host: object, port: object) -> bytes:
        """What the proxy answers at once: a byte 0, or all that it has to say."""
        near = self.send(json.dumps({"host": host, "port": port}).encode())
        loop = asyncio.get_running_loop()
        said = await loop.sock_recv(near, 1)
        while said[:1] == b"\1" and (more := await loop.sock_recv(near, 4096)):
            said += more
        return said

    def send(self, words: bytes, *others: int) -> socket.socket:
        near, far = socket.socketpair()
        near.setblocking(False)
        self.ends.append(near)
        with far:
            rights = array.array("i", [far.fileno(), *others])
            self.way.sendmsg(
                [words.ljust(REQUEST)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)]
            )
        return near


@asynccontextmanager
async def asked(way: Proxy) -> AsyncIterator[Ask]:
    ours, theirs = socket.socketpair()
    way.serve(ours)
    ask = Ask(theirs)
    try:
        yield ask
    finally:
        await way.close()
        for end in (theirs, *ask.ends):
            end.close()


async def ends(near: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    said = b""
    while more := await asyncio.get_running_loop().sock_recv(near, 1 << 16):
        said += more
    return said


@pytest.mark.parametrize(
    "words",
    [
        b"not JSON",
        b"[]",
        b'{"host": 5, "port": 80}',
        b'{"host": "x", "port": "80"}',
        b'{"host": "x", "port": 0}',
        b'{"host": "x", "port": 65536}',
        b'{"host": "", "port": 80}',
        b'{"host": "a b", "port": 80}',
        b'{"host": "a\\u0000b", "port": 80}',
        b'{"host": "x/../y", "port": 80}',
        b"[" * 500,
    ],
)
async def test_requests_that_are_none_are_refused(words: bytes) -> None:
    async with asked(proxy("x")) as ask:
        near = ask.send(words)
        assert b"not the name of a host" in await ends(near)


async def test_what_is_handed_over_in_place_of_a_socket_is_let_go(port: int) -> None:
    async with asked(proxy(f"127.0.0.1:{port}")) as ask:
        words = json.dumps({"host": "127.0.0.1", "port": port}).encode().ljust(REQUEST)
        source, target = os.pipe()
        one, other = socket.socketpair(type=socket.SOCK_DGRAM)
        with one, other, open(os.devnull) as nothing:
            for number in (target, nothing.fileno(), one.fileno()):
                rights = array.array("i", [number])
                ask.way.sendmsg([words], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            ask.way.sendmsg([words])
            assert await ask("127.0.0.1", port) == b"\0"
        os.close(target)
        # The copy that was handed over is closed, too: the pipe has ended.
        assert await asyncio.to_thread(os.read, source, 1) == b""
        os.close(source)


async def test_parts_of_requests_and_several_sockets_are_taken_apart(port: int) -> None:
    async with asked(proxy(f"127.0.0.1:{port}")) as ask:
        words = json.dumps({"host": "127.0.0.1", "port": port}).encode().ljust(REQUEST)
        near, far = socket.socketpair()
        near.setblocking(False)
        ask.ends.append(near)
        with far:
            rights = array.array("i", [far.fileno()])
            ask.way.sendmsg([words[:100]], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        ask.way.send(words[100:])
        assert await asyncio.get_running_loop().sock_recv(near, 1) == b"\0"
        # Of several, the first counts; the system has closed the others.
        one, other = socket.socketpair()
        with one, other:
            near = ask.send(words, one.fileno(), other.fileno())
            assert await asyncio.get_running_loop().sock_recv(near, 1) == b"\0"


async def test_whoever_hands_over_more_than_requests_need_is_not_served_any_more() -> None:
    async with asked(proxy("x")) as ask:
        one, other = socket.socketpair()
        with one, other:
            for _ in range(2):
                rights = array.array("i", [one.fileno()])
                ask.way.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        ask.way.setblocking(False)
        assert await asyncio.get_running_loop().sock_recv(ask.way, 1) == b""


async def test_bytes_connections_and_silence_are_held_to(port: int) -> None:
    place = f"127.0.0.1:{port}"
    request = b"GET / HTTP/1.0\r\nHost: x\r\n\r\n"
    loop = asyncio.get_running_loop()
    async with asked(proxy(place, traffic=TrafficLimits(bytes=100))) as ask:
        assert await ask("127.0.0.1", port) == b"\0"
        await loop.sock_sendall(ask.ends[0], request)
        assert b"30" not in await ends(ask.ends[0])
        assert b"more than" in await ask("127.0.0.1", port)
    async with asked(proxy(place, traffic=TrafficLimits(connections=1))) as ask:
        assert await ask("127.0.0.1", port) == b"\0"
        assert b"too many connections" in await ask("127.0.0.1", port)
    async with asked(proxy(place, traffic=TrafficLimits(silence=0.05))) as ask:
        assert await ask("127.0.0.1", port) == b"\0"
        assert await ends(ask.ends[0]) == b""


async def test_requests_in_masses_are_let_go() -> None:
    async with asked(proxy(traffic=TrafficLimits(connections=2))) as ask:
        near = [ask.send(b'{"host": "x", "port": 80}') for _ in range(12)]
        said = [await ends(each) for each in near]
        assert all(b"not among" in each for each in said[:4])
        assert b"" in said


async def test_a_name_that_takes_too_long_is_told() -> None:
    async def never(host: str) -> Sequence[str]:
        await asyncio.Event().wait()
        return ()

    way = Proxy(["x"], find=never, check=anywhere, traffic=TrafficLimits(connecting=0.05))
    async with asked(way) as ask:
        assert b"did not answer" in await ask("x", 80)


async def test_closing_ends_what_is_under_way(port: int) -> None:
    way = proxy(f"127.0.0.1:{port}")
    async with asked(way) as ask:
        assert await ask("127.0.0.1", port) == b"\0"
        await way.close()
        assert await ends(ask.ends[0]) == b""


async def test_at_most_so_many_refused_hosts_are_told() -> None:
    way = proxy()
    async with asked(way) as ask:
        for number in range(25):
            await ask(f"h{number}", 80)
    assert len(way.refused()) == 20
    assert way.refused() == ()


def test_hosts_are_compared_in_one_form() -> None:
    assert parse_hosts(["Example.ORG"]) == {Host("example.org", 80), Host("example.org", 443)}
    assert parse_hosts(["example.org.:8080"]) == {Host("example.org", 8080)}
    assert parse_hosts(["bücher.example:443"]) == {Host("xn--bcher-kva.example", 443)}
    assert parse_hosts(["[::1]:80", "::1"]) == {Host("::1", 80), Host("::1", 443)}
    assert parse_hosts(["127.0.0.1:8000"]) == {Host("127.0.0.1", 8000)}
    assert parse_hosts(["", ":80", "x:", "x:0", "x:99999", "x:y", "a..b", "*", "a/b:80"]) == set()
    assert str(Host("::1", 80)) == "[::1]:80"
    assert normalise_host("BÜCHER.example") == normalise_host("xn--bcher-kva.example")
    assert Host("localhost", 80).is_address
    assert not Host("example.org", 80).is_address


async def test_a_script_cannot_make_whoever_serves_it_wait(tmp_path: Path) -> None:
    """It holds its end of a connection as well, and lets calls on it block, again and again."""

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while True:
                writer.write(bytes(1 << 16))
                await writer.drain()

    server = await asyncio.start_server(pour, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with asked(proxy(f"127.0.0.1:{port}")) as ask:
        near, far = socket.socketpair()
        near.setblocking(False)
        ask.ends += [near, far]
        words = json.dumps({"host": "127.0.0.1", "port": port}).encode().ljust(REQUEST)
        ask.way.sendmsg(
            [words], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [far.fileno()]))]
        )
        loop = asyncio.get_running_loop()
        assert await loop.sock_recv(near, 1) == b"\0"
        # Were it to block, the test would not get past its time-out.
        for _ in range(200):
            os.set_blocking(far.fileno(), True)
            await asyncio.sleep(0)
    server.close()
    await server.wait_closed()
