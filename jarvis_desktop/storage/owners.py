"""Which processes still run, of those that share the history: each holds a lock for as long as it
lives. A killed one lets go of its lock, whatever the system does with its number."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.wording import tr

if TYPE_CHECKING:
    from filelock import BaseFileLock

HOUR = 60 * 60
"""Seconds. A younger file may be one that its process is about to lock."""


class Owners:
    """One locked file per process in a folder; its name is what others know the process by."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: BaseFileLock | None = None
        self._name = ""

    @property
    def name(self) -> str:
        """The name of this process, "" as long as it was not asked for."""
        return self._name

    def own(self, named: Callable[[], Collection[str]]) -> str:
        """The name of this process, which it has from the first time that this is asked.

        What ended processes left behind is removed then, but for those that are still `named`
        somewhere. Raises StorageError where its file cannot be made or locked.
        """
        from filelock import Timeout

        if self._lock is None:
            self._sweep(named())
            name = secrets.token_hex(8)
            try:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                lock = _lock(self._folder / name)
                lock.acquire()
            except (OSError, NotImplementedError, Timeout) as error:
                raise StorageError(
                    tr(
                        "The folder {folder} cannot be used: {error}.",
                        folder=self._folder,
                        error=getattr(error, "strerror", None) or "its files cannot be locked",
                    ),
                    hint=tr("See that it may be written to and that the disk has room."),
                ) from error
            self._lock, self._name = lock, name
        return self._name

    def has_ended(self, name: str) -> bool:
        """Whether the process of this name, another one than this, runs no more."""
        from filelock import Timeout

        path = self._folder / name
        if name == self._name or not path.exists():
            return name != self._name
        try:
            with _lock(path):
                return True
        except Timeout:
            return False
        except (OSError, NotImplementedError):  # gone meanwhile, or not to be told
            return not path.exists()

    def close(self) -> None:
        """This process is about to end."""
        lock, self._lock = self._lock, None
        if lock:
            lock.release()
            with suppress(OSError):
                (self._folder / self._name).unlink()
            self._name = ""

    def _sweep(self, named: Collection[str]) -> None:
        with suppress(OSError):
            for path in self._folder.iterdir():
                old = path.stat().st_mtime < time.time() - HOUR
                if old and path.name not in named and self.has_ended(path.name):
                    path.unlink()


def _lock(path: Path) -> BaseFileLock:
    from filelock import FileLock

    return FileLock(path, timeout=0, mode=0o600, thread_local=False)
