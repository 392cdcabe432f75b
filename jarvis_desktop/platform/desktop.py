"""The user's desktop: opening files, the command that starts JARVIS, its menu entry, autostart, and
whether programs may move things on the screen.

The menu entry lets the desktop know the program by name; GNOME's portal grants shortcuts only to
such programs.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from jarvis_desktop.core.errors import StorageError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.paths import APP_ID, shipped
from jarvis_desktop.platform.dbus import CallError, MessageBus


class SystemDesktop:
    """Opens files and folders with the system's own opener (`core.ports.Desktop`)."""

    def open(self, path: Path, name: str = "") -> None:
        """Open a file or folder; return at once.

        Raises UnavailableError, with `name` instead of the path if the path is that of a copy.
        """
        if sys.platform == "win32":
            os.startfile(path)  # noqa: S606 - the system's opener, asked for by the user
            return
        opener = "open" if sys.platform == "darwin" else "xdg-open"
        if has_no_display() or shutil.which(opener) is None:
            raise UnavailableError(
                tr("There is no desktop here to open {name} with.", name=name or path.name),
                hint="" if name else tr("It is at {path}.", path=path),
            )
        subprocess.Popen(
            [opener, str(path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def has_no_display() -> bool:
    """Whether there is no screen to open a window on."""
    if sys.platform in ("win32", "darwin"):
        return False
    return not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def in_flatpak() -> bool:
    """Whether Flatpak runs this program, and not only the terminal that it was started in."""
    return os.environ.get("FLATPAK_ID") == APP_ID


_MUST_BE_QUOTED = set(" \t\n\"'\\><~|&;$*?#()`")
"""Characters that the Desktop Entry Specification allows only within quotes."""


def command(*arguments: str) -> list[str]:
    """Return the command that starts this installation of JARVIS with these arguments."""
    if image := os.environ.get("APPIMAGE"):
        return [image, *arguments]
    if getattr(sys, "frozen", False):
        return [sys.executable, *arguments]
    beside = shutil.which("jarvis-desktop", path=os.path.dirname(sys.executable))  # noqa: PTH120
    if beside:
        return [beside, *arguments]
    return [sys.executable, "-m", "jarvis_desktop", *arguments]


def exec_line(parts: Sequence[str]) -> str:
    """Return the value of `Exec` in a .desktop file; field codes such as %F are kept."""
    return " ".join(_quoted(part) for part in parts)


def shell_line(parts: Sequence[str]) -> str:
    """Return the command in the syntax of this system's shell."""
    if sys.platform == "win32":
        return subprocess.list2cmdline(parts)
    return shlex.join(parts)


def _quoted(part: str) -> str:
    if part in ("%F", "%U", "%f", "%u"):
        return part
    part = part.replace("%", "%%")
    if part and not _MUST_BE_QUOTED & set(part):
        return part
    for sign in ("\\", '"', "`", "$"):
        part = part.replace(sign, "\\" + sign)
    # The value is parsed twice: as a string of the file, then as a command.
    return '"' + part.replace("\\", "\\\\") + '"'


UPDATE_TIMEOUT_S = 20
"""Seconds for a desktop program to update its caches."""
OWN_MARK = "X-JARVIS-Installed=true"
"""Marks our own file; one that a package installed is not removed."""


def is_installed() -> bool:
    """Whether JARVIS has a menu entry, from us or from a package."""
    folders = (_data(), *(Path(name) for name in _system_folders()))
    return any((folder / "applications" / _entry_name()).is_file() for folder in folders)


def install() -> Sequence[Path]:
    """Write the menu entry and icons for this user; return their paths. Raises StorageError."""
    source = shipped("packaging", "linux")
    written = []
    try:
        text = (source / _entry_name()).read_text("utf-8")
        entry = _data() / "applications" / _entry_name()
        entry.parent.mkdir(parents=True, exist_ok=True)
        entry.write_text(_for_here(text), "utf-8")
        written.append(entry)
        for icon in sorted((source / "icons").rglob(f"{APP_ID}.*")):
            to = _icons() / icon.relative_to(source / "icons")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(icon, to)
            written.append(to)
    except OSError as error:
        raise StorageError(
            tr("JARVIS could not be put into the menu: {reason}.", reason=error.strerror or error)
        ) from error
    _tell_desktop()
    return written


def remove() -> Sequence[Path]:
    """Remove what `install` wrote; return the paths. Raises StorageError."""
    removed = []
    try:
        entry = _data() / "applications" / _entry_name()
        if entry.is_file() and OWN_MARK in entry.read_text("utf-8", errors="replace"):
            for path in (entry, *_icons().glob(f"*/apps/{APP_ID}.*")):
                path.unlink(missing_ok=True)
                removed.append(path)
    except OSError as error:
        raise StorageError(
            tr(
                "JARVIS could not be taken out of the menu: {reason}.",
                reason=error.strerror or error,
            )
        ) from error
    _tell_desktop()
    return removed


def _for_here(text: str) -> str:
    """The entry with the command of this installation."""
    lines = []
    for line in text.splitlines():
        name, _, value = line.partition("=")
        if name == "Exec":
            line = f"Exec={exec_line(command(*value.split()[1:]))}"
        lines.append(line)
        if line == "[Desktop Entry]":
            lines.append(OWN_MARK)
    return "\n".join(lines) + "\n"


def _tell_desktop() -> None:
    """Update the desktop's caches, which most desktops do themselves."""
    for words in (
        ["update-desktop-database", "-q", str(_data() / "applications")],
        ["gtk-update-icon-cache", "-q", "-t", "-f", str(_icons())],
    ):
        if shutil.which(words[0]) and Path(words[-1]).is_dir():
            try:
                subprocess.run(words, check=False, capture_output=True, timeout=UPDATE_TIMEOUT_S)
            except (OSError, subprocess.TimeoutExpired):
                continue


def _entry_name() -> str:
    return f"{APP_ID}.desktop"


def _data() -> Path:
    given = os.environ.get("XDG_DATA_HOME", "")
    return Path(given) if Path(given).is_absolute() else Path.home() / ".local" / "share"


def _icons() -> Path:
    return _data() / "icons" / "hicolor"


def _system_folders() -> Iterator[str]:
    usual = "/usr/local/share:/usr/share"
    yield from (os.environ.get("XDG_DATA_DIRS") or usual).split(":")


HIDDEN = "--hidden"
RUN_KEY = r"Software\Microsoft\Windows\CurrentVersion\Run"
"""A key of the Windows registry, below HKEY_CURRENT_USER."""
_AUTOSTART_ENTRY = """\
[Desktop Entry]
Type=Application
Name=JARVIS Desktop
Icon={app_id}
Exec={line}
Terminal=false
X-GNOME-Autostart-enabled=true
"""


def is_autostarted() -> bool:
    """Whether JARVIS starts with the session. Raises StorageError. Not on an event loop."""
    with _autostart_errors():
        if sys.platform == "win32":
            return _registered()
        path = _autostart_file()
        if not path.is_file():
            return False
        off = ("hidden=true", "x-gnome-autostart-enabled=false")
        text = path.read_text("utf-8", errors="replace").lower().replace(" ", "")
        return not any(line in off for line in text.splitlines())


def set_autostart(on: bool) -> None:
    """Start JARVIS with the session, or stop doing so. Raises StorageError."""
    if on and in_flatpak():  # it has no access to the folder that the system reads
        raise StorageError(
            tr("A Flatpak cannot change what starts with the session."),
            hint=tr("Add JARVIS Desktop to the autostart in the settings of your desktop."),
        )
    with _autostart_errors():
        if sys.platform == "win32":
            _register(on)
        elif on:
            path = _autostart_file()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_autostart_contents())
        else:
            _autostart_file().unlink(missing_ok=True)


def _autostart_file() -> Path:
    """The file that this system reads when a session begins."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "LaunchAgents" / f"{APP_ID}.plist"
    config = os.environ.get("XDG_CONFIG_HOME", "")
    base = Path(config) if Path(config).is_absolute() else Path.home() / ".config"
    return base / "autostart" / f"{APP_ID}.desktop"


def _autostart_contents() -> bytes:
    line = command(HIDDEN)
    if sys.platform == "darwin":
        import plistlib

        return plistlib.dumps({"Label": APP_ID, "ProgramArguments": line, "RunAtLoad": True})
    return _AUTOSTART_ENTRY.format(app_id=APP_ID, line=exec_line(line)).encode()


def _registered() -> bool:
    if sys.platform != "win32":
        return False
    import winreg

    try:
        with winreg.OpenKey(winreg.HKEY_CURRENT_USER, RUN_KEY) as key:
            winreg.QueryValueEx(key, APP_ID)
    except FileNotFoundError:
        return False
    return True


def _register(on: bool) -> None:
    if sys.platform != "win32":
        return
    import winreg

    with winreg.CreateKey(winreg.HKEY_CURRENT_USER, RUN_KEY) as key:
        if on:
            line = shell_line(command(HIDDEN))
            winreg.SetValueEx(key, APP_ID, 0, winreg.REG_SZ, line)
            return
        with suppress(FileNotFoundError):
            winreg.DeleteValue(key, APP_ID)


@contextmanager
def _autostart_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(
            tr(
                "Whether JARVIS starts with the session cannot be changed: {strerror}.",
                strerror=error.strerror,
            )
        ) from error


PORTAL, PORTAL_PATH = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
_ANIMATION_OF_CLIENT_AREA = 0x1042  # SPI_GETCLIENTAREAANIMATION
_settings = (
    ("org.freedesktop.appearance", "reduced-motion"),
    ("org.gnome.desktop.interface", "enable-animations"),
    ("org.kde.kdeglobals.KDE", "AnimationDurationFactor"),
)


async def wants_motion() -> bool:
    """Return False if the system's settings ask for less motion; True if they say nothing.

    Linux desktops say so through the portal: the cross-desktop `reduced-motion`, and the older
    settings of GNOME and KDE. Qt has no answer of its own.
    """
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
