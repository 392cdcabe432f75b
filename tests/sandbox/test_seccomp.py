"""The filter of system calls, run by a machine of our own: for both processors, on either."""

from __future__ import annotations

import errno
import os
import struct
import sys
from dataclasses import dataclass

import pytest

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.sandbox import seccomp

ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
PERMISSION, UNKNOWN = REFUSE | errno.EPERM, REFUSE | errno.ENOSYS

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NUMBERS = {
    "x86_64": {
        **{"read": 0, "socket": 41, "connect": 42, "socketpair": 53, "clone": 56, "ptrace": 101},
        **{"ioctl": 16, "prctl": 157, "open": 2, "openat": 257, "chmod": 90, "fchmod": 91},
        **{"sendto": 44, "kill": 62, "tgkill": 234, "utimensat": 280, "prlimit64": 302},
        **{"unshare": 272, "mount": 165, "keyctl": 250, "fchownat": 260, "setxattr": 188},
        **{"fcntl": 72, "getpid": 39, "execve": 59, "setpriority": 141, "memfd_create": 319},
    },
    "aarch64": {
        **{"read": 63, "socket": 198, "connect": 203, "socketpair": 199, "clone": 220},
        **{"ptrace": 117, "ioctl": 29, "prctl": 167, "openat": 56, "fchmod": 52, "sendto": 206},
        **{"kill": 129, "tgkill": 131, "utimensat": 88, "prlimit64": 261, "unshare": 97},
        **{"mount": 40, "keyctl": 219, "fchownat": 54, "setxattr": 5, "fcntl": 25},
        **{"getpid": 172, "execve": 221, "setpriority": 140, "memfd_create": 279},
    },
}
COMMON = {"io_uring_setup": 425, "clone3": 435, "openat2": 437, "fchmodat2": 452, "mseal": 462}


@dataclass
class Call:
    number: int
    arguments: tuple[int, ...] = ()
    architecture: int = 0

    def word(self, offset: int) -> int:
        """Of struct seccomp_data: number, architecture, pointer, six arguments."""
        padded = (*self.arguments, 0, 0, 0, 0, 0, 0)[:6]
        data = struct.pack("<IIQ6Q", self.number & 0xFFFFFFFF, self.architecture, 0, *padded)
        return int.from_bytes(data[offset : offset + 4], "little")


def verdict(program: bytes, call: Call) -> int:
    """What a filter gives: the few instructions of BPF that libseccomp makes."""
    lines = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    register = place = 0
    while True:
        code, yes, no, value = lines[place]
        place += 1
        match code:
            case 0x20:
                register = call.word(value)
            case 0x54:
                register &= value
            case 0x05:
                place += value
            case 0x15:
                place += yes if register == value else no
            case 0x25:
                place += yes if register > value else no
            case 0x35:
                place += yes if register >= value else no
            case 0x06:
                return int(value)
            case _:
                raise AssertionError(f"instruction {code:#x}")


class Filter:
    def __init__(self, machine: str, *, namespaces: bool, signals: bool = False) -> None:
        self._program = seccomp.program(namespaces=namespaces, signals=signals, machine=machine)
        self._numbers = {**COMMON, **NUMBERS[machine]}
        self._architecture = ARCHITECTURES[machine]

    def __call__(self, name: str | int, *arguments: int, architecture: int = 0) -> int:
        number = self._numbers[name] if isinstance(name, str) else name
        where = architecture or self._architecture
        return verdict(self._program, Call(number, arguments, where))


@pytest.fixture(params=sorted(ARCHITECTURES))
def machine(request):
    return request.param


@pytest.fixture(params=[True, False], ids=["namespaces", "none"])
def held(request, machine):
    return Filter(machine, namespaces=request.param)


def test_ordinary_calls_are_let_through(held):
    assert held("read", 0, 1, 2) == ALLOW
    assert held("execve") == ALLOW
    assert held("getpid") == ALLOW
    assert held("clone", 0x3D0F00) == ALLOW  # a thread
    assert held("clone", 0x01200011) == ALLOW  # fork
    assert held("sendto", 3, 4, 5, 0, 0, 0) == ALLOW
    assert held("ioctl", 1, 0x5401) == ALLOW
    assert held("openat", -100 & (1 << 64) - 1, 1, 0o101, 0o666) == ALLOW
    assert held("prlimit64", 0, 7, 1, 1) == ALLOW
    assert held("mseal") == ALLOW


