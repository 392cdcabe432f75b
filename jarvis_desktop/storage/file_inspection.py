"""Checks files before they are used: opens only regular files and detects the kind by content.

Names may lie, and experts must get what they can read. Pipes, devices and links are refused
unopened. The `filetype` library recognises most binary formats; those it lacks or leaves open are
here.
"""

from __future__ import annotations

import codecs
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePath
from typing import BinaryIO

from jarvis_desktop.core.artifact import KINDS, Kind
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.records import begins_records, begins_wrapped_records

Found = tuple[Kind, str]

_FURTHER: tuple[tuple[int, bytes, Found], ...] = (
    (0, b"\x01\xda\x00", (Kind.IMAGE, ".sgi")),
    (0, b"\x01\xda\x01", (Kind.IMAGE, ".sgi")),
    (0, b"\xff\x4f\xff\x51", (Kind.IMAGE, ".j2k")),
    (0, b"qoif", (Kind.IMAGE, ".qoi")),
    (0, b"icns", (Kind.IMAGE, ".icns")),
    (0, b"DDS ", (Kind.IMAGE, ".dds")),
    (0, b"RF64", (Kind.AUDIO, ".wav")),
    (0, b".snd", (Kind.AUDIO, ".au")),
    (0, b"caff", (Kind.AUDIO, ".caf")),
    (8, b"AIFC", (Kind.AUDIO, ".aiff")),
    (0, b"PAR1", (Kind.TABLE, ".parquet")),
)
_RECORDS = (".json", ".jsonl")
_OTHER_IMAGES = {"image/vnd.dwg", "image/x-xcf", "image/vnd.ms-photo", "application/dicom"}
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ASF = b"\x30\x26\xb2\x75\x8e\x66\xcf\x11"
_ASF_VIDEO = bytes.fromhex("c0ef19bc4d5bcf11a8fd00805f5c442b")
_EBML = b"\x1a\x45\xdf\xa3"


def recognise(head: bytes, tail: bytes, suffix: str) -> Found | None:
    """Return the kind and usual suffix of binary content; None if no format is recognised.

    `suffix` only decides what the format leaves open, such as sound in a video container.
    """
    ends = head + tail
    if head.startswith(b"PK\x03\x04"):
        return _zipped(head, ends)
    if head.startswith(_OLE):
        return (KINDS[suffix], suffix) if suffix in (".doc", ".ppt", ".xls") else None
    if head[4:8] == b"ftyp":
        return _iso(head, ends, suffix)
    if head.startswith(_EBML):
        return _either(
            b"V_" in ends or b"A_" not in ends, ".webm" if b"webm" in head[:64] else ".mkv"
        )
    if head.startswith(b"OggS"):
        return (
            (Kind.VIDEO, ".ogv") if b"theora" in head or b"OVP80" in head else (Kind.AUDIO, ".ogg")
        )
    if head.startswith(_ASF):
        return (Kind.VIDEO, ".wmv") if _ASF_VIDEO in head else (Kind.AUDIO, ".wma")
    for offset, signature, found in _FURTHER:
        if head.startswith(signature, offset):
            return found
    return _from_signature(head) or _by_frames(head)


def _from_signature(head: bytes) -> Found | None:
    import filetype

    match = filetype.guess(head)
    if match is None or match.mime in _OTHER_IMAGES:
        return None
    kind = match.mime.partition("/")[0]
    if kind not in (Kind.IMAGE, Kind.AUDIO, Kind.VIDEO):
        return None
    return Kind(kind), f".{match.extension}"


