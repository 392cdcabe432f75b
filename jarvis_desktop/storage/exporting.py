"""Writes the history to files for people and other programs, with what was given and made."""

from __future__ import annotations

import base64
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.core.shown import encodable, one_line
from jarvis_desktop.core.wording import tr
from jarvis_desktop.storage.export import Entry, pieces
from jarvis_desktop.storage.web_page import page

Form = Literal["json", "markdown", "text", "html"]
Media = Literal["none", "folder", "inside"]
"""Whether pictures, sounds and other files go along: not at all, in a folder beside the file, or
inside of it, which HTML can."""

FORMS: tuple[Form, ...] = ("markdown", "html", "json", "text")
SUFFIXES: dict[Form, str] = {"markdown": ".md", "html": ".html", "json": ".json", "text": ".txt"}
INSIDE = 25 * 1000**2
"""Bytes of a file that may be inside of a page."""
INSIDE_ALL = 250 * 1000**2
"""Bytes of all of them."""

_TYPES = {
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
    ".webp": "image/webp", ".bmp": "image/bmp", ".wav": "audio/wav", ".mp3": "audio/mpeg",
    ".flac": "audio/flac", ".ogg": "audio/ogg", ".opus": "audio/ogg", ".m4a": "audio/mp4",
    ".mp4": "video/mp4", ".webm": "video/webm",
}  # fmt: skip
_ODD = re.compile(r'[/\\:*?"<>|%#]')


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and where."""

    path: Path
    conversations: int
    files: int
    missing: int
    """Files that could not be written along: they are gone, or too large to be inside."""


def export_to(
    path: Path,
    form: Form,
    entries: Iterable[Entry],
    *,
    media: Media,
    holds: Callable[[Path], bool],
) -> Exported:
    """Write conversations to a file, in the place of one that is there, whole or not at all.

    `holds` tells a file of our store; of others only the name is written. Raises InputError and
    StorageError.
    """
    if media == "inside" and form != "html":
        raise InputError(tr("Only a page for the browser can have the files inside."))
    along = _Along(path, media, holds, quoted=form != "json")
    counted = _Counted(entries)
    text = page(counted, along.link) if form == "html" else pieces(counted, form, along.link)
    fresh = path.with_name(f".{path.name}.new")
    try:
        with fresh.open("w", encoding="utf-8", newline="\n") as file:
            for piece in text:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except (OSError, ValueError) as error:
        with suppress(OSError, ValueError):
            fresh.unlink(missing_ok=True)
        reason = getattr(error, "strerror", None) or "it is no name of a file"
        raise StorageError(
            tr(
                "{name} could not be written: {reason}.",
                name=one_line(path.name),
                reason=reason.lower(),
            ),
            hint=tr("Choose another folder."),
        ) from error
    return Exported(path, counted.count, along.files, along.missing)


class _Counted:
    """Counts what it hands on."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = entries
        self.count = 0

    def __iter__(self) -> Iterator[Entry]:
        for entry in self._entries:
            self.count += 1
            yield entry


class _Along:
    """Brings the files of artifacts along, each content once."""

    def __init__(
        self, path: Path, media: Media, holds: Callable[[Path], bool], *, quoted: bool
    ) -> None:
        """`quoted`: whether links are addresses, in which some signs are written as numbers."""
        self._folder = _unused(path.with_name(f"{path.stem} files"))
        self._media = media
        self._holds = holds
        self._quoted = quoted
        self._known: dict[Path, str | None] = {}
        self._names: set[str] = set()
        self._inside = 0
        self.files = 0
        self.missing = 0

    def link(self, artifact: Artifact) -> str | None:
        """Where the file of an artifact is to be found from the text."""
        path = artifact.path
        if path is None or self._media == "none":
            return None
        if path not in self._known:
            found = self._bring(path, artifact)
            self._known[path] = found
            self.files += found is not None
            self.missing += found is None
        return self._known[path]

    def _bring(self, path: Path, artifact: Artifact) -> str | None:
        if not self._holds(path):
            return None
        try:
            return self._put_inside(path) if self._media == "inside" else self._copy(path, artifact)
        except FileNotFoundError:  # somebody removed it meanwhile
            return None

    def _put_inside(self, path: Path) -> str | None:
        size = path.stat().st_size
        if size > INSIDE or self._inside + size > INSIDE_ALL:
            return None
        self._inside += size
        kind = _TYPES.get(path.suffix, "application/octet-stream")
        return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"

    def _copy(self, path: Path, artifact: Artifact) -> str:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        name = self._name(path, artifact)
        shutil.copyfile(path, self._folder / name)
        place = f"{self._folder.name}/{name}"
        return quote(place) if self._quoted else place

    def _name(self, path: Path, artifact: Artifact) -> str:
        """A name that any system takes, not given yet."""
        wished = Path(_ODD.sub("_", encodable(one_line(artifact.name, limit=80)))).stem
        stem = wished.strip(" .") or Kind(artifact.kind).value
        name, count = f"{stem}{path.suffix}", 1
        while name.casefold() in self._names:
            count += 1
            name = f"{stem} {count}{path.suffix}"
        self._names.add(name.casefold())
        return name


def _unused(folder: Path) -> Path:
    """A folder of this name that is not there yet: what lies in one may be the person's own."""
    found, count = folder, 1
    while os.path.lexists(found):
        count += 1
        found = folder.with_name(f"{folder.name} {count}")
    return found
