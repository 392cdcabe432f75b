"""What a sandboxed process may see and use, and what starts one: the seam of the launchers.

A profile is a list of what is allowed; all else is not there. All processes that the started one
begins descend from it for as long as they live, so that one who watches over its tree sees them
all, and `Launch.stop` ends them all.
"""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol

from jarvis_desktop.process.safe_delete import remove
from jarvis_desktop.sandbox import process_tree

MIB = 1 << 20
GIB = 1 << 30

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
"""Where Linux keeps what every program reads."""
SETTINGS = """
    ld.so.cache ld.so.conf ld.so.conf.d alternatives localtime mime.types fonts
    ssl/certs ssl/openssl.cnf pki/tls/certs pki/ca-trust/extracted ca-certificates
""".split()
"""Of /etc: what finds libraries, fonts, the time zone, and public certificates."""


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """What the system itself holds a process to. Sums over all processes are a supervisor's."""

    cpu: int = 3600
    """Seconds of processor time, for each process."""
    memory: int = 4 * GIB
    """Bytes of address space, for each process."""
    file_size: int = 256 * MIB
    """Bytes of a file that is written."""
    open_files: int = 256
    processes: int = 256
    """Processes and threads at a time. Where there is no user namespace, those that the person
    begins besides may count, too. For root only where control groups can be made: a supervisor
    counts besides."""
    temporary: int = 64 * MIB
    """Bytes in the folder for temporary files, where that is held in memory (bubblewrap)."""


@dataclass(frozen=True, slots=True)
class SandboxProfile:
    """What one sandboxed process may see and use."""

    folder: Path
    """Its working folder: what it writes stays there. Its only one besides a private /tmp."""
    python: Path
    """The interpreter: its prefix and base prefix are readable at their own paths."""
    readable: tuple[tuple[Path, str], ...] = ()
    """Further folders and files to read, and where they are wanted inside. `Launcher.inside`
    tells where they are, as not every launcher can place them."""
    descriptors: tuple[int, ...] = ()
    """File descriptors that it inherits under the same numbers, such as its control channel.
    Sockets among them must be stream sockets that are connected: by a datagram socket it would
    reach other programs. Windows knows none: use the standard streams."""
    environment: tuple[tuple[str, str], ...] = ()
    """Variables besides those that every process gets."""
    limits: ProcessLimits = ProcessLimits()


@dataclass(frozen=True, slots=True)
class Launch:
    """How the process is started: by Popen or asyncio, with `cwd`, `env` and `pass_fds` as here.

    It is to be started from a thread that lives as long as the process: Linux ends it with that
    thread. `close` comes after the end of the process, or where it was not started at all.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    pass_fds: tuple[int, ...] = ()
    stop: signal.Signals = signal.SIGTERM
    """The signal that ends the process and all that it began. Where that has not helped after
    half a second, kill it and what descends from it."""
    temporary: Path | None = None
    """A folder of the host for its temporary files, where there is one: counts as its folder."""
    opened: tuple[int, ...] = field(default=(), repr=False)
    """Descriptors that were opened for it, all of them in `pass_fds`, too."""
    group: Path | None = None
    """The control group that its processes are counted in, where there is one."""

    def close(self) -> None:
        """Close what was opened for it, remove its temporary files, end who may be left. Once only;
        it waits for the disk, and for those."""
        for descriptor in self.opened:
            with suppress(OSError):
                os.close(descriptor)
        if self.group:
            process_tree.end(self.group)
        if self.temporary:
            remove(self.temporary)


class Launcher(Protocol):
    """One way to shut a process in."""

    @property
    def name(self) -> str:
        """As `Protection.name`."""
        ...

    @property
    def sandboxed(self) -> bool:
        """Whether it keeps the process from anything."""
        ...

    def command(self, box: SandboxProfile, argv: Sequence[str]) -> Launch:
        """How to start `argv`, a program and its arguments as they are seen inside.

        Raises UnavailableError where it cannot be done here. May read files: not for a loop.
        """
        ...

    def inside(self, box: SandboxProfile, path: Path) -> str:
        """Where the box's folder, what it may read, or what lies in these, is seen inside."""
        ...


def environment(box: SandboxProfile, *, home: str, temporary: str) -> dict[str, str]:
    """The variables of a process, of which none comes from this one; both folders as seen inside.

    Caches of libraries go to the temporary folder, lest they lie among a script's files.
    """
    return {
        "PATH": os.pathsep.join((str(box.python.parent), "/usr/local/bin", "/usr/bin", "/bin")),
        "HOME": home,
        "TMPDIR": temporary,
        "XDG_CACHE_HOME": f"{temporary}/cache",
        "XDG_CONFIG_HOME": f"{temporary}/config",
        "XDG_DATA_HOME": f"{temporary}/data",
        "MPLCONFIGDIR": f"{temporary}/matplotlib",
        "USER": "sandbox",
        "LOGNAME": "sandbox",
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        **dict(box.environment),
    }


def temporary_folder() -> Path:
    """A new one for a process, to be removed by `Launch.close`."""
    return Path(tempfile.mkdtemp(prefix="jarvis-sandbox-"))


def placed(path: Path, places: Sequence[tuple[Path, str]]) -> str:
    """Where a path is seen, of folders and the places they have inside; else where it is."""
    for real, name in places:
        for one in (path, path.resolve()):
            if one.is_relative_to(real):
                return str(PurePosixPath(name, one.relative_to(real).as_posix()))
    return str(path)


def prefixes(python: Path) -> tuple[tuple[Path, Path], ...]:
    """What an interpreter needs: what is to be read, resolved, and the path it is looked up by.

    These are its prefix and that of the interpreter its environment was made from. Of one that
    holds the person's own files (an interpreter built into the home folder) only the parts that
    are Python's.
    """
    found: dict[Path, Path] = {}
    for prefix in (python.parent.parent, *_bases(python)):
        for path in dict.fromkeys((prefix, prefix.resolve())):
            for part in _parts(path):
                if part.exists():
                    found[part] = part.resolve()
    return tuple((real, path) for path, real in found.items())


def _bases(python: Path) -> Sequence[Path]:
    """The prefixes behind an interpreter: of each program on the way from link to link, and of
    the one that made the virtual environment."""
    ways = [python]
    with suppress(OSError, UnicodeDecodeError):
        text = (python.parent.parent / "pyvenv.cfg").read_text("utf-8")
        for line in text.splitlines():
            key, _, value = line.partition("=")
            if key.strip() == "home" and value.strip():
                ways.append(Path(value.strip()) / python.name)
    prefixes: list[Path] = []
    for way in ways:
        for _ in range(16):
            prefixes.append(way.parent.parent)
            if not way.is_symlink():
                break
            way = way.parent / way.readlink()
    return [Path(os.path.normpath(prefix)) for prefix in dict.fromkeys(prefixes)]


def _parts(prefix: Path) -> Sequence[Path]:
    private = Path.home().resolve()
    if prefix not in (private, *private.parents):
        return (prefix,)
    return tuple(prefix / name for name in ("bin", "lib", "lib64", "pyvenv.cfg"))
