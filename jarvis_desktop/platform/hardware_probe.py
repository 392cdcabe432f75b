"""How much this computer has of what experts and LLMs need: memory, graphics memory, disk.

Everything here is cheap: no heavy library is asked.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

PATIENCE = 5.0
"""Seconds that the graphics card's driver may take to answer."""

MIB = 1 << 20

DRIVERS = (Path("/dev/nvidiactl"), Path("/dev/kfd"), Path("C:/Windows/System32/nvcuda.dll"))
"""What the drivers of NVIDIA and AMD leave where torch can use their cards."""


PROC, CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")


@cache
def memory_bytes() -> int:
    """The main memory, used or not; 0 where the system does not say.

    Where Linux lets this program have less of it, it is that.
    """
    if sys.platform == "win32":
        return _windows_memory()[0]
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
    return min([total, *(limit for limit, _ in _groups())])


def available_bytes() -> int:
    """What programs can still get of the main memory; 0 where the system does not say.

    It may ask a program of the system: not on an event loop.
    """
    if sys.platform == "win32":
        return _windows_memory()[1]
    if sys.platform == "darwin":
        return _mac_available()
    free = _linux_memory().get("MemAvailable", 0)
    # Nothing left is not the same as not knowing.
    return min([free, *(max(1, limit - used) for limit, used in _groups())])


def swap_bytes() -> int:
    """What is free of the disk that the system uses as memory; 0 where it does not say.

    macOS makes it as it is needed, so that it says nothing.
    """
    if sys.platform == "win32":
        _, available, with_swap = _windows_memory()
        return max(0, with_swap - available)
    return 0 if sys.platform == "darwin" else _linux_memory().get("SwapFree", 0)


def resident_bytes() -> tuple[int, int]:
    """What this process takes of the main memory, now and at most; 0 where it cannot be known."""
    if sys.platform == "win32":
        return _windows_resident()
    if sys.platform == "darwin":
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most, most
    status = _kilobytes(PROC / "self/status")
    return status.get("VmRSS", 0), status.get("VmHWM", 0)


def resident_bytes_of(pid: int) -> int:
    """What a process takes of the main memory now; 0 where it cannot be known (but for Linux)."""
    return _kilobytes(PROC / f"{pid}/status").get("VmRSS", 0)


def seems_to_have_graphics() -> bool:
    """Whether there are signs of a graphics card that torch could use. Only looking closer tells.

    They are a driver of NVIDIA or AMD, or an Apple chip.
    """
    if sys.platform == "darwin":
        return platform.machine() == "arm64"
    return any(path.exists() for path in DRIVERS)


@cache
def gpu_memory_bytes() -> int:
    """The memory of the largest graphics card that experts can use; 0 where there is none.

    The first call asks the driver and may take up to `PATIENCE` seconds: not on an event loop.
    """
    if sys.platform == "darwin" and platform.machine() == "arm64":
        # One memory for both, of which macOS lets the graphics side have about two thirds.
        return memory_bytes() * 2 // 3
    return max(_of_cards("memory.total"), default=0)


def gpu_free_bytes(card: str = "") -> int:
    """What is free of the graphics card of that id, or the only one; 0 where it is not known.

    It asks the driver: not on an event loop.
    """
    return max(_of_cards("memory.free", card), default=0)


def free_disk_bytes(path: Path) -> int:
    """What is free where `path` lies, or will lie once it is made; 0 where it cannot be read."""
    there = next((folder for folder in (path, *path.parents) if folder.exists()), None)
    try:
        return shutil.disk_usage(there).free if there else 0
    except OSError:
        return 0


def _of_cards(what: str, card: str = "") -> list[int]:
    """Bytes, by NVIDIA's driver; one number for each card, or for one."""
    if not (program := shutil.which("nvidia-smi")):
        return []
    lines = _said(
        [program, f"--query-gpu={what}", "--format=csv,noheader,nounits"]
        + ([f"--id={card}"] if card else [])
    )
    # A card without memory of its own is listed as "[N/A]".
    return [int(line) * MIB for line in lines if line.strip().isdecimal()]


def _said(command: list[str]) -> list[str]:
    """The lines that a program of the system says; [] where it fails."""
    try:
        answer = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return []
    return answer.stdout.split("\n") if answer.returncode == 0 else []


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def _linux_memory() -> dict[str, int]:
    return _kilobytes(PROC / "meminfo")


def _kilobytes(path: Path) -> dict[str, int]:
    """What a file of Linux says in kilobytes, in bytes."""
    found = {}
    for line in _lines(path):
        name, _, rest = line.partition(":")
        number = rest.strip().removesuffix(" kB")
        if number.isdecimal():
            found[name] = int(number) * 1024
    return found


def _groups() -> list[tuple[int, int]]:
    """Limits of the control groups that this process is in, each with what is taken of it."""
    mine = next((line[3:] for line in _lines(PROC / "self/cgroup") if line.startswith("0::")), "")
    folder = CGROUPS / mine.strip("/")
    found = []
    for each in (folder, *folder.parents) if mine else ():
        if not each.is_relative_to(CGROUPS):
            break
        limit, used = _number(each / "memory.max"), _number(each / "memory.current")
        if limit:  # files that were read count as used, although they would make room
            cached = [line for line in _lines(each / "memory.stat") if "inactive_file" in line]
            read = sum(int(line.split()[1]) for line in cached if line.split()[1].isdecimal())
            found.append((limit, max(0, used - read)))
    return found


def _number(path: Path) -> int:
    """The number in a file; 0 where it has none, such as "max"."""
    text = "".join(_lines(path)).strip()
    return int(text) if text.isdecimal() else 0


def _mac_available() -> int:
    """By vm_stat: what is free, and what macOS would give away at once."""
    lines = _said(["/usr/bin/vm_stat"])
    words = lines[0].split() if lines else []
    size = next((int(word) for word in words if word.isdecimal()), 0)
    counted = ("Pages free", "Pages inactive", "Pages speculative", "Pages purgeable")
    pages = 0
    for line in lines[1:]:
        name, _, number = line.partition(":")
        digits = number.strip().rstrip(".")
        if name in counted and digits.isdecimal():
            pages += int(digits)
    return pages * size


def _windows_memory() -> tuple[int, int, int]:
    """By GlobalMemoryStatusEx: the whole, what is free of it, and what is free with swap."""
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            ("total", ctypes.c_ulonglong),
            ("free", ctypes.c_ulonglong),
            ("total_with_swap", ctypes.c_ulonglong),
            ("free_with_swap", ctypes.c_ulonglong),
            ("others", ctypes.c_ulonglong * 3),
        )

    status = Status(length=ctypes.sizeof(Status))
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - there is none on other systems
    if not kernel.GlobalMemoryStatusEx(ctypes.byref(status)):
        return 0, 0, 0
    return int(status.total), int(status.free), int(status.free_with_swap)


def _windows_resident() -> tuple[int, int]:
    """By GetProcessMemoryInfo: the working set now and at its peak."""
    import ctypes

    class Counters(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("faults", ctypes.c_ulong),
            ("most", ctypes.c_size_t),
            ("now", ctypes.c_size_t),
            ("others", ctypes.c_size_t * 6),
        )

    counters = Counters(length=ctypes.sizeof(Counters))
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - there is none on other systems
    ask, mine = kernel.K32GetProcessMemoryInfo, kernel.GetCurrentProcess
    mine.restype = ctypes.c_void_p
    done = ask(ctypes.c_void_p(mine()), ctypes.byref(counters), counters.length)
    return (int(counters.now), int(counters.most)) if done else (0, 0)
