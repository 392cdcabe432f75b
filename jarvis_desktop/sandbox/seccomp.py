"""Which system calls a sandboxed process may not make (Linux: seccomp).

With namespaces (bubblewrap), this is a second wall: it removes what the kernel offers beyond files,
so that its bugs are out of reach. Without them (Landlock), it is half of the wall: Landlock does
not cover sockets, modes, owners, times and System V memory.
"""

from __future__ import annotations

import errno
import os
import struct
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr

NE, MASKED_EQ = 1, 7  # comparisons, as libseccomp numbers them
WHOLE = 0xFFFFFFFF  # what the kernel reads of an int argument: the upper half must not hide one
AF_UNIX, SOCK_STREAM = 1, 1
SET_USER_ID, SET_GROUP_ID = 0o4000, 0o2000
TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP = 0x5412, 0x541C, 0x8901, 0x8902
F_SETOWN, F_SETSIG, F_SETOWN_EX = 8, 10, 15
PR_SET_PDEATHSIG = 1
NAMESPACES = (0x00020000, *(1 << bit for bit in range(25, 31)))
"""The CLONE_NEW... flags of clone, which has none for time."""

NETWORK = "socket connect bind listen accept accept4"
OTHERS_MEMORY = """
    ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_getfd
    move_pages migrate_pages shmget shmat shmdt shmctl semget semop semtimedop semctl
    msgget msgsnd msgrcv msgctl mq_open mq_unlink
"""
KERNEL = """
    io_uring_setup io_uring_enter io_uring_register bpf perf_event_open userfaultfd
    keyctl add_key request_key personality modify_ldt kexec_load kexec_file_load
    init_module finit_module delete_module reboot swapon swapoff acct syslog quotactl quotactl_fd
    settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname iopl ioperm
    lookup_dcookie nfsservctl uselib vhangup ustat sysfs _sysctl remap_file_pages
    fanotify_init inotify_init inotify_init1 name_to_handle_at open_by_handle_at
"""
MOUNTS = """
    mount umount umount2 pivot_root chroot open_tree move_mount fsopen fsconfig fsmount fspick
    mount_setattr unshare setns
"""
FILES = "mknod mknodat memfd_create memfd_secret"
"""A device or FIFO would block readers of a script's files; files in memory would not be counted.
"""

CARRIES_OUT_OF_SIGHT = "clone3 openat2 fchmodat2"
"""Their arguments are in memory, which a filter cannot read. They fail as unknown, so that
libraries use the older call."""

NEWER = {"fchmodat2": 452}
"""Calls that an older libseccomp does not know; their numbers are the same on every processor."""
NEWEST, OF_X32 = 462, 0x40000000
"""mseal, the last call that was reviewed: later ones fail as unknown. And the first number that
belongs to another processor."""

CHANGES = "chmod fchmod fchmodat utime utimes utimensat futimesat"
"""Landlock does not restrict these. They seem to succeed, because copying a file ends with them."""
OWNERS = "chown fchown lchown fchownat"
ATTRIBUTES = """
    setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr
    getxattr lgetxattr listxattr llistxattr
"""
PRIORITIES = "sched_setaffinity sched_setscheduler sched_setparam sched_setattr"
SIGNALS = "kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal"


@dataclass(frozen=True, slots=True)
class SyscallRule:
    """A call that is refused if all its arguments match."""

    call: str
    error: int = errno.EPERM  # its error; 0 looks like success
    where: tuple[tuple[int, ...], ...] = ()  # argument number, comparison, and one or two values


def rules(*, namespaces: bool, signals: bool) -> Iterator[SyscallRule]:
    """Yield what is refused, with or without namespaces; `signals` refuses all signals, because
    nothing else keeps it from sending them to others."""
    for group in (NETWORK, OTHERS_MEMORY, KERNEL, MOUNTS, FILES):
        yield from (SyscallRule(call) for call in group.split())
    yield from (SyscallRule(call, errno.ENOSYS) for call in CARRIES_OUT_OF_SIGHT.split())
    for flag in NAMESPACES:
        yield SyscallRule("clone", where=((0, MASKED_EQ, flag, flag),))
    # asyncio needs socket pairs. A datagram socket could send to any path or name.
    yield SyscallRule("socketpair", where=((0, NE, AF_UNIX),))
    for kind in range(16):
        if kind != SOCK_STREAM:
            yield SyscallRule("socketpair", where=((1, MASKED_EQ, 0xF, kind),))
    yield SyscallRule("sendto", where=((4, NE, 0),))
    for request in (TIOCSTI, TIOCLINUX):
        yield SyscallRule("ioctl", where=((1, MASKED_EQ, WHOLE, request),))
    yield SyscallRule("prctl", where=((0, MASKED_EQ, WHOLE, PR_SET_PDEATHSIG),))
    yield SyscallRule("prlimit64", where=((0, NE, 0),))
    yield from _set_id_modes(also_later=namespaces)
    if not namespaces:
        yield from _without_namespaces(signals=signals)


