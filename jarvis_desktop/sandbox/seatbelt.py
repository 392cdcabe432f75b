"""macOS: a process in the system's own sandbox (`sandbox-exec`).

Everything not listed is refused, including the network, sockets with a path, and starting other
processes, because nothing here could keep those together and end them. Untested on a real Mac: it
is used only if the self-test passes (see self_test.py).
"""

from __future__ import annotations

import signal
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
    """Starts a process with sandbox-exec."""

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
