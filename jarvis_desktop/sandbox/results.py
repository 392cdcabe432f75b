"""The results of scripts: files, printed output and answers. All of it is untrusted.

A script may leave anything: links to the user's files, pipes that block a reader, folders that turn
into links. So each folder and file is opened by its name in an open folder, never through a link,
and checked once open.
"""

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
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath

from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name
from jarvis_desktop.core.code import Ending
from jarvis_desktop.core.display import encodable, one_line, printable, readable_size, unused_name
from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.process.safe_delete import opened, remove

MIB = 1 << 20
BLOCK = 1 << 18
MAX_DEPTH = 16  # of nested folders
MAX_ENTRIES = 20_000  # names that are looked at
MAX_LEFT_OUT = 20  # sentences about files that were not collected
CACHES = ("__pycache__",)

NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
READING = os.O_RDONLY | NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
WRITING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | getattr(os, "O_BINARY", 0)
BY_DESCRIPTOR = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
"""Not on Windows, where creating a link takes a right that nobody has by default."""


@dataclass(frozen=True, slots=True)
class CollectionLimits:
    """How much is collected of one script's files."""

    file: int = 64 * MIB  # bytes of a file
    bytes: int = 256 * MIB  # bytes of all files
    files: int = 200


FileStamp = tuple[int, int, int, int]
"""Inode, size and times of change: shows whether a file has changed."""
FileStamps = Mapping[PurePosixPath, FileStamp]


@dataclass(frozen=True, slots=True)
class CollectedFiles:
    """The collected files, and a sentence for each file that was left out."""

    made: tuple[Artifact, ...]
    left_out: tuple[str, ...]


