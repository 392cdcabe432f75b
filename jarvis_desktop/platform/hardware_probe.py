"""Measures this computer's memory, graphics memory and disk, without loading a heavy library."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

DRIVER_TIMEOUT_S = 5.0
"""Seconds for the graphics driver to answer."""

MIB = 1 << 20

DRIVERS = (Path("/dev/nvidiactl"), Path("/dev/kfd"), Path("C:/Windows/System32/nvcuda.dll"))
"""Files of NVIDIA's and AMD's drivers, with which torch can use their cards."""


PROC, CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")


@cache
def memory_bytes() -> int:
    """Return the total main memory, or less if Linux limits this program; 0 if not known."""
    if sys.platform == "win32":
        return _windows_memory()[0]
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
    return min([total, *(limit for limit, _ in _groups())])


def available_bytes() -> int:
    """Return the main memory that programs can still get; 0 if not known.

    May run a program of the system: do not call it on an event loop.
    """
    if sys.platform == "win32":
        return _windows_memory()[1]
    if sys.platform == "darwin":
        return _mac_available()
    free = _linux_memory().get("MemAvailable", 0)
    # Nothing left is not the same as not known.
    return min([free, *(max(1, limit - used) for limit, used in _groups())])


def swap_bytes() -> int:
    """Return the free swap space; 0 if not known, as on macOS, which creates it on demand."""
    if sys.platform == "win32":
        _, available, with_swap = _windows_memory()
        return max(0, with_swap - available)
    return 0 if sys.platform == "darwin" else _linux_memory().get("SwapFree", 0)


def resident_bytes() -> tuple[int, int]:
    """Return this process's memory, now and at its peak; 0 if not known."""
    if sys.platform == "win32":
        return _windows_resident()
    if sys.platform == "darwin":
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most, most
    status = _kilobytes(PROC / "self/status")
    return status.get("VmRSS", 0), status.get("VmHWM", 0)


def resident_bytes_of(pid: int) -> int:
    """Return a process's memory now; 0 if not known, as on systems other than Linux."""
    return _kilobytes(PROC / f"{pid}/status").get("VmRSS", 0)


def seems_to_have_graphics() -> bool:
    """Whether this computer seems to have a graphics card for torch: a driver or an Apple chip."""
    if sys.platform == "darwin":
        return platform.machine() == "arm64"
    return any(path.exists() for path in DRIVERS)


@cache
def gpu_memory_bytes() -> int:
    """Return the memory of the largest graphics card for experts; 0 without one.

    The first call asks the driver and may take seconds: do not call it on an event loop.
    """
    if sys.platform == "darwin" and platform.machine() == "arm64":
        # The memory is shared, and macOS lets the graphics card use about two thirds.
        return memory_bytes() * 2 // 3
    return max(_of_cards("memory.total"), default=0)


def gpu_free_bytes(card: str = "") -> int:
    """Return the free memory of the graphics card with that id, or of the only one; 0 if not known.

    It asks the driver: do not call it on an event loop.
    """
    return max(_of_cards("memory.free", card), default=0)


def nvidia_driver() -> int:
    """Return the main version of NVIDIA's driver, such as 580; 0 without one.

    It asks the driver: do not call it on an event loop.
    """
    program = shutil.which("nvidia-smi")
    query = "--query-gpu=driver_version"
    lines = _output_lines([program, query, "--format=csv,noheader"]) if program else []
    main = lines[0].strip().partition(".")[0] if lines else ""
    return int(main) if main.isdecimal() else 0


def free_disk_bytes(path: Path) -> int:
    """Return the free bytes of the disk on which `path` is or will be; 0 if not known."""
    there = next((folder for folder in (path, *path.parents) if folder.exists()), None)
    try:
        return shutil.disk_usage(there).free if there else 0
    except OSError:
        return 0


def _of_cards(what: str, card: str = "") -> list[int]:
    """A figure of NVIDIA's driver in bytes, for each card or for one."""
    if not (program := shutil.which("nvidia-smi")):
        return []
    lines = _output_lines(
        [program, f"--query-gpu={what}", "--format=csv,noheader,nounits"]
        + ([f"--id={card}"] if card else [])
    )
    # A card without its own memory is listed as "[N/A]".
    return [int(line) * MIB for line in lines if line.strip().isdecimal()]


def _output_lines(command: list[str]) -> list[str]:
    """The output lines of a system program; [] if it fails."""
    try:
        answer = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DRIVER_TIMEOUT_S,
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
    """Linux's figures in a file, converted from kilobytes to bytes."""
    found = {}
    for line in _lines(path):
        name, _, rest = line.partition(":")
        number = rest.strip().removesuffix(" kB")
        if number.isdecimal():
            found[name] = int(number) * 1024
    return found


def _groups() -> list[tuple[int, int]]:
    """The memory limits of this process's control groups, each with what is used."""
    mine = next((line[3:] for line in _lines(PROC / "self/cgroup") if line.startswith("0::")), "")
    folder = CGROUPS / mine.strip("/")
    found = []
    for each in (folder, *folder.parents) if mine else ():
        if not each.is_relative_to(CGROUPS):
            break
        limit, used = _number(each / "memory.max"), _number(each / "memory.current")
        if limit:  # the cache counts as used, but can be freed
            cached = [line for line in _lines(each / "memory.stat") if "inactive_file" in line]
            read = sum(int(line.split()[1]) for line in cached if line.split()[1].isdecimal())
            found.append((limit, max(0, used - read)))
    return found


def _number(path: Path) -> int:
    """The number in a file; 0 for a word, such as "max"."""
    text = "".join(_lines(path)).strip()
    return int(text) if text.isdecimal() else 0


def _mac_available() -> int:
    """From vm_stat: free memory, and what macOS would free at once."""
    lines = _output_lines(["/usr/bin/vm_stat"])
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
    """From GlobalMemoryStatusEx: total, free, and free with swap."""
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
    """From GetProcessMemoryInfo: the working set, now and at its peak."""
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
