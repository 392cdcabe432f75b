"""Which hosts a script may reach: those that a person was shown and agreed to, exactly."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass

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
