"""The files of the code library: written whole or not at all, and read as nothing but plain files
of this person that nobody else can change."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr

_OTHERS = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX | stat.S_IWGRP | stat.S_IWOTH
_ANY_RUN = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
_POSIX = os.name == "posix"


class RefusedError(Exception):
    """A file is not what was written; says why, to stand after its name."""


def read_regular(path: Path, *, most: int) -> bytes:
    """What is in a file of at most `most` bytes. Raises RefusedError."""
    try:
        # Looked at by name first: to open a device can act on it.
        _check(path.lstat())
        extra = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | extra)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(file.fileno())
            _check(status)
            if status.st_size > most:
                raise RefusedError(tr("is not as it was agreed to"))
            return file.read(most + 1)
    except FileNotFoundError as error:
        raise RefusedError(tr("is missing")) from error
    except OSError as error:
        raise RefusedError(tr("cannot be read")) from error


def write_whole(contents: Mapping[Path, bytes], *, beside: Path) -> None:
    """Write files durably by way of others in the folder `beside`: all of them, or none of them
    where the disk has no room; nobody sees half of one. Raises StorageError."""
    staged: dict[Path, Path] = {}
    try:
        beside.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path, content in contents.items():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if path.is_dir() and not path.is_symlink():
                raise IsADirectoryError(errno.EISDIR, "a folder is in its place", str(path))
            staged[path] = _staged(content, beside)
        for path, incoming in staged.items():
            incoming.replace(path)
        for folder in {path.parent for path in staged}:
            _sync(folder)
    except OSError as error:
        for incoming in staged.values():
            with suppress(OSError):
                incoming.unlink(missing_ok=True)
        names = " and ".join(one_line(path.name) for path in contents)
        reason = (error.strerror or "unknown reason").lower()
        raise StorageError(
            tr("The code library cannot write {names}: {reason}.", names=names, reason=reason),
            hint=tr("See that its folder may be written to and that the disk has room."),
        ) from error


def _staged(content: bytes, folder: Path) -> Path:
    incoming = folder / f".{secrets.token_hex(8)}.new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(incoming, flags, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return incoming


def _sync(folder: Path) -> None:
    """Make renames durable, where the system lets folders be opened."""
    with suppress(PermissionError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class ModuleFiles:
    """The package on the disk: NAME.py and test_NAME.py of each function, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self._package = folder / "library"
        self._incoming = folder / "incoming"

    def write(self, name: str, contents: tuple[bytes, bytes]) -> None:
        """Write a function's module and its tests, in the place of what is there.

        Raises StorageError.
        """
        paths = [self._package / file for file in _files_of(name)]
        write_whole(dict(zip(paths, contents, strict=True)), beside=self._incoming)

    def remove(self, name: str) -> None:
        """Remove both; what is no file is left. Raises StorageError."""
        for file in _files_of(name):
            try:
                (self._package / file).unlink(missing_ok=True)
            except OSError as error:
                reason = (error.strerror or "unknown reason").lower()
                message = tr(
                    "{file} cannot be removed from the code library: {reason}.",
                    file=file,
                    reason=reason,
                )
                hint = tr("Remove it by hand; it is in {folder}.", folder=self._package)
                raise StorageError(message, hint=hint) from error

    def sweep(self) -> None:
        """Remove what a run that was killed left behind. Nobody may be writing meanwhile."""
        with suppress(OSError):
            for path in self._incoming.iterdir():
                path.unlink()

    def names(self) -> frozenset[str]:
        """The names of all that is in the package, exactly as they are written on the disk.

        Raises RefusedError where its folder is none that this person alone may change.
        """
        try:
            status = self._package.lstat()
            if not stat.S_ISDIR(status.st_mode):
                raise RefusedError(tr("the library's folder is a link or a file"))
            if _POSIX and (status.st_mode & _OTHERS or status.st_uid != os.getuid()):
                raise RefusedError(tr("the library's folder may be changed by others"))
            return frozenset(path.name for path in self._package.iterdir())
        except FileNotFoundError:
            return frozenset()
        except OSError as error:
            raise RefusedError(tr("the library's folder cannot be read")) from error

    def objection(self, name: str, there: Collection[str], *expected: tuple[str, str]) -> str:
        """What is wrong with the files of a function, "" where nothing is.

        `expected` are the hashes of module and tests, of which one pair or another may be there
        while it is being written. `there` is what `names` gave.
        """
        for at, file in enumerate(_files_of(name)):
            wanted = {pair[at] for pair in expected}
            try:
                if file not in there:  # on some disks a name in other letters would be opened
                    raise RefusedError(tr("is missing"))
                content = read_regular(self._package / file, most=4 * 60_000)
                if hashlib.sha256(content).hexdigest() not in wanted:
                    raise RefusedError(tr("is not as it was agreed to"))
            except RefusedError as error:
                return f"{file} {error}"
        return ""

    def strangers(self, there: Collection[str], known: Collection[str]) -> list[str]:
        """The names of what is there besides the files of the functions `known`."""
        own = {file for name in known for file in _files_of(name)}
        return sorted(set(there) - own)


def _files_of(name: str) -> tuple[str, str]:
    return f"{name}.py", f"test_{name}.py"


def _check(status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise RefusedError(tr("is a link"))
    if not stat.S_ISREG(status.st_mode):
        raise RefusedError(tr("is no regular file"))
    if status.st_nlink != 1:
        raise RefusedError(tr("has a second name on the disk"))
    if not _POSIX:
        return
    if status.st_uid != os.getuid():
        raise RefusedError(tr("belongs to somebody else"))
    if status.st_mode & (_OTHERS | _ANY_RUN):
        raise RefusedError(tr("has permissions that it was not given"))
    if not status.st_mode & stat.S_IRUSR:  # whom the system lets read everything, it lets read it
        raise RefusedError(tr("cannot be read"))
