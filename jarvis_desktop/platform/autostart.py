"""Whether JARVIS starts with the person's session, in the way that each system has for it.

Everything here touches the disk or the registry: it is called on the engine, not on Qt's thread.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.paths import APP_ID
from jarvis_desktop.platform.desktop import command, exec_line, shell_line

HIDDEN = "--hidden"
RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"
"""The key of the Windows registry, below HKEY_CURRENT_USER."""
_ENTRY = """\
[Desktop Entry]
Type=Application
Name=JARVIS Desktop
Icon={app_id}
Exec={line}
Terminal=false
X-GNOME-Autostart-enabled=true
"""


def is_on() -> bool:
    """Whether JARVIS starts with the session. Raises StorageError."""
    with _told():
        if sys.platform == "win32":
            return _registered()
        path = _file()
        if not path.is_file():
            return False
        off = ("hidden=true", "x-gnome-autostart-enabled=false")
        text = path.read_text("utf-8", errors="replace").lower().replace(" ", "")
        return not any(line in off for line in text.splitlines())


def turn(on: bool) -> None:
    """Start with the session from now on, or no more. Raises StorageError."""
    with _told():
        if sys.platform == "win32":
            _register(on)
        elif on:
            path = _file()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_contents())
        else:
            _file().unlink(missing_ok=True)


def _file() -> Path:
    """The file that this system looks for when a session begins."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "LaunchAgents" / f"{APP_ID}.plist"
    config = os.environ.get("XDG_CONFIG_HOME", "")
    base = Path(config) if Path(config).is_absolute() else Path.home() / ".config"
    return base / "autostart" / f"{APP_ID}.desktop"


def _contents() -> bytes:
    line = command(HIDDEN)
    if sys.platform == "darwin":
        import plistlib

        return plistlib.dumps({"Label": APP_ID, "ProgramArguments": line, "RunAtLoad": True})
    return _ENTRY.format(app_id=APP_ID, line=exec_line(line)).encode()


def _registered() -> bool:
    if sys.platform != "win32":
        return False
    import winreg

    try:
        with winreg.OpenKey(winreg.HKEY_CURRENT_USER, RUN) as key:
            winreg.QueryValueEx(key, APP_ID)
    except FileNotFoundError:
        return False
    return True


def _register(on: bool) -> None:
    if sys.platform != "win32":
        return
    import winreg

    with winreg.CreateKey(winreg.HKEY_CURRENT_USER, RUN) as key:
        if on:
            line = shell_line(command(HIDDEN))
            winreg.SetValueEx(key, APP_ID, 0, winreg.REG_SZ, line)
            return
        with suppress(FileNotFoundError):
            winreg.DeleteValue(key, APP_ID)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(
            tr(
                "Whether JARVIS starts with the session cannot be changed: {strerror}.",
                strerror=error.strerror,
            )
        ) from error