def test_what_reaches_out_is_refused(held):
    calls = ["socket", "connect", "ptrace", "unshare", "mount", "keyctl", "io_uring_setup"]
    assert {held(call) for call in (*calls, "memfd_create")} == {PERMISSION}


@pytest.mark.parametrize("flag", seccomp.NAMESPACES)
def test_no_process_begins_a_namespace(held, flag):
    assert held("clone", flag | 17) == PERMISSION


def test_arguments_out_of_sight_are_unknown_calls(held):
    assert {held(call) for call in ("clone3", "openat2", "fchmodat2")} == {UNKNOWN}


def test_calls_newer_than_the_list_are_unknown(held):
    assert {held(number) for number in (463, 470, 600, 5000, 0x3FFFFFFF)} == {UNKNOWN}


def test_only_pairs_of_stream_sockets_are_made(held):
    close_on_exec = 0o2000000
    assert held("socketpair", 1, 1) == ALLOW
    assert held("socketpair", 1, 1 | close_on_exec) == ALLOW
    assert held("socketpair", 1, 2) == PERMISSION
    assert held("socketpair", 1, 2 | close_on_exec) == PERMISSION
    assert held("socketpair", 2, 1) == PERMISSION
    assert held("socketpair", 1 | 1 << 32, 2) == PERMISSION
    assert held("sendto", 3, 4, 5, 0, 0x7FFF0000) == PERMISSION


def test_the_upper_half_of_an_argument_hides_nothing(held):
    assert held("ioctl", 0, seccomp.TIOCSTI) == PERMISSION
    assert held("ioctl", 0, seccomp.TIOCSTI | 1 << 32) == PERMISSION
    assert held("prctl", 1 | 1 << 40, 0) == PERMISSION
    assert held("prlimit64", 1 << 32, 7) == PERMISSION


def test_no_file_runs_as_its_owner(held):
    assert held("openat", 0, 0, 0o101, 0o4755) == PERMISSION
    assert held("openat", 0, 0, 0o101, 0o2755) == PERMISSION
    assert held("fchmod", 3, 0o4755) != ALLOW


def test_other_processors_calls_end_the_process(machine):
    held = Filter(machine, namespaces=True)
    i386, arm = 0x40000003, 0x40000028
    assert held("getpid", architecture=i386) == KILL
    assert held("getpid", architecture=arm) == KILL
    if machine == "x86_64":
        assert held(39 | 0x40000000) == KILL


def test_without_namespaces_what_landlock_does_not_know_is_refused(machine):
    held, free = (Filter(machine, namespaces=each) for each in (False, True))
    for call in ("fchownat", "setxattr", "utimensat"):
        assert free(call) == ALLOW
        assert held(call) != ALLOW
    assert held("fchmod", 3, 0o644) == REFUSE  # done as if
    assert free("fchmod", 3, 0o644) == ALLOW
    assert held("setpriority", 0, 4242, 7) == PERMISSION
    assert held("setpriority", 0, 0, 7) == ALLOW
    assert held("fcntl", 3, seccomp.F_SETOWN, 4242) == PERMISSION
    assert held("fcntl", 3, 3) == ALLOW


def test_signals_are_refused_where_nothing_else_holds_them(machine):
    scoped, held = (Filter(machine, namespaces=False, signals=each) for each in (False, True))
    assert {scoped("kill", 1, 9), scoped("tgkill", 1, 1, 9)} == {ALLOW}
    assert {held("kill", 1, 9), held("tgkill", 1, 1, 9)} == {PERMISSION}


def test_the_filter_is_read_from_its_beginning():
    made = seccomp.descriptor(b"12345678")
    try:
        assert os.read(made, 100) == b"12345678"
        assert not os.get_inheritable(made)
    finally:
        os.close(made)


def test_an_older_library_knows_fewer_names(monkeypatch):
    class Library:
        class Arch:
            NATIVE = 0

        @staticmethod
        def resolve_syscall(arch: int, name: str) -> int:
            return -1

    assert seccomp._number(Library, "fchmodat2") == 452
    assert seccomp._number(Library, "not_yet_thought_of") is None


def test_a_missing_library_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyseccomp", None)
    seccomp.program.cache_clear()
    try:
        with pytest.raises(UnavailableError, match="libseccomp"):
            seccomp.program(namespaces=True)
    finally:
        seccomp.program.cache_clear()
