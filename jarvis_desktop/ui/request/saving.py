"""Writes to where the person wants it, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.wording import tr


def save(to: Path, write: Callable[[Path], object]) -> None:
    """Let `write` write a file beside `to`, and put it in its place: where the disk is full, what
    was there before stays. Raises StorageError."""
    part = to.with_name(f".{to.name}.part")
    try:
        try:
            write(part)
            part.replace(to)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise StorageError(
            tr("{name} could not be saved: {reason}.", name=to.name, reason=reason),
            hint=tr("Choose another folder."),
        ) from error
