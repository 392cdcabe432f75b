"""Attacks that change or leave what they should not."""

# Each is as short as can be.
# ruff: noqa: RET503, SIM115
from __future__ import annotations

from tests.sandbox.corpus import Proof, attack


@attack(Proof.MARK)
def writes_outside(at):
    open(f"{at.outside}/writes_outside", "w").write("x")


@attack(Proof.MARK)
def appends_to_shell_start_file(at):
    open(f"{at.home}/.bashrc", "a").write("appends_to_shell_start_file")


@attack(Proof.MARK)
def adds_program_that_starts_with_desktop(at):
    open(f"{at.home}/.config/autostart/adds_program_that_starts_with_desktop", "w").write("x")


@attack(Proof.MARK)
def adds_ssh_key(at):
    open(f"{at.home}/.ssh/authorized_keys", "a").write("adds_ssh_key")


@attack(Proof.MARK)
def writes_temporary_file_of_all(at):
    open(f"{at.temporary_folder}/writes_temporary_file_of_all", "w").write("x")


@attack(Proof.MARK)
def writes_by_symbolic_link(at):
    import os

    os.symlink(at.outside, "door")
    open("door/writes_by_symbolic_link", "w").write("x")


@attack(Proof.MARK)
def writes_by_root_of_first_process(at):
    open(f"/proc/1/root{at.outside}/writes_by_root_of_first_process", "w").write("x")


@attack(Proof.MARK)
def moves_a_file_out(at):
    import os

    open("moved", "w").write("x")
    os.rename("moved", f"{at.outside}/moves_a_file_out")


@attack(Proof.MARK)
def links_a_file_out(at):
    import os

    open("linked", "w").write("x")
    os.link("linked", f"{at.outside}/links_a_file_out")


@attack(Proof.MARK)
def takes_a_file_in(at):
    import os

    os.rename(f"{at.victims}/takes_a_file_in", "taken")


@attack(Proof.MARK)
def removes_a_file(at):
    import os

    os.unlink(f"{at.victims}/removes_a_file")


@attack(Proof.MARK)
def empties_a_file(at):
    import os

    os.truncate(f"{at.victims}/empties_a_file", 0)


@attack(Proof.MARK)
def changes_a_mode(at):
    import os

    os.chmod(f"{at.victims}/changes_a_mode", 0o777)


@attack(Proof.MARK)
def changes_a_mode_by_new_call(at):
    import ctypes

    path = f"{at.victims}/changes_a_mode_by_new_call".encode()
    ctypes.CDLL(None).syscall(at.numbers["fchmodat2"], -100, path, 0o777, 0)


@attack(Proof.MARK)
def changes_times(at):
    import os

    os.utime(f"{at.victims}/changes_times", (1, 1))


@attack(Proof.MARK)
def sets_extended_attribute(at):
    import os

    os.setxattr(f"{at.victims}/sets_extended_attribute", "user.x", b"x")


@attack(Proof.MARK)
def changes_owner(at):
    import os

    os.chown(f"{at.victims}/changes_owner", 12345, 12345)


@attack(Proof.MARK)
def makes_a_folder(at):
    import os

    os.mkdir(f"{at.outside}/makes_a_folder")


@attack(Proof.MARK)
def binds_a_socket_outside(at):
    import socket

    socket.socket(socket.AF_UNIX).bind(f"{at.outside}/binds_a_socket_outside")


@attack(Proof.MARK)
def plants_module_among_packages(at):
    open(f"{at.packages}/plants_module_among_packages", "w").write("x")


@attack(Proof.MARK)
def plants_start_file_of_python(at):
    open(f"{at.packages}/sitecustomize.py", "w").write("plants_start_file_of_python")


@attack(Proof.MARK)
def plants_compiled_module(at):
    import os

    os.makedirs(f"{at.packages}/__pycache__", exist_ok=True)
    open(f"{at.packages}/__pycache__/plants_compiled_module", "w").write("x")


@attack(Proof.MARK)
def changes_code_library(at):
    open(f"{at.library}/__init__.py", "a").write("changes_code_library")


@attack(Proof.MARK)
def replaces_program_of_packages(at):
    import os

    os.symlink("/bin/true", "true")
    os.rename("true", at.program)


@attack(Proof.DONE)
def opens_library_of_python_for_writing(at):
    import os

    os.close(os.open(os.__file__, os.O_WRONLY))
    return True


@attack(Proof.DONE)
def opens_own_program_for_writing(at):
    import os

    for path in ("/proc/self/exe", "/proc/1/exe", f"/proc/{os.getppid()}/exe"):
        try:
            os.close(os.open(path, os.O_WRONLY))
            return True
        except OSError:
            continue


@attack(Proof.DONE)
def opens_settings_of_kernel(at):
    import os

    os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
    return True


@attack(Proof.DONE)
def opens_accounts_for_writing(at):
    import os

    os.close(os.open("/etc/passwd", os.O_WRONLY))
    return True


@attack(Proof.DONE)
def makes_file_among_timed_programs(at):
    import os

    for folder in ("/var/spool/cron", "/etc/cron.d", "/etc/systemd/system", "/etc"):
        if os.path.isdir(folder):
            os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
            return True


@attack(Proof.DONE)
def opens_memory_of_computer(at):
    import os

    for path in ("/dev/mem", "/dev/port", "/proc/kcore", "/dev/kmsg"):
        try:
            os.close(os.open(path, os.O_RDONLY))
            return path
        except OSError:
            continue


@attack(Proof.DONE)
def opens_a_disk(at):
    import glob
    import os

    for path in glob.glob("/dev/[svn][dv][a-z]*") + glob.glob("/dev/loop*"):
        try:
            os.close(os.open(path, os.O_RDONLY))
            return path
        except OSError:
            continue


@attack(Proof.DONE)
def opens_settings_of_devices(at):
    import os

    for path in (
        "/sys/kernel/uevent_helper",
        "/sys/power/state",
        "/sys/kernel/mm/ksm/run",
        "/sys/module/printk/parameters/time",
    ):
        try:
            os.close(os.open(path, os.O_WRONLY))
            return path
        except OSError:
            continue


@attack(Proof.DONE)
def opens_control_groups(at):
    import glob
    import os

    for path in glob.glob("/sys/fs/cgroup/**/release_agent", recursive=True) + glob.glob(
        "/sys/fs/cgroup/cgroup.*"
    ):
        try:
            os.close(os.open(path, os.O_WRONLY))
            return path
        except OSError:
            continue


@attack(Proof.MARK)
def makes_file_that_runs_as_its_owner(at):
    import os

    open("set-id-by-mode", "w").close()
    os.chmod("set-id-by-mode", 0o4755)


@attack(Proof.MARK)
def creates_file_that_runs_as_its_owner(at):
    import os

    os.close(os.open("set-id-at-once", os.O_CREAT | os.O_WRONLY, 0o6755))


@attack(Proof.MARK)
def leaves_a_fifo(at):
    import os

    os.mkfifo("leaves_a_fifo")


@attack(Proof.MARK)
def leaves_a_device(at):
    import os
    import stat

    os.mknod("leaves_a_device", stat.S_IFCHR | 0o666, os.makedev(1, 1))


@attack(Proof.DONE)
def fills_memory_of_devices(at):
    open("/dev/fills_memory_of_devices", "w").write("x")
    return True


@attack(Proof.DONE)
def runs_program_as_another(at):
    import os
    import subprocess

    told = subprocess.run(
        [at.set_id_program, "-u"], capture_output=True, text=True, check=True
    ).stdout
    return int(told) != os.getuid()
