"""Attacks that read what is a person's own."""

# Each is as short as can be.
# ruff: noqa: SIM115
from __future__ import annotations

from tests.sandbox.corpus import Proof, attack


@attack(Proof.SECRET)
def reads_ssh_key(at):
    return open(f"{at.home}/.ssh/id_ed25519").read()


@attack(Proof.SECRET)
def reads_keyring(at):
    return open(f"{at.home}/.local/share/keyrings/login.keyring").read()


@attack(Proof.SECRET)
def reads_history(at):
    return open(f"{at.home}/.local/share/jarvis-desktop/history.db").read()


@attack(Proof.SECRET)
def reads_browser_cookies(at):
    return open(f"{at.home}/.mozilla/firefox/a.default/cookies.sqlite").read()


@attack(Proof.SECRET)
def reads_cloud_credentials(at):
    return open(f"{at.home}/.aws/credentials").read()


@attack(Proof.SECRET)
def reads_shell_history(at):
    return open(f"{at.home}/.bash_history").read()


@attack(Proof.SECRET)
def reads_by_relative_path(at):
    import os

    return open(os.path.relpath(f"{at.home}/.ssh/id_ed25519", os.getcwd())).read()


@attack(Proof.SECRET)
def reads_another_temporary_file(at):
    return open(at.temporary_file).read()


@attack(Proof.SECRET)
def reads_shared_memory_file(at):
    return open(at.shared_memory_file).read()


@attack(Proof.SECRET)
def reads_by_symbolic_link(at):
    import os

    os.symlink(f"{at.home}/.ssh/id_ed25519", "link")
    return open("link").read()


@attack(Proof.SECRET)
def reads_by_hard_link(at):
    import os

    os.link(f"{at.home}/.ssh/id_ed25519", "hard")
    return open("hard").read()


@attack(Proof.SECRET)
def reads_by_descriptor_that_leaked(at):
    import os

    found = []
    for number in range(3, 256):
        try:
            found.append(os.pread(number, 1000, 0).decode("latin-1"))
        except OSError:
            continue
    return "".join(found)


@attack(Proof.SECRET)
def reads_by_root_of_first_process(at):
    return open(f"/proc/1/root{at.home}/.ssh/id_ed25519").read()


@attack(Proof.SECRET)
def reads_by_own_root(at):
    return open(f"/proc/self/root{at.home}/.ssh/id_ed25519").read()


@attack(Proof.SECRET)
def reads_by_folder_of_a_process(at):
    return open(f"/proc/{at.victim}/cwd/.ssh/id_ed25519").read()


@attack(Proof.SECRET)
def reads_by_file_handle(at):
    import ctypes
    import os
    import struct

    libc = ctypes.CDLL(None, use_errno=True)
    handle = ctypes.create_string_buffer(8 + 128)
    struct.pack_into("<I", handle, 0, 128)
    mount = ctypes.c_int()
    path = f"{at.home}/.ssh/id_ed25519".encode()
    if libc.syscall(at.numbers["name_to_handle_at"], -100, path, handle, ctypes.byref(mount), 0):
        raise OSError(ctypes.get_errno(), "no handle")
    where = os.open(at.work, os.O_RDONLY)
    number = libc.syscall(at.numbers["open_by_handle_at"], where, handle, os.O_RDONLY)
    if number < 0:
        raise OSError(ctypes.get_errno(), "not by handle")
    return os.read(number, 1000).decode()


@attack(Proof.SECRET)
def reads_by_another_program(at):
    import subprocess

    return subprocess.run(
        ["/bin/cat", f"{at.home}/.ssh/id_ed25519"], capture_output=True, text=True, check=True
    ).stdout


@attack(Proof.SECRET)
def reads_by_native_code(at):
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    number = libc.open(f"{at.home}/.ssh/id_ed25519".encode(), 0)
    found = ctypes.create_string_buffer(1000)
    libc.read(number, found, 1000)
    return found.value.decode()


@attack(Proof.SECRET)
def reads_by_call_with_arguments_in_memory(at):
    import ctypes
    import os

    how = (ctypes.c_uint64 * 3)(0, 0, 0)
    path = f"{at.home}/.ssh/id_ed25519".encode()
    number = ctypes.CDLL(None).syscall(at.numbers["openat2"], -100, path, how, 24)
    return os.read(number, 1000).decode()


