"""Attacks that take what all share. Each gives what it got only where that is beyond all bounds."""

# Each is as short as can be.
# ruff: noqa: SIM115
from __future__ import annotations

from tests.sandbox.corpus import Proof, attack


@attack(Proof.PASSED, bound="tasks")
def forks_without_end(at):
    import os
    import time

    for _ in range(4 * at.processes):
        try:
            if not os.fork():
                os.execv("/bin/sleep", ["sleep", at.long])
        except OSError:
            break
    time.sleep(0.5)


@attack(Proof.PASSED, bound="tasks")
def forks_and_each_forks(at):
    import os
    import time

    end = time.monotonic() + 1
    while time.monotonic() < end:
        try:
            os.fork()
        except OSError:
            time.sleep(0.01)
        time.sleep(0.02)


@attack(Proof.DONE)
def takes_address_space(at):
    import mmap

    return len(mmap.mmap(-1, 2 * at.memory, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))


@attack(Proof.PASSED, bound="memory")
def takes_memory_by_many(at):
    import os
    import time

    block = at.bound_memory // 8
    for _ in range(32):
        if not os.fork():
            held = bytearray(block)
            held[::4096] = b"x" * len(held[::4096])
            time.sleep(20)
            os._exit(0)
        time.sleep(0.02)
    time.sleep(0.5)


@attack(Proof.DONE)
def writes_large_file(at):
    part = bytes(1 << 20)
    with open("large", "wb") as file:
        for _ in range(2 * at.file_size // len(part)):
            file.write(part)
    return True


@attack(Proof.DONE)
def makes_file_with_hole(at):
    import os

    with open("hole", "wb") as file:
        os.ftruncate(file.fileno(), 1 << 40)
    return True


@attack(Proof.DONE)
def reserves_large_file(at):
    import os

    with open("reserved", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 2 * at.file_size)
    return True


@attack(Proof.PASSED, bound="disk")
def fills_folder(at):
    import time

    part = bytes(at.file_size // 2)
    for number in range(8 * at.disk // len(part)):
        open(f"part-{number}", "wb").write(part)
        time.sleep(0.01)
    time.sleep(0.5)


@attack(Proof.PASSED, bound="disk")
def fills_temporary_folder(at):
    import os
    import time

    part = bytes(at.file_size // 2)
    for number in range(8 * at.disk // len(part)):
        open(f"{os.environ['TMPDIR']}/part-{number}", "wb").write(part)
        time.sleep(0.01)
    time.sleep(0.5)


@attack(Proof.PASSED, bound="disk")
def fills_shared_memory(at):
    import time

    part = bytes(1 << 20)
    for number in range(8 * at.disk // len(part)):
        open(f"/dev/shm/part-{number}", "wb").write(part)
        time.sleep(0.01)
    time.sleep(0.5)


@attack(Proof.PASSED, bound="files")
def makes_many_files(at):
    import time

    for number in range(8 * at.files):
        open(f"small-{number}", "w").close()
        if number % 50 == 0:
            time.sleep(0.02)
    time.sleep(0.5)


@attack(Proof.DONE)
def opens_many_files(at):
    import os

    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(2 * at.open_files)]
    return len(held)


@attack(Proof.DONE)
def raises_own_limits(at):
    import resource

    none = resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_AS, (none, none))
    resource.setrlimit(resource.RLIMIT_FSIZE, (none, none))
    return True


@attack(Proof.DONE)
def leaves_image_of_memory(at):
    import resource

    return resource.getrlimit(resource.RLIMIT_CORE)[1] > 0


@attack(Proof.PASSED, bound="seconds")
def computes_without_end(at):
    while True:
        pass
