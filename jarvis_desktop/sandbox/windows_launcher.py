"""The launcher program on Windows: runs a command in an AppContainer and a job, and waits for it.

The job ends all its processes when its last handle is closed, and this program holds the only one:
when this program ends, so do they. If anything fails, the command does not start, and the exit code
is `FAILED`. Untested on real Windows (see launcher_native.py).

    --parent PID --processes N --memory BYTES --cpu SECONDS [--read PATH | --write PATH]...
    --folder PATH -- PROGRAM ARGUMENT...
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from typing import Any

FAILED = 125
NAME = "JarvisDesktop.Sandbox"
ALREADY_THERE = 0x800700B7
EXTENDED_LIMITS, NO_ERROR_WINDOWS = 9, 0x0400
KILL_ON_CLOSE, JOB_MEMORY, ACTIVE_PROCESSES, JOB_TIME = 0x2000, 0x0200, 0x0008, 0x0004
SECURITY_CAPABILITIES, HANDLES, JOBS = 0x00020009, 0x00020002, 0x0002000D
WITH_ATTRIBUTES, NO_WINDOW, OWN_STREAMS = 0x00080000, 0x08000000, 0x0100
SYNCHRONIZE, FOREVER, INHERIT = 0x00100000, 0xFFFFFFFF, 1

Handle, Number, Wide = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_wchar_p


class _Capabilities(ctypes.Structure):
    _fields_ = (("sid", Handle), ("list", Handle), ("count", Number), ("reserved", Number))


class _Limits(ctypes.Structure):
    _fields_ = (
        ("process_time", ctypes.c_int64), ("job_time", ctypes.c_int64), ("flags", Number),
        ("least_working_set", ctypes.c_size_t), ("most_working_set", ctypes.c_size_t),
        ("processes", Number), ("affinity", ctypes.c_size_t), ("priority", Number),
        ("scheduling", Number), ("counters", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t), ("job_memory", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t), ("peak_job_memory", ctypes.c_size_t),
    )  # fmt: skip


class _Startup(ctypes.Structure):
    _fields_ = (
        ("size", Number), ("reserved", Wide), ("desktop", Wide), ("title", Wide),
        ("place", Number * 7), ("flags", Number), ("show", ctypes.c_uint16),
        ("reserved_size", ctypes.c_uint16), ("reserved_data", Handle), ("streams", Handle * 3),
        ("attributes", Handle),
    )  # fmt: skip


class _Process(ctypes.Structure):
    _fields_ = (("process", Handle), ("thread", Handle), ("number", Number), ("thread_no", Number))


def _library(name: str) -> Any:
    return getattr(ctypes, "WinDLL")(name, use_last_error=True)  # noqa: B009 - Windows only


def main(arguments: list[str]) -> int:
    """Run the command until it has ended; return its exit code."""
    cut = arguments.index("--")
    options = list(zip(arguments[:cut:2], arguments[1:cut:2], strict=True))
    one = dict(options)
    kernel = _library("kernel32")
    for call in (kernel.CreateJobObjectW, kernel.OpenProcess, kernel.GetStdHandle):
        call.restype = Handle
    sid, text = _container()
    for name, value in options:
        if name in ("--read", "--write"):
            _grant(text, value, "RX" if name == "--read" else "M")
    parent = _checked(kernel.OpenProcess(SYNCHRONIZE, 0, int(one["--parent"])))
    job = _job(kernel, one)
    begun = _begin(kernel, sid, job, arguments[cut + 1 :], one["--folder"])
    waited = (Handle * 2)(begun, parent)
    kernel.WaitForMultipleObjects(2, waited, 0, FOREVER)
    code = Number(FAILED)
    _checked(kernel.GetExitCodeProcess(Handle(begun), ctypes.byref(code)))
    return code.value


def _container() -> tuple[Any, str]:
    """The container's identity, as the system's SID and as text."""
    users, security = _library("userenv"), _library("advapi32")
    sid, text = Handle(), Wide()
    there = users.CreateAppContainerProfile(NAME, NAME, NAME, None, 0, ctypes.byref(sid))
    if there & 0xFFFFFFFF == ALREADY_THERE:
        there = users.DeriveAppContainerSidFromAppContainerName(NAME, ctypes.byref(sid))
    if there != 0:
        raise OSError(f"no AppContainer: {there & 0xFFFFFFFF:#x}")
    _checked(security.ConvertSidToStringSidW(sid, ctypes.byref(text)))
    return sid, str(text.value)


def _grant(sid: str, path: str, rights: str) -> None:
    """Grant the container access to a folder with its contents, or to a file."""
    told = subprocess.run(["icacls", path], capture_output=True, text=True, check=True).stdout
    if sid in told or NAME in told:  # granted before: a large folder takes long
        return
    for inherited in (f"*{sid}:(OI)(CI){rights}", f"*{sid}:{rights}"):
        given = subprocess.run(["icacls", path, "/grant", inherited, "/Q"], capture_output=True)
        if given.returncode == 0:
            return
    raise OSError(f"no rights could be given to {path}")


def _job(kernel: Any, one: dict[str, str]) -> int:
    job = _checked(kernel.CreateJobObjectW(None, None))
    limits = _Limits(
        job_time=int(one["--cpu"]) * 10_000_000,
        flags=KILL_ON_CLOSE | JOB_MEMORY | ACTIVE_PROCESSES | JOB_TIME | NO_ERROR_WINDOWS,
        processes=int(one["--processes"]),
        job_memory=int(one["--memory"]),
    )
    size = ctypes.sizeof(limits)
    told = kernel.SetInformationJobObject(Handle(job), EXTENDED_LIMITS, ctypes.byref(limits), size)
    _checked(told)
    return job


def _begin(kernel: Any, sid: Any, job: int, command: list[str], folder: str) -> int:
    """Start it directly in the job and the container, inheriting only its streams."""
    streams = (Handle * 3)(*(kernel.GetStdHandle(Number(-10 - n & 0xFFFFFFFF)) for n in range(3)))
    for stream in streams:
        _checked(kernel.SetHandleInformation(Handle(stream), INHERIT, INHERIT))
    capabilities, jobs = _Capabilities(sid, None, 0, 0), (Handle * 1)(job)
    size = ctypes.c_size_t()
    kernel.InitializeProcThreadAttributeList(None, 3, 0, ctypes.byref(size))
    attributes = ctypes.create_string_buffer(size.value)
    _checked(kernel.InitializeProcThreadAttributeList(attributes, 3, 0, ctypes.byref(size)))
    for key, value in ((SECURITY_CAPABILITIES, capabilities), (HANDLES, streams), (JOBS, jobs)):
        content, length = ctypes.byref(value), ctypes.c_size_t(ctypes.sizeof(value))
        given = (attributes, 0, ctypes.c_size_t(key), content, length, None, None)
        _checked(kernel.UpdateProcThreadAttribute(*given))
    startup = _Startup(size=ctypes.sizeof(_Startup), flags=OWN_STREAMS, streams=streams)
    startup.attributes = ctypes.addressof(attributes)
    line, begun = ctypes.create_unicode_buffer(subprocess.list2cmdline(command)), _Process()
    how = WITH_ATTRIBUTES | NO_WINDOW
    place = (None, line, None, None, 1, how, None, folder)
    _checked(kernel.CreateProcessW(*place, ctypes.byref(startup), ctypes.byref(begun)))
    return int(begun.process)


def _checked(result: int | None) -> int:
    if not result:
        raise OSError(f"Windows refused: {getattr(ctypes, 'get_last_error')()}")  # noqa: B009
    return result


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Exception as error:  # noqa: BLE001 - whatever it is, nothing has started
        sys.stderr.write(f"The sandbox could not be set up: {error!r}\n")
        sys.exit(FAILED)