def _zipped(head: bytes, ends: bytes) -> Found | None:
    """Recognise Office files, which are ZIP archives: part names are at the beginning or end."""
    if head[30:38] == b"mimetype":
        kind = head[38:120]
        if kind.startswith(b"application/vnd.oasis.opendocument.spreadsheet"):
            return Kind.TABLE, ".ods"
        if kind.startswith(b"application/vnd.oasis.opendocument.presentation"):
            return Kind.DOCUMENT, ".odp"
        if kind.startswith(b"application/vnd.oasis.opendocument.text"):
            return Kind.DOCUMENT, ".odt"
        if kind.startswith(b"application/epub+zip"):
            return Kind.DOCUMENT, ".epub"
    if b"[Content_Types].xml" not in ends:
        return None
    if b"word/document" in ends:
        return Kind.DOCUMENT, ".docx"
    if b"xl/workbook" in ends:
        return Kind.TABLE, ".xlsx"
    return (Kind.DOCUMENT, ".pptx") if b"ppt/presentation" in ends else None


def _iso(head: bytes, ends: bytes, suffix: str) -> Found:
    """Recognise MP4 and related formats. Tracks name their handler: "vide" or "soun"."""
    brand = head[8:12]
    if brand in (b"avif", b"avis"):
        return Kind.IMAGE, ".avif"
    if brand in (b"heic", b"heix", b"mif1", b"msf1", b"hevc"):
        return Kind.IMAGE, ".heic"
    named_sound = KINDS.get(suffix) is Kind.AUDIO
    seen, heard = b"vide" in ends, b"soun" in ends
    if brand in (b"M4A ", b"M4B ", b"M4P ") or (named_sound and not seen) or (heard and not seen):
        return Kind.AUDIO, ".m4a"
    if brand == b"qt  ":
        return Kind.VIDEO, ".mov"
    return Kind.VIDEO, ".3gp" if brand.startswith(b"3g") else ".mp4"


def _either(video: bool, suffix: str) -> Found:
    return (Kind.VIDEO if video else Kind.AUDIO), suffix


def _by_frames(head: bytes) -> Found | None:
    """Recognise streams without a header: MPEG transport packets, MP3 and AAC frames."""
    for start, size in ((0, 188), (4, 192)):
        marks = head[start : start + 5 * size : size]
        if len(marks) > 2 and set(marks) == {0x47}:
            return Kind.VIDEO, ".mts" if start else ".mpg"
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return None
    version, layer = head[1] >> 3 & 3, head[1] >> 1 & 3
    if layer == 0:
        return (Kind.AUDIO, ".aac") if head[1] & 0xF0 == 0xF0 else None
    usable = version != 1 and head[2] >> 4 not in (0, 15) and head[2] >> 2 & 3 != 3
    return (Kind.AUDIO, ".mp3") if usable else None


SAMPLE = 64 * 1024
"""How many bytes of the beginning and of the end are read."""

_REFUSALS = {
    Kind.IMAGE: mark("{file} is not a picture that can be read: {reason}."),
    Kind.AUDIO: mark("{file} is not a sound recording that can be read: {reason}."),
    Kind.VIDEO: mark("{file} is not a video that can be read: {reason}."),
    Kind.TABLE: mark("{file} is not a table that can be read: {reason}."),
    Kind.DOCUMENT: mark("{file} is not a document that can be read: {reason}."),
}
_NO_PDF = mark("{file} is not a PDF that can be read: {reason}.")
_NO_TEXT = mark("{file} is not a text that can be read: {reason}.")
ACCEPTED = mark("Give a text, picture, sound, video, table or document.")

_TEXT_IMAGES = {".ppm", ".pgm", ".pbm", ".pnm"}
_PACKED = {*".pdf .docx .doc .odt .pptx .ppt .odp .epub .xlsx .xls .ods".split()}
_ALLOWED = frozenset(b"\t\n\r\f\x08\x1b")
_CONTROLS = bytes(code for code in range(32) if code not in _ALLOWED)
_PNM = lazy_re(rb"P[1-7]\s+(#[^\n]*\n\s*)*(\d|WIDTH)")


@dataclass(frozen=True, slots=True)
class Content:
    """The kind of a file, the suffix that fits, and whether it is text that must not contain
    NUL."""

    kind: Kind
    suffix: str
    plain: bool = False


