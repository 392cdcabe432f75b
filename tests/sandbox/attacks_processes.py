"""Attacks on other processes, and ways to outlive the end."""

# Each is as short as can be.
from __future__ import annotations

from tests.sandbox.corpus import Proof, attack


@attack(Proof.MARK)
def sends_signal(at):
    import os
    import signal

    os.kill(at.victim, signal.SIGUSR1)


@attack(Proof.MARK)
def sends_signal_to_thread(at):
    import ctypes
    import signal

    libc = ctypes.CDLL(None)
    libc.tgkill(at.victim, at.victim, signal.SIGUSR2)


@attack(Proof.MARK)
def sends_signal_by_descriptor(at):
    import os
    import signal

    signal.pidfd_send_signal(os.pidfd_open(at.victim), signal.SIGWINCH)


@attack(Proof.MARK)
def sends_signal_by_queue(at):
    import ctypes
    import signal

    class Value(ctypes.Union):
        _fields_ = (("number", ctypes.c_int), ("pointer", ctypes.c_void_p))

    ctypes.CDLL(None).sigqueue(at.victim, int(signal.SIGRTMIN), Value(1))


@attack(Proof.MARK)
def sends_signal_by_owner_of_pipe(at):
    import fcntl
    import os

    reading, writing = os.pipe()
    fcntl.fcntl(reading, fcntl.F_SETOWN, at.victim)
    fcntl.fcntl(reading, 10, 35)  # F_SETSIG
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writing, b"x")


@attack(Proof.DONE)
def traces_a_process(at):
    import ctypes

    libc = ctypes.CDLL(None)
    seize, detach = 0x4206, 17
    done = libc.ptrace(seize, at.victim, None, None) == 0
    if done:
        libc.ptrace(detach, at.victim, None, None)
    return done


@attack(Proof.DONE)
def is_traced(at):
    import ctypes

    return ctypes.CDLL(None).ptrace(0, 0, None, None) == 0


@attack(Proof.DONE)
def takes_descriptor_of_a_process(at):
    import ctypes
    import os

    libc = ctypes.CDLL(None)
    return libc.syscall(at.numbers["pidfd_getfd"], os.pidfd_open(at.victim), 0, 0) >= 0


@attack(Proof.DONE)
def holds_a_process(at):
    import os

    # A number that is its own inside is none of this computer's.
    return os.pidfd_open(at.victim) and os.getpgid(at.victim) == at.victim_group


@attack(Proof.MARK)
def limits_a_process(at):
    import resource

    resource.prlimit(at.victim, resource.RLIMIT_NOFILE, (100, 100))


@attack(Proof.MARK)
def slows_a_process(at):
    import os

    os.setpriority(os.PRIO_PROCESS, at.victim, 7)


@attack(Proof.MARK)
def binds_a_process_to_processor(at):
    import os

    os.sched_setaffinity(at.victim, {0})


@attack(Proof.MARK)
def changes_policy_of_a_process(at):
    import os

    os.sched_setscheduler(at.victim, os.SCHED_BATCH, os.sched_param(0))


@attack(Proof.DONE)
def sees_other_processes(at):
    import os

    return (
        str(at.victim) in os.listdir("/proc")
        and at.marker in open(f"/proc/{at.victim}/cmdline").read()
    )


@attack(Proof.DONE)
def learns_program_of_a_process(at):
    import os

    return os.readlink(f"/proc/{at.victim}/exe") == at.victim_program


@attack(Proof.LIVES, alone=True)
def leaves_a_daemon(at):
    import os
    import signal

    def ignore() -> None:
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                continue

    for _ in range(2):
        if os.fork():
            os._exit(0)
        os.setsid()
        ignore()
    os.execv("/bin/sleep", ["sleep", at.long])


@attack(Proof.LIVES, alone=True)
def leaves_many_daemons(at):
    import os
    import time

    for _ in range(12):
        if not os.fork():
            os.setsid()
            if os.fork():
                os._exit(0)
            os.execv("/bin/sleep", ["sleep", at.long])
    time.sleep(0.2)


@attack(Proof.LIVES, alone=True)
def keeps_child_when_killed(at):
    import os
    import time

    if not os.fork():
        os.execv("/bin/sleep", ["sleep", at.long])
    while True:
        time.sleep(1)


@attack(Proof.LIVES, alone=True)
def takes_signal_at_end_of_parent_back(at):
    import ctypes
    import os
    import time

    ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
    os.setsid() if os.getpid() != os.getsid(0) else None
    if os.fork():
        while True:
            time.sleep(1)
    os.execv("/bin/sleep", ["sleep", at.long])


@attack(Proof.LIVES, alone=True)
def spins_and_ignores_signals(at):
    import os
    import signal

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    if not os.fork():
        os.execv("/bin/sh", ["sh", "-c", f"trap '' TERM INT HUP; while :; do :; done # {at.long}"])
    while True:
        pass
