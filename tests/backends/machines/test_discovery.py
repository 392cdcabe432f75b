"""Computers are announced and found by multicast DNS, over loopback."""

from __future__ import annotations

import random
import socket
import struct
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from ipaddress import IPv4Interface
from pathlib import Path
from uuid import uuid4

import pytest
from zeroconf import IPVersion
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from jarvis_desktop.backends.machines import discovery
from jarvis_desktop.backends.machines.discovery import FoundMachine, announced, search
from jarvis_desktop.backends.machines.machines import Machine
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.policy import Mode, Policy
from tests.machines import Desk, keyring_in_memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have one 127.0.0.1")
HERE, BOX = IPv4Interface("127.0.0.1/8"), IPv4Interface("127.0.0.2/8")


@pytest.fixture(autouse=True)
def service(monkeypatch: pytest.MonkeyPatch) -> str:
    """A kind of service of its own: all tests share the network of loopback."""
    name = f"_t{uuid4().hex[:12]}._tcp.local."
    monkeypatch.setattr(discovery, "SERVICE", name)
    monkeypatch.setattr(discovery, "own_networks", lambda: [HERE])
    return name


@asynccontextmanager
async def box(monkeypatch: pytest.MonkeyPatch, name: str, port: int = 8766) -> AsyncIterator[None]:
    with monkeypatch.context() as there:
        there.setattr(discovery, "own_networks", lambda: [BOX])
        announcing = announced(name, "0.0.0.0", port)
        assert await announcing.__aenter__()
    yield
    await announcing.__aexit__(None, None, None)


@asynccontextmanager
async def answering(*services: AsyncServiceInfo) -> AsyncIterator[None]:
    dns = AsyncZeroconf(interfaces=[str(BOX.ip)], ip_version=IPVersion.V4Only)
    for each in services:
        dns.zeroconf.registry.async_add(each)  # as it is, and at once
    yield
    await dns.async_close()


async def test_what_is_announced_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async with box(monkeypatch, "Büro.<b>1</b>"), box(monkeypatch, "desk", 9000):
        found = await search(60, enough=2)
    assert found == (
        FoundMachine("Büro-b-1-b", "127.0.0.2", 8766),
        FoundMachine("desk", "127.0.0.2", 9000),
    )
    assert found[1].address == "127.0.0.2:9000"


async def test_two_computers_of_one_name_are_two(monkeypatch: pytest.MonkeyPatch) -> None:
    async with box(monkeypatch, "desk"), box(monkeypatch, "desk", 9000):
        assert {each.port for each in await search(60, enough=2)} == {8766, 9000}


async def test_odd_answers_are_cleaned_or_left(service: str) -> None:
    def odd(name: str, *hosts: str, port: int = 1) -> AsyncServiceInfo:
        server = f"{uuid4().hex}.local."
        return AsyncServiceInfo(
            service, f"{name}.{service}", port, server=server, parsed_addresses=list(hosts)
        )

    left = [
        odd("here", "127.0.0.1"),
        odd("nowhere", "0.0.0.0"),
        odd("everywhere", "224.0.0.1"),
        odd("far", "9.9.9.9", port=5),
        odd("farther", "8.8.8.8", port=6),
        odd("no port", "127.0.0.3", port=0),
        odd("six", "fe80::1"),
    ]
    kept = [
        odd("<b>a</b>\u202eb\u200f" + 9 * "c", "10.1.2.3", "127.0.0.3", port=7),
        odd("\U0001f5a5" * 15, "8.8.8.8", "192.168.7.9", port=8),
    ]
    async with answering(*left, *kept):
        found = await search(60, enough=2)
    assert {each.address for each in found} == {"127.0.0.3:7", "192.168.7.9:8"}
    assert all(each.name.isprintable() and len(each.name) <= 40 for each in found)


async def test_a_flood_of_answers_is_cut(service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MAX_NAMES", 5)
    many = [
        AsyncServiceInfo(
            service, f"x{port}.{service}", port, server="x.local.", parsed_addresses=["127.0.0.3"]
        )
        for port in range(1, 200)
    ]
    async with answering(*many):
        assert len(await search(60, enough=5)) == 5


def packet(*records: bytes, count: int | None = None) -> bytes:
    return struct.pack("!6H", 0, 0x8400, 0, len(records) if count is None else count, 0, 0) + (
        b"".join(records)
    )


def labels(*parts: bytes) -> bytes:
    return b"".join(bytes([len(each)]) + each for each in parts) + b"\0"


def pointer(service: str, target: bytes, length: int | None = None) -> bytes:
    name = labels(*service.rstrip(".").encode().split(b"."))
    head = struct.pack("!HHIH", 12, 1, 120, len(target) if length is None else length)
    return name + head + target


async def test_bytes_that_are_no_answer_are_left(
    service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = service.rstrip(".").encode().split(b".")
    names = [b"\x1b[2J\x00", b"<b>x</b>", 63 * b"\xff", b"a.b", b"\xe2\x80\xae", b"\n"]
    many = [pointer(service, labels(f"x{each}".encode(), *own)) for each in range(300)]
    sent = [
        *(packet(pointer(service, labels(name, *own))) for name in names),
        *(packet(*many[at : at + 50]) for at in range(0, len(many), 50)),
        packet(pointer(service, b"\xc0\x0c")),
        packet(pointer(service, labels(*own))),
        packet(pointer(service, labels(b"other", b"_other", b"_tcp", b"local"))),
        packet(pointer(service, labels(b"x", *own), length=9000)),
        packet(pointer(service, labels(b"x", *own)), count=65535),
        packet(pointer(service, labels(b"x", *own)))[:-9],
        random.Random(7).randbytes(8000),
        b"",
    ]
    multicast = discovery._multicast

    @asynccontextmanager
    async def among_strangers(networks: Sequence[IPv4Interface]) -> AsyncIterator[AsyncZeroconf]:
        async with multicast(networks) as dns:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
                stranger.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, BOX.ip.packed)
                for each in sent:
                    stranger.sendto(each, ("224.0.0.251", 5353))
            yield dns

    monkeypatch.setattr(discovery, "MAX_NAMES", 10_000)
    async with box(monkeypatch, "desk"):
        monkeypatch.setattr(discovery, "_multicast", among_strangers)
        assert [each.name for each in await search(60, enough=1)] == ["desk"]


async def test_without_a_network_or_offline_nothing_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "own_networks", list)
    with pytest.raises(UnavailableError, match="in no network"):
        await search()
    async with announced("desk", "0.0.0.0", 1) as done:
        assert not done
    desk = Desk(tmp_path, {}, Policy(Mode.OFFLINE))
    monkeypatch.setattr(discovery, "search", None)
    with pytest.raises(UnavailableError, match="sends nothing"):
        await desk.backend.search()


async def test_only_where_it_listens_it_is_announced() -> None:
    async with announced("desk", "192.0.2.7", 1) as done:
        assert not done
    async with announced("desk", "127.0.0.1", 1) as done:
        assert done


async def test_what_is_paired_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(tmp_path, {})
    with keyring_in_memory(monkeypatch):
        desk.backend.machines.add(Machine("box", "192.0.2.7", 8766, ""), "token")

    async def found() -> tuple[FoundMachine, ...]:
        return (FoundMachine("a", "192.0.2.7", 8766), FoundMachine("b", "192.0.2.7", 8767))

    monkeypatch.setattr(discovery, "search", found)
    assert [each.paired for each in await desk.backend.search()] == ["box", ""]


def test_own_networks_are_those_of_others_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert all(not each.is_loopback for each in discovery.own_networks())