def sniff(head: bytes, tail: bytes, name: str) -> Content:
    """Return the kind of a file from its first and last bytes and, if these are ambiguous, its
    name.

    Raises InputError that names the file if its content has no known kind, or if it is text and the
    name promises something else.
    """
    suffix = PurePath(name).suffix.lower()
    if found := _marked(head):
        return found
    coding = _text_coding(head)
    if not coding and (known := recognise(head, tail, suffix)):
        return Content(*known)
    if not coding and not _like_latin(
        head, trusted=KINDS.get(suffix) in (Kind.DOCUMENT, Kind.TABLE)
    ):
        raise _refusal(name, suffix, tr("its content is something else"))
    if _promises_bytes(suffix):
        raise _refusal(name, suffix, tr("its content is text"))
    records = suffix in _RECORDS and (begins_records(head) or begins_wrapped_records(head))
    if KINDS.get(suffix) is Kind.TABLE or records:
        return Content(Kind.TABLE, suffix, plain=coding != "utf-16")
    usual = suffix if KINDS.get(suffix) is Kind.DOCUMENT else ".txt"
    return Content(Kind.DOCUMENT, usual, plain=coding != "utf-16")


def _marked(head: bytes) -> Content | None:
    """Recognise formats that may look like text."""
    if b"%PDF-" in head[:1024]:
        return Content(Kind.DOCUMENT, ".pdf")
    if head.startswith(b"{\\rtf"):
        return Content(Kind.DOCUMENT, ".rtf")
    if _PNM.match(head[:512]):
        return Content(Kind.IMAGE, ".pnm")
    return None


def _text_coding(head: bytes) -> str:
    """Return "utf-8" or "utf-16" if the bytes are clean text, else ""."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16" if _decodes(head, "utf-16") else ""
    return "utf-8" if _decodes(head, "utf-8-sig") else ""


def _decodes(head: bytes, coding: str) -> bool:
    try:
        text = codecs.getincrementaldecoder(coding)().decode(head)
    except UnicodeDecodeError:
        return False
    controls = sum(text.count(chr(code)) for code in _CONTROLS)
    return "\0" not in text and 100 * controls <= len(text)


def _like_latin(head: bytes, *, trusted: bool) -> bool:
    """Whether the bytes look like text in an old 8-bit encoding.

    It has no control characters and few bytes from 0x80 to 0x9F, where such encodings have rare
    characters. Unless its name says text, most of it must be ASCII.
    """
    length = max(len(head), 1)
    if len(head.translate(None, _CONTROLS)) < len(head):
        return False
    rare = len(head) - len(head.translate(None, bytes(range(0x80, 0xA0))))
    ascii_share = len(head.translate(None, bytes(range(0x80, 0x100)))) / length
    return 10 * rare <= length and ascii_share >= (0.1 if trusted else 0.7)


def _promises_bytes(suffix: str) -> bool:
    media = KINDS.get(suffix) in (Kind.IMAGE, Kind.AUDIO, Kind.VIDEO)
    return media or suffix in _PACKED or suffix in _TEXT_IMAGES


def _refusal(name: str, suffix: str, reason: str) -> InputError:
    shown = one_line(name)
    kind = KINDS.get(suffix)
    if kind is None:
        return InputError(
            tr("{shown} is of no kind that can be read.", shown=shown), hint=tr(ACCEPTED)
        )
    is_text = kind is Kind.DOCUMENT and suffix not in _PACKED
    told = _NO_PDF if suffix == ".pdf" else _NO_TEXT if is_text else _REFUSALS[kind]
    return InputError(
        tr(told, file=shown, reason=reason),
        hint=tr(ACCEPTED),
    )


_NOT_FILES = (
    (stat.S_ISLNK, mark("{name} is a link; give the file itself.")),
    (stat.S_ISDIR, mark("{name} is a folder; give the files in it.")),
    (stat.S_ISFIFO, mark("{name} is a pipe, not a file.")),
    (stat.S_ISSOCK, mark("{name} is a socket, not a file.")),
    (stat.S_ISCHR, mark("{name} is a device, not a file.")),
    (stat.S_ISBLK, mark("{name} is a device, not a file.")),
)


def reason_of(error: OSError) -> str:
    """Return the system's reason, as the end of a sentence."""
    return (error.strerror or tr("unknown reason")).lower()