class _OpenFolder:
    """A folder that is open."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self.descriptor = descriptor

    def open(self, name: str, flags: int, mode: int = 0o600) -> int:
        if self.descriptor is None:
            return os.open(self.path / name, flags, mode)
        return os.open(name, flags, mode, dir_fd=self.descriptor)

    def remove(self, name: str) -> None:
        """Remove a file; a folder is renamed instead."""
        at = self.descriptor
        place = name if at is not None else str(self.path / name)
        try:
            os.unlink(place, dir_fd=at)
        except (IsADirectoryError, PermissionError):  # which one depends on the system
            aside = f".{secrets.token_hex(8)}"
            if at is None:
                aside = str(self.path / aside)
            os.rename(place, aside, src_dir_fd=at, dst_dir_fd=at)

    def entries(self) -> Iterator[os.DirEntry[str]]:
        with os.scandir(self.path if self.descriptor is None else self.descriptor) as found:
            yield from found


@contextmanager
def _open_folder(path: Path, within: _OpenFolder | None = None) -> Iterator[_OpenFolder]:
    """Open a folder, never through a link. Raises OSError."""
    if not BY_DESCRIPTOR:
        if path.is_symlink() or not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "no folder")
        yield _OpenFolder(path, None)
        return
    flags = os.O_RDONLY | os.O_DIRECTORY | NOFOLLOW
    descriptor = within.open(path.name, flags) if within else os.open(path, flags)
    try:
        yield _OpenFolder(path, descriptor)
    finally:
        os.close(descriptor)


def copy_in(source: Path, folder: Path, name: str) -> None:
    """Copy a regular file into the folder under a name, replacing what is there. Raises InputError
    if it is not a readable file, StorageError if it cannot be written."""
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
            with _open_folder(folder) as spot:
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


def copy_out(folder: Path, path: PurePosixPath, target: Path, most: int) -> int:
    """Copy a regular file of the folder, never through a link, and return its size. Raises
    InputError if it is not a file of at most `most` bytes, StorageError if the copy cannot be
    written."""
    shown = one_line(encodable(str(path)), limit=200)
    parts = path.parts
    if not parts or len(parts) > MAX_DEPTH or any(_leads_out(part) for part in parts):
        raise InputError(tr("{shown} is not in the folder of the script.", shown=shown))
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with ExitStack() as stack:
            spot = stack.enter_context(_open_folder(folder))
            for part in parts[:-1]:
                spot = stack.enter_context(_open_folder(spot.path / part, spot))
            file = stack.enter_context(os.fdopen(spot.open(parts[-1], READING), "rb"))
            why = _oddity(os.fstat(file.fileno()))
            size = 0 if why else _copy_bytes(file.read, target, most)
    except _UnwritableError as error:
        raise StorageError(
            tr("{shown} cannot be copied: {error}.", shown=shown, error=_reason(error.__cause__)),
            hint=tr("See that the disk has room."),
        ) from error
    except (OSError, ValueError) as error:
        raise InputError(
            tr("{shown} cannot be read: {error}.", shown=shown, error=_reason(error))
        ) from error
    if size > most:
        target.unlink()
        why = "it is too large"
    if why:
        raise InputError(tr("{shown} cannot be read: {error}.", shown=shown, error=why))
    return size


def _leads_out(part: str) -> bool:
    """Whether a part of a path is not plainly the name of a file or folder on every system."""
    return part == ".." or not {*"/\\:\0"}.isdisjoint(part)


def _oddity(status: os.stat_result) -> str:
    """Why this is not an ordinary file, as a clause; "" if it is one."""
    if stat.S_ISLNK(status.st_mode):
        return "it is a link"
    if not stat.S_ISREG(status.st_mode):
        return "it is no file, but a pipe, a socket or a device"
    if status.st_nlink != 1:
        return "it is the same file as another one"
    if status.st_mode & (stat.S_ISUID | stat.S_ISGID):
        return "it would run as another user"
    return "it is empty" if status.st_size == 0 else ""


def stamp_files(folder: Path) -> FileStamps:
    """The stamps of the files in a folder."""
    found: dict[PurePosixPath, FileStamp] = {}
    with suppress(OSError), _open_folder(folder) as spot:
        for path, _, status in _walk(spot, PurePosixPath(), [MAX_ENTRIES]):
            if stat.S_ISREG(status.st_mode):
                found[path] = _stamp(status)
    return found


def collect_files(
    folder: Path, before: FileStamps, to: Path, take: CollectionLimits = CollectionLimits()
) -> CollectedFiles:
    """Copy files that are new or changed since `before` into the folder `to`. Hidden files and
    caches are ignored. Raises StorageError if `to` cannot be written."""
    taking = _Collector(before, to, take)
    try:
        to.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(OSError), _open_folder(folder) as spot:
            for path, place, status in _walk(spot, PurePosixPath(), [MAX_ENTRIES]):
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
    return CollectedFiles(tuple(taking.made), tuple(taking.left_out))


def remove_new_files(folder: Path, before: FileStamps) -> None:
    """Remove what is new or changed since `before`, as far as possible. Call it only when no
    process works in the folder any more."""
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
                elif before.get(path) != _stamp(entry.stat(follow_symlinks=False)):
                    Path(entry.path).unlink()


class _UnwritableError(Exception):
    """The copies cannot be written."""


class _Collector:
    """Copies the files of one run."""

    def __init__(self, before: FileStamps, to: Path, take: CollectionLimits) -> None:
        self._before = before
        self._to = to
        self._take = take
        self._room = take.bytes
        self._names: set[str] = set()
        self._shown: set[str] = set()
        self.made: list[Artifact] = []
        self.left_out: list[str] = []

    def look(self, path: PurePosixPath, place: _OpenFolder, status: os.stat_result) -> None:
        """Collect a file, or note why not."""
        if self._before.get(path) == _stamp(status) or stat.S_ISDIR(status.st_mode):
            return
        why = self._refusal(status) or self._copy(path, place)
        if why and len(self.left_out) < MAX_LEFT_OUT:
            self.left_out.append(f"{one_line(str(path))} was left out: {why}.")

    def _refusal(self, status: os.stat_result) -> str:
        if why := _oddity(status):
            return why
        if status.st_size > self._take.file:
            return f"it is larger than {readable_size(self._take.file)}"
        if len(self.made) >= self._take.files:
            return f"more than {self._take.files} files were made"
        if status.st_size > self._room:
            return f"all files together are larger than {readable_size(self._take.bytes)}"
        return ""

    def _copy(self, path: PurePosixPath, place: _OpenFolder) -> str:
        """Copy a file; return why it was not copied, "" if it was."""
        try:
            handle = place.open(path.name, READING)
        except (OSError, ValueError) as error:
            return f"it cannot be read ({_reason(error)})"
        with os.fdopen(handle, "rb") as file:
            # Check the open file again: the name may refer to something else by now.
            if why := self._refusal(os.fstat(handle)):
                return why
            target = self._to / self._free(path)
            most = min(self._take.file, self._room)
            try:
                size = _copy_bytes(file.read, target, most)
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
        """A free file name in the folder of copies that is valid on every system."""
        plain = "".join(
            sign if sign.isalnum() or sign in "-_.() " else "_" for sign in encodable(path.name)
        ).strip(" .")
        stem, dot, suffix = plain.rpartition(".")
        if not stem:
            stem, dot, suffix = plain or "file", "", ""
        # File systems limit bytes, and a character may take four.
        stem, suffix = stem[:50], suffix[:10]
        name = unused_name(
            stem,
            dot + suffix,
            taken=lambda name: name.casefold() in self._names or os.path.lexists(self._to / name),
        )
        self._names.add(name.casefold())
        return name


def _copy_bytes(read: Callable[[int], bytes], target: Path, most: int) -> int:
    """Copy at most `most` + 1 bytes; return their number."""
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
    spot: _OpenFolder, at: PurePosixPath, left: list[int]
) -> Iterator[tuple[PurePosixPath, _OpenFolder, os.stat_result]]:
    """Yield everything in a folder and its subfolders, each with its open folder."""
    found = islice(spot.entries(), max(0, left[0]))
    for entry in sorted(found, key=lambda entry: entry.name):
        left[0] -= 1
        if entry.name.startswith(".") or entry.name in CACHES:
            continue
        path = at / entry.name
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue  # it is gone
        yield path, spot, status
        if stat.S_ISDIR(status.st_mode) and len(path.parts) < MAX_DEPTH:
            with suppress(OSError), _open_folder(spot.path / entry.name, spot) as inner:
                yield from _walk(inner, path, left)


def _stamp(status: os.stat_result) -> FileStamp:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _reason(error: BaseException | None) -> str:
    return getattr(error, "strerror", None) or "it cannot be used"


MAX_KEPT_BYTES = 1 << 20  # of a script's output: half of them its beginning, half its end
MAX_PRINTED_BYTES = 64 << 20  # after which the script should be ended
_STEERING = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\-_])")
"""Colours, cursor movements and titles (ECMA-48)."""


class ScriptOutput:
    """The output of one run, which ends at `mark`: reported immediately, and kept up to a size."""

    def __init__(
        self,
        mark: bytes,
        report: Callable[[str], None],
        *,
        kept: int = MAX_KEPT_BYTES,
        most: int = MAX_PRINTED_BYTES,
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
        self.flooded = asyncio.Event()  # set after more than `most` bytes
        self.ended = asyncio.Event()  # set after the mark

    def feed(self, data: bytes) -> None:
        """Add output. Anything after the mark is not of this run."""
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
        """All output, without the middle if there was too much."""
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
        if self._told < self._half:  # a flood need not be reported in full either
            text = plain(self._decoder.decode(data[: self._half - self._told]))
            self._told += len(data)
            if text:
                self._report(text)


def plain(text: str) -> str:
    """A script's text without terminal escapes; carriage returns become newlines."""
    lines = _STEERING.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return encodable(printable(lines))


