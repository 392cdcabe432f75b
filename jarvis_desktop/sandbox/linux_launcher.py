"""The launcher program on Linux: runs a command restricted by Landlock and seccomp.

It ends all descendants of the command when the command ends, on SIGTERM, or when its own parent is
gone. It stays outside as the parent; orphans become its children (it is a subreaper), so that
nothing escapes. It imports little, and nothing of this package, because a session waits for it. If
anything fails, the command does not start, and the exit code is `FAILED`.

    --parent PID --folder PATH [--group FILE] [--limit NAME=N | --descriptor FD]...
    --interface N --seccomp FD [--read PATH | --device PATH | --write PATH]... | --open yes
    -- PROGRAM ARGUMENT...

With `--open` the command is not restricted; only its limits apply.
"""

# pathlib takes long to load.
# ruff: noqa: PTH112, PTH123, PTH208

from __future__ import annotations

# Without its enumerations, which take longer to load than everything else.
import _signal as signal  # type: ignore[import-not-found]
import ctypes
import os
import resource
import sys

FAILED, STOPPED = 125, 143
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_DIR, MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
MAKE_SYM, REFER, TRUNCATE = 1 << 12, 1 << 13, 1 << 14
READ = EXECUTE | READ_FILE | READ_DIR
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
RIGHTS = {
    "--read": READ,
    "--device": READ_FILE | WRITE_FILE | TRUNCATE,
    # No sockets, FIFOs or devices: other programs read the folder.
    "--write": READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SYM
    | REFER | TRUNCATE,
}  # fmt: skip
BIND_AND_CONNECT_TCP = 0b11
ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
WITH_DEVICES, WITH_SCOPES = 5, 6  # versions that restrict device ioctls, and scopes
SET_PDEATHSIG, SET_SECCOMP, CAPBSET_DROP, SET_SUBREAPER = 1, 22, 24, 36
SET_NO_NEW_PRIVS, CAP_AMBIENT, CLEAR_ALL = 38, 47, 4
FILTER = 2
CAPABILITY_VERSION, CAPABILITIES = 0x20080522, 64

_libc = ctypes.CDLL(None, use_errno=True)


class _Filter(ctypes.Structure):
    _fields_ = (("count", ctypes.c_ushort), ("lines", ctypes.c_char_p))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("parent", ctypes.c_int32))


def main(arguments: list[str]) -> int:
    """Run the command until it and all its descendants have ended; return its exit code."""
    cut = arguments.index("--")
    options = list(zip(arguments[:cut:2], arguments[1:cut:2], strict=True))
    command, one = arguments[cut + 1 :], dict(options)
    parent = int(one["--parent"])
    _prctl(SET_SUBREAPER, 1)
    _end_with(parent, signal.SIGTERM)
    waited = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, waited)
    own = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            _end_with(own, signal.SIGKILL)
            _confine(options, one)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            os.execv(command[0], command)  # noqa: S606 - the command is what this is for
        finally:
            _print_error()
            os._exit(FAILED)
    _close_pipes([int(value) for name, value in options if name == "--descriptor"])
    code = _wait(child, waited)
    _end_all()
    return code


def _print_error() -> None:
    error = sys.exc_info()[1]
    os.write(2, f"The sandbox could not be set up: {error!r}\n".encode(errors="replace"))


def _end_with(parent: int, number: int) -> None:
    _prctl(SET_PDEATHSIG, number)
    if os.getppid() != parent:
        raise ProcessLookupError("The parent has ended.")


def _close_pipes(descriptors: list[int]) -> None:
    """Close the command's pipes here, because others wait for them to end."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    for number in (nothing, *descriptors):
        os.close(number)


def _wait(child: int, waited: set[int]) -> int:
    while True:
        if signal.sigwait(waited) != signal.SIGCHLD:
            return STOPPED
        for number, status in _ended():
            if number == child:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code


def _ended() -> list[tuple[int, int]]:
    found = []
    try:
        while (child := os.waitpid(-1, os.WNOHANG))[0]:
            found.append(child)
    except ChildProcessError:
        found.append((0, 0))  # none are left
    return found


def _end_all() -> None:
    """Kill all descendants. Those of a killed process become children of this one."""
    while (0, 0) not in _ended():
        waiting = _children(os.getpid())
        while waiting:
            number = waiting.pop()
            try:
                os.kill(number, signal.SIGKILL)  # first: from now on it starts no other
            except ProcessLookupError:
                continue
            waiting += _children(number)


def _children(number: int) -> list[int]:
    base, found = f"/proc/{number}/task", []
    try:
        for task in os.listdir(base):
            with open(f"{base}/{task}/children", encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
    except OSError:
        pass  # it is gone; its children are now this process's
    return found


def _confine(options: list[tuple[str, str]], one: dict[str, str]) -> None:
    if group := one.get("--group"):
        with open(group, "w", encoding="ascii") as file:
            file.write("0")
    os.setsid()
    os.umask(0o077)
    os.chdir(one["--folder"])
    for name, value in options:
        if name == "--limit":
            which, _, most = value.partition("=")
            _limit(getattr(resource, f"RLIMIT_{which}"), int(most))
    if one.get("--open") == "yes":
        return
    with open(int(one["--seccomp"]), "rb") as file:
        lines = file.read()
    _drop_capabilities()
    _prctl(SET_NO_NEW_PRIVS, 1)
    _restrict(int(one["--interface"]), options)
    filtered = _Filter(len(lines) // 8, lines)
    _prctl(SET_SECCOMP, FILTER, ctypes.addressof(filtered))


def _limit(which: int, most: int) -> None:
    hard = resource.getrlimit(which)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(which, (most, most))


def _drop_capabilities() -> None:
    """Drop root's capabilities; other users have none and may not drop any."""
    if os.geteuid() == 0:
        for number in range(CAPABILITIES):
            _libc.prctl(CAPBSET_DROP, number, 0, 0, 0)
    _prctl(CAP_AMBIENT, CLEAR_ALL)
    head, none = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    _checked(_libc.capset(head, none))


def _restrict(interface: int, options: list[tuple[str, str]]) -> None:
    handled = (1 << (16 if interface >= WITH_DEVICES else 15)) - 1
    scopes = [ABSTRACT_SOCKETS_AND_SIGNALS] if interface >= WITH_SCOPES else []
    words = [handled, BIND_AND_CONNECT_TCP, *scopes]
    attributes = (ctypes.c_uint64 * len(words))(*words)
    rules = _call(CREATE_RULESET, attributes, ctypes.sizeof(attributes), 0)
    for name, value in options:
        if name in RIGHTS:
            _allow(rules, value, RIGHTS[name])
    _call(RESTRICT_SELF, rules, 0)
    os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    if not os.path.isdir(path):
        rights &= OF_A_FILE
    beneath = _Beneath(rights, parent)
    _call(ADD_RULE, rules, PATH_BENEATH, ctypes.byref(beneath), 0)
    os.close(parent)


def _prctl(*numbers: int) -> None:
    words = [ctypes.c_ulong(number) for number in (*numbers, 0, 0, 0, 0)[:5]]
    _checked(_libc.prctl(*words))


def _call(number: int, *arguments: object) -> int:
    return _checked(_libc.syscall(ctypes.c_long(number), *arguments))


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def run() -> None:
    """Run `main` with this process's arguments, skipping the interpreter's slow shutdown."""
    code = FAILED
    try:
        code = main(sys.argv[1:])
    except Exception:  # noqa: BLE001 - whatever it is, nothing has started
        _print_error()
    os._exit(code)
