"""Carries files into the folder of a script, and what it left there out of it.

A script may leave anything: links to files of the person, pipes that block who opens them, folders
that turn into links meanwhile. Therefore each folder and file is opened by its name in a folder
that is open already, never through a link, and all is asked of what is open.

Reads what the process in the sandbox says: a script's own word, taken for data and no more.

What a script prints: told as it comes, kept up to a size, free of what steers a terminal."""

from __future__ import annotations

import asyncio
import codecs
import errno
import json
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath

from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name
from jarvis_desktop.core.code import Ending
from jarvis_desktop.core.display import encodable, one_line, printable, readable_size
from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.process.safe_delete import opened, remove

MIB = 1 << 20
BLOCK = 1 << 18

DEEPEST = 16
"""Folders within folders that are looked into."""
MOST_ENTRIES = 20_000
"""Names that are looked at."""
MOST_LEFT_OUT = 20
"""Sentences about what was not taken."""
CACHES = ("__pycache__",)

NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
READING = os.O_RDONLY | NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
WRITING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | getattr(os, "O_BINARY", 0)
BY_DESCRIPTOR = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
"""Not on Windows, where making a link takes a right that nobody has by default."""


@dataclass(frozen=True, slots=True)
class Take:
    """How much is taken of what one script leaves."""

    file: int = 64 * MIB
    """Bytes of a file."""
    bytes: int = 256 * MIB
    """Bytes of all."""
    files: int = 200


Mark = tuple[int, int, int, int]
"""By which a file is known to have changed: number, size, times of change."""
Marks = Mapping[PurePosixPath, Mark]


@dataclass(frozen=True, slots=True)
class Taken:
    """What was taken, and a sentence for each thing that was not."""

    made: tuple[Artifact, ...]
    left_out: tuple[str, ...]


