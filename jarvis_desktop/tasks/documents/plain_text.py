"""Decodes text of unknown encodings, and checks zip archives before they are opened. In a child."""

from __future__ import annotations

import re
from pathlib import Path

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr

MAX_TEXT_BYTES = 50_000_000
MAX_UNPACKED_BYTES = 300_000_000
MAX_ENTRIES = 10_000
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def damaged(name: str, why: str = "") -> InputError:
    """The error for a file that is not what it claims to be."""
    return InputError(
        f"{name} is damaged{f': {why}' if why else ''}.",
        hint=tr("Open it in the program it came from and save it again."),
    )


OLD_OFFICE = b"\xd0\xcf\x11\xe0"
"""How files begin that are in an old Office format, or encrypted."""


def old_office(name: str) -> InputError:
    """The error for such a file."""
    return InputError(
        tr("{name} is in an old Office format or protected by a password.", name=name),
        hint=tr("Save it as docx, xlsx, pptx or PDF, without a password."),
    )


def decode(path: Path, *, name: str = "") -> str:
    """Decode a file in any encoding. Raises InputError if it is not text."""
    name = name or path.name
    size = path.stat().st_size
    if not size:
        raise InputError(tr("{name} is empty.", name=name))
    if size > MAX_TEXT_BYTES:
        raise InputError(
            tr("{name} is too large to read as text ({size} MB).", name=name, size=size // 1000000),
            hint=tr(
                "Cut it into parts of at most {largest_text} MB.",
                largest_text=MAX_TEXT_BYTES // 1000000,
            ),
        )
    return decode_bytes(path.read_bytes(), name=name)


def decode_bytes(data: bytes, *, name: str) -> str:
    """Like `decode`, for bytes."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return clean(data.decode(encoding, errors="replace"))
    if b"\0" in data[:10_000]:
        raise InputError(
            tr("{name} is not a text file: it contains binary data.", name=name),
            hint=tr("Its name may have the wrong ending."),
        )
    try:
        return clean(data.decode("utf-8"))
    except UnicodeDecodeError:
        pass
    from charset_normalizer import from_bytes

    best = from_bytes(data[:200_000]).best()
    if best is None:
        raise InputError(tr("{name} is not a text file: its encoding is unknown.", name=name))
    return clean(data.decode(best.encoding, errors="replace"))


def clean(text: str) -> str:
    """Remove control characters, lone surrogates and characters that reverse the reading order."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def check_zip(path: Path, name: str) -> None:
    """Raise InputError for a damaged archive, or one that would unpack to too much."""
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(path) as archive:
            entries = archive.infolist()
    except (BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise damaged(name) from error
    unpacked = sum(entry.file_size for entry in entries)
    # The text of an honest archive compresses about ten to one, a bomb's a thousand to one.
    bomb = unpacked > 10_000_000 and unpacked > 200 * path.stat().st_size
    if bomb or unpacked > MAX_UNPACKED_BYTES or len(entries) > MAX_ENTRIES:
        raise InputError(
            tr("{name} would unpack to more than it should and was not opened.", name=name)
        )
