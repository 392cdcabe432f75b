"""Limits the network access of a process and its children: offline mode, isolation and proxy.

The offline switches of libraries are read at import and not honoured everywhere. So `refuse` blocks
every connection that Python code opens, and `cut_off` moves the process into an empty network
namespace, for native code too (unshare(2), Linux). The proxy is set in the environment, where
httpx, huggingface_hub and pip find it; connections to this computer bypass it.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
import sys
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

OFFLINE = "JARVIS_DESKTOP_OFFLINE"
"""The environment variable by which an offline process informs its children."""

QUIET = {
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
}
SWITCHES = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
}

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000

_refusing = False
_watched = False
_before: dict[str, str | None] = {}
"""The user's own switches, while ours are set."""


def apply_policy(*, offline: bool) -> None:
    """Set whether this process, and children started from now on, are offline.

    Telemetry is always off. Loaded libraries keep the switches that they found, so the application
    uses them in child processes, which restart when this changes.
    """
    global _refusing
    os.environ.update(QUIET)
    if offline:
        for name, value in {**SWITCHES, OFFLINE: "1"}.items():
            _before.setdefault(name, os.environ.get(name))
            os.environ[name] = value
        refuse()
        return
    for name, former in _before.items():
        if former is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = former
    _before.clear()
    _refusing = False


def apply_child_policy(*, network: bool, services: bool = False) -> None:
    """Set the same in a child process. Call before there is a second thread.

    `network` says whether it may reach other computers, `services` whether it needs services of
    this computer, which a separate network namespace would hide.
    """
    os.environ.update(QUIET)
    if not network:
        os.environ.update(SWITCHES)
        if not services:
            cut_off()
    if not network or os.environ.get(OFFLINE):
        refuse()


def refuse() -> None:
    """Block every connection of Python code in this process, except to this computer."""
    global _refusing, _watched
    _refusing = True
    if not _watched:  # hooks cannot be removed
        _watched = True
        sys.addaudithook(_check)


def cut_off() -> bool:
    """Leave the network for good. Return whether the system allowed it."""
    if sys.platform != "linux":
        return False
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0 and libc.unshare(CLONE_NEWNET) == 0:
        return True
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:  # not permitted, or there are threads
        return False
    # Without these the user would be "nobody", whom sound servers refuse.
    for name, line in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with suppress(OSError):
            Path("/proc/self", name).write_text(line)
    return True


def _check(event: str, args: tuple[object, ...]) -> None:
    """The audit hook; see https://docs.python.org/3/library/audit_events.html for its events."""
    if not _refusing:
        return
    match event, args:
        case (
            ("socket.connect" | "socket.sendto" | "socket.sendmsg"),
            # The sockets of C beneath Python's own are of this type, too.
            (socket.SocketType(family=socket.AF_INET | socket.AF_INET6), (host, *_)),
        ) if not is_this_computer(_name(host)):
            raise OSError(errno.ENETUNREACH, f"offline: {_name(host)} was not reached")
        case (("socket.getaddrinfo" | "socket.gethostbyname"), (host, *_)):
            if host and not is_this_computer(_name(host)):
                raise socket.gaierror(socket.EAI_FAIL, f"offline: {_name(host)} was not looked up")
        case (("socket.gethostbyaddr" | "socket.getnameinfo"), _):
            raise socket.gaierror(socket.EAI_FAIL, "offline: no address was looked up")


def _name(host: object) -> str:
    """Return a host, which Python's sockets take as text or bytes, as text."""
    return host.decode("ascii", "replace") if isinstance(host, bytes | bytearray) else str(host)


def web_address(typed: str) -> str:
    """The address with the scheme that users leave out: http for this computer and others of the
    own network, https for all else."""
    address = typed.strip()
    if not address or "://" in address:
        return address
    try:
        host = urlsplit(f"//{address}").hostname or ""
    except ValueError:
        return address
    return f"{'http' if is_near(host) else 'https'}://{address}"


def is_near(host: str) -> bool:
    """Whether a host name or address means this computer or one of the own network, without a
    lookup."""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith(".local")


def is_this_computer(host: str) -> bool:
    """Whether a host name or address means this computer, without a lookup."""
    name = host.strip("[]").partition("%")[0].rstrip(".").casefold()
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


NAMES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
DIRECT = ("no_proxy", "NO_PROXY")
HERE = "localhost,127.0.0.1,::1"
_variables_before: dict[str, str | None] = {}
"""The user's own variables, while ours are set."""


def use_proxy(address: str) -> None:
    """Use this proxy from now on; "" is the one in the system's environment.

    Running processes are not affected.
    """
    for name, former in _variables_before.items():
        if former is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = former
    _variables_before.clear()
    if address:
        _variables_before.update((name, os.environ.get(name)) for name in (*NAMES, *DIRECT))
        os.environ.update(dict.fromkeys(NAMES, address))
        for name in DIRECT:
            os.environ[name] = ",".join(filter(None, (os.environ.get(name), HERE)))