class _Spot:
    """A folder that is open."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self.descriptor = descriptor

    def open(self, name: str, flags: int, mode: int = 0o600) -> int:
        if self.descriptor is None:
            return os.open(self.path / name, flags, mode)
        return os.open(name, flags, mode, dir_fd=self.descriptor)

    def remove(self, name: str) -> None:
        """Remove a file; a folder is moved out of sight."""
        at = self.descriptor
        place = name if at is not None else str(self.path / name)
        try:
            os.unlink(place, dir_fd=at)
        except (IsADirectoryError, PermissionError):  # which of them depends on the system
            aside = f".{secrets.token_hex(8)}"
            if at is None:
                aside = str(self.path / aside)
            os.rename(place, aside, src_dir_fd=at, dst_dir_fd=at)

    def entries(self) -> Iterator[os.DirEntry[str]]:
        with os.scandir(self.path if self.descriptor is None else self.descriptor) as found:
            yield from found


@contextmanager
def _opened(path: Path, within: _Spot | None = None) -> Iterator[_Spot]:
    """A folder, never through a link. Raises OSError."""
    if not BY_DESCRIPTOR:
        if path.is_symlink() or not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "no folder")
        yield _Spot(path, None)
        return
    flags = os.O_RDONLY | os.O_DIRECTORY | NOFOLLOW
    descriptor = within.open(path.name, flags) if within else os.open(path, flags)
    try:
        yield _Spot(path, descriptor)
    finally:
        os.close(descriptor)


def put_in(source: Path, folder: Path, name: str) -> None:
    """Copy a regular file into the folder under a name, in the place of what is there.

    Raises InputError where it cannot be read or is none, StorageError where it cannot be written.
    """
    shown = one_line(name)
    if not name or name in (".", "..") or PurePosixPath(name).name != name or "\\" in name:
        raise InputError(tr("{shown} cannot be the name of a file.", shown=shown))
    try:
        handle = os.open(source, READING)
    except (OSError, ValueError) as error:
        raise InputError(
            tr("{shown} cannot be read: {error}.", shown=shown, error=_reason(error))
        ) from error
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise InputError(tr("{shown} is not a file.", shown=shown))
        try:
            with _opened(folder) as spot:
                with suppress(FileNotFoundError):
                    spot.remove(name)
                with os.fdopen(spot.open(name, WRITING), "wb") as target:
                    while block := file.read(BLOCK):
                        target.write(block)
        except (OSError, ValueError) as error:
            raise StorageError(
                tr(
                    "{shown} cannot be copied to the code's folder: {error}.",
                    shown=shown,
                    error=_reason(error),
                ),
                hint=tr("See that the disk has room."),
            ) from error


def marks(folder: Path) -> Marks:
    """The files that are there, each with what tells whether it has changed."""
    found: dict[PurePosixPath, Mark] = {}
    with suppress(OSError), _opened(folder) as spot:
        for path, _, status in _walk(spot, PurePosixPath(), [MOST_ENTRIES]):
            if stat.S_ISREG(status.st_mode):
                found[path] = _mark(status)
    return found


def take_out(folder: Path, before: Marks, to: Path, take: Take = Take()) -> Taken:
    """Copy what is new or changed since `before` into the folder `to`.

    Hidden files and caches are left where they are. Raises StorageError where `to` cannot be
    written to.
    """
    taking = _Taking(before, to, take)
    try:
        to.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(OSError), _opened(folder) as spot:
            for path, place, status in _walk(spot, PurePosixPath(), [MOST_ENTRIES]):
                taking.look(path, place, status)
    except _UnwritableError as error:
        raise StorageError(
            tr("The code's files cannot be saved: {cause}.", cause=_reason(error.__cause__)),
            hint=tr("See that the disk has room."),
        ) from error
    except OSError as error:
        raise StorageError(
            tr("The code's files cannot be saved: {error}.", error=_reason(error))
        ) from error
    return Taken(tuple(taking.made), tuple(taking.left_out))


def take_back(folder: Path, before: Marks) -> None:
    """Remove what is new or changed since `before`, as far as that can be done. To be called once
    nobody works there any more."""
    kept = {parent for path in before for parent in path.parents}
    waiting = [PurePosixPath()]
    while waiting:
        at = waiting.pop()
        for entry in opened(folder / at):
            path = at / entry.name
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    if path in kept:
                        waiting.append(path)
                    else:
                        remove(Path(entry.path))
                elif before.get(path) != _mark(entry.stat(follow_symlinks=False)):
                    Path(entry.path).unlink()


class _UnwritableError(Exception):
    """Where the copies go, nothing can be written."""


class _Taking:
    """The copies of one run."""

    def __init__(self, before: Marks, to: Path, take: Take) -> None:
        self._before = before
        self._to = to
        self._take = take
        self._room = take.bytes
        self._names: set[str] = set()
        self._shown: set[str] = set()
        self.made: list[Artifact] = []
        self.left_out: list[str] = []

    def look(self, path: PurePosixPath, place: _Spot, status: os.stat_result) -> None:
        """Take a file, or tell why not."""
        if self._before.get(path) == _mark(status) or stat.S_ISDIR(status.st_mode):
            return
        why = self._refusal(status) or self._copy(path, place)
        if why and len(self.left_out) < MOST_LEFT_OUT:
            self.left_out.append(f"{one_line(str(path))} was left out: {why}.")

    def _refusal(self, status: os.stat_result) -> str:
        if stat.S_ISLNK(status.st_mode):
            return "it is a link"
        if not stat.S_ISREG(status.st_mode):
            return "it is no file, but a pipe, a socket or a device"
        if status.st_nlink != 1:
            return "it is the same file as another one"
        if status.st_mode & (stat.S_ISUID | stat.S_ISGID):
            return "it would run as another user"
        if status.st_size == 0:
            return "it is empty"
        if status.st_size > self._take.file:
            return f"it is larger than {_size(self._take.file)}"
        if len(self.made) >= self._take.files:
            return f"more than {self._take.files} files were made"
        if status.st_size > self._room:
            return f"all files together are larger than {_size(self._take.bytes)}"
        return ""

    def _copy(self, path: PurePosixPath, place: _Spot) -> str:
        """Copy a file; why that was not done, "" where it was."""
        try:
            handle = place.open(path.name, READING)
        except (OSError, ValueError) as error:
            return f"it cannot be read ({_reason(error)})"
        with os.fdopen(handle, "rb") as file:
            # Once more, of what is open: by now the name may stand for something else.
            if why := self._refusal(os.fstat(handle)):
                return why
            target = self._to / self._free(path)
            most = min(self._take.file, self._room)
            try:
                size = _copied(file.read, target, most)
            except OSError as error:
                return f"it cannot be read ({_reason(error)})"
        if size > most:
            target.unlink(missing_ok=True)
            return "it grew while it was read"
        self._room -= size
        kind = kind_of_name(path) or Kind.DOCUMENT
        name = one_line(encodable(path.name), limit=255)
        if name.casefold() in self._shown or not name.strip(" ."):
            name = target.name
        self._shown.add(name.casefold())
        self.made.append(Artifact(kind, path=target, name=name))
        return ""

    def _free(self, path: PurePosixPath) -> str:
        """A name in the folder of the copies that is not taken and may stand on any system."""
        plain = "".join(
            sign if sign.isalnum() or sign in "-_.() " else "_" for sign in encodable(path.name)
        ).strip(" .")
        stem, dot, suffix = plain.rpartition(".")
        if not stem:
            stem, dot, suffix = plain or "file", "", ""
        # File systems count bytes, of which a letter may take four.
        stem, suffix = stem[:50], suffix[:10]
        number, name = 1, f"{stem}{dot}{suffix}"
        while name.casefold() in self._names or os.path.lexists(self._to / name):
            number += 1
            name = f"{stem}-{number}{dot}{suffix}"
        self._names.add(name.casefold())
        return name


def _copied(read: Callable[[int], bytes], target: Path, most: int) -> int:
    """How many bytes were copied; one more than `most` at the most."""
    total = 0
    try:
        handle = os.open(target, WRITING, 0o600)
    except OSError as error:
        raise _UnwritableError from error
    with os.fdopen(handle, "wb") as file:
        while total <= most and (block := read(min(BLOCK, most + 1 - total))):
            total += len(block)
            try:
                file.write(block)
                file.flush()
            except OSError as error:
                raise _UnwritableError from error
    return total


def _walk(
    spot: _Spot, at: PurePosixPath, left: list[int]
) -> Iterator[tuple[PurePosixPath, _Spot, os.stat_result]]:
    """What is in a folder and in those within it, each with the open folder that it is in."""
    found = islice(spot.entries(), max(0, left[0]))
    for entry in sorted(found, key=lambda entry: entry.name):
        left[0] -= 1
        if entry.name.startswith(".") or entry.name in CACHES:
            continue
        path = at / entry.name
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue  # it has gone
        yield path, spot, status
        if stat.S_ISDIR(status.st_mode) and len(path.parts) < DEEPEST:
            with suppress(OSError), _opened(spot.path / entry.name, spot) as inner:
                yield from _walk(inner, path, left)


def _mark(status: os.stat_result) -> Mark:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _reason(error: BaseException | None) -> str:
    return getattr(error, "strerror", None) or "it cannot be used"


def _size(number: int) -> str:
    return readable_size(number / 1_000_000)


KEPT = 1 << 20
"""Bytes of a script's output that are kept: half of them its beginning, half its end."""

