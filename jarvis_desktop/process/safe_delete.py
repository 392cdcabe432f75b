"""Removes folders that strangers filled: with folders a thousand deep, or closed to their owner."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from contextlib import suppress
from pathlib import Path


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it, as far as that can be done; no link is followed.

    To be called once nobody writes there any more.
    """
    if sys.platform == "win32":  # where a path is bounded, and so are folders in folders
        shutil.rmtree(folder, ignore_errors=True)
        return
    with suppress(OSError):
        if folder.is_symlink() or not folder.is_dir():
            return
        _empty(folder)
        folder.rmdir()


def _empty(folder: Path) -> None:
    """Each folder that is found within is moved to the top first, so that no path grows long."""
    waiting = [folder]
    while waiting:
        within = waiting.pop()
        for entry in opened(within):
            path = Path(entry.path)
            with suppress(OSError):
                if not entry.is_dir(follow_symlinks=False):
                    path.unlink()
                    continue
                path.chmod(0o700)
                waiting.append(path.rename(folder / f".{secrets.token_hex(8)}"))
        if within != folder:
            with suppress(OSError):
                within.rmdir()


def opened(folder: Path) -> list[os.DirEntry[str]]:
    """What is in a folder, which is opened to its owner; nothing where that cannot be."""
    with suppress(OSError):
        folder.chmod(0o700)
        with os.scandir(folder) as found:
            return list(found)
    return []
