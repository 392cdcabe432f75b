"""JARVIS among the programs of the person's Linux desktop: its .desktop file and its icons.

With it the desktop knows the program by name: GNOME's portal lends keys only to such ones.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.launcher import command, exec_line
from jarvis_desktop.paths import APP_ID, shipped

PATIENCE = 20
"""Seconds that a program of the desktop may take to look at what is new."""
OWN = "X-JARVIS-Installed=true"
"""Marks a file of ours: one that a package brought is not removed."""


def is_installed() -> bool:
    """Whether the desktop knows JARVIS, by us or by a package."""
    folders = (_data(), *(Path(name) for name in _system_folders()))
    return any((folder / "applications" / _entry_name()).is_file() for folder in folders)


def install() -> Sequence[Path]:
    """Write the files for this person; what was written. Raises StorageError."""
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
    """Remove what `install` wrote; what was removed. Raises StorageError."""
    removed = []
    try:
        entry = _data() / "applications" / _entry_name()
        if entry.is_file() and OWN in entry.read_text("utf-8", errors="replace"):
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
    """The entry as it starts this JARVIS, wherever that is."""
    lines = []
    for line in text.splitlines():
        name, _, value = line.partition("=")
        if name == "Exec":
            line = f"Exec={exec_line(command(*value.split()[1:]))}"
        lines.append(line)
        if line == "[Desktop Entry]":
            lines.append(OWN)
    return "\n".join(lines) + "\n"


def _tell_desktop() -> None:
    """Have the desktop look; most notice by themselves, and these programs may be missing."""
    for words in (
        ["update-desktop-database", "-q", str(_data() / "applications")],
        ["gtk-update-icon-cache", "-q", "-t", "-f", str(_icons())],
    ):
        if shutil.which(words[0]) and Path(words[-1]).is_dir():
            try:
                subprocess.run(words, check=False, capture_output=True, timeout=PATIENCE)
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
