"""The files of the code library: written completely or not at all, and read only if they are plain
files that nobody else can change.

The package `library` for scripts is written from verified bytes. Rows of the index have a keyed
hash, whose key is not in the database: so changing a row and its hashes is detected.

The library is written into a folder made for the run, never mounted as it is: between check and
import nothing can be changed.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import json
import os
import secrets
import shutil
import stat
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from jarvis_desktop.core.code import LIBRARY
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.storage.artifacts import sync_folder

_OTHERS = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX | stat.S_IWGRP | stat.S_IWOTH
_ANY_RUN = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
_POSIX = os.name == "posix"


class SealBrokenError(Exception):
    """A file is not what was written; says why, to stand after its name."""


def read_regular(path: Path, *, most: int) -> bytes:
    """Return the content of a file of at most `most` bytes. Raises RefusedError."""
    try:
        # Checked by name first: opening a device can have effects.
        _check(path.lstat())
        extra = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | extra)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(file.fileno())
            _check(status)
            if status.st_size > most:
                raise SealBrokenError(tr("is not as it was agreed to"))
            return file.read(most + 1)
    except FileNotFoundError as error:
        raise SealBrokenError(tr("is missing")) from error
    except OSError as error:
        raise SealBrokenError(tr("cannot be read")) from error


def write_whole(contents: Mapping[Path, bytes], *, beside: Path) -> None:
    """Write files durably, all or none, through temporary files in the folder `beside`.

    Nobody sees a partial file. Raises StorageError, e.g. if the disk is full.
    """
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
            sync_folder(folder)
    except OSError as error:
        for incoming in staged.values():
            with suppress(OSError):
                incoming.unlink(missing_ok=True)
        names = " and ".join(one_line(path.name) for path in contents)
        reason = (error.strerror or "unknown reason").lower()
        raise StorageError(
            tr("The code library cannot write {names}: {reason}.", names=names, reason=reason),
            hint=tr("Check that its folder is writable and that the disk is not full."),
        ) from error


def _staged(content: bytes, folder: Path) -> Path:
    incoming = folder / f".{secrets.token_hex(8)}.new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(incoming, flags, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return incoming


class ModuleFiles:
    """The package on the disk: NAME.py and test_NAME.py of each function, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self._package = folder / "library"
        self._incoming = folder / "incoming"

    def write(self, name: str, contents: tuple[bytes, bytes]) -> None:
        """Write a function's module and tests, replacing existing ones.

        Raises StorageError.
        """
        paths = [self._package / file for file in _files_of(name)]
        write_whole(dict(zip(paths, contents, strict=True)), beside=self._incoming)

    def remove(self, name: str) -> None:
        """Remove both files. Raises StorageError."""
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
        """Remove what a killed run left behind. Nobody may be writing."""
        with suppress(OSError):
            for path in self._incoming.iterdir():
                path.unlink()

    def names(self) -> frozenset[str]:
        """Return the exact names of all entries in the package.

        Raises RefusedError if others can change the folder.
        """
        try:
            status = self._package.lstat()
            if not stat.S_ISDIR(status.st_mode):
                raise SealBrokenError(tr("the library's folder is a link or a file"))
            if _POSIX and (status.st_mode & _OTHERS or status.st_uid != os.getuid()):
                raise SealBrokenError(tr("the library's folder may be changed by others"))
            return frozenset(path.name for path in self._package.iterdir())
        except FileNotFoundError:
            return frozenset()
        except OSError as error:
            raise SealBrokenError(tr("the library's folder cannot be read")) from error

    def objection(self, name: str, there: Collection[str], *expected: tuple[str, str]) -> str:
        """Return what is wrong with the files of a function, or "".

        `expected` are the acceptable pairs of hashes: two while it is being written. `there` is the
        result of `names`.
        """
        for at, file in enumerate(_files_of(name)):
            wanted = {pair[at] for pair in expected}
            try:
                if file not in there:  # some file systems ignore case
                    raise SealBrokenError(tr("is missing"))
                content = read_regular(self._package / file, most=4 * 60_000)
                if hashlib.sha256(content).hexdigest() not in wanted:
                    raise SealBrokenError(tr("is not as it was agreed to"))
            except SealBrokenError as error:
                return f"{file} {error}"
        return ""

    def strangers(self, there: Collection[str], known: Collection[str]) -> list[str]:
        """Return the names of files that do not belong to the functions `known`."""
        own = {file for name in known for file in _files_of(name)}
        return sorted(set(there) - own)


def _files_of(name: str) -> tuple[str, str]:
    return f"{name}.py", f"test_{name}.py"


