"""Whether the desktop wants programs to move things on the screen.

Linux desktops say so through the portal: the cross-desktop `reduced-motion`, and the older settings
of GNOME and KDE. Qt has no answer of its own.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.platform.dbus import CallError, MessageBus

PORTAL, PORTAL_PATH = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
_ANIMATION_OF_CLIENT_AREA = 0x1042  # SPI_GETCLIENTAREAANIMATION
_settings = (
    ("org.freedesktop.appearance", "reduced-motion"),
    ("org.gnome.desktop.interface", "enable-animations"),
    ("org.kde.kdeglobals.KDE", "AnimationDurationFactor"),
)


async def wants_motion() -> bool:
    """Return False if the system's settings ask for less motion; True if they say nothing."""
    if sys.platform == "win32":
        return _windows_moves()
    if not sys.platform.startswith("linux"):
        return True
    try:
        bus = await MessageBus.open(lambda signal: None, lambda: None)
    except UnavailableError:
        return True
    try:
        for namespace, key in _settings:
            with contextlib.suppress(CallError):
                (value,) = await bus.call(
                    "org.freedesktop.portal.Settings",
                    "Read",
                    "ss",
                    namespace,
                    key,
                    path=PORTAL_PATH,
                    to=PORTAL,
                )
                if not _moves(key, _plain(value)):
                    return False
    finally:
        await bus.close()
    return True


def _plain(value: Any) -> object:
    """The content of a variant; `Read` wraps it twice."""
    while isinstance(value, tuple) and len(value) == 2:
        value = value[1]
    return value


def _moves(key: str, value: object) -> bool:
    if key == "reduced-motion":
        return value != 1
    if key == "enable-animations":
        return value is not False
    try:
        return float(str(value)) > 0  # KDE's factor is a text
    except ValueError:
        return True


def _windows_moves() -> bool:
    if sys.platform == "win32":
        import ctypes

        moves = ctypes.c_int(1)
        ctypes.windll.user32.SystemParametersInfoW(
            _ANIMATION_OF_CLIENT_AREA, 0, ctypes.byref(moves), 0
        )
        return bool(moves.value)
    return True
