"""Linux: a process in its own namespaces, by bubblewrap (`bwrap`).

It sees only the files that it may read, and its own processes, network and host name. Needs user
namespaces, which some systems forbid to programs (Ubuntu 24.04, unless an AppArmor profile allows
them to `bwrap`).
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.sandbox import process_tree, seccomp
from jarvis_desktop.sandbox.profile import (
    SETTINGS,
    SYSTEM,
    Launch,
    SandboxProfile,
    environment,
    path_inside,
    prefixes,
    temporary_folder,
)

PROGRAM = "bwrap"
LIMITER = "/usr/bin/prlimit"
"""Of util-linux: sets the limits inside, where processes are counted separately from the user's."""

INSTALL = "Install bubblewrap: sudo apt install bubblewrap"
FOLDERS = ("/work", "/sandbox")
"""Possible names of the working folder inside: the first that does not hide an interpreter."""

ROOT = 0
OWN = 3  # processes of bubblewrap itself
TEMPORARY = "/tmp"  # noqa: S108 - the sandbox's own
MASKED_FOLDERS = "sys fs irq bus acpi driver scsi asound dynamic_debug sysvipc tty".split()
MASKED_FILES = """
    kcore keys key-users kmsg kallsyms mtrr timer_list sched_debug slabinfo vmallocinfo
    pagetypeinfo kpagecount kpageflags kpagecgroup sysrq-trigger iomem ioports config.gz modules
""".split()
"""Parts of /proc about the computer. Kernel settings (sys) are writable for uid 0 even without
capabilities, and bubblewrap leaves them writable. Other users are kept out by file modes and need
no mounts."""


@dataclass(frozen=True)
class Bubblewrap:
    """Starts a process with `program`, which is bubblewrap."""

    program: str = PROGRAM
    known: Collection[str] | None = None  # the options it supports; None to ask it

    name = "bubblewrap"
    sandboxed = True

    def command(self, profile: SandboxProfile, argv: Sequence[str]) -> Launch:
        """As `Launcher.command`. Raises UnavailableError if a program is missing."""
        program = shutil.which(self.program)
        if program is None:
            raise UnavailableError(tr("bubblewrap is not installed."), hint=INSTALL)
        if not Path(LIMITER).exists():
            raise UnavailableError(
                tr("The program prlimit is missing."),
                hint=tr("Install it: sudo apt install util-linux"),
            )
        bpf = seccomp.program(namespaces=True)
        # Forbids user namespaces inside; for versions without the option, seccomp does.
        disabled = ["--disable-userns"] if "--disable-userns" in self._known else []
        home = folder(profile)
        # Older versions cannot limit the size of a tmpfs.
        temporary = None if "--size" in self._known else temporary_folder()
        filtered = seccomp.descriptor(bpf)
        group = process_tree.group(profile.limits.processes + OWN)
        parts = (
            *(
                ("/bin/sh", "-c", process_tree.JOIN, str(process_tree.members(group)))
                if group
                else ()
            ),
            *(program, "--unshare-all", "--unshare-user", *disabled),
            *("--die-with-parent", "--new-session", "--cap-drop", "ALL"),
            *("--uid", "1000", "--gid", "1000", "--hostname", "sandbox"),
            *_system(),
            *_kernel(),
            *_private(profile, temporary),
            *_readable(profile),
            *("--bind", str(profile.folder), home, "--remount-ro", "/", "--chdir", home),
            *("--seccomp", str(filtered), "--", *_limited(profile), "--", *argv),
        )
        return Launch(
            argv=parts,
            env=environment(profile, home=home, temporary=TEMPORARY),
            cwd=profile.folder,
            pass_fds=(*profile.descriptors, filtered),
            stop=signal.SIGKILL,  # when its monitor ends, so does the process namespace
            temporary=temporary,
            opened=(filtered,),
            group=group,
        )

    def inside(self, profile: SandboxProfile, path: Path) -> str:
        """As `Launcher.inside`."""
        return path_inside(path, ((profile.folder, folder(profile)), *profile.readable))

    @cached_property
    def _known(self) -> Collection[str]:
        return _options(self.program) if self.known is None else self.known


def folder(profile: SandboxProfile) -> str:
    """The name of the working folder inside."""
    read = [path for _, path in prefixes(profile.python)]
    free = (name for name in FOLDERS if not any(path.is_relative_to(name) for path in read))
    return next(free, FOLDERS[-1])


@lru_cache
def _options(program: str) -> frozenset[str]:
    try:
        told = subprocess.run(
            [program, "--help"], capture_output=True, text=True, timeout=5, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise UnavailableError(tr("bubblewrap does not run."), hint=INSTALL) from error
    return frozenset(word for word in told.split() if word.startswith("--"))


def _system() -> Iterator[str]:
    for name in SYSTEM:
        path = Path(name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), name)
        elif path.exists():
            yield from ("--ro-bind", name, name)
    for name in SETTINGS:
        path = Path("/etc", name)
        if path.exists():
            yield from ("--ro-bind", str(path), str(path))


def _kernel() -> Iterator[str]:
    yield from ("--proc", "/proc", "--dev", "/dev")
    if os.geteuid() != ROOT:
        return
    for name in MASKED_FOLDERS:
        path = f"/proc/{name}"
        if Path(path).is_dir():
            yield from ("--tmpfs", path, "--remount-ro", path)
    for name in MASKED_FILES:
        path = f"/proc/{name}"
        if Path(path).exists():
            yield from ("--ro-bind", os.devnull, path)


def _private(profile: SandboxProfile, temporary: Path | None) -> Iterator[str]:
    """Temporary files and shared memory; /dev itself cannot be filled."""
    for name in (TEMPORARY, "/dev/shm"):  # noqa: S108 - the sandbox's own
        if temporary:
            part = temporary / Path(name).name
            part.mkdir()
            yield from ("--bind", str(part), name)
        else:
            yield from ("--size", str(profile.limits.temporary), "--tmpfs", name)
    yield from ("--remount-ro", "/dev")


def _readable(profile: SandboxProfile) -> Iterator[str]:
    for real, path in prefixes(profile.python):
        if not any(path.is_relative_to(name) for name in SYSTEM):
            yield from ("--ro-bind", str(real), str(path))
    for source, name in profile.readable:
        yield from ("--ro-bind", str(source), name)


def _limited(profile: SandboxProfile) -> Iterator[str]:
    limits = profile.limits
    yield LIMITER
    yield from (
        f"--cpu={limits.cpu}",
        f"--as={limits.memory}",
        f"--fsize={limits.file_size}",
        f"--nofile={limits.open_files}",
        f"--nproc={limits.processes}",
        "--core=0",
    )
