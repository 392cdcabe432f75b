"""Gives files away by the names that people know them by; the store knows them by their content."""

from __future__ import annotations

import hashlib
import mimetypes
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QImage

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.removing import remove

LONGEST_NAME = 100
MOST_COPIED = 100_000_000
"""Bytes; what is larger and on another disk is given as it lies."""
DAY = 24 * 3600.0

_FORBIDDEN = dict.fromkeys(map(ord, '/\\:*?"<>|�'), "_")
_DEVICES = {"con", "prn", "aux", "nul"} | {
    f"{port}{n}" for port in ("com", "lpt") for n in range(10)
}


def safe_name(artifact: Artifact) -> str:
    """A name that is good in any folder of any system, with the suffix of what the file is."""
    assert artifact.path is not None
    suffix = artifact.path.suffix.lower()
    name = one_line(artifact.title, limit=4 * LONGEST_NAME).translate(_FORBIDDEN).strip(". ")
    stem, dot, own = name.rpartition(".")
    own = dot + own
    if not stem or (suffix and not _same(own.lower(), suffix)):
        stem, own = name, suffix
    stem = stem.encode()[:LONGEST_NAME].decode(errors="ignore").strip(". ") or "file"
    return f"_{stem}{own}" if stem.lower() in _DEVICES else f"{stem}{own}"


def _same(one: str, other: str) -> bool:
    kind = mimetypes.guess_type(f"a{one}")[0]
    return one == other or (kind is not None and kind == mimetypes.guess_type(f"a{other}")[0])


def hand_out(artifact: Artifact, folder: Path) -> Path:
    """The file under its safe name, in a place of its own within `folder`; the file itself where
    that cannot be. Blocks."""
    path = artifact.path
    assert path is not None
    place = folder / hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    handed = place / safe_name(artifact)
    with suppress(OSError, ValueError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A copy, never a link: who gets it may write into it.
        if not handed.exists() and path.stat().st_size <= MOST_COPIED:
            part = handed.with_suffix(".part")
            shutil.copyfile(path, part)
            part.replace(handed)
    return handed if handed.is_file() else path


def tidy(folder: Path) -> None:
    """Remove what was handed out more than a day ago. Blocks."""
    with suppress(OSError):
        for place in folder.iterdir():
            if time.time() - place.stat().st_mtime > DAY:
                remove(place)


def mime_data(path: Path, image: QImage | None = None, text: str = "") -> QMimeData:
    """What a drag or the clipboard carries: the file, and its picture or text."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    if image is not None and not image.isNull():
        data.setImageData(image)
    if text:
        data.setText(text)
    return data
