"""Finds computers of the local network that serve experts, and announces this one, by mDNS.

Whoever is in the network can answer, with any name and address. So what is found is only shown:
nothing is sent to it until the user pairs, which proves who it is. An announcement has the name of
the computer, its addresses and the port.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import Fault, UnavailableError
from jarvis_desktop.core.i18n import tr

if TYPE_CHECKING:
    from zeroconf.asyncio import AsyncZeroconf

log = logging.getLogger(__name__)

SERVICE = "_jarvis-desktop._tcp.local."
SEARCH_S = 3.0
"""Seconds in which computers answer; most do in a tenth of one."""
FIRST_PAUSE_S, PAUSE_S = 0.3, 1.0
"""Seconds after the first and each other question; packets of multicast are lost now and then."""
QUERY, POINTERS, INTERNET = 0, 12, 1
"""Numbers of DNS: a question, for names of services, of the internet."""
MAX_NAMES = 100
"""Names that are looked up; somebody may answer with thousands."""
MAX_FOUND = 30
MAX_LABEL = 56
"""Bytes of an announced name: DNS takes 63, of which a number may need some."""


@dataclass(frozen=True, slots=True)
class FoundMachine:
    """A computer that says that it serves experts."""

    name: str
    host: str
    port: int
    paired: str = ""
    """What it is called here if it is paired, going by its address."""

    @property
    def address(self) -> str:
        """What the user would type to pair with it."""
        return f"{self.host}:{self.port}"


def own_networks() -> list[IPv4Interface]:
    """Return the addresses of this computer that others can reach, with their networks."""
    import ifaddr

    return [
        found
        for adapter in ifaddr.get_adapters()
        for each in adapter.ips
        if isinstance(each.ip, str)
        and not (found := IPv4Interface(f"{each.ip}/{each.network_prefix}")).is_loopback
    ]


async def search(seconds: float = SEARCH_S, enough: int = MAX_FOUND) -> tuple[FoundMachine, ...]:
    """Ask the local network for computers that serve experts. Ends after some seconds, or as soon
    as there are enough. Raises UnavailableError."""
    from zeroconf import (  # type: ignore[attr-defined]
        DNSOutgoing,
        DNSPointer,
        DNSQuestion,
        RecordUpdateListener,
    )

    networks = await asyncio.to_thread(own_networks)
    found: dict[str, FoundMachine] = {}
    looking: dict[str, asyncio.Task[None]] = {}
    done = asyncio.Event()

    async def look_up(dns: AsyncZeroconf, name: str) -> None:
        machine = await _looked_up(dns, name, networks, seconds)
        if machine and len(found) < enough:
            found.setdefault(machine.address, machine)
        if len(found) >= enough:
            done.set()

    async with _multicast(networks) as dns:
        # The library's own browser repeats odd names in its questions, and fails at some.
        class Names(RecordUpdateListener):
            def async_update_records(self, zc: object, now: float, records: Any) -> None:
                for record in (each.new for each in records):
                    if isinstance(record, DNSPointer) and record.name.lower() == SERVICE:
                        name = record.alias
                        if name not in looking and len(looking) < MAX_NAMES:
                            looking[name] = asyncio.create_task(look_up(dns, name))

        await dns.zeroconf.async_wait_for_start()
        dns.zeroconf.async_add_listener(Names(), None)
        question = DNSOutgoing(QUERY)
        question.add_question(DNSQuestion(SERVICE, POINTERS, INTERNET))
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    for pause in chain([FIRST_PAUSE_S], repeat(PAUSE_S)):
                        dns.zeroconf.async_send(question)
                        with suppress(TimeoutError):
                            await asyncio.wait_for(done.wait(), pause)
                            break
        finally:
            for task in looking.values():
                task.cancel()
            await asyncio.gather(*looking.values(), return_exceptions=True)
    return tuple(sorted(found.values(), key=lambda each: (each.name.casefold(), each.address)))


@asynccontextmanager
async def announced(name: str, host: str, port: int) -> AsyncIterator[bool]:
    """Announce that this computer serves experts where it listens, while the context lasts. Yield
    whether that was possible."""
    from zeroconf import Error
    from zeroconf.asyncio import AsyncServiceInfo

    bound = ipaddress.ip_address(host)
    networks = [
        each
        for each in await asyncio.to_thread(own_networks)
        if bound.is_unspecified or bound == each.ip
    ]
    plain = re.sub(r"[^\w-]+", "-", name).strip("-").encode()[:MAX_LABEL]
    label = plain.decode("utf-8", "ignore") or "computer"
    service = AsyncServiceInfo(
        SERVICE,
        f"{label}.{SERVICE}",
        port=port,
        server=f"jarvis-{secrets.token_hex(4)}.local.",
        addresses=[each.ip.packed for each in networks],
    )
    async with AsyncExitStack() as stack:
        try:
            dns = await stack.enter_async_context(_multicast(networks))
            await dns.async_register_service(service, allow_name_change=True)
        except (Error, UnavailableError) as error:
            log.info("The experts are not announced in the network: %s", error)
            yield False
        else:
            yield True


@asynccontextmanager
async def _multicast(networks: Sequence[IPv4Interface]) -> AsyncIterator[AsyncZeroconf]:
    """Speak multicast DNS in some networks. Raises UnavailableError."""
    from zeroconf import IPVersion
    from zeroconf.asyncio import AsyncZeroconf

    try:
        if not networks:
            raise OSError
        dns = AsyncZeroconf(
            interfaces=[str(each.ip) for each in networks], ip_version=IPVersion.V4Only
        )
    except (OSError, RuntimeError) as error:
        raise UnavailableError(
            tr("This computer is in no network in which others could be found."),
            hint=tr("Type the address that the other computer shows."),
            fault=Fault.NETWORK,
        ) from error
    try:
        yield dns
    finally:
        await dns.async_close()


async def _looked_up(
    dns: AsyncZeroconf, name: str, networks: Sequence[IPv4Interface], seconds: float
) -> FoundMachine | None:
    """The computer behind a name, if it is another one in this network."""
    from zeroconf import Error, IPVersion
    from zeroconf.asyncio import AsyncServiceInfo

    try:
        service = AsyncServiceInfo(SERVICE, name)
        if not await service.async_request(dns.zeroconf, 1000 * seconds):
            return None
        hosts = service.ip_addresses_by_version(IPVersion.V4Only)
    except (Error, ValueError):
        return None
    host = _nearest([IPv4Address(int(each)) for each in hosts], networks)
    if host is None or not service.port:
        return None
    shown = one_line(name[: -len(SERVICE) - 1], limit=40) or str(host)
    return FoundMachine(shown, str(host), service.port)


def _nearest(hosts: Sequence[IPv4Address], networks: Sequence[IPv4Interface]) -> IPv4Address | None:
    """The address by which this computer reaches another one; None if all are its own, or
    elsewhere."""
    others = [
        each
        for each in hosts
        if not any(each == own.ip for own in networks)
        and not (each.is_multicast or each.is_unspecified)
    ]
    for host in others:
        if any(host in own.network for own in networks):
            return host
    near = (
        each for each in others if each.is_private and not (each.is_loopback or each.is_link_local)
    )
    return next(near, None)