def open_regular(path: Path, name: str) -> BinaryIO:
    """Open a file for reading once it is certain that it is a regular one.

    Raises InputError that names it.
    """
    shown = one_line(name)
    try:
        # Checked by name first because opening a device can have effects; checked again when
        # open because the file may have been replaced.
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
    """For `open`: never follow a link, never wait for the other end of a pipe."""
    # Windows has neither flag, and no named pipes in the file system.
    extra = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return os.open(path, flags | extra)


MAX_FILES = 100
"""Files in one request."""
MAX_ENTRIES = 20_000
"""Files in folders that are counted; beyond that "too many" is enough."""
TIMEOUT_S = 0.7
"""Seconds after which no further file is checked: the answer is due within one."""

Look = Callable[[Path], tuple[Kind, int]]
"""Returns the kind and size in bytes of a file. Raises InputError that names it."""


@dataclass(frozen=True, slots=True)
class InspectedFile:
    """A file that can be used."""

    path: Path
    kind: Kind
    size: int
    """In bytes."""


@dataclass(frozen=True, slots=True)
class FileInspection:
    """The result of an inspection."""

    files: tuple[InspectedFile, ...] = ()
    refused: tuple[str, ...] = ()
    """Why files were refused; a sentence each."""


def look_over(
    paths: Sequence[Path],
    look: Look,
    *,
    room: int = MAX_FILES,
    clock: Callable[[], float] = time.monotonic,
) -> FileInspection:
    """Return which of these files a request with `room` for that many can use.

    Folders stand for their files, except hidden ones and links. May block on a slow disk, so call
    it in a thread.
    """
    latest = clock() + TIMEOUT_S
    listed = list(islice(_files(paths, latest, clock), MAX_ENTRIES))
    found = dict.fromkeys(listed)
    if len(found) > room:
        count = f"{len(found):,}" if len(listed) < MAX_ENTRIES else tr("too many to count")
        few = trn("{count} file goes", "{count} files go", MAX_FILES)
        if room < MAX_FILES:
            words = tr("Too many files: {found} more. At most {few} with one request.",
                       found=count, few=few)  # fmt: skip
        else:
            words = tr("Too many files: {found}. At most {few} with one request.",
                       found=count, few=few)  # fmt: skip
        return FileInspection(refused=(words,))
    files, refused = [], []
    hints = set()
    for path in found:
        if clock() > latest:
            refused.append(tr("{name} was not checked, because its disk is slow. Try again.",
                              name=one_line(path.name)))  # fmt: skip
            continue
        try:
            kind, size = look(path)
        except InputError as error:
            refused.append(error.message if error.hint in hints else str(error))
            hints.add(error.hint)
        else:
            files.append(InspectedFile(path, kind, size))
    refused += [
        tr("{name} has no files that can be read.", name=one_line(folder.name or str(folder)))
        for folder in paths
        if not any(path.is_relative_to(folder) for path in found) and _is_folder(folder)
    ]
    return FileInspection(tuple(files), tuple(refused))


def _files(paths: Sequence[Path], latest: float, clock: Callable[[], float]) -> Iterator[Path]:
    for path in paths:
        if _is_folder(path):
            yield from _inside(path, latest, clock)
        else:
            yield _pointed_at(path)


def _inside(folder: Path, latest: float, clock: Callable[[], float]) -> Iterator[Path]:
    """Yield the files in a folder and its subfolders, in order."""
    waiting = [folder]
    while waiting and clock() <= latest:
        try:
            with os.scandir(waiting.pop()) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:  # it is unreadable, or gone
            continue
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            if entry.is_dir():
                waiting.append(Path(entry.path))
            elif entry.is_file():
                yield Path(entry.path)


def _pointed_at(path: Path) -> Path:
    """Return the target of a link; other paths unchanged."""
    try:
        return path.resolve(strict=True) if path.is_symlink() else path
    except (OSError, RuntimeError, ValueError):
        return path


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir() and not path.is_symlink()
    except (OSError, ValueError):
        return False
