"""What a hostile script would do: functions that are sent into a sandbox by their source.

Each tries one thing there, `at` being what it knows about the computer, and gives what it got; it
has failed where it raises or gives nothing. Whether it got out is judged from outside, by `Proof`.
None does harm where nothing holds it: they touch canaries, and open the rest without writing.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from jarvis_desktop.sandbox import seccomp

Act = Callable[[Any], object]


class Proof(Enum):
    """What shows that an attack got out."""

    SECRET = "it told the secret"
    MARK = "it left or changed something outside"
    REACHED = "a program outside got its message"
    DONE = "the system let it"
    LIVES = "a process of it is there after the end"
    PASSED = "it passed a bound more than twice"


@dataclass(frozen=True, slots=True)
class Attack:
    name: str
    proof: Proof
    source: str
    """A module that defines a function of that name."""
    alone: bool = False
    """Whether it is to have a process of its own, as it is not to come back."""
    bound: str = ""
    """What it goes for, where it is to pass a bound."""


ATTACKS: dict[str, Attack] = {}


def attack(proof: Proof, *, alone: bool = False, bound: str = "") -> Callable[[Act], Act]:
    """Take a function among the attacks."""

    def take(act: Act) -> Act:
        name = act.__name__
        assert name not in ATTACKS, name
        lines = textwrap.dedent(inspect.getsource(act)).splitlines(keepends=True)
        start = next(number for number, line in enumerate(lines) if line.startswith("def "))
        ATTACKS[name] = Attack(name, proof, "".join(lines[start:]), alone or bool(bound), bound)
        return act

    return take


def numbers() -> dict[str, int]:
    """The numbers of the system calls that attacks make by hand."""
    import pyseccomp

    names = """
        io_uring_setup bpf perf_event_open userfaultfd keyctl add_key request_key process_vm_readv
        ptrace personality clone clone3 mount umount2 pivot_root setns init_module finit_module
        name_to_handle_at memfd_create kexec_load syslog pidfd_open pidfd_getfd open_tree fsopen
        swapon acct mq_open openat2 fchmodat2 getpid inotify_init1 fanotify_init shmget
        open_by_handle_at settimeofday
    """.split()
    found = {name: pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name) for name in names}
    return {name: seccomp.NEWER.get(name, number) for name, number in found.items()}


PRELUDE = """
import json, os, select, signal, sys, types
facts, sources = json.loads(sys.stdin.readline())
at = types.SimpleNamespace(**facts)

def act(name, source):
    space = {}
    exec(source, space)
    return space[name](at)

def told(name, source):
    mine, theirs = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(4)
        try:
            got = act(name, source)
            answer = {"got": str(got)[:4000]} if got else {"kept": "nothing"}
        except BaseException as error:
            answer = {"kept": repr(error)[:300]}
        os.write(theirs, json.dumps(answer).encode())
        os._exit(0)
    os.close(theirs)
    ready = select.select([mine], [], [], 5)[0]
    answer = json.loads((os.read(mine, 1 << 16) if ready else b"") or '{"kept": "no answer"}')
    os.close(mine)
    if ready:
        os.waitpid(child, 0)
    return answer

if facts["alone"]:
    (name, source), = sources
    print(json.dumps({"name": name, "got": str(act(name, source))}), flush=True)
else:
    for name, source in sources:
        print(json.dumps({"name": name, **told(name, source)}), flush=True)
"""
"""What runs them: each in a process of its own, as some change what they run in."""
