"""Keeps a process, and those it starts, away from the network.

The switches of libraries are a courtesy: they are read when a library is imported, and not all of
its code honours them. Therefore two harder ways: `refuse` stops every connection that Python code
opens, and `cut_off` takes the process into a network of its own, in which there is nothing to
reach, for native code too (unshare(2), Linux).

The proxy through which this process, and those it starts, reach the network.

It is told by the environment, for everything that asks the network looks there by itself: httpx,
huggingface_hub, pip. What goes to this computer goes there directly."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
import sys
from contextlib import suppress
from pathlib import Path

OFFLINE = "JARVIS_DESKTOP_OFFLINE"
"""The environment variable by which a process that is offline tells those it starts."""

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
"""The switches as the person had set them, while ours hold."""


def settle(*, offline: bool) -> None:
    """Say whether this process, and those it starts from now on, are offline.

    Telemetry is off in any case. Libraries that are loaded keep to the switches that they found:
    the application uses them in child processes, which are started anew when this changes.
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


def settle_child(*, network: bool, services: bool = False) -> None:
    """The same in a child process; `network` says whether its work is to reach other computers,
    `services` whether it asks others of this one, which a network of its own would hide.

    To be called before there is a second thread.
    """
    os.environ.update(QUIET)
    if not network:
        os.environ.update(SWITCHES)
        if not services:
            cut_off()
    if not network or os.environ.get(OFFLINE):
        refuse()


def refuse() -> None:
    """From now on no Python code of this process opens a connection but to this computer."""
    global _refusing, _watched
    _refusing = True
    if not _watched:  # a hook stays for good
        _watched = True
        sys.addaudithook(_check)


def cut_off() -> bool:
    """Leave the network for good; whether the system let this process do so."""
    if sys.platform != "linux":
        return False
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0 and libc.unshare(CLONE_NEWNET) == 0:
        return True
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:  # forbidden here, or there are threads
        return False
    # Without these it would be nobody, whom sound servers and the like turn away.
    for name, line in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with suppress(OSError):
            Path("/proc/self", name).write_text(line)
    return True


def _check(event: str, args: tuple[object, ...]) -> None:
    """The audit hook: https://docs.python.org/3/library/audit_events.html lists what it is told."""
    if not _refusing:
        return
    match event, args:
        case (
            ("socket.connect" | "socket.sendto" | "socket.sendmsg"),
            # The sockets of C beneath Python's own are of this type, too.
            (socket.SocketType(family=socket.AF_INET | socket.AF_INET6), (host, *_)),
        ) if not is_here(_name(host)):
            raise OSError(errno.ENETUNREACH, f"offline: {_name(host)} was not reached")
        case (("socket.getaddrinfo" | "socket.gethostbyname"), (host, *_)):
            if host and not is_here(_name(host)):
                raise socket.gaierror(socket.EAI_FAIL, f"offline: {_name(host)} was not looked up")
        case (("socket.gethostbyaddr" | "socket.getnameinfo"), _):
            raise socket.gaierror(socket.EAI_FAIL, "offline: no address was looked up")


def _name(host: object) -> str:
    """A host as Python's sockets take it: a text, or bytes."""
    return host.decode("ascii", "replace") if isinstance(host, bytes | bytearray) else str(host)


def is_here(host: str) -> bool:
    """Whether a host name or address means this computer, without asking anybody."""
    name = host.strip("[]").partition("%")[0].rstrip(".").casefold()
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


NAMES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
DIRECT = ("no_proxy", "NO_PROXY")
HERE = "localhost,127.0.0.1,::1"
_variables_before: dict[str, str | None] = {}
"""The variables as they were when the program began, while ours hold."""


def use(address: str) -> None:
    """Go through this proxy from now on; "" is the one that the system's environment names.

    Processes that run already do not hear of it.
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