MAX_PRINTED = 64 << 20
"""Bytes of it after which somebody should end the script."""

_STEERING = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\-_])")
"""Colours, cursor movements and titles (ECMA-48)."""


class Printed:
    """The output of one run, which ends at `mark`."""

    def __init__(
        self,
        mark: bytes,
        report: Callable[[str], None],
        *,
        kept: int = KEPT,
        most: int = MAX_PRINTED,
    ) -> None:
        self._most = most
        self._mark = mark
        self._report = report
        self._half = kept // 2
        self._told = 0
        self._head = bytearray()
        self._tail = bytearray()
        self._held = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._total = 0
        self.flooded = asyncio.Event()
        """More than `most` bytes have come."""
        self.ended = asyncio.Event()
        """The mark has come."""

    def feed(self, data: bytes) -> None:
        """What was read. After the mark, nothing more is of this run."""
        if self.ended.is_set():
            return
        text, mark, _ = (self._held + data).partition(self._mark)
        if mark:
            self._held = b""
            self._add(text)
            self.ended.set()
            return
        held = _beginning(text, self._mark)
        self._held = text[len(text) - held :]
        self._add(text[: len(text) - held])

    def text(self) -> str:
        """All of it, without the middle where it was much."""
        left_out = self._total - len(self._head) - len(self._tail)
        head, tail = (bytes(part).decode("utf-8", "replace") for part in (self._head, self._tail))
        if left_out <= 0:
            return plain(bytes(self._head + self._tail).decode("utf-8", "replace"))
        return f"{plain(head)}\n… {left_out} bytes are left out …\n{plain(tail)}"

    def _add(self, data: bytes) -> None:
        if not data:
            return
        self._total += len(data)
        if self._total > self._most:
            self.flooded.set()
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        del self._tail[: -self._half]
        if self._told < self._half:  # whoever looks on need not see all of a flood either
            text = plain(self._decoder.decode(data[: self._half - self._told]))
            self._told += len(data)
            if text:
                self._report(text)


