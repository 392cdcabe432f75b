"""Puts text at the caret of whatever program has the focus, by the best means of the desktop."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from jarvis_desktop.core.errors import InsertionError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import TextInserter

NO_DESKTOP = mark("There is no desktop here in whose windows text could be inserted.")


def text_inserter(app_id: str, folder: Path) -> TextInserter:
    """Return the way of this system.

    `app_id` is the name of the program's .desktop file, and `folder` is where the desktop's
    permission is kept.
    """
    if sys.platform == "win32":
        from jarvis_desktop.platform.insertion_native import WindowsInserter

        return WindowsInserter()
    if sys.platform == "darwin":
        from jarvis_desktop.platform.insertion_native import MacInserter

        return MacInserter()
    if os.environ.get("XDG_SESSION_TYPE") == "wayland" or os.environ.get("WAYLAND_DISPLAY"):
        from jarvis_desktop.platform.insertion_portal import WaylandInserter

        return WaylandInserter(app_id, folder)
    if os.environ.get("DISPLAY"):
        from jarvis_desktop.platform.insertion_x11 import X11Inserter

        return X11Inserter()
    return NoInserter()


class NoInserter:
    """Stands for a system without any way. Implements core.speech.TextInserter."""

    def check(self) -> str | None:
        """Return why there is none."""
        return tr(NO_DESKTOP)

    def aim(self) -> None:
        """Do nothing."""

    def insert(self, text: str) -> None:
        """Raise InsertionError."""
        raise InsertionError(tr(NO_DESKTOP), rest=text)

    def close(self) -> None:
        """Do nothing."""
