"""Which files of the store a turn under way was given, so that nobody deletes them before it is
saved. Kept on the disk, because several processes share one store."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from jarvis_desktop.core.current import current_turn

LASTING = 60 * 60
"""Seconds. An older claim is of a run that died, and would keep deleted content on the disk."""


class Claims:
    """One empty file per claim in a folder, named after the file and the turn."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def make(self, name: str) -> None:
        """Claim the file of this name for the turn that asks; outside a turn nothing is claimed.

        Raises OSError.
        """
        if turn_id := current_turn.get():
            (self._folder / f"{name}{_ending(turn_id)}").touch(mode=0o600)

    def on(self, name: str) -> bool:
        """Whether a turn under way was given the file of this name."""
        return any(path.name.startswith(f"{name}@") and _is_fresh(path) for path in self._listed())

    def release(self, turn_id: str) -> None:
        """Drop the claims of a turn that has ended."""
        for path in self._listed():
            if path.name.endswith(_ending(turn_id)):
                with suppress(OSError):
                    path.unlink()

    def _listed(self) -> Iterator[Path]:
        with suppress(OSError):
            yield from self._folder.iterdir()


def _ending(turn_id: str) -> str:
    """Turn ids are any text; this is fit for a file's name."""
    return f"@{hashlib.sha256(turn_id.encode(errors='replace')).hexdigest()[:16]}"


def _is_fresh(path: Path) -> bool:
    try:
        return path.stat().st_mtime > time.time() - LASTING
    except OSError:  # released meanwhile
        return False