def _check(status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise SealBrokenError(tr("is a link"))
    if not stat.S_ISREG(status.st_mode):
        raise SealBrokenError(tr("is not a regular file"))
    if status.st_nlink != 1:
        raise SealBrokenError(tr("has a second name on the disk"))
    if not _POSIX:
        return
    if status.st_uid != os.getuid():
        raise SealBrokenError(tr("belongs to another user"))
    if status.st_mode & (_OTHERS | _ANY_RUN):
        raise SealBrokenError(tr("has permissions that it was not given"))
    if not status.st_mode & stat.S_IRUSR:  # root can read it anyway
        raise SealBrokenError(tr("cannot be read"))


INIT = '''\
"""Functions that were tested and agreed to: `from library import NAME`.

Each is looked up when it is asked for, so one that lacks a package harms no other, and a session
that goes on for long gets new functions and new versions.
"""

import importlib
import os
import sys
import types

_folder = os.path.dirname(os.path.abspath(__file__))
_loaded = {}


class _Library(types.ModuleType):
    @property
    def __all__(self):
        names = (name[:-3] for name in os.listdir(_folder) if name.endswith(".py"))
        return sorted(name for name in names if not name.startswith("_"))

    def __dir__(self):
        return self.__all__

    def __setattr__(self, name, value):
        # Python puts an imported module where the function of its name belongs.
        if not isinstance(value, types.ModuleType):
            super().__setattr__(name, value)

    def __getattr__(self, name):
        full = f"{self.__name__}.{name}"
        try:
            if name.startswith("_"):
                raise OSError
            status = os.stat(os.path.join(_folder, f"{name}.py"))
        except OSError:
            raise AttributeError(f"The library has no function {name}.") from None
        mark = (status.st_ino, status.st_size, status.st_mtime_ns)
        if _loaded.get(name, mark) != mark:
            sys.modules.pop(full, None)
        importlib.invalidate_caches()
        module = importlib.import_module(full)
        _loaded[name] = mark
        try:
            return getattr(module, name)
        except AttributeError:
            raise ImportError(
                f"{name} is still being imported: of two functions that need each other,"
                " one must import the other inside of its body."
            ) from None


sys.modules[__name__].__class__ = _Library
'''


def lay_out(to: Path, modules: Mapping[str, bytes]) -> None:
    """Write the package into a folder, replacing what is there.

    Files with the right content stay, so that they are not imported again; others are replaced
    atomically, because a session may be importing them.
    """
    package = to / LIBRARY
    wanted = {f"{name}.py": content for name, content in modules.items()}
    wanted["__init__.py"] = INIT.encode()
    try:
        _make_folder(package)
        for path in list(package.iterdir()):
            if path.name not in wanted or not stat.S_ISREG(path.lstat().st_mode):
                _remove(path)
        for name, content in wanted.items():
            _put(package / name, content)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise StorageError(
            tr(
                "The code library cannot be laid out in {package}: {reason}.",
                package=package,
                reason=reason,
            ),
            hint=tr("See that its place may be written to and that the disk has room."),
        ) from error


def _make_folder(package: Path) -> None:
    if package.is_symlink() or package.is_file():
        package.unlink()
    package.mkdir(mode=0o700, parents=True, exist_ok=True)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _put(path: Path, content: bytes) -> None:
    with suppress(FileNotFoundError):
        if path.lstat().st_nlink == 1 and path.read_bytes() == content:
            return
    incoming = path.with_name(f".{secrets.token_hex(8)}.new")
    incoming.write_bytes(content)
    incoming.chmod(0o600)
    incoming.replace(path)


LENGTH = 32
"""Bytes of a key."""


class Seals:
    """Signs values with the key in a file, and verifies signatures."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._key = b""

    def read_key(self) -> bool:
        """Read the current key. Return whether there is one; without it no signature is valid."""
        self._key = b""
        with suppress(SealBrokenError):
            key = read_regular(self._path, most=LENGTH)
            self._key = key if len(key) == LENGTH else b""
        return bool(self._key)

    def make_key(self) -> None:
        """Ensure that there is a key. Callers must exclude each other.

        A new key invalidates all signatures of an old one. Raises StorageError.
        """
        if not self.read_key():
            whole = {self._path: secrets.token_bytes(LENGTH)}
            write_whole(whole, beside=self._path.parent)
            self.read_key()

    def of(self, values: Sequence[object]) -> str:
        """Return the signature of some values."""
        whole = json.dumps(values).encode()
        return hmac.new(self._key, whole, hashlib.sha256).hexdigest()

    def holds(self, seal: object, values: Sequence[object]) -> bool:
        """Whether a signature fits these values and this key."""
        if not self._key or not isinstance(seal, str):
            return False
        return hmac.compare_digest(seal.encode("utf-8", "replace"), self.of(values).encode())
