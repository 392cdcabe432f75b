"""How much this computer has of what experts and LLMs need: memory, graphics memory, disk."""

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


@cache
def memory_bytes() -> int:
    """The main memory, used or not; 0 where the system does not say."""
    if sys.platform == "win32":
        return _windows_memory()
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


@cache
def gpu_memory_bytes() -> int:
    """The memory of the largest graphics card that experts can use; 0 where there is none.

    The first call asks the driver and may take up to `PATIENCE` seconds: not on an event loop.
    """
    if sys.platform == "darwin" and platform.machine() == "arm64":
        # One memory for both, of which macOS lets the graphics side have about two thirds.
        return memory_bytes() * 2 // 3
    if not (program := shutil.which("nvidia-smi")):
        return 0
    try:
        answer = subprocess.run(
            [program, "--query-gpu=memory.total", "--format=csv,noheader,nounits"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return 0
    # A card without memory of its own is listed as "[N/A]".
    sizes = [int(line) for line in answer.stdout.split("\n") if line.strip().isdecimal()]
    return max(sizes, default=0) * MIB if answer.returncode == 0 else 0


def free_disk_bytes(path: Path) -> int:
    """What is free where `path` lies, or will lie once it is made; 0 where it cannot be read."""
    there = next((folder for folder in (path, *path.parents) if folder.exists()), None)
    try:
        return shutil.disk_usage(there).free if there else 0
    except OSError:
        return 0


def _windows_memory() -> int:
    """By GlobalMemoryStatusEx, whose answer has nine fields: the third one is the total."""
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            ("total", ctypes.c_ulonglong),
            ("others", ctypes.c_ulonglong * 6),
        )

    status = Status(length=ctypes.sizeof(Status))
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - there is none on other systems
    return int(status.total) if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else 0