def _beginning(text: bytes, mark: bytes) -> int:
    """The length of the longest end of the text that may begin the mark."""
    longest = min(len(mark) - 1, len(text))
    return next((n for n in range(longest, 0, -1) if text.endswith(mark[:n])), 0)


MAX_MESSAGE_BYTES = 1 << 19
"""A message this long takes some tens of milliseconds to parse; the kernel's own are shorter,
whatever characters they contain."""

MAX_TEXT_CHARS = 24_000  # of a value or an error
_MODULE = re.compile(r"[^\W\d]\w{0,99}")
_ENDINGS = {each.value: each for each in (Ending.DONE, Ending.ERROR, Ending.MEMORY)}


class ProtocolError(Exception):
    """A message breaks the rules of the channel."""


@dataclass(frozen=True, slots=True)
class ScriptAnswer:
    """How a script ended, by its own account."""

    ending: Ending
    value: str = ""
    error: str = ""
    missing: str = ""


async def next_message(source: asyncio.StreamReader) -> dict[str, object] | None:
    """The next message; None at the end. Raises ProtocolError."""
    try:
        length = int.from_bytes(await source.readexactly(4))
        if not 0 < length <= MAX_MESSAGE_BYTES:
            raise ProtocolError
        body = await source.readexactly(length)
    except (asyncio.IncompleteReadError, OSError):
        return None
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ProtocolError from error
    if not isinstance(message, dict):
        raise ProtocolError
    return message


def pack_message(message: dict[str, object]) -> bytes:
    """Encode a message for sending."""
    body = json.dumps(message).encode()
    return len(body).to_bytes(4) + body


def parse_answer(message: dict[str, object], mark: str) -> ScriptAnswer:
    """The answer to the run with that mark. Raises ProtocolError for anything else."""
    ending = message.get("ending")
    if message.get("mark") != mark or not isinstance(ending, str) or ending not in _ENDINGS:
        raise ProtocolError
    texts = [message.get(key, "") for key in ("value", "error", "missing")]
    value, error, missing = (
        text[:MAX_TEXT_CHARS] if isinstance(text, str) else "" for text in texts
    )
    if not _MODULE.fullmatch(missing):
        missing = ""
    return ScriptAnswer(_ENDINGS[ending], plain(value), plain(error), missing)
