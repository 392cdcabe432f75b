"""The package `library` as scripts import it, written anew from bytes that were checked."""

from __future__ import annotations

import secrets
import shutil
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from jarvis_desktop.core.code import LIBRARY
from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.wording import tr

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
    """Write the package into a folder, in the place of what is there of it.

    A file that has the right content stays as it is, so that nobody imports it again; the others
    are put in place whole, for there may be a session that imports from it now.
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