def _set_id_modes(*, also_later: bool) -> Iterator[SyscallRule]:
    """Forbid files that run as another user or group; with `also_later` also by changing modes."""
    creating = (("open", 2), ("openat", 3), ("creat", 1))
    changing = (("chmod", 1), ("fchmod", 1), ("fchmodat", 2))
    for call, argument in (*creating, *(changing if also_later else ())):
        for bit in (SET_USER_ID, SET_GROUP_ID):
            yield SyscallRule(call, where=((argument, MASKED_EQ, bit, bit),))


def _without_namespaces(*, signals: bool) -> Iterator[SyscallRule]:
    yield from (SyscallRule(call, 0) for call in CHANGES.split())
    yield from (SyscallRule(call) for call in OWNERS.split())
    yield from (SyscallRule(call, errno.ENOTSUP) for call in ATTRIBUTES.split())
    yield from (SyscallRule(call, where=((0, NE, 0),)) for call in PRIORITIES.split())
    yield SyscallRule("setpriority", where=((1, NE, 0),))
    yield SyscallRule("ioprio_set")
    yield SyscallRule("pidfd_open")
    # The kernel would send SIGIO to any process it names, which ends most programs.
    for command in (F_SETOWN, F_SETSIG, F_SETOWN_EX):
        yield SyscallRule("fcntl", where=((1, MASKED_EQ, WHOLE, command),))
    for request in (FIOSETOWN, SIOCSPGRP):
        yield SyscallRule("ioctl", where=((1, MASKED_EQ, WHOLE, request),))
    if signals:
        yield from (SyscallRule(call) for call in SIGNALS.split())


@lru_cache
def program(*, namespaces: bool, signals: bool = False, machine: str = "") -> bytes:
    """Compile the filter for the kernel (BPF), for this machine or `machine` ("x86_64", "aarch64").
    A call of another architecture (32 bits, x32) ends the process. Raises UnavailableError without
    libseccomp. Takes some ten milliseconds the first time."""
    library = _library()
    made = library.SyscallFilter(library.ALLOW)
    made.set_attr(library.Attr.ACT_BADARCH, library.KILL_PROCESS)
    if machine:
        made.remove_arch(library.Arch.NATIVE)
        made.add_arch(getattr(library.Arch, machine.upper()))
    for rule in rules(namespaces=namespaces, signals=signals):
        number = _number(library, rule.call)
        if number is not None:
            where = (library.Arg(*each) for each in rule.where)
            made.add_rule(library.ERRNO(rule.error), number, *where)
    with tempfile.TemporaryFile() as file:
        made.export_bpf(file)
        file.seek(0)
        return _later_ones_unknown() + file.read()


def _later_ones_unknown() -> bytes:
    """Instructions in front of the others, which refuse calls newer than this list."""
    load, at_least, give = 0x20, 0x35, 0x06
    unknown = 0x00050000 | errno.ENOSYS
    lines = (
        (load, 0, 0, 0),
        (at_least, 0, 2, NEWEST + 1),
        (at_least, 1, 0, OF_X32),
        (give, 0, 0, unknown),
    )
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def descriptor(bpf: bytes) -> int:
    """A new file descriptor from which the filter can be read."""
    made = os.memfd_create("seccomp", os.MFD_CLOEXEC)
    os.write(made, bpf)
    os.lseek(made, 0, os.SEEK_SET)
    return made


def _number(library: Any, call: str) -> int | None:
    number = int(library.resolve_syscall(library.Arch.NATIVE, call))
    if number == -1:  # unknown to this libseccomp
        return NEWER.get(call)
    return number


def _library() -> Any:
    try:
        import pyseccomp
    except (ImportError, RuntimeError, OSError, AttributeError) as error:
        raise UnavailableError(
            tr("The library libseccomp is missing."),
            hint=tr("Install it: sudo apt install libseccomp2"),
        ) from error
    return pyseccomp
