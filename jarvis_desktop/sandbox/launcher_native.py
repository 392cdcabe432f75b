"""Sandboxes that come with the system, of macOS and of Windows.

Neither was tested on such a system: each is used only if the self-test passes (see self_test.py).
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.sandbox.profile import (
    InPlaceLauncher,
    Launch,
    SandboxProfile,
    environment,
    prefixes,
    temporary_folder,
)

PROGRAM = Path("/usr/bin/sandbox-exec")
SHELL = "/bin/sh"
SYSTEM = """
    /usr/lib /usr/share/zoneinfo /usr/share/locale /usr/share/icu /System/Library
    /System/Volumes/Preboot/Cryptexes /Library/Apple /Library/Fonts /private/var/db/timezone
    /private/var/db/dyld
""".split()
LIBRARIES = """
    /opt/homebrew/opt /opt/homebrew/lib /opt/homebrew/Cellar /usr/local/opt /usr/local/lib
    /usr/local/Cellar
""".split()
"""Where Homebrew keeps the libraries of its Python."""
FILES = """
    / /dev/null /dev/zero /dev/random /dev/urandom /private/etc/localtime /etc/localtime
    /private/etc/ssl/openssl.cnf
""".split()

PROFILE = """
(version 1)
(deny default)
(deny network*)
(allow process-exec (literal "/bin/sh") (literal "/bin/bash") (literal "/bin/dash"))
(allow signal (target self))
(allow sysctl-read)
(allow file-read* file-map-executable
  {system})
(allow file-read* {files})
(allow file-write-data (literal "/dev/null") (literal "/dev/zero"))
(allow file-read* file-map-executable process-exec
  {readable})
(allow file-read-metadata
  {above})
(allow file-read* file-write*
  {writable})
"""

LIMIT = """
ulimit -c 0 && ulimit -t "$1" && ulimit -n "$2" && ulimit -f "$3" && shift 3 && exec "$@"
"""
BLOCK = 512  # bytes of the unit in which a shell limits files


@dataclass(frozen=True, slots=True)
class Seatbelt(InPlaceLauncher):
    """macOS: starts a process in the system's own sandbox (`sandbox-exec`).

    Everything not listed is refused, including the network, sockets with a path, and starting other
    processes, because nothing here could keep those together and end them.
    """

    program: Path = PROGRAM

    name = "sandbox-exec"

    def command(self, profile: SandboxProfile, argv: Sequence[str]) -> Launch:
        """As `Launcher.command`. Raises UnavailableError if the program is missing."""
        if not self.program.exists():
            raise UnavailableError(tr("This macOS has no sandbox-exec."))
        temporary = temporary_folder().resolve()
        limits = profile.limits
        bounds = (limits.cpu, limits.open_files, limits.file_size // BLOCK)
        limited = (SHELL, "-c", LIMIT, SHELL, *map(str, bounds))
        return Launch(
            argv=(str(self.program), *_options(profile, temporary), *limited, *argv),
            env=environment(profile, home=str(profile.folder), temporary=str(temporary)),
            cwd=profile.folder,
            pass_fds=profile.descriptors,
            stop=getattr(signal, "SIGKILL", signal.SIGTERM),
            temporary=temporary,
        )


def _options(profile: SandboxProfile, temporary: Path) -> Iterator[str]:
    """The options that say what is allowed. Paths are parameters, so that none is parsed as part of
    the profile."""
    pairs = (*prefixes(profile.python), *((path, path) for path, _ in profile.readable))
    readable = [path.resolve() for pair in pairs for path in pair]
    writable = [profile.folder.resolve(), temporary]
    every = [*readable, *(path for pair in pairs for path in pair), *writable, profile.folder]
    above = dict.fromkeys(parent for path in every for parent in (path, *path.parents))
    groups = {
        "system": ("subpath", [Path(name) for name in (*SYSTEM, *LIBRARIES)]),
        "files": ("literal", [Path(name) for name in FILES]),
        "readable": ("subpath", readable),
        "above": ("literal", list(above)),
        "writable": ("subpath", writable),
    }
    parts = {
        name: " ".join(f'({kind} (param "{name}{number}"))' for number in range(len(paths)))
        for name, (kind, paths) in groups.items()
    }
    yield from ("-p", PROFILE.format(**parts))
    for name, (_, paths) in groups.items():
        for number, path in enumerate(paths):
            yield from ("-D", f"{name}{number}={path}")


START = Path(__file__).with_name("windows_launcher.py")

NEEDED = ("SYSTEMROOT", "SYSTEMDRIVE", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE")
"""Variables that almost every program on Windows needs; they reveal nothing about the user."""


@dataclass(frozen=True, slots=True)
class AppContainer(InPlaceLauncher):
    """Windows: starts a process in an AppContainer without capabilities, through a launcher,
    whose end also ends the job.

    An AppContainer reads and writes only what is granted to it or to all AppContainers, and has no
    network, not even loopback.
    """

    name = "AppContainer"

    def command(self, profile: SandboxProfile, argv: Sequence[str]) -> Launch:
        """As `Launcher.command`. Raises UnavailableError on other systems, or for inherited
        descriptors."""
        if sys.platform != "win32":
            raise UnavailableError(tr("AppContainers exist only on Windows."))
        if profile.descriptors:
            raise UnavailableError(tr("On Windows a process inherits its standard streams only."))
        temporary = temporary_folder()
        here = {name: os.environ[name] for name in NEEDED if name in os.environ}
        inside = environment(profile, home=str(profile.folder), temporary=str(temporary))
        return Launch(
            argv=tuple(start(profile, argv, temporary)),
            env={**here, **inside, "TEMP": str(temporary), "TMP": str(temporary)},
            cwd=profile.folder,
            stop=signal.SIGTERM,  # on Windows it ends a process at once, and the job with it
            temporary=temporary,
        )


def start(profile: SandboxProfile, argv: Sequence[str], temporary: Path) -> Iterator[str]:
    """Yield the arguments of the launcher program (see windows_launcher.py)."""
    limits = profile.limits
    yield from (str(profile.python), "-I", "-S", str(START), "--parent", str(os.getpid()))
    yield from ("--processes", str(limits.processes), "--memory", str(limits.memory))
    yield from ("--cpu", str(limits.cpu))
    for path in (
        *(real for real, _ in prefixes(profile.python)),
        *(real for real, _ in profile.readable),
    ):
        yield from ("--read", str(path))
    for folder in (profile.folder, temporary):
        yield from ("--write", str(folder))
    yield from ("--folder", str(profile.folder), "--", *argv)
