"""Removes untrusted folders: nested a thousand deep, or with permissions removed."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from contextlib import suppress
from pathlib import Path


def remove(folder: Path) -> None:
    """Remove a folder with all contents, as far as possible, without following links.

    Call when nobody writes there any more.
    """
    if sys.platform == "win32":  # which limits the length of paths
        shutil.rmtree(folder, ignore_errors=True)
        return
    with suppress(OSError):
        if folder.is_symlink() or not folder.is_dir():
            return
        _empty(folder)
        folder.rmdir()


def _empty(folder: Path) -> None:
    """Empty a folder; nested folders are first moved to the top, so that no path becomes too
    long."""
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
    """Return the entries of a folder after restoring its permissions; [] if that fails."""
    with suppress(OSError):
        folder.chmod(0o700)
        with os.scandir(folder) as found:
            return list(found)
    return []
