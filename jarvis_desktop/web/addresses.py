"""Which addresses may be reached for a URL: public ones only, whatever form they are written in.

A name is looked up once, every address it has is checked, and the connection goes to the address
that was checked: a name server that answers differently the second time gains nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Sequence

from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.wording import tr

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.ip_network("64:ff9b::/32")
_COMPATIBLE = ipaddress.ip_network("::/96")
_SITE_LOCAL = ipaddress.ip_network("fec0::/10")
_DOCUMENTATION = ipaddress.ip_network("3fff::/20")


async def look_up(host: str) -> Sequence[str]:
    """The addresses of a host, by the system's resolver. Raises UnavailableError."""
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
    """The first of the addresses of a host. Raises InputError unless all of them are public."""
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
    """Whether an address is of the public network, also where it wraps an older one."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(each.is_global and not _special(each) for each in (found, *_wrapped(found)))


def _special(address: Address) -> bool:
    """What `is_global` lets through in one Python or another and is nobody's web server."""
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
