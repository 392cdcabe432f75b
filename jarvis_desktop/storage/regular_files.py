"""Opens files that anything may stand behind: pipes, devices and links are refused unopened."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import mark, tr

_NOT_FILES = (
    (stat.S_ISLNK, mark("{name} is a link; give the file itself.")),
    (stat.S_ISDIR, mark("{name} is a folder; give the files in it.")),
    (stat.S_ISFIFO, mark("{name} is a pipe, not a file.")),
    (stat.S_ISSOCK, mark("{name} is a socket, not a file.")),
    (stat.S_ISCHR, mark("{name} is a device, not a file.")),
    (stat.S_ISBLK, mark("{name} is a device, not a file.")),
)


def reason_of(error: OSError) -> str:
    """Why the system would not, as the end of a sentence."""
    return (error.strerror or tr("unknown reason")).lower()


def open_regular(path: Path, name: str) -> BinaryIO:
    """The file, open for reading, once it is certain that it is a regular one.

    Raises InputError that names it."""
    shown = one_line(name)
    try:
        # Looked at by name first because opening a device can act on it; looked at again when
        # open because the name may by then stand for something else.
        _check_regular(path.lstat(), shown)
        handle = opener(str(path), os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except FileNotFoundError as error:
        raise InputError(
            tr("There is no file {shown}.", shown=shown), hint=tr("Check its name.")
        ) from error
    except PermissionError as error:
        raise InputError(
            tr("{shown} may not be read.", shown=shown), hint=tr("Allow it, or copy it.")
        ) from error
    except OSError as error:
        raise InputError(
            tr("{shown} cannot be opened: {error}.", shown=shown, error=reason_of(error))
        ) from error
    except ValueError as error:
        raise InputError(tr("{shown} is not the name of a file.", shown=shown)) from error
    try:
        _check_regular(os.fstat(handle), shown)
    except InputError:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


def _check_regular(status: os.stat_result, shown: str) -> None:
    for holds, words in _NOT_FILES:
        if holds(status.st_mode):
            raise InputError(tr(words, name=shown))


def opener(path: str, flags: int) -> int:
    """For `open`: never follows a link, never waits for the other end of a pipe."""
    # Windows has neither flag; there a name cannot stand for a pipe that blocks.
    extra = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return os.open(path, flags | extra)
