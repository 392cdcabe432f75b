"""What a sandboxed process may see and use, and the interface of the launchers.

A profile lists what is allowed; everything else is absent. All processes that the first one starts
stay its descendants, so that a supervisor sees them all and `Launch.stop` ends them all.
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
"""Where Linux keeps files that every program reads."""
SETTINGS = """
    ld.so.cache ld.so.conf ld.so.conf.d alternatives localtime mime.types fonts
    ssl/certs ssl/openssl.cnf pki/tls/certs pki/ca-trust/extracted ca-certificates
""".split()
"""In /etc: needed to find libraries, fonts, the time zone and public certificates."""


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """Limits that the system enforces per process. A supervisor limits sums over all processes."""

    cpu: int = 3600  # seconds of processor time per process
    memory: int = 4 * GIB  # bytes of address space per process
    file_size: int = 256 * MIB  # bytes of a written file
    open_files: int = 256
    processes: int = 256
    """Processes and threads at a time. Without a user namespace, the user's other processes may
    count too. For root only if control groups can be created; a supervisor counts as well."""
    temporary: int = 64 * MIB
    """Bytes in the folder for temporary files, if it is in memory (bubblewrap)."""


@dataclass(frozen=True, slots=True)
class SandboxProfile:
    """What one sandboxed process may see and use."""

    folder: Path  # its working folder; the only writable one besides a private /tmp
    python: Path  # the interpreter: its prefix and base prefix are readable at their own paths
    readable: tuple[tuple[Path, str], ...] = ()
    """Other readable folders and files, with their intended paths inside. `Launcher.inside` returns
    their real ones, because not every launcher can move them."""
    descriptors: tuple[int, ...] = ()
    """File descriptors inherited under the same numbers, such as its control channel. Sockets must
    be connected stream sockets: a datagram socket could reach other programs. Windows supports
    none: use the standard streams."""
    environment: tuple[tuple[str, str], ...] = ()  # variables besides those that every process gets
    limits: ProcessLimits = ProcessLimits()


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start the process: with Popen or asyncio, and these `cwd`, `env` and `pass_fds`. Start
    it from a thread that lives as long as the process: Linux ends it with that thread. Call `close`
    after the process has ended, or if it was not started at all."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    pass_fds: tuple[int, ...] = ()
    stop: signal.Signals = signal.SIGTERM
    """The signal that ends the process and its descendants. If they still run half a second later,
    kill them."""
    temporary: Path | None = None
    """A folder of the host for its temporary files, if any; it counts towards its disk space."""
    opened: tuple[int, ...] = field(default=(), repr=False)
    """Descriptors that were opened for it; all of them are in `pass_fds` too."""
    group: Path | None = None  # the control group of its processes, if any

    def close(self) -> None:
        """Close descriptors, kill leftovers and remove temporary files. Call once; it blocks."""
        for descriptor in self.opened:
            with suppress(OSError):
                os.close(descriptor)
        if self.group:
            process_tree.end(self.group)
        if self.temporary:
            remove(self.temporary)


class Launcher(Protocol):
    """A way to confine a process."""

    @property
    def name(self) -> str:
        """As `Protection.name`."""

    @property
    def sandboxed(self) -> bool:
        """Whether it restricts the process at all."""

    def command(self, profile: SandboxProfile, argv: Sequence[str]) -> Launch:
        """How to start `argv`, a program and its arguments as seen inside. Raises UnavailableError
        if it does not work here. May read files: do not call it on a loop."""

    def inside(self, profile: SandboxProfile, path: Path) -> str:
        """The path inside of the profile's folder, readable files, or anything within them."""


class InPlaceLauncher:
    """A launcher under which every path stays the same."""

    sandboxed = True

    def inside(self, profile: SandboxProfile, path: Path) -> str:
        """As `Launcher.inside`."""
        return str(path)


def environment(profile: SandboxProfile, *, home: str, temporary: str) -> dict[str, str]:
    """A process's variables, none from this one; both folders as seen inside. Libraries cache in
    the temporary folder, so that their files are not among a script's."""
    return {
        "PATH": os.pathsep.join((str(profile.python.parent), "/usr/local/bin", "/usr/bin", "/bin")),
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
        **dict(profile.environment),
    }


def temporary_folder() -> Path:
    """Create a folder for a process, to be removed by `Launch.close`."""
    return Path(tempfile.mkdtemp(prefix="jarvis-sandbox-"))


def path_inside(path: Path, places: Sequence[tuple[Path, str]]) -> str:
    """The path inside, given folders and their places inside; the path itself if in none."""
    for real, name in places:
        for one in (path, path.resolve()):
            if one.is_relative_to(real):
                return str(PurePosixPath(name, one.relative_to(real).as_posix()))
    return str(path)


def prefixes(python: Path) -> tuple[tuple[Path, Path], ...]:
    """The folders an interpreter needs: each resolved, and the path by which it is looked up. These
    are its prefix and the prefix behind its virtual environment. If a prefix contains the user's
    own files (a Python built into the home folder), only the parts that are Python's."""
    found: dict[Path, Path] = {}
    for prefix in (python.parent.parent, *_bases(python)):
        for path in dict.fromkeys((prefix, prefix.resolve())):
            for part in _parts(path):
                if part.exists():
                    found[part] = part.resolve()
    return tuple((real, path) for path, real in found.items())


def _bases(python: Path) -> Sequence[Path]:
    """The prefixes of each link in the chain to an interpreter, and of its virtual environment's
    base."""
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
