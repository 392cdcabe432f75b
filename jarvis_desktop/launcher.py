"""How the person's desktop starts JARVIS: the command, as a .desktop file and a shell write it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence

_MUST_BE_QUOTED = set(" \t\n\"'\\><~|&;$*?#()`")
"""Characters that the Desktop Entry Specification lets stand only within quotes."""


def command(*arguments: str) -> list[str]:
    """What starts this JARVIS, wherever it is started from, with these arguments."""
    if image := os.environ.get("APPIMAGE"):
        return [image, *arguments]
    if getattr(sys, "frozen", False):
        return [sys.executable, *arguments]
    beside = shutil.which("jarvis-desktop", path=os.path.dirname(sys.executable))  # noqa: PTH120
    if beside:
        return [beside, *arguments]
    return [sys.executable, "-m", "jarvis_desktop", *arguments]


def exec_line(parts: Sequence[str]) -> str:
    """The value of `Exec` in a .desktop file; field codes such as %F stay what they are."""
    return " ".join(_quoted(part) for part in parts)


def shell_line(parts: Sequence[str]) -> str:
    """The command as a shell of this system reads it."""
    if sys.platform == "win32":
        import subprocess

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
    # The value is read twice: as a string of the file, then as a command.
    return '"' + part.replace("\\", "\\\\") + '"'
