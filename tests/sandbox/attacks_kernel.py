"""Attacks on the kernel: what it offers beyond files, and ways into other namespaces."""

# Each is as short as can be.
# ruff: noqa: RET503
from __future__ import annotations

from tests.sandbox.corpus import Proof, attack


@attack(Proof.DONE)
def makes_ring_of_requests(at):
    import ctypes

    room = ctypes.create_string_buffer(256)
    return ctypes.CDLL(None).syscall(at.numbers["io_uring_setup"], 4, room) >= 0


@attack(Proof.DONE)
def handles_own_page_faults(at):
    import ctypes

    return ctypes.CDLL(None).syscall(at.numbers["userfaultfd"], 1) >= 0


@attack(Proof.DONE)
def loads_program_into_kernel(at):
    import ctypes

    # An array with one entry.
    words = (ctypes.c_uint32 * 32)(2, 4, 4, 1)
    return ctypes.CDLL(None).syscall(at.numbers["bpf"], 0, words, 72) >= 0


@attack(Proof.DONE)
def measures_other_programs(at):
    import ctypes

    words = (ctypes.c_uint32 * 32)(1, 112)
    return ctypes.CDLL(None).syscall(at.numbers["perf_event_open"], words, 0, -1, -1, 0) >= 0


@attack(Proof.DONE)
def adds_a_key(at):
    import ctypes

    add = ctypes.CDLL(None).syscall
    return add(at.numbers["add_key"], b"user", b"corpus", b"x", ctypes.c_size_t(1), -1) >= 0


@attack(Proof.DONE)
def finds_ring_of_keys(at):
    import ctypes

    # KEYCTL_GET_KEYRING_ID of the session
    return ctypes.CDLL(None).syscall(at.numbers["keyctl"], 0, -3, 1) > 0


@attack(Proof.DONE)
def makes_addresses_foreseeable(at):
    import ctypes

    call, number = ctypes.CDLL(None).syscall, at.numbers["personality"]
    call(number, ctypes.c_ulong(0x0040000))
    return call(number, ctypes.c_ulong(0xFFFFFFFF)) == 0x0040000


@attack(Proof.DONE)
def makes_file_in_memory(at):
    import os

    # Nobody counts what it takes.
    return os.memfd_create("x")


@attack(Proof.DONE)
def makes_queue_of_messages(at):
    import ctypes

    number = ctypes.CDLL(None).syscall(at.numbers["mq_open"], b"corpus", 0o102, 0o600, None)
    return number >= 0


@attack(Proof.DONE)
def makes_shared_memory(at):
    import ctypes

    libc = ctypes.CDLL(None)
    number = libc.syscall(at.numbers["shmget"], 0, ctypes.c_size_t(4096), 0o1600)
    return number >= 0 and libc.shmctl(number, 0, None) == 0


@attack(Proof.DONE)
def makes_user_namespace(at):
    import ctypes

    return ctypes.CDLL(None).unshare(0x10000000) == 0


@attack(Proof.DONE)
def makes_user_namespace_by_new_process(at):
    import ctypes
    import os
    import signal

    child = ctypes.CDLL(None).syscall(
        at.numbers["clone"], ctypes.c_ulong(0x10000000 | signal.SIGCHLD), None, None, None, None
    )
    if child == 0:
        os._exit(0)
    return child > 0


@attack(Proof.DONE)
def makes_user_namespace_by_new_call(at):
    import ctypes
    import os
    import signal

    words = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, signal.SIGCHLD)
    child = ctypes.CDLL(None).syscall(at.numbers["clone3"], words, ctypes.c_size_t(88))
    if child == 0:
        os._exit(0)
    return child > 0


@attack(Proof.DONE)
def makes_user_namespace_by_program(at):
    import subprocess

    return subprocess.run(["/usr/bin/unshare", "-Ur", "/bin/true"], check=True, capture_output=True)