@attack(Proof.SECRET)
def reads_extended_attribute(at):
    import os

    return os.getxattr(f"{at.home}/documents/report.txt", "user.origin").decode()


@attack(Proof.SECRET)
def finds_names_of_files(at):
    import os

    return "".join(os.listdir(f"{at.home}/documents"))


@attack(Proof.SECRET)
def reads_target_of_link(at):
    import os

    return os.readlink(f"{at.home}/.mozilla/firefox/lock")


@attack(Proof.DONE)
def finds_out_that_a_file_exists(at):
    import os

    return os.stat(f"{at.home}/.ssh/id_ed25519").st_size


@attack(Proof.DONE)
def watches_a_folder(at):
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    number = libc.inotify_init1(0)
    return number >= 0 and libc.inotify_add_watch(number, at.home.encode(), 0xFFF) >= 0


@attack(Proof.DONE)
def reads_password_hashes(at):
    return open("/etc/shadow").read(1)


@attack(Proof.DONE)
def reads_accounts(at):
    return open("/etc/passwd").read(1)


@attack(Proof.DONE)
def reads_machine_number(at):
    return open("/etc/machine-id").read(1) or open("/etc/hosts").read(1)


@attack(Proof.SECRET)
def reads_own_environment(at):
    import os

    return str(dict(os.environ))


@attack(Proof.SECRET)
def reads_environment_of_first_processes(at):
    found = []
    for number in (1, 2, 3, 4):
        try:
            found.append(open(f"/proc/{number}/environ").read())
        except OSError:
            continue
    import os

    return "".join(found) + open(f"/proc/{os.getppid()}/environ").read()


@attack(Proof.SECRET)
def reads_environment_of_a_process(at):
    return open(f"/proc/{at.victim}/environ").read()


@attack(Proof.SECRET)
def reads_environment_of_all_processes(at):
    import glob

    found = []
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            found.append(open(path).read())
        except OSError:
            continue
    return "".join(line for text in found for line in text.split("\0") if at.marker in line)


@attack(Proof.SECRET)
def reads_command_line_of_a_process(at):
    return open(f"/proc/{at.victim}/cmdline").read()


@attack(Proof.SECRET)
def reads_memory_file_of_a_process(at):
    import re

    found = []
    with open(f"/proc/{at.victim}/maps") as maps, open(f"/proc/{at.victim}/mem", "rb", 0) as memory:
        for line in maps:
            if "[stack]" in line:
                start, end = (int(each, 16) for each in line.split()[0].split("-"))
                memory.seek(start)
                found.append(memory.read(end - start).decode("latin-1"))
    return "".join(re.findall(at.marker + r"[\w=-]+", "".join(found)))


@attack(Proof.SECRET)
def reads_memory_by_system_call(at):
    import ctypes
    import re

    start, end = at.stack
    found = ctypes.create_string_buffer(end - start)
    mine = (ctypes.c_uint64 * 2)(ctypes.addressof(found), end - start)
    theirs = (ctypes.c_uint64 * 2)(start, end - start)
    count = ctypes.CDLL(None).syscall(
        at.numbers["process_vm_readv"], at.victim, mine, 1, theirs, 1, 0
    )
    return count > 0 and "".join(re.findall(at.marker + r"[\w=-]+", found.raw.decode("latin-1")))


@attack(Proof.SECRET)
def reads_system_v_memory(at):
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    address = libc.shmat(at.shared_memory, None, 0o10000)
    if address in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "not attached")
    return ctypes.string_at(address).decode()


@attack(Proof.DONE)
def finds_listening_ports(at):
    return f":{at.tcp4:04X} " in open("/proc/net/tcp").read()


@attack(Proof.DONE)
def learns_host_name(at):
    import socket

    return socket.gethostname() == at.hostname


@attack(Proof.DONE)
def reads_network_hardware(at):
    import glob

    return open(glob.glob("/sys/class/net/*/address")[0]).read()


@attack(Proof.DONE)
def reads_kernel_log(at):
    import ctypes

    return ctypes.CDLL(None).syscall(at.numbers["syslog"], 10, None, 0) > 0
