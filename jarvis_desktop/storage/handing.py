"""Gives files away by the names that people know them by; the store knows them by their content."""

from __future__ import annotations

import mimetypes
import os
import shutil
from contextlib import suppress
from pathlib import Path

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.shown import one_line

LONGEST_NAME = 100
MOST_COPIED = 100_000_000
"""Bytes; what is larger is given as it lies."""

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


def hand_out(artifact: Artifact, place: Path, *, locked: bool) -> Path:
    """A copy of the file in this folder under its safe name, which cannot be written where it is
    `locked`; the file itself where it is too large or cannot be copied. Blocks."""
    path = artifact.path
    assert path is not None
    handed = place / safe_name(artifact)
    with suppress(OSError, ValueError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.utime(place)  # so that a sweep takes it for new
        # A copy, never a link: who gets it may write into it.
        if not handed.exists() and path.stat().st_size <= MOST_COPIED:
            part = handed.with_suffix(".part")
            shutil.copyfile(path, part)
            part.chmod(0o400 if locked else 0o600)
            part.replace(handed)
    return handed if handed.is_file() else path
