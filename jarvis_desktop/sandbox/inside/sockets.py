"""Python sockets without a network: a script's connections go to a proxy outside.

A socket is one end of a pair. To connect it, the other end is passed to the proxy, with the name
and port; the proxy answers with a byte, 0 if connected, and forwards from then on. Names are not
looked up here: each gets an address that represents it.

A request is `REQUEST` bytes: JSON, padded with spaces. A refusal is a byte 1, then JSON: {"errno":
..., "message": ...}.

seccomp lets no network socket be made. A proxy on loopback would need a network inside, and every
other program could use it.
"""

from __future__ import annotations

import array
import errno
import json
from collections.abc import Sequence
from types import ModuleType
from typing import Any

REQUEST = 512  # bytes of a request, sent in one message, so that those of two threads never mix
MAX_NAME_CHARS = 253  # of a host's name (RFC 1035)

CONNECT_TIMEOUT_S = 30.0  # for a connection, unless the script has set a timeout
_SERVICES = {"http": 80, "https": 443}

Entry = tuple[Any, Any, int, str, tuple[Any, ...]]


class HostNames:
    """Addresses that represent names, from 198.18.0.0/15, which is reserved (RFC 2544)."""

    def __init__(self) -> None:
        self._addresses: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def address(self, name: str) -> str:
        """The address that represents a name, the same each time."""
        key = name.lower()
        if key not in self._addresses:
            number = len(self._addresses) + 1
            address = f"198.{18 + (number >> 16) % 2}.{number >> 8 & 255}.{number & 255}"
            self._addresses[key] = address
            self._names[address] = name
        return self._addresses[key]

    def name(self, host: str) -> str:
        """The name that an address represents; otherwise the host itself."""
        return self._names.get(host, host)


