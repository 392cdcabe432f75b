"""The artifact store: files by the hash of their content, checked before they are read.

It has no state besides its folder, so it is thread-safe. Claims on the disk, because several
processes share one store, protect the files of running turns. Copies for other programs have the
names that the user knows.
"""

from __future__ import annotations

import errno
import hashlib
import mimetypes
import os
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.context import current_turn
from jarvis_desktop.core.display import encodable, one_line
from jarvis_desktop.core.errors import ExpertError, InputError, StorageError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.process.safe_delete import remove
from jarvis_desktop.storage.file_inspection import (
    SAMPLE,
    Content,
    open_regular,
    opener,
    reason_of,
    sniff,
)

CLAIM_SECONDS = 60 * 60
"""An older claim is of a crashed run and would keep deleted content on the disk."""


class Claims:
    """One empty file per claim in a folder, named after the file and the turn."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def make(self, name: str) -> None:
        """Claim the file of this name for the current turn; outside of a turn nothing is claimed.

        Raises OSError.
        """
        if turn_id := current_turn.get():
            (self._folder / f"{name}{_ending(turn_id)}").touch(mode=0o600)

    def on(self, name: str) -> bool:
        """Whether a running turn uses the file of this name."""
        return any(path.name.startswith(f"{name}@") and _is_fresh(path) for path in self._listed())

    def release(self, turn_id: str) -> None:
        """Drop the claims of a turn that has ended."""
        for path in self._listed():
            if path.name.endswith(_ending(turn_id)):
                with suppress(OSError):
                    path.unlink()

    def _listed(self) -> Iterator[Path]:
        with suppress(OSError):
            yield from self._folder.iterdir()


def _ending(turn_id: str) -> str:
    """Return a turn id, which may be any text, as the end of a file name."""
    return f"@{hashlib.sha256(turn_id.encode(errors='replace')).hexdigest()[:16]}"


def _is_fresh(path: Path) -> bool:
    try:
        return path.stat().st_mtime > time.time() - CLAIM_SECONDS
    except OSError:  # released in the meantime
        return False


MAX_NAME_BYTES = 100
MAX_COPY_BYTES = 100_000_000
"""Larger files are passed on in place."""

_FORBIDDEN = dict.fromkeys(map(ord, '/\\:*?"<>|�'), "_")
_DEVICES = {"con", "prn", "aux", "nul"} | {
    f"{port}{n}" for port in ("com", "lpt") for n in range(10)
}


def safe_name(artifact: Artifact) -> str:
    """Return a name that is valid on any system, with the suffix of the content."""
    assert artifact.path is not None
    suffix = artifact.path.suffix.lower()
    name = one_line(artifact.title, limit=4 * MAX_NAME_BYTES).translate(_FORBIDDEN).strip(". ")
    stem, dot, own = name.rpartition(".")
    own = dot + own
    if not stem or (suffix and not _same_content(own.lower(), suffix)):
        stem, own = name, suffix
    stem = stem.encode()[:MAX_NAME_BYTES].decode(errors="ignore").strip(". ") or "file"
    return f"_{stem}{own}" if stem.lower() in _DEVICES else f"{stem}{own}"


def _same_content(one: str, other: str) -> bool:
    kind = mimetypes.guess_type(f"a{one}")[0]
    return one == other or (kind is not None and kind == mimetypes.guess_type(f"a{other}")[0])


def hand_out(artifact: Artifact, place: Path, *, locked: bool) -> Path:
    """Copy the file into this folder under its safe name, read-only if `locked`.

    Return the file itself if it is too large or cannot be copied. Blocks.
    """
    path = artifact.path
    assert path is not None
    handed = place / safe_name(artifact)
    with suppress(OSError, ValueError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.utime(place)  # so that a sweep considers it new
        # A copy, never a link: the recipient may write to it.
        if not handed.exists() and path.stat().st_size <= MAX_COPY_BYTES:
            part = handed.with_suffix(".part")
            shutil.copyfile(path, part)
            part.chmod(0o400 if locked else 0o600)
            part.replace(handed)
    return handed if handed.is_file() else path


GIB = 1024**3
DAY = 24 * 60 * 60
CHUNK = 1024 * 1024
MAX_SWEPT = 1000
"""Files that one sweep removes, so that a command does not wait long for it."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class FileStore:
    """Implements ArtifactStore in a folder: content as ab/abcd….suffix, work folders, and
    copies."""

    def __init__(self, root: Path, *, max_bytes: int = 2 * GIB) -> None:
        self._root = root.absolute()
        self._work = self._root / "work"
        self._incoming = self._root / "incoming"
        self._handed = self._root / "handed"
        claims = self._root / "claims"
        self._claims = Claims(claims)
        self._max_bytes = max_bytes
        try:
            for folder in (self._root, self._work, self._incoming, claims):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._root.chmod(0o700)
        except OSError as error:
            raise StorageError(
                tr(
                    "The folder for files, {root}, cannot be used: {error}.",
                    root=self._root,
                    error=reason_of(error),
                ),
                hint=tr("See that it may be written to and that the disk has room."),
            ) from error

    def take_in(self, path: Path) -> Artifact:
        """Check a user's file and copy it in. Raises InputError that names the file.

        Everything is read from one open file, so that what was checked is what is stored.
        """
        name = path.name or str(path)
        with open_regular(path, name) as file:
            content, _ = self._looked_at(file, name)
            kept = self._copy_in(file, name, content)
        title = encodable(one_line(name, limit=255))
        own = None if path.is_relative_to(self._root) else path.absolute()
        return Artifact(content.kind, path=kept, name=title, source=own)

    def look_at(self, path: Path) -> tuple[Kind, int]:
        """Return the kind and size in bytes of a file that `take_in` would accept.

        Raises InputError as that does, except for problems that need a complete read.
        """
        name = path.name or str(path)
        with open_regular(path, name) as file:
            content, size = self._looked_at(file, name)
        return content.kind, size

    def _looked_at(self, file: BinaryIO, name: str) -> tuple[Content, int]:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            raise InputError(tr("{name} is empty.", name=one_line(name)))
        if size > self._max_bytes:
            raise self._too_large(name)
        with _reading(name):
            head = file.read(SAMPLE)
            file.seek(max(0, size - SAMPLE))
            tail = file.read(SAMPLE)
            file.seek(0)
        return sniff(head, tail, name), size

    def keep(self, artifact: Artifact) -> Artifact:
        """Move an expert's file in and return the artifact with its new path.

        Raises ExpertError if it is not a non-empty regular file in a work folder.
        """
        path = artifact.path
        if path is None or self.holds(path):
            return artifact
        name = artifact.name or path.name
        try:
            inside = path.parent.resolve().is_relative_to(self._work.resolve())
            with open(path, "rb", opener=opener) as file:
                status = os.fstat(file.fileno())
                plain = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
                if not inside or not plain or not 0 < status.st_size <= self._max_bytes:
                    raise ExpertError(
                        tr("The expert returned no usable file for {name}.", name=one_line(name))
                    )
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                os.fsync(file.fileno())
        except (OSError, ValueError) as error:
            raise ExpertError(
                tr("The expert returned no usable file for {name}.", name=one_line(name))
            ) from error
        kept = self._place(path, digest, _clean_suffix(path.suffix), status=status)
        return replace(artifact, path=kept, name=encodable(one_line(name, limit=255)))

    def lend(self, artifact: Artifact) -> Path:
        """Return the file for another program: the user's own if it still exists, else a read-only
        copy.

        It is read-only because changes to it would be lost. Blocks.
        """
        own = artifact.source
        return own if own and _is_file(own) else self.hand_out(artifact, locked=True)

    def hand_out(self, artifact: Artifact, *, locked: bool = False) -> Path:
        """Return a copy that lasts a day, under its usual name.

        A very large file, or one outside the store, is returned in place. Blocks.
        """
        path = artifact.path
        assert path is not None
        if not self.holds(path):
            return path
        return hand_out(artifact, self._places(path)[locked], locked=locked)

    def workdir(self) -> Path:
        """Create an empty folder for one call."""
        with _writing("a work folder"):
            return Path(tempfile.mkdtemp(dir=self._work))

    def discard(self, workdir: Path) -> None:
        """Remove such a folder with its contents; `sweep` removes the rest later."""
        if workdir.parent != self._work:
            raise StorageError(
                tr("{workdir} is not a work folder.", workdir=one_line(str(workdir)))
            )
        remove(workdir)

    def sweep(self, *, keep: Collection[Path] | None = None) -> int:
        """Remove what crashed runs left behind over a day ago. Return the number of things.

        With `keep`, the files that the history refers to, other files in the store are removed too.
        At most MAX_SWEPT things are removed at a time.
        """
        old = time.time() - DAY
        gone = list(islice((path for path in self._left(keep) if _older(path, old)), MAX_SWEPT))
        for path in gone:
            if self.holds(path):
                self._drop(path)
            elif path.is_dir() and not path.is_symlink():
                remove(path)
            else:
                with suppress(OSError):
                    path.unlink()
        return len(gone)

    def tidy(self, referred: Callable[[], Collection[Path]]) -> int:
        """Call `sweep` at most once a day; otherwise only look at a stamp file.

        `referred` returns the files that the history refers to, and is only called if needed.
        """
        stamp = self._root / "swept"
        try:
            # A stamp from the future comes from a wrong clock.
            if abs(time.time() - stamp.stat().st_mtime) < DAY:
                return 0
        except FileNotFoundError:
            pass
        except OSError:
            return 0
        try:
            stamp.touch(mode=0o600)  # first, so that a second process does not sweep too
        except OSError:
            return 0
        gone = self.sweep(keep=referred())
        if gone == MAX_SWEPT:  # the next command continues
            stamp.unlink(missing_ok=True)
        return gone

    def remove(self, paths: Iterable[Path]) -> None:
        """Remove files of the store at once, except those of running turns.

        Other and missing files are ignored.
        """
        for path in paths:
            if self.holds(path):
                self._drop(path)

    def holds(self, path: Path) -> bool:
        """Whether this is the path of a content-hashed file of this store."""
        folder = path.parent
        return (
            folder.parent == self._root
            and len(folder.name) == 2
            and folder.name.isalnum()  # not "..", which would lead out of the store
            and path.name.startswith(folder.name)
            and _is_file(path)
        )

    def claimed(self, path: Path) -> bool:
        """Whether an unsaved turn uses this file."""
        return self._claims.on(path.name)

    def release(self, turn_id: str) -> None:
        """Release the claims of a finished turn."""
        self._claims.release(turn_id)

    def _drop(self, path: Path) -> None:
        """Remove a file of the store, unless it is claimed.

        Content is shared: the same file may just have been attached again, here or in another
        process, to a turn that is not in the history yet. Such a turn has a claim until it is
        saved. If it is never saved, `sweep` removes the file a day later.
        """
        if self.claimed(path):
            return
        aside = self._incoming / secrets.token_hex(8)
        with suppress(OSError):
            path.rename(aside)
            # Claims are made before looking for the file, so a later claim finds it gone.
            if self.claimed(path):
                aside.replace(path)
            else:
                aside.unlink()
                for place in self._places(path):
                    remove(place)

    def _places(self, path: Path) -> tuple[Path, Path]:
        """Return the folders of writable and of read-only copies of a file."""
        return self._handed / path.name, self._handed / f"{path.name}.locked"

    def _left(self, keep: Collection[Path] | None) -> Iterator[Path]:
        """Yield what may be removed once it is old."""
        for folder in (self._work, self._incoming, self._handed, self._root / "claims"):
            with suppress(OSError):
                yield from folder.iterdir()
        if keep is not None:
            yield from (path for path in self._root.glob("??/*") if path not in keep)

    def _copy_in(self, file: BinaryIO, name: str, content: Content) -> Path:
        """Copy to a private file first: a killed run leaves nothing half-written in the store."""
        incoming = self._incoming / secrets.token_hex(8)
        digest = hashlib.sha256()
        try:
            with _writing(name):
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
                handle = os.open(incoming, flags, 0o600)
            with os.fdopen(handle, "wb") as target:
                for chunk in self._chunks(file, name, content):
                    digest.update(chunk)
                    with _writing(name):
                        target.write(chunk)
                with _writing(name):
                    target.flush()
                    os.fsync(target.fileno())
                status = os.fstat(target.fileno())
            return self._place(incoming, digest.hexdigest(), content.suffix, status=status)
        finally:
            with suppress(OSError):
                incoming.unlink(missing_ok=True)

    def _chunks(self, file: BinaryIO, name: str, content: Content) -> Iterator[bytes]:
        total = 0
        while True:
            with _reading(name):
                chunk = file.read(CHUNK)
            if not chunk:
                break
            total += len(chunk)
            if total > self._max_bytes:
                raise self._too_large(name)
            if content.plain and b"\0" in chunk:
                raise InputError(
                    tr("{name} begins as text, but what follows is binary.", name=one_line(name))
                )
            yield chunk
        if not total:
            raise InputError(tr("{name} is empty.", name=one_line(name)))

    def _place(self, source: Path, digest: str, suffix: str, *, status: os.stat_result) -> Path:
        """Rename a complete file to its place, unless the content already exists.

        `status` is of the file that was hashed: another file in its place is refused.
        """
        target = self._root / digest[:2] / f"{digest}{suffix}"
        with _writing(source.name):
            self._claims.make(target.name)
            target.parent.mkdir(mode=0o700, exist_ok=True)
            if target.is_file() and target.stat().st_size == status.st_size:
                target.touch()  # so that `sweep` considers it new
                source.unlink()
                return target
            source.replace(target)
            if not _same(target.lstat(), status):
                target.unlink()
                raise ExpertError(
                    tr("{name} was replaced while it was being saved.", name=one_line(source.name))
                )
            # Windows cannot remove read-only files.
            target.chmod(0o600 if os.name == "nt" else 0o400)
            sync_folder(target.parent)
        return target

    def _too_large(self, name: str) -> InputError:
        limit = self._max_bytes / GIB
        return InputError(
            tr("{name} is larger than {limit:.3g} GiB.", name=one_line(name), limit=limit),
            hint=tr("Give a part of it."),
        )


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    """Whether both are the same unchanged file; the inode alone may have been reused."""
    marks = [(item.st_mode, item.st_size, item.st_mtime_ns) for item in (one, other)]
    return os.path.samestat(one, other) and marks[0] == marks[1]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name too long, or an unreadable folder
        return False


def _older(path: Path, moment: float) -> bool:
    try:
        return path.lstat().st_mtime < moment
    except OSError:
        return False


def _clean_suffix(suffix: str) -> str:
    letters = suffix[1:].lower()
    return f".{letters}" if letters.isascii() and letters.isalnum() and len(letters) <= 8 else ""


def sync_folder(folder: Path) -> None:
    """Make a rename durable, if the system can open folders."""
    with suppress(PermissionError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _reading(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            tr("{name} cannot be read: {error}.", name=one_line(name), error=reason_of(error))
        ) from error


@contextmanager
def _writing(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise StorageError(
                tr("The disk is full: {name} could not be saved.", name=one_line(name)),
                hint=tr("Free some space, then try again."),
            ) from error
        raise StorageError(
            tr("{name} could not be saved: {error}.", name=one_line(name), error=reason_of(error))
        ) from error