@attack(Proof.DONE)
def enters_namespace_of_a_process(at):
    import ctypes
    import os

    number = os.open(f"/proc/{at.victim}/ns/uts", os.O_RDONLY)
    return ctypes.CDLL(None).setns(number, 0) == 0


@attack(Proof.DONE)
def mounts(at):
    import ctypes

    libc = ctypes.CDLL(None)
    at_work = at.work.encode()
    done = libc.mount(at_work, at_work, None, 0x1000, None) == 0
    if done:
        libc.umount2(at_work, 2)
    return done


@attack(Proof.DONE)
def mounts_by_new_call(at):
    import ctypes

    return ctypes.CDLL(None).syscall(at.numbers["fsopen"], b"tmpfs", 0) >= 0


@attack(Proof.DONE)
def takes_a_tree_of_mounts(at):
    import ctypes

    return ctypes.CDLL(None).syscall(at.numbers["open_tree"], -100, b"/", 1) >= 0


@attack(Proof.DONE)
def changes_root(at):
    import os

    os.chroot(at.work)
    return True


@attack(Proof.DONE)
def changes_host_name(at):
    import socket

    # To what it is: the right to do so is the question.
    socket.sethostname(socket.gethostname())
    return True


@attack(Proof.DONE)
def sets_the_clock(at):
    import ctypes

    # Nothing given is nothing changed.
    return ctypes.CDLL(None).syscall(at.numbers["settimeofday"], None, None) == 0


@attack(Proof.DONE)
def loads_kernel_module(at):
    import ctypes
    import errno

    # No file: whoever may, is told of that and not that he may not.
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(at.numbers["finit_module"], -1, b"", 0)
    return ctypes.get_errno() == errno.EBADF


@attack(Proof.DONE)
def turns_accounting_off(at):
    import ctypes
    import errno

    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(at.numbers["swapon"], b"/nowhere", 0)
    return ctypes.get_errno() == errno.ENOENT


@attack(Proof.DONE)
def makes_device_by_driver(at):
    import os

    for path in (
        "/dev/fuse",
        "/dev/kvm",
        "/dev/net/tun",
        "/dev/vhost-net",
        "/dev/loop-control",
        "/dev/vda",
        "/dev/sda",
    ):
        try:
            os.close(os.open(path, os.O_RDWR))
            return path
        except OSError:
            continue


@attack(Proof.DONE)
def types_into_terminal(at):
    import fcntl
    import os
    import pty
    import termios

    _, terminal = pty.openpty()
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    fcntl.ioctl(terminal, termios.TIOCSTI, b"x")
    return True


@attack(Proof.DONE)
def types_into_terminal_with_longer_number(at):
    import ctypes
    import fcntl
    import os
    import pty
    import termios

    _, terminal = pty.openpty()
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    longer = ctypes.c_ulong(termios.TIOCSTI | 1 << 32)
    return ctypes.CDLL(None).ioctl(terminal, longer, b"x") == 0


@attack(Proof.DONE)
def watches_whole_file_system(at):
    import ctypes

    libc = ctypes.CDLL(None)
    return libc.syscall(at.numbers["fanotify_init"], 0x200, 0) >= 0


@attack(Proof.DONE)
def calls_as_32_bits(at):
    import ctypes
    import mmap

    # mov eax, 20 (getpid); int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    return ctypes.CFUNCTYPE(ctypes.c_int)(address)() > 0


@attack(Proof.DONE)
def calls_as_x32(at):
    import ctypes

    return ctypes.CDLL(None).syscall(at.numbers["getpid"] | 0x40000000) > 0


@attack(Proof.DONE)
def makes_call_that_is_newer_than_the_list(at):
    import ctypes
    import errno

    # file_getattr, listns, and whatever comes: the kernel itself finds fault with no arguments.
    libc, found = ctypes.CDLL(None, use_errno=True), []
    for number in range(463, 480):
        libc.syscall(number, -1, None, None, 0, 0, 0)
        if ctypes.get_errno() not in (errno.ENOSYS, errno.EPERM):
            found.append(number)
    return found