class Network:
    """The way out: a stream socket over which requests go to the proxy."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._names = HostNames()

    def adapt(self, module: ModuleType) -> None:
        """Replace sockets and name look-ups in the module `socket`."""
        lookup = _Lookup(module, self._names)
        module.socket = _socket_class(module, self, self._names)  # type: ignore[attr-defined]
        module.SocketType = module.socket  # type: ignore[attr-defined]
        module.getaddrinfo = lookup.entries  # type: ignore[attr-defined]
        module.gethostbyname = lookup.address  # type: ignore[attr-defined]
        module.gethostbyname_ex = lookup.addresses  # type: ignore[attr-defined]
        module.has_ipv6 = False  # type: ignore[attr-defined]

    def ask(self, module: ModuleType, host: str, port: int, far: Any) -> None:
        """Pass the far end of a pair to the proxy."""
        words = json.dumps({"host": host, "port": port}).encode()
        if len(host) > MAX_NAME_CHARS or len(words) > REQUEST:
            raise OSError(errno.EINVAL, "The name of the host is too long.")
        rights = (module.SOL_SOCKET, module.SCM_RIGHTS, array.array("i", [far.fileno()]))
        way = module.socket(module.AF_UNIX, module.SOCK_STREAM, 0, self._descriptor)
        try:
            way.sendmsg([words.ljust(REQUEST)], [rights])
        finally:
            way.detach()


def _socket_class(module: ModuleType, network: Network, names: HostNames) -> type:
    """Create the class that replaces socket.socket."""
    real: Any = module.socket
    internet = (module.AF_INET, module.AF_INET6)
    ignored = (module.IPPROTO_TCP, module.IPPROTO_IP, module.IPPROTO_IPV6)

    class socket(real):  # type: ignore[misc]
        """A socket whose other end goes to the proxy when it is connected."""

        def __init__(
            self, family: int = -1, type: int = -1, proto: int = -1, fileno: int | None = None
        ) -> None:
            self._far: Any = None
            self._peer: tuple[Any, ...] | None = None
            if fileno is not None or family not in (-1, *internet):
                super().__init__(family, type, proto, fileno)
                return
            if type != -1 and type & 0xF != module.SOCK_STREAM:  # flags are in the higher bits
                raise PermissionError(errno.EPERM, "A script may use TCP connections only.")
            near, self._far = module._socket.socketpair(module.AF_UNIX, module.SOCK_STREAM)
            chosen = module.AF_INET if family == -1 else family
            super().__init__(chosen, module.SOCK_STREAM, module.IPPROTO_TCP, near.detach())

        def connect(self, address: Any) -> None:
            """Connect through the proxy. Raises OSError as sockets do."""
            if self._far is None:
                if self._peer is not None:
                    raise OSError(errno.EISCONN, "The socket is connected already.")
                raise PermissionError(errno.EPERM, "A script may use TCP connections only.")
            host, port = _text(address[0]), int(address[1])
            far, self._far = self._far, None
            try:
                network.ask(module, names.name(host), port, far)
            finally:
                far.close()
            self._peer = (host, port)
            self._settle()

        def connect_ex(self, address: Any) -> int:
            try:
                self.connect(address)
            except OSError as error:
                return error.errno or errno.EIO
            return 0

        def _settle(self) -> None:
            patience = self.gettimeout()
            # Non-blocking sockets wait here as well, for as long as a connection takes.
            self.settimeout(patience or CONNECT_TIMEOUT_S)
            try:
                word = super().recv(1)
                if word == b"\0":
                    return
                raise _refusal(module, b"".join(iter(lambda: super(socket, self).recv(4096), b"")))
            finally:
                self.settimeout(patience)

        def close(self) -> None:
            far, self._far = getattr(self, "_far", None), None
            if far is not None:
                far.close()
            super().close()

        def bind(self, address: Any) -> None:
            if self.family not in internet:
                return super().bind(address)  # type: ignore[no-any-return]
            raise PermissionError(errno.EPERM, "A script cannot wait for connections.")

        def setsockopt(self, *args: Any) -> None:
            if args[0] not in ignored:
                super().setsockopt(*args)

        def getsockopt(self, *args: Any) -> Any:
            return 0 if args[0] in ignored else super().getsockopt(*args)

        def getpeername(self) -> Any:
            return self._peer or super().getpeername()

        def getsockname(self) -> Any:
            return ("127.0.0.1", 0) if self.family in internet else super().getsockname()

    socket.__module__, socket.__qualname__ = real.__module__, real.__qualname__
    return socket


class _Lookup:
    """The functions that look up names."""

    def __init__(self, module: ModuleType, names: HostNames) -> None:
        self._module: Any = module
        self._names = names

    def entries(
        self, host: Any, port: Any, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0
    ) -> Sequence[Entry]:
        """As socket.getaddrinfo."""
        of = self._module
        if type & 0xF not in (0, of.SOCK_STREAM):
            raise of.gaierror(of.EAI_SERVICE, "A script may use TCP connections only.")
        host, number = _text(host or "127.0.0.1"), self._port(port)
        kind, address = of.AF_INET, host
        if not self._is_number(of.AF_INET, host):
            if self._is_number(of.AF_INET6, host):
                kind = of.AF_INET6
            else:
                address = self._names.address(host)
        if family not in (0, kind):
            raise of.gaierror(of.EAI_NONAME, f"{host} has no address of that family here.")
        place = (address, number) if kind == of.AF_INET else (address, number, 0, 0)
        return [(kind, of.SOCK_STREAM, of.IPPROTO_TCP, "", place)]

    def address(self, host: Any) -> str:
        """As socket.gethostbyname."""
        return str(self.entries(host, 0)[0][4][0])

    def addresses(self, host: Any) -> tuple[str, list[str], list[str]]:
        """As socket.gethostbyname_ex."""
        return _text(host), [], [self.address(host)]

    def _port(self, port: Any) -> int:
        text = _text(port or 0)
        try:
            return _SERVICES[text] if text in _SERVICES else int(text)
        except ValueError:
            of = self._module
            raise of.gaierror(of.EAI_SERVICE, f"There is no service {text}.") from None

    def _is_number(self, family: int, host: str) -> bool:
        try:
            self._module.inet_pton(family, host.partition("%")[0])
        except (OSError, ValueError):
            return False
        return True


def _text(value: Any) -> str:
    if isinstance(value, bytes | bytearray):
        return value.decode("ascii", "replace")
    return str(value)


def _refusal(module: ModuleType, words: bytes) -> OSError:
    try:
        told = json.loads(words)
        number, message = int(told["errno"]), str(told["message"])
    except (ValueError, TypeError, KeyError):
        return ConnectionResetError(errno.ECONNRESET, "The connection was not made.")
    if number < 0:
        return module.gaierror(module.EAI_NONAME, message)  # type: ignore[no-any-return]
    return OSError(number, message)
