"""Facts about this computer: room on the disk, memory, battery, processor, addresses, its name."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.display import readable_size
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report, TaskOption, Value
from jarvis_desktop.platform import hardware_probe
from jarvis_desktop.tasks.definition import Services, define
from jarvis_desktop.tasks.everyday.timer import spoken_length
from jarvis_desktop.text.lazy_re import lazy_re

SUPPLIES, UPTIME, CPU = Path("/sys/class/power_supply"), Path("/proc/uptime"), Path("/proc/cpuinfo")

_KEYS = (
    ("uptime", r"\buptime\b|\bhow long has .*\bbeen (?:on|up|running)\b"),
    ("name", r"\bhost ?name\b|\b(?:computer|pc|laptop|machine)(?:'s)? name\b|"
             r"\bname of (?:my|this|the) (?:computer|pc|laptop|machine)\b"),
    ("disk", r"\b(?:hard )?(?:disk|drive)(?: space)?\b|\bssd\b|\bstorage(?: space)?\b|"
             r"\bfree space\b|^how much (?:\w+ )?(?:space|room)\b"),
    ("memory", r"^(?:how much|check|show) .*\b(?:ram|memory)\b"),
    ("battery", r"\bbattery\b|\bplugged in\b"),
    ("processor", r"\b(?:processors?|cpus?|cores?)\b"),
    ("address", r"\bip(?: address)?\b"),
    ("system", r"\boperating system\b|\bos\b"),
)  # fmt: skip
_HINT = lazy_re(
    r"uptime|how long has|name|disk|drive|ssd|storage|space|room|ram|memory|battery|plugged|"
    r"processor|cpu|core|\bip\b|operating|\bos\b"
)
"""One of these is in all that is read here, and patterns take a while to be compiled."""
_PATTERNS = tuple((what, lazy_re(pattern)) for what, pattern in _KEYS)
_ASKING = lazy_re(r"(?:what|which|how|is|am|check|show|tell)\b")
_POLITE = lazy_re(r"^(?:(?:hey |ok |okay )?jarvis[, ]+|please |(?:can|could) you |do you know )+")
_FILLER = frozenset(
    "how much many what what's which is are am the my this of on in do does i have has left free "
    "available there computer computer's pc laptop machine notebook running using installed kind "
    "sort version level status charge charged percentage power life full big large show tell check "
    "me please you got get it long for and enough local private right now space room total size "
    "name still remaining to know".split()
)
"""Words that may be beside; all others ask for something else: "the battery life of this phone"."""


def read(words: str) -> Mapping[str, Value] | None:
    """See `TaskType.reads`."""
    return {} if fact_asked(words) else None


def fact_asked(words: str) -> str:
    """Return what is asked of this computer, such as "disk"; "" if it is something else."""
    said = _POLITE.sub("", " ".join(words.split()).strip(" ?.!"))
    if not (_HINT.search(said) and _ASKING.match(said)):
        return ""
    for what, pattern in _PATTERNS:
        if pattern.search(said):
            beside = set(pattern.sub(" ", said).split()) - _FILLER
            return "" if beside else what
    return ""


async def tell_fact(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Answer in a sentence, also if it is not known here. Raises InputError for other questions."""
    what = fact_asked(call.words("asked").casefold())
    if not what:
        raise InputError(
            tr("It is not clear what you want to know of this computer."),
            hint=tr("Say “how much disk space do I have” or “what is my IP address”."),
        )
    return [text_artifact(await asyncio.to_thread(_FACTS[what]))]


def _disk() -> str:
    usage = shutil.disk_usage(Path.home())
    return (
        f"{readable_size(usage.free)} of {readable_size(usage.total)} are free on the disk of your "
        "home folder."
    )


def _memory() -> str:
    free, total = hardware_probe.available_bytes(), hardware_probe.memory_bytes()
    return f"{readable_size(free)} of {readable_size(total)} of memory are free."


def _battery() -> str:
    for supply in sorted(SUPPLIES.glob("BAT*")):
        with suppress(OSError, ValueError):
            percent = int((supply / "capacity").read_text())
            status = (supply / "status").read_text().strip().lower()
            return f"The battery is at {percent} percent, {status}."
    return "I find no battery in this computer."


def _processor() -> str:
    name = platform.processor()
    with suppress(OSError, StopIteration):
        lines = CPU.read_text().splitlines()
        name = next(line for line in lines if line.startswith("model name")).partition(":")[2]
    return f"{name.strip() or platform.machine()}, with {os.cpu_count() or 1} cores."


def _address() -> str:
    import ifaddr

    found = [
        str(ip.ip)
        for adapter in ifaddr.get_adapters()
        for ip in adapter.ips
        if ip.is_IPv4 and not str(ip.ip).startswith(("127.", "169.254."))
    ]
    if not found:
        return "This computer is in no network."
    return f"In your own network it is {' and '.join(found)}."


def _name() -> str:
    return f"This computer is called {socket.gethostname()}."


def _system() -> str:
    named = f"{platform.system()} {platform.release()}"
    with suppress(OSError):
        named = platform.freedesktop_os_release().get("PRETTY_NAME", named)
    return f"{named}, on {platform.machine()}."


def _uptime() -> str:
    try:
        seconds = float(UPTIME.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return "This system does not tell how long it has been running."
    return f"It has been running for {spoken_length(seconds // 60 * 60)}."


_FACTS: Mapping[str, Callable[[], str]] = {
    "disk": _disk,
    "memory": _memory,
    "battery": _battery,
    "processor": _processor,
    "address": _address,
    "name": _name,
    "system": _system,
    "uptime": _uptime,
}

THIS_COMPUTER = define(
    name="this-computer", label="This computer",
    summary="Tells facts about this computer: free disk space, memory, battery, processor, address "
    "in the own network, system.",
    options=(TaskOption("asked", "what is asked, in the user's words", "", reads="own-words"),),
    skill=tell_fact, reads=read, note="as the system tells them",
)  # fmt: skip
