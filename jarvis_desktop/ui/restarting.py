"""Begins JARVIS anew in the place of this process, for settings that wait for that."""

from __future__ import annotations

import os
from typing import NoReturn

from jarvis_desktop import keys, launcher, offline, proxy

RESTART = 85
"""The exit code of a window that wants to be opened again."""


def restart() -> NoReturn:
    """Never returns. The environment is again what it was when this process began."""
    offline.settle(offline=False)
    proxy.use("")
    keys.give_back()
    words = launcher.command()
    os.execv(words[0], words)  # noqa: S606 - it is our own program