def plain(text: str) -> str:
    """A script's text without what steers a terminal; a line that is written over ends there."""
    lines = _STEERING.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return encodable(printable(lines))


def _beginning(text: bytes, mark: bytes) -> int:
    """How many bytes at the end of the text may be the beginning of the mark."""
    longest = min(len(mark) - 1, len(text))
    return next((n for n in range(longest, 0, -1) if text.endswith(mark[:n])), 0)


MOST = 1 << 19
"""Bytes of a message, which takes some tens of milliseconds to read; the kernel's own are smaller,
whatever signs they are made of."""

LONGEST = 24_000
"""Characters of a value or an error."""

_MODULE = re.compile(r"[^\W\d]\w{0,99}")
_ENDINGS = {each.value: each for each in (Ending.DONE, Ending.ERROR, Ending.MEMORY)}


class GarbledError(Exception):
    """What was said breaks the rules of the channel."""


@dataclass(frozen=True, slots=True)
class ScriptAnswer:
    """How a script ended, in its own words."""

    ending: Ending
    value: str = ""
    error: str = ""
    missing: str = ""


async def next_message(source: asyncio.StreamReader) -> dict[str, object] | None:
    """The next message; None at the end. Raises GarbledError."""
    try:
        length = int.from_bytes(await source.readexactly(4))
        if not 0 < length <= MOST:
            raise GarbledError
        body = await source.readexactly(length)
    except (asyncio.IncompleteReadError, OSError):
        return None
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise GarbledError from error
    if not isinstance(message, dict):
        raise GarbledError
    return message


def packed(message: dict[str, object]) -> bytes:
    """A message as it is sent."""
    body = json.dumps(message).encode()
    return len(body).to_bytes(4) + body


def answer_of(message: dict[str, object], mark: str) -> ScriptAnswer:
    """The answer to the run of that mark. Raises GarbledError for all else."""
    ending = message.get("ending")
    if message.get("mark") != mark or not isinstance(ending, str) or ending not in _ENDINGS:
        raise GarbledError
    texts = [message.get(key, "") for key in ("value", "error", "missing")]
    value, error, missing = (text[:LONGEST] if isinstance(text, str) else "" for text in texts)
    if not _MODULE.fullmatch(missing):
        missing = ""
    return ScriptAnswer(_ENDINGS[ending], plain(value), plain(error), missing)
