"""One fetch of an expert at a time, whichever window or terminal it was begun in."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.wording import tr


def alone(folder: Path, name: str) -> AbstractContextManager[object]:
    """Hold the folder that an expert is fetched into, from now on and until the context ends.

    A process that ends lets go of it. Raises UnavailableError where somebody holds it already.
    """
    from filelock import FileLock, Timeout

    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        return FileLock(folder.with_suffix(".lock"), timeout=0, thread_local=False).acquire()
    except Timeout as error:
        raise UnavailableError(
            tr("{name} is being fetched already.", name=name), hint=tr("Wait until it is done.")
        ) from error


def is_held(folder: Path) -> bool:
    """Whether somebody fetches into the folder, or that cannot be told."""
    try:
        with alone(folder, folder.stem):
            return False
    except (UnavailableError, OSError, NotImplementedError):
        return True
